#include "cli/shown.h"

#include <string.h>

bool shown_by_run(const Rules *rules, const Finding *f) {
  const Rule *rule = rules_find(rules, f->rule, NULL);
  return rule && (strcmp(rule->engine, "machine") == 0 || strcmp(rule->engine, "budget") == 0);
}

const Finding *shown_finding(const Analysis *a, const Rules *rules, int line) {
  const Finding *best = NULL;
  int best_rank = -1;
  for (guint i = 0; i < a->findings->len; i++) {
    const Finding *f = a->findings->pdata[i];
    if (line > 0 && f->line != line) continue;
    if (!f->kernel) continue;
    int rank = (shown_by_run(rules, f) ? 16 : 0) + (int)f->severity;
    if (rank > best_rank) best = f;
    best_rank = MAX(rank, best_rank);
  }
  return best;
}

bool shown_nothing(const Analysis *a, const Job *job, int line, KcError *error) {
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

const IrKernel *shown_kernel(const Analysis *a, const Finding *f, int *index) {
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

const IrViolation *shown_violation(const Analysis *a, const Rule *rule, const IrKernel *kernel,
                                   const Finding *f) {
  const IrViolation *found = NULL;
  for (int i = 0; i < a->violations.list.count; i++) {
    const IrViolation *v = a->violations.list.items[i];
    bool detects = strcmp(v->kind, rule->id) == 0;
    for (char **kind = rule->detects; kind && *kind; kind++)
      detects = detects || strcmp(*kind, v->kind) == 0;
    if (!detects || v->kernel != kernel || !stands_at(&a->program->sources, v->where, f->line))
      continue;
    if (strcmp(v->message, f->message) == 0) return v; /* one of several at that line */
    if (!found) found = v;
  }
  return found;
}
