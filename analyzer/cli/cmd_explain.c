/* kcheck explain RULE: what it finds, why it matters, a bad and a good example, evidence, page. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "knowledge/explain.h"

int cmd_explain(int argc, char **argv) {
  KcError error = {0};
  const GOptionEntry entries[] = {G_OPTION_ENTRY_NULL};
  g_auto(GStrv) names = NULL;
  if (!parse_words("explain", "RULE...", entries, argc, argv, &names, &error))
    return cli_fail(&error);
  if (!names) {
    kc_fail(&error, NULL, 0, 0, "which rule?");
    kc_hint(&error, "`kcheck rules` lists them");
    return cli_fail(&error);
  }
  Rules *rules = rules_load(&error);
  if (!rules) return cli_fail(&error);
  g_autoptr(GString) text = g_string_new(NULL);
  const Rule *rule = NULL;
  for (char **name = names; *name; name++) {
    rule = rules_find(rules, *name, &error);
    if (!rule) break;
    if (name != names) g_string_append_c(text, '\n');
    knowledge_explain(rule, text);
  }
  fputs(text->str, stdout);
  rules_free(rules);
  return rule ? CLI_CLEAN : cli_fail(&error);
}
