/* kcheck protocol FILE: the contract of every mbarrier, of clean kernels too. */
#include <string.h>

#include "cli/cli.h"
#include "cli/names.h"
#include "cli/run.h"

int cmd_protocol(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "protocol", argc, argv, &error)) return cli_fail(&error);
  if (!names_check(&options.settings, NULL, 0, &error)) return cli_fail(&error);

  g_auto(CliRun) run = {0};
  run_files(&run, "protocol", options.format, &options);
  int status = run_print_errors(&run, options.verbose) ? CLI_FAILED : CLI_CLEAN;
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < run.results->len; i++) {
    const JobResult *result = run.results->pdata[i];
    if (result->output) g_string_append(text, result->output);
  }
  if (run.refused->len > 0) status = CLI_FAILED;
  return run_write(&options, text->str, text->len, &error) ? status : cli_fail(&error);
}
