/* Waits that pass too early: for the wrong parity, or without being repeated until they succeed. */
#include "machine/causes/symptom.h"
#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

/* ---- causes that lie in a barrier ---- */

const char *cause_parity_kind(Machine *machine, const WaitContext *wait) {
  bool flips = wait->flips || code_varies(machine->kernel, machine->arena, wait->insn,
                                          ir_arg(wait->insn, IR_ROLE_parity));
  return flips ? "pipeline-stage-phase-desync" : "mbarrier-phase-not-flipped";
}

bool cause_slots_begin_apart(Machine *machine, const Mbar *bar, int warp, const IrInsn *wait,
                             int parity) {
  const Protocol *p = protocol_of(machine);
  uint64_t mine = 0, start = 0;
  if (!machine_shared_field(machine, bar->offset, &mine)) return false;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    const MbarView *v = other->views[warp];
    if (other == bar || other->rank != bar->rank || !v || !v->waits) continue;
    if (v->first_insn != wait || v->first_parity == parity) continue;
    if (machine_shared_field(machine, other->offset, &start) && start == mine) return true;
  }
  return false;
}

bool cause_not_looped(Machine *machine, const WaitContext *wait, int64_t data) {
  if (!wait->bar || !wait->failed || !wait->failed_insn) return false;
  IrViolation *v = blame(
      machine,
      BLAME("mbarrier-wait-not-looped", MACHINE_CHECK_RACE, wait->failed_insn, wait->bar, data, 0),
      "the wait on %s may return false, and what it guards is used all the same: it has to be "
      "repeated until it succeeds",
      mbarrier_name(machine, wait->bar, wait->bar->rank));
  witness_barrier(machine, v, wait->bar, 2);
  return v || !machine_is_off(machine, MACHINE_CHECK_RACE);
}

/* "a wait for phase 2 of full[0] (the wait at line 19, parity 0, passed on phase 0)" */
static const char *missing_wait(Machine *machine, const WaitContext *wait) {
  const char *name = mbarrier_name(machine, wait->bar, wait->bar->rank);
  const char *line = machine_line(machine, wait->insn);
  if (wait->phase < 0)
    return kc_printf(machine->session->arena,
                     "a wait that lasts (that on %s at %s, parity %d, passed before any phase was "
                     "complete)",
                     name, line, wait->parity);
  return kc_printf(machine->session->arena,
                   "a wait for a later phase of %s (that at %s, parity %d, passed on phase %lld)",
                   name, line, wait->parity, (long long)wait->phase);
}

bool cause_wrong_parity(Machine *machine, const WaitContext *wait, const char *consequence,
                        const Access *before, const Access *now, int64_t data) {
  if (cause_not_looped(machine, wait, data)) return true;
  if (!wait->bar || !wait->insn || !wait->seen || !wait->rewait) return false;
  const char *name = mbarrier_name(machine, wait->bar, wait->bar->rank);
  IrViolation *v;
  if (wait->phase < 0 && wait->again) {
    v = blame(machine,
              BLAME(cause_parity_kind(machine, wait), MACHINE_CHECK_PHASE, wait->insn, wait->bar,
                    data, 0),
              "the wait on %s is for parity %d again although its first phase has not been waited "
              "for yet: the phase is not flipped when the ring has gone round, %s",
              name, wait->parity, consequence);
  } else if (wait->phase < 0 &&
             cause_slots_begin_apart(machine, wait->bar, wait->warp, wait->insn, wait->parity)) {
    v = blame(
        machine,
        BLAME("pipeline-stage-phase-desync", MACHINE_CHECK_PHASE, wait->insn, wait->bar, data, 0),
        "the first wait on %s is for parity %d, that on other slots of the ring for parity "
        "%d: the phase changes before the ring has gone round, %s",
        name, wait->parity, !wait->parity, consequence);
  } else if (wait->phase < 0) {
    v = blame(machine,
              BLAME("mbarrier-initial-parity", MACHINE_CHECK_PHASE, wait->insn, wait->bar, data, 0),
              "the wait on %s passes at once: parity %d is that of the phase before the first of a "
              "fresh barrier, %s",
              name, wait->parity, consequence);
    if (v && wait->bar->init)
      ir_violation_related(machine->violations, v, wait->bar->init->where, "initialised here");
  } else {
    const char *kind = cause_parity_kind(machine, wait);
    v = blame(machine, BLAME(kind, MACHINE_CHECK_PHASE, wait->insn, wait->bar, data, 0),
              kind[0] == 'p'
                  ? "the wait on %s passes on an older phase: its parity is flipped, but not "
                    "when the stage wraps (parity %d again after phase %lld), %s"
                  : "the wait on %s passes on an older phase: parity %d again after phase "
                    "%lld has completed, %s",
              name, wait->parity, (long long)wait->phase, consequence);
  }
  if (!v) return !machine_is_off(machine, MACHINE_CHECK_PHASE); /* said before */
  if (before) cause_relate(machine, v, before, witness_access(machine, before));
  if (now) cause_relate(machine, v, now, witness_access(machine, now));
  ir_violation_fact(machine->violations, v, "parity", "%d", wait->parity);
  if (before && now)
    witness_race(machine, v, before, now, missing_wait(machine, wait));
  else
    ir_violation_witness(machine->violations, v, "%s waits at %s for parity %d: %s",
                         witness_warp(machine, (uint32_t)wait->warp),
                         machine_line(machine, wait->insn), wait->parity,
                         wait->phase < 0
                             ? "that of the phase before the first, the wait passes at once"
                             : kc_printf(machine->session->arena,
                                         "that of phase %lld, which is over: the wait passes at "
                                         "once",
                                         (long long)wait->phase));
  witness_barrier(machine, v, wait->bar, 3);
  return true;
}
