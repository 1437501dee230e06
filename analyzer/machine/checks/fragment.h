/* fragment: the order in which tiles lie in shared memory, and what reads them in another. */
#ifndef KC_MACHINE_FRAGMENT_H
#define KC_MACHINE_FRAGMENT_H

#include "machine/hardware/protocol.h"

typedef struct FragmentTile { /* a tile that a tensor copy filled */
  int rank;
  uint32_t offset, bytes, inner; /* inner: bytes of a row of the box */
  int swizzle;                   /* CUtensorMapSwizzle: 0..3 */
  int data_type;                 /* CUtensorMapDataType */
  const IrInsn *insn;
} FragmentTile;

/* The tile that a tensor copy filled and that lies at `offset` of CTA `rank`, unless something else
 * was written there since; or NULL. */
const FragmentTile *fragment_tile_at(Machine *machine, int rank, uint32_t offset);
/* cp.async brings `bytes` to `offset` of CTA `rank`, from a global address where it is known. */
void fragment_copied(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                     uint32_t bytes, bool known, uint64_t from);
/* A tensor copy fills a tile by `map` (may be NULL). */
void fragment_tile(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                   const MachineTensorMap *map);
/* A tensor copy stores the tile at `offset` by `map` (may be NULL). */
void fragment_store(Machine *machine, Strand *strand, const IrInsn *insn, int rank, uint32_t offset,
                    const MachineTensorMap *map);
/* tcgen05.mma reads an operand of the given kind at `offset` whose elements have `bits` bits. */
void fragment_packing(Machine *machine, const IrInsn *insn, char operand, int rank, uint32_t offset,
                      IrKind kind, int bits);
/* Ordinary accesses of shared memory, before race.c hears of them. */
void fragment_access(Machine *machine, Strand *strand, const IrInsn *insn,
                     const MachineAccess *access);

#endif
