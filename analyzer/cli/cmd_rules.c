/* kcheck rules [--format json] [FAMILY...]: every rule, or those of some families. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/strv.h"
#include "rules/rules.h"

static json_t *words(char *const *list) {
  json_t *array = json_array();
  for (; list && *list; list++)
    json_array_append_new(array, json_string(*list));
  return array;
}

static json_t *rule_json(const Rule *rule) {
  json_t *json = json_pack("{ss ss ss ss so ss ss? ss? so ss? ss?}", "id", rule->id, "family",
                           rule->family, "summary", rule->summary, "severity",
                           severity_name(rule->severity), "archs", words(rule->archs), "engine",
                           rule->engine, "page", rule->page, "anchor", rule->anchor, "aliases",
                           words(rule->aliases), "fix", rule->fix, "since", rule->since);
  return json ? json : json_null();
}

static bool wanted(const Rule *rule, char *const *families) {
  return !families || !*families || g_strv_contains(strv_view((char **)families), rule->family);
}

static void print_json(const GPtrArray *rules, char *const *families) {
  json_t *list = json_array();
  for (guint i = 0; i < rules->len; i++)
    if (wanted(rules->pdata[i], families)) json_array_append_new(list, rule_json(rules->pdata[i]));
  json_t *document = json_pack("{so}", "rules", list);
  json_dumpf(document, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(document);
}

static void print_text(const GPtrArray *rules, char *const *families) {
  const char *family = "";
  for (guint i = 0; i < rules->len; i++) {
    const Rule *rule = rules->pdata[i];
    if (!wanted(rule, families)) continue;
    if (strcmp(rule->family, family) != 0) printf("%s%s\n", *family ? "\n" : "", rule->family);
    family = rule->family;
    printf("  %-44s %-8s %s\n", rule->id, severity_name(rule->severity), rule->summary);
  }
}

static bool check_families(const GPtrArray *rules, char *const *families, KcError *error) {
  for (; families && *families; families++) {
    bool found = false;
    for (guint i = 0; i < rules->len && !found; i++)
      found = strcmp(((const Rule *)rules->pdata[i])->family, *families) == 0;
    if (!found) return kc_fail(error, NULL, 0, 0, "there is no rule family '%s'", *families);
  }
  return true;
}

int cmd_rules(int argc, char **argv) {
  KcError error = {0};
  g_autofree char *format = NULL;
  const GOptionEntry entries[] = {
      {"format", 0, 0, G_OPTION_ARG_STRING, &format, "text or json", "FORMAT"},
      G_OPTION_ENTRY_NULL};
  g_auto(GStrv) families = NULL;
  if (!parse_words("rules", "[FAMILY...]", entries, argc, argv, &families, &error))
    return cli_fail(&error);
  bool json = format && strcmp(format, "json") == 0;
  if (format && !json && strcmp(format, "text") != 0) {
    kc_fail(&error, NULL, 0, 0, "--format %s is not one of text, json", format);
    return cli_fail(&error);
  }
  Rules *rules = rules_load(&error);
  if (!rules) return cli_fail(&error);
  const GPtrArray *all = rules_all(rules);
  bool good = check_families(all, families, &error);
  if (good && json) print_json(all, families);
  if (good && !json) print_text(all, families);
  rules_free(rules);
  return good ? CLI_CLEAN : cli_fail(&error);
}
