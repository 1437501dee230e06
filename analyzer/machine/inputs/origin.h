/* origin: where values come from, found once for a kernel without running it. Parameters that no
 * launch fixes and the contents of integer arrays are made up: a value computed from them proves
 * nothing about descriptors, tensor-memory addresses and sizes. The same pass tells which inputs
 * the code itself allows for: sizes that are no multiple of a tile, sizes of nothing, blocks
 * without a tile, arrays of running sums. */
#ifndef KC_MACHINE_ORIGIN_H
#define KC_MACHINE_ORIGIN_H

#include "machine/internal.h"

#define ORIGIN_LEAVES 52 /* integer parameters that are told apart */
#define ORIGIN_PARAMS ((UINT64_C(1) << (ORIGIN_LEAVES + 1)) - 1)
#define ORIGIN_LOADED (UINT64_C(1) << 53) /* an element of an integer array */
#define ORIGIN_TID (UINT64_C(1) << 54)
#define ORIGIN_CTAID (UINT64_C(1) << 55)
#define ORIGIN_GRID (UINT64_C(1) << 56) /* gridDim: the step of a loop over tiles */

enum {
  ORIGIN_RAGGED = 1, /* the code ceil-divides, clips or takes the remainder of it */
  ORIGIN_ONE = 2,    /* the code asks whether it is more than 1, or clips a constant to it */
  ORIGIN_ZERO = 4    /* the code asks whether it is 0 */
};

typedef struct Origins {
  uint64_t *of;    /* by register of the kernel */
  uint8_t *admits; /* by leaf number */
  int nregs, leaves;
  uint8_t any;         /* what some leaf admits */
  bool block_guard;    /* a block number is compared with a number of tiles, outside a loop */
  uint64_t cumulative; /* pointer parameters (by index) to running sums */
  uint64_t ends;       /* ... whose elements end what another array begins */
} Origins;

/* From session->arena. */
const Origins *origin_find(MachineSession *session);
/* Whether the operand with `role` depends on a number that the machine made up for this run. */
bool origin_made_up(const Machine *machine, const IrInsn *insn, IrRole role);
/* ... on an element of an integer array. */
bool origin_loaded(const Machine *machine, const IrInsn *insn, IrRole role);

#endif
