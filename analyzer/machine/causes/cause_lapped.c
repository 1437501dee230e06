/* Waits whose phase is over, and the one after it too: the thread sleeps until a phase that nobody
 * completes any more. */
#include "machine/causes/cause_hang.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

static bool has_arrived(const Mbar *bar, uint32_t warp) {
  for (int i = 0; i < bar->arrivers.count; i++)
    if (bar->arrivers.items[i].warp == warp) return true;
  return false;
}

/* What the thread would do next for a barrier that is complete without it. */
typedef struct Ahead {
  const IrInsn *arrive; /* that it can't get past without arriving; or NULL */
  const IrInsn *copy;   /* that it would bring bytes by; or NULL */
} Ahead;

static Ahead what_comes(const Machine *machine, const Stuck *s, const Mbar *other) {
  uint32_t warp = (uint32_t)s->strand->warp->index;
  Ahead out = {NULL, NULL};
  if (!other->init || other->phase == 0 || has_arrived(other, warp)) return out;
  for (int i = 0; i < other->arrivers.count && !out.arrive; i++) {
    const MbarArrival *a = &other->arrivers.items[i];
    if (a->warp != UINT32_MAX && a->warp != warp &&
        code_must_pass(machine->kernel, machine->arena, s->strand->pc, a->insn))
      out.arrive = a->insn;
  }
  for (int i = 0; i < other->copies.count && !out.copy; i++) {
    const MbarCopy *copy = &other->copies.items[i];
    if (copy->warp == (int)warp) return (Ahead){out.arrive, NULL};
    if (code_ahead(machine->kernel, machine->arena, s->strand->pc, code_is_same, copy->insn))
      out.copy = copy->insn;
  }
  return out;
}

static IrViolation *blame_count(Machine *machine, const Stuck *s, const Mbar *other,
                                const IrInsn *arrive) {
  IrViolation *v = blame(
      machine,
      BLAME("mbarrier-arrive-count-mismatch", MACHINE_CHECK_DEADLOCK, other->init, other, -1, 0),
      "%s is initialised for %lld arrival%s: its phase completes before %s has come to its arrive "
      "at %s",
      mbarrier_name(machine, other, s->strand->warp->cta->rank), (long long)other->init_count,
      other->init_count == 1 ? "" : "s", machine_who(machine, s->strand),
      machine_line(machine, arrive));
  if (!v) return NULL;
  ir_violation_related(machine->violations, v, arrive->where, "both arrive here");
  ir_violation_fact(machine->violations, v, "count", "%lld", (long long)other->init_count);
  return v;
}

static IrViolation *blame_bytes(Machine *machine, const Stuck *s, const Mbar *other,
                                const IrInsn *copy) {
  IrViolation *v =
      blame(machine,
            BLAME("mbarrier-expect-tx-mismatch", MACHINE_CHECK_DEADLOCK, other->last_expect, other,
                  -1, 0),
            "%lld bytes are announced on %s: its phase completes before %s has come to its copies "
            "at %s",
            (long long)(other->announced_total / other->phase),
            mbarrier_name(machine, other, s->strand->warp->cta->rank),
            machine_who(machine, s->strand), machine_line(machine, copy));
  if (!v) return NULL;
  ir_violation_related(machine->violations, v, copy->where, "both copy here");
  return v;
}

/* The first phase that `s` should have seen is over because what its thread would signal next was
 * complete without it: that barrier counts on less. */
static bool completed_without(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  const Protocol *p = protocol_of(machine);
  bool commit = bar->last_arrive && bar->last_arrive->event == IR_EV_tcgen05_commit;
  int completer = commit ? bar->commit_warp : bar->last_arrive_warp;
  if (completer < 0 || completer == s->strand->warp->index) return false;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    const MbarView *view = other == bar ? NULL : other->views[completer];
    if (!view || !view->waits) continue;
    Ahead next = what_comes(machine, s, other);
    IrViolation *v = next.arrive ? blame_count(machine, s, other, next.arrive)
                     : next.copy && other->last_expect && other->announced_total
                         ? blame_bytes(machine, s, other, next.copy)
                         : NULL;
    if (!v) continue;
    hang_relate(machine, v, s);
    witness_barrier(machine, v, other, 2);
    return true;
  }
  return false;
}

static bool waits_at_all(const Machine *machine, uint32_t warp) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++)
    if (p->mbars.items[i]->views[warp]) return true;
  return false;
}

/* Warps have given the slot back without having waited for anything: another waits in their name,
 * and nothing makes them wait for that one. */
static bool given_back_blindly(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->warp == UINT32_MAX || waits_at_all(machine, a->warp)) continue;
    for (int j = 0; j < hang->list.count; j++) {
      const Stuck *other = &hang->list.items[j];
      const Warp *warp = other->strand->warp;
      if (!other->waiter || warp->cta != machine->warps[a->warp]->cta || other->insn == s->insn ||
          warp->index == (int)a->warp ||
          !code_ahead(machine->kernel, machine->arena, other->strand->pc, code_is_same, a->insn))
        continue;
      IrViolation *v = blame(
          machine, BLAME("pipeline-stage-race", MACHINE_CHECK_DEADLOCK, a->insn, bar, -1, 0),
          "%s arrives on %s here without having waited for anything: only %s waits on %s, and no "
          "barrier behind that wait holds the others",
          witness_warp(machine, a->warp), mbarrier_name(machine, bar, bar->rank),
          witness_warp(machine, (uint32_t)warp->index),
          mbarrier_name(machine, other->waiter->bar, other->waiter->bar->rank));
      if (!v) return false;
      ir_violation_related(machine->violations, v, other->insn->where, "%s waits here for all",
                           machine_who(machine, other->strand));
      hang_relate(machine, v, s);
      witness_barrier(machine, v, bar, 2);
      return true;
    }
  }
  return false;
}

bool hang_lapped(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (!s->waiter->parity || bar->phase <= s->expected + 1) return false;
  WaitContext context = cause_context(bar, s->strand->warp->index, s->waiter->lanes);
  IrViolation *v;
  if (context.seen && context.phase == s->expected) {
    const char *kind = cause_parity_kind(machine, &context);
    v = blame(
        machine, BLAME(kind, MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 0),
        kind[0] == 'p'
            ? "%s waits on %s for parity %d again, after it has seen phase %lld: stage and "
              "phase are not advanced together, and phase %lld is already complete"
            : "%s waits on %s for parity %d again, after it has seen phase %lld: the phase is "
              "not flipped, and phase %lld is already complete",
        machine_who(machine, s->strand), mbarrier_name(machine, bar, bar->rank),
        (int)s->waiter->value, (long long)context.phase, (long long)bar->phase - 1);
    witness_barrier(machine, v, bar, 3);
    return v != NULL;
  }
  if (cause_of_lapping(machine, bar, &context, bar->last_arrive_warp)) return true;
  if (s->expected < 0) {
    if (completed_without(machine, s) || given_back_blindly(machine, hang, s)) return true;
    bool apart = cause_slots_begin_apart(machine, bar, s->strand->warp->index, s->insn,
                                         (int)s->waiter->value);
    v = blame(
        machine,
        BLAME(apart ? "pipeline-stage-phase-desync" : "mbarrier-initial-parity",
              MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 0),
        apart ? "the first wait on %s is for parity %d, that on other slots of the ring for the "
                "other: the phase changes before the ring has gone round"
              : "the first wait on %s is for parity %d, that of the phase before the first: it "
                "passes "
                "before anything has landed, or blocks for ever once phase 0 is complete",
        mbarrier_name(machine, bar, bar->rank), (int)s->waiter->value);
    if (v && bar->init)
      ir_violation_related(machine->violations, v, bar->init->where, "initialised here");
    witness_barrier(machine, v, bar, 3);
    return v != NULL;
  }
  v = blame(
      machine, BLAME("mbarrier-phase-lapped", MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 1),
      "%s waits for phase %lld of %s with parity %d, but phase %lld is already complete: it was "
      "lapped and waits for ever",
      machine_who(machine, s->strand), (long long)s->expected,
      mbarrier_name(machine, bar, bar->rank), (int)s->waiter->value, (long long)bar->phase - 1);
  witness_barrier(machine, v, bar, 3);
  return v != NULL;
}
