/* One rule file to one Rule. The shape of the file is the Rule struct: every key below is a field.
 * Kept apart from the registry so that the error paths can be tested on a text. */
#ifndef KC_RULES_LOAD_H
#define KC_RULES_LOAD_H

#include "rules/rules.h"
#include "support/arena.h"

/* Parses the text of rules/<family>/<id>.yaml. Everything is owned by `arena`. NULL with path, line
 * and column of the first mistake: bad YAML, an unknown or missing key, a word that is not one of
 * those allowed, an id or a family that disagrees with the path. */
Rule *rule_parse(KcArena *arena, const char *path, const char *text, size_t length, KcError *error);

#endif
