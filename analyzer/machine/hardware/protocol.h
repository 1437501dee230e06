/* protocol: what the protocol half of the machine keeps between its files. Each file gives a group
 * of events their meaning (PTX ISA sections in their heads); race.h has the accesses, clock.h the
 * order of things, cause.h the words for what is wrong.
 *
 * Order. Every warp has clocks for its lanes (warp_state()->lanes). A release (arrive, barrier,
 * fence) publishes what the releasing lanes know and did; an acquire takes it over. Two more agents
 * a warp say which of its accesses were fenced: towards the async proxy (fenced_agent + warp), and
 * for tcgen05 by fence::before_thread_sync (before_agent + warp). They travel through releases like
 * everything else, so that a fence counts on either side of a hand-over.
 *
 * Ordinary accesses of lanes of one warp to each other's bytes are not reported: warps that run in
 * step hide such a race on every known GPU, and shuffles between them would have to count as
 * fences.
 */
#ifndef KC_MACHINE_PROTOCOL_H
#define KC_MACHINE_PROTOCOL_H

#include "machine/internal.h"
#include "machine/order/clock.h"
#include "machine/order/race.h"

#define PROTOCOL_NAMED_BARRIERS 16
#define PROTOCOL_SLOTS 1024 /* of small hash tables */
#define CP_ASYNC_GROUPS 32  /* cp.async groups a lane can leave pending and still be told apart */
#define WGMMA_COMMITS 16
#define TMEM_COLUMNS 512
#define TMEM_PARTS 8 /* of 16 lanes: two for each warp of a warpgroup */

static inline uint32_t protocol_slot(uint32_t a, uint32_t b) {
  return (a * 2654435761u + b * 2246822519u) >> 22; /* of PROTOCOL_SLOTS */
}

/* ---- mbarrier (mbarrier.c) ---- */

typedef enum MbarLogKind {
  MBAR_LOG_INIT,
  MBAR_LOG_ARRIVE,   /* value: arrivals */
  MBAR_LOG_EXPECT,   /* value: bytes announced */
  MBAR_LOG_COMPLETE, /* value: bytes delivered */
  MBAR_LOG_COMMIT,   /* arrival by tcgen05.commit */
  MBAR_LOG_PHASE,    /* the phase completed */
  MBAR_LOG_PASS,     /* a wait passed; value: parity */
  MBAR_LOG_BLOCK     /* a wait blocks; value: parity */
} MbarLogKind;

typedef struct MbarLog {
  uint8_t kind;
  int16_t warp; /* index in the cluster, -1: an asynchronous agent */
  uint32_t lanes;
  int64_t phase, value;
  const IrInsn *insn;
  uint64_t step;
} MbarLog;

#define MBAR_LOG 48

/* A lane group that saw the last completed phase, by a wait of the given warp time. */
typedef struct MbarObserver {
  uint32_t warp, lanes, time;
  const IrInsn *insn;
} MbarObserver;

/* What the lanes of one warp expect of one barrier. */
typedef struct MbarView {
  uint32_t seen;      /* lanes that have passed a wait */
  uint32_t rewaits;   /* lanes whose last wait passed on a phase they had already seen */
  uint32_t parity;    /* parity of the last wait, a bit a lane */
  int32_t phase[32];  /* phase that the last wait passed on; -1: the one before the first */
  const IrInsn *insn; /* last wait that passed */
  int64_t waits;
  uint32_t stale;       /* waits that passed on a phase seen before, not the one before the first */
  uint32_t flips;       /* waits whose parity differed from the one before */
  bool first_passed;    /* its first wait passed on the phase before the first */
  uint32_t failed;      /* lanes whose last poll returned false */
  uint32_t lapped;      /* lanes that a wait let pass although its phase was long over */
  uint32_t first_again; /* lanes that passed more than once on the phase before the first */
  int first_parity;     /* of its first wait */
  const IrInsn *first_insn;
  const IrInsn *failed_insn;
} MbarView;

typedef struct Mbar Mbar;

typedef struct MbarWaiter { /* resume_data of a strand that sleeps on an mbarrier */
  Mbar *bar;
  const IrInsn *insn;
  uint32_t lanes;
  int64_t value; /* parity, or the phase of the token */
  bool parity;
} MbarWaiter;

/* Copies and arrivals of one place in the code, in the current phase. */
typedef struct MbarArrival {
  const IrInsn *insn;
  uint32_t warp, lanes; /* warp UINT32_MAX: an asynchronous agent */
  int64_t count;
  int times;
  int unaware; /* of them: not ordered after the completion of the phase before */
} MbarArrival;

typedef struct MbarCopy {
  const IrInsn *insn;
  int rank;
  uint32_t offset;
  int warp;         /* that issued it, by index */
  int64_t phase;    /* of the barrier */
  int64_t bytes;    /* -1: not known */
  uint32_t targets; /* CTAs that a multicast goes to, a bit each; 0: no multicast */
  const struct MachineTensorMap *map; /* or NULL */
} MbarCopy;

struct Mbar {
  int number; /* in Protocol.mbars */
  int rank;
  uint32_t offset;
  bool live;
  int64_t expected, pending, tx; /* PTX ISA 9.7.13.15.2 */
  int64_t phase;                 /* the current, incomplete one */
  uint32_t agent;                /* phases completed, plus base, as a clock time */
  uint32_t base;
  Clock *current;  /* what the arrivals of this phase publish */
  Clock *done;     /* what a wait that passes acquires */
  Clock *counted;  /* threads whose complete_tx counted in this phase: it publishes nothing ... */
  Clock *happened; /* ... but a wait that passes shows that they got there; NULL: none did */
  const IrInsn *init;
  int64_t init_count;
  uint32_t init_warp, init_lanes, init_time;
  bool init_fenced;   /* the initialising thread executed fence.mbarrier_init or a proxy fence */
  int copies_unknown; /* copies of unknown size in flight */
  bool had_unknown;   /* ... completed in this phase */
  int64_t announced, delivered; /* bytes of this phase */
  int64_t announced_total, delivered_total;
  int copies_in_flight;
  const IrInsn *last_copy, *last_expect, *last_arrive;
  int last_copy_warp, last_copy_lane;
  uint64_t last_copy_step;
  uint32_t last_copy_offset;
  int last_arrive_warp;         /* index, -1: an asynchronous agent */
  const IrInsn *shared_copy;    /* an instruction that fills different places under this barrier */
  KC_VEC(MbarCopy) last_landed; /* ... in the last phase that completed */
  int64_t last_announced;
  KC_VEC(MbarCopy) landed;        /* copies of unknown size, in this phase */
  KC_VEC(MbarCopy) copies;        /* where each instruction's copies land */
  KC_VEC(MbarArrival) arrivals;   /* of this phase */
  KC_VEC(MbarArrival) arrivers;   /* of all phases: distinct (instruction, warp) */
  KC_VEC(MbarObserver) observers; /* of phase - 1 */
  MbarView **views;               /* by warp index */
  MbarLog log[MBAR_LOG];
  uint32_t nlog;             /* entries ever written */
  int64_t last_landed_phase; /* of the last copy */
  int64_t last_observed;     /* highest phase that a wait passed on; INT64_MIN: none */
  int unknown_total;         /* copies of unknown size that completed */
  const IrInsn *overwritten; /* an ordinary store over it while it was live */
  int overwritten_rank;
  uint32_t
      commit_targets;   /* CTAs that its last tcgen05.commit named by a multicast mask; 0: none */
  int commit_warp;      /* that issued it, by index */
  const IrInsn *handed; /* an arrive by which another CTA hands over what it stored */
  bool over_arrived;    /* too many arrivals: its later phases are not what the code meant */
};

/* ---- other state ---- */

/* What the threads of one generation of bar.red have voted. */
typedef struct BarrierVotes {
  int64_t yes, no, unknown;
  uint64_t name; /* of the unknown value that all of them vote, when `one_name` */
  bool one_name;
} BarrierVotes;

/* An arrival that may be counted in a generation that it does not belong to. */
typedef struct BarrierConflict {
  const char *kind, *text;
  const IrInsn *insn, *other; /* the arrival, another use of the barrier */
  const char *other_text;
  int64_t count;
  bool repeated; /* nothing is wrong where the count itself asks for warps that come twice */
} BarrierConflict;

typedef struct BarrierConflicts {
  BarrierConflict *items;
  int count, capacity;
} BarrierConflicts;

typedef struct NamedBarrier {
  bool used;
  BarrierConflicts conflicts;
  uint64_t users;   /* warps that have ever arrived */
  bool by_repeats;  /* completed by fewer warps than its count has: some came twice */
  int64_t arrived;  /* threads */
  int64_t expected; /* -1: nobody has arrived in this generation */
  bool explicit_count;
  int64_t generation;
  uint64_t warps;      /* of this generation, a bit a warp of the CTA (modulo 64) */
  uint32_t lanes[32];  /* of each warp: those that have arrived in this generation */
  uint64_t last_warps; /* of the generation before */
  int64_t last_count;  /* threads of the generation before */
  uint32_t agent;      /* generations completed, as a clock time */
  Clock *current, *done;
  const IrInsn *first; /* first arrival of this generation */
  const IrInsn *last_sync;
  int first_warp;
  BarrierVotes votes, last_votes; /* of this generation, of the one before */
  uint64_t last_answer;           /* names what the vote before came to, where that is unknown */
} NamedBarrier;

typedef struct TmemCell { /* one column of one part (16 lanes) */
  Access *write;
  Access *reads[4];
} TmemCell;

typedef struct TmemAlloc {
  uint32_t base, columns;
  const IrInsn *insn;
  uint32_t slot;        /* shared offset that the address was written to */
  int cta_group, warp;  /* warp: index in the cluster */
  uint32_t lanes, time; /* of the alloc, in the warp's own time */
  bool freed;
  const IrInsn *freed_by;
} TmemAlloc;

typedef struct CtaState {
  Mbar **mbars; /* by offset / 8 */
  NamedBarrier named[PROTOCOL_NAMED_BARRIERS];
  TmemCell *tmem; /* TMEM_COLUMNS x TMEM_PARTS, NULL while nothing is allocated */
  KC_VEC(TmemAlloc) allocs;
  bool alloc_unknown;  /* an allocation of unknown size */
  bool tmem_unknown;   /* a tcgen05.cp or .st whose address is not known has written somewhere */
  bool mma_unknown;    /* a tcgen05.mma has written nobody knows where, or how far */
  bool dealloc_failed; /* a dealloc was given a wrong address */
  int64_t alloc_short; /* columns that an alloc which has to wait would bring the CTA to */
  const IrInsn *relinquish;
  int64_t pool;            /* free registers of the CTA; -1: not known */
  int64_t entry_registers; /* a thread, at launch */
  Clock *exited;           /* what all lanes that ended knew and did */
  int64_t alive;           /* threads */
} CtaState;

/* Bulk groups, cp.async groups: one counter a lane. */
typedef struct LaneGroups {
  uint32_t agent;       /* 0: none yet */
  uint32_t open[32];    /* number of the group that collects now, from 1 */
  uint32_t open_ops;    /* lanes with something uncommitted */
  const IrInsn *op[32]; /* last operation */
  const IrInsn *commit[32], *wait[32];
  int64_t wait_n[32]; /* groups that the last wait left pending */
} LaneGroups;

typedef struct TcLastMma { /* to see descriptors that don't advance */
  const IrInsn *insn;
  uint64_t a, b, d;
  uint32_t queue;
} TcLastMma;

typedef struct PairIssue { /* a CTA that issues cta_group::2 MMAs into a column */
  int rank;
  uint32_t column;
} PairIssue;

typedef struct WarpState {
  LaneClocks lanes;
  Clock *released;        /* what was fenced at cluster scope: for barrier.cluster.arrive.relaxed */
  Clock *reached;         /* what the threads it met had done, published or not */
  uint64_t barriers;      /* 1 + generation of barrier 0 that it last arrived in */
  uint32_t peers_started; /* CTAs (a bit each) that it knows to have started */
  uint32_t narrow_stores; /* CTAs (a bit each) that it stored to without a cluster-scope release */
  const IrInsn *exit_insn;
  LaneGroups bulk, cp_async;
  uint32_t bulk_read_agent; /* sources read; bulk.agent: complete */
  uint64_t bulk_wait_step;  /* machine step of the last bulk wait */
  uint64_t wide_fence;      /* machine step of the last fence at GPU or system scope; 0: none */
  uint32_t waits_seen[32];  /* cp.async waits executed by each lane */
  uint32_t groups[32];      /* cp.async groups committed by each lane */
  uint32_t group_time[CP_ASYNC_GROUPS][32]; /* clock time of the last of them */
  /* wgmma */
  struct WgmmaState *wgmma; /* NULL: the warp executes none */
  uint32_t wgmma_open;      /* number of the group that collects now, from 1 */
  uint32_t wgmma_vain;      /* that group when a wait for all left it out; 0: never */
  uint64_t wgmma_fence;     /* machine step of the last wgmma.fence; 0: none */
  int wgmma_uncommitted;    /* mma_async since the last commit */
  const IrInsn *wgmma_last, *wgmma_fence_insn, *wgmma_wait;
  int64_t wgmma_wait_n;
  Clock *wgmma_commits[WGMMA_COMMITS]; /* what the warp knew at its last commits */
  /* tcgen05 */
  uint32_t tcgen05_agent;      /* 0: none yet */
  uint32_t tcgen05_queue[32];  /* commits of each lane, from 1 */
  struct TloadState *tload;    /* NULL: no tcgen05.ld so far */
  KC_VEC(Access *) tcgen05_ld; /* not waited for */
  KC_VEC(Access *) tcgen05_st;
  uint32_t tcgen05_waited;         /* the time at the last tcgen05.wait; 0: none */
  uint32_t tcgen05_issuers;        /* lanes that have issued an mma or cp */
  uint32_t tcgen05_vain;           /* ... that have committed before they issued anything */
  const IrInsn *tcgen05_vain_insn; /* the last such commit */
  const IrInsn *tcgen05_issue[32]; /* last mma or cp of each lane that was not committed */
  TcLastMma last_mma;
  /* cluster barrier */
  int64_t cluster_round[32]; /* arrivals of each lane */
  uint32_t cluster_arrived;  /* lanes that arrived and did not wait yet */
  const IrInsn *cluster_insn;
  int64_t registers;        /* a thread, by setmaxnreg; 0: as launched */
  int64_t setmaxnreg_value; /* last one asked for */
  int setmaxnreg_count;
  const IrInsn *setmaxnreg_insn;
  bool waited_grid;
  const IrInsn *last_wait;
  Mbar *last_wait_mbar;
  const IrInsn *relaxed_wait; /* passed, and nothing has acquired since */
  Mbar *relaxed_mbar;
  Mbar *blocked_on; /* last mbarrier that a strand of the warp slept on */
  int64_t blocked_parity;
  bool clc_checked;         /* it has tested a response */
  int tile_answers;         /* answers of cluster launch control that it has decoded */
  uint64_t polls_at, polls; /* failed polls since the last phase completed */
} WarpState;

typedef struct ClusterBarrier {
  int64_t arrived, round;
  Clock *current, *done;         /* what the arrivals published */
  Clock *reached, *done_reached; /* what the arriving threads knew and did */
  const IrInsn *first;
} ClusterBarrier;

typedef struct RemoteUse { /* access to the shared memory of another CTA */
  uint32_t warp, lanes, time;
  int rank;
  const IrInsn *insn;
  bool arrive; /* mbarrier arrive; else data */
  bool write;
  int before; /* 1 + index of an earlier one in the same slot of `remote_at`; 0: none */
} RemoteUse;

typedef struct Uninitialised { /* use of a place that holds no live mbarrier */
  const IrInsn *insn;
  const char *what;
  int rank;
  uint32_t offset;
  int warp;
} Uninitialised;

typedef struct MapUse { /* a tensor map that copies were issued with */
  uint64_t map;
  Access *access;
  uint32_t offset; /* in shared memory, of the tile */
} MapUse;

typedef struct MapEdit { /* a tensor map that the kernel changed */
  uint64_t map;
  const IrInsn *insn;
  uint32_t warp, lanes, time;
  bool released;
} MapEdit;

typedef struct MapDraft { /* a tensor map that the kernel changed in shared memory */
  uint64_t address;
  int rank;
  const IrInsn *insn;
  bool published; /* by tensormap.cp_fenceproxy */
} MapDraft;

typedef struct MapAcquire {
  uint64_t map; /* 0: not known which */
  int rank;
} MapAcquire;

/* An access to global memory before the preceding grid is known to be complete. */
typedef struct EarlyRead {
  const IrInsn *insn;
  bool write;
  uint32_t warp;
  const IrInsn *waited; /* the warp's own wait, later */
  uint64_t buffer;      /* which pointer or tensor map */
} EarlyRead;

typedef struct OperandRead { /* shared bytes that matrix operands starting at `start` reach over */
  int rank;
  uint32_t start, end;
} OperandRead;

typedef struct TmemUse { /* of columns that nobody had allocated then */
  const IrInsn *insn;
  const char *what;
  int rank, warp;
  uint32_t column, count;
} TmemUse;

typedef struct TmemLoad { /* a tcgen05.ld of columns that nothing had written then */
  const IrInsn *insn;
  int rank, warp;
  uint32_t column, count, parts;
} TmemLoad;

typedef struct LaneHalf { /* a tcgen05.ld or .st whose lane field fits warp % 2 */
  const IrInsn *insn;
  uint32_t lane;
  int warp;
} LaneHalf;

typedef struct GlobalWord { /* of global memory, that the kernel stores to or updates atomically */
  uint64_t address;
  const IrInsn *store, *atomic; /* first of each */
  uint64_t store_step, atomic_step;
} GlobalWord;

typedef struct Looks { /* times that an access to an element that is not known was judged */
  int16_t warp;        /* the last */
  uint8_t by_warp, all;
} Looks;

typedef struct Protocol {
  Machine *machine;
  Clocks clocks;
  RaceHistory *races;
  uint32_t fenced_agent, before_agent; /* + warp index */
  uint32_t wgmma_agent;                /* + warpgroup index in the cluster */
  int warpgroups;                      /* of one CTA */
  KC_VEC(Mbar *) mbars;
  uint64_t phases_completed; /* of all mbarriers */
  ClusterBarrier cluster;
  bool barrier_of_some; /* a block barrier completed without some threads of the block */
  KC_VEC(RemoteUse) remotes;
  int remote_at[PROTOCOL_SLOTS]; /* 1 + index of the last, hashed */
  KC_VEC(Uninitialised) uninitialised;
  KC_VEC(MapUse) maps;
  KC_VEC(MapEdit) map_edits;
  KC_VEC(MapDraft) map_drafts;
  bool early_remote; /* a CTA was used that need not have started */
  KC_VEC(MapAcquire) map_acquires;
  bool has_tensormap_acquire, has_tensormap_release;
  /* cluster launch control */
  int64_t clc_requests, clc_granted;
  bool clc_failure_seen;
  const IrInsn *clc_failure;
  /* griddepcontrol */
  bool has_grid_wait;
  const IrInsn *first_global_read;
  KC_VEC(GlobalWord) words;
  KC_VEC(TmemUse) unallocated;
  KC_VEC(LaneHalf) halves;
  KC_VEC(TmemLoad) vain_loads;
  KC_VEC(OperandRead) operands;
  int operand_at[PROTOCOL_SLOTS]; /* 1 + index, hashed: the last one that was met */
  uint32_t grid_agent;            /* time 1: the preceding grid is complete; 0: no agent yet */
  KC_VEC(EarlyRead) early_reads;
  KC_VEC(uint64_t) late_buffers; /* read by threads that know the preceding grid to be complete */
  /* counts for the checks at the end */
  uint64_t cta_groups_used; /* bits 1, 2 */
  KC_VEC(PairIssue) pair_issues;
  int tmem_columns_max;
  int registers_max;
  KC_VEC(struct Symptom *) symptoms;
  const IrInsn *good_init_fence, *idle_init_fence; /* fence.mbarrier_init */
  bool unknown_init;    /* an mbarrier was initialised at an unknown address */
  bool init_beyond;     /* an mbarrier was to be initialised beyond the block's shared memory */
  bool misaligned_init; /* ... at an address that is no multiple of 8 */
  struct Timeline *timeline;
  struct Layouts *layouts; /* fragment.c */
  struct Anchors *anchors; /* swizzle.c */
  Looks *looked;           /* by instruction */
  void *words_stored;      /* words.c: words of global memory that the run has stored */
  void *shares;            /* shares.c: who touched which word of global memory */
  struct Proxied *proxied; /* proxied.c: 16 bytes of global memory that ordinary stores wrote */
} Protocol;

static inline Protocol *protocol_of(const Machine *machine) {
  return (Protocol *)machine->protocol;
}
static inline WarpState *warp_state(const Warp *warp) {
  return (WarpState *)warp->protocol;
}
static inline CtaState *cta_state(const Cta *cta) {
  return (CtaState *)cta->protocol;
}

/* ---- helpers (protocol.c) ---- */

/* The next set of lanes of *left for which `value` is the same and known; they are taken from
 * *left. Lanes whose value is unknown come last, with *known false. False when none is left. */
bool protocol_next(const Value *value, uint32_t *left, uint32_t *lanes, uint64_t *out, bool *known);
/* A shared address (of an operand with `role`) for one set of lanes. */
typedef struct SharedPlace {
  uint32_t lanes;
  bool known;
  int rank;
  uint32_t offset;
} SharedPlace;
/* As protocol_next for an address operand in shared memory. An address that is known but not
 * shared gives rank -1. */
bool protocol_next_place(Machine *machine, const Strand *strand, const Value *value, IrSpace space,
                         uint32_t *left, SharedPlace *place);
/* The operand as one number for `lanes`, or `fallback`. */
int64_t protocol_number(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                        uint32_t lanes, int64_t fallback);
/* Reports a wait for a negative number of pending groups (cp.async, bulk): the instruction table
 * sees those of asm text, this one also what a call without a body says. */
void protocol_check_pending(Machine *machine, const IrInsn *insn, int64_t groups);
/* An immediate or register operand as a signed 32-bit number. */
bool protocol_operand(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                      uint32_t lanes, int64_t *out);
/* "full[2]" or "full[2] of CTA 1"; NULL-terminated text of the run's arena. */
const char *protocol_place(Machine *machine, const Strand *strand, int rank, uint32_t offset);
/* A record of an access that `lanes` make themselves, now. */
Access *protocol_thread_access(Machine *machine, Strand *strand, const IrInsn *insn,
                               AccessActor actor, bool write, uint32_t lanes);
/* setmaxnreg.c: gives each CTA its pool of registers. */
void setmaxnreg_init(Machine *machine);
/* setmaxnreg.c: warps of a warpgroup that did not all execute it. */
void setmaxnreg_finish(Machine *machine);
/* The lowest set lane. */
static inline int first_lane(uint32_t lanes) {
  return lanes ? __builtin_ctz(lanes) : 0;
}
static inline int lane_count(uint32_t lanes) {
  return __builtin_popcount(lanes);
}
static inline int warp_rank(const Machine *machine, uint32_t warp) {
  return machine->warps[warp]->cta->rank;
}

/* ---- events, one function each ---- */

/* One event a line. */
// clang-format off
#define PROTOCOL_EVENTS(X) \
  X(mbarrier_init) \
  X(mbarrier_inval) \
  X(mbarrier_expect_tx) \
  X(mbarrier_complete_tx) \
  X(mbarrier_arrive) \
  X(mbarrier_test_wait) \
  X(mbarrier_try_wait) \
  X(mbarrier_wait) \
  X(mbarrier_pending_count) \
  X(cp_async_mbarrier_arrive) \
  X(cp_async) \
  X(cp_async_commit) \
  X(cp_async_wait) \
  X(bulk_copy) \
  X(bulk_reduce) \
  X(bulk_prefetch) \
  X(bulk_tensor_load) \
  X(bulk_tensor_store) \
  X(bulk_tensor_reduce) \
  X(bulk_tensor_prefetch) \
  X(bulk_commit) \
  X(bulk_wait) \
  X(st_async) \
  X(red_async) \
  X(prefetch_tensormap) \
  X(tensormap_replace) \
  X(tensormap_cp_fenceproxy) \
  X(fence) \
  X(fence_proxy_async) \
  X(fence_proxy_tensormap) \
  X(fence_mbarrier_init) \
  X(bar_sync) \
  X(bar_arrive) \
  X(bar_red) \
  X(warp_sync) \
  X(cluster_arrive) \
  X(cluster_wait) \
  X(wgmma_fence) \
  X(wgmma_commit) \
  X(wgmma_wait) \
  X(wgmma_mma) \
  X(tcgen05_alloc) \
  X(tcgen05_dealloc) \
  X(tcgen05_relinquish) \
  X(tcgen05_mma) \
  X(tcgen05_cp) \
  X(tcgen05_shift) \
  X(tcgen05_ld) \
  X(tcgen05_st) \
  X(tcgen05_wait_ld) \
  X(tcgen05_wait_st) \
  X(tcgen05_commit) \
  X(tcgen05_fence_before) \
  X(tcgen05_fence_after) \
  X(clc_try_cancel) \
  X(clc_is_canceled) \
  X(clc_get_ctaid) \
  X(setmaxnreg) \
  X(griddep_wait) \
  X(griddep_launch)
// clang-format on

#define X(name) MachineStep event_##name(Machine *machine, Strand *strand, const IrInsn *insn);
PROTOCOL_EVENTS(X)
#undef X

#endif
