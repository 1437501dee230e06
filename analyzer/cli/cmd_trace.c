/* kcheck trace FILE --kernel NAME [--html F | --svg F]: the pipeline as the machine saw it. */
#include "cli/cli.h"
#include "cli/run.h"

int cmd_trace(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "trace", argc, argv, &error)) return cli_fail(&error);
  if (options.html && options.svg) {
    kc_fail(&error, NULL, 0, 0, "--html and --svg at once");
    return cli_fail(&error);
  }
  const char *form = options.html ? "html" : options.svg ? "svg" : NULL;
  const char *path = options.html ? options.html : options.svg;
  if (path) {
    g_free(options.output);
    options.output = g_strdup(path);
  }
  return run_command("trace", form, &options);
}
