/* What may be said of a file after its targets were analysed: status of the file and of each
 * kernel, with every reason why something was not checked. */
#ifndef KC_CLI_VERDICT_H
#define KC_CLI_VERDICT_H

#include "cli/pipeline.h"
#include "report/report.h"

/* Adds what one target's analysis says to `file`: its kernels with status and reasons (a kernel
 * that several targets have is listed once, with the worst status), its timing. */
void verdict_add(ReportFile *file, const Analysis *analysis);

/* Sets file->status, after all targets: "checked" when every kernel was checked, else "partial".
 * When there are kernels and none could be analysed, or with `strict` any not fully, a line is
 * added to file->errors: the run could not do its work (exit status 2). */
void verdict_close(ReportFile *file, bool strict);

/* The file as one that could not be read, for the reason `error` gives. */
void verdict_failed(ReportFile *file, const KcError *error);

#endif
