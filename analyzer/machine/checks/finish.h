/* finish: what can only be judged when a thread, a barrier or the whole run has ended. */
#ifndef KC_MACHINE_FINISH_H
#define KC_MACHINE_FINISH_H

#include "machine/hardware/protocol.h"

/* `strand` uses shared memory of CTA `rank` (not its own). */
void finish_remote(Machine *machine, Strand *strand, uint32_t lanes, int rank, const IrInsn *insn,
                   bool arrive, bool write);
/* Whether `lanes` know that some thread of CTA `rank` has run. */
bool finish_peer_started(const Machine *machine, const Strand *strand, uint32_t lanes, int rank);
/* An operation on a place that holds no live mbarrier. */
void finish_uninitialised(Machine *machine, const Strand *strand, const IrInsn *insn,
                          const SharedPlace *place, const char *what);
/* The barrier is invalidated, or the run is over. */
void finish_mbarrier_closed(Machine *machine, Mbar *bar);
/* A phase of the barrier completes. */
void finish_phase(Machine *machine, Mbar *bar);
/* A remote arrive with CTA scope. */
void finish_narrow_release(Machine *machine, Mbar *bar, Strand *strand, const IrInsn *insn);
/* A wait with CTA scope for what another CTA has stored. */
void finish_narrow_acquire(Machine *machine, const Mbar *bar, const IrInsn *insn);
/* A copy whose shared address is not known, or is not shared. */
void finish_unknown_copy(Machine *machine, const Strand *strand, const IrInsn *insn,
                         bool known_elsewhere);
void finish_unknown_access(Machine *machine, const Strand *strand, const IrInsn *insn,
                           const MachineAccess *access);
/* The cluster barrier completes because threads have exited without arriving. */
void finish_cluster_short(Machine *machine, const Strand *strand, const IrInsn *insn);
/* Lanes end. */
void finish_exit(Machine *machine, Strand *strand, uint32_t lanes);
void finish_run(Machine *machine);

#endif
