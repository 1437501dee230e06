/* Roles that walk the same ring with loops of different length. */
#include "machine/causes/cause_hang.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

enum { LOOPS = 2 };

static bool reachable(const Hang *hang, const IrInsn *insn) {
  const Machine *machine = hang->machine;
  for (int i = 0; i < hang->list.count; i++)
    if (code_ahead(machine->kernel, machine->arena, hang->list.items[i].strand->pc, code_is_same,
                   insn))
      return true;
  return false;
}

static bool signals(const IrInsn *insn) {
  return insn->op == IR_event &&
         (insn->event == IR_EV_bulk_copy || insn->event == IR_EV_bulk_tensor_load ||
          insn->event == IR_EV_tcgen05_commit || insn->event == IR_EV_mbarrier_arrive);
}

/* Whether some loop around the instruction was come to, and never gone round. */
static bool makes_no_trip(const Machine *machine, const IrInsn *insn) {
  CodeLoop loop = code_loop(machine->kernel, insn, NULL);
  for (; loop.last >= loop.first; loop = code_loop(machine->kernel, insn, &loop))
    if (machine->executed[loop.first] && !machine->executed[loop.last]) return true;
  return false;
}

const IrInsn *hang_idle_role(Machine *machine, const Hang *hang) {
  const IrKernel *kernel = machine->kernel;
  for (int32_t i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (machine->executed[i] || !signals(insn) || !makes_no_trip(machine, insn)) continue;
    if (!reachable(hang, insn)) return insn;
  }
  return NULL;
}

/* Adds where the loops around an instruction decide to go round again. */
void hang_relate_loops(Machine *machine, IrViolation *v, const IrInsn *insn, const char *text) {
  CodeLoop loop = code_loop(machine->kernel, insn, NULL);
  for (int n = 0; v && n < LOOPS && loop.last >= loop.first; n++) {
    if (loop.bound) ir_violation_related(machine->violations, v, loop.bound->where, "%s", text);
    loop = code_loop(machine->kernel, insn, &loop);
  }
}

/* Who arrives on another barrier of the ring, where nobody who is stuck comes there any more. */
static const IrInsn *ended_role(Machine *machine, const Hang *hang, const Mbar *bar) {
  const Protocol *p = protocol_of(machine);
  const IrInsn *found = NULL;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    if (other == bar || other->rank != bar->rank || !other->last_arrive || other->init != bar->init)
      continue;
    if (reachable(hang, other->last_arrive)) return NULL;
    found = other->last_arrive;
  }
  return found;
}

bool hang_trips(Machine *machine, const Hang *hang, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  const IrInsn *idle = bar->arrivers.count ? NULL : hang_idle_role(machine, hang);
  const IrInsn *arrive = idle               ? idle
                         : bar->last_arrive ? bar->last_arrive
                                            : ended_role(machine, hang, bar);
  if (!arrive) return false;
  const char *who = machine_who(machine, s->strand), *name = mbarrier_name(machine, bar, bar->rank);
  const Blame *what =
      BLAME("pipeline-trip-count-mismatch", MACHINE_CHECK_DEADLOCK, s->insn, bar, -1, 0);
  IrViolation *v =
      idle
          ? blame(machine, what,
                  "%s waits for phase %lld of %s, but the loop of those who would signal it makes "
                  "no trip: the loops of the two roles have different bounds",
                  who, (long long)s->expected, name)
          : blame(machine, what,
                  "%s waits for phase %lld of %s, but those who arrive there have ended after %lld "
                  "phase%s: its loop makes more trips than theirs",
                  who, (long long)s->expected, name, (long long)bar->phase,
                  bar->phase == 1 ? "" : "s");
  if (!v) return false;
  hang_relate_loops(machine, v, s->insn, "the loop of the thread that waits");
  hang_relate_loops(machine, v, arrive, "the loop of those who arrive");
  ir_violation_related(machine->violations, v, arrive->where,
                       idle ? "never executed" : "the arrivals come from here");
  witness_barrier(machine, v, bar, 3);
  return true;
}
