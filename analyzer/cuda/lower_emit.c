/* Positions, instructions with constants folded, conversions, branches. */
#include "cuda/lower_internal.h"

#include <string.h>

/* ---- positions ---- */

AstNode *lower_here(Lower *l, AstNode *n) {
  AstNode *before = l->here;
  if (n && ast_has_location(l, n)) l->here = n;
  return before;
}

uint32_t lower_where(Lower *l, AstNode *n, Frame *frame) {
  uint32_t outer = frame_where(l, frame);
  if (!n) return outer;
  if (n->where == 0 || n->where_outer != outer) {
    n->where = source_stack(&l->program->sources, n->range, outer, frame ? frame->name : NULL);
    n->where_outer = outer;
  }
  return n->where;
}

void lower_position(Lower *l) {
  l->b.where = lower_where(l, l->here, l->frame);
}

/* ---- instructions ---- */

IrInsn *lower_emit(Lower *l, IrOp op, IrType type, const IrOperand *args, int nargs) {
  lower_position(l);
  return ir_emit(&l->b, op, type, args, nargs);
}

IrInsn *lower_event(Lower *l, IrEvent event, const IrOperand *args, int nargs, uint64_t flags) {
  lower_position(l);
  return ir_emit_event(&l->b, event, args, nargs, flags);
}

int32_t lower_temp(Lower *l, IrType type) {
  return ir_reg(&l->b, type, NULL);
}

static IrOperand typed(IrOperand o, IrType type) {
  o.type = type;
  return o;
}

IrOperand lower_constant(int64_t value, IrType type) {
  if (type.cls == IR_CLASS_PRED) {
    value = value != 0;
  } else if (type.bytes > 0 && type.bytes < 8) {
    int shift = 64 - 8 * type.bytes;
    uint64_t up = (uint64_t)value << shift;
    value = type.cls == IR_CLASS_SINT ? (int64_t)up >> shift : (int64_t)(up >> shift);
  }
  return typed(ir_imm(value), type);
}

void lower_move(Lower *l, int32_t reg, IrType type, IrOperand value) {
  if (value.kind == IR_OPD_REG && value.id == reg && value.value == 0) return;
  IrOperand args[] = {ir_use(reg), value};
  lower_emit(l, IR_mov, type, args, 2);
}

IrOperand lower_to_reg(Lower *l, IrOperand value, IrType type) {
  if (value.kind == IR_OPD_REG && value.value == 0) return value;
  int32_t reg = lower_temp(l, type);
  lower_move(l, reg, type, value);
  return typed(ir_use(reg), type);
}

IrOperand lower_opaque(Lower *l, IrType type, const IrOperand *args, int nargs) {
  IrOperand list[8];
  int count = 1;
  for (int i = 0; i < nargs && count < 8; i++)
    if (args[i].kind == IR_OPD_REG) list[count++] = args[i];
  if (count == 1) return typed(ir_unknown(), type);
  list[0] = ir_use(lower_temp(l, type));
  lower_emit(l, IR_opaque, type, list, count)->sub = 1;
  return typed(list[0], type);
}

/* ---- folding ---- */

static bool fold_shift(IrOp op, IrType type, int64_t a, int64_t b, int64_t *out) {
  int bits = 8 * type.bytes;
  if (b < 0 || b >= bits) return false;
  if (op == IR_shl)
    *out = (int64_t)((uint64_t)a << b);
  else
    *out = type.cls == IR_CLASS_SINT ? a >> b : (int64_t)((uint64_t)a >> b);
  return true;
}

static bool fold_divide(IrOp op, IrType type, int64_t a, int64_t b, int64_t *out) {
  if (b == 0 || (type.cls == IR_CLASS_SINT && b == -1 && a == INT64_MIN)) return false;
  if (type.cls == IR_CLASS_SINT)
    *out = op == IR_div ? a / b : a % b;
  else
    *out = (int64_t)(op == IR_div ? (uint64_t)a / (uint64_t)b : (uint64_t)a % (uint64_t)b);
  return true;
}

static bool fold(IrOp op, IrType type, int64_t a, int64_t b, int64_t *out) {
  uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
  bool is_signed = type.cls == IR_CLASS_SINT;
  if (type.bytes > 8) return false;
  switch ((int)op) {
  case IR_add: *out = (int64_t)(ua + ub); return true;
  case IR_sub: *out = (int64_t)(ua - ub); return true;
  case IR_mul: *out = (int64_t)(ua * ub); return true;
  case IR_div:
  case IR_rem: return fold_divide(op, type, a, b, out);
  case IR_band: *out = a & b; return true;
  case IR_bor: *out = a | b; return true;
  case IR_bxor: *out = a ^ b; return true;
  case IR_shl:
  case IR_shr: return fold_shift(op, type, a, b, out);
  case IR_min: *out = (is_signed ? a < b : ua < ub) ? a : b; return true;
  case IR_max: *out = (is_signed ? a > b : ua > ub) ? a : b; return true;
  default: return false;
  }
}

/* x + 0, x * 1, x << 0, ...: the value itself. */
static bool is_neutral(IrOp op, IrOperand b) {
  if (!ir_is_imm(b)) return false;
  switch ((int)op) {
  case IR_add:
  case IR_sub:
  case IR_bor:
  case IR_bxor:
  case IR_shl:
  case IR_shr: return b.value == 0;
  case IR_mul:
  case IR_div: return b.value == 1;
  default: return false;
  }
}

IrOperand lower_binary(Lower *l, IrOp op, IrType type, IrOperand a, IrOperand b) {
  if (type.cls == IR_CLASS_FLOAT || type.bytes > 8) {
    IrOperand args[] = {a, b};
    return lower_opaque(l, type, args, 2);
  }
  if (ir_is_unknown(a) || ir_is_unknown(b)) {
    bool zeroes = (op == IR_band || op == IR_mul) &&
                  ((ir_is_imm(a) && a.value == 0) || (ir_is_imm(b) && b.value == 0));
    return zeroes ? lower_constant(0, type) : typed(ir_unknown(), type);
  }
  int64_t value;
  if (ir_is_imm(a) && ir_is_imm(b) && fold(op, type, a.value, b.value, &value))
    return lower_constant(value, type);
  if (is_neutral(op, b)) return typed(a, type);
  if ((op == IR_add || op == IR_bor) && is_neutral(op, a)) return typed(b, type);
  if (op == IR_add && a.kind == IR_OPD_OBJECT && ir_is_imm(b)) return address_add(a, b.value);
  IrOperand args[] = {ir_use(lower_temp(l, type)), a, b};
  lower_emit(l, op, type, args, 3);
  return typed(args[0], type);
}

IrOperand lower_unary(Lower *l, IrOp op, IrType type, IrOperand a) {
  if (type.cls == IR_CLASS_FLOAT || type.bytes > 8) return lower_opaque(l, type, &a, 1);
  if (ir_is_unknown(a)) return typed(ir_unknown(), type);
  if (ir_is_imm(a) && op == IR_neg) return lower_constant((int64_t) - (uint64_t)a.value, type);
  if (ir_is_imm(a) && op == IR_bnot)
    return lower_constant(type.cls == IR_CLASS_PRED ? !a.value : ~a.value, type);
  IrOperand args[] = {ir_use(lower_temp(l, type)), a};
  lower_emit(l, op, type, args, 2);
  return typed(args[0], type);
}

static bool compare_constants(IrCompare compare, IrType type, int64_t a, int64_t b) {
  bool is_signed = type.cls == IR_CLASS_SINT;
  bool less = is_signed ? a < b : (uint64_t)a < (uint64_t)b;
  switch (compare) {
  case IR_CMP_eq: return a == b;
  case IR_CMP_ne: return a != b;
  case IR_CMP_lt: return less;
  case IR_CMP_le: return less || a == b;
  case IR_CMP_gt: return !less && a != b;
  case IR_CMP_ge: return !less;
  }
  return false;
}

IrOperand lower_compare(Lower *l, IrCompare compare, IrType type, IrOperand a, IrOperand b) {
  if (type.cls == IR_CLASS_FLOAT || type.bytes > 8) {
    IrOperand args[] = {a, b};
    return lower_opaque(l, IR_TYPE_PRED, args, 2);
  }
  if (ir_is_unknown(a) || ir_is_unknown(b)) return typed(ir_unknown(), IR_TYPE_PRED);
  if (ir_is_imm(a) && ir_is_imm(b))
    return lower_constant(compare_constants(compare, type, a.value, b.value), IR_TYPE_PRED);
  if (type.cls == IR_CLASS_PRED) { /* bool == bool */
    if (ir_is_imm(b) && (compare == IR_CMP_eq || compare == IR_CMP_ne))
      return (b.value != 0) == (compare == IR_CMP_eq) ? a
                                                      : lower_unary(l, IR_bnot, IR_TYPE_PRED, a);
    type = IR_TYPE_U(1);
  }
  IrOperand args[] = {ir_use(lower_temp(l, IR_TYPE_PRED)), a, b};
  lower_emit(l, IR_setp, type, args, 3)->sub = (uint8_t)compare;
  return typed(args[0], IR_TYPE_PRED);
}

IrOperand lower_select(Lower *l, IrType type, IrOperand a, IrOperand b, IrOperand predicate) {
  if (ir_is_imm(predicate)) return predicate.value ? a : b;
  if (ir_is_unknown(predicate)) {
    IrOperand args[] = {a, b};
    return lower_opaque(l, type, args, 2);
  }
  IrOperand args[] = {ir_use(lower_temp(l, type)), a, b, predicate};
  lower_emit(l, IR_select, type, args, 4);
  return typed(args[0], type);
}

/* ---- conversions ---- */

static bool is_predicate(Lower *l, IrOperand value) {
  return value.kind == IR_OPD_REG && l->kernel->regs.items[value.id].type.cls == IR_CLASS_PRED;
}

IrOperand lower_truth(Lower *l, IrOperand value, const CppType *type) {
  if (is_predicate(l, value)) return value;
  if (ir_is_imm(value)) return lower_constant(value.value, IR_TYPE_PRED);
  if (value.kind == IR_OPD_OBJECT) return lower_constant(1, IR_TYPE_PRED);
  if (ir_is_unknown(value) || !cpp_is_number(type)) {
    if (value.kind == IR_OPD_REG) return lower_opaque(l, IR_TYPE_PRED, &value, 1);
    return typed(ir_unknown(), IR_TYPE_PRED);
  }
  return lower_compare(l, IR_CMP_ne, type->ir, value, lower_constant(0, type->ir));
}

/* A predicate as the number 0 or 1 of `type`. */
static IrOperand number_of_predicate(Lower *l, IrOperand predicate, IrType type) {
  return lower_select(l, type, lower_constant(1, type), lower_constant(0, type), predicate);
}

IrOperand lower_convert(Lower *l, IrOperand value, const CppType *from, const CppType *to) {
  if (to->kind == CPP_VOID || to->kind == CPP_OTHER || cpp_is_object(to)) return value;
  if (from->kind == CPP_FUNCTION || (from->kind == CPP_ARRAY && to->kind == CPP_POINTER))
    return typed(value, IR_TYPE_U(8)); /* its address */
  if (to->is_bool) return from->is_bool ? typed(value, to->ir) : lower_truth(l, value, from);
  if (ir_is_unknown(value)) return typed(ir_unknown(), to->ir);
  if (is_predicate(l, value)) {
    if (to->kind == CPP_FLOAT) return lower_opaque(l, to->ir, &value, 1);
    return number_of_predicate(l, value, to->ir);
  }
  if (from->kind == CPP_FLOAT && to->kind == CPP_FLOAT && from->ir.bytes == to->ir.bytes)
    return value;
  if (from->kind == CPP_FLOAT || to->kind == CPP_FLOAT || !cpp_is_number(from))
    return lower_opaque(l, to->ir, &value, 1);
  if (ir_is_imm(value)) return lower_constant(value.value, to->ir);
  if (from->ir.bytes == to->ir.bytes) return typed(value, to->ir);
  IrOperand args[] = {ir_use(lower_temp(l, to->ir)), value};
  lower_emit(l, IR_cvt, to->ir, args, 2)->type2 = from->ir;
  return typed(args[0], to->ir);
}

/* ---- control flow ---- */

int32_t lower_label(Lower *l) {
  int32_t label = ir_label(&l->b);
  KC_PUSH(l->scratch, l->label_in_prologue, (uint8_t)l->in_prologue);
  KC_PUSH(l->scratch, l->label_uses, 0);
  return label;
}

static bool label_is_here(const Lower *l, int32_t label) {
  return l->label_in_prologue.items[label] == (uint8_t)l->in_prologue &&
         l->b.labels.items[label] == l->kernel->insns.count;
}

/* Drops branches to the next instruction. Labels already placed here move with it. */
static void place(Lower *l, int32_t label) {
  while (l->kernel->insns.count > 0) {
    const IrInsn *last = &l->kernel->insns.items[l->kernel->insns.count - 1];
    if (last->op != IR_branch || last->target != label) break;
    for (int i = 0; l->placed_at == l->kernel->insns.count && i < l->b.labels.count; i++)
      if (label_is_here(l, i)) l->b.labels.items[i]--;
    l->kernel->insns.count--;
    l->label_uses.items[label]--;
  }
  ir_place(&l->b, label);
  rounds_label(l, label);
  l->placed_at = l->kernel->insns.count;
}

void lower_place(Lower *l, int32_t label) {
  place(l, label);
  facts_forget_all(l);
}

void lower_head(Lower *l, int32_t label, LoopFacts *loop) {
  const LoopFacts *earlier = l->loop_facts;
  l->loop_facts = NULL;
  place(l, label);
  *loop = facts_loop_head(l, earlier);
}

void lower_close(Lower *l, int32_t label) {
  int before = l->placed_at;
  bool falls_through = lower_reachable(l);
  facts_join(l, label, falls_through);
  place(l, label);
  if (l->label_uses.items[label] == 0 && before != l->kernel->insns.count) l->placed_at = before;
}

bool lower_reachable(Lower *l) {
  if (l->kernel->insns.count == 0) return true;
  const IrInsn *last = &l->kernel->insns.items[l->kernel->insns.count - 1];
  bool ends = (last->op == IR_branch || last->op == IR_exit) && last->guard < 0;
  return !ends || l->placed_at == l->kernel->insns.count;
}

void lower_jump(Lower *l, int32_t label) {
  if (!lower_reachable(l)) return;
  lower_position(l);
  l->label_uses.items[label]++;
  facts_jump(l, label);
  ir_branch(&l->b, label, -1, false);
}

void lower_branch(Lower *l, IrOperand predicate, int32_t label, bool want) {
  if (ir_is_imm(predicate)) {
    if ((predicate.value != 0) == want) lower_jump(l, label);
    return;
  }
  if (ir_is_unknown(predicate)) {
    IrOperand unknown = ir_use(lower_temp(l, IR_TYPE_PRED));
    lower_emit(l, IR_havoc, IR_TYPE_PRED, &unknown, 1)->text = "condition";
    predicate = unknown;
  }
  predicate = lower_to_reg(l, predicate, IR_TYPE_PRED);
  lower_position(l);
  l->label_uses.items[label]++;
  facts_jump(l, label);
  ir_branch(&l->b, label, predicate.id, !want);
}

IrOperand lower_havoc(Lower *l, bool may_hide_event, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = kc_vprintf(l->arena, format, args);
  va_end(args);
  lower_position(l);
  if (l->kernel->is_host) may_hide_event = false;
  for (int i = 0; i < l->kernel->notes.count; i++) /* said once for each place */
    if (l->kernel->notes.items[i].where == l->b.where &&
        strcmp(l->kernel->notes.items[i].text, text) == 0)
      return ir_unknown();
  ir_note(&l->b, may_hide_event, "%s", text);
  if (may_hide_event) lower_emit(l, IR_havoc, IR_TYPE_NONE, NULL, 0)->text = text;
  return ir_unknown();
}
