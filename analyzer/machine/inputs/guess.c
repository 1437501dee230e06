/* The block of a kernel that neither launch bounds nor a launch tell. Its size: from comparisons of
 * thread, warp and warpgroup numbers with constants, and the thread counts of its barriers. Its
 * shape: from the rows of the shared arrays that threadIdx.y chooses. */
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
  bool named;      /* a template argument tells the size: bounds on thread numbers do not */
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
  bool one = insn->sub == IR_CMP_eq || insn->sub == IR_CMP_ne;
  if (!one && g->named) return;
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
  bool named = kernel->named_block > 0 && kernel->named_block <= 1024;
  Guess g = {.kernel = kernel,
             .units = g_new0(Unit, kernel->regs.count + 1),
             .need = named ? kernel->named_block : 128,
             .named = named};
  for (int i = 0; i < kernel->insns.count; i++)
    follow(&g, &kernel->insns.items[i]);
  if (g.warpgroups) require(&g, 256);
  g_free(g.units);
  if (named && g.need == kernel->named_block) return kernel->named_block;
  return (int)((g.need + 31) / 32 * 32);
}

/* ---- shape ---- */

#define USUAL_WIDTH 16
#define USUAL_ROWS 8 /* of warps that lie side by side */

typedef struct {
  int axis;      /* 1 threadIdx.x, 2 threadIdx.y; 0: something else */
  int64_t scale; /* the register holds that times it */
  int object;    /* plus the address of it; -1: of none */
} Place;

typedef struct {
  const IrKernel *kernel;
  Place *places; /* by register */
  int64_t width, rows;
} Shape;

static Place place_of(const Shape *s, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG && operand->value == 0) return s->places[operand->id];
  if (operand->kind == IR_OPD_SPECIAL && operand->id == IR_SREG_tid_x) return (Place){1, 1, -1};
  if (operand->kind == IR_OPD_SPECIAL && operand->id == IR_SREG_tid_y) return (Place){2, 1, -1};
  if (operand->kind == IR_OPD_OBJECT) return (Place){0, 0, operand->id};
  return (Place){0, 0, -1};
}

static Place scaled(const Shape *s, const IrOperand *a, const IrOperand *b) {
  const IrOperand *factor = b->kind == IR_OPD_IMM ? b : a;
  Place place = place_of(s, factor == b ? a : b);
  if (factor->kind != IR_OPD_IMM || factor->value <= 0 || place.object >= 0) place.axis = 0;
  place.scale *= factor->value;
  return place;
}

/* `row` bytes from one threadIdx.y to the next, and `step` from one threadIdx.x to the next, in the
 * same array of shared memory: a row of threads is as long as a row of the array. */
static void take_rows(Shape *s, int object, int64_t row, int64_t step) {
  const IrObject *array =
      object >= 0 && object < s->kernel->objects.count ? &s->kernel->objects.items[object] : NULL;
  if (!array || array->space != IR_SPACE_SHARED || step <= 0 || row % step != 0) return;
  int64_t width = row / step / 4 * 4; /* without the elements that pad a row */
  if (width < 8 || width > 64 || (s->width && s->width <= width)) return;
  s->width = width;
  s->rows = (int64_t)array->bytes / row;
}

static Place sum_of(Shape *s, Place a, Place b) {
  if (a.axis == 0 && a.object >= 0) {
    Place swap = a;
    a = b;
    b = swap;
  }
  if (a.axis == 1 && b.axis == 2) take_rows(s, MAX(a.object, b.object), b.scale, a.scale);
  if (a.axis == 2 && b.axis == 1) take_rows(s, MAX(a.object, b.object), a.scale, b.scale);
  if (a.axis && b.axis == 0 && b.object >= 0 && a.object < 0) {
    a.object = b.object;
    return a;
  }
  return (Place){0, 0, -1};
}

static void place(Shape *s, const IrInsn *insn) {
  if (insn->op == IR_event || insn->op == IR_store || insn->nargs < 2 ||
      insn->args[0].kind != IR_OPD_REG)
    return;
  const IrOperand *a = &insn->args[1], *b = insn->nargs > 2 ? &insn->args[2] : NULL;
  Place out = {0, 0, -1};
  if (insn->op == IR_mov || insn->op == IR_cvt)
    out = place_of(s, a);
  else if (insn->op == IR_mul && b)
    out = scaled(s, a, b);
  else if (insn->op == IR_shl && b && b->kind == IR_OPD_IMM && b->value >= 0 && b->value < 16)
    out = scaled(s, a, &(IrOperand){.kind = IR_OPD_IMM, .value = (int64_t)1 << b->value});
  else if (insn->op == IR_mad && insn->nargs > 3)
    out = sum_of(s, scaled(s, a, b), place_of(s, &insn->args[3]));
  else if (insn->op == IR_add && b)
    out = sum_of(s, place_of(s, a), place_of(s, b));
  s->places[insn->args[0].id] = out;
}

void core_guess_shape(const IrKernel *kernel, int64_t dims[3]) {
  Shape s = {.kernel = kernel, .places = g_new0(Place, kernel->regs.count + 1)};
  for (int i = 0; i < kernel->regs.count; i++)
    s.places[i].object = -1;
  for (int i = 0; i < kernel->insns.count; i++)
    place(&s, &kernel->insns.items[i]);
  g_free(s.places);
  int64_t threads = kernel->max_threads > 0 ? kernel->max_threads : 0;
  dims[0] = s.width                                                 ? s.width
            : threads >= 32 && threads != USUAL_WIDTH * USUAL_WIDTH ? 32
                                                                    : USUAL_WIDTH;
  dims[2] = 1;
  if (threads)
    dims[1] = MAX(threads / dims[0], 1);
  else if (s.rows > 0)
    dims[1] = CLAMP(s.rows, 1, 1024 / dims[0]);
  else
    dims[1] = dims[0] <= USUAL_WIDTH ? USUAL_WIDTH : USUAL_ROWS;
  if (threads) dims[0] = MIN(dims[0], threads);
}
