#include "mutant.h"

#include <string.h>

#include <glib.h>

static int add(Mutation *out, int count, int limit, Mutation mutation) {
  if (count < limit) out[count++] = mutation;
  return count;
}

/* Changes of operands, by event: which operand, by how much, under which name. */
static const struct {
  IrEvent event;
  IrRole role;
  int64_t delta;
  const char *kind;
} changes[] = {
    {IR_EV_mbarrier_init, IR_ROLE_count, 1, "count+1"},
    {IR_EV_mbarrier_init, IR_ROLE_count, -1, "count-1"},
    {IR_EV_mbarrier_arrive, IR_ROLE_bytes, 128, "bytes+128"},
    {IR_EV_mbarrier_arrive, IR_ROLE_bytes, -128, "bytes-128"},
    {IR_EV_mbarrier_expect_tx, IR_ROLE_bytes, 128, "bytes+128"},
    {IR_EV_mbarrier_expect_tx, IR_ROLE_bytes, -128, "bytes-128"},
    {IR_EV_mbarrier_arrive, IR_ROLE_addr, 8, "barrier+1"},
    {IR_EV_mbarrier_try_wait, IR_ROLE_parity, 1, "parity^1"},
    {IR_EV_mbarrier_test_wait, IR_ROLE_parity, 1, "parity^1"},
    {IR_EV_mbarrier_wait, IR_ROLE_parity, 1, "parity^1"},
    {IR_EV_mbarrier_try_wait, IR_ROLE_addr, 8, "barrier+1"},
    {IR_EV_bulk_copy, IR_ROLE_size, 16, "size+16"},
    {IR_EV_bulk_copy, IR_ROLE_size, -16, "size-16"},
    {IR_EV_bulk_copy, IR_ROLE_mbar, 8, "barrier+1"},
    {IR_EV_bulk_tensor_load, IR_ROLE_mbar, 8, "barrier+1"},
    {IR_EV_tcgen05_commit, IR_ROLE_mbar, 8, "barrier+1"},
    {IR_EV_cp_async_wait, IR_ROLE_group, 1, "group+1"},
    {IR_EV_bulk_wait, IR_ROLE_group, 1, "group+1"},
    {IR_EV_wgmma_wait, IR_ROLE_group, 1, "group+1"},
    {IR_EV_bar_sync, IR_ROLE_count, 32, "threads+32"},
    {IR_EV_bar_sync, IR_ROLE_count, -32, "threads-32"},
    {IR_EV_bar_arrive, IR_ROLE_count, 32, "threads+32"},
    {IR_EV_bar_sync, IR_ROLE_id, 1, "id+1"},
    {IR_EV_bar_arrive, IR_ROLE_id, 1, "id+1"},
    {IR_EV_setmaxnreg, IR_ROLE_count, 64, "registers+64"},
    {IR_EV_tcgen05_dealloc, IR_ROLE_columns, -32, "columns-32"},
};

static bool may_double(const IrInsn *insn) {
  switch ((int)insn->event) {
  case IR_EV_mbarrier_init:
  case IR_EV_mbarrier_arrive:
  case IR_EV_mbarrier_expect_tx:
  case IR_EV_bulk_copy:
  case IR_EV_bulk_tensor_load:
  case IR_EV_bar_arrive:
  case IR_EV_tcgen05_commit:
  case IR_EV_clc_try_cancel: return true;
  default: return false;
  }
}

/* Data movement within a warp and reads of state are not synchronisation. */
static bool is_synchronisation(const IrInsn *insn) {
  switch ((int)insn->event) {
  case IR_EV_ldmatrix:
  case IR_EV_stmatrix:
  case IR_EV_mma_sync:
  case IR_EV_tensormap_replace: /* a store; publishing what it wrote is synchronisation */
  case IR_EV_shfl:
  case IR_EV_vote:
  case IR_EV_match:
  case IR_EV_redux:
  case IR_EV_elect:
  case IR_EV_wgmma_mma:
  case IR_EV_tcgen05_mma:
  case IR_EV_tcgen05_ld:
  case IR_EV_tcgen05_st:
  case IR_EV_griddep_launch: return false;
  default: return ir_is_protocol(insn);
  }
}

/* Events whose place matters: what they close, order or wait for stands before what follows. The
 * others may move past their neighbour without any harm: an init past another init, a fence of the
 * proxies past the barrier (it is legal on either side), a release that comes later. */
static bool may_move(const IrInsn *insn) {
  switch ((int)insn->event) {
  case IR_EV_cp_async_commit:
  case IR_EV_cp_async_wait:
  case IR_EV_bulk_commit:
  case IR_EV_bulk_wait:
  case IR_EV_bulk_tensor_store:
  case IR_EV_wgmma_fence:
  case IR_EV_wgmma_commit:
  case IR_EV_wgmma_wait:
  case IR_EV_bar_sync:
  case IR_EV_cluster_wait:
  case IR_EV_tcgen05_fence_before:
  case IR_EV_tcgen05_wait_ld:
  case IR_EV_tcgen05_wait_st: return true;
  default: return false;
  }
}

/* A change that can't be a fault in this kernel: another id for a barrier of the whole block, the
 * fence that makes barrier initialisation visible to a cluster where there is none. */
static bool is_harmless(const IrKernel *kernel, const IrInsn *insn, const char *kind) {
  if (strcmp(kind, "id+1") == 0) return ir_arg(insn, IR_ROLE_count) == NULL;
  if (strcmp(kind, "drop") == 0 && insn->event == IR_EV_fence_mbarrier_init)
    return kernel->cluster_dims[0] * MAX(kernel->cluster_dims[1], 1) <= 1;
  return false;
}

/* A copy that nobody counts: without it data is missing, but nothing is out of step. (A bulk load
 * is waited for by its bytes, and dropping it is a fault of synchronisation.) */
static bool only_moves_data(const IrInsn *insn) {
  return insn->event == IR_EV_cp_async || insn->event == IR_EV_bulk_tensor_store;
}

/* The next event after `index` in the same basic block, -1 when there is none. */
static int next_event(const IrKernel *kernel, int index) {
  for (int i = index + 1; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->leader || insn->op == IR_branch || insn->op == IR_branch_index || insn->op == IR_exit)
      return -1;
    if (insn->op == IR_event && is_synchronisation(insn)) return i;
  }
  return -1;
}

int mutations_of(const IrKernel *kernel, int index, Mutation *out, int limit) {
  const IrInsn *insn = &kernel->insns.items[index];
  int count = 0;
  if (insn->op != IR_event || !is_synchronisation(insn)) return 0;
  if (!is_harmless(kernel, insn, "drop") && !only_moves_data(insn))
    count = add(out, count, limit, (Mutation){.index = index, .kind = "drop"});
  if (may_double(insn))
    count = add(out, count, limit, (Mutation){.index = index, .kind = "double"});
  if (may_move(insn) && next_event(kernel, index) >= 0)
    count = add(out, count, limit, (Mutation){.index = index, .kind = "move"});
  if (insn->event == IR_EV_mbarrier_arrive && (insn->flags & IR_FLAG(expect_tx)))
    count = add(out, count, limit,
                (Mutation){.index = index, .kind = "no-expect", .toggle = IR_FLAG(expect_tx)});
  if (insn->event == IR_EV_bulk_wait && !(insn->flags & IR_FLAG(read)))
    count = add(out, count, limit,
                (Mutation){.index = index, .kind = "read-only", .toggle = IR_FLAG(read)});
  if ((insn->flags & IR_FLAG(scope_cluster)) && insn->event == IR_EV_mbarrier_arrive)
    count = add(out, count, limit,
                (Mutation){.index = index,
                           .kind = "scope-cta",
                           .toggle = IR_FLAG(scope_cluster) | IR_FLAG(scope_cta)});
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    if (changes[i].event == insn->event && ir_arg(insn, changes[i].role) &&
        !is_harmless(kernel, insn, changes[i].kind))
      count = add(out, count, limit,
                  (Mutation){.index = index,
                             .kind = changes[i].kind,
                             .role = changes[i].role,
                             .delta = changes[i].delta});
  return count;
}

typedef struct {
  KcArena *arena;
  const IrKernel *from;
  IrKernel *to;
  int32_t *moved; /* old index -> new index */
} Copy;

static void push(Copy *copy, IrInsn insn) {
  KC_PUSH(copy->arena, copy->to->insns, insn);
}

static int32_t new_register(Copy *copy, IrType type) {
  IrReg reg = {.type = type, .name = "mutant"};
  KC_PUSH(copy->arena, copy->to->regs, reg);
  return copy->to->regs.count - 1;
}

/* `insn` with the operand of `role` changed by delta; a register gets an add (xor for parity). */
static IrInsn change_operand(Copy *copy, IrInsn insn, const Mutation *mutation) {
  IrOperand *args = KC_NEW_ARRAY(copy->arena, IrOperand, insn.nargs);
  memcpy(args, insn.args, sizeof *args * insn.nargs);
  bool is_address = mutation->role == IR_ROLE_addr || mutation->role == IR_ROLE_mbar;
  bool is_parity = mutation->role == IR_ROLE_parity;
  for (int i = 0; i < insn.nargs; i++) {
    if (args[i].role != mutation->role) continue;
    if (args[i].kind == IR_OPD_IMM || is_address) {
      args[i].value = is_parity ? args[i].value ^ mutation->delta : args[i].value + mutation->delta;
    } else if (args[i].kind == IR_OPD_REG) {
      IrType type = copy->to->regs.items[args[i].id].type;
      IrOperand sum[3] = {ir_use(new_register(copy, type)), args[i], ir_imm(mutation->delta)};
      IrInsn before = {.op = is_parity ? IR_bxor : IR_add,
                       .type = type,
                       .guard = -1,
                       .target = -1,
                       .ipdom = -1,
                       .nargs = 3,
                       .where = insn.where};
      IrOperand *list = KC_NEW_ARRAY(copy->arena, IrOperand, 3);
      memcpy(list, sum, sizeof sum);
      before.args = list;
      before.leader = insn.leader;
      insn.leader = false;
      push(copy, before);
      uint8_t role = args[i].role;
      args[i] = sum[0];
      args[i].role = role;
    }
  }
  insn.args = args;
  return insn;
}

/* A dropped instruction leaves its results as if it had succeeded: predicates true, values 0. */
static void push_dropped(Copy *copy, const IrInsn *insn) {
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  IrInsn left = {.op = IR_nop, .guard = -1, .target = -1, .ipdom = -1, .where = insn->where};
  left.leader = insn->leader;
  if (dst && dst->kind == IR_OPD_REG) {
    IrOperand *args = KC_NEW_ARRAY(copy->arena, IrOperand, 2);
    args[0] = ir_use(dst->id);
    args[1] = ir_imm(1);
    left.op = IR_mov;
    left.type = copy->to->regs.items[dst->id].type;
    left.nargs = 2;
    left.args = args;
  }
  push(copy, left);
}

static void fix_targets(Copy *copy) {
  for (int i = 0; i < copy->to->insns.count; i++) {
    IrInsn *insn = &copy->to->insns.items[i];
    if (insn->op == IR_branch) insn->target = copy->moved[insn->target];
    if (insn->ipdom >= 0) insn->ipdom = copy->moved[insn->ipdom];
    if (insn->op != IR_branch_index) continue;
    IrOperand *args = KC_NEW_ARRAY(copy->arena, IrOperand, insn->nargs);
    memcpy(args, insn->args, sizeof *args * insn->nargs);
    for (int j = 1; j < insn->nargs; j++)
      args[j].value = copy->moved[args[j].value];
    insn->args = args;
  }
}

static void push_mutated(Copy *copy, const IrInsn *insn, const Mutation *mutation) {
  IrInsn changed = *insn;
  if (strcmp(mutation->kind, "drop") == 0) {
    push_dropped(copy, insn);
  } else if (strcmp(mutation->kind, "double") == 0) {
    push(copy, changed);
    changed.leader = false;
    push(copy, changed);
  } else if (mutation->toggle) {
    changed.flags ^= mutation->toggle;
    push(copy, changed);
  } else {
    push(copy, change_operand(copy, changed, mutation));
  }
}

IrKernel *mutant_new(KcArena *arena, const IrKernel *kernel, const Mutation *mutation) {
  IrKernel *mutant = KC_NEW(arena, IrKernel);
  *mutant = *kernel;
  memset(&mutant->insns, 0, sizeof mutant->insns);
  memset(&mutant->regs, 0, sizeof mutant->regs);
  for (int i = 0; i < kernel->regs.count; i++)
    KC_PUSH(arena, mutant->regs, kernel->regs.items[i]);
  Copy copy = {arena, kernel, mutant, KC_NEW_ARRAY(arena, int32_t, kernel->insns.count + 1)};
  bool moving = strcmp(mutation->kind, "move") == 0;
  int past = moving ? next_event(kernel, mutation->index) : -1;
  if (moving && past < 0) return NULL;
  for (int i = 0; i < kernel->insns.count; i++) {
    copy.moved[i] = mutant->insns.count;
    const IrInsn *insn = &kernel->insns.items[i];
    if (i == mutation->index && !moving) {
      push_mutated(&copy, insn, mutation);
      continue;
    }
    if (moving && i == mutation->index) continue;
    push(&copy, *insn);
    if (moving && i == past) {
      IrInsn moved = kernel->insns.items[mutation->index];
      moved.leader = false;
      push(&copy, moved);
    }
  }
  copy.moved[kernel->insns.count] = mutant->insns.count;
  if (moving && kernel->insns.items[mutation->index].leader)
    mutant->insns.items[copy.moved[mutation->index]].leader = true;
  fix_targets(&copy);
  return mutant;
}
