/* Variables: frames and their bindings, shared objects with the names of their fields, globals. */
#include "cuda/discover.h"
#include "cuda/lower_internal.h"

#include <ctype.h>
#include <string.h>

#define FIELD_LIMIT 256 /* named fields of one object */

/* ---- frames ---- */

Frame *frame_new(Lower *l, Frame *scope, Callee *callee) {
  Frame *f = l->free_frames;
  if (f) { /* keeps the storage of its lists */
    l->free_frames = f->scope;
    Frame empty = {.bindings = f->bindings,
                   .loops = f->loops,
                   .labels = f->labels,
                   .cleanups = f->cleanups,
                   .cases = f->cases};
    *f = empty;
    f->bindings.count = f->loops.count = f->labels.count = f->cleanups.count = f->cases.count = 0;
  } else {
    f = KC_NEW(l->scratch, Frame);
  }
  f->scope = scope;
  f->caller = l->frame;
  f->callee = callee;
  f->name = callee ? callee->name : NULL;
  f->return_label = -1;
  return f;
}

void frame_done(Lower *l, Frame *frame, int closures) {
  if (l->closures.count != closures) return; /* a lambda may still look into it */
  frame->scope = l->free_frames;
  l->free_frames = frame;
}

uint32_t frame_where(Lower *l, Frame *frame) {
  if (!frame || !frame->call) return 0;
  if (frame->call_where == 0) frame->call_where = lower_where(l, frame->call, frame->caller);
  return frame->call_where;
}

Binding *frame_bind(Lower *l, Frame *frame, CXCursor declaration, IrOperand address,
                    const CppType *type) {
  Binding binding = {.key = ast_key(declaration), .address = address, .type = type};
  for (int i = 0; i < frame->bindings.count; i++)
    if (frame->bindings.items[i].key ==
        binding.key) { /* a declaration in a loop, or lowered twice */
      frame->bindings.items[i] = binding;
      return &frame->bindings.items[i];
    }
  KC_PUSH(l->scratch, frame->bindings, binding);
  return &frame->bindings.items[frame->bindings.count - 1];
}

Binding *frame_bind_value(Lower *l, Frame *frame, CXCursor declaration, IrOperand value,
                          const CppType *type) {
  Binding *binding = frame_bind(l, frame, declaration, (IrOperand){.kind = IR_OPD_NONE}, type);
  binding->value = value;
  return binding;
}

Binding *frame_find(Frame *frame, const void *key) {
  for (Frame *f = frame; f; f = f->scope)
    for (int i = f->bindings.count - 1; i >= 0; i--)
      if (f->bindings.items[i].key == key) return &f->bindings.items[i];
  return NULL;
}

bool frame_self(Lower *l, IrOperand *address, const CppType **type) {
  for (Frame *f = l->frame; f; f = f->scope)
    if (f->has_self) {
      *address = f->self;
      *type = f->self_type;
      return true;
    }
  return false;
}

/* ---- fields of objects ---- */

/* The scalar that an array of this type is an array of: also through a record that holds nothing
 * else (a barrier class around one word). */
static const CppType *sole_scalar(Lower *l, const CppType *type) {
  while (type->kind == CPP_ARRAY)
    type = type->elem;
  if (cpp_is_scalar(type)) return type;
  if (type->kind != CPP_RECORD || !cpp_leaves(l, type) || type->leaves.count != 1) return NULL;
  const CppLeaf *leaf = &type->leaves.items[0];
  return leaf->offset == 0 && leaf->type->bytes == type->bytes ? leaf->type : NULL;
}

static bool is_identifier(const char *text) {
  if (!text || !(isalpha((unsigned char)*text) || *text == '_')) return false;
  for (; *text; text++)
    if (!isalnum((unsigned char)*text) && *text != '_') return false;
  return true;
}

static void push_stage_constant(Lower *l, const char *text) {
  for (int j = 0; j < l->kernel->stage_constants.count; j++)
    if (strcmp(l->kernel->stage_constants.items[j], text) == 0) return;
  KC_PUSH(l->arena, l->kernel->stage_constants, text);
}

/* The constant that a cuda::pipeline_shared_state of this declaration takes its stages from. */
static void note_pipeline_stages(Lower *l, CXCursor declaration) {
  const char *text = unit_text(l->unit, unit_cursor_range(l->unit, declaration));
  g_autoptr(GRegex) state =
      g_regex_new("\\bpipeline_shared_state\\s*<[^,<>]*,\\s*([A-Za-z_]\\w*)\\s*>", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  if (!text || !g_regex_match(state, text, 0, &match)) return;
  g_autofree char *name = g_match_info_fetch(match, 1);
  push_stage_constant(l, kc_strdup(l->arena, name));
}

/* Remembers the constant that gives an array of barrier words its bound. */
static void note_stage_constant(Lower *l, CXCursor declaration) {
  AstNode *n = ast_node(l, declaration);
  ast_expand(l, n);
  for (int i = 0; i < n->nparts; i++) {
    if (!ast_is_expression(n->parts[i])) continue;
    const char *text = unit_text(l->unit, unit_cursor_range(l->unit, n->parts[i]->cursor));
    if (is_identifier(text)) push_stage_constant(l, text);
    return;
  }
}

static void add_fields(Lower *l, IrObject *object, const char *name, const CppType *type,
                       uint64_t offset, CXCursor declaration) {
  if (object->fields.count >= FIELD_LIMIT) return;
  const CppType *scalar = sole_scalar(l, type);
  if (scalar) {
    bool is_array = type->kind == CPP_ARRAY;
    IrField field = {.offset = offset,
                     .elem_bytes = is_array ? type->elem->bytes : type->bytes,
                     .count = is_array && type->count > 0 ? (uint64_t)type->count : 1,
                     .scalar = scalar->ir,
                     .name = name,
                     .type = cpp_name(l, type)};
    KC_PUSH(l->arena, object->fields, field);
    if (is_array && scalar->bytes == 8 && type->elem->bytes == 8 && !ast_is_null(declaration))
      note_stage_constant(l, declaration);
    return;
  }
  if (type->kind == CPP_ARRAY) {
    for (int64_t i = 0; i < type->count && object->fields.count < FIELD_LIMIT; i++)
      add_fields(l, object, kc_printf(l->arena, "%s[%lld]", name, (long long)i), type->elem,
                 offset + (uint64_t)i * type->elem->bytes, declaration);
    return;
  }
  if (type->kind != CPP_RECORD) return;
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count; i++) {
    const CppField *f = &type->fields.items[i];
    const char *member = f->is_base ? "" : unit_name(l->unit, f->decl);
    const char *inner = *member ? kc_printf(l->arena, "%s.%s", name, member) : name;
    add_fields(l, object, inner, f->type, offset + f->offset, f->decl);
  }
}

/* ---- shared memory ---- */

static uint32_t declaration_where(Lower *l, CXCursor declaration) {
  return source_stack(&l->program->sources, unit_cursor_range(l->unit, declaration), 0, NULL);
}

static Binding *global_binding(Lower *l, CXCursor variable, IrOperand address,
                               const CppType *type) {
  Binding *binding = KC_NEW(l->scratch, Binding);
  binding->key = ast_key(l->clang->getCanonicalCursor(variable));
  binding->address = address;
  binding->type = type;
  g_hash_table_insert(l->globals, (gpointer)binding->key, binding);
  return binding;
}

static int32_t dynamic_object(Lower *l, CXCursor variable, const CppType *type) {
  uint32_t align = MAX(unit_alignment(l->unit, variable), type->align);
  if (l->dynamic_shared < 0) {
    IrObject object = {.name = declaration_name(l, variable),
                       .space = IR_SPACE_SHARED,
                       .dynamic = true,
                       .align = align,
                       .where = declaration_where(l, variable)};
    l->dynamic_shared = ir_object(&l->b, object);
  }
  IrObject *object = &l->kernel->objects.items[l->dynamic_shared];
  object->align = MAX(object->align, align);
  return l->dynamic_shared;
}

Binding *lower_shared_variable(Lower *l, CXCursor variable) {
  const void *key = ast_key(l->clang->getCanonicalCursor(variable));
  Binding *known = g_hash_table_lookup(l->globals, key);
  if (known) return known;
  const CppType *type = cpp_cursor_type(l, variable);
  if (type->kind == CPP_ARRAY && type->count < 0) {
    int32_t id = dynamic_object(l, variable, type);
    return global_binding(l, variable, ir_object_address(id, 0), type);
  }
  IrObject object = {.name = declaration_name(l, variable),
                     .space = IR_SPACE_SHARED,
                     .bytes = type->bytes,
                     .align = MAX(unit_alignment(l->unit, variable), type->align),
                     .where = declaration_where(l, variable)};
  add_fields(l, &object, object.name, type, 0, variable);
  note_pipeline_stages(l, variable);
  int32_t id = ir_object(&l->b, object);
  return global_binding(l, variable, ir_object_address(id, 0), type);
}

void lower_name_dynamic(Lower *l, CXCursor variable, IrOperand address, const CppType *pointee) {
  if (address.kind != IR_OPD_OBJECT || pointee->kind != CPP_RECORD || pointee->bytes == 0) return;
  IrObject *object = &l->kernel->objects.items[address.id];
  if (!object->dynamic || address.value < 0) return;
  for (int i = 0; i < object->fields.count; i++)
    if (object->fields.items[i].offset >= (uint64_t)address.value) return; /* named already */
  add_fields(l, object, declaration_name(l, variable), pointee, (uint64_t)address.value,
             l->clang->getNullCursor());
}

/* ---- globals ---- */

typedef struct {
  IrInsn *items;
  int count, capacity, placed_at;
  AstNode *here;
  Frame *frame;
  bool nested;
} Suspended;

/* What is emitted until prologue_end runs once, before the function's own code. */
static Suspended prologue_begin(Lower *l) {
  Suspended s = {l->kernel->insns.items,
                 l->kernel->insns.count,
                 l->kernel->insns.capacity,
                 l->placed_at,
                 l->here,
                 l->frame,
                 l->in_prologue};
  l->frame = NULL;
  l->frame = frame_new(l, NULL, NULL);
  if (s.nested) return s;
  l->in_prologue = true;
  l->placed_at = -1;
  l->kernel->insns.items = l->prologue.items;
  l->kernel->insns.count = l->prologue.count;
  l->kernel->insns.capacity = l->prologue.capacity;
  return s;
}

static void prologue_end(Lower *l, const Suspended *s) {
  l->here = s->here;
  l->frame = s->frame;
  if (s->nested) return;
  l->prologue.items = l->kernel->insns.items;
  l->prologue.count = l->kernel->insns.count;
  l->prologue.capacity = l->kernel->insns.capacity;
  l->kernel->insns.items = s->items;
  l->kernel->insns.count = s->count;
  l->kernel->insns.capacity = s->capacity;
  l->placed_at = s->placed_at;
  l->in_prologue = false;
}

static bool is_const(Lower *l, CXType type) {
  type = l->clang->getCanonicalType(type);
  while (type.kind == CXType_ConstantArray && !l->clang->isConstQualifiedType(type))
    type = l->clang->getCanonicalType(l->clang->getArrayElementType(type));
  return l->clang->isConstQualifiedType(type);
}

static Binding *constant_object(Lower *l, CXCursor variable, const CppType *type) {
  IrOperand address = lower_allocate(l, type, declaration_name(l, variable));
  Binding *binding = global_binding(l, variable, address, type);
  AstNode *init = ast_initializer(l, variable);
  Suspended s = prologue_begin(l);
  l->here = NULL;
  if (init) lower_init(l, address, type, init);
  prologue_end(l, &s);
  return binding;
}

static Binding *reference_variable(Lower *l, CXCursor variable, const CppType *type) {
  AstNode *init = ast_initializer(l, variable);
  if (!init) return NULL;
  Suspended s = prologue_begin(l);
  l->here = NULL;
  IrOperand address = address_pin(l, lower_lvalue(l, init));
  prologue_end(l, &s);
  return global_binding(l, variable, address, type->elem);
}

static Binding *global_object(Lower *l, CXCursor variable, const CppType *type) {
  bool constant = unit_has_attr(l->unit, variable, CXCursor_CUDAConstantAttr);
  l->global_top = (l->global_top + 255) / 256 * 256;
  IrObject object = {.name = declaration_name(l, variable),
                     .space = constant ? IR_SPACE_CONST : IR_SPACE_GLOBAL,
                     .read_only = constant,
                     .address = IR_GLOBAL_BASE + l->global_top,
                     .bytes = type->bytes,
                     .align = MAX(type->align, 1),
                     .where = declaration_where(l, variable)};
  l->global_top += MAX(type->bytes, 8);
  add_fields(l, &object, object.name, type, 0, l->clang->getNullCursor());
  int32_t id = ir_object(&l->b, object);
  return global_binding(l, variable, ir_object_address(id, 0), type);
}

/* ---- special variables ---- */

static const struct {
  const char *name;
  IrSpecial first; /* .x; .y and .z follow */
} SPECIAL_VARIABLES[] = {
    {"threadIdx", IR_SREG_tid_x},
    {"blockIdx", IR_SREG_ctaid_x},
    {"blockDim", IR_SREG_ntid_x},
    {"gridDim", IR_SREG_nctaid_x},
};

bool lower_is_special_variable(Lower *l, CXCursor variable, int *first) {
  if (variable.kind != CXCursor_VarDecl) return false;
  Declaration *d = declaration_of(l, variable);
  if (d->special == 0) {
    d->special = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(SPECIAL_VARIABLES); i++) {
      if (strcmp(SPECIAL_VARIABLES[i].name, d->name) != 0) continue;
      d->first_special = (int)SPECIAL_VARIABLES[i].first;
      if (unit_is_builtin(l->unit, variable)) d->special = 2;
    }
  }
  *first = d->first_special;
  return d->special == 2;
}

static Binding *special_object(Lower *l, CXCursor variable, const CppType *type, int first) {
  const CppType *word = cpp_scalar(l, CXType_UInt);
  IrOperand address = ir_imm((int64_t)ir_local(&l->b, 16, 16));
  Binding *binding = global_binding(l, variable, address, type);
  Suspended s = prologue_begin(l);
  l->here = NULL;
  for (int i = 0; i < 3; i++)
    lower_store(l, address_add(address, 4 * i), word, ir_sreg((IrSpecial)(first + i)), false);
  prologue_end(l, &s);
  return binding;
}

bool lower_special(Lower *l, AstNode *member, IrOperand *out) {
  AstNode *base = ast_part(l, member, 0);
  if (!base) return false;
  base = ast_strip(l, base);
  int first;
  if (base->kind != CXCursor_DeclRefExpr ||
      !lower_is_special_variable(l, ast_reference(l, base), &first))
    return false;
  const char *name = declaration_name(l, ast_reference(l, member));
  if (name[0] < 'x' || name[0] > 'z' || name[1]) return false;
  *out = ir_sreg((IrSpecial)(first + (name[0] - 'x')));
  out->type = IR_TYPE_U(4);
  return true;
}

/* ---- lookup ---- */

/* `int threads = 256;` of the host: it has no const, but nothing changes it. */
static bool named_constant(Lower *l, CXCursor variable, int64_t *value) {
  if (!l->kernel->is_host || !unit_is_user(l->unit, variable)) return false;
  AstNode *init = ast_initializer(l, variable);
  return init && ast_constant(l, init, value) && discover_never_changes(l->unit, variable);
}

static Binding *global_variable(Lower *l, CXCursor variable) {
  CXCursor definition = l->clang->getCursorDefinition(variable);
  if (!ast_is_null(definition)) variable = definition;
  if (declaration_is_shared(l, variable)) return lower_shared_variable(l, variable);
  const CppType *type = cpp_cursor_type(l, variable);
  int first;
  if (lower_is_special_variable(l, variable, &first))
    return special_object(l, variable, type, first);
  int64_t value;
  if (type->kind == CPP_INT &&
      (declaration_constant(l, variable, &value) || named_constant(l, variable, &value))) {
    Binding *binding = global_binding(l, variable, (IrOperand){.kind = IR_OPD_NONE}, type);
    binding->value = lower_constant(value, type->ir);
    return binding;
  }
  if (type->kind == CPP_REFERENCE) return reference_variable(l, variable, type);
  if (is_const(l, l->clang->getCursorType(variable)) && type->bytes > 0 &&
      l->clang->Cursor_getStorageClass(variable) != CX_SC_Extern)
    return constant_object(l, variable, type);
  return global_object(l, variable, type);
}

static bool is_of_these_functions(Lower *l, CXCursor variable) {
  SourceRange place = unit_cursor_range(l->unit, variable);
  for (Frame *f = l->frame; f; f = f->scope)
    if (f->callee && unit_is_within(l->unit, f->callee->decl, place)) return true;
  return false;
}

/* A variable that a lambda captures which is lowered by itself, as an argument of a function
 * template is: what it holds is known only if its function never changes it, and has no statement
 * that clang left out. */
static Binding *captured_variable(Lower *l, CXCursor variable) {
  CXCursor function = l->clang->getCursorSemanticParent(variable);
  Callee *callee = callee_of(l, function);
  if (callee_has_body(l, callee) && callee_only_reads(l, callee, variable) &&
      !unit_fault_within(l->unit, function))
    return NULL;
  const CppType *type = cpp_cursor_type(l, variable);
  if (cpp_is_scalar(type)) {
    IrOperand unknown = ir_unknown();
    unknown.type = type->ir;
    return frame_bind_value(l, l->frame, variable, unknown, type);
  }
  if (!cpp_is_object(type)) return NULL;
  IrOperand address = lower_allocate(l, type, NULL);
  lower_forget(l, address, type);
  return frame_bind(l, l->frame, variable, address, type);
}

Binding *lower_variable(Lower *l, CXCursor variable) {
  Binding *found = frame_find(l->frame, ast_key(variable));
  if (found || variable.kind != CXCursor_VarDecl) return found;
  const void *canonical = ast_key(l->clang->getCanonicalCursor(variable));
  found = frame_find(l->frame, canonical);
  if (!found) found = g_hash_table_lookup(l->globals, canonical);
  if (found) return found;
  if (l->clang->Cursor_hasVarDeclGlobalStorage(variable) > 0) return global_variable(l, variable);
  /* libclang does not show the declaration in `switch (int x = ...; x)` */
  if (!ast_initializer(l, variable)) return NULL;
  found = is_of_these_functions(l, variable) ? NULL : captured_variable(l, variable);
  if (found) return found;
  lower_local_variable(l, ast_node(l, variable));
  return frame_find(l->frame, ast_key(variable));
}

IrOperand binding_address(Lower *l, const Binding *binding) {
  if (binding->address.kind != IR_OPD_NONE) return binding->address;
  IrOperand address = lower_allocate(l, binding->type, NULL);
  lower_store(l, address, binding->type, binding->value, false);
  return address;
}

IrOperand lower_function_address(Lower *l, CXCursor function) {
  const char *name = unit_name(l->unit, function);
  const char *full = unit_instantiation_name(l->unit, function);
  int id = 0;
  for (; id < l->program->functions.count; id++)
    if (strcmp(l->program->functions.items[id].instantiation, full) == 0) break;
  if (id == l->program->functions.count) {
    IrFunction entry = {name, full};
    KC_PUSH(l->arena, l->program->functions, entry);
  }
  return lower_constant((int64_t)(IR_FUNCTION_BASE + 16 * (uint64_t)id), IR_TYPE_U(8));
}
