/* The block size of a kernel that neither launch bounds nor a launch tell: its comparisons of
 * thread, warp and warpgroup numbers with constants, and the thread counts of its barriers. */
#include "machine/execute/core.h"

typedef struct {
  int64_t unit; /* threads that one step of the register's value stands for; 0: no thread number */
  int64_t bias; /* value + bias is the number */
} Unit;

typedef struct {
  const IrKernel *kernel;
  Unit *units; /* by register */
  int64_t need;
  bool warpgroups; /* a warpgroup number is compared */
} Guess;

static Unit unit_of(const Guess *g, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG && operand->value == 0) return g->units[operand->id];
  if (operand->kind == IR_OPD_SPECIAL && operand->id == IR_SREG_tid_x) return (Unit){1, 0};
  if (operand->kind == IR_OPD_SPECIAL && operand->id == IR_SREG_warpid) return (Unit){32, 0};
  return (Unit){0, 0};
}

static void require(Guess *g, int64_t threads) {
  if (threads > g->need && threads <= 1024) g->need = threads;
}

static void compare(Guess *g, const IrInsn *insn) {
  const IrOperand *a = &insn->args[insn->nargs - 2], *b = &insn->args[insn->nargs - 1];
  Unit unit = unit_of(g, a);
  if (unit.unit == 0 || b->kind != IR_OPD_IMM || b->value < 0) return;
  int64_t number = b->value + unit.bias;
  bool includes = insn->sub == IR_CMP_eq || insn->sub == IR_CMP_ne || insn->sub == IR_CMP_le ||
                  insn->sub == IR_CMP_gt;
  require(g, (number + includes) * unit.unit);
  if (unit.unit == 128) g->warpgroups = true;
}

static Unit derive(const Guess *g, const IrInsn *insn) {
  Unit unit = {0, 0};
  if (insn->op == IR_event) {
    const IrOperand *value = insn->event == IR_EV_shfl ? ir_arg(insn, IR_ROLE_value) : NULL;
    return value ? unit_of(g, value) : unit;
  }
  if (insn->nargs < 2) return unit;
  unit = unit_of(g, &insn->args[1]);
  if (insn->op == IR_mov || insn->op == IR_cvt) return unit;
  int64_t by = insn->nargs > 2 && insn->args[2].kind == IR_OPD_IMM ? insn->args[2].value : 0;
  if (insn->nargs > 2 && insn->args[2].kind != IR_OPD_IMM) return (Unit){0, 0};
  switch (insn->op) {
  case IR_shr: unit.unit = by >= 0 && by < 10 && unit.bias == 0 ? unit.unit << by : 0; return unit;
  case IR_div: unit.unit = by > 0 && by <= 1024 && unit.bias == 0 ? unit.unit * by : 0; return unit;
  case IR_add: unit.bias -= by; return unit;
  case IR_sub: unit.bias += by; return unit;
  default: return (Unit){0, 0};
  }
}

static void follow(Guess *g, const IrInsn *insn) {
  if (insn->op == IR_setp && insn->nargs >= 3) {
    compare(g, insn);
    return;
  }
  if (insn->op == IR_event && (insn->event == IR_EV_bar_sync || insn->event == IR_EV_bar_arrive)) {
    const IrOperand *count = ir_arg(insn, IR_ROLE_count);
    if (count && count->kind == IR_OPD_IMM) require(g, count->value);
    return;
  }
  const IrOperand *dst = insn->op == IR_event ? ir_arg(insn, IR_ROLE_dst)
                         : insn->nargs        ? &insn->args[0]
                                              : NULL;
  if (!dst || dst->kind != IR_OPD_REG || insn->op == IR_store) return;
  Unit unit = derive(g, insn);
  if (unit.unit > 0 && unit.unit <= 1024) g->units[dst->id] = unit;
}

int core_guess_threads(const IrKernel *kernel) {
  Guess g = {.kernel = kernel, .units = g_new0(Unit, kernel->regs.count + 1), .need = 128};
  for (int i = 0; i < kernel->insns.count; i++)
    follow(&g, &kernel->insns.items[i]);
  if (g.warpgroups) require(&g, 256);
  g_free(g.units);
  return (int)((g.need + 31) / 32 * 32);
}
