/* Cluster launch control (PTX ISA 9.7.13.16): try_cancel asks for the next tile, 16 bytes land in
 * shared memory and on an mbarrier. The machine grants a fixed number of tiles, then says no. */
#include "machine/checks/checks.h"
#include "machine/checks/finish.h"
#include "machine/hardware/bulk.h"
#include "machine/inputs/sample.h"

/* The response as the machine writes it: the lowest word is %ctaid.x, the highest bit of each half
 * says "cancelled". Registers hold 64 bits, so that of a .b128 register the low half is left. */
static void write_response(Machine *machine, int rank, uint32_t offset, bool granted) {
  Protocol *p = protocol_of(machine);
  uint64_t low = 0, high = 0;
  if (granted) {
    high = UINT64_C(1) << 63;
    low = high | ((uint64_t)(p->clc_granted * machine->cluster_size) & UINT32_MAX);
  }
  machine_shared_store(machine, rank, offset, 8, true, low);
  machine_shared_store(machine, rank, offset + 8, 8, true, high);
}

static void request(Machine *machine, Strand *strand, const IrInsn *insn, int lane) {
  Protocol *p = protocol_of(machine);
  uint32_t one = UINT32_C(1) << lane, left = one;
  Value address, mbar;
  SharedPlace to, bar;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  machine_read_role(machine, strand, insn, IR_ROLE_mbar, &mbar);
  protocol_next_place(machine, strand, &address, IR_SPACE_SHARED, &left, &to);
  left = one;
  protocol_next_place(machine, strand, &mbar, IR_SPACE_SHARED, &left, &bar);
  if (!to.known || to.rank < 0) {
    finish_unknown_copy(machine, strand, insn, to.known);
    return;
  }
  if (to.offset % 16)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "clc-expect-tx-16",
                      "the response buffer %s is not 16-byte aligned",
                      protocol_place(machine, strand, to.rank, to.offset));
  bool granted = p->clc_granted < CLC_GRANTS;
  if (granted) p->clc_granted++;
  bool all = (insn->flags & IR_FLAG(multicast)) != 0;
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    if (!all && rank != to.rank) continue;
    SharedPlace there = bar;
    if (all) there.rank = rank;
    copy_load(machine, strand,
              &(CopyLoad){.insn = insn,
                          .lane = lane,
                          .rank = rank,
                          .offset = to.offset,
                          .bytes = 16,
                          .span = 16,
                          .mbar = there,
                          .actor = ACTOR_CLC});
    /* Nobody may read the response before the barrier says so, so it can be there at once. */
    write_response(machine, rank, to.offset, granted);
  }
}

MachineStep event_clc_try_cancel(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  int n = lane_count(strand->active);
  if (n > 1) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, insn, "clc-issued-by-many-threads",
        "try_cancel is executed by %d lanes of %s: each cancels another cluster, whose work is "
        "lost",
        n, machine_who(machine, strand));
    if (v) ir_violation_fact(machine->violations, v, "lanes", "%d", n);
  }
  if (p->clc_failure_seen) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_PHASE, insn, "clc-retry-after-failure",
        "try_cancel is executed after a response said that nothing was left to cancel");
    if (v && p->clc_failure)
      ir_violation_related(machine->violations, v, p->clc_failure->where,
                           "the failure is seen here");
  }
  p->clc_requests++;
  FOR_LANES(lane, strand->active) request(machine, strand, insn, (int)lane);
  return MACHINE_NEXT;
}

/* The response operand: one 128-bit register, or two 64-bit halves. */
static bool response(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t *low,
                     uint64_t *high) {
  const IrOperand *o = ir_arg(insn, IR_ROLE_value);
  if (!o) return false;
  if (o->kind == IR_OPD_VECTOR && o->count >= 2) {
    return value_same(machine_read(machine, strand, &o->list[0]), strand->active, low) &&
           value_same(machine_read(machine, strand, &o->list[1]), strand->active, high);
  }
  const IrOperand *second = NULL;
  for (int i = 0; i < insn->nargs; i++)
    if (insn->args[i].role == IR_ROLE_value && &insn->args[i] != o) second = &insn->args[i];
  if (!value_same(machine_read(machine, strand, o), strand->active, low)) return false;
  if (second) return value_same(machine_read(machine, strand, second), strand->active, high);
  *high = *low;
  return true;
}

MachineStep event_clc_is_canceled(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (!dst) dst = ir_arg(insn, IR_ROLE_pred);
  uint64_t low, high;
  if (!response(machine, strand, insn, &low, &high)) {
    if (dst) machine_write(machine, strand, dst, value_fresh(machine), strand->active);
    return MACHINE_NEXT;
  }
  bool granted = high >> 63;
  if (!granted) {
    p->clc_failure_seen = true;
    p->clc_failure = insn;
  }
  warp_state(strand->warp)->clc_checked = true;
  if (dst) machine_write(machine, strand, dst, value_known(granted), strand->active);
  return MACHINE_NEXT;
}

MachineStep event_clc_get_ctaid(Machine *machine, Strand *strand, const IrInsn *insn) {
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (!dst) return MACHINE_NEXT;
  uint64_t low, high;
  bool known = response(machine, strand, insn, &low, &high);
  if (known && !(high >> 63)) {
    machine_violation(machine, MACHINE_CHECK_PHASE, insn, "clc-ctaid-unchecked",
                      "get_first_ctaid is read from a response that was not granted: is_canceled "
                      "has to be tested first");
    low = UINT32_MAX; /* undefined, but the same for all who read it */
  }
  tiles_answer(machine, strand, insn, known && high >> 63);
  for (int i = 0; i < 4; i++) {
    const IrOperand *to = dst->kind == IR_OPD_VECTOR && i < dst->count ? &dst->list[i]
                          : dst->kind != IR_OPD_VECTOR && i == 0       ? dst
                                                                       : NULL;
    if (!to) continue;
    int axis = insn->sub == 3 ? i : insn->sub;
    Value v = !known ? value_fresh(machine) : value_known(axis == 0 ? low & UINT32_MAX : 0);
    machine_write(machine, strand, to, v, strand->active);
  }
  return MACHINE_NEXT;
}
