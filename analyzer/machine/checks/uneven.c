/* Barriers whose arrivals don't divide into phases: every party arrived as often as the others, all
 * of them together leave a phase half full at the end. The phases then slip against the rounds, a
 * little more each time, until one completes on the arrivals of another round (PTX ISA
 * 9.7.13.15.2). A few rounds, as a run has them, need not show any harm yet. */
#include "machine/causes/symptom.h"
#include "machine/execute/core.h"
#include "machine/hardware/protocol.h"

#define ROUNDS 2 /* a single round may be the first half of something */

/* Times that every party of the barrier arrived; 0: not the same. */
static int rounds_of(const Mbar *bar) {
  int times = 0;
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->warp == UINT32_MAX || a->insn != bar->arrivers.items[0].insn) return 0;
    if (times && a->times != times) return 0;
    times = a->times;
  }
  return times;
}

void uneven_finish(Machine *machine) {
  const Protocol *p = protocol_of(machine);
  if (machine->stuck || machine->stopped || machine->violations->list.count > 0) return;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    bool whole = bar->pending == bar->expected;
    if (!bar->live || bar->expected != bar->init_count || whole || bar->phase < 1) continue;
    if (rounds_of(bar) >= ROUNDS && cause_too_many_arrivers(machine, bar, NULL, -1)) return;
  }
}
