/* Which finding repro and trace are asked to show, and what the engines know of it. */
#ifndef KC_CLI_SHOWN_H
#define KC_CLI_SHOWN_H

#include "cli/pipeline.h"

/* Whether the finding's rule is of an engine whose faults running the kernel can show. */
bool shown_by_run(const Rules *rules, const Finding *f);
/* The finding of a kernel at `line` (0: anywhere) that is to be shown: what a run may show first,
 * then the highest severity, then the order of the report. NULL: none. */
const Finding *shown_finding(const Analysis *a, const Rules *rules, int line);
/* Fails saying that there is none at `line`, with the lines that have some. Returns false. */
bool shown_nothing(const Analysis *a, const Job *job, int line, KcError *error);
/* The kernel that a finding names, and its index; NULL when it is none of this program. */
const IrKernel *shown_kernel(const Analysis *a, const Finding *f, int *index);
/* The violation that a finding of `rule` tells, or NULL. */
const IrViolation *shown_violation(const Analysis *a, const Rule *rule, const IrKernel *kernel,
                                   const Finding *f);

#endif
