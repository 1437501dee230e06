/* Words of a finding: the rule's template filled from the facts that the engine gave. */
#ifndef KC_RULES_MESSAGE_H
#define KC_RULES_MESSAGE_H

#include "ir/violation.h"

/* `text` with every {name} replaced by the fact of that name; NULL when one is missing. "{{" stands
 * for a brace. Caller frees. */
char *message_fill(const char *text, const IrViolation *violation);

#endif
