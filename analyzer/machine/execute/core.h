/* machine, the core's own: what internal.h keeps private to value, memory, layout, interp, strand,
 * sched, inputs, host, run and result. */
#ifndef KC_MACHINE_CORE_H
#define KC_MACHINE_CORE_H

#include "machine/inputs/sample.h"
#include "machine/internal.h"

#include <glib.h>

#define CORE_SCRATCH 256       /* 32-lane buffers an instruction may use before they are reused */
#define CORE_EXTRA_CELLS 16384 /* local cells that may come up at run time */
#define CORE_SHARED_RESERVED                                                                       \
  1024 /* start of shared memory that the system keeps (sm_90 and later) */

/* ---- what a kernel's runs share ---- */

typedef struct CoreLoop CoreLoop;   /* loops.c */
typedef struct CoreQuick CoreQuick; /* quick.h */

#define CORE_LOOKUPS 1024

typedef struct CoreLookup { /* answers of core_find_cell and core_cells_in */
  uint64_t cell_address, address, bytes;
  int32_t cell;
  int cell_bytes, nregs;
  GArray *cells;
} CoreLookup;

typedef struct CoreRegion { /* what stands between a branch and its post-dominator */
  bool computed;
  bool protocol;     /* holds an event that matters, or leaves the kernel */
  uint8_t trap_side; /* of a branch: 0 not asked, else a TrapSide + 1 */
  bool sides_known, taken_returns, falls_returns; /* a side leads back to the branch */
  const CoreLoop *loop;                           /* of a jump back */
  int32_t *insns;                                 /* indices, ascending */
  int ninsns;
} CoreRegion;

typedef struct CoreFinding {
  const char *kind;
  uint32_t where;
  IrViolation *violation;
  MachineCheck check;
  int sample;                    /* rank of the sample it was first seen in */
  bool degenerate, ragged;       /* seen in such samples only */
  const char *assumed;           /* what the machine made up in a run that shows it, or NULL */
  bool firm;                     /* a run that made up nothing such shows it */
  bool any_side;                 /* every outcome of conditions on data that was tried shows it */
  int sides;                     /* runs of the present sample and schedule that show it, each with
                                    another outcome of conditions on data */
  bool forced;                   /* seen in a sample that left nothing to choose */
  bool small;                    /* ... or with every chosen integer at most 1 */
  const MachineSample *found_in; /* the run that showed it first */
  const MachineSample *shown_by; /* the run that `violation` is of: the smallest that shows it */
  MachineSchedule schedule;
} CoreFinding;

typedef struct CoreDecision {
  uint64_t name;
  bool side;
  bool both; /* the other side has been tried, or is not worth a run */
  const IrInsn *insn;
} CoreDecision;

typedef struct CoreRunRecord { /* a run that ended and found nothing, for repeat.c */
  const MachineSample *sample;
  MachineSchedule schedule;
  bool diverged;       /* lanes of some warp parted */
  bool any_order;      /* it goes the same way whichever warp is the first */
  uint64_t specials;   /* special registers that were read, a bit each */
  uint8_t *param_read; /* by byte of parameter space */
  int64_t phases, generations;
  int barriers;
} CoreRunRecord;

typedef struct CoreSpare { /* memory of a run that is over, for the next one */
  KcArena *arena;
  void *regs;
  size_t reg_count;
  uint8_t *shared; /* contents and known bits of all CTAs */
  size_t shared_bytes;
  GPtrArray *lane_chunks;
} CoreSpare;

typedef struct CoreSession {
  /* registers: the kernel's, then cells found at run time */
  IrType *reg_type;
  uint8_t *reg_overlaps; /* 1: other cells share bytes with this one */
  uint64_t *reg_cell;
  int32_t *points_into; /* by register of the kernel, for forget.c: 1 + shared object */
  GArray **partners;    /* by register: those whose cells overlap its own, once it was asked */
  CoreLookup lookups[CORE_LOOKUPS];
  int reg_capacity;
  GHashTable *cells;   /* (address << 8 | bytes) -> register + 1 */
  GHashTable *granule; /* address >> 4 -> GArray of registers whose cell touches it */
  CoreRegion *regions; /* by instruction */
  CoreQuick *quick;    /* by instruction, decoded when it is first met */
  uint32_t static_end, dynamic_base;
  bool has_dynamic;
  uint64_t shared_reach; /* first byte of shared memory beyond all accesses */
  uint64_t least_reach;  /* the least of those of single runs that went through, used dynamic shared
                            memory and kept the sizes that a launch gives; 0: none */
  int64_t started_us;
  uint64_t steps;
  KC_VEC(CoreFinding) findings;
  bool halted;                    /* some ordinary run could not go on */
  GHashTable *not_checked;        /* texts already in result->not_checked */
  uint8_t *executed;              /* by instruction, all runs */
  KC_VEC(CoreDecision) decisions; /* data-dependent branches of the run, in order of appearance */
  int decisions_used;
  bool decisions_cut; /* a run asked for more than are kept */
  bool partial;       /* something that could not be lowered may hide an event */
  size_t peak_memory;
  bool hung;                     /* some run ended with threads that wait for ever */
  bool lists_end;                /* the code asks for a negative element (granule.c) */
  int64_t *granules;             /* by leaf number: what an integer counts (granule.c) */
  const struct Origins *origins; /* origin.c; NULL for host code */
  CoreSpare spare;
  KC_VEC(CoreRunRecord) runs;
  GHashTable *maps; /* tensor map address -> MachineTensorMap (inputs.c) */
} CoreSession;

/* ---- one run ---- */

typedef struct CoreWord { /* eight bytes of global memory */
  uint64_t key;           /* address >> 3, plus 1 */
  uint64_t bytes;
  uint8_t known;
} CoreWord;

typedef struct CoreAsync {
  MachineAsync run;
  void *user;
  const void *group;
} CoreAsync;

typedef struct CoreReported {
  const char *kind;
  const IrInsn *insn;
} CoreReported;

typedef struct CoreRun {
  uint64_t scratch[CORE_SCRATCH][32];
  int scratch_used;
  void *free_lanes; /* list of 32-lane buffers */
  size_t lane_bytes;
  CoreWord *global;
  size_t global_size, global_used;
  uint64_t
      plain_window; /* the last window of a pointer that was found to hold nothing known, + 1 */
  CoreAsync *queue;
  size_t queue_head, queue_count, queue_capacity;
  CoreAsync *late;
  size_t late_count, late_capacity;
  uint64_t fresh;
  uint64_t effects; /* changes that others can see: stores, events, exits */
  bool lag_release;
  KC_VEC(MachineCheck) violation_check; /* by violation of the run */
  GHashTable *reported;
  KC_VEC(const char *) off[MACHINE_CHECK_COUNT];
  bool cut_steps, cut_time, cut_memory;
  const char *cut_reason;
  uint64_t clock;
  uint8_t *param_read; /* by byte of parameter space */
  uint64_t specials;   /* special registers that were read, a bit each */
  bool diverged;       /* a strand was split */
  bool any_order;      /* see CoreRunRecord; set at the end */
  bool stores_blindly; /* to shared memory, nobody knows where */
  uint64_t pattern_of; /* by pointer parameter (modulo 64): an element of it was read */
  bool pattern_read;   /* an element of an integer array, which the machine made up */
  GString *dump;       /* --dump events */
  void *host;          /* host.c: what a host run recorded */
  uint32_t *visits;    /* host runs: how often each branch was executed */
} CoreRun;

static inline CoreSession *core_session(const Machine *machine) {
  return (CoreSession *)machine->session->core;
}
static inline CoreRun *core_run(const Machine *machine) {
  return (CoreRun *)machine->core;
}

/* ---- value.c ---- */
uint64_t *core_scratch(Machine *machine);
uint64_t core_hash(uint64_t a, uint64_t b);
static inline uint64_t core_width_mask(int bytes) {
  return bytes >= 8 || bytes <= 0 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
}
/* The value of `v` as a 64-bit number: sign-extended for signed types, else zero-extended. */
static inline uint64_t core_extend(uint64_t v, IrType type) {
  if (type.cls == IR_CLASS_PRED) return v & 1;
  int bits = 8 * type.bytes;
  if (bits <= 0 || bits >= 64) return v;
  if (type.cls == IR_CLASS_SINT) return (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits));
  return v & core_width_mask(type.bytes);
}
/* Writes a register for some lanes, with the overlapping cells and the protocol's hook. */
void core_write_reg(Machine *machine, Strand *strand, int32_t reg, Value value, uint32_t lanes);
/* The same without the overlapping cells, for those who write all of these; some lanes. */
void core_put_reg(Machine *machine, Strand *strand, int32_t reg, Value value, uint32_t lanes);
/* Makes the 32-lane buffers of earlier runs free again. */
void core_lanes_init(Machine *machine);
void core_free_lanes(Machine *machine, uint64_t *lanes);
uint64_t *core_alloc_lanes(Machine *machine);

/* ---- layout.c ---- */
/* Addresses of shared objects, cells and their overlaps. */
void core_layout(MachineSession *session);
void core_layout_free(MachineSession *session);
/* Register of the cell (address, bytes), or -1. */
int32_t core_find_cell(const MachineSession *session, uint64_t address, int bytes);
/* The same, made when there is none; -1 when there are too many. */
int32_t core_make_cell(MachineSession *session, uint64_t address, int bytes);
/* Registers whose cells touch [address, address + bytes), ascending by address; caller frees. */
GArray *core_cells_in(const MachineSession *session, uint64_t address, uint64_t bytes);
/* After `reg` was written: its bytes go into the cells that overlap it. */
void core_splice_cells(Machine *machine, Strand *strand, int32_t reg, uint32_t lanes);

/* ---- memory.c ---- */
Value core_load(Machine *machine, Strand *strand, Value address, IrSpace space, int bytes,
                uint32_t lanes);
void core_store(Machine *machine, Strand *strand, Value address, IrSpace space, int bytes,
                Value value, uint32_t lanes);
bool core_load_lane(Machine *machine, Strand *strand, int lane, MachineAddress at, int bytes,
                    uint64_t *out);
void core_store_lane(Machine *machine, Strand *strand, int lane, MachineAddress at, int bytes,
                     bool known, uint64_t value);
/* Of `lanes`, to and from the same addresses. */
void core_copy(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst, uint64_t src,
               uint64_t bytes);
void core_fill(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst, uint64_t bytes,
               bool known, uint8_t byte);
/* Whether nothing has been written to the word of global memory in this run. */
bool core_untouched(const Machine *machine, uint64_t address);
/* Remembers how far shared memory is used. */
void core_reach(Machine *machine, uint64_t end);
/* Tells the protocol half of an access, split by space. */
void core_access(Machine *machine, Strand *strand, const IrInsn *insn, MachineAccessKind kind,
                 Value address, IrSpace space, uint32_t bytes, uint32_t lanes);

/* ---- interp*.c ---- */
MachineStep core_execute(Machine *machine, Strand *strand);
/* Does instructions that need no more than their operands, one after the other, as many as *slice
 * allows, which it lowers. False: the strand has come to a place where others may join it. */
bool core_quick(Machine *machine, Strand *strand, uint64_t *slice, bool stop_at_leaders);
MachineStep core_alu(Machine *machine, Strand *strand, const IrInsn *insn);
MachineStep core_memory_op(Machine *machine, Strand *strand, const IrInsn *insn);
MachineStep core_warp_op(Machine *machine, Strand *strand, const IrInsn *insn);
/* host.c */
MachineStep core_host_event(Machine *machine, Strand *strand, const IrInsn *insn);
/* The side of a condition on something unknown that leads to more launches and attributes. */
bool core_host_decide(const IrKernel *kernel, const IrInsn *insn);
MachineStep core_branch(Machine *machine, Strand *strand, const IrInsn *insn);
MachineStep core_branch_index(Machine *machine, Strand *strand, const IrInsn *insn);
MachineStep core_exit(Machine *machine, Strand *strand, uint32_t lanes);
/* Number of leading operands that an instruction writes; of an event none. */
int core_destinations(const IrInsn *insn);
/* Whether an operand (of an event, too) is a destination. */
bool core_operand_is_written(const IrInsn *insn, int index);
/* An access to a computed local address, for loops.c. */
typedef struct CoreLocalAccess {
  int32_t pc;     /* -1: lanes on their own, or values that differ: it can't be repeated */
  uint32_t lanes; /* that all go to one address */
  uint64_t address;
  uint64_t value; /* stored */
  uint64_t delta; /* kept by loops.c: to the same access one round before */
  uint8_t bytes;
  bool store, known; /* known: the value */
} CoreLocalAccess;
void core_loop_local(Strand *strand, const CoreLocalAccess *access);
/* The strand is about to jump back from its pc (a branch). */
void core_loop_back(Machine *machine, Strand *strand);
void core_havoc_insn(Machine *machine, Strand *strand, const IrInsn *insn);
/* Which side of a condition that nobody knows is taken in this run. */
bool core_decide(Machine *machine, uint64_t name, const IrInsn *insn);

/* ---- strand.c, sched.c ---- */
Strand *core_strand_new(Machine *machine, Warp *warp, uint32_t mask, int32_t pc);
void core_strand_drop(Strand *strand);
/* Moves `lanes` (a proper subset) of a strand into a new one at `pc`. */
Strand *core_split(Machine *machine, Strand *strand, uint32_t lanes, int32_t pc);
/* Merges strands of a warp that stand at the same instruction and may go on together. */
void core_merge(Machine *machine, Warp *warp);
void core_schedule(Machine *machine);
#define CORE_CHECK_STEPS 8192 /* instructions between looks at the clock */
/* Instructions until the budget has to be looked at. */
static inline uint64_t core_until_check(const Machine *machine) {
  uint64_t left = machine->max_steps > machine->step ? machine->max_steps - machine->step : 0;
  uint64_t next = CORE_CHECK_STEPS - machine->step % CORE_CHECK_STEPS;
  return left < next ? left : next;
}
#define CORE_POLL_STEPS 400 /* instructions that change nothing, ... */
#define CORE_POLL_ROUNDS 3  /* ... and jumps backward among them: a loop that polls */
/* Long straight code may change nothing for a while, too: only what goes round polls. */
static inline bool core_polls(const Strand *strand) {
  return strand->unchanged > CORE_POLL_STEPS && strand->rounds >= CORE_POLL_ROUNDS;
}

/* ---- result.c ---- */
/* Adds a line to result->not_checked once. */
void core_not_checked(MachineSession *session, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether some finding needs a run with integers that are multiples of 64 to be believed. */
bool core_wants_divisible(const CoreSession *core);
void core_collect(Machine *machine);
/* `runs` have shown all outcomes of the conditions on data of one sample and schedule (0: not all
 * of them): what every one of them shows does not hang on the outcome. */
void core_all_sides(CoreSession *core, int runs);
void core_publish(MachineSession *session, IrViolations *violations);
/* Whether a finding is told to the user. */
bool core_is_published(const MachineSession *session, const CoreFinding *finding);
/* Names the parameters that the run read, and what the machine chose besides. */
void core_add_inputs(Machine *machine, IrViolation *v);

/* ---- unreached.c, settled.c ---- */
/* Says which synchronisation no run came to. The kernel is not complete when that is most of it, or
 * all that a loop holds. */
void core_name_unreached(MachineSession *session, const MachineSamples *samples);
/* By instruction, after all runs: whether the block of the launch keeps every input from it. NULL:
 * the block is the machine's choice. From session->arena. */
const bool *core_settled(const MachineSession *session, const MachineSamples *samples);

/* ---- replay.c ---- */
/* Remembers the tensor maps that the copies of a run were issued with. */
void core_note_maps(Machine *machine);
/* Tells the inputs of an ordinary run and of those that show the findings. */
void core_replays(MachineSession *session, const MachineSamples *samples);

/* ---- shrink.c ---- */
/* Runs the kernel again with smaller inputs: each finding gets the witness of the smallest that
 * still show it. Costs at most as many steps as were spent before. */
void core_shrink(MachineSession *session);
/* ... unless it follows from another. */
bool core_stands(const MachineSession *session, const CoreFinding *finding);
/* consequence.c: whether a finding only follows from another one that is told. */
bool core_follows_from_another(const MachineSession *session, const CoreFinding *finding);
/* Whether a kind is the pattern, or begins with what stands before its closing '*'. */
bool core_kind_fits(const char *pattern, const char *kind);

/* ---- inputs.c, guess.c, maps.c ---- */

typedef struct CoreLaunch {
  int64_t grid[3], block[3], cluster[3]; /* 0: not known */
  int64_t shape[3];                      /* of a block of unknown length; 0: not known */
  int64_t smem;                          /* -1: not known */
  const IrLaunchDirective *directive;
  const MachineLaunch *launch;
} CoreLaunch;

/* A sample with every integer parameter at `ints`. */
MachineSample *core_plain_sample(MachineSession *session, MachineSamples *samples, int64_t ints);
/* What directives and host code say about the launch of the kernel. */
CoreLaunch core_find_launch(const MachineSession *session);
/* Threads of a block that nobody states, from the comparisons of thread, warp and warpgroup numbers
 * in the code. */
int core_guess_threads(const IrKernel *kernel);
/* The shape of the block of a kernel that reads threadIdx.y or z, when nobody tells it. */
void core_guess_shape(const IrKernel *kernel, int64_t dims[3]);
/* The integer at an offset of parameter space, or NULL. */
const IrLeaf *core_int_leaf(const IrKernel *kernel, uint64_t offset);
/* Fills core->granules: the tile size that an integer parameter is a multiple of, 1 when none
 * shows; negative: a stride, which is given that value. */
void core_find_granules(MachineSession *session);
/* Tensor maps by the address of the parameter or memory that holds them. */
void core_collect_maps(MachineSession *session);

/* ---- fuse.c ---- */
/* The kernel, or a copy in which stores of neighbouring words are one; indices stay what they were.
 */
const IrKernel *core_fuse_stores(KcArena *arena, const IrKernel *kernel);

/* ---- forget.c ---- */
/* Which registers hold addresses in which shared objects. */
void core_find_bases(MachineSession *session);
/* Some lanes write where nobody knows: the shared contents that may be hit are no longer known. */
void core_forget_unknown(Machine *machine, const Strand *strand, const IrInsn *insn, IrSpace space);

/* ---- repeat.c ---- */
/* Finds out, while the run's clocks are still there, whether its warps could have gone in any
 * order.
 */
void core_note_order(Machine *machine);
/* Remembers what a run that is over read and how it went. */
void core_note_run(Machine *machine);
/* An earlier run that a run of these inputs would only repeat, or NULL. */
const CoreRunRecord *core_known_run(const MachineSession *session, const MachineSample *sample,
                                    MachineSchedule schedule);

/* ---- run.c ---- */
int64_t core_clock_us(void);
Machine *core_machine_new(MachineSession *session, const MachineSample *sample,
                          MachineSchedule schedule, uint64_t max_steps);
void core_machine_free(Machine *machine);
void core_machine_run(Machine *machine);
/* The same, but what the run observed stays in machine->violations and counts for nothing else. */
void core_machine_rehearse(Machine *machine);
void core_session_init(MachineSession *session, KcArena *arena, const IrProgram *program,
                       const IrKernel *kernel, const MachineHostFacts *host,
                       const MachineOptions *options);
void core_session_free(MachineSession *session);

#endif
