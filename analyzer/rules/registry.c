/* The registry: every rule file, found by id, alias and violation kind. */
#include <string.h>

#include "rules/load.h"
#include "support/data.h"
#include "support/suggest.h"

struct Rules {
  KcArena *arena;      /* holds the rules themselves */
  GPtrArray *all;      /* Rule*, by family then id */
  GHashTable *by_name; /* id or alias -> Rule* */
  GHashTable *by_kind; /* violation kind -> Rule* */
};

static const char *const SEVERITY_NAMES[] = {
    [SEVERITY_OFF] = "off",
    [SEVERITY_ADVICE] = "advice",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_ERROR] = "error",
};

const char *severity_name(Severity severity) {
  return SEVERITY_NAMES[severity];
}

bool severity_from_name(const char *name, Severity *severity) {
  for (int i = SEVERITY_OFF; i <= SEVERITY_ERROR; i++) {
    if (strcmp(SEVERITY_NAMES[i], name) != 0) continue;
    *severity = (Severity)i;
    return true;
  }
  return false;
}

static gint by_family_then_id(gconstpointer a, gconstpointer b) {
  const Rule *left = *(const Rule *const *)a, *right = *(const Rule *const *)b;
  int order = strcmp(left->family, right->family);
  return order ? order : strcmp(left->id, right->id);
}

/* Enters `rule` under `name`; false when another has it. */
static bool enter(GHashTable *table, const char *name, Rule *rule, const char *what,
                  KcError *error) {
  const Rule *other = g_hash_table_lookup(table, name);
  if (other)
    return kc_fail(error, rule->path, 0, 0, "%s '%s' is taken by %s", what, name, other->path);
  g_hash_table_insert(table, (gpointer)name, rule);
  return true;
}

static bool add(Rules *rules, Rule *rule, KcError *error) {
  g_ptr_array_add(rules->all, rule);
  if (!enter(rules->by_name, rule->id, rule, "id", error)) return false;
  for (char **alias = rule->aliases; *alias; alias++)
    if (!enter(rules->by_name, *alias, rule, "alias", error)) return false;
  for (char **kind = rule->detects; *kind; kind++)
    if (!enter(rules->by_kind, *kind, rule, "violation kind", error)) return false;
  return true;
}

typedef struct Visit {
  Rules *rules;
  KcError *error;
  bool ok;
} Visit;

static void visit_file(const char *path, const char *text, size_t length, void *user) {
  Visit *visit = user;
  if (!visit->ok || !g_str_has_suffix(path, ".yaml")) return;
  Rule *rule = rule_parse(visit->rules->arena, path, text, length, visit->error);
  visit->ok = rule && add(visit->rules, rule, visit->error);
}

Rules *rules_load(KcError *error) {
  Rules *rules = g_new0(Rules, 1);
  rules->arena = kc_arena_new();
  rules->all = g_ptr_array_new();
  rules->by_name = g_hash_table_new(g_str_hash, g_str_equal);
  rules->by_kind = g_hash_table_new(g_str_hash, g_str_equal);
  Visit visit = {rules, error, true};
  kc_data_each("rules/", visit_file, &visit);
  if (visit.ok && rules->all->len == 0)
    visit.ok = kc_fail(error, "rules/", 0, 0, "no rule file there");
  if (!visit.ok) {
    rules_free(rules);
    return NULL;
  }
  g_ptr_array_sort(rules->all, by_family_then_id);
  return rules;
}

void rules_free(Rules *rules) {
  if (!rules) return;
  g_ptr_array_free(rules->all, TRUE);
  g_hash_table_destroy(rules->by_name);
  g_hash_table_destroy(rules->by_kind);
  kc_arena_free(rules->arena);
  g_free(rules);
}

const GPtrArray *rules_all(const Rules *rules) {
  return rules->all;
}

const Rule *rules_find(const Rules *rules, const char *id, KcError *error) {
  const Rule *rule = g_hash_table_lookup(rules->by_name, id);
  if (rule) return rule;
  kc_fail(error, NULL, 0, 0, "there is no rule '%s'", id);
  g_autofree const char **names =
      (const char **)g_hash_table_get_keys_as_array(rules->by_name, NULL);
  const char *near = kc_suggest(id, names);
  if (near)
    kc_hint(error, "did you mean '%s'?", near);
  else
    kc_hint(error, "`kcheck rules` lists them all");
  return NULL;
}

const Rule *rules_detecting(const Rules *rules, const char *violation_kind) {
  return g_hash_table_lookup(rules->by_kind, violation_kind);
}

MachineEffect rules_effect(const Rules *rules, const char *violation_kind) {
  const Rule *rule = rules_detecting(rules, violation_kind);
  return rule ? rule->effect : MACHINE_EFFECT_DATA;
}

bool rules_is_family(const Rules *rules, const char *name) {
  for (guint i = 0; i < rules->all->len; i++)
    if (strcmp(((const Rule *)rules->all->pdata[i])->family, name) == 0) return true;
  return false;
}
