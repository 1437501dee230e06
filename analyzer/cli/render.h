/* What the commands besides check print of an analysis: made in the worker, where the program and
 * its runs are; only the text goes back. */
#ifndef KC_CLI_RENDER_H
#define KC_CLI_RENDER_H

#include "cli/pipeline.h"

typedef bool Render(const Analysis *analysis, const Job *job, GString *out, KcError *error);

/* Appends what `job` asks for besides findings: --dump, or the text of its command. */
bool render_output(const Analysis *analysis, const Job *job, GString *out, KcError *error);

#endif
