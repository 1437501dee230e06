/* Cursors as nodes: children, types, references and constants are asked of libclang once a
 * function definition, however often it is inlined. */
#include "cuda/lower_internal.h"

#include <string.h>

AstNode *ast_node(Lower *l, CXCursor cursor) {
  AstNode *n = KC_NEW(l->scratch, AstNode);
  n->cursor = cursor;
  n->kind = l->clang->getCursorKind(cursor);
  n->narguments = -1;
  return n;
}

typedef struct {
  Lower *l;
  KC_VEC(AstNode *) nodes;
} Collector;

static CXChildVisitResult collect(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Collector *collector = data;
  AstNode *n = ast_node(collector->l, cursor);
  KC_PUSH(collector->l->scratch, collector->nodes, n);
  return CXChildVisit_Continue;
}

static bool is_part(const AstNode *n) {
  return !ast_is_reference_kind(n->kind) &&
         !(n->kind >= CXCursor_FirstAttr && n->kind <= CXCursor_LastAttr);
}

void ast_expand(Lower *l, AstNode *n) {
  if (n->expanded) return;
  n->expanded = true;
  Collector collector = {.l = l};
  l->clang->visitChildren(n->cursor, collect, &collector);
  n->kids = collector.nodes.items;
  n->nkids = collector.nodes.count;
  n->parts = KC_NEW_ARRAY(l->scratch, AstNode *, n->nkids + 1);
  for (int i = 0; i < n->nkids; i++)
    if (is_part(n->kids[i])) n->parts[n->nparts++] = n->kids[i];
}

/* libclang shows the parameter `int x[4]`, which is a pointer, and the expressions that name it as
 * arrays. */
static bool is_decayed_parameter(Lower *l, AstNode *n) {
  if (n->kind == CXCursor_ParmDecl) return true;
  if (n->kind == CXCursor_DeclRefExpr) {
    CXCursor d = ast_reference(l, n);
    if (d.kind != CXCursor_ParmDecl) return false;
    CXType type = l->clang->getCanonicalType(l->clang->getCursorType(d));
    return type.kind != CXType_LValueReference && type.kind != CXType_RValueReference;
  }
  if (n->kind != CXCursor_UnexposedExpr && n->kind != CXCursor_ParenExpr) return false;
  AstNode *inner = ast_part(l, n, 0);
  return inner && n->nparts == 1 && ast_type(l, inner)->kind == CPP_POINTER;
}

const CppType *ast_type(Lower *l, AstNode *n) {
  if (!n->type) {
    n->type = cpp_cursor_type(l, n->cursor);
    if (n->type->kind == CPP_ARRAY && is_decayed_parameter(l, n)) n->type = cpp_decayed(l, n->type);
  }
  return n->type;
}

CXCursor ast_reference(Lower *l, AstNode *n) {
  if (!n->reference_known) {
    n->reference_known = true;
    n->reference = l->clang->getCursorReferenced(n->cursor);
  }
  return n->reference;
}

int ast_arguments(Lower *l, AstNode *n) {
  if (n->narguments < 0) {
    int count = l->clang->Cursor_getNumArguments(n->cursor);
    n->narguments = 0;
    n->arguments = KC_NEW_ARRAY(l->scratch, AstNode *, MAX(count, 0) + 1);
    for (int i = 0; i < count; i++) {
      CXCursor argument = l->clang->Cursor_getArgument(n->cursor, (unsigned)i);
      if (!ast_is_null(argument)) n->arguments[n->narguments++] = ast_node(l, argument);
    }
  }
  return n->narguments;
}

static SourceRange node_range(Lower *l, AstNode *n) {
  if (!n->where_known) {
    n->where_known = 1;
    n->range = unit_cursor_range(l->unit, n->cursor);
  }
  return n->range;
}

bool ast_has_location(Lower *l, AstNode *n) {
  return node_range(l, n).line > 0;
}

AstNode *ast_strip(Lower *l, AstNode *n) {
  for (;;) {
    ast_expand(l, n);
    if (n->nparts != 1) return n;
    if (n->kind != CXCursor_ParenExpr &&
        (n->kind != CXCursor_UnexposedExpr || !cpp_same(ast_type(l, n), ast_type(l, n->parts[0]))))
      return n;
    n = n->parts[0];
  }
}

AstNode *ast_copied(Lower *l, AstNode *n) {
  if (n->kind != CXCursor_CallExpr || !ast_is_null(ast_reference(l, n))) return NULL;
  AstNode *source = ast_part(l, n, 0);
  return source && n->nparts == 1 && cpp_is_object(ast_type(l, n)) &&
                 cpp_same(ast_type(l, source), ast_type(l, n))
             ? source
             : NULL;
}

bool ast_returns_reference(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  return (d.kind == CXCursor_FunctionDecl || d.kind == CXCursor_CXXMethod ||
          d.kind == CXCursor_ConversionFunction) &&
         callee_of(l, d)->result->kind == CPP_REFERENCE;
}

/* ---- declarations ---- */

Declaration *declaration_of(Lower *l, CXCursor cursor) {
  Declaration *d = g_hash_table_lookup(l->declarations, ast_key(cursor));
  if (d) return d;
  d = KC_NEW(l->scratch, Declaration);
  d->cursor = cursor;
  d->name = unit_name(l->unit, cursor);
  g_hash_table_insert(l->declarations, (gpointer)ast_key(cursor), d);
  return d;
}

bool declaration_is_shared(Lower *l, CXCursor variable) {
  Declaration *d = declaration_of(l, variable);
  if (d->shared == 0) d->shared = unit_is_shared(l->unit, variable) ? 2 : 1;
  return d->shared == 2;
}

bool declaration_constant(Lower *l, CXCursor variable, int64_t *value) {
  Declaration *d = declaration_of(l, variable);
  if (!d->constant_known) {
    d->constant_known = true;
    d->is_constant = unit_evaluate(l->unit, variable, &d->constant, NULL);
  }
  *value = d->constant;
  return d->is_constant;
}

AstNode *ast_initializer(Lower *l, CXCursor variable) {
  Declaration *d = declaration_of(l, variable);
  if (!d->init_known) {
    d->init_known = true;
    CXCursor init = l->clang->Cursor_getVarDeclInitializer(variable);
    AstNode *n = ast_is_null(init) ? NULL : ast_node(l, init);
    d->init = n && ast_is_expression(n) ? n : NULL;
  }
  return d->init;
}

/* ---- constants and purity ---- */

static bool is_literal(CXCursorKind kind) {
  return kind == CXCursor_IntegerLiteral || kind == CXCursor_CharacterLiteral ||
         kind == CXCursor_CXXBoolLiteralExpr || kind == CXCursor_CXXNullPtrLiteralExpr ||
         kind == CXCursor_FloatingLiteral || kind == CXCursor_UnaryExpr ||
         kind == CXCursor_SizeOfPackExpr || kind == CXCursor_GNUNullExpr ||
         kind == CXCursor_ConceptSpecializationExpr;
}

/* Reading the variable has no effect and is no memory access that other threads can see. */
static bool is_private_variable(Lower *l, CXCursor d) {
  if (d.kind == CXCursor_EnumConstantDecl || d.kind == CXCursor_FunctionDecl ||
      d.kind == CXCursor_CXXMethod || d.kind == CXCursor_NonTypeTemplateParameter)
    return true;
  if (d.kind == CXCursor_ParmDecl)
    return l->clang->getCanonicalType(l->clang->getCursorType(d)).kind != CXType_LValueReference;
  if (d.kind != CXCursor_VarDecl) return false;
  CXType type = l->clang->getCanonicalType(l->clang->getCursorType(d));
  if (type.kind == CXType_LValueReference || type.kind == CXType_RValueReference) return false;
  if (l->clang->isConstQualifiedType(type)) return true;
  return l->clang->Cursor_hasVarDeclGlobalStorage(d) == 0 && !declaration_is_shared(l, d);
}

static bool parts_pure(Lower *l, AstNode *n) {
  for (int i = 0; i < n->nparts; i++)
    if (!ast_pure(l, n->parts[i])) return false;
  return true;
}

static bool pure_member(Lower *l, AstNode *n) {
  CXCursor d = ast_reference(l, n);
  if (d.kind == CXCursor_VarDecl || d.kind == CXCursor_EnumConstantDecl)
    return is_private_variable(l, d);
  if (n->nparts == 0) return false; /* this->x: wherever the object is */
  return ast_type(l, n->parts[0])->kind == CPP_RECORD && parts_pure(l, n);
}

static bool compute_pure(Lower *l, AstNode *n) {
  ast_expand(l, n);
  if (is_literal(n->kind)) return true;
  switch (n->kind) {
  case CXCursor_DeclRefExpr: {
    CXCursor d = ast_reference(l, n);
    return ast_is_null(d) || is_private_variable(l, d);
  }
  case CXCursor_MemberRefExpr: return pure_member(l, n);
  case CXCursor_UnaryOperator: {
    CXUnaryOperatorKind op = l->clang->getCursorUnaryOperatorKind(n->cursor);
    return (op == CXUnaryOperator_Minus || op == CXUnaryOperator_Not ||
            op == CXUnaryOperator_LNot || op == CXUnaryOperator_Plus) &&
           parts_pure(l, n);
  }
  case CXCursor_BinaryOperator: {
    CXBinaryOperatorKind op = l->clang->getCursorBinaryOperatorKind(n->cursor);
    return op != CXBinaryOperator_Assign && op != CXBinaryOperator_Comma &&
           op != CXBinaryOperator_PtrMemD && op != CXBinaryOperator_PtrMemI && parts_pure(l, n);
  }
  case CXCursor_UnexposedExpr: return n->nparts > 0 && parts_pure(l, n);
  case CXCursor_ParenExpr:
  case CXCursor_ConditionalOperator: return parts_pure(l, n);
  default: return ast_is_cast(n->kind) && !cpp_is_object(ast_type(l, n)) && parts_pure(l, n);
  }
}

bool ast_pure(Lower *l, AstNode *n) {
  if (n->pure == 0) n->pure = compute_pure(l, n) ? 2 : 1;
  return n->pure == 2;
}

static bool evaluable(Lower *l, AstNode *n);

static bool compute_evaluable(Lower *l, AstNode *n) {
  if (ast_pure(l, n)) return true;
  ast_expand(l, n);
  if (n->kind == CXCursor_UnaryOperator || n->kind == CXCursor_ParenExpr ||
      n->kind == CXCursor_BinaryOperator || n->kind == CXCursor_UnexposedExpr ||
      n->kind == CXCursor_CallExpr || n->kind == CXCursor_MemberRefExpr ||
      n->kind == CXCursor_ConditionalOperator || n->kind == CXCursor_InitListExpr ||
      n->kind == CXCursor_CXXFunctionalCastExpr || n->kind == CXCursor_ArraySubscriptExpr ||
      ast_is_cast(n->kind)) {
    if (n->kind == CXCursor_UnaryOperator) {
      CXUnaryOperatorKind op = l->clang->getCursorUnaryOperatorKind(n->cursor);
      if (op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec) return false;
    }
    if (n->kind == CXCursor_BinaryOperator) {
      CXBinaryOperatorKind op = l->clang->getCursorBinaryOperatorKind(n->cursor);
      if (op == CXBinaryOperator_Assign || op == CXBinaryOperator_Comma) return false;
    }
    for (int i = 0; i < n->nparts; i++)
      if (!evaluable(l, n->parts[i])) return false;
    return true;
  }
  return n->kind == CXCursor_DeclRefExpr;
}

/* Calls whose arguments have no effects: then evaluating them at compile time loses none. */
static bool evaluable(Lower *l, AstNode *n) {
  if (n->evaluable == 0) n->evaluable = compute_evaluable(l, n) ? 2 : 1;
  return n->evaluable == 2;
}

/* Whether a part of `n` that is no constant keeps `n` from being one. libclang would find that out
 * too, but from the bottom for each level of a long expression anew. */
static bool parts_refuse(Lower *l, AstNode *n) {
  bool logical = false;
  if (n->kind == CXCursor_BinaryOperator) {
    CXBinaryOperatorKind op = l->clang->getCursorBinaryOperatorKind(n->cursor);
    logical = op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr;
  } else if (n->kind != CXCursor_ParenExpr && n->kind != CXCursor_UnaryOperator) {
    return false;
  }
  int64_t value = 0;
  int integers = 0, constants = 0;
  for (int i = 0; i < n->nparts; i++) {
    if (ast_type(l, n->parts[i])->kind != CPP_INT) continue;
    integers++;
    constants += ast_constant(l, n->parts[i], &value);
  }
  return logical ? integers > 0 && constants == 0 : constants < integers;
}

bool ast_constant(Lower *l, AstNode *n, int64_t *value) {
  if (n->constant == 0) {
    n->constant = 1;
    bool is_unsigned = false;
    if (ast_type(l, n)->kind == CPP_INT && evaluable(l, n) && !parts_refuse(l, n) &&
        unit_evaluate(l->unit, n->cursor, &n->value, &is_unsigned))
      n->constant = 2;
  }
  if (n->constant == 2) *value = n->value;
  return n->constant == 2;
}

/* ---- callees ---- */

Callee *callee_of(Lower *l, CXCursor function) {
  Callee *c = g_hash_table_lookup(l->callees, ast_key(function));
  if (c) return c;
  c = KC_NEW(l->scratch, Callee);
  c->decl = function;
  c->kind = l->clang->getCursorKind(function);
  c->name = unit_name(l->unit, function);
  c->result = cpp_type(l, l->clang->getCursorResultType(function));
  c->asms = -1;
  c->is_member = c->kind == CXCursor_Destructor || c->kind == CXCursor_ConversionFunction ||
                 (c->kind == CXCursor_CXXMethod && !l->clang->CXXMethod_isStatic(function));
  g_hash_table_insert(l->callees, (gpointer)ast_key(function), c);
  return c;
}

static void count_returns(Lower *l, AstNode *n, Callee *callee) {
  if (n->kind == CXCursor_ReturnStmt) {
    callee->returns++;
    return;
  }
  if (n->kind == CXCursor_LambdaExpr) return;
  if (ast_is_expression(n) && n->kind != CXCursor_StmtExpr && n->kind != CXCursor_UnexposedExpr)
    return;
  ast_expand(l, n);
  for (int i = 0; i < n->nparts; i++)
    count_returns(l, n->parts[i], callee);
}

bool callee_has_body(Lower *l, Callee *c) {
  if (c->body_known) return c->body != NULL;
  c->body_known = true;
  CXCursor definition = l->clang->getCursorDefinition(c->decl);
  if (ast_is_null(definition)) return false;
  AstNode *n = ast_node(l, definition);
  ast_expand(l, n);
  c->params = KC_NEW_ARRAY(l->scratch, AstNode *, n->nkids + 1);
  for (int i = 0; i < n->nkids; i++) {
    if (n->kids[i]->kind == CXCursor_ParmDecl) c->params[c->nparams++] = n->kids[i];
    if (n->kids[i]->kind == CXCursor_CompoundStmt || n->kids[i]->kind == CXCursor_CXXTryStmt)
      c->body = n->kids[i];
  }
  if (!c->body) return false;
  c->definition = n;
  count_returns(l, c->body, c);
  AstNode *last = ast_last(l, c->body);
  c->tail_return = c->returns == 1 && last && last->kind == CXCursor_ReturnStmt;
  return true;
}

bool ast_is_read(Lower *l, AstNode *parent) {
  if (!parent) return false;
  if (parent->kind == CXCursor_LambdaExpr) return true; /* a capture by copy */
  /* the conversion that reads, or that to const for a parameter `const T &` */
  return parent->kind == CXCursor_UnexposedExpr && parent->nparts == 1 &&
         cpp_is_scalar(ast_type(l, parent));
}

static void find_other_uses(Lower *l, AstNode *n, AstNode *parent, GHashTable *written) {
  ast_expand(l, n);
  if (n->kind == CXCursor_DeclRefExpr) {
    CXCursor d = ast_reference(l, n);
    if ((d.kind == CXCursor_ParmDecl || d.kind == CXCursor_VarDecl) && !ast_is_read(l, parent))
      g_hash_table_add(written, (gpointer)ast_key(d));
  }
  for (int i = 0; i < n->nkids; i++)
    find_other_uses(l, n->kids[i], n, written);
}

bool callee_only_reads(Lower *l, Callee *c, CXCursor variable) {
  if (!c || !callee_has_body(l, c)) return false;
  if (!c->written) {
    c->written = g_hash_table_new(NULL, NULL);
    find_other_uses(l, c->definition, NULL, c->written);
  }
  return !g_hash_table_contains(c->written, ast_key(variable)) &&
         !l->clang->isVolatileQualifiedType(l->clang->getCursorType(variable));
}

bool callee_is_system(Lower *l, Callee *c) {
  if (c->system == 0) { /* the compiler's own have the place of their first use */
    /* __nv_: the device library of mathematical functions, declared by who calls it directly */
    bool reserved = g_str_has_prefix(c->name, "__builtin_") ||
                    g_str_has_prefix(c->name, "__nvvm_") ||
                    (g_str_has_prefix(c->name, "__nv_") && !callee_has_body(l, c));
    c->system = reserved || unit_is_builtin(l->unit, c->decl) ? 2 : 1;
  }
  return c->system == 2;
}

bool callee_is_kernel(Lower *l, Callee *c) {
  if (c->global == 0)
    c->global = c->kind == CXCursor_FunctionDecl && c->result->kind == CPP_VOID &&
                        unit_has_attr(l->unit, c->decl, CXCursor_CUDAGlobalAttr)
                    ? 2
                    : 1;
  return c->global == 2;
}

const char *callee_qualified(Lower *l, Callee *c) {
  if (!c->qualified) c->qualified = unit_qualified_name(l->unit, c->decl);
  return c->qualified;
}
