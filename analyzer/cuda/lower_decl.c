/* Declarations of local variables, structured bindings. */
#include "cuda/lower_internal.h"

static void keep_for_cleanup(Lower *l, IrOperand address, const CppType *type) {
  if (!cpp_needs_cleanup(l, type)) return;
  Cleanup cleanup = {address, type};
  KC_PUSH(l->scratch, l->frame->cleanups, cleanup);
}

static void set_origin(Lower *l, Binding *binding, AstNode *init) {
  binding->origin = init;
  binding->origin_frame = l->frame;
}

static void reference_variable(Lower *l, CXCursor variable, const CppType *type, AstNode *init) {
  if (!init) {
    lower_havoc(l, false, "a reference without an initialiser");
    return;
  }
  IrOperand address = address_pin(l, lower_lvalue(l, init));
  Binding *binding = frame_bind(l, l->frame, variable, address, type->elem);
  set_origin(l, binding, init);
  if (type->elem->kind == CPP_FUNCTION) binding->function = lower_function_value(l, init);
  lower_name_dynamic(l, variable, address, type->elem);
}

static bool is_function_pointer(const CppType *type) {
  return type->kind == CPP_POINTER && type->elem->kind == CPP_FUNCTION;
}

/* A number that nothing changes is its value, when that stays readable: a constant (of an inlined
 * function's arguments) or a temporary. */
static bool value_variable(Lower *l, CXCursor variable, const CppType *type, AstNode *init) {
  bool constant =
      l->clang->isConstQualifiedType(l->clang->getCanonicalType(l->clang->getCursorType(variable)));
  if (!init || !cpp_is_number(type)) return false;
  if (!constant && !callee_only_reads(l, l->frame->callee, variable)) return false;
  IrOperand value = lower_value_as(l, init, type);
  if (type->kind == CPP_POINTER) lower_name_dynamic(l, variable, value, type->elem);
  if (ir_is_unknown(value) || !lower_is_stable(l, value)) {
    IrOperand address = lower_allocate(l, type, declaration_name(l, variable));
    set_origin(l, frame_bind(l, l->frame, variable, address, type), init);
    lower_store_last(l, address, type, value, false);
    return true;
  }
  if (value.kind == IR_OPD_REG && !l->kernel->regs.items[value.id].name)
    l->kernel->regs.items[value.id].name = declaration_name(l, variable);
  value.type = type->ir;
  set_origin(l, frame_bind_value(l, l->frame, variable, value, type), init);
  return true;
}

static void object_variable(Lower *l, CXCursor variable, const CppType *type, AstNode *init) {
  IrOperand address = lower_allocate(l, type, declaration_name(l, variable));
  Binding *binding = frame_bind(l, l->frame, variable, address, type);
  set_origin(l, binding, init);
  if (init && is_function_pointer(type)) binding->function = lower_function_value(l, init);
  if (init && type->kind == CPP_POINTER && type->elem->kind == CPP_RECORD) {
    IrOperand value = lower_value_as(l, init, type);
    lower_name_dynamic(l, variable, value, type->elem);
    lower_store_last(l, address, type, value, false);
  } else if (init) {
    lower_init(l, address, type, init);
  } else if (type->kind == CPP_RECORD) {
    lower_default_init(l, address, type, false);
  }
  keep_for_cleanup(l, address, type);
}

void lower_local_variable(Lower *l, AstNode *n) {
  CXCursor variable = n->cursor;
  const CppType *type = ast_type(l, n);
  int64_t value;
  if (declaration_is_shared(l, variable)) {
    lower_shared_variable(l, variable);
    return;
  }
  if (l->clang->Cursor_hasVarDeclGlobalStorage(variable) > 0) return; /* made on first use */
  AstNode *init = ast_initializer(l, variable);
  if (type->kind == CPP_REFERENCE) {
    reference_variable(l, variable, type, init);
  } else if (type->kind == CPP_INT && declaration_constant(l, variable, &value)) {
    frame_bind_value(l, l->frame, variable, lower_constant(value, type->ir), type);
  } else if (is_function_pointer(type) || !value_variable(l, variable, type, init)) {
    object_variable(l, variable, type, init);
  }
}

/* ---- structured bindings ---- */

typedef struct {
  IrOperand address;
  const CppType *type;
  long long index; /* of the tuple element */
} Element;

typedef KC_VEC(Element) Elements;

static void add_element(Lower *l, Elements *elements, IrOperand address, const CppType *type,
                        long long index) {
  Element element = {address, type, index};
  if (type->kind == CPP_REFERENCE) {
    element.address = address_pin(l, address_of_value(l, lower_load(l, address, type, false)));
    element.type = type->elem;
  }
  KC_PUSH(l->scratch, *elements, element);
}

/* The types that the names of a binding have, in order. */
typedef struct {
  const CppType **items;
  int count;
} Wanted;

static bool fits(const CppType *held, const CppType *wanted) {
  return wanted->kind == CPP_OTHER || cpp_same(cpp_referent(held), cpp_referent(wanted));
}

/* Direct members, when all of them are in one class (those of a base count when the class adds
 * none). */
static bool plain_members(Lower *l, IrOperand address, const CppType *type, const Wanted *wanted,
                          Elements *out) {
  cpp_fields(l, type);
  int direct = 0;
  for (int i = 0; i < type->fields.count; i++)
    if (!type->fields.items[i].is_base) direct++;
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    IrOperand at = address_add(address, (int64_t)f->offset);
    if (f->is_base && direct == 0 && plain_members(l, at, f->type, wanted, out)) return true;
    if (f->is_base || direct != wanted->count) continue;
    if (!fits(f->type, wanted->items[out->count])) return false;
    add_element(l, out, at, f->type, out->count);
  }
  return direct == wanted->count;
}

static bool is_empty_record(Lower *l, const CppType *type) {
  return type->kind == CPP_RECORD && cpp_leaves(l, type) && type->leaves.count == 0;
}

/* Elements of empty types may have no place of their own. */
static void add_empty(Lower *l, const Wanted *wanted, Elements *out) {
  const CppType *type = wanted->items[out->count];
  add_element(l, out, lower_allocate(l, type, NULL), type, out->count);
}

/* Parts of the object, in the order of declaration, that have the wanted types one after the
 * other. */
static void parts_in_order(Lower *l, IrOperand address, const CppType *type, const Wanted *wanted,
                           Elements *out) {
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count && out->count < wanted->count; i++) {
    const CppField *f = &type->fields.items[i];
    IrOperand at = address_add(address, (int64_t)f->offset);
    if (is_empty_record(l, f->type) && !fits(f->type, wanted->items[out->count])) continue;
    while (out->count < wanted->count && !fits(f->type, wanted->items[out->count]) &&
           is_empty_record(l, wanted->items[out->count]))
      add_empty(l, wanted, out);
    if (out->count >= wanted->count) return;
    if (fits(f->type, wanted->items[out->count]))
      add_element(l, out, at, f->type, out->count);
    else if (f->type->kind == CPP_RECORD)
      parts_in_order(l, at, f->type, wanted, out);
  }
}

/* Members of a tuple are bases like Leaf<index, T>: finds them by those template arguments. */
static void tuple_elements(Lower *l, IrOperand address, const CppType *type, Elements *out) {
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    IrOperand at = address_add(address, (int64_t)f->offset);
    if (!f->is_base) {
      if (f->type->kind == CPP_RECORD) tuple_elements(l, at, f->type, out);
      continue;
    }
    CXCursor d = f->type->decl;
    bool leaf = f->type->kind == CPP_RECORD && l->clang->Cursor_getNumTemplateArguments(d) >= 2 &&
                l->clang->Cursor_getTemplateArgumentKind(d, 0) == CXTemplateArgumentKind_Integral &&
                l->clang->Cursor_getTemplateArgumentKind(d, 1) == CXTemplateArgumentKind_Type;
    if (!leaf) {
      tuple_elements(l, at, f->type, out);
      continue;
    }
    const CppType *held = cpp_type(l, l->clang->Cursor_getTemplateArgumentType(d, 1));
    cpp_fields(l, f->type);
    for (int j = 0; j < f->type->fields.count; j++)
      if (!f->type->fields.items[j].is_base)
        at = address_add(at, (int64_t)f->type->fields.items[j].offset);
    add_element(l, out, at, held, l->clang->Cursor_getTemplateArgumentValue(d, 0));
  }
}

static bool find_elements(Lower *l, IrOperand address, const CppType *type, const Wanted *wanted,
                          Elements *out) {
  if (type->kind == CPP_ARRAY) {
    for (int64_t i = 0; i < type->count; i++)
      add_element(l, out, address_add(address, i * (int64_t)type->elem->bytes), type->elem, i);
    return out->count == wanted->count;
  }
  if (type->kind != CPP_RECORD) return false;
  tuple_elements(l, address, type, out);
  if (out->count == wanted->count) return true;
  out->count = 0;
  if (plain_members(l, address, type, wanted, out)) return true;
  out->count = 0;
  parts_in_order(l, address, type, wanted, out);
  while (out->count < wanted->count && is_empty_record(l, wanted->items[out->count]))
    add_empty(l, wanted, out);
  return out->count == wanted->count;
}

static bool is_binding(const AstNode *n) {
  return n->kind == CXCursor_UnexposedDecl;
}

static Wanted wanted_types(Lower *l, AstNode *n) {
  Wanted wanted = {KC_NEW_ARRAY(l->scratch, const CppType *, n->nparts + 1), 0};
  for (int i = 0; i < n->nparts; i++)
    if (is_binding(n->parts[i])) wanted.items[wanted.count++] = ast_type(l, n->parts[i]);
  return wanted;
}

static void bind_elements(Lower *l, AstNode *n, const Elements *elements) {
  for (int i = 0, at = 0; i < n->nparts; i++) {
    if (!is_binding(n->parts[i])) continue;
    for (int j = 0; j < elements->count; j++)
      if (elements->items[j].index == at)
        frame_bind(l, l->frame, n->parts[i]->cursor, elements->items[j].address,
                   elements->items[j].type);
    at++;
  }
}

static void structured_binding(Lower *l, AstNode *n) {
  AstNode *init = NULL;
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) init = n->parts[i];
  Wanted wanted = wanted_types(l, n);
  if (!init || wanted.count == 0) return;
  const CppType *type = ast_type(l, n);
  IrOperand address;
  if (type->kind == CPP_REFERENCE) {
    type = type->elem;
    address = address_pin(l, lower_lvalue(l, init));
  } else {
    if (!cpp_is_object(type)) type = ast_type(l, init);
    address = lower_allocate(l, type, NULL);
    lower_init(l, address, type, init);
    keep_for_cleanup(l, address, type);
  }
  Elements elements = {0};
  if (find_elements(l, address, type, &wanted, &elements))
    bind_elements(l, n, &elements);
  else
    lower_havoc(l, false, "the structured binding of %s could not be taken apart",
                cpp_name(l, type));
}

void lower_declaration(Lower *l, AstNode *n) {
  AstNode *before = lower_here(l, n);
  ast_expand(l, n);
  if (n->kind == CXCursor_VarDecl)
    lower_local_variable(l, n);
  else if (n->kind == CXCursor_UnexposedDecl)
    structured_binding(l, n);
  l->here = before;
}
