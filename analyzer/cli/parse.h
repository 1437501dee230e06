/* Option parsing shared by all commands: GLib's, with suggestions for what is misspelt. */
#ifndef KC_CLI_PARSE_H
#define KC_CLI_PARSE_H

#include <glib.h>

#include "support/error.h"

/* Parses the command line of a small command: `entries` (ended by {NULL}) and words, which are
 * returned in `words` (caller frees). `--help` prints and exits with 0. */
bool parse_words(const char *command, const char *arguments, const GOptionEntry *entries, int argc,
                 char **argv, char ***words, KcError *error);

/* A context for `kcheck COMMAND ARGUMENTS` whose main group hands `data` to its callbacks. */
GOptionContext *parse_context(const char *command, const char *arguments, gpointer data);
void parse_add_entries(GOptionContext *context, const GOptionEntry *entries);
/* Runs the context over `words` (program name first), which afterwards holds what was no option.
 * `known` are the long options, for suggestions. */
bool parse_run(GOptionContext *context, char ***words, const char *const *known, KcError *error);

/* Fails when `value` (NULL: not given) is not one of `known`, with a suggestion; `what` names the
 * option. */
bool parse_one_of(const char *what, const char *value, const char *const *known, KcError *error);

#endif
