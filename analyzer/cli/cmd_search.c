/* kcheck search WORDS [--tag T] [--arch A] [--rule R]: pages and rules that speak of it. Exit
 * status 1 when nothing does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "cli/strv.h"
#include "knowledge/search.h"

static int print_hits(const Pages *pages, const Rules *rules, const SearchQuery *query,
                      const char *format) {
  g_autoptr(GPtrArray) hits = search(pages, rules, query);
  g_autoptr(GString) text = g_string_new(NULL);
  if (format && strcmp(format, "text") != 0) {
    json_t *document = search_json(hits);
    json_dumpf(document, stdout, strcmp(format, "compact") == 0 ? JSON_COMPACT : JSON_INDENT(1));
    putchar('\n');
    json_decref(document);
  } else {
    search_print(hits, text);
    fputs(text->str, stdout);
    if (hits->len == 0) fputs("nothing found\n", stderr);
  }
  return hits->len ? CLI_CLEAN : CLI_FINDINGS;
}

int cmd_search(int argc, char **argv) {
  KcError error = {0};
  g_autofree char *format = NULL, *tag = NULL, *arch = NULL, *rule = NULL;
  gint limit = 0;
  static const char *const formats[] = {"text", "json", "compact", NULL};
  const GOptionEntry entries[] = {
      {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "pages with this tag, rules of this family", "TAG"},
      {"arch", 0, 0, G_OPTION_ARG_STRING, &arch, "what speaks of this target", "ARCH"},
      {"rule", 0, 0, G_OPTION_ARG_STRING, &rule, "the rule and the pages about it", "RULE"},
      {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "most results (10)", "N"},
      {"format", 0, 0, G_OPTION_ARG_STRING, &format, "text, json or compact", "FORMAT"},
      G_OPTION_ENTRY_NULL};
  g_auto(GStrv) words = NULL;
  if (!parse_words("search", "WORDS", entries, argc, argv, &words, &error) ||
      !parse_one_of("--format", format, formats, &error))
    return cli_fail(&error);
  if (!words && !tag && !arch && !rule) {
    kc_fail(&error, NULL, 0, 0, "search for what?");
    return cli_fail(&error);
  }
  Rules *rules = rules_load(&error);
  Pages *pages = rules ? pages_load(&error) : NULL;
  const Rule *about = pages && rule ? rules_find(rules, rule, &error) : NULL;
  int status = CLI_FAILED;
  if (pages && (about || !rule)) {
    SearchQuery query = {strv_view(words), tag, arch, about ? about->id : NULL,
                         (guint)MAX(limit, 0)};
    status = print_hits(pages, rules, &query, format);
  } else {
    cli_fail(&error);
  }
  pages_free(pages);
  rules_free(rules);
  return status;
}
