/* Builtins of barriers, warps, clusters, fences and atomics. */
#include "cuda/lower_internal.h"

#include <string.h>

static IrOperand number_argument(Lower *l, const Call *call, int index) {
  if (index >= call->nargs || lower_is_default_argument(l, call->args[index])) return ir_unknown();
  return lower_value_as(l, call->args[index], cpp_scalar(l, CXType_UInt));
}

static IrOperand role(IrOperand operand, IrRole r) {
  return ir_as(operand, r);
}

/* A fresh result register of the call's type (4 bytes when it has none). */
static IrOperand result_register(Lower *l, const Call *call) {
  const CppType *type = ast_type(l, call->node);
  IrType ir = cpp_is_scalar(type) ? type->ir : IR_TYPE_U(4);
  IrOperand reg = ir_use(lower_temp(l, ir));
  reg.type = ir;
  return reg;
}

/* The result that the caller sees: the register, or for records (half) an object of unknown
 * content. */
static IrOperand seen(Lower *l, const Call *call, IrOperand reg) {
  if (cpp_is_object(ast_type(l, call->node))) return lower_unknown_result(l, call);
  reg.role = 0;
  return reg;
}

/* ---- block and cluster barriers ---- */

enum { BAR_ALIGNED = 1, BAR_ID = 2, BAR_COUNT = 4 };

static bool bar_sync(Lower *l, const Call *call, int variant, IrOperand *result) {
  IrOperand args[2] = {role(ir_imm(0), IR_ROLE_id)};
  int count = 1;
  if (variant & BAR_ID) args[0] = role(number_argument(l, call, 0), IR_ROLE_id);
  if (variant & BAR_COUNT) args[count++] = role(number_argument(l, call, 1), IR_ROLE_count);
  lower_event(l, IR_EV_bar_sync, args, count, (variant & BAR_ALIGNED) ? IR_FLAG(aligned) : 0);
  *result = ir_unknown();
  return true;
}

static bool bar_red(Lower *l, const Call *call, int vote, IrOperand *result) {
  if (call->nargs < 1) return false;
  IrOperand predicate = lower_truth(l, lower_value(l, call->args[0]), ast_type(l, call->args[0]));
  IrOperand reg = result_register(l, call);
  IrOperand args[] = {role(reg, IR_ROLE_dst), role(ir_imm(0), IR_ROLE_id),
                      role(predicate, IR_ROLE_src)};
  lower_event(l, IR_EV_bar_red, args, 3, IR_FLAG(aligned))->sub = (uint8_t)vote;
  *result = seen(l, call, reg);
  return true;
}

static bool simple_event(Lower *l, const Call *call, int event, IrOperand *result) {
  lower_arguments_for_effect(l, call);
  lower_event(l, (IrEvent)event, NULL, 0, 0);
  *result = ir_unknown();
  return true;
}

enum { CLUSTER_WAIT = 1, CLUSTER_ALIGNED = 2, CLUSTER_RELAXED = 4 };

static bool cluster_barrier(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)call;
  uint64_t flags = 0;
  if (variant & CLUSTER_ALIGNED) flags |= IR_FLAG(aligned);
  if (variant & CLUSTER_RELAXED) flags |= IR_FLAG(relaxed);
  IrEvent event = (variant & CLUSTER_WAIT) ? IR_EV_cluster_wait : IR_EV_cluster_arrive;
  lower_event(l, event, NULL, 0, flags);
  *result = ir_unknown();
  return true;
}

/* ---- fences ---- */

enum { FENCE_CTA, FENCE_GPU, FENCE_SYS, FENCE_CLUSTER };

static bool fence(Lower *l, const Call *call, int scope, IrOperand *result) {
  static const uint64_t SCOPES[] = {IR_FLAG(scope_cta), IR_FLAG(scope_gpu), IR_FLAG(scope_sys),
                                    IR_FLAG(scope_cluster)};
  lower_arguments_for_effect(l, call);
  lower_event(l, IR_EV_fence, NULL, 0, IR_FLAG(sc) | SCOPES[scope]);
  *result = ir_unknown();
  return true;
}

/* ---- warps ---- */

static bool warp_sync(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  IrOperand mask = number_argument(l, call, 0);
  if (call->nargs == 0 || lower_is_default_argument(l, call->args[0]))
    mask = lower_constant(-1, IR_TYPE_U(4));
  mask.role = IR_ROLE_mask;
  lower_event(l, IR_EV_warp_sync, &mask, 1, 0);
  *result = ir_unknown();
  return true;
}

/* PTX ISA 9.7.9.6: the clamp operand holds the segment mask and the last lane of a segment. */
static IrOperand shuffle_clamp(Lower *l, const Call *call, int kind) {
  const CppType *word = cpp_scalar(l, CXType_UInt);
  IrOperand width = lower_constant(32, word->ir);
  if (call->nargs > 3 && !lower_is_default_argument(l, call->args[3]))
    width = lower_value_as(l, call->args[3], word);
  IrOperand segment = lower_binary(l, IR_sub, word->ir, lower_constant(32, word->ir), width);
  segment = lower_binary(l, IR_shl, word->ir, segment, ir_imm(8));
  return lower_binary(l, IR_bor, word->ir, segment,
                      lower_constant(kind == IR_SHFL_up ? 0 : 31, word->ir));
}

static bool shuffle(Lower *l, const Call *call, int kind, IrOperand *result) {
  if (call->nargs < 3) return false;
  const CppType *type = ast_type(l, call->args[1]);
  IrOperand mask = number_argument(l, call, 0);
  IrOperand value = ir_unknown();
  if (cpp_is_object(type))
    lower_effect(l, call->args[1]);
  else
    value = lower_value(l, call->args[1]);
  IrOperand lane = number_argument(l, call, 2), clamp = shuffle_clamp(l, call, kind);
  IrOperand reg = result_register(l, call);
  IrOperand args[] = {role(reg, IR_ROLE_dst), role(value, IR_ROLE_value), role(lane, IR_ROLE_lane),
                      role(clamp, IR_ROLE_clamp), role(mask, IR_ROLE_mask)};
  IrInsn *insn = lower_event(l, IR_EV_shfl, args, 5, 0);
  insn->sub = (uint8_t)kind;
  insn->type = reg.type;
  *result = seen(l, call, reg);
  return true;
}

static bool vote(Lower *l, const Call *call, int kind, IrOperand *result) {
  if (call->nargs < 2) return false;
  IrOperand mask = number_argument(l, call, 0);
  IrOperand predicate = lower_truth(l, lower_value(l, call->args[1]), ast_type(l, call->args[1]));
  IrOperand reg = result_register(l, call);
  IrOperand args[] = {role(reg, IR_ROLE_dst), role(predicate, IR_ROLE_value),
                      role(mask, IR_ROLE_mask)};
  lower_event(l, IR_EV_vote, args, 3, 0)->sub = (uint8_t)kind;
  *result = seen(l, call, reg);
  return true;
}

static bool match(Lower *l, const Call *call, int all, IrOperand *result) {
  if (call->nargs < (all ? 3 : 2)) return false;
  IrOperand mask = number_argument(l, call, 0), value = lower_call_argument(l, call, 1);
  IrOperand reg = result_register(l, call), predicate = ir_use(lower_temp(l, IR_TYPE_PRED));
  IrOperand args[] = {role(reg, IR_ROLE_dst), role(value, IR_ROLE_value), role(mask, IR_ROLE_mask),
                      role(predicate, IR_ROLE_pred)};
  lower_event(l, IR_EV_match, args, all ? 4 : 3, 0)->type = ast_type(l, call->args[1])->ir;
  if (all) {
    const CppType *type = cpp_scalar(l, CXType_Int);
    IrOperand number = lower_convert(l, predicate, cpp_scalar(l, CXType_Bool), type);
    lower_store(l, lower_decayed(l, call->args[2]), type, number, false);
  }
  *result = seen(l, call, reg);
  return true;
}

static bool redux(Lower *l, const Call *call, int op, IrOperand *result) {
  if (call->nargs < 2) return false;
  IrOperand mask = number_argument(l, call, 0), value = lower_call_argument(l, call, 1);
  IrOperand reg = result_register(l, call);
  IrOperand args[] = {role(reg, IR_ROLE_dst), role(value, IR_ROLE_value), role(mask, IR_ROLE_mask)};
  IrInsn *insn = lower_event(l, IR_EV_redux, args, 3, 0);
  insn->sub = (uint8_t)op;
  insn->type = reg.type;
  *result = seen(l, call, reg);
  return true;
}

static bool active_mask(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  IrOperand reg = role(result_register(l, call), IR_ROLE_dst);
  lower_event(l, IR_EV_activemask, &reg, 1, 0);
  *result = seen(l, call, reg);
  return true;
}

static bool nanosleep_for(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  IrOperand time = role(number_argument(l, call, 0), IR_ROLE_time);
  lower_event(l, IR_EV_nanosleep, &time, 1, 0);
  *result = ir_unknown();
  return true;
}

/* ---- atomics ---- */

/* The order and scope arguments of __nv_atomic_* (numbers of CUDA's crt/device_functions.h); of an
 * order that is not known, the strongest. */
static uint64_t order_flags(Lower *l, const Call *call, int index) {
  static const uint64_t orders[] = {IR_FLAG(relaxed), IR_FLAG(acquire), IR_FLAG(acquire),
                                    IR_FLAG(release), IR_FLAG(acq_rel), IR_FLAG(sc)};
  static const uint64_t scopes[] = {0,
                                    IR_FLAG(scope_cta),
                                    IR_FLAG(scope_cta),
                                    IR_FLAG(scope_cluster),
                                    IR_FLAG(scope_gpu),
                                    IR_FLAG(scope_sys)};
  IrOperand order = number_argument(l, call, index), scope = number_argument(l, call, index + 1);
  bool ordered = order.kind == IR_OPD_IMM && order.value >= 0 && order.value < 6;
  bool scoped = scope.kind == IR_OPD_IMM && scope.value >= 0 && scope.value < 6;
  return (ordered ? orders[order.value] : IR_FLAG(acq_rel)) | (scoped ? scopes[scope.value] : 0);
}

/* What the name of the builtin says about order and scope: those of CUDA C++ are relaxed. */
static uint64_t atomic_flags(Lower *l, const Call *call) {
  const char *name = unit_name(l->unit, call->callee->decl);
  if (g_str_has_prefix(name, "__nv_atomic")) return order_flags(l, call, 2);
  if (g_str_has_suffix(name, "_block")) return IR_FLAG(relaxed) | IR_FLAG(scope_cta);
  return IR_FLAG(relaxed) | (g_str_has_suffix(name, "_system") ? IR_FLAG(scope_sys) : 0);
}

/* atomicAdd(p, v), atomicCAS(p, compare, v), __nv_atomic_fetch_add(p, v, order, scope). */
static bool atomic(Lower *l, const Call *call, int op, IrOperand *result) {
  if (call->nargs < 2 || (op == IR_ATOM_cas && call->nargs < 3)) return false;
  const CppType *pointer = ast_type(l, call->args[0]);
  const CppType *type = pointer->elem ? pointer->elem : ast_type(l, call->node);
  IrOperand address = lower_decayed(l, call->args[0]);
  IrType ir = cpp_is_scalar(type) ? type->ir : IR_TYPE_U((uint8_t)MIN(MAX(type->bytes, 1), 16));
  IrOperand args[4] = {ir_use(lower_temp(l, ir)), address};
  int count = 2;
  for (int i = 1; i <= (op == IR_ATOM_cas ? 2 : 1); i++) {
    bool scalar = cpp_is_scalar(ast_type(l, call->args[i]));
    if (!scalar) lower_effect(l, call->args[i]);
    args[count++] = scalar ? lower_value_as(l, call->args[i],
                                            cpp_is_scalar(type) ? type : ast_type(l, call->args[i]))
                           : ir_unknown();
  }
  facts_clobber(l, address, 0);
  uint64_t flags = atomic_flags(l, call);
  IrInsn *insn = lower_emit(l, IR_atom, ir, args, count);
  insn->flags |= flags;
  insn->sub = (uint8_t)op;
  insn->space = (uint8_t)address_space(l, address);
  args[0].type = ir;
  *result = seen(l, call, args[0]);
  return true;
}

/* The access that was lowered last gets the order and scope in place of `volatile`. */
static void mark_last(Lower *l, IrOp op, uint64_t flags) {
  if (!l->kernel->insns.count) return;
  IrInsn *insn = &l->kernel->insns.items[l->kernel->insns.count - 1];
  if (insn->op == op) insn->flags = (insn->flags & ~IR_FLAG(volatile_)) | flags;
}

static bool atomic_load(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  const CppType *type = call->nargs ? ast_type(l, call->args[0])->elem : NULL;
  if (!type || !cpp_is_scalar(type)) return false;
  uint64_t flags = order_flags(l, call, 1);
  *result = lower_load(l, lower_decayed(l, call->args[0]), type, true);
  mark_last(l, IR_load, flags);
  return true;
}

static bool atomic_store(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  const CppType *type = call->nargs > 1 ? ast_type(l, call->args[0])->elem : NULL;
  if (!type || !cpp_is_scalar(type)) return false;
  IrOperand value = lower_value_as(l, call->args[1], type);
  uint64_t flags = order_flags(l, call, 2);
  lower_store(l, lower_decayed(l, call->args[0]), type, value, true);
  mark_last(l, IR_store, flags);
  *result = ir_unknown();
  return true;
}

/* ---- clusters ---- */

static bool map_rank(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 2) return false;
  IrOperand address = address_value(l, lower_decayed(l, call->args[0]));
  IrOperand args[] = {ir_use(lower_temp(l, IR_TYPE_U(8))), address, number_argument(l, call, 1)};
  IrInsn *insn = lower_emit(l, IR_mapa, IR_TYPE_U(8), args, 3);
  insn->flags |= IR_FLAG(generic);
  insn->space = IR_SPACE_SHARED_CLUSTER;
  args[0].type = IR_TYPE_U(8);
  *result = args[0];
  return true;
}

/* __clusterIdx() and its like give a dim3. */
static bool special_vector(Lower *l, const Call *call, int first, IrOperand *result) {
  const CppType *type = ast_type(l, call->node), *word = cpp_scalar(l, CXType_UInt);
  if (!cpp_is_object(type)) return false;
  *result = lower_allocate(l, type, NULL);
  for (int i = 0; i < 3; i++)
    lower_store(l, address_add(*result, 4 * i), word, ir_sreg((IrSpecial)(first + i)), false);
  return true;
}

static bool special_register(Lower *l, const Call *call, int special, IrOperand *result) {
  *result = ir_sreg((IrSpecial)special);
  result->type = ast_type(l, call->node)->ir;
  return true;
}

#define SREG(name)                                                                                 \
  { "__nvvm_read_ptx_sreg_" #name, special_register, IR_SREG_##name, false }
#define SREG3(name) SREG(name##_x), SREG(name##_y), SREG(name##_z)
#define SHUFFLES(kind, suffix)                                                                     \
  { "__shfl" suffix "_sync", shuffle, IR_SHFL_##kind, true }
#define ATOMIC(word, op)                                                                           \
  {"atomic" word, atomic, IR_ATOM_##op, true},                                                     \
      {"atomic" word "_block", atomic, IR_ATOM_##op, true}, {                                      \
    "atomic" word "_system", atomic, IR_ATOM_##op, true                                            \
  }

static const LowerBuiltin WARP[] = {
    {"__syncthreads", bar_sync, BAR_ALIGNED, true},
    {"__nvvm_bar0", bar_sync, BAR_ALIGNED, true},
    {"__nvvm_bar_sync", bar_sync, BAR_ALIGNED | BAR_ID, true},
    {"__nvvm_barrier_cta_sync_aligned_all", bar_sync, BAR_ALIGNED | BAR_ID, true},
    {"__nvvm_barrier_sync", bar_sync, BAR_ID, true},
    {"__nvvm_barrier_sync_cnt", bar_sync, BAR_ID | BAR_COUNT, true},
    {"__barrier_sync", bar_sync, BAR_ID, true},
    {"__barrier_sync_count", bar_sync, BAR_ID | BAR_COUNT, true},
    {"__syncthreads_and", bar_red, IR_VOTE_all, true},
    {"__syncthreads_or", bar_red, IR_VOTE_any, true},
    {"__syncthreads_count", bar_red, IR_VOTE_count, true},
    {"__nvvm_bar0_and", bar_red, IR_VOTE_all, true},
    {"__nvvm_bar0_or", bar_red, IR_VOTE_any, true},
    {"__nvvm_bar0_popc", bar_red, IR_VOTE_count, true},
    {"__syncwarp", warp_sync, 0, true},
    {"__nvvm_bar_warp_sync", warp_sync, 0, true},
    {"__cluster_barrier_arrive", cluster_barrier, 0, true},
    {"__cluster_barrier_arrive_relaxed", cluster_barrier, CLUSTER_RELAXED, true},
    {"__cluster_barrier_wait", cluster_barrier, CLUSTER_WAIT, true},
    {"__nvvm_barrier_cluster_arrive", cluster_barrier, 0, true},
    {"__nvvm_barrier_cluster_arrive_relaxed", cluster_barrier, CLUSTER_RELAXED, true},
    {"__nvvm_barrier_cluster_arrive_aligned", cluster_barrier, CLUSTER_ALIGNED, true},
    {"__nvvm_barrier_cluster_wait", cluster_barrier, CLUSTER_WAIT, true},
    {"__nvvm_barrier_cluster_wait_aligned", cluster_barrier, CLUSTER_WAIT | CLUSTER_ALIGNED, true},
    {"cudaGridDependencySynchronize", simple_event, IR_EV_griddep_wait, true},
    {"cudaTriggerProgrammaticLaunchCompletion", simple_event, IR_EV_griddep_launch, true},
    {"__threadfence_block", fence, FENCE_CTA, true},
    {"__threadfence", fence, FENCE_GPU, true},
    {"__threadfence_system", fence, FENCE_SYS, true},
    {"__nvvm_membar_cta", fence, FENCE_CTA, true},
    {"__nvvm_membar_gl", fence, FENCE_GPU, true},
    {"__nvvm_membar_sys", fence, FENCE_SYS, true},
    {"__nvvm_fence_sc_cluster", fence, FENCE_CLUSTER, true},
    {"__fence_cluster", fence, FENCE_CLUSTER, true},
    SHUFFLES(idx, ""),
    SHUFFLES(up, "_up"),
    SHUFFLES(down, "_down"),
    SHUFFLES(bfly, "_xor"),
    {"__all_sync", vote, IR_VOTE_all, true},
    {"__any_sync", vote, IR_VOTE_any, true},
    {"__uni_sync", vote, IR_VOTE_uni, true},
    {"__ballot_sync", vote, IR_VOTE_ballot, true},
    {"__nvvm_vote_all_sync", vote, IR_VOTE_all, true},
    {"__nvvm_vote_any_sync", vote, IR_VOTE_any, true},
    {"__nvvm_vote_uni_sync", vote, IR_VOTE_uni, true},
    {"__nvvm_vote_ballot_sync", vote, IR_VOTE_ballot, true},
    {"__match_any_sync", match, 0, true},
    {"__match_all_sync", match, 1, true},
    {"__reduce_add_sync", redux, IR_ATOM_add, true},
    {"__reduce_min_sync", redux, IR_ATOM_min, true},
    {"__reduce_max_sync", redux, IR_ATOM_max, true},
    {"__reduce_and_sync", redux, IR_ATOM_and, true},
    {"__reduce_or_sync", redux, IR_ATOM_or, true},
    {"__reduce_xor_sync", redux, IR_ATOM_xor, true},
    {"__activemask", active_mask, 0, false},
    {"__nvvm_activemask", active_mask, 0, false},
    {"__nanosleep", nanosleep_for, 0, false},
    {"__nvvm_nanosleep", nanosleep_for, 0, false},
    ATOMIC("Add", add),
    ATOMIC("Sub", sub),
    ATOMIC("Exch", exch),
    ATOMIC("Min", min),
    ATOMIC("Max", max),
    ATOMIC("And", and),
    ATOMIC("Or", or),
    ATOMIC("Xor", xor),
    ATOMIC("Inc", inc),
    ATOMIC("Dec", dec),
    ATOMIC("CAS", cas),
    {"__nv_atomic_fetch_add", atomic, IR_ATOM_add, true},
    {"__nv_atomic_fetch_sub", atomic, IR_ATOM_sub, true},
    {"__nv_atomic_fetch_and", atomic, IR_ATOM_and, true},
    {"__nv_atomic_fetch_or", atomic, IR_ATOM_or, true},
    {"__nv_atomic_fetch_xor", atomic, IR_ATOM_xor, true},
    {"__nv_atomic_fetch_min", atomic, IR_ATOM_min, true},
    {"__nv_atomic_fetch_max", atomic, IR_ATOM_max, true},
    {"__nv_atomic_exchange_n", atomic, IR_ATOM_exch, true},
    {"__nv_atomic_load_n", atomic_load, 0, true},
    {"__nv_atomic_store_n", atomic_store, 0, true},
    {"__cluster_map_shared_rank", map_rank, 0, false},
    {"__nvvm_mapa", map_rank, 0, false},
    {"__clusterDim", special_vector, IR_SREG_cluster_nctaid_x, false},
    {"__clusterIdx", special_vector, IR_SREG_clusterid_x, false},
    {"__clusterGridDimInClusters", special_vector, IR_SREG_nclusterid_x, false},
    {"__clusterRelativeBlockIdx", special_vector, IR_SREG_cluster_ctaid_x, false},
    {"__clusterRelativeBlockRank", special_register, IR_SREG_cluster_ctarank, false},
    {"__clusterSizeInBlocks", special_register, IR_SREG_cluster_nctarank, false},
    {"__clusterDimIsSpecified", special_register, IR_SREG_is_explicit_cluster, false},
    {"clock", special_register, IR_SREG_clock, false},
    {"clock64", special_register, IR_SREG_clock, false},
    {"__clock", special_register, IR_SREG_clock, false},
    {"__clock64", special_register, IR_SREG_clock, false},
    {"__nvvm_read_ptx_sreg_clock64", special_register, IR_SREG_clock, false},
    SREG3(tid),
    SREG3(ntid),
    SREG3(ctaid),
    SREG3(nctaid),
    SREG3(clusterid),
    SREG3(nclusterid),
    SREG3(cluster_ctaid),
    SREG3(cluster_nctaid),
    SREG(cluster_ctarank),
    SREG(cluster_nctarank),
    SREG(is_explicit_cluster),
    SREG(laneid),
    SREG(warpid),
    SREG(nwarpid),
    SREG(smid),
    SREG(nsmid),
    SREG(gridid),
    SREG(lanemask_eq),
    SREG(lanemask_lt),
    SREG(lanemask_le),
    SREG(lanemask_gt),
    SREG(lanemask_ge),
    SREG(clock),
    SREG(globaltimer),
};

const LowerBuiltin *builtin_warp(const char *name) {
  for (size_t i = 0; i < G_N_ELEMENTS(WARP); i++)
    if (strcmp(WARP[i].name, name) == 0) return &WARP[i];
  return NULL;
}
