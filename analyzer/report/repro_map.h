/* Tensor maps of a repro: as the host encodes them, else a box made up to move as many bytes. */
#ifndef KC_REPORT_REPRO_MAP_H
#define KC_REPORT_REPRO_MAP_H

#include "report/repro.h"

/* Appends the statement that encodes the map at generic address `address` into the C++ array
 * `buffer` at `offset`; fails when nothing tells how many bytes a copy moves. */
bool repro_put_map(const ReproInput *input, uint64_t address, const char *buffer, uint64_t offset,
                   const char *name, GString *out, KcError *error);

#endif
