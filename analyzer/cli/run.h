/* One run over many files: jobs from the command line, workers, and what came back, in the order of
 * the files whatever order the workers end in. */
#ifndef KC_CLI_RUN_H
#define KC_CLI_RUN_H

#include "cli/job.h"
#include "cli/options.h"
#include "cli/workers.h"

typedef struct CliRun {
  GPtrArray *jobs;    /* Job*: the files that could be started on */
  GPtrArray *results; /* JobResult*: one a job */
  GPtrArray *refused; /* ReportFile*: paths that are not there, files whose settings are wrong */
  Configs *configs;
} CliRun;

/* The whole of a command that prints what its workers rendered (budget, protocol, trace, repro):
 * `extra` goes to the workers with each job. Returns the exit status. */
int run_command(const char *command, const char *extra, const CliOptions *options);

/* Finds the files, makes a job of each for `command`, and runs them. Always ends; what failed is in
 * the results. `extra` is the command's own argument, or NULL. */
void run_files(CliRun *run, const char *command, const char *extra, const CliOptions *options);
/* Runs job `i` again (its file has changed). */
void run_again(CliRun *run, guint i);
void run_clear(CliRun *run);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CliRun, run_clear)

/* Prints every error line once on stderr, and with `verbose` what the workers wrote there. Returns
 * true when there was any error. */
bool run_print_errors(const CliRun *run, bool verbose);
/* Writes the texts that the workers rendered, in the order of the files. */
bool run_write_outputs(const CliRun *run, const CliOptions *options, KcError *error);
/* Writes to --output or standard output. */
bool run_write(const CliOptions *options, const char *text, gsize length, KcError *error);

/* Columns of the terminal that standard output is, 0 when it is none or --output is given. */
int run_columns(const CliOptions *options);

#endif
