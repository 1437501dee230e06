#include "rules/load.h"

#include <stddef.h>
#include <string.h>

#include "support/suggest.h"
#include "support/yaml.h"

typedef enum KeyKind { KEY_TEXT, KEY_LIST, KEY_PAIRS, KEY_SEVERITY, KEY_EFFECT } KeyKind;

typedef struct Key {
  const char *name;
  KeyKind kind;
  bool required;
  size_t offset;
  const char *const *allowed; /* or NULL: any text */
} Key;

static const char *const ENGINES[] = {"instruction", "budget", "source", "machine", NULL};
static const char *const SAFETIES[] = {"safe", "unsafe", NULL};
static const char *const EFFECTS[] = {"data", "hang", "none", NULL}; /* as in MachineEffect */
static const char *const SEVERITIES[] = {"off", "advice", "warning", "error", NULL};

#define TEXT(name_, required_, allowed_)                                                           \
  { #name_, KEY_TEXT, required_, offsetof(Rule, name_), allowed_ }
#define LIST(name_, required_)                                                                     \
  { #name_, KEY_LIST, required_, offsetof(Rule, name_), NULL }

static const Key KEYS[] = {
    TEXT(id, true, NULL),
    TEXT(family, true, NULL),
    TEXT(summary, true, NULL),
    {"severity", KEY_SEVERITY, true, offsetof(Rule, severity), SEVERITIES},
    {"effect", KEY_EFFECT, false, offsetof(Rule, effect), EFFECTS},
    LIST(archs, true),
    TEXT(engine, true, ENGINES),
    LIST(detects, false),
    TEXT(trigger, true, NULL),
    LIST(not_when, false),
    TEXT(one_dialect, false, NULL),
    TEXT(consequence, true, NULL),
    {"tools", KEY_PAIRS, false, offsetof(Rule, tools), NULL},
    LIST(evidence, true),
    TEXT(page, true, NULL),
    TEXT(anchor, true, NULL),
    TEXT(message, false, NULL),
    TEXT(help, true, NULL),
    TEXT(bad, false, NULL),
    TEXT(good, false, NULL),
    TEXT(fix, false, NULL),
    TEXT(fix_safety, false, SAFETIES),
    TEXT(since, true, NULL),
    LIST(aliases, false),
};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

typedef struct Load {
  KcArena *arena;
  const char *path;
  KcError *error;
} Load;

static bool fail_at(const Load *load, const KcYaml *node, const char *key, const char *what) {
  return kc_fail(load->error, load->path, node->line, node->column, "'%s' %s", key, what);
}

/* A folded or literal block ends in a newline that no field wants. */
static char *trimmed(const Load *load, const char *text) {
  return g_strchomp(kc_strdup(load->arena, text));
}

static bool check_word(const Load *load, const KcYaml *node, const Key *key) {
  if (!key->allowed || g_strv_contains(key->allowed, node->text)) return true;
  g_autofree char *words = g_strjoinv(", ", (char **)key->allowed);
  kc_fail(load->error, load->path, node->line, node->column, "'%s' can't be '%s'", key->name,
          node->text);
  return kc_hint(load->error, "one of: %s", words);
}

static bool read_list(const Load *load, const KcYaml *node, const Key *key, Rule *rule) {
  if (node && node->kind == KC_YAML_MAP) return fail_at(load, node, key->name, "must be a list");
  const char *const *texts = kc_yaml_strings(load->arena, load->path, node, load->error);
  if (!texts) return false;
  char ***field = (char ***)((char *)rule + key->offset);
  *field = (char **)texts;
  for (char **text = *field; *text; text++) {
    *text = trimmed(load, *text);
    if (!**text) return fail_at(load, node, key->name, "has an empty entry");
  }
  if (key->required && !**field) return fail_at(load, node, key->name, "must not be empty");
  return true;
}

/* `tools` maps a tool to what it says: "ptxas: silent". */
static bool read_pairs(const Load *load, const KcYaml *node, const Key *key, Rule *rule) {
  int count = node ? node->count : 0;
  char **texts = KC_NEW_ARRAY(load->arena, char *, count + 1);
  *(char ***)((char *)rule + key->offset) = texts;
  if (!node) return true;
  if (node->kind != KC_YAML_MAP) return fail_at(load, node, key->name, "must be a map");
  for (int i = 0; i < count; i++) {
    if (node->items[i]->kind != KC_YAML_SCALAR)
      return fail_at(load, node->items[i], node->keys[i]->text, "must be text");
    texts[i] = kc_printf(load->arena, "%s: %s", node->keys[i]->text, node->items[i]->text);
  }
  return true;
}

static bool read_scalar(const Load *load, const KcYaml *node, const Key *key, Rule *rule) {
  if (!node) return true;
  if (node->kind != KC_YAML_SCALAR) return fail_at(load, node, key->name, "must be text");
  if (!check_word(load, node, key)) return false;
  if (key->kind == KEY_EFFECT) {
    while (!g_str_equal(EFFECTS[rule->effect], node->text))
      rule->effect++;
    return true;
  }
  if (key->kind == KEY_SEVERITY) return severity_from_name(node->text, &rule->severity);
  char *text = trimmed(load, node->text);
  if (!*text) return fail_at(load, node, key->name, "must not be empty");
  *(char **)((char *)rule + key->offset) = text;
  return true;
}

static bool read_key(const Load *load, const KcYaml *root, const Key *key, Rule *rule) {
  const KcYaml *node = kc_yaml_get(root, key->name);
  if (!node && key->required)
    return kc_fail(load->error, load->path, root->line, 0, "key '%s' is missing", key->name);
  switch (key->kind) {
  case KEY_LIST: return read_list(load, node, key, rule);
  case KEY_PAIRS: return read_pairs(load, node, key, rule);
  case KEY_TEXT:
  case KEY_SEVERITY:
  case KEY_EFFECT: return read_scalar(load, node, key, rule);
  }
  return false;
}

static bool check_path(const Load *load, const KcYaml *root, const Rule *rule) {
  g_autofree char *expected = g_strdup_printf("rules/%s/%s.yaml", rule->family, rule->id);
  if (g_str_equal(load->path, expected)) return true;
  const KcYaml *id = kc_yaml_get(root, "id");
  kc_fail(load->error, load->path, id->line, id->column, "rule '%s' of family '%s' is in this file",
          rule->id, rule->family);
  return kc_hint(load->error, "its place is %s", expected);
}

/* Neither a template without a fact (it would hide what the engine saw) nor half an example. */
static bool check_whole(const Load *load, const KcYaml *root, Rule *rule) {
  const KcYaml *message = kc_yaml_get(root, "message");
  if (message && !strchr(rule->message, '{'))
    return fail_at(load, message, "message", "must name a {fact}; leave it out otherwise");
  const KcYaml *bad = kc_yaml_get(root, "bad"), *good = kc_yaml_get(root, "good");
  if (!bad != !good)
    return fail_at(load, bad ? bad : good, bad ? "bad" : "good", "stands alone: give both or none");
  const KcYaml *fix = kc_yaml_get(root, "fix");
  if (fix && !rule->fix_safety) return fail_at(load, fix, "fix", "needs a fix_safety");
  if (!*rule->detects) {
    char **own = KC_NEW_ARRAY(load->arena, char *, 2);
    own[0] = rule->id;
    rule->detects = own;
  }
  return true;
}

Rule *rule_parse(KcArena *arena, const char *path, const char *text, size_t length,
                 KcError *error) {
  Load load = {arena, path, error};
  const KcYaml *root = kc_yaml_parse(arena, path, text, length, error);
  if (!root) return NULL;
  const char *known[KEY_COUNT + 1] = {NULL};
  for (int i = 0; i < KEY_COUNT; i++)
    known[i] = KEYS[i].name;
  if (root->kind != KC_YAML_MAP) {
    kc_fail(error, path, root->line, root->column, "a rule is a map of keys");
    return NULL;
  }
  if (!kc_yaml_check_keys(path, root, known, error)) return NULL;
  Rule *rule = KC_NEW(arena, Rule);
  rule->path = kc_strdup(arena, path);
  for (int i = 0; i < KEY_COUNT; i++)
    if (!read_key(&load, root, &KEYS[i], rule)) return NULL;
  if (!check_path(&load, root, rule) || !check_whole(&load, root, rule)) return NULL;
  return rule;
}
