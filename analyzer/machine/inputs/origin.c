#include "machine/inputs/origin.h"

#include "machine/execute/core.h"

#define PASSES 6
#define BOUNDED 1024 /* a remainder by so much, or a mask below it, takes values of any caller */

typedef struct Search {
  const IrKernel *kernel;
  Origins *out;
  int64_t *plus;    /* by register: what was added to a parameter that it holds otherwise */
  int16_t *leaf;    /* by register: leaf number + 1 that it holds, perhaps plus a constant */
  int16_t *pointer; /* by register: index + 1 of the pointer parameter that it points into */
  int16_t *array;   /* by register: index + 1 of the pointer that it was loaded through */
  bool *stepped;    /* by register: a constant is added in place: it counts a loop */
  bool *rest;       /* by register: what is left of a number after something was taken away */
  bool *decides;    /* by register: a branch or arithmetic goes by it, not only an event */
  bool changed;
} Search;

static uint64_t origin_of(const Origins *o, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG && operand->id >= 0 && operand->id < o->nregs)
    return o->of[operand->id];
  if (operand->kind == IR_OPD_SPECIAL) {
    switch (operand->id) {
    case IR_SREG_tid_x:
    case IR_SREG_laneid:
    case IR_SREG_warpid: return ORIGIN_TID;
    case IR_SREG_ctaid_x:
    case IR_SREG_clusterid_x: return ORIGIN_CTAID;
    case IR_SREG_nctaid_x:
    case IR_SREG_nclusterid_x: return ORIGIN_GRID;
    default: return 0;
    }
  }
  uint64_t sum = 0;
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    sum |= origin_of(o, &operand->list[i]);
  return sum;
}

static int16_t tag(const int16_t *tags, const IrOperand *operand) {
  return operand->kind == IR_OPD_REG ? tags[operand->id] : 0;
}

static void add_origin(Search *s, const IrOperand *dst, uint64_t origin) {
  for (int i = 0; dst->kind == IR_OPD_VECTOR && i < dst->count; i++)
    add_origin(s, &dst->list[i], origin);
  if (dst->kind != IR_OPD_REG || (s->out->of[dst->id] | origin) == s->out->of[dst->id]) return;
  s->out->of[dst->id] |= origin;
  s->changed = true;
}

static void set_tag(Search *s, int16_t *tags, const IrOperand *dst, int16_t value) {
  if (dst->kind != IR_OPD_REG || !value || tags[dst->id] == value) return;
  tags[dst->id] = value;
  s->changed = true;
}

/* Number + 1 of the leaf at an address of parameter space; *index gets the pointer's index + 1. */
static int leaf_at(const IrKernel *kernel, uint64_t offset, int16_t *index, bool *is_int) {
  int number = 0, pointers = 0;
  for (int i = 0; i < kernel->params.count; i++) {
    for (int j = 0; j < kernel->params.items[i].leaves.count; j++) {
      const IrLeaf *leaf = &kernel->params.items[i].leaves.items[j];
      number++;
      if (leaf->kind == IR_LEAF_POINTER) pointers++;
      if (leaf->offset != offset) continue;
      *is_int = leaf->kind == IR_LEAF_INT;
      *index = leaf->kind == IR_LEAF_POINTER ? (int16_t)pointers : 0;
      return number;
    }
  }
  return 0;
}

static void follow_load(Search *s, const IrInsn *insn) {
  int count = insn->sub ? insn->sub : 1;
  const IrOperand *address = &insn->args[count];
  bool integer = insn->type.cls == IR_CLASS_SINT || insn->type.cls == IR_CLASS_UINT;
  uint64_t at = (uint64_t)address->value;
  if (address->kind == IR_OPD_IMM && insn->space == IR_SPACE_PARAM) {
    int16_t pointer = 0;
    bool is_int = false;
    int number =
        leaf_at(s->kernel, at >= IR_PARAM_BASE ? at - IR_PARAM_BASE : at, &pointer, &is_int);
    if (!number || count != 1) return;
    set_tag(s, s->pointer, &insn->args[0], pointer);
    if (!is_int) return;
    int bit = number <= ORIGIN_LEAVES ? number - 1 : ORIGIN_LEAVES;
    add_origin(s, &insn->args[0], UINT64_C(1) << bit);
    set_tag(s, s->leaf, &insn->args[0], (int16_t)number);
    return;
  }
  int16_t through = tag(s->pointer, address);
  if (!through || !integer) return;
  for (int i = 0; i < count; i++) {
    add_origin(s, &insn->args[i], ORIGIN_LOADED);
    set_tag(s, s->array, &insn->args[i], through);
  }
}

static void admit(Search *s, const IrOperand *operand, uint8_t what) {
  uint64_t leaves = origin_of(s->out, operand) & ((UINT64_C(1) << ORIGIN_LEAVES) - 1);
  for (; leaves; leaves &= leaves - 1)
    s->out->admits[__builtin_ctzll(leaves)] |= what;
}

/* Running sums: neighbours are subtracted from each other, or bound a loop. */
static void neighbours(Search *s, const IrOperand *a, const IrOperand *b) {
  int16_t x = tag(s->array, a), y = tag(s->array, b);
  if (!x || !y || x > 64 || y > 64 || (a->id == b->id && x == y)) return;
  s->out->cumulative |= UINT64_C(1) << (x - 1) | UINT64_C(1) << (y - 1);
  if (x != y) s->out->ends |= UINT64_C(1) << (x - 1);
}

/* What a comparison with a small constant (on the left when `turned`) allows for. */
static uint8_t asks_for(uint8_t compare, int64_t constant, bool turned) {
  bool strict = compare == IR_CMP_gt || compare == IR_CMP_le;
  if (turned) strict = compare == IR_CMP_lt || compare == IR_CMP_ge;
  bool equal = compare == IR_CMP_eq || compare == IR_CMP_ne;
  if (constant == 0) return strict || equal ? ORIGIN_ZERO | ORIGIN_ONE : 0;
  if (constant == 1) return strict || equal ? ORIGIN_ONE : ORIGIN_ZERO | ORIGIN_ONE;
  return 0;
}

/* Which registers more than the operands of events read. The predicate that says whether an MMA
 * accumulates asks nothing of the sizes that it is made of. */
static void find_deciders(Search *s) {
  for (int i = 0; i < s->kernel->insns.count; i++) {
    const IrInsn *insn = &s->kernel->insns.items[i];
    if (insn->guard >= 0) s->decides[insn->guard] = true;
    if (insn->op == IR_event) continue;
    for (int j = 1; j < insn->nargs; j++)
      if (insn->args[j].kind == IR_OPD_REG) s->decides[insn->args[j].id] = true;
  }
}

static void follow_compare(Search *s, const IrInsn *insn) {
  bool decides = insn->args[0].kind != IR_OPD_REG || s->decides[insn->args[0].id];
  const IrOperand *a = &insn->args[insn->nargs - 2], *b = &insn->args[insn->nargs - 1];
  for (int side = 0; side < 2; side++) {
    const IrOperand *x = side ? b : a, *y = side ? a : b;
    uint64_t of_x = origin_of(s->out, x), of_y = origin_of(s->out, y);
    if (y->kind == IR_OPD_IMM && x->kind == IR_OPD_REG && !s->stepped[x->id] && !s->rest[x->id] &&
        !(of_x & (ORIGIN_TID | ORIGIN_CTAID)) && decides)
      admit(s, x, asks_for(insn->sub, y->value, side));
    if (of_x & ORIGIN_TID && of_y & ORIGIN_PARAMS && !(of_y & ORIGIN_TID))
      admit(s, y, ORIGIN_RAGGED);
    if (of_x & ORIGIN_CTAID && !(of_x & (ORIGIN_TID | ORIGIN_GRID | ORIGIN_PARAMS)) &&
        of_y & ORIGIN_PARAMS && !(of_y & (ORIGIN_CTAID | ORIGIN_TID)))
      s->out->block_guard = true;
  }
  neighbours(s, b, a);
}

static void follow_division(Search *s, const IrInsn *insn, int64_t by) {
  const IrOperand *a = &insn->args[1];
  bool rest = insn->op == IR_rem || insn->op == IR_band;
  if (by <= 1 || !tag(s->leaf, a)) return;
  if (rest || (a->kind == IR_OPD_REG && s->plus[a->id] == by - 1)) admit(s, a, ORIGIN_RAGGED);
}

/* What the arithmetic says of the parameters in it. */
static void learn(Search *s, const IrInsn *insn) {
  bool two = insn->nargs > 2, constant = two && insn->args[2].kind == IR_OPD_IMM;
  int64_t c = constant ? insn->args[2].value : 0;
  switch (insn->op) {
  case IR_div:
  case IR_rem: follow_division(s, insn, c); break;
  case IR_shr:
    if (constant && c > 0 && c < 12) follow_division(s, insn, INT64_C(1) << c);
    break;
  case IR_band:
    if (constant && c > 0 && (c & (c + 1)) == 0) follow_division(s, insn, c + 1);
    break;
  case IR_min:
    for (int i = 1; i <= 2; i++)
      if (insn->args[3 - i].kind == IR_OPD_IMM) {
        admit(s, &insn->args[i], ORIGIN_RAGGED | ORIGIN_ONE);
      }
    break;
  case IR_sub:
    if (two) neighbours(s, &insn->args[1], &insn->args[2]);
    break;
  default: break;
  }
}

static bool bounded(const IrInsn *insn) {
  if (insn->nargs < 3 || insn->args[2].kind != IR_OPD_IMM) return false;
  int64_t by = insn->args[2].value;
  return (insn->op == IR_rem && by > 0 && by <= BOUNDED) ||
         (insn->op == IR_band && by >= 0 && by < BOUNDED);
}

static void follow_value(Search *s, const IrInsn *insn) {
  const IrOperand *dst = &insn->args[0], *a = &insn->args[1];
  uint64_t sum = 0;
  int16_t pointer = 0;
  for (int i = 1; i < insn->nargs; i++) {
    sum |= origin_of(s->out, &insn->args[i]);
    if (!pointer) pointer = tag(s->pointer, &insn->args[i]);
  }
  bool moves = insn->op == IR_mov || insn->op == IR_cvt;
  bool adds = (insn->op == IR_add || insn->op == IR_sub) && insn->args[2].kind == IR_OPD_IMM;
  if (bounded(insn)) sum &= ~(ORIGIN_PARAMS | ORIGIN_LOADED);
  add_origin(s, dst, sum);
  if (!moves && insn->op != IR_cvta && insn->op != IR_add && insn->op != IR_sub &&
      insn->op != IR_mad && insn->op != IR_madwide)
    pointer = 0;
  set_tag(s, s->pointer, dst, pointer);
  if (adds && dst->kind == IR_OPD_REG && a->kind == IR_OPD_REG && dst->id == a->id)
    s->stepped[dst->id] = true;
  bool taken = insn->op == IR_sub && origin_of(s->out, a) & ORIGIN_PARAMS;
  if (dst->kind == IR_OPD_REG && !s->rest[dst->id] &&
      (taken || (moves && a->kind == IR_OPD_REG && s->rest[a->id]))) {
    s->rest[dst->id] = true;
    s->changed = true;
  }
  if ((!moves && !adds) || dst->kind != IR_OPD_REG || a->kind != IR_OPD_REG) return;
  set_tag(s, s->array, dst, tag(s->array, a));
  if (!tag(s->leaf, a) || dst->id == a->id) return;
  set_tag(s, s->leaf, dst, tag(s->leaf, a));
  int64_t c = !adds ? 0 : insn->op == IR_add ? insn->args[2].value : -insn->args[2].value;
  s->plus[dst->id] = s->plus[a->id] + c;
}

static void follow(Search *s, const IrInsn *insn) {
  switch (insn->op) {
  case IR_load: follow_load(s, insn); return;
  case IR_setp: follow_compare(s, insn); return;
  case IR_event: {
    const IrOperand *value = ir_arg(insn, IR_ROLE_value), *dst = ir_arg(insn, IR_ROLE_dst);
    if (insn->event == IR_EV_shfl && value && dst) add_origin(s, dst, origin_of(s->out, value));
    return;
  }
  case IR_store:
  case IR_atom:
  case IR_copy:
  case IR_fill:
  case IR_opaque:
  case IR_havoc:
  case IR_branch:
  case IR_branch_index: return;
  default: break;
  }
  if (insn->nargs < 2) return;
  learn(s, insn);
  follow_value(s, insn);
}

const Origins *origin_find(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  Origins *out = KC_NEW(session->arena, Origins);
  int leaves = 0, n = kernel->regs.count + 1;
  for (int i = 0; i < kernel->params.count; i++)
    leaves += kernel->params.items[i].leaves.count;
  out->nregs = kernel->regs.count;
  out->leaves = leaves < ORIGIN_LEAVES ? leaves : ORIGIN_LEAVES;
  out->of = KC_NEW_ARRAY(session->arena, uint64_t, n);
  out->admits = KC_NEW_ARRAY(session->arena, uint8_t, leaves + ORIGIN_LEAVES);
  Search s = {.kernel = kernel,
              .out = out,
              .plus = g_new0(int64_t, n),
              .leaf = g_new0(int16_t, n),
              .pointer = g_new0(int16_t, n),
              .array = g_new0(int16_t, n),
              .stepped = g_new0(bool, n),
              .rest = g_new0(bool, n),
              .decides = g_new0(bool, n),
              .changed = true};
  find_deciders(&s);
  for (int pass = 0; pass < PASSES && s.changed; pass++) {
    s.changed = false;
    for (int i = 0; i < kernel->insns.count; i++)
      follow(&s, &kernel->insns.items[i]);
  }
  for (int i = 0; i < leaves; i++)
    out->any |= out->admits[i];
  g_free(s.plus);
  g_free(s.leaf);
  g_free(s.pointer);
  g_free(s.array);
  g_free(s.stepped);
  g_free(s.rest);
  g_free(s.decides);
  return out;
}

static uint64_t operand_origin(const Machine *machine, const IrInsn *insn, IrRole role) {
  const Origins *o = core_session(machine)->origins;
  const IrOperand *operand = ir_arg(insn, role);
  return o && operand ? origin_of(o, operand) : 0;
}

bool origin_made_up(const Machine *machine, const IrInsn *insn, IrRole role) {
  uint64_t origin = operand_origin(machine, insn, role);
  return (origin & (machine->sample->free_leaves | ORIGIN_LOADED)) != 0;
}

bool origin_loaded(const Machine *machine, const IrInsn *insn, IrRole role) {
  return (operand_origin(machine, insn, role) & ORIGIN_LOADED) != 0;
}
