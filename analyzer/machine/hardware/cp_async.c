/* cp.async and its groups, which are per thread (PTX ISA 9.7.9.25.3): the bytes are there for the
 * thread that waited; the others need a barrier after that wait.
 *
 * The clock time of a copy counts the commits and cp.async.mbarrier.arrives of its lane, because
 * both close a set of copies: cp_async.open. */
#include "machine/checks/finish.h"
#include "machine/checks/fragment.h"
#include "machine/hardware/bulk.h"
#include "machine/hardware/pdl.h"
#include "machine/inputs/origin.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

static void need_agent(Machine *machine, WarpState *ws) {
  if (!ws->cp_async.agent) ws->cp_async.agent = clocks_agents(&protocol_of(machine)->clocks, 1);
}

static void check_sizes(Machine *machine, Strand *strand, const IrInsn *insn, int64_t size) {
  Value v;
  if (!machine_read_role(machine, strand, insn, IR_ROLE_src_size, &v) ||
      origin_loaded(machine, insn, IR_ROLE_src_size))
    return;
  FOR_LANES(lane, strand->active) {
    uint64_t n;
    if (!value_lane(v, (int)lane, &n)) continue;
    int64_t bytes = (int64_t)(int32_t)n;
    if (bytes >= 0 && bytes <= size) continue;
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "async-copy-src-size-range",
                      "the source size of cp.async is %lld, the copy has %lld bytes: it must be 0 "
                      "to %lld",
                      (long long)bytes, (long long)size, (long long)size);
    return;
  }
}

MachineStep event_cp_async(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  need_agent(machine, ws);
  Value dst, src;
  machine_read_role(machine, strand, insn, IR_ROLE_dst_addr, &dst);
  machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &src);
  int64_t size = protocol_number(machine, strand, insn, IR_ROLE_size, strand->active,
                                 insn->shape.bytes ? insn->shape.bytes : 16);
  check_sizes(machine, strand, insn, size);
  /* Lanes are usually at the same group: one record for all of them. */
  uint32_t left = strand->active;
  while (left) {
    uint32_t lanes = 0, time = ws->cp_async.open[first_lane(left)];
    FOR_LANES(lane, left) if (ws->cp_async.open[lane] == time) lanes |= UINT32_C(1) << lane;
    left &= ~lanes;
    Access *access = race_access(p->races, &(Access){.agent = ws->cp_async.agent,
                                                     .lanes = lanes,
                                                     .time = time,
                                                     .issued = ws->lanes.now,
                                                     .warp = (uint32_t)strand->warp->index,
                                                     .issuers = lanes,
                                                     .actor = ACTOR_CP_ASYNC,
                                                     .write = true,
                                                     .insn = insn,
                                                     .step = machine->step});
    FOR_LANES(lane, lanes) {
      uint32_t one = UINT32_C(1) << lane;
      uint64_t from;
      SharedPlace to;
      protocol_next_place(machine, strand, &dst, IR_SPACE_SHARED, &one, &to);
      if (!to.known || to.rank < 0) {
        finish_unknown_copy(machine, strand, insn, to.known);
        continue;
      }
      if (to.offset % (uint32_t)size)
        machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "async-copy-form",
                          "the shared address %s of the %lld-byte cp.async is not a multiple of "
                          "%lld",
                          protocol_place(machine, strand, to.rank, to.offset), (long long)size,
                          (long long)size);
      if (value_lane(src, (int)lane, &from) && from % (uint64_t)size &&
          machine_is_global_address(machine, from) &&
          !origin_loaded(machine, insn, IR_ROLE_src_addr))
        machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "async-copy-form",
                          "the global address of the %lld-byte cp.async lies %llu bytes past a "
                          "multiple of %lld",
                          (long long)size, (unsigned long long)(from % (uint64_t)size),
                          (long long)size);
      bool known = value_lane(src, (int)lane, &from);
      pdl_async_read(machine, strand, insn, pdl_buffer(from));
      fragment_copied(machine, insn, to.rank, to.offset, (uint32_t)size, known, from);
      race_touch(p->races, strand, access, (int)lane, to.rank, to.offset, (uint32_t)size);
      timeline_copy(machine, strand, access, to.rank, to.offset);
      machine_shared_forget(machine, to.rank, to.offset, (uint64_t)size);
    }
  }
  FOR_LANES(lane, strand->active) ws->cp_async.op[lane] = insn;
  ws->cp_async.open_ops |= strand->active;
  return MACHINE_NEXT;
}

/* Closes the open set of the lanes, as group or for an mbarrier. */
static void close_set(WarpState *ws, uint32_t lanes, bool group) {
  FOR_LANES(lane, lanes) {
    uint32_t n = ++ws->cp_async.open[lane] - 1;
    if (group) ws->group_time[ws->groups[lane]++ % CP_ASYNC_GROUPS][lane] = n;
  }
}

MachineStep event_cp_async_commit(Machine *machine, Strand *strand, const IrInsn *insn) {
  WarpState *ws = warp_state(strand->warp);
  need_agent(machine, ws);
  close_set(ws, strand->active, true);
  FOR_LANES(lane, strand->active) ws->cp_async.commit[lane] = insn;
  ws->cp_async.open_ops &= ~strand->active;
  return MACHINE_NEXT;
}

MachineStep event_cp_async_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  need_agent(machine, ws);
  bool all = ir_arg(insn, IR_ROLE_group) == NULL;
  int64_t n = all ? 0 : protocol_number(machine, strand, insn, IR_ROLE_group, strand->active, 0);
  protocol_check_pending(machine, insn, n);
  if (n < 0) n = 0;
  if (all) {
    close_set(ws, strand->active & ws->cp_async.open_ops, true);
    ws->cp_async.open_ops &= ~strand->active;
  }
  FOR_LANES(lane, strand->active) {
    ws->cp_async.wait[lane] = insn;
    ws->waits_seen[lane]++;
    ws->cp_async.wait_n[lane] = n;
    int64_t group = (int64_t)ws->groups[lane] - 1 - n;
    if (group < 0 || n >= CP_ASYNC_GROUPS) continue;
    uint32_t bit = UINT32_C(1) << lane;
    lanes_raise(&p->clocks, &ws->lanes, bit, ws->cp_async.agent, bit,
                ws->group_time[group % CP_ASYNC_GROUPS][lane]);
  }
  return MACHINE_NEXT;
}

/* ---- cp.async.mbarrier.arrive ---- */

typedef struct CopyArrive {
  Mbar *bar;
  Clock *known;
  int warp;
  uint32_t lanes;
  const IrInsn *insn;
} CopyArrive;

static void arrive(Machine *machine, void *user) {
  CopyArrive *a = user;
  if (a->bar->live)
    mbarrier_arrive(machine, a->bar, lane_count(a->lanes), a->known, a->warp, a->lanes, a->insn,
                    MBAR_LOG_ARRIVE);
  clock_free(&protocol_of(machine)->clocks, a->known);
}

MachineStep event_cp_async_mbarrier_arrive(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  need_agent(machine, ws);
  Value address;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  uint32_t left = strand->active;
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, (IrSpace)insn->space, &left, &at)) {
    Mbar *bar = mbarrier_use(machine, strand, insn, &at, "cp.async.mbarrier.arrive");
    if (!bar) continue;
    CopyArrive *a = KC_NEW(machine->arena, CopyArrive);
    *a = (CopyArrive){bar, clock_new(&p->clocks), strand->warp->index, at.lanes, insn};
    /* Of the thread itself only its copies are published: what it did before is not released. */
    lanes_collect(&p->clocks, &ws->lanes, at.lanes, a->known);
    ws->lanes.now++;
    FOR_LANES(lane, at.lanes)
    clock_raise(&p->clocks, a->known, ws->cp_async.agent, UINT32_C(1) << lane,
                ws->cp_async.open[lane]);
    close_set(ws, at.lanes, false);
    if (!(insn->flags & IR_FLAG(noinc))) bar->pending += lane_count(at.lanes);
    contract_site(machine, bar, CONTRACT_ARRIVE, insn, lane_count(at.lanes));
    machine_post(machine, arrive, a);
  }
  return MACHINE_NEXT;
}
