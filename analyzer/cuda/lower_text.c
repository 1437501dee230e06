/* Source text of operands, as the code outside all wrappers wrote them: the barrier that an asm
 * statement deep inside `mbar_wait` waits on is "&s.full[stage]" in the kernel. */
#include "cuda/lower_internal.h"

#include <string.h>

#define DEPTH_LIMIT 24

/* The kernel's own code: also the lambdas written in it. */
static bool is_outer(const Frame *frame) {
  return !frame->caller || frame->scope != NULL;
}

static const char *written(Lower *l, AstNode *n) {
  SourceRange range = unit_cursor_range(l->unit, n->cursor);
  return range.line ? unit_text(l->unit, range) : NULL;
}

static AstNode *strip(Lower *l, AstNode *n) {
  for (;;) {
    ast_expand(l, n);
    bool wrapper =
        n->kind == CXCursor_ParenExpr || n->kind == CXCursor_UnexposedExpr || ast_is_cast(n->kind);
    AstNode *inner = ast_last(l, n);
    if (!wrapper || !inner || !ast_is_expression(inner)) return n;
    n = inner;
  }
}

static const char *self_text(Lower *l, Frame *frame, int depth) {
  for (Frame *f = frame; f; f = f->scope)
    if (f->has_self)
      return f->self_origin ? lower_text_in(l, f->self_origin, f->self_frame, depth + 1) : NULL;
  return NULL;
}

static const char *without_address_of(const char *text) {
  return text && *text == '&' ? text + 1 : text;
}

static const char *member_text(Lower *l, AstNode *n, Frame *frame, int depth) {
  AstNode *object = ast_part(l, n, 0);
  const char *base =
      object ? lower_text_in(l, object, frame, depth + 1) : self_text(l, frame, depth);
  CXCursor d = ast_reference(l, n);
  if (!base || ast_is_null(d)) return written(l, n);
  const CppType *owner = cpp_cursor_type(l, l->clang->getCursorSemanticParent(d));
  base = without_address_of(base);
  if (owner->kind == CPP_RECORD && cpp_leaves(l, owner) && owner->leaves.count == 1)
    return base; /* a class around one word is named by its object */
  return kc_printf(l->arena, "%s.%s", base, unit_name(l->unit, d));
}

static const char *name_text(Lower *l, AstNode *n, Frame *frame, int depth) {
  const void *key = ast_key(ast_reference(l, n));
  for (Frame *f = frame; f; f = f->scope)
    for (int i = f->bindings.count - 1; i >= 0; i--) {
      const Binding *binding = &f->bindings.items[i];
      if (binding->key != key) continue;
      if (is_outer(f) || !binding->origin) {
        bool parameter =
            f->caller && binding->origin && ast_reference(l, n).kind == CXCursor_ParmDecl;
        if (!parameter) return written(l, n);
      }
      const char *text = lower_text_in(l, binding->origin, binding->origin_frame, depth + 1);
      return text ? text : written(l, n);
    }
  return written(l, n);
}

static const char *call_text(Lower *l, AstNode *n, Frame *frame, int depth) {
  AstNode *first = ast_part(l, n, 0);
  if (ast_arguments(l, n) >= 1 && ast_reference(l, n).kind == CXCursor_FunctionDecl &&
      (ast_arguments(l, n) == 1 || !is_outer(frame)))
    return lower_text_in(l, n->arguments[0], frame, depth + 1);
  if (ast_arguments(l, n) == 0 && first && strip(l, first)->kind == CXCursor_MemberRefExpr) {
    AstNode *object = ast_part(l, strip(l, first), 0);
    if (object && !is_outer(frame)) return lower_text_in(l, object, frame, depth + 1);
    if (!object) return self_text(l, frame, depth);
  }
  return written(l, n);
}

const char *lower_text_in(Lower *l, AstNode *n, Frame *frame, int depth) {
  if (!frame || depth > DEPTH_LIMIT) return NULL;
  n = strip(l, n);
  switch (n->kind) {
  case CXCursor_DeclRefExpr: return name_text(l, n, frame, depth);
  case CXCursor_CXXThisExpr: return self_text(l, frame, depth);
  case CXCursor_CallExpr: return call_text(l, n, frame, depth);
  case CXCursor_MemberRefExpr:
    return is_outer(frame) ? written(l, n) : member_text(l, n, frame, depth);
  case CXCursor_UnaryOperator: {
    CXUnaryOperatorKind op = l->clang->getCursorUnaryOperatorKind(n->cursor);
    if (!is_outer(frame) && n->nparts == 1 &&
        (op == CXUnaryOperator_AddrOf || op == CXUnaryOperator_Deref))
      return lower_text_in(l, n->parts[0], frame, depth + 1);
    return written(l, n);
  }
  case CXCursor_ArraySubscriptExpr: {
    if (is_outer(frame) || n->nparts < 2) return written(l, n);
    const char *base = lower_text_in(l, n->parts[0], frame, depth + 1);
    const char *index = lower_text_in(l, n->parts[1], frame, depth + 1);
    if (!base || !index) return written(l, n);
    return kc_printf(l->arena, "%s[%s]", without_address_of(base), index);
  }
  default: return written(l, n);
  }
}

const char *lower_text(Lower *l, AstNode *n) {
  return l->frame ? lower_text_in(l, n, l->frame, 0) : NULL;
}
