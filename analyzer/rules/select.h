/* Which rules run and how severe they are: --select, --ignore, --severity, and how sure an engine
 * is. */
#ifndef KC_RULES_SELECT_H
#define KC_RULES_SELECT_H

#include "ir/violation.h"
#include "rules/rules.h"

/* Whether `name` is the rule's id, one of its aliases, or its family. */
bool select_names(const Rule *rule, const char *name);
/* The severity of a finding of `rule` under `options`; SEVERITY_OFF: not reported. What an engine
 * only inferred is at most a warning, what it guessed from paths at most advice, whatever
 * --severity says. */
Severity select_severity(const Rule *rule, IrConfidence confidence, const RulesOptions *options);

#endif
