/* Mechanical fixes that follow from the text at a finding's place. */
#ifndef KC_RULES_MEND_H
#define KC_RULES_MEND_H

#include "ir/ir.h"
#include "rules/rules.h"

/* Gives `finding` the fix of its rule when the text at its range has the shape that the fix
 * expects, and the finding has none yet: a "memory" clobber for an asm statement, const
 * __grid_constant__ for a tensor-map parameter, an unused suppression taken out. */
void mend_suggest(const IrProgram *program, Finding *finding);

#endif
