/* symptom: what cause.c keeps of an observation until the run is over, and how its parts
 * (cause_race.c, cause_hang.c) report. */
#ifndef KC_MACHINE_SYMPTOM_H
#define KC_MACHINE_SYMPTOM_H

#include "machine/causes/cause.h"

typedef enum SymptomKind {
  SYMPTOM_RACE,
  SYMPTOM_RECYCLED,
  SYMPTOM_LAPPED,
  SYMPTOM_OVER_ARRIVAL,
  SYMPTOM_INIT_UNORDERED,
  SYMPTOM_TMEM,
  SYMPTOM_LEFTOVER
} SymptomKind;

/* The last wait of the thread at fault, as it stood when the symptom showed. */
typedef struct WaitContext {
  Mbar *bar; /* NULL: it has not waited on any mbarrier */
  const IrInsn *insn;
  bool rewait; /* the wait passed on a phase that was known to be complete before it */
  bool failed; /* its last poll returned false and it went on */
  const IrInsn *failed_insn;
  bool seen;
  bool again;     /* it had passed on the phase before the first already */
  uint32_t flips; /* how often its parity changed from one wait to the next */
  int64_t phase;  /* that it passed on; -1: the one before the first */
  int parity;
  int warp;
} WaitContext;

typedef struct Symptom Symptom;
struct Symptom {
  SymptomKind kind;
  uint64_t step;
  RaceKind race;
  const Access *before, *now;
  int before_lane;
  uint32_t before_time; /* of `before` when the race showed */
  int rank;
  uint32_t offset; /* shared byte, or TMEM column */
  int missing;     /* TmemMissing */
  Mbar *bar;
  const IrInsn *insn, *other, *now_insn;
  int warp;
  uint32_t lanes, behind;
  int64_t value;
  bool passes;
  const char *what;
  bool refills;       /* the copy `now` has filled that place before */
  int completer;      /* warp whose arrival completed the later phase, -1 */
  WaitContext issuer; /* last wait of the thread that executes `now`, on any barrier */
  WaitContext reader; /* its last wait on the barrier of `before` */
  /* groups of the lane that executed `before` (bulk or cp.async), as they stood then */
  uint32_t group_open, group_waits;
  const IrInsn *group_wait;
  int64_t group_wait_n;
  bool group_over;        /* it knew itself that `before` was over */
  bool uncommitted;       /* `before` is a product that no commit had tracked by then */
  const IrInsn *own_wait; /* the last wait_group of the reader, as it stood then */
  bool own_over;          /* the reader knew that its own group of that number was over */
  bool knew_earlier;      /* the reader knew that an earlier group of that lane was over */
};

/* cause_race.c: reports a race; returns false when no cause could be named (nothing is reported
 * then). With `generic`, reports it all the same. */
bool cause_explain_race(Machine *machine, const Symptom *s, bool generic);
bool cause_explain_tmem(Machine *machine, const Symptom *s, bool generic);
/* The shared memory that the symptom concerns, as code writes it ("tile[0]"). */
const char *cause_place(Machine *machine, const Symptom *s);
/* Adds the place of an access to a finding (NULL: none), described by `text`. */
void cause_relate(Machine *machine, IrViolation *v, const Access *access, const char *text);
/* cause_told.c: whether a barrier or fence between `first` and `then` of `what` mends an earlier
 * finding of its kind as well: that one gets the place of `what` beside it. */
bool cause_told(Machine *machine, const Blame *what);
/* The same of findings that come from one statement of a helper, which holds what has to change. */
bool cause_told_in_helper(Machine *machine, const Blame *what);
/* Remembers `v`, reported for `what`, for that. */
void cause_tell(Machine *machine, const Blame *what, IrViolation *v);
/* cause_box.c: copies of two stages that overlap, or go to the same place; reports it. */
bool cause_stages_overlap(Machine *machine, const Symptom *s);
/* " (the box of 64x64 elements brings 8192, s.b[0] has room for 16384)": the one copy of the phase
 * that does not fill its array, where the bytes announced go by the array; else "". */
const char *cause_say_box(Machine *machine, const Mbar *bar);
/* Adds where that box is given, else what each copy brings. */
void cause_relate_box(Machine *machine, IrViolation *v, const Mbar *bar);
/* 1 + the start of the array that holds a shared offset; 0: none. */
uint32_t cause_array(Machine *machine, int64_t offset);
/* cause_copy.c: what cp.async brings is read, or refilled, without order; reports it. */
bool cause_cp_async_read(Machine *machine, const Symptom *s);
bool cause_cp_async_refill(Machine *machine, const Symptom *s);
/* cause_hang.c: the run is stuck; likewise. */
bool cause_explain_hang(Machine *machine, bool generic);
/* A wait that passed although nothing new had happened: wrong parity. False when it does not say
 * so. */
bool cause_wrong_parity(Machine *machine, const WaitContext *wait, const char *consequence,
                        const Access *before, const Access *now, int64_t data);
/* What to call a wait that passes on a phase seen before: its parity never changes, or changes at
 * the wrong time. */
const char *cause_parity_kind(Machine *machine, const WaitContext *wait);
/* Whether the same wait of the warp began with the other parity on another slot of the ring: its
 * phase changes before the ring has gone round. */
bool cause_slots_begin_apart(Machine *machine, const Mbar *bar, int warp, const IrInsn *wait,
                             int parity);
/* A wait that returned false, and its thread went on. False when it does not say so. */
/* Adds to a finding about the parity of a wait where the code changes it. */
void cause_say_parity(Machine *machine, IrViolation *v, const IrInsn *wait);
/* Adds to a finding about an operand (`text` of its event: "tmem_d + n") where the source above
 * gives the name that it begins with. */
void cause_say_defined(Machine *machine, IrViolation *v, const IrInsn *insn);
bool cause_not_looped(Machine *machine, const WaitContext *wait, int64_t data);
/* Why phases of `bar` run ahead of a waiter: reported when it can be named. `completer` is the warp
 * whose arrival completes the later phase (-1: none), `waiter` what the waiter asks for. */
bool cause_of_lapping(Machine *machine, const Mbar *bar, const WaitContext *waiter, int completer);
/* More arrivals in a round than the barrier was initialised for. */
bool cause_too_many_arrivers(Machine *machine, const Mbar *bar, const Access *reader, int64_t data);
/* At the end of a run that found nothing: barriers whose phases slip against the rounds of their
 * arrivals. */
void uneven_finish(Machine *machine);
/* cause_code.c: what the code says. */
/* Whether the instruction lies in a loop that does more than poll. */
bool code_in_loop(const IrKernel *kernel, const IrInsn *insn);
/* A loop that does more than poll. */
typedef struct CodeLoop {
  int32_t first, last; /* instructions; no loop when last < first */
  const IrInsn *bound; /* what decides whether it goes round again, or NULL */
} CodeLoop;
/* The innermost loop around the instruction that is larger than `inner` (NULL: the innermost). */
CodeLoop code_loop(const IrKernel *kernel, const IrInsn *insn, const CodeLoop *inner);
/* Whether the operand changes from trip to trip of the innermost loop around the instruction. */
bool code_varies(const IrKernel *kernel, KcArena *arena, const IrInsn *insn,
                 const IrOperand *operand);
/* The instruction of a loop around `insn` that computes anew what the operand is made of from what
 * it was (++round, phase ^= 1), the innermost loop first; or NULL. */
const IrInsn *code_steps(const IrKernel *kernel, KcArena *arena, const IrInsn *insn,
                         const IrOperand *operand);
/* Where the counter of a loop around the instruction gets blockIdx as it is for its first value, or
 * NULL. */
const IrInsn *code_counts_from_block(const IrKernel *kernel, const IrInsn *insn);
/* The instruction that puts the last bit field into the operand (a descriptor), as far as the code
 * in front tells, or NULL. */
const IrInsn *code_composes(const IrKernel *kernel, const IrInsn *insn, const IrOperand *operand);
typedef bool (*CodeTest)(const IrInsn *insn, const void *user);
/* An instruction behind `from` (on some path) that passes the test, or NULL. */
const IrInsn *code_ahead(const IrKernel *kernel, KcArena *arena, int32_t from, CodeTest test,
                         const void *user);
/* Whether every path from behind `from` to the end leads through `insn`. */
bool code_must_pass(const IrKernel *kernel, KcArena *arena, int32_t from, const IrInsn *insn);
bool code_is_barrier(const IrInsn *insn, const void *number); /* int64_t: number of a barrier */
bool code_is_same(const IrInsn *insn, const void *other);     /* that instruction itself */
bool code_is_cluster_arrive(const IrInsn *insn, const void *unused);
/* A barrier as the code may write it. */
typedef struct CodeBarrier {
  Machine *machine;
  const Mbar *bar;
  const char *name; /* "s.full[2] of CTA 1" */
} CodeBarrier;
CodeBarrier code_barrier(Machine *machine, const Mbar *bar);
/* An arrival whose operand is written with the name of the barrier ("full[2]"), or computed from
 * its address (PTX). `barrier`: CodeBarrier. */
bool code_is_arrive_on(const IrInsn *insn, const void *barrier);
/* The same, or a copy or announcement of bytes. */
bool code_is_signal_on(const IrInsn *insn, const void *barrier);
/* Whether any instruction of the kernel passes the test. */
bool code_has(const IrKernel *kernel, CodeTest test, const void *user);
/* What the lanes know of their waits on `bar`. */
WaitContext cause_context(const Mbar *bar, int warp, uint32_t lanes);

/* cause_tmem.c: no commit of the issuing thread tracks the product `mma`; reports it. */
bool cause_commit_missing(Machine *machine, const Access *mma, const Symptom *s);
/* cause_barrier.c: a buffer that is handed over and back through one barrier. */
bool cause_single_barrier(Machine *machine, const Symptom *s);

#endif
