/* What an integer parameter counts: the code divides it by a tile size (K / 64, (N + 127) / 128),
 * steps up to it by one (k += 64), takes its remainder, or only multiplies with it (a stride).
 * Samples then give it a few whole tiles instead of a number that makes loops empty or endless. */
#include <string.h>

#include "machine/execute/core.h"

#define LARGEST_GRANULE 4096
#define STRIDE_GRANULE 1024
#define LOADED (-1) /* origin of a register: memory other than parameters */

typedef struct {
  const IrKernel *kernel;
  int32_t
      *origin;   /* by register: leaf number + 1 that it holds, perhaps plus a constant; 0: none */
  int64_t *step; /* by register: the constant that is added to it in place */
  int32_t (*factors)[2]; /* by register: the two leaves whose product it is */
  int32_t *part;         /* by register: the leaf in the sum that it is (first + K) */
  int64_t *divided;      /* by register: it is a leaf (`quotient`), perhaps rounded up, over this */
  int32_t *quotient;
  int64_t *granule; /* by leaf number */
  bool *compared, *multiplied, *divides;
} Search;

static int64_t common_multiple(int64_t a, int64_t b) {
  int64_t x = a, y = b;
  while (y) {
    int64_t t = x % y;
    x = y;
    y = t;
  }
  int64_t lcm = a / x * b;
  return lcm <= LARGEST_GRANULE ? lcm : a > b ? a : b;
}

static void learn(Search *s, int32_t leaf, int64_t granule) {
  if (leaf <= 0 || granule <= 1 || granule > LARGEST_GRANULE) return;
  s->granule[leaf - 1] = common_multiple(s->granule[leaf - 1], granule);
}

static int32_t origin_of(const Search *s, const IrOperand *operand) {
  return operand->kind == IR_OPD_REG && operand->value == 0 ? s->origin[operand->id] : 0;
}

const IrLeaf *core_int_leaf(const IrKernel *kernel, uint64_t offset) {
  for (int i = 0; i < kernel->params.count; i++) {
    for (int j = 0; j < kernel->params.items[i].leaves.count; j++) {
      const IrLeaf *leaf = &kernel->params.items[i].leaves.items[j];
      if (leaf->kind == IR_LEAF_INT && leaf->offset == offset) return leaf;
    }
  }
  return NULL;
}

/* Number of the integer leaf at an offset of parameter space, plus 1. */
static int32_t leaf_at(const IrKernel *kernel, uint64_t offset) {
  const IrLeaf *wanted = core_int_leaf(kernel, offset);
  int32_t number = 0;
  for (int i = 0; wanted && i < kernel->params.count; i++) {
    for (int j = 0; j < kernel->params.items[i].leaves.count; j++) {
      number++;
      if (&kernel->params.items[i].leaves.items[j] == wanted) return number;
    }
  }
  return 0;
}

static void set_origin(Search *s, const IrInsn *insn, int32_t origin) {
  if (origin && insn->args[0].kind == IR_OPD_REG) s->origin[insn->args[0].id] = origin;
}

static void follow_load(Search *s, const IrInsn *insn) {
  int count = insn->sub ? insn->sub : 1;
  bool integer = insn->type.cls == IR_CLASS_SINT || insn->type.cls == IR_CLASS_UINT;
  for (int i = 0; i < count && integer && insn->space != IR_SPACE_PARAM; i++)
    if (insn->args[i].kind == IR_OPD_REG) s->origin[insn->args[i].id] = LOADED;
  if (insn->space != IR_SPACE_PARAM || count != 1 || insn->args[1].kind != IR_OPD_IMM) return;
  uint64_t address = (uint64_t)insn->args[1].value;
  if (address >= IR_PARAM_BASE) address -= IR_PARAM_BASE;
  set_origin(s, insn, leaf_at(s->kernel, address));
}

/* The number of tiles in a plane (t < tiles_m * tiles_n), whose index is taken apart again
 * (t / tiles_n): neither factor is a stride. */
static void compare_product(Search *s, const int32_t factors[2]) {
  if (!factors[0] || !(s->divides[factors[0] - 1] || s->divides[factors[1] - 1])) return;
  s->compared[factors[0] - 1] = s->compared[factors[1] - 1] = true;
}

static void follow_compare(Search *s, const IrInsn *insn) {
  const IrOperand *a = &insn->args[insn->nargs - 2], *b = &insn->args[insn->nargs - 1];
  for (int side = 0; side < 2; side++) {
    const IrOperand *bound = side ? a : b, *other = side ? b : a;
    if (bound->kind != IR_OPD_REG || bound->value != 0) continue;
    int32_t leaf = s->origin[bound->id] > 0 ? s->origin[bound->id] : s->part[bound->id];
    if (leaf > 0) s->compared[leaf - 1] = true;
    if (leaf > 0 && other->kind == IR_OPD_REG) learn(s, leaf, s->step[other->id]);
    compare_product(s, s->factors[bound->id]);
  }
}

static void follow_copy(Search *s, const IrInsn *insn) {
  if (insn->args[0].kind != IR_OPD_REG || insn->args[1].kind != IR_OPD_REG ||
      insn->args[1].value != 0)
    return;
  int32_t to = insn->args[0].id, from = insn->args[1].id;
  if (s->part[from]) s->part[to] = s->part[from];
  if (s->factors[from][0]) memcpy(s->factors[to], s->factors[from], sizeof s->factors[to]);
}

static bool is_trap_at(const IrKernel *kernel, int index) {
  return index >= 0 && index < kernel->insns.count && kernel->insns.items[index].op == IR_trap;
}

/* Whether the remainder that `insn` takes has to be zero: the code compares it with 0 and one side
 * of the branch behind is a trap (assert(tiles % 8 == 0)). */
static bool must_be_zero(const IrKernel *kernel, const IrInsn *insn) {
  int at = (int)(insn - kernel->insns.items);
  if (at + 2 >= kernel->insns.count || insn->args[0].kind != IR_OPD_REG) return false;
  const IrInsn *compare = insn + 1, *branch = insn + 2;
  if (compare->op != IR_setp || compare->nargs < 3 || branch->op != IR_branch) return false;
  const IrOperand *a = &compare->args[compare->nargs - 2], *b = &compare->args[compare->nargs - 1];
  if (a->kind != IR_OPD_REG || a->id != insn->args[0].id || b->kind != IR_OPD_IMM || b->value != 0)
    return false;
  return branch->guard >= 0 && (is_trap_at(kernel, branch->target) || is_trap_at(kernel, at + 3));
}

static void follow_quotient(Search *s, const IrInsn *insn) {
  if (insn->nargs < 2 || insn->args[0].kind != IR_OPD_REG || insn->args[1].kind != IR_OPD_REG)
    return;
  int32_t to = insn->args[0].id, from = insn->args[1].id;
  int64_t by = insn->nargs > 2 && insn->args[2].kind == IR_OPD_IMM ? insn->args[2].value : 0;
  if (insn->op == IR_mov || insn->op == IR_cvt) {
    s->quotient[to] = s->quotient[from];
    s->divided[to] = s->divided[from];
  } else if (insn->op == IR_div && by > 0 && s->origin[from] > 0) {
    s->quotient[to] = s->origin[from];
    s->divided[to] = by;
  } else if (insn->op == IR_rem && by > 0 && s->quotient[from] > 0 &&
             must_be_zero(s->kernel, insn)) {
    learn(s, s->quotient[from], s->divided[from] * by);
  }
}

static void follow(Search *s, const IrInsn *insn) {
  if (insn->op != IR_event && insn->op != IR_store) follow_quotient(s, insn);
  if (insn->op == IR_load) follow_load(s, insn);
  if (insn->op == IR_setp && insn->nargs >= 3) follow_compare(s, insn);
  if (insn->nargs < 2 || insn->op == IR_event || insn->op == IR_setp) return;
  int32_t a = origin_of(s, &insn->args[1]);
  int32_t b = insn->nargs > 2 ? origin_of(s, &insn->args[2]) : 0;
  bool constant = insn->nargs > 2 && insn->args[2].kind == IR_OPD_IMM;
  int64_t c = constant ? insn->args[2].value : 0;
  switch (insn->op) {
  case IR_mov:
  case IR_cvt:
    set_origin(s, insn, a);
    follow_copy(s, insn);
    break;
  case IR_add:
  case IR_sub:
    if (!constant) {
      bool sum = insn->op == IR_add && (a > 0) != (b > 0) && insn->args[0].kind == IR_OPD_REG;
      if (sum) s->part[insn->args[0].id] = a > 0 ? a : b;
      break;
    }
    set_origin(s, insn, a);
    if (insn->args[0].kind == IR_OPD_REG && insn->args[1].kind == IR_OPD_REG &&
        insn->args[0].id == insn->args[1].id)
      s->step[insn->args[0].id] = c;
    break;
  case IR_div:
  case IR_rem:
    if (constant) learn(s, a, c);
    if (b > 0) s->divides[b - 1] = true;
    break;
  case IR_shr:
    if (constant && c > 0 && c < 12) learn(s, a, INT64_C(1) << c);
    break;
  case IR_band:
    if (constant && c > 0 && (c & (c + 1)) == 0) learn(s, a, c + 1);
    break;
  case IR_mul:
  case IR_mulwide:
  case IR_mad:
  case IR_madwide:
    if (a > 0) s->multiplied[a - 1] = true;
    if (b > 0) s->multiplied[b - 1] = true;
    if (insn->op == IR_mul && a > 0 && b > 0 && insn->args[0].kind == IR_OPD_REG) {
      s->factors[insn->args[0].id][0] = a;
      s->factors[insn->args[0].id][1] = b;
    }
    break;
  default: break;
  }
}

/* Whether the code asks if an integer that it loaded is negative: lists of tiles then end in -1. */
static bool looks_for_end(const Search *s, const IrInsn *insn) {
  const IrOperand *a = &insn->args[insn->nargs - 2], *b = &insn->args[insn->nargs - 1];
  if (a->kind != IR_OPD_REG || b->kind != IR_OPD_IMM || s->origin[a->id] != LOADED) return false;
  switch (insn->sub) {
  case IR_CMP_eq:
  case IR_CMP_ne:
  case IR_CMP_gt:
  case IR_CMP_le: return b->value == -1 || b->value == UINT32_MAX;
  case IR_CMP_lt:
  case IR_CMP_ge: return b->value == 0 && insn->type.cls == IR_CLASS_SINT;
  default: return false;
  }
}

void core_find_granules(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  CoreSession *core = session->core;
  int leaves = 0;
  for (int i = 0; i < kernel->params.count; i++)
    leaves += kernel->params.items[i].leaves.count;
  Search s = {.kernel = kernel,
              .origin = g_new0(int32_t, kernel->regs.count + 1),
              .step = g_new0(int64_t, kernel->regs.count + 1),
              .factors = g_malloc0_n((gsize)kernel->regs.count + 1, sizeof *s.factors),
              .part = g_new0(int32_t, kernel->regs.count + 1),
              .divided = g_new0(int64_t, kernel->regs.count + 1),
              .quotient = g_new0(int32_t, kernel->regs.count + 1),
              .compared = g_new0(bool, leaves + 1),
              .multiplied = g_new0(bool, leaves + 1),
              .divides = g_new0(bool, leaves + 1)};
  s.granule = core->granules = KC_NEW_ARRAY(session->arena, int64_t, leaves + 1);
  for (int i = 0; i < leaves; i++)
    s.granule[i] = 1;
  /* Twice: a loop compares before it steps. */
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < kernel->insns.count; i++) {
      follow(&s, &kernel->insns.items[i]);
      core->lists_end |= kernel->insns.items[i].op == IR_setp &&
                         kernel->insns.items[i].nargs >= 3 &&
                         looks_for_end(&s, &kernel->insns.items[i]);
    }
  for (int i = 0; i < leaves; i++)
    if (s.granule[i] == 1 && s.multiplied[i] && !s.compared[i]) s.granule[i] = -STRIDE_GRANULE;
  g_free(s.origin);
  g_free(s.step);
  g_free(s.factors);
  g_free(s.part);
  g_free(s.divided);
  g_free(s.quotient);
  g_free(s.compared);
  g_free(s.multiplied);
  g_free(s.divides);
}
