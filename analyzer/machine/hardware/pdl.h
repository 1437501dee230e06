/* pdl: programmatic dependent launch and the fences of the tensormap proxy. */
#ifndef KC_MACHINE_PDL_H
#define KC_MACHINE_PDL_H

#include "machine/hardware/protocol.h"

/* A generic access to global memory. */
void pdl_access(Machine *machine, Strand *strand, const IrInsn *insn, const MachineAccess *access);
/* A copy from global memory; address 0: through a tensor map. */
void pdl_async_read(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t address);
/* At the end of a run. */
void pdl_finish(Machine *machine);

/* tensormap.c */
/* A generic access to global memory: ordinary stores edit a map too. */
void tensormap_access(Machine *machine, Strand *strand, const IrInsn *insn,
                      const MachineAccess *access);
void tensormap_released(Machine *machine, Strand *strand, const IrInsn *insn);
void tensormap_acquired(Machine *machine, Strand *strand, const IrInsn *insn);
bool tensormap_has_acquire(Machine *machine, const Strand *strand, uint64_t map);
/* At the end of a run that came to its end. */
void tensormap_finish(Machine *machine);

#endif
