/* raster: the order in which blocks take tiles. */
#ifndef KC_MACHINE_RASTER_H
#define KC_MACHINE_RASTER_H

#include "machine/inputs/sample.h"
#include "machine/internal.h"

/* Whether the run is one of raster_check's: what it stores to global memory is all that counts. */
bool raster_runs(const Machine *machine);
/* A block of such a run stores by a tensor copy with n coordinates (0: not known), ... */
void raster_copy(Machine *machine, const IrInsn *insn, int n, const int64_t coords[5]);
/* ... or accesses global memory. */
void raster_access(Machine *machine, const MachineAccess *access);
/* After all runs of a kernel: runs each block of grids of two sizes when the tile number is divided
 * by sizes, and tells of a group at the edge that gives some tile twice or never. Costs at most
 * 0.4 s. */
void raster_check(MachineSession *session, const MachineSamples *samples, IrViolations *violations);

#endif
