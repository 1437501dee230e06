#include "machine/hardware/protocol.h"

#include "machine/causes/cause.h"
#include "machine/causes/symptom.h"
#include "machine/checks/checks.h"
#include "machine/checks/finish.h"
#include "machine/checks/fragment.h"
#include "machine/checks/raster.h"
#include "machine/hardware/barrier.h"
#include "machine/hardware/mbarrier.h"
#include "machine/hardware/pdl.h"
#include "machine/hardware/tmem.h"
#include "machine/hardware/wgmma.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

/* ---- helpers ---- */

bool protocol_next(const Value *value, uint32_t *left, uint32_t *lanes, uint64_t *out,
                   bool *known) {
  uint32_t candidates = *left & value->known;
  if (!candidates) {
    if (!*left) return false;
    *lanes = *left;
    *left = 0;
    *out = 0;
    *known = false;
    return true;
  }
  *out = value_raw(*value, first_lane(candidates));
  *known = true;
  *lanes = value->uniform ? candidates : 0;
  if (!value->uniform) {
    FOR_LANES(lane, candidates)
    if (value->lanes[lane] == *out) *lanes |= UINT32_C(1) << lane;
  }
  *left &= ~*lanes;
  return true;
}

bool protocol_next_place(Machine *machine, const Strand *strand, const Value *value, IrSpace space,
                         uint32_t *left, SharedPlace *place) {
  (void)strand;
  uint64_t raw;
  if (!protocol_next(value, left, &place->lanes, &raw, &place->known)) return false;
  place->rank = -1;
  place->offset = 0;
  if (!place->known) return true;
  if (space == IR_SPACE_NONE) space = IR_SPACE_GENERIC;
  MachineAddress a = machine_address(machine, raw, space);
  if (a.space != IR_SPACE_SHARED && raw < UINT32_MAX)
    a = machine_address(machine, raw, IR_SPACE_SHARED); /* a window address without a space */
  if (a.space != IR_SPACE_SHARED || a.rank >= machine->cluster_size) return true;
  place->rank = a.rank;
  place->offset = (uint32_t)a.offset;
  return true;
}

bool protocol_operand(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                      uint32_t lanes, int64_t *out) {
  Value v;
  uint64_t n;
  if (!machine_read_role(machine, strand, insn, role, &v) || !value_same(v, lanes, &n))
    return false;
  *out = (int64_t)(int32_t)n;
  return true;
}

int64_t protocol_number(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                        uint32_t lanes, int64_t fallback) {
  int64_t n;
  return protocol_operand(machine, strand, insn, role, lanes, &n) ? n : fallback;
}

void protocol_check_pending(Machine *machine, const IrInsn *insn, int64_t groups) {
  if (groups >= 0 && groups <= INT32_MAX) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "async-copy-wait-count-range",
                    "%s waits till %d groups are pending: the number can't be negative",
                    ir_event_mnemonic((IrEvent)insn->event), (int)(int32_t)groups);
}

const char *protocol_place(Machine *machine, const Strand *strand, int rank, uint32_t offset) {
  return machine_place(machine, (MachineAddress){IR_SPACE_SHARED, rank, offset},
                       strand ? strand->warp->cta->rank : rank);
}

Access *protocol_thread_access(Machine *machine, Strand *strand, const IrInsn *insn,
                               AccessActor actor, bool write, uint32_t lanes) {
  const LaneClocks *clocks = &warp_state(strand->warp)->lanes;
  return race_access(protocol_of(machine)->races, &(Access){.agent = clocks->agent,
                                                            .lanes = lanes,
                                                            .time = clocks->now,
                                                            .issued = clocks->now,
                                                            .warp = (uint32_t)strand->warp->index,
                                                            .issuers = lanes,
                                                            .actor = (uint8_t)actor,
                                                            .write = write,
                                                            .insn = insn,
                                                            .step = machine->step});
}

/* ---- life of a run ---- */

static void init_cta(Machine *machine, Cta *cta) {
  CtaState *state = KC_NEW(machine->arena, CtaState);
  Protocol *p = protocol_of(machine);
  cta->protocol = state;
  state->mbars = KC_NEW_ARRAY(machine->arena, Mbar *, machine->session->shared_bytes / 8 + 1);
  state->exited = clock_new(&p->clocks);
  for (int i = 0; i < PROTOCOL_NAMED_BARRIERS; i++)
    state->named[i].expected = -1;
  for (int i = 0; i < cta->nwarps; i++)
    state->alive += lane_count(cta->warps[i].alive);
}

static void init_warp(Machine *machine, Warp *warp) {
  Protocol *p = protocol_of(machine);
  WarpState *state = KC_NEW(machine->arena, WarpState);
  warp->protocol = state;
  lanes_init(&p->clocks, &state->lanes, (uint32_t)warp->index, warp->lanes);
  state->wgmma_open = 1;
  for (int i = 0; i < 32; i++) {
    state->bulk.open[i] = state->cp_async.open[i] = 1;
    state->tcgen05_queue[i] = 1;
  }
}

static bool kernel_has(const IrKernel *kernel, IrEvent first, IrEvent last) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->event >= first && insn->event <= last) return true;
  }
  return false;
}

void protocol_init(Machine *machine) {
  Protocol *p = KC_NEW(machine->arena, Protocol);
  machine->protocol = p;
  p->machine = machine;
  session_protocol(machine->session);
  clocks_init(&p->clocks, machine->arena);
  uint32_t n = (uint32_t)machine->nwarps;
  clocks_agents(&p->clocks, n); /* ordinary accesses: agent = warp index */
  p->fenced_agent = clocks_agents(&p->clocks, n);
  bool tcgen05 = kernel_has(machine->kernel, IR_EV_tcgen05_alloc, IR_EV_tcgen05_fence_after);
  p->before_agent = tcgen05 ? clocks_agents(&p->clocks, n) : 0;
  p->warpgroups = (machine->nwarps / (machine->cluster_size ? machine->cluster_size : 1) + 3) / 4;
  p->wgmma_agent = clocks_agents(&p->clocks, (uint32_t)(p->warpgroups * machine->cluster_size));
  p->races = race_new(machine, &p->clocks, machine->cluster_size, machine->session->shared_bytes);
  p->cluster.current = clock_new(&p->clocks);
  p->has_grid_wait = kernel_has(machine->kernel, IR_EV_griddep_wait, IR_EV_griddep_wait);
  for (int i = 0; i < machine->nwarps; i++)
    init_warp(machine, machine->warps[i]);
  for (int i = 0; i < machine->cluster_size; i++)
    init_cta(machine, &machine->ctas[i]);
  setmaxnreg_init(machine);
  timeline_init(machine);
}

void protocol_free(Machine *machine) {
  words_finish(machine);
  machine->protocol = NULL; /* everything else lies in the run's arena */
}

void protocol_finish(Machine *machine) {
  if (raster_runs(machine)) return; /* the run was for one thing only */
  if (!machine->trapped) {
    pattern_finish(machine);
    idle_finish(machine);
    tiles_finish(machine);
    finish_run(machine);
    barrier_finish(machine);
    cause_finish(machine);
    shares_finish(machine);
    uneven_finish(machine);
    gridwide_finish(machine);
    handover_finish(machine);
  }
  timeline_finish(machine);
  contract_collect(machine);
}

void protocol_report(MachineSession *session) {
  contract_report(session);
  timeline_report(session);
  words_report(session);
}

/* ---- strands ---- */

void protocol_split(Machine *machine, const Strand *parent, Strand *child) {
  (void)machine;
  (void)parent;
  child->protocol = NULL; /* clocks belong to the lanes of a warp, not to strands */
}

void protocol_merge(Machine *machine, Strand *into, const Strand *gone) {
  (void)machine;
  (void)into;
  (void)gone;
}

void protocol_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  Protocol *p = protocol_of(machine);
  Cta *cta = strand->warp->cta;
  CtaState *state = cta_state(cta);
  WarpState *ws = warp_state(strand->warp);
  finish_exit(machine, strand, lanes);
  timeline_exit(machine, strand);
  lanes_release(&p->clocks, &ws->lanes, lanes, state->exited);
  state->alive -= lane_count(lanes);
  barrier_exit(machine, strand, lanes);
  cluster_exit(machine, strand, lanes);
}

void protocol_extern_call(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)insn;
  shares_order(machine, strand); /* it takes no part in the protocol; nobody sees its body */
}

void protocol_policy(Machine *machine, Strand *strand, const IrInsn *insn) {
  vector_policy(machine, strand, insn);
}

void protocol_multiply(Machine *machine, Strand *strand, const IrInsn *insn) {
  accumulator_check(machine, strand, insn);
}

/* ---- events ---- */

typedef MachineStep (*EventHandler)(Machine *machine, Strand *strand, const IrInsn *insn);

static const EventHandler handlers[IR_EVENT_COUNT] = {
#define X(name) [IR_EV_##name] = event_##name,
    PROTOCOL_EVENTS(X)
#undef X
};

/* What a loop asks again and again: its last answer is drawn as a wait. */
static bool polls(const IrInsn *insn) {
  return (insn->event >= IR_EV_mbarrier_test_wait && insn->event <= IR_EV_mbarrier_pending_count) ||
         insn->event == IR_EV_warp_sync;
}

MachineStep protocol_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  EventHandler handler = insn->event < IR_EVENT_COUNT ? handlers[insn->event] : NULL;
  if (insn->event >= IR_EV_cp_async && insn->event <= IR_EV_bulk_tensor_prefetch)
    vector_policy(machine, strand, insn);
  MachineStep step = handler ? handler(machine, strand, insn) : MACHINE_NEXT;
  if (step == MACHINE_NEXT && !polls(insn)) timeline_other(machine, strand, insn);
  return step;
}

void protocol_violation(Machine *machine, const IrInsn *insn) {
  if (machine->protocol) timeline_violation(machine, insn);
}

/* ---- ordinary accesses ---- */

/* All write the same: who comes last does not matter. The contents are already those stored. */
static void note_value(Machine *machine, Access *record, const MachineAccess *access) {
  bool fresh = record->step == machine->step;
  uint64_t at, value;
  bool known =
      access->kind == MACHINE_WRITE && access->bytes <= 8 &&
      value_same(access->address, access->lanes, &at) &&
      machine_shared_load(machine, (int)(at >> 24), at & 0xffffff, (int)access->bytes, &value);
  if (!known || (!fresh && record->value_known && record->value != value)) {
    record->value_known = false;
    return;
  }
  if (!fresh && !record->value_known) return;
  record->value_known = true;
  record->value = value;
}

/* A wait with .relaxed orders nothing (PTX ISA 9.7.13.15.16): what the barrier guards is read. */
static void relaxed_read(Machine *machine, Strand *strand, const IrInsn *insn,
                         const MachineAccess *access) {
  WarpState *ws = warp_state(strand->warp);
  if (!ws->relaxed_wait || access->kind != MACHINE_READ) return;
  uint64_t at = value_raw(access->address, first_lane(access->lanes));
  const Access *last = race_last_write(protocol_of(machine)->races, (int)(at >> 24), at & 0xffffff);
  if (!last || last->barrier != ws->relaxed_mbar) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, ws->relaxed_wait, "mbarrier-relaxed-wait",
      "the wait is .relaxed, and nothing else orders the reads of what %s guards",
      protocol_place(machine, strand, ws->relaxed_mbar->rank, ws->relaxed_mbar->offset));
  if (v) ir_violation_related(machine->violations, v, insn->where, "read here");
  ws->relaxed_wait = NULL;
}

/* Whether no two of the lanes name the same address. */
static bool all_differ(const Value *address, uint32_t lanes) {
  enum { SLOTS = 1024 };
  uint64_t seen[SLOTS / 64] = {0};
  FOR_LANES(lane, lanes) {
    uint64_t at = address->lanes[lane];
    uint64_t slot = (at ^ at >> 2 ^ at >> 9) % SLOTS, bit = UINT64_C(1) << slot % 64;
    if (seen[slot / 64] & bit) return false;
    seen[slot / 64] |= bit;
  }
  return true;
}

/* What else follows from the access of `lanes` to one place. */
static void note_place(Machine *machine, Strand *strand, const MachineAccess *access,
                       const Access *record, uint32_t lanes, uint64_t at) {
  const IrInsn *insn = record->insn;
  int rank = (int)(at >> 24);
  uint32_t offset = (uint32_t)(at & 0xffffff);
  if (rank >= machine->cluster_size) return;
  timeline_access(machine, strand, record, rank, offset);
  if (record->write) mbarrier_overwritten(machine, strand, insn, rank, offset, access->bytes);
  if (rank == strand->warp->cta->rank) return;
  finish_remote(machine, strand, lanes, rank, insn, false, record->write);
  if (record->write) warp_state(strand->warp)->narrow_stores |= UINT32_C(1) << rank;
}

static void touch_shared(Machine *machine, Strand *strand, const IrInsn *insn,
                         const MachineAccess *access) {
  bool write = access->kind != MACHINE_READ;
  RaceHistory *races = protocol_of(machine)->races;
  Access *record =
      protocol_thread_access(machine, strand, insn, ACTOR_THREAD, write, access->lanes);
  record->atomic = access->kind == MACHINE_ATOMIC;
  note_value(machine, record, access);
  relaxed_read(machine, strand, insn, access);
  uint32_t left = access->lanes, lanes;
  uint64_t at;
  bool known;
  bool spread = !access->address.uniform;
  if (spread && (left & ~access->address.known) == 0 && all_differ(&access->address, left)) {
    race_touch_lanes(races, strand, record, left, access->address.lanes, access->bytes);
    FOR_LANES(lane, left)
    note_place(machine, strand, access, record, 1u << lane, access->address.lanes[lane]);
    return;
  }
  while (protocol_next(&access->address, &left, &lanes, &at, &known)) {
    int lane = spread && (lanes & (lanes - 1)) == 0 ? first_lane(lanes) : -1;
    if (!known) continue;
    race_touch(races, strand, record, lane, (int)(at >> 24), (uint32_t)(at & 0xffffff),
               access->bytes);
    note_place(machine, strand, access, record, lanes, at);
  }
}

/* An element of a shared array that is chosen by data (a table, a histogram). Which one is not
 * known; where none of them is ready, it does not matter. */
static void touch_somewhere(Machine *machine, Strand *strand, const IrInsn *insn,
                            const MachineAccess *access) {
  enum { LOOKS = 2, ALL_LOOKS = 96, MOST_BYTES = 32768 };
  const uint64_t thread =
      UINT64_C(7) << IR_SREG_tid_x | UINT64_C(1) << IR_SREG_laneid | UINT64_C(1) << IR_SREG_warpid;
  const IrOperand *address = slice_address(insn);
  Protocol *p = protocol_of(machine);
  if (access->kind == MACHINE_WRITE || !address || insn->op == IR_event || insn->vector > 1) return;
  if (!p->looked) p->looked = KC_NEW_ARRAY(machine->arena, Looks, machine->kernel->insns.count + 1);
  Looks *looks = &p->looked[insn - machine->kernel->insns.items];
  if (looks->warp != strand->warp->index) looks->by_warp = 0;
  looks->warp = (int16_t)strand->warp->index;
  if (looks->all >= ALL_LOOKS || looks->by_warp >= LOOKS) return;
  looks->by_warp++;
  looks->all++;
  Slice slice = slice_operand(machine->session, address);
  const IrObject *object = slice.object >= 0 ? &machine->kernel->objects.items[slice.object] : NULL;
  if (!object || object->dynamic || object->fields.count != 1 || slice.mapped || slice.opaque ||
      slice.permutes || !slice.loads || (slice.special & thread) || object->bytes > MOST_BYTES)
    return;
  Access *record = protocol_thread_access(machine, strand, insn, ACTOR_THREAD,
                                          access->kind == MACHINE_ATOMIC, access->unknown);
  record->atomic = access->kind == MACHINE_ATOMIC;
  uint32_t start = (uint32_t)machine->session->object_offset[slice.object], where = 0;
  int rank = strand->warp->cta->rank;
  if (race_wherever(p->races, strand, record, rank, start, (uint32_t)object->bytes, &where))
    race_touch(p->races, strand, record, -1, rank, where, access->bytes);
}

void protocol_access(Machine *machine, Strand *strand, const IrInsn *insn,
                     const MachineAccess *access) {
  if (raster_runs(machine)) {
    if (access->space == IR_SPACE_GLOBAL) raster_access(machine, access);
    return;
  }
  if (access->unknown && !access->lanes) {
    finish_unknown_access(machine, strand, insn, access);
    if (access->space != IR_SPACE_GLOBAL) touch_somewhere(machine, strand, insn, access);
    return;
  }
  if (access->lanes) {
    vector_access(machine, strand, insn, access);
    if (access->space == IR_SPACE_SHARED) fragment_access(machine, strand, insn, access);
    pattern_access(machine, strand, insn, access);
    shares_access(machine, strand, insn, access);
  }
  if (access->space == IR_SPACE_SHARED) {
    touch_shared(machine, strand, insn, access);
  } else if (access->space == IR_SPACE_GLOBAL) {
    words_access(machine, strand, insn, access);
    proxied_store(machine, strand, insn, access);
    if (access->lanes) tiles_access(machine, strand, access);
    pdl_access(machine, strand, insn, access);
  }
}
