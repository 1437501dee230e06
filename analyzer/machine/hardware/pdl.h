/* pdl: programmatic dependent launch and the fences of the tensormap proxy. */
#ifndef KC_MACHINE_PDL_H
#define KC_MACHINE_PDL_H

#include "machine/hardware/protocol.h"

/* A generic access to global memory. */
void pdl_access(Machine *machine, Strand *strand, const IrInsn *insn, const MachineAccess *access);
/* A copy from global memory; `buffer` as pdl_buffer or pdl_map tells it. */
void pdl_async_read(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t buffer);
/* What a global address, or a tensor map by its id, is told apart from others by. */
static inline uint64_t pdl_buffer(uint64_t address) {
  return address / IR_POINTER_STRIDE;
}
static inline uint64_t pdl_map(uint64_t map_id) {
  return map_id | UINT64_C(1) << 63;
}
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
