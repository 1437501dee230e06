/* kcheck explain RULE: what it finds, why it matters, a bad and a good example, evidence, page. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/strv.h"
#include "rules/rules.h"

enum { WIDTH = 96 };

/* Text filled to WIDTH columns behind an indent. */
static void print_filled(const char *text, const char *indent) {
  g_auto(GStrv) words = g_strsplit_set(text, " \n", -1);
  glong column = 0;
  for (char **word = words; *word; word++) {
    if (!**word) continue;
    glong length = g_utf8_strlen(*word, -1);
    if (column > 0 && column + 1 + length > WIDTH) {
      putchar('\n');
      column = 0;
    }
    printf("%s%s", column > 0 ? " " : indent, *word);
    column += length + (column > 0 ? 1 : (glong)strlen(indent));
  }
  putchar('\n');
}

static void print_section(const char *title, const char *text) {
  if (!text || !*text) return;
  printf("\n%s\n", title);
  print_filled(text, "  ");
}

static void print_list(const char *title, char *const *items) {
  if (!items || !*items) return;
  printf("\n%s\n", title);
  for (; *items; items++)
    printf("  - %s\n", *items);
}

static void print_code(const char *title, const char *code) {
  if (!code || !*code) return;
  printf("\n%s\n", title);
  g_auto(GStrv) lines = g_strsplit(code, "\n", -1);
  for (char **line = lines; *line; line++)
    if (**line || line[1]) printf("    %s\n", *line);
}

static void print_rule(const Rule *rule) {
  g_autofree char *archs = rule->archs ? g_strjoinv(", ", rule->archs) : g_strdup("");
  printf("%s (%s, %s)\n", rule->id, severity_name(rule->severity), archs);
  print_filled(rule->summary, "  ");
  print_section("What triggers it", rule->trigger);
  print_list("What does not", rule->not_when);
  print_section("What happens on hardware", rule->consequence);
  print_section("What to do", rule->help);
  print_code("Bad", rule->bad);
  print_code("Good", rule->good);
  print_section("Fix", rule->fix);
  print_list("What other tools say", rule->tools);
  print_list("Evidence", rule->evidence);
  print_list("Also called", rule->aliases);
  if (rule->page)
    printf("\npage: %s%s%s   more: kcheck page %s\n", rule->page, rule->anchor ? "#" : "",
           rule->anchor ? rule->anchor : "", rule->page);
  printf("suppress: // kcheck: ignore[%s] reason\n", rule->id);
}

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
  const Rule *rule = NULL;
  for (char **name = names; *name; name++) {
    rule = rules_find(rules, *name, &error);
    if (!rule) break;
    if (name != names) putchar('\n');
    print_rule(rule);
  }
  rules_free(rules);
  return rule ? CLI_CLEAN : cli_fail(&error);
}
