/* barrier: named barriers of a CTA and the cluster barrier, what the other files need of them. */
#ifndef KC_MACHINE_BARRIER_H
#define KC_MACHINE_BARRIER_H

#include "machine/hardware/protocol.h"

/* Lanes ended: barriers over all threads no longer wait for them. Call after CtaState.alive was
 * lowered. */
void barrier_exit(Machine *machine, Strand *strand, uint32_t lanes);
void cluster_exit(Machine *machine, Strand *strand, uint32_t lanes);
/* The run is over: names the barriers that warps used while others might still be in them. */
void barrier_finish(Machine *machine);
/* "bar.sync 1, 128" for messages. */
const char *barrier_text(Machine *machine, const IrInsn *insn, int64_t id, int64_t count);

#endif
