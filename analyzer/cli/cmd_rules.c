/* kcheck rules [--format json] [FAMILY...]: every rule, or those of some families. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/strv.h"
#include "knowledge/explain.h"

static bool check_families(const Rules *rules, const char *const *families, KcError *error) {
  for (; families && *families; families++)
    if (!rules_is_family(rules, *families))
      return kc_fail(error, NULL, 0, 0, "there is no rule family '%s'", *families);
  return true;
}

static void print_rules(const Rules *rules, const char *const *families, bool as_json) {
  if (!as_json) {
    g_autoptr(GString) text = g_string_new(NULL);
    knowledge_rules_text(rules, families, text);
    fputs(text->str, stdout);
    return;
  }
  json_t *document = knowledge_rules_json(rules, families);
  json_dumpf(document, stdout, JSON_INDENT(1));
  putchar('\n');
  json_decref(document);
}

int cmd_rules(int argc, char **argv) {
  KcError error = {0};
  g_autofree char *format = NULL;
  static const char *const formats[] = {"text", "json", NULL};
  const GOptionEntry entries[] = {
      {"format", 0, 0, G_OPTION_ARG_STRING, &format, "text or json", "FORMAT"},
      G_OPTION_ENTRY_NULL};
  g_auto(GStrv) families = NULL;
  if (!parse_words("rules", "[FAMILY...]", entries, argc, argv, &families, &error) ||
      !parse_one_of("--format", format, formats, &error))
    return cli_fail(&error);
  Rules *rules = rules_load(&error);
  if (!rules) return cli_fail(&error);
  const char *const *wanted = strv_view(families);
  bool good = check_families(rules, wanted, &error);
  if (good) print_rules(rules, wanted, g_strcmp0(format, "json") == 0);
  rules_free(rules);
  return good ? CLI_CLEAN : cli_fail(&error);
}
