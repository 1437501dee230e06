/* cp.async.bulk, cp.reduce.async.bulk, st.async, red.async and bulk groups (PTX ISA 9.7.9.25). */
#include "machine/hardware/bulk.h"

#include "machine/causes/cause.h"
#include "machine/checks/checks.h"
#include "machine/checks/finish.h"
#include "machine/hardware/pdl.h"
#include "machine/inputs/origin.h"
#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"
#include "machine/witness/timeline.h"
#include "machine/witness/witness.h"

/* ---- into shared memory ---- */

typedef struct Landing { /* posted: the bytes land */
  Mbar *bar;
  int64_t bytes;
  Clock *known;
  Access *access;
  MbarCopy place;
  uint32_t base; /* of the barrier when the copy was issued: it may be initialised again */
} Landing;

static void land(Machine *machine, void *user) {
  Landing *l = user;
  Protocol *p = protocol_of(machine);
  if (l->bar->copies_in_flight > 0) l->bar->copies_in_flight--;
  if (l->bytes < 0) KC_PUSH(machine->arena, l->bar->landed, l->place);
  if (l->bar->live && l->bar->base == l->base)
    mbarrier_deliver(machine, l->bar, l->bytes, l->known, l->access, l->place.insn);
  timeline_landed(machine, l->access);
  clock_free(&p->clocks, l->known);
}

static MbarCopy copy_place(const Mbar *bar, const CopyLoad *copy, int warp) {
  return (MbarCopy){.insn = copy->insn,
                    .rank = copy->rank,
                    .offset = copy->offset,
                    .warp = warp,
                    .phase = bar->phase,
                    .bytes = copy->bytes,
                    .targets = copy->targets,
                    .map = copy->map};
}

/* Where the first copy of each instruction goes in each phase. */
static void remember_copy(Machine *machine, Mbar *bar, const CopyLoad *copy, int warp) {
  for (int i = 0; i < bar->copies.count; i++) {
    MbarCopy *c = &bar->copies.items[i];
    if (c->insn != copy->insn || c->rank != copy->rank || c->warp != warp) continue;
    if (c->phase == bar->phase) return;
    if (c->offset != copy->offset) bar->shared_copy = copy->insn;
    *c = copy_place(bar, copy, warp);
    return;
  }
  if (bar->copies.count < 64) KC_PUSH(machine->arena, bar->copies, copy_place(bar, copy, warp));
}

Access *copy_load(Machine *machine, Strand *strand, const CopyLoad *copy) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  Mbar *bar = mbarrier_use(machine, strand, copy->insn, &copy->mbar, "the copy");
  if (copy->rank < 0) return NULL;
  uint32_t bytes = copy->span ? copy->span : (uint32_t)copy->bytes;
  Access *access = race_access(p->races, &(Access){.agent = bar ? bar->agent : 0,
                                                   .lanes = 1,
                                                   .time = CLOCK_NEVER,
                                                   .issued = ws->lanes.now,
                                                   .warp = (uint32_t)strand->warp->index,
                                                   .issuers = UINT32_C(1) << copy->lane,
                                                   .actor = (uint8_t)copy->actor,
                                                   .write = true,
                                                   .insn = copy->insn,
                                                   .step = machine->step,
                                                   .barrier = bar});
  race_touch(p->races, strand, access, -1, copy->rank, copy->offset, bytes);
  machine_shared_forget(machine, copy->rank, copy->offset, bytes);
  if (copy->rank != strand->warp->cta->rank)
    finish_remote(machine, strand, UINT32_C(1) << copy->lane, copy->rank, copy->insn, false, true);
  timeline_load(machine, strand, access, copy->rank, copy->offset, bar);
  if (!bar) return access;
  if (bar->last_copy == copy->insn && bar->last_copy_warp == strand->warp->index &&
      bar->last_copy_step == machine->step && bar->last_copy_lane != copy->lane &&
      bar->last_copy_offset == copy->offset)
    cause_many_issuers(machine, bar, copy->offset);
  bar->last_copy_warp = strand->warp->index;
  bar->last_copy_step = machine->step;
  bar->last_copy_lane = copy->lane;
  bar->last_copy_offset = copy->offset;
  bar->last_copy = copy->insn;
  remember_copy(machine, bar, copy, strand->warp->index);
  bar->copies_in_flight++;
  Landing *l = KC_NEW(machine->arena, Landing);
  *l = (Landing){.bar = bar,
                 .bytes = copy->bytes,
                 .known = clock_new(&p->clocks),
                 .access = access,
                 .place = copy_place(bar, copy, strand->warp->index),
                 .base = bar->base};
  lanes_collect(&p->clocks, &ws->lanes, UINT32_C(1) << copy->lane, l->known);
  if (copy->bytes < 0) {
    bar->copies_unknown++;
    machine_post_late(machine, bar, land, l);
  } else {
    machine_post(machine, land, l);
  }
  return access;
}

uint32_t copy_targets(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t lanes,
                      int own_rank) {
  if (!(insn->flags & IR_FLAG(multicast))) return UINT32_C(1) << own_rank;
  int64_t mask;
  if (!protocol_operand(machine, strand, insn, IR_ROLE_mask, lanes, &mask)) {
    machine_switch_off(machine, MACHINE_CHECK_DEADLOCK, insn,
                       "the CTA mask of a multicast is not known");
    machine_switch_off(machine, MACHINE_CHECK_RACE, insn,
                       "the CTA mask of a multicast is not known");
    machine_switch_off(machine, MACHINE_CHECK_FINISH, insn,
                       "the CTA mask of a multicast is not known");
    return UINT32_C(1) << own_rank;
  }
  uint32_t inside = (UINT32_C(1) << machine->cluster_size) - 1;
  uint32_t outside = (uint32_t)mask & 0xffff & ~inside;
  if (outside && !machine->sample->cluster_guessed) {
    IrViolation *v =
        machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-multicast-protocol",
                          "the multicast mask 0x%x names CTA %d, the cluster has %d",
                          (unsigned)mask & 0xffff, first_lane(outside), machine->cluster_size);
    if (v) ir_violation_fact(machine->violations, v, "mask", "0x%x", (unsigned)mask & 0xffff);
  }
  return (uint32_t)mask & inside;
}

void copy_check_issuers(Machine *machine, const Strand *strand, const IrInsn *insn, uint32_t lanes,
                        const char *what) {
  if (lane_count(lanes) < 2) return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-issued-by-many-threads",
                        "the same %s is issued by %d lanes of %s: each executing "
                        "thread issues one copy",
                        what, lane_count(lanes), machine_who(machine, strand));
  if (v) ir_violation_fact(machine->violations, v, "lanes", "%d", lane_count(lanes));
}

void copy_check_room(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                     uint32_t offset, int64_t bytes) {
  if (bytes <= 0 || rank < 0) return;
  const Protocol *p = protocol_of(machine);
  uint64_t within;
  int id = machine_shared_object(machine, offset, &within);
  if (id >= 0) {
    const IrObject *object = &machine->kernel->objects.items[id];
    if (!object->dynamic && object->bytes && within + (uint64_t)bytes > object->bytes) {
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-box-exceeds-buffer",
                        "the copy of %lld bytes to %s reaches %lld bytes past the end of %s",
                        (long long)bytes, protocol_place(machine, strand, rank, offset),
                        (long long)(within + (uint64_t)bytes - object->bytes), object->name);
      return;
    }
  }
  const Mbar *first = NULL; /* of those that the copy overwrites */
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    bool hit = bar->live && bar->rank == rank && bar->offset >= offset &&
               (int64_t)bar->offset + 8 <= (int64_t)offset + bytes;
    if (hit && (!first || bar->offset < first->offset)) first = bar;
  }
  if (!first) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-box-exceeds-buffer",
                    "the copy of %lld bytes to %s overwrites the mbarrier %s", (long long)bytes,
                    protocol_place(machine, strand, rank, offset),
                    mbarrier_name(machine, first, strand->warp->cta->rank));
}

void copy_check_alignment(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t offset, unsigned align, const char *why) {
  if (offset % align == 0) return;
  uint64_t within;
  int id = machine_shared_object(machine, offset, &within);
  const IrObject *object = id >= 0 ? &machine->kernel->objects.items[id] : NULL;
  IrViolation *v;
  if (object && object->dynamic && object->align < align && within % align == 0)
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "smem-extern-alignment",
                          "%s needs a multiple of %u (%s), but extern __shared__ %s is only "
                          "declared with alignment %u and follows static shared memory",
                          protocol_place(machine, strand, rank, offset), align, why, object->name,
                          object->align);
  else
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-address-misaligned",
                          "%s lies %u bytes past a multiple of %u, which %s needs",
                          protocol_place(machine, strand, rank, offset), offset % align, align,
                          why);
  if (!v) return;
  /* The order of static objects is the machine's choice: with another it may be aligned. */
  if (object && !object->dynamic && object->align < align && within % align == 0)
    v->confidence = IR_INFERRED;
  ir_violation_fact(machine->violations, v, "align", "%u", align);
  if (object && object->where)
    ir_violation_related(machine->violations, v, object->where, "declared here");
}

/* ---- out of shared memory: bulk groups, one counter a thread ---- */

static void need_bulk_agents(Machine *machine, WarpState *ws) {
  if (ws->bulk.agent) return;
  Protocol *p = protocol_of(machine);
  ws->bulk.agent = clocks_agents(&p->clocks, 2);
  ws->bulk_read_agent = ws->bulk.agent + 1;
}

Access *copy_store(Machine *machine, Strand *strand, const IrInsn *insn, int lane, int rank,
                   uint32_t offset, uint32_t bytes) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  need_bulk_agents(machine, ws);
  uint32_t bit = UINT32_C(1) << lane;
  Access *access = race_access(p->races, &(Access){.agent = ws->bulk_read_agent,
                                                   .lanes = bit,
                                                   .time = ws->bulk.open[lane],
                                                   .issued = ws->lanes.now,
                                                   .warp = (uint32_t)strand->warp->index,
                                                   .issuers = bit,
                                                   .actor = ACTOR_BULK_STORE,
                                                   .insn = insn,
                                                   .step = machine->step});
  race_touch(p->races, strand, access, -1, rank, offset, bytes);
  ws->bulk.open_ops |= bit;
  ws->bulk.op[lane] = insn;
  timeline_store(machine, strand, access, rank, offset);
  return access;
}

MachineStep event_bulk_commit(Machine *machine, Strand *strand, const IrInsn *insn) {
  WarpState *ws = warp_state(strand->warp);
  need_bulk_agents(machine, ws);
  FOR_LANES(lane, strand->active) {
    ws->bulk.open[lane]++;
    ws->bulk.commit[lane] = insn;
  }
  ws->bulk.open_ops &= ~strand->active;
  return MACHINE_NEXT;
}

void bulk_signal(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t lanes) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  bool releases = (insn->flags & (IR_FLAG(release) | IR_FLAG(acq_rel))) &&
                  (insn->flags & (IR_FLAG(scope_gpu) | IR_FLAG(scope_sys)));
  if (!ws->bulk.agent || !(releases || ws->wide_fence)) return;
  FOR_LANES(lane, lanes) {
    uint32_t bit = UINT32_C(1) << lane, last = ws->bulk.open[lane] - 1;
    const IrInsn *wait = ws->bulk.wait[lane];
    if (!last || !wait || !(wait->flags & IR_FLAG(read)) ||
        !(releases || ws->wide_fence >= ws->bulk_wait_step))
      continue;
    bool sources = lanes_know(&p->clocks, &ws->lanes, bit, ws->bulk_read_agent, bit, last);
    if (!sources || lanes_know(&p->clocks, &ws->lanes, bit, ws->bulk.agent, bit, last)) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, wait, "tma-store-read-wait-as-completion",
        "wait_group.read only says that the source was read, but the signal at %s tells others "
        "that the data are in global memory",
        machine_line(machine, insn));
    if (!v) return;
    ir_violation_related(machine->violations, v, insn->where, "the signal");
    ir_violation_related(machine->violations, v, ws->bulk.op[lane]->where, "the store");
    return;
  }
}

MachineStep event_bulk_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  need_bulk_agents(machine, ws);
  int64_t n = protocol_number(machine, strand, insn, IR_ROLE_group, strand->active, 0);
  protocol_check_pending(machine, insn, n);
  bool read_only = (insn->flags & IR_FLAG(read)) != 0;
  ws->bulk_wait_step = machine->step;
  FOR_LANES(lane, strand->active) {
    int64_t done = (int64_t)ws->bulk.open[lane] - 1 - n;
    ws->bulk.wait[lane] = insn;
    ws->bulk.wait_n[lane] = n;
    if (done <= 0) continue;
    uint32_t bit = UINT32_C(1) << lane;
    lanes_raise(&p->clocks, &ws->lanes, bit, ws->bulk_read_agent, bit, (uint32_t)done);
    if (!read_only) lanes_raise(&p->clocks, &ws->lanes, bit, ws->bulk.agent, bit, (uint32_t)done);
  }
  return MACHINE_NEXT;
}

const IrInsn *bulk_foreign_wait(const Machine *machine, const Cta *cta) {
  (void)machine;
  for (int w = 0; w < cta->nwarps; w++) {
    const WarpState *ws = warp_state(&cta->warps[w]);
    for (int lane = 0; lane < 32 && ws->bulk.agent; lane++)
      if (ws->bulk.wait[lane] && !ws->bulk.op[lane]) return ws->bulk.wait[lane];
  }
  return NULL;
}

void bulk_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (!ws->bulk.agent) return;
  FOR_LANES(lane, lanes) {
    uint32_t bit = UINT32_C(1) << lane;
    const IrInsn *op = ws->bulk.op[lane];
    if (!op) continue;
    const IrInsn *foreign = bulk_foreign_wait(machine, strand->warp->cta);
    if (foreign && !ws->bulk.wait[lane]) {
      IrViolation *w = machine_violation(
          machine, MACHINE_CHECK_FINISH, foreign, "tma-store-wait-wrong-thread",
          "the wait_group covers nothing: the bulk store was issued by another thread, thread %d "
          "(bulk groups are per thread)",
          strand->warp->id * 32 + (int)lane);
      if (w) ir_violation_related(machine->violations, w, op->where, "the store");
      continue;
    }
    if (ws->bulk.open_ops & bit) {
      IrViolation *v = machine_violation(
          machine, MACHINE_CHECK_FINISH, op, "tma-store-not-committed",
          "the bulk store is never committed to a group: nothing can wait for it");
      /* Without a wait nobody is told too early: as with a group that is pending at the end. */
      if (v && !ws->bulk.wait[lane]) v->confidence = IR_INFERRED;
      continue;
    }
    uint32_t last = ws->bulk.open[lane] - 1;
    if (lanes_know(&p->clocks, &ws->lanes, bit, ws->bulk_read_agent, bit, last)) continue;
    bool waits_later = ws->bulk.wait[lane] && ws->bulk.wait_n[lane] > 0;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_FINISH, op, "tma-store-pending-at-exit",
        "the thread ends while its bulk store may still read shared memory: %s",
        waits_later
            ? kc_printf(machine->arena, "the last wait_group leaves %lld group%s pending",
                        (long long)ws->bulk.wait_n[lane], ws->bulk.wait_n[lane] == 1 ? "" : "s")
            : "no cp.async.bulk.wait_group follows it");
    if (v && waits_later)
      ir_violation_related(machine->violations, v, ws->bulk.wait[lane]->where, "the last wait");
    if (v) {
      int thread = strand->warp->id * 32 + (int)lane;
      witness_order(machine, v,
                    kc_printf(machine->arena, "thread %d issues the store at %s", thread,
                              machine_line(machine, op)),
                    kc_printf(machine->arena, "thread %d ends, at step %llu", thread,
                              (unsigned long long)machine->step),
                    "a cp.async.bulk.wait_group.read 0 of this thread");
    }
  }
}

/* ---- the instructions ---- */

typedef struct BulkOperands {
  Value dst, src, size, mbar;
  bool has_mbar;
  IrSpace dst_space, src_space;
} BulkOperands;

#define SHARED_MOST 232448 /* of a block, in bytes, where no architecture is given */

/* Whether no launch brings such a copy about: it would take more than a block's shared memory. */
static bool too_large(Machine *machine, const IrInsn *insn, uint32_t bytes) {
  const Arch *arch = machine->session->options->arch;
  uint32_t most = arch && arch->smem_opt_in ? (uint32_t)arch->smem_opt_in : SHARED_MOST;
  return machine_impossible_size(machine, insn, IR_ROLE_size, bytes, most);
}

static void check_size(Machine *machine, const IrInsn *insn, int64_t bytes) {
  if (bytes % 16 == 0 || origin_loaded(machine, insn, IR_ROLE_size)) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, insn, "tma-size-multiple-16",
      insn->event == IR_EV_bulk_prefetch
          ? "the prefetch of %lld bytes is not a multiple of 16: its behaviour is undefined"
          : "the bulk copy of %lld bytes is not a multiple of 16: it never completes",
      (long long)bytes);
  if (v) ir_violation_fact(machine->violations, v, "bytes", "%lld", (long long)bytes);
}

static void check_global_address(Machine *machine, const IrInsn *insn, uint64_t at, IrRole role) {
  const unsigned align = 16;
  if (at % align == 0 || origin_loaded(machine, insn, role) ||
      !machine_is_global_address(machine, at))
    return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tma-address-misaligned",
                        "the global address of the copy lies %llu bytes past a multiple of %u",
                        (unsigned long long)(at % align), align);
  if (v) ir_violation_fact(machine->violations, v, "align", "%u", align);
}

/* One lane's copy from global or own shared memory into shared memory. */
static void load_lane(Machine *machine, Strand *strand, const IrInsn *insn, const BulkOperands *o,
                      int lane, const SharedPlace *dst, uint32_t targets, int64_t bytes) {
  uint64_t raw_mbar;
  SharedPlace mbar = {.lanes = UINT32_C(1) << lane, .known = false, .rank = -1};
  if (o->has_mbar && value_lane(o->mbar, lane, &raw_mbar)) {
    uint32_t left = mbar.lanes;
    protocol_next_place(machine, strand, &o->mbar, o->dst_space, &left, &mbar);
  }
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    if (!(targets >> rank & 1)) continue;
    SharedPlace there = mbar;
    if (insn->flags & IR_FLAG(multicast)) there.rank = rank;
    copy_check_room(machine, strand, insn, rank, dst->offset, bytes);
    copy_load(machine, strand,
              &(CopyLoad){.insn = insn,
                          .lane = lane,
                          .rank = rank,
                          .offset = dst->offset,
                          .bytes = bytes,
                          .span = bytes >= 0 ? (uint32_t)bytes : 16,
                          .mbar = there,
                          .actor = ACTOR_TMA_LOAD,
                          .targets = insn->flags & IR_FLAG(multicast) ? targets : 0});
  }
}

static void bulk_into_shared(Machine *machine, Strand *strand, const IrInsn *insn,
                             const BulkOperands *o) {
  uint32_t left = strand->active;
  SharedPlace dst;
  while (protocol_next_place(machine, strand, &o->dst, o->dst_space, &left, &dst)) {
    if (!dst.known || dst.rank < 0) {
      finish_unknown_copy(machine, strand, insn, dst.known);
      continue;
    }
    copy_check_alignment(machine, strand, insn, dst.rank, dst.offset, 16, "a bulk copy");
    copy_check_issuers(machine, strand, insn, dst.lanes, "bulk copy");
    uint32_t targets = copy_targets(machine, strand, insn, dst.lanes, dst.rank);
    FOR_LANES(lane, dst.lanes) {
      uint64_t size, src;
      bool known = value_lane(o->size, (int)lane, &size);
      if (known && too_large(machine, insn, (uint32_t)size)) return;
      if (known) check_size(machine, insn, (int64_t)(uint32_t)size);
      if (o->src_space != IR_SPACE_SHARED && value_lane(o->src, (int)lane, &src)) {
        check_global_address(machine, insn, src, IR_ROLE_src_addr);
        pdl_async_read(machine, strand, insn, pdl_buffer(src));
        if (known) proxied_copy(machine, strand, insn, src, (uint32_t)size);
      }
      load_lane(machine, strand, insn, o, (int)lane, &dst, targets,
                known ? (int64_t)(uint32_t)size : -1);
    }
  }
}

/* Reads of the source in shared memory: of a store to global memory, or of a copy to another CTA
 * (which completes on the barrier there). */
static void bulk_out_of_shared(Machine *machine, Strand *strand, const IrInsn *insn,
                               const BulkOperands *o) {
  uint32_t left = strand->active;
  SharedPlace src;
  while (protocol_next_place(machine, strand, &o->src, IR_SPACE_SHARED, &left, &src)) {
    if (!src.known || src.rank < 0) {
      finish_unknown_copy(machine, strand, insn, src.known);
      continue;
    }
    copy_check_alignment(machine, strand, insn, src.rank, src.offset, 16, "a bulk copy");
    copy_check_issuers(machine, strand, insn, src.lanes, "bulk store");
    FOR_LANES(lane, src.lanes) {
      uint64_t size, dst;
      bool known = value_lane(o->size, (int)lane, &size);
      if (known && too_large(machine, insn, (uint32_t)size)) return;
      if (known) check_size(machine, insn, (int64_t)(uint32_t)size);
      uint32_t bytes = known ? (uint32_t)size : 16;
      if (o->dst_space == IR_SPACE_GLOBAL && value_lane(o->dst, (int)lane, &dst))
        check_global_address(machine, insn, dst, IR_ROLE_dst_addr);
      if (known) copy_check_room(machine, strand, insn, src.rank, src.offset, bytes);
      copy_store(machine, strand, insn, (int)lane, src.rank, src.offset, bytes);
    }
  }
}

static MachineStep bulk_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  BulkOperands o = {.dst_space = (IrSpace)insn->space, .src_space = (IrSpace)insn->src_space};
  machine_read_role(machine, strand, insn, IR_ROLE_dst_addr, &o.dst);
  machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &o.src);
  machine_read_role(machine, strand, insn, IR_ROLE_size, &o.size);
  o.has_mbar = machine_read_role(machine, strand, insn, IR_ROLE_mbar, &o.mbar);
  if (o.has_mbar && o.src_space == IR_SPACE_SHARED) {
    /* shared to shared: the source is read until the bytes have landed; seen through the barrier
     * of the destination, which the source's owner can't wait on. Only the landing is followed. */
    bulk_into_shared(machine, strand, insn, &o);
  } else if (o.has_mbar) {
    bulk_into_shared(machine, strand, insn, &o);
  } else {
    bulk_out_of_shared(machine, strand, insn, &o);
  }
  return MACHINE_NEXT;
}

MachineStep event_bulk_copy(Machine *machine, Strand *strand, const IrInsn *insn) {
  return bulk_event(machine, strand, insn);
}

MachineStep event_bulk_reduce(Machine *machine, Strand *strand, const IrInsn *insn) {
  return bulk_event(machine, strand, insn);
}

/* Address and size obey the same rules as those of a copy (PTX ISA 9.7.9.25.4.3). */
MachineStep event_bulk_prefetch(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value src, size;
  bool has_src = machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &src);
  bool has_size = machine_read_role(machine, strand, insn, IR_ROLE_size, &size);
  FOR_LANES(lane, strand->active) {
    uint64_t value;
    if (has_size && value_lane(size, (int)lane, &value)) {
      if (machine_impossible_size(machine, insn, IR_ROLE_size, (uint32_t)value, INT32_MAX))
        return MACHINE_NEXT;
      check_size(machine, insn, (int64_t)(uint32_t)value);
    }
    if (has_src && value_lane(src, (int)lane, &value))
      check_global_address(machine, insn, value, IR_ROLE_src_addr);
  }
  return MACHINE_NEXT;
}

/* ---- st.async, red.async ---- */

static MachineStep async_store(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value dst, mbar, value;
  machine_read_role(machine, strand, insn, IR_ROLE_dst_addr, &dst);
  if (!machine_read_role(machine, strand, insn, IR_ROLE_mbar, &mbar)) return MACHINE_NEXT;
  bool has_value = machine_read_role(machine, strand, insn, IR_ROLE_value, &value);
  uint32_t bytes = insn->shape.bytes ? insn->shape.bytes : 4;
  FOR_LANES(lane, strand->active) {
    uint32_t one = UINT32_C(1) << lane, left = one;
    SharedPlace to, bar;
    protocol_next_place(machine, strand, &dst, IR_SPACE_SHARED_CLUSTER, &left, &to);
    left = one;
    protocol_next_place(machine, strand, &mbar, IR_SPACE_SHARED_CLUSTER, &left, &bar);
    if (!to.known || to.rank < 0) {
      finish_unknown_copy(machine, strand, insn, to.known);
      continue;
    }
    if (insn->event == IR_EV_red_async && to.rank == strand->warp->cta->rank &&
        !slice_operand(machine->session, ir_arg(insn, IR_ROLE_dst_addr)).mapped)
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "cluster-dsmem-unmapped-address",
                        "%s to %s in the executing CTA: its target is another CTA of the cluster "
                        "(mapa)",
                        ir_event_mnemonic((IrEvent)insn->event),
                        protocol_place(machine, strand, to.rank, to.offset));
    copy_load(machine, strand,
              &(CopyLoad){.insn = insn,
                          .lane = (int)lane,
                          .rank = to.rank,
                          .offset = to.offset,
                          .bytes = bytes,
                          .span = bytes,
                          .mbar = bar,
                          .actor = ACTOR_ST_ASYNC});
    uint64_t v;
    if (has_value && insn->event == IR_EV_st_async && bytes <= 8 &&
        value_lane(value, (int)lane, &v))
      machine_shared_store(machine, to.rank, to.offset, (int)bytes, true, v);
  }
  return MACHINE_NEXT;
}

MachineStep event_st_async(Machine *machine, Strand *strand, const IrInsn *insn) {
  return async_store(machine, strand, insn);
}

MachineStep event_red_async(Machine *machine, Strand *strand, const IrInsn *insn) {
  return async_store(machine, strand, insn);
}
