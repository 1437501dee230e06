/* Banks of shared memory and sectors of global memory, by the addresses of the lanes of a warp.
 * Only what stands in a loop counts, in the first run, with one schedule: an access outside all
 * loops costs too little to speak of. */
#include "machine/checks/checks.h"

#include <stdlib.h>
#include <string.h>

#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

#define BANKS 32
#define BANK_WAYS 8 /* different words in one bank that are worth a word, of scalar accesses */
#define BANK_WAYS_VECTOR                                                                           \
  4                   /* ... of rows and vectors, which the compiler can't merge any further       \
                       */
#define SEEN_ENOUGH 2 /* executions that show the same */
#define SECTOR 32     /* bytes that global memory moves at least */
#define STRIDES 16

enum { PATTERN_NEW, PATTERN_CANDIDATE, PATTERN_DONE };

typedef struct Stride { /* a global access whose neighbouring lanes lie far apart */
  const IrInsn *insn;
  uint64_t first; /* address of lane 0, first execution */
  int64_t stride;
  uint64_t last;
  int executions;
  bool shared; /* something else uses the same sectors */
} Stride;

typedef struct Conflict {
  const IrInsn *insn;
  const char *who;
  uint64_t first; /* address of lane 0 when it was first seen */
  int64_t apart;  /* of lanes 0 and 1 */
  int ways;
  bool merges; /* the compiler can make one vector access of it and its neighbour */
} Conflict;

typedef struct Patterns {
  Conflict conflicts[STRIDES];
  int nconflicts;
  uint8_t *bank; /* by instruction: times a conflict was seen, then 255 */
  uint8_t *stride_state;
  Stride strides[STRIDES];
  int nstrides;
} Patterns;

static Patterns *patterns_of(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (session->patterns) return session->patterns;
  Patterns *p = KC_NEW(machine->session->arena, Patterns);
  size_t n = (size_t)machine->kernel->insns.count + 1;
  p->bank = kc_alloc(machine->session->arena, n);
  p->stride_state = kc_alloc(machine->session->arena, n);
  session->patterns = p;
  return p;
}

static bool is_watched_run(const Machine *machine) {
  return machine->sample->rank == 0 && machine->schedule == MACHINE_EAGER;
}

/* ---- banks ---- */

/* Different words in the fullest bank, of the lanes that one pass serves. */
static int fullest_bank(const MachineAccess *access, uint32_t lanes, uint32_t words) {
  uint32_t seen[BANKS][32];
  int count[BANKS] = {0}, most = 0;
  FOR_LANES(lane, lanes) {
    uint32_t word = (uint32_t)(value_raw(access->address, (int)lane) & 0xffffff) / 4;
    for (uint32_t w = word; w < word + words; w++) {
      int bank = (int)(w % BANKS), i = 0;
      while (i < count[bank] && seen[bank][i] != w)
        i++;
      if (i < count[bank] || i == 32) continue;
      seen[bank][count[bank]++] = w;
      if (count[bank] > most) most = count[bank];
    }
  }
  return most;
}

static void check_banks(Machine *machine, Strand *strand, const IrInsn *insn,
                        const MachineAccess *access) {
  uint32_t bytes = insn->vector > 1 ? insn->vector : access->bytes;
  int32_t index = (int32_t)(insn - machine->kernel->insns.items);
  uint8_t *seen = &patterns_of(machine)->bank[index];
  if (insn->vector == 1 || *seen == UINT8_MAX || access->address.uniform ||
      access->lanes != MACHINE_ALL_LANES || bytes > 16)
    return;
  if (*seen == 0 && !slice_in_loop(machine->kernel, index)) {
    *seen = UINT8_MAX;
    return;
  }
  uint32_t words = bytes < 4 ? 1 : bytes / 4, pass = 32 / words, lanes = MACHINE_ALL_LANES;
  int most = 0;
  for (uint32_t first = 0; first < 32; first += pass) {
    lanes = pass == 32 ? MACHINE_ALL_LANES : ((UINT32_C(1) << pass) - 1) << first;
    int ways = fullest_bank(access, lanes, words);
    if (ways > most) most = ways;
  }
  if (most < (words == 4 ? BANK_WAYS_VECTOR : BANK_WAYS) || ++*seen < SEEN_ENOUGH) return;
  *seen = UINT8_MAX;
  Patterns *p = patterns_of(machine);
  if (p->nconflicts == STRIDES) return;
  uint64_t a = value_raw(access->address, 0), b = value_raw(access->address, 1);
  p->conflicts[p->nconflicts++] = (Conflict){.insn = insn,
                                             .who = machine_who(machine, strand),
                                             .first = a,
                                             .apart = (int64_t)(b - a),
                                             .ways = most};
}

/* Scalars next to each other become one vector access, which has other passes. */
static void merge_neighbours(Patterns *p) {
  for (int i = 0; i < p->nconflicts; i++)
    for (int j = 0; j < p->nconflicts; j++) {
      Conflict *a = &p->conflicts[i], *b = &p->conflicts[j];
      if (i != j && a->insn->op == b->insn->op && a->first / 16 == b->first / 16 &&
          a->apart == b->apart)
        a->merges = b->merges = true;
    }
}

static void report_banks(Machine *machine, Patterns *p) {
  merge_neighbours(p);
  for (int i = 0; i < p->nconflicts; i++) {
    const Conflict *c = &p->conflicts[i];
    if (c->merges) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, c->insn, "perf-smem-bank-conflict",
        "%d different words of one bank in each pass of %s: lanes 0 and 1 lie %lld bytes apart",
        c->ways, c->who, (long long)c->apart);
    if (v) ir_violation_fact(machine->violations, v, "ways", "%d", c->ways);
  }
}

/* ---- sectors ---- */

/* The distance of neighbouring lanes where it is the same for all of them; else 0. */
static int64_t lane_stride(const MachineAccess *access) {
  int64_t stride = (int64_t)(value_raw(access->address, 1) - value_raw(access->address, 0));
  for (int lane = 2; lane < 32; lane++)
    if ((int64_t)(value_raw(access->address, lane) - value_raw(access->address, lane - 1)) !=
        stride)
      return 0;
  return stride;
}

static void start_stride(Machine *machine, Patterns *p, const IrInsn *insn,
                         const MachineAccess *access) {
  int32_t index = (int32_t)(insn - machine->kernel->insns.items);
  uint8_t *state = &p->stride_state[index];
  if (*state != PATTERN_NEW) return;
  *state = PATTERN_DONE;
  const IrOperand *address = slice_address(insn);
  if (insn->vector || access->bytes > 8 || access->kind == MACHINE_ATOMIC || !address ||
      access->lanes != MACHINE_ALL_LANES || access->address.uniform || p->nstrides == STRIDES)
    return;
  int64_t stride = lane_stride(access);
  if (llabs(stride) < SECTOR || !slice_in_loop(machine->kernel, index)) return;
  Slice slice = slice_operand(machine->session, address);
  if (slice.loads || slice.opaque || slice.scaled) return; /* the stride may be another elsewhere */
  *state = PATTERN_CANDIDATE;
  uint64_t first = value_raw(access->address, 0);
  p->strides[p->nstrides++] =
      (Stride){.insn = insn, .first = first, .stride = stride, .last = first};
}

/* Whether the access uses another word of a sector that the candidate has touched. */
static void share_sectors(Stride *s, const MachineAccess *access) {
  FOR_LANES(lane, access->lanes) {
    int64_t away = (int64_t)(value_raw(access->address, (int)lane) - s->first);
    int64_t nearest = away / s->stride, rest = away - nearest * s->stride;
    if (nearest < -1 || nearest > 32) continue;
    int64_t other = rest < 0 ? rest + llabs(s->stride) : rest - llabs(s->stride);
    if ((rest && llabs(rest) < SECTOR) || llabs(other) < SECTOR) s->shared = true;
    if (s->shared) return;
  }
}

static void check_sectors(Machine *machine, Strand *strand, const IrInsn *insn,
                          const MachineAccess *access) {
  Patterns *p = patterns_of(machine);
  if (strand->warp->index == 0) start_stride(machine, p, insn, access);
  for (int i = 0; i < p->nstrides; i++) {
    Stride *s = &p->strides[i];
    if (s->shared) continue;
    share_sectors(s, access);
    if (s->insn != insn || strand->warp->index != 0) continue;
    uint64_t at = value_raw(access->address, first_lane(access->lanes));
    if (s->executions++ && llabs((int64_t)(at - s->last)) < SECTOR) s->shared = true;
    s->last = at;
  }
}

void pattern_access(Machine *machine, Strand *strand, const IrInsn *insn,
                    const MachineAccess *access) {
  if (!is_watched_run(machine)) return;
  if (access->space == IR_SPACE_SHARED)
    check_banks(machine, strand, insn, access);
  else if (access->space == IR_SPACE_GLOBAL)
    check_sectors(machine, strand, insn, access);
}

void pattern_finish(Machine *machine) {
  if (!is_watched_run(machine) || machine->stopped || machine->stuck) return;
  Patterns *p = patterns_of(machine);
  report_banks(machine, p);
  for (int i = 0; i < p->nstrides; i++) {
    const Stride *s = &p->strides[i];
    if (s->shared || s->executions < SEEN_ENOUGH) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, s->insn, "perf-uncoalesced-stride",
        "neighbouring lanes are %lld bytes apart: each takes a sector of %d bytes to itself, and "
        "nothing else uses the rest of it",
        (long long)s->stride, SECTOR);
    if (v) ir_violation_fact(machine->violations, v, "stride", "%lld", (long long)s->stride);
  }
}
