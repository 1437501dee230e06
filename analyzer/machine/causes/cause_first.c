/* The first wait of a thread blocks although nothing has been asked of anybody yet: its parity is
 * that of the other side. */
#include "machine/causes/cause_hang.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

/* Whether the strand would arrive on the barrier, or copy to it, behind its wait; also when no name
 * in the code tells. */
static bool would_signal(Machine *machine, const Stuck *s, const Mbar *bar) {
  CodeBarrier barrier = code_barrier(machine, bar);
  return code_ahead(machine->kernel, machine->arena, s->strand->pc, code_is_signal_on, &barrier) ||
         !code_has(machine->kernel, code_is_signal_on, &barrier);
}

static int rank_of(const IrInsn *insn) {
  if (insn->op != IR_event) return 0;
  if (insn->event == IR_EV_bulk_copy || insn->event == IR_EV_bulk_tensor_load) return 3;
  if (insn->event == IR_EV_cp_async || insn->event == IR_EV_tcgen05_mma) return 2;
  if (insn->event != IR_EV_mbarrier_arrive) return 0;
  return insn->flags & IR_FLAG(expect_tx) ? 3 : 1;
}

typedef struct Rank {
  const Machine *machine;
  int rank;
} Rank;

/* An instruction of that rank that nobody has come to yet. */
static bool has_rank(const IrInsn *insn, const void *user) {
  const Rank *r = user;
  return rank_of(insn) == r->rank && !r->machine->executed[insn - r->machine->kernel->insns.items];
}

/* What the thread would do behind its wait: 3: start copies or announce bytes, 2: start products or
 * cp.async, 1: arrive, in a ring; 0: none of these. The one that the others wait for is the one
 * that starts most. */
static int starts(const Machine *machine, const Stuck *s) {
  bool ring = code_in_loop(machine->kernel, s->insn);
  for (int rank = 3; rank > 0; rank--)
    if ((rank > 1 || ring) && code_ahead(machine->kernel, machine->arena, s->strand->pc, has_rank,
                                         &(Rank){machine, rank}))
      return rank;
  return 0;
}

/* A fresh barrier that nobody has arrived on, waited for with parity 0. */
static bool first_wait(const Machine *machine, const Stuck *s) {
  if (!s->waiter) return false;
  const Mbar *bar = s->waiter->bar;
  if (!s->waiter->parity || s->waiter->value != 0 || bar->phase != 0 || bar->arrivers.count ||
      s->expected != 0 || hang_came_past(machine, s))
    return false;
  return !bar->delivered_total && !bar->announced_total && !bar->unknown_total;
}

/* Someone else who waits for what this thread would do next, on a barrier that is fresh too. */
static const Stuck *victim_of(Machine *machine, const Hang *hang, const Stuck *s) {
  const Stuck *victim = NULL;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp == s->strand->warp || !other->waiter ||
        other->waiter->bar == s->waiter->bar)
      continue;
    if (other->waiter->bar->arrivers.count == 0 && other->waiter->bar->phase == 0 &&
        would_signal(machine, s, other->waiter->bar))
      victim = other;
  }
  return victim;
}

bool hang_first_wait(Machine *machine, const Hang *hang, const Stuck *s) {
  if (!first_wait(machine, s) || hang_idle_role(machine, hang)) return false;
  const Mbar *bar = s->waiter->bar;
  const Stuck *victim = victim_of(machine, hang, s);
  int rank = victim ? starts(machine, s) : 0;
  if (!rank) return false;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->insn != s->insn && first_wait(machine, other) && starts(machine, other) > rank &&
        victim_of(machine, hang, other))
      return false;
  }
  IrViolation *v = blame(
      machine, BLAME("mbarrier-initial-parity", MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 0),
      "the first wait on %s is for parity 0, and nobody arrives there before: it blocks for ever "
      "(a fresh barrier passes parity 1)",
      mbarrier_name(machine, bar, bar->rank));
  if (!v) return false;
  ir_violation_related(machine->violations, v, victim->insn->where,
                       "%s waits here for what this thread would do next",
                       machine_who(machine, victim->strand));
  if (bar->init) ir_violation_related(machine->violations, v, bar->init->where, "initialised here");
  ir_violation_fact(machine->violations, v, "parity", "0");
  witness_barrier(machine, v, bar, 1);
  return true;
}
