/* slice: what a value is computed from, by the code alone. Not flow-sensitive: every instruction
 * that may write a register counts, so that a slice says too much rather than too little. */
#ifndef KC_MACHINE_SLICE_H
#define KC_MACHINE_SLICE_H

#include "machine/internal.h"

#define SLICE_NO_OBJECT (-1)
#define SLICE_OBJECTS (-2) /* more than one */

typedef struct Slice {
  bool permutes;     /* passes an exclusive or, or an operation that may stand for one */
  bool mapped;       /* passes mapa: an address that names its CTA */
  bool loads;        /* passes a load from memory other than parameter space, or an atomic */
  bool opaque;       /* passes something that has no integer meaning */
  bool scaled;       /* multiplies two values neither of which is a constant */
  bool parameter;    /* depends on an integer parameter */
  bool local;        /* ... on the address of a local object */
  uint64_t special;  /* a bit for each IrSpecial */
  int32_t object;    /* the shared object it is an address of, or SLICE_* */
  uint64_t pointers; /* a bit for each pointer parameter (its leaf's number, modulo 63) */
  uint64_t integers; /* a bit for each integer parameter (its offset in words, modulo 64) */
  bool global;       /* ... and whether on the address of a global variable */
} Slice;

/* What `operand` of an instruction of the session's kernel is computed from. */
Slice slice_operand(MachineSession *session, const IrOperand *operand);
/* Whether it passes an exclusive or of two values that both depend on the thread: a tile's chunk
 * with its row. */
bool slice_mixes(MachineSession *session, const IrOperand *operand);
/* The operand that holds the address of a load, store or atomic; NULL: none. */
const IrOperand *slice_address(const IrInsn *insn);
/* Number of leading operands that an instruction writes (events: none). */
int slice_destinations(const IrInsn *insn);
/* Whether a register is computed from its own earlier value: a sum over a loop, a running index. */
bool slice_feeds_itself(MachineSession *session, int32_t reg);
/* Whether instruction `index` stands between the target of a jump back and the jump. */
bool slice_in_loop(const IrKernel *kernel, int32_t index);

#endif
