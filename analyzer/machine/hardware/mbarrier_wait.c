/* Waits on mbarrier phases (PTX ISA 9.7.13.15.16).
 *
 * A wait for parity p passes when the phase of that parity among the current and the preceding one
 * is the preceding, that is when (phase & 1) != p: a fresh barrier passes parity 1 and blocks
 * parity 0. try_wait and test_wait return false once; when the same wait is tried again before the
 * phase has changed the strand sleeps, so that spin loops need not be recognised. */
#include "machine/causes/symptom.h"
#include "machine/checks/finish.h"
#include "machine/hardware/mbarrier.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

#define POLLS_WITHOUT_PROGRESS 64

typedef struct Wait {
  const IrInsn *insn;
  bool parity; /* else a state token */
  bool loops;  /* the library wait: returns only when done */
  const char *what;
} Wait;

typedef struct WaitPart { /* lanes that wait for the same phase of the same barrier */
  uint32_t lanes;
  Mbar *bar;     /* NULL: not known; passes */
  int64_t value; /* parity, or the phase that the token names; -1: not known */
  bool ready;
} WaitPart;

static bool passes(const Wait *wait, const Mbar *bar, int64_t value) {
  if (value < 0) return true;
  return wait->parity ? (bar->phase & 1) != value : bar->phase > value;
}

static void check_parity(Machine *machine, const Wait *wait, const Mbar *bar, uint64_t value) {
  if (value <= 1) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, wait->insn, "mbarrier-parity-not-reduced",
      "the parity operand of the wait on %s is %llu; only its lowest bit can be meant",
      mbarrier_name(machine, bar, bar->rank), (unsigned long long)value);
  if (v) ir_violation_fact(machine->violations, v, "parity", "%llu", (unsigned long long)value);
  cause_say_parity(machine, v, wait->insn);
}

/* Splits the active lanes by barrier and operand; returns the number of parts. */
static int split(Machine *machine, Strand *strand, const Wait *wait, WaitPart parts[32]) {
  Value address, operand;
  machine_read_role(machine, strand, wait->insn, IR_ROLE_addr, &address);
  bool given = machine_read_role(machine, strand, wait->insn,
                                 wait->parity ? IR_ROLE_parity : IR_ROLE_state, &operand);
  uint32_t left = strand->active;
  int n = 0;
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, (IrSpace)wait->insn->space, &left, &at)) {
    Mbar *bar = mbarrier_use(machine, strand, wait->insn, &at, wait->what);
    if (bar && at.rank != strand->warp->cta->rank)
      machine_violation(machine, MACHINE_CHECK_ALWAYS, wait->insn, "mbarrier-remote-wait",
                        "%s on %s: a CTA can only wait on its own mbarriers", wait->what,
                        mbarrier_name(machine, bar, strand->warp->cta->rank));
    uint32_t rest = at.lanes, lanes;
    uint64_t value;
    bool known;
    if (!bar) {
      if (!at.known)
        machine_switch_off(machine, MACHINE_CHECK_RACE, wait->insn,
                           "%s on an mbarrier whose address is not known", wait->what);
      parts[n++] = (WaitPart){at.lanes, NULL, -1, true};
      continue;
    }
    while (given ? protocol_next(&operand, &rest, &lanes, &value, &known) : rest != 0) {
      if (!given) {
        lanes = rest;
        rest = 0;
        known = false;
      }
      if (!known) {
        machine_switch_off(machine, MACHINE_CHECK_PHASE, wait->insn,
                           "the parity that is waited for on %s is not known",
                           mbarrier_name(machine, bar, bar->rank));
        machine_switch_off(machine, MACHINE_CHECK_DEADLOCK, wait->insn,
                           "the parity that is waited for on %s is not known",
                           mbarrier_name(machine, bar, bar->rank));
        machine_switch_off(machine, MACHINE_CHECK_RACE, wait->insn,
                           "the parity that is waited for on %s is not known",
                           mbarrier_name(machine, bar, bar->rank));
        parts[n++] = (WaitPart){lanes, bar, -1, true};
        continue;
      }
      if (wait->parity) check_parity(machine, wait, bar, value & UINT32_MAX);
      int64_t v = wait->parity ? (int64_t)(value & 1) : (int64_t)value;
      parts[n++] = (WaitPart){lanes, bar, v, passes(wait, bar, v)};
    }
  }
  return n;
}

static MbarView *view_of(Machine *machine, Mbar *bar, const Warp *warp) {
  MbarView **slot = &bar->views[warp->index];
  if (!*slot) *slot = KC_NEW(machine->arena, MbarView);
  return *slot;
}

typedef struct Seen { /* of the lanes of a part */
  uint32_t lapped, rewaits;
  uint32_t before_first; /* lanes that wait for the phase before the first */
  int64_t expected;      /* phase that the last of the lapped lanes waits for */
} Seen;

/* Which phase each lane waits for, by what it knows; lanes that share a clock know the same. */
static Seen expect(Machine *machine, const Strand *strand, const Wait *wait, const WaitPart *part,
                   MbarView *view, int64_t passed) {
  const Protocol *p = protocol_of(machine);
  const LaneClocks *clocks = &warp_state(strand->warp)->lanes;
  const Mbar *bar = part->bar;
  Seen seen = {.expected = passed};
  uint32_t last = 0;
  for (int i = 0; i < clocks->ngroups; i++) {
    uint32_t in = clocks->groups[i].lanes & part->lanes;
    if (!in) continue;
    uint32_t known = clock_time(&p->clocks, clocks->groups[i].clock, bar->agent, 0);
    int64_t complete = known > bar->base ? (int64_t)(known - bar->base) : 0;
    int64_t e = !wait->parity                   ? part->value
                : (complete & 1) == part->value ? complete
                                                : complete - 1;
    if (e < passed) {
      seen.lapped |= in;
      if (in > last) {
        last = in;
        seen.expected = e;
      }
    }
    if (e < complete) seen.rewaits |= in;
    if (e < 0) seen.before_first |= in;
    FOR_LANES(lane, in) view->phase[lane] = (int32_t)e;
  }
  return seen;
}

static void observe(Machine *machine, Strand *strand, const Wait *wait, const WaitPart *part) {
  Protocol *p = protocol_of(machine);
  Mbar *bar = part->bar;
  WarpState *ws = warp_state(strand->warp);
  MbarView *view = view_of(machine, bar, strand->warp);
  int64_t passed = bar->phase - 1; /* the phase whose completion is seen */
  Seen seen = expect(machine, strand, wait, part, view, passed);
  if (seen.before_first && !view->waits) view->first_passed = true;
  if (!view->waits) {
    view->first_parity = (int)(part->value & 1);
    view->first_insn = wait->insn;
  }
  view->lapped |= seen.lapped;
  view->first_again |= seen.before_first & view->seen;
  if (seen.lapped && wait->parity)
    cause_lapped(machine, bar, strand, seen.lapped, seen.expected, true);
  if (seen.rewaits && passed >= 0 && view->waits) view->stale++;
  view->seen |= part->lanes;
  view->rewaits = (view->rewaits & ~part->lanes) | seen.rewaits;
  view->failed &= ~part->lanes;
  uint32_t parity = part->value == 1 ? part->lanes : 0;
  if (view->waits && (view->parity & part->lanes) != parity) view->flips++;
  view->parity = (view->parity & ~part->lanes) | (part->value == 1 ? part->lanes : 0);
  view->insn = wait->insn;
  view->waits++;
  ws->last_wait = wait->insn;
  ws->last_wait_mbar = bar;
  ws->relaxed_wait = wait->insn->flags & IR_FLAG(relaxed) ? wait->insn : NULL;
  ws->relaxed_mbar = bar;
  if (passed > bar->last_observed || bar->last_observed == INT64_MIN) bar->last_observed = passed;
  if (passed + 1 > machine->most_phases) machine->most_phases = passed + 1;
  /* A wait for a phase that the lane knew to be complete is not what sees it. */
  uint32_t watch = wait->parity ? part->lanes & ~seen.lapped : 0;
  watch &= ~(seen.rewaits & ~seen.before_first);
  if (watch)
    KC_PUSH(machine->arena, bar->observers,
            ((MbarObserver){(uint32_t)strand->warp->index, watch, ws->lanes.now, wait->insn}));
  if (bar->handed && (wait->insn->flags & IR_FLAG(scope_cta)))
    finish_narrow_acquire(machine, bar, wait->insn);
  lanes_acquire(&p->clocks, &ws->lanes, part->lanes, bar->done);
  if (bar->happened) {
    if (!ws->reached) ws->reached = clock_new(&p->clocks);
    clock_join(&p->clocks, ws->reached, bar->happened);
  }
  mbarrier_log(bar, MBAR_LOG_PASS, strand->warp->index, part->lanes, part->value, wait->insn,
               machine->step);
  contract_site(machine, bar, CONTRACT_WAIT, wait->insn, part->value);
  timeline_wait(machine, strand, bar, wait->insn);
}

/* ---- sleeping ---- */

static bool phase_changed(Machine *machine, const Strand *strand) {
  (void)machine;
  const Mbar *bar = strand->wait_object;
  return bar->phase + bar->base != strand->wait_value;
}

static bool any_phase_changed(Machine *machine, const Strand *strand) {
  return (int64_t)protocol_of(machine)->phases_completed != strand->wait_value;
}

static char *describe_wait(Machine *machine, const Strand *strand) {
  const WarpState *ws = warp_state(strand->warp);
  const Mbar *bar = ws->blocked_on;
  if (!bar) return kc_strdup(machine->session->arena, "an mbarrier");
  KcArena *arena = machine->session->arena;
  const char *bytes = "";
  if (bar->tx > 0) bytes = kc_printf(arena, ", %lld bytes missing", (long long)bar->tx);
  if (bar->tx < 0) bytes = kc_printf(arena, ", %lld bytes too many", (long long)-bar->tx);
  const char *arrivals = "all arrivals are in";
  if (bar->pending)
    arrivals = kc_printf(arena, "%lld of %lld arrivals missing", (long long)bar->pending,
                         (long long)bar->expected);
  return kc_printf(arena, "mbarrier %s, parity %d: phase %lld is not complete (%s%s)",
                   mbarrier_name(machine, bar, strand->warp->cta->rank), (int)ws->blocked_parity,
                   (long long)bar->phase, arrivals, bytes);
}

static MachineStep sleep_on(Machine *machine, Strand *strand, const Wait *wait,
                            const WaitPart *parts, int nparts) {
  const WaitPart *first = NULL;
  int waiting = 0;
  for (int i = 0; i < nparts; i++)
    if (!parts[i].ready) {
      if (!first) first = &parts[i];
      waiting++;
    }
  WarpState *ws = warp_state(strand->warp);
  ws->blocked_on = first->bar;
  ws->blocked_parity = first->value;
  mbarrier_log(first->bar, MBAR_LOG_BLOCK, strand->warp->index, first->lanes, first->value,
               wait->insn, machine->step);
  timeline_block(machine, strand, first->bar);
  /* It comes back to the same wait: what it guards is not used before. */
  for (int i = 0; i < nparts; i++)
    if (!parts[i].ready) view_of(machine, parts[i].bar, strand->warp)->failed &= ~parts[i].lanes;
  MbarWaiter *waiter = KC_NEW(machine->arena, MbarWaiter);
  *waiter = (MbarWaiter){first->bar, wait->insn, first->lanes, first->value, wait->parity};
  strand->resume_data = waiter;
  if (waiting == 1)
    machine_block(machine, strand, "mbarrier", phase_changed, describe_wait, first->bar,
                  first->bar->phase + first->bar->base);
  else
    machine_block(machine, strand, "mbarrier", any_phase_changed, describe_wait, first->bar,
                  (int64_t)protocol_of(machine)->phases_completed);
  return MACHINE_BLOCKED;
}

/* Whether this poll repeats one that failed, with nothing having happened in between. */
static bool repeats(Machine *machine, Strand *strand, const Mbar *bar) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  bool same = strand->unsuccessful_pc == strand->pc && strand->unsuccessful_object == bar &&
              strand->unsuccessful == bar->phase + bar->base + 1;
  strand->unsuccessful_pc = strand->pc;
  strand->unsuccessful_object = (void *)(uintptr_t)bar;
  strand->unsuccessful = bar->phase + bar->base + 1;
  if (ws->polls_at != p->phases_completed) {
    ws->polls_at = p->phases_completed;
    ws->polls = 0;
  }
  return same || ++ws->polls > POLLS_WITHOUT_PROGRESS;
}

/* 1 in the lanes of `yes`, else 0. */
static Value truth(Machine *machine, const Strand *strand, uint32_t yes) {
  bool some = (strand->active & yes) != 0;
  if (!some || (strand->active & ~yes) == 0) return value_known(some);
  uint64_t lanes[32];
  for (int i = 0; i < 32; i++)
    lanes[i] = yes >> i & 1;
  return value_from_lanes(machine, lanes, strand->active, strand->active);
}

static MachineStep run_wait(Machine *machine, Strand *strand, const Wait *wait) {
  WaitPart parts[32];
  int nparts = split(machine, strand, wait, parts);
  bool all = true;
  const WaitPart *first = NULL;
  for (int i = 0; i < nparts; i++)
    if (!parts[i].ready) {
      all = false;
      if (!first) first = &parts[i];
      MbarView *view = view_of(machine, parts[i].bar, strand->warp);
      view->failed |= parts[i].lanes;
      view->failed_insn = wait->insn;
    }
  if (!all && (wait->loops || repeats(machine, strand, first->bar)))
    return sleep_on(machine, strand, wait, parts, nparts);
  uint32_t ready = 0;
  for (int i = 0; i < nparts; i++) {
    if (!parts[i].ready) {
      warp_state(strand->warp)->last_wait_mbar = parts[i].bar;
      continue;
    }
    if (parts[i].bar) observe(machine, strand, wait, &parts[i]);
    ready |= parts[i].lanes;
  }
  if (all) strand->unsuccessful_pc = -1;
  const IrOperand *dst = ir_arg(wait->insn, IR_ROLE_dst);
  if (!dst) dst = ir_arg(wait->insn, IR_ROLE_pred);
  if (dst) machine_write(machine, strand, dst, truth(machine, strand, ready), strand->active);
  return MACHINE_NEXT;
}

MachineStep event_mbarrier_test_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  return run_wait(machine, strand,
                  &(Wait){insn, (insn->flags & IR_FLAG(parity)) != 0, false, "mbarrier.test_wait"});
}

MachineStep event_mbarrier_try_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  return run_wait(machine, strand,
                  &(Wait){insn, (insn->flags & IR_FLAG(parity)) != 0, false, "mbarrier.try_wait"});
}

MachineStep event_mbarrier_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  return run_wait(machine, strand,
                  &(Wait){insn, (insn->flags & IR_FLAG(parity)) != 0, true, "the wait"});
}
