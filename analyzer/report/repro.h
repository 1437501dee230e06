/* A standalone program that shows a finding on a card, for `kcheck repro`: the user's file, the
 * launch and the arguments of the run that showed it, a time limit, one line of outcome. */
#ifndef KC_REPORT_REPRO_H
#define KC_REPORT_REPRO_H

#include <glib.h>

#include "ir/violation.h"
#include "machine/machine.h"
#include "rules/rules.h"

typedef struct ReproInput {
  const IrProgram *program;
  const IrKernel *kernel;
  const MachineResult *result;  /* NULL: the kernel was not run */
  const MachineHostFacts *host; /* its launches tell what the machine need not choose */
  const IrViolation *violation; /* that the finding tells */
  const Finding *finding;
  const char *engine;  /* of its rule */
  const char *include; /* absolute path of the user's file */
  const char *target;  /* "90a" */
  const char *flags;   /* for nvcc: "-std=c++17 -Iinclude" */
} ReproInput;

/* Appends the program, or fails saying why no run can show this finding. */
bool repro_write(const ReproInput *input, GString *out, KcError *error);

#endif
