/* Calls without a body: library calls that a dialect knows, and what may be lost by the others. */
#include "cuda/lower_internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- what a construct may reach ---- */

/* Words of instructions that touch memory, synchronise or branch. */
static bool asm_matters(const char *text) {
  static const char *const WORDS[] = {
      "bar",     "cp.",  "wgmma",  "tcgen05",  "fence",    "wait",     "arrive", "griddep",
      "maxnreg", "atom", "red.",   "st.",      "ld.",      "elect",    "shfl",   "vote",
      "match",   "sync", "tensor", "multimem", "prefetch", "clusterl", "sleep",  "bra",
      "exit",    "trap", "mapa",   "stmatrix", "ldmatrix", "discard",  "call",   "@"};
  for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
    if (strstr(text, WORDS[i])) return true;
  return false;
}

static bool name_suggests_event(const char *name) {
  static const char *const WORDS[] = {"sync",    "barrier", "fence", "mma",    "async", "atomic",
                                      "cluster", "arrive",  "wait",  "tensor", "copy",  "shfl",
                                      "vote",    "elect",   "tma",   "commit", "store", "load"};
  g_autofree char *lower = g_ascii_strdown(name, -1);
  if (strstr(lower, "gamma") || g_str_has_prefix(lower, "copysign")) return false; /* arithmetic */
  for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
    if (strstr(lower, WORDS[i])) return true;
  return false;
}

bool lower_is_unresolved_call(Lower *l, AstNode *n) {
  AstNode *first = ast_part(l, n, 0);
  while (first && ast_part(l, first, 0) &&
         (first->kind == CXCursor_UnexposedExpr || first->kind == CXCursor_ParenExpr))
    first = ast_part(l, first, 0);
  if (!first) return false;
  ast_expand(l, first);
  for (int i = 0; i < first->nkids; i++)
    if (first->kids[i]->kind == CXCursor_OverloadedDeclRef) return true;
  return n->nparts > 1 || ast_reference(l, first).kind == CXCursor_OverloadedDeclRef;
}

static bool asm_statement_matters(Lower *l, AstNode *n) {
  CudaAsm statement = {0};
  const char *why = NULL;
  return !unit_asm(l->unit, n->cursor, &statement, &why) || asm_matters(statement.text);
}

bool lower_may_reach_event(Lower *l, AstNode *n) {
  if (l->kernel->is_host) return false;
  ast_expand(l, n);
  if (n->kind == CXCursor_GCCAsmStmt) return asm_statement_matters(l, n);
  if (n->kind == CXCursor_MSAsmStmt || n->kind == CXCursor_OverloadedDeclRef) return true;
  if (n->kind == CXCursor_CallExpr) {
    CXCursor d = ast_reference(l, n);
    if (ast_is_null(d)) return true;
    if (d.kind == CXCursor_VarDecl || d.kind == CXCursor_ParmDecl) return true;
    if (callee_may_reach_event(l, callee_of(l, d))) return true;
  }
  for (int i = 0; i < n->nkids; i++)
    if (lower_may_reach_event(l, n->kids[i])) return true;
  return false;
}

bool callee_may_reach_event(Lower *l, Callee *callee) {
  if (callee->reach == 0) {
    callee->reach = 1; /* recursion adds nothing */
    const LowerBuiltin *builtin = builtin_find(l, callee);
    bool reaches;
    if (builtin)
      reaches = builtin->is_event;
    else if (callee_has_body(l, callee))
      reaches = !lower_is_opaque_call(l, callee) && lower_may_reach_event(l, callee->body);
    else
      reaches = !callee_is_system(l, callee) || name_suggests_event(callee->name);
    callee->reach = reaches ? 2 : 1;
  }
  return callee->reach == 2 && !l->kernel->is_host;
}

static int count_asms(Lower *l, AstNode *n) {
  if (n->kind == CXCursor_GCCAsmStmt) return 1;
  ast_expand(l, n);
  int count = 0;
  if (n->kind == CXCursor_CallExpr) {
    CXCursor d = ast_reference(l, n);
    if (!ast_is_null(d) && (d.kind == CXCursor_FunctionDecl || d.kind == CXCursor_CXXMethod))
      count += callee_asms(l, callee_of(l, d));
  }
  for (int i = 0; i < n->nkids; i++)
    count += count_asms(l, n->kids[i]);
  return count;
}

int callee_asms(Lower *l, Callee *callee) {
  if (callee->asms < 0) {
    callee->asms = 0;
    if (callee_has_body(l, callee)) callee->asms = count_asms(l, callee->body);
  }
  return callee->asms;
}

/* ---- functions that are not followed ---- */

static const char *file_of(Lower *l, CXCursor declaration) {
  SourceRange range = unit_cursor_range(l->unit, declaration);
  if (range.file == 0) return "";
  const char *path = l->program->sources.files.items[range.file].path;
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* The C++ library of the host; std::array is followed, it carries sizes and strides. */
static bool is_host_library(const char *name) {
  return (g_str_has_prefix(name, "std::") && !g_str_has_prefix(name, "std::array::")) ||
         g_str_has_prefix(name, "__gnu_cxx::") || g_str_has_prefix(name, "at::") ||
         g_str_has_prefix(name, "c10::") || g_str_has_prefix(name, "torch::");
}

bool lower_is_opaque_call(Lower *l, Callee *callee) {
  if (callee->opaque == 0) {
    const char *file = file_of(l, callee->decl);
    bool numbers = g_str_has_prefix(file, "cuda_fp") || g_str_has_prefix(file, "cuda_bf16") ||
                   g_str_has_prefix(file, "__clang_cuda_math") ||
                   g_str_has_prefix(file, "__clang_cuda_cmath") ||
                   g_str_has_prefix(file, "cuComplex");
    bool host_library = l->kernel->is_host && is_host_library(callee_qualified(l, callee));
    callee->opaque = numbers || host_library ? 2 : 1;
  }
  return callee->opaque == 2;
}

void lower_arguments_for_effect(Lower *l, const Call *call) {
  for (int i = 0; i < call->nargs; i++)
    if (!lower_is_default_argument(l, call->args[i])) lower_effect(l, call->args[i]);
}

IrOperand lower_unknown_result(Lower *l, const Call *call) {
  const CppType *type = call->callee ? call->callee->result : ast_type(l, call->node);
  if (call->callee && call->callee->kind == CXCursor_Constructor && call->node)
    type = ast_type(l, call->node);
  if (cpp_is_object(type)) return lower_allocate(l, type, NULL);
  IrOperand unknown = ir_unknown();
  if (cpp_is_scalar(type)) unknown.type = type->ir;
  return unknown;
}

static bool is_writable(Lower *l, const CppType *parameter) {
  return (parameter->kind == CPP_POINTER || parameter->kind == CPP_REFERENCE) &&
         (parameter->type.kind == CXType_ConstantArray ||
          !l->clang->isConstQualifiedType(l->clang->getPointeeType(parameter->type))) &&
         (cpp_is_object(parameter->elem) || cpp_is_scalar(parameter->elem));
}

static const CppType *parameter_type(Lower *l, Callee *callee, int index) {
  if (!callee) return NULL;
  CXType function = l->clang->getCursorType(callee->decl);
  if (index >= l->clang->getNumArgTypes(function)) return NULL;
  const CppType *type = cpp_type(l, l->clang->getArgType(function, (unsigned)index));
  return type->kind == CPP_ARRAY ? cpp_decayed(l, type) : type;
}

/* A function that is not followed writes an object: unknown from now on, and where others can see
 * it (an operator= of a number format on shared memory), a store like any other. */
static void overwrite(Lower *l, const Call *call, IrOperand address, const CppType *type) {
  if (address_is_local(address)) {
    lower_forget(l, address, type);
  } else if (call->callee && lower_is_opaque_call(l, call->callee)) {
    if (cpp_is_scalar(type)) {
      lower_store(l, address, type, ir_unknown(), false);
      return;
    }
    IrOperand unknown = lower_allocate(l, type, NULL);
    lower_forget(l, unknown, type);
    lower_copy(l, address, unknown, type);
  }
}

/* Evaluates the arguments of a function that is not followed; what it can write becomes unknown. */
static void give_up_arguments(Lower *l, const Call *call) {
  for (int i = 0; i < call->nargs; i++) {
    AstNode *n = call->args[i];
    if (lower_is_default_argument(l, n)) continue;
    const CppType *type = parameter_type(l, call->callee, i);
    if (!type || !is_writable(l, type)) {
      lower_effect(l, n);
      continue;
    }
    IrOperand address = type->kind == CPP_POINTER ? lower_decayed(l, n) : lower_lvalue(l, n);
    overwrite(l, call, address, type->elem);
  }
  if (call->has_object && call->callee && !l->clang->CXXMethod_isConst(call->callee->decl))
    overwrite(l, call, call->object,
              cpp_cursor_type(l, l->clang->getCursorSemanticParent(call->callee->decl)));
}

static CXChildVisitResult find_call_operator(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  CXCursor *found = data;
  if (cursor.kind != CXCursor_CXXMethod) return CXChildVisit_Continue;
  *found = cursor;
  return CXChildVisit_Break;
}

/* A library function of the host that is given a lambda may call it, as std::call_once does: what
 * the lambda launches and sets counts. Its parameters are unknown. */
static void call_lambdas(Lower *l, const Call *call) {
  for (int i = 0; i < call->nargs; i++) {
    AstNode *n = ast_strip(l, call->args[i]);
    while (n->kind == CXCursor_UnexposedExpr && ast_part(l, n, 0) && n->nparts == 1)
      n = ast_part(l, n, 0);
    if (n->kind != CXCursor_LambdaExpr) continue;
    CXCursor method = l->clang->getNullCursor();
    l->clang->visitChildren(ast_type(l, n)->decl, find_call_operator, &method);
    if (method.kind != CXCursor_CXXMethod) continue;
    Call inner = {.node = n, .callee = callee_of(l, method), .has_object = true};
    if (!callee_has_body(l, inner.callee)) continue;
    inner.object = address_pin(l, lower_lvalue(l, n));
    lower_inline(l, &inner, NULL);
  }
}

IrOperand lower_unknown_call(Lower *l, const Call *call) {
  Callee *callee = call->callee;
  IrOperand result;
  if (lower_dialect_call(l, call, &result)) {
    l->kernel->lowered_calls++;
    return result;
  }
  bool hides = !lower_is_opaque_call(l, callee) && callee_may_reach_event(l, callee);
  if (l->kernel->is_host) call_lambdas(l, call);
  give_up_arguments(l, call);
  facts_clobber(l, ir_unknown(), 0);
  if (l->kernel->is_host || lower_is_opaque_call(l, callee) || callee_is_system(l, callee)) {
    if (hides)
      lower_havoc(l, true, "'%s' is not modelled", callee->name);
    else
      l->kernel->lowered_calls++;
    return lower_unknown_result(l, call);
  }
  lower_event(l, IR_EV_extern_call, NULL, 0, 0)->text = callee->name;
  lower_havoc(l, hides, "'%s' has no body", callee_qualified(l, callee));
  return lower_unknown_result(l, call);
}

/* ---- unresolved calls ---- */

/* "wait" of "s.full[i].wait". */
static const char *last_word(const char *text) {
  if (!text || !*text) return "?";
  const char *at = text + strlen(text);
  while (at > text && (g_ascii_isalnum(at[-1]) || at[-1] == '_'))
    at--;
  return *at ? at : text;
}

static const char *unresolved_name(Lower *l, AstNode *n) {
  while (n) {
    ast_expand(l, n);
    for (int i = 0; i < n->nkids; i++)
      if (n->kids[i]->kind == CXCursor_OverloadedDeclRef)
        return unit_name(l->unit, n->kids[i]->cursor);
    if (n->kind == CXCursor_MemberRefExpr || n->kind == CXCursor_DeclRefExpr) {
      CXCursor d = ast_reference(l, n);
      const char *name = unit_name(l->unit, ast_is_null(d) ? n->cursor : d);
      if (*name) return name;
      return last_word(unit_text(l->unit, unit_cursor_range(l->unit, n->cursor)));
    }
    n = ast_part(l, n, 0);
  }
  return "?";
}

IrOperand lower_unresolved_call(Lower *l, AstNode *n) {
  IrOperand result = ir_unknown();
  ast_expand(l, n);
  l->kernel->reachable_calls++;
  AstNode *first = n->nparts ? n->parts[0] : NULL;
  Call call = {.node = n,
               .name = first ? unresolved_name(l, first) : "?",
               .args = n->parts + MIN(n->nparts, 1),
               .nargs = MAX(n->nparts - 1, 0)};
  if (first && first->kind == CXCursor_MemberRefExpr && lower_named_object(l, first)) {
    call.object_node = lower_named_object(l, first);
    call.object = lower_object_of(l, first, NULL);
    call.has_object = true;
  }
  if (lower_dialect_call(l, &call, &result) || lower_kernel_launch(l, &call, &result)) {
    l->kernel->lowered_calls++;
    return result;
  }
  lower_arguments_for_effect(l, &call);
  lower_havoc(l, true, "the call of '%s' could not be resolved", call.name);
  return lower_unknown_result(l, &call);
}

/* ---- dialects ---- */

static AstNode *dialect_argument(const Call *call, const char *number) {
  int index = atoi(number);
  return index >= 1 && index <= call->nargs ? call->args[index - 1] : NULL;
}

/* Address of `this` or of `this.member.member`. */
static IrOperand dialect_object(Lower *l, const Call *call, const char *path,
                                const CppType **type) {
  IrOperand address = call->object;
  *type = call->callee ? cpp_cursor_type(l, l->clang->getCursorSemanticParent(call->callee->decl))
          : call->object_node ? ast_type(l, call->object_node)
                              : NULL;
  if (!call->has_object) return ir_unknown();
  while (*path == '.' && *type && (*type)->kind == CPP_RECORD) {
    size_t length = strcspn(++path, ".");
    cpp_fields(l, *type);
    const CppField *found = NULL;
    for (int i = 0; i < (*type)->fields.count && !found; i++) {
      const char *name = unit_name(l->unit, (*type)->fields.items[i].decl);
      if (strlen(name) == length && strncmp(name, path, length) == 0)
        found = &(*type)->fields.items[i];
    }
    if (!found) return ir_unknown();
    address = address_add(address, (int64_t)found->offset);
    *type = found->type;
    path += length;
  }
  return *path ? ir_unknown() : address;
}

static IrOperand template_value(Lower *l, const Call *call, const char *number) {
  unsigned index = (unsigned)atoi(number);
  if (!call->callee) return ir_unknown();
  CXCursor d = call->callee->decl;
  int count = l->clang->Cursor_getNumTemplateArguments(d);
  if (count < 0 || index >= (unsigned)count ||
      l->clang->Cursor_getTemplateArgumentKind(d, index) != CXTemplateArgumentKind_Integral)
    return ir_unknown();
  return ir_imm(l->clang->Cursor_getTemplateArgumentValue(d, index));
}

static IrOperand pointed_size(Lower *l, const Call *call, const char *number) {
  AstNode *n = dialect_argument(call, number);
  if (!n) return ir_unknown();
  const CppType *type = cpp_referent(ast_type(l, ast_strip(l, n)));
  if (type->kind == CPP_POINTER) type = type->elem;
  return type->bytes ? ir_imm((int64_t)type->bytes) : ir_unknown();
}

static IrOperand argument_vector(Lower *l, const Call *call, int first) {
  int count = MAX(call->nargs - first + 1, 0);
  IrOperand *list = KC_NEW_ARRAY(l->arena, IrOperand, count + 1);
  for (int i = 0; i < count; i++)
    list[i] = lower_call_argument(l, call, first - 1 + i);
  return (IrOperand){.kind = IR_OPD_VECTOR, .list = list, .count = count};
}

static bool is_address_role(const char *role) {
  return strcmp(role, "addr") == 0 || strcmp(role, "mbar") == 0 || strcmp(role, "map") == 0 ||
         strcmp(role, "dst_addr") == 0 || strcmp(role, "src_addr") == 0;
}

static IrOperand one_argument(Lower *l, const char *role, AstNode *n, bool pointed) {
  const CppType *type = ast_type(l, n);
  if (pointed) {
    IrOperand address = type->kind == CPP_POINTER ? lower_decayed(l, n) : lower_lvalue(l, n);
    const CppType *elem = type->kind == CPP_POINTER ? type->elem : type;
    return lower_load(l, address, elem, false);
  }
  if (is_address_role(role) && cpp_is_object(type)) return address_value(l, lower_lvalue(l, n));
  if (is_address_role(role) && type->kind == CPP_INT && type->bytes == 8 &&
      ast_strip(l, n)->kind == CXCursor_DeclRefExpr)
    return address_value(l, lower_lvalue(l, n)); /* a barrier word handed over by reference */
  return lower_value(l, n);
}

/* "2+8": what the library adds to argument 2, unless an overload takes an enumeration there: those
 * are the library's own numbers. */
static IrOperand with_offset(Lower *l, const Call *call, const char *source, IrOperand value) {
  const char *plus = strchr(source, '+');
  if (!plus) return value;
  if (call->callee) {
    CXCursor parameter =
        l->clang->Cursor_getArgument(call->callee->decl, (unsigned)atoi(source) - 1);
    CXType type = l->clang->getCanonicalType(l->clang->getCursorType(parameter));
    if (type.kind == CXType_Enum) return value;
  }
  return lower_binary(l, IR_add, IR_TYPE_U(4), value, ir_imm(atoi(plus + 1)));
}

static IrOperand dialect_operand(Lower *l, const Call *call, const IrPair *pair,
                                 const char **text) {
  const char *source = pair->value;
  bool pointed = *source == '*';
  if (pointed) source++;
  if (*source == '#') return ir_imm(strtoll(source + 1, NULL, 0));
  if (*source == 'T') return template_value(l, call, source + 1);
  if (strncmp(source, "sizeof(", 7) == 0)
    return source[7] == 'T' ? template_value(l, call, source + 8)
                            : pointed_size(l, call, source + 7);
  if (strncmp(source, "this", 4) == 0) {
    const CppType *type;
    IrOperand address = dialect_object(l, call, source + 4, &type);
    if (is_address_role(pair->key) && !*text && call->object_node)
      *text = lower_text(l, call->object_node);
    if (pointed || (!is_address_role(pair->key) && type && cpp_is_scalar(type)))
      return type ? lower_load(l, address, type, false) : ir_unknown();
    return address_value(l, address);
  }
  if (g_str_has_suffix(source, "..")) return argument_vector(l, call, atoi(source));
  AstNode *n = dialect_argument(call, source);
  if (!n) return ir_unknown();
  if (is_address_role(pair->key) && !*text) *text = lower_text(l, n);
  return with_offset(l, call, source, one_argument(l, pair->key, n, pointed));
}

static IrRole role_by_name(const char *name) {
  for (int i = 1; i < IR_ROLE_COUNT; i++)
    if (strcmp(ir_role_name((IrRole)i), name) == 0) return (IrRole)i;
  return IR_ROLE_none;
}

static IrRole result_role(const DialectEvent *event, const char *name) {
  IrRole role = role_by_name(name);
  if (role == IR_ROLE_pred &&
      (event->event == IR_EV_mbarrier_try_wait || event->event == IR_EV_mbarrier_test_wait))
    return IR_ROLE_dst; /* their only result is a predicate */
  return role;
}

static void emit_dialect_event(Lower *l, const Call *call, const DialectEvent *event,
                               IrOperand *result) {
  IrOperand args[16];
  int count = 0;
  const char *text = NULL;
  if (result && result->kind == IR_OPD_REG) args[count++] = *result;
  for (int i = 0; i < event->arguments.count && count < 16; i++) {
    const IrPair *pair = &event->arguments.items[i];
    args[count++] = ir_as(dialect_operand(l, call, pair, &text), role_by_name(pair->key));
  }
  IrInsn *insn = lower_event(l, event->event, args, count, event->flags);
  insn->shape = event->shape;
  insn->text = text ? text : insn->text;
}

bool lower_dialect_call(Lower *l, const Call *call, IrOperand *result) {
  const char *name = call->callee ? callee_qualified(l, call->callee) : call->name;
  if (!l->unit->dialects || !name) return false;
  const DialectMatch *match = dialects_match(l->unit->dialects, name, call->nargs);
  if (!match) return false;
  *result = lower_unknown_result(l, call);
  bool gives = match->result && strcmp(match->result, "unknown") != 0;
  if (match->events.count == 0) lower_arguments_for_effect(l, call);
  for (int i = 0; i < match->events.count; i++) {
    const DialectEvent *event = &match->events.items[i];
    IrOperand written = {0};
    if (gives && i + 1 == match->events.count) {
      IrRole role = result_role(event, match->result);
      bool predicate = strcmp(match->result, "pred") == 0;
      const CppType *type = ast_type(l, call->node);
      IrType ir = predicate || !cpp_is_scalar(type) ? IR_TYPE_PRED : type->ir;
      written = ir_as(ir_use(lower_temp(l, ir)), role);
      written.type = ir;
      *result = written;
      result->role = 0;
    }
    emit_dialect_event(l, call, event, &written);
  }
  return true;
}
