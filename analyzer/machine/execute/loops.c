/* Element loops without events whose rounds touch the same shared memory (an epilogue that stores
 * one element after the other) are gone through a few times at their start and their end; what lies
 * between is computed: every register that one iteration hands to the next must have grown by the
 * same amount twice, or be unknown, and what is stored to arrays of locals must be the same value,
 * or unknown, at addresses that grow like that. */
#include "machine/execute/core.h"

#include <string.h>

#define MAX_CARRIED 24
#define MAX_EXITS 4
#define MAX_TRACKS 12     /* loops of a warp that are followed at a time */
#define KEPT_ITERATIONS 2 /* run at the end, after the jump */
#define WORTH_SKIPPING 3
#define MAX_LOCALS 64 /* accesses to computed local addresses in one round */
#define LOGGED 256    /* such accesses of a warp that are remembered */

typedef struct LoopExit {
  int32_t compare; /* setp whose result leaves the loop */
  bool leaves_when;
} LoopExit;

struct CoreLoop {
  bool eligible;
  bool converges; /* has operations that all lanes of the warp run together */
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
  uint64_t used; /* machine step */
  uint64_t effects;
  uint64_t shared, shared_round; /* sum of shared accesses so far, and what the last round added */
  uint64_t local, local_round;   /* the same for stores to computed local addresses */
  uint64_t accesses, accesses_round; /* to such addresses so far, and in the last round */
  Held *held;                        /* by carried register */
  uint64_t *delta;
  int room; /* of both */
} LoopTrack;

typedef struct {
  LoopTrack items[MAX_TRACKS];
  int count;
  CoreLocalAccess *log; /* the last LOGGED ones; NULL before the first */
  uint64_t logged;
} Tracks;

/* ---- what the code says ---- */

typedef struct {
  const IrKernel *kernel;
  int32_t head, latch;
  int32_t *first_read, *last_read; /* of each register, in the whole kernel */
} Scan;

/* Calls `visit` for each register operand of an instruction, vectors unrolled, reads first. */
typedef bool (*RegVisit)(int32_t reg, bool written, int32_t at, void *user);

static bool each_in(const IrOperand *operand, bool written, int32_t at, RegVisit visit,
                    void *user) {
  if (operand->kind == IR_OPD_REG) return visit(operand->id, written, at, user);
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    if (!each_in(&operand->list[i], written, at, visit, user)) return false;
  return true;
}

static bool each_reg(const IrInsn *insn, int32_t at, RegVisit visit, void *user) {
  if (insn->guard >= 0 && !visit(insn->guard, false, at, user)) return false;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < insn->nargs; i++)
      if (core_operand_is_written(insn, i) == (pass == 1) &&
          !each_in(&insn->args[i], pass == 1, at, visit, user))
        return false;
  return true;
}

static bool note_read(int32_t reg, bool written, int32_t at, void *user) {
  Scan *s = user;
  if (written) return true;
  if (s->first_read[reg] < 0) s->first_read[reg] = at;
  s->last_read[reg] = at;
  return true;
}

static void find_reads(Scan *s) {
  for (int i = 0; i < s->kernel->regs.count; i++)
    s->first_read[i] = s->last_read[i] = -1;
  for (int32_t at = 0; at < s->kernel->insns.count; at++)
    each_reg(&s->kernel->insns.items[at], at, note_read, s);
}

static bool op_is_harmless(const IrInsn *insn) {
  if (insn->op == IR_event)
    return insn->event == IR_EV_shfl || insn->event == IR_EV_vote || insn->event == IR_EV_match ||
           insn->event == IR_EV_redux || insn->event == IR_EV_activemask ||
           insn->event == IR_EV_mma_sync || insn->event == IR_EV_other;
  return insn->op != IR_exit && insn->op != IR_trap && insn->op != IR_branch_index &&
         insn->op != IR_atom && insn->op != IR_copy && insn->op != IR_fill && insn->op != IR_havoc;
}

typedef struct {
  const Scan *scan;
  int32_t from, to;
} Region;

static bool stays_inside(int32_t reg, bool written, int32_t at, void *user) {
  const Region *r = user;
  const Scan *s = r->scan;
  (void)at;
  if (!written) return true;
  if (s->first_read[reg] < 0) return true;
  return s->first_read[reg] >= r->from && s->last_read[reg] < r->to;
}

/* Registers written between a forward branch and its target are nobody else's. */
static bool region_is_private(const Scan *s, int32_t from, int32_t to) {
  Region region = {s, from, to};
  for (int32_t at = from; at < to; at++)
    if (!each_reg(&s->kernel->insns.items[at], at, stays_inside, &region)) return false;
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

typedef struct {
  CoreLoop *loop;
  uint8_t *state; /* of each register: 1 read first, 2 written first */
} Flow;

static bool follow_reg(int32_t reg, bool written, int32_t at, void *user) {
  Flow *flow = user;
  (void)at;
  if (written && flow->state[reg] == 1) return carry(flow->loop, reg);
  if (flow->state[reg] == 0) flow->state[reg] = written ? 2 : 1;
  return true;
}

static bool writes_register(const IrInsn *insn) {
  for (int i = 0; i < insn->nargs; i++)
    if (core_operand_is_written(insn, i)) return true;
  return false;
}

/* Registers that are read before they are written in the body, and written there. */
static bool find_carried(const Scan *s, CoreLoop *loop) {
  Flow flow = {loop, g_new0(uint8_t, s->kernel->regs.count + 1)};
  bool ok = true;
  for (int32_t at = s->head; at <= s->latch && ok; at++) {
    const IrInsn *insn = &s->kernel->insns.items[at];
    bool conditional = insn->guard >= 0 && insn->op != IR_branch;
    ok = !(conditional && writes_register(insn)) && each_reg(insn, at, follow_reg, &flow);
  }
  g_free(flow.state);
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
  for (int32_t at = s.head; at <= latch; at++)
    loop->converges |= kernel->insns.items[at].op == IR_event;
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

static bool is_not_written(int32_t reg, bool written, int32_t at, void *user) {
  (void)at;
  return !written || reg != *(const int32_t *)user;
}

typedef struct Line { /* the operand of a compare */
  Value now;
  IrType type;
  int64_t step; /* what it grows by in a round */
} Line;

/* False when the operand is neither carried nor constant over the loop. */
static bool operand_line(Machine *machine, Strand *strand, const LoopTrack *track,
                         const IrOperand *operand, IrType type, Line *out) {
  *out = (Line){.now = machine_read(machine, strand, operand), .type = type};
  if ((out->now.known & strand->mask) != strand->mask) return false;
  if (operand->kind != IR_OPD_REG)
    return operand->kind == IR_OPD_IMM || operand->kind == IR_OPD_SPECIAL;
  const CoreLoop *loop = track->loop;
  for (int i = 0; i < loop->ncarried; i++) {
    if (loop->carried[i] != operand->id) continue;
    IrType signed_type = IR_TYPE_S(core_session(machine)->reg_type[operand->id].bytes);
    out->step = (int64_t)core_extend(track->delta[i], signed_type);
    return true;
  }
  int32_t wanted = operand->id;
  for (int32_t at = loop->head; at <= loop->latch; at++)
    if (!each_reg(&machine->kernel->insns.items[at], at, is_not_written, &wanted)) return false;
  return true;
}

static int64_t line_at(const Line *line, int lane) {
  return (int64_t)core_extend(value_raw(line->now, lane), line->type);
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
    Line a, b;
    if (!operand_line(machine, strand, track, &setp->args[setp->nargs - 2], setp->type, &a) ||
        !operand_line(machine, strand, track, &setp->args[setp->nargs - 1], setp->type, &b))
      return 0;
    uint32_t lanes = strand->mask;
    if (a.now.uniform && b.now.uniform) lanes &= -lanes;
    FOR_LANES(lane, lanes) {
      int64_t x = line_at(&a, (int)lane), y = line_at(&b, (int)lane);
      const int64_t far = INT64_C(1) << 40;
      if (x > far || x < -far || y > far || y < -far) return 0;
      int64_t rounds =
          rounds_until((IrCompare)setp->sub, exit->leaves_when, x - y, a.step - b.step);
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

void core_loop_local(Strand *strand, const CoreLocalAccess *access) {
  Warp *warp = strand->warp;
  if (access->store)
    warp->local_sum += core_hash(access->address, access->known ? access->value + 1 : 0);
  Tracks *tracks = warp->loops;
  if (!tracks) return;
  if (!tracks->log) tracks->log = KC_NEW_ARRAY(warp->cta->machine->arena, CoreLocalAccess, LOGGED);
  CoreLocalAccess *log = &tracks->log[tracks->logged++ % LOGGED];
  *log = *access;
  if (!access->known) log->value = 0;
}

/* Whether the local accesses of this round repeat those of the last, at addresses that grew by the
 * same amounts as the round before. */
static bool locals_repeat(Tracks *tracks, const LoopTrack *track, const Strand *strand) {
  uint64_t count = tracks->logged - track->accesses;
  if (count > MAX_LOCALS || count * 2 > tracks->logged ||
      (track->rounds >= 2 && count != track->accesses_round))
    return false;
  bool same = true;
  for (uint64_t i = 0; i < count; i++) {
    CoreLocalAccess *now = &tracks->log[(track->accesses + i) % LOGGED];
    const CoreLocalAccess *before = &tracks->log[(track->accesses + i - count) % LOGGED];
    now->delta = now->address - before->address;
    same &= now->pc >= 0 && now->pc == before->pc && now->lanes == strand->mask &&
            before->lanes == now->lanes && now->bytes == before->bytes &&
            now->known == before->known && now->value == before->value &&
            (track->rounds < 2 || now->delta == before->delta);
  }
  return same;
}

static void replay_one(Machine *machine, Strand *strand, const CoreLocalAccess *access,
                       uint64_t address) {
  if (!access->store) {
    int32_t reg = core_find_cell(machine->session, address, access->bytes);
    if (reg >= 0 && strand->warp->regs[reg].watched)
      protocol_reg_read(machine, strand, &machine->kernel->insns.items[access->pc], reg);
    return;
  }
  int32_t reg = core_make_cell(machine->session, address, access->bytes);
  if (reg < 0) return;
  Value v = access->known ? value_known(access->value) : value_fresh(machine);
  core_write_reg(machine, strand, reg, v, strand->mask);
}

/* The local accesses of the rounds that are passed over, which come after the last one. */
static void replay_locals(Machine *machine, Strand *strand, const Tracks *tracks,
                          const LoopTrack *track, int64_t rounds) {
  uint64_t count = track->accesses_round;
  int32_t pc = strand->pc;
  for (int64_t k = 1; k <= rounds; k++) {
    for (uint64_t i = 0; i < count; i++) {
      const CoreLocalAccess *access = &tracks->log[(tracks->logged - count + i) % LOGGED];
      if (access->delta == 0) continue;
      strand->pc = access->pc;
      replay_one(machine, strand, access, access->address + (uint64_t)k * access->delta);
    }
  }
  strand->pc = pc;
}

static LoopTrack *track_for(Machine *machine, Strand *strand, const CoreLoop *loop) {
  Warp *warp = strand->warp;
  if (!warp->loops) warp->loops = KC_NEW(machine->arena, Tracks);
  Tracks *tracks = warp->loops;
  LoopTrack *found = NULL;
  for (int i = 0; i < tracks->count; i++) {
    LoopTrack *track = &tracks->items[i];
    if (track->loop == loop && track->mask == strand->mask) found = track;
    /* A new round of an outer loop starts the inner ones afresh. */
    if (track->mask == strand->mask && track->loop->head >= loop->head &&
        track->loop->latch < loop->latch)
      track->rounds = 0;
  }
  if (!found) {
    found = &tracks->items[0];
    for (int i = 1; i < tracks->count; i++)
      if (tracks->items[i].used < found->used) found = &tracks->items[i];
    if (tracks->count < MAX_TRACKS) found = &tracks->items[tracks->count++];
    found->loop = loop;
    found->mask = strand->mask;
    found->rounds = 0;
    if (found->room < loop->ncarried) {
      found->room = loop->ncarried;
      found->held = KC_NEW_ARRAY(machine->arena, Held, found->room);
      found->delta = KC_NEW_ARRAY(machine->arena, uint64_t, found->room);
    }
  }
  found->used = machine->step;
  return found;
}

void core_loop_back(Machine *machine, Strand *strand) {
  const CoreLoop *loop = loop_at(machine, strand->pc);
  LoopTrack *track = track_for(machine, strand, loop);
  /* Lanes that have to meet in the loop must pass over the same rounds. */
  if (!loop->eligible || (loop->converges && strand->mask != strand->warp->alive)) return;
  Tracks *tracks = strand->warp->loops;
  const Warp *warp = strand->warp;
  bool quiet = track->rounds > 0 && track->mask == strand->mask && track->effects == warp->effects;
  uint64_t shared_round = warp->shared_sum - track->shared;
  uint64_t local_round = warp->local_sum - track->local;
  bool moves = quiet && locals_repeat(tracks, track, strand);
  bool steady = quiet && (track->rounds < 2 || (shared_round == track->shared_round &&
                                                (moves || local_round == track->local_round)));
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
  track->shared = warp->shared_sum;
  track->shared_round = shared_round;
  track->local = warp->local_sum;
  track->local_round = local_round;
  track->accesses_round = tracks->logged - track->accesses;
  track->accesses = tracks->logged;
  track->effects = warp->effects;
  if (track->rounds < 3) return;
  int64_t left = rounds_left(machine, strand, track) - KEPT_ITERATIONS;
  if (left < WORTH_SKIPPING) return;
  skip(machine, strand, track, left);
  if (moves) replay_locals(machine, strand, tracks, track, left);
  track->rounds = 0;
}
