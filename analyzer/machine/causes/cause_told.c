/* Findings that one more barrier mends all: it is told once, with the other places beside it. */
#include "machine/causes/symptom.h"

#include <string.h>

#include "machine/inputs/sample.h"
#include "machine/session.h"

enum { PLACES = 4 }; /* beside a finding */

typedef struct Span { /* where the barrier may stand: behind `first`, before `then` */
  int32_t first, then;
} Span;

static Span span_of(const Machine *machine, const Blame *what) {
  const IrInsn *insns = machine->kernel->insns.items;
  return (Span){(int32_t)(what->first - insns), (int32_t)(what->then - insns)};
}

/* Whether one barrier lies in both spans. A span that goes backward reaches round a loop. */
static bool meet(Span a, Span b) {
  bool round = a.then <= a.first, other = b.then <= b.first;
  if (round != other) {
    Span straight = round ? b : a, turn = round ? a : b;
    return straight.first < turn.then && straight.then > turn.then;
  }
  int32_t last_first = a.first > b.first ? a.first : b.first;
  int32_t first_then = a.then < b.then ? a.then : b.then;
  if (!round) return last_first < first_then;
  int32_t last_then = a.then > b.then ? a.then : b.then;
  int32_t first_first = a.first < b.first ? a.first : b.first;
  return last_then <= first_first; /* in the same loop */
}

static bool has_place(const IrViolation *v, uint32_t where) {
  for (int i = 0; i < v->related.count; i++)
    if (v->related.items[i].where == where) return true;
  return v->where == where;
}

/* What one barrier keeps apart: copies that are read too early, and refilled too early. */
static bool of_one_kind(const char *a, const char *b) {
  return strcmp(a, b) == 0 || (strncmp(a, "async-copy-", 11) == 0 && strncmp(b, a, 11) == 0);
}

bool cause_told(Machine *machine, const Blame *what) {
  ProtocolSession *session = session_protocol(machine->session);
  Span mine = span_of(machine, what);
  for (int i = 0; i < session->told.count; i++) {
    const Told *t = &session->told.items[i];
    if (!of_one_kind(t->kind, what->kind) || (t->degenerate && !machine->sample->degenerate))
      continue;
    bool same = strcmp(t->kind, what->kind) == 0;
    if (same && t->where == what->insn->where) return false;
    if (!meet(mine, (Span){t->first, t->then})) continue;
    IrViolation *v = t->violation;
    if (!has_place(v, what->insn->where) && v->related.count < PLACES)
      ir_violation_related(machine->violations, v, what->insn->where,
                           same ? "the same here" : "the barrier would order this too");
    return true;
  }
  return false;
}

void cause_tell(Machine *machine, const Blame *what, IrViolation *v) {
  ProtocolSession *session = session_protocol(machine->session);
  Span span = span_of(machine, what);
  for (int i = 0; i < session->told.count; i++) {
    Told *t = &session->told.items[i];
    if (t->where != v->where || strcmp(t->kind, what->kind) != 0) continue;
    if (session->rehearsal) t->violation = v; /* it is shown instead */
    return;
  }
  KC_PUSH(machine->session->arena, session->told,
          ((Told){.kind = what->kind,
                  .where = v->where,
                  .first = span.first,
                  .then = span.then,
                  .violation = v,
                  .degenerate = machine->sample->degenerate}));
}

/* The statement itself, in the helper that holds it. */
static SourceRange statement(const Machine *machine, uint32_t where) {
  return machine->session->program->sources.stacks.items[where].range;
}

bool cause_told_in_helper(Machine *machine, const Blame *what) {
  ProtocolSession *session = session_protocol(machine->session);
  SourceRange mine = statement(machine, what->insn->where);
  for (int i = 0; i < session->accusations.count; i++) {
    const Accusation *a = &session->accusations.items[i];
    if (!a->violation || strcmp(a->kind, what->kind) != 0 ||
        (a->degenerate && !machine->sample->degenerate))
      continue;
    SourceRange other = statement(machine, a->violation->where);
    if (a->violation->where == what->insn->where) return false;
    if (other.file != mine.file || other.line != mine.line || other.column != mine.column) continue;
    if (!has_place(a->violation, what->insn->where) && a->violation->related.count < PLACES)
      ir_violation_related(machine->violations, a->violation, what->insn->where, "the same here");
    return true;
  }
  return false;
}
