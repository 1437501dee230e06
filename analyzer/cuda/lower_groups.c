/* Members of cooperative groups that no instruction of one block stands for. A grid barrier waits
 * for the other blocks through memory that the driver provides; the machine runs the blocks of one
 * cluster, for which it is a barrier of the block and a fence of device scope (CUDA programming
 * guide, grid synchronization). */
#include <string.h>

#include "cuda/lower_internal.h"

static bool grid_sync(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  lower_arguments_for_effect(l, call);
  lower_event(l, IR_EV_fence, NULL, 0, IR_FLAG(sc) | IR_FLAG(scope_gpu));
  IrOperand id = ir_as(ir_imm(0), IR_ROLE_id);
  lower_event(l, IR_EV_bar_sync, &id, 1, IR_FLAG(aligned) | IR_FLAG(grid_wide));
  *result = ir_unknown();
  return true;
}

/* The first half only publishes what was written; the barrier stands where the second half waits.
 */
static bool grid_arrive(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  lower_event(l, IR_EV_fence, NULL, 0, IR_FLAG(sc) | IR_FLAG(scope_gpu));
  *result = lower_unknown_result(l, call);
  return true;
}

/* A kernel that asks is taken to be launched cooperatively: the other way has no barrier. */
static bool is_valid(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  l->kernel->asks_grid = true;
  *result = lower_constant(1, ast_type(l, call->node)->ir);
  return true;
}

const LowerBuiltin *builtin_group(const char *name) {
  static const LowerBuiltin TABLE[] = {
      {"grid_group::sync", grid_sync, 0, true},
      {"grid_group::barrier_arrive", grid_arrive, 0, true},
      {"grid_group::barrier_wait", grid_sync, 0, true},
      {"grid_group::is_valid", is_valid, 0, false},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(TABLE); i++)
    if (strcmp(TABLE[i].name, name) == 0) return &TABLE[i];
  return NULL;
}
