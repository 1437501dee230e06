/* kcheck budget FILE... [--stages [NAME=]2..8]: shared memory, registers, tensor memory and
 * occupancy of each kernel, one row a stage count. */
#include "cli/cli.h"
#include "cli/run.h"

int cmd_budget(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "budget", argc, argv, &error)) return cli_fail(&error);
  return run_command("budget", NULL, &options);
}
