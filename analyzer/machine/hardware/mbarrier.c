/* mbarrier objects: init, inval, arrive, expect_tx, complete_tx and the completion of phases (PTX
 * ISA 9.7.13.15.1-15.15). A phase completes when its pending count and its tx-count are both
 * exactly zero (measured on an H200: a tx-count below zero does not complete it). */
#include "machine/hardware/mbarrier.h"

#include "machine/causes/cause.h"
#include "machine/checks/finish.h"
#include "machine/inputs/origin.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

Mbar *mbarrier_find(const Machine *machine, int rank, uint32_t offset) {
  if (rank < 0 || rank >= machine->cluster_size || offset % 8) return NULL;
  if (offset / 8 >= machine->session->shared_bytes / 8) return NULL;
  Mbar *bar = cta_state(&machine->ctas[rank])->mbars[offset / 8];
  return bar && bar->live ? bar : NULL;
}

const char *mbarrier_name(Machine *machine, const Mbar *bar, int seen_from) {
  return machine_place(machine, (MachineAddress){IR_SPACE_SHARED, bar->rank, bar->offset},
                       seen_from);
}

void mbarrier_log(Mbar *bar, MbarLogKind kind, int warp, uint32_t lanes, int64_t value,
                  const IrInsn *insn, uint64_t step) {
  bar->log[bar->nlog++ % MBAR_LOG] =
      (MbarLog){(uint8_t)kind, (int16_t)warp, lanes, bar->phase, value, insn, step};
}

int64_t mbarrier_expected_phase(const Machine *machine, const Mbar *bar, const Warp *warp, int lane,
                                int parity) {
  const Protocol *p = protocol_of(machine);
  const LaneGroup *group = lanes_group(&warp_state(warp)->lanes, lane);
  uint32_t known = clock_time(&p->clocks, group->clock, bar->agent, 0);
  int64_t complete = known > bar->base ? (int64_t)(known - bar->base) : 0;
  return (complete & 1) == parity ? complete : complete - 1;
}

/* ---- use ---- */

Mbar *mbarrier_use(Machine *machine, Strand *strand, const IrInsn *insn, const SharedPlace *place,
                   const char *what) {
  Protocol *p = protocol_of(machine);
  if (!place->known) {
    machine_switch_off(machine, MACHINE_CHECK_DEADLOCK, insn,
                       "%s on an mbarrier whose address is not known", what);
    machine_switch_off(machine, MACHINE_CHECK_PHASE, insn,
                       "%s on an mbarrier whose address is not known", what);
    machine_switch_off(machine, MACHINE_CHECK_FINISH, insn,
                       "%s on an mbarrier whose address is not known", what);
    return NULL;
  }
  Mbar *bar = mbarrier_find(machine, place->rank, place->offset);
  if (!bar) {
    if (place->rank < 0)
      machine_violation(machine, MACHINE_CHECK_PHASE, insn, "mbarrier-init-missing",
                        "%s on an address that is not in shared memory", what);
    else
      finish_uninitialised(machine, strand, insn, place, what);
    return NULL;
  }
  if (!lanes_know(&p->clocks, &warp_state(strand->warp)->lanes, place->lanes,
                  warp_state(machine->warps[bar->init_warp])->lanes.agent, bar->init_lanes,
                  bar->init_time))
    cause_init_unordered(machine, bar, strand, insn, what);
  if (bar->overwritten) {
    machine_violation(
        machine, MACHINE_CHECK_PHASE, bar->overwritten, "mbarrier-reinit-live",
        "an ordinary store overwrites the live mbarrier %s, which is used again at %s",
        mbarrier_name(machine, bar, bar->overwritten_rank), machine_line(machine, insn));
    bar->overwritten = NULL;
  }
  if (place->rank != strand->warp->cta->rank)
    finish_remote(machine, strand, place->lanes, place->rank, insn, true, true);
  return bar;
}

/* ---- init, inval ---- */

static Mbar *object_at(Machine *machine, int rank, uint32_t offset) {
  Protocol *p = protocol_of(machine);
  Mbar **slot = &cta_state(&machine->ctas[rank])->mbars[offset / 8];
  if (*slot) return *slot;
  Mbar *bar = KC_NEW(machine->arena, Mbar);
  bar->number = p->mbars.count;
  bar->rank = rank;
  bar->offset = offset;
  bar->agent = clocks_agents(&p->clocks, 1);
  bar->views = KC_NEW_ARRAY(machine->arena, MbarView *, machine->nwarps);
  KC_PUSH(machine->arena, p->mbars, bar);
  return *slot = bar;
}

static bool used_since_init(const Mbar *bar) {
  return bar->phase > 0 || bar->pending != bar->expected || bar->tx != 0 ||
         bar->last_observed != INT64_MIN;
}

static void reset(Machine *machine, Mbar *bar, int64_t count) {
  Protocol *p = protocol_of(machine);
  bar->base += (uint32_t)bar->phase + (bar->nlog ? 1 : 0);
  bar->expected = bar->pending = bar->init_count = count;
  bar->tx = bar->phase = 0;
  bar->announced = bar->delivered = 0;
  bar->copies_unknown = 0;
  bar->had_unknown = false;
  bar->arrivals.count = bar->observers.count = bar->landed.count = 0;
  bar->last_observed = INT64_MIN;
  bar->last_landed_phase = -1;
  clock_free(&p->clocks, bar->current);
  clock_free(&p->clocks, bar->done);
  clock_free(&p->clocks, bar->counted);
  clock_free(&p->clocks, bar->happened);
  bar->counted = bar->happened = NULL;
  bar->current = clock_new(&p->clocks);
  bar->done = clock_new(&p->clocks);
  for (int i = 0; i < machine->nwarps; i++)
    if (bar->views[i]) *bar->views[i] = (MbarView){0};
}

static void init_one(Machine *machine, Strand *strand, const IrInsn *insn, const SharedPlace *at,
                     int64_t count) {
  if (at->rank != strand->warp->cta->rank) {
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "mbarrier-remote-wait",
                      "mbarrier.init of %s: only the CTA that owns an mbarrier can initialise it",
                      protocol_place(machine, strand, at->rank, at->offset));
    return;
  }
  if (at->offset % 8) {
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "mbarrier-misaligned",
                      "mbarrier %s lies %u bytes past a multiple of 8",
                      protocol_place(machine, strand, at->rank, at->offset), at->offset % 8);
    protocol_of(machine)->misaligned_init = true;
    return;
  }
  if (at->offset / 8 >= machine->session->shared_bytes / 8) {
    protocol_of(machine)->init_beyond = true;
    return;
  }
  if (count < 1 || count > MBARRIER_MAX) {
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "mbarrier-count-range",
                      "mbarrier %s is initialised for %lld arrivals; 1 to %lld are possible",
                      protocol_place(machine, strand, at->rank, at->offset), (long long)count,
                      (long long)MBARRIER_MAX);
    if (count < 1) count = 1;
  }
  Mbar *bar = object_at(machine, at->rank, at->offset);
  uint32_t initialiser = at->lanes & -at->lanes;
  bool again = bar->init_warp == (uint32_t)strand->warp->index && bar->init_lanes == initialiser;
  if (bar->live && (used_since_init(bar) || again)) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_PHASE, insn, "mbarrier-reinit-live",
        used_since_init(bar)
            ? "%s is initialised again in phase %lld without mbarrier.inval: its phase is 0 again "
              "while waiters keep their parity"
            : "%s is initialised twice by the same thread with no mbarrier.inval in between (phase "
              "%lld)",
        mbarrier_name(machine, bar, at->rank), (long long)bar->phase);
    if (v && bar->init)
      ir_violation_related(machine->violations, v, bar->init->where, "initialised here before");
  }
  reset(machine, bar, count);
  const WarpState *ws = warp_state(strand->warp);
  bar->live = true;
  bar->init = insn;
  bar->init_warp = (uint32_t)strand->warp->index;
  bar->init_lanes = at->lanes & -at->lanes;
  bar->init_time = ws->lanes.now;
  bar->init_fenced = false;
  mbarrier_log(bar, MBAR_LOG_INIT, strand->warp->index, at->lanes, count, insn, machine->step);
  contract_site(machine, bar, CONTRACT_INIT, insn, count);
  machine_shared_forget(machine, at->rank, at->offset, 8);
  Access *access = race_access(protocol_of(machine)->races, &(Access){.agent = ws->lanes.agent,
                                                                      .lanes = bar->init_lanes,
                                                                      .time = ws->lanes.now,
                                                                      .issued = ws->lanes.now,
                                                                      .warp = bar->init_warp,
                                                                      .issuers = bar->init_lanes,
                                                                      .actor = ACTOR_THREAD,
                                                                      .write = true,
                                                                      .insn = insn,
                                                                      .step = machine->step});
  race_touch(protocol_of(machine)->races, NULL, access, -1, at->rank, at->offset, 8);
}

MachineStep event_mbarrier_init(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address, count;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  bool given = machine_read_role(machine, strand, insn, IR_ROLE_count, &count);
  uint32_t left = strand->active;
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, IR_SPACE_SHARED, &left, &at)) {
    uint64_t n;
    if (!at.known || at.rank < 0) {
      for (int c = MACHINE_CHECK_DEADLOCK; c < MACHINE_CHECK_COUNT; c++)
        machine_switch_off(machine, (MachineCheck)c, insn,
                           "an mbarrier is initialised at an address that is not known");
      protocol_of(machine)->unknown_init = true;
      continue;
    }
    if (!given || !value_same(count, at.lanes, &n)) {
      machine_switch_off(machine, MACHINE_CHECK_DEADLOCK, insn,
                         "the count that %s is initialised with is not known",
                         protocol_place(machine, strand, at.rank, at.offset));
      machine_switch_off(machine, MACHINE_CHECK_PHASE, insn,
                         "the count that %s is initialised with is not known",
                         protocol_place(machine, strand, at.rank, at.offset));
      n = 1;
    }
    init_one(machine, strand, insn, &at, (int64_t)(int32_t)n);
  }
  return MACHINE_NEXT;
}

MachineStep event_mbarrier_inval(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  uint32_t left = strand->active;
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, IR_SPACE_SHARED, &left, &at)) {
    Mbar *bar = mbarrier_use(machine, strand, insn, &at, "mbarrier.inval");
    if (!bar) continue;
    if (at.rank != strand->warp->cta->rank)
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "mbarrier-remote-wait",
                        "mbarrier.inval of %s: only the owning CTA can invalidate an mbarrier",
                        mbarrier_name(machine, bar, strand->warp->cta->rank));
    finish_mbarrier_closed(machine, bar);
    bar->live = false;
  }
  return MACHINE_NEXT;
}

void mbarrier_overwritten(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t offset, uint32_t bytes) {
  const CtaState *cta = cta_state(&machine->ctas[rank]);
  uint32_t limit = machine->session->shared_bytes / 8;
  for (uint32_t i = offset / 8; i < limit && i * 8 < offset + bytes; i++) {
    Mbar *bar = cta->mbars[i];
    if (!bar || !bar->live || bar->overwritten) continue;
    bar->overwritten = insn;
    bar->overwritten_rank = strand->warp->cta->rank;
  }
}

/* ---- completion ---- */

static void check_observers(Machine *machine, Mbar *bar, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < bar->observers.count; i++) {
    const MbarObserver *o = &bar->observers.items[i];
    uint32_t agent = warp_state(machine->warps[o->warp])->lanes.agent;
    uint32_t behind = clock_behind(&p->clocks, bar->current, agent, o->lanes, o->time);
    if (behind) cause_recycled(machine, bar, o, behind, insn);
  }
  bar->observers.count = 0;
}

static void complete(Machine *machine, Mbar *bar, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  while (bar->pending == 0 && bar->copies_unknown == 0 && (bar->tx == 0 || bar->had_unknown)) {
    check_observers(machine, bar, insn);
    mbarrier_log(bar, MBAR_LOG_PHASE, -1, 0, 0, insn, machine->step);
    timeline_phase(machine, bar);
    finish_phase(machine, bar);
    bar->phase++;
    bar->pending = bar->expected;
    bar->tx = 0;
    bar->announced = bar->delivered = 0;
    bar->had_unknown = false;
    bar->arrivals.count = bar->landed.count = 0;
    clock_join(&p->clocks, bar->done, bar->current);
    clock_join(&p->clocks, bar->happened, bar->counted);
    clock_raise(&p->clocks, bar->done, bar->agent, CLOCK_ALL_LANES,
                bar->base + (uint32_t)bar->phase);
    clock_free(&p->clocks, bar->current);
    bar->current = clock_new(&p->clocks);
    p->phases_completed++;
    if (bar->expected == 0) break;
  }
}

/* Whether an arrival comes after the completion of the phase before, be it by relaxed signals. */
static bool follows_phase(Machine *machine, const Mbar *bar, const Clock *known, int warp) {
  const Clocks *clocks = &protocol_of(machine)->clocks;
  uint32_t complete = bar->base + (uint32_t)bar->phase;
  if (clock_time(clocks, known, bar->agent, 0) >= complete) return true;
  return warp >= 0 &&
         clock_time(clocks, warp_state(machine->warps[warp])->reached, bar->agent, 0) >= complete;
}

static void remember_arrival(Machine *machine, Mbar *bar, int64_t count, const Clock *known,
                             int warp, uint32_t lanes, const IrInsn *insn) {
  uint32_t w = warp < 0 ? UINT32_MAX : (uint32_t)warp;
  bool unaware = !follows_phase(machine, bar, known, warp);
  KC_PUSH(machine->arena, bar->arrivals,
          ((MbarArrival){.insn = insn, .warp = w, .lanes = lanes, .count = count}));
  for (int i = 0; i < bar->arrivers.count; i++) {
    MbarArrival *a = &bar->arrivers.items[i];
    if (a->insn != insn || a->warp != w) continue;
    a->count += count;
    a->lanes |= lanes;
    a->times++;
    a->unaware += unaware;
    return;
  }
  KC_PUSH(machine->arena, bar->arrivers,
          ((MbarArrival){.insn = insn,
                         .warp = w,
                         .lanes = lanes,
                         .count = count,
                         .times = 1,
                         .unaware = unaware}));
}

void mbarrier_arrive(Machine *machine, Mbar *bar, int64_t count, const Clock *known, int warp,
                     uint32_t lanes, const IrInsn *insn, MbarLogKind kind) {
  Protocol *p = protocol_of(machine);
  mbarrier_log(bar, kind, warp, lanes, count, insn, machine->step);
  remember_arrival(machine, bar, count, known, warp, lanes, insn);
  bar->last_arrive = insn;
  bar->last_arrive_warp = warp;
  clock_join(&p->clocks, bar->current, known);
  if (count > bar->pending) {
    cause_over_arrival(machine, bar, warp, lanes, count, insn);
    count = bar->pending;
  }
  bar->pending -= count;
  complete(machine, bar, insn);
}

/* What one thread announces: the range of the operand. */
static bool announces_too_much(Machine *machine, const Mbar *bar, int64_t bytes,
                               const IrInsn *insn) {
  if (bytes >= 0 && bytes <= MBARRIER_MAX) return false;
  if (origin_made_up(machine, insn, IR_ROLE_bytes)) {
    machine_switch_off(machine, MACHINE_CHECK_BYTES, insn,
                       "more bytes are announced with the sizes that were tried than %s counts",
                       mbarrier_name(machine, bar, bar->rank));
    return true;
  }
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "mbarrier-count-range",
                    "expect_tx of %lld bytes on %s; 0 to %lld are possible", (long long)bytes,
                    mbarrier_name(machine, bar, bar->rank), (long long)MBARRIER_MAX);
  return true;
}

/* `bytes` of all `lanes` together. */
static void announce(Machine *machine, Mbar *bar, int64_t bytes, const Strand *strand,
                     uint32_t lanes, const IrInsn *insn) {
  bar->tx += bytes;
  bar->announced += bytes;
  bar->announced_total += bytes;
  bar->last_expect = insn;
  mbarrier_log(bar, MBAR_LOG_EXPECT, strand->warp->index, lanes, bytes, insn, machine->step);
  contract_site(machine, bar, CONTRACT_EXPECT, insn, bytes);
  if (bar->tx > MBARRIER_MAX)
    machine_violation(machine, MACHINE_CHECK_BYTES, insn, "mbarrier-count-range",
                      "the tx-count of %s reaches %lld; it must stay within %lld",
                      mbarrier_name(machine, bar, bar->rank), (long long)bar->tx,
                      (long long)MBARRIER_MAX);
}

void mbarrier_deliver(Machine *machine, Mbar *bar, int64_t bytes, const Clock *known,
                      Access *access, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  clock_join(&p->clocks, bar->current, known);
  if (access) {
    access->agent = bar->agent;
    access->lanes = 1;
    access->time = bar->base + (uint32_t)bar->phase + 1;
    bar->last_landed_phase = bar->phase;
  }
  mbarrier_log(bar, MBAR_LOG_COMPLETE, -1, 0, bytes, insn, machine->step);
  contract_site(machine, bar, CONTRACT_COMPLETE, insn, bytes);
  if (bytes >= 0) {
    bar->tx -= bytes;
    bar->delivered += bytes;
    bar->delivered_total += bytes;
  } else {
    bar->had_unknown = true;
    bar->unknown_total++;
    if (bar->copies_unknown > 0) bar->copies_unknown--;
  }
  complete(machine, bar, insn);
}

/* ---- arrive, expect_tx, complete_tx ---- */

/* A phase that waits for a number of bytes that is not known completes at an unknown time. */
static void unknown_bytes(Machine *machine, Mbar *bar, const IrInsn *insn, const char *what) {
  static const MachineCheck checks[] = {MACHINE_CHECK_BYTES, MACHINE_CHECK_PHASE,
                                        MACHINE_CHECK_RACE, MACHINE_CHECK_FINISH};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    machine_switch_off(machine, checks[i], insn, "the byte count of %s on %s is not known", what,
                       mbarrier_name(machine, bar, bar->rank));
  bar->had_unknown = true;
}

typedef struct Arrive {
  bool expect, drop, no_complete, remote_scope;
  const char *what;
} Arrive;

static void arrive_at(Machine *machine, Strand *strand, const IrInsn *insn, const SharedPlace *at,
                      const Arrive *form, Value amount, bool given, uint64_t state[32]) {
  Protocol *p = protocol_of(machine);
  Mbar *bar = mbarrier_use(machine, strand, insn, at, form->what);
  if (!bar) return;
  WarpState *ws = warp_state(strand->warp);
  int64_t count = 0, bytes = 0;
  FOR_LANES(lane, at->lanes) {
    uint64_t n = 1;
    if (given && !value_lane(amount, (int)lane, &n)) {
      if (form->expect)
        unknown_bytes(machine, bar, insn, form->what);
      else
        machine_switch_off(machine, MACHINE_CHECK_PHASE, insn, "the count of %s on %s is not known",
                           form->what, mbarrier_name(machine, bar, at->rank));
      n = form->expect ? 0 : 1;
    }
    state[lane] = (uint64_t)bar->phase;
    if (form->expect &&
        machine_impossible_size(machine, insn, IR_ROLE_bytes, (uint32_t)n, MBARRIER_MAX))
      return;
    if (form->expect && !announces_too_much(machine, bar, (int64_t)(uint32_t)n, insn))
      bytes += (int64_t)(uint32_t)n;
    count += form->expect ? 1 : (int64_t)(uint32_t)n;
  }
  if (form->expect) announce(machine, bar, bytes, strand, at->lanes, insn);
  if (form->drop) bar->expected -= lane_count(at->lanes);
  int rank = strand->warp->cta->rank;
  if (bar->rank != rank && !form->remote_scope) finish_narrow_release(machine, bar, strand, insn);
  if (bar->rank != rank && (ws->narrow_stores >> bar->rank & 1)) bar->handed = insn;
  contract_site(machine, bar, CONTRACT_ARRIVE, insn, count);
  timeline_arrive(machine, bar, strand, insn);
  Clock *known = clock_new(&p->clocks);
  lanes_collect(&p->clocks, &ws->lanes, at->lanes, known);
  mbarrier_arrive(machine, bar, count, known, strand->warp->index, at->lanes, insn,
                  MBAR_LOG_ARRIVE);
  clock_free(&p->clocks, known);
}

MachineStep event_mbarrier_arrive(Machine *machine, Strand *strand, const IrInsn *insn) {
  Arrive form = {.expect = (insn->flags & IR_FLAG(expect_tx)) != 0,
                 .drop = (insn->flags & IR_FLAG(drop)) != 0,
                 .no_complete = (insn->flags & IR_FLAG(no_complete)) != 0,
                 .remote_scope = (insn->flags & (IR_FLAG(scope_cluster) | IR_FLAG(scope_gpu) |
                                                 IR_FLAG(scope_sys))) != 0};
  form.what = form.expect ? "mbarrier.arrive.expect_tx"
              : form.drop ? "mbarrier.arrive_drop"
                          : "mbarrier.arrive";
  Value address, amount;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  bool given = machine_read_role(machine, strand, insn, form.expect ? IR_ROLE_bytes : IR_ROLE_count,
                                 &amount);
  uint32_t left = strand->active;
  uint64_t state[32] = {0};
  SharedPlace at;
  IrSpace space = (IrSpace)insn->space;
  while (protocol_next_place(machine, strand, &address, space, &left, &at))
    arrive_at(machine, strand, insn, &at, &form, amount, given, state);
  warp_state(strand->warp)->lanes.now++; /* all lanes release at one time */
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (!dst) dst = ir_arg(insn, IR_ROLE_state);
  if (dst)
    machine_write(machine, strand, dst,
                  value_from_lanes(machine, state, strand->active, strand->active), strand->active);
  return MACHINE_NEXT;
}

static MachineStep bytes_event(Machine *machine, Strand *strand, const IrInsn *insn, bool deliver) {
  Value address, amount;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  bool given = machine_read_role(machine, strand, insn, IR_ROLE_bytes, &amount);
  uint32_t left = strand->active;
  const char *what = deliver ? "mbarrier.complete_tx" : "mbarrier.expect_tx";
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, (IrSpace)insn->space, &left, &at)) {
    Mbar *bar = mbarrier_use(machine, strand, insn, &at, what);
    if (!bar) continue;
    int64_t bytes = 0;
    FOR_LANES(lane, at.lanes) {
      uint64_t n;
      if (given && value_lane(amount, (int)lane, &n)) {
        if (deliver || !announces_too_much(machine, bar, (int64_t)(uint32_t)n, insn))
          bytes += (int64_t)(uint32_t)n;
        continue;
      }
      unknown_bytes(machine, bar, insn, what);
    }
    if (deliver) {
      if (!bar->counted) bar->counted = clock_new(&protocol_of(machine)->clocks);
      if (!bar->happened) bar->happened = clock_new(&protocol_of(machine)->clocks);
      lanes_release(&protocol_of(machine)->clocks, &warp_state(strand->warp)->lanes, at.lanes,
                    bar->counted);
      mbarrier_deliver(machine, bar, bytes, NULL, NULL, insn);
    } else {
      announce(machine, bar, bytes, strand, at.lanes, insn);
      complete(machine, bar, insn);
    }
  }
  return MACHINE_NEXT;
}

MachineStep event_mbarrier_expect_tx(Machine *machine, Strand *strand, const IrInsn *insn) {
  return bytes_event(machine, strand, insn, false);
}

MachineStep event_mbarrier_complete_tx(Machine *machine, Strand *strand, const IrInsn *insn) {
  return bytes_event(machine, strand, insn, true);
}

MachineStep event_mbarrier_pending_count(Machine *machine, Strand *strand, const IrInsn *insn) {
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (dst) machine_write(machine, strand, dst, value_fresh(machine), strand->active);
  return MACHINE_NEXT;
}
