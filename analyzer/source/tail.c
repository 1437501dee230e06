/* Elements behind the last whole vector: a count that a kernel only ever uses divided by the length
 * of its vectors, launched by code that says nothing about the remainder. */
#include <string.h>

#include "source/internal.h"

typedef struct Count { /* uses of one integer parameter */
  const IrKernel *kernel;
  uint8_t *holds;         /* by register: the count itself */
  const IrInsn *quotient; /* first division by a constant */
  int64_t divisor;
  bool otherwise; /* used in another way as well */
} Count;

static bool is_held(const Count *c, const IrOperand *o) {
  return o->kind == IR_OPD_REG && c->holds[o->id];
}

/* The constant that an instruction divides the count by; 0: it does something else. */
static int64_t divides_by(const Count *c, const IrInsn *insn) {
  if (insn->nargs != 3 || !is_held(c, &insn->args[1]) || insn->args[2].kind != IR_OPD_IMM) return 0;
  int64_t by = insn->args[2].value;
  if (insn->op == IR_div) return by;
  return insn->op == IR_shr && by > 0 && by < 5 ? INT64_C(1) << by : 0;
}

static bool reads(const Count *c, const IrOperand *o) {
  if (is_held(c, o)) return true;
  for (int i = 0; o->kind == IR_OPD_VECTOR && i < o->count; i++)
    if (reads(c, &o->list[i])) return true;
  return false;
}

static void follow(Count *c, const IrInsn *insn) {
  bool copies = (insn->op == IR_mov || insn->op == IR_cvt) && insn->nargs == 2;
  if (copies && is_held(c, &insn->args[1]) && insn->args[0].kind == IR_OPD_REG) {
    c->holds[insn->args[0].id] = 1;
    return;
  }
  int64_t by = divides_by(c, insn);
  if (by > 1 && (!c->divisor || c->divisor == by)) {
    c->divisor = by;
    if (!c->quotient) c->quotient = insn;
    return;
  }
  for (int i = 0; i < insn->nargs; i++)
    c->otherwise |= reads(c, &insn->args[i]);
}

static Count count_uses(KcArena *arena, const IrKernel *kernel, const IrLeaf *leaf) {
  Count c = {.kernel = kernel, .holds = kc_alloc(arena, (size_t)kernel->regs.count + 1)};
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    bool loads = insn->op == IR_load && insn->space == IR_SPACE_PARAM &&
                 insn->args[insn->nargs - 1].kind == IR_OPD_IMM &&
                 (uint64_t)insn->args[insn->nargs - 1].value == IR_PARAM_BASE + leaf->offset;
    if (loads && insn->args[0].kind == IR_OPD_REG)
      c.holds[insn->args[0].id] = 1;
    else
      follow(&c, insn);
  }
  return c;
}

/* A store of that many elements at a time. */
static const IrInsn *vector_store(const IrKernel *kernel, int64_t elements) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_store && insn->vector > 1 && insn->type.bytes &&
        insn->vector / insn->type.bytes == elements)
      return insn;
  }
  return NULL;
}

/* The outermost braces around an offset. */
static bool braces_around(SourceText text, size_t offset, size_t *open, size_t *close) {
  for (size_t at = 0; at < offset; at++) {
    if (text.text[at] != '{') continue;
    size_t end = source_skip_brackets(text, at, '{', '}');
    if (end > offset) {
      *open = at;
      *close = end;
      return true;
    }
    at = end > at ? end - 1 : at;
  }
  return false;
}

/* Whether the code around the launch looks after the remainder, or may: it tests one, asserts
 * something, or launches another kernel. */
static bool host_cares(const SourceCheck *check, const MachineLaunch *launch) {
  static const char *const signs[] = {"%", "assert", "CHECK", "& ", "&(", "round", "align"};
  const SourceMap *map = &check->program->sources;
  const SourceRange *range = &map->stacks.items[source_user_frame(map, launch->where)].range;
  SourceText text = source_text(check->program, range->file);
  size_t at = source_offset(text, range->line, range->column), open, close;
  if (!text.length || !braces_around(text, at, &open, &close)) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
    if (source_contains(text, open, close, signs[i])) return true;
  const char *first = g_strstr_len(text.text + open, (gssize)(close - open), "<<<");
  return first && g_strstr_len(first + 3, (gssize)(text.text + close - first - 3), "<<<");
}

static const MachineLaunch *careless_launch(const SourceCheck *check, const IrKernel *kernel,
                                            const IrLeaf *leaf, int64_t divisor) {
  const MachineLaunch *found = NULL;
  for (int i = 0; check->host && i < check->host->launches.count; i++) {
    const MachineLaunch *launch = &check->host->launches.items[i];
    if (!ir_kernel_is_named(kernel, launch->kernel)) continue;
    int64_t value = INT64_MIN;
    for (int l = 0; l < launch->leaves.count; l++)
      if (launch->leaves.items[l].offset == leaf->offset) value = launch->leaves.items[l].value;
    if (value != INT64_MIN ? value % divisor == 0 : host_cares(check, launch)) return NULL;
    found = launch;
  }
  return found;
}

static void check_leaf(SourceCheck *check, const IrKernel *kernel, const IrLeaf *leaf) {
  if (leaf->kind != IR_LEAF_INT || leaf->type.bytes < 4) return;
  Count c = count_uses(check->violations->arena, kernel, leaf);
  if (!c.quotient || c.otherwise) return;
  const IrInsn *store = vector_store(kernel, c.divisor);
  const MachineLaunch *launch = store ? careless_launch(check, kernel, leaf, c.divisor) : NULL;
  if (!launch) return;
  IrViolation *v = source_once(
      check, "vector-tail-dropped", kernel, c.quotient->where,
      "%s only uses %s divided by %lld: the elements behind the last whole vector are left out",
      kernel->name, leaf->name ? leaf->name : "a count", (long long)c.divisor);
  if (!v) return;
  ir_violation_related(check->violations, v, store->where, "%lld elements at a time",
                       (long long)c.divisor);
  ir_violation_related(check->violations, v, launch->where, "launched here for any count");
}

void source_check_tails(SourceCheck *check, const IrKernel *kernel) {
  for (int i = 0; i < kernel->params.count; i++)
    for (int l = 0; l < kernel->params.items[i].leaves.count; l++)
      check_leaf(check, kernel, &kernel->params.items[i].leaves.items[l]);
}
