#include "machine/checks/finish.h"

#include <string.h>

#include "machine/causes/cause_hang.h"

#include "machine/causes/symptom.h"
#include "machine/checks/swizzle.h"
#include "machine/hardware/bulk.h"
#include "machine/hardware/pdl.h"
#include "machine/hardware/tensor.h"
#include "machine/hardware/tmem.h"
#include "machine/hardware/wgmma.h"
#include "machine/inputs/origin.h"
#include "machine/session.h"
#include "machine/witness/witness.h"

/* ---- other CTAs' shared memory ---- */

/* Whether the lanes know that some thread of CTA `rank` has run. */
bool finish_peer_started(const Machine *machine, const Strand *strand, uint32_t lanes, int rank) {
  const Protocol *p = protocol_of(machine);
  const WarpState *ws = warp_state(strand->warp);
  const Cta *peer = &machine->ctas[rank];
  for (int w = 0; w < peer->nwarps; w++) {
    uint32_t agent = warp_state(&peer->warps[w])->lanes.agent;
    for (int lane = 0; lane < 32; lane++) {
      if (clock_time(&p->clocks, ws->reached, agent, lane)) return true;
      if (clock_time(&p->clocks, lanes_group(&ws->lanes, first_lane(lanes))->clock, agent, lane))
        return true;
    }
  }
  return false;
}

void finish_remote(Machine *machine, Strand *strand, uint32_t lanes, int rank, const IrInsn *insn,
                   bool arrive, bool write) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (!(ws->peers_started >> rank & 1)) {
    bool early = !finish_peer_started(machine, strand, lanes, rank);
    ws->peers_started |= UINT32_C(1) << rank; /* said once, at the warp's first use */
    p->early_remote |= early;
    if (early)
      machine_violation(machine, MACHINE_CHECK_RACE, insn, "cluster-start-without-sync",
                        "%s uses the shared memory of CTA %d, but no cluster barrier guarantees "
                        "that it has started",
                        machine_who(machine, strand), rank);
  }
  /* The last use of each lane: lanes that have diverged keep their own times. */
  RemoteUse *mine = NULL;
  uint32_t place = (uint32_t)(insn - machine->kernel->insns.items);
  int *at = &p->remote_at[protocol_slot(place, (uint32_t)(strand->warp->index * 32 + rank))];
  for (int i = *at; i > 0; i = p->remotes.items[i - 1].before) {
    RemoteUse *r = &p->remotes.items[i - 1];
    if (r->insn != insn || r->warp != (uint32_t)strand->warp->index || r->rank != rank) continue;
    r->lanes &= ~lanes;
    if (r->time == ws->lanes.now || (!mine && !r->lanes)) mine = r;
  }
  if (mine) {
    mine->lanes |= lanes;
    mine->time = ws->lanes.now;
    return;
  }
  KC_PUSH(machine->arena, p->remotes,
          ((RemoteUse){(uint32_t)strand->warp->index, lanes, ws->lanes.now, rank, insn, arrive,
                       write, *at}));
  *at = p->remotes.count;
}

static void tell_exit(Machine *machine, const RemoteUse *r, IrViolation *v) {
  witness_order(machine, v,
                kc_printf(machine->arena, "%s %s at %s", witness_warp(machine, r->warp),
                          r->write ? "writes" : "reads", machine_line(machine, r->insn)),
                kc_printf(machine->arena, "CTA %d ends", r->rank),
                "a cluster barrier (arrive and wait) of both CTAs");
}

/* Uses of a CTA's shared memory that nothing orders before its exit. */
static void check_remotes(Machine *machine) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->remotes.count; i++) {
    const RemoteUse *r = &p->remotes.items[i];
    const CtaState *target = cta_state(&machine->ctas[r->rank]);
    uint32_t agent = warp_state(machine->warps[r->warp])->lanes.agent;
    if (!clock_behind(&p->clocks, target->exited, agent, r->lanes, r->time)) continue;
    const Warp *warp = machine->warps[r->warp];
    if (r->arrive)
      machine_violation(machine, MACHINE_CHECK_FINISH, r->insn, "cluster-remote-barrier-exited",
                        "warp %d of CTA %d signals an mbarrier of CTA %d, and nothing keeps that "
                        "CTA from exiting before (no wait for the last phase, no cluster barrier)",
                        warp->id, warp->cta->rank, r->rank);
    else
      tell_exit(
          machine, r,
          machine_violation(machine, MACHINE_CHECK_FINISH, r->insn, "cluster-exit-without-sync",
                            "warp %d of CTA %d %s shared memory of CTA %d, and nothing keeps "
                            "that CTA from exiting before",
                            warp->id, warp->cta->rank, r->write ? "writes" : "reads", r->rank));
  }
}

void finish_narrow_release(Machine *machine, Mbar *bar, Strand *strand, const IrInsn *insn) {
  const WarpState *ws = warp_state(strand->warp);
  if (!(ws->narrow_stores >> bar->rank & 1)) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "mbarrier-scope-too-narrow",
      "the arrive on %s in CTA %d releases at CTA scope only: what this thread stored into that "
      "CTA's shared memory is not ordered for its readers (.release.cluster)",
      machine_place(machine, (MachineAddress){IR_SPACE_SHARED, bar->rank, bar->offset}, bar->rank),
      bar->rank);
  for (int i = 0; v && i < protocol_of(machine)->remotes.count; i++) {
    const RemoteUse *r = &protocol_of(machine)->remotes.items[i];
    if (r->arrive || !r->write || r->rank != bar->rank || r->warp != (uint32_t)strand->warp->index)
      continue;
    ir_violation_related(machine->violations, v, r->insn->where, "the store to CTA %d", bar->rank);
    break;
  }
}

void finish_narrow_acquire(Machine *machine, const Mbar *bar, const IrInsn *insn) {
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "mbarrier-scope-too-narrow",
      "the wait on %s acquires at CTA scope only, but another CTA hands over what it stored by its "
      "arrive at %s (.acquire.cluster)",
      machine_place(machine, (MachineAddress){IR_SPACE_SHARED, bar->rank, bar->offset}, bar->rank),
      machine_line(machine, bar->handed));
  if (v) ir_violation_related(machine->violations, v, bar->handed->where, "the arrive of the peer");
}

/* The barrier stands in a loop over tiles that each CTA of the cluster counts from its own block.
 */
static bool tiles_apart(Machine *machine, const Strand *strand, const IrInsn *insn) {
  const IrInsn *start = code_counts_from_block(machine->kernel, insn);
  if (!start) return false;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, start, "cluster-tile-index-not-uniform",
      "each CTA of the cluster counts its tiles from its own blockIdx: %s is through with them and "
      "exits while others wait for it in the cluster barrier",
      machine_who(machine, strand));
  if (v) ir_violation_related(machine->violations, v, insn->where, "the cluster barrier");
  return true;
}

void finish_cluster_short(Machine *machine, const Strand *strand, const IrInsn *insn) {
  if (!insn || tiles_apart(machine, strand, insn)) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, insn, "cluster-barrier-unpaired",
      "the cluster barrier completes only because %s exits without having reached it",
      machine_who(machine, strand));
  if (v) v->confidence = IR_FALLBACK; /* threads that have exited are not waited for */
}

/* ---- barriers ---- */

void finish_uninitialised(Machine *machine, const Strand *strand, const IrInsn *insn,
                          const SharedPlace *place, const char *what) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->uninitialised.count; i++)
    if (p->uninitialised.items[i].insn == insn) return;
  KC_PUSH(machine->arena, p->uninitialised,
          ((Uninitialised){insn, what, place->rank, place->offset, strand->warp->index}));
}

/* Used before it was initialised, in this order of things. */
static void used_too_early(Machine *machine, const Uninitialised *u, const Mbar *bar,
                           const char *name) {
  const Warp *warp = machine->warps[u->warp];
  bool remote = warp->cta->rank != bar->rank;
  IrViolation *v = blame(
      machine,
      &(Blame){.kind =
                   remote ? "mbarrier-init-cluster-visibility" : "mbarrier-init-not-synchronized",
               .check = MACHINE_CHECK_PHASE,
               .insn = bar->init,
               .bar = bar,
               .data = -1,
               .first = bar->init,
               .then = u->insn},
      remote
          ? "%s is initialised here, but %s by warp %d of another CTA at %s is not ordered after "
            "it (a cluster barrier has to lie in between)"
          : "%s is initialised here, but %s by warp %d at %s is not ordered after it",
      name, u->what, warp->id, machine_line(machine, u->insn));
  if (v) ir_violation_related(machine->violations, v, u->insn->where, "used here");
  witness_order(machine, v,
                kc_printf(machine->arena, "%s at %s, by %s", u->what,
                          machine_line(machine, u->insn), witness_warp(machine, u->warp)),
                kc_printf(machine->arena, "mbarrier.init at %s", machine_line(machine, bar->init)),
                "the init would have to come first, then a barrier");
}

static void check_uninitialised(Machine *machine) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->uninitialised.count; i++) {
    const Uninitialised *u = &p->uninitialised.items[i];
    const char *name = machine_place(machine, (MachineAddress){IR_SPACE_SHARED, u->rank, u->offset},
                                     machine->warps[u->warp]->cta->rank);
    /* Beyond what the launch gives no barrier can be kept: said of the launch. */
    bool beyond = u->offset / 8 >= machine->session->shared_bytes / 8;
    if (beyond && p->init_beyond) continue;
    const Mbar *bar = beyond ? NULL : cta_state(&machine->ctas[u->rank])->mbars[u->offset / 8];
    if (u->offset % 8 && p->misaligned_init) continue; /* said at the init */
    if (bar && bar->init && u->offset % 8 == 0)
      used_too_early(machine, u, bar, name);
    else if (!p->unknown_init)
      blame(machine,
            &(Blame){.kind = "mbarrier-init-missing",
                     .check = MACHINE_CHECK_PHASE,
                     .insn = u->insn,
                     .data = -1,
                     .at = u->offset + 1},
            "%s on %s, which no mbarrier.init initialises", u->what, name);
  }
}

void finish_phase(Machine *machine, Mbar *bar) {
  tensor_phase(machine, bar);
}

/* Whether something was found that lets phases slip: what is left over may follow from it. */
static bool phases_slip(const Machine *machine, const Mbar *bar) {
  for (int w = 0; w < machine->nwarps; w++)
    if (bar->views[w] && bar->views[w]->rewaits) return true;
  for (int i = 0; i < machine->violations->list.count; i++) {
    const char *kind = machine->violations->list.items[i]->kind;
    if (strncmp(kind, "mbarrier-", 9) == 0 || strncmp(kind, "pipeline-", 9) == 0) return true;
  }
  return false;
}

/* The wait of the warp that waits on the barrier, or NULL. */
static const IrInsn *a_wait_on(const Machine *machine, const Mbar *bar) {
  for (int w = 0; w < machine->nwarps; w++)
    if (bar->views[w] && bar->views[w]->insn) return bar->views[w]->insn;
  return NULL;
}

/* Copies whose phase nobody waits for any more: they may land when the CTA has ended and its shared
 * memory belongs to another. */
static void check_unconsumed(Machine *machine, const Mbar *bar) {
  if (!bar->last_copy || bar->last_observed == INT64_MIN || bar->last_observed < 0) return;
  if (bar->phase - 1 <= bar->last_observed || bar->last_landed_phase <= bar->last_observed) return;
  IrViolation *v = blame(
      machine,
      BLAME("pipeline-trip-count-mismatch", MACHINE_CHECK_FINISH, bar->last_copy, bar, -1,
            machine->stuck || phases_slip(machine, bar)),
      "the copy of phase %lld of %s is never waited for: the last wait is for phase %lld, and the "
      "CTA may end while the copy is in flight",
      (long long)bar->last_landed_phase,
      machine_place(machine, (MachineAddress){IR_SPACE_SHARED, bar->rank, bar->offset}, bar->rank),
      (long long)bar->last_observed);
  if (v && v->confidence < IR_INFERRED) v->confidence = IR_INFERRED;
  const IrInsn *wait = a_wait_on(machine, bar);
  hang_relate_loops(machine, v, bar->last_copy, "the loop of those who copy");
  if (wait) hang_relate_loops(machine, v, wait, "the loop of those who wait");
}

void finish_mbarrier_closed(Machine *machine, Mbar *bar) {
  bool unannounced =
      bar->last_copy && !bar->last_expect && (bar->delivered_total || bar->unknown_total);
  if (unannounced) {
    cause_leftover(machine, bar);
    return;
  }
  check_unconsumed(machine, bar);
  if (bar->tx == 0 || bar->had_unknown || bar->unknown_total || bar->copies_unknown) return;
  cause_leftover(machine, bar);
}

/* ---- what is not known ---- */

void finish_unknown_copy(Machine *machine, const Strand *strand, const IrInsn *insn,
                         bool known_elsewhere) {
  (void)strand;
  if (known_elsewhere && !origin_made_up(machine, insn, IR_ROLE_dst_addr)) {
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "smem-out-of-bounds",
                      "the shared address of %s is not in shared memory",
                      ir_event_mnemonic((IrEvent)insn->event));
    return;
  }
  static const MachineCheck checks[] = {MACHINE_CHECK_DEADLOCK, MACHINE_CHECK_BYTES,
                                        MACHINE_CHECK_RACE, MACHINE_CHECK_FINISH};
  for (int i = 0; i < 4; i++)
    machine_switch_off(machine, checks[i], insn, "the shared address of a copy is not known");
}

/* Whether an address comes from mapa, through a chain of instructions that compute on it alone. */
static bool is_mapped(const IrKernel *kernel, int32_t reg) {
  enum { CHAIN = 6 };
  for (int step = 0; step < CHAIN; step++) {
    const IrInsn *def = NULL;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      if (insn->nargs < 2 || insn->op == IR_store || insn->args[0].kind != IR_OPD_REG ||
          insn->args[0].id != reg)
        continue;
      if (def) return false;
      def = insn;
    }
    if (!def || def->op == IR_mapa) return def != NULL;
    int from = def->op == IR_mad || def->op == IR_madwide ? 3 : 1;
    bool follows = def->op == IR_mov || def->op == IR_add || def->op == IR_sub ||
                   def->op == IR_mad || def->op == IR_madwide || def->op == IR_cvt ||
                   def->op == IR_cvta;
    if (!follows || from >= def->nargs || def->args[from].kind != IR_OPD_REG) return false;
    reg = def->args[from].id;
  }
  return false;
}

/* A place in some CTA of the cluster, while none but the own one is known to run. */
static void check_unknown_peer(Machine *machine, const Strand *strand, const IrInsn *insn) {
  int own = strand->warp->cta->rank;
  if (machine->cluster_size < 2 || insn->op == IR_event || insn->space == IR_SPACE_GLOBAL) return;
  const IrOperand *address = &insn->args[insn->op == IR_store  ? 0
                                         : insn->op == IR_load ? insn->nargs - 1
                                                               : 1];
  if (address->kind != IR_OPD_REG) return;
  for (int rank = 0; rank < machine->cluster_size; rank++)
    if (rank != own && finish_peer_started(machine, strand, strand->active, rank)) return;
  if (!is_mapped(machine->kernel, address->id)) return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_RACE, insn, "cluster-start-without-sync",
                        "%s uses the shared memory of whichever CTA the data names, but no cluster "
                        "barrier guarantees "
                        "that any other has started",
                        machine_who(machine, strand));
  if (!v) return;
  v->confidence = IR_INFERRED;
  v->assumed = "that the data names another CTA of the cluster";
}

void finish_unknown_access(Machine *machine, const Strand *strand, const IrInsn *insn,
                           const MachineAccess *access) {
  check_unknown_peer(machine, strand, insn);
  if (access->kind != MACHINE_WRITE) return;
  if (insn->space == IR_SPACE_GLOBAL || insn->space == IR_SPACE_LOCAL) return;
  if (insn->space != IR_SPACE_SHARED && insn->space != IR_SPACE_SHARED_CLUSTER) return;
  machine_switch_off(machine, MACHINE_CHECK_RACE, insn,
                     "an ordinary store goes to a shared address that is not known");
}

/* ---- the end ---- */

void finish_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  WarpState *ws = warp_state(strand->warp);
  if (strand->pc >= 0 && strand->pc < machine->kernel->insns.count)
    ws->exit_insn = &machine->kernel->insns.items[strand->pc];
  bulk_exit(machine, strand, lanes);
  wgmma_exit(machine, strand, lanes);
}

static void keep_counts(Machine *machine) {
  Protocol *p = protocol_of(machine);
  ProtocolSession *s = session_protocol(machine->session);
  if (p->tmem_columns_max > s->tmem_columns) s->tmem_columns = p->tmem_columns_max;
  if (p->registers_max > s->registers) s->registers = p->registers_max;
  machine->initialised_barriers = p->mbars.count;
  const Cta *cta = &machine->ctas[0];
  bool any = false;
  for (int w = 0; w < cta->nwarps; w++)
    any = any || warp_state(&cta->warps[w])->setmaxnreg_value;
  if (!any || s->warpgroup_registers.count) return;
  for (int w = 0; w < cta->nwarps; w += 4)
    KC_PUSH(machine->session->arena, s->warpgroup_registers,
            (int)warp_state(&cta->warps[w])->setmaxnreg_value);
}

void finish_run(Machine *machine) {
  Protocol *p = protocol_of(machine);
  keep_counts(machine);
  tensor_infer(machine);
  check_uninitialised(machine);
  swizzle_finish(machine);
  if (machine->stopped) return;
  wgmma_finish(machine);
  tmem_finish(machine);
  tcgen05_finish(machine);
  pdl_finish(machine);
  setmaxnreg_finish(machine);
  if (machine->stuck) return;
  check_remotes(machine);
  tensor_finish(machine);
  tensormap_finish(machine);
  for (int i = 0; i < p->mbars.count; i++)
    if (p->mbars.items[i]->live) finish_mbarrier_closed(machine, p->mbars.items[i]);
}
