/* Unordered accesses: which of the usual mistakes they come from. The order of the questions
 * matters: a wrong parity explains a race better than the race explains itself. */
#include <string.h>

#include "machine/causes/symptom.h"
#include "machine/hardware/bulk.h"
#include "machine/hardware/wgmma.h"
#include "machine/inputs/slice.h"
#include "machine/witness/timeline.h"
#include "machine/witness/witness.h"

const char *cause_place(Machine *machine, const Symptom *s) {
  return machine_place(machine, (MachineAddress){IR_SPACE_SHARED, s->rank, s->offset},
                       machine->warps[s->warp]->cta->rank);
}

static const char *plural(int64_t n) {
  return n == 1 ? "" : "s";
}

/* The line stands beside what is related: it is not named again. */
void cause_relate(Machine *machine, IrViolation *v, const Access *access, const char *text) {
  if (strcmp(text, witness_access(machine, access)) == 0) text = witness_label(machine, access);
  if (v) ir_violation_related(machine->violations, v, access->insn->where, "%s", text);
}

/* Arrivals that one round brings from one place in the code: each warp that executes it, once.
 * Where each arrival comes after the phase before, its warps take turns. */
static int64_t arrivals_a_round(const Mbar *bar, int *parties) {
  int64_t most = 0;
  *parties = 0;
  for (int i = 0; i < bar->arrivers.count; i++) {
    const IrInsn *insn = bar->arrivers.items[i].insn;
    int64_t sum = 0;
    int n = 0, unaware = 0;
    for (int j = 0; j < bar->arrivers.count; j++) {
      const MbarArrival *a = &bar->arrivers.items[j];
      if (a->insn != insn || !a->times) continue;
      sum += a->count / a->times;
      unaware += a->unaware;
      n++;
    }
    if (sum <= most || !unaware) continue;
    most = sum;
    *parties = n;
  }
  return most;
}

static bool arrives_on(const Machine *machine, const Mbar *bar, uint32_t warp, bool warpgroup,
                       const MbarArrival **found) {
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->warp == UINT32_MAX) continue;
    const Warp *x = machine->warps[a->warp], *y = machine->warps[warp];
    bool same = a->warp == warp || (warpgroup && x->cta == y->cta && x->id / 4 == y->id / 4);
    if (!same) continue;
    *found = a;
    return true;
  }
  return false;
}

bool cause_too_many_arrivers(Machine *machine, const Mbar *bar, const Access *reader,
                             int64_t data) {
  int parties;
  int64_t round = arrivals_a_round(bar, &parties);
  const MbarArrival *arrival = NULL;
  if (parties < 2 || round <= bar->init_count || !bar->init) return false;
  if (reader && !arrives_on(machine, bar, reader->warp, reader->actor == ACTOR_WGMMA, &arrival))
    return false;
  if (!arrival) arrival = &bar->arrivers.items[bar->arrivers.count - 1];
  const char *name = mbarrier_name(machine, bar, bar->rank);
  IrViolation *v = blame(
      machine,
      BLAME("mbarrier-arrive-count-mismatch", MACHINE_CHECK_PHASE, bar->init, bar, data, 0),
      "%s is initialised for %lld arrival%s, but %lld arrive in each round: its phase completes "
      "before all of them are done",
      name, (long long)bar->init_count, plural(bar->init_count), (long long)round);
  if (!v) return false;
  ir_violation_related(machine->violations, v, arrival->insn->where, "%d parties arrive, e.g. here",
                       parties);
  if (reader) cause_relate(machine, v, reader, witness_access(machine, reader));
  ir_violation_fact(machine->violations, v, "count", "%lld", (long long)bar->init_count);
  ir_violation_fact(machine->violations, v, "arrivals", "%lld", (long long)round);
  witness_barrier(machine, v, bar, 2);
  return true;
}

/* One barrier for copies to different places: the next stage's phase runs over this one's. */
static bool shared_copies(Machine *machine, const Mbar *bar, const WaitContext *waiter) {
  if (!bar->shared_copy) return false;
  const char *name = mbarrier_name(machine, bar, bar->rank);
  IrViolation *v = blame(
      machine, BLAME("pipeline-barrier-shared", MACHINE_CHECK_PHASE, bar->shared_copy, bar, -1, 0),
      "copies to different stages complete on the same barrier %s, and its next phase can be "
      "over before the first was seen: fewer barriers than stages in flight",
      name);
  if (!v) return false;
  if (waiter->insn)
    ir_violation_related(machine->violations, v, waiter->insn->where,
                         "this wait can miss its phase");
  if (bar->last_expect)
    ir_violation_related(machine->violations, v, bar->last_expect->where, "announced here");
  witness_barrier(machine, v, bar, 3);
  return true;
}

/* The warp that arrives too often has passed a wait of its own on an old phase. */
static bool runs_ahead(Machine *machine, const Mbar *bar, int warp) {
  const MbarView *view = bar->views[warp];
  if (!view || !view->rewaits) return false;
  WaitContext context = cause_context(bar, warp, view->rewaits);
  return context.phase >= 0 &&
         cause_wrong_parity(machine, &context, "and its thread runs ahead of the others", NULL,
                            NULL, -1);
}

bool cause_of_lapping(Machine *machine, const Mbar *bar, const WaitContext *waiter, int completer) {
  if (cause_too_many_arrivers(machine, bar, NULL, -1)) return true;
  /* An asynchronous arrival: what the thread that issued the commit had waited for. */
  if (completer < 0 && bar->last_arrive && bar->last_arrive->event == IR_EV_tcgen05_commit)
    completer = bar->commit_warp;
  const Mbar *other = completer >= 0 ? warp_state(machine->warps[completer])->last_wait_mbar : NULL;
  if (other && other != bar && cause_too_many_arrivers(machine, other, NULL, -1)) return true;
  if (other && other != bar && runs_ahead(machine, other, completer)) return true;
  return shared_copies(machine, bar, waiter);
}

static bool missing_expect(Machine *machine, const Access *copy) {
  const Mbar *bar = copy->barrier;
  if (!bar || bar->announced_total > 0) return false;
  if (bar->delivered_total == 0 && bar->unknown_total == 0) return false;
  const char *name = mbarrier_name(machine, bar, bar->rank);
  IrViolation *v =
      blame(machine,
            BLAME(copy->actor == ACTOR_CLC ? "clc-expect-tx-16" : "mbarrier-expect-tx-missing",
                  MACHINE_CHECK_PHASE, copy->insn, bar, -1, 0),
            "the %s completes bytes on %s, but nothing announces bytes there (expect_tx): its "
            "phase does not wait for them",
            witness_actor(copy), name);
  if (v && bar->last_arrive)
    ir_violation_related(machine->violations, v, bar->last_arrive->where,
                         "this arrive announces no bytes");
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

static bool short_expect(Machine *machine, const Access *copy) {
  const Mbar *bar = copy->barrier;
  if (!bar || !bar->announced_total || bar->unknown_total ||
      bar->announced_total >= bar->delivered_total || !bar->last_expect)
    return false;
  IrViolation *v =
      blame(machine,
            BLAME("mbarrier-expect-tx-mismatch", MACHINE_CHECK_BYTES, bar->last_expect, bar, -1, 0),
            "%lld bytes are announced on %s, its copies deliver %lld: the phase completes before "
            "all of them have landed",
            (long long)bar->announced_total, mbarrier_name(machine, bar, bar->rank),
            (long long)bar->delivered_total);
  cause_relate(machine, v, copy, witness_access(machine, copy));
  witness_barrier(machine, v, bar, 2);
  return v != NULL;
}

/* ---- reads of what a copy brings ---- */

/* A thread reads what a copy brings without having waited for it in the right way. */
static bool bad_wait(Machine *machine, const Symptom *s, const Access *copy, const Access *reader) {
  const char *consequence =
      kc_printf(machine->session->arena, "and %s is read while the %s may still write it",
                cause_place(machine, s), witness_actor(copy));
  if (s->reader.failed && s->reader.insn) {
    IrViolation *v = blame(machine,
                           BLAME("mbarrier-wait-not-looped", MACHINE_CHECK_RACE, s->reader.insn,
                                 copy->barrier, s->offset, 0),
                           "the wait on %s may return false, and what it guards is used all the "
                           "same: it has to be repeated until it succeeds",
                           mbarrier_name(machine, copy->barrier, copy->barrier->rank));
    cause_relate(machine, v, reader, witness_access(machine, reader));
    cause_relate(machine, v, copy, witness_access(machine, copy));
    return v != NULL;
  }
  if (cause_wrong_parity(machine, &s->reader, consequence, copy, reader, s->offset)) return true;
  const WarpState *ws = warp_state(machine->warps[reader->warp]);
  int lane = first_lane(reader->issuers);
  const IrInsn *wrong = ws->cp_async.wait[lane] ? ws->cp_async.wait[lane] : ws->bulk.wait[lane];
  if (s->reader.insn || !wrong) return false;
  IrViolation *v =
      blame(machine,
            BLAME("async-copy-group-kind", MACHINE_CHECK_RACE, wrong, copy->barrier, s->offset, 0),
            "this wait does not cover the %s into %s, which completes on the mbarrier "
            "%s",
            witness_actor(copy), cause_place(machine, s),
            mbarrier_name(machine, copy->barrier, copy->barrier->rank));
  cause_relate(machine, v, copy, witness_access(machine, copy));
  return v != NULL;
}

/* No warp of the reader's CTA ever waits for what the copy brings. */
static bool unguarded(Machine *machine, const Symptom *s, const Access *copy) {
  const Cta *cta = machine->warps[s->now->warp]->cta;
  if (s->now->actor != ACTOR_THREAD || cta->rank != s->rank) return false;
  for (int w = 0; w < cta->nwarps; w++)
    if (copy->barrier->views[cta->warps[w].index]) return false;
  IrViolation *v = blame(
      machine,
      BLAME("pipeline-stage-race", MACHINE_CHECK_RACE, s->now->insn, copy->barrier, s->offset, 0),
      "%s is read by %s, and nothing waits on %s, where the %s into it completes",
      cause_place(machine, s), witness_access(machine, s->now),
      mbarrier_name(machine, copy->barrier, copy->barrier->rank), witness_actor(copy));
  cause_relate(machine, v, copy, witness_access(machine, copy));
  witness_race(machine, v, copy, s->now, "a wait on that barrier");
  return v != NULL;
}

static bool read_after_copy(Machine *machine, const Symptom *s) {
  const Access *copy = s->before;
  if (!copy->barrier) return false;
  if (missing_expect(machine, copy) || short_expect(machine, copy)) return true;
  return bad_wait(machine, s, copy, s->now) || unguarded(machine, s, copy);
}

/* ---- refills of what may still be read ---- */

static bool multicast_release(Machine *machine, const Symptom *s, const Mbar *empty) {
  const Access *reader = s->before;
  int from = machine->warps[s->now->warp]->cta->rank;
  int to = reader->actor == ACTOR_TMA_LOAD ? s->rank : machine->warps[reader->warp]->cta->rank;
  if (from == to || !(s->now->insn->flags & IR_FLAG(multicast)) || !empty->init) return false;
  for (int i = 0; i < empty->arrivers.count; i++) {
    const MbarArrival *a = &empty->arrivers.items[i];
    if (a->warp != UINT32_MAX && machine->warps[a->warp]->cta->rank == to) return false;
  }
  IrViolation *v =
      blame(machine,
            BLAME("pipeline-multicast-release-local", MACHINE_CHECK_PHASE, s->now->insn, empty,
                  s->offset, 0),
            "the multicast from CTA %d refills %s, which CTA %d may still read: %s collects "
            "arrivals of its own CTA only",
            from, cause_place(machine, s), to, mbarrier_name(machine, empty, to));
  if (!v) return false;
  if (empty->last_arrive)
    ir_violation_related(machine->violations, v, empty->last_arrive->where,
                         "arrives in its own CTA");
  ir_violation_related(machine->violations, v, empty->init->where, "initialised for %lld arrival%s",
                       (long long)empty->init_count, plural(empty->init_count));
  cause_relate(machine, v, reader, witness_access(machine, reader));
  return true;
}

static bool released_early(Machine *machine, const Symptom *s, const Mbar *empty) {
  const Access *reader = s->before;
  const MbarArrival *arrival;
  if (reader->actor != ACTOR_WGMMA || !arrives_on(machine, empty, reader->warp, true, &arrival))
    return false;
  IrViolation *v = blame(
      machine,
      BLAME("wgmma-slot-released-early", MACHINE_CHECK_RACE, arrival->insn, empty, s->offset, 0),
      "%s is released while the wgmma that reads it may be in flight: no wgmma.wait_group covers "
      "that wgmma before the arrive on %s",
      cause_place(machine, s), mbarrier_name(machine, empty, empty->rank));
  cause_relate(machine, v, reader, witness_access(machine, reader));
  cause_relate(machine, v, s->now, witness_access(machine, s->now));
  witness_race(machine, machine_is_off(machine, MACHINE_CHECK_RACE) ? NULL : v, reader, s->now,
               "a wgmma.wait_group that covers the wgmma, before the release");
  return v != NULL;
}

/* Both CTAs multicast the same tile to each other. */
static bool multicast_twice(Machine *machine, const Symptom *s) {
  const Access *a = s->before, *b = s->now;
  if (a->insn != b->insn || a->actor != ACTOR_TMA_LOAD || !(b->insn->flags & IR_FLAG(multicast)) ||
      machine->warps[a->warp]->cta == machine->warps[b->warp]->cta)
    return false;
  int first = machine->warps[a->warp]->cta->rank, second = machine->warps[b->warp]->cta->rank;
  IrViolation *v = blame(machine,
                         BLAME("tma-multicast-issued-by-every-cta", MACHINE_CHECK_RACE, b->insn,
                               b->barrier, s->offset, 0),
                         "CTAs %d and %d both multicast into %s: each tile has to be issued by one "
                         "CTA, or each CTA issues its own slice",
                         first, second, cause_place(machine, s));
  witness_race(machine, v, a, b, "nothing, in whatever order: another CTA writes the same bytes");
  return v != NULL;
}

static bool arrives(const Mbar *bar, uint32_t warp) {
  for (int i = 0; i < bar->arrivers.count; i++)
    if (bar->arrivers.items[i].warp == warp) return true;
  return false;
}

/* A warp that waits for the copies into a slot and arrives nowhere when it has read it; -1: none.
 */
static int silent_reader(const Machine *machine, const Mbar *full, const Mbar *empty, int rank) {
  for (int w = 0; w < machine->nwarps; w++)
    if (machine->warps[w]->cta->rank == rank && full->views[w] && full->views[w]->waits &&
        !arrives(empty, (uint32_t)w))
      return w;
  return -1;
}

/* The refill waits for a barrier that some readers arrive on, others not, nor does anybody in their
 * name. */
static bool released_by_others(Machine *machine, const Symptom *s, const Mbar *empty) {
  const Access *reader = s->before;
  const MbarArrival *arrival = NULL;
  if (reader->actor != ACTOR_THREAD || reader->write || !empty->init || !s->now->barrier)
    return false;
  int rank = machine->warps[reader->warp]->cta->rank;
  for (int i = 0; i < empty->arrivers.count; i++) {
    const MbarArrival *a = &empty->arrivers.items[i];
    if (a->warp == UINT32_MAX || a->warp == s->now->warp) return false;
    if (machine->warps[a->warp]->cta->rank == rank) arrival = a;
  }
  int silent = silent_reader(machine, s->now->barrier, empty, rank);
  if (!arrival || silent < 0 || (uint32_t)silent == s->now->warp) return false;
  IrViolation *v = blame(
      machine, BLAME("pipeline-stage-race", MACHINE_CHECK_RACE, s->now->insn, empty, s->offset, 0),
      "%s is refilled while %s may still read it: it does not arrive on %s, and nothing orders its "
      "reads before the arrive of %s",
      cause_place(machine, s), witness_warp(machine, (uint32_t)silent),
      mbarrier_name(machine, empty, empty->rank), witness_warp(machine, arrival->warp));
  if (!v) return false;
  ir_violation_related(machine->violations, v, arrival->insn->where, "released here");
  cause_relate(machine, v, reader, witness_access(machine, reader));
  witness_race(machine, v, reader, s->now,
               kc_printf(machine->session->arena, "an arrive on %s by %s behind its reads",
                         mbarrier_name(machine, empty, empty->rank),
                         witness_warp(machine, (uint32_t)silent)));
  return true;
}

static bool refill(Machine *machine, const Symptom *s) {
  const Mbar *empty = s->issuer.bar;
  if (multicast_twice(machine, s)) return true;
  if (cause_commit_missing(machine, s->before, s)) return true;
  if (s->before->actor == ACTOR_TMA_LOAD && missing_expect(machine, s->before)) return true;
  if (!empty) return false;
  const char *consequence =
      kc_printf(machine->session->arena, "and %s is refilled while %s may still use it",
                cause_place(machine, s), witness_access(machine, s->before));
  if (multicast_release(machine, s, empty)) return true;
  if (cause_wrong_parity(machine, &s->issuer, consequence, s->before, s->now, s->offset))
    return true;
  if (cause_too_many_arrivers(machine, empty, s->before, s->offset)) return true;
  if (released_by_others(machine, s, empty)) return true;
  return released_early(machine, s, empty);
}

/* ---- bulk stores ---- */

static bool store_in_flight(Machine *machine, const Symptom *s) {
  const Access *store = s->before;
  const WarpState *ws = warp_state(machine->warps[store->warp]);
  int lane = first_lane(store->lanes);
  const char *place = cause_place(machine, s);
  IrViolation *v;
  const IrInsn *foreign = bulk_foreign_wait(machine, machine->warps[store->warp]->cta);
  if (!(foreign && !s->group_wait) && s->group_open <= store->time &&
      (ws->bulk.open_ops >> lane & 1) && ws->bulk.open[lane] <= store->time) {
    v = blame(machine,
              BLAME("tma-store-not-committed", MACHINE_CHECK_RACE, store->insn, NULL, s->offset, 0),
              "the %s from %s is never committed to a bulk group: nothing can wait for it",
              witness_actor(store), place);
  } else if (s->group_wait) {
    bool covered = (int64_t)s->group_open - 1 - s->group_wait_n >= (int64_t)store->time;
    if (covered)
      v = blame(machine,
                BLAME_BETWEEN("tma-store-smem-reuse-without-wait", MACHINE_CHECK_RACE, s->now->insn,
                              s->offset, 0, store->insn, s->now->insn),
                "%s is written by %s, but nothing orders it after the wait_group of the thread "
                "that stored it",
                place, witness_warp(machine, s->now->warp));
    else
      v = blame(machine,
                BLAME("tma-store-wait-too-lenient", MACHINE_CHECK_RACE, s->group_wait, NULL,
                      s->offset, 0),
                "wait_group %lld leaves the %s from %s pending, which is written next",
                (long long)s->group_wait_n, witness_actor(store), place);
    if (v && s->group_wait)
      ir_violation_related(machine->violations, v, s->group_wait->where, "the last wait_group");
  } else {
    const IrInsn *other = foreign;
    v = blame(machine,
              BLAME(other ? "tma-store-wait-wrong-thread" : "tma-store-smem-reuse-without-wait",
                    MACHINE_CHECK_RACE, other ? other : s->now->insn, NULL, s->offset, 0),
              other ? "the wait_group covers nothing: the %s from %s was issued by another thread "
                      "(bulk groups are per thread)"
                    : "the %s from %s may still read when it is written again: no "
                      "cp.async.bulk.wait_group comes in between",
              witness_actor(store), place);
  }
  cause_relate(machine, v, store, witness_access(machine, store));
  cause_relate(machine, v, s->now, witness_access(machine, s->now));
  witness_race(machine, v, store, s->now,
               "a wait for the store's reads (cp.async.bulk.wait_group.read)");
  return v != NULL;
}

/* ---- proxy fences, ordinary accesses, what remains ---- */

static bool no_proxy_fence(Machine *machine, const Symptom *s) {
  AccessActor actor = (AccessActor)s->now->actor;
  bool reuse = actor == ACTOR_CLC;
  const char *kind = reuse                       ? "clc-response-reuse-no-fence"
                     : actor == ACTOR_BULK_STORE ? "tma-store-missing-proxy-fence"
                     : actor == ACTOR_WGMMA      ? "wgmma-smem-no-proxy-fence"
                                                 : "tcgen05-smem-no-proxy-fence";
  IrViolation *v = blame(
      machine,
      BLAME_BETWEEN(kind, MACHINE_CHECK_RACE, s->now->insn, s->offset, 0, s->before->insn,
                    s->now->insn),
      reuse
          ? "the %s overwrites %s through the async proxy; %s has read it with ordinary loads and "
            "no fence.proxy.async lies in between"
          : "the %s reads %s through the async proxy; %s wrote it with ordinary stores and no "
            "fence.proxy.async lies in between",
      witness_actor(s->now), cause_place(machine, s), witness_warp(machine, s->before->warp));
  cause_relate(machine, v, s->before, reuse ? "read here" : "written here");
  witness_race(machine, v, s->before, s->now,
               "a fence.proxy.async (they are ordered, but not across proxies)");
  return v != NULL;
}

/* The schedule let a warp read before another had written, and no loop leads from the read back to
 * the write: the code means the read to come later. */
static bool reads_ahead(const Machine *machine, const Symptom *s) {
  if (s->race != RACE_WRITE_AFTER_READ || s->now->insn >= s->before->insn) return false;
  const IrKernel *kernel = machine->kernel;
  int32_t write = (int32_t)(s->now->insn - kernel->insns.items);
  for (int32_t i = (int32_t)(s->before->insn - kernel->insns.items); i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_branch && kernel->insns.items[i].target <= write)
      return false;
  return true;
}

static bool threads_only(Machine *machine, const Symptom *s) {
  if (cause_single_barrier(machine, s)) return true;
  if (s->before->insn->op == IR_event && s->before->insn->event == IR_EV_tcgen05_alloc) {
    IrViolation *v = blame(machine,
                           BLAME("tcgen05-address-unsynchronized", MACHINE_CHECK_RACE, s->now->insn,
                                 NULL, s->offset, 0),
                           "%s reads the tensor-memory address from %s, but nothing orders it "
                           "after the tcgen05.alloc",
                           witness_warp(machine, s->now->warp), cause_place(machine, s));
    cause_relate(machine, v, s->before, "written by this alloc");
    return v != NULL;
  }
  if (s->race == RACE_WRITE_AFTER_WRITE && s->before->insn == s->now->insn &&
      slice_address(s->now->insn) &&
      slice_operand(machine->session, slice_address(s->now->insn)).permutes) {
    IrViolation *v = blame(
        machine,
        BLAME("smem-swizzle-escapes-row", MACHINE_CHECK_RACE, s->now->insn, NULL, s->offset, 0),
        "two rows of the tile write %s: the exclusive or of the address reaches "
        "further than a row",
        cause_place(machine, s));
    witness_race(machine, v, s->before, s->now,
                 "nothing, in whatever order: both write the same bytes");
    return v != NULL;
  }
  /* Said where the peer is used before it is known to run. */
  if (protocol_of(machine)->early_remote &&
      warp_rank(machine, s->before->warp) != warp_rank(machine, s->now->warp))
    return true;
  bool turned = reads_ahead(machine, s);
  const Access *first = turned ? s->now : s->before, *then = turned ? s->before : s->now;
  const char *how = turned || s->race == RACE_READ_AFTER_WRITE ? "read"
                    : s->race == RACE_WRITE_AFTER_READ         ? "overwritten"
                                                               : "written again";
  IrViolation *v = blame(machine,
                         BLAME_BETWEEN("smem-race", MACHINE_CHECK_RACE, then->insn, s->offset, 2,
                                       first->insn, then->insn),
                         "%s is %s by %s while %s may still %s it: no barrier orders the two",
                         cause_place(machine, s), how, witness_warp(machine, then->warp),
                         witness_warp(machine, first->warp), first->write ? "write" : "read");
  cause_relate(machine, v, first, witness_access(machine, first));
  witness_race(machine, v, s->before, s->now, "a barrier that both take part in");
  return v != NULL;
}

/* The slot was given back by a warp that has not waited for the copies into it; another has, in its
 * name, but nothing makes it wait for that one. */
static bool given_back_unread(Machine *machine, const Symptom *s) {
  const Mbar *full = s->now->barrier, *empty = s->issuer.bar;
  if (!empty || empty == full) return false;
  const MbarArrival *hasty = NULL;
  int waiter = -1;
  for (int i = 0; i < empty->arrivers.count; i++) {
    const MbarArrival *a = &empty->arrivers.items[i];
    if (a->warp == UINT32_MAX) return false;
    const MbarView *view = full->views[a->warp];
    if (view && view->waits)
      waiter = (int)a->warp;
    else if (machine->warps[a->warp]->cta->rank == full->rank)
      hasty = a;
  }
  if (!hasty || waiter < 0) return false;
  IrViolation *v = blame(
      machine, BLAME("pipeline-stage-race", MACHINE_CHECK_RACE, hasty->insn, empty, s->offset, 0),
      "%s gives the slot back here without having waited for the copies into it: only %s waits on "
      "%s, and no barrier behind that wait holds the others",
      witness_warp(machine, hasty->warp), witness_warp(machine, (uint32_t)waiter),
      mbarrier_name(machine, full, full->rank));
  if (!v) return false;
  ir_violation_related(machine->violations, v, full->views[waiter]->insn->where,
                       "%s waits here for all", witness_warp(machine, (uint32_t)waiter));
  cause_relate(machine, v, s->now, witness_access(machine, s->now));
  witness_race(machine, v, s->before, s->now, "a barrier of the readers behind that wait");
  return true;
}

static bool shared_barrier(Machine *machine, const Symptom *s) {
  if (s->race != RACE_WRITE_AFTER_WRITE || !s->before->barrier ||
      s->before->barrier != s->now->barrier || s->before_time != CLOCK_NEVER)
    return false;
  /* Lanes that issue one copy each: said where they were counted. */
  if (s->before->insn == s->now->insn && s->before->warp == s->now->warp &&
      s->before->issuers != s->now->issuers)
    return true;
  if (given_back_unread(machine, s)) return true;
  IrViolation *v = blame(machine,
                         BLAME("pipeline-barrier-shared", MACHINE_CHECK_RACE, s->now->insn,
                               s->now->barrier, s->offset, 0),
                         "%s is filled again while the %s before is in flight on the same barrier "
                         "%s and phase",
                         cause_place(machine, s), witness_actor(s->before),
                         mbarrier_name(machine, s->now->barrier, s->now->barrier->rank));
  cause_relate(machine, v, s->before, witness_access(machine, s->before));
  return v != NULL;
}

/* A copy that fills its place again, by a thread that has not waited for any mbarrier. */
static bool refills_blindly(const Machine *machine, const Symptom *s) {
  if (warp_rank(machine, s->now->warp) != s->rank) return false;
  bool own = s->before->actor != ACTOR_TMA_LOAD ||
             (s->before->warp == s->now->warp && s->before->issuers == s->now->issuers);
  return own && s->refills && !s->issuer.bar && s->now->actor == ACTOR_TMA_LOAD;
}

static bool stage_race(Machine *machine, const Symptom *s) {
  bool clc = s->now->actor == ACTOR_CLC;
  const char *how = s->now->write ? "overwritten" : "read";
  bool refills = refills_blindly(machine, s);
  IrViolation *v =
      blame(machine,
            BLAME(clc       ? "clc-response-reuse-no-fence"
                  : refills ? "pipeline-slot-never-released"
                            : "pipeline-stage-race",
                  MACHINE_CHECK_RACE, s->now->insn, s->now->barrier, s->offset, refills ? 0 : 2),
            "%s is %s by the %s of %s while %s is not known to be complete%s",
            cause_place(machine, s), how, witness_actor(s->now),
            witness_warp(machine, s->now->warp), witness_access(machine, s->before),
            refills ? ": the issuing thread waits for no barrier before it refills the slot" : "");
  cause_relate(machine, v, s->before, witness_access(machine, s->before));
  witness_race(machine, v, s->before, s->now,
               "a wait for the end of the first, or a release by it");
  if (s->issuer.bar) witness_barrier(machine, v, s->issuer.bar, 2);
  return v != NULL;
}

static bool response_overwritten(const Symptom *s) {
  return s->now->actor == ACTOR_CLC;
}

bool cause_explain_race(Machine *machine, const Symptom *s, bool generic) {
  const Access *before = s->before, *now = s->now;
  if (generic) return stage_race(machine, s);
  if (s->race == RACE_NO_PROXY_FENCE) return no_proxy_fence(machine, s);
  if (before->actor == ACTOR_THREAD && now->actor == ACTOR_THREAD) return threads_only(machine, s);
  if (cause_stages_overlap(machine, s)) return true;
  if (before->actor == ACTOR_BULK_STORE && now->write) return store_in_flight(machine, s);
  if (before->actor == ACTOR_CP_ASYNC && !now->write) return cause_cp_async_read(machine, s);
  if (now->actor == ACTOR_CP_ASYNC && before->actor == ACTOR_THREAD)
    return cause_cp_async_refill(machine, s);
  if (before->barrier && !now->write) return read_after_copy(machine, s);
  if (now->barrier) {
    if (refills_blindly(machine, s)) return stage_race(machine, s);
    if (s->race == RACE_WRITE_AFTER_READ && !s->refills && before->actor == ACTOR_THREAD)
      return bad_wait(machine, s, now, before);
    if (refill(machine, s)) return true;
    if (response_overwritten(s)) return false;
    return shared_barrier(machine, s);
  }
  return cause_commit_missing(machine, before, s);
}
