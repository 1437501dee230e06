/* The contract of every barrier of a kernel, for `kcheck protocol`: count and who arrives, bytes,
 * waits, what each phase protects. Clean kernels too. */
#ifndef KC_REPORT_PROTOCOL_H
#define KC_REPORT_PROTOCOL_H

#include <glib.h>
#include <jansson.h>

#include "machine/machine.h"

/* Appends the contract of one kernel as text. */
void protocol_text(const IrProgram *program, const IrKernel *kernel, const MachineResult *result,
                   GString *out);
/* The same as a JSON object {"kernel", "barriers": [...], "not_checked": [...]}; new reference. */
json_t *protocol_json(const IrProgram *program, const IrKernel *kernel,
                      const MachineResult *result);

#endif
