/* Tensor memory: which of the usual mistakes an unordered use of columns, or of what a product
 * reads, comes from. */
#include "machine/causes/symptom.h"
#include "machine/hardware/tmem.h"
#include "machine/witness/witness.h"

static void relate(Machine *machine, IrViolation *v, const Access *access, const char *text) {
  if (v) ir_violation_related(machine->violations, v, access->insn->where, "%s", text);
}

/* The arrive of the product's warp on the barrier that should tell that it is done, where no commit
 * arrives on that; else NULL. */
static const IrInsn *released_by_hand(const Access *mma, const Mbar *bar) {
  const IrInsn *plain = NULL;
  for (int i = 0; bar && i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->insn->event == IR_EV_tcgen05_commit) return NULL;
    if (a->warp == mma->warp && a->insn->event == IR_EV_mbarrier_arrive &&
        !(a->insn->flags & IR_FLAG(expect_tx)))
      plain = a->insn;
  }
  return plain;
}

bool cause_commit_missing(Machine *machine, const Access *mma, const Symptom *s) {
  if (mma->actor != ACTOR_TCGEN05_MMA && mma->actor != ACTOR_TCGEN05_CP) return false;
  const WarpState *ws = warp_state(machine->warps[mma->warp]);
  int lane = first_lane(mma->lanes);
  /* A commit that tracks it, and that the other side waits for. */
  const IrInsn *by_hand = released_by_hand(mma, s->issuer.bar);
  if (mma->time < ws->tcgen05_queue[lane] && !by_hand) return false;
  if (by_hand) {
    IrViolation *v = blame(
        machine, BLAME("tcgen05-commit-missing", MACHINE_CHECK_RACE, by_hand, s->issuer.bar, -1, 0),
        "this arrive tells that the %s at %s is done, but it does not wait for it: what it uses is "
        "%s, and no tcgen05.commit arrives on the barrier",
        witness_actor(mma), machine_line(machine, mma->insn),
        s->now->write ? "overwritten" : "read");
    relate(machine, v, mma, witness_access(machine, mma));
    relate(machine, v, s->now, witness_access(machine, s->now));
    return v != NULL;
  }
  IrViolation *v = blame(
      machine, BLAME("tcgen05-commit-missing", MACHINE_CHECK_RACE, mma->insn, s->issuer.bar, -1, 0),
      "no tcgen05.commit of the issuing thread tracks this %s, and what it "
      "uses is %s: a plain arrive or barrier does not wait for it",
      witness_actor(mma), s->now->write ? "overwritten" : "read");
  relate(machine, v, s->now, witness_access(machine, s->now));
  witness_race(machine, v, mma, s->now, "tcgen05.commit by the thread that issues the mma");
  return v != NULL;
}

/* Whether the warp of `to` waits on a barrier that the warp of `from` arrives on. */
static bool handed_over(const Machine *machine, const Access *from, const Access *to) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    const MbarView *view = bar->views[to->warp];
    if (!view || (!view->waits && !view->failed)) continue;
    for (int j = 0; j < bar->arrivers.count; j++)
      if (bar->arrivers.items[j].warp == from->warp) return true;
  }
  return false;
}

/* What would order the two accesses of tensor memory. */
static const char *missing_edge(int missing, const Access *before, bool handed) {
  if (!handed) return "a signal from the first that the second waits for";
  if (missing == TMEM_NO_WAIT)
    return before->actor == ACTOR_TCGEN05_ST ? "tcgen05.wait::st, before the signal"
                                             : "tcgen05.wait::ld, before the signal";
  if (missing == TMEM_NO_BEFORE_FENCE) return "tcgen05.fence::before_thread_sync";
  if (missing == TMEM_NO_AFTER_FENCE) return "tcgen05.fence::after_thread_sync";
  return "tcgen05.commit on a barrier that the second waits for";
}

bool cause_explain_tmem(Machine *machine, const Symptom *s, bool generic) {
  const Access *before = s->before, *now = s->now;
  IrViolation *v = NULL;
  const char *actor = witness_actor(before);
  bool released = before->actor != ACTOR_TCGEN05_LD || now->actor != ACTOR_TCGEN05_MMA ||
                  before->warp == now->warp || s->missing != TMEM_NO_ORDER ||
                  handed_over(machine, before, now);
  if (generic || !released) {
    v = blame(machine,
              BLAME("tcgen05-tmem-race", MACHINE_CHECK_RACE, now->insn, s->issuer.bar, -1,
                    released ? 2 : 0),
              "%s of column %u is not ordered after the %s by %s at %s", witness_actor(now),
              s->offset, actor, witness_warp(machine, before->warp),
              machine_line(machine, before->insn));
  } else if (s->missing == TMEM_NO_WAIT) {
    v = blame(
        machine, BLAME("tcgen05-wait-ld-st-missing", MACHINE_CHECK_RACE, before->insn, NULL, -1, 0),
        "no tcgen05.wait::%s follows this %s before column %u is %s by the %s at %s",
        before->actor == ACTOR_TCGEN05_ST ? "st" : "ld", actor, s->offset,
        now->write ? "overwritten" : "read", witness_actor(now), machine_line(machine, now->insn));
    if (v) tmem_say_consumed(v, before, (uint32_t)s->value);
  } else if (s->missing == TMEM_NO_BEFORE_FENCE || s->missing == TMEM_NO_AFTER_FENCE) {
    bool after = s->missing == TMEM_NO_AFTER_FENCE;
    /* The ISA asks for the fences; CUTLASS runs without any, so they are advice on a card. */
    v = blame(machine,
              BLAME("tcgen05-thread-sync-fence", MACHINE_CHECK_RACE,
                    after ? now->insn : before->insn, NULL, -1, 0),
              after ? "the %s of column %u follows the barrier that orders it after the %s at %s "
                      "without tcgen05.fence::after_thread_sync"
                    : "this %s of column %u is handed to another thread (the %s at %s) without "
                      "tcgen05.fence::before_thread_sync",
              after ? witness_actor(now) : actor, s->offset, after ? actor : witness_actor(now),
              machine_line(machine, after ? before->insn : now->insn));
    if (v) v->confidence = IR_INFERRED;
  } else if (cause_commit_missing(machine, before, s) || cause_single_barrier(machine, s)) {
    return true;
  } else {
    return cause_wrong_parity(machine, &s->issuer,
                              kc_printf(machine->session->arena,
                                        "and tensor-memory column %u is used too early", s->offset),
                              before, now, -1);
  }
  relate(machine, v,
         s->missing == TMEM_NO_BEFORE_FENCE || s->missing == TMEM_NO_WAIT ? now : before,
         "the other side");
  witness_race(machine, v, before, now, missing_edge(s->missing, before, !generic && released));
  return v != NULL;
}

/* By the letter of the memory model only: nobody has seen it go wrong, and libraries do without. So
 * it takes no part in the search for causes. */
void cause_unfenced_refill(Machine *machine, const Access *copy, const Access *read) {
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, copy->insn, "tma-war-no-proxy-fence",
      "the copy refills through the async proxy what warp %d has read with ordinary loads, and no "
      "fence.proxy.async lies in between",
      machine->warps[read->warp]->id);
  if (v) ir_violation_related(machine->violations, v, read->insn->where, "read here");
}
