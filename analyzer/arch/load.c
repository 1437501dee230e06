#include "arch/load.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

typedef struct {
  yaml_document_t *document;
  const char *path;
  KcError *error;
} Reader;

typedef struct {
  const char *key;
  size_t offset; /* of an int of Arch */
  bool required;
} LimitKey;

#define LIMIT(key_, field, required_)                                                              \
  { key_, offsetof(Arch, field), required_ }
static const LimitKey limit_keys[] = {
    LIMIT("threads-per-block", max_threads_per_block, true),
    LIMIT("threads-per-sm", max_threads_per_sm, true),
    LIMIT("warps-per-sm", max_warps_per_sm, true),
    LIMIT("blocks-per-sm", max_blocks_per_sm, true),
    LIMIT("registers-per-sm", registers_per_sm, true),
    LIMIT("registers-per-block", registers_per_block, true),
    LIMIT("registers-per-thread", max_registers_per_thread, true),
    LIMIT("shared-memory-default", smem_static_default, true),
    LIMIT("shared-memory-opt-in", smem_opt_in, true),
    LIMIT("shared-memory-per-sm", smem_per_sm, true),
    LIMIT("shared-memory-reserved", smem_reserved_per_block, true),
    LIMIT("shared-memory-granularity", smem_granularity, true),
    LIMIT("cluster-size-portable", max_cluster_portable, false),
    LIMIT("cluster-size", max_cluster, false),
    LIMIT("tensor-memory-columns", tmem_columns, false),
};

#define FEATURE(key_, field)                                                                       \
  { key_, offsetof(Arch, field) }
static const struct {
  const char *key;
  size_t offset; /* of a bool of Arch */
} feature_keys[] = {
    FEATURE("wgmma", has_wgmma), FEATURE("tcgen05", has_tcgen05),
    FEATURE("tma", has_tma),     FEATURE("cluster", has_cluster),
    FEATURE("clc", has_clc),     FEATURE("setmaxnreg", has_setmaxnreg),
    FEATURE("pdl", has_pdl),
};

static bool fail_at(const Reader *r, const yaml_node_t *node, const char *what, const char *name) {
  return kc_fail(r->error, r->path, (int)node->start_mark.line + 1,
                 (int)node->start_mark.column + 1, what, name);
}

static const char *text_of(const yaml_node_t *node) {
  return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : NULL;
}

static bool read_int(const Reader *r, const yaml_node_t *node, int *value) {
  const char *text = text_of(node);
  char *end = NULL;
  errno = 0;
  long number = text ? strtol(text, &end, 10) : 0;
  if (!text || end == text || *end || errno || number < 0 || number > INT_MAX)
    return fail_at(r, node, "expected a number that is not negative, found `%s`",
                   text ? text : "a list or mapping");
  *value = (int)number;
  return true;
}

static yaml_node_t *member(const Reader *r, const yaml_node_t *mapping, const char *key) {
  if (mapping->type != YAML_MAPPING_NODE) return NULL;
  for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
       pair < mapping->data.mapping.pairs.top; pair++) {
    const char *name = text_of(yaml_document_get_node(r->document, pair->key));
    if (name && strcmp(name, key) == 0) return yaml_document_get_node(r->document, pair->value);
  }
  return NULL;
}

static yaml_node_t *required(const Reader *r, const yaml_node_t *mapping, const char *key,
                             yaml_node_type_t type) {
  yaml_node_t *node = member(r, mapping, key);
  if (!node) {
    fail_at(r, mapping, "`%s` is missing", key);
  } else if (node->type != type) {
    fail_at(r, node, "`%s` has the wrong form", key);
    node = NULL;
  }
  return node;
}

static bool read_limit(const Reader *r, const char *key, const yaml_node_t *node, Arch *arch) {
  for (size_t i = 0; i < G_N_ELEMENTS(limit_keys); i++) {
    if (strcmp(limit_keys[i].key, key) != 0) continue;
    yaml_node_t *value = required(r, node, "value", YAML_SCALAR_NODE);
    yaml_node_t *evidence = value ? required(r, node, "evidence", YAML_SEQUENCE_NODE) : NULL;
    return evidence && read_int(r, value, (int *)((char *)arch + limit_keys[i].offset));
  }
  return fail_at(r, node, "unknown limit `%s`", key);
}

static bool read_limits(const Reader *r, const yaml_node_t *root, Arch *arch) {
  yaml_node_t *limits = required(r, root, "limits", YAML_MAPPING_NODE);
  if (!limits) return false;
  arch->max_cluster_portable = arch->max_cluster = 1;
  for (yaml_node_pair_t *pair = limits->data.mapping.pairs.start;
       pair < limits->data.mapping.pairs.top; pair++) {
    yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
    if (!text_of(key)) return fail_at(r, key, "a limit needs a %s", "name");
    if (!read_limit(r, text_of(key), yaml_document_get_node(r->document, pair->value), arch))
      return false;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(limit_keys); i++)
    if (limit_keys[i].required && !member(r, limits, limit_keys[i].key))
      return fail_at(r, limits, "`%s` is missing", limit_keys[i].key);
  return true;
}

static bool read_feature(const Reader *r, const yaml_node_t *node, Arch *arch) {
  const char *name = text_of(node);
  for (size_t i = 0; name && i < G_N_ELEMENTS(feature_keys); i++) {
    if (strcmp(feature_keys[i].key, name) != 0) continue;
    *(bool *)((char *)arch + feature_keys[i].offset) = true;
    return true;
  }
  return fail_at(r, node, "unknown feature `%s`", name ? name : "");
}

/* "sm_100f" for architecture 100: number and suffix. */
static bool read_target_name(const Reader *r, const yaml_node_t *node, Arch *arch) {
  const char *name = text_of(node);
  g_autofree char *prefix = g_strdup_printf("sm_%d", arch->number);
  if (!name || !g_str_has_prefix(name, prefix))
    return fail_at(r, node, "`%s` is no target of this architecture", name ? name : "");
  const char *suffix = name + strlen(prefix);
  if (*suffix && strcmp(suffix, "a") != 0 && strcmp(suffix, "f") != 0)
    return fail_at(r, node, "unknown suffix of target `%s`", name);
  arch->name = g_intern_string(name);
  arch->suffix = *suffix;
  return true;
}

static bool read_targets(const Reader *r, const yaml_node_t *root, const Arch *limits,
                         ArchTable *table) {
  yaml_node_t *targets = required(r, root, "targets", YAML_MAPPING_NODE);
  if (!targets) return false;
  for (yaml_node_pair_t *pair = targets->data.mapping.pairs.start;
       pair < targets->data.mapping.pairs.top; pair++) {
    Arch arch = *limits;
    if (!read_target_name(r, yaml_document_get_node(r->document, pair->key), &arch)) return false;
    yaml_node_t *body = yaml_document_get_node(r->document, pair->value);
    yaml_node_t *smem = required(r, body, "static-shared-memory", YAML_SCALAR_NODE);
    yaml_node_t *features = smem ? required(r, body, "features", YAML_SEQUENCE_NODE) : NULL;
    if (!features || !read_int(r, smem, &arch.smem_static_max)) return false;
    for (yaml_node_item_t *item = features->data.sequence.items.start;
         item < features->data.sequence.items.top; item++)
      if (!read_feature(r, yaml_document_get_node(r->document, *item), &arch)) return false;
    g_array_append_val(table->archs, arch);
  }
  return true;
}

static bool read_former_names(const Reader *r, const yaml_node_t *root, int number,
                              ArchTable *table) {
  yaml_node_t *names = member(r, root, "former-names");
  if (!names) return true;
  if (names->type != YAML_SEQUENCE_NODE)
    return fail_at(r, names, "`%s` has the wrong form", "former-names");
  for (yaml_node_item_t *item = names->data.sequence.items.start;
       item < names->data.sequence.items.top; item++) {
    ArchFormer former = {g_strdup(text_of(yaml_document_get_node(r->document, *item))), number};
    g_array_append_val(table->former, former);
  }
  return true;
}

static bool read_document(const Reader *r, ArchTable *table) {
  yaml_node_t *root = yaml_document_get_root_node(r->document);
  if (!root || root->type != YAML_MAPPING_NODE)
    return kc_fail(r->error, r->path, 1, 1, "expected a mapping");
  Arch arch = {0};
  yaml_node_t *number = required(r, root, "architecture", YAML_SCALAR_NODE);
  yaml_node_t *name = number ? required(r, root, "name", YAML_SCALAR_NODE) : NULL;
  if (!name || !read_int(r, number, &arch.number)) return false;
  arch.gpu = g_intern_string(text_of(name));
  return read_limits(r, root, &arch) && read_targets(r, root, &arch, table) &&
         read_former_names(r, root, arch.number, table);
}

bool arch_load(ArchTable *table, const char *path, const char *text, size_t length,
               KcError *error) {
  yaml_parser_t parser;
  yaml_document_t document;
  if (!yaml_parser_initialize(&parser)) g_error("out of memory");
  yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
  bool ok = yaml_parser_load(&parser, &document);
  if (ok) {
    ok = read_document(&(Reader){&document, path, error}, table);
    yaml_document_delete(&document);
  } else {
    kc_fail(error, path, (int)parser.problem_mark.line + 1, (int)parser.problem_mark.column + 1,
            "%s", parser.problem ? parser.problem : "not YAML");
  }
  yaml_parser_delete(&parser);
  return ok;
}
