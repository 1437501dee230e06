/* Rounds of loops. What is declared in the body of a loop is a new object each round, so that nvcc
 * gives it registers of its own where it unrolls the loop; as a cell it would be one register that
 * a wgmma in flight still reads when the next round fills it. Each round therefore begins with a
 * nop that names the fragments which are made anew. Which those are is known at the end only: until
 * then the places are kept apart from the instructions. */
#include "cuda/lower_internal.h"

int rounds_begin(Lower *l) {
  if (l->in_prologue) return -1;
  Round round = {l->kernel->insns.count, l->b.local_top, l->b.local_top};
  KC_PUSH(l->scratch, l->rounds, round);
  return l->rounds.count - 1;
}

void rounds_end(Lower *l, int round) {
  if (round >= 0 && round < l->rounds.count) l->rounds.items[round].end = l->b.local_top;
}

void rounds_label(Lower *l, int32_t label) {
  while (l->label_rounds.count <= label)
    KC_PUSH(l->scratch, l->label_rounds, 0);
  l->label_rounds.items[label] = l->rounds.count;
  if (l->in_prologue) return;
  for (int i = l->rounds.count; i > 0 && l->rounds.items[i - 1].at > l->kernel->insns.count; i--)
    l->rounds.items[i - 1].at = l->kernel->insns.count; /* a jump to the next instruction went */
}

/* Register i of the A fragment of a wgmma, when it is a cell; -1: none, -2: no more. */
static int32_t fragment_cell(const Lower *l, const IrInsn *insn, int i) {
  if (insn->op != IR_event || insn->event != IR_EV_wgmma_mma) return -2;
  const IrOperand *a = ir_arg(insn, IR_ROLE_a_regs);
  if (!a || a->kind != IR_OPD_VECTOR || i >= a->count) return -2;
  const IrOperand *operand = &a->list[i];
  return operand->kind == IR_OPD_REG && l->kernel->regs.items[operand->id].cell ? operand->id : -1;
}

bool rounds_make_fragments(const Lower *l, const Checkpoint *before) {
  for (int at = before->insns; at < l->kernel->insns.count; at++) {
    const IrInsn *insn = &l->kernel->insns.items[at];
    int32_t reg;
    for (int i = 0; (reg = fragment_cell(l, insn, i)) != -2; i++)
      if (reg >= 0 && l->kernel->regs.items[reg].cell >= before->local_top) return true;
  }
  return false;
}

/* The registers that are A fragments, each once. */
static GArray *fragments(const Lower *l) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(int32_t));
  g_autofree uint8_t *seen = g_new0(uint8_t, l->kernel->regs.count + 1);
  for (int at = 0; at < l->kernel->insns.count; at++) {
    const IrInsn *insn = &l->kernel->insns.items[at];
    int32_t reg;
    for (int i = 0; (reg = fragment_cell(l, insn, i)) != -2; i++) {
      if (reg < 0 || seen[reg]) continue;
      seen[reg] = 1;
      g_array_append_val(out, reg);
    }
  }
  return out;
}

/* The nop that begins a round; false when no fragment is made in it. */
static bool marker(const Lower *l, const Round *round, const GArray *of, IrInsn *out) {
  KC_VEC(IrOperand) made = {0};
  for (guint i = 0; i < of->len; i++) {
    int32_t reg = g_array_index(of, int32_t, i);
    uint64_t cell = l->kernel->regs.items[reg].cell;
    if (cell >= round->start && cell < round->end) KC_PUSH(l->arena, made, ir_imm(reg));
  }
  if (made.count == 0) return false;
  IrOperand *list = KC_NEW(l->arena, IrOperand);
  *list = (IrOperand){.kind = IR_OPD_VECTOR, .list = made.items, .count = made.count};
  *out = (IrInsn){.op = IR_nop,
                  .guard = -1,
                  .target = -1,
                  .ipdom = -1,
                  .nargs = 1,
                  .args = list,
                  .where = l->kernel->where};
  if (round->at < l->kernel->insns.count) out->where = l->kernel->insns.items[round->at].where;
  return true;
}

/* Labels move with their instructions, those placed before a round began stay in front of it. */
static void move_labels(Lower *l, const Round *round, int index, int shift) {
  for (int i = 0; i < l->b.labels.count && i < l->label_rounds.count; i++) {
    int32_t at = l->b.labels.items[i] - shift;
    bool behind = at > round->at || (at == round->at && l->label_rounds.items[i] > index);
    if (behind && !l->label_in_prologue.items[i]) l->b.labels.items[i]++;
  }
}

void rounds_insert(Lower *l) {
  g_autoptr(GArray) of = fragments(l);
  if (of->len == 0 || l->rounds.count == 0) return;
  IrKernel *k = l->kernel;
  int old = k->insns.count, next = 0, shift = 0;
  IrInsn *items = k->insns.items;
  KC_VEC(IrInsn) out = {0};
  for (int at = 0; at <= old; at++) {
    for (; next < l->rounds.count && l->rounds.items[next].at <= at; next++) {
      IrInsn made;
      if (!marker(l, &l->rounds.items[next], of, &made)) continue;
      move_labels(l, &l->rounds.items[next], next, shift++);
      KC_PUSH(l->arena, out, made);
    }
    if (at < old) KC_PUSH(l->arena, out, items[at]);
  }
  k->insns.items = out.items;
  k->insns.count = out.count;
  k->insns.capacity = out.capacity;
}
