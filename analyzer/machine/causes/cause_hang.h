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
bool hang_block_barrier(Machine *machine, const Hang *hang, const Stuck *s);
/* cause_named.c: a named barrier that nobody can complete any more, whatever others do. */
bool hang_named_count(Machine *machine, const Hang *hang, const Stuck *s);
/* The same where those who are missing wait in the same place of the code, for another barrier. */
bool hang_named_circle(Machine *machine, const Hang *hang, const Stuck *s);
bool hang_divergent(Machine *machine, const Hang *hang, const Stuck *s);
bool hang_cluster_short(Machine *machine, const Hang *hang, const Stuck *s);
/* A pool of registers or tensor memory that can't give what is asked for. */
bool hang_exhausted(Machine *machine, const Stuck *s);
bool hang_wgmma_short(Machine *machine, const Stuck *s);
/* cause_multicast.c: a multicast, of a commit of a pair or of a copy, that leaves this CTA out. */
bool hang_pair_commit(Machine *machine, const Stuck *s);
bool hang_mask_misses(Machine *machine, const Stuck *s);
/* Bytes that are announced in one CTA of the cluster land on the barrier of another. */
bool hang_lands_elsewhere(Machine *machine, const Stuck *s);
/* All arrivals that should come to the barrier of `s` go to the one of another CTA. */
bool hang_arrives_elsewhere(Machine *machine, const Stuck *s);
/* Whether another CTA, which is stuck itself, has still to bring its part of the phase. */
bool hang_copies_held_up(const Machine *machine, const Hang *hang, const Mbar *bar);
/* cause_own.c: those who should arrive for `s` arrive on a barrier that they wait on themselves. */
bool hang_own_turn(Machine *machine, const Stuck *s);
/* A thread waits on the barrier that it arms, and the one that others arrive on goes unheard. */
bool hang_own_wait(Machine *machine);
/* Whether the warp has been past the wait that it is stuck in. */
bool hang_came_past(const Machine *machine, const Stuck *s);
/* cause_first.c: a fresh barrier, waited for with parity 0 by the thread that the others wait for.
 */
bool hang_first_wait(Machine *machine, const Hang *hang, const Stuck *s);
/* cause_lapped.c: the phase that `s` waits for is over, and the next one too. */
bool hang_lapped(Machine *machine, const Hang *hang, const Stuck *s);
/* cause_trips.c: those who would signal the barrier that `s` waits on have ended, or their loop
 * makes no trip; reports it with the bounds of the loops of both. */
bool hang_trips(Machine *machine, const Hang *hang, const Stuck *s);
/* An instruction that would start copies or arrive, of a role whose loop made no trip; or NULL. */
const IrInsn *hang_idle_role(Machine *machine, const Hang *hang);
/* Adds where the loops around an instruction decide to go round again. */
void hang_relate_loops(Machine *machine, IrViolation *v, const IrInsn *insn, const char *text);
/* Adds to a finding that `s` waits for ever. */
void hang_relate(Machine *machine, IrViolation *v, const Stuck *s);

#endif
