/* Expressions that designate objects: where the object is. */
#include "cuda/lower_internal.h"

IrOperand lower_temporary(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  IrOperand address = lower_allocate(l, type, NULL);
  AstNode *outer = l->temporary;
  if (outer ==
      n) { /* its initialiser is its own value: an operator that clang has no function for */
    lower_forget(l, address, type);
    lower_havoc(l, lower_may_reach_event(l, n), "an expression of %s could not be lowered",
                cpp_name(l, type));
    return address;
  }
  l->temporary = n;
  lower_init(l, address, type, n);
  l->temporary = outer;
  return address;
}

bool lower_is_volatile(Lower *l, AstNode *n) {
  return l->clang->isVolatileQualifiedType(l->clang->getCursorType(n->cursor)) != 0;
}

/* ---- names ---- */

static IrOperand declared(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  switch (d.kind) {
  case CXCursor_FunctionDecl:
  case CXCursor_CXXMethod: return lower_function_address(l, d);
  case CXCursor_VarDecl:
  case CXCursor_ParmDecl:
  case CXCursor_UnexposedDecl: { /* structured bindings */
    const Binding *binding = lower_variable(l, d);
    if (binding) return binding_address(l, binding);
    int64_t constant;
    if (ast_type(l, n)->kind == CPP_INT && ast_constant(l, n, &constant))
      return lower_temporary(l, n);
    /* A tag, such as a specialisation of `template <int N> constexpr integral_constant<int, N>
     * c{}`: any object of a type without data is as good. */
    const CppType *type = ast_type(l, n);
    if (type->kind == CPP_RECORD && cpp_leaves(l, type) && type->leaves.count == 0)
      return lower_allocate(l, type, unit_name(l->unit, d));
    return lower_havoc(l, false, "the declaration of '%s' was not lowered", unit_name(l->unit, d));
  }
  case CXCursor_EnumConstantDecl: return lower_temporary(l, n);
  default: break;
  }
  if (cpp_is_scalar(ast_type(l, n))) return lower_temporary(l, n);
  AstNode *value = ast_last(l, n); /* a substituted template parameter of class type */
  if (value) return lower_lvalue(l, value);
  return lower_havoc(l, false, "a template argument object could not be read");
}

/* ---- members ---- */

static const CppType *owner_of(Lower *l, CXCursor member) {
  return cpp_cursor_type(l, l->clang->getCursorSemanticParent(member));
}

/* The first child of f<4>(), which names no object, is the template argument. */
AstNode *lower_named_object(Lower *l, AstNode *n) {
  AstNode *base = ast_part(l, n, 0);
  if (!base || n->kind != CXCursor_MemberRefExpr) return base;
  const CppType *type = cpp_referent(ast_type(l, base));
  return type->kind == CPP_INT || type->kind == CPP_FLOAT ? NULL : base;
}

IrOperand lower_object_of(Lower *l, AstNode *n, const CppType *owner) {
  AstNode *base = lower_named_object(l, n);
  IrOperand address;
  const CppType *type = NULL;
  if (!base) {
    if (!frame_self(l, &address, &type)) return lower_havoc(l, false, "no object for a member");
  } else {
    const CppType *t = ast_type(l, base);
    bool arrow = t->kind == CPP_POINTER;
    address = arrow ? lower_decayed(l, base) : lower_lvalue(l, base);
    type = arrow ? t->elem : t;
  }
  if (type && owner && type->kind == CPP_RECORD && owner->kind == CPP_RECORD) {
    int64_t offset = cpp_part_offset(l, type, owner);
    if (offset > 0) address = address_add(address, offset);
  }
  return address;
}

static IrOperand member(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  if (ast_is_null(d)) return lower_havoc(l, true, "a member access could not be resolved");
  if (d.kind == CXCursor_VarDecl) {
    const Binding *binding = lower_variable(l, d);
    return binding ? binding_address(l, binding) : ir_unknown();
  }
  if (d.kind == CXCursor_EnumConstantDecl) return lower_temporary(l, n);
  if (d.kind != CXCursor_FieldDecl) return lower_function_address(l, d);
  long long bits = l->clang->Cursor_getOffsetOfField(d);
  IrOperand object = lower_object_of(l, n, owner_of(l, d));
  if (bits < 0)
    return lower_havoc(l, false, "the offset of '%s' is not known", unit_name(l->unit, d));
  IrOperand address = address_add(object, bits / 8);
  const CppType *type = cpp_cursor_type(l, d);
  if (type->kind == CPP_REFERENCE) return address_of_value(l, lower_load(l, address, type, false));
  return address;
}

bool lower_bit_field(Lower *l, AstNode *n, CppField *field, IrOperand *record) {
  n = ast_strip(l, n);
  if (n->kind != CXCursor_MemberRefExpr) return false;
  CXCursor d = ast_reference(l, n);
  if (d.kind != CXCursor_FieldDecl || !l->clang->Cursor_isBitField(d)) return false;
  long long bits = l->clang->Cursor_getOffsetOfField(d);
  int width = l->clang->getFieldDeclBitWidth(d);
  if (bits < 0 || width <= 0) return false;
  *field = (CppField){
      .type = cpp_cursor_type(l, d), .decl = d, .bit_offset = (uint64_t)bits, .bit_width = width};
  *record = lower_object_of(l, n, owner_of(l, d));
  return true;
}

/* The unit of the field's type that holds it; `shift`: lowest bit in it. */
static IrOperand bit_unit(IrOperand record, const CppField *field, int *shift) {
  uint64_t bits = 8 * field->type->ir.bytes, unit = field->bit_offset / bits;
  *shift = (int)(field->bit_offset - unit * bits);
  return address_add(record, (int64_t)(unit * field->type->ir.bytes));
}

IrOperand lower_load_bits(Lower *l, IrOperand record, const CppField *field) {
  int shift;
  IrType type = field->type->ir;
  IrOperand value = lower_load(l, bit_unit(record, field, &shift), field->type, false);
  int bits = 8 * type.bytes, above = bits - shift - field->bit_width;
  if (type.cls == IR_CLASS_SINT) {
    value = lower_binary(l, IR_shl, type, value, ir_imm(MAX(above, 0)));
    return lower_binary(l, IR_shr, type, value, ir_imm(bits - field->bit_width));
  }
  value = lower_binary(l, IR_shr, type, value, ir_imm(shift));
  if (field->bit_width >= bits) return value;
  return lower_binary(l, IR_band, type, value,
                      lower_constant((INT64_C(1) << field->bit_width) - 1, type));
}

void lower_store_bits(Lower *l, IrOperand record, const CppField *field, IrOperand value) {
  int shift;
  IrType type = field->type->ir;
  IrOperand unit = bit_unit(record, field, &shift);
  if (field->bit_width >= 8 * type.bytes) {
    lower_store(l, unit, field->type, value, false);
    return;
  }
  int64_t mask = (INT64_C(1) << field->bit_width) - 1;
  IrOperand old = lower_load(l, unit, field->type, false);
  IrOperand kept = lower_binary(l, IR_band, type, old,
                                lower_constant(~(int64_t)((uint64_t)mask << shift), type));
  IrOperand fresh = lower_binary(l, IR_band, type, value, lower_constant(mask, type));
  fresh = lower_binary(l, IR_shl, type, fresh, ir_imm(shift));
  lower_store(l, unit, field->type, lower_binary(l, IR_bor, type, kept, fresh), false);
}

/* ---- pointers ---- */

IrOperand lower_decayed(Lower *l, AstNode *n) {
  n = ast_strip(l, n);
  if (n->kind == CXCursor_CXXThisExpr) {
    IrOperand self;
    const CppType *type;
    return frame_self(l, &self, &type) ? self : ir_unknown();
  }
  if (n->kind == CXCursor_UnexposedExpr && n->nparts == 1 &&
      ast_type(l, n->parts[0])->kind == CPP_ARRAY)
    return lower_lvalue(l, n->parts[0]);
  if (n->kind == CXCursor_UnaryOperator && n->nparts == 1 &&
      l->clang->getCursorUnaryOperatorKind(n->cursor) == CXUnaryOperator_AddrOf)
    return lower_lvalue(l, n->parts[0]);
  return address_of_value(l, lower_value(l, n));
}

static IrOperand subscript(Lower *l, AstNode *n) {
  AstNode *base = ast_part(l, n, 0), *index = ast_part(l, n, 1);
  if (!base || !index) return lower_havoc(l, true, "a subscript could not be resolved");
  if (ast_type(l, base)->kind == CPP_INT) { /* 2[a] */
    AstNode *swap = base;
    base = index;
    index = swap;
  }
  const CppType *type = ast_type(l, base);
  IrOperand address = type->kind == CPP_ARRAY ? lower_lvalue(l, base) : lower_decayed(l, base);
  uint64_t size = ast_type(l, n)->bytes;
  if (size == 0 && type->elem) size = type->elem->bytes;
  return address_index(l, address, lower_value(l, index), ast_type(l, index), size);
}

/* ---- casts ---- */

bool lower_is_reference_cast(Lower *l, AstNode *n) {
  if (n->kind != CXCursor_CXXReinterpretCastExpr && n->kind != CXCursor_CStyleCastExpr &&
      n->kind != CXCursor_CXXStaticCastExpr && n->kind != CXCursor_CXXConstCastExpr)
    return false;
  AstNode *c = ast_last(l, n);
  while (c && c->kind == CXCursor_ParenExpr)
    c = ast_last(l, c);
  if (!c || cpp_is_object(ast_type(l, n)) != cpp_is_object(ast_type(l, c)))
    return c && n->kind == CXCursor_CXXReinterpretCastExpr;
  switch (c->kind) { /* a value would have been read by an implicit conversion in between */
  case CXCursor_DeclRefExpr: {
    CXCursor d = ast_reference(l, c);
    return d.kind == CXCursor_VarDecl || d.kind == CXCursor_ParmDecl;
  }
  case CXCursor_MemberRefExpr: return ast_reference(l, c).kind == CXCursor_FieldDecl;
  case CXCursor_ArraySubscriptExpr: return true;
  case CXCursor_UnaryOperator:
    return l->clang->getCursorUnaryOperatorKind(c->cursor) == CXUnaryOperator_Deref;
  case CXCursor_CallExpr: return ast_returns_reference(l, c);
  default: return false;
  }
}

static IrOperand cast_lvalue(Lower *l, AstNode *n) {
  AstNode *c = ast_last(l, n);
  const CppType *type = ast_type(l, n);
  if (!c) return lower_temporary(l, n);
  const CppType *from = ast_type(l, c);
  if (type->kind == CPP_RECORD && from->kind == CPP_RECORD) {
    int64_t up = cpp_base_offset(l, from, type);
    if (up >= 0) return address_add(lower_lvalue(l, c), up);
    int64_t down = cpp_base_offset(l, type, from);
    if (down >= 0) return address_add(lower_lvalue(l, c), -down);
    return lower_is_reference_cast(l, n) ? lower_lvalue(l, c) : lower_temporary(l, n);
  }
  if (lower_is_reference_cast(l, n)) return lower_lvalue(l, c);
  if (type->kind == CPP_RECORD ||
      (cpp_is_scalar(type) && (type->kind != from->kind || type->ir.bytes != from->ir.bytes)))
    return lower_temporary(l, n);
  return lower_lvalue(l, c);
}

/* ---- other expressions ---- */

static IrOperand conditional_lvalue(Lower *l, AstNode *n) {
  AstNode *condition = ast_part(l, n, 0), *yes = ast_part(l, n, 1), *no = ast_part(l, n, 2);
  bool known;
  if (!no) return lower_temporary(l, n);
  if (lower_constant_condition(l, condition, &known)) return lower_lvalue(l, known ? yes : no);
  int32_t otherwise = lower_label(l);
  LowerSides sides = lower_sides(l, condition, otherwise);
  if (sides != LOWER_BOTH) return lower_lvalue(l, sides == LOWER_FIRST ? yes : no);
  int32_t result = lower_temp(l, IR_TYPE_U(8)), end = lower_label(l);
  lower_move(l, result, IR_TYPE_U(8), address_value(l, lower_lvalue(l, yes)));
  lower_jump(l, end);
  lower_close(l, otherwise);
  lower_move(l, result, IR_TYPE_U(8), address_value(l, lower_lvalue(l, no)));
  lower_close(l, end);
  return ir_use(result);
}

static IrOperand call_lvalue(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  bool by_reference = ast_returns_reference(l, n);
  if (by_reference || cpp_is_object(type)) return lower_call(l, n);
  IrOperand value = lower_call(l, n);
  IrOperand address = lower_allocate(l, type, NULL);
  lower_store_last(l, address, type, value, false);
  return address;
}

static IrOperand unary_lvalue(Lower *l, AstNode *n) {
  AstNode *c = ast_part(l, n, 0);
  if (!c) return lower_temporary(l, n);
  switch (l->clang->getCursorUnaryOperatorKind(n->cursor)) {
  case CXUnaryOperator_Deref: return lower_decayed(l, c);
  case CXUnaryOperator_PreInc:
  case CXUnaryOperator_PreDec: {
    IrOperand address;
    lower_increment(l, n, &address, false);
    return address;
  }
  case CXUnaryOperator_Extension: return lower_lvalue(l, c);
  default: return lower_temporary(l, n);
  }
}

static IrOperand binary_lvalue(Lower *l, AstNode *n) {
  AstNode *a = ast_part(l, n, 0), *b = ast_part(l, n, 1);
  if (!a || !b) return lower_temporary(l, n);
  switch (l->clang->getCursorBinaryOperatorKind(n->cursor)) {
  case CXBinaryOperator_Comma: lower_effect(l, a); return lower_lvalue(l, b);
  case CXBinaryOperator_Assign: {
    IrOperand address;
    lower_assign(l, n, &address);
    return address;
  }
  default: return lower_temporary(l, n);
  }
}

static IrOperand statement_lvalue(Lower *l, AstNode *n) { /* ({ ... x; }) */
  AstNode *body = ast_last(l, n);
  AstNode *last = body ? ast_last(l, body) : NULL;
  if (!last || !ast_is_expression(last)) return lower_temporary(l, n);
  for (int i = 0; i + 1 < body->nparts; i++)
    lower_statement(l, body->parts[i]);
  return lower_lvalue(l, last);
}

static IrOperand lvalue(Lower *l, AstNode *n) {
  ast_expand(l, n);
  switch (n->kind) {
  case CXCursor_ParenExpr: return n->nparts ? lower_lvalue(l, n->parts[0]) : ir_unknown();
  case CXCursor_DeclRefExpr: return declared(l, n);
  case CXCursor_MemberRefExpr: return member(l, n);
  case CXCursor_ArraySubscriptExpr: return subscript(l, n);
  case CXCursor_UnaryOperator: return unary_lvalue(l, n);
  case CXCursor_BinaryOperator: return binary_lvalue(l, n);
  case CXCursor_CompoundAssignOperator: {
    IrOperand address;
    lower_compound_assign(l, n, &address);
    return address;
  }
  case CXCursor_ConditionalOperator: return conditional_lvalue(l, n);
  case CXCursor_CallExpr: return call_lvalue(l, n);
  case CXCursor_StmtExpr: return statement_lvalue(l, n);
  case CXCursor_StringLiteral: return ir_imm((int64_t)IR_STRING_BASE);
  case CXCursor_BuiltinBitCastExpr:
    return n->nparts ? lower_lvalue(l, n->parts[n->nparts - 1]) : ir_unknown();
  default:
    if (n->kind == CXCursor_UnexposedExpr || ast_is_cast(n->kind)) return cast_lvalue(l, n);
    return lower_temporary(l, n);
  }
}

IrOperand lower_lvalue(Lower *l, AstNode *n) {
  AstNode *before = lower_here(l, n);
  IrOperand address = lvalue(l, n);
  l->here = before;
  return address;
}
