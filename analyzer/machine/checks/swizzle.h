/* swizzle: where the pattern of a permuted tile is anchored, by who fills it and by who reads it.
 *
 * Tensor copies permute 16-byte chunks by bits 7 and up of the shared address, and so does a
 * descriptor whose base offset is 0: the two agree wherever the tile lies. A reader or writer that
 * counts rows from the start of the tile agrees with them only where the tile begins at a multiple
 * of the pattern; a base offset moves a descriptor's pattern to such a tile. Source: PTX ISA 5.5.7
 * and 9.7.15.5.1.2.2; measured on an H200 with wgmma (docs/hardware.md). */
#ifndef KC_MACHINE_SWIZZLE_H
#define KC_MACHINE_SWIZZLE_H

#include "machine/checks/fragment.h"
#include "machine/hardware/desc.h"

/* Whether the pattern of the tile begins before the tile does. */
bool swizzle_is_off(const FragmentTile *tile);
/* Ordinary accesses of shared memory, before race.c hears of them. */
void swizzle_access(Machine *machine, const IrInsn *insn, const MachineAccess *access);
/* wgmma or tcgen05.mma reads an operand through a descriptor. */
void swizzle_operand(Machine *machine, const DescRead *read, const Descriptor *desc,
                     const DescTile *tile);
/* A tensor copy stores the tile at `offset` by `map` (may be NULL). */
void swizzle_store(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                   const MachineTensorMap *map);
/* At the end of a run: tiles whose readers count rows from the tile. */
void swizzle_finish(Machine *machine);

#endif
