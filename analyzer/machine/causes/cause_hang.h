/* cause_hang: the strands of a run that can't go on, shared by the files that explain it. */
#ifndef KC_MACHINE_CAUSE_HANG_H
#define KC_MACHINE_CAUSE_HANG_H

#include "machine/causes/symptom.h"

typedef struct Stuck {
  Strand *strand;
  const IrInsn *insn;
  const MbarWaiter *waiter; /* NULL: not an mbarrier */
  int64_t expected;         /* phase that it means */
} Stuck;

typedef struct Hang {
  Machine *machine;
  KC_VEC(Stuck) list;
} Hang;

/* Each asks whether the wait of `s` is the root, and reports it (cause_block.c). */
bool hang_named_barrier(Machine *machine, const Hang *hang, const Stuck *s);
bool hang_divergent(Machine *machine, const Hang *hang, const Stuck *s);
bool hang_cluster_short(Machine *machine, const Hang *hang, const Stuck *s);
/* A pool of registers or tensor memory that can't give what is asked for. */
bool hang_exhausted(Machine *machine, const Stuck *s);
bool hang_wgmma_short(Machine *machine, const Stuck *s);

#endif
