/* What `kcheck trace` draws. */
#ifndef KC_CLI_RENDER_TRACE_H
#define KC_CLI_RENDER_TRACE_H

#include "cli/pipeline.h"

/* The command's own arguments, as Job.extra. Free with g_free. */
char *render_trace_extra(const char *form, const char *line, bool all, int columns);
/* Appends the trace of one kernel of `a`: the smallest run that shows a finding of it, or an
 * ordinary run. Fails when the kernel is not clear, and when no run shows the finding that was
 * asked for. */
bool render_trace(const Analysis *a, const Job *job, const JobTarget *target, LazyRules *rules,
                  GString *out, KcError *error);

#endif
