/* kcheck repro FILE[:LINE]: a standalone program that shows a finding on a card. */
#include <string.h>

#include "cli/cli.h"
#include "cli/run.h"

/* Cuts ":41" off "kernel.cu:41"; NULL when there is none. A file of that very name wins. */
static char *split_line(char *path) {
  char *colon = strrchr(path, ':');
  if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1)) return NULL;
  if (g_file_test(path, G_FILE_TEST_EXISTS)) return NULL;
  *colon = 0;
  return colon + 1;
}

int cmd_repro(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "repro", argc, argv, &error)) return cli_fail(&error);
  if (options.paths[1]) {
    kc_fail(&error, NULL, 0, 0, "one finding at a time");
    return cli_fail(&error);
  }
  const char *line = split_line(options.paths[0]);
  g_auto(CliRun) run = {0};
  run_files(&run, "repro", line, &options);
  /* Nothing is written over a program that is there when none can be made. */
  if (run_print_errors(&run, options.verbose)) return CLI_FAILED;
  return run_write_outputs(&run, &options, &error) ? CLI_CLEAN : cli_fail(&error);
}
