#include "cli/sweep.h"

#include <stdlib.h>
#include <string.h>

#include "cli/strv.h"

enum { MAX_COUNTS = 64 };

typedef struct {
  int count; /* of stages; 0: the source as it is */
  BudgetRow row;
  bool known; /* this count could be read */
} Row;

bool sweep_range(const char *text, char **name, int *first, int *last) {
  const char *equals = strchr(text, '=');
  const char *range = equals ? equals + 1 : text;
  char *end = NULL;
  long low = strtol(range, &end, 10);
  if (end == range || (*end && !g_str_has_prefix(end, ".."))) return false;
  long high = low;
  if (*end) {
    const char *second = end + 2;
    high = strtol(second, &end, 10);
    if (end == second) return false;
  }
  if (*end || low < 1 || high < low || high - low >= MAX_COUNTS) return false;
  *name = equals ? g_strndup(text, (gsize)(equals - text)) : NULL;
  *first = (int)low;
  *last = (int)high;
  return true;
}

/* The kernel of `analysis` that stands for kernel `k` of `today`: the stage count may be one of its
 * template arguments, so that the instantiation has another name. */
static int same_kernel(const Analysis *analysis, const Analysis *today, int k) {
  const IrKernel *wanted = today->program->kernels.items[k];
  if (k < analysis->program->kernels.count &&
      strcmp(analysis->program->kernels.items[k]->name, wanted->name) == 0)
    return k;
  for (int i = 0; i < analysis->program->kernels.count; i++)
    if (strcmp(analysis->program->kernels.items[i]->name, wanted->name) == 0) return i;
  return -1;
}

/* Reads the file with `stages` set and takes the row of each kernel of today. */
static bool read_count(const Analysis *today, const Job *job, const JobTarget *target,
                       LazyRules *rules, const char *name, int count, GArray **rows,
                       KcError *error) {
  g_autofree char *setting =
      name ? g_strdup_printf("%s=%d", name, count) : g_strdup_printf("%d", count);
  char *stages[] = {setting, NULL};
  Job one = *job;
  one.settings.stages = stages;
  one.settings.kernels = NULL;
  g_auto(Analysis) analysis = {.budget_only = true};
  if (!pipeline_run(&analysis, &one, target, rules, NULL, error)) return false;
  for (int k = 0; k < today->program->kernels.count; k++) {
    int other = same_kernel(&analysis, today, k);
    Row row = {.count = count, .known = other >= 0};
    if (other >= 0) row.row = analysis.budgets[other].row;
    g_array_append_val(rows[k], row);
  }
  return true;
}

/* Bytes that one more stage takes, from two neighbouring rows; -1 when not known. */
static int64_t stage_bytes(const Row *less, const Row *more) {
  if (!less->known || !more->known || less->row.smem_total < 0 || more->row.smem_total < 0)
    return -1;
  return more->row.smem_total - less->row.smem_total;
}

static void append_row(GString *out, const Row *row, int64_t bytes, bool today,
                       const char *stage_name, bool *marked) {
  const BudgetRow *b = &row->row;
  if (row->count > 0)
    g_string_append_printf(out, "%7d", row->count);
  else
    g_string_append(out, "  today");
  if (!row->known || b->smem_total < 0) {
    g_string_append(out, "   shared memory is not known\n");
    return;
  }
  if (bytes >= 0)
    g_string_append_printf(out, "  %11" G_GINT64_FORMAT, bytes);
  else
    g_string_append_printf(out, "  %11s", "-");
  g_string_append_printf(out, "  %11" G_GINT64_FORMAT "  %7.0f %%", b->smem_total,
                         b->limit > 0 ? 100.0 * (double)b->smem_total / (double)b->limit : 0.0);
  if (b->fits)
    g_string_append_printf(out, "  %10d   fits", b->blocks_per_sm);
  else
    g_string_append_printf(out, "  %10s   %" G_GINT64_FORMAT " bytes over%s", "-",
                           b->smem_total - b->limit,
                           *marked ? "" : "   <- the first that does not fit");
  if (!b->fits) *marked = true;
  if (today) g_string_append_printf(out, "        <- %s today", stage_name);
  g_string_append_c(out, '\n');
}

static void append_head(GString *out, const Analysis *a, const BudgetKernel *budget) {
  g_string_append_printf(out, "%s   %s: %d bytes a block, %d registers",
                         budget->kernel->instantiation, a->arch->name, a->arch->smem_opt_in,
                         a->arch->registers_per_sm);
  if (a->arch->tmem_columns > 0)
    g_string_append_printf(out, ", %d TMEM columns", a->arch->tmem_columns);
  g_string_append(out, "\n stages   smem/stage   smem total   of limit   blocks/SM   verdict\n");
}

static void append_registers(GString *out, const Analysis *a, const BudgetKernel *budget) {
  g_string_append(out, "registers: ");
  if (budget->threads > 0 && budget->launch_bounds_registers > 0)
    g_string_append_printf(out, "launch bounds (%d, %d) allow %d", budget->threads,
                           MAX(budget->min_blocks, 1), budget->launch_bounds_registers);
  else
    g_string_append(out, "no launch bounds");
  if (budget->setmaxnreg) g_string_append_printf(out, "; setmaxnreg %s", budget->setmaxnreg);
  if (a->arch->tmem_columns > 0 && budget->tmem_columns > 0)
    g_string_append_printf(out, "   TMEM: %d of %d columns", budget->tmem_columns,
                           a->arch->tmem_columns);
  g_string_append(out, "\n\n");
}

static void append_kernel(GString *out, const Analysis *today, int k, const GArray *rows,
                          const char *name) {
  const BudgetKernel *budget = &today->budgets[k];
  const IrKernel *kernel = today->program->kernels.items[k];
  const char *stage_name = name                                ? name
                           : kernel->stage_constants.count > 0 ? kernel->stage_constants.items[0]
                                                               : "source";
  bool marked = false;
  append_head(out, today, budget);
  if (rows->len == 0) {
    Row now = {.row = budget->row, .known = true};
    append_row(out, &now, -1, false, stage_name, &marked);
  }
  for (guint i = 0; i < rows->len; i++) {
    const Row *row = &g_array_index(rows, Row, i);
    bool same = row->known && row->row.smem_total == budget->row.smem_total;
    int64_t bytes = i > 0           ? stage_bytes(row - 1, row)
                    : rows->len > 1 ? stage_bytes(row, row + 1)
                                    : -1;
    append_row(out, row, bytes, same, stage_name, &marked);
  }
  append_registers(out, today, budget);
}

static bool read_range(const Analysis *today, const Job *job, const JobTarget *target,
                       LazyRules *rules, GArray **rows, char **name, KcError *error) {
  char *const *stages = job->settings.stages;
  int first = 0, last = -1;
  if (!stages || !*stages) return true;
  if (!sweep_range(*stages, name, &first, &last)) {
    kc_fail(error, NULL, 0, 0, "--stages %s is no range", *stages);
    return kc_hint(error, "budget takes [NAME=]2..8, at most %d counts", MAX_COUNTS);
  }
  for (int count = first; count <= last; count++)
    if (!read_count(today, job, target, rules, *name, count, rows, error)) return false;
  return true;
}

bool sweep_budget(const Analysis *today, const Job *job, const JobTarget *target, LazyRules *rules,
                  GString *out, KcError *error) {
  int count = today->program->kernels.count;
  g_autofree char *name = NULL;
  GArray **rows = g_new0(GArray *, count + 1);
  for (int k = 0; k < count; k++)
    rows[k] = g_array_new(FALSE, TRUE, sizeof(Row));
  bool good = read_range(today, job, target, rules, rows, &name, error);
  for (int k = 0; k < count; k++) {
    if (good && today->selected[k]) append_kernel(out, today, k, rows[k], name);
    g_array_unref(rows[k]);
  }
  g_free(rows);
  return good;
}
