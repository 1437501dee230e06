/* machine: executes all warps of a cluster concretely over realisable inputs; every violation of
 * the protocol that it observes has a name and a witness. It knows no rule and no file format. */
#ifndef KC_MACHINE_MACHINE_H
#define KC_MACHINE_MACHINE_H

#include "arch/arch.h"
#include "ir/directive.h"
#include "ir/ir.h"
#include "ir/violation.h"

/* What a violation of some kind does to the run that it was seen in. */
typedef enum MachineEffect {
  MACHINE_EFFECT_DATA, /* values may be wrong from there on */
  MACHINE_EFFECT_HANG, /* ... and threads may wait for what never comes */
  MACHINE_EFFECT_NONE  /* nothing: speed, numbers, what other grids see */
} MachineEffect;

typedef struct MachineOptions {
  const Arch *arch;
  uint64_t max_steps;          /* warp instructions a run; 0: default (2 million) */
  int64_t max_time_us;         /* for one kernel, all samples and schedules; 0: default (5 s) */
  size_t max_memory;           /* bytes; 0: default (200 MB) */
  const char *const *assumes;  /* --assume expressions; NULL-terminated, may be NULL */
  bool dump_events;            /* --dump events: the event trace of the first schedule */
  bool contracts;              /* fill the texts of MachineResult.barriers */
  bool picture;                /* keep what happened when (MachineResult.intervals) */
  const IrViolation *pictured; /* with `picture`: of the smallest run that shows a violation of this
                                  kind at this place; NULL: of the first run */
  const Arch *const *build;    /* exact targets of the build, NULL-terminated; NULL: not known */
  /* The effect of a violation kind, as its rule says; asked only once something was found. NULL:
   * MACHINE_EFFECT_DATA of all. */
  MachineEffect (*effect)(const char *kind, void *user);
  void *effect_user;
} MachineOptions;

/* ---- facts of the host side, from running the host programs ---- */

typedef struct MachineTensorMap {
  int64_t box[5], dims[5], strides[4], elem_strides[5]; /* -1: unknown */
  int rank, data_type, swizzle, interleave;             /* cuTensorMapEncodeTiled's own enums */
  int64_t box_bytes; /* that a copy takes in shared memory; -1: unknown */
  int64_t payload;   /* bytes that a copy completes on an mbarrier where padding makes them fewer
                        (16U4_ALIGN16B, 16U6_ALIGN16B); 0: box_bytes */
  bool im2col;       /* of cuTensorMapEncodeIm2col: box = {channels, pixels, 1, ...} */
  uint32_t where;
  const char *name;
} MachineTensorMap;

typedef struct MachineLeafFact { /* a scalar of a kernel parameter, as a launch passes it */
  uint64_t offset;               /* in parameter space */
  int64_t value;                 /* INT64_MIN: unknown, or a tensor map */
  const MachineTensorMap *map;   /* or NULL */
} MachineLeafFact;

typedef struct MachineLaunch {
  const char *kernel;                    /* instantiation name */
  int64_t grid[3], block[3], cluster[3]; /* -1: unknown */
  int64_t smem;                          /* -1: unknown */
  bool pdl_attribute;                    /* programmaticStreamSerializationAllowed */
  bool pdl_known;
  bool cooperative, cooperative_known; /* all blocks run at a time, or it is refused */
  bool extended;                       /* cudaLaunchKernelEx */
  bool unreached;      /* no run of the host program on the target's device came to it */
  bool fills_the_card; /* the grid is the number of SMs, as the code asks the device */
  uint32_t where;
  KC_VEC(int64_t) args;                  /* INT64_MIN: unknown */
  KC_VEC(const MachineTensorMap *) maps; /* by parameter index; NULL where the argument is no map */
  KC_VEC(MachineLeafFact) leaves;        /* of all parameters, where the kernel is known */
} MachineLaunch;

typedef struct MachineFuncAttr {
  const char *kernel;
  int64_t attribute, value; /* INT64_MIN: unknown */
  uint32_t where;
  bool conditional; /* reached in some samples only */
} MachineFuncAttr;

typedef struct MachineHostFacts {
  KC_VEC(MachineLaunch) launches;
  KC_VEC(MachineLaunch) unreached; /* no run came to them: dimensions and shared memory only */
  KC_VEC(MachineFuncAttr) attrs;
  KC_VEC(MachineTensorMap *) maps;
} MachineHostFacts;

/* Runs every host program of `program` on a device of the target under two samples; keeps what is
 * the same under both. Violations of the host side (box over 256, stride not a multiple of 16 ...)
 * are added. */
MachineHostFacts *machine_run_hosts(const IrProgram *program, const MachineOptions *options,
                                    IrViolations *violations);

/* ---- one kernel ---- */

typedef enum MachineBarrierKind {
  MACHINE_MBARRIER,
  MACHINE_NAMED_BARRIER, /* bar.sync and bar.arrive with a number; init_count: threads */
  MACHINE_BLOCK_BARRIER, /* all threads of the block */
  MACHINE_CLUSTER_BARRIER
} MachineBarrierKind;

typedef struct MachineBarrierPart { /* copies into one array, all of a phase */
  const char *object;
  int64_t bytes; /* -1: not known */
  int copies;
} MachineBarrierPart;

typedef struct MachineBarrierUse { /* one mbarrier array, for `kcheck protocol` */
  const char *name;                /* "full" */
  int slots;
  int64_t init_count;
  KC_VEC(uint32_t) inits, arrives, waits, completions;   /* source stacks, each once */
  int64_t expect_bytes;                                  /* of a phase; -1: none or not constant */
  KC_VEC(const char *) arrive_text, wait_text, protects; /* with MachineOptions.contracts, like: */
  MachineBarrierKind kind;
  int64_t arrivals;                 /* of a whole phase, as it was seen; -1: none was */
  KC_VEC(MachineBarrierPart) parts; /* the copies that make up the bytes of a phase */
  int first_parity;                 /* of the first wait; -1: nobody waits, or waiters differ */
  int64_t phases;                   /* most that completed on one slot */
} MachineBarrierUse;

/* What one run got from outside, so that it can be done again on a card. */
typedef struct MachineReplay {
  const IrViolation *violation; /* that it shows best; NULL: an ordinary run of the kernel */
  int64_t grid[3], block[3], cluster[3];
  int64_t dynamic_smem; /* bytes; -1: not known */
  bool block_guessed, cluster_guessed;
  const uint8_t *param, *param_known; /* parameter space; a flag a byte */
  uint64_t param_bytes;
  const int64_t *pattern; /* elements of integer arrays, repeated */
  int npattern;
} MachineReplay;

/* A tensor map that copies were issued with. */
typedef struct MachineMapUse {
  uint64_t address;            /* generic: of the parameter, or where a pointer parameter points */
  const MachineTensorMap *map; /* as host code or a directive describes it; NULL: nobody does */
  int rank;
  int64_t bytes; /* of one copy, as it was inferred; 0: not known */
  int64_t room;  /* bytes of the array element that it fills; 0: not known */
  IrType scalar; /* of that array */
} MachineMapUse;

typedef struct MachineInterval { /* for `kcheck trace`: what happened when, in machine steps */
  int kind;                      /* MachineIntervalKind */
  int cta, warp;                 /* where it is; warp that does it, -1: an asynchronous agent */
  int by;                        /* CTA of that warp */
  const char *object;            /* "full[2]", "s.a[1]" */
  int stage;                     /* index in its array, or -1 */
  int64_t phase;
  uint64_t begin, end;
  uint32_t where;
  bool fault; /* at the place of the violation that is shown */
  int order;  /* 1, 2: the first and the second access of the race that is shown; 0: neither */
  bool never; /* a wait that never ends */
  const char
      *deed; /* what is done, where the kind does not tell ("tensor load", "fence.proxy.async",
                "barrier 1"), or what a wait that never ends waits for; else NULL */
} MachineInterval;

typedef enum MachineIntervalKind {
  MACHINE_LOAD,
  MACHINE_COMPUTE,
  MACHINE_STORE,
  MACHINE_WAIT,
  MACHINE_ARRIVE,
  MACHINE_BARRIER,
  MACHINE_THREAD_READ,  /* ordinary loads of a warp from shared memory */
  MACHINE_THREAD_WRITE, /* ordinary stores */
  MACHINE_PHASE_END,    /* a phase of an mbarrier completes */
  MACHINE_OTHER         /* other synchronisation: fences, commits, waits for groups, alloc */
} MachineIntervalKind;

typedef struct MachineResult {
  bool ran;      /* at least one sample ended or hung */
  bool complete; /* nothing was cut, skipped or unknown in a way that hides events */
  KC_VEC(const char *) not_checked; /* "deadlock: a call could not be lowered (line 41)" */
  KC_VEC(MachineBarrierUse) barriers;
  KC_VEC(MachineInterval)
  intervals; /* with MachineOptions.picture, in the order they begin or were issued */
  KC_VEC(MachineReplay) replays; /* first an ordinary run, then one for each violation */
  KC_VEC(MachineMapUse) maps;
  int asm_executed, asm_total;
  uint64_t steps; /* warp instructions, all samples and schedules */
  int64_t time_us;
  size_t memory;
  int tmem_columns;            /* most columns allocated at a time, -1 none */
  int max_registers_requested; /* by setmaxnreg, 0 none */
  KC_VEC(int)
  warpgroup_registers; /* last setmaxnreg count of each warpgroup of CTA 0, 0: as launched; empty:
                          no setmaxnreg ran or it is not known */
  int64_t dynamic_smem_end;   /* first byte beyond what the kernel addressed of its dynamic shared
                                 memory, over all samples; 0: none or not known */
  int64_t dynamic_smem_least; /* ... in every whole run that used any and kept the sizes which a
                                 launch gives; 0: none or not known */
  char *event_dump;           /* when asked for */
} MachineResult;

MachineResult *machine_run(KcArena *arena, const IrProgram *program, const IrKernel *kernel,
                           const MachineHostFacts *host, const MachineOptions *options,
                           IrViolations *violations);

#endif
