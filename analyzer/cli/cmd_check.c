/* kcheck [check] FILE...: the main job. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/baseline.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/fix.h"
#include "cli/names.h"
#include "cli/run.h"
#include "cli/strv.h"

static Severity threshold(const Job *job) {
  const char *name = job->settings.fail_on;
  Severity severity = SEVERITY_WARNING;
  if (!name) return SEVERITY_WARNING;
  if (strcmp(name, "never") == 0) return (Severity)(SEVERITY_ERROR + 1);
  severity_from_name(name, &severity);
  return severity;
}

static int file_exit(const Job *job, const JobResult *result, const ReportFile *file) {
  if (file->errors->len > 0) return CLI_FAILED;
  for (guint i = 0; i < result->report->findings->len; i++)
    if (((const Finding *)result->report->findings->pdata[i])->severity >= threshold(job))
      return CLI_FINDINGS;
  return CLI_CLEAN;
}

/* ---- baseline ---- */

/* The jobs that share one baseline file. */
typedef struct {
  const char *path; /* owned by the settings of a job */
  GPtrArray *files; /* char*: paths of those jobs */
  GPtrArray *jobs;  /* index + 1 */
} BaselineUse;

static void baseline_use_free(gpointer data) {
  BaselineUse *use = data;
  g_ptr_array_unref(use->files);
  g_ptr_array_unref(use->jobs);
  g_free(use);
}

static GPtrArray *baseline_uses(const CliRun *run, const CliOptions *options) {
  GPtrArray *uses = g_ptr_array_new_with_free_func(baseline_use_free);
  for (guint i = 0; i < run->jobs->len; i++) {
    const Job *job = run->jobs->pdata[i];
    const char *path = job->settings.baseline;
    if (!path && options->write_baseline) path = BASELINE_DEFAULT_NAME;
    if (!path) continue;
    BaselineUse *use = NULL;
    for (guint u = 0; u < uses->len && !use; u++)
      if (strcmp(((BaselineUse *)uses->pdata[u])->path, path) == 0) use = uses->pdata[u];
    if (!use) {
      use = g_new0(BaselineUse, 1);
      *use = (BaselineUse){path, g_ptr_array_new(), g_ptr_array_new()};
      g_ptr_array_add(uses, use);
    }
    g_ptr_array_add(use->files, job->path);
    g_ptr_array_add(use->jobs, GUINT_TO_POINTER(i + 1));
  }
  return uses;
}

static GPtrArray *findings_of(const CliRun *run, gconstpointer job_plus_one) {
  const JobResult *result = run->results->pdata[GPOINTER_TO_UINT(job_plus_one) - 1];
  return result->report->findings;
}

/* Accepts everything that was found: the run is clean afterwards. */
static bool write_baseline(CliRun *run, const BaselineUse *use, KcError *error) {
  Baseline *baseline = g_file_test(use->path, G_FILE_TEST_EXISTS) ? baseline_open(use->path, error)
                                                                  : baseline_new(use->path);
  if (!baseline) return false;
  g_autoptr(GPtrArray) all = g_ptr_array_new();
  for (guint i = 0; i < use->jobs->len; i++) {
    GPtrArray *findings = findings_of(run, use->jobs->pdata[i]);
    for (guint f = 0; f < findings->len; f++)
      g_ptr_array_add(all, findings->pdata[f]);
  }
  baseline_take(baseline, use->files, all);
  fprintf(stderr, "%s: %u findings accepted\n", use->path, all->len);
  bool written = baseline_write(baseline, error);
  for (guint i = 0; i < use->jobs->len; i++)
    g_ptr_array_set_size(findings_of(run, use->jobs->pdata[i]), 0);
  baseline_free(baseline);
  return written;
}

static bool use_baseline(CliRun *run, const BaselineUse *use, const CliOptions *options,
                         KcError *error) {
  if (options->write_baseline) return write_baseline(run, use, error);
  Baseline *baseline = baseline_open(use->path, error);
  if (!baseline) return false;
  for (guint i = 0; i < use->jobs->len; i++)
    baseline_filter(baseline, findings_of(run, use->jobs->pdata[i]));
  guint unused = baseline_unused(baseline, use->files);
  bool good = true;
  if (unused > 0 && options->prune_baseline) {
    baseline_prune(baseline, use->files);
    good = baseline_write(baseline, error);
    fprintf(stderr, "%s: %u entries dropped\n", use->path, unused);
  } else if (unused > 0 && !options->quiet) {
    fprintf(stderr, "%s: %u entries no longer occur; --prune-baseline drops them\n", use->path,
            unused);
  }
  baseline_free(baseline);
  return good;
}

static bool apply_baselines(CliRun *run, const CliOptions *options, KcError *error) {
  g_autoptr(GPtrArray) uses = baseline_uses(run, options);
  for (guint i = 0; i < uses->len; i++)
    if (!use_baseline(run, uses->pdata[i], options, error)) return false;
  return true;
}

/* ---- fixes ---- */

static bool fix_file(CliRun *run, guint i, const CliOptions *options, FixResult *total,
                     GString *diffs, KcError *error) {
  const Job *job = run->jobs->pdata[i];
  const JobResult *result = run->results->pdata[i];
  g_autofree char *read = NULL;
  gsize length = 0;
  if (!job->text && !files_read(job->path, &read, &length, error)) return false;
  const char *before = job->text ? job->text : read;
  guint applied = total->applied;
  g_autofree char *after =
      fix_text(job->path, before, result->report->findings, options->unsafe_fixes, total);
  if (!after || total->applied == applied) return true;
  if (options->diff) {
    g_autofree char *diff = fix_diff(job->path, before, after);
    g_string_append(diffs, diff);
    return true;
  }
  if (job->text) return kc_fail(error, job->path, 0, 0, "--fix cannot change standard input");
  g_autoptr(GError) failure = NULL;
  if (!g_file_set_contents(job->path, after, -1, &failure))
    return kc_fail(error, job->path, 0, 0, "cannot be written: %s", failure->message);
  run_again(run, i);
  return true;
}

static bool apply_fixes(CliRun *run, const CliOptions *options, GString *diffs, KcError *error) {
  FixResult total = {0};
  for (guint i = 0; i < run->jobs->len; i++)
    if (!fix_file(run, i, options, &total, diffs, error)) return false;
  if (!options->quiet)
    fprintf(stderr, "%u %s%s\n", total.applied, total.applied == 1 ? "fix " : "fixes ",
            options->diff ? "would be applied" : "applied");
  if (total.left > 0 && !options->unsafe_fixes && !options->quiet)
    fprintf(stderr, "%u more with --unsafe-fixes\n", total.left);
  return true;
}

/* ---- the report ---- */

static gint by_place(gconstpointer a, gconstpointer b) {
  const Finding *x = *(Finding *const *)a, *y = *(Finding *const *)b;
  int order = strcmp(x->path, y->path);
  if (!order) order = (x->line > y->line) - (x->line < y->line);
  if (!order) order = (x->column > y->column) - (x->column < y->column);
  return order ? order : strcmp(x->rule, y->rule);
}

static void move_all(GPtrArray *to, GPtrArray *from) {
  while (from->len > 0)
    g_ptr_array_add(to, g_ptr_array_steal_index(from, 0));
}

/* One report of all files; returns the highest exit status. */
static int collect(CliRun *run, Report *report) {
  int status = CLI_CLEAN;
  for (guint i = 0; i < run->results->len; i++) {
    JobResult *result = run->results->pdata[i];
    for (guint f = 0; f < result->report->files->len; f++) {
      ReportFile *file = result->report->files->pdata[f];
      file->exit_status = file_exit(run->jobs->pdata[i], result, file);
      status = MAX(status, file->exit_status);
    }
    move_all(report->files, result->report->files);
    move_all(report->findings, result->report->findings);
  }
  for (guint i = 0; i < run->refused->len; i++) {
    ((ReportFile *)run->refused->pdata[i])->exit_status = CLI_FAILED;
    status = CLI_FAILED;
  }
  move_all(report->files, run->refused);
  g_ptr_array_sort(report->findings, by_place);
  return status;
}

static bool use_color(const CliOptions *options) {
  if (options->color && strcmp(options->color, "always") == 0) return true;
  if (options->color && strcmp(options->color, "never") == 0) return false;
  const char *term = g_getenv("TERM"), *no_color = g_getenv("NO_COLOR");
  return !options->output && !(no_color && *no_color) && isatty(STDOUT_FILENO) && term &&
         strcmp(term, "dumb") != 0;
}

static bool print_report(CliRun *run, const CliOptions *options, int *status, KcError *error) {
  Report *report = report_new();
  int found = collect(run, report); /* not inside MAX: it would be called twice */
  *status = MAX(*status, found);
  ReportOptions how = {.color = use_color(options),
                       .quiet = options->quiet,
                       .verbose = options->verbose,
                       .statistics = options->statistics,
                       .timing = options->timing,
                       .columns = run_columns(options),
                       .docs_base = options->settings.docs_base};
  g_autoptr(GString) text = g_string_new(NULL);
  report_write(report, options->format ? options->format : "text", &how, text);
  bool written = run_write(options, text->str, text->len, error);
  report_free(report);
  return written;
}

int cmd_check(int argc, char **argv) {
  KcError error = {0};
  g_auto(CliOptions) options = {0};
  if (!options_parse(&options, "check", argc, argv, &error)) return cli_fail(&error);
  if (!names_check(&options.settings, NULL, 0, &error)) return cli_fail(&error);

  g_auto(CliRun) run = {0};
  run_files(&run, "check", NULL, &options);
  int status = run_print_errors(&run, options.verbose) ? CLI_FAILED : CLI_CLEAN;
  g_autoptr(GString) diffs = g_string_new(NULL);
  bool good = true;
  if (options.fix || options.diff) good = apply_fixes(&run, &options, diffs, &error);
  if (good) good = apply_baselines(&run, &options, &error);
  if (good && options.dump) good = run_write_outputs(&run, &options, &error);
  if (good && diffs->len > 0) good = run_write(&options, diffs->str, diffs->len, &error);
  if (good && !options.dump && !options.diff) good = print_report(&run, &options, &status, &error);
  return good ? status : cli_fail(&error);
}
