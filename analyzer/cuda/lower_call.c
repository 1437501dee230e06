/* Calls: who is called on which object, inlining, lambdas. */
#include "cuda/lower_internal.h"

#include <string.h>

/* ---- arguments ---- */

bool lower_is_default_argument(Lower *l, AstNode *n) {
  ast_expand(l, n);
  return n->nparts == 0 && n->kind == CXCursor_UnexposedExpr && !ast_has_location(l, n);
}

IrOperand lower_call_argument(Lower *l, const Call *call, int index) {
  if (index >= call->nargs) return ir_unknown();
  return lower_value(l, call->args[index]);
}

static AstNode *default_of(Lower *l, CXCursor parameter) {
  AstNode *n = ast_node(l, parameter), *last = NULL;
  ast_expand(l, n);
  for (int i = 0; i < n->nparts; i++)
    if (ast_is_expression(n->parts[i])) last = n->parts[i];
  return last;
}

static AstNode *default_in(Lower *l, CXCursor function, int index) {
  if (ast_is_null(function)) return NULL;
  AstNode *n = ast_node(l, function);
  ast_expand(l, n);
  for (int i = 0; i < n->nkids; i++)
    if (n->kids[i]->kind == CXCursor_ParmDecl && index-- == 0)
      return default_of(l, n->kids[i]->cursor);
  return NULL;
}

/* The default of parameter `index`: of the definition, else of the first declaration, else of the
 * template it comes from (an instantiation shares its pattern's). */
static AstNode *default_argument(Lower *l, Callee *callee, int index) {
  if (!callee->defaults) {
    callee->defaults = KC_NEW_ARRAY(l->scratch, AstNode *, callee->nparams + 1);
    callee->defaults_known = KC_NEW_ARRAY(l->scratch, bool, callee->nparams + 1);
  }
  if (callee->defaults_known[index]) return callee->defaults[index];
  AstNode *found = default_of(l, callee->params[index]->cursor);
  if (!found) found = default_in(l, l->clang->getCanonicalCursor(callee->decl), index);
  if (!found) found = default_in(l, l->clang->getSpecializedCursorTemplate(callee->decl), index);
  callee->defaults_known[index] = true;
  callee->defaults[index] = found;
  return found;
}

static AstNode *argument(Lower *l, const Call *call, int index) {
  AstNode *given = index < call->nargs ? call->args[index] : NULL;
  if (given && !lower_is_default_argument(l, given)) return given;
  AstNode *found = default_argument(l, call->callee, index);
  return found ? found : given;
}

static Binding *bind_reference(Lower *l, Frame *frame, AstNode *parameter, AstNode *given,
                               const CppType *referent) {
  IrOperand address = given ? address_pin(l, lower_lvalue(l, given)) : ir_unknown();
  return frame_bind(l, frame, parameter->cursor, address, referent);
}

static Binding *bind_value(Lower *l, Frame *frame, const Call *call, int index, AstNode *given) {
  AstNode *parameter = call->callee->params[index];
  const CppType *type = ast_type(l, parameter);
  if (given && cpp_is_number(type) && callee_only_reads(l, call->callee, parameter->cursor)) {
    IrOperand value = lower_value_as(l, given, type);
    value.type = type->ir;
    if (lower_is_stable(l, value))
      return frame_bind_value(l, frame, parameter->cursor, value, type);
    IrOperand cell = lower_allocate(l, type, declaration_name(l, parameter->cursor));
    lower_store_last(l, cell, type, value, false);
    return frame_bind(l, frame, parameter->cursor, cell, type);
  }
  IrOperand address = lower_allocate(l, type, declaration_name(l, parameter->cursor));
  if (given) lower_init(l, address, type, given);
  return frame_bind(l, frame, parameter->cursor, address, type);
}

static void bind_parameter(Lower *l, Frame *frame, const Call *call, int index) {
  AstNode *parameter = call->callee->params[index], *given = argument(l, call, index);
  const CppType *type = ast_type(l, parameter);
  Binding *binding = type->kind == CPP_REFERENCE
                         ? bind_reference(l, frame, parameter, given, type->elem)
                         : bind_value(l, frame, call, index, given);
  binding->origin = given;
  binding->origin_frame = l->frame;
  bool pointer = type->kind == CPP_POINTER || type->kind == CPP_REFERENCE;
  if (given && pointer && type->elem->kind == CPP_FUNCTION)
    binding->function = lower_function_value(l, given);
}

/* ---- lambdas ---- */

static const Closure *find_closure(const Lower *l, IrOperand object, const void *key) {
  uint64_t at = address_is_local(object) ? (uint64_t)object.value : 0;
  for (int i = l->closures.count - 1; at && i >= 0; i--)
    if (l->closures.items[i].key == key && l->closures.items[i].address == at)
      return &l->closures.items[i];
  for (int i = l->closures.count - 1; i >= 0; i--)
    if (l->closures.items[i].key == key) return &l->closures.items[i];
  return NULL;
}

void lower_closure_copied(Lower *l, IrOperand to, IrOperand from, const CppType *type) {
  if (l->closures.count == 0 || !address_is_local(to) || !address_is_local(from)) return;
  uint64_t begin = (uint64_t)from.value, end = begin + MAX(type->bytes, 1);
  for (int i = 0, count = l->closures.count; i < count; i++) {
    Closure copy = l->closures.items[i];
    if (copy.address < begin || copy.address >= end) continue;
    copy.address = (uint64_t)to.value + (copy.address - begin);
    KC_PUSH(l->scratch, l->closures, copy);
  }
}

/* The variable that a child of a lambda expression copies: written `[x]`, or made by `[=]`. NULL
 * for captures by reference and for the parts of `[x = ...]`. */
static AstNode *copied_capture(Lower *l, AstNode *lambda, AstNode *child) {
  AstNode *n = child;
  while (n->kind == CXCursor_UnexposedExpr || n->kind == CXCursor_CallExpr) /* a copy constructor */
    if (!(n = ast_part(l, n, 0))) return NULL;
  if (n->kind != CXCursor_DeclRefExpr) return NULL;
  SourceRange here = unit_cursor_range(l->unit, n->cursor);
  const char *text = unit_text(l->unit, here);
  if (text && strcmp(text, "=") == 0) return n;
  for (int i = 0; i < lambda->nkids && lambda->kids[i] != child; i++) {
    AstNode *named = lambda->kids[i];
    if (named->kind != CXCursor_VariableRef ||
        ast_key(ast_reference(l, named)) != ast_key(ast_reference(l, n)))
      continue;
    SourceRange there = unit_cursor_range(l->unit, named->cursor);
    if (there.line == here.line && there.column == here.column) return n;
  }
  return NULL;
}

static void capture_init(Lower *l, Frame *overlay, CXCursor variable) {
  const CppType *type = cpp_cursor_type(l, variable);
  AstNode *init = ast_initializer(l, variable);
  if (type->kind == CPP_REFERENCE) {
    IrOperand address = init ? address_pin(l, lower_lvalue(l, init)) : ir_unknown();
    frame_bind(l, overlay, variable, address, type->elem);
    return;
  }
  IrOperand address = lower_allocate(l, type, declaration_name(l, variable));
  if (init) lower_init(l, address, type, init);
  frame_bind(l, overlay, variable, address, type);
}

static void capture_copy(Lower *l, Frame *overlay, CXCursor variable) {
  const Binding *from = lower_variable(l, variable);
  if (!from || from->address.kind == IR_OPD_NONE) return;
  IrOperand source = from->address;
  const CppType *type = from->type;
  IrOperand address = lower_allocate(l, type, declaration_name(l, variable));
  lower_copy(l, address, source, type);
  frame_bind(l, overlay, variable, address, type);
}

IrOperand lower_lambda(Lower *l, AstNode *n, IrOperand address) {
  const CppType *type = ast_type(l, n);
  ((CppType *)type)->is_closure = true;
  if (address.kind == IR_OPD_NONE) address = lower_allocate(l, type, NULL);
  Frame *overlay = frame_new(l, l->frame, l->frame->callee);
  ast_expand(l, n);
  for (int i = 0; i < n->nkids; i++) {
    AstNode *child = n->kids[i];
    if (child->kind == CXCursor_ParmDecl || child->kind == CXCursor_CompoundStmt) break;
    if (child->kind == CXCursor_VariableRef) {
      CXCursor variable = ast_reference(l, child);
      if (!ast_is_null(variable) && !frame_find(l->frame, ast_key(variable)))
        capture_init(l, overlay, variable);
    } else {
      AstNode *copied = copied_capture(l, n, child);
      if (copied) capture_copy(l, overlay, ast_reference(l, copied));
    }
  }
  Closure closure = {.address = address_is_local(address) ? (uint64_t)address.value : 0,
                     .key = type->key,
                     .frame = overlay};
  KC_PUSH(l->scratch, l->closures, closure);
  return address;
}

static Frame *scope_of(Lower *l, const Call *call, const CppType **owner) {
  CXCursor parent = l->clang->getCursorSemanticParent(call->callee->decl);
  *owner = cpp_cursor_type(l, parent);
  if (strcmp(call->callee->name, "operator()") != 0) return NULL;
  const Closure *closure = find_closure(l, call->object, (*owner)->key);
  return closure ? closure->frame : NULL;
}

/* ---- inlining ---- */

static IrOperand refuse(Lower *l, const Call *call, const CppType *constructed) {
  const char *name = call->callee->name;
  bool large = l->kernel->insns.count > LOWER_INSN_LIMIT;
  if (!constructed) lower_arguments_for_effect(l, call);
  l->kernel->reachable_asm += callee_asms(l, call->callee);
  if (!large || !l->limit_noted)
    lower_havoc(
        l, callee_may_reach_event(l, call->callee),
        large ? "the kernel has more than %d instructions: calls from '%s' on are not followed"
              : "recursion (limit %d) in '%s' is not followed",
        large ? LOWER_INSN_LIMIT : LOWER_RECURSION_LIMIT, name);
  l->limit_noted |= large;
  return lower_unknown_result(l, call);
}

static IrOperand result_of(Lower *l, const Frame *frame) {
  const CppType *type = frame->return_type;
  if (!type || type->kind == CPP_VOID) return ir_unknown();
  if (cpp_is_object(type)) return frame->return_slot;
  if (frame->return_direct) return frame->return_result;
  if (!cpp_is_scalar(type)) return ir_unknown();
  IrOperand value = lower_load(l, frame->return_slot, type, false);
  return type->kind == CPP_REFERENCE ? address_of_value(l, value) : value;
}

static void set_up_result(Lower *l, Frame *frame, const CppType *constructed) {
  const Callee *callee = frame->callee;
  frame->return_label = lower_label(l);
  frame->return_result = ir_unknown();
  if (constructed) return;
  frame->return_type = callee->result;
  frame->return_direct = callee->tail_return && !cpp_is_object(callee->result);
  if (callee->result->kind != CPP_VOID && callee->returns > 0 && !frame->return_direct)
    frame->return_slot = lower_allocate(l, callee->result, NULL);
  else if (cpp_is_object(callee->result))
    frame->return_slot = lower_allocate(l, callee->result, NULL);
}

IrOperand lower_inline(Lower *l, const Call *call, const CppType *constructed) {
  Callee *callee = call->callee;
  if (callee->active > LOWER_RECURSION_LIMIT || l->depth > LOWER_DEPTH_LIMIT ||
      l->kernel->insns.count > LOWER_INSN_LIMIT)
    return refuse(l, call, constructed);
  const CppType *owner = NULL;
  Frame *scope = callee->is_member ? scope_of(l, call, &owner) : NULL;
  Frame *frame = frame_new(l, scope, callee);
  if (call->has_object && !scope) {
    frame->has_self = true;
    frame->self = call->object;
    frame->self_type = constructed ? constructed : owner;
    frame->self_origin = call->object_node;
    frame->self_frame = l->frame;
  }
  frame->call = l->here;
  int closures = l->closures.count;
  for (int i = 0; i < callee->nparams; i++)
    bind_parameter(l, frame, call, i);
  for (int i = callee->nparams; i < call->nargs; i++)
    lower_effect(l, call->args[i]);
  set_up_result(l, frame, constructed);

  AstNode *here = l->here;
  Frame *caller = l->frame;
  l->frame = frame;
  callee->active++;
  l->depth++;
  if (constructed) lower_member_inits(l, callee->definition, call->object, constructed);
  lower_statement(l, callee->body);
  lower_close(l, frame->return_label);
  l->depth--;
  callee->active--;
  l->frame = caller;
  l->here = here;
  IrOperand result = result_of(l, frame);
  frame_done(l, frame, closures);
  return result;
}

/* ---- the callee of an expression ---- */

Callee *lower_function_value(Lower *l, AstNode *n) {
  for (;;) {
    ast_expand(l, n);
    if (n->kind == CXCursor_DeclRefExpr) {
      CXCursor d = ast_reference(l, n);
      if (d.kind == CXCursor_FunctionDecl || d.kind == CXCursor_CXXMethod) return callee_of(l, d);
      if (d.kind == CXCursor_VarDecl || d.kind == CXCursor_ParmDecl) {
        const Binding *binding = frame_find(l->frame, ast_key(d));
        if (binding) return binding->function;
        AstNode *init = ast_initializer(l, d);
        if (!init) return NULL;
        n = init;
        continue;
      }
    }
    /* What a call returns is not the function that it calls. */
    if (n->kind == CXCursor_CallExpr) return NULL;
    if (n->nparts != 1 && !ast_is_cast(n->kind)) return NULL;
    n = ast_last(l, n);
    if (!n || !ast_is_expression(n)) return NULL;
  }
}

/* The object that a member function is called on. */
static void find_object(Lower *l, Call *call) {
  AstNode *first = ast_part(l, call->node, 0);
  const CppType *owner = cpp_cursor_type(l, l->clang->getCursorSemanticParent(call->callee->decl));
  while (first && (first->kind == CXCursor_ParenExpr || first->kind == CXCursor_UnexposedExpr) &&
         ast_type(l, first)->kind == CPP_OTHER && ast_part(l, first, 0))
    first = ast_part(l, first, 0);
  call->has_object = true;
  if (first && first->kind == CXCursor_MemberRefExpr &&
      (ast_reference(l, first).kind == CXCursor_CXXMethod ||
       ast_reference(l, first).kind == CXCursor_ConversionFunction ||
       ast_reference(l, first).kind == CXCursor_Destructor)) {
    call->object = lower_object_of(l, first, owner);
    call->object_node = lower_named_object(l, first);
  } else if (call->callee->kind == CXCursor_ConversionFunction && first) {
    call->object = lower_lvalue(l, first);
    call->object_node = first;
  } else if (call->nargs > 0) {
    call->object_node = call->args[0];
    call->object = lower_lvalue(l, call->args[0]);
    call->args++;
    call->nargs--;
  } else {
    call->object = ir_unknown();
  }
  call->object = address_pin(l, call->object);
}

static IrOperand assigned_memberwise(Lower *l, const Call *call) {
  const CppType *type = cpp_referent(ast_type(l, call->args[0]));
  lower_copy(l, call->object, lower_lvalue(l, call->args[0]), type);
  return call->object;
}

static bool is_implicit_assignment(Lower *l, const Call *call, bool body) {
  if (call->nargs != 1 || !call->has_object || strcmp(call->callee->name, "operator=") != 0)
    return false;
  if (body && call->callee->nparams == 0) return true; /* has a body, but no parameter */
  return !body &&
         (l->clang->CXXMethod_isDefaulted(call->callee->decl) ||
          cpp_same(cpp_referent(ast_type(l, call->args[0])),
                   cpp_cursor_type(l, l->clang->getCursorSemanticParent(call->callee->decl))));
}

static bool is_callable(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction ||
         kind == CXCursor_Destructor;
}

static IrOperand call_function(Lower *l, Call *call) {
  Callee *callee = call->callee;
  IrOperand result = ir_unknown();
  l->kernel->reachable_calls++;
  if (callee_is_kernel(l, callee) && lower_kernel_launch(l, call, &result)) {
    l->kernel->lowered_calls++;
    return result;
  }
  const LowerBuiltin *builtin = builtin_find(l, callee);
  if (callee->is_member) find_object(l, call);
  if (builtin && builtin->handler(l, call, builtin->variant, &result)) {
    l->kernel->lowered_calls++;
    return result;
  }
  bool body = callee_has_body(l, callee);
  if (is_implicit_assignment(l, call, body)) {
    l->kernel->lowered_calls++;
    return assigned_memberwise(l, call);
  }
  if (callee->kind == CXCursor_Destructor) {
    l->kernel->lowered_calls++;
    if (call->has_object)
      lower_destroy(l, call->object,
                    cpp_cursor_type(l, l->clang->getCursorSemanticParent(callee->decl)));
    return result;
  }
  if (!body || lower_is_opaque_call(l, callee)) return lower_unknown_call(l, call);
  if (callee->kind == CXCursor_CXXMethod && l->clang->CXXMethod_isVirtual(callee->decl) &&
      l->clang->Cursor_isDynamicCall(call->node->cursor) == 1)
    lower_havoc(l, callee_may_reach_event(l, callee),
                "'%s' is virtual: the function of the static type is followed", callee->name);
  l->kernel->lowered_calls++;
  return lower_inline(l, call, NULL);
}

/* A call through a pointer to cuTensorMapEncodeTiled: its twelve parameters, a map first. */
static bool is_encode_pointer(Lower *l, const Call *call) {
  if (!l->kernel->is_host || call->nargs != 12) return false;
  const CppType *first = ast_type(l, call->args[0]);
  return first->kind == CPP_POINTER && first->elem->kind == CPP_RECORD &&
         strncmp(unit_name(l->unit, first->elem->decl), "CUtensorMap", 11) == 0;
}

/* `encoder()(...)`: what is called is the result of a call; libclang names the inner function as
 * the one that the outer call refers to. */
static bool calls_a_result(Lower *l, AstNode *n) {
  AstNode *function = ast_part(l, n, 0);
  while (function && function->kind != CXCursor_CallExpr) {
    ast_expand(l, function);
    if (function->nparts != 1 || function->kind == CXCursor_MemberRefExpr) return false;
    function = ast_last(l, function);
  }
  if (!function) return false;
  const CppType *type = ast_type(l, function);
  return type->kind == CPP_POINTER && type->elem->kind == CPP_FUNCTION;
}

IrOperand lower_call(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  Callee *callee = NULL;
  if (!ast_is_null(d) && is_callable(d.kind) && !calls_a_result(l, n))
    callee = callee_of(l, d);
  else if (ast_part(l, n, 0))
    callee = lower_function_value(l, n->parts[0]);
  int nargs = ast_arguments(l, n);
  AstNode *copied = callee ? NULL : ast_copied(l, n);
  if (copied) return lower_lvalue(l, copied);
  if (!callee) {
    Call call = {.node = n, .args = n->arguments, .nargs = nargs};
    IrOperand result;
    if (is_encode_pointer(l, &call) && lower_encode_tiled(l, &call, &result)) return result;
    return lower_unresolved_call(l, n);
  }
  if (callee->kind == CXCursor_Constructor) {
    const CppType *type = ast_type(l, n);
    IrOperand address = lower_allocate(l, type, NULL);
    lower_construct(l, address, type, callee->decl, n->arguments, nargs, n);
    return address;
  }
  Call call = {.node = n, .callee = callee, .args = n->arguments, .nargs = nargs};
  AstNode *before = lower_here(l, n);
  IrOperand result = call_function(l, &call);
  l->here = before;
  return result;
}
