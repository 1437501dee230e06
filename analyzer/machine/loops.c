/* Element loops without events that touch neither shared memory nor arrays of locals (an epilogue
 * that stores one element after the other) are gone through a few times at their start and their
 * end; what lies between is computed: every register that one iteration hands to the next must have
 * grown by the same amount twice, or be unknown. */
#include "machine/core.h"

#include <string.h>

#define MAX_CARRIED 24
#define MAX_EXITS 4
#define MAX_TRACKS 6
#define KEPT_ITERATIONS 2 /* run at the end, after the jump */
#define WORTH_SKIPPING 3

typedef struct LoopExit {
  int32_t compare; /* setp whose result leaves the loop */
  bool leaves_when;
} LoopExit;

struct CoreLoop {
  bool eligible;
  int32_t head, latch;
  int ncarried, nexits;
  int32_t carried[MAX_CARRIED];
  LoopExit exits[MAX_EXITS];
};

typedef struct {
  bool known, uniform;
  uint64_t value; /* uniform, or of the first lane */
  uint64_t lanes[32];
} Held;

typedef struct LoopTrack {
  const CoreLoop *loop;
  uint32_t mask;
  int rounds;
  uint64_t shared, local, effects;
  Held held[MAX_CARRIED];
  uint64_t delta[MAX_CARRIED];
} LoopTrack;

struct CoreTracks {
  LoopTrack items[MAX_TRACKS];
  int count;
};

/* ---- what the code says ---- */

typedef struct {
  const IrKernel *kernel;
  int32_t head, latch;
  int32_t *first_read, *last_read; /* of each register, in the whole kernel */
} Scan;

static void note_read(Scan *s, const IrOperand *operand, int32_t at) {
  if (operand->kind == IR_OPD_REG) {
    int32_t reg = operand->id;
    if (s->first_read[reg] < 0) s->first_read[reg] = at;
    s->last_read[reg] = at;
  }
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    note_read(s, &operand->list[i], at);
}

static void find_reads(Scan *s) {
  for (int i = 0; i < s->kernel->regs.count; i++)
    s->first_read[i] = s->last_read[i] = -1;
  for (int32_t at = 0; at < s->kernel->insns.count; at++) {
    const IrInsn *insn = &s->kernel->insns.items[at];
    int written = core_destinations(insn);
    for (int i = written; i < insn->nargs; i++)
      note_read(s, &insn->args[i], at);
    if (insn->guard >= 0) note_read(s, &(IrOperand){.kind = IR_OPD_REG, .id = insn->guard}, at);
  }
}

static bool op_is_harmless(const IrInsn *insn) {
  return insn->op != IR_event && insn->op != IR_exit && insn->op != IR_trap &&
         insn->op != IR_branch_index && insn->op != IR_atom && insn->op != IR_copy &&
         insn->op != IR_fill && insn->op != IR_havoc;
}

/* Registers written between a forward branch and its target are nobody else's. */
static bool region_is_private(const Scan *s, int32_t from, int32_t to) {
  for (int32_t at = from; at < to; at++) {
    const IrInsn *insn = &s->kernel->insns.items[at];
    for (int i = 0; i < core_destinations(insn); i++) {
      if (insn->args[i].kind != IR_OPD_REG) continue;
      int32_t reg = insn->args[i].id;
      if (s->kernel->regs.items[reg].cell && s->first_read[reg] < 0) return false;
      if (s->first_read[reg] >= 0 && (s->first_read[reg] < from || s->last_read[reg] >= to))
        return false;
    }
  }
  return true;
}

/* A branch out of an inner loop: its target follows a jump back to or before the branch. */
static bool leaves_inner_loop(const Scan *s, int32_t at, int32_t target) {
  const IrInsn *before = &s->kernel->insns.items[target - 1];
  return before->op == IR_branch && before->target <= at && target - 1 > at;
}

static bool find_compare(const Scan *s, int32_t branch, LoopExit *out) {
  const IrInsn *insn = &s->kernel->insns.items[branch];
  for (int32_t at = branch - 1; at >= s->head; at--) {
    const IrInsn *def = &s->kernel->insns.items[at];
    if (def->leader && at != s->head) return false;
    for (int i = 0; i < core_destinations(def); i++) {
      if (def->args[i].kind != IR_OPD_REG || def->args[i].id != insn->guard) continue;
      bool integer = def->op == IR_setp && i == 0 && def->guard < 0 &&
                     (def->type.cls == IR_CLASS_UINT || def->type.cls == IR_CLASS_SINT);
      *out = (LoopExit){.compare = at, .leaves_when = !insn->guard_negated};
      return integer;
    }
  }
  return false;
}

static bool check_branch(const Scan *s, CoreLoop *loop, int32_t at) {
  const IrInsn *insn = &s->kernel->insns.items[at];
  if (insn->target < s->head) return false;
  if (insn->target > s->latch) {
    if (insn->guard < 0 || loop->nexits == MAX_EXITS) return false;
    return find_compare(s, at, &loop->exits[loop->nexits++]);
  }
  if (insn->target <= at || insn->guard < 0) return insn->guard < 0 || at == s->latch;
  return leaves_inner_loop(s, at, insn->target) || region_is_private(s, at + 1, insn->target);
}

static bool carry(CoreLoop *loop, int32_t reg) {
  for (int i = 0; i < loop->ncarried; i++)
    if (loop->carried[i] == reg) return true;
  if (loop->ncarried == MAX_CARRIED) return false;
  loop->carried[loop->ncarried++] = reg;
  return true;
}

/* Registers that are read before they are written in the body, and written there. */
static bool find_carried(const Scan *s, CoreLoop *loop) {
  uint8_t *state = g_new0(uint8_t, s->kernel->regs.count + 1); /* 1: read first, 2: written first */
  bool ok = true;
  for (int32_t at = s->head; at <= s->latch && ok; at++) {
    const IrInsn *insn = &s->kernel->insns.items[at];
    int written = core_destinations(insn);
    if (insn->guard >= 0 && insn->op != IR_branch && written > 0) ok = false;
    for (int i = written; i < insn->nargs; i++) {
      if (insn->args[i].kind == IR_OPD_VECTOR) ok = false;
      if (insn->args[i].kind == IR_OPD_REG && !state[insn->args[i].id]) state[insn->args[i].id] = 1;
    }
    for (int i = 0; i < written && ok; i++) {
      if (insn->args[i].kind != IR_OPD_REG) continue;
      uint8_t *seen = &state[insn->args[i].id];
      if (*seen == 1) ok = carry(loop, insn->args[i].id);
      if (*seen == 0) *seen = 2;
    }
  }
  g_free(state);
  return ok;
}

static const CoreLoop *loop_at(Machine *machine, int32_t latch) {
  CoreRegion *region = &core_session(machine)->regions[latch];
  if (region->loop) return region->loop;
  const IrKernel *kernel = machine->kernel;
  CoreLoop *loop = KC_NEW(machine->session->arena, CoreLoop);
  region->loop = loop;
  loop->head = kernel->insns.items[latch].target;
  loop->latch = latch;
  Scan s = {.kernel = kernel,
            .head = loop->head,
            .latch = latch,
            .first_read = g_new(int32_t, kernel->regs.count + 1),
            .last_read = g_new(int32_t, kernel->regs.count + 1)};
  bool ok = true;
  for (int32_t at = s.head; at <= latch && ok; at++)
    ok = op_is_harmless(&kernel->insns.items[at]);
  if (ok) find_reads(&s);
  for (int32_t at = s.head; at <= latch && ok; at++)
    if (kernel->insns.items[at].op == IR_branch && at != latch) ok = check_branch(&s, loop, at);
  if (ok && kernel->insns.items[latch].guard >= 0) {
    /* do { } while: leaving is falling through. */
    ok = loop->nexits < MAX_EXITS && find_compare(&s, latch, &loop->exits[loop->nexits]);
    loop->exits[loop->nexits].leaves_when = !loop->exits[loop->nexits].leaves_when;
    loop->nexits++;
  }
  loop->eligible = ok && loop->nexits > 0 && find_carried(&s, loop);
  g_free(s.first_read);
  g_free(s.last_read);
  return loop;
}

/* ---- what the run shows ---- */

static Held hold(const Strand *strand, int32_t id) {
  const MachineReg *reg = &strand->warp->regs[id];
  Held out = {.known = (reg->known & strand->mask) == strand->mask, .uniform = reg->lanes == NULL};
  if (reg->lanes) {
    memcpy(out.lanes, reg->lanes, sizeof out.lanes);
    out.value = reg->lanes[__builtin_ctz(strand->mask)];
  } else {
    out.value = reg->scalar;
  }
  return out;
}

static uint64_t lane_of(const Held *h, uint32_t lane) {
  return h->uniform ? h->value : h->lanes[lane];
}

/* By how much a register grew, the same in all lanes; unknown registers stay unknown. */
static bool growth(const Strand *strand, const Held *before, const Held *now, int bytes,
                   uint64_t *out) {
  *out = 0;
  if (before->known != now->known) return false;
  if (!now->known) return true;
  uint64_t mask = core_width_mask(bytes);
  *out = (now->value - before->value) & mask;
  FOR_LANES(lane, strand->mask) {
    if (((lane_of(now, lane) - lane_of(before, lane)) & mask) != *out) return false;
  }
  return true;
}

/* Value of a compare's operand as a signed number now, and what it grows by; false when it is
 * neither carried nor constant over the loop. */
static bool operand_line(Machine *machine, Strand *strand, const LoopTrack *track,
                         const IrOperand *operand, IrType type, uint32_t lane, int64_t *value,
                         int64_t *step) {
  *step = 0;
  uint64_t raw;
  if (!value_lane(machine_read(machine, strand, operand), (int)lane, &raw)) return false;
  *value = (int64_t)core_extend(raw, type);
  if (operand->kind != IR_OPD_REG)
    return operand->kind == IR_OPD_IMM || operand->kind == IR_OPD_SPECIAL;
  const CoreLoop *loop = track->loop;
  for (int i = 0; i < loop->ncarried; i++) {
    if (loop->carried[i] != operand->id) continue;
    IrType signed_type = IR_TYPE_S(core_session(machine)->reg_type[operand->id].bytes);
    *step = (int64_t)core_extend(track->delta[i], signed_type);
    return true;
  }
  for (int32_t at = loop->head; at <= loop->latch; at++) {
    const IrInsn *insn = &machine->kernel->insns.items[at];
    for (int i = 0; i < core_destinations(insn); i++)
      if (insn->args[i].kind == IR_OPD_REG && insn->args[i].id == operand->id) return false;
  }
  return true;
}

/* Rounds that are complete before difference + k * step satisfies the compare (k = 0, 1 ...). */
static int64_t rounds_until(IrCompare how, bool wanted, int64_t difference, int64_t step) {
  static const IrCompare opposite[] = {IR_CMP_ne, IR_CMP_eq, IR_CMP_ge,
                                       IR_CMP_gt, IR_CMP_le, IR_CMP_lt};
  if (!wanted) how = opposite[how];
  if (how == IR_CMP_le) difference -= 1; /* d <= 0 is d - 1 < 0 */
  if (how == IR_CMP_ge) difference += 1;
  switch (how) {
  case IR_CMP_lt:
  case IR_CMP_le:
    if (difference < 0) return 0;
    return step < 0 ? difference / -step + 1 : INT64_MAX;
  case IR_CMP_gt:
  case IR_CMP_ge:
    if (difference > 0) return 0;
    return step > 0 ? -difference / step + 1 : INT64_MAX;
  case IR_CMP_eq:
    if (difference == 0) return 0;
    return step != 0 && difference % step == 0 && -difference / step > 0 ? -difference / step
                                                                         : INT64_MAX;
  case IR_CMP_ne: return difference != 0 ? 0 : step != 0 ? 1 : INT64_MAX;
  }
  return 0;
}

/* Complete rounds that are left for every lane; 0 when that can't be told. */
static int64_t rounds_left(Machine *machine, Strand *strand, const LoopTrack *track) {
  int64_t least = INT64_MAX;
  for (int e = 0; e < track->loop->nexits; e++) {
    const LoopExit *exit = &track->loop->exits[e];
    const IrInsn *setp = &machine->kernel->insns.items[exit->compare];
    const IrOperand *a = &setp->args[setp->nargs - 2], *b = &setp->args[setp->nargs - 1];
    FOR_LANES(lane, strand->mask) {
      int64_t x, y, dx, dy;
      if (!operand_line(machine, strand, track, a, setp->type, lane, &x, &dx) ||
          !operand_line(machine, strand, track, b, setp->type, lane, &y, &dy))
        return 0;
      const int64_t far = INT64_C(1) << 40;
      if (x > far || x < -far || y > far || y < -far) return 0;
      int64_t rounds = rounds_until((IrCompare)setp->sub, exit->leaves_when, x - y, dx - dy);
      if (rounds < least) least = rounds;
    }
  }
  return least == INT64_MAX ? 0 : least;
}

static void skip(Machine *machine, Strand *strand, const LoopTrack *track, int64_t rounds) {
  for (int i = 0; i < track->loop->ncarried; i++) {
    int32_t reg = track->loop->carried[i];
    uint64_t grown = track->delta[i] * (uint64_t)rounds;
    if (!track->held[i].known || grown == 0) continue;
    Value v = machine_read(machine, strand, &(IrOperand){.kind = IR_OPD_REG, .id = reg});
    uint64_t *out = core_scratch(machine);
    FOR_LANES(lane, strand->mask)
    out[lane] = value_raw(v, (int)lane) + grown;
    core_write_reg(machine, strand, reg,
                   value_from_lanes(machine, out, MACHINE_ALL_LANES, strand->mask), strand->mask);
  }
}

static LoopTrack *track_for(Machine *machine, Strand *strand, const CoreLoop *loop) {
  if (!strand->loops) strand->loops = KC_NEW(machine->arena, CoreTracks);
  CoreTracks *tracks = strand->loops;
  LoopTrack *found = NULL;
  for (int i = 0; i < tracks->count; i++) {
    LoopTrack *track = &tracks->items[i];
    if (track->loop == loop) found = track;
    /* A new round of an outer loop starts the inner ones afresh. */
    if (track->loop->head >= loop->head && track->loop->latch < loop->latch) track->rounds = 0;
  }
  if (found) return found;
  LoopTrack *fresh =
      &tracks->items[tracks->count < MAX_TRACKS ? tracks->count++ : loop->latch % MAX_TRACKS];
  fresh->loop = loop;
  fresh->rounds = 0;
  return fresh;
}

void core_loop_back(Machine *machine, Strand *strand) {
  const CoreLoop *loop = loop_at(machine, strand->pc);
  LoopTrack *track = track_for(machine, strand, loop);
  if (!loop->eligible) return;
  const CoreRun *run = core_run(machine);
  bool quiet = track->rounds > 0 && track->mask == strand->mask &&
               track->shared == run->shared_touches && track->local == run->local_stores &&
               track->effects == run->effects;
  bool steady = quiet;
  for (int i = 0; i < loop->ncarried; i++) {
    Held now = hold(strand, loop->carried[i]);
    uint64_t grown = 0;
    int bytes = core_session(machine)->reg_type[loop->carried[i]].bytes;
    bool lines = quiet && growth(strand, &track->held[i], &now, bytes, &grown);
    steady &= lines && (track->rounds < 2 || grown == track->delta[i]);
    track->held[i] = now;
    track->delta[i] = grown;
  }
  track->rounds = steady ? track->rounds + 1 : 1;
  track->mask = strand->mask;
  track->shared = run->shared_touches;
  track->local = run->local_stores;
  track->effects = run->effects;
  if (track->rounds < 3) return;
  int64_t left = rounds_left(machine, strand, track) - KEPT_ITERATIONS;
  if (left < WORTH_SKIPPING) return;
  skip(machine, strand, track, left);
  track->rounds = 0;
}
