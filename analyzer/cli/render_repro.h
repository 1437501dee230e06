/* The output of `kcheck repro`, made in the worker. */
#ifndef KC_CLI_RENDER_REPRO_H
#define KC_CLI_RENDER_REPRO_H

#include "cli/pipeline.h"

/* Appends the program that shows the finding at line `job->extra` (NULL: the most severe). Fails
 * when there is none, or when no run can show it. */
bool render_repro(const Analysis *analysis, const Job *job, LazyRules *rules, GString *out,
                  KcError *error);

#endif
