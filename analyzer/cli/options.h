/* The command line of the commands that read kernels: check, budget, protocol, trace, repro, lsp.
 */
#ifndef KC_CLI_OPTIONS_H
#define KC_CLI_OPTIONS_H

#include <glib.h>
#include <stdbool.h>

#include "cli/settings.h"
#include "support/error.h"

typedef struct CliOptions {
  Settings settings;    /* laid over those of .kcheck.yaml */
  char **paths;         /* files and folders as given; "-" is standard input */
  char *stdin_filename; /* --stdin-filename */
  char *config;         /* --config; NULL: .kcheck.yaml found upward from each file */
  char **launch_files;  /* --launch: launch descriptions */
  char *format, *output, *color, *dump;
  char *html, *svg; /* trace: files to write */
  bool all_events;  /* trace --all */
  bool quiet, verbose, statistics, timing, strict;
  bool write_baseline, prune_baseline;
  bool fix, diff, unsafe_fixes;
  bool no_cache;    /* accepted: nothing is cached on disk */
  int jobs;         /* 0: one a processor */
  double timeout_s; /* 0: the default of limits.h */
  int memory_mb;    /* 0: the default */
} CliOptions;

/* Parses the command line of `command` ("check"); `argv[0]` is skipped. Returns false with `error`
 * on an unknown option (with the nearest known one), a value that makes no sense, or no file.
 * `--help` prints the options and exits with 0. */
bool options_parse(CliOptions *options, const char *command, int argc, char **argv, KcError *error);
void options_clear(CliOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CliOptions, options_clear)

/* Checks a value of --fail-on, --severity (after '=') and their keys in .kcheck.yaml. */
bool options_check_level(const char *level, bool for_fail_on, KcError *error);

#endif
