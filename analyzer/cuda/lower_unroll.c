/* What unrolling needs: the values that a loop's variable takes, and a way back to lower a loop
 * again. */
#include "cuda/lower_internal.h"

#define COUNT_LIMIT 512 /* trips of a loop that is unrolled */

Checkpoint lower_checkpoint(Lower *l) {
  const IrKernel *k = l->kernel;
  return (Checkpoint){.insns = k->insns.count,
                      .labels = l->b.labels.count,
                      .notes = k->notes.count,
                      .asms = k->asms.count,
                      .violations = l->unit->violations ? l->unit->violations->list.count : 0,
                      .closures = l->closures.count,
                      .cases = l->frame->cases.count,
                      .placed_at = l->placed_at,
                      .facts = l->fact_log.count,
                      .unset = l->unset.count,
                      .rounds = l->rounds.count,
                      .local_top = l->b.local_top,
                      .reachable_asm = k->reachable_asm,
                      .lowered_asm = k->lowered_asm,
                      .reachable_calls = k->reachable_calls,
                      .lowered_calls = k->lowered_calls};
}

void lower_rollback(Lower *l, const Checkpoint *c) {
  IrKernel *k = l->kernel;
  for (int i = c->insns; i < k->insns.count; i++) {
    const IrInsn *insn = &k->insns.items[i];
    if (insn->op == IR_branch && insn->target < c->labels) l->label_uses.items[insn->target]--;
  }
  k->insns.count = c->insns;
  /* labels made since may be in the prologue: they stay, those of the body are never used again */
  for (int i = c->labels; i < l->b.labels.count; i++)
    if (!l->label_in_prologue.items[i]) l->b.labels.items[i] = c->insns;
  k->notes.count = c->notes;
  k->asms.count = c->asms;
  if (l->unit->violations) l->unit->violations->list.count = c->violations;
  l->closures.count = c->closures;
  l->frame->cases.count = c->cases;
  l->placed_at = c->placed_at;
  l->unset.count = c->unset;
  l->rounds.count = c->rounds;
  facts_rollback(l, c->facts);
  k->reachable_asm = c->reachable_asm;
  k->lowered_asm = c->lowered_asm;
  k->reachable_calls = c->reachable_calls;
  k->lowered_calls = c->lowered_calls;
}

bool lower_fold(Lower *l, AstNode *n, const CppType *as, int64_t *value) {
  if (ast_constant(l, n, value)) return true;
  if (!ast_pure(l, n) || as->kind != CPP_INT) return false;
  Checkpoint before = lower_checkpoint(l);
  IrOperand folded = lower_value_as(l, n, as);
  bool constant = ir_is_imm(folded);
  if (l->kernel->insns.count != before.insns || l->b.labels.count != before.labels)
    lower_rollback(l, &before);
  *value = folded.value;
  return constant;
}

/* ---- the variable ---- */

static bool names(Lower *l, AstNode *n, CXCursor variable) {
  n = ast_strip(l, n);
  return n->kind == CXCursor_DeclRefExpr && ast_key(ast_reference(l, n)) == ast_key(variable);
}

/* Jumps into or out of the body by label, and writes to the variable, rule unrolling out. */
static bool body_allows(Lower *l, AstNode *n, AstNode *parent, CXCursor variable) {
  ast_expand(l, n);
  if (n->kind == CXCursor_LabelStmt || n->kind == CXCursor_GotoStmt) return false;
  if (n->kind == CXCursor_DeclRefExpr && ast_key(ast_reference(l, n)) == ast_key(variable) &&
      !ast_is_read(l, parent))
    return false;
  for (int i = 0; i < n->nkids; i++)
    if (!body_allows(l, n->kids[i], n, variable)) return false;
  return true;
}

static bool loop_variable(Lower *l, AstNode *init, Induction *out) {
  if (!init || init->kind != CXCursor_DeclStmt) return false;
  ast_expand(l, init);
  if (init->nparts != 1 || init->parts[0]->kind != CXCursor_VarDecl) return false;
  out->variable = init->parts[0]->cursor;
  out->type = ast_type(l, init->parts[0]);
  AstNode *value = ast_initializer(l, out->variable);
  return value && out->type->kind == CPP_INT && lower_fold(l, value, out->type, &out->first);
}

static bool loop_step(Lower *l, AstNode *n, Induction *out) {
  if (!n) return false;
  n = ast_strip(l, n);
  if (n->nparts == 0 || !names(l, n->parts[0], out->variable)) return false;
  if (n->kind == CXCursor_UnaryOperator) {
    CXUnaryOperatorKind op = l->clang->getCursorUnaryOperatorKind(n->cursor);
    bool up = op == CXUnaryOperator_PostInc || op == CXUnaryOperator_PreInc;
    out->step = up ? 1 : -1;
    return up || op == CXUnaryOperator_PostDec || op == CXUnaryOperator_PreDec;
  }
  if (n->kind != CXCursor_CompoundAssignOperator || n->nparts != 2) return false;
  CXBinaryOperatorKind op = l->clang->getCursorBinaryOperatorKind(n->cursor);
  if (op != CXBinaryOperator_AddAssign && op != CXBinaryOperator_SubAssign) return false;
  if (!lower_fold(l, n->parts[1], out->type, &out->step)) return false;
  if (op == CXBinaryOperator_SubAssign) out->step = -out->step;
  return out->step != 0;
}

/* Runs the condition with the variable bound to one value after the other. */
static bool count_trips(Lower *l, AstNode *condition, Induction *out) {
  int64_t value = out->first;
  for (out->count = 0; out->count <= COUNT_LIMIT; out->count++, value += out->step) {
    IrOperand constant = lower_constant(value, out->type->ir);
    frame_bind_value(l, l->frame, out->variable, constant, out->type);
    Checkpoint before = lower_checkpoint(l);
    IrOperand result = lower_truth(l, lower_value(l, condition), ast_type(l, condition));
    bool emitted = l->kernel->insns.count != before.insns;
    if (emitted) lower_rollback(l, &before);
    if (emitted || !ir_is_imm(result)) return false;
    if (!result.value) return true;
  }
  return false;
}

bool lower_induction(Lower *l, const ForParts *parts, Induction *out) {
  *out = (Induction){0};
  return parts->body && parts->condition && !parts->variable &&
         loop_variable(l, parts->init, out) && loop_step(l, parts->increment, out) &&
         body_allows(l, parts->body, NULL, out->variable) && count_trips(l, parts->condition, out);
}
