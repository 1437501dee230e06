/* The last wave of a grid whose size the host code states. How many SMs a card of the target has is
 * the card's own affair: advice only where every known card of the target says the same. */
#include <glib.h>

#include "budget/internal.h"

#define FULL_WAVES 4 /* beyond these the last one hardly counts */

typedef struct Sized { /* registers computed from the size of the grid */
  uint8_t *regs;
  bool changed;
} Sized;

static bool is_sized(const Sized *s, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG) return s->regs[operand->id];
  return operand->kind == IR_OPD_SPECIAL &&
         ((operand->id >= IR_SREG_nctaid_x && operand->id <= IR_SREG_nctaid_z) ||
          (operand->id >= IR_SREG_nclusterid_x && operand->id <= IR_SREG_nclusterid_z));
}

/* tile += gridDim.x. What is only numbered with the size of the grid (blockIdx.y * gridDim.x +
 * blockIdx.x) does not go on to another tile. */
static bool strides(Sized *s, const IrInsn *insn) {
  const IrOperand *dst = insn->nargs >= 2 ? &insn->args[0] : NULL;
  if (!dst || dst->kind != IR_OPD_REG || insn->op == IR_load || insn->op == IR_event) return false;
  bool sized = false, own = false;
  for (int a = 1; a < insn->nargs; a++) {
    bool self = insn->args[a].kind == IR_OPD_REG && insn->args[a].id == dst->id;
    own |= self;
    sized |= !self && is_sized(s, &insn->args[a]);
  }
  if (sized && !s->regs[dst->id]) s->regs[dst->id] = s->changed = true;
  return sized && own;
}

static bool strides_by_grid(const IrKernel *kernel) {
  g_autofree uint8_t *regs = g_new0(uint8_t, (gsize)kernel->regs.count + 1);
  Sized s = {.regs = regs, .changed = true};
  while (s.changed) {
    s.changed = false;
    for (int i = 0; i < kernel->insns.count; i++)
      if (strides(&s, &kernel->insns.items[i])) return true;
  }
  return false;
}

static bool reads_register(const IrKernel *kernel, int32_t reg) {
  for (int i = 0; i < kernel->insns.count; i++)
    for (int a = kernel->insns.items[i].op == IR_atom; a < kernel->insns.items[i].nargs; a++)
      if (kernel->insns.items[i].args[a].kind == IR_OPD_REG &&
          kernel->insns.items[i].args[a].id == reg)
        return true;
  return false;
}

/* A work counter gives the next tile; a sum is only added to. */
static bool is_counter(const IrKernel *kernel, const IrInsn *insn) {
  return insn->op == IR_atom && insn->space != IR_SPACE_SHARED &&
         insn->args[0].kind == IR_OPD_REG && insn->type.cls != IR_CLASS_FLOAT &&
         reads_register(kernel, insn->args[0].id);
}

static bool is_persistent(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->event == IR_EV_clc_try_cancel) return true;
    if (is_counter(kernel, insn)) return true;
  }
  return strides_by_grid(kernel);
}

/* Blocks in the last wave when it is less than a quarter of one; 0: it is not. */
static int64_t small_rest(int64_t blocks, int64_t workers) {
  int64_t waves = blocks / workers, rest = blocks % workers;
  return waves >= 1 && waves <= FULL_WAVES && rest > 0 && rest * 4 < workers ? rest : 0;
}

/* The rest on the first card, where every known card of the target has a small one; else 0. */
static int64_t rest_everywhere(const Arch *arch, int64_t blocks, int per_sm) {
  int64_t rest = 0;
  for (int c = ARCH_CARDS - 1; c >= 0; c--) {
    if (!arch->multiprocessors[c]) continue;
    rest = small_rest(blocks, (int64_t)arch->multiprocessors[c] * per_sm);
    if (!rest) return 0;
  }
  return rest;
}

static void check_launch(const Budget *b, const BudgetLaunch *launch, int per_sm) {
  int64_t blocks = budget_volume(launch->grid);
  if (blocks <= 0 || launch->directive || budget_reported(b, "perf-partial-last-wave")) return;
  int64_t rest = rest_everywhere(b->arch, blocks, per_sm);
  if (!rest) return;
  IrViolation *v = ir_violation(
      b->violations, "perf-partial-last-wave", b->kernel, launch->where,
      "%" G_GINT64_FORMAT
      " blocks of %s, %d at a time on an SM: the last wave has %" G_GINT64_FORMAT " for %d SMs",
      blocks, b->kernel->name, per_sm, rest, b->arch->multiprocessors[0]);
  ir_violation_fact(b->violations, v, "rest", "%" G_GINT64_FORMAT, rest);
}

void budget_waves(const Budget *b, const BudgetKernel *out) {
  if (out->row.blocks_per_sm != 1 || is_persistent(b->kernel)) return; /* more: by registers, too */
  for (int i = 0; i < b->launches.count; i++)
    check_launch(b, &b->launches.items[i], out->row.blocks_per_sm);
}
