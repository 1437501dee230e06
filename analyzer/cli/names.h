/* Rule and family names in --select, --ignore, --severity and their configuration keys. */
#ifndef KC_CLI_NAMES_H
#define KC_CLI_NAMES_H

#include "cli/settings.h"
#include "support/error.h"

/* Checks that every name is a rule (id or alias) or a family, and every level is a level. `path`
 * and `line` say where they stand; NULL for the command line. Loads the rules only when there is a
 * name to check. */
bool names_check(const Settings *settings, const char *path, int line, KcError *error);

#endif
