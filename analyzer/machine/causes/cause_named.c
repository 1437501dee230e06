/* Named barriers with a count of threads that can't be reached: who has come, and where those are
 * who might be meant. */
#include "machine/causes/cause_hang.h"

#include <string.h>

#include "machine/witness/witness.h"

static uint64_t bit_of(const Warp *warp) {
  return UINT64_C(1) << (warp->id & 63);
}

static bool waits_in_named(const Stuck *s) {
  if (!s->strand->blocked || strcmp(s->strand->blocked, "barrier") != 0) return false;
  return ((const NamedBarrier *)s->strand->wait_object)->explicit_count;
}

/* Whether some other strand of the CTA that is stuck elsewhere would come to the barrier; with
 * `apart`, one that is stuck in another place of the code. */
static bool comes_later(const Hang *hang, const Stuck *s, int id, bool apart) {
  const Machine *machine = hang->machine;
  int64_t number = id;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp->cta != s->strand->warp->cta) continue;
    if (other->strand->wait_object == s->strand->wait_object || other->strand->converging) continue;
    if (apart && other->insn == s->insn) continue;
    if (code_ahead(machine->kernel, machine->arena, other->strand->pc, code_is_barrier, &number))
      return true;
  }
  return false;
}

/* Another barrier of the CTA that just those are missing in who wait here: one of the two has the
 * wrong number. */
static const Stuck *other_half(const Hang *hang, const Stuck *s, const NamedBarrier *bar) {
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp->cta != s->strand->warp->cta || !waits_in_named(other)) continue;
    const NamedBarrier *b = other->strand->wait_object;
    if (b == bar || b->expected != bar->expected || (b->warps & bar->warps)) continue;
    if (b->arrived + bar->arrived == bar->expected) return other;
  }
  return NULL;
}

/* Warps that took part in earlier generations and have ended since, where all that ever came are as
 * many as the barrier counts. */
static uint64_t ended(const Stuck *s, const NamedBarrier *bar) {
  const Cta *cta = s->strand->warp->cta;
  uint64_t out = 0;
  if (__builtin_popcountll(bar->users) * 32 != bar->expected) return 0;
  for (int w = 0; w < cta->nwarps && w < 64; w++)
    if ((bar->users & ~bar->warps & bit_of(&cta->warps[w])) && !cta->warps[w].alive)
      out |= bit_of(&cta->warps[w]);
  return out;
}

/* The loops of the thread that waits, and of another place that comes to the barrier. */
static void relate_rounds(Machine *machine, IrViolation *v, const Stuck *s, int64_t id) {
  if (!v) return;
  hang_relate_loops(machine, v, s->insn, "the loop of those who wait");
  for (int32_t i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn == s->insn || !machine->executed[i] || !code_is_barrier(insn, &id)) continue;
    hang_relate_loops(machine, v, insn, "the loop of those who have ended");
    return;
  }
}

static IrViolation *name_count(Machine *machine, const Hang *hang, const Stuck *s, int id,
                               bool circle) {
  const NamedBarrier *bar = s->strand->wait_object;
  const char *who = witness_warps(machine, bar->warps);
  uint64_t gone = ended(s, bar);
  const Stuck *half = gone ? NULL : other_half(hang, s, bar);
  IrViolation *v;
  if (gone) {
    v = blame(machine,
              BLAME("pipeline-trip-count-mismatch", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
              "%s wait%s in barrier %d for the %lld%s time, but %s %s ended after %lld: their "
              "loops do not make the same number of trips",
              who, (bar->warps & (bar->warps - 1)) ? "" : "s", id, (long long)bar->generation + 1,
              witness_ordinal(bar->generation + 1), witness_warps(machine, gone),
              (gone & (gone - 1)) ? "have" : "has", (long long)bar->generation);
    relate_rounds(machine, v, s, id);
    return v;
  }
  if (half) {
    int other = (int)((const NamedBarrier *)half->strand->wait_object -
                      cta_state(s->strand->warp->cta)->named);
    v = blame(machine, BLAME("barrier-thread-count", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
              "barrier %d waits for %lld threads, only %lld arrive (%s): %s wait in barrier %d "
              "instead",
              id, (long long)bar->expected, (long long)bar->arrived, who,
              witness_warps(machine, ((const NamedBarrier *)half->strand->wait_object)->warps),
              other);
    if (v)
      ir_violation_related(machine->violations, v, half->insn->where, "%s waits in barrier %d here",
                           machine_who(machine, half->strand), other);
    return v;
  }
  return blame(machine, BLAME("barrier-thread-count", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
               circle ? "barrier %d waits for %lld threads, only %lld arrive (%s): those who would "
                        "come wait for these in turn"
                      : "barrier %d waits for %lld threads, only %lld arrive (%s), and no other "
                        "thread of the CTA comes here",
               id, (long long)bar->expected, (long long)bar->arrived, who);
}

static bool count_short(Machine *machine, const Hang *hang, const Stuck *s, bool apart) {
  if (!waits_in_named(s)) return false;
  const NamedBarrier *bar = s->strand->wait_object;
  int id = (int)(bar - cta_state(s->strand->warp->cta)->named);
  if (comes_later(hang, s, id, apart)) return false;
  IrViolation *v = name_count(machine, hang, s, id, apart);
  if (v && bar->first && bar->first != s->insn)
    ir_violation_related(machine->violations, v, bar->first->where, "the first arrival");
  return v != NULL;
}

bool hang_named_count(Machine *machine, const Hang *hang, const Stuck *s) {
  return count_short(machine, hang, s, false);
}

bool hang_named_circle(Machine *machine, const Hang *hang, const Stuck *s) {
  return count_short(machine, hang, s, true);
}
