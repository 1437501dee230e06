/* Launches that neither run of a host program came to (a switch over modes, a check that the
 * samples fail): what their operands say without a run. */
#include <glib.h>
#include <string.h>

#include "machine/inputs/host.h"

#define MAX_DEPTH 24

typedef struct {
  const IrKernel *host;
  bool *joins;  /* by instruction: branches lead here */
  int *writers; /* by register */
} Static;

static const IrOperand *written(const IrInsn *insn, int index) {
  if (index >= insn->nargs || insn->op == IR_store) return NULL;
  const IrOperand *operand = &insn->args[index];
  bool many = insn->op == IR_havoc || insn->op == IR_event;
  if (!many && index > 0) return NULL;
  if (insn->op == IR_event && operand->role != IR_ROLE_dst) return NULL;
  return operand->kind == IR_OPD_REG ? operand : NULL;
}

static bool writes(const IrInsn *insn, int reg) {
  for (int i = 0; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    if (operand->kind == IR_OPD_VECTOR && (insn->op == IR_event || i == 0)) {
      for (int j = 0; j < operand->count; j++)
        if (operand->list[j].kind == IR_OPD_REG && operand->list[j].id == reg) return true;
    } else {
      const IrOperand *dst = written(insn, i);
      if (dst && dst->id == reg) return true;
    }
  }
  return false;
}

static void count_writers(Static *s) {
  for (int i = 0; i < s->host->insns.count; i++) {
    const IrInsn *insn = &s->host->insns.items[i];
    if (insn->target >= 0 && insn->target < s->host->insns.count) s->joins[insn->target] = true;
    for (int j = 0; j < insn->nargs; j++) {
      const IrOperand *dst = written(insn, j);
      if (dst) s->writers[dst->id]++;
    }
  }
}

/* The instruction that gives `reg` the value it has before instruction `at`, -1 when several may:
 * the nearest one, unless ways from elsewhere come in between. */
static int definition(const Static *s, int reg, int at) {
  bool joined = s->joins[at];
  for (int i = at - 1; i >= 0; i--) {
    const IrInsn *insn = &s->host->insns.items[i];
    if (writes(insn, reg)) return insn->guard < 0 && (!joined || s->writers[reg] == 1) ? i : -1;
    joined |= s->joins[i];
  }
  return -1;
}

static bool number(const Static *s, const IrOperand *operand, int at, int depth, int64_t *out);

static bool compute(const Static *s, const IrInsn *insn, int at, int depth, int64_t *out) {
  int64_t a, b;
  if (insn->nargs < 2 || !number(s, &insn->args[1], at, depth, &a)) return false;
  if (insn->op == IR_mov || insn->op == IR_cvt) {
    *out = insn->type.cls == IR_CLASS_UINT && insn->type.bytes == 4 ? (int64_t)(uint32_t)a : a;
    return true;
  }
  if (insn->nargs < 3 || !number(s, &insn->args[2], at, depth, &b)) return false;
  switch (insn->op) {
  case IR_add: *out = a + b; return true;
  case IR_sub: *out = a - b; return true;
  case IR_mul: *out = a * b; return true;
  case IR_div: *out = b > 0 ? a / b : 0; return b > 0 && a >= 0;
  case IR_min: *out = MIN(a, b); return true;
  case IR_max: *out = MAX(a, b); return true;
  case IR_shl: *out = b >= 0 && b < 32 ? a << b : 0; return b >= 0 && b < 32 && a >= 0;
  case IR_shr: *out = b >= 0 && b < 32 ? a >> b : 0; return b >= 0 && b < 32 && a >= 0;
  default: return false;
  }
}

static bool number(const Static *s, const IrOperand *operand, int at, int depth, int64_t *out) {
  if (operand->kind == IR_OPD_IMM) {
    *out = operand->value;
    return true;
  }
  if (operand->kind != IR_OPD_REG || operand->value != 0 || depth > MAX_DEPTH) return false;
  int from = definition(s, operand->id, at);
  return from >= 0 && compute(s, &s->host->insns.items[from], from, depth + 1, out);
}

static void numbers(const Static *s, int at, IrRole role, int64_t out[3]) {
  const IrInsn *insn = &s->host->insns.items[at];
  int count = 0;
  for (int i = 0; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    if (operand->role != role) continue;
    int parts = operand->kind == IR_OPD_VECTOR ? operand->count : 1;
    for (int j = 0; j < parts && count < 3; j++) {
      const IrOperand *part = operand->kind == IR_OPD_VECTOR ? &operand->list[j] : operand;
      int64_t value;
      out[count++] = number(s, part, at, 0, &value) && value > 0 ? value : -1;
    }
  }
}

/* Dynamic shared memory of a launch in bytes; -1: not known. */
static int64_t dynamic_bytes(const Static *s, int at) {
  const IrOperand *operand = ir_arg(&s->host->insns.items[at], IR_ROLE_size);
  int64_t value;
  return operand && number(s, operand, at, 0, &value) && value >= 0 ? value : -1;
}

static const char *kernel_of(const IrProgram *program, const Static *s, int at) {
  const IrInsn *insn = &s->host->insns.items[at];
  const IrOperand *operand = ir_arg(insn, IR_ROLE_kernel);
  int64_t value;
  if (!operand || !number(s, operand, at, 0, &value)) return insn->text;
  uint64_t id = ((uint64_t)value - IR_FUNCTION_BASE) / 16;
  if ((uint64_t)value < IR_FUNCTION_BASE || id >= (uint64_t)program->functions.count)
    return insn->text;
  const IrFunction *f = &program->functions.items[id];
  return f->instantiation ? f->instantiation : f->name;
}

static bool is_known(const MachineHostFacts *facts, const char *kernel, uint32_t where) {
  for (int i = 0; i < facts->launches.count; i++)
    if (facts->launches.items[i].where == where &&
        strcmp(facts->launches.items[i].kernel, kernel) == 0)
      return true;
  return false;
}

static void add_launch(const IrProgram *program, const Static *s, int at, MachineHostFacts *facts) {
  const IrInsn *insn = &s->host->insns.items[at];
  const char *kernel = kernel_of(program, s, at);
  if (!kernel || is_known(facts, kernel, insn->where)) return;
  MachineLaunch launch = {.kernel = kernel, .where = insn->where, .smem = -1, .unreached = true};
  for (int i = 0; i < 3; i++)
    launch.grid[i] = launch.block[i] = 1;
  numbers(s, at, IR_ROLE_grid, launch.grid);
  numbers(s, at, IR_ROLE_block, launch.block);
  launch.smem = dynamic_bytes(s, at);
  KC_PUSH(program->arena, facts->unreached, launch);
}

void host_add_launches(const IrProgram *program, const IrKernel *host, MachineHostFacts *facts) {
  Static s = {.host = host,
              .joins = g_new0(bool, host->insns.count + 1),
              .writers = g_new0(int, host->regs.count + 1)};
  count_writers(&s);
  for (int i = 0; i < host->insns.count; i++)
    if (host->insns.items[i].op == IR_event && host->insns.items[i].event == IR_EV_host_launch)
      add_launch(program, &s, i, facts);
  g_free(s.joins);
  g_free(s.writers);
}
