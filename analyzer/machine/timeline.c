#include "machine/timeline.h"

#include "machine/session.h"

#define TIMELINE_MOST 6000

typedef struct Mark {
  uint8_t kind;
  int16_t cta, warp;
  bool shared; /* offset names a place; else barrier `offset` of the CTA or nothing */
  uint32_t offset;
  int64_t phase;
  uint64_t begin, end;
  const IrInsn *insn;
} Mark;

typedef struct Timeline {
  KC_VEC(Mark) marks;
  int *loading; /* access id -> 1 + mark */
  uint32_t nloading;
  uint64_t *blocked; /* by warp: step at which it fell asleep, 0: awake */
} Timeline;

static Timeline *timeline_of(const Machine *machine) {
  return protocol_of(machine)->timeline;
}

void timeline_init(Machine *machine) {
  Timeline *t = KC_NEW(machine->arena, Timeline);
  t->blocked = KC_NEW_ARRAY(machine->arena, uint64_t, machine->nwarps);
  protocol_of(machine)->timeline = t;
}

static Mark *add(Machine *machine, MachineIntervalKind kind, const Strand *strand,
                 const IrInsn *insn) {
  Timeline *t = timeline_of(machine);
  if (t->marks.count >= TIMELINE_MOST) return NULL;
  Mark mark = {.kind = (uint8_t)kind,
               .cta = (int16_t)strand->warp->cta->rank,
               .warp = (int16_t)strand->warp->id,
               .phase = -1,
               .begin = machine->step,
               .end = machine->step + 1,
               .insn = insn};
  KC_PUSH(machine->arena, t->marks, mark);
  return &t->marks.items[t->marks.count - 1];
}

static const char *array_at(Machine *machine, uint32_t offset) {
  uint64_t start;
  const IrField *field = machine_shared_field(machine, offset, &start);
  return field ? field->name : NULL;
}

static void remember_fill(Machine *machine, Mbar *bar, uint32_t offset) {
  const char *name = array_at(machine, offset);
  if (!name) return;
  for (int i = 0; i < bar->fills.count; i++)
    if (bar->fills.items[i] == name) return;
  if (bar->fills.count < 8) KC_PUSH(machine->arena, bar->fills, name);
}

void timeline_load(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t offset, Mbar *bar) {
  Timeline *t = timeline_of(machine);
  if (bar) remember_fill(machine, bar, offset);
  Mark *mark = add(machine, MACHINE_LOAD, strand, access->insn);
  if (!mark) return;
  mark->warp = -1;
  mark->cta = (int16_t)rank;
  mark->shared = true;
  mark->offset = offset;
  mark->phase = bar ? bar->phase : -1;
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
  mark->cta = (int16_t)rank;
  mark->shared = true;
  mark->offset = offset;
}

void timeline_mma(Machine *machine, const Strand *strand, const IrInsn *insn) {
  add(machine, MACHINE_COMPUTE, strand, insn);
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
  if (mark) mark->phase = id;
}

/* ---- what is kept ---- */

static int stage_of(Machine *machine, uint32_t offset) {
  uint64_t start;
  const IrField *field = machine_shared_field(machine, offset, &start);
  if (!field || field->count < 2 || !field->elem_bytes) return -1;
  return (int)((offset - start) / field->elem_bytes);
}

static bool at_fault(const Machine *machine, const IrInsn *insn) {
  for (int i = 0; i < machine->violations->list.count; i++)
    if (machine->violations->list.items[i]->where == insn->where) return true;
  return false;
}

void timeline_finish(Machine *machine) {
  ProtocolSession *s = session_protocol(machine->session);
  Timeline *t = timeline_of(machine);
  bool fault = machine->violations->list.count > 0;
  if (s->intervals.count && (s->intervals_fault || !fault)) return;
  s->intervals.count = 0;
  s->intervals_fault = fault;
  KcArena *arena = machine->session->arena;
  for (int i = 0; i < t->marks.count; i++) {
    const Mark *m = &t->marks.items[i];
    MachineInterval interval = {.kind = m->kind,
                                .cta = m->cta,
                                .warp = m->warp,
                                .stage = -1,
                                .phase = m->phase,
                                .begin = m->begin,
                                .end = m->end,
                                .where = m->insn->where,
                                .fault = fault && at_fault(machine, m->insn)};
    if (m->shared) {
      interval.object =
          machine_place(machine, (MachineAddress){IR_SPACE_SHARED, m->cta, m->offset}, m->cta);
      interval.stage = stage_of(machine, m->offset);
    }
    KC_PUSH(arena, s->intervals, interval);
  }
}

void timeline_report(MachineSession *session) {
  ProtocolSession *s = session_protocol(session);
  for (int i = 0; i < s->intervals.count; i++)
    KC_PUSH(session->arena, session->result->intervals, s->intervals.items[i]);
}
