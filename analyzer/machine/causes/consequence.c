/* Findings that only follow from another finding of the same kernel: a user who mends that one will
 * not see them again, so they are held back. */
#include "machine/execute/core.h"

#include <string.h>

typedef struct Row {
  const char *kind;      /* held back ... */
  const char *cause[10]; /* ... when one of these is found, too; a prefix ends in '*' */
} Row;

static const Row rows[] = {
    {"tcgen05-dealloc-in-use",
     {"tcgen05-commit-missing", "tcgen05-commit-wrong-thread", "tcgen05-tmem-race",
      "tcgen05-wait-ld-st-missing", "tcgen05-pair-double-issue", "mbarrier-*", "pipeline-*",
      "cluster-barrier-unpaired"}},
    {"tcgen05-dealloc-before-peer",
     {"tcgen05-commit-missing", "tcgen05-commit-wrong-thread", "tcgen05-tmem-race",
      "tcgen05-wait-ld-st-missing", "tcgen05-pair-double-issue", "mbarrier-*",
      "cluster-barrier-unpaired"}},
    {"tcgen05-tmem-unallocated",
     {"tcgen05-dealloc-in-use", "tcgen05-address-unsynchronized", "tcgen05-column-unsynchronized"}},
    {"tcgen05-address-unsynchronized",
     {"tcgen05-alloc-not-one-warp", "mbarrier-init-not-synchronized"}},
    {"tcgen05-column-unsynchronized",
     {"tcgen05-alloc-not-one-warp", "tcgen05-dealloc-in-use", "tcgen05-address-unsynchronized"}},
    {"tcgen05-alloc-order", {"tcgen05-alloc-not-one-warp"}},
    {"tcgen05-dealloc-missing", {"tcgen05-alloc-not-one-warp"}},
    {"tcgen05-commit-missing", {"tcgen05-commit-wrong-thread"}},
    {"tcgen05-tmem-race",
     {"tcgen05-pair-double-issue", "tcgen05-commit-wrong-thread", "tcgen05-commit-missing"}},
    {"mbarrier-wait-not-converged", {"pipeline-stage-race"}},
    {"tcgen05-commit-wrong-thread", {"tcgen05-issue-not-single-thread"}},
    {"mbarrier-phase-lapped",
     {"tcgen05-pair-double-issue", "tcgen05-tmem-race", "async-copy-refill-no-barrier"}},
    {"mbarrier-over-arrival",
     {"tcgen05-pair-double-issue", "tcgen05-issue-not-single-thread",
      "mbarrier-arrive-count-mismatch"}},
    {"pipeline-barrier-shared", {"tma-issued-by-many-threads"}},
    {"wgmma-slot-released-early",
     {"mbarrier-phase-not-flipped", "pipeline-stage-phase-desync", "mbarrier-initial-parity",
      "wgmma-group-protocol", "mbarrier-expect-tx-*"}},
    {"tma-store-wait-too-lenient", {"barrier-id-reuse-conflict"}},
    {"pipeline-trip-count-mismatch", {"mbarrier-expect-tx-*", "mbarrier-phase-not-flipped"}},
    {"mbarrier-initial-parity", {"pipeline-stage-phase-desync"}},
    {"cluster-exit-without-sync",
     {"cluster-tile-index-not-uniform", "pipeline-trip-count-mismatch", "mbarrier-init-*",
      "mbarrier-arrive-count-mismatch", "mbarrier-expect-tx-*", "tma-multicast-protocol",
      "tma-box-exceeds-buffer"}},
    {"cluster-remote-barrier-exited",
     {"cluster-tile-index-not-uniform", "pipeline-trip-count-mismatch", "mbarrier-init-*",
      "mbarrier-arrive-count-mismatch", "mbarrier-expect-tx-*", "tma-multicast-protocol",
      "tma-box-exceeds-buffer", "tcgen05-tmem-race"}},
    {"cluster-start-without-sync", {"mbarrier-init-not-synchronized"}},
    {"mbarrier-init-not-synchronized", {"mbarrier-init-cluster-visibility"}},
};

/* Bytes that pile up on a barrier because its phases no longer complete as they should. */
static const Row bytes_pile_up = {"mbarrier-count-range",
                                  {"mbarrier-phase-not-flipped", "mbarrier-initial-parity",
                                   "pipeline-stage-phase-desync", "mbarrier-arrive-count-mismatch",
                                   "mbarrier-over-arrival", "mbarrier-expect-tx-*",
                                   "tma-issued-by-many-threads", "pipeline-slot-*"}};

/* ... when one of these is found at the same place. */
static const Row same_place[] = {
    {"wgmma-descriptor", {"wgmma-operand-outside-tile"}},
    {"tcgen05-smem-descriptor", {"tcgen05-operand-outside-tile"}},
};

bool core_kind_fits(const char *pattern, const char *kind) {
  size_t length = strlen(pattern);
  if (pattern[length - 1] == '*') return strncmp(pattern, kind, length - 1) == 0;
  return strcmp(pattern, kind) == 0;
}

static bool follows(const MachineSession *session, const Row *row, const CoreFinding *finding,
                    bool here) {
  const CoreSession *core = session->core;
  if (strcmp(row->kind, finding->kind) != 0) return false;
  for (int i = 0; i < core->findings.count; i++) {
    const CoreFinding *other = &core->findings.items[i];
    if (here && other->where != finding->where) continue;
    for (size_t k = 0; k < G_N_ELEMENTS(row->cause) && row->cause[k]; k++)
      if (core_kind_fits(row->cause[k], other->kind) && core_stands(session, other)) return true;
  }
  return false;
}

static bool is_related(const IrViolation *v, uint32_t where) {
  for (int i = 0; i < v->related.count; i++)
    if (v->related.items[i].where == where) return true;
  return v->where == where;
}

/* A copy that refills a stage while a read of the round before is under way may also come first:
 * the read then seems to be too early for that copy. `finding` and the refill tell of the same two.
 */
static bool seen_as_refill(const MachineSession *session, const CoreFinding *finding) {
  const CoreSession *core = session->core;
  if (strcmp(finding->kind, "async-copy-wait-missing") != 0 &&
      strcmp(finding->kind, "async-copy-wait-too-lenient") != 0 &&
      strcmp(finding->kind, "async-copy-tail-undercommit") != 0)
    return false;
  for (int i = 0; i < core->findings.count; i++) {
    const CoreFinding *other = &core->findings.items[i];
    if (strcmp(other->kind, "async-copy-refill-no-barrier") != 0) continue;
    const IrViolation *refill = other->violation;
    if (refill->related.count == 0 || !core_stands(session, other)) continue;
    if (is_related(finding->violation, refill->where) &&
        is_related(finding->violation, refill->related.items[0].where))
      return true;
  }
  return false;
}

bool core_follows_from_another(const MachineSession *session, const CoreFinding *finding) {
  if (seen_as_refill(session, finding)) return true;
  if (finding->check == MACHINE_CHECK_BYTES && follows(session, &bytes_pile_up, finding, false))
    return true;
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    if (follows(session, &rows[i], finding, false)) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(same_place); i++)
    if (follows(session, &same_place[i], finding, true)) return true;
  return false;
}
