/* Statements. */
#include "cuda/lower_internal.h"

/* ---- scopes ---- */

void lower_cleanups(Lower *l, int keep) {
  Frame *frame = l->frame;
  for (int i = frame->cleanups.count - 1; i >= keep; i--) {
    Cleanup cleanup = frame->cleanups.items[i];
    int count = frame->cleanups.count;
    frame->cleanups.count = i; /* a return inside the destructor must not run it again */
    lower_destroy(l, cleanup.address, cleanup.type);
    frame->cleanups.count = count;
  }
}

void lower_leave_scope(Lower *l, int keep) {
  if (l->frame->cleanups.count == keep) return;
  if (lower_reachable(l)) lower_cleanups(l, keep);
  l->frame->cleanups.count = keep;
}

/* Code that is never reached from above may still be jumped into. */
static bool has_label(Lower *l, AstNode *n) {
  ast_expand(l, n);
  if (n->kind == CXCursor_LabelStmt || n->kind == CXCursor_CaseStmt ||
      n->kind == CXCursor_DefaultStmt)
    return true;
  if (ast_is_expression(n)) return false;
  for (int i = 0; i < n->nparts; i++)
    if (has_label(l, n->parts[i])) return true;
  return false;
}

static void compound(Lower *l, AstNode *n) {
  int keep = l->frame->cleanups.count;
  for (int i = 0; i < n->nparts; i++) {
    bool ends = !lower_reachable(l);
    for (int j = i; j < n->nparts && ends; j++)
      ends = !has_label(l, n->parts[j]);
    if (ends) break; /* behind a return, in the branch that these template arguments take */
    lower_statement(l, n->parts[i]);
  }
  lower_leave_scope(l, keep);
}

/* ---- if ---- */

static bool is_declaration(const AstNode *n) {
  return n->kind == CXCursor_DeclStmt || n->kind == CXCursor_VarDecl ||
         n->kind == CXCursor_UnexposedDecl;
}

static void if_statement(Lower *l, AstNode *n) {
  int keep = l->frame->cleanups.count, at = 0;
  while (at < n->nparts && is_declaration(n->parts[at])) /* init; condition variable */
    lower_statement(l, n->parts[at++]);
  if (at >= n->nparts) {
    lower_havoc(l, true, "an if statement without a condition");
    return;
  }
  AstNode *condition = n->parts[at];
  AstNode *yes = at + 1 < n->nparts ? n->parts[at + 1] : NULL;
  AstNode *no = at + 2 < n->nparts ? n->parts[at + 2] : NULL;
  bool known;
  if (lower_constant_condition(l, ast_strip(l, condition), &known)) {
    AstNode *taken = known ? yes : no;
    if (taken) lower_statement(l, taken);
    lower_leave_scope(l, keep);
    return;
  }
  int32_t otherwise = lower_label(l);
  lower_condition(l, condition, otherwise, false);
  bool never = !lower_reachable(l), always = l->label_uses.items[otherwise] == 0;
  if (yes && !(never && !has_label(l, yes))) lower_statement(l, yes);
  if (always && no && !has_label(l, no)) no = NULL;
  if (no) {
    int32_t end = lower_label(l);
    lower_jump(l, end);
    lower_close(l, otherwise);
    lower_statement(l, no);
    lower_close(l, end);
  } else {
    lower_close(l, otherwise);
  }
  lower_leave_scope(l, keep);
}

/* ---- jumps ---- */

/* The frame of the function whose body holds the statement. */
static void return_value(Lower *l, Frame *frame, AstNode *value) {
  const CppType *type = frame->return_type;
  if (!type || type->kind == CPP_VOID) {
    lower_effect(l, value);
  } else if (cpp_is_object(type)) {
    lower_init(l, frame->return_slot, type, value);
  } else if (type->kind == CPP_REFERENCE) {
    IrOperand address = lower_lvalue(l, value);
    if (frame->return_direct)
      frame->return_result = address;
    else
      lower_store_last(l, frame->return_slot, type, address_value(l, address), false);
  } else {
    IrOperand result = lower_value_as(l, value, type);
    if (frame->return_direct)
      frame->return_result = result;
    else
      lower_store_last(l, frame->return_slot, type, result, false);
  }
}

static void return_statement(Lower *l, AstNode *n) {
  Frame *frame = l->frame;
  AstNode *value = ast_part(l, n, 0);
  if (value) return_value(l, frame, value);
  lower_cleanups(l, 0);
  if (frame->caller)
    lower_jump(l, frame->return_label);
  else if (lower_reachable(l))
    lower_emit(l, IR_exit, IR_TYPE_NONE, NULL, 0);
}

static void leave_loop(Lower *l, bool is_continue) {
  Frame *frame = l->frame;
  for (int i = frame->loops.count - 1; i >= 0; i--) {
    const LoopTarget *target = &frame->loops.items[i];
    if (is_continue && target->continue_label < 0) continue;
    int32_t label = is_continue ? target->continue_label : target->break_label;
    lower_cleanups(l, target->cleanups);
    lower_jump(l, label);
    return;
  }
  lower_havoc(l, true, "a jump out of no loop");
}

static GotoLabel *goto_label(Lower *l, CXCursor statement) {
  const void *key = statement.data[1]; /* of statements; declarations have theirs in data[0] */
  Frame *frame = l->frame;
  for (int i = 0; i < frame->labels.count; i++)
    if (frame->labels.items[i].key == key) return &frame->labels.items[i];
  GotoLabel entry = {key, lower_label(l), false};
  KC_PUSH(l->scratch, frame->labels, entry);
  return &frame->labels.items[frame->labels.count - 1];
}

static void place_case(Lower *l, AstNode *n) {
  Frame *frame = l->frame;
  for (int i = 0; i < frame->cases.count; i++)
    if (frame->cases.items[i].node == n) lower_close(l, frame->cases.items[i].label);
  AstNode *last = ast_last(l, n);
  if (last && (n->kind == CXCursor_DefaultStmt || n->nparts > 1)) lower_statement(l, last);
}

/* ---- all statements ---- */

static void other_statement(Lower *l, AstNode *n) {
  if (ast_is_expression(n)) {
    lower_effect(l, n);
    return;
  }
  if (n->kind < CXCursor_FirstStmt || n->kind > CXCursor_LastStmt) {
    if (n->kind == CXCursor_VarDecl || n->kind == CXCursor_UnexposedDecl) lower_declaration(l, n);
    return; /* local types, static_assert, using */
  }
  bool hides = lower_may_reach_event(l, n);
  lower_havoc(l, hides, "a statement could not be lowered");
}

static void statement(Lower *l, AstNode *n) {
  ast_expand(l, n);
  switch (n->kind) {
  case CXCursor_CompoundStmt: compound(l, n); break;
  case CXCursor_DeclStmt:
    for (int i = 0; i < n->nparts; i++)
      lower_declaration(l, n->parts[i]);
    break;
  case CXCursor_IfStmt: if_statement(l, n); break;
  case CXCursor_ForStmt:
  case CXCursor_WhileStmt:
  case CXCursor_DoStmt:
  case CXCursor_CXXForRangeStmt: lower_loop(l, n); break;
  case CXCursor_SwitchStmt: lower_switch(l, n); break;
  case CXCursor_CaseStmt:
  case CXCursor_DefaultStmt: place_case(l, n); break;
  case CXCursor_ReturnStmt: return_statement(l, n); break;
  case CXCursor_BreakStmt: leave_loop(l, false); break;
  case CXCursor_ContinueStmt: leave_loop(l, true); break;
  case CXCursor_GCCAsmStmt: lower_asm(l, n); break;
  case CXCursor_NullStmt: break;
  case CXCursor_GotoStmt: lower_jump(l, goto_label(l, ast_reference(l, n))->label); break;
  case CXCursor_LabelStmt: {
    GotoLabel *label = goto_label(l, n->cursor);
    label->placed = true;
    lower_place(l, label->label);
    for (int i = 0; i < n->nparts; i++)
      lower_statement(l, n->parts[i]);
    break;
  }
  case CXCursor_UnexposedStmt: /* attributes, #pragma unroll */
    for (int i = 0; i < n->nparts; i++)
      lower_statement(l, n->parts[i]);
    break;
  case CXCursor_CXXTryStmt:
    if (n->nparts > 0) lower_statement(l, n->parts[0]);
    break;
  default: other_statement(l, n); break;
  }
}

void lower_statement(Lower *l, AstNode *n) {
  AstNode *before = lower_here(l, n);
  statement(l, n);
  l->here = before;
}
