#include "machine/execute/special.h"

#include "machine/execute/core.h"

_Static_assert(IR_SREG_COUNT <= 64, "a bit each in CoreRun.specials");

/* Values of one warp that never change, made on first use. */
typedef struct WarpSpecial {
  bool have[IR_SREG_COUNT];
  Value value[IR_SREG_COUNT];
} WarpSpecial;

static uint64_t lane_value(const Machine *machine, const Warp *warp, IrSpecial special, int lane) {
  uint64_t thread = (uint64_t)warp->id * 32 + (uint64_t)lane;
  uint64_t x = (uint64_t)machine->block[0], y = (uint64_t)machine->block[1];
  switch ((int)special) {
  case IR_SREG_tid_x: return thread % x;
  case IR_SREG_tid_y: return thread / x % y;
  case IR_SREG_tid_z: return thread / (x * y);
  case IR_SREG_laneid: return (uint64_t)lane;
  case IR_SREG_lanemask_eq: return UINT64_C(1) << lane;
  case IR_SREG_lanemask_lt: return (UINT64_C(1) << lane) - 1;
  case IR_SREG_lanemask_le: return (UINT64_C(2) << lane) - 1;
  case IR_SREG_lanemask_gt: return MACHINE_ALL_LANES & ~((UINT64_C(2) << lane) - 1);
  default: return MACHINE_ALL_LANES & ~((UINT64_C(1) << lane) - 1);
  }
}

static bool is_lane_special(IrSpecial special) {
  return special <= IR_SREG_tid_z || special == IR_SREG_laneid ||
         (special >= IR_SREG_lanemask_eq && special <= IR_SREG_lanemask_ge);
}

/* Components of a vector special register, or -1 when it is none. */
static int64_t vector_special(const Machine *machine, const Cta *cta, IrSpecial special) {
  static const int64_t one = 1;
  int i = 0;
  if (special >= IR_SREG_ntid_x && special <= IR_SREG_ntid_z)
    return machine->block[special - IR_SREG_ntid_x];
  if (special >= IR_SREG_ctaid_x && special <= IR_SREG_ctaid_z)
    return cta->id[special - IR_SREG_ctaid_x];
  if (special >= IR_SREG_nctaid_x && special <= IR_SREG_nctaid_z)
    return machine->grid[special - IR_SREG_nctaid_x];
  if (special >= IR_SREG_clusterid_x && special <= IR_SREG_clusterid_z) {
    i = special - IR_SREG_clusterid_x;
    return cta->id[i] / machine->cluster[i];
  }
  if (special >= IR_SREG_nclusterid_x && special <= IR_SREG_nclusterid_z) {
    i = special - IR_SREG_nclusterid_x;
    int64_t count = machine->grid[i] / machine->cluster[i];
    return count > 0 ? count : one;
  }
  if (special >= IR_SREG_cluster_ctaid_x && special <= IR_SREG_cluster_ctaid_z) {
    i = special - IR_SREG_cluster_ctaid_x;
    return cta->id[i] % machine->cluster[i];
  }
  if (special >= IR_SREG_cluster_nctaid_x && special <= IR_SREG_cluster_nctaid_z)
    return machine->cluster[special - IR_SREG_cluster_nctaid_x];
  return -1;
}

static Value uniform_special(Machine *machine, const Warp *warp, IrSpecial special) {
  const Cta *cta = warp->cta;
  int64_t component = vector_special(machine, cta, special);
  if (component >= 0) return value_known((uint64_t)component);
  switch ((int)special) {
  case IR_SREG_cluster_ctarank: return value_known((uint64_t)cta->rank);
  case IR_SREG_cluster_nctarank: return value_known((uint64_t)machine->cluster_size);
  case IR_SREG_is_explicit_cluster: return value_known(machine->cluster_size > 1);
  case IR_SREG_warpid: return value_known((uint64_t)warp->id);
  case IR_SREG_nwarpid: return value_known((uint64_t)cta->nwarps);
  case IR_SREG_smid: return value_known((uint64_t)cta->rank);
  case IR_SREG_nsmid: return value_known(132);
  case IR_SREG_gridid: return value_known(1);
  case IR_SREG_dynamic_smem_size:
    return machine->dynamic_shared >= 0 ? value_known((uint64_t)machine->dynamic_shared)
                                        : value_unknown(core_hash(special, 21) & ~UINT64_C(1));
  case IR_SREG_total_smem_size:
    return value_known(machine->session->shared_bytes - machine->session->shared_slack -
                       CORE_SHARED_RESERVED);
  default: return value_unknown(core_hash(special, 21) & ~UINT64_C(1));
  }
}

Value core_special(Machine *machine, Strand *strand, IrSpecial special) {
  Warp *warp = strand->warp;
  /* Clocks advance a little with each reading: a delay loop ends, a time-out never comes. */
  if (special == IR_SREG_clock || special == IR_SREG_globaltimer)
    return value_known(1000 + 64 * core_run(machine)->clock++);
  WarpSpecial *cache = warp->core;
  if (!cache) cache = warp->core = KC_NEW(machine->arena, WarpSpecial);
  if (cache->have[special]) return cache->value[special];
  cache->have[special] = true;
  core_run(machine)->specials |= UINT64_C(1) << special;
  if (!is_lane_special(special)) {
    cache->value[special] = uniform_special(machine, warp, special);
    return cache->value[special];
  }
  uint64_t *lanes = KC_NEW_ARRAY(machine->arena, uint64_t, 32);
  bool same = true;
  for (int lane = 0; lane < 32; lane++) {
    lanes[lane] = lane_value(machine, warp, special, lane);
    same &= lanes[lane] == lanes[0] || !(warp->lanes >> lane & 1);
  }
  cache->value[special] =
      same ? value_known(lanes[0]) : (Value){.known = MACHINE_ALL_LANES, .lanes = lanes};
  return cache->value[special];
}
