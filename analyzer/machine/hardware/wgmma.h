/* wgmma: what the other files need of the wgmma state. */
#ifndef KC_MACHINE_WGMMA_H
#define KC_MACHINE_WGMMA_H

#include "machine/hardware/protocol.h"

/* Groups that the warp knows to be complete. */
uint32_t wgmma_done(const Machine *machine, const Warp *warp);
/* Lanes of a warp end. */
void wgmma_exit(Machine *machine, Strand *strand, uint32_t lanes);
/* At the end of a run: warps of a warpgroup that issued different numbers of MMAs. */
void wgmma_finish(Machine *machine);

#endif
