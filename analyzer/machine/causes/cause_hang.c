/* A run that can't go on: which of the waits is the root, and what would have ended it. The waits
 * whose partners are themselves stuck are consequences. */
#include <string.h>

#include "machine/causes/cause_hang.h"
#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

enum { STUCK_LINES = 4 };

static void gather(Hang *hang) {
  Machine *machine = hang->machine;
  for (int w = 0; w < machine->nwarps; w++) {
    Warp *warp = machine->warps[w];
    for (int i = 0; i < warp->nstrands; i++) {
      Strand *strand = warp->strands[i];
      if (strand->pc < 0 || strand->pc >= machine->kernel->insns.count) continue;
      Stuck s = {.strand = strand, .insn = &machine->kernel->insns.items[strand->pc]};
      if (strand->blocked && strcmp(strand->blocked, "mbarrier") == 0) {
        s.waiter = strand->resume_data;
        s.expected =
            s.waiter && s.waiter->parity
                ? mbarrier_expected_phase(machine, s.waiter->bar, warp, first_lane(s.waiter->lanes),
                                          (int)s.waiter->value)
            : s.waiter ? s.waiter->value
                       : 0;
      }
      KC_PUSH(machine->arena, hang->list, s);
    }
  }
}

void hang_relate(Machine *machine, IrViolation *v, const Stuck *s) {
  if (!v) return;
  ir_violation_related(machine->violations, v, s->insn->where, "%s waits here for ever",
                       machine_who(machine, s->strand));
}

static const char *name_of(Machine *machine, const Mbar *bar) {
  return mbarrier_name(machine, bar, bar->rank);
}

/* ---- bytes ---- */

static bool bytes_mismatch(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->pending != 0 || bar->tx == 0 || bar->copies_unknown || bar->had_unknown) return false;
  if (bar->tx > 0 && hang_copies_held_up(machine, hang, bar)) return false;
  if (bar->announced == 0 && bar->announced_total == 0) {
    const IrInsn *at = bar->last_copy ? bar->last_copy : s->insn;
    IrViolation *v =
        blame(machine, BLAME("mbarrier-expect-tx-missing", MACHINE_CHECK_BYTES, at, bar, -1, 0),
              "the copy delivers %lld bytes to %s, but nothing announces bytes there "
              "(expect_tx): the phase never completes",
              (long long)bar->delivered, name_of(machine, bar));
    if (v && bar->last_arrive && bar->last_arrive != at)
      ir_violation_related(machine->violations, v, bar->last_arrive->where,
                           "the arrival that announces nothing");
    hang_relate(machine, v, s);
    witness_barrier(machine, v, bar, 2);
    return v != NULL;
  }
  if (bar->tx > 0 && (hang_mask_misses(machine, s) || hang_lands_elsewhere(machine, s)))
    return true;
  const IrInsn *at = bar->last_expect ? bar->last_expect : bar->last_copy;
  bool clc = bar->last_copy && bar->last_copy->event == IR_EV_clc_try_cancel;
  IrViolation *v = blame(
      machine,
      BLAME(clc ? "clc-expect-tx-16" : "mbarrier-expect-tx-mismatch", MACHINE_CHECK_BYTES, at, bar,
            -1, 0),
      bar->tx > 0 ? "%lld bytes are announced on %s, but its copies deliver %lld%s: the phase "
                    "never completes"
                  : "%lld bytes are announced on %s, but its copies deliver %lld%s: the tx-count "
                    "goes below zero and the phase never completes",
      (long long)bar->announced, name_of(machine, bar), (long long)bar->delivered,
      cause_say_box(machine, bar));
  if (!v) return false;
  cause_relate_box(machine, v, bar);
  hang_relate(machine, v, s);
  ir_violation_fact(machine->violations, v, "announced", "%lld", (long long)bar->announced);
  ir_violation_fact(machine->violations, v, "delivered", "%lld", (long long)bar->delivered);
  witness_barrier(machine, v, bar, 2);
  return true;
}

/* ---- arrivals ---- */

/* Whether a strand that is stuck elsewhere would arrive on the barrier if it went on: it did so
 * before, or the code between says so. */
static bool partner_stuck(const Hang *hang, const Stuck *self, const Mbar *bar) {
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    bool now = false;
    for (int j = 0; j < bar->arrivals.count; j++)
      now =
          now || (bar->arrivals.items[j].insn == a->insn && bar->arrivals.items[j].warp == a->warp);
    if (now) continue;
    for (int j = 0; j < hang->list.count; j++) {
      const Stuck *s = &hang->list.items[j];
      if (s == self || (s->waiter && s->waiter->bar == bar)) continue;
      /* UINT32_MAX: an asynchronous arrival, of whoever executes the instruction. */
      if (a->warp != UINT32_MAX && a->warp != (uint32_t)s->strand->warp->index) continue;
      if (code_ahead(hang->machine->kernel, hang->machine->arena, s->strand->pc, code_is_same,
                     a->insn))
        return true;
    }
  }
  return false;
}

bool hang_came_past(const Machine *machine, const Stuck *s) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const MbarView *view = p->mbars.items[i]->views[s->strand->warp->index];
    if (view && view->waits && (view->insn == s->insn || view->first_insn == s->insn)) return true;
  }
  return false;
}

/* Whether a strand that is stuck elsewhere would arrive on the barrier behind its wait, as the code
 * there is written, and has not arrived in this phase. */
static const Stuck *partner_ahead(const Hang *hang, const Stuck *self, const Mbar *bar) {
  Machine *machine = hang->machine;
  CodeBarrier barrier = code_barrier(machine, bar);
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *s = &hang->list.items[i];
    if (s->strand->warp == self->strand->warp || s->insn == self->insn ||
        hang_came_past(machine, s))
      continue;
    bool now = false;
    for (int j = 0; j < bar->arrivals.count && !now; j++)
      now = bar->arrivals.items[j].warp == (uint32_t)s->strand->warp->index;
    if (!now &&
        code_ahead(machine->kernel, machine->arena, s->strand->pc, code_is_arrive_on, &barrier))
      return s;
  }
  return NULL;
}

/* Whether a thread came past the instruction and skipped it: a branch over it was taken. */
static bool skipped(const Machine *machine, int32_t at) {
  for (int32_t i = at - 1; i >= 0 && i > at - 64; i--) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn->op != IR_branch || insn->target <= at || insn->guard < 0) continue;
    return machine->executed[i] && machine->executed[insn->target];
  }
  return false;
}

/* Whether the arrive is written with the name of another barrier than `bar`. */
static bool is_on_another(Machine *machine, const IrInsn *arrive, const Mbar *bar) {
  const Protocol *p = protocol_of(machine);
  CodeBarrier own = code_barrier(machine, bar);
  if (code_is_arrive_on(arrive, &own)) return false;
  for (int i = 0; i < p->mbars.count; i++) {
    CodeBarrier other = code_barrier(machine, p->mbars.items[i]);
    if (code_is_arrive_on(arrive, &other)) return true;
  }
  return false;
}

/* An arrive in the kernel that threads came past without executing it, and that may be on `bar`. */
static const IrInsn *unexecuted_arrive(Machine *machine, const Mbar *bar) {
  for (int i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn->op != IR_event || machine->executed[i] || !skipped(machine, i)) continue;
    if (insn->event == IR_EV_mbarrier_arrive || insn->event == IR_EV_tcgen05_commit ||
        insn->event == IR_EV_cp_async_mbarrier_arrive) {
      if (!is_on_another(machine, insn, bar)) return insn;
    }
  }
  return NULL;
}

static bool count_too_high(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  int64_t arrived = bar->expected - bar->pending;
  if (arrived <= 0 || bar->pending <= 0 || partner_stuck(hang, s, bar) || !bar->init) return false;
  if (bar->phase == 0 && partner_ahead(hang, s, bar)) return false;
  IrViolation *v = blame(
      machine,
      BLAME("mbarrier-arrive-count-mismatch", MACHINE_CHECK_DEADLOCK, bar->init, bar, -1, 0),
      "%s is initialised for %lld arrivals, but only %lld arrive in phase %lld: it never "
      "completes",
      name_of(machine, bar), (long long)bar->init_count, (long long)arrived, (long long)bar->phase);
  if (!v) return false;
  hang_relate(machine, v, s);
  if (bar->last_arrive)
    ir_violation_related(machine->violations, v, bar->last_arrive->where,
                         "the arrivals come from here");
  ir_violation_fact(machine->violations, v, "count", "%lld", (long long)bar->init_count);
  ir_violation_fact(machine->violations, v, "arrivals", "%lld", (long long)arrived);
  witness_barrier(machine, v, bar, 2);
  return true;
}

/* Whether somebody arrives on another barrier of the same array. */
static bool siblings_used(Machine *machine, const Mbar *bar) {
  uint64_t mine = 0;
  if (!machine_shared_field(machine, bar->offset, &mine)) return false;
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    uint64_t start = 0;
    if (other == bar || other->rank != bar->rank || !other->arrivers.count) continue;
    if (machine_shared_field(machine, other->offset, &start) && start == mine) return true;
  }
  return false;
}

/* A barrier that no instruction of the kernel ever arrives on: the others of its array are used,
 * then the roles walk the ring differently; else the slot is never given back. */
static bool never_arrived(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->announced_total || bar->copies.count) return false;
  bool desync = siblings_used(machine, bar);
  if (desync && hang_trips(machine, hang, s)) return true;
  IrViolation *v = blame(
      machine,
      BLAME(desync ? "pipeline-stage-phase-desync" : "pipeline-slot-never-released",
            MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 0),
      desync ? "%s waits for %s, which nobody ever arrives on, while the other slots of the ring "
               "are used: the roles do not walk the ring alike"
             : "%s waits for ever for %s: nothing arrives on it",
      machine_who(machine, s->strand), name_of(machine, bar));
  if (v && bar->init)
    ir_violation_related(machine->violations, v, bar->init->where, "initialised here for %lld",
                         (long long)bar->init_count);
  witness_barrier(machine, v, bar, 1);
  return v != NULL;
}

/* A multicast brings bytes to a CTA that announces none. */
static bool multicast_unannounced(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  const IrInsn *copy = bar->last_copy;
  if (!copy || !(copy->flags & IR_FLAG(multicast)) || bar->announced_total || bar->arrivers.count ||
      !(bar->delivered_total || bar->unknown_total))
    return false;
  IrViolation *v =
      blame(machine, BLAME("tma-multicast-protocol", MACHINE_CHECK_DEADLOCK, copy, bar, -1, 0),
            "the multicast delivers to %s of CTA %d too, but that CTA neither arrives on it nor "
            "announces bytes: each destination CTA has to announce what it receives",
            name_of(machine, bar), bar->rank);
  hang_relate(machine, v, s);
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

/* Copies have landed, and nobody arrives or announces them, now or behind any wait. */
static bool only_delivered(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->arrivers.count || bar->announced_total || !bar->last_copy) return false;
  if (!bar->delivered_total && !bar->unknown_total) return false;
  if (unexecuted_arrive(machine, bar) || partner_ahead(hang, s, bar)) return false;
  if (multicast_unannounced(machine, s)) return true;
  const char *bytes =
      bar->unknown_total ? "its bytes"
                         : kc_printf(machine->arena, "%lld bytes", (long long)bar->delivered_total);
  IrViolation *v =
      blame(machine,
            BLAME("mbarrier-expect-tx-missing", MACHINE_CHECK_DEADLOCK, bar->last_copy, bar, -1, 0),
            "the copy delivers %s to %s, but nobody arrives there and announces them "
            "(arrive.expect_tx): the phase never completes",
            bytes, name_of(machine, bar));
  if (v && bar->init)
    ir_violation_related(machine->violations, v, bar->init->where,
                         "initialised here for %lld arrival%s", (long long)bar->init_count,
                         bar->init_count == 1 ? "" : "s");
  hang_relate(machine, v, s);
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

/* Bytes are announced and delivered, but expect_tx alone is no arrival. */
static bool only_announced(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->arrivers.count || !bar->last_expect || !bar->init || bar->tx != 0 ||
      !(bar->delivered_total || bar->unknown_total))
    return false;
  IrViolation *v = blame(
      machine,
      BLAME("mbarrier-arrive-count-mismatch", MACHINE_CHECK_DEADLOCK, bar->last_expect, bar, -1, 0),
      "the bytes announced here on %s have landed, but it is initialised for "
      "%lld arrivals and nothing arrives: expect_tx alone is no arrival",
      name_of(machine, bar), (long long)bar->init_count);
  hang_relate(machine, v, s);
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

/* The barrier of the same slot in another array. */
static const Mbar *same_slot(Machine *machine, const Mbar *bar, const Mbar *candidate) {
  uint64_t mine = 0, start = 0;
  if (candidate == bar || candidate->rank != bar->rank) return NULL;
  const IrField *f = machine_shared_field(machine, bar->offset, &mine);
  const IrField *g = machine_shared_field(machine, candidate->offset, &start);
  if (!f || !g || start == mine || f->count != g->count || !f->elem_bytes || !g->elem_bytes)
    return NULL;
  bool same = (bar->offset - mine) / f->elem_bytes == (candidate->offset - start) / g->elem_bytes;
  return same ? candidate : NULL;
}

/* Whether the warp arrives on some barrier of the ring. */
static bool gives_back(const Machine *machine, const Mbar *bar, uint32_t warp) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    if (other->init != bar->init) continue;
    for (int j = 0; j < other->arrivers.count; j++)
      if (other->arrivers.items[j].warp == warp) return true;
  }
  return false;
}

/* Where the other slots of the ring are given back. */
static void relate_siblings(Machine *machine, IrViolation *v, const Mbar *bar) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; v && i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    if (other == bar || other->rank != bar->rank || other->init != bar->init || !other->last_arrive)
      continue;
    ir_violation_related(machine->violations, v, other->last_arrive->where,
                         "this arrive gives back %s", name_of(machine, other));
    return;
  }
}

/* Someone waits for a slot to fill that it has drained before without giving it back. */
static bool slot_skipped(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other == s || !other->waiter || !same_slot(machine, bar, other->waiter->bar)) continue;
    uint32_t warp = (uint32_t)other->strand->warp->index;
    WaitContext context = cause_context(other->waiter->bar, (int)warp, other->waiter->lanes);
    if (!context.seen || context.phase < bar->phase || context.phase >= other->expected) continue;
    bool now = false;
    for (int j = 0; j < bar->arrivals.count && !now; j++)
      now = bar->arrivals.items[j].warp == warp;
    if (now || !siblings_used(machine, bar) || !gives_back(machine, bar, warp)) continue;
    IrViolation *v = blame(
        machine,
        BLAME("pipeline-slot-never-released", MACHINE_CHECK_DEADLOCK, other->insn, bar, -1, 0),
        "%s has used the slot behind this wait in phase %lld and comes back to it without "
        "having given it back: nothing arrives on %s",
        machine_who(machine, other->strand), (long long)context.phase, name_of(machine, bar));
    hang_relate(machine, v, s);
    relate_siblings(machine, v, bar);
    witness_barrier(machine, v, bar, 2);
    return v != NULL;
  }
  return false;
}

static bool nobody_arrives(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->arrivals.count) return false;
  if (hang_pair_commit(machine, s)) return true;
  if (multicast_unannounced(machine, s) || only_announced(machine, s)) return true;
  if (partner_stuck(hang, s, bar)) return slot_skipped(machine, hang, s);
  const MbarView *view = bar->views[s->strand->warp->index];
  if (view && (view->lapped & s->waiter->lanes)) return false; /* that is the cause */
  if (bar->arrivers.count == 0) {
    if (slot_skipped(machine, hang, s)) return true;
    if (partner_ahead(hang, s, bar)) return false;
    if (hang_idle_role(machine, hang)) return hang_trips(machine, hang, s);
    const IrInsn *arrive = unexecuted_arrive(machine, bar);
    if (!arrive) return never_arrived(machine, hang, s);
    IrViolation *v =
        blame(machine,
              BLAME("mbarrier-arrive-never-executed", MACHINE_CHECK_DEADLOCK, arrive, bar, -1, 0),
              "no thread executes this arrive, and %s waits for %s for ever",
              machine_who(machine, s->strand), name_of(machine, bar));
    hang_relate(machine, v, s);
    witness_barrier(machine, v, bar, 1);
    return v != NULL;
  }
  if (s->waiter->parity && s->expected >= 0 && bar->phase > s->expected + 1)
    return false; /* lapped */
  return hang_trips(machine, hang, s);
}

/* ---- all together ---- */

/* Waits on mbarriers say most about a circle of waits, lanes that wait for others least. */
static int weight(const Stuck *s) {
  return s->waiter ? 0 : s->strand->converging ? 2 : 1;
}

static bool deadlock_at(Machine *machine, const Hang *hang, const Stuck *s) {
  const char *what = s->strand->describe ? s->strand->describe(machine, s->strand)
                                         : (s->strand->blocked ? s->strand->blocked : "nothing");
  IrViolation *v = blame(machine,
                         BLAME("pipeline-deadlock", MACHINE_CHECK_DEADLOCK, s->insn,
                               s->waiter ? s->waiter->bar : NULL, -1, 2),
                         "%s waits for ever: %s", machine_who(machine, s->strand), what);
  if (!v) return false;
  if (s->waiter) witness_barrier(machine, v, s->waiter->bar, 2);
  const IrInsn *related[2] = {NULL, NULL};
  for (int w = 0; w <= 2; w++)
    for (int j = 0; j < hang->list.count && !related[1]; j++) {
      const Stuck *other = &hang->list.items[j];
      if (weight(other) != w || other->insn == s->insn || other->insn == related[0]) continue;
      hang_relate(machine, v, other);
      related[related[0] ? 1 : 0] = other->insn;
    }
  return true;
}

static bool generic_hang(Machine *machine, const Hang *hang) {
  for (int w = 0; w <= 2; w++)
    for (int i = 0; i < hang->list.count; i++)
      if (weight(&hang->list.items[i]) == w && deadlock_at(machine, hang, &hang->list.items[i]))
        return true;
  return false;
}

/* Someone waits for one parity again and again, passes each time, and has run ahead of the rest. */
static bool stale_waits(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  (void)s;
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    for (int w = 0; w < machine->nwarps; w++) {
      const MbarView *view = bar->views[w];
      if (!view || view->stale < 2 || view->flips || view->waits < 3) continue;
      int lane = first_lane(view->seen);
      IrViolation *v =
          blame(machine,
                BLAME("mbarrier-phase-not-flipped", MACHINE_CHECK_DEADLOCK, view->insn, bar, -1, 0),
                "every wait of %s on %s is for parity %d: from the second on it passes on an older "
                "phase",
                witness_warp(machine, (uint32_t)w), name_of(machine, bar),
                (int)(view->parity >> lane & 1));
      witness_barrier(machine, v, bar, 3);
      return v != NULL;
    }
  }
  return false;
}

/* A thread went on although its wait had not succeeded. */
static bool not_looped(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  (void)s;
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++)
    for (int w = 0; w < machine->nwarps; w++) {
      const MbarView *view = p->mbars.items[i]->views[w];
      if (!view || !view->failed) continue;
      WaitContext context = cause_context(p->mbars.items[i], w, view->failed);
      if (cause_not_looped(machine, &context, -1)) return true;
    }
  return false;
}

typedef bool (*Question)(Machine *machine, const Hang *hang, const Stuck *s);

static bool ask_bytes(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && bytes_mismatch(machine, hang, s);
}
static bool ask_delivered(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && only_delivered(machine, hang, s);
}
static bool ask_elsewhere(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return s->waiter && machine->cluster_size > 1 && hang_arrives_elsewhere(machine, s);
}
static bool ask_own(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return s->waiter && (hang_own_turn(machine, s) || hang_own_wait(machine));
}
static bool ask_lapped(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && hang_lapped(machine, hang, s);
}
static bool ask_count(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && count_too_high(machine, hang, s);
}
static bool ask_first(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && hang_first_wait(machine, hang, s);
}
static bool ask_nobody(Machine *machine, const Hang *hang, const Stuck *s) {
  return s->waiter && nobody_arrives(machine, hang, s);
}
static bool ask_pair(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return s->waiter && hang_pair_commit(machine, s);
}
static bool ask_uneven(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return s->waiter && cause_too_many_arrivers(machine, s->waiter->bar, NULL, -1);
}
static bool ask_exhausted(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return hang_exhausted(machine, s);
}
static bool ask_wgmma(Machine *machine, const Hang *hang, const Stuck *s) {
  (void)hang;
  return hang_wgmma_short(machine, s);
}

static IrViolation *last_violation(Machine *machine) {
  int count = machine->violations->list.count;
  return count ? machine->violations->list.items[count - 1] : NULL;
}

bool cause_explain_hang(Machine *machine, bool generic) {
  Hang hang = {.machine = machine};
  gather(&hang);
  if (generic) {
    int before = machine->violations->list.count;
    bool found = generic_hang(machine, &hang);
    if (found && machine->violations->list.count > before)
      witness_stuck(machine, last_violation(machine), STUCK_LINES);
    return found;
  }
  static const Question questions[] = {
      not_looped,        ask_exhausted,      ask_bytes,          ask_own,       ask_lapped,
      stale_waits,       hang_named_count,   ask_pair,           ask_delivered, ask_elsewhere,
      ask_first,         hang_divergent,     ask_count,          ask_nobody,    ask_uneven,
      hang_named_circle, hang_block_barrier, hang_cluster_short, ask_wgmma};
  for (size_t q = 0; q < sizeof questions / sizeof *questions; q++)
    for (int i = 0; i < hang.list.count; i++)
      if (questions[q](machine, &hang, &hang.list.items[i])) {
        witness_stuck(machine, last_violation(machine), STUCK_LINES);
        return true;
      }
  return false;
}
