#include "cli/parse.h"

#include <string.h>

#include "cli/strv.h"
#include "support/suggest.h"

GOptionContext *parse_context(const char *command, const char *arguments, gpointer data) {
  g_autofree char *program = g_strconcat("kcheck ", command, NULL);
  g_set_prgname(program);
  GOptionContext *context = g_option_context_new(arguments);
  g_option_context_set_main_group(context,
                                  g_option_group_new("options", "Options", "options", data, NULL));
  return context;
}

void parse_add_entries(GOptionContext *context, const GOptionEntry *entries) {
  g_option_group_add_entries(g_option_context_get_main_group(context), entries);
}

static bool unknown_option(const char *option, const char *const *known, KcError *error) {
  kc_fail(error, NULL, 0, 0, "unknown option %s", option);
  g_autofree char *name = g_strdup(option);
  name[strcspn(name, "=")] = 0;
  const char *near = kc_suggest(name, known);
  return near ? kc_hint(error, "did you mean %s?", near)
              : kc_hint(error, "--help lists the options");
}

bool parse_run(GOptionContext *context, char ***words, const char *const *known, KcError *error) {
  g_autoptr(GError) failure = NULL;
  if (g_option_context_parse_strv(context, words, &failure)) return true;
  if (!g_error_matches(failure, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    return kc_fail(error, NULL, 0, 0, "%s", failure->message);
  /* "Unknown option --fromat" */
  const char *space = strrchr(failure->message, ' ');
  return unknown_option(space ? space + 1 : failure->message, known, error);
}

bool parse_words(const char *command, const char *arguments, const GOptionEntry *entries, int argc,
                 char **argv, char ***words, KcError *error) {
  g_autoptr(GOptionContext) context = parse_context(command, arguments, NULL);
  parse_add_entries(context, entries);
  g_auto(GStrv) known = NULL;
  for (const GOptionEntry *entry = entries; entry->long_name; entry++) {
    g_autofree char *name = g_strconcat("--", entry->long_name, NULL);
    strv_add(&known, name);
  }
  strv_add(&known, "--help");
  char **all = NULL;
  for (int i = 0; i < argc; i++)
    strv_add(&all, argv[i]);
  bool parsed = parse_run(context, &all, strv_view(known), error);
  if (parsed) strv_add_all(words, all + 1);
  g_strfreev(all);
  return parsed;
}

bool parse_one_of(const char *what, const char *value, const char *const *known, KcError *error) {
  if (!value || g_strv_contains(known, value)) return true;
  g_autofree char *all = g_strjoinv(", ", (char **)known);
  kc_fail(error, NULL, 0, 0, "%s %s is not one of %s", what, value, all);
  const char *near = kc_suggest(value, known);
  return near ? kc_hint(error, "did you mean %s?", near) : false;
}
