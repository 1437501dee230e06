/* Unordered accesses to what cp.async brings: a wait that is missing, of another kind, too lenient,
 * or a refill that no barrier orders. */
#include "machine/causes/symptom.h"
#include "machine/hardware/mbarrier.h"
#include "machine/witness/timeline.h"
#include "machine/witness/witness.h"

/* `copy` fills again what `reader` may still read. */
static bool cp_async_over(Machine *machine, const Symptom *s, const Access *reader,
                          const Access *copy) {
  IrViolation *v = blame(machine,
                         BLAME_BETWEEN("async-copy-refill-no-barrier", MACHINE_CHECK_RACE,
                                       copy->insn, s->offset, 0, reader->insn, copy->insn),
                         "cp.async by %s refills %s while %s may still read it: no barrier comes "
                         "in between",
                         witness_warp(machine, copy->warp), cause_place(machine, s),
                         witness_warp(machine, reader->warp));
  cause_relate(machine, v, reader, witness_access(machine, reader));
  witness_race(machine, v, s->before, s->now, "a barrier that both take part in");
  return v != NULL;
}

/* The reader has waited for the same phase again and arrives nowhere: it never gave the stage back,
 * so that its pipeline has not moved on. */
static bool cp_async_kept(Machine *machine, const Symptom *s) {
  const Protocol *p = protocol_of(machine);
  const Access *reader = s->now;
  const Mbar *bar = warp_state(machine->warps[reader->warp])->last_wait_mbar;
  if (!bar) return false;
  WaitContext wait = cause_context(bar, (int)reader->warp, reader->lanes);
  if (!wait.insn || !wait.rewait || wait.phase < 0) return false;
  for (int i = 0; i < p->mbars.count; i++)
    for (int j = 0; j < p->mbars.items[i]->arrivers.count; j++)
      if (p->mbars.items[i]->arrivers.items[j].warp == (uint32_t)reader->warp) return false;
  const char *name = mbarrier_name(machine, bar, bar->rank);
  IrViolation *v = blame(
      machine,
      BLAME("pipeline-slot-never-released", MACHINE_CHECK_RACE, wait.insn, bar, s->offset, 0),
      "%s waits for phase %lld of %s again and has given nothing back in between: the wait passes "
      "at once, and %s is read while the copy into it may be in flight",
      witness_warp(machine, reader->warp), (long long)wait.phase, name, cause_place(machine, s));
  cause_relate(machine, v, s->before, witness_access(machine, s->before));
  cause_relate(machine, v, reader, witness_access(machine, reader));
  witness_race(machine, v, s->before, reader,
               "a wait for the copy, then a barrier for other readers");
  return v != NULL;
}

bool cause_cp_async_read(Machine *machine, const Symptom *s) {
  const Access *copy = s->before;
  const WarpState *ws = warp_state(machine->warps[copy->warp]);
  int lane = s->before_lane >= 0 ? s->before_lane : first_lane(copy->lanes);
  const IrInsn *wait = s->group_wait;
  IrViolation *v;
  bool alone = s->group_over || s->own_over; /* each has waited for its own copies */
  if (!wait && !s->own_over && (ws->bulk.wait[lane] || ws->wgmma_wait)) {
    v = blame(machine,
              BLAME("async-copy-group-kind", MACHINE_CHECK_RACE,
                    ws->bulk.wait[lane] ? ws->bulk.wait[lane] : ws->wgmma_wait, NULL, s->offset, 0),
              "this wait covers %s groups, but %s is filled by cp.async, which needs "
              "cp.async.wait_group",
              ws->bulk.wait[lane] ? "bulk" : "wgmma", cause_place(machine, s));
  } else if (s->group_over && s->knew_earlier && !s->own_over) {
    /* The reader lags: it has not come to its own wait of that round. */
    return cp_async_over(machine, s, s->now, copy);
  } else if (!wait && !s->own_over && cp_async_kept(machine, s)) {
    return true;
  } else if (!wait || alone) {
    v = blame(machine,
              BLAME_BETWEEN("async-copy-wait-missing", MACHINE_CHECK_RACE, s->now->insn, s->offset,
                            0, alone && s->own_wait ? s->own_wait : copy->insn, s->now->insn),
              alone ? "%s is read by %s, but a thread's wait_group covers only the copies of that "
                      "thread: no barrier lets it know that the others have waited too"
                    : "%s is read by %s, and no cp.async.wait_group covers the copy into it",
              cause_place(machine, s), witness_warp(machine, s->now->warp));
  } else {
    int64_t n = s->group_wait_n;
    uint32_t total = ws->groups[lane];
    uint32_t last = total ? ws->group_time[(total - 1) % CP_ASYNC_GROUPS][lane] : 0;
    bool tail = n > 0 && s->before_time + (uint32_t)n > last && s->group_waits > 1 &&
                s->before_time <= last;
    v = blame(machine,
              BLAME(tail ? "async-copy-tail-undercommit" : "async-copy-wait-too-lenient",
                    MACHINE_CHECK_RACE, wait, NULL, s->offset, 0),
              tail ? "wait_group %lld leaves the last groups pending: near the end no group is "
                     "committed any more, and %s is read too early"
                   : "wait_group %lld leaves the copy into %s pending, which is read next",
              (long long)n, cause_place(machine, s));
  }
  if (v && alone && s->own_wait)
    ir_violation_related(machine->violations, v, s->own_wait->where,
                         "this wait_group is for the copies of the thread itself");
  cause_relate(machine, v, copy, witness_access(machine, copy));
  cause_relate(machine, v, s->now, witness_access(machine, s->now));
  bool own =
      copy->warp == s->now->warp && copy->actor == ACTOR_CP_ASYNC && s->now->lanes == copy->lanes;
  witness_race(machine, v, copy, s->now,
               alone ? "a barrier behind the copying thread's wait_group"
               : own ? "a cp.async.wait_group that covers the copy"
                     : "a cp.async.wait_group that covers the copy, then a barrier");
  return v != NULL;
}

bool cause_cp_async_refill(Machine *machine, const Symptom *s) {
  const Access *copy = s->now, *reader = s->before;
  /* The first copy of its lane refills nothing: the reader should have waited for it. */
  if (copy->time > 1) return cp_async_over(machine, s, reader, copy);
  const IrInsn *own = s->own_wait;
  IrViolation *v =
      blame(machine,
            BLAME_BETWEEN("async-copy-wait-missing", MACHINE_CHECK_RACE, reader->insn, s->offset, 0,
                          own ? own : copy->insn, reader->insn),
            own ? "%s is read by %s, but a thread's wait_group covers only the copies of that "
                  "thread: no barrier orders it after the cp.async by %s that fills it"
                : "%s is read by %s, and nothing orders it after the cp.async by %s that fills it",
            cause_place(machine, s), witness_warp(machine, reader->warp),
            witness_warp(machine, copy->warp));
  if (v && own)
    ir_violation_related(machine->violations, v, own->where,
                         "this wait_group is for the copies of the thread itself");
  cause_relate(machine, v, copy, witness_access(machine, copy));
  witness_race(machine, v, reader, copy, "a barrier that both take part in");
  return v != NULL;
}
