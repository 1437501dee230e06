/* Mutants of a kernel: one synchronisation instruction dropped, doubled, moved or changed by one.
 */
#ifndef KC_TESTS_MUTANT_H
#define KC_TESTS_MUTANT_H

#include "ir/ir.h"

typedef struct Mutation {
  int index;        /* instruction of the original kernel */
  const char *kind; /* "drop", "double", "move", "count+1", ... */
  IrRole role;      /* operand that is changed, or IR_ROLE_none */
  int64_t delta;    /* added to that operand (or to the offset of an address) */
  uint64_t toggle;  /* flags changed */
} Mutation;

/* All mutations of instruction `index`; `out` has room for `limit`. Returns how many. */
int mutations_of(const IrKernel *kernel, int index, Mutation *out, int limit);
/* A copy of `kernel` with the mutation applied; NULL when it can't be (nothing to move past). */
IrKernel *mutant_new(KcArena *arena, const IrKernel *kernel, const Mutation *mutation);

#endif
