/* kcheck page ID[#section] [--include-code | --frontmatter-only]; kcheck page --list [--type T]
 * [--tag T] [--arch A] [--rule R] [--language L] [--confidence C]; both with --format. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/parse.h"
#include "knowledge/page.h"

/* How a page is shown. */
typedef struct Look {
  gboolean code, front_matter;
  const char *format; /* "text", "json", "compact" or NULL (text) */
} Look;

static bool as_text(const Look *look) {
  return !look->format || strcmp(look->format, "text") == 0;
}

static void print_json(json_t *document, const Look *look) {
  json_dumpf(document, stdout,
             strcmp(look->format, "compact") == 0 ? JSON_COMPACT : JSON_INDENT(1));
  putchar('\n');
  json_decref(document);
}

/* Whether anything was listed. */
static bool print_list(const Pages *pages, const Rules *rules, const PageFilter *filter,
                       const Look *look) {
  if (as_text(look)) {
    g_autoptr(GString) text = g_string_new(NULL);
    pages_list_text(pages, rules, filter, text);
    fputs(text->str, stdout);
    if (text->len == 0) fputs("no page is like that\n", stderr);
    return text->len > 0;
  }
  json_t *document = pages_list_json(pages, rules, filter);
  bool any = json_array_size(json_object_get(document, "pages")) > 0;
  print_json(document, look);
  return any;
}

/* "technique-pipeline-stages#phase" */
static bool print_page(const Pages *pages, const Rules *rules, const char *name, const Look *look,
                       KcError *error) {
  g_auto(GStrv) parts = g_strsplit(name, "#", 2);
  const Page *page = pages_find(pages, parts[0], error);
  const PageSection *section = NULL;
  if (!page) return false;
  if (parts[1] && !(section = page_section(page, parts[1], error))) return false;
  g_autoptr(GString) text = g_string_new(NULL);
  if (look->front_matter)
    page_print_front_matter(page, text);
  else
    page_print(page, section, rules, text);
  if (look->code && !page_print_code(page, text, error)) return false;
  if (as_text(look)) {
    fputs(text->str, stdout);
  } else {
    json_t *document = page_json(page);
    json_object_set_new(document, "text", json_string(text->str));
    print_json(document, look);
  }
  return true;
}

int cmd_page(int argc, char **argv) {
  KcError error = {0};
  gboolean list = FALSE;
  Look look = {0};
  g_autofree char *format = NULL, *type = NULL, *tag = NULL, *arch = NULL, *rule = NULL;
  g_autofree char *language = NULL, *confidence = NULL;
  static const char *const formats[] = {"text", "json", "compact", NULL};
  const GOptionEntry entries[] = {
      {"list", 0, 0, G_OPTION_ARG_NONE, &list, "every page, or those that the filters leave", NULL},
      {"type", 0, 0, G_OPTION_ARG_STRING, &type, "--list: hardware, technique, kernel ...", "TYPE"},
      {"tag", 0, 0, G_OPTION_ARG_STRING, &tag, "--list: with this tag", "TAG"},
      {"arch", 0, 0, G_OPTION_ARG_STRING, &arch, "--list: that speak of this target", "ARCH"},
      {"rule", 0, 0, G_OPTION_ARG_STRING, &rule, "--list: that are about this rule", "RULE"},
      {"language", 0, 0, G_OPTION_ARG_STRING, &language, "--list: that show this language", "LANG"},
      {"confidence", 0, 0, G_OPTION_ARG_STRING, &confidence, "--list: verified, ...", "LEVEL"},
      {"include-code", 0, 0, G_OPTION_ARG_NONE, &look.code, "add the kernels that show it", NULL},
      {"frontmatter-only", 0, 0, G_OPTION_ARG_NONE, &look.front_matter, "its YAML alone", NULL},
      {"format", 0, 0, G_OPTION_ARG_STRING, &format, "text, json or compact", "FORMAT"},
      G_OPTION_ENTRY_NULL};
  g_auto(GStrv) names = NULL;
  if (!parse_words("page", "ID[#SECTION]", entries, argc, argv, &names, &error) ||
      !parse_one_of("--format", format, formats, &error) ||
      !parse_one_of("--type", type, page_types(), &error))
    return cli_fail(&error);
  look.format = format;
  bool filtered = type || tag || arch || rule || language || confidence;
  list = list || (filtered && !names);
  if (!list && !names) {
    kc_fail(&error, NULL, 0, 0, "which page?");
    kc_hint(&error, "`kcheck page --list` lists them");
    return cli_fail(&error);
  }
  Rules *rules = rules_load(&error);
  Pages *pages = rules ? pages_load(&error) : NULL;
  const Rule *about = pages && rule ? rules_find(rules, rule, &error) : NULL;
  bool good = pages != NULL && (about || !rule), any = true;
  const PageFilter filter = {.type = type,
                             .tag = tag,
                             .arch = arch,
                             .rule = about ? about->id : NULL,
                             .language = language,
                             .confidence = confidence};
  if (good && list) any = print_list(pages, rules, &filter, &look);
  for (char **name = names; good && name && *name; name++)
    good = print_page(pages, rules, *name, &look, &error);
  pages_free(pages);
  rules_free(rules);
  if (!good) return cli_fail(&error);
  return any ? CLI_CLEAN : CLI_FINDINGS;
}
