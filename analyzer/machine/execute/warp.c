/* Warp-synchronous operations (PTX ISA 9.7.9.x shfl, 9.7.13.10-17): each waits for the lanes of its
 * mask, and so tells each of them how far the others have come. */
#include "machine/hardware/protocol.h"

static bool mask_of(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t *mask) {
  int64_t n;
  *mask = MACHINE_ALL_LANES;
  if (!ir_arg(insn, IR_ROLE_mask)) return true;
  if (!protocol_operand(machine, strand, insn, IR_ROLE_mask, strand->active, &n)) return false;
  *mask = (uint32_t)n;
  return true;
}

static void check_mask(Machine *machine, const Strand *strand, const IrInsn *insn, uint32_t mask) {
  uint32_t outside = strand->active & ~mask;
  if (!outside) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, insn, "warp-sync-mask-mismatch",
      "lanes 0x%08x of %s execute %s whose mask 0x%08x does not name them", outside,
      machine_who(machine, strand), ir_event_mnemonic((IrEvent)insn->event), mask);
  if (v) ir_violation_fact(machine->violations, v, "mask", "0x%08x", mask);
}

MachineStep event_warp_sync(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  uint32_t mask;
  if (!mask_of(machine, strand, insn, &mask)) mask = strand->active;
  check_mask(machine, strand, insn, mask);
  if (!machine_converge(machine, strand, mask)) return MACHINE_BLOCKED;
  lanes_meet(&p->clocks, &warp_state(strand->warp)->lanes, strand->active);
  return MACHINE_NEXT;
}

/* shfl.sync.idx from a lane that does not execute it: what it gives is undefined. */
static void check_source(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value lane_value, clamp;
  if (insn->event != IR_EV_shfl || insn->sub != IR_SHFL_idx) return;
  uint64_t from, c = 31;
  machine_read_role(machine, strand, insn, IR_ROLE_lane, &lane_value);
  if (machine_read_role(machine, strand, insn, IR_ROLE_clamp, &clamp) &&
      !value_same(clamp, strand->active, &c))
    return;
  if (c >> 8) return; /* segments: left alone */
  FOR_LANES(lane, strand->active) {
    if (!value_lane(lane_value, (int)lane, &from)) continue;
    from &= 31;
    if (strand->active >> from & 1) continue;
    IrViolation *v =
        machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "warp-shuffle-inactive-source",
                          "lane %u reads from lane %llu, which does not take part in the shuffle",
                          lane, (unsigned long long)from);
    if (v) ir_violation_fact(machine->violations, v, "lane", "%llu", (unsigned long long)from);
    return;
  }
}

/* The lane that an up, down or butterfly shuffle of the whole warp reads from; -1: its own. */
static int partner(IrShuffle how, int lane, int distance) {
  int from = how == IR_SHFL_up     ? lane - distance
             : how == IR_SHFL_down ? lane + distance
                                   : lane ^ distance;
  return from >= 0 && from < 32 ? from : -1;
}

/* The other forms: a lane that the mask names reads from another that it names, too, and that has
 * ended or gone another way. A step of one may be a look at a neighbour that the end of the data
 * has none of; the longer ones are those of sums, which every lane goes into. */
static void check_partner(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t mask) {
  Value distance, clamp;
  uint64_t d, c;
  if (insn->event != IR_EV_shfl || insn->sub == IR_SHFL_idx) return;
  machine_read_role(machine, strand, insn, IR_ROLE_lane, &distance);
  if (!value_same(distance, strand->active, &d) || d < 2 || d > 31) return;
  if (machine_read_role(machine, strand, insn, IR_ROLE_clamp, &clamp) &&
      (!value_same(clamp, strand->active, &c) || c >> 8))
    return;
  FOR_LANES(lane, strand->active) {
    int from = partner((IrShuffle)insn->sub, (int)lane, (int)d);
    if (from < 0 || !(mask & strand->warp->lanes & ~strand->active & 1u << from)) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, insn, "warp-shuffle-inactive-source",
        "lane %u reads from lane %d, which the mask names and which does not take part in the "
        "shuffle",
        lane, from);
    if (!v) return;
    v->confidence = IR_INFERRED;
    v->assumed = "that what the lane gets is used";
    ir_violation_fact(machine->violations, v, "lane", "%d", from);
    return;
  }
}

void protocol_warp_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  uint32_t mask;
  if (mask_of(machine, strand, insn, &mask)) {
    check_mask(machine, strand, insn, mask);
    check_partner(machine, strand, insn, mask);
  }
  check_source(machine, strand, insn);
  lanes_meet(&p->clocks, &warp_state(strand->warp)->lanes, strand->active);
}
