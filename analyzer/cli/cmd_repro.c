/* kcheck repro FILE[:LINE]: a standalone program that shows a finding on a card. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/run.h"

int cmd_repro(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "repro", argc, argv, &error)) return cli_fail(&error);
  if (options.paths[1]) {
    kc_fail(&error, NULL, 0, 0, "one finding at a time");
    return cli_fail(&error);
  }
  const char *line = files_split_line(options.paths[0]);
  if (!files_check_line(options.paths[0], line, &error)) return cli_fail(&error);
  g_auto(CliRun) run = {0};
  run_files(&run, "repro", line, &options);
  /* Nothing is written over a program that is there when none can be made. */
  if (run_print_errors(&run, options.verbose)) return CLI_FAILED;
  return run_write_outputs(&run, &options, &error) ? CLI_CLEAN : cli_fail(&error);
}
