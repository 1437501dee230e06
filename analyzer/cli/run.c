#include "cli/run.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/verdict.h"

static void read_stdin(Job *job) {
  GString *text = g_string_new(NULL);
  char buffer[65536];
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, stdin)) > 0;)
    g_string_append_len(text, buffer, (gssize)count);
  job->length = text->len;
  job->text = g_string_free(text, FALSE);
}

static void refuse(CliRun *run, const char *path, KcError *error) {
  g_autofree char *shown = g_utf8_make_valid(path, -1);
  ReportFile *file = report_file_new(shown, "failed");
  verdict_failed(file, error);
  g_ptr_array_add(run->refused, file);
  kc_error_clear(error);
}

static void refuse_path(const char *path, const char *reason, void *user) {
  KcError error = {0};
  kc_fail(&error, path, 0, 0, "%s", reason);
  refuse(user, path, &error);
}

static void add_job(CliRun *run, const char *command, const char *extra, const char *path,
                    const CliOptions *options, GHashTable *compdbs) {
  KcError error = {0};
  bool from_stdin = strcmp(path, "-") == 0;
  if (from_stdin) path = options->stdin_filename ? options->stdin_filename : "<stdin>";
  Job *job = job_new(command, path, options, run->configs, compdbs, &error);
  if (!job) {
    refuse(run, path, &error);
    return;
  }
  job->extra = g_strdup(extra);
  if (from_stdin) read_stdin(job);
  g_ptr_array_add(run->jobs, job);
}

void run_files(CliRun *run, const char *command, const char *extra, const CliOptions *options) {
  *run = (CliRun){.jobs = g_ptr_array_new_with_free_func((GDestroyNotify)job_free),
                  .refused = g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free),
                  .configs = configs_new()};
  g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
  g_autoptr(GHashTable) compdbs =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)compdb_free);
  files_discover(options->paths, files, refuse_path, run);
  for (guint i = 0; i < files->len; i++)
    add_job(run, command, extra, files->pdata[i], options, compdbs);
  run->results = workers_run(run->jobs, options->jobs);
}

void run_again(CliRun *run, guint i) {
  job_result_free(run->results->pdata[i]);
  run->results->pdata[i] = workers_run_one(run->jobs->pdata[i]);
}

void run_clear(CliRun *run) {
  if (!run->jobs) return;
  g_ptr_array_unref(run->jobs);
  g_ptr_array_unref(run->results);
  g_ptr_array_unref(run->refused);
  configs_free(run->configs);
  *run = (CliRun){0};
}

static void print_once(GHashTable *printed, const GPtrArray *lines) {
  for (guint i = 0; i < lines->len; i++)
    if (g_hash_table_add(printed, lines->pdata[i]))
      fprintf(stderr, "%s\n", (const char *)lines->pdata[i]);
}

bool run_print_errors(const CliRun *run, bool verbose) {
  g_autoptr(GHashTable) printed = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < run->refused->len; i++)
    print_once(printed, ((const ReportFile *)run->refused->pdata[i])->errors);
  for (guint i = 0; i < run->results->len; i++) {
    const JobResult *result = run->results->pdata[i];
    for (guint f = 0; f < result->report->files->len; f++)
      print_once(printed, ((const ReportFile *)result->report->files->pdata[f])->errors);
    if (verbose && result->log) fprintf(stderr, "%s", result->log);
  }
  return g_hash_table_size(printed) > 0;
}

bool run_write(const CliOptions *options, const char *text, gsize length, KcError *error) {
  if (options->output) {
    g_autoptr(GError) failure = NULL;
    if (g_file_set_contents(options->output, text, (gssize)length, &failure)) return true;
    return kc_fail(error, options->output, 0, 0, "cannot be written: %s", failure->message);
  }
  if (fwrite(text, 1, length, stdout) == length && fflush(stdout) == 0) return true;
  return kc_fail(error, NULL, 0, 0, "cannot write to standard output: %s", g_strerror(errno));
}

bool run_write_outputs(const CliRun *run, const CliOptions *options, KcError *error) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < run->results->len; i++) {
    const JobResult *result = run->results->pdata[i];
    if (result->output) g_string_append(text, result->output);
  }
  return run_write(options, text->str, text->len, error);
}

int run_command(const char *command, const char *extra, const CliOptions *options) {
  KcError error = {0};
  g_auto(CliRun) run = {0};
  run_files(&run, command, extra, options);
  bool failed = run_print_errors(&run, options->verbose);
  if (!run_write_outputs(&run, options, &error)) return cli_fail(&error);
  return failed ? CLI_FAILED : CLI_CLEAN;
}

int run_columns(const CliOptions *options) {
  struct winsize size = {0};
  if (options->output || !isatty(STDOUT_FILENO) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}
