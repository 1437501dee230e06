/* Shared memory against the limits of a block: 48 KB without opt-in, the opt-in limit, and what the
 * target lets a kernel declare. Static and dynamic memory count together (measured on an H200). */
#include "budget/internal.h"

#include <glib.h>

enum { ATTRIBUTE_MAX_DYNAMIC_SMEM = 8 }; /* cudaFuncAttributeMaxDynamicSharedMemorySize */

static const IrObject *largest_static(const IrKernel *kernel) {
  const IrObject *largest = NULL;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (object->space == IR_SPACE_SHARED && !object->dynamic &&
        (!largest || object->bytes > largest->bytes))
      largest = object;
  }
  return largest;
}

/* PTX 9.7 has no limit of its own; ptxas refuses more than this ("uses too much shared data"). */
static void check_static(const Budget *b) {
  if (b->smem_static <= b->arch->smem_static_max) return;
  const IrObject *object = largest_static(b->kernel);
  IrViolation *v =
      ir_violation(b->violations, "smem-static-over-48k", b->kernel,
                   object && object->where ? object->where : b->kernel->where,
                   "%s declares %" G_GINT64_FORMAT " bytes of static shared memory, %s allows %d",
                   b->kernel->name, b->smem_static, b->arch->name, b->arch->smem_static_max);
  ir_violation_fact(b->violations, v, "bytes", "%" G_GINT64_FORMAT, b->smem_static);
  ir_violation_fact(b->violations, v, "limit", "%d", b->arch->smem_static_max);
  if (b->arch->smem_static_max < b->arch->smem_opt_in)
    v->help = kc_printf(b->violations->arena,
                        "use dynamic shared memory with the opt-in attribute, or build for sm_%da",
                        b->arch->number);
}

static bool is_dynamic_attribute(const Budget *b, const MachineFuncAttr *attr) {
  return attr->attribute == ATTRIBUTE_MAX_DYNAMIC_SMEM &&
         (!attr->kernel || ir_kernel_is_named(b->kernel, attr->kernel));
}

/* The largest opt-in that host code gives the kernel: INT64_MAX when its value is not known, -1
 * when there is none. `where` receives its place. */
static int64_t opted_in(const Budget *b, uint32_t *where) {
  int64_t most = -1;
  for (int i = 0; b->host && i < b->host->attrs.count; i++) {
    const MachineFuncAttr *attr = &b->host->attrs.items[i];
    bool unknown = attr->attribute == INT64_MIN &&
                   (!attr->kernel || ir_kernel_is_named(b->kernel, attr->kernel));
    if (!unknown && !is_dynamic_attribute(b, attr)) continue;
    int64_t value = unknown || attr->value == INT64_MIN ? INT64_MAX : attr->value;
    if (value <= most) continue;
    most = value;
    *where = attr->where;
  }
  return most;
}

static const char *sum_text(const Budget *b, int64_t dynamic) {
  if (b->smem_static == 0)
    return kc_printf(b->violations->arena, "%" G_GINT64_FORMAT " bytes of dynamic shared memory",
                     dynamic);
  return kc_printf(b->violations->arena,
                   "%" G_GINT64_FORMAT " bytes of dynamic and %" G_GINT64_FORMAT
                   " of static shared memory (%" G_GINT64_FORMAT ")",
                   dynamic, b->smem_static, dynamic + b->smem_static);
}

static void report_over(const Budget *b, int64_t dynamic, uint32_t where) {
  bool ring = b->kernel->stage_constants.count > 0;
  const char *kind = ring ? "pipeline-stages-exceed-smem" : "smem-over-limit";
  if (budget_reported(b, kind)) return;
  const Arch *arch = b->arch;
  int64_t total = dynamic + b->smem_static;
  const char *sum = sum_text(b, dynamic);
  IrViolation *v;
  if (dynamic == arch->smem_per_sm || total == arch->smem_per_sm)
    v = ir_violation(b->violations, kind, b->kernel, where,
                     "%s: that is all of an SM, a block of %s may have %d bytes", sum, arch->name,
                     arch->smem_opt_in);
  else
    v = ir_violation(b->violations, kind, b->kernel, where,
                     "%s, %" G_GINT64_FORMAT " more than a block of %s may have (%d)", sum,
                     total - arch->smem_opt_in, arch->name, arch->smem_opt_in);
  ir_violation_fact(b->violations, v, "bytes", "%" G_GINT64_FORMAT, total);
  ir_violation_fact(b->violations, v, "limit", "%d", arch->smem_opt_in);
  if (ring) {
    ir_violation_fact(b->violations, v, "stages", "%s", b->kernel->stage_constants.items[0]);
    v->help = kc_printf(b->violations->arena,
                        "lower %s; `kcheck budget --stages` shows the first count that fits",
                        b->kernel->stage_constants.items[0]);
  }
}

static void check_opt_in(const Budget *b, const BudgetLaunch *launch) {
  uint32_t where = 0;
  int64_t allowed = opted_in(b, &where);
  int64_t total = launch->smem + b->smem_static;
  bool declared_alone = b->smem_static > b->arch->smem_static_default; /* needs no attribute */
  if (launch->directive || launch->smem <= 0 || declared_alone ||
      total <= b->arch->smem_static_default || allowed >= launch->smem ||
      budget_reported(b, "smem-optin-missing"))
    return;
  const char *sum = sum_text(b, launch->smem);
  IrViolation *v;
  if (allowed >= 0) {
    v = ir_violation(b->violations, "smem-optin-missing", b->kernel, launch->where,
                     "the launch of %s asks for %s, its attribute allows %" G_GINT64_FORMAT,
                     b->kernel->name, sum, allowed);
    ir_violation_related(b->violations, v, where, "the attribute is set here");
  } else {
    v = ir_violation(b->violations, "smem-optin-missing", b->kernel, launch->where,
                     "the launch of %s asks for %s, more than the %d that need no opt-in, and no "
                     "attribute is set",
                     b->kernel->name, sum, b->arch->smem_static_default);
  }
  ir_violation_fact(b->violations, v, "bytes", "%" G_GINT64_FORMAT, total);
  if (b->host_partial) v->confidence = IR_INFERRED;
}

static bool uses_dynamic(const IrKernel *kernel, int32_t *object) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    for (int a = 0; a < insn->nargs; a++) {
      const IrOperand *arg = &insn->args[a];
      if (arg->kind != IR_OPD_OBJECT || arg->id < 0 || arg->id >= kernel->objects.count) continue;
      const IrObject *used = &kernel->objects.items[arg->id];
      if (used->space != IR_SPACE_SHARED || !used->dynamic) continue;
      *object = arg->id;
      return true;
    }
  }
  return false;
}

/* By what the kernel addressed when it ran: a mention alone may stand in a branch that this launch
 * never takes. */
static void check_too_small(const Budget *b, const BudgetLaunch *launch) {
  int32_t object = -1;
  int64_t reached = b->machine ? b->machine->dynamic_smem_least : 0;
  if (launch->smem < 0 || reached <= launch->smem || !uses_dynamic(b->kernel, &object) ||
      budget_reported(b, "smem-out-of-bounds") || budget_reported(b, "smem-launch-too-small"))
    return;
  IrViolation *v;
  if (launch->smem == 0)
    v = ir_violation(b->violations, "smem-launch-too-small", b->kernel, launch->where,
                     "%s uses dynamic shared memory (%s) and the launch gives it none",
                     b->kernel->name, b->kernel->objects.items[object].name);
  else
    v = ir_violation(b->violations, "smem-launch-too-small", b->kernel, launch->where,
                     "%s reaches byte %" G_GINT64_FORMAT
                     " of its dynamic shared memory, the launch gives %" G_GINT64_FORMAT,
                     b->kernel->name, reached - 1, launch->smem);
  if (launch->smem > 0) v->confidence = IR_PROVED_CHOSEN;
  ir_violation_related(b->violations, v, b->kernel->objects.items[object].where, "declared here");
}

/* The launches that no run of the host code came to (a guard on a parameter lies before them) tell
 * their shared memory all the same; the largest counts, since nobody knows which one is taken. */
static void check_unreached(const Budget *b) {
  BudgetLaunch largest = {.smem = -1};
  for (int i = 0; b->host && i < b->host->unreached.count; i++) {
    const MachineLaunch *l = &b->host->unreached.items[i];
    if (!ir_kernel_is_named(b->kernel, l->kernel)) continue;
    if (l->smem < 0) return;
    if (l->smem <= largest.smem) continue;
    largest.smem = l->smem;
    largest.where = l->where;
  }
  check_too_small(b, &largest);
}

static void check_attribute(const Budget *b) {
  uint32_t where = 0;
  int64_t allowed = opted_in(b, &where);
  if (allowed != INT64_MAX && allowed + b->smem_static > b->arch->smem_opt_in)
    report_over(b, allowed, where);
}

void budget_smem(const Budget *b, BudgetRow *row) {
  int64_t dynamic = -1;
  int32_t object;
  check_static(b);
  for (int i = 0; i < b->launches.count; i++) {
    const BudgetLaunch *launch = &b->launches.items[i];
    dynamic = MAX(dynamic, launch->smem);
    if (launch->smem < 0) continue;
    if (launch->smem + b->smem_static > b->arch->smem_opt_in && launch->smem > 0)
      report_over(b, launch->smem, launch->where);
    else
      check_opt_in(b, launch);
    check_too_small(b, launch);
  }
  if (b->launches.count == 0) check_unreached(b);
  if (b->host) check_attribute(b);
  if (dynamic < 0 && b->machine && b->machine->dynamic_smem_end > 0)
    dynamic = b->machine->dynamic_smem_end;
  if (dynamic < 0 && !uses_dynamic(b->kernel, &object)) dynamic = 0;
  row->smem_static = b->smem_static;
  row->smem_dynamic = dynamic;
  row->smem_total = dynamic < 0 ? -1 : dynamic + b->smem_static;
  row->limit = b->arch->smem_opt_in;
  row->fits = row->smem_total <= row->limit;
  row->today = true;
}
