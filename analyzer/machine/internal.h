/* machine, inside: what the machine's two halves share. The core (value, memory, layout, interp,
 * strand, sched, inputs, sample, assume, host, run, result) executes instructions; the protocol
 * half (every other file of this folder) gives events their meaning and finds what is wrong.
 *
 * Lifetimes: `session` covers one kernel (all samples and schedules); a Machine is one run (one
 * sample, one schedule) and `machine->arena` dies with it. What goes into a violation must be
 * allocated from the violations' own arena (the ir_violation_* functions do that).
 *
 * Steps: an instruction is executed by a strand: lanes of one warp with the same pc. The handler
 * reads operands (machine_read), does its work for the lanes of `strand->active` (mask minus the
 * lanes whose guard is false), writes results (machine_write) and returns a MachineStep. A handler
 * that returns MACHINE_BLOCKED is executed again, from its start, when its wake callback holds;
 * `strand->resume` (zero on first entry, zeroed when the instruction is left) tells it that it has
 * been here before.
 */
#ifndef KC_MACHINE_INTERNAL_H
#define KC_MACHINE_INTERNAL_H

#include "machine/machine.h"

typedef struct Machine Machine;
typedef struct MachineSession MachineSession;
typedef struct Cta Cta;
typedef struct Warp Warp;
typedef struct Strand Strand;

/* ---- values (value.c) ---- */

#define MACHINE_ALL_LANES UINT32_C(0xffffffff)

/* A 64-bit value of each lane: uniform, or 32 lanes. Values are zero-extended to 64 bits from the
 * width of the register that holds them; predicates are 0 or 1. Lanes outside `known` hold a number
 * that names the unknown (equal numbers: the same unknown value), never data. `lanes` points into
 * the register file or to scratch of the current instruction: it is valid until the register is
 * written or the instruction ends. */
typedef struct Value {
  uint32_t known; /* lanes whose value is known */
  bool uniform;
  uint64_t scalar;       /* uniform */
  const uint64_t *lanes; /* not uniform */
} Value;

static inline Value value_known(uint64_t scalar) {
  return (Value){.known = MACHINE_ALL_LANES, .uniform = true, .scalar = scalar};
}
static inline Value value_unknown(uint64_t name) {
  return (Value){.known = 0, .uniform = true, .scalar = name};
}
static inline uint64_t value_raw(Value v, int lane) {
  return v.uniform ? v.scalar : v.lanes[lane];
}
/* The value of one lane; false when unknown. */
static inline bool value_lane(Value v, int lane, uint64_t *out) {
  *out = value_raw(v, lane);
  return (v.known >> lane & 1) != 0;
}
/* The one value that all lanes of `mask` have; false when unknown or different. */
bool value_same(Value v, uint32_t mask, uint64_t *out);
/* A value from 32 lanes, copied to scratch of the current instruction; made uniform when it is over
 * `mask`. */
Value value_from_lanes(Machine *machine, const uint64_t lanes[32], uint32_t known, uint32_t mask);
/* A fresh unknown, different from all others. */
Value value_fresh(Machine *machine);

/* for (int lane = 0 ...) over the set bits of a mask. */
#define FOR_LANES(lane, mask)                                                                      \
  for (uint32_t left_##lane = (mask), lane = 0;                                                    \
       left_##lane && ((lane = (uint32_t)__builtin_ctz(left_##lane)), 1);                          \
       left_##lane &= left_##lane - 1)

/* A register of a warp. `scalar`/`lanes`/`known` as in Value. */
typedef struct MachineReg {
  uint64_t scalar;
  uint64_t *lanes; /* NULL: uniform */
  uint32_t known;
  uint32_t written; /* machine step of the last write (low 32 bits); 0: never */
  uint8_t watched;  /* protocol_reg_read / _write are called for it */
} MachineReg;

/* ---- the machine ---- */

typedef enum MachineStep {
  MACHINE_NEXT,    /* done, go to the next instruction */
  MACHINE_BLOCKED, /* machine_block or machine_converge said so: execute it again after waking */
  MACHINE_JUMPED,  /* strand->pc was set, or the strand is gone */
  MACHINE_STOP     /* the run is over (trap, budget) */
} MachineStep;

typedef enum MachineSchedule {
  MACHINE_EAGER,  /* warps ascending, asynchronous work completes at once */
  MACHINE_LAZY,   /* warps descending, asynchronous work completes when nothing else can run */
  MACHINE_RANDOM, /* both at random, fixed seed */
  MACHINE_LAG     /* never merge, the smallest strand runs as far as it can, the others only when
                     everything is stuck */
} MachineSchedule;

/* Families of checks that can be switched off with a reason. A violation names its family. */
typedef enum MachineCheck {
  MACHINE_CHECK_ALWAYS,   /* an operand, a limit: true whatever else is unknown */
  MACHINE_CHECK_DEADLOCK, /* someone waits for ever */
  MACHINE_CHECK_PHASE,    /* parity, lapping, over-arrival, recycling */
  MACHINE_CHECK_BYTES,    /* expect_tx against bytes moved */
  MACHINE_CHECK_RACE,     /* unordered accesses, missing fences and waits */
  MACHINE_CHECK_FINISH,   /* left over, leaked, unbalanced at the end */
  MACHINE_CHECK_COUNT
} MachineCheck;

/* Wakes a blocked strand; called often, must be cheap and free of side effects. */
typedef bool (*MachineWake)(Machine *machine, const Strand *strand);
/* "mbarrier full[2], parity 0: phase 0 not complete, 1 of 2 arrivals pending, 128 bytes"; from
 * session->arena. */
typedef char *(*MachineDescribe)(Machine *machine, const Strand *strand);
/* Asynchronous work; `user` is what was posted. */
typedef void (*MachineAsync)(Machine *machine, void *user);

struct Strand {
  Warp *warp;
  uint32_t mask;   /* lanes */
  uint32_t active; /* lanes that execute the current instruction */
  int32_t pc;
  const char *blocked; /* what it waits for ("mbarrier", "barrier", "converge"); NULL: runs */
  MachineWake wake;
  MachineDescribe describe; /* may be NULL */
  void *wait_object;        /* for the callbacks */
  int64_t wait_value;
  int64_t resume;    /* for handlers that block: see the head of this file */
  void *resume_data; /* likewise */
  bool converging;   /* blocked until all lanes of converge_mask are here */
  uint32_t converge_mask;
  uint32_t absent;        /* living lanes that were not here when it began to converge */
  uint64_t blocked_since; /* machine step */
  int64_t unsuccessful;   /* for try_wait: owned by the protocol half */
  void *unsuccessful_object;
  int32_t unsuccessful_pc;
  void *protocol; /* protocol half: clocks. Copied by protocol_split, joined by protocol_merge */
  uint64_t spin_address, spin_effects; /* private to the core: polling the same word */
  int32_t spin_pc;
  uint32_t spin_count;
  uint32_t unchanged; /* instructions since a register or memory last changed by it */
  uint32_t rounds;    /* jumps backward among them */
};

struct Warp {
  Cta *cta;
  int id;         /* in the CTA */
  int index;      /* in the cluster: unique, dense from 0 */
  uint32_t lanes; /* lanes that exist */
  uint32_t alive; /* lanes that have not exited */
  Strand *strands[32];
  int nstrands;
  MachineReg *regs;    /* session->nregs of them */
  void *core;          /* private to the core */
  void *loops;         /* private to the core, like the next three: */
  uint64_t effects;    /* changes that others can see, by this warp */
  uint64_t shared_sum; /* sum over its accesses to shared memory: place and kind */
  uint64_t local_sum;  /* sum over its stores to computed local addresses: place and value */
  void *protocol;
};

struct Cta {
  Machine *machine;
  int rank;      /* in the cluster */
  int64_t id[3]; /* %ctaid */
  Warp *warps;
  int nwarps;
  uint8_t *shared;       /* contents, session->shared_bytes */
  uint8_t *shared_known; /* one bit a byte */
  void *protocol;
};

typedef struct MachineSample MachineSample; /* sample.h: values of parameters and dimensions */

/* What one kernel's runs share. */
struct MachineSession {
  KcArena *arena;
  const IrProgram *program;
  const IrKernel *kernel;
  const MachineOptions *options;
  const MachineHostFacts *host;
  MachineResult *result;
  int nregs;               /* registers of a warp: the kernel's, then cells made on the way */
  uint32_t shared_bytes;   /* of one CTA, with the reserved start */
  uint32_t shared_slack;   /* of these: bytes behind what the launch gives, where barriers that the
                              host forgot are followed all the same */
  uint64_t *object_offset; /* by object id: offset in shared memory, or generic address elsewhere */
  void *core;              /* private to the core */
  void *protocol;          /* protocol half: what it keeps between runs (inferred box bytes) */
  struct IrSites *sites;   /* made when a line is named first */
};

struct Machine {
  KcArena *arena; /* dies with the run */
  MachineSession *session;
  const MachineSample *sample;
  MachineSchedule schedule;
  const IrKernel *kernel;
  const IrProgram *program;
  const Arch *arch;
  IrViolations *violations; /* of this run */
  Cta *ctas;
  int cluster_size;
  int64_t grid[3], block[3], cluster[3], cluster_id[3];
  int64_t dynamic_shared; /* bytes; -1: not known */
  int threads;            /* of one CTA */
  Warp **warps;           /* all, ctas in order */
  int nwarps;
  uint64_t step;      /* instructions executed so far */
  uint64_t max_steps; /* of this run */
  bool stopped;       /* trap or budget: protocol_finish is still called, but proves nothing */
  bool trapped;
  bool stuck;        /* set before protocol_finish: strands are left that can't go on */
  uint64_t random;   /* state of the generator */
  uint8_t *executed; /* by instruction: ran at least once in this run */
  uint64_t async_posted, async_done;
  /* Kept by the protocol half; they decide whether larger inputs are tried: */
  int64_t most_phases;      /* phases that a wait passed on, of the mbarrier with the most */
  int64_t most_generations; /* generations of the block or named barrier that completed most */
  int initialised_barriers; /* mbarriers initialised */
  void *core;               /* private to the core */
  void *protocol;           /* protocol half */
};

/* ---- operands (interp.c) ---- */

/* The value of an operand for this strand (negation applied). Vectors: read their elements. */
Value machine_read(Machine *machine, Strand *strand, const IrOperand *operand);
/* The operand with `role`; false (and *out unknown) when the event has none. */
bool machine_read_role(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                       Value *out);
/* Writes a register (or sink) for the lanes of `lanes`, masked to the register's width; a vector
 * destination gets the same value in each element (use it to make all unknown). */
void machine_write(Machine *machine, Strand *strand, const IrOperand *dst, Value value,
                   uint32_t lanes);
/* Calls `visit` for each register of an operand, vectors unrolled. */
void machine_each_reg(const IrOperand *operand, void (*visit)(int32_t reg, void *user), void *user);
/* From now on (or no longer) protocol_reg_read / protocol_reg_write are called for the register. */
static inline void machine_watch(Warp *warp, int32_t reg, bool on) {
  warp->regs[reg].watched = on;
}

/* ---- addresses (memory.c) ---- */

typedef struct MachineAddress {
  IrSpace space;   /* SHARED, LOCAL, PARAM, GLOBAL; NONE: it lies in no window */
  int rank;        /* SHARED: CTA in the cluster; may be >= cluster_size: check */
  uint64_t offset; /* SHARED: from the start of the CTA's shared memory; else the address itself */
} MachineAddress;

/* What a number means as an address of an operand whose instruction names `space` (GENERIC when it
 * names none): shared operands may hold 32-bit window addresses. */
static inline MachineAddress machine_address(const Machine *machine, uint64_t value,
                                             IrSpace space) {
  (void)machine;
  if (space == IR_SPACE_SHARED || space == IR_SPACE_SHARED_CLUSTER) {
    if (value >= IR_SHARED_BASE && value < IR_SHARED_END) value -= IR_SHARED_BASE;
    if (value >> 32) return (MachineAddress){IR_SPACE_NONE, 0, value};
    return (MachineAddress){IR_SPACE_SHARED, (int)(value >> 24), value & 0xffffff};
  }
  if (value >= IR_SHARED_BASE && value < IR_SHARED_END) {
    value -= IR_SHARED_BASE;
    return (MachineAddress){IR_SPACE_SHARED, (int)(value >> 24), value & 0xffffff};
  }
  if (value >= IR_LOCAL_BASE && value < IR_LOCAL_END)
    return (MachineAddress){IR_SPACE_LOCAL, 0, value};
  if (value >= IR_PARAM_BASE && value < IR_LOCAL_BASE)
    return (MachineAddress){IR_SPACE_PARAM, 0, value};
  if (space == IR_SPACE_PARAM && value < IR_PARAM_BASE)
    return (MachineAddress){IR_SPACE_PARAM, 0, value + IR_PARAM_BASE};
  if (value < IR_PARAM_BASE) return (MachineAddress){IR_SPACE_NONE, 0, value};
  return (MachineAddress){IR_SPACE_GLOBAL, 0, value};
}
/* False for a number that stands below all pointers of a kernel that has pointer parameters: the
 * kernel made it of an integer that it read from an array whose contents were chosen. */
bool machine_is_global_address(const Machine *machine, uint64_t value);
/* The object that holds an offset of shared memory, or -1; *within gets the offset in it. */
int machine_shared_object(const Machine *machine, uint64_t offset, uint64_t *within);
/* "full[2]", "full[2] of CTA 1" (rank other than `seen_from`), "shared+0x1200". */
const char *machine_place(Machine *machine, MachineAddress address, int seen_from);
/* Field (array) of the shared object that an offset lies in; NULL when unknown. *start gets the
 * offset (in shared memory) of the array. */
const IrField *machine_shared_field(const Machine *machine, uint64_t offset, uint64_t *start);
/* Contents of shared memory; width 1, 2, 4, 8. Out of range: unknown / ignored. */
bool machine_shared_load(const Machine *machine, int rank, uint64_t offset, int width,
                         uint64_t *out);
void machine_shared_store(Machine *machine, int rank, uint64_t offset, int width, bool known,
                          uint64_t value);
/* The bytes become unknown (an asynchronous copy wrote them). */
void machine_shared_forget(Machine *machine, int rank, uint64_t offset, uint64_t bytes);
/* Tensor map at a generic address (parameter, global, constant), or NULL. Boxes that nobody gave
 * have box_bytes -1. *id is a stable number of the map (same map, same id), also when NULL is
 * returned. */
const MachineTensorMap *machine_tensor_map(Machine *machine, uint64_t address, uint64_t *id);

/* ---- strands (strand.c) ---- */

/* Whether all living lanes of `mask` execute this instruction in this strand. When not, the strand
 * is blocked until they come: return MACHINE_BLOCKED. */
bool machine_converge(Machine *machine, Strand *strand, uint32_t mask);
/* Blocks the strand; the handler then returns MACHINE_BLOCKED. `reason` is static text. */
void machine_block(Machine *machine, Strand *strand, const char *reason, MachineWake wake,
                   MachineDescribe describe, void *object, int64_t value);
/* Calls `run` when the schedule lets asynchronous work complete. */
void machine_post(Machine *machine, MachineAsync run, void *user);
/* Calls `run` only when nothing else can run, together with everything posted with the same
 * `group` (copies of unknown size of one barrier). */
void machine_post_late(Machine *machine, const void *group, MachineAsync run, void *user);
uint64_t machine_random(Machine *machine);

/* ---- reporting (result.c) ---- */

/* Records a violation of this run; `insn` may be NULL (the kernel). Returns NULL when this kind was
 * already reported at this instruction in this run, else the violation, to which facts, related
 * places and witness lines can be added. `kind` is static text. */
IrViolation *machine_violation(Machine *machine, MachineCheck check, const IrInsn *insn,
                               const char *kind, const char *message, ...)
    __attribute__((format(printf, 5, 6)));
/* The checks of one family can't be trusted in this run: why. Its violations are dropped and the
 * result says "not checked". */
void machine_switch_off(Machine *machine, MachineCheck check, const IrInsn *insn,
                        const char *reason, ...) __attribute__((format(printf, 4, 5)));
bool machine_is_off(const Machine *machine, MachineCheck check);
/* Whether a byte count, operand `role` of `insn`, is one that no caller's inputs give: below zero
 * (a block beyond the end of the data, for which the grid is never launched), or more than `most`,
 * by integers that the machine chose. The run then proves nothing and ends, like one that reaches a
 * trap. */
bool machine_impossible_size(Machine *machine, const IrInsn *insn, IrRole role, uint32_t bytes,
                             uint32_t most);
/* "line 41" or "kernel.cu:41" for messages: where a person would look, out of small wrappers. */
const char *machine_line(Machine *machine, const IrInsn *insn);
/* "warp 3", "warp 3 of CTA 1", "thread 96" for messages. */
const char *machine_who(Machine *machine, const Strand *strand);

/* ---- what the core calls of the protocol half ---- */

typedef enum MachineAccessKind { MACHINE_READ, MACHINE_WRITE, MACHINE_ATOMIC } MachineAccessKind;

/* A generic-proxy access of the active lanes: load, store, atom, copy, fill, ldmatrix, stmatrix. */
typedef struct MachineAccess {
  MachineAccessKind kind;
  IrSpace space;    /* as resolved: SHARED or GLOBAL (PARAM too for tensor maps) */
  uint32_t lanes;   /* lanes with a known address in that space */
  Value address;    /* SHARED: rank << 24 | offset; else the generic address */
  uint32_t unknown; /* lanes whose address is not known (reported once, with lanes == 0) */
  uint32_t bytes;   /* a lane */
} MachineAccess;

/* Before the first instruction of a run, when ctas, warps and first strands exist. */
void protocol_init(Machine *machine);
/* After protocol_finish. */
void protocol_free(Machine *machine);
/* All strands ended, or nothing can go on (machine->stuck), or the run was cut (stopped). Deadlocks
 * are reported here. */
void protocol_finish(Machine *machine);
/* Once per kernel, after all runs: fills result->barriers, ->intervals, ->tmem_columns,
 * ->max_registers_requested. */
void protocol_report(MachineSession *session);
/* Every IR_event but these, which the core does: elect, shfl, vote, match, redux, activemask,
 * nanosleep, extern_call, other, host_*. ldmatrix, stmatrix and mma_sync: the core does registers
 * and accesses. Lanes whose guard is unknown never get here. */
MachineStep protocol_event(Machine *machine, Strand *strand, const IrInsn *insn);
/* Called after contents were loaded or stored. */
void protocol_access(Machine *machine, Strand *strand, const IrInsn *insn,
                     const MachineAccess *access);
/* Watched registers only. */
void protocol_reg_read(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg);
void protocol_reg_write(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg);
/* The registers that a nop names stand for new objects: nothing in flight uses those. */
void protocol_renew(Machine *machine, Strand *strand, const IrInsn *insn);
/* Lanes of the strand end (they still count in warp->alive). */
void protocol_exit(Machine *machine, Strand *strand, uint32_t lanes);
/* The strand executes a collective operation without `absent`, lanes that ended while it waited for
 * them. */
void protocol_absent(Machine *machine, Strand *strand, uint32_t absent);
/* `child` was split from `parent`: copy the clock. */
void protocol_split(Machine *machine, const Strand *parent, Strand *child);
/* `gone` is merged into `into`; a merge is not a synchronisation: clocks that differ must not
 * order the other's accesses more than before. */
void protocol_merge(Machine *machine, Strand *into, const Strand *gone);
/* A warp-wide convergence that synchronises (elect, shfl, vote, match, redux with a full mask). */
void protocol_warp_op(Machine *machine, Strand *strand, const IrInsn *insn);
/* Whether a violation of an earlier run turned out to be the consequence of another. */
bool protocol_withdrawn(const MachineSession *session, const IrViolation *violation);
/* A violation is recorded; `insn` may be NULL. */
void protocol_violation(Machine *machine, const IrInsn *insn);
/* An external function (printf, malloc) is called; insn->text names it. */
/* A computation that may be an mma.sync, or the event, before it is executed. */
void protocol_multiply(Machine *machine, Strand *strand, const IrInsn *insn);
/* A move of the cache policy that the next access uses. */
void protocol_policy(Machine *machine, Strand *strand, const IrInsn *insn);
void protocol_extern_call(Machine *machine, Strand *strand, const IrInsn *insn);

#endif
