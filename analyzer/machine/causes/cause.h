/* cause: from what was observed in a run to what the user must edit.
 *
 * Observations (an unordered access, a waiter that can be lapped, a strand that never goes on) are
 * kept until the run is over, because their cause shows in what happened on the barrier before and
 * after: how many arrived in a phase, what was announced, who passed which phase. */
#ifndef KC_MACHINE_CAUSE_H
#define KC_MACHINE_CAUSE_H

#include "machine/hardware/protocol.h"

/* What a report speaks of, to tell consequences from causes. */
typedef struct Blame {
  const char *kind;
  MachineCheck check;
  const IrInsn *insn;
  const Mbar *bar;
  int64_t data; /* shared offset, -1: none */
  int generic;  /* 0: a cause; 1, 2: a symptom, reported only while nothing lower was in any run */
  int named;    /* 1 + number of a named barrier; 0: none */
  const IrInsn *first, *then; /* something is missing between the two; NULL: not told of places */
  uint32_t at;                /* 1 + shared offset of a place that should hold a barrier; 0: none */
} Blame;

#define BLAME(kind_, check_, insn_, bar_, data_, generic_)                                         \
  (&(Blame){.kind = (kind_),                                                                       \
            .check = (check_),                                                                     \
            .insn = (insn_),                                                                       \
            .bar = (bar_),                                                                         \
            .data = (data_),                                                                       \
            .generic = (generic_)})

/* The same, of something that is missing between two instructions. */
#define BLAME_BETWEEN(kind_, check_, insn_, data_, generic_, first_, then_)                        \
  (&(Blame){.kind = (kind_),                                                                       \
            .check = (check_),                                                                     \
            .insn = (insn_),                                                                       \
            .data = (data_),                                                                       \
            .generic = (generic_),                                                                 \
            .first = (first_),                                                                     \
            .then = (then_)})

/* Records the violation, unless a cause that was named before already explains it. */
IrViolation *blame(Machine *machine, const Blame *what, const char *message, ...)
    __attribute__((format(printf, 3, 4)));

/* Two accesses of the same bytes are not ordered. */
void cause_race(Machine *machine, const Race *race);
/* Lanes of `observer` saw phase - 1 of a barrier, and phase completed without that being ordered
 * before. `behind`: the lanes at fault. */
void cause_recycled(Machine *machine, Mbar *bar, const MbarObserver *observer, uint32_t behind,
                    const IrInsn *completing);
/* `lanes` wait for `expected`, but the barrier is already further. */
void cause_lapped(Machine *machine, Mbar *bar, const Strand *strand, uint32_t lanes,
                  int64_t expected, bool passes);
/* An arrival of `count` brought more than were pending. */
void cause_over_arrival(Machine *machine, Mbar *bar, int warp, uint32_t lanes, int64_t count,
                        const IrInsn *insn);
/* `strand` uses a barrier that another thread initialised, and nothing orders the two. */
void cause_init_unordered(Machine *machine, Mbar *bar, const Strand *strand, const IrInsn *insn,
                          const char *what);
/* Tensor memory: as cause_race, for a column. `missing` says what is not there. */
typedef enum TmemMissing {
  TMEM_NO_ORDER,
  TMEM_NO_BEFORE_FENCE,
  TMEM_NO_AFTER_FENCE,
  TMEM_NO_WAIT /* the tcgen05.ld or .st before was not waited for */
} TmemMissing;
void cause_tmem(Machine *machine, Strand *strand, const Access *before, const Access *now,
                uint32_t column, TmemMissing missing);
/* Several lanes issue the copy to `offset` that completes on `bar`: what follows is held back. */
void cause_many_issuers(Machine *machine, const Mbar *bar, uint32_t offset);
/* The barrier ends with a tx-count that is not zero. */
void cause_leftover(Machine *machine, Mbar *bar);
/* fence.mbarrier_init by lanes that initialised nothing (or something). */
void cause_init_fence(Machine *machine, const IrInsn *insn, bool initialised);
/* Reports what the observations amount to. Called once, at the end of a run. */
void cause_finish(Machine *machine);

/* An async copy overwrites what a thread has read, in order but without a proxy fence. */
void cause_unfenced_refill(Machine *machine, const Access *copy, const Access *read);

#endif
