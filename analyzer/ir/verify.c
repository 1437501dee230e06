/* The invariants that every engine relies on. Run between stages. */
#include <string.h>

#include <glib.h>

#include "ir/ir.h"
#include "support/error.h"

typedef struct Verifier {
  const IrProgram *program;
  const IrKernel *kernel;
  int index;
  const char *problem;
} Verifier;

static bool wrong(Verifier *v, const char *problem) {
  if (!v->problem) v->problem = problem;
  return false;
}

static bool check_operand(Verifier *v, const IrOperand *operand, int depth) {
  if (operand->role >= IR_ROLE_COUNT) return wrong(v, "operand with an unknown role");
  switch ((IrOperandKind)operand->kind) {
  case IR_OPD_NONE:
  case IR_OPD_IMM:
  case IR_OPD_UNKNOWN:
  case IR_OPD_SINK: return true;
  case IR_OPD_REG:
    return (operand->id >= 0 && operand->id < v->kernel->regs.count) ||
           wrong(v, "operand names no register");
  case IR_OPD_SPECIAL:
    return (operand->id >= 0 && operand->id < IR_SREG_COUNT) ||
           wrong(v, "operand names no special register");
  case IR_OPD_OBJECT:
    return (operand->id >= 0 && operand->id < v->kernel->objects.count) ||
           wrong(v, "operand names no object");
  case IR_OPD_VECTOR:
    if (depth > 0) return wrong(v, "vector inside a vector");
    if (operand->count < 0 || (operand->count > 0 && !operand->list))
      return wrong(v, "vector without its elements");
    for (int i = 0; i < operand->count; i++)
      if (!check_operand(v, &operand->list[i], depth + 1)) return false;
    return true;
  }
  return wrong(v, "operand of an unknown kind");
}

static bool target_placed(const Verifier *v, int64_t target) {
  return target >= 0 && target < v->kernel->insns.count && v->kernel->insns.items[target].leader;
}

static bool is_branch(const Verifier *v, const IrInsn *insn) {
  (void)v;
  return insn->op == IR_branch || insn->op == IR_branch_index;
}

static bool check_control(Verifier *v, const IrInsn *insn) {
  if (insn->op == IR_branch && !target_placed(v, insn->target))
    return wrong(v, "branch to no leader");
  if (insn->op == IR_branch_index)
    for (int i = 1; i < insn->nargs; i++)
      if (!target_placed(v, insn->args[i].value)) return wrong(v, "branch_index to no leader");
  if (is_branch(v, insn) && (insn->ipdom < -1 || insn->ipdom > v->kernel->insns.count))
    return wrong(v, "post-dominator out of range");
  if (insn->guard >= v->kernel->regs.count || insn->guard < -1)
    return wrong(v, "guard names no register");
  return true;
}

/* Fewest operands of each op; ops.def says what they are. */
static int least_operands(const IrInsn *insn) {
  switch ((IrOp)insn->op) {
  case IR_mov:
  case IR_neg:
  case IR_bnot:
  case IR_abs:
  case IR_popc:
  case IR_clz:
  case IR_brev:
  case IR_ffs:
  case IR_bfind:
  case IR_cvt:
  case IR_cvta:
  case IR_isspacep:
  case IR_store: return 2;
  case IR_add:
  case IR_sub:
  case IR_mul:
  case IR_mulhi:
  case IR_mulwide:
  case IR_div:
  case IR_rem:
  case IR_band:
  case IR_bor:
  case IR_bxor:
  case IR_shl:
  case IR_shr:
  case IR_min:
  case IR_max:
  case IR_mapa:
  case IR_setp:
  case IR_atom:
  case IR_copy:
  case IR_fill: return 3;
  case IR_mad:
  case IR_madwide:
  case IR_bfe:
  case IR_prmt:
  case IR_shf:
  case IR_select: return 4;
  case IR_bfi:
  case IR_lop3: return 5;
  case IR_unpack:
  case IR_load: return insn->sub + 1;
  case IR_opaque: return insn->sub;
  case IR_pack:
  case IR_branch_index: return 1;
  case IR_nop:
  case IR_branch:
  case IR_exit:
  case IR_trap:
  case IR_event:
  case IR_havoc:
  case IR_OP_COUNT: return 0;
  }
  return 0;
}

static bool check_insn(Verifier *v, const IrInsn *insn) {
  if (insn->op >= IR_OP_COUNT) return wrong(v, "unknown op");
  if (insn->op == IR_event && (insn->event == IR_EV_none || insn->event >= IR_EVENT_COUNT))
    return wrong(v, "event instruction without an event");
  if (insn->op != IR_event && insn->event != IR_EV_none) return wrong(v, "event on another op");
  if (insn->nargs > 0 && !insn->args) return wrong(v, "operands are missing");
  if (insn->nargs < least_operands(insn)) return wrong(v, "too few operands");
  if (insn->where >= (uint32_t)v->program->sources.stacks.count && insn->where != 0)
    return wrong(v, "source stack does not exist");
  for (int i = 0; i < insn->nargs; i++)
    if (!check_operand(v, &insn->args[i], 0)) return false;
  return check_control(v, insn);
}

static bool check_kernel(Verifier *v) {
  const IrKernel *kernel = v->kernel;
  for (v->index = 0; v->index < kernel->insns.count; v->index++)
    if (!check_insn(v, &kernel->insns.items[v->index])) return false;
  if (kernel->insns.count > 0) {
    const IrInsn *last = &kernel->insns.items[kernel->insns.count - 1];
    if (last->op != IR_exit || last->guard >= 0)
      return wrong(v, "the last instruction must be exit");
  }
  return true;
}

static bool check_list(const IrProgram *program, IrKernel *const *kernels, int count,
                       struct KcError *error) {
  for (int i = 0; i < count; i++) {
    Verifier v = {.program = program, .kernel = kernels[i]};
    if (check_kernel(&v)) continue;
#ifndef NDEBUG
    char *dump = ir_print_kernel(program, kernels[i]);
    g_printerr("%s", dump);
    g_free(dump);
    g_error("IR of %s, instruction %d: %s", kernels[i]->name, v.index, v.problem);
#endif
    return kc_fail(error, program->path, 0, 0, "internal: IR of %s, instruction %d: %s",
                   kernels[i]->name, v.index, v.problem);
  }
  return true;
}

bool ir_verify(const IrProgram *program, struct KcError *error) {
  return check_list(program, program->kernels.items, program->kernels.count, error) &&
         check_list(program, program->hosts.items, program->hosts.count, error);
}
