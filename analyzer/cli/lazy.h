/* The rules, read on a thread of their own while libclang parses: they are needed last. */
#ifndef KC_CLI_LAZY_H
#define KC_CLI_LAZY_H

#include "rules/rules.h"

typedef struct LazyRules LazyRules;

/* Starts reading. */
LazyRules *lazy_rules_start(void);
/* Waits for the rules; NULL with `error` when a rule file is wrong. They live as long as `lazy`. */
const Rules *lazy_rules_get(LazyRules *lazy, KcError *error);
void lazy_rules_free(LazyRules *lazy);

#endif
