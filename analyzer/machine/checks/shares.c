/* Plain accesses of global memory by the threads of one cluster (PTX ISA 8.8, causality order):
 * barriers order them as they do shared memory, and the clocks know. What threads arrange by
 * atomics, fences and flags is not followed: once the later thread has executed anything of that
 * kind, or has met one that has, since the earlier access was made, the two count as ordered. Only
 * addresses that the code computes from the thread's place, constants and sizes count; pointers of
 * different parameters never meet. */
#include "machine/checks/checks.h"

#include "machine/execute/core.h"
#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"
#include "machine/witness/witness.h"

#define WORDS 4096 /* kept of a run; a power of two */
#define READERS 4
#define SIGHTINGS 16
#define GLOBAL_VARIABLES (UINT64_C(1) << 63)

typedef enum Watch {
  WATCH_NOT, /* the accesses of the instruction prove nothing */
  WATCH,
  WATCH_STRIDE /* rows lie apart by a parameter: a made-up one may let them overlap */
} Watch;

typedef struct Sighting { /* of a pair whose addresses depend on a stride, with made-up sizes */
  const IrInsn *first, *then;
  int64_t apart; /* threads */
  const MachineSample *sample;
} Sighting;

typedef struct SharesSession {
  uint8_t *watch; /* by instruction: Watch */
  bool any;       /* some word may be both written and read */
  bool fences;    /* there are flags or counters that a fence could belong to */
  bool blocks;    /* a barrier of the block: more warps than one are meant */
  KC_VEC(Sighting) sightings;
} SharesSession;

typedef struct Use {
  const Access *access; /* NULL: none */
  uint32_t lanes;
  uint32_t order; /* arrangements made before it */
  bool arranged;  /* its thread had taken part in one: it may have waited for the other */
  uint64_t value;
  bool value_known;
} Use;

typedef struct Word {
  uint64_t key; /* address >> 2, plus 1 */
  Use write, reads[READERS];
  uint8_t wmask, rmask; /* bytes of the word */
  bool contested;       /* several threads wrote it, whoever came last */
  bool arranged;        /* an atomic or flag, at some time */
} Word;

typedef struct Pair { /* found, reported at the end unless its word turns out to be a flag */
  Use first, then;
  int first_lane, then_lane;
  size_t word;
  uint64_t address;
  RaceKind kind;
} Pair;

typedef struct Shares {
  Word *words;
  size_t used;
  uint32_t agent, order;
  KC_VEC(Pair) pairs;
} Shares;

/* ---- the code ---- */

static const uint64_t STRONG = IR_FLAG(volatile_) | IR_FLAG(acquire) | IR_FLAG(release) |
                               IR_FLAG(acq_rel) | IR_FLAG(relaxed) | IR_FLAG(sc);

static bool is_strong(const IrInsn *insn) {
  bool memory = insn->op == IR_load || insn->op == IR_store;
  return insn->op == IR_atom || (memory && (insn->flags & STRONG));
}

/* What the address of a plain access of global memory points into; 0: it proves nothing. */
static uint64_t pointers_of(MachineSession *session, const IrInsn *insn, Watch *watch) {
  bool plain = (insn->op == IR_load && !(insn->flags & IR_FLAG(nc))) || insn->op == IR_store;
  bool global = insn->space == IR_SPACE_GLOBAL || insn->space == IR_SPACE_GENERIC ||
                insn->space == IR_SPACE_NONE;
  if (!plain || !global || is_strong(insn)) return 0;
  Slice slice = slice_operand(session, slice_address(insn));
  if (slice.loads || slice.opaque || slice.local || slice.mapped || slice.object >= 0) return 0;
  *watch = slice.scaled && slice.parameter ? WATCH_STRIDE : WATCH;
  return slice.pointers | (slice.global ? GLOBAL_VARIABLES : 0);
}

/* Whether what is stored is an index or a constant: two threads may be seen to differ in it. */
static bool stores_number(MachineSession *session, const IrInsn *insn) {
  if (insn->op != IR_store || insn->nargs != 2 || insn->type.cls == IR_CLASS_FLOAT) return false;
  Slice value = slice_operand(session, &insn->args[1]);
  return !value.loads && !value.opaque;
}

static SharesSession *session_of(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (session->shares) return session->shares;
  const IrKernel *kernel = machine->kernel;
  SharesSession *s = KC_NEW(machine->session->arena, SharesSession);
  session->shares = s;
  uint64_t written = 0, read = 0;
  uint64_t *pointers = KC_NEW_ARRAY(machine->session->arena, uint64_t, kernel->insns.count + 1);
  s->watch = KC_NEW_ARRAY(machine->session->arena, uint8_t, kernel->insns.count + 1);
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    s->fences |= is_strong(insn);
    s->blocks |=
        insn->op == IR_event && (insn->event == IR_EV_bar_sync || insn->event == IR_EV_bar_red);
    if (insn->op != IR_load && insn->op != IR_store) continue;
    Watch watch = WATCH_NOT;
    pointers[i] = pointers_of(machine->session, insn, &watch);
    s->watch[i] = (uint8_t)watch;
    *(insn->op == IR_store ? &written : &read) |= pointers[i];
    if (pointers[i] && stores_number(machine->session, insn)) read |= pointers[i];
  }
  for (int i = 0; i < kernel->insns.count; i++) {
    if (!(pointers[i] & written & read)) s->watch[i] = WATCH_NOT;
    s->any |= s->watch[i] != WATCH_NOT;
  }
  return s;
}

/* Whether the run has threads that the kernel's author meant to run at the same time. */
static bool is_meant(const Machine *machine, const SharesSession *s) {
  const MachineSample *sample = machine->sample;
  return machine->nwarps > 1 && !sample->shape_guessed && (!sample->block_guessed || s->blocks);
}

static Shares *shares_of(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (p->shares) return p->shares;
  Shares *shares = KC_NEW(machine->arena, Shares);
  shares->words = KC_NEW_ARRAY(machine->arena, Word, WORDS);
  shares->agent = clocks_agents(&p->clocks, 1);
  shares->order = 1;
  p->shares = shares;
  return shares;
}

/* ---- order ---- */

static void arrange(Machine *machine, Strand *strand, uint32_t lanes) {
  Protocol *p = protocol_of(machine);
  Shares *shares = shares_of(machine);
  lanes_raise(&p->clocks, &warp_state(strand->warp)->lanes, lanes, shares->agent, 1,
              shares->order++);
}

void shares_order(Machine *machine, Strand *strand) {
  const SharesSession *s = session_of(machine);
  if (s->any && s->fences) arrange(machine, strand, strand->active);
}

/* Whether a lane comes after `before` for all that is known. */
static bool is_over(Machine *machine, const Strand *strand, int lane, const Use *before) {
  const Protocol *p = protocol_of(machine);
  const Shares *shares = p->shares;
  const LaneClocks *clocks = &warp_state(strand->warp)->lanes;
  const Access *a = before->access;
  uint32_t bit = UINT32_C(1) << lane;
  return before->arranged || a->warp == (uint32_t)strand->warp->index ||
         lanes_know(&p->clocks, clocks, bit, a->agent, before->lanes, a->time) ||
         lanes_know(&p->clocks, clocks, bit, shares->agent, 1, before->order + 1);
}

/* ---- words ---- */

/* NULL: as many as are kept have been touched. */
static Word *word_at(Shares *shares, uint64_t word, bool make) {
  uint64_t key = word + 1;
  size_t at = (size_t)core_hash(key, 3) & (WORDS - 1);
  while (shares->words[at].key && shares->words[at].key != key)
    at = (at + 1) & (WORDS - 1);
  if (shares->words[at].key == key) return &shares->words[at];
  if (!make || shares->used * 2 > WORDS) return NULL;
  shares->used++;
  shares->words[at].key = key;
  return &shares->words[at];
}

/* The schedule let one access come before the other, and no loop leads from it back: the code means
 * it to come later. */
static bool is_turned(const Machine *machine, const IrInsn *first, const IrInsn *then) {
  const IrKernel *kernel = machine->kernel;
  int32_t from = (int32_t)(first - kernel->insns.items), to = (int32_t)(then - kernel->insns.items);
  for (int32_t i = from; i < kernel->insns.count && to < from; i++)
    if (kernel->insns.items[i].op == IR_branch && kernel->insns.items[i].target <= to) return false;
  return to < from;
}

static void note_pair(Machine *machine, const Word *word, const Use *first, const Use *then,
                      uint64_t address, RaceKind kind) {
  Shares *shares = protocol_of(machine)->shares;
  if (is_turned(machine, first->access->insn, then->access->insn)) {
    const Use *later = first;
    first = then;
    then = later;
    kind = kind == RACE_READ_AFTER_WRITE   ? RACE_WRITE_AFTER_READ
           : kind == RACE_WRITE_AFTER_READ ? RACE_READ_AFTER_WRITE
                                           : kind;
  }
  for (int i = 0; i < shares->pairs.count; i++)
    if (shares->pairs.items[i].then.access->insn == then->access->insn &&
        shares->pairs.items[i].first.access->insn == first->access->insn)
      return;
  Pair pair = {.first = *first,
               .then = *then,
               .first_lane = first_lane(first->lanes),
               .then_lane = first_lane(then->lanes),
               .word = (size_t)(word - shares->words),
               .address = address,
               .kind = kind};
  if (shares->pairs.count < 64) KC_PUSH(machine->arena, shares->pairs, pair);
}

static bool agree(const Use *a, const Use *b) {
  return a->value_known && b->value_known && a->value == b->value;
}

static void read_word(Machine *machine, const Strand *strand, Word *word, const Use *now,
                      uint8_t mask, uint64_t address) {
  int lane = first_lane(now->lanes), place = 0;
  if (word->write.access && (word->wmask & mask) && !word->contested &&
      !is_over(machine, strand, lane, &word->write))
    note_pair(machine, word, &word->write, now, address, RACE_READ_AFTER_WRITE);
  word->rmask |= mask;
  while (place < READERS - 1 && word->reads[place].access &&
         word->reads[place].access->warp != now->access->warp)
    place++;
  Use *old = &word->reads[place];
  bool same = old->access == now->access && old->order == now->order;
  uint32_t lanes = same ? old->lanes : 0;
  *old = *now;
  old->lanes |= lanes;
}

static void write_word(Machine *machine, const Strand *strand, Word *word, const Use *now,
                       uint8_t mask, uint64_t address) {
  int lane = first_lane(now->lanes);
  bool again =
      word->write.access && (word->wmask & mask) && !is_over(machine, strand, lane, &word->write);
  if (again && !word->contested && word->write.value_known && now->value_known &&
      word->write.value != now->value)
    note_pair(machine, word, &word->write, now, address, RACE_WRITE_AFTER_WRITE);
  for (int i = 0; i < READERS && (word->rmask & mask) && !again && !word->contested; i++)
    if (word->reads[i].access && !agree(&word->reads[i], now) &&
        !is_over(machine, strand, lane, &word->reads[i]))
      note_pair(machine, word, &word->reads[i], now, address, RACE_WRITE_AFTER_READ);
  word->contested = again;
  word->write = *now;
  word->wmask = mask;
  word->rmask = 0;
  for (int i = 0; i < READERS; i++)
    word->reads[i].access = NULL;
}

static void touch(Machine *machine, const Strand *strand, const MachineAccess *access, Use *use,
                  uint64_t at) {
  Shares *shares = protocol_of(machine)->shares;
  uint64_t end = at + access->bytes;
  for (uint64_t word = at >> 2; word << 2 < end; word++) {
    Word *w = word_at(shares, word, true);
    if (!w) return;
    uint64_t from = word << 2 < at ? at & 3 : 0;
    uint64_t stop = (word << 2) + 4 > end ? end & 3 : 4;
    uint8_t mask = (uint8_t)(((1u << stop) - 1) & ~((1u << from) - 1));
    uint64_t address = (word << 2) + from;
    use->value_known = core_load_lane(machine, (Strand *)strand, first_lane(use->lanes),
                                      (MachineAddress){IR_SPACE_GLOBAL, 0, address},
                                      (int)(stop - from == 3 ? 1 : stop - from), &use->value);
    if (access->kind == MACHINE_READ)
      read_word(machine, strand, w, use, mask, address);
    else
      write_word(machine, strand, w, use, mask, address);
  }
}

/* Words that an atomic or a flag's access touches are none of this file's. */
static void mark_arranged(Machine *machine, const MachineAccess *access) {
  Shares *shares = shares_of(machine);
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    Word *w = word_at(shares, at >> 2, true);
    if (w) w->arranged = true;
    if (access->address.uniform) break;
  }
}

void shares_access(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access) {
  const SharesSession *s = session_of(machine);
  if (!s->any || !is_meant(machine, s)) return;
  if (is_strong(insn) || access->kind == MACHINE_ATOMIC) {
    if (access->space == IR_SPACE_GLOBAL) mark_arranged(machine, access);
    arrange(machine, strand, access->lanes);
    return;
  }
  Watch watch = (Watch)s->watch[insn - machine->kernel->insns.items];
  if (access->space != IR_SPACE_GLOBAL || watch == WATCH_NOT || access->bytes > 64) return;
  const Shares *shares = shares_of(machine);
  const Protocol *p = protocol_of(machine);
  Use use = {.access = protocol_thread_access(machine, strand, insn, ACTOR_THREAD,
                                              access->kind != MACHINE_READ, access->lanes),
             .order = shares->order,
             .arranged =
                 shares->order > 1 && lanes_know(&p->clocks, &warp_state(strand->warp)->lanes,
                                                 access->lanes, shares->agent, 1, 1)};
  if (access->address.uniform) {
    use.lanes = access->lanes;
    touch(machine, strand, access, &use, access->address.scalar);
    return;
  }
  FOR_LANES(lane, access->lanes) {
    use.lanes = UINT32_C(1) << lane;
    touch(machine, strand, access, &use, access->address.lanes[lane]);
  }
}

/* ---- the end ---- */

static int64_t thread_of(const Machine *machine, const Use *use, int lane) {
  const Warp *warp = machine->warps[use->access->warp];
  return (int64_t)warp->cta->rank * machine->threads + warp->id * 32 + lane;
}

/* Blocks that own different words: the kernel is meant for more than one. */
static bool is_by_block(Machine *machine, const IrInsn *insn) {
  const uint64_t block = UINT64_C(7) << IR_SREG_ctaid_x | UINT64_C(7) << IR_SREG_clusterid_x |
                         UINT64_C(1) << IR_SREG_cluster_ctarank;
  return slice_operand(machine->session, slice_address(insn)).special & block;
}

/* Whether no integer that the machine chose has one value in both samples. */
static bool all_differ(const MachineSample *a, const MachineSample *b) {
  for (int i = 0; i < a->inputs.count && i < b->inputs.count; i++)
    if (!a->inputs.items[i].fixed && a->inputs.items[i].number == b->inputs.items[i].number)
      return false;
  return true;
}

/* A pair whose addresses depend on a stride that the machine made up counts when it was seen with
 * another stride, too, between threads that lie as far apart: rows that overlap would not. */
static bool is_sure(Machine *machine, SharesSession *s, const Pair *pair) {
  const IrInsn *first = pair->first.access->insn, *then = pair->then.access->insn;
  const IrInsn *insns = machine->kernel->insns.items;
  if (warp_rank(machine, pair->first.access->warp) != warp_rank(machine, pair->then.access->warp) &&
      !(is_by_block(machine, first) && is_by_block(machine, then)))
    return false;
  if (s->watch[first - insns] != WATCH_STRIDE && s->watch[then - insns] != WATCH_STRIDE)
    return true;
  if (machine->sample->free_ints == 0) return true;
  int64_t apart = thread_of(machine, &pair->then, pair->then_lane) -
                  thread_of(machine, &pair->first, pair->first_lane);
  for (int i = 0; i < s->sightings.count; i++) {
    const Sighting *seen = &s->sightings.items[i];
    if (seen->first == first && seen->then == then && seen->apart == apart &&
        all_differ(seen->sample, machine->sample))
      return true;
  }
  Sighting sighting = {first, then, apart, machine->sample};
  if (s->sightings.count < SIGHTINGS) KC_PUSH(machine->session->arena, s->sightings, sighting);
  return false;
}

static void report(Machine *machine, const Pair *pair) {
  const Access *first = pair->first.access, *then = pair->then.access;
  const char *how = pair->kind == RACE_READ_AFTER_WRITE   ? "read"
                    : pair->kind == RACE_WRITE_AFTER_READ ? "overwritten"
                                                          : "written again";
  const char *place =
      machine_place(machine, (MachineAddress){IR_SPACE_GLOBAL, 0, pair->address}, 0);
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_RACE, then->insn, "global-race-in-block",
                        "%s is %s by %s while %s may still %s it: no barrier orders the two", place,
                        how, witness_warp(machine, then->warp), witness_warp(machine, first->warp),
                        first->write ? "write" : "read");
  if (!v) return;
  ir_violation_related(machine->violations, v, first->insn->where, "%s",
                       witness_label(machine, first));
  witness_race(machine, v, first, then, "a barrier that both take part in");
}

void shares_finish(Machine *machine) {
  Shares *shares = protocol_of(machine)->shares;
  if (!shares) return;
  const CoreRun *run = core_run(machine);
  for (int i = 0; i < run->violation_check.count; i++) /* a cause of this, or of what it shows */
    if (run->violation_check.items[i] != MACHINE_CHECK_ALWAYS &&
        run->violation_check.items[i] != MACHINE_CHECK_FINISH)
      return;
  for (int i = 0; i < shares->pairs.count; i++) {
    const Pair *pair = &shares->pairs.items[i];
    if (!shares->words[pair->word].arranged && is_sure(machine, session_of(machine), pair))
      report(machine, pair);
  }
}
