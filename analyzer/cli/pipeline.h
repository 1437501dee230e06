/* The pipeline: one file on one target, from text to findings. This is where all rooms meet; it
 * runs inside a worker process. */
#ifndef KC_CLI_PIPELINE_H
#define KC_CLI_PIPELINE_H

#include "budget/budget.h"
#include "cli/job.h"
#include "cli/lazy.h"
#include "ir/ir.h"
#include "ir/violation.h"
#include "machine/machine.h"
#include "support/error.h"

/* What is known of a file after the pipeline; everything but the findings is in `arena`. */
typedef struct Analysis {
  KcArena *arena;
  const Arch *arch;
  bool exact;
  bool budget_only;    /* set before pipeline_run: no findings, and no run of a kernel whose launch
                          says how much shared memory it gets */
  bool list_constants; /* set before pipeline_run: fill program->constants */
  char **constants;    /* set before pipeline_run: "NAME=N" of them, set in the text; or NULL */
  LazyRules *rules;    /* the caller's, as pipeline_run was given it */
  IrProgram *program;
  MachineHostFacts *host;
  bool *selected;           /* a kernel: does --kernel name it */
  MachineResult **machines; /* a kernel: its run, or NULL */
  BudgetKernel *budgets;    /* a kernel: its budget */
  IrViolations violations;
  GPtrArray *findings; /* Finding*, sorted */
  json_t *timing;      /* stage -> microseconds */
} Analysis;

/* Told the name of each stage before it starts: a parent can then say where a worker died. */
typedef void PipelineProgress(const char *stage, const char *detail);

/* Runs every stage on the text of `job`, which must be there. `analysis` must be zeroed; free it
 * with pipeline_clear in any case. Returns false with `error` when the file could not be read or
 * has a syntax error. */
bool pipeline_run(Analysis *analysis, const Job *job, const JobTarget *target, LazyRules *rules,
                  PipelineProgress *progress, KcError *error);
/* Parses the file as pipeline_run will, into job->kept: units that it keeps for the next time. */
void pipeline_keep(const Job *job, const JobTarget *target, PipelineProgress *progress);
/* Runs kernel `k` again and keeps what happened when in the smallest run that shows `violation`
 * (NULL: an ordinary run). *shown gets that run's own violation, or NULL when it did not come up
 * again. Everything lies in the analysis' arena. */
MachineResult *pipeline_picture(const Analysis *a, const Job *job, int k,
                                const IrViolation *violation, const IrViolation **shown);
/* Whether kernel `k` ran with nothing missing: all of it was lowered and no run was cut. */
bool pipeline_kernel_complete(const Analysis *analysis, int k);
void pipeline_clear(Analysis *analysis);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Analysis, pipeline_clear)

#endif
