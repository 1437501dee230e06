/* race: who touched which shared bytes last, and whether the next to touch them knows it.
 *
 * Shared memory of a CTA is kept in pages of 1 KiB, each either one history for the whole page (a
 * tile that a copy filled, that a matrix instruction reads) or one for each run of 4-byte words
 * that were touched alike. A history is the last write and the reads since. */
#ifndef KC_MACHINE_RACE_H
#define KC_MACHINE_RACE_H

#include "machine/internal.h"
#include "machine/order/clock.h"

typedef enum AccessActor {
  ACTOR_THREAD,     /* ld, st, atom: generic proxy */
  ACTOR_CP_ASYNC,   /* cp.async: generic proxy, asynchronous */
  ACTOR_TMA_LOAD,   /* bulk or tensor copy into shared memory */
  ACTOR_BULK_STORE, /* bulk or tensor copy (or reduction) out of shared memory */
  ACTOR_ST_ASYNC,   /* st.async, red.async */
  ACTOR_WGMMA,
  ACTOR_TCGEN05_MMA,
  ACTOR_TCGEN05_CP,
  ACTOR_TCGEN05_LD, /* tensor memory only, like the next */
  ACTOR_TCGEN05_ST,
  ACTOR_CLC
} AccessActor;

/* One executed access. `agent`, `lanes` and `time` say what an observer must know for the access to
 * be over; time CLOCK_NEVER: nobody can know yet. */
typedef struct Access {
  uint32_t agent, lanes, time;
  uint32_t warp, issuers; /* warp (index in the cluster) and lanes that executed it */
  uint32_t issued;        /* the warp's own time when it was executed */
  uint8_t actor;          /* AccessActor */
  bool write, atomic;
  bool value_known; /* a store of the same known value by all its lanes */
  uint64_t value;
  const IrInsn *insn;
  uint64_t step;
  uint32_t base;     /* tensor memory: first column of the region */
  uint32_t consumed; /* tcgen05.ld: 1 + the warp's own time when what it loaded was first computed
                        with; 0: not before its wait */
  bool spilled; /* tcgen05.ld: what it loaded went into local memory, where its use is not seen */
  bool accumulates;     /* tensor memory: may add to what is there */
  struct Mbar *barrier; /* that it completes on, or NULL */
  uint32_t id;          /* set by race_access */
} Access;

/* Says that two accesses of the same bytes are not ordered (or lack a proxy fence). */
typedef enum RaceKind {
  RACE_READ_AFTER_WRITE,
  RACE_WRITE_AFTER_READ,
  RACE_WRITE_AFTER_WRITE,
  RACE_NO_PROXY_FENCE
} RaceKind;

typedef struct Race {
  RaceKind kind;
  const Access *before, *now;
  int before_lane; /* whose part of `before` it is, -1: of all its lanes */
  Strand *strand;  /* that executes `now` */
  int rank;
  uint32_t offset; /* first byte at fault, in the CTA's shared memory */
} Race;

typedef struct RaceHistory RaceHistory;

RaceHistory *race_new(Machine *machine, Clocks *clocks, int ctas, uint32_t bytes);
/* Stores an access record, valid for the run. The same record is returned again when the warp
 * repeats an instruction without anything having happened in between. */
Access *race_access(RaceHistory *races, const Access *access);
/* `access` touches [offset, offset + bytes) of CTA `rank`; `strand` executes it. `lane` >= 0: the
 * part of that lane of a generic access; -1: all lanes of the access. `strand` NULL: record only.
 * Races go to cause_race. */
void race_touch(RaceHistory *races, Strand *strand, const Access *access, int lane, int rank,
                uint32_t offset, uint32_t bytes);
/* A part of rows that are permuted by their address (PTX ISA 5.5.7): bits 4 and up of a byte's
 * address are exclusive-ored with bits 7 and up of it, one for each chunk of 16 bytes that `width`
 * counts by powers of two. All in bytes but `count`. */
typedef struct RaceRows {
  uint32_t start;  /* of the part of the first row, before the permutation */
  uint32_t count;  /* rows; eight lie next to each other */
  uint32_t width;  /* of a row: 32, 64 or 128 */
  uint32_t stride; /* from eight rows to the next eight */
  uint32_t bytes;  /* of the part of each row: a multiple of 16 that stays in the row */
  uint32_t end;    /* what lies at or behind it is not touched */
} RaceRows;
/* The same for exactly the bytes of such rows. */
void race_touch_rows(RaceHistory *races, Strand *strand, const Access *access, int rank,
                     const RaceRows *rows);
/* The same for the part of each lane of `lanes`, all in one go; `places`: rank << 24 | offset. */
void race_touch_lanes(RaceHistory *races, Strand *strand, const Access *access, uint32_t lanes,
                      const uint64_t places[32], uint32_t bytes);
/* Whether `access`, of lanes whose place in [offset, offset + bytes) is not known, meets a write
 * that is not over wherever it goes (but to what its warp has stored itself); *where gets the first
 * such place. Nothing is recorded. */
bool race_wherever(RaceHistory *races, Strand *strand, const Access *access, int rank,
                   uint32_t offset, uint32_t bytes, uint32_t *where);
/* Whether nothing was left out: no race was found, and none would be found if the same accesses
 * came in another order that the synchronisation allows. */
bool race_is_exact(const RaceHistory *races);
/* The last write of a byte, or NULL. */
const Access *race_last_write(const RaceHistory *races, int rank, uint32_t offset);

#endif
