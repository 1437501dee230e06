/* kcheck trace: which kernel and which finding are meant, and the smallest program, inputs and run
 * that show it: constants of the source that count stages or trips are made smaller as long as the
 * same finding comes up at the same place. */
#include "cli/render_trace.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shown.h"
#include "cli/strv.h"
#include "report/trace.h"

enum {
  MOST_VALUES = 6, /* of a constant that are tried */
  LEAST_COUNT = 2, /* a ring of one stage is another thing */
  SHRINK_PART = 4  /* of the job's time may go into smaller programs */
};

typedef struct {
  char *form; /* "html", "svg", or "" */
  int line;   /* of the finding; 0: any */
  bool all;
  int columns;
} Extra;

char *render_trace_extra(const char *form, const char *line, bool all, int columns) {
  return g_strdup_printf("%s,%s,%d,%d", form ? form : "", line ? line : "0", all, columns);
}

static Extra parse_extra(const char *text) {
  g_auto(GStrv) parts = g_strsplit(text ? text : ",0,0,100", ",", 4);
  Extra extra = {.columns = 100};
  if (g_strv_length(parts) != 4) return extra;
  return (Extra){g_strdup(parts[0]), atoi(parts[1]), atoi(parts[2]) != 0, atoi(parts[3])};
}

/* ---- which kernel ---- */

static bool may_draw(const Analysis *a, int k) {
  return a->selected[k] && a->machines[k];
}

/* The kernel of the finding, the only one, the only one with a finding that a run shows. */
static int choose_kernel(const Analysis *a, const Job *job, const Rules *rules, int line,
                         KcError *error) {
  int chosen = -1, count = 0, faulty = -1, faults = 0;
  g_autoptr(GString) names = g_string_new(NULL);
  for (int k = 0; k < a->program->kernels.count; k++) {
    if (!may_draw(a, k)) continue;
    const char *name = a->program->kernels.items[k]->instantiation;
    g_string_append_printf(names, "%s%s", count++ ? ", " : "", name);
    chosen = k;
    bool faulted = false;
    for (guint i = 0; i < a->findings->len; i++) {
      const Finding *f = a->findings->pdata[i];
      faulted |= f->kernel && strcmp(f->kernel, name) == 0 && shown_by_run(rules, f) &&
                 (line == 0 || f->line == line);
    }
    if (faulted) faulty = k;
    faults += faulted;
  }
  if (count == 0) {
    kc_fail(error, job->path, 0, 0, "no kernel here could be run");
    return -1;
  }
  if (faults == 1 || (faults > 0 && line > 0)) return faulty;
  if (count == 1) return chosen;
  kc_fail(error, job->path, 0, 0, "%d kernels here", count);
  kc_hint(error, "choose one with --kernel: %s", names->str);
  return -1;
}

/* The finding of kernel `k` to draw: what a run may show first, then the highest severity. */
static const Finding *choose_finding(const Analysis *a, const Rules *rules, int k, int line) {
  const char *name = a->program->kernels.items[k]->instantiation;
  const Finding *best = NULL;
  int best_rank = -1;
  for (guint i = 0; i < a->findings->len; i++) {
    const Finding *f = a->findings->pdata[i];
    if (!f->kernel || strcmp(f->kernel, name) != 0 || (line > 0 && f->line != line)) continue;
    int rank = (shown_by_run(rules, f) ? 16 : 0) + (int)f->severity;
    if (rank > best_rank) best = f;
    best_rank = MAX(rank, best_rank);
  }
  return best;
}

/* ---- the smallest program ---- */

typedef struct {
  Analysis analysis;
  const Finding *finding;
  int k;
} Smaller;

/* The finding of `like` in another reading of the file: template arguments may differ. */
static const Finding *same_finding(const Analysis *a, const char *kernel, const Finding *like,
                                   int *k) {
  for (guint i = 0; i < a->findings->len; i++) {
    const Finding *f = a->findings->pdata[i];
    if (strcmp(f->rule, like->rule) != 0 || f->line != like->line || f->column != like->column ||
        strcmp(f->path, like->path) != 0)
      continue;
    const IrKernel *found = f->kernel ? shown_kernel(a, f, k) : NULL;
    if (found && a->machines[*k] && strcmp(found->name, kernel) == 0) return f;
  }
  return NULL;
}

static bool try_constants(Smaller *out, const Analysis *today, int k, const Finding *finding,
                          const Job *job, const JobTarget *target, LazyRules *rules,
                          char **constants) {
  KcError error = {0};
  Job one = *job;
  one.settings.kernels = NULL; /* another value may be another instantiation */
  *out = (Smaller){.analysis = {.constants = constants}};
  if (pipeline_run(&out->analysis, &one, target, rules, NULL, &error))
    out->finding =
        same_finding(&out->analysis, today->program->kernels.items[k]->name, finding, &out->k);
  kc_error_clear(&error);
  if (!out->finding) pipeline_clear(&out->analysis);
  return out->finding != NULL;
}

static void replace_value(char ***constants, const char *name, int64_t value) {
  g_autofree char *text = g_strdup_printf("%s=%" G_GINT64_FORMAT, name, value);
  strv_add(constants, text);
}

/* Makes one constant after the other as small as shows the same. Returns what was changed, or NULL;
 * then `out` holds nothing. */
static char *shrink(Smaller *out, const Analysis *today, int k, const Finding *finding,
                    const Job *job, const JobTarget *target, LazyRules *rules) {
  g_auto(GStrv) accepted = NULL;
  g_autoptr(GString) changed = g_string_new(NULL);
  int64_t until = g_get_monotonic_time() + job->timeout_us / SHRINK_PART;
  for (int c = 0; c < today->program->constants.count; c++) {
    const IrConstant *constant = &today->program->constants.items[c];
    int64_t last = MIN(constant->value - 1, LEAST_COUNT + MOST_VALUES - 1);
    for (int64_t n = LEAST_COUNT; n <= last && g_get_monotonic_time() < until; n++) {
      g_auto(GStrv) constants = g_strdupv(accepted);
      replace_value(&constants, constant->name, n);
      Smaller candidate;
      if (!try_constants(&candidate, today, k, finding, job, target, rules, constants)) continue;
      if (accepted) pipeline_clear(&out->analysis);
      *out = candidate;
      out->analysis.constants = NULL; /* read by now */
      g_strfreev(accepted);
      accepted = g_steal_pointer(&constants);
      g_string_append_printf(changed,
                             "%s%s = %" G_GINT64_FORMAT " (%" G_GINT64_FORMAT " in the source)",
                             changed->len ? ", " : "", constant->name, n, constant->value);
      break;
    }
  }
  return changed->len ? g_strdup(changed->str) : NULL;
}

/* ---- drawing ---- */

static void draw(const TraceInput *input, const Extra *extra, GString *out) {
  if (strcmp(extra->form, "html") == 0)
    trace_html(input, out);
  else if (strcmp(extra->form, "svg") == 0)
    trace_svg(input, out);
  else
    trace_text(input, extra->columns, out);
}

/* The violation that a finding of a run tells, or NULL. */
static const IrViolation *violation_of(const Analysis *a, const Rules *rules, int k,
                                       const Finding *f) {
  const Rule *rule = f && shown_by_run(rules, f) ? rules_find(rules, f->rule, NULL) : NULL;
  return rule ? shown_violation(a, rule, a->program->kernels.items[k], f) : NULL;
}

static bool draw_kernel(const Analysis *a, const Job *job, const Rules *rules, int k,
                        const Finding *finding, const char *changed, const Extra *extra,
                        GString *out) {
  IrSites *sites = ir_sites_new(a->program);
  TraceInput input = {.program = a->program,
                      .sites = sites,
                      .kernel = a->program->kernels.items[k],
                      .finding = finding,
                      .changed = changed,
                      .all = extra->all};
  const IrViolation *violation = violation_of(a, rules, k, finding);
  input.result = pipeline_picture(a, job, k, violation, &input.fault);
  bool good = input.fault || !changed;
  if (!input.fault && violation) /* it came up once: an ordinary run, and the finding's words */
    input.result = pipeline_picture(a, job, k, NULL, &input.fault);
  if (good) draw(&input, extra, out);
  ir_sites_free(sites);
  return good;
}

static bool draw_finding(const Analysis *a, const Job *job, const JobTarget *target,
                         LazyRules *lazy, const Rules *rules, int k, const Finding *finding,
                         const Extra *extra, GString *out) {
  Smaller smaller = {0};
  const IrViolation *violation = violation_of(a, rules, k, finding);
  g_autofree char *changed = violation && !job->is_ptx && !extra->all
                                 ? shrink(&smaller, a, k, finding, job, target, lazy)
                                 : NULL;
  bool drawn = changed && draw_kernel(&smaller.analysis, job, rules, smaller.k, smaller.finding,
                                      changed, extra, out);
  if (changed) pipeline_clear(&smaller.analysis);
  return drawn || draw_kernel(a, job, rules, k, finding, NULL, extra, out);
}

bool render_trace(const Analysis *a, const Job *job, const JobTarget *target, LazyRules *lazy,
                  GString *out, KcError *error) {
  Extra extra = parse_extra(job->extra);
  const Rules *rules = lazy_rules_get(lazy, error);
  bool good = rules != NULL;
  if (good && extra.line > 0 && !shown_finding(a, rules, extra.line))
    good = shown_nothing(a, job, extra.line, error);
  int k = good ? choose_kernel(a, job, rules, extra.line, error) : -1;
  const Finding *finding = k >= 0 ? choose_finding(a, rules, k, extra.line) : NULL;
  if (finding && extra.line > 0 && !shown_by_run(rules, finding)) {
    kc_fail(error, job->path, extra.line, 0, "%s is not seen by running: there is nothing to draw",
            finding->rule);
    k = -1;
  }
  if (finding && !shown_by_run(rules, finding)) finding = NULL;
  if (k >= 0) draw_finding(a, job, target, lazy, rules, k, finding, &extra, out);
  g_free(extra.form);
  return k >= 0;
}
