/* Sizes of copies: a box that is not the size of what it fills, copies of two stages that overlap.
 */
#include "machine/causes/symptom.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

/* Bytes from where the instruction fills one stage to where it fills the next; 0: not known. */
static int64_t gap_of(const Machine *machine, const MbarCopy *copy) {
  const Protocol *p = protocol_of(machine);
  int64_t gap = 0;
  for (int i = 0; i < p->mbars.count; i++)
    for (int j = 0; j < p->mbars.items[i]->copies.count; j++) {
      const MbarCopy *other = &p->mbars.items[i]->copies.items[j];
      if (other->insn != copy->insn || other->rank != copy->rank) continue;
      int64_t apart = (int64_t)other->offset - copy->offset;
      apart = apart < 0 ? -apart : apart;
      if (apart && (!gap || apart < gap)) gap = apart;
    }
  return gap;
}

/* Bytes of the array element that a copy fills (of the array, where it is one of scalars), or to
 * the next stage where that is less; 0: not known. */
static int64_t room_of(Machine *machine, const MbarCopy *copy) {
  uint64_t start;
  int64_t gap = gap_of(machine, copy);
  const IrField *field = machine_shared_field(machine, copy->offset, &start);
  if (!field) return gap;
  bool flat = field->elem_bytes == field->scalar.bytes;
  int64_t room = (int64_t)(flat ? field->elem_bytes * field->count : field->elem_bytes);
  return gap > 0 && gap < room ? gap : room;
}

static const char *place_of(Machine *machine, const MbarCopy *copy) {
  return machine_place(machine, (MachineAddress){IR_SPACE_SHARED, copy->rank, copy->offset},
                       copy->rank);
}

/* "64x128" */
static const char *box_text(Machine *machine, const MachineTensorMap *map) {
  const char *text = NULL;
  for (int i = 0; i < map->rank && i < 5; i++) {
    if (map->box[i] < 0) return NULL;
    text = text ? kc_printf(machine->session->arena, "%sx%lld", text, (long long)map->box[i])
                : kc_printf(machine->session->arena, "%lld", (long long)map->box[i]);
  }
  return text;
}

static void relate_map(Machine *machine, IrViolation *v, const MachineTensorMap *map) {
  if (!v || !map || !map->where) return;
  const char *box = box_text(machine, map);
  if (box) ir_violation_related(machine->violations, v, map->where, "its box is %s", box);
}

/* The only copy of the phase that does not fill its array element, where the bytes announced would
 * be right if it did. */
static const MbarCopy *odd_box(Machine *machine, const Mbar *bar) {
  const MbarCopy *odd = NULL;
  int64_t sum = 0;
  for (int i = 0; i < bar->copies.count; i++) {
    const MbarCopy *copy = &bar->copies.items[i];
    if (copy->phase != bar->phase) continue;
    int64_t room = room_of(machine, copy);
    if (room <= 0 || copy->bytes <= 0 || copy->targets) return NULL;
    sum += room;
    if (room == copy->bytes) continue;
    if (odd) return NULL;
    odd = copy;
  }
  return sum == bar->announced ? odd : NULL;
}

const char *cause_say_box(Machine *machine, const Mbar *bar) {
  const MbarCopy *odd = odd_box(machine, bar);
  if (!odd) return "";
  const char *box = odd->map ? box_text(machine, odd->map) : NULL;
  return kc_printf(machine->session->arena, " (%s%s%s brings %lld, %s has room for %lld)",
                   box ? "the box of " : "the copy at ",
                   box ? box : machine_line(machine, odd->insn), box ? " elements" : "",
                   (long long)odd->bytes, place_of(machine, odd), (long long)room_of(machine, odd));
}

void cause_relate_box(Machine *machine, IrViolation *v, const Mbar *bar) {
  enum { COPIES = 3 };
  const MbarCopy *odd = odd_box(machine, bar);
  if (v && odd) {
    relate_map(machine, v, odd->map);
    return;
  }
  int said = 0;
  for (int i = 0; v && i < bar->copies.count && said < COPIES; i++) {
    const MbarCopy *copy = &bar->copies.items[i];
    if (copy->phase != bar->phase || copy->bytes <= 0) continue;
    ir_violation_related(machine->violations, v, copy->insn->where, "brings %lld bytes",
                         (long long)copy->bytes);
    said++;
  }
}

static const MbarCopy *covers(const Mbar *bar, const IrInsn *insn, int rank, uint32_t offset) {
  for (int i = 0; i < bar->copies.count; i++) {
    const MbarCopy *copy = &bar->copies.items[i];
    if ((!insn || copy->insn == insn) && copy->rank == rank && copy->bytes > 0 &&
        copy->offset <= offset && offset < copy->offset + copy->bytes)
      return copy;
  }
  return NULL;
}

static bool stays(Machine *machine, const Symptom *s, const Mbar *a, const Mbar *b,
                  const MbarCopy *copy) {
  IrViolation *v = blame(
      machine, BLAME("pipeline-stage-race", MACHINE_CHECK_RACE, copy->insn, a, s->offset, 0),
      "the copies bound to %s and %s both fill %s: the destination does not move on with the stage",
      mbarrier_name(machine, b, b->rank), mbarrier_name(machine, a, a->rank),
      place_of(machine, copy));
  if (!v) return false;
  const Access *other = s->before->insn == copy->insn ? s->now : s->before;
  if (other->insn != copy->insn) cause_relate(machine, v, other, witness_access(machine, other));
  witness_race(machine, v, s->before, s->now, "a place of its own for each stage");
  return true;
}

static bool reaches(Machine *machine, const Symptom *s, const Mbar *own, const Mbar *next,
                    const MbarCopy *low, const MbarCopy *high) {
  long long apart = (long long)high->offset - low->offset;
  const char *box = low->map ? box_text(machine, low->map) : NULL;
  box = box ? kc_printf(machine->session->arena, " (box %s)", box) : "";
  bool same = low->insn == high->insn;
  IrViolation *v = blame(
      machine, BLAME("tma-box-exceeds-buffer", MACHINE_CHECK_RACE, low->insn, own, s->offset, 0),
      same ? "this copy brings %lld bytes%s, but the places that it fills for %s and %s lie %lld "
             "bytes apart: each stage reaches into the next"
           : "this copy brings %lld bytes%s for %s, but what is filled for %s begins %lld bytes "
             "behind its start: one stage reaches into the next",
      (long long)low->bytes, box, mbarrier_name(machine, own, own->rank),
      mbarrier_name(machine, next, next->rank), apart);
  if (!v) return false;
  if (!same)
    ir_violation_related(machine->violations, v, high->insn->where, "the copy that it overlaps");
  relate_map(machine, v, low->map);
  ir_violation_fact(machine->violations, v, "bytes", "%lld", (long long)low->bytes);
  witness_race(machine, v, s->before, s->now, "nothing, in whatever order: two stages overlap");
  return true;
}

bool cause_stages_overlap(Machine *machine, const Symptom *s) {
  const Access *copy = s->now->barrier ? s->now : s->before;
  const Mbar *bar = copy->barrier;
  if (copy->actor != ACTOR_TMA_LOAD || !bar) return false;
  const MbarCopy *own = covers(bar, copy->insn, s->rank, s->offset);
  const Protocol *p = protocol_of(machine);
  for (int i = 0; own && i < p->mbars.count; i++) {
    const Mbar *other = p->mbars.items[i];
    if (other == bar || other->rank != bar->rank ||
        cause_array(machine, other->offset) != cause_array(machine, bar->offset))
      continue;
    const MbarCopy *same = covers(other, copy->insn, s->rank, s->offset);
    const MbarCopy *there = same ? same : covers(other, NULL, s->rank, s->offset);
    if (!there) continue;
    if (there->offset == own->offset) return same && stays(machine, s, bar, other, own);
    return own->offset < there->offset ? reaches(machine, s, bar, other, own, there)
                                       : reaches(machine, s, other, bar, there, own);
  }
  return false;
}
