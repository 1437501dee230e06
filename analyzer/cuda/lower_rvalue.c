/* Expressions that compute values. */
#include "cuda/lower_internal.h"

#include <string.h>

static IrOperand constant_of(Lower *l, AstNode *n) {
  int64_t value;
  const CppType *type = ast_type(l, n);
  if (ast_constant(l, n, &value)) return lower_constant(value, type->ir);
  IrOperand unknown = ir_unknown();
  unknown.type = type->ir;
  return unknown;
}

static IrOperand unresolved(Lower *l, AstNode *n, const char *what) {
  bool hides = lower_may_reach_event(l, n);
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) lower_effect(l, n->parts[i]);
  return lower_havoc(l, hides, "%s could not be lowered", what);
}

/* ---- names and members ---- */

static IrOperand load_binding(Lower *l, AstNode *n, const Binding *binding) {
  if (binding->address.kind == IR_OPD_NONE) return binding->value;
  if (cpp_is_object(binding->type)) return address_value(l, binding->address);
  return lower_load(l, binding->address, binding->type, lower_is_volatile(l, n));
}

static IrOperand name(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  const CppType *type = ast_type(l, n);
  int64_t value;
  switch (d.kind) {
  case CXCursor_EnumConstantDecl:
    return lower_constant(l->clang->getEnumConstantDeclValue(d), type->ir);
  case CXCursor_FunctionDecl:
  case CXCursor_CXXMethod: return lower_function_address(l, d);
  case CXCursor_VarDecl:
  case CXCursor_ParmDecl:
  case CXCursor_UnexposedDecl: {
    const Binding *binding = lower_variable(l, d);
    if (binding) return load_binding(l, n, binding);
    /* a specialisation of a variable template */
    if (type->kind == CPP_INT && ast_constant(l, n, &value)) return lower_constant(value, type->ir);
    return lower_havoc(l, false, "the declaration of '%s' was not lowered", unit_name(l->unit, d));
  }
  default: break;
  }
  if (ast_constant(l, n, &value)) return lower_constant(value, type->ir);
  AstNode *inner = ast_last(l, n); /* a substituted template parameter */
  if (inner) return lower_value(l, inner);
  if (cpp_is_object(type)) return address_value(l, lower_lvalue(l, n));
  l->kernel->lacks_arguments |= l->kernel->is_pattern;
  const char *spelling = ast_is_null(d) ? "" : unit_name(l->unit, d);
  return lower_havoc(l, false, "the value of '%s' is not known", *spelling ? spelling : "a name");
}

static IrOperand member_value(Lower *l, AstNode *n) {
  IrOperand special;
  if (lower_special(l, n, &special)) return special;
  CXCursor d = ast_reference(l, n);
  const CppType *type = ast_type(l, n);
  if (d.kind == CXCursor_EnumConstantDecl)
    return lower_constant(l->clang->getEnumConstantDeclValue(d), type->ir);
  if (d.kind == CXCursor_VarDecl) {
    const Binding *binding = lower_variable(l, d);
    if (binding) return load_binding(l, n, binding);
  }
  if (lower_device_property(l, d, type, &special)) return special;
  CppField field;
  IrOperand record;
  if (lower_bit_field(l, n, &field, &record)) return lower_load_bits(l, record, &field);
  IrOperand address = lower_lvalue(l, n);
  if (d.kind == CXCursor_CXXMethod || d.kind == CXCursor_FunctionDecl) return address;
  if (cpp_is_object(type)) return address_value(l, address);
  return lower_load(l, address, type, lower_is_volatile(l, n));
}

static IrOperand loaded(Lower *l, AstNode *n, IrOperand address) {
  const CppType *type = ast_type(l, n);
  if (cpp_is_object(type)) return address_value(l, address);
  if (!cpp_is_scalar(type)) return ir_unknown();
  return lower_load(l, address, type, lower_is_volatile(l, n));
}

/* ---- casts ---- */

#define SHARED_ADDRESS_SPACE 3 /* of LLVM's NVPTX target */

static unsigned pointee_space(Lower *l, AstNode *n) {
  CXType type = l->clang->getCanonicalType(l->clang->getCursorType(n->cursor));
  if (type.kind != CXType_Pointer) return 0;
  return l->clang->getAddressSpace(l->clang->getPointeeType(type));
}

static IrOperand pointer_cast(Lower *l, AstNode *n, AstNode *c) {
  const CppType *to = ast_type(l, n)->elem, *from = ast_type(l, c)->elem;
  IrOperand address = lower_decayed(l, c);
  if (n->kind != CXCursor_CXXReinterpretCastExpr && to && from && to->kind == CPP_RECORD &&
      from->kind == CPP_RECORD && !cpp_same(to, from)) {
    int64_t up = cpp_base_offset(l, from, to), down = cpp_base_offset(l, to, from);
    if (up > 0) address = address_add(address, up);
    if (up < 0 && down > 0) address = address_add(address, -down);
  }
  if (pointee_space(l, n) == SHARED_ADDRESS_SPACE && pointee_space(l, c) != SHARED_ADDRESS_SPACE) {
    IrOperand args[] = {ir_use(lower_temp(l, IR_TYPE_U(8))), address_value(l, address)};
    IrInsn *insn = lower_emit(l, IR_cvta, IR_TYPE_U(8), args, 2);
    insn->space = IR_SPACE_SHARED;
    insn->sub = 1;
    return args[0];
  }
  return address_value(l, address);
}

/* `a ?: b`: children are the common operand, the condition, the result, the alternative. */
static IrOperand elvis(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  IrOperand value = lower_value_as(l, n->parts[0], type);
  if (!cpp_is_number(type)) return unresolved(l, n->parts[3], "a conditional expression");
  int32_t result = lower_temp(l, type->ir), end = lower_label(l);
  lower_move(l, result, type->ir, value);
  lower_branch(l, lower_truth(l, value, type), end, true);
  lower_move(l, result, type->ir, lower_value_as(l, n->parts[3], type));
  lower_close(l, end);
  return ir_use(result);
}

static IrOperand empty_cast(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  int64_t value;
  if (ast_constant(l, n, &value)) return lower_constant(value, type->ir);
  if (type->kind == CPP_VOID) return ir_unknown();
  if (ast_is_cast(n->kind) && cpp_is_scalar(type)) return lower_constant(0, type->ir); /* T() */
  if (cpp_is_object(type)) return address_value(l, lower_temporary(l, n));
  if (type->kind == CPP_POINTER) return lower_constant(0, type->ir);
  const char *text = unit_text(l->unit, unit_cursor_range(l->unit, n->cursor));
  return lower_havoc(l, !text || strchr(text, '(') != NULL, "'%s' could not be resolved",
                     text ? text : "an expression");
}

IrOperand lower_cast(Lower *l, AstNode *n) {
  AstNode *c = ast_last(l, n);
  const CppType *to = ast_type(l, n);
  int64_t value;
  if (!c || !ast_is_expression(c)) return empty_cast(l, n);
  if (n->kind == CXCursor_UnexposedExpr && n->nparts == 4) return elvis(l, n);
  const CppType *from = ast_type(l, c);
  if (to->kind == CPP_VOID) {
    lower_effect(l, c);
    return ir_unknown();
  }
  if (to->kind == CPP_OTHER && lower_is_unresolved_call(l, n)) return lower_unresolved_call(l, n);
  if (lower_is_reference_cast(l, n)) return loaded(l, n, lower_lvalue(l, n));
  if (c->kind == CXCursor_InitListExpr && cpp_is_scalar(to)) return lower_value_as(l, c, to);
  if (from->kind == CPP_ARRAY && to->kind == CPP_POINTER)
    return address_value(l, lower_lvalue(l, c));
  if (cpp_is_object(to)) {
    if (cpp_is_object(from)) return address_value(l, lower_lvalue(l, n));
    return address_value(l, lower_temporary(l, n));
  }
  if (cpp_is_object(from) && cpp_is_scalar(to)) {
    lower_effect(l, c);
    return lower_havoc(l, false, "a conversion from %s could not be lowered", cpp_name(l, from));
  }
  if (from->kind == CPP_FLOAT && to->kind == CPP_INT && ast_constant(l, n, &value))
    return lower_constant(value, to->ir);
  if (to->kind == CPP_POINTER && from->kind == CPP_POINTER) return pointer_cast(l, n, c);
  return lower_convert(l, lower_value(l, c), from, to);
}

/* ---- calls and objects made ---- */

static IrOperand call_value(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  int64_t value;
  if (ast_constant(l, n, &value)) return lower_constant(value, type->ir);
  bool by_reference = ast_returns_reference(l, n);
  IrOperand result = lower_call(l, n);
  if (by_reference && cpp_is_scalar(type))
    return lower_load(l, result, type, lower_is_volatile(l, n));
  if (by_reference || cpp_is_object(type)) return address_value(l, result);
  result.type = type->ir;
  return result;
}

/* `new (place) T(...)`; anything else allocates and is not modelled. */
static IrOperand new_value(Lower *l, AstNode *n) {
  const CppType *made = ast_type(l, n)->elem;
  AstNode *place = n->nparts > 0 ? n->parts[0] : NULL, *init = n->nparts > 1 ? n->parts[1] : NULL;
  if (place && ast_type(l, place)->kind == CPP_POINTER && made &&
      (init || made->kind != CPP_POINTER)) {
    IrOperand address = address_pin(l, lower_decayed(l, place));
    if (init && ast_is_expression(init)) lower_init(l, address, made, init);
    return address_value(l, address);
  }
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) lower_effect(l, n->parts[i]);
  lower_event(l, IR_EV_extern_call, NULL, 0, 0)->text = "operator new";
  return lower_havoc(l, false, "memory from new is not modelled");
}

static IrOperand statement_value(Lower *l, AstNode *n) { /* ({ ...; x; }) */
  AstNode *body = ast_last(l, n);
  if (!body) return ir_unknown();
  ast_expand(l, body);
  for (int i = 0; i < body->nparts; i++) {
    if (i + 1 == body->nparts && ast_is_expression(body->parts[i]))
      return lower_value(l, body->parts[i]);
    lower_statement(l, body->parts[i]);
  }
  return ir_unknown();
}

static IrOperand list_value(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  if (cpp_is_scalar(type))
    return n->nparts ? lower_value_as(l, n->parts[0], type) : lower_constant(0, type->ir);
  if (!cpp_is_object(type)) return unresolved(l, n, "an initialiser list"); /* dependent type */
  return address_value(l, lower_temporary(l, n));
}

static IrOperand other_value(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  int64_t value;
  if (ast_constant(l, n, &value)) return lower_constant(value, type->ir);
  return unresolved(l, n, "an expression");
}

static IrOperand value_of(Lower *l, AstNode *n) {
  ast_expand(l, n);
  switch (n->kind) {
  case CXCursor_IntegerLiteral:
  case CXCursor_CXXBoolLiteralExpr:
  case CXCursor_CharacterLiteral:
  case CXCursor_UnaryExpr:
  case CXCursor_SizeOfPackExpr: return constant_of(l, n);
  case CXCursor_FloatingLiteral: return constant_of(l, n);
  case CXCursor_CXXNullPtrLiteralExpr:
  case CXCursor_GNUNullExpr: return lower_constant(0, IR_TYPE_U(8));
  case CXCursor_ParenExpr: return n->nparts ? lower_value(l, n->parts[0]) : ir_unknown();
  case CXCursor_DeclRefExpr: return name(l, n);
  case CXCursor_MemberRefExpr: return member_value(l, n);
  case CXCursor_ArraySubscriptExpr: return loaded(l, n, lower_lvalue(l, n));
  case CXCursor_UnaryOperator: return lower_unary_operator(l, n);
  case CXCursor_BinaryOperator: return lower_binary_operator(l, n);
  case CXCursor_CompoundAssignOperator:
    return n->nparts > 1 ? lower_compound_assign(l, n, NULL) : ir_unknown();
  case CXCursor_ConditionalOperator: return lower_conditional(l, n);
  case CXCursor_CallExpr: return call_value(l, n);
  case CXCursor_CXXThisExpr: return address_value(l, lower_decayed(l, n));
  case CXCursor_LambdaExpr: return address_value(l, lower_lambda(l, n, (IrOperand){0}));
  case CXCursor_InitListExpr:
  case CXCursor_CXXParenListInitExpr: return list_value(l, n);
  case CXCursor_CompoundLiteralExpr: return loaded(l, n, lower_temporary(l, n));
  case CXCursor_StringLiteral: return lower_constant((int64_t)IR_STRING_BASE, IR_TYPE_U(8));
  case CXCursor_CXXNewExpr: return new_value(l, n);
  case CXCursor_StmtExpr: return statement_value(l, n);
  case CXCursor_BuiltinBitCastExpr: return loaded(l, n, lower_lvalue(l, n));
  case CXCursor_CXXThrowExpr: lower_emit(l, IR_trap, IR_TYPE_NONE, NULL, 0); return ir_unknown();
  default:
    if (n->kind == CXCursor_UnexposedExpr || ast_is_cast(n->kind)) return lower_cast(l, n);
    return other_value(l, n);
  }
}

IrOperand lower_value(Lower *l, AstNode *n) {
  AstNode *before = lower_here(l, n);
  IrOperand value = value_of(l, n);
  l->here = before;
  return value;
}

void lower_effect(Lower *l, AstNode *n) {
  AstNode *stripped = ast_strip(l, n);
  AstNode *before = lower_here(l, stripped);
  if (stripped->kind == CXCursor_UnaryOperator && stripped->nparts == 1) {
    CXUnaryOperatorKind op = l->clang->getCursorUnaryOperatorKind(stripped->cursor);
    if (op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec) {
      lower_increment(l, stripped, NULL, false);
      l->here = before;
      return;
    }
  }
  if (cpp_is_object(ast_type(l, stripped)) && stripped->kind != CXCursor_BinaryOperator)
    lower_lvalue(l, stripped);
  else
    lower_value(l, stripped);
  l->here = before;
}
