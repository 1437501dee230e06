/* Operators and conditions. */
#include "cuda/lower_internal.h"

/* A record where a number is wanted: the conversion is not in the tree. */
static IrOperand converted_record(Lower *l, AstNode *n, const CppType *to) {
  CXCursor conversion = cpp_conversion(l, ast_type(l, n));
  Callee *callee = ast_is_null(conversion) ? NULL : callee_of(l, conversion);
  if (!callee || !callee_has_body(l, callee) || callee->result->kind == CPP_REFERENCE) {
    lower_effect(l, n);
    return lower_havoc(l, false, "a conversion from %s could not be lowered",
                       cpp_name(l, ast_type(l, n)));
  }
  Call call = {.node = n,
               .callee = callee,
               .has_object = true,
               .object = address_pin(l, lower_lvalue(l, n)),
               .object_node = n};
  return lower_convert(l, lower_inline(l, &call, NULL), callee->result, to);
}

IrOperand lower_value_as(Lower *l, AstNode *n, const CppType *to) {
  if (cpp_is_scalar(to) && ast_type(l, n)->kind == CPP_RECORD) return converted_record(l, n, to);
  return lower_convert(l, lower_value(l, n), ast_type(l, n), to);
}

static IrOperand unresolved(Lower *l, AstNode *n, const char *what) {
  bool hides = lower_may_reach_event(l, n);
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) lower_effect(l, n->parts[i]);
  return lower_havoc(l, hides, "%s could not be lowered", what);
}

/* ---- arithmetic ---- */

static bool arithmetic_op(CXBinaryOperatorKind kind, IrOp *op) {
  switch (kind) {
  case CXBinaryOperator_Mul:
  case CXBinaryOperator_MulAssign: *op = IR_mul; return true;
  case CXBinaryOperator_Div:
  case CXBinaryOperator_DivAssign: *op = IR_div; return true;
  case CXBinaryOperator_Rem:
  case CXBinaryOperator_RemAssign: *op = IR_rem; return true;
  case CXBinaryOperator_Add:
  case CXBinaryOperator_AddAssign: *op = IR_add; return true;
  case CXBinaryOperator_Sub:
  case CXBinaryOperator_SubAssign: *op = IR_sub; return true;
  case CXBinaryOperator_Shl:
  case CXBinaryOperator_ShlAssign: *op = IR_shl; return true;
  case CXBinaryOperator_Shr:
  case CXBinaryOperator_ShrAssign: *op = IR_shr; return true;
  case CXBinaryOperator_And:
  case CXBinaryOperator_AndAssign: *op = IR_band; return true;
  case CXBinaryOperator_Or:
  case CXBinaryOperator_OrAssign: *op = IR_bor; return true;
  case CXBinaryOperator_Xor:
  case CXBinaryOperator_XorAssign: *op = IR_bxor; return true;
  default: return false;
  }
}

static bool compare_op(CXBinaryOperatorKind kind, IrCompare *compare) {
  switch (kind) {
  case CXBinaryOperator_LT: *compare = IR_CMP_lt; return true;
  case CXBinaryOperator_GT: *compare = IR_CMP_gt; return true;
  case CXBinaryOperator_LE: *compare = IR_CMP_le; return true;
  case CXBinaryOperator_GE: *compare = IR_CMP_ge; return true;
  case CXBinaryOperator_EQ: *compare = IR_CMP_eq; return true;
  case CXBinaryOperator_NE: *compare = IR_CMP_ne; return true;
  default: return false;
  }
}

static uint64_t pointee_size(const CppType *pointer) {
  return pointer->elem && pointer->elem->bytes ? pointer->elem->bytes : 1;
}

/* base + index or base - index elements. */
static IrOperand pointer_offset(Lower *l, IrOperand base, const CppType *pointer, IrOperand index,
                                const CppType *index_type, bool subtract) {
  if (subtract) {
    const CppType *wide = cpp_scalar(l, CXType_LongLong);
    index = lower_unary(l, IR_neg, wide->ir, lower_convert(l, index, index_type, wide));
    index_type = wide;
  }
  return address_index(l, base, index, index_type, pointee_size(pointer));
}

static IrOperand pointer_arithmetic(Lower *l, AstNode *n, bool subtract) {
  AstNode *a = n->parts[0], *b = n->parts[1];
  const CppType *ta = ast_type(l, a), *tb = ast_type(l, b);
  if (ta->kind == CPP_POINTER && tb->kind == CPP_POINTER) {
    IrOperand x = lower_value(l, a), y = lower_value(l, b);
    IrOperand bytes = lower_binary(l, IR_sub, IR_TYPE_S(8), x, y);
    return lower_binary(l, IR_div, IR_TYPE_S(8), bytes, ir_imm((int64_t)pointee_size(ta)));
  }
  if (ta->kind != CPP_POINTER) { /* 2 + p */
    AstNode *swap = a;
    a = b;
    b = swap;
    ta = ast_type(l, a);
    tb = ast_type(l, b);
  }
  IrOperand base = lower_decayed(l, a);
  IrOperand index = lower_value(l, b);
  return address_value(l, pointer_offset(l, base, ta, index, tb, subtract));
}

static IrOperand comparison(Lower *l, AstNode *n, IrCompare compare) {
  const CppType *type = ast_type(l, n->parts[0]), *other = ast_type(l, n->parts[1]);
  IrOperand a = lower_value(l, n->parts[0]), b = lower_value(l, n->parts[1]);
  if (cpp_is_object(type) || cpp_is_object(other) || type->kind == CPP_OTHER)
    return lower_opaque(l, IR_TYPE_PRED, NULL, 0);
  if (!cpp_is_scalar(type)) type = other;
  return lower_compare(l, compare, type->ir, a, b);
}

/* ---- && and || ---- */

static IrOperand logical(Lower *l, AstNode *n, bool is_and) {
  AstNode *a = n->parts[0], *b = n->parts[1];
  bool known;
  if (lower_constant_condition(l, a, &known)) {
    if (known != is_and) return lower_constant(known, IR_TYPE_PRED);
    return lower_truth(l, lower_value(l, b), ast_type(l, b));
  }
  IrOperand x = lower_truth(l, lower_value(l, a), ast_type(l, a));
  if (ir_is_imm(x)) {
    if ((x.value != 0) != is_and) return x;
    return lower_truth(l, lower_value(l, b), ast_type(l, b));
  }
  if (ast_pure(l, b)) {
    IrOperand y = lower_truth(l, lower_value(l, b), ast_type(l, b));
    return lower_binary(l, is_and ? IR_band : IR_bor, IR_TYPE_PRED, x, y);
  }
  int32_t result = lower_temp(l, IR_TYPE_PRED), end = lower_label(l);
  lower_move(l, result, IR_TYPE_PRED, x);
  lower_branch(l, ir_use(result), end, !is_and);
  IrOperand y = lower_truth(l, lower_value(l, b), ast_type(l, b));
  lower_move(l, result, IR_TYPE_PRED, y);
  lower_close(l, end);
  IrOperand value = ir_use(result);
  value.type = IR_TYPE_PRED;
  return value;
}

/* ---- assignment ---- */

IrOperand lower_assign(Lower *l, AstNode *n, IrOperand *address) {
  AstNode *a = n->parts[0], *b = n->parts[1];
  const CppType *type = ast_type(l, a);
  IrOperand none;
  if (!address) address = &none;
  if (cpp_is_object(type)) {
    IrOperand from = lower_lvalue(l, b);
    *address = lower_lvalue(l, a);
    lower_copy(l, *address, from, type);
    return *address;
  }
  IrOperand value = lower_value_as(l, b, type);
  CppField field;
  if (lower_bit_field(l, a, &field, address)) {
    lower_store_bits(l, *address, &field, value);
    return value;
  }
  *address = lower_lvalue(l, a);
  lower_here(l, n);
  lower_store_last(l, *address, type, value, lower_is_volatile(l, a));
  return lower_cell(l, *address, type) >= 0 ? lower_load(l, *address, type, false) : value;
}

/* The type that `a op= b` computes in: the usual conversions of both. */
static const CppType *computation_type(Lower *l, const CppType *a, const CppType *b, IrOp op) {
  const CppType *promoted = a->kind == CPP_INT && a->bytes < 4 ? cpp_scalar(l, CXType_Int) : a;
  if (op == IR_shl || op == IR_shr) return promoted;
  if (a->kind == CPP_FLOAT || b->kind == CPP_FLOAT) return b->kind == CPP_FLOAT ? b : a;
  if (b->bytes > promoted->bytes) return b;
  if (b->bytes == promoted->bytes && b->ir.cls == IR_CLASS_UINT) return b;
  return promoted;
}

IrOperand lower_compound_assign(Lower *l, AstNode *n, IrOperand *address) {
  AstNode *a = n->parts[0], *b = n->parts[1];
  const CppType *type = ast_type(l, a), *right = ast_type(l, b);
  IrOperand none, record;
  if (!address) address = &none;
  IrOp op;
  if (!arithmetic_op(l->clang->getCursorBinaryOperatorKind(n->cursor), &op)) {
    *address = lower_lvalue(l, a);
    return unresolved(l, n, "an assignment operator");
  }
  IrOperand y = lower_value(l, b);
  CppField field;
  bool bits = lower_bit_field(l, a, &field, &record);
  *address = bits ? record : lower_lvalue(l, a);
  IrOperand x = bits ? lower_load_bits(l, record, &field)
                     : lower_load(l, *address, type, lower_is_volatile(l, a));
  lower_here(l, n);
  IrOperand value;
  if (type->kind == CPP_POINTER) {
    value = pointer_offset(l, address_of_value(l, x), type, y, right, op == IR_sub);
    value = address_value(l, value);
  } else {
    const CppType *in = computation_type(l, type, right, op);
    x = lower_convert(l, x, type, in);
    if (op != IR_shl && op != IR_shr) y = lower_convert(l, y, right, in);
    value = lower_convert(l, lower_binary(l, op, in->ir, x, y), in, type);
  }
  if (bits) {
    lower_store_bits(l, record, &field, value);
    return value;
  }
  lower_store_last(l, *address, type, value, lower_is_volatile(l, a));
  return lower_cell(l, *address, type) >= 0 ? lower_load(l, *address, type, false) : value;
}

IrOperand lower_increment(Lower *l, AstNode *n, IrOperand *address, bool used) {
  CXUnaryOperatorKind kind = l->clang->getCursorUnaryOperatorKind(n->cursor);
  bool postfix = kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PostDec;
  bool up = kind == CXUnaryOperator_PostInc || kind == CXUnaryOperator_PreInc;
  AstNode *c = n->parts[0];
  const CppType *type = ast_type(l, c);
  IrOperand none;
  if (!address) address = &none;
  CppField field;
  bool bits = lower_bit_field(l, c, &field, address);
  if (!bits) *address = lower_lvalue(l, c);
  lower_here(l, n);
  bool is_volatile = lower_is_volatile(l, c);
  IrOperand old =
      bits ? lower_load_bits(l, *address, &field) : lower_load(l, *address, type, is_volatile);
  IrOperand kept = old;
  if (postfix && used && old.kind == IR_OPD_REG && type->kind != CPP_FLOAT) {
    kept = ir_use(lower_temp(l, type->ir));
    kept.type = type->ir;
    lower_move(l, kept.id, type->ir, old);
  }
  int64_t step = type->kind == CPP_POINTER ? (int64_t)pointee_size(type) : 1;
  IrOperand value =
      lower_binary(l, up ? IR_add : IR_sub, type->ir, old, lower_constant(step, type->ir));
  if (bits) {
    lower_store_bits(l, *address, &field, value);
    return postfix ? kept : value;
  }
  lower_store_last(l, *address, type, value, is_volatile);
  if (postfix) return kept;
  return lower_cell(l, *address, type) >= 0 ? lower_load(l, *address, type, false) : value;
}

/* ---- the operators as values ---- */

IrOperand lower_unary_operator(Lower *l, AstNode *n) {
  AstNode *c = ast_part(l, n, 0);
  const CppType *type = ast_type(l, n);
  if (!c) return unresolved(l, n, "an operator");
  switch (l->clang->getCursorUnaryOperatorKind(n->cursor)) {
  case CXUnaryOperator_AddrOf: return address_value(l, lower_lvalue(l, c));
  case CXUnaryOperator_Deref: {
    IrOperand address = lower_decayed(l, c);
    if (cpp_is_object(type)) return address;
    return lower_load(l, address, type, lower_is_volatile(l, n));
  }
  case CXUnaryOperator_PostInc:
  case CXUnaryOperator_PostDec:
  case CXUnaryOperator_PreInc:
  case CXUnaryOperator_PreDec: return lower_increment(l, n, NULL, true);
  case CXUnaryOperator_LNot: {
    IrOperand truth = lower_truth(l, lower_value(l, c), ast_type(l, c));
    return lower_unary(l, IR_bnot, IR_TYPE_PRED, truth);
  }
  case CXUnaryOperator_Minus: return lower_unary(l, IR_neg, type->ir, lower_value(l, c));
  case CXUnaryOperator_Not: return lower_unary(l, IR_bnot, type->ir, lower_value(l, c));
  case CXUnaryOperator_Plus:
  case CXUnaryOperator_Extension: return lower_value(l, c);
  default: return unresolved(l, n, "an operator");
  }
}

IrOperand lower_binary_operator(Lower *l, AstNode *n) {
  ast_expand(l, n);
  if (n->nparts < 2) return unresolved(l, n, "an operator");
  CXBinaryOperatorKind kind = l->clang->getCursorBinaryOperatorKind(n->cursor);
  AstNode *a = n->parts[0], *b = n->parts[1];
  const CppType *type = ast_type(l, n);
  IrCompare compare;
  IrOp op;
  switch (kind) {
  case CXBinaryOperator_Assign: return lower_assign(l, n, NULL);
  case CXBinaryOperator_Comma: lower_effect(l, a); return lower_value(l, b);
  case CXBinaryOperator_LAnd: return logical(l, n, true);
  case CXBinaryOperator_LOr: return logical(l, n, false);
  default: break;
  }
  if (compare_op(kind, &compare)) return comparison(l, n, compare);
  if (!arithmetic_op(kind, &op)) return unresolved(l, n, "an operator");
  if ((op == IR_add || op == IR_sub) &&
      (ast_type(l, a)->kind == CPP_POINTER || ast_type(l, b)->kind == CPP_POINTER))
    return pointer_arithmetic(l, n, op == IR_sub);
  if (!cpp_is_scalar(type)) return unresolved(l, n, "an operator");
  IrOperand x = lower_value(l, a), y = lower_value(l, b);
  lower_here(l, n);
  return lower_binary(l, op, type->ir, x, y);
}

static IrOperand conditional_object(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  IrOperand address = lower_allocate(l, type, NULL);
  lower_init(l, address, type, n);
  return address;
}

IrOperand lower_conditional(Lower *l, AstNode *n) {
  AstNode *condition = ast_part(l, n, 0), *yes = ast_part(l, n, 1), *no = ast_part(l, n, 2);
  const CppType *type = ast_type(l, n);
  bool known;
  if (!no) return unresolved(l, n, "a conditional expression");
  if (lower_constant_condition(l, condition, &known)) return lower_value(l, known ? yes : no);
  if (cpp_is_object(type)) return conditional_object(l, n);
  IrType ir = type->is_bool ? IR_TYPE_PRED : type->ir;
  if (cpp_is_scalar(type) && ast_pure(l, yes) && ast_pure(l, no)) {
    IrOperand predicate = lower_truth(l, lower_value(l, condition), ast_type(l, condition));
    IrOperand a = lower_value_as(l, yes, type), b = lower_value_as(l, no, type);
    if (!type->is_bool) return lower_select(l, ir, a, b, predicate);
    const CppType *byte = cpp_scalar(l, CXType_UChar); /* select works on numbers */
    IrOperand picked = lower_select(l, byte->ir, lower_convert(l, a, type, byte),
                                    lower_convert(l, b, type, byte), predicate);
    return lower_truth(l, picked, byte);
  }
  int32_t otherwise = lower_label(l);
  switch (lower_sides(l, condition, otherwise)) {
  case LOWER_FIRST: return lower_value_as(l, yes, type);
  case LOWER_SECOND: return lower_value_as(l, no, type);
  case LOWER_BOTH: break;
  }
  int32_t result = cpp_is_scalar(type) ? lower_temp(l, ir) : -1, end = lower_label(l);
  IrOperand a = lower_value_as(l, yes, type);
  if (result >= 0) lower_move(l, result, ir, a);
  lower_jump(l, end);
  lower_close(l, otherwise);
  IrOperand b = lower_value_as(l, no, type);
  if (result >= 0) lower_move(l, result, ir, b);
  lower_close(l, end);
  if (result < 0) return ir_unknown();
  IrOperand value = ir_use(result);
  value.type = ir;
  return value;
}

/* ---- conditions ---- */

bool lower_constant_condition(Lower *l, AstNode *n, bool *value) {
  int64_t constant;
  if (!ast_constant(l, n, &constant)) return false;
  *value = constant != 0;
  return true;
}

LowerSides lower_sides(Lower *l, AstNode *condition, int32_t otherwise) {
  lower_condition(l, condition, otherwise, false);
  bool never = !lower_reachable(l), always = l->label_uses.items[otherwise] == 0;
  if (!never && !always) return LOWER_BOTH;
  lower_close(l, otherwise);
  return never && !always ? LOWER_SECOND : LOWER_FIRST;
}

void lower_condition(Lower *l, AstNode *n, int32_t label, bool want) {
  AstNode *c = ast_strip(l, n);
  bool known;
  if (lower_constant_condition(l, c, &known)) {
    if (known == want) lower_jump(l, label);
    return;
  }
  if (c->kind == CXCursor_UnaryOperator && c->nparts == 1 &&
      l->clang->getCursorUnaryOperatorKind(c->cursor) == CXUnaryOperator_LNot) {
    lower_condition(l, c->parts[0], label, !want);
    return;
  }
  CXBinaryOperatorKind kind = c->kind == CXCursor_BinaryOperator
                                  ? l->clang->getCursorBinaryOperatorKind(c->cursor)
                                  : CXBinaryOperator_Invalid;
  bool is_and = kind == CXBinaryOperator_LAnd;
  if ((is_and || kind == CXBinaryOperator_LOr) && c->nparts == 2 && !ast_pure(l, c->parts[1])) {
    if (is_and != want) { /* a false `&&` operand, a true `||` operand decides */
      lower_condition(l, c->parts[0], label, want);
      lower_condition(l, c->parts[1], label, want);
    } else {
      int32_t skip = lower_label(l);
      lower_condition(l, c->parts[0], skip, !want);
      lower_condition(l, c->parts[1], label, want);
      lower_close(l, skip);
    }
    return;
  }
  AstNode *before = lower_here(l, c);
  IrOperand predicate = lower_truth(l, lower_value(l, c), ast_type(l, c));
  lower_branch(l, predicate, label, want);
  l->here = before;
}
