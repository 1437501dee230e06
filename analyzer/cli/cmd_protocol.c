/* kcheck protocol FILE...: the contract of every mbarrier, of clean kernels too. */
#include "cli/cli.h"
#include "cli/run.h"

int cmd_protocol(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "protocol", argc, argv, &error)) return cli_fail(&error);
  return run_command("protocol", options.format, &options);
}
