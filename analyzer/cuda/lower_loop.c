/* Loops and switches, laid out in source order: head, body, increment, exit. */
#include "cuda/lower_internal.h"

#define UNROLL_INSNS 100000         /* instructions that an unrolled loop may have */
#define UNROLL_FRAGMENT_INSNS 20000 /* where it would do rolled, too */

static void loop_body(Lower *l, AstNode *body, int32_t break_label, int32_t continue_label) {
  Frame *frame = l->frame;
  LoopTarget target = {break_label, continue_label, frame->cleanups.count};
  KC_PUSH(l->scratch, frame->loops, target);
  int round = rounds_begin(l);
  if (body) lower_statement(l, body);
  rounds_end(l, round);
  frame->loops.count--;
}

static bool is_declaration(const AstNode *n) {
  return n->kind == CXCursor_DeclStmt || n->kind == CXCursor_VarDecl;
}

static void while_loop(Lower *l, AstNode *n) {
  int32_t head = lower_label(l), exit = lower_label(l);
  int keep = l->frame->cleanups.count, at = 0;
  LoopFacts facts;
  lower_head(l, head, &facts);
  while (at < n->nparts && is_declaration(n->parts[at])) /* while (T x = ...) */
    lower_statement(l, n->parts[at++]);
  if (at < n->nparts) lower_condition(l, n->parts[at], exit, false);
  loop_body(l, at + 1 < n->nparts ? n->parts[at + 1] : NULL, exit, head);
  lower_leave_scope(l, keep);
  lower_jump(l, head);
  lower_close(l, exit);
  facts_loop_end(l, &facts);
  l->last_loop = facts;
}

static void do_loop(Lower *l, AstNode *n) {
  int32_t head = lower_label(l), next = lower_label(l), exit = lower_label(l);
  LoopFacts facts;
  lower_head(l, head, &facts);
  loop_body(l, ast_part(l, n, 0), exit, next);
  lower_close(l, next);
  if (ast_part(l, n, 1)) lower_condition(l, n->parts[1], head, true);
  lower_close(l, exit);
  facts_loop_end(l, &facts);
  l->last_loop = facts;
}

/* ---- for ---- */

/* Offsets of the two `;` between the parentheses of a for statement; false when they can't be had
 * (the statement is made by a macro). */
static bool for_semicolons(Lower *l, AstNode *n, unsigned offsets[2]) {
  if (!unit_can_tokenize(l->unit, n->cursor)) return false;
  CXToken *tokens = NULL;
  unsigned count = 0;
  int depth = 0, found = 0;
  l->clang->tokenize(l->unit->tu, l->clang->getCursorExtent(n->cursor), &tokens, &count);
  for (unsigned i = 0; i < count && found < 2; i++) {
    if (l->clang->getTokenKind(tokens[i]) != CXToken_Punctuation) continue;
    CXString spelling = l->clang->getTokenSpelling(l->unit->tu, tokens[i]);
    char c = *l->clang->getCString(spelling);
    l->clang->disposeString(spelling);
    if (c == '(' || c == '[' || c == '{') depth++;
    if (c == ')' || c == ']' || c == '}') depth--;
    if (depth == 0 && c == ')') break;
    if (c == ';' && depth == 1)
      l->clang->getFileLocation(l->clang->getTokenLocation(l->unit->tu, tokens[i]), NULL, NULL,
                                NULL, &offsets[found++]);
  }
  l->clang->disposeTokens(l->unit->tu, tokens, count);
  return found == 2;
}

static unsigned start_offset(Lower *l, AstNode *n) {
  unsigned offset = 0;
  CXSourceRange extent = l->clang->getCursorExtent(n->cursor);
  l->clang->getFileLocation(l->clang->getRangeStart(extent), NULL, NULL, NULL, &offset);
  return offset;
}

/* Without semicolons to go by: what each part looks like. */
static void guess_parts(Lower *l, AstNode *n, ForParts *parts) {
  for (int i = 0; i + 1 < n->nparts; i++) {
    AstNode *c = n->parts[i];
    if (c->kind == CXCursor_DeclStmt)
      parts->init = c;
    else if (ast_type(l, c)->is_bool && !parts->condition)
      parts->condition = c;
    else if (c->kind == CXCursor_UnaryOperator || c->kind == CXCursor_CompoundAssignOperator ||
             parts->condition)
      parts->increment = c;
    else if (c->kind == CXCursor_BinaryOperator)
      parts->init = c;
    else
      parts->condition = c;
  }
}

/* libclang gives the parts that are there, without saying which they are. */
static ForParts for_parts(Lower *l, AstNode *n) {
  ForParts parts = {0};
  unsigned semicolons[2];
  if (n->nparts == 0) return parts;
  parts.body = n->parts[n->nparts - 1];
  if (n->nparts == 4 && n->parts[1]->kind != CXCursor_VarDecl) {
    parts.init = n->parts[0];
    parts.condition = n->parts[1];
    parts.increment = n->parts[2];
  } else if (for_semicolons(l, n, semicolons)) {
    for (int i = 0; i + 1 < n->nparts; i++) {
      AstNode *c = n->parts[i];
      unsigned at = start_offset(l, c);
      if (at < semicolons[0])
        parts.init = c;
      else if (at >= semicolons[1])
        parts.increment = c;
      else if (is_declaration(c))
        parts.variable = c;
      else
        parts.condition = c;
    }
  } else {
    guess_parts(l, n, &parts);
  }
  return parts;
}

static void rolled(Lower *l, const ForParts *parts) {
  if (parts->init) lower_statement(l, parts->init);
  int32_t head = lower_label(l), next = lower_label(l), exit = lower_label(l);
  LoopFacts facts;
  lower_head(l, head, &facts);
  if (parts->variable) lower_statement(l, parts->variable);
  if (parts->condition) lower_condition(l, parts->condition, exit, false);
  loop_body(l, parts->body, exit, next);
  lower_close(l, next);
  if (parts->increment) lower_statement(l, parts->increment);
  lower_jump(l, head);
  lower_close(l, exit);
  facts_loop_end(l, &facts);
  l->last_loop = facts;
}

static void unrolled(Lower *l, const ForParts *parts, const Induction *induction) {
  int32_t exit = lower_label(l);
  int64_t value = induction->first;
  for (int64_t i = 0; i < induction->count; i++, value += induction->step) {
    int32_t next = lower_label(l);
    frame_bind_value(l, l->frame, induction->variable, lower_constant(value, induction->type->ir),
                     induction->type);
    loop_body(l, parts->body, exit, next);
    lower_close(l, next);
  }
  lower_close(l, exit);
}

/* ---- range-based for ---- */

/* What the range is: where its first element is, how many, of which type. */
typedef struct {
  IrOperand first;
  const CppType *elem;
  IrOperand count; /* 8 bytes */
} Range;

static bool array_range(Lower *l, AstNode *n, Range *range) {
  const CppType *type = ast_type(l, n);
  if (type->kind != CPP_ARRAY || type->count < 0) return false;
  range->first = address_pin(l, lower_lvalue(l, n));
  range->elem = type->elem;
  range->count = ir_imm(type->count);
  return true;
}

/* `for (x : {1, 2, 3})`: the array behind the std::initializer_list. */
static AstNode *list_behind(Lower *l, AstNode *n) {
  while (n->kind == CXCursor_UnexposedExpr && ast_type(l, n)->kind != CPP_ARRAY) {
    n = ast_part(l, n, 0);
    if (!n) return NULL;
  }
  return ast_type(l, n)->kind == CPP_ARRAY ? n : NULL;
}

/* A class that holds one array and nothing else (std::array, cute::array). */
static bool wrapped_array(Lower *l, AstNode *n, Range *range) {
  const CppType *type = ast_type(l, n);
  uint64_t offset = 0;
  while (type->kind == CPP_RECORD) {
    cpp_fields(l, type);
    const CppField *only = NULL;
    for (int i = 0; i < type->fields.count; i++) {
      if (type->fields.items[i].is_base && type->fields.items[i].type->fields.count == 0 &&
          type->fields.items[i].type->bytes <= 1)
        continue;
      if (only) return false;
      only = &type->fields.items[i];
    }
    if (!only) return false;
    offset += only->offset;
    type = only->type;
  }
  if (type->kind != CPP_ARRAY || type->count < 0) return false;
  range->first = address_add(address_pin(l, lower_lvalue(l, n)), (int64_t)offset);
  range->elem = type->elem;
  range->count = ir_imm(type->count);
  return true;
}

static void range_loop(Lower *l, AstNode *n) {
  AstNode *variable = NULL, *over = NULL, *body = ast_last(l, n);
  for (int i = 0; i + 1 < n->nparts; i++) {
    if (n->parts[i]->kind == CXCursor_VarDecl)
      variable = n->parts[i];
    else if (ast_is_expression(n->parts[i]))
      over = n->parts[i];
    else
      lower_statement(l, n->parts[i]); /* for (init; x : range) */
  }
  Range range;
  AstNode *list = over ? list_behind(l, over) : NULL;
  bool known = variable && over &&
               (array_range(l, over, &range) || (list && array_range(l, list, &range)) ||
                wrapped_array(l, over, &range));
  if (!known) {
    lower_havoc(l, lower_may_reach_event(l, n), "a range-based for over a class is not followed");
    return;
  }
  const CppType *index = cpp_scalar(l, CXType_LongLong), *type = ast_type(l, variable);
  int32_t head = lower_label(l), next = lower_label(l), exit = lower_label(l);
  int32_t counter = lower_temp(l, index->ir);
  lower_move(l, counter, index->ir, lower_constant(0, index->ir));
  LoopFacts facts;
  lower_head(l, head, &facts);
  IrOperand more = lower_compare(l, IR_CMP_lt, index->ir, ir_use(counter), range.count);
  lower_branch(l, more, exit, false);
  IrOperand at = address_index(l, range.first, ir_use(counter), index, range.elem->bytes);
  if (type->kind == CPP_REFERENCE) {
    frame_bind(l, l->frame, variable->cursor, address_pin(l, at), type->elem);
  } else {
    IrOperand copy = lower_allocate(l, type, declaration_name(l, variable->cursor));
    frame_bind(l, l->frame, variable->cursor, copy, type);
    lower_copy(l, copy, at, type);
  }
  loop_body(l, body, exit, next);
  lower_close(l, next);
  IrOperand args[] = {ir_use(counter), ir_use(counter), ir_imm(1)};
  lower_emit(l, IR_add, index->ir, args, 3);
  lower_jump(l, head);
  lower_close(l, exit);
  facts_loop_end(l, &facts);
  l->last_loop = facts;
}

static void once(Lower *l, AstNode *n, const ForParts *parts) {
  int keep = l->frame->cleanups.count;
  switch (n->kind) {
  case CXCursor_WhileStmt: while_loop(l, n); break;
  case CXCursor_DoStmt: do_loop(l, n); break;
  case CXCursor_ForStmt: rolled(l, parts); break;
  default: range_loop(l, n); break;
  }
  lower_leave_scope(l, keep);
}

/* The second lowering of a loop: unrolled where that is possible, else with the facts that its
 * first lowering shows to hold all the time. */
static void again(Lower *l, AstNode *n, const ForParts *parts, const Checkpoint *before,
                  const LoopFacts *first) {
  Induction induction;
  int body = l->kernel->insns.count - before->insns;
  lower_rollback(l, before);
  l->wants_unroll = false;
  if (n->kind == CXCursor_ForStmt && lower_induction(l, parts, &induction) &&
      induction.count * body < UNROLL_INSNS) {
    unrolled(l, parts, &induction);
    return;
  }
  l->loop_facts = first;
  once(l, n, parts);
  l->loop_facts = NULL;
}

/* Fragments that the body declares get registers of their own each round where nvcc unrolls it. */
static void unroll_fragments(Lower *l, const ForParts *parts, const Checkpoint *before) {
  Induction induction;
  int64_t body = l->kernel->insns.count - before->insns;
  if (!rounds_make_fragments(l, before) || !lower_induction(l, parts, &induction) ||
      induction.count * body >= UNROLL_FRAGMENT_INSNS)
    return;
  lower_rollback(l, before);
  unrolled(l, parts, &induction);
}

/* nvcc keeps the registers of an asynchronous instruction in registers by unrolling the loops that
 * number them. Where one turns up at a computed index, the loop is lowered again. */
void lower_loop(Lower *l, AstNode *n) {
  ast_expand(l, n);
  ForParts parts = {0};
  if (n->kind == CXCursor_ForStmt) parts = for_parts(l, n);
  bool wanted = l->wants_unroll, outer_pass = l->first_pass;
  int keep = l->frame->cleanups.count;
  Checkpoint before = lower_checkpoint(l);
  l->wants_unroll = false;
  l->first_pass = l->facts != NULL; /* without facts, inner loops are settled on the way */
  once(l, n, &parts);
  l->first_pass = outer_pass;
  if (l->wants_unroll && !outer_pass && (l->facts || n->kind == CXCursor_ForStmt)) {
    LoopFacts first = l->last_loop;
    first.fresh = before.local_top;
    again(l, n, &parts, &before, &first);
  } else if (!l->wants_unroll && !outer_pass && n->kind == CXCursor_ForStmt) {
    unroll_fragments(l, &parts, &before);
  }
  l->wants_unroll |= wanted;
  lower_leave_scope(l, keep);
}

/* ---- switch ---- */

static void collect_cases(Lower *l, AstNode *n, AstNode **fallback) {
  ast_expand(l, n);
  if (n->kind == CXCursor_SwitchStmt || ast_is_expression(n)) return;
  if (n->kind == CXCursor_CaseStmt || n->kind == CXCursor_DefaultStmt) {
    CaseLabel label = {n, lower_label(l)};
    KC_PUSH(l->scratch, l->frame->cases, label);
    if (n->kind == CXCursor_DefaultStmt) *fallback = n;
  }
  for (int i = 0; i < n->nparts; i++)
    collect_cases(l, n->parts[i], fallback);
}

static void branch_to_case(Lower *l, const CaseLabel *label, IrOperand value, const CppType *type) {
  const AstNode *n = label->node;
  if (n->kind == CXCursor_DefaultStmt || n->nparts == 0) return;
  IrOperand low = lower_value_as(l, n->parts[0], type), match;
  if (n->nparts > 2) { /* case 1 ... 5 */
    IrOperand high = lower_value_as(l, n->parts[1], type);
    match =
        lower_binary(l, IR_band, IR_TYPE_PRED, lower_compare(l, IR_CMP_ge, type->ir, value, low),
                     lower_compare(l, IR_CMP_le, type->ir, value, high));
  } else {
    match = lower_compare(l, IR_CMP_eq, type->ir, value, low);
  }
  lower_branch(l, match, label->label, true);
}

void lower_switch(Lower *l, AstNode *n) {
  int at = 0, keep = l->frame->cleanups.count;
  ast_expand(l, n);
  while (at < n->nparts && is_declaration(n->parts[at]))
    lower_statement(l, n->parts[at++]);
  if (at + 1 >= n->nparts) return;
  const CppType *type = ast_type(l, n->parts[at]);
  IrOperand value = lower_value(l, n->parts[at]);
  AstNode *body = n->parts[n->nparts - 1], *fallback = NULL;
  Frame *frame = l->frame;
  int first = frame->cases.count;
  int32_t exit = lower_label(l), otherwise = exit;
  collect_cases(l, body, &fallback);
  int last = frame->cases.count;
  for (int i = first; i < last; i++) {
    CaseLabel label = frame->cases.items[i];
    if (label.node == fallback) otherwise = label.label;
    branch_to_case(l, &label, value, type);
  }
  lower_jump(l, otherwise);
  loop_body(l, body, exit, -1);
  frame->cases.count = first;
  lower_close(l, exit);
  lower_leave_scope(l, keep);
}
