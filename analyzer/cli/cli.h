/* cli: commands and their options, configuration, file discovery, and the worker processes that
 * read one file each. Nothing here knows CUDA; pipeline.h is where the rooms meet. */
#ifndef KC_CLI_CLI_H
#define KC_CLI_CLI_H

#include <glib.h>

#include "support/error.h"

typedef enum CliExit {
  CLI_CLEAN = 0,    /* no finding at or above --fail-on */
  CLI_FINDINGS = 1, /* findings */
  CLI_FAILED = 2 /* bad usage, a file that could not be read, kernels that could not be analysed */
} CliExit;

/* A command: `argv[0]` is its name; returns the exit status. */
typedef struct CliCommand {
  const char *name;
  const char *arguments; /* "FILE... [--arch sm_100]" */
  const char *summary;   /* one line of --help */
  int (*run)(int argc, char **argv);
} CliCommand;

/* Every registered command, in the order of --help; the last entry has no name. */
extern const CliCommand cli_commands[];

/* Runs the command that `argv[1]` names; `check` when it names none. Returns the exit status. */
int cli_run(int argc, char **argv);

/* Prints "kcheck: error: ..." (or "path:line:column: error: ...") with its advice on stderr, clears
 * `error`, and returns CLI_FAILED. */
int cli_fail(KcError *error);
/* The same line without printing it; `error` is left as it is. Caller frees. */
char *cli_error_line(const KcError *error);

int cmd_budget(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_lsp(int argc, char **argv);
int cmd_page(int argc, char **argv);
int cmd_protocol(int argc, char **argv);
int cmd_repro(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_protocol(int argc, char **argv);
int cmd_trace(int argc, char **argv);
int cmd_trace(int argc, char **argv);

#endif
