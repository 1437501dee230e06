/* Blocks of another row or plane of the grid: a kernel that gives its blocks a role by blockIdx.y
 * or blockIdx.z has done only a part of its work when the first row and plane have run. */
#include "machine/execute/core.h"
#include "machine/inputs/sample.h"

#define PASSES 6
#define AXIS(i) (1u << (i)) /* 1: y, 2: z */

static unsigned axis_of(int32_t special) {
  if (special == IR_SREG_ctaid_y || special == IR_SREG_clusterid_y) return AXIS(1);
  if (special == IR_SREG_ctaid_z || special == IR_SREG_clusterid_z) return AXIS(2);
  return 0;
}

static unsigned axes_of(const uint8_t *axes, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG) return axes[operand->id];
  return operand->kind == IR_OPD_SPECIAL ? axis_of(operand->id) : 0;
}

/* Whether what an instruction writes is computed from its operands alone. */
static bool computes(const IrInsn *insn) {
  switch ((int)insn->op) {
  case IR_load:
  case IR_atom:
  case IR_event:
  case IR_havoc:
  case IR_opaque: return false;
  default: return true;
  }
}

static bool pass_on(const IrInsn *insn, uint8_t *axes) {
  unsigned read = insn->guard >= 0 ? axes[insn->guard] : 0;
  bool changed = false;
  for (int i = 0; i < insn->nargs; i++)
    if (!core_operand_is_written(insn, i)) read |= axes_of(axes, &insn->args[i]);
  for (int i = 0; read && i < insn->nargs; i++) {
    const IrOperand *to = &insn->args[i];
    if (to->kind != IR_OPD_REG || !core_operand_is_written(insn, i)) continue;
    changed |= (axes[to->id] | read) != axes[to->id];
    axes[to->id] |= (uint8_t)read;
  }
  return changed;
}

/* By register: the axes of the grid that it is computed from. */
static uint8_t *find_axes(const IrKernel *kernel) {
  uint8_t *axes = g_new0(uint8_t, kernel->regs.count + 1);
  bool changed = true;
  for (int pass = 0; changed && pass < PASSES; pass++) {
    changed = false;
    for (int i = 0; i < kernel->insns.count; i++)
      if (computes(&kernel->insns.items[i])) changed |= pass_on(&kernel->insns.items[i], axes);
  }
  return axes;
}

/* ---- what lies behind a side that no run took ---- */

typedef struct Walk {
  const IrKernel *kernel;
  const uint8_t *executed;
  bool *seen;
  GArray *todo; /* instruction numbers */
} Walk;

static void go(Walk *walk, int64_t at) {
  if (at < 0 || at >= walk->kernel->insns.count || walk->executed[at] || walk->seen[at]) return;
  int32_t index = (int32_t)at;
  walk->seen[index] = true;
  g_array_append_val(walk->todo, index);
}

static void go_on(Walk *walk, int32_t at) {
  const IrInsn *insn = &walk->kernel->insns.items[at];
  if (insn->op == IR_branch) go(walk, insn->target);
  for (int i = 1; insn->op == IR_branch_index && i < insn->nargs; i++)
    go(walk, insn->args[i].value);
  bool ends =
      (insn->op == IR_branch || insn->op == IR_exit || insn->op == IR_trap) && insn->guard < 0;
  if (!ends) go(walk, at + 1);
}

static bool is_work(const IrInsn *insn) {
  bool access = insn->op == IR_load || insn->op == IR_store || insn->op == IR_atom;
  return ir_is_protocol(insn) || (access && insn->space == IR_SPACE_SHARED);
}

/* Whether a branch that ran has a side that no run took and that holds work. */
static bool leaves_work(Walk *walk, int32_t branch) {
  g_array_set_size(walk->todo, 0);
  go_on(walk, branch);
  bool work = false;
  for (guint i = 0; i < walk->todo->len && !work; i++) {
    int32_t at = g_array_index(walk->todo, int32_t, i);
    work = is_work(&walk->kernel->insns.items[at]);
    go_on(walk, at);
  }
  /* Another branch may lead to the same. */
  for (guint i = 0; i < walk->todo->len; i++)
    walk->seen[g_array_index(walk->todo, int32_t, i)] = false;
  return work;
}

/* The axes of the grid by which branches leave work undone. */
static unsigned axes_left(const MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  g_autofree uint8_t *axes = find_axes(kernel);
  g_autofree bool *seen = g_new0(bool, kernel->insns.count + 1);
  Walk walk = {.kernel = kernel,
               .executed = core->executed,
               .seen = seen,
               .todo = g_array_new(FALSE, FALSE, sizeof(int32_t))};
  unsigned left = 0;
  for (int32_t i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    unsigned by = 0;
    if (!core->executed[i]) continue;
    if (insn->op == IR_branch && insn->guard >= 0) by = axes[insn->guard];
    if (insn->op == IR_branch_index) by = axes_of(axes, &insn->args[0]);
    if (by && (by & ~left) && leaves_work(&walk, i)) left |= by;
  }
  g_array_unref(walk.todo);
  return left;
}

/* Clusters of the launch along an axis; 0: not known. */
static int64_t clusters_of_launch(const CoreLaunch *launch, const MachineSample *like, int axis) {
  int64_t blocks = 0;
  if (launch->directive && launch->directive->grid[0] > 0)
    blocks = MAX(launch->directive->grid[axis], 1);
  else if (launch->launch && launch->launch->grid[axis] > 0)
    blocks = launch->launch->grid[axis];
  return blocks > 0 ? MAX(blocks / MAX(like->cluster[axis], 1), 1) : 0;
}

bool sample_plane(const MachineSession *session, const MachineSample *like, int number,
                  int64_t at[3]) {
  const CoreLaunch launch = core_find_launch(session);
  unsigned left = axes_left(session);
  bool farther = false;
  at[0] = 0;
  for (int axis = 1; axis < 3; axis++) {
    int64_t clusters = clusters_of_launch(&launch, like, axis);
    at[axis] = left & AXIS(axis) ? number : 0;
    if (clusters > 0 && at[axis] >= clusters) at[axis] = clusters - 1;
    farther |= at[axis] == number;
  }
  return farther;
}
