/* barrier.cluster (PTX ISA 9.7.13.3): every thread of the cluster that has not exited arrives once
 * a round. A relaxed arrive publishes only what was fenced at cluster scope before; that the others
 * got there is known all the same (WarpState.reached). */
#include "machine/causes/cause.h"
#include "machine/checks/finish.h"
#include "machine/hardware/barrier.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

static int64_t living(const Machine *machine) {
  int64_t n = 0;
  for (int i = 0; i < machine->cluster_size; i++)
    n += cta_state(&machine->ctas[i])->alive;
  return n;
}

static void complete_round(Machine *machine) {
  Protocol *p = protocol_of(machine);
  ClusterBarrier *bar = &p->cluster;
  clock_free(&p->clocks, bar->done);
  clock_free(&p->clocks, bar->done_reached);
  bar->done = bar->current;
  bar->done_reached = bar->reached;
  /* Those that have ended are waited for like those that arrive. */
  for (int i = 0; i < machine->cluster_size; i++)
    clock_join(&p->clocks, bar->done_reached, cta_state(&machine->ctas[i])->exited);
  bar->current = clock_new(&p->clocks);
  bar->reached = clock_new(&p->clocks);
  bar->round++;
  bar->arrived = 0;
  bar->first = NULL;
}

MachineStep event_cluster_arrive(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  ClusterBarrier *bar = &p->cluster;
  if ((insn->flags & IR_FLAG(aligned)) && !machine_converge(machine, strand, MACHINE_ALL_LANES))
    return MACHINE_BLOCKED;
  uint32_t again = ws->cluster_arrived & strand->active;
  if (again) {
    IrViolation *v =
        machine_violation(machine, MACHINE_CHECK_PHASE, insn, "cluster-barrier-unpaired",
                          "%s arrives on the cluster barrier twice with no wait in between",
                          machine_who(machine, strand));
    if (v && ws->cluster_insn && ws->cluster_insn != insn)
      ir_violation_related(machine->violations, v, ws->cluster_insn->where, "the earlier arrive");
  }
  ws->cluster_arrived |= strand->active;
  ws->cluster_insn = insn;
  FOR_LANES(lane, strand->active) ws->cluster_round[lane] = bar->round + 1;
  if (!bar->first) bar->first = insn;
  if (!bar->reached) bar->reached = clock_new(&p->clocks);
  if (insn->flags & IR_FLAG(relaxed))
    clock_join(&p->clocks, bar->current, ws->released);
  else
    lanes_collect(&p->clocks, &ws->lanes, strand->active, bar->current);
  clock_join(&p->clocks, bar->reached, ws->reached);
  lanes_release(&p->clocks, &ws->lanes, strand->active, bar->reached);
  bar->arrived += lane_count(strand->active);
  timeline_barrier(machine, strand, insn, -1);
  contract_barrier(machine, strand, insn, MACHINE_CLUSTER_BARRIER, -1, living(machine), false);
  if (bar->arrived >= living(machine)) complete_round(machine);
  return MACHINE_NEXT;
}

static bool round_over(Machine *machine, const Strand *strand) {
  return protocol_of(machine)->cluster.round >= strand->wait_value;
}

static char *describe(Machine *machine, const Strand *strand) {
  (void)strand;
  const ClusterBarrier *bar = &protocol_of(machine)->cluster;
  return kc_printf(machine->session->arena,
                   "the cluster barrier: %lld of %lld threads of the cluster have arrived",
                   (long long)bar->arrived, (long long)living(machine));
}

MachineStep event_cluster_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  ClusterBarrier *bar = &p->cluster;
  if ((insn->flags & IR_FLAG(aligned)) && !machine_converge(machine, strand, MACHINE_ALL_LANES))
    return MACHINE_BLOCKED;
  if (!strand->resume && (strand->active & ~ws->cluster_arrived)) {
    machine_violation(machine, MACHINE_CHECK_PHASE, insn, "cluster-barrier-unpaired",
                      "%s waits on the cluster barrier without having arrived",
                      machine_who(machine, strand));
    return MACHINE_NEXT;
  }
  int64_t round = 0;
  FOR_LANES(lane, strand->active)
  if (ws->cluster_round[lane] > round) round = ws->cluster_round[lane];
  if (bar->round < round) {
    strand->resume = 1;
    machine_block(machine, strand, "cluster barrier", round_over, describe, bar, round);
    return MACHINE_BLOCKED;
  }
  ws->cluster_arrived &= ~strand->active;
  if (!(insn->flags & IR_FLAG(relaxed)))
    lanes_acquire(&p->clocks, &ws->lanes, strand->active, bar->done);
  if (!ws->reached) ws->reached = clock_new(&p->clocks);
  clock_join(&p->clocks, ws->reached, bar->done_reached);
  if (insn->flags & IR_FLAG(aligned)) lanes_meet(&p->clocks, &ws->lanes, strand->active);
  contract_barrier(machine, strand, insn, MACHINE_CLUSTER_BARRIER, -1, living(machine), true);
  return MACHINE_NEXT;
}

void cluster_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  ClusterBarrier *bar = &p->cluster;
  clock_join(&p->clocks, cta_state(strand->warp->cta)->exited, ws->reached);
  /* A thread that arrived and ended no longer counts on either side. */
  FOR_LANES(lane, lanes & ws->cluster_arrived)
  if (ws->cluster_round[lane] == bar->round + 1 && bar->arrived > 0) bar->arrived--;
  ws->cluster_arrived &= ~lanes;
  int64_t left = living(machine);
  if (bar->arrived > 0 && bar->arrived >= left) {
    finish_cluster_short(machine, strand, bar->first);
    complete_round(machine);
  }
}
