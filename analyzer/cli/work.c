/* What a worker does with its job. */
#include "cli/work.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/guess.h"
#include "cli/limits.h"
#include "cli/nvcc.h"
#include "cli/render.h"
#include "cli/render_repro.h"
#include "cli/render_trace.h"
#include "cli/sweep.h"
#include "cli/verdict.h"
#include "cuda/cuda.h"
#include "report/report.h"

void work_limit_time(int64_t share) {
  struct rusage used;
  struct rlimit limit;
  if (WORK_UNDER_SANITIZER || getrusage(RUSAGE_SELF, &used) != 0 ||
      getrlimit(RLIMIT_CPU, &limit) != 0)
    return;
  int64_t spent = used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1;
  limit.rlim_cur = share ? (rlim_t)(spent + share / 1000000) : limit.rlim_max;
  setrlimit(RLIMIT_CPU, &limit);
}

void work_tell_stage(const char *stage, const char *detail) {
  if (strcmp(stage, "parse") != 0) work_limit_time(0);
  printf("%s%s%s\n", stage, detail ? " " : "", detail ? detail : "");
  fflush(stdout);
}

/* A sanitizer's shadow memory is address space: there the parent's watch on resident memory is the
 * only limit. */
void work_limit_self(const Job *job) {
  struct rlimit space = {.rlim_cur = job->memory + LIMIT_UNTOUCHED, .rlim_max = RLIM_INFINITY};
  if (!WORK_UNDER_SANITIZER) setrlimit(RLIMIT_AS, &space);
  struct rlimit core = {0};
  setrlimit(RLIMIT_CORE, &core);
  /* A worker whose parent was killed ends by itself. */
  alarm((unsigned)(job->timeout_us / 1000000 + 5));
}

/* The target that the module names: ".target sm_90a". */
static char *ptx_target(const char *text) {
  for (const char *at = text; (at = strstr(at, ".target")) != NULL; at++) {
    const char *name = at + strlen(".target");
    name += strspn(name, " \t");
    if (g_str_has_prefix(name, "sm_")) return g_strndup(name, strcspn(name, ", \t\r\n/;"));
  }
  return NULL;
}

/* Nobody named a target: the one that the source's instructions ask for. */
static void guess_targets(Job *job, ReportFile *file) {
  g_autoptr(GPtrArray) archs = g_ptr_array_new();
  const char *because;
  guess_archs(job->text, job->length, archs, &because);
  for (guint i = 0; i < archs->len; i++)
    job_add_target(job, archs->pdata[i], false);
  file->arch_because = g_strdup(because);
}

bool work_prepare(Job *job, ReportFile *file, KcError *error) {
  if (!job->text && !files_read(job->path, &job->text, &job->length, error)) return false;
  if (!files_check_text(job->path, job->text, job->length, error)) return false;
  if (job->targets->len == 0 && !job->is_ptx) guess_targets(job, file);
  if (job->targets->len == 0) {
    g_autofree char *name = ptx_target(job->text);
    const Arch *arch = name ? arch_find(name, NULL) : NULL;
    if (!arch) {
      kc_fail(error, job->path, 0, 0, "%s%s", name ? "unknown .target " : "no .target directive",
              name ? name : "");
      return kc_hint(error, "name the GPU with --arch or --target");
    }
    job_add_target(job, arch->name, true);
  }
  return true;
}

static void take_findings(GPtrArray *into, GPtrArray *findings) {
  for (guint i = 0; findings && i < findings->len; i++)
    g_ptr_array_add(into, findings->pdata[i]);
  if (findings) {
    g_ptr_array_set_free_func(findings, NULL);
    g_ptr_array_set_size(findings, 0);
  }
}

static bool run_target(const Job *job, const JobTarget *target, LazyRules *rules, ReportFile *file,
                       GPtrArray *findings, GString *output) {
  KcError error = {0};
  bool budget = strcmp(job->command, "budget") == 0;
  bool repro = strcmp(job->command, "repro") == 0;
  bool trace = strcmp(job->command, "trace") == 0;
  g_auto(Analysis) analysis = {.list_constants = trace};
  Job today = *job;
  if (budget) today.settings.stages = NULL; /* a range of them comes after the source as it is */
  if (!job->is_ptx) work_limit_time(limit_parse_us(job->timeout_us));
  bool done = pipeline_run(&analysis, &today, target, rules, work_tell_stage, &error);
  if (done) {
    verdict_add(file, &analysis);
    done = budget                 ? sweep_budget(&analysis, job, target, rules, output, &error)
           : repro                ? render_repro(&analysis, job, rules, output, &error)
           : trace && output->len ? true /* one picture: that of the first target */
           : trace                ? render_trace(&analysis, job, target, rules, output, &error)
                                  : render_output(&analysis, job, output, &error);
  }
  if (!done) verdict_failed(file, &error);
  take_findings(findings, analysis.findings);
  kc_error_clear(&error);
  return done;
}

/* --ptx: the same on what nvcc made of the file. Only its findings count: the kernels are the ones
 * that were reported already, under mangled names. */
static bool run_nvcc(const Job *job, const JobTarget *target, LazyRules *rules, ReportFile *file,
                     GPtrArray *findings) {
  KcError error = {0};
  g_auto(Analysis) analysis = {0};
  work_tell_stage("nvcc", NULL);
  g_autofree char *text = nvcc_ptx(job, target->arch, &error);
  Job ptx = *job;
  ptx.text = text;
  ptx.length = text ? strlen(text) : 0;
  ptx.is_ptx = true;
  ptx.settings.kernels = NULL; /* --kernel names them as C++ does */
  bool done = text && pipeline_run(&analysis, &ptx, target, rules, work_tell_stage, &error);
  if (!done) verdict_failed(file, &error);
  take_findings(findings, analysis.findings);
  kc_error_clear(&error);
  return done;
}

static ReportFile *new_file(const Job *job) {
  ReportFile *file = report_file_new(job->path, "checked");
  file->default_arch = job->default_arch;
  return file;
}

static GPtrArray *run_targets(const Job *job, LazyRules *rules, ReportFile *file, GString *output) {
  GPtrArray *findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  bool done = true;
  for (guint i = 0; done && i < job->targets->len; i++) {
    done = run_target(job, job->targets->pdata[i], rules, file, findings, output);
    if (done && job->settings.ptx && !job->is_ptx)
      done = run_nvcc(job, job->targets->pdata[i], rules, file, findings);
  }
  return findings;
}

static bool lacks_instructions(const GPtrArray *findings) {
  for (guint i = 0; i < findings->len; i++)
    if (strcmp(((const Finding *)findings->pdata[i])->rule, "arch-feature-absent") == 0)
      return true;
  return false;
}

/* Nobody named a target and the default one lacks an instruction that the file's headers use: the
 * newer one counts, if that has them all. Takes and gives the results of either. */
static void retry_newer(const Job *job, LazyRules *rules, ReportFile **file, GPtrArray **findings,
                        GString *output) {
  if (!job->default_arch || (*file)->arch_because || !lacks_instructions(*findings)) return;
  Job newer = *job;
  newer.targets = job_targets_new();
  job_add_target(&newer, GUESS_NEWER, false);
  ReportFile *other = new_file(job);
  other->arch_because = g_strdup("its headers");
  g_autoptr(GString) text = g_string_new(NULL);
  GPtrArray *found = run_targets(&newer, rules, other, text);
  g_ptr_array_unref(newer.targets);
  if (strcmp(other->status, "failed") != 0 && !lacks_instructions(found)) {
    report_file_free(*file);
    g_ptr_array_unref(*findings);
    if (job->newer) *job->newer = true;
    *file = other, *findings = found;
    g_string_assign(output, text->str);
    return;
  }
  report_file_free(other);
  g_ptr_array_unref(found);
}

static void run_job(Job *job, LazyRules *known, Report *report, GString *output) {
  KcError error = {0};
  ReportFile *file = new_file(job);
  if (!work_prepare(job, file, &error)) {
    verdict_failed(file, &error);
    kc_error_clear(&error);
    g_ptr_array_add(report->files, file);
    return;
  }
  LazyRules *rules = known ? known : lazy_rules_start();
  GPtrArray *findings = run_targets(job, rules, file, output);
  retry_newer(job, rules, &file, &findings, output);
  g_ptr_array_add(report->files, file);
  verdict_close(file, job->strict);
  findings = rules_merge(findings);
  rules_drop_partly_unused(findings, job->targets->len);
  take_findings(report->findings, findings);
  g_ptr_array_unref(findings);
  if (!known) lazy_rules_free(rules);
}

static void answer(const Report *report, const GString *output) {
  g_autofree char *text = g_utf8_make_valid(output->str, (gssize)output->len);
  json_t *json = json_pack("{so ss}", "report", report_to_json(report), "output", text);
  json_dumpf(json, stdout, JSON_COMPACT);
  putchar('\n');
  fflush(stdout);
  json_decref(json);
}

void work_run(Job *job, LazyRules *rules) {
  work_limit_self(job);
  Report *report = report_new();
  g_autoptr(GString) output = g_string_new(NULL);
  run_job(job, rules, report, output);
  answer(report, output);
  report_free(report);
}
