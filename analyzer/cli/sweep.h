/* kcheck budget: the budget of each kernel of a file, for the source as it is and for a range of
 * stage counts. */
#ifndef KC_CLI_SWEEP_H
#define KC_CLI_SWEEP_H

#include "cli/pipeline.h"

/* Appends the table of every kernel of `job` on `target`. `today` is the analysis of the source as
 * it is (no --stages); with "[NAME=]2..8" in the job's stages the file is read once more for each
 * count. Returns false with `error` when the range makes no sense or a count can't be parsed. */
bool sweep_budget(const Analysis *today, const Job *job, const JobTarget *target, LazyRules *rules,
                  GString *out, KcError *error);

/* Splits "[NAME=]2..8" into name (NULL: none; caller frees) and bounds; false when `text` is no
 * range. */
bool sweep_range(const char *text, char **name, int *first, int *last);

#endif
