/* kcheck trace FILE[:LINE] [--kernel NAME] [--html F | --svg F] [--all]: the pipeline as the
 * machine saw it, in the smallest run that shows the finding. */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/render_trace.h"
#include "cli/run.h"

enum { COLUMNS = 100, LEAST_COLUMNS = 40, MOST_COLUMNS = 400 };

int cmd_trace(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "trace", argc, argv, &error)) return cli_fail(&error);
  if (options.html && options.svg) {
    kc_fail(&error, NULL, 0, 0, "--html and --svg at once");
    return cli_fail(&error);
  }
  if (options.paths[1]) {
    kc_fail(&error, NULL, 0, 0, "one file at a time");
    return cli_fail(&error);
  }
  const char *form = options.html ? "html" : options.svg ? "svg" : NULL;
  const char *path = options.html ? options.html : options.svg;
  if (path) {
    g_free(options.output);
    options.output = g_strdup(path);
  }
  const char *line = files_split_line(options.paths[0]);
  if (!files_check_line(options.paths[0], line, &error)) return cli_fail(&error);
  int columns = run_columns(&options);
  columns = columns ? CLAMP(columns, LEAST_COLUMNS, MOST_COLUMNS) : COLUMNS;
  g_autofree char *extra = render_trace_extra(form, line, options.all_events, columns);
  g_auto(CliRun) run = {0};
  run_files(&run, "trace", extra, &options);
  /* Nothing is written over a picture that is there when none can be made. */
  if (run_print_errors(&run, options.verbose)) return CLI_FAILED;
  return run_write_outputs(&run, &options, &error) ? CLI_CLEAN : cli_fail(&error);
}
