/* Barriers of the whole grid: every block has to come to each of them as often as the others (CUDA
 * programming guide, grid synchronization). The machine runs the blocks of one cluster only, so
 * that what the blocks do differently is read off the code: the barrier stands behind a branch that
 * is decided by the block's own number, or by what is loaded with it. */
#include "machine/checks/checks.h"

#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"

/* Whether it depends on the way that `branch` takes whether `at` is executed: it lies on one of the
 * ways, before they join again, or in the loop that the branch closes. */
static bool decides(const IrKernel *kernel, int32_t branch, int32_t at) {
  const IrInsn *insn = &kernel->insns.items[branch];
  if (insn->op != IR_branch || insn->guard < 0) return false;
  if (insn->target <= branch) return insn->target <= at && at <= branch;
  int32_t join = insn->ipdom < 0 ? kernel->insns.count : insn->ipdom;
  return branch < at && at < join;
}

typedef struct Reach { /* registers that a condition is computed from, addresses included */
  uint8_t *regs;
  bool block, changed;
} Reach;

static void reach(Reach *r, const IrOperand *operand) {
  const uint64_t block = UINT64_C(7) << IR_SREG_ctaid_x | UINT64_C(7) << IR_SREG_clusterid_x;
  if (operand->kind == IR_OPD_SPECIAL && (block >> operand->id & 1)) r->block = true;
  if (operand->kind != IR_OPD_REG || r->regs[operand->id]) return;
  r->regs[operand->id] = r->changed = true;
}

/* Whether the branch is decided by the block's number, or by what is loaded with it. */
static bool is_by_block(Machine *machine, const IrInsn *branch) {
  const IrKernel *kernel = machine->kernel;
  Reach r = {.regs = kc_alloc(machine->arena, (size_t)kernel->regs.count + 1)};
  IrOperand condition = ir_use(branch->guard);
  reach(&r, &condition);
  while (r.changed && !r.block) {
    r.changed = false;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      int from = slice_destinations(insn);
      bool counts = false;
      for (int a = 0; a < from && a < insn->nargs; a++)
        counts |= insn->args[a].kind == IR_OPD_REG && r.regs[insn->args[a].id];
      for (int a = from; counts && a < insn->nargs; a++)
        reach(&r, &insn->args[a]);
    }
  }
  return r.block;
}

static const IrInsn *deciding_branch(Machine *machine, int32_t at) {
  const IrKernel *kernel = machine->kernel;
  for (int32_t i = 0; i < kernel->insns.count; i++)
    if (decides(kernel, i, at) && is_by_block(machine, &kernel->insns.items[i]))
      return &kernel->insns.items[i];
  return NULL;
}

void gridwide_finish(Machine *machine) {
  const IrKernel *kernel = machine->kernel;
  if (machine->sample->rank != 0 || machine->schedule != MACHINE_EAGER) return;
  for (int32_t i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event || !(insn->flags & IR_FLAG(grid_wide))) continue;
    const IrInsn *branch = deciding_branch(machine, i);
    if (!branch) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_DEADLOCK, insn, "grid-sync-not-uniform",
        "whether a block comes to this barrier of the grid is decided at %s by the block's own "
        "number: the others wait for the blocks that don't",
        machine_line(machine, branch));
    if (!v) continue;
    v->confidence = IR_INFERRED;
    v->assumed = "that the blocks don't all go the same way";
    ir_violation_related(machine->violations, v, branch->where, "decided here");
  }
}
