/* session: what the protocol half keeps between the runs of one kernel. */
#ifndef KC_MACHINE_SESSION_H
#define KC_MACHINE_SESSION_H

#include "machine/hardware/protocol.h"

/* Bytes of the copies of one instruction, inferred where no tensor map says them. */
typedef struct InferredCopy {
  const IrInsn *insn;
  int64_t bytes;       /* 0: not known, -1: contradictory */
  int64_t gap;         /* smallest distance between two destinations; 0: none */
  int64_t last_offset; /* of the last destination, -1: none in this run */
} InferredCopy;

typedef struct ContractDeed { /* one instruction at a barrier */
  const IrInsn *insn;
  uint64_t warps; /* a bit each */
  int lanes;      /* most of a warp */
  bool waits;
} ContractDeed;

typedef struct ContractTouch { /* what one barrier orders: an array and who touches it */
  const char *object, *deed;
  bool fills;
} ContractTouch;

typedef struct BarrierContract { /* one array of mbarriers, or one other barrier */
  uint64_t start, stride;        /* offset in shared memory, bytes of a slot; named: number, 0 */
  MachineBarrierUse use;
  uint64_t slots_seen; /* a bit a slot (modulo 64) */
  bool described;      /* a run that completed phases has said who arrives and waits */
  KC_VEC(ContractTouch) touches;
  KC_VEC(ContractDeed) deeds; /* of a barrier that is no mbarrier */
} BarrierContract;

typedef struct ContractTarget { /* where the copies of one instruction go */
  const IrInsn *insn;
  const char *object;
} ContractTarget;

/* A violation that a cause was found for (or only a symptom): what it speaks of. */
typedef struct Accusation {
  const char *kind;
  uint32_t barrier; /* 1 + start of the barrier array; 0: none */
  uint32_t data;    /* 1 + start of the data array; 0: none */
  int generic;      /* 0: a cause; 1, 2: a symptom */
  IrViolation *violation;
  bool degenerate; /* seen with inputs whose findings may be withheld: it explains nothing else */
} Accusation;

/* A finding of something that is missing between two instructions (cause_told.c). */
typedef struct Told {
  const char *kind;
  uint32_t where;
  int32_t first, then; /* instructions */
  IrViolation *violation;
  bool degenerate;
} Told;

typedef struct ProtocolSession {
  KC_VEC(InferredCopy) copies;
  KC_VEC(BarrierContract) contracts;
  KC_VEC(ContractTarget) targets;
  KC_VEC(const char *) arrays; /* names of arrays of elements that have parts, each once */
  KC_VEC(MachineInterval) intervals;
  bool intervals_degenerate; /* they are of a run with degenerate inputs */
  int tmem_columns, registers;
  KC_VEC(int) warpgroup_registers;
  KC_VEC(Accusation) accusations;
  KC_VEC(Told) told;
  bool rehearsal;                      /* a finding is shown again with smaller inputs */
  void *slices;                        /* slice.c: who writes each register */
  int32_t *array_of;                   /* vector.c: by instruction */
  void *patterns;                      /* pattern.c */
  void *words;                         /* words.c */
  uint8_t *linear;                     /* fragment.c: by instruction */
  void *idle;                          /* idle.c */
  uint8_t *plain_reads, *mixed_stores; /* fragment.c: by instruction: not asked, no, yes */
  void *tiles;                         /* tiles.c */
  void *shares;                        /* shares.c */
  int proxied;                         /* proxied.c: 1 concerned, -1 not, 0 not yet asked */
  void *raster;                        /* raster.c, while it runs blocks */
  uint8_t *holds;                      /* desc.c: by register, what it has of a shared address */
  uint8_t *multiplied;                 /* accumulator.c: by instruction */
} ProtocolSession;

ProtocolSession *session_protocol(MachineSession *session);

#endif
