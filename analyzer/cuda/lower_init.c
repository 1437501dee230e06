/* Initialisers, constructors and destructors. */
#include "cuda/lower_internal.h"

/* The elements of an initialiser list that are still to be placed. */
typedef struct {
  AstNode **items;
  int count, at;
} InitList;

static void fill(Lower *l, IrOperand address, const CppType *type, InitList *list);

static bool is_list(CXCursorKind kind) {
  return kind == CXCursor_InitListExpr || kind == CXCursor_CXXParenListInitExpr;
}

/* ---- members without an initialiser of their own ---- */

static int array_dimensions(const CppType *type) {
  int count = 0;
  for (; type->kind == CPP_ARRAY; type = type->elem)
    count++;
  return count;
}

/* The `= value` of a member's declaration, or NULL. */
static AstNode *find_initializer(Lower *l, const CppField *field) {
  AstNode *n = ast_node(l, field->decl), *last = NULL;
  ast_expand(l, n);
  int expressions = 0;
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) {
      expressions++;
      last = n->parts[i];
    }
  int others = array_dimensions(field->type) + (field->bit_width > 0 ? 1 : 0);
  if (is_list(last ? last->kind : 0)) return last;
  return expressions > others ? last : NULL;
}

static AstNode *member_initializer(Lower *l, const CppField *field) {
  CppField *f = (CppField *)field;
  if (f->is_base) return NULL;
  if (!f->init_known) {
    f->init_known = true;
    f->init = find_initializer(l, f);
  }
  return f->init;
}

/* Runs inside the object: a member's initialiser may name other members. */
static void default_member(Lower *l, IrOperand record, const CppType *type, const CppField *field,
                           bool zero) {
  IrOperand address = address_add(record, (int64_t)field->offset);
  AstNode *init = member_initializer(l, field);
  if (!init) {
    if (field->bit_width == 0) lower_default_init(l, address, field->type, zero);
    return; /* bit-fields were zeroed with the record */
  }
  Frame *frame = frame_new(l, l->frame, l->frame->callee);
  frame->call = l->frame->call;
  frame->caller = l->frame->caller;
  int closures = l->closures.count;
  frame->has_self = true;
  frame->self = record;
  frame->self_type = type;
  Frame *outer = l->frame;
  l->frame = frame;
  if (field->bit_width > 0)
    lower_store_bits(l, record, field, lower_value_as(l, init, field->type));
  else
    lower_init(l, address, field->type, init);
  l->frame = outer;
  frame_done(l, frame, closures);
}

/* Bit-fields share words: what is not written must not make the written ones unknown. */
static void zero_bit_fields(Lower *l, IrOperand address, const CppType *type) {
  if (cpp_has_bit_fields(l, type)) lower_zero(l, address, type);
}

/* Whether a record, or one within it, has bit-fields. */
static bool holds_bit_fields(Lower *l, const CppType *type) {
  if (cpp_has_bit_fields(l, type)) return true;
  if (type->kind != CPP_RECORD) return false;
  for (int i = 0; i < type->fields.count; i++)
    if (holds_bit_fields(l, type->fields.items[i].type)) return true;
  return false;
}

/* The first member with an initialiser of its own (a union has one at most), or NULL. */
static const CppField *initialised_member(Lower *l, const CppType *type) {
  for (int i = 0; i < type->fields.count; i++)
    if (member_initializer(l, &type->fields.items[i])) return &type->fields.items[i];
  return NULL;
}

static void default_record(Lower *l, IrOperand address, const CppType *type, bool zero) {
  CXCursor constructor = cpp_special_member(l, type, CXCursor_Constructor);
  if (!ast_is_null(constructor) && !l->clang->CXXMethod_isDefaulted(constructor) &&
      callee_has_body(l, callee_of(l, constructor))) {
    lower_construct(l, address, type, constructor, NULL, 0, NULL);
    return;
  }
  cpp_fields(l, type);
  const CppField *first = zero || type->is_union ? initialised_member(l, type) : NULL;
  if (zero && !first) {
    lower_zero(l, address, type);
    return;
  }
  if (type->is_union) { /* without an initialiser the first member is that is written to */
    if (holds_bit_fields(l, type)) lower_zero(l, address, type);
    if (first) default_member(l, address, type, first, zero);
    return;
  }
  zero_bit_fields(l, address, type);
  for (int i = 0; i < type->fields.count; i++)
    default_member(l, address, type, &type->fields.items[i], zero);
}

void lower_default_init(Lower *l, IrOperand address, const CppType *type, bool zero) {
  if (type->kind == CPP_RECORD) {
    default_record(l, address, type, zero);
  } else if (type->kind == CPP_ARRAY && type->elem->kind == CPP_RECORD) {
    const CppType *elem = type->elem;
    if (cpp_leaves(l, type) || type->count <= 64) {
      for (int64_t i = 0; i < type->count; i++)
        lower_default_init(l, address_add(address, i * (int64_t)elem->bytes), elem, zero);
    } else if (zero) {
      lower_zero(l, address, type);
    }
  } else if (zero) {
    lower_zero(l, address, type);
  }
}

/* ---- lists ---- */

static bool takes_whole(Lower *l, const CppType *type, AstNode *n) {
  if (!cpp_is_object(type) || is_list(n->kind) || n->kind == CXCursor_StringLiteral) return true;
  const CppType *given = ast_type(l, n);
  if (type->kind == CPP_RECORD && given->kind == CPP_INT)
    return !ast_is_null(cpp_converting_constructor(l, type));
  return cpp_is_object(given) && (cpp_same(given, type) || given->kind == type->kind);
}

static void fill_one(Lower *l, IrOperand address, const CppType *type, InitList *list) {
  AstNode *n = list->items[list->at];
  if (takes_whole(l, type, n)) {
    list->at++;
    lower_init(l, address, type, n);
  } else {
    fill(l, address, type, list); /* braces left out */
  }
}

static void fill_array(Lower *l, IrOperand address, const CppType *type, InitList *list) {
  const CppType *elem = type->elem;
  int64_t i = 0;
  for (; i < type->count && list->at < list->count; i++)
    fill_one(l, address_add(address, i * (int64_t)elem->bytes), elem, list);
  int64_t rest = type->count - i;
  if (rest <= 0) return;
  IrOperand from = address_add(address, i * (int64_t)elem->bytes);
  if (elem->kind != CPP_RECORD && rest > 64) {
    IrOperand args[] = {from, ir_imm(rest * (int64_t)elem->bytes), ir_imm(0)};
    lower_emit(l, IR_fill, IR_TYPE_NONE, args, 3);
    return;
  }
  for (int64_t j = 0; j < rest; j++)
    lower_default_init(l, address_add(from, j * (int64_t)elem->bytes), elem, true);
}

/* `.member = value`: the member it names, NULL for a plain element. */
static const void *designated(Lower *l, AstNode *n) {
  if (n->kind != CXCursor_UnexposedExpr) return NULL;
  ast_expand(l, n);
  if (n->nkids < 2 || n->kids[0]->kind != CXCursor_MemberRef) return NULL;
  return ast_key(ast_reference(l, n->kids[0]));
}

static void fill_member(Lower *l, IrOperand record, const CppType *type, const CppField *field,
                        InitList *list) {
  IrOperand address = address_add(record, (int64_t)field->offset);
  if (list->at >= list->count) {
    default_member(l, record, type, field, true);
    return;
  }
  AstNode *n = list->items[list->at];
  const void *named = designated(l, n);
  if (named && named != field->key) {
    default_member(l, record, type, field, true);
    return;
  }
  if (named) n = n->kids[n->nkids - 1];
  if (field->bit_width > 0) {
    list->at++;
    lower_store_bits(l, record, field, lower_value_as(l, n, field->type));
  } else if (named) {
    list->at++;
    lower_init(l, address, field->type, n);
  } else {
    fill_one(l, address, field->type, list);
  }
}

static void fill_union(Lower *l, IrOperand record, const CppType *type, InitList *list) {
  lower_zero(l, record, type);
  const void *named = list->at < list->count ? designated(l, list->items[list->at]) : NULL;
  for (int i = 0; i < type->fields.count && list->at < list->count; i++) {
    if (named && type->fields.items[i].key != named) continue;
    fill_member(l, record, type, &type->fields.items[i], list);
    return;
  }
  const CppField *own = initialised_member(l, type);
  if (own) default_member(l, record, type, own, false);
}

static void fill(Lower *l, IrOperand address, const CppType *type, InitList *list) {
  if (type->kind == CPP_ARRAY) {
    fill_array(l, address, type, list);
  } else if (type->kind == CPP_RECORD) {
    int before = list->at;
    cpp_fields(l, type);
    if (type->is_union) {
      fill_union(l, address, type, list);
      return;
    }
    zero_bit_fields(l, address, type);
    for (int i = 0; i < type->fields.count; i++)
      fill_member(l, address, type, &type->fields.items[i], list);
    if (list->at == before && list->at < list->count && type->fields.count == 0)
      list->at++; /* an empty record still takes its element */
  } else if (list->at < list->count) {
    lower_init(l, address, type, list->items[list->at++]);
  } else {
    lower_zero(l, address, type);
  }
}

/* ---- any initialiser ---- */

static bool is_constructor_call(Lower *l, AstNode *n) {
  return n->kind == CXCursor_CallExpr && ast_reference(l, n).kind == CXCursor_Constructor;
}

static void init_by_constructor(Lower *l, IrOperand address, const CppType *type, AstNode *n) {
  int nargs = ast_arguments(l, n);
  if (type->kind == CPP_ARRAY) {
    const CppType *elem = type->elem;
    for (int64_t i = 0; i < type->count; i++)
      init_by_constructor(l, address_add(address, i * (int64_t)elem->bytes), elem, n);
    return;
  }
  lower_construct(l, address, type, ast_reference(l, n), n->arguments, nargs, n);
}

static void init_conditional(Lower *l, IrOperand address, const CppType *type, AstNode *n) {
  bool known;
  if (lower_constant_condition(l, n->parts[0], &known)) {
    lower_init(l, address, type, n->parts[known ? 1 : 2]);
    return;
  }
  int32_t otherwise = lower_label(l);
  LowerSides sides = lower_sides(l, n->parts[0], otherwise);
  if (sides != LOWER_BOTH) {
    lower_init(l, address, type, n->parts[sides == LOWER_FIRST ? 1 : 2]);
    return;
  }
  int32_t end = lower_label(l);
  lower_init(l, address, type, n->parts[1]);
  lower_jump(l, end);
  lower_close(l, otherwise);
  lower_init(l, address, type, n->parts[2]);
  lower_close(l, end);
}

static AstNode *strip_object(Lower *l, const CppType *type, AstNode *n) {
  for (;;) {
    ast_expand(l, n);
    AstNode *copied = ast_copied(l, n);
    if (copied) {
      n = copied;
      continue;
    }
    bool wrapper = n->kind == CXCursor_ParenExpr ||
                   (n->kind == CXCursor_UnexposedExpr && cpp_same(ast_type(l, n), type));
    if (!wrapper || n->nparts != 1) return n;
    n = n->parts[0];
  }
}

/* A number where a record is wanted: the constructor is not in the tree. */
static bool init_from_number(Lower *l, IrOperand address, const CppType *type, AstNode *n) {
  if (type->kind != CPP_RECORD || ast_type(l, n)->kind != CPP_INT) return false;
  CXCursor constructor = cpp_converting_constructor(l, type);
  if (ast_is_null(constructor)) return false;
  lower_construct(l, address, type, constructor, &n, 1, n);
  return true;
}

static void init_object(Lower *l, IrOperand address, const CppType *type, AstNode *n) {
  n = strip_object(l, type, n);
  if (is_list(n->kind)) {
    InitList list = {n->parts, n->nparts, 0};
    if (list.count == 1 && cpp_same(ast_type(l, list.items[0]), type) && type->kind == CPP_RECORD &&
        !designated(l, list.items[0]))
      lower_init(l, address, type, list.items[0]); /* T{other_t} */
    else
      fill(l, address, type, &list);
    return;
  }
  if (is_constructor_call(l, n)) {
    init_by_constructor(l, address, type, n);
    return;
  }
  if (n->kind == CXCursor_LambdaExpr) {
    lower_lambda(l, n, address);
    return;
  }
  if (n->kind == CXCursor_ConditionalOperator && n->nparts == 3) {
    init_conditional(l, address, type, n);
    return;
  }
  if (n->kind == CXCursor_StringLiteral || init_from_number(l, address, type, n)) return;
  if (type->kind == CPP_ARRAY && n->kind == CXCursor_UnexposedExpr && n->nparts > 1 &&
      cpp_same(ast_type(l, n->parts[0]), type)) { /* element by element, from the first child */
    lower_copy(l, address, lower_lvalue(l, n->parts[0]), type);
    return;
  }
  AstNode *inner = ast_last(l, n);
  bool cast = ast_is_cast(n->kind) || n->kind == CXCursor_UnexposedExpr ||
              n->kind == CXCursor_CompoundLiteralExpr;
  if (cast && !inner) {
    lower_default_init(l, address, type, true);
    return;
  }
  bool makes = inner && (is_list(inner->kind) || is_constructor_call(l, inner) ||
                         inner->kind == CXCursor_LambdaExpr || inner->kind == CXCursor_CallExpr ||
                         inner->kind == CXCursor_UnexposedExpr);
  if (cast && inner && (makes || type->kind == CPP_ARRAY) &&
      (cpp_same(ast_type(l, inner), type) || !cpp_is_object(ast_type(l, inner)))) {
    if (cpp_is_object(ast_type(l, inner)) || is_list(inner->kind))
      init_object(l, address, type, inner);
    else
      lower_havoc(l, false, "a conversion to %s could not be lowered", cpp_name(l, type));
    return;
  }
  if (cpp_is_object(ast_type(l, n)) &&
      (n->kind == CXCursor_DeclRefExpr || n->kind == CXCursor_MemberRefExpr ||
       n->kind == CXCursor_ArraySubscriptExpr || n->kind == CXCursor_UnaryOperator ||
       n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_CallExpr ||
       n->kind == CXCursor_StmtExpr || n->kind == CXCursor_BuiltinBitCastExpr ||
       (cast && inner && cpp_is_object(ast_type(l, inner))))) {
    lower_copy(l, address, lower_lvalue(l, n), type);
    return;
  }
  bool hides = lower_may_reach_event(l, n);
  lower_havoc(l, hides, "an initialiser of %s could not be lowered", cpp_name(l, type));
}

void lower_init(Lower *l, IrOperand address, const CppType *type, AstNode *n) {
  AstNode *before = lower_here(l, n);
  if (type->kind == CPP_REFERENCE) {
    lower_store_last(l, address, type, address_value(l, lower_lvalue(l, n)), false);
  } else if (cpp_is_scalar(type)) {
    IrOperand value = lower_value_as(l, n, type);
    lower_here(l, n);
    lower_store_last(l, address, type, value, false);
  } else if (cpp_is_object(type)) {
    init_object(l, address, type, n);
  } else {
    lower_effect(l, n);
  }
  l->here = before;
}

/* ---- constructors ---- */

/* A constructor that is not followed: number formats, or no body. */
static void construct_unknown(Lower *l, IrOperand address, const CppType *type, Callee *callee,
                              AstNode **args, int nargs) {
  for (int i = 0; i < nargs; i++)
    lower_effect(l, args[i]);
  lower_forget(l, address, type);
  if (lower_is_opaque_call(l, callee) || callee_is_system(l, callee)) return;
  lower_havoc(l, callee_may_reach_event(l, callee), "the constructor of %s has no body",
              cpp_name(l, type));
}

static void construct_inherited(Lower *l, IrOperand address, const CppType *type,
                                const CppType *owner, CXCursor constructor, AstNode **args,
                                int nargs, AstNode *call) {
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    if (f->is_base && cpp_base_offset(l, f->type, owner) >= 0)
      lower_construct(l, address_add(address, (int64_t)f->offset), f->type, constructor, args,
                      nargs, call);
    else
      default_member(l, address, type, f, false);
  }
}

/* The constructor of a base that `using Base::Base` made one of this class: the one with the same
 * parameters. Null cursor when there is none. */
static CXCursor inherited_from(Lower *l, const CppType *type, CXCursor constructor,
                               const CppType **owner) {
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    if (!f->is_base) continue;
    CXCursor found = cpp_constructor_like(l, f->type, constructor);
    *owner = f->type;
    if (ast_is_null(found)) found = inherited_from(l, f->type, constructor, owner);
    if (!ast_is_null(found)) return found;
  }
  return l->clang->getNullCursor();
}

void lower_construct(Lower *l, IrOperand address, const CppType *type, CXCursor constructor,
                     AstNode **args, int nargs, AstNode *call) {
  Callee *callee = callee_of(l, constructor);
  bool body = callee_has_body(l, callee);
  bool copies = l->clang->CXXConstructor_isCopyConstructor(constructor) ||
                l->clang->CXXConstructor_isMoveConstructor(constructor);
  if (nargs > 0 && callee->nparams == 0) body = false; /* implicit: has a body, but no parameters */
  if (nargs > 0 && !copies && lower_is_opaque_call(l, callee)) {
    construct_unknown(l, address, type, callee, args, nargs);
    return;
  }
  if (body && !l->clang->CXXMethod_isDefaulted(constructor)) {
    const CppType *owner = cpp_cursor_type(l, l->clang->getCursorSemanticParent(constructor));
    if (owner->kind == CPP_RECORD && !cpp_same(owner, type) &&
        cpp_base_offset(l, type, owner) >= 0) {
      construct_inherited(l, address, type, owner, constructor, args, nargs, call);
      return;
    }
    zero_bit_fields(l, address, type);
    Call inner = {.node = call,
                  .callee = callee,
                  .args = args,
                  .nargs = nargs,
                  .has_object = true,
                  .object = address_pin(l, address)};
    lower_inline(l, &inner, type);
    return;
  }
  if (nargs > 0 && (copies || cpp_same(ast_type(l, args[0]), type))) {
    lower_copy(l, address, lower_lvalue(l, args[0]), type);
    return;
  }
  if (nargs == 0 || l->clang->CXXConstructor_isDefaultConstructor(constructor)) {
    lower_default_init(l, address, type, false);
    return;
  }
  const CppType *owner = NULL;
  CXCursor inherited = inherited_from(l, type, constructor, &owner);
  if (!ast_is_null(inherited))
    construct_inherited(l, address, type, owner, inherited, args, nargs, call);
  else
    construct_unknown(l, address, type, callee, args, nargs);
}

static AstNode *initializer_of(Lower *l, AstNode *definition, const CppField *field) {
  const void *member = NULL; /* named last, still without its expression */
  bool is_member = false;
  for (int i = 0; i < definition->nkids; i++) {
    AstNode *n = definition->kids[i];
    if (n->kind == CXCursor_MemberRef) {
      member = ast_key(ast_reference(l, n));
      is_member = true;
    } else if (ast_is_expression(n)) {
      if (is_member ? !field->is_base && member == field->key
                    : field->is_base && cpp_same(ast_type(l, n), field->type))
        return n;
      is_member = false;
    }
  }
  return NULL;
}

static AstNode *delegated_to(Lower *l, AstNode *definition, const CppType *type) {
  bool is_member = false;
  for (int i = 0; i < definition->nkids; i++) {
    AstNode *n = definition->kids[i];
    if (n->kind == CXCursor_MemberRef) {
      is_member = true;
    } else if (ast_is_expression(n)) {
      if (!is_member && cpp_same(ast_type(l, n), type)) return n;
      is_member = false;
    }
  }
  return NULL;
}

void lower_member_inits(Lower *l, AstNode *definition, IrOperand self, const CppType *type) {
  AstNode *delegated = delegated_to(l, definition, type);
  if (delegated) {
    lower_init(l, self, type, delegated);
    return;
  }
  cpp_fields(l, type);
  bool chosen = false; /* the constructor initialises a member of the union */
  for (int i = 0; type->is_union && i < type->fields.count; i++)
    chosen |= initializer_of(l, definition, &type->fields.items[i]) != NULL;
  const CppField *own = type->is_union && !chosen ? initialised_member(l, type) : NULL;
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    AstNode *init = initializer_of(l, definition, f);
    if (!init) {
      if (!type->is_union || f == own) default_member(l, self, type, f, false);
    } else if (f->bit_width > 0) {
      lower_store_bits(l, self, f, lower_value_as(l, init, f->type));
    } else {
      lower_init(l, address_add(self, (int64_t)f->offset), f->type, init);
    }
  }
}

/* ---- destructors ---- */

void lower_destroy(Lower *l, IrOperand address, const CppType *type) {
  if (!cpp_needs_cleanup(l, type)) return;
  if (type->kind == CPP_ARRAY) {
    for (int64_t i = MIN(type->count, 64) - 1; i >= 0; i--)
      lower_destroy(l, address_add(address, i * (int64_t)type->elem->bytes), type->elem);
    return;
  }
  CXCursor destructor = cpp_special_member(l, type, CXCursor_Destructor);
  if (!ast_is_null(destructor)) {
    Callee *callee = callee_of(l, destructor);
    Call call = {.callee = callee, .has_object = true, .object = address_pin(l, address)};
    if (callee_has_body(l, callee)) lower_inline(l, &call, NULL);
  }
  for (int i = type->fields.count - 1; i >= 0; i--) {
    const CppField *f = &type->fields.items[i];
    lower_destroy(l, address_add(address, (int64_t)f->offset), f->type);
  }
}
