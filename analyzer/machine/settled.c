/* What the block of the launch decides: code behind a branch that goes by blockDim and constants
 * alone is no input's to reach, such as the loop over halves of a reduction whose block is a warp.
 */
#include "machine/execute/core.h"
#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"

#define MAX_DEPTH 24
#define NO_WRITER (-1)
#define WRITERS (-2)

typedef struct Settler {
  const IrKernel *kernel;
  const uint8_t *executed;
  const int64_t *block;
  int32_t *writer; /* by register: the one instruction that ran and writes it, or NO_WRITER, WRITERS
                    */
} Settler;

static void note_writer(Settler *s, const IrOperand *operand, int32_t index) {
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    note_writer(s, &operand->list[i], index);
  if (operand->kind != IR_OPD_REG || operand->id < 0 || operand->id >= s->kernel->regs.count)
    return;
  int32_t *writer = &s->writer[operand->id];
  *writer = *writer == NO_WRITER ? index : WRITERS;
}

/* Instructions that did not run write nothing. */
static void find_writers(Settler *s) {
  for (int i = 0; i < s->kernel->regs.count; i++)
    s->writer[i] = NO_WRITER;
  for (int32_t i = 0; i < s->kernel->insns.count; i++) {
    const IrInsn *insn = &s->kernel->insns.items[i];
    bool all = insn->op == IR_event || insn->op == IR_havoc || insn->op == IR_nop;
    int count = all ? insn->nargs : slice_destinations(insn);
    for (int j = 0; s->executed[i] && j < count && j < insn->nargs; j++)
      note_writer(s, &insn->args[j], i);
  }
}

static bool compare(uint8_t how, int64_t a, int64_t b) {
  switch (how) {
  case IR_CMP_eq: return a == b;
  case IR_CMP_ne: return a != b;
  case IR_CMP_lt: return a < b;
  case IR_CMP_le: return a <= b;
  case IR_CMP_gt: return a > b;
  default: return a >= b;
  }
}

static bool arithmetic(const IrInsn *insn, int64_t a, int64_t b, int64_t *out) {
  switch (insn->op) {
  case IR_add: *out = a + b; return true;
  case IR_sub: *out = a - b; return a >= b;
  case IR_mul: *out = a * b; return true;
  case IR_div: *out = b > 0 ? a / b : 0; return b > 0;
  case IR_rem: *out = b > 0 ? a % b : 0; return b > 0;
  case IR_min: *out = MIN(a, b); return true;
  case IR_max: *out = MAX(a, b); return true;
  case IR_shr: *out = b < 32 ? a >> b : 0; return b < 32;
  case IR_band: *out = a & b; return true;
  case IR_bor: *out = a | b; return true;
  case IR_setp: *out = compare(insn->sub, a, b); return insn->nargs == 3;
  default: return false;
  }
}

/* Numbers of a block are small: what is negative or beyond 2^31 on the way is not followed. */
static bool value_of(const Settler *s, const IrOperand *operand, int depth, int64_t *out) {
  if (depth > MAX_DEPTH || operand->negated) return false;
  if (operand->kind == IR_OPD_IMM) {
    *out = operand->value;
    return *out >= 0 && *out <= INT32_MAX;
  }
  if (operand->kind == IR_OPD_SPECIAL) {
    int dim = operand->id - IR_SREG_ntid_x;
    if (dim < 0 || dim > 2) return false;
    *out = s->block[dim];
    return true;
  }
  if (operand->kind != IR_OPD_REG || operand->value || s->writer[operand->id] < 0) return false;
  const IrInsn *insn = &s->kernel->insns.items[s->writer[operand->id]];
  int64_t a, b;
  if (insn->guard >= 0 || insn->nargs < 2 || insn->type.cls == IR_CLASS_FLOAT ||
      !value_of(s, &insn->args[1], depth + 1, &a))
    return false;
  if ((insn->op == IR_mov || insn->op == IR_cvt) && insn->nargs == 2) {
    *out = a;
    return true;
  }
  return insn->nargs == 3 && value_of(s, &insn->args[2], depth + 1, &b) &&
         arithmetic(insn, a, b, out) && *out >= 0 && *out <= INT32_MAX;
}

/* Marks what the branch at `index` passes over, whichever way the block sends it. */
static void settle(const Settler *s, int32_t index, bool *settled) {
  const IrInsn *insn = &s->kernel->insns.items[index];
  IrOperand guard = {.kind = IR_OPD_REG, .id = insn->guard};
  int64_t value;
  if (insn->target <= index || !value_of(s, &guard, 0, &value)) return;
  int32_t from = index + 1, to = insn->target;
  if ((value != 0) == insn->guard_negated) { /* not taken: an else part, if there is one */
    const IrInsn *last = &s->kernel->insns.items[insn->target - 1];
    if (last->op != IR_branch || last->guard >= 0 || last->target <= insn->target) return;
    from = insn->target;
    to = last->target;
  }
  for (int32_t i = from; i < to && i < s->kernel->insns.count; i++)
    settled[i] = true;
}

/* Whether all launches in sight have the block that the samples have. */
static bool block_is_known(const MachineSession *session, const MachineSample *sample) {
  if (!sample->block_known) return false;
  for (int i = 0; session->host && i < session->host->launches.count; i++) {
    const MachineLaunch *launch = &session->host->launches.items[i];
    if (!ir_kernel_is_named(session->kernel, launch->kernel)) continue;
    for (int j = 0; j < 3; j++)
      if (launch->block[j] > 0 && launch->block[j] != sample->block[j]) return false;
  }
  return true;
}

const bool *core_settled(const MachineSession *session, const MachineSamples *samples) {
  const IrKernel *kernel = session->kernel;
  if (samples->list.count == 0 || !block_is_known(session, samples->list.items[0])) return NULL;
  const CoreSession *core = session->core;
  bool *settled = KC_NEW_ARRAY(session->arena, bool, kernel->insns.count + 1);
  Settler s = {.kernel = kernel,
               .executed = core->executed,
               .block = samples->list.items[0]->block,
               .writer = KC_NEW_ARRAY(session->arena, int32_t, kernel->regs.count + 1)};
  find_writers(&s);
  for (int32_t i = 0; i < kernel->insns.count; i++)
    if (core->executed[i] && kernel->insns.items[i].op == IR_branch &&
        kernel->insns.items[i].guard >= 0)
      settle(&s, i, settled);
  return settled;
}
