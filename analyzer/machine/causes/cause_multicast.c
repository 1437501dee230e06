/* What CTAs of a cluster send each other: multicasts whose mask leaves a CTA out, so that it waits
 * for bytes or for a commit that go to others only; bytes that land on the wrong CTA's barrier. */
#include "machine/causes/cause_hang.h"

#include "machine/hardware/mbarrier.h"
#include "machine/witness/witness.h"

/* "CTA 0", "CTAs 0, 2" */
static const char *ctas_name(Machine *machine, uint32_t mask) {
  const char *text = lane_count(mask) == 1 ? "CTA" : "CTAs";
  bool first = true;
  FOR_LANES(rank, mask) {
    text = kc_printf(machine->session->arena, "%s%s %u", text, first ? "" : ",", rank);
    first = false;
  }
  return text;
}

static bool commit_misses(Machine *machine, const Stuck *s, const Mbar *twin, const IrInsn *insn) {
  const Mbar *bar = s->waiter->bar;
  uint32_t targets = twin->commit_targets;
  bool mask = (insn->flags & IR_FLAG(multicast)) != 0;
  if (mask && (!targets || (targets >> bar->rank & 1))) return false;
  const char *name = mbarrier_name(machine, bar, bar->rank);
  IrViolation *v =
      mask ? blame(machine,
                   BLAME("tcgen05-pair-commit-not-multicast", MACHINE_CHECK_DEADLOCK, insn, bar, -1,
                         0),
                   "the multicast mask 0x%x of this commit names %s only, while CTA %d waits on "
                   "its own %s: the mask needs bit %d too (0x%x)",
                   targets, ctas_name(machine, targets), bar->rank, name, bar->rank,
                   targets | UINT32_C(1) << bar->rank)
           : blame(machine,
                   BLAME("tcgen05-pair-commit-not-multicast", MACHINE_CHECK_DEADLOCK, insn, bar, -1,
                         0),
                   "the commit signals %s of CTA %d only, while CTA %d waits on its own: a commit "
                   "of a pair has to be multicast to both CTAs",
                   name, twin->rank, bar->rank);
  if (!v) return false;
  if (mask) ir_violation_fact(machine->violations, v, "mask", "0x%x", targets);
  hang_relate(machine, v, s);
  return true;
}

bool hang_pair_commit(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (!(protocol_of(machine)->cta_groups_used & 2) || machine->cluster_size < 2) return false;
  if (bar->arrivals.count) return false;
  const Mbar *twin = mbarrier_find(machine, bar->rank ^ 1, bar->offset);
  if (!twin) return false;
  for (int i = 0; i < twin->arrivers.count; i++) {
    const IrInsn *insn = twin->arrivers.items[i].insn;
    if (insn->event != IR_EV_tcgen05_commit || !(insn->flags & IR_FLAG(cta_group2))) continue;
    if (commit_misses(machine, s, twin, insn)) return true;
  }
  return false;
}

/* Whether the same comes here all the same, from another CTA. */
static bool brings(const Mbar *bar, const MbarCopy *copy) {
  for (int i = 0; i < bar->copies.count; i++)
    if (bar->copies.items[i].insn == copy->insn && bar->copies.items[i].offset == copy->offset)
      return true;
  return false;
}

bool hang_mask_misses(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    const Mbar *twin = rank == bar->rank ? NULL : mbarrier_find(machine, rank, bar->offset);
    for (int i = 0; twin && i < twin->copies.count; i++) {
      const MbarCopy *copy = &twin->copies.items[i];
      if (!copy->targets || (copy->targets >> bar->rank & 1) || brings(bar, copy)) continue;
      if (bar->announced < bar->delivered + copy->bytes) continue;
      IrViolation *v = blame(
          machine, BLAME("tma-multicast-protocol", MACHINE_CHECK_BYTES, copy->insn, bar, -1, 0),
          "the multicast mask 0x%x of this copy names %s only, while CTA %d announces %lld bytes "
          "on its own %s and gets %lld: the mask leaves out CTA %d",
          copy->targets, ctas_name(machine, copy->targets), bar->rank, (long long)bar->announced,
          mbarrier_name(machine, bar, bar->rank), (long long)bar->delivered, bar->rank);
      if (!v) return false;
      ir_violation_fact(machine->violations, v, "mask", "0x%x", copy->targets);
      if (bar->last_expect)
        ir_violation_related(machine->violations, v, bar->last_expect->where, "announced here");
      hang_relate(machine, v, s);
      witness_barrier(machine, v, bar, 2);
      return true;
    }
  }
  return false;
}

static bool brought(const Mbar *bar, const IrInsn *copy, int warp) {
  for (int i = 0; i < bar->copies.count; i++) {
    const MbarCopy *c = &bar->copies.items[i];
    if (c->insn == copy && c->warp == warp && c->phase == bar->phase) return true;
  }
  return false;
}

/* ... to the barrier at that place of any CTA, in this phase or later. */
static bool brought_anywhere(const Machine *machine, const Mbar *bar, const IrInsn *copy,
                             int warp) {
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    const Mbar *twin = mbarrier_find(machine, rank, bar->offset);
    if (twin && twin->phase >= bar->phase && brought(twin, copy, warp)) return true;
  }
  return false;
}

bool hang_copies_held_up(const Machine *machine, const Hang *hang, const Mbar *bar) {
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    const Warp *warp = other->strand->warp;
    if (other->waiter && other->waiter->bar == bar) continue;
    for (int j = 0; j < bar->copies.count; j++) {
      const MbarCopy *copy = &bar->copies.items[j];
      const Warp *from = machine->warps[copy->warp];
      if (from->cta == warp->cta || from->id != warp->id || copy->phase != bar->phase) continue;
      if (!brought_anywhere(machine, bar, copy->insn, warp->index) &&
          code_ahead(machine->kernel, machine->arena, other->strand->pc, code_is_same, copy->insn))
        return true;
    }
  }
  return false;
}

bool hang_lands_elsewhere(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    const Mbar *twin = rank == bar->rank ? NULL : mbarrier_find(machine, rank, bar->offset);
    if (!twin || twin->announced_total || !twin->delivered_total || !twin->last_copy) continue;
    const IrInsn *copy = twin->last_copy;
    const char *name = mbarrier_name(machine, bar, bar->rank);
    IrViolation *v =
        blame(machine, BLAME("mbarrier-expect-tx-mismatch", MACHINE_CHECK_BYTES, copy, bar, -1, 0),
              "the copies of CTA %d complete on its own %s, where nothing announces bytes: CTA %d "
              "announces %lld on its %s and gets %lld; the barrier has to be that of CTA %d (mapa)",
              rank, name, bar->rank, (long long)bar->announced, name, (long long)bar->delivered,
              bar->rank);
    if (!v) return false;
    if (bar->last_expect)
      ir_violation_related(machine->violations, v, bar->last_expect->where, "announced here");
    hang_relate(machine, v, s);
    ir_violation_fact(machine->violations, v, "announced", "%lld", (long long)bar->announced);
    ir_violation_fact(machine->violations, v, "delivered", "%lld", (long long)bar->delivered);
    witness_barrier(machine, v, bar, 2);
    witness_barrier(machine, v, twin, 1);
    return true;
  }
  return false;
}

static bool is_heard(const Machine *machine, const Mbar *bar) {
  for (int w = 0; w < machine->nwarps; w++)
    if (bar->views[w] && (bar->views[w]->waits || bar->views[w]->failed)) return true;
  return false;
}

/* The arrival on `twin` by a warp of CTA `rank`, or NULL. */
static const MbarArrival *from_cta(const Machine *machine, const Mbar *twin, int rank) {
  for (int i = 0; i < twin->arrivers.count; i++) {
    const MbarArrival *a = &twin->arrivers.items[i];
    if (a->warp != UINT32_MAX && machine->warps[a->warp]->cta->rank == rank) return a;
  }
  return NULL;
}

bool hang_arrives_elsewhere(Machine *machine, const Stuck *s) {
  const Mbar *bar = s->waiter->bar;
  if (bar->arrivals.count == 0 && bar->arrivers.count) return false;
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    const Mbar *twin = rank == bar->rank ? NULL : mbarrier_find(machine, rank, bar->offset);
    if (!twin) continue;
    bool none = bar->arrivers.count == 0;
    /* All arrivals of this CTA go to the other, or those of the other stay there unheard. */
    const MbarArrival *a = from_cta(machine, twin, none ? bar->rank : rank);
    if (!a || (!none && (from_cta(machine, bar, rank) || is_heard(machine, twin)))) continue;
    const char *name = mbarrier_name(machine, bar, bar->rank);
    IrViolation *v = blame(
        machine,
        BLAME(none ? "pipeline-slot-never-released" : "mbarrier-arrive-count-mismatch",
              MACHINE_CHECK_DEADLOCK, a->insn, bar, -1, 0),
        none ? "%s arrives on %s of CTA %d only: nothing arrives on %s of CTA %d, which %s waits "
               "for"
             : "%s arrives on %s of CTA %d, where nobody waits: %s of CTA %d, which %s waits for, "
               "does not get its arrivals (mapa)",
        witness_warp(machine, a->warp), name, rank, name, bar->rank,
        machine_who(machine, s->strand));
    if (!v) return false;
    if (bar->init)
      ir_violation_related(machine->violations, v, bar->init->where,
                           "initialised for %lld arrival%s", (long long)bar->init_count,
                           bar->init_count == 1 ? "" : "s");
    hang_relate(machine, v, s);
    witness_barrier(machine, v, bar, 2);
    return true;
  }
  return false;
}
