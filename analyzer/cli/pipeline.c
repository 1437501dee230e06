#include "cli/pipeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/limits.h"
#include "cli/strv.h"
#include "cuda/cuda.h"
#include "ptx/ptx.h"
#include "source/check.h"

typedef struct {
  Analysis *analysis;
  const Job *job;
  LazyRules *rules;
  PipelineProgress *progress;
  const char *stage;
  int64_t stage_started;
  MachineOptions machine;
  KcError *error;
} Run;

static void add_time(Run *run, const char *stage, int64_t microseconds) {
  json_t *timing = run->analysis->timing;
  int64_t before = json_integer_value(json_object_get(timing, stage));
  json_object_set_new(timing, stage, json_integer(before + microseconds));
}

static void end_stage(Run *run) {
  if (run->stage) add_time(run, run->stage, g_get_monotonic_time() - run->stage_started);
  run->stage = NULL;
}

static void begin_stage(Run *run, const char *stage, const char *detail) {
  end_stage(run);
  run->stage = stage;
  run->stage_started = g_get_monotonic_time();
  if (run->progress) run->progress(stage, detail);
}

/* Directives that stand outside the source, written so that line N of the file that holds them is
 * line N here: their positions and errors then point there. */
static IrDirectives *outside_directives(KcArena *arena, SourceMap *sources,
                                        const SettingsDirective *directive) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (int line = 1; line < directive->line; line++)
    g_string_append_c(text, '\n');
  g_string_append_printf(text, "// kcheck: %s\n", directive->text);
  uint32_t file = sources ? source_file(sources, directive->path, true) : 0;
  return ir_parse_directives(arena, file, kc_strdup(arena, text->str), text->len);
}

#define APPEND(to, from, field)                                                                    \
  for (int i_ = 0; i_ < (from)->field.count; i_++)                                                 \
  KC_PUSH(arena, (to)->field, (from)->field.items[i_])

static void add_outside_directives(Run *run) {
  KcArena *arena = run->analysis->arena;
  IrProgram *program = run->analysis->program;
  const GPtrArray *list = run->job->settings.directives;
  if (!program->directives) program->directives = KC_NEW(arena, IrDirectives);
  IrDirectives *to = program->directives;
  for (guint i = 0; list && i < list->len; i++) {
    IrDirectives *from = outside_directives(arena, &program->sources, list->pdata[i]);
    APPEND(to, from, launches);
    APPEND(to, from, tensor_maps);
    APPEND(to, from, assumes);
    APPEND(to, from, errors);
  }
}

/* A launch of a kernel that is not here would be silently without effect. Those of a configuration
 * are for many files and come later. */
static void check_launches(Run *run) {
  KcArena *arena = run->analysis->arena;
  IrProgram *program = run->analysis->program;
  IrDirectives *directives = program->directives;
  for (int i = 0; directives && i < directives->launches.count; i++) {
    const IrLaunchDirective *launch = &directives->launches.items[i];
    bool found = false;
    for (int k = 0; k < program->kernels.count && !found; k++)
      found = ir_kernel_is_named(program->kernels.items[k], launch->kernel);
    if (found) continue;
    IrDirectiveError error = {
        .message = kc_printf(arena, "launch: no kernel here is called '%s'", launch->kernel),
        .range = launch->range};
    KC_PUSH(arena, directives->errors, error);
  }
}

/* --instantiate and every kernel that a launch directive outside the source names. */
static char **instantiations(Run *run) {
  char **names = NULL;
  strv_add_all(&names, run->job->settings.instantiate);
  const GPtrArray *list = run->job->settings.directives;
  for (guint i = 0; list && i < list->len; i++) {
    IrDirectives *outside = outside_directives(run->analysis->arena, NULL, list->pdata[i]);
    for (int n = 0; n < outside->instantiations.count; n++)
      strv_add(&names, outside->instantiations.items[n]);
  }
  return names;
}

/* The texts of event(...) directives of the configuration. */
static char **event_directives(Run *run) {
  char **events = NULL;
  const GPtrArray *list = run->job->settings.directives;
  for (guint i = 0; list && i < list->len; i++) {
    const SettingsDirective *directive = list->pdata[i];
    if (g_str_has_prefix(directive->text, "event(")) strv_add(&events, directive->text);
  }
  return events;
}

/* How the file is parsed; `names` and `events` must outlive what is returned. */
static CudaOptions cuda_options(const Run *run, char **names, char **events) {
  const Analysis *a = run->analysis;
  const Settings *settings = &run->job->settings;
  static const char *const none[] = {NULL};
  return (CudaOptions){
      .arch = a->arch->name,
      .std = settings->std,
      .cuda_path = settings->cuda_path,
      .flags = settings->flags ? strv_view(settings->flags) : none,
      .instantiate = strv_view(names),
      .stages = strv_view(settings->stages),
      .list_constants = a->list_constants,
      .constants = strv_view(a->constants),
      .event_directives = strv_view(events),
      .dialects = strv_view(settings->dialects),
      .progress = run->progress,
      .text = run->job->text,
      .text_length = run->job->length,
      .opening = run->job->opening,
      .kept = run->job->kept,
  };
}

static bool load_cuda(Run *run) {
  Analysis *a = run->analysis;
  g_auto(GStrv) names = instantiations(run);
  g_auto(GStrv) events = event_directives(run);
  CudaOptions options = cuda_options(run, names, events);
  CudaTiming timing = {0};
  if (run->progress) run->progress("parse", NULL);
  a->program = cuda_load(a->arena, run->job->path, &options, &a->violations, &timing, run->error);
  add_time(run, "load libclang", timing.load);
  add_time(run, "parse", timing.parse);
  add_time(run, "lower", timing.lower);
  return a->program != NULL;
}

void pipeline_keep(const Job *job, const JobTarget *target, PipelineProgress *progress) {
  g_auto(Analysis) analysis = {.arena = kc_arena_new(), .arch = arch_find(target->arch, NULL)};
  Run run = {.analysis = &analysis, .job = job, .progress = progress};
  if (!analysis.arch || job->is_ptx) return;
  g_auto(GStrv) names = instantiations(&run);
  g_auto(GStrv) events = event_directives(&run);
  CudaOptions options = cuda_options(&run, names, events);
  if (progress) progress("parse", NULL);
  cuda_keep_parse(job->path, &options);
}

static bool load_ptx(Run *run) {
  Analysis *a = run->analysis;
  begin_stage(run, "parse", NULL);
  a->program = ir_program_new(a->arena, run->job->path, a->arch->name);
  return ptx_load_module(a->program, run->job->text, run->job->length, &a->violations, run->error);
}

/* For --verbose: the parent shows what a worker says on stderr. */
static void say_diagnostics(const IrProgram *program) {
  for (int i = 0; i < program->diagnostics.count; i++) {
    const IrDiagnostic *d = &program->diagnostics.items[i];
    const char *path = d->range.line ? program->sources.files.items[d->range.file].path : NULL;
    if (path)
      fprintf(stderr, "%s:%u:%u: clang: %s\n", path, d->range.line, d->range.column, d->text);
    else
      fprintf(stderr, "%s: %s\n", program->path, d->text);
  }
}

static bool load(Run *run) {
  bool loaded = run->job->is_ptx ? load_ptx(run) : load_cuda(run);
  if (loaded) say_diagnostics(run->analysis->program);
  return loaded && ir_verify(run->analysis->program, run->error);
}

/* Marks what --kernel names; a name that is no kernel of the file is an error. */
static bool select_kernels(Run *run) {
  Analysis *a = run->analysis;
  char *const *names = run->job->settings.kernels;
  int count = a->program->kernels.count;
  a->selected = KC_NEW_ARRAY(a->arena, bool, count + 1);
  for (int k = 0; k < count && !(names && *names); k++)
    a->selected[k] = true;
  for (; names && *names; names++) {
    bool found = false;
    for (int k = 0; k < count; k++)
      if (ir_kernel_is_named(a->program->kernels.items[k], *names)) found = a->selected[k] = true;
    if (found) continue;
    g_autoptr(GString) known = g_string_new(NULL);
    for (int k = 0; k < count; k++)
      g_string_append_printf(known, "%s%s", k ? ", " : "",
                             a->program->kernels.items[k]->instantiation);
    kc_fail(run->error, run->job->path, 0, 0, "no kernel '%s' here", *names);
    return kc_hint(run->error, "kernels: %s", count ? known->str : "none");
  }
  return true;
}

/* Processor time for the machine, all kernels together. */
static int64_t machine_time(const Run *run) {
  const Job *job = run->job;
  int64_t part = job->timeout_us / LIMIT_MACHINE_PART;
  if (!job->started_us) return part; /* no worker: nobody stops it */
  int64_t left = job->started_us + job->timeout_us - g_get_monotonic_time() - LIMIT_REPORT_US;
  return MIN(part, MAX(left, 0));
}

static int64_t kernel_time(int64_t left_us, int kernels_left) {
  return MAX(kernels_left > 1 ? left_us / 2 : left_us, LIMIT_KERNEL_LEAST_US);
}

static bool launch_says_memory(const Analysis *a, const IrKernel *kernel) {
  for (int i = 0; i < a->host->launches.count; i++)
    if (a->host->launches.items[i].smem >= 0 &&
        ir_kernel_is_named(kernel, a->host->launches.items[i].kernel))
      return true;
  return false;
}

static void run_kernel(Run *run, int k, int64_t time_us) {
  Analysis *a = run->analysis;
  const IrKernel *kernel = a->program->kernels.items[k];
  run->machine.max_time_us = time_us;
  begin_stage(run, "machine", kernel->instantiation);
  if (!kernel->body_lost && !(a->budget_only && launch_says_memory(a, kernel))) {
    MachineResult *result =
        machine_run(a->arena, a->program, kernel, a->host, &run->machine, &a->violations);
    a->machines[k] = result;
    /* For --verbose: the parent shows what a worker says on stderr. */
    if (result)
      fprintf(stderr, "%s: %s: %" PRIu64 " steps in %.1f ms, %zu KB\n", run->job->path,
              kernel->instantiation, result->steps, (double)result->time_us / 1e3,
              result->memory >> 10);
  }
  begin_stage(run, "budget", kernel->instantiation);
  a->budgets[k] =
      budget_check(a->program, kernel, a->arch, a->host, a->machines[k], &a->violations);
}

static void run_kernels(Run *run) {
  Analysis *a = run->analysis;
  int count = a->program->kernels.count, left = 0;
  a->machines = KC_NEW_ARRAY(a->arena, MachineResult *, count + 1);
  a->budgets = KC_NEW_ARRAY(a->arena, BudgetKernel, count + 1);
  for (int k = 0; k < count; k++)
    left += a->selected[k];
  int64_t time_us = machine_time(run);
  for (int k = 0; k < count; k++) {
    if (!a->selected[k]) continue;
    run_kernel(run, k, kernel_time(time_us, left--));
    if (a->machines[k]) time_us -= MIN(a->machines[k]->time_us, time_us);
  }
}

/* A rule file that is wrong fails the stage of the rules; here it counts as one that says nothing.
 */
static MachineEffect effect_of_kind(const char *kind, void *user) {
  KcError error = {0};
  const Rules *rules = lazy_rules_get(user, &error);
  kc_error_clear(&error);
  return rules ? rules_effect(rules, kind) : MACHINE_EFFECT_DATA;
}

MachineResult *pipeline_picture(const Analysis *a, const Job *job, int k,
                                const IrViolation *violation, const IrViolation **shown) {
  MachineOptions options = {.arch = a->arch,
                            .assumes = strv_view(job->settings.assumes),
                            .max_time_us = job->timeout_us / LIMIT_MACHINE_PART,
                            .picture = true,
                            .pictured = violation,
                            .effect = effect_of_kind,
                            .effect_user = a->rules};
  const IrKernel *kernel = a->program->kernels.items[k];
  IrViolations *seen = KC_NEW(a->arena, IrViolations);
  seen->arena = a->arena;
  MachineResult *result = machine_run(a->arena, a->program, kernel, a->host, &options, seen);
  *shown = NULL;
  for (int i = 0; violation && i < seen->list.count && !*shown; i++) {
    const IrViolation *v = seen->list.items[i];
    if (v->where == violation->where && strcmp(v->kind, violation->kind) == 0) *shown = v;
  }
  return result;
}

bool pipeline_kernel_complete(const Analysis *a, int k) {
  const IrKernel *kernel = a->program->kernels.items[k];
  const MachineResult *result = a->machines[k];
  for (int i = 0; i < kernel->notes.count; i++)
    if (kernel->notes.items[i].may_hide_event) return false;
  return !kernel->body_lost && result && result->ran && result->complete;
}

/* Violations of kernels that --kernel leaves out go. */
static void drop_unselected(Analysis *a) {
  int kept = 0;
  for (int i = 0; i < a->violations.list.count; i++) {
    IrViolation *violation = a->violations.list.items[i];
    bool keep = true;
    for (int k = 0; k < a->program->kernels.count; k++)
      if (a->program->kernels.items[k] == violation->kernel) keep = a->selected[k];
    if (keep) a->violations.list.items[kept++] = violation;
  }
  a->violations.list.count = kept;
}

/* Whether everything that could use a suppression was looked at. */
static bool all_checked(const Run *run) {
  const Analysis *a = run->analysis;
  const Settings *settings = &run->job->settings;
  if (settings->select || settings->ignore || settings->kernels) return false;
  for (int k = 0; k < a->program->kernels.count; k++)
    if (!pipeline_kernel_complete(a, k)) return false;
  for (int i = 0; i < a->program->diagnostics.count; i++)
    if (a->program->diagnostics.items[i].unread) return false;
  if (a->program->library.count > 0 || a->program->library.cut) return false;
  return a->program->kernels.count > 0 || a->program->global_kernels_seen == 0;
}

static bool apply_rules(Run *run) {
  const Settings *settings = &run->job->settings;
  RulesOptions options = {
      .select = strv_view(settings->select),
      .ignore = strv_view(settings->ignore),
      .severity = strv_view(settings->severity),
      .docs_base = settings->docs_base,
      .arch = run->analysis->arch->name,
      .incomplete = !all_checked(run),
  };
  const Rules *rules = lazy_rules_get(run->rules, run->error);
  if (!rules) return false;
  drop_unselected(run->analysis);
  run->analysis->findings =
      rules_apply(rules, run->analysis->program, &run->analysis->violations, &options);
  return true;
}

/* The targets that the build is for, NULL-terminated; NULL when neither a compile command nor
 * --target says what nvcc is given (--arch names a GPU to check for, not a list of all). */
static const Arch *const *build_targets(KcArena *arena, const Job *job) {
  bool only_named = job->settings.archs && *job->settings.archs;
  if (only_named || !job->settings.targets || !*job->settings.targets) return NULL;
  const Arch **list = KC_NEW_ARRAY(arena, const Arch *, (int)job->targets->len + 1);
  for (guint i = 0; i < job->targets->len; i++)
    list[i] = arch_find(((const JobTarget *)job->targets->pdata[i])->arch, NULL);
  return list;
}

bool pipeline_run(Analysis *a, const Job *job, const JobTarget *target, LazyRules *rules,
                  PipelineProgress *progress, KcError *error) {
  a->arena = kc_arena_new();
  a->violations.arena = a->arena;
  a->timing = json_object();
  a->arch = arch_find(target->arch, error);
  a->exact = target->exact;
  a->rules = rules;
  Run run = {.analysis = a, .job = job, .rules = rules, .progress = progress, .error = error};
  run.machine = (MachineOptions){.arch = a->arch,
                                 .assumes = strv_view(job->settings.assumes),
                                 .effect = effect_of_kind,
                                 .effect_user = rules};
  run.machine.build = build_targets(a->arena, job);
  run.machine.dump_events = g_strcmp0(job->dump, "events") == 0;
  run.machine.contracts =
      g_strcmp0(job->dump, "model") == 0 || g_strcmp0(job->command, "protocol") == 0;
  if (!a->arch) return false;

  bool loaded = load(&run) && select_kernels(&run);
  if (loaded) {
    check_launches(&run);
    add_outside_directives(&run);
    begin_stage(&run, "host", NULL);
    a->host = machine_run_hosts(a->program, &run.machine, &a->violations);
    run_kernels(&run);
  }
  if (loaded && !a->budget_only) {
    begin_stage(&run, "source", NULL);
    source_check(a->program, a->arch, a->exact, a->host, &a->violations);
    if (!a->exact) ptx_check_build(a->program, &a->violations);
    begin_stage(&run, "rules", NULL);
    loaded = apply_rules(&run);
  }
  end_stage(&run);
  return loaded;
}

void pipeline_clear(Analysis *a) {
  if (a->findings) g_ptr_array_unref(a->findings);
  json_decref(a->timing);
  kc_arena_free(a->arena);
  *a = (Analysis){0};
}
