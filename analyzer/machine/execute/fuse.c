/* Neighbouring stores that one assignment was lowered to (the two halves of a bfloat162, the
 * members of a float4) become one vector store, which is what the compiler makes of them too. */
#include "machine/execute/core.h"

#include <string.h>

#define MOST_BYTES 16 /* of a vector store */

/* The address of `next` is where `first` ends. */
static bool continues(const IrInsn *first, const IrInsn *next) {
  const IrOperand *a = &first->args[0], *b = &next->args[0];
  int64_t written = (int64_t)(first->nargs - 1) * first->type.bytes;
  return a->kind == IR_OPD_REG && b->kind == IR_OPD_REG && a->id == b->id && !a->negated &&
         !b->negated && b->value == a->value + written;
}

static bool may_fuse(const IrInsn *first, const IrInsn *next) {
  if (first->op != IR_store || next->op != IR_store || next->leader) return false;
  if (first->type.bytes != next->type.bytes || first->type.cls != next->type.cls) return false;
  if (first->space != next->space || first->flags != next->flags || first->where != next->where)
    return false;
  if (first->guard != next->guard || first->guard_negated != next->guard_negated) return false;
  /* Both of them parts of one vector, or neither marked as such. */
  if (next->vector != (first->vector > 1 ? 1 : 0) || first->vector == 1) return false;
  if (next->nargs != 2 || next->args[1].kind != IR_OPD_REG) return false;
  if (first->args[1].kind != IR_OPD_REG || first->nargs * first->type.bytes > MOST_BYTES)
    return false;
  return continues(first, next);
}

/* `next` takes over what `first` stores. */
static void fuse(KcArena *arena, IrInsn *first, IrInsn *next) {
  IrOperand *args = KC_NEW_ARRAY(arena, IrOperand, first->nargs + 1);
  for (int i = 0; i < first->nargs; i++)
    args[i] = first->args[i];
  args[first->nargs] = next->args[1];
  next->args = args;
  next->nargs = (uint16_t)(first->nargs + 1);
  next->vector = first->vector;
  first->op = IR_nop;
  first->nargs = 0;
  first->guard = -1;
}

const IrKernel *core_fuse_stores(KcArena *arena, const IrKernel *kernel) {
  IrInsn *insns = NULL;
  for (int i = 0; i + 1 < kernel->insns.count; i++) {
    const IrInsn *now = insns ? insns : kernel->insns.items;
    if (!may_fuse(&now[i], &now[i + 1])) continue;
    if (!insns) {
      insns = KC_NEW_ARRAY(arena, IrInsn, kernel->insns.count);
      memcpy(insns, kernel->insns.items, sizeof *insns * (size_t)kernel->insns.count);
    }
    fuse(arena, &insns[i], &insns[i + 1]);
  }
  if (!insns) return kernel;
  IrKernel *out = KC_NEW(arena, IrKernel);
  *out = *kernel;
  out->insns.items = insns;
  return out;
}
