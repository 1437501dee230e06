/* Strands that wait for ever for anything but an mbarrier: named and cluster barriers, lanes of
 * their warp, registers, tensor memory, wgmma groups. */
#include <string.h>

#include "machine/causes/cause_hang.h"

/* Whether another warp that is stuck elsewhere would come to what `s` waits for: its own wait is
 * the cause then, or both wait for each other. */
static bool comes_later(const Hang *hang, const Stuck *s, CodeTest test, const void *user) {
  const Machine *machine = hang->machine;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other == s || other->strand->pc == s->strand->pc || other->insn == s->insn) continue;
    if (other->strand->wait_object == s->strand->wait_object || other->strand->converging) continue;
    if (code_ahead(machine->kernel, machine->arena, other->strand->pc, test, user)) return true;
  }
  return false;
}

static bool at_cluster_barrier(const Stuck *s) {
  return s->strand->blocked && strcmp(s->strand->blocked, "cluster barrier") == 0;
}

static bool cluster_short(Machine *machine, const Stuck *s, const Stuck *other) {
  IrViolation *v = blame(
      machine, BLAME("cluster-barrier-unpaired", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
      "the cluster barrier is reached by %s, while %s waits elsewhere and never comes",
      machine_who(machine, s->strand), machine_who(machine, other->strand));
  if (v)
    ir_violation_related(machine->violations, v, other->insn->where, "%s waits here",
                         machine_who(machine, other->strand));
  return v != NULL;
}

/* Whether `other` waits in a cluster barrier of its branch, behind which it would come to the
 * barrier `id` of `s`, while `s` has no way to that cluster barrier. */
static bool astray_in_cluster(const Machine *machine, const Stuck *s, const Stuck *other,
                              int64_t id) {
  const IrKernel *kernel = machine->kernel;
  return at_cluster_barrier(other) &&
         code_ahead(kernel, machine->arena, other->strand->pc, code_is_barrier, &id) &&
         !code_ahead(kernel, machine->arena, s->strand->pc, code_is_same, other->insn);
}

bool hang_block_barrier(Machine *machine, const Hang *hang, const Stuck *s) {
  if (!s->strand->blocked || strcmp(s->strand->blocked, "barrier") != 0) return false;
  const NamedBarrier *bar = s->strand->wait_object;
  const CtaState *cta = cta_state(s->strand->warp->cta);
  int id = (int)(bar - cta->named);
  if (bar->explicit_count) return false;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp->cta != s->strand->warp->cta || other->strand == s->strand) continue;
    if (other->strand->wait_object == bar) continue;
    if (astray_in_cluster(machine, s, other, id)) return cluster_short(machine, other, s);
    /* A block-wide barrier that part of the block waits in, while others wait for something else
     * for ever. */
    IrViolation *v = blame(
        machine,
        BLAME("barrier-syncthreads-in-role-branch", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
        "%lld of %lld threads wait in the block-wide barrier here, while %s "
        "waits elsewhere and never comes",
        (long long)bar->arrived, (long long)bar->expected, machine_who(machine, other->strand));
    if (!v) return false;
    ir_violation_related(machine->violations, v, other->insn->where, "%s waits here",
                         machine_who(machine, other->strand));
    return true;
  }
  return false;
}

/* Whether the lanes that are missing wait for something else, behind which they would come here. */
static bool delayed(const Hang *hang, const Stuck *s) {
  const Machine *machine = hang->machine;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp != s->strand->warp || other == s) continue;
    if (!other->waiter && !other->strand->converging) continue;
    if (code_ahead(machine->kernel, machine->arena, other->strand->pc, code_is_same, s->insn))
      return true;
  }
  return false;
}

/* What lanes that never come to a collective operation break. */
static const char *collective_kind(const IrInsn *insn) {
  if (insn->op != IR_event) return "barrier-divergent-aligned";
  if (insn->event == IR_EV_tcgen05_alloc || insn->event == IR_EV_tcgen05_dealloc ||
      insn->event == IR_EV_tcgen05_relinquish)
    return "tcgen05-alloc-not-one-warp";
  if (insn->event >= IR_EV_tcgen05_alloc && insn->event <= IR_EV_tcgen05_wait_st)
    return "tcgen05-divergent-collective";
  bool among_lanes = insn->event == IR_EV_shfl || insn->event == IR_EV_vote ||
                     insn->event == IR_EV_warp_sync || insn->event == IR_EV_elect ||
                     insn->event == IR_EV_match || insn->event == IR_EV_redux;
  return among_lanes ? "warp-sync-mask-absent-lane" : "barrier-divergent-aligned";
}

/* Only of operations that take data or work from each lane: a barrier does without lanes that have
 * ended. */
void protocol_absent(Machine *machine, Strand *strand, uint32_t absent) {
  const IrInsn *insn = &machine->kernel->insns.items[strand->pc];
  bool collects =
      insn->op == IR_event && (insn->event == IR_EV_ldmatrix || insn->event == IR_EV_stmatrix ||
                               insn->event == IR_EV_mma_sync || insn->event == IR_EV_wgmma_mma ||
                               insn->event == IR_EV_tcgen05_ld || insn->event == IR_EV_tcgen05_st);
  if (!collects) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, collective_kind(insn),
                    "%s is executed by lanes 0x%08x of warp %d only; lanes 0x%08x pass it by",
                    ir_event_mnemonic((IrEvent)insn->event), strand->mask, strand->warp->id,
                    absent);
}

bool hang_divergent(Machine *machine, const Hang *hang, const Stuck *s) {
  if (!s->strand->converging || delayed(hang, s)) return false;
  const Warp *warp = s->strand->warp;
  uint32_t missing = s->strand->converge_mask & warp->alive & ~s->strand->mask;
  IrViolation *v =
      blame(machine, BLAME(collective_kind(s->insn), MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
            "%s is executed by lanes 0x%08x of warp %d only; lanes 0x%08x never get there",
            ir_event_mnemonic((IrEvent)s->insn->event), s->strand->mask, warp->id, missing);
  for (int i = 0; v && i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (other->strand->warp != warp || other->strand == s->strand) continue;
    ir_violation_related(machine->violations, v, other->insn->where, "lanes 0x%08x are here",
                         other->strand->mask);
    break;
  }
  return v != NULL;
}

bool hang_exhausted(Machine *machine, const Stuck *s) {
  if (!s->strand->blocked) return false;
  if (strcmp(s->strand->blocked, "register pool") == 0) return true; /* the budget says so */
  if (strcmp(s->strand->blocked, "tensor memory") != 0) return false;
  const CtaState *cta = cta_state(s->strand->warp->cta);
  IrViolation *v =
      blame(machine, BLAME("tcgen05-tmem-exceeds-sm", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
            "this tcgen05.alloc brings the CTA to %lld columns, a SM has 512: it never "
            "returns",
            (long long)cta->alloc_short);
  if (v && cta->allocs.count)
    ir_violation_related(machine->violations, v, cta->allocs.items[0].insn->where,
                         "allocated before: %u columns", cta->allocs.items[0].columns);
  return v != NULL;
}

bool hang_cluster_short(Machine *machine, const Hang *hang, const Stuck *s) {
  if (!at_cluster_barrier(s) || comes_later(hang, s, code_is_cluster_arrive, NULL)) return false;
  for (int i = 0; i < hang->list.count; i++) {
    const Stuck *other = &hang->list.items[i];
    if (!at_cluster_barrier(other)) return cluster_short(machine, s, other);
  }
  return false;
}

bool hang_wgmma_short(Machine *machine, const Stuck *s) {
  if (!s->strand->blocked || strcmp(s->strand->blocked, "wgmma group") != 0) return false;
  IrViolation *v = blame(
      machine, BLAME("wgmma-incomplete-warpgroup", MACHINE_CHECK_DEADLOCK, s->insn, NULL, -1, 0),
      "%s waits for a wgmma group that the other warps of its warpgroup never "
      "issue",
      machine_who(machine, s->strand));
  return v != NULL;
}
