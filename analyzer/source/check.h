/* source: checks on what only the text shows: feature guards, asm clobbers, bodies that the guards
 * leave empty, discarded launches, calls beside wgmma, host attributes against device code. */
#ifndef KC_SOURCE_CHECK_H
#define KC_SOURCE_CHECK_H

#include "arch/arch.h"
#include "ir/violation.h"
#include "machine/machine.h"

/* Adds violations of the whole program. `exact_target` is true for --target (what nvcc is given).
 */
void source_check(const IrProgram *program, const Arch *arch, bool exact_target,
                  const MachineHostFacts *host, IrViolations *violations);

#endif
