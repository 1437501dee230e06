/* Named barriers: bar.sync, bar.arrive, bar.red and __syncthreads (PTX ISA 9.7.13.1).
 *
 * Aligned forms work by warp and count it as 32 threads. A barrier without a count waits for the
 * threads that have not exited (measured on an H200: it completes when the others are gone); an
 * explicit count does not shrink. */
#include "machine/hardware/barrier.h"

#include "machine/causes/cause.h"
#include "machine/inputs/slice.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"
#include "machine/witness/witness.h"

#include <string.h>

typedef struct BarrierOp {
  const IrInsn *insn;
  int64_t id, count; /* count: threads that complete it */
  bool explicit_count, waits;
} BarrierOp;

const char *barrier_text(Machine *machine, const IrInsn *insn, int64_t id, int64_t count) {
  const char *name = insn->event == IR_EV_bar_arrive ? "bar.arrive"
                     : insn->event == IR_EV_bar_red  ? "bar.red"
                                                     : "bar.sync";
  if (count < 0) return kc_printf(machine->arena, "%s %lld", name, (long long)id);
  return kc_printf(machine->arena, "%s %lld, %lld", name, (long long)id, (long long)count);
}

static bool generation_over(Machine *machine, const Strand *strand) {
  (void)machine;
  const NamedBarrier *bar = strand->wait_object;
  return bar->generation != strand->wait_value;
}

static char *describe(Machine *machine, const Strand *strand) {
  const NamedBarrier *bar = strand->wait_object;
  const CtaState *cta = cta_state(strand->warp->cta);
  return kc_printf(machine->session->arena, "barrier %d: %lld of %lld threads have arrived",
                   (int)(bar - cta->named), (long long)bar->arrived, (long long)bar->expected);
}

static uint64_t warp_bit(const Warp *warp) {
  return UINT64_C(1) << (warp->id & 63);
}

static int64_t warp_count(uint64_t warps) {
  return __builtin_popcountll(warps);
}

static void complete_generation(Machine *machine, const CtaState *cta, NamedBarrier *bar) {
  Protocol *p = protocol_of(machine);
  /* A barrier of the block waits until the threads that don't arrive have ended. */
  if (!bar->explicit_count) clock_join(&p->clocks, bar->current, cta->exited);
  if (bar->arrived < machine->threads) p->barrier_of_some = true;
  bar->by_repeats |= bar->explicit_count && 32 * warp_count(bar->warps) < bar->expected;
  clock_free(&p->clocks, bar->done);
  bar->done = bar->current;
  clock_raise(&p->clocks, bar->done, bar->agent, CLOCK_ALL_LANES, (uint32_t)++bar->generation);
  bar->current = NULL;
  bar->last_warps = bar->warps;
  bar->last_count = bar->expected;
  bar->warps = 0;
  memset(bar->lanes, 0, sizeof bar->lanes);
  bar->arrived = 0;
  bar->expected = -1;
  bar->first = NULL;
  bar->last_votes = bar->votes;
  bar->votes = (BarrierVotes){0};
  if (bar->last_votes.unknown) bar->last_answer = value_fresh(machine).scalar;
}

static void conflict(Machine *machine, NamedBarrier *bar, const BarrierOp *op, const char *kind,
                     const char *text, bool repeated) {
  bool open = bar->expected >= 0;
  BarrierConflict found = {kind,
                           text,
                           op->insn,
                           open ? bar->first : bar->last_sync,
                           open ? "the earlier arrival" : "the other use of the barrier",
                           op->count,
                           repeated};
  KC_PUSH(machine->arena, bar->conflicts, found);
}

static void check_operands(Machine *machine, const Strand *strand, const BarrierOp *op,
                           NamedBarrier *bar) {
  int64_t whole = (int64_t)strand->warp->cta->nwarps * 32;
  if (!op->explicit_count) return;
  if (op->count % 32)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, op->insn, "barrier-thread-count",
                      "the thread count %lld of barrier %lld is not a multiple of 32",
                      (long long)op->count, (long long)op->id);
  else if (op->count > whole || op->count <= 0)
    conflict(machine, bar, op, "barrier-thread-count",
             kc_printf(machine->session->arena,
                       "barrier %lld waits for %lld threads, the block has %lld", (long long)op->id,
                       (long long)op->count, (long long)machine->threads),
             true);
}

/* Nothing orders this arrival after the completion of the generation before: the arrival could
 * just as well have been counted there. */
static void check_recycling(Machine *machine, Strand *strand, const BarrierOp *op,
                            NamedBarrier *bar) {
  Protocol *p = protocol_of(machine);
  if (bar->generation == 0 || !op->explicit_count) return;
  const LaneClocks *lanes = &warp_state(strand->warp)->lanes;
  if (lanes_know(&p->clocks, lanes, strand->active, bar->agent, 1, (uint32_t)bar->generation))
    return;
  KcArena *arena = machine->session->arena;
  const char *who = machine_who(machine, strand);
  bool member = (bar->last_warps & warp_bit(strand->warp)) != 0;
  IrViolation *v = NULL;
  if (bar->last_count != op->count)
    v = blame(machine,
              &(Blame){.kind = "barrier-count-mismatch",
                       .check = MACHINE_CHECK_PHASE,
                       .insn = op->insn,
                       .data = -1,
                       .named = (int)op->id + 1},
              "barrier %lld is used for %lld threads here and for %lld by warps that may still be "
              "in it",
              (long long)op->id, (long long)op->count, (long long)bar->last_count);
  else if (member)
    conflict(machine, bar, op, "barrier-arrive-overrun",
             kc_printf(arena,
                       "%s arrives on barrier %lld again although nothing tells it that its last "
                       "arrival there has been consumed",
                       who, (long long)op->id),
             false);
  else
    conflict(machine, bar, op, "barrier-id-reuse-conflict",
             kc_printf(arena,
                       "%s uses barrier %lld while another group of warps may still be in it: the "
                       "arrivals of one group complete the barrier of the other",
                       who, (long long)op->id),
             false);
  if (v && bar->last_sync && bar->last_sync != op->insn)
    ir_violation_related(machine->violations, v, bar->last_sync->where,
                         "the other use of barrier %lld", (long long)op->id);
}

/* Groups of warps that complete one barrier each for itself share its number, and a warp can come
 * round too soon; where the warps that use it are no multiple of its count, it is the count that is
 * wrong. A count that is met only when a warp arrives and then waits as well was meant so. */
static bool name_conflict(Machine *machine, int id, const NamedBarrier *bar,
                          const BarrierConflict *conflict) {
  int64_t users = 32 * warp_count(bar->users);
  if (conflict->repeated && bar->by_repeats && users < conflict->count) return false;
  if (strcmp(conflict->kind, "barrier-thread-count") == 0) {
    machine_violation(machine, MACHINE_CHECK_ALWAYS, conflict->insn, conflict->kind, "%s",
                      conflict->text);
    return false;
  }
  bool miscounted = users > conflict->count && users % conflict->count != 0;
  Blame what = {.kind = miscounted ? "barrier-thread-count" : conflict->kind,
                .check = MACHINE_CHECK_PHASE,
                .insn = conflict->insn,
                .data = -1,
                .named = id + 1};
  if (miscounted && bar->last_sync) what.insn = bar->last_sync;
  IrViolation *v = miscounted
                       ? blame(machine, &what, "barrier %d waits for %lld threads, but %lld use it",
                               id, (long long)conflict->count, (long long)users)
                       : blame(machine, &what, "%s", conflict->text);
  if (v && conflict->other && conflict->other != what.insn)
    ir_violation_related(machine->violations, v, conflict->other->where, "%s",
                         conflict->other_text);
  return v && miscounted;
}

void barrier_finish(Machine *machine) {
  for (int rank = 0; rank < machine->cluster_size; rank++)
    for (int id = 0; id < PROTOCOL_NAMED_BARRIERS; id++) {
      const NamedBarrier *bar = &cta_state(&machine->ctas[rank])->named[id];
      bool done = false;
      for (int i = 0; i < bar->conflicts.count && !done; i++)
        done = name_conflict(machine, id, bar, &bar->conflicts.items[i]);
    }
}

static void check_generation(Machine *machine, Strand *strand, const BarrierOp *op,
                             NamedBarrier *bar) {
  if (bar->expected < 0) return;
  IrViolation *v = NULL;
  if (bar->expected != op->count && bar->explicit_count == op->explicit_count)
    v = blame(machine,
              &(Blame){.kind = "barrier-count-mismatch",
                       .check = MACHINE_CHECK_PHASE,
                       .insn = op->insn,
                       .data = -1,
                       .named = (int)op->id + 1},
              "barrier %lld is used here for %lld threads and at %s for %lld", (long long)op->id,
              (long long)op->count, machine_line(machine, bar->first), (long long)bar->expected);
  else if (bar->explicit_count != op->explicit_count && bar->expected != op->count)
    v = blame(machine,
              &(Blame){.kind = "barrier-count-mismatch",
                       .check = MACHINE_CHECK_PHASE,
                       .insn = op->insn,
                       .data = -1,
                       .named = (int)op->id + 1},
              "barrier %lld is used for %lld threads and, at %s, for %lld", (long long)op->id,
              (long long)op->count, machine_line(machine, bar->first), (long long)bar->expected);
  if (v && bar->first)
    ir_violation_witness(machine->violations, v,
                         "barrier %lld  %lld of %lld threads have arrived (%s); then %s comes with "
                         "a count of %lld",
                         (long long)op->id, (long long)bar->arrived, (long long)bar->expected,
                         machine_line(machine, bar->first), machine_who(machine, strand),
                         (long long)op->count);
  if (v && bar->first)
    ir_violation_related(machine->violations, v, bar->first->where, "%s arrived here",
                         kc_printf(machine->arena, "warp %d", bar->first_warp));
  if (bar->lanes[strand->warp->id & 31] & strand->active) {
    conflict(machine, bar, op, "barrier-arrive-overrun",
             kc_printf(machine->session->arena,
                       "%s arrives on barrier %lld twice before it completes",
                       machine_who(machine, strand), (long long)op->id),
             true);
  }
}

/* Whether a thread ends at `exit` because its index is past a size that the caller gives: the early
 * return of a ragged edge. From compute capability 7.0 on a barrier waits for the threads that have
 * not exited (CUDA C++ Programming Guide, compute capability 7.x). */
static bool leaves_at_the_edge(Machine *machine, const IrInsn *exit) {
  const IrKernel *kernel = machine->kernel;
  int at = (int)(exit - kernel->insns.items), from = at;
  int32_t condition = exit->guard;
  while (condition < 0 && --from >= 0) {
    const IrInsn *insn = &kernel->insns.items[from];
    if (insn->op == IR_branch && insn->target > at) condition = insn->guard;
  }
  if (condition < 0) return false;
  return slice_operand(machine->session, &(IrOperand){.kind = IR_OPD_REG, .id = condition})
      .parameter;
}

/* A barrier over the whole block that warps have left without ever reaching it. */
static void check_missing_warps(Machine *machine, Cta *cta, NamedBarrier *bar, const IrInsn *insn) {
  if (bar->explicit_count) return;
  for (int i = 0; i < cta->nwarps; i++) {
    Warp *warp = &cta->warps[i];
    uint64_t bit = warp_bit(warp);
    if ((bar->warps & bit) || warp_state(warp)->barriers > (uint64_t)bar->generation) continue;
    const IrInsn *exit = warp_state(warp)->exit_insn;
    if (exit && leaves_at_the_edge(machine, exit)) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_PHASE, insn, "barrier-syncthreads-in-role-branch",
        "the block-wide barrier completes only because warp %d has exited without reaching it",
        warp->id);
    if (v) {
      v->confidence = IR_INFERRED; /* undefined by the ISA, but it completes on an H200 */
      if (exit)
        ir_violation_related(machine->violations, v, exit->where, "warp %d ends here", warp->id);
    }
    return;
  }
}

static void vote(Machine *machine, Strand *strand, const IrInsn *insn, BarrierVotes *votes) {
  Value v;
  bool given = machine_read_role(machine, strand, insn, IR_ROLE_src, &v);
  bool first = votes->yes + votes->no + votes->unknown == 0;
  FOR_LANES(lane, strand->active) {
    if (!given || !(v.known >> lane & 1))
      votes->unknown++;
    else if (value_raw(v, (int)lane) != 0)
      votes->yes++;
    else
      votes->no++;
  }
  bool same = given && v.uniform && !(v.known & strand->active);
  votes->one_name = same && (first || (votes->one_name && votes->name == v.scalar));
  votes->name = same ? v.scalar : 0;
}

/* The result of bar.red (PTX ISA 9.7.13.1) is one for all threads: known, or the same unknown. */
static Value answer(const IrInsn *insn, const NamedBarrier *bar) {
  const BarrierVotes *votes = &bar->last_votes;
  Value unknown = value_unknown(bar->last_answer);
  switch (insn->sub) {
  case IR_VOTE_all:
    if (votes->no || !votes->unknown) return value_known(votes->no == 0);
    return votes->one_name ? value_unknown(votes->name) : unknown;
  case IR_VOTE_any:
    if (votes->yes || !votes->unknown) return value_known(votes->yes > 0);
    return votes->one_name ? value_unknown(votes->name) : unknown;
  case IR_VOTE_count: return votes->unknown ? unknown : value_known((uint64_t)votes->yes);
  default: return unknown;
  }
}

static void arrive(Machine *machine, Strand *strand, const BarrierOp *op, NamedBarrier *bar) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (!bar->used) {
    bar->used = true;
    bar->agent = clocks_agents(&p->clocks, 1);
  }
  check_operands(machine, strand, op, bar);
  check_generation(machine, strand, op, bar);
  check_recycling(machine, strand, op, bar);
  if (bar->expected < 0) {
    bar->expected = op->count;
    bar->explicit_count = op->explicit_count;
    bar->first = op->insn;
    bar->first_warp = strand->warp->id;
    bar->current = clock_new(&p->clocks);
  }
  bool whole = (strand->warp->alive & ~strand->active) == 0;
  bar->arrived += !op->explicit_count ? lane_count(strand->active)
                  : whole             ? 32
                                      : lane_count(strand->active);
  bar->warps |= warp_bit(strand->warp);
  bar->users |= warp_bit(strand->warp);
  bar->lanes[strand->warp->id & 31] |= strand->active;
  if (!op->explicit_count) ws->barriers = (uint64_t)bar->generation + 1;
  lanes_release(&p->clocks, &ws->lanes, strand->active, bar->current);
  if (op->waits) bar->last_sync = op->insn;
  if (op->insn->event == IR_EV_bar_red) vote(machine, strand, op->insn, &bar->votes);
  if (bar->arrived > bar->expected)
    machine_violation(machine, MACHINE_CHECK_PHASE, op->insn, "barrier-thread-count",
                      "%lld threads arrive on barrier %lld, which waits for %lld",
                      (long long)bar->arrived, (long long)op->id, (long long)bar->expected);
  if (bar->arrived >= bar->expected) {
    check_missing_warps(machine, strand->warp->cta, bar, op->insn);
    complete_generation(machine, cta_state(strand->warp->cta), bar);
  }
}

static void leave(Machine *machine, Strand *strand, NamedBarrier *bar) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  lanes_acquire(&p->clocks, &ws->lanes, strand->active, bar->done);
  lanes_meet(&p->clocks, &ws->lanes, strand->active);
}

static MachineStep barrier_event(Machine *machine, Strand *strand, const IrInsn *insn, bool waits) {
  Cta *cta = strand->warp->cta;
  CtaState *state = cta_state(cta);
  if (strand->resume) {
    leave(machine, strand, &state->named[strand->resume - 1]);
    return MACHINE_NEXT;
  }
  if ((insn->flags & IR_FLAG(aligned)) && !machine_converge(machine, strand, MACHINE_ALL_LANES))
    return MACHINE_BLOCKED;
  BarrierOp op = {.insn = insn, .waits = waits};
  if (!protocol_operand(machine, strand, insn, IR_ROLE_id, strand->active, &op.id))
    op.id = ir_arg(insn, IR_ROLE_id) ? -1 : 0;
  op.explicit_count =
      protocol_operand(machine, strand, insn, IR_ROLE_count, strand->active, &op.count);
  bool unknown_count = !op.explicit_count && ir_arg(insn, IR_ROLE_count) != NULL;
  if (op.id == -1 || unknown_count) {
    machine_switch_off(machine, MACHINE_CHECK_DEADLOCK, insn,
                       "the number or the thread count of a named barrier is not known");
    machine_switch_off(machine, MACHINE_CHECK_RACE, insn,
                       "the number or the thread count of a named barrier is not known");
    return MACHINE_NEXT;
  }
  if (op.id < 0 || op.id >= PROTOCOL_NAMED_BARRIERS) {
    IrViolation *v = machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "barrier-id-range",
                                       "barrier %lld does not exist: a CTA has barriers 0 to 15",
                                       (long long)op.id);
    if (v) ir_violation_fact(machine->violations, v, "id", "%lld", (long long)op.id);
    op.id = (op.id % PROTOCOL_NAMED_BARRIERS + PROTOCOL_NAMED_BARRIERS) % PROTOCOL_NAMED_BARRIERS;
  }
  if (!op.explicit_count) op.count = state->alive;
  NamedBarrier *bar = &state->named[op.id];
  timeline_barrier(machine, strand, insn, op.id);
  contract_barrier(machine, strand, insn,
                   op.explicit_count ? MACHINE_NAMED_BARRIER : MACHINE_BLOCK_BARRIER, op.id,
                   op.count, waits);
  int64_t generation = bar->generation;
  arrive(machine, strand, &op, bar);
  if (!waits) return MACHINE_NEXT;
  if (bar->generation != generation) {
    leave(machine, strand, bar);
    return MACHINE_NEXT;
  }
  strand->resume = op.id + 1;
  machine_block(machine, strand, "barrier", generation_over, describe, bar, generation);
  return MACHINE_BLOCKED;
}

MachineStep event_bar_sync(Machine *machine, Strand *strand, const IrInsn *insn) {
  return barrier_event(machine, strand, insn, true);
}

MachineStep event_bar_arrive(Machine *machine, Strand *strand, const IrInsn *insn) {
  return barrier_event(machine, strand, insn, false);
}

static Value red_result(Machine *machine, Strand *strand, const IrInsn *insn) {
  int64_t id = 0;
  bool known = protocol_operand(machine, strand, insn, IR_ROLE_id, strand->active, &id) ||
               !ir_arg(insn, IR_ROLE_id);
  if (!known || id < 0 || id >= PROTOCOL_NAMED_BARRIERS) return value_fresh(machine);
  return answer(insn, &cta_state(strand->warp->cta)->named[id]);
}

MachineStep event_bar_red(Machine *machine, Strand *strand, const IrInsn *insn) {
  MachineStep step = barrier_event(machine, strand, insn, true);
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (step == MACHINE_NEXT && dst)
    machine_write(machine, strand, dst, red_result(machine, strand, insn), strand->active);
  return step;
}

void barrier_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  CtaState *state = cta_state(strand->warp->cta);
  for (int i = 0; i < PROTOCOL_NAMED_BARRIERS; i++) {
    NamedBarrier *bar = &state->named[i];
    if (bar->expected < 0 || bar->explicit_count) continue;
    bar->expected -= lane_count(lanes);
    if (bar->arrived >= bar->expected && bar->arrived > 0) {
      check_missing_warps(machine, strand->warp->cta, bar, bar->first);
      complete_generation(machine, state, bar);
    }
  }
}
