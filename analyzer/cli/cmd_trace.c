/* kcheck trace FILE --kernel NAME [--html F | --svg F]: the pipeline as the machine saw it. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/names.h"
#include "cli/run.h"

static bool write_file(const char *path, const GString *text, KcError *error) {
  g_autoptr(GError) failure = NULL;
  if (g_file_set_contents(path, text->str, (gssize)text->len, &failure)) return true;
  return kc_fail(error, path, 0, 0, "cannot be written: %s", failure->message);
}

int cmd_trace(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "trace", argc, argv, &error)) return cli_fail(&error);
  if (!names_check(&options.settings, NULL, 0, &error)) return cli_fail(&error);
  const char *path = options.html ? options.html : options.svg;

  g_auto(CliRun) run = {0};
  run_files(&run, "trace", options.html ? "html" : options.svg ? "svg" : "text", &options);
  int status = run_print_errors(&run, options.verbose) ? CLI_FAILED : CLI_CLEAN;
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < run.results->len; i++) {
    const JobResult *result = run.results->pdata[i];
    if (result->output) g_string_append(text, result->output);
  }
  if (run.refused->len > 0) status = CLI_FAILED;
  bool written =
      path ? write_file(path, text, &error) : run_write(&options, text->str, text->len, &error);
  return written ? status : cli_fail(&error);
}
