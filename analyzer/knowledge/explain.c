#include "knowledge/explain.h"

#include <string.h>

#include "knowledge/fill.h"

static void section(GString *out, const char *title, const char *text) {
  g_string_append_printf(out, "\n%s\n", title);
  fill_append(out, text, "  ", "  ");
}

static void items(GString *out, char *const *list) {
  for (; *list; list++)
    fill_append(out, *list, "  - ", "    ");
}

static const char *engine_text(const char *engine) {
  if (strcmp(engine, "instruction") == 0) return "the instruction table";
  if (strcmp(engine, "budget") == 0) return "the budget";
  if (strcmp(engine, "source") == 0) return "the source checks";
  return "running the kernel";
}

static void head(GString *out, const Rule *rule) {
  g_autofree char *archs = g_strjoinv(", ", rule->archs);
  g_string_append_printf(out, "%s\n", rule->id);
  fill_append(out, rule->summary, "  ", "  ");
  g_autofree char *facts =
      g_strdup_printf("%s, found by %s, targets: %s, since %s", severity_name(rule->severity),
                      engine_text(rule->engine), archs, rule->since);
  fill_append(out, facts, "  ", "  ");
}

static void examples(GString *out, const Rule *rule) {
  if (rule->bad) {
    g_string_append(out, "\nExample\n");
    fill_code(out, rule->bad, "    ");
  }
  g_string_append(out, "\nUse instead\n");
  fill_append(out, rule->help, "  ", "  ");
  if (rule->good) {
    g_string_append_c(out, '\n');
    fill_code(out, rule->good, "    ");
  }
}

static void references(GString *out, const Rule *rule) {
  g_string_append(out, "\nReferences\n");
  items(out, rule->evidence);
  g_autofree char *page = g_strdup_printf("kcheck page %s #%s", rule->page, rule->anchor);
  fill_append(out, page, "  - ", "    ");
}

void knowledge_explain(const Rule *rule, GString *out) {
  head(out, rule);
  section(out, "What it does", rule->trigger);
  section(out, "Why it is bad", rule->consequence);
  examples(out, rule);
  if (*rule->not_when) {
    g_string_append(out, "\nNot reported\n");
    items(out, rule->not_when);
  }
  if (rule->fix) {
    g_autofree char *fix = g_strdup_printf("%s (%s)", rule->fix, rule->fix_safety);
    section(out, "Fix", fix);
  }
  if (*rule->tools) {
    g_string_append(out, "\nWhat other tools say\n");
    items(out, rule->tools);
  }
  references(out, rule);
  if (*rule->aliases) {
    g_autofree char *aliases = g_strjoinv(", ", rule->aliases);
    section(out, "Also called", aliases);
  }
  g_string_append_printf(out, "\nTo leave a line:\n  // kcheck: ignore[%s] reason\n", rule->id);
}

/* ---- the list ---- */

static bool wanted(const Rule *rule, const char *const *families) {
  return !families || !*families || g_strv_contains(families, rule->family);
}

void knowledge_rules_text(const Rules *rules, const char *const *families, GString *out) {
  const GPtrArray *all = rules_all(rules);
  const char *family = "";
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    if (!wanted(rule, families)) continue;
    if (strcmp(rule->family, family) != 0)
      g_string_append_printf(out, "%s%s\n", *family ? "\n" : "", rule->family);
    family = rule->family;
    g_string_append_printf(out, "  %-40s %-8s %s\n", rule->id, severity_name(rule->severity),
                           rule->summary);
  }
}

static json_t *words(char *const *list) {
  json_t *array = json_array();
  for (; *list; list++)
    json_array_append_new(array, json_string(*list));
  return array;
}

static json_t *rule_json(const Rule *r) {
  return json_pack("{ss ss ss ss so ss ss ss so ss? ss}", "id", r->id, "family", r->family,
                   "summary", r->summary, "severity", severity_name(r->severity), "archs",
                   words(r->archs), "engine", r->engine, "page", r->page, "anchor", r->anchor,
                   "aliases", words(r->aliases), "fix", r->fix, "since", r->since);
}

json_t *knowledge_rules_json(const Rules *rules, const char *const *families) {
  const GPtrArray *all = rules_all(rules);
  json_t *list = json_array();
  for (guint i = 0; i < all->len; i++)
    if (wanted(all->pdata[i], families)) json_array_append_new(list, rule_json(all->pdata[i]));
  return json_pack("{so}", "rules", list);
}
