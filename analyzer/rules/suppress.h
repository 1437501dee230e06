/* `// kcheck: ignore[rule] reason`: what it hides, and whether it hid anything. */
#ifndef KC_RULES_SUPPRESS_H
#define KC_RULES_SUPPRESS_H

#include "ir/directive.h"
#include "rules/rules.h"

typedef struct Suppressions Suppressions;

Suppressions *suppressions_new(const Rules *rules, const IrProgram *program,
                               const RulesOptions *options);
void suppressions_free(Suppressions *suppressions);
/* Whether a finding of `rule` at these lines of `path` is to be left out; remembers that the
 * directive was used. */
bool suppress(Suppressions *suppressions, const Rule *rule, const char *path, int line,
              int end_line);
/* Calls `report` for every name of every directive that hid nothing although its rules ran. */
void suppressions_unused(const Suppressions *suppressions,
                         void (*report)(const IrIgnoreDirective *ignore, const char *name,
                                        void *user),
                         void *user);
/* The names between the brackets, NULL-terminated; g_strfreev. */
char **suppress_names(const IrIgnoreDirective *ignore);

#endif
