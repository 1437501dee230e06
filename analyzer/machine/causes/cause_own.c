/* Hand-overs to the wrong side: a thread that waits on the barrier which it signals itself, while
 * the barrier that is meant for it goes unheard, or never comes. */
#include "machine/causes/cause_hang.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

/* The only warps that arrive on the barrier wait on it too, and nothing else completes it. */
static const MbarArrival *only_own(const Machine *machine, const Mbar *bar) {
  const MbarArrival *own = NULL;
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->warp == UINT32_MAX || !bar->views[a->warp]) return NULL;
    own = a;
  }
  if (!own || bar->copies.count) return NULL;
  for (int w = 0; w < machine->nwarps; w++) {
    bool waits = bar->views[w] && (bar->views[w]->waits || bar->views[w]->failed), arrives = false;
    for (int i = 0; i < bar->arrivers.count; i++)
      arrives = arrives || bar->arrivers.items[i].warp == (uint32_t)w;
    if (waits && !arrives) return NULL;
  }
  return own;
}

bool hang_own_turn(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  const Protocol *p = protocol_of(machine);
  if (bar->arrivers.count || bar->copies.count || !bar->init) return false;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    bool one_ring = other->init == bar->init ||
                    cause_array(machine, other->offset) == cause_array(machine, bar->offset);
    if (other == bar || other->rank != bar->rank || !one_ring) continue;
    const MbarArrival *own = only_own(machine, other);
    if (!own || own->warp == (uint32_t)s->strand->warp->index) continue;
    IrViolation *v = blame(
        machine,
        BLAME("pipeline-slot-never-released", MACHINE_CHECK_DEADLOCK, own->insn, bar, -1, 0),
        "%s arrives on %s, which it waits on itself, and nothing arrives on %s, which %s waits for",
        witness_warp(machine, own->warp), mbarrier_name(machine, other, other->rank),
        mbarrier_name(machine, bar, bar->rank), machine_who(machine, s->strand));
    if (!v) return false;
    hang_relate(machine, v, s);
    witness_barrier(machine, v, bar, 1);
    witness_barrier(machine, v, other, 2);
    return true;
  }
  return false;
}

/* A barrier of the CTA that others arrive on and nobody waits for. */
static const Mbar *unheard(const Machine *machine, int rank, uint32_t warp) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    bool heard = bar->rank != rank || bar->arrivers.count == 0 || bar->copies.count > 0;
    for (int w = 0; w < machine->nwarps && !heard; w++)
      heard = bar->views[w] && (bar->views[w]->waits || bar->views[w]->failed);
    for (int j = 0; j < bar->arrivers.count && !heard; j++)
      heard = bar->arrivers.items[j].warp == warp;
    if (!heard) return bar;
  }
  return NULL;
}

bool hang_own_wait(Machine *machine) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    if (bar->arrivers.count != 1 || !bar->copies.count) continue;
    uint32_t warp = bar->arrivers.items[0].warp;
    const MbarView *view = warp == UINT32_MAX ? NULL : bar->views[warp];
    const Mbar *other = view && view->insn ? unheard(machine, bar->rank, warp) : NULL;
    if (!other) continue;
    IrViolation *v =
        blame(machine,
              BLAME("pipeline-slot-never-released", MACHINE_CHECK_DEADLOCK, view->insn, bar, -1, 0),
              "%s waits on %s, which it arms itself, and nobody waits on %s, which others arrive "
              "on: this wait is on the wrong barrier",
              witness_warp(machine, warp), mbarrier_name(machine, bar, bar->rank),
              mbarrier_name(machine, other, other->rank));
    if (!v) return false;
    ir_violation_related(machine->violations, v, other->last_arrive->where,
                         "arrives on %s, unheard", mbarrier_name(machine, other, other->rank));
    witness_barrier(machine, v, bar, 2);
    return true;
  }
  return false;
}
