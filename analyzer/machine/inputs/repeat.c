/* Runs that would show nothing new: the machine is deterministic, so that a run whose inputs agree
 * with those of an earlier one in all that the earlier one read goes the same way. Only runs that
 * found nothing count: what a finding rests on differs from sample to sample.
 *
 * Where barriers that every thread of the block takes are all that orders the warps, the order of
 * the warps between two of them decides nothing either, unless they race: the clocks say so whoever
 * comes first. */
#include "machine/execute/core.h"
#include "machine/hardware/protocol.h"
#include "machine/session.h"

#include <string.h>

#define SPREAD 8 /* bytes of a parameter that one read may take */

/* Whether what an instruction does depends on its own warp and on barriers of the block only. */
static bool keeps_to_its_warp(const IrInsn *insn) {
  const uint64_t strong = IR_FLAG(volatile_) | IR_FLAG(relaxed) | IR_FLAG(acquire) |
                          IR_FLAG(release) | IR_FLAG(acq_rel) | IR_FLAG(sc);
  if (insn->op == IR_atom || insn->op == IR_trap) return false;
  if (insn->op == IR_load || insn->op == IR_store) return (insn->flags & strong) == 0;
  if (insn->op == IR_havoc) return insn->nargs > 0;
  if (insn->op != IR_event) return true;
  switch ((int)insn->event) {
  case IR_EV_bar_sync:
  case IR_EV_bar_red:
  case IR_EV_warp_sync:
  case IR_EV_cp_async:
  case IR_EV_cp_async_commit:
  case IR_EV_cp_async_wait:
  case IR_EV_shfl:
  case IR_EV_vote:
  case IR_EV_match:
  case IR_EV_redux:
  case IR_EV_ldmatrix:
  case IR_EV_stmatrix:
  case IR_EV_mma_sync: return true;
  default: return false;
  }
}

/* Whether the warps could have run in any other order to the same effect. Values that pass between
 * them through global memory, whose accesses no clock follows, or through a clock that each reading
 * advances would tell the orders apart. */
static bool any_order(const Machine *machine) {
  const CoreRun *run = core_run(machine);
  const Protocol *p = protocol_of(machine);
  if (machine->cluster_size > 1 || machine->stuck || run->global_used || run->clock ||
      run->stores_blindly || p->barrier_of_some || !race_is_exact(p->races))
    return false;
  for (int check = 0; check < MACHINE_CHECK_COUNT; check++)
    if (run->off[check].count) return false;
  for (int i = 0; i < machine->kernel->insns.count; i++)
    if (machine->executed[i] && !keeps_to_its_warp(&machine->kernel->insns.items[i])) return false;
  return true;
}

void core_note_order(Machine *machine) {
  core_run(machine)->any_order = any_order(machine);
}

void core_note_run(Machine *machine) {
  MachineSession *session = machine->session;
  CoreSession *core = session->core;
  if (machine->stopped || machine->violations->list.count > 0 || core->decisions.count > 0) return;
  /* What a run learns of the bytes of copies changes the ones after it. */
  if (session_protocol(session)->copies.count > 0) return;
  const MachineSample *sample = machine->sample;
  CoreRunRecord record = {.sample = sample,
                          .schedule = machine->schedule,
                          .diverged = core_run(machine)->diverged,
                          .any_order = core_run(machine)->any_order,
                          .specials = core_run(machine)->specials,
                          .phases = machine->most_phases,
                          .generations = machine->most_generations,
                          .barriers = machine->initialised_barriers};
  record.param_read = kc_alloc(session->arena, sample->param_bytes + SPREAD);
  for (uint64_t i = 0; i < sample->param_bytes; i++)
    if (core_run(machine)->param_read[i]) memset(record.param_read + i, 1, SPREAD);
  KC_PUSH(session->arena, core->runs, record);
}

static bool reads_any(const CoreRunRecord *run, IrSpecial first, IrSpecial last) {
  for (int s = first; s <= (int)last; s++)
    if (run->specials >> s & 1) return true;
  return false;
}

/* Whether the dimensions agree as far as the run asked for them. */
static bool same_dimensions(const CoreRunRecord *run, const MachineSample *b) {
  const MachineSample *a = run->sample;
  if (memcmp(a->block, b->block, sizeof a->block) != 0 ||
      memcmp(a->cluster, b->cluster, sizeof a->cluster) != 0 ||
      a->dynamic_shared != b->dynamic_shared || a->dynamic_shared_known != b->dynamic_shared_known)
    return false;
  bool position = reads_any(run, IR_SREG_ctaid_x, IR_SREG_ctaid_z) ||
                  reads_any(run, IR_SREG_clusterid_x, IR_SREG_clusterid_z);
  bool size = reads_any(run, IR_SREG_nctaid_x, IR_SREG_nctaid_z) ||
              reads_any(run, IR_SREG_nclusterid_x, IR_SREG_nclusterid_z);
  if (size && memcmp(a->grid, b->grid, sizeof a->grid) != 0) return false;
  /* The first cluster stands at the same place in every grid. */
  return !position || (a->cluster_index == b->cluster_index &&
                       (a->cluster_index == 0 || memcmp(a->grid, b->grid, sizeof a->grid) == 0));
}

static bool same_inputs(const CoreRunRecord *run, const MachineSample *b) {
  const MachineSample *a = run->sample;
  if (a == b) return true;
  if (a->param_bytes != b->param_bytes || a->pattern != b->pattern || a->npattern != b->npattern ||
      !same_dimensions(run, b) || memcmp(a->param_known, b->param_known, a->param_bytes) != 0)
    return false;
  for (uint64_t i = 0; i < a->param_bytes; i++)
    if (run->param_read[i] && a->param[i] != b->param[i]) return false;
  return true;
}

static bool same_order(const CoreRunRecord *run, MachineSchedule schedule) {
  if (run->schedule == schedule) return true;
  if (run->schedule != MACHINE_EAGER) return false;
  /* Without divergence no lane can lag behind the others of its warp. */
  return schedule == MACHINE_LAG ? !run->diverged : run->any_order;
}

const CoreRunRecord *core_known_run(const MachineSession *session, const MachineSample *sample,
                                    MachineSchedule schedule) {
  const CoreSession *core = session->core;
  if (session->options->dump_events) return NULL;
  for (int i = 0; i < core->runs.count; i++) {
    const CoreRunRecord *run = &core->runs.items[i];
    if (same_order(run, schedule) && same_inputs(run, sample)) return run;
  }
  return NULL;
}
