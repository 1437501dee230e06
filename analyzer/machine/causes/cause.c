#include "machine/causes/cause.h"

#include <limits.h>
#include <string.h>

#include "machine/causes/symptom.h"
#include "machine/checks/finish.h"
#include "machine/execute/core.h"
#include "machine/hardware/mbarrier.h"
#include "machine/inputs/sample.h"
#include "machine/session.h"
#include "machine/witness/witness.h"

#define SYMPTOMS_MOST 96

/* ---- keeping ---- */

static Symptom *keep(Machine *machine, SymptomKind kind, const IrInsn *insn, const IrInsn *other) {
  Protocol *p = protocol_of(machine);
  if (p->symptoms.count >= SYMPTOMS_MOST) return NULL;
  for (int i = 0; i < p->symptoms.count; i++) {
    const Symptom *s = p->symptoms.items[i];
    if (s->kind == kind && s->insn == insn && s->other == other) return NULL;
  }
  Symptom *s = KC_NEW(machine->arena, Symptom);
  s->kind = kind;
  s->insn = insn;
  s->other = other;
  s->step = machine->step;
  s->warp = -1;
  KC_PUSH(machine->arena, p->symptoms, s);
  return s;
}

WaitContext cause_context(const Mbar *bar, int warp, uint32_t lanes) {
  WaitContext c = {.bar = (Mbar *)(uintptr_t)bar, .warp = warp};
  const MbarView *view = bar->views[warp];
  if (!view) return c;
  int lane = first_lane(lanes);
  c.insn = view->insn ? view->insn : view->failed_insn;
  c.seen = view->seen >> lane & 1;
  c.again = view->first_again >> lane & 1;
  c.rewait = view->rewaits >> lane & 1;
  c.failed = view->failed >> lane & 1;
  c.failed_insn = view->failed_insn;
  c.phase = view->phase[lane];
  c.parity = (int)(view->parity >> lane & 1);
  c.flips = view->flips;
  return c;
}

static WaitContext last_wait(const Strand *strand, uint32_t lanes) {
  const WarpState *ws = warp_state(strand->warp);
  if (!ws->last_wait_mbar) return (WaitContext){.warp = strand->warp->index};
  return cause_context(ws->last_wait_mbar, strand->warp->index, lanes);
}

/* The wait that should have ordered a read after a copy bound to `bar`: of the reader itself, else
 * of a warp of its CTA that waits on its behalf. */
static WaitContext wait_for(const Mbar *bar, const Strand *strand, uint32_t lanes) {
  WaitContext own = cause_context(bar, strand->warp->index, lanes);
  if (own.insn) return own;
  const Cta *cta = strand->warp->cta;
  for (int w = 0; w < cta->nwarps; w++) {
    const MbarView *view = bar->views[cta->warps[w].index];
    if (view && view->insn)
      return cause_context(bar, cta->warps[w].index, view->seen ? view->seen : 1);
  }
  return own;
}

/* What the thread that stored, or copied, had waited for by then. */
static void keep_groups(const Machine *machine, Symptom *s) {
  const WarpState *ws = warp_state(machine->warps[s->before->warp]);
  int lane = s->before_lane >= 0 ? s->before_lane : first_lane(s->before->lanes);
  if (s->before->actor == ACTOR_BULK_STORE) {
    s->group_open = ws->bulk.open[lane];
    s->group_wait = ws->bulk.wait[lane];
    s->group_wait_n = ws->bulk.wait_n[lane];
  } else if (s->before->actor == ACTOR_CP_ASYNC) {
    s->group_wait = ws->cp_async.wait[lane];
    s->group_wait_n = ws->cp_async.wait_n[lane];
    s->group_waits = ws->waits_seen[lane];
    s->group_over = clock_time(&protocol_of(machine)->clocks, lanes_group(&ws->lanes, lane)->clock,
                               s->before->agent, lane) >= s->before_time;
    const WarpState *own = warp_state(machine->warps[s->warp]);
    /* The thread that copied may be among those that read: another one is to blame. */
    uint32_t others = s->lanes & ~(ws == own ? UINT32_C(1) << lane : 0);
    uint32_t readers = others ? others : s->lanes, reader = readers & ~(readers - 1);
    s->own_wait = own->cp_async.wait[first_lane(reader)];
    bool other = ws != own || reader != UINT32_C(1) << lane;
    s->own_over = other && own->cp_async.agent &&
                  lanes_know(&protocol_of(machine)->clocks, &own->lanes, reader,
                             own->cp_async.agent, reader, s->before_time);
    s->knew_earlier =
        s->before_time > 1 &&
        lanes_know(&protocol_of(machine)->clocks, &warp_state(machine->warps[s->warp])->lanes,
                   reader, s->before->agent, UINT32_C(1) << lane, s->before_time - 1);
  } else if (s->now->actor == ACTOR_CP_ASYNC) {
    s->own_wait = ws->cp_async.wait[lane];
  }
}

/* Whether the instruction of a copy has copied to that place before. */
static bool filled_before(const Access *copy, int rank, uint32_t offset) {
  for (int i = 0; i < copy->barrier->copies.count; i++) {
    const MbarCopy *c = &copy->barrier->copies.items[i];
    if (c->insn == copy->insn && c->rank == rank && c->offset <= offset) return true;
  }
  return false;
}

static bool is_uncommitted(const Machine *machine, const Access *a) {
  if (a->actor != ACTOR_TCGEN05_MMA && a->actor != ACTOR_TCGEN05_CP) return false;
  return a->time >= warp_state(machine->warps[a->warp])->tcgen05_queue[first_lane(a->lanes)];
}

void cause_race(Machine *machine, const Race *race) {
  Symptom *s = keep(machine, SYMPTOM_RACE, race->now->insn, race->before->insn);
  if (!s) return;
  s->race = race->kind;
  s->before = race->before;
  s->now = race->now;
  s->before_time = race->before->time;
  s->uncommitted = is_uncommitted(machine, race->before);
  s->before_lane = race->before_lane;
  s->rank = race->rank;
  s->offset = race->offset;
  s->warp = race->strand->warp->index;
  s->lanes = race->now->issuers;
  s->issuer = last_wait(race->strand, s->lanes);
  if (race->before->barrier)
    s->reader = wait_for(race->before->barrier, race->strand, s->lanes);
  else if (race->now->barrier)
    s->reader = cause_context(race->now->barrier, (int)race->before->warp, race->before->issuers);
  s->refills = race->now->barrier && filled_before(race->now, race->rank, race->offset);
  keep_groups(machine, s);
}

void cause_tmem(Machine *machine, Strand *strand, const Access *before, const Access *now,
                uint32_t column, TmemMissing missing) {
  Symptom *s = keep(machine, SYMPTOM_TMEM, now->insn, before->insn);
  if (!s) return;
  s->before = before;
  s->now = now;
  s->before_time = before->time;
  s->uncommitted = is_uncommitted(machine, before);
  s->offset = column;
  s->missing = (int)missing;
  const LaneClocks *lanes = &warp_state(strand->warp)->lanes;
  s->value = before->warp == (uint32_t)strand->warp->index
                 ? lanes->now
                 : clock_time(&protocol_of(machine)->clocks,
                              lanes_group(lanes, first_lane(now->issuers))->clock, before->agent,
                              first_lane(before->lanes));
  s->warp = strand->warp->index;
  s->lanes = now->issuers;
  s->issuer = last_wait(strand, s->lanes);
}

void cause_recycled(Machine *machine, Mbar *bar, const MbarObserver *observer, uint32_t behind,
                    const IrInsn *completing) {
  Symptom *s = keep(machine, SYMPTOM_RECYCLED, observer->insn, completing);
  if (!s) return;
  s->bar = bar;
  s->warp = (int)observer->warp;
  s->lanes = observer->lanes;
  s->behind = behind;
  s->value = bar->phase;
  s->reader = cause_context(bar, s->warp, behind);
  s->completer = bar->last_arrive_warp;
}

void cause_lapped(Machine *machine, Mbar *bar, const Strand *strand, uint32_t lanes,
                  int64_t expected, bool passes) {
  const MbarView *view = bar->views[strand->warp->index];
  Symptom *s = keep(machine, SYMPTOM_LAPPED, &machine->kernel->insns.items[strand->pc],
                    view ? view->insn : NULL);
  if (!s) return;
  s->bar = bar;
  s->warp = strand->warp->index;
  s->lanes = lanes;
  s->value = expected;
  s->passes = passes;
  s->reader = cause_context(bar, s->warp, lanes);
  s->completer = bar->last_arrive_warp;
}

void cause_over_arrival(Machine *machine, Mbar *bar, int warp, uint32_t lanes, int64_t count,
                        const IrInsn *insn) {
  bar->over_arrived = true;
  Symptom *s = keep(machine, SYMPTOM_OVER_ARRIVAL, insn, bar->init);
  if (!s) return;
  s->bar = bar;
  s->warp = warp;
  s->lanes = lanes;
  s->value = count;
  s->behind = (uint32_t)bar->pending;
  Mbar *last = warp >= 0 ? warp_state(machine->warps[warp])->last_wait_mbar : NULL;
  if (last) s->issuer = cause_context(last, warp, lanes);
}

void cause_init_unordered(Machine *machine, Mbar *bar, const Strand *strand, const IrInsn *insn,
                          const char *what) {
  Symptom *s = keep(machine, SYMPTOM_INIT_UNORDERED, bar->init, NULL);
  if (!s) return;
  s->bar = bar;
  s->now_insn = insn;
  s->warp = strand->warp->index;
  s->what = what;
}

/* Nothing was delivered to the mbarrier and nobody waits on it: a mailbox that every CTA of the
 * cluster prepares and one uses. */
static bool unused_mailbox(const Machine *machine, const Mbar *bar) {
  for (int w = 0; w < machine->nwarps; w++)
    if (bar->views[w] && (bar->views[w]->waits || bar->views[w]->failed)) return false;
  return bar->tx > 0 && bar->delivered_total == 0 && machine->cluster_size > 1;
}

void cause_leftover(Machine *machine, Mbar *bar) {
  if (unused_mailbox(machine, bar)) return;
  Symptom *s = keep(machine, SYMPTOM_LEFTOVER, bar->init, NULL);
  if (s) s->bar = bar;
}

void cause_init_fence(Machine *machine, const IrInsn *insn, bool initialised) {
  Protocol *p = protocol_of(machine);
  if (initialised)
    p->good_init_fence = insn;
  else
    p->idle_init_fence = insn;
}

/* ---- reporting ---- */

uint32_t cause_array(Machine *machine, int64_t offset) {
  if (offset < 0) return 0;
  uint64_t start = (uint64_t)offset;
  const IrField *field = machine_shared_field(machine, (uint64_t)offset, &start);
  return 1 + (uint32_t)(field ? start : (uint64_t)offset / 1024 * 1024);
}

static const char many_issuers[] = "tma-issued-by-many-threads";
static const char over_arrival[] = "mbarrier-over-arrival";

/* An earlier cause speaks of the same array of barriers or the same data: this may be its
 * consequence. (All lanes that arrive are seen by themselves, whoever issues the copies.) */
static bool explained(const ProtocolSession *session, bool degenerate, const char *kind,
                      uint32_t barrier, uint32_t data) {
  for (int i = 0; i < session->accusations.count; i++) {
    const Accusation *a = &session->accusations.items[i];
    if (a->generic || strcmp(a->kind, kind) == 0 || (a->degenerate && !degenerate)) continue;
    if (a->kind == many_issuers && strcmp(kind, over_arrival) == 0) continue;
    if ((a->barrier && a->barrier == barrier) || (a->data && a->data == data)) return true;
  }
  return false;
}

void cause_many_issuers(Machine *machine, const Mbar *bar, uint32_t offset) {
  ProtocolSession *session = session_protocol(machine->session);
  uint32_t barrier = cause_array(machine, bar->offset), data = cause_array(machine, offset);
  for (int i = 0; i < session->accusations.count; i++) {
    const Accusation *a = &session->accusations.items[i];
    if (a->kind == many_issuers && a->barrier == barrier && a->data == data) return;
  }
  KC_PUSH(machine->session->arena, session->accusations,
          ((Accusation){many_issuers, barrier, data, 0, NULL, machine->sample->degenerate}));
}

/* The strongest thing that any run has said so far. */
static int strongest(const ProtocolSession *session) {
  int level = INT_MAX;
  for (int i = 0; i < session->accusations.count; i++)
    if (session->accusations.items[i].generic < level && !session->accusations.items[i].degenerate)
      level = session->accusations.items[i].generic;
  return level;
}

bool protocol_withdrawn(const MachineSession *session, const IrViolation *violation) {
  const ProtocolSession *s = session->protocol;
  if (!s) return false;
  int level = strongest(s);
  for (int i = 0; i < s->accusations.count; i++)
    if (s->accusations.items[i].violation == violation)
      return s->accusations.items[i].generic > level;
  return false;
}

IrViolation *blame(Machine *machine, const Blame *what, const char *message, ...) {
  ProtocolSession *session = session_protocol(machine->session);
  if (machine_is_off(machine, what->check)) return NULL;
  uint32_t barrier = what->bar     ? cause_array(machine, what->bar->offset)
                     : what->at    ? cause_array(machine, (int64_t)what->at - 1)
                     : what->named ? UINT32_C(0x80000000) + (uint32_t)what->named
                                   : 0;
  uint32_t data = cause_array(machine, what->data);
  if (explained(session, machine->sample->degenerate, what->kind, barrier, data)) return NULL;
  if (what->generic > strongest(session)) return NULL;
  if (what->first && cause_told(machine, what)) return NULL;
  if (strcmp(what->kind, "barrier-count-mismatch") == 0 && cause_told_in_helper(machine, what))
    return NULL;
  va_list args;
  va_start(args, message);
  char *text = kc_vprintf(machine->session->arena, message, args);
  va_end(args);
  IrViolation *v = machine_violation(machine, what->check, what->insn, what->kind, "%s", text);
  if (strcmp(what->kind, "pipeline-stage-phase-desync") == 0 ||
      strcmp(what->kind, "mbarrier-phase-not-flipped") == 0)
    cause_say_parity(machine, v, what->insn);
  if (v) {
    Accusation a = {what->kind, barrier, data, what->generic, v, machine->sample->degenerate};
    KC_PUSH(machine->session->arena, session->accusations, a);
    if (what->first) cause_tell(machine, what, v);
  }
  return v;
}

/* ---- symptoms other than races ---- */

/* "phase 3"; a fresh barrier's waiters of parity 1 see the one before the first. */
static const char *phase_name(Machine *machine, int64_t phase) {
  if (phase < 0) return "the phase before the first";
  return kc_printf(machine->session->arena, "phase %lld", (long long)phase);
}

/* "lanes 1-31", "lane 0", "31 lanes" */
static const char *lanes_name(Machine *machine, uint32_t lanes) {
  KcArena *arena = machine->session->arena;
  int count = lane_count(lanes), first = first_lane(lanes);
  if (count == 1) return kc_printf(arena, "lane %d", first);
  uint64_t run = ((UINT64_C(1) << count) - 1) << first;
  if (run == lanes) return kc_printf(arena, "lanes %d-%d", first, first + count - 1);
  return kc_printf(arena, "%d lanes", count);
}

static bool explain_recycled(Machine *machine, const Symptom *s) {
  bool part = s->behind != s->lanes;
  const Warp *warp = machine->warps[s->warp];
  const char *name = mbarrier_name(machine, s->bar, warp->cta->rank);
  IrViolation *v;
  if (cause_of_lapping(machine, s->bar, &s->reader, s->completer)) return true;
  if (part)
    v = blame(machine,
              BLAME("mbarrier-wait-not-converged", MACHINE_CHECK_PHASE, s->insn, s->bar, -1, 0),
              "all lanes of warp %d wait on %s, but only some go on to signal: a lane that lags "
              "behind this wait can miss %s (no __syncwarp after the wait)",
              warp->id, name, phase_name(machine, s->value - 1));
  else
    v = blame(
        machine, BLAME("mbarrier-phase-lapped", MACHINE_CHECK_PHASE, s->insn, s->bar, -1, 1),
        "nothing keeps %s from completing phase %lld before %s has seen %s: the wait can miss it",
        name, (long long)s->value, witness_warp(machine, (uint32_t)s->warp),
        phase_name(machine, s->value - 1));
  if (!v) return false;
  if (s->other && s->other != s->insn)
    ir_violation_related(machine->violations, v, s->other->where,
                         "completes phase %lld without waiting for %s", (long long)s->value,
                         part ? "those lanes" : "that wait");
  ir_violation_witness(machine->violations, v,
                       "%s of %s need not have seen %s when phase %lld completes",
                       lanes_name(machine, s->behind), witness_warp(machine, (uint32_t)s->warp),
                       phase_name(machine, s->value - 1), (long long)s->value);
  witness_barrier(machine, v, s->bar, 2);
  return true;
}

static bool explain_lapped(Machine *machine, const Symptom *s) {
  const Warp *warp = machine->warps[s->warp];
  IrViolation *v =
      blame(machine, BLAME("mbarrier-phase-lapped", MACHINE_CHECK_PHASE, s->insn, s->bar, -1, 1),
            "the wait on %s means phase %lld, but phase %lld is already complete: the waiter was "
            "lapped%s",
            mbarrier_name(machine, s->bar, warp->cta->rank), (long long)s->value,
            (long long)s->bar->phase - 1, s->passes ? "" : " and blocks");
  if (v && s->bar->init)
    ir_violation_related(machine->violations, v, s->bar->init->where,
                         "initialised here for %lld arrival%s", (long long)s->bar->init_count,
                         s->bar->init_count == 1 ? "" : "s");
  witness_barrier(machine, v, s->bar, 3);
  return v != NULL;
}

/* The thread that arrives too often has passed its last wait on an old phase. */
static bool arrives_too_soon(Machine *machine, const Symptom *s) {
  const WaitContext *wait = &s->issuer;
  if (cause_not_looped(machine, wait, -1)) return true;
  if (!wait->bar || !wait->insn || !wait->rewait || (wait->phase < 0 && !wait->again)) return false;
  cause_wrong_parity(machine, wait,
                     kc_printf(machine->session->arena, "and %s is arrived on too early",
                               mbarrier_name(machine, s->bar, s->bar->rank)),
                     NULL, NULL, -1);
  return true;
}

static bool explain_over_arrival(Machine *machine, const Symptom *s) {
  if (arrives_too_soon(machine, s)) return true;
  int lanes = lane_count(s->lanes);
  const char *name = mbarrier_name(machine, s->bar, s->bar->rank);
  IrViolation *v;
  if (lanes > 1 && s->bar->init_count < lanes)
    v = blame(machine, BLAME(over_arrival, MACHINE_CHECK_PHASE, s->insn, s->bar, -1, 0),
              "%d lanes of %s arrive on %s, which is initialised for %lld arrival%s: the condition "
              "around the arrive lets all lanes through",
              lanes, s->warp >= 0 ? witness_warp(machine, (uint32_t)s->warp) : "a warp", name,
              (long long)s->bar->init_count, s->bar->init_count == 1 ? "" : "s");
  else
    v = blame(machine, BLAME(over_arrival, MACHINE_CHECK_PHASE, s->insn, s->bar, -1, 0),
              "%lld arrivals on %s while %u are pending in this phase (initialised for %lld)",
              (long long)s->value, name, s->behind, (long long)s->bar->init_count);
  if (!v) return false;
  if (s->bar->init)
    ir_violation_related(machine->violations, v, s->bar->init->where,
                         "initialised here for %lld arrival%s", (long long)s->bar->init_count,
                         s->bar->init_count == 1 ? "" : "s");
  witness_barrier(machine, v, s->bar, 2);
  return true;
}

static bool explain_init(Machine *machine, const Symptom *s) {
  const Protocol *p = protocol_of(machine);
  const Warp *warp = machine->warps[s->warp];
  bool remote = warp->cta->rank != s->bar->rank;
  const char *name = mbarrier_name(machine, s->bar, s->bar->rank);
  bool wrong_thread = p->idle_init_fence && !s->bar->init_fenced && machine->cluster_size > 1;
  IrViolation *v;
  if (wrong_thread) {
    v = blame(machine,
              BLAME("mbarrier-init-fence-wrong-thread", MACHINE_CHECK_RACE, p->idle_init_fence,
                    s->bar, -1, 0),
              "fence.mbarrier_init is executed by a thread that initialised no mbarrier; the "
              "thread that initialised %s executes none",
              name);
    if (v) ir_violation_related(machine->violations, v, s->insn->where, "initialised here");
  } else if (remote) {
    v = blame(machine,
              &(Blame){.kind = "mbarrier-init-cluster-visibility",
                       .check = MACHINE_CHECK_RACE,
                       .insn = s->insn,
                       .bar = s->bar,
                       .data = -1,
                       .first = s->insn,
                       .then = s->now_insn},
              "%s of CTA %d is used by CTA %d, but its initialisation is not made visible to the "
              "cluster (fence.mbarrier_init before a relaxed cluster barrier, or a releasing one)",
              name, s->bar->rank, warp->cta->rank);
  } else {
    v = blame(machine,
              &(Blame){.kind = "mbarrier-init-not-synchronized",
                       .check = MACHINE_CHECK_RACE,
                       .insn = s->insn,
                       .bar = s->bar,
                       .data = -1,
                       .first = s->insn,
                       .then = s->now_insn},
              "%s is initialised here, but %s by warp %d at %s is not ordered after it (no "
              "__syncthreads in between)",
              name, s->what, warp->id, machine_line(machine, s->now_insn));
  }
  if (v && !wrong_thread)
    ir_violation_related(machine->violations, v, s->now_insn->where, "used here by %s",
                         witness_warp(machine, (uint32_t)s->warp));
  if (v && !wrong_thread)
    witness_order(machine, v,
                  kc_printf(machine->arena, "mbarrier.init at %s", machine_line(machine, s->insn)),
                  kc_printf(machine->arena, "%s by %s at %s", s->what,
                            witness_warp(machine, (uint32_t)s->warp),
                            machine_line(machine, s->now_insn)),
                  remote ? "a cluster barrier with release and acquire" : "a block-wide barrier");
  return v != NULL;
}

static bool explain_leftover(Machine *machine, const Symptom *s) {
  const Mbar *bar = s->bar;
  const char *name = mbarrier_name(machine, bar, bar->rank);
  if (!bar->last_expect && bar->last_copy) {
    IrViolation *v = blame(
        machine,
        BLAME("mbarrier-expect-tx-missing", MACHINE_CHECK_PHASE, bar->last_copy, bar, -1, 0),
        "the copy delivers bytes to %s, but nothing announces them there (expect_tx): its phase "
        "does not wait for them",
        name);
    if (v && bar->last_arrive)
      ir_violation_related(machine->violations, v, bar->last_arrive->where,
                           "this arrive announces no bytes");
    witness_barrier(machine, v, bar, 2);
    return v != NULL;
  }
  const IrInsn *at = bar->last_expect ? bar->last_expect : bar->last_copy;
  IrViolation *v = blame(
      machine, BLAME("mbarrier-tx-leftover", MACHINE_CHECK_FINISH, at, bar, -1, 0),
      bar->tx > 0 ? "%s ends with %lld bytes announced that no copy delivers (tx-count %lld)"
                  : "%s ends with %lld bytes delivered that nothing announced (tx-count %lld)",
      name, (long long)(bar->tx > 0 ? bar->tx : -bar->tx), (long long)bar->tx);
  /* A phase that everybody has arrived on and nobody waits for holds nobody up. */
  if (v && bar->tx > 0 && bar->pending == 0) {
    v->confidence = IR_FALLBACK;
    v->assumed = "that the phase was meant to complete: nobody waits for it";
  }
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

static bool explain(Machine *machine, const Symptom *s, bool generic) {
  switch (s->kind) {
  case SYMPTOM_RACE: return cause_explain_race(machine, s, generic);
  case SYMPTOM_TMEM: return cause_explain_tmem(machine, s, generic);
  case SYMPTOM_RECYCLED: return !generic && explain_recycled(machine, s);
  case SYMPTOM_LAPPED: return generic && explain_lapped(machine, s);
  case SYMPTOM_OVER_ARRIVAL: return !generic && explain_over_arrival(machine, s);
  case SYMPTOM_INIT_UNORDERED: return !generic && explain_init(machine, s);
  case SYMPTOM_LEFTOVER: return !generic && explain_leftover(machine, s);
  }
  return false;
}

static MachineEffect effect_of(const Machine *machine, const char *kind) {
  const MachineOptions *options = machine->session->options;
  return options->effect ? options->effect(kind, options->effect_user) : MACHINE_EFFECT_DATA;
}

static bool leaves_early(const char *kind) {
  return strcmp(kind, "cluster-remote-barrier-exited") == 0 ||
         strcmp(kind, "cluster-exit-without-sync") == 0;
}

/* Whether a violation was found that what follows may be the consequence of. */
static bool found_before(const Machine *machine, bool hang) {
  for (int i = 0; i < machine->violations->list.count; i++) {
    const char *kind = machine->violations->list.items[i]->kind;
    /* Others hang, so this CTA ends before them. */
    if (hang && machine->stuck && leaves_early(kind)) continue;
    MachineEffect effect = effect_of(machine, kind);
    if (hang ? effect == MACHINE_EFFECT_HANG : effect != MACHINE_EFFECT_NONE) return true;
  }
  return false;
}

/* Threads that went on although their wait had returned false: all else may follow from that. */
static bool went_on_unlooped(Machine *machine) {
  const Protocol *p = protocol_of(machine);
  bool named = false;
  for (int i = 0; i < p->symptoms.count; i++) {
    const Symptom *s = p->symptoms.items[i];
    if (s->kind != SYMPTOM_RACE && s->kind != SYMPTOM_OVER_ARRIVAL) continue;
    named = cause_not_looped(machine, &s->issuer, -1) || named;
    if (s->reader.warp == s->warp) named = cause_not_looped(machine, &s->reader, -1) || named;
  }
  return named;
}

void cause_finish(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (went_on_unlooped(machine)) return;
  bool found = found_before(machine, false), hangs = found_before(machine, true), named = false;
  for (int i = 0; i < p->symptoms.count; i++)
    named = explain(machine, p->symptoms.items[i], false) || named;
  bool stuck = machine->stuck && !machine->stopped;
  if (stuck && !named && !hangs) named = cause_explain_hang(machine, false);
  if (stuck && !named && !hangs && found) named = cause_explain_hang(machine, true);
  if (named || found || strongest(session_protocol(machine->session)) == 0) return;
  for (int i = 0; i < p->symptoms.count && !named; i++)
    named = explain(machine, p->symptoms.items[i], true);
  if (stuck && !named) cause_explain_hang(machine, true);
}
