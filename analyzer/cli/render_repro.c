/* kcheck repro: which finding is meant, which violation it tells, and what nvcc is to be given. */
#include "cli/render_repro.h"

#include <stdlib.h>
#include <string.h>

#include "report/repro.h"

static bool shows_when_run(const Rules *rules, const Finding *f) {
  const Rule *rule = rules_find(rules, f->rule, NULL);
  return rule && (strcmp(rule->engine, "machine") == 0 || strcmp(rule->engine, "budget") == 0);
}

/* What a run may show first, then the highest severity, then the order of the report. */
static const Finding *finding_at(const Analysis *a, const Rules *rules, int line) {
  const Finding *best = NULL;
  int best_rank = -1;
  for (guint i = 0; i < a->findings->len; i++) {
    const Finding *f = a->findings->pdata[i];
    if (line > 0 && f->line != line) continue;
    if (!f->kernel) continue;
    int rank = (shows_when_run(rules, f) ? 16 : 0) + (int)f->severity;
    if (rank > best_rank) best = f;
    best_rank = MAX(rank, best_rank);
  }
  return best;
}

static bool no_finding(const Analysis *a, const Job *job, int line, KcError *error) {
  g_autoptr(GString) known = g_string_new(NULL);
  for (guint i = 0; i < a->findings->len; i++) {
    const Finding *f = a->findings->pdata[i];
    if (f->kernel) g_string_append_printf(known, "%s%d", known->len ? ", " : "", f->line);
  }
  if (line > 0)
    kc_fail(error, job->path, line, 0, "no finding of a kernel at this line");
  else
    kc_fail(error, job->path, 0, 0, "no finding of a kernel here");
  return known->len ? kc_hint(error, "there are some at %s", known->str) : false;
}

static const IrKernel *kernel_of(const Analysis *a, const Finding *f, int *index) {
  for (int k = 0; k < a->program->kernels.count; k++) {
    *index = k;
    if (strcmp(a->program->kernels.items[k]->instantiation, f->kernel) == 0)
      return a->program->kernels.items[k];
  }
  return NULL;
}

static bool stands_at(const SourceMap *map, uint32_t where, int line) {
  for (uint32_t id = where; id != 0 && id < (uint32_t)map->stacks.count;
       id = map->stacks.items[id].outer)
    if ((int)map->stacks.items[id].range.line == line) return true;
  return false;
}

static const IrViolation *violation_of(const Analysis *a, const Rule *rule, const IrKernel *kernel,
                                       const Finding *f) {
  for (int i = 0; i < a->violations.list.count; i++) {
    const IrViolation *v = a->violations.list.items[i];
    bool detects = strcmp(v->kind, rule->id) == 0;
    for (char **kind = rule->detects; kind && *kind; kind++)
      detects = detects || strcmp(*kind, v->kind) == 0;
    if (detects && v->kernel == kernel && stands_at(&a->program->sources, v->where, f->line))
      return v;
  }
  return NULL;
}

/* "-std=c++17 -Iinclude -DN=4": nvcc understands what clang was given, but for its own switches. */
static char *nvcc_flags(const Settings *settings) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "-std=%s -O2", settings->std ? settings->std : "c++17");
  for (char **flag = settings->flags; flag && *flag; flag++) {
    g_autofree char *quoted = g_shell_quote(*flag);
    bool plain = strpbrk(*flag, " \t'\"$&|;<>()*?") == NULL;
    g_string_append_printf(text, " %s", plain ? *flag : quoted);
  }
  return g_string_free(text, FALSE);
}

bool render_repro(const Analysis *a, const Job *job, LazyRules *rules, GString *out,
                  KcError *error) {
  if (job->is_ptx) return kc_fail(error, job->path, 0, 0, "a program can only be made around C++");
  int line = job->extra ? atoi(job->extra) : 0, k = 0;
  const Rules *all = lazy_rules_get(rules, error);
  if (!all) return false;
  const Finding *finding = finding_at(a, all, line);
  if (!finding) return no_finding(a, job, line, error);
  const Rule *rule = rules_find(all, finding->rule, error);
  const IrKernel *kernel = rule ? kernel_of(a, finding, &k) : NULL;
  if (!kernel) return false;
  g_autofree char *include = g_canonicalize_filename(job->path, NULL);
  g_autofree char *flags = nvcc_flags(&job->settings);
  ReproInput input = {.program = a->program,
                      .kernel = kernel,
                      .result = a->machines[k],
                      .host = a->host,
                      .violation = violation_of(a, rule, kernel, finding),
                      .finding = finding,
                      .engine = rule->engine,
                      .include = include,
                      .target = a->arch->name + strlen("sm_"),
                      .flags = flags};
  return repro_write(&input, out, error);
}
