/* A cause of races that a look at the barriers of both sides shows: one barrier for both ways. */
#include "machine/causes/cause.h"
#include "machine/causes/symptom.h"
#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

static bool warp_arrives(const Mbar *bar, uint32_t warp) {
  for (int i = 0; i < bar->arrivers.count; i++)
    if (bar->arrivers.items[i].warp == warp) return true;
  return false;
}

/* A buffer that one warp reads and another writes again, handed over and back through one barrier
 * on which both arrive and wait: it says that both have come, not who has finished. */
bool cause_single_barrier(Machine *machine, const Symptom *s) {
  const Access *before = s->before, *now = s->now;
  const Mbar *bar = warp_state(machine->warps[now->warp])->last_wait_mbar;
  if (!bar || before->warp == now->warp || before->write || !now->write ||
      warp_state(machine->warps[before->warp])->last_wait_mbar != bar ||
      !warp_arrives(bar, now->warp) || !warp_arrives(bar, before->warp))
    return false;
  IrViolation *v = blame(machine,
                         BLAME("pipeline-accumulator-single-barrier", MACHINE_CHECK_RACE, now->insn,
                               NULL, (int64_t)s->offset, 0),
                         "%s writes the buffer again while %s may still read it: both arrive and "
                         "wait on %s, and nothing hands the buffer back",
                         witness_warp(machine, now->warp), witness_warp(machine, before->warp),
                         mbarrier_name(machine, bar, machine->warps[now->warp]->cta->rank));
  if (v)
    ir_violation_related(machine->violations, v, before->insn->where, "%s",
                         witness_access(machine, before));
  witness_race(machine, v, before, now, "a barrier on which the reader hands the buffer back");
  return v != NULL;
}
