#include "support/yaml.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <yaml.h>

#include "support/suggest.h"

enum { MAX_DEPTH = 64 };

typedef struct {
  KcArena *arena;
  const char *path;
  yaml_document_t *document;
  KcYaml **made; /* by node id: an anchor used twice is converted once */
  KcError *error;
} Conversion;

static KcYaml *convert(Conversion *c, int id, int depth);

static int line_of(yaml_mark_t mark) {
  return (int)mark.line + 1;
}

static int column_of(yaml_mark_t mark) {
  return (int)mark.column + 1;
}

static bool convert_list(Conversion *c, const yaml_node_t *node, KcYaml *out, int depth) {
  yaml_node_item_t *first = node->data.sequence.items.start;
  out->count = (int)(node->data.sequence.items.top - first);
  const KcYaml **items = KC_NEW_ARRAY(c->arena, const KcYaml *, out->count + 1);
  for (int i = 0; i < out->count; i++)
    if (!(items[i] = convert(c, first[i], depth + 1))) return false;
  out->items = items;
  return true;
}

static bool convert_map(Conversion *c, const yaml_node_t *node, KcYaml *out, int depth) {
  yaml_node_pair_t *first = node->data.mapping.pairs.start;
  out->count = (int)(node->data.mapping.pairs.top - first);
  const KcYaml **keys = KC_NEW_ARRAY(c->arena, const KcYaml *, out->count + 1);
  const KcYaml **items = KC_NEW_ARRAY(c->arena, const KcYaml *, out->count + 1);
  g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
  for (int i = 0; i < out->count; i++) {
    keys[i] = convert(c, first[i].key, depth + 1);
    items[i] = keys[i] ? convert(c, first[i].value, depth + 1) : NULL;
    if (!items[i]) return false;
    if (keys[i]->kind != KC_YAML_SCALAR)
      return kc_fail(c->error, c->path, keys[i]->line, keys[i]->column, "a key must be a word");
    if (!g_hash_table_add(seen, (gpointer)keys[i]->text))
      return kc_fail(c->error, c->path, keys[i]->line, keys[i]->column, "key '%s' is given twice",
                     keys[i]->text);
  }
  out->keys = keys;
  out->items = items;
  return true;
}

static bool fill(Conversion *c, const yaml_node_t *node, KcYaml *out, int depth) {
  switch (node->type) {
  case YAML_SCALAR_NODE:
    out->kind = KC_YAML_SCALAR;
    out->text =
        kc_strndup(c->arena, (const char *)node->data.scalar.value, node->data.scalar.length);
    out->quoted = node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return true;
  case YAML_SEQUENCE_NODE: out->kind = KC_YAML_LIST; return convert_list(c, node, out, depth);
  case YAML_MAPPING_NODE: out->kind = KC_YAML_MAP; return convert_map(c, node, out, depth);
  case YAML_NO_NODE: break;
  }
  return kc_fail(c->error, c->path, out->line, out->column, "empty node");
}

/* The tree below node `id`; NULL with the error set. */
static KcYaml *convert(Conversion *c, int id, int depth) {
  if (c->made[id]) return c->made[id];
  const yaml_node_t *node = yaml_document_get_node(c->document, id);
  KcYaml *out = KC_NEW(c->arena, KcYaml);
  out->line = line_of(node->start_mark);
  out->column = column_of(node->start_mark);
  /* A cycle through an anchor ends here too. */
  if (depth > MAX_DEPTH) {
    kc_fail(c->error, c->path, out->line, out->column, "nested deeper than %d levels", MAX_DEPTH);
    return NULL;
  }
  if (!fill(c, node, out, depth)) return NULL;
  return c->made[id] = out;
}

static void syntax_error(KcError *error, const char *path, const yaml_parser_t *parser) {
  const char *problem = parser->problem ? parser->problem : "cannot be read";
  if (parser->error == YAML_READER_ERROR)
    kc_fail(error, path, 0, 0, "not readable as YAML: %s at byte %zu", problem,
            parser->problem_offset);
  else
    kc_fail(error, path, line_of(parser->problem_mark), column_of(parser->problem_mark),
            "not readable as YAML: %s", problem);
}

static const KcYaml *convert_document(KcArena *arena, const char *path, yaml_document_t *document,
                                      KcError *error) {
  int nodes = (int)(document->nodes.top - document->nodes.start);
  if (nodes == 0) {
    KcYaml *empty = KC_NEW(arena, KcYaml);
    *empty = (KcYaml){.kind = KC_YAML_MAP, .line = 1, .column = 1};
    return empty;
  }
  Conversion c = {.arena = arena, .path = path, .document = document, .error = error};
  c.made = g_new0(KcYaml *, nodes + 1);
  const KcYaml *root = convert(&c, 1, 0);
  g_free(c.made);
  return root;
}

const KcYaml *kc_yaml_read(KcArena *arena, const char *path, const char *text, size_t length,
                           KcError *error) {
  yaml_parser_t parser;
  yaml_document_t document;
  if (!yaml_parser_initialize(&parser)) g_error("libyaml: out of memory");
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  const KcYaml *root = NULL;
  if (yaml_parser_load(&parser, &document)) {
    root = convert_document(arena, path, &document, error);
    yaml_document_delete(&document);
  } else {
    syntax_error(error, path, &parser);
  }
  yaml_parser_delete(&parser);
  return root;
}

const KcYaml *kc_yaml_get(const KcYaml *map, const char *key) {
  if (!map || map->kind != KC_YAML_MAP) return NULL;
  for (int i = 0; i < map->count; i++)
    if (strcmp(map->keys[i]->text, key) == 0) return map->items[i];
  return NULL;
}

const char *kc_yaml_text(const KcYaml *map, const char *key, const char *otherwise) {
  const KcYaml *node = kc_yaml_get(map, key);
  return node && node->kind == KC_YAML_SCALAR ? node->text : otherwise;
}

bool kc_yaml_int(const KcYaml *node, int64_t *value) {
  if (!node || node->kind != KC_YAML_SCALAR || !*node->text) return false;
  char *end = NULL;
  errno = 0;
  long long number = strtoll(node->text, &end, 0);
  if (errno || *end) return false;
  *value = number;
  return true;
}

bool kc_yaml_bool(const KcYaml *node, bool *value) {
  if (!node || node->kind != KC_YAML_SCALAR || node->quoted) return false;
  static const char *const yes[] = {"true", "yes", "on", NULL};
  static const char *const no[] = {"false", "no", "off", NULL};
  g_autofree char *word = g_ascii_strdown(node->text, -1);
  *value = g_strv_contains(yes, word);
  return *value || g_strv_contains(no, word);
}

const char *const *kc_yaml_strings(KcArena *arena, const char *path, const KcYaml *node,
                                   KcError *error) {
  int count = !node ? 0 : node->kind == KC_YAML_SCALAR ? 1 : node->count;
  const char **texts = KC_NEW_ARRAY(arena, const char *, count + 1);
  if (!node) return texts;
  if (node->kind == KC_YAML_SCALAR) {
    texts[0] = node->text;
    return texts;
  }
  for (int i = 0; i < count; i++) {
    const KcYaml *item = node->items[i];
    if (node->kind != KC_YAML_LIST || item->kind != KC_YAML_SCALAR) {
      kc_fail(error, path, item->line, item->column, "expected a list of words here");
      return NULL;
    }
    texts[i] = item->text;
  }
  return texts;
}

bool kc_yaml_check_keys(const char *path, const KcYaml *map, const char *const *known,
                        KcError *error) {
  if (map->kind != KC_YAML_MAP)
    return kc_fail(error, path, map->line, map->column, "expected `key: value` lines here");
  for (int i = 0; i < map->count; i++) {
    const KcYaml *key = map->keys[i];
    if (g_strv_contains(known, key->text)) continue;
    kc_fail(error, path, key->line, key->column, "unknown key '%s'", key->text);
    const char *near = kc_suggest(key->text, known);
    if (near) kc_hint(error, "did you mean '%s'?", near);
    return false;
  }
  return true;
}
