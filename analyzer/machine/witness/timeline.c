#include "machine/witness/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "machine/inputs/sample.h"
#include "machine/session.h"
#include "machine/witness/contract.h"
#include "machine/witness/witness.h"

#define TIMELINE_MOST 6000

typedef struct Mark {
  uint8_t kind;
  int16_t cta, warp, by; /* by: CTA of the warp */
  bool shared;           /* offset names a place in shared memory */
  bool tensor;           /* offset is a column of tensor memory */
  uint32_t offset;
  int64_t phase;
  uint64_t begin, end;
  const IrInsn *insn;
  uint32_t group; /* wgmma: commit group, until it is waited for; else 0 */
  bool never;
  const char *deed; /* MachineInterval.deed */
} Mark;

/* The last ordinary accesses of a warp: more of them in the same slot make the mark longer. */
typedef struct Streak {
  uint32_t from, end; /* of the slot, in shared memory */
  int rank, mark;     /* index + 1 */
} Streak;

typedef struct RaceShown {
  const IrViolation *violation;
  const IrInsn *first, *second;
  uint64_t first_step, second_step;
} RaceShown;

typedef struct Timeline {
  KC_VEC(Mark) marks;
  int *loading; /* access id -> 1 + mark */
  uint32_t nloading;
  uint64_t *blocked; /* by warp: step at which it fell asleep, 0: awake */
  Streak *streaks;   /* by warp: reads, then writes */
  KC_VEC(RaceShown) races;
  uint64_t operand_step; /* of the last operand of a tensor instruction, plus 1 */
  int open;              /* marks of a wgmma group that has not been waited for */
} Timeline;

#define STREAK_GAP 48 /* steps between two accesses that are still one stretch */
#define LOOK_BACK 32

static Timeline *timeline_of(const Machine *machine) {
  return protocol_of(machine)->timeline;
}

void timeline_init(Machine *machine) {
  Timeline *t = KC_NEW(machine->arena, Timeline);
  t->blocked = KC_NEW_ARRAY(machine->arena, uint64_t, machine->nwarps);
  t->streaks = KC_NEW_ARRAY(machine->arena, Streak, 2 * machine->nwarps);
  protocol_of(machine)->timeline = t;
}

static bool wanted(const Machine *machine) {
  return machine->session->options->picture;
}

static Mark *add(Machine *machine, MachineIntervalKind kind, const Strand *strand,
                 const IrInsn *insn) {
  Timeline *t = timeline_of(machine);
  if (!wanted(machine) || t->marks.count >= TIMELINE_MOST) return NULL;
  Mark mark = {.kind = (uint8_t)kind,
               .cta = (int16_t)strand->warp->cta->rank,
               .by = (int16_t)strand->warp->cta->rank,
               .warp = (int16_t)strand->warp->id,
               .phase = -1,
               .begin = machine->step,
               .end = machine->step + 1,
               .insn = insn};
  KC_PUSH(machine->arena, t->marks, mark);
  return &t->marks.items[t->marks.count - 1];
}

void timeline_load(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t offset, Mbar *bar) {
  Timeline *t = timeline_of(machine);
  contract_copy(machine, strand, access, bar, offset);
  Mark *mark = add(machine, MACHINE_LOAD, strand, access->insn);
  if (!mark) return;
  mark->cta = (int16_t)rank;
  mark->shared = true;
  mark->offset = offset;
  mark->phase = bar ? bar->phase : -1;
  mark->deed = witness_actor(access);
  if (access->id >= t->nloading) {
    uint32_t n = access->id * 2 + 64;
    t->loading = kc_grow(machine->arena, t->loading, sizeof(int) * t->nloading, sizeof(int) * n);
    t->nloading = n;
  }
  t->loading[access->id] = t->marks.count;
}

void timeline_landed(Machine *machine, const Access *access) {
  Timeline *t = timeline_of(machine);
  if (!access || access->id >= t->nloading || !t->loading[access->id]) return;
  t->marks.items[t->loading[access->id] - 1].end = machine->step + 1;
}

void timeline_store(Machine *machine, const Strand *strand, const Access *access, int rank,
                    uint32_t offset) {
  Mark *mark = add(machine, MACHINE_STORE, strand, access->insn);
  if (!mark) return;
  mark->deed = witness_actor(access);
  mark->cta = (int16_t)rank;
  mark->shared = true;
  mark->offset = offset;
}

/* A mark of the same kind, warp and slot among the last few. */
static Mark *recent(Timeline *t, MachineIntervalKind kind, int warp, uint32_t from, uint32_t end) {
  for (int i = t->marks.count - 1; i >= 0 && i >= t->marks.count - LOOK_BACK; i--) {
    Mark *m = &t->marks.items[i];
    if (m->kind == kind && m->warp == warp && m->shared && m->offset >= from && m->offset < end)
      return m;
  }
  return NULL;
}

/* What has no name inside an object is one place with all of it. */
static void object_of(Machine *machine, uint32_t offset, uint32_t *from, uint32_t *end) {
  uint64_t within = 0;
  int id = machine_shared_object(machine, offset, &within);
  const IrObject *object = id >= 0 ? &machine->kernel->objects.items[id] : NULL;
  if (!object || object->dynamic) return;
  *from = (uint32_t)(offset - within);
  *end = *from + (uint32_t)object->bytes;
}

/* Lanes of one instruction that touch parts of elements: one mark. */
static bool same_deed(Timeline *t, MachineIntervalKind kind, const Machine *machine,
                      const Strand *strand, const IrInsn *insn, uint32_t from, uint32_t end) {
  enum { PART = 16 };
  const Mark *last = t->marks.count ? &t->marks.items[t->marks.count - 1] : NULL;
  return last && end - from <= PART && last->kind == kind && last->insn == insn &&
         last->warp == strand->warp->id && last->end == machine->step + 1;
}

/* The slot (element of the array) that holds an offset. */
static void slot_of(Machine *machine, uint32_t offset, uint32_t *from, uint32_t *end) {
  uint64_t start;
  const IrField *field = machine_shared_field(machine, offset, &start);
  *from = offset;
  *end = offset + 1;
  if (!field) object_of(machine, offset, from, end);
  if (!field || !field->elem_bytes) return;
  bool flat = field->elem_bytes == field->scalar.bytes;
  uint64_t bytes = flat ? field->elem_bytes * field->count : field->elem_bytes;
  *from = (uint32_t)(start + (offset - start) / bytes * bytes);
  *end = *from + (uint32_t)bytes;
}

void timeline_copy(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t offset) {
  Timeline *t = timeline_of(machine);
  contract_copy(machine, strand, access, NULL, offset);
  if (!wanted(machine)) return;
  uint32_t from, end;
  slot_of(machine, offset, &from, &end);
  if (same_deed(t, MACHINE_LOAD, machine, strand, access->insn, from, end)) return;
  Mark *mark = recent(t, MACHINE_LOAD, strand->warp->id, from, end);
  if (!mark || machine->step > mark->end + STREAK_GAP || mark->cta != rank) {
    mark = add(machine, MACHINE_LOAD, strand, access->insn);
    if (!mark) return;
    mark->cta = (int16_t)rank;
    mark->shared = true;
    mark->offset = from;
    mark->deed = witness_actor(access);
  }
  mark->end = machine->step + 1;
}

void timeline_operand(Machine *machine, const Strand *strand, const Access *access, int rank,
                      uint32_t offset) {
  Timeline *t = timeline_of(machine);
  uint32_t from, end;
  contract_touch(machine, strand, access, offset);
  if (!wanted(machine)) return;
  t->operand_step = machine->step + 1;
  slot_of(machine, offset, &from, &end);
  /* The four warps of a warpgroup execute a wgmma together. */
  int warp = strand->warp->id;
  if (access->actor == ACTOR_WGMMA) warp -= warp % 4;
  Mark *mark = recent(t, MACHINE_COMPUTE, warp, from, end);
  if (!mark) {
    mark = add(machine, MACHINE_COMPUTE, strand, access->insn);
    if (!mark) return;
    mark->warp = (int16_t)warp;
    mark->shared = true;
    mark->offset = from;
    mark->cta = (int16_t)rank;
    mark->deed = witness_actor(access);
  }
  mark->end = machine->step + 1;
  t->open -= mark->group != 0;
  mark->group = access->actor == ACTOR_WGMMA ? access->time : 0;
  t->open += mark->group != 0;
}

void timeline_mma(Machine *machine, const Strand *strand, const IrInsn *insn) {
  /* Operands in shared memory tell more. */
  if (timeline_of(machine)->operand_step == machine->step + 1) return;
  add(machine, MACHINE_COMPUTE, strand, insn);
}

void timeline_mma_done(Machine *machine, const Strand *strand, uint32_t group) {
  Timeline *t = timeline_of(machine);
  if (!wanted(machine)) return;
  int left = t->open;
  for (int i = t->marks.count - 1; i >= 0 && left > 0 && i >= t->marks.count - 16 * LOOK_BACK;
       i--) {
    Mark *m = &t->marks.items[i];
    if (!m->group) continue;
    left--;
    if (m->group > group || m->warp != strand->warp->id / 4 * 4) continue;
    m->end = machine->step + 1;
    m->group = 0;
    t->open--;
  }
}

void timeline_access(Machine *machine, const Strand *strand, const Access *access, int rank,
                     uint32_t offset) {
  Timeline *t = timeline_of(machine);
  contract_touch(machine, strand, access, offset);
  if (!wanted(machine)) return;
  Streak *streak = &t->streaks[2 * strand->warp->index + (access->write ? 1 : 0)];
  Mark *mark = streak->mark ? &t->marks.items[streak->mark - 1] : NULL;
  if (mark && rank == streak->rank && offset >= streak->from && offset < streak->end &&
      machine->step <= mark->end + STREAK_GAP) {
    mark->end = machine->step + 1;
    return;
  }
  MachineIntervalKind kind = access->write ? MACHINE_THREAD_WRITE : MACHINE_THREAD_READ;
  if (t->marks.count > TIMELINE_MOST / 2) return; /* what follows is worth more */
  slot_of(machine, offset, &streak->from, &streak->end);
  if (same_deed(t, kind, machine, strand, access->insn, streak->from, streak->end)) return;
  mark = recent(t, kind, strand->warp->id, streak->from, streak->end);
  if (!mark || machine->step > mark->end + STREAK_GAP || mark->cta != rank)
    mark = add(machine, kind, strand, access->insn);
  if (!mark) return;
  streak->mark = (int)(mark - t->marks.items) + 1;
  streak->rank = rank;
  mark->shared = true;
  mark->offset = streak->from;
  mark->cta = (int16_t)rank;
  mark->end = machine->step + 1;
}

/* Where the region starts that holds a column: at the last such column that an mma wrote to. */
static uint32_t region_of(const Timeline *t, int rank, uint32_t column) {
  uint32_t best = column;
  bool found = false;
  for (int i = 0; i < t->marks.count; i++) {
    const Mark *m = &t->marks.items[i];
    if (!m->tensor || m->kind != MACHINE_COMPUTE || m->cta != rank || m->offset > column) continue;
    if (!found || m->offset > best) best = m->offset;
    found = true;
  }
  return best;
}

/* Columns that belong to one region are one place. */
void timeline_tmem(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t column) {
  Timeline *t = timeline_of(machine);
  MachineIntervalKind kind = access->actor == ACTOR_TCGEN05_LD   ? MACHINE_THREAD_READ
                             : access->actor == ACTOR_TCGEN05_ST ? MACHINE_THREAD_WRITE
                                                                 : MACHINE_COMPUTE;
  if (kind != MACHINE_COMPUTE) contract_tensor_memory(machine, strand, access);
  for (int i = t->marks.count - 1; i >= 0 && i >= t->marks.count - LOOK_BACK; i--) {
    Mark *m = &t->marks.items[i];
    if (!m->tensor || m->kind != kind || m->insn != access->insn || m->cta != rank ||
        m->warp != strand->warp->id || machine->step > m->end + STREAK_GAP)
      continue;
    m->end = machine->step + 1;
    return;
  }
  Mark *mark = add(machine, kind, strand, access->insn);
  if (!mark) return;
  mark->tensor = true;
  mark->offset = kind == MACHINE_COMPUTE ? column : region_of(t, rank, column);
  mark->cta = (int16_t)rank;
  mark->deed = witness_actor(access);
}

void timeline_pair(Machine *machine, const IrViolation *v, const IrInsn *first,
                   const IrInsn *second) {
  if (!v || !wanted(machine)) return;
  RaceShown race = {v, first, second, machine->step, machine->step};
  KC_PUSH(machine->arena, timeline_of(machine)->races, race);
}

void timeline_race(Machine *machine, const IrViolation *v, const Access *before,
                   const Access *now) {
  Timeline *t = timeline_of(machine);
  if (!v || !wanted(machine)) return;
  RaceShown race = {v, before->insn, now->insn, before->step, now->step};
  KC_PUSH(machine->arena, t->races, race);
}

/* The strand that executes `insn` now. */
static const Strand *executing(const Machine *machine, const IrInsn *insn) {
  for (int w = 0; w < machine->nwarps; w++)
    for (int i = 0; i < machine->warps[w]->nstrands; i++) {
      const Strand *strand = machine->warps[w]->strands[i];
      if (strand->pc >= 0 && strand->pc < machine->kernel->insns.count && !strand->blocked &&
          &machine->kernel->insns.items[strand->pc] == insn)
        return strand;
    }
  return NULL;
}

void timeline_other(Machine *machine, const Strand *strand, const IrInsn *insn) {
  Timeline *t = timeline_of(machine);
  if (!wanted(machine)) return;
  for (int i = t->marks.count - 1; i >= 0 && t->marks.items[i].begin == machine->step; i--)
    if (t->marks.items[i].insn == insn) return; /* said better */
  Mark *mark = add(machine, MACHINE_OTHER, strand, insn);
  if (mark) mark->deed = ir_event_mnemonic((IrEvent)insn->event);
}

void timeline_exit(Machine *machine, const Strand *strand) {
  bool last = (strand->warp->alive & ~strand->mask) == 0;
  if (!wanted(machine) || !last || strand->pc < 0 || strand->pc >= machine->kernel->insns.count)
    return;
  Mark *mark = add(machine, MACHINE_OTHER, strand, &machine->kernel->insns.items[strand->pc]);
  if (mark) mark->deed = "the warp ends";
}

void timeline_violation(Machine *machine, const IrInsn *insn) {
  if (!insn || !wanted(machine)) return;
  const Strand *strand = executing(machine, insn);
  bool event = insn->op == IR_event;
  if (!strand) return;
  Mark *mark = add(machine, MACHINE_OTHER, strand, insn);
  if (mark) mark->deed = event ? ir_event_mnemonic((IrEvent)insn->event) : "the instruction";
}

void timeline_block(Machine *machine, const Strand *strand, const Mbar *bar) {
  (void)bar;
  uint64_t *since = &timeline_of(machine)->blocked[strand->warp->index];
  if (!*since) *since = machine->step;
}

static void at_barrier(Mark *mark, const Mbar *bar) {
  mark->shared = true;
  mark->offset = bar->offset;
  mark->cta = (int16_t)bar->rank;
}

void timeline_wait(Machine *machine, const Strand *strand, const Mbar *bar, const IrInsn *insn) {
  Mark *mark = add(machine, MACHINE_WAIT, strand, insn);
  uint64_t *since = &timeline_of(machine)->blocked[strand->warp->index];
  if (mark) {
    at_barrier(mark, bar);
    mark->phase = bar->phase - 1;
    if (*since) mark->begin = *since;
  }
  *since = 0;
}

void timeline_arrive(Machine *machine, const Mbar *bar, const Strand *strand, const IrInsn *insn) {
  Mark *mark = add(machine, MACHINE_ARRIVE, strand, insn);
  if (!mark) return;
  at_barrier(mark, bar);
  mark->phase = bar->phase;
}

void timeline_barrier(Machine *machine, const Strand *strand, const IrInsn *insn, int64_t id) {
  Mark *mark = add(machine, MACHINE_BARRIER, strand, insn);
  if (!mark) return;
  mark->phase = id;
  mark->deed = id < 0    ? "cluster barrier"
               : id == 0 ? "__syncthreads"
                         : kc_printf(machine->session->arena, "barrier %lld", (long long)id);
}

void timeline_phase(Machine *machine, const Mbar *bar) {
  Timeline *t = timeline_of(machine);
  if (wanted(machine) && t->marks.count < TIMELINE_MOST && bar->init) {
    Mark mark = {.kind = MACHINE_PHASE_END,
                 .warp = -1,
                 .cta = (int16_t)bar->rank,
                 .shared = true,
                 .offset = bar->offset,
                 .phase = bar->phase,
                 .begin = machine->step,
                 .end = machine->step + 1,
                 .insn = bar->init};
    KC_PUSH(machine->arena, t->marks, mark);
  }
}

/* Waits that the run ends in. */
static void add_stuck(Machine *machine) {
  for (int w = 0; w < machine->nwarps; w++) {
    const Warp *warp = machine->warps[w];
    const Strand *strand = warp->nstrands ? warp->strands[0] : NULL;
    if (!strand || strand->pc < 0 || strand->pc >= machine->kernel->insns.count) continue;
    Mark *mark = add(machine, MACHINE_WAIT, strand, &machine->kernel->insns.items[strand->pc]);
    if (!mark) return;
    uint64_t since = timeline_of(machine)->blocked[warp->index];
    mark->never = true;
    if (!since) since = strand->blocked_since;
    if (since) mark->begin = since;
    if (strand->blocked && strcmp(strand->blocked, "mbarrier") == 0)
      at_barrier(mark, strand->wait_object);
    mark->deed = strand->describe ? strand->describe(machine, strand) : strand->blocked;
  }
}

/* ---- what is kept ---- */

static bool moves_data(const Mark *m) {
  return m->kind == MACHINE_LOAD || m->kind == MACHINE_COMPUTE || m->kind == MACHINE_STORE ||
         m->kind == MACHINE_THREAD_READ || m->kind == MACHINE_THREAD_WRITE;
}

static bool same_place(const Mark *a, const Mark *b) {
  return a->cta == b->cta && a->offset == b->offset && a->tensor == b->tensor;
}

/* The mark of an access of the race: the latest of its instruction, else the stretch of accesses
 * that holds its step. With `other`, in the same place as that mark where there is one. */
static int race_mark(const Timeline *t, const IrInsn *insn, uint64_t step, int other) {
  int same = -1, holds = -1;
  for (int i = 0; insn && i < t->marks.count; i++) {
    const Mark *m = &t->marks.items[i];
    if ((!moves_data(m) && m->kind != MACHINE_OTHER) || m->begin > step) continue;
    if (other >= 0 && !same_place(m, &t->marks.items[other])) continue;
    if (m->insn == insn && (same < 0 || m->begin >= t->marks.items[same].begin)) same = i;
    bool stretch = moves_data(m) && m->kind != MACHINE_LOAD && m->kind != MACHINE_STORE;
    if (stretch && step < m->end) holds = i;
  }
  bool exact = same >= 0 && t->marks.items[same].begin == step;
  return exact || holds < 0 ? same : holds;
}

/* The array element that a named part lies in: "tile[0][63].x" is tile[0], "response.x" response.
 * *stage gets the index, or -1. NULL: the name is no part of anything. */
static const char *element_of(KcArena *arena, const char *name, int *stage) {
  size_t length = strlen(name);
  bool component = length > 2 && name[length - 2] == '.' && strchr("xyzw", name[length - 1]);
  const char *bracket = strchr(name, '['), *close = bracket ? strchr(bracket, ']') : NULL;
  *stage = -1;
  if (close && (component || close[1])) {
    *stage = (int)strtol(bracket + 1, NULL, 10);
    return kc_strndup(arena, name, (size_t)(close + 1 - name));
  }
  return component ? kc_strndup(arena, name, length - 2) : NULL;
}

/* "full[2]", stage 2; an array of plain numbers that is no ring is one place. */
static void name_place(Machine *machine, const Mark *m, MachineInterval *interval) {
  bool barrier =
      m->kind == MACHINE_WAIT || m->kind == MACHINE_ARRIVE || m->kind == MACHINE_PHASE_END;
  uint64_t start;
  const IrField *field = machine_shared_field(machine, m->offset, &start);
  if (field && field->elem_bytes && field->elem_bytes == field->scalar.bytes && !barrier) {
    interval->object = element_of(machine->session->arena, field->name, &interval->stage);
    if (!interval->object) interval->object = field->name;
    return;
  }
  uint32_t from = m->offset, end;
  if (!barrier) slot_of(machine, m->offset, &from, &end);
  interval->object =
      machine_place(machine, (MachineAddress){IR_SPACE_SHARED, m->cta, from}, m->cta);
  if (field && field->count > 1 && field->elem_bytes)
    interval->stage = (int)((from - start) / field->elem_bytes);
}

static MachineInterval interval_of(Machine *machine, const Mark *m) {
  MachineInterval interval = {.kind = m->kind,
                              .cta = m->cta,
                              .warp = m->warp,
                              .by = m->by,
                              .stage = -1,
                              .phase = m->phase,
                              .begin = m->begin,
                              .end = m->end,
                              .where = m->insn->where,
                              .never = m->never,
                              .deed = m->deed};
  if (m->shared) name_place(machine, m, &interval);
  if (m->tensor) interval.object = kc_printf(machine->session->arena, "TMEM column %u", m->offset);
  return interval;
}

/* The violation of this run that is to be shown. */
static const IrViolation *shown_of(const Machine *machine) {
  const IrViolation *wanted_one = machine->session->options->pictured;
  for (int i = 0; wanted_one && i < machine->violations->list.count; i++) {
    const IrViolation *v = machine->violations->list.items[i];
    if (v->where == wanted_one->where && strcmp(v->kind, wanted_one->kind) == 0) return v;
  }
  return NULL;
}

static void keep(Machine *machine, const IrViolation *shown) {
  ProtocolSession *s = session_protocol(machine->session);
  Timeline *t = timeline_of(machine);
  const RaceShown *race = NULL;
  for (int i = 0; shown && i < t->races.count && !race; i++)
    if (t->races.items[i].violation == shown) race = &t->races.items[i];
  int second = race ? race_mark(t, race->second, race->second_step, -1) : -1;
  int first = race ? race_mark(t, race->first, race->first_step, second) : -1;
  if (race && first < 0) { /* the instruction of the second has several operands */
    first = race_mark(t, race->first, race->first_step, -1);
    int other = first >= 0 ? race_mark(t, race->second, race->second_step, first) : -1;
    if (other >= 0) second = other;
  }
  memset(&s->intervals, 0, sizeof s->intervals);
  for (int i = 0; i < t->marks.count; i++) {
    const Mark *m = &t->marks.items[i];
    MachineInterval interval = interval_of(machine, m);
    interval.fault = shown && m->kind != MACHINE_PHASE_END && m->insn->where == shown->where;
    interval.order = i == first ? 1 : i == second ? 2 : 0;
    KC_PUSH(machine->session->arena, s->intervals, interval);
  }
}

void timeline_finish(Machine *machine) {
  ProtocolSession *s = session_protocol(machine->session);
  if (!wanted(machine)) return;
  const IrViolation *shown = shown_of(machine);
  if (machine->session->options->pictured && !shown) return;
  bool better = s->intervals_degenerate && !machine->sample->degenerate;
  if (s->intervals.count && !better) return;
  if (machine->stuck) add_stuck(machine);
  s->intervals_degenerate = machine->sample->degenerate;
  keep(machine, shown);
}

void timeline_report(MachineSession *session) {
  ProtocolSession *s = session_protocol(session);
  for (int i = 0; i < s->intervals.count; i++)
    KC_PUSH(session->arena, session->result->intervals, s->intervals.items[i]);
}
