/* Findings that only follow from another finding of the same kernel: a user who mends that one will
 * not see them again, so they are held back. */
#include "machine/core.h"

#include <string.h>

typedef struct Row {
  const char *kind;      /* held back ... */
  const char *cause[10]; /* ... when one of these is found, too; a prefix ends in '*' */
} Row;

static const Row rows[] = {
    {"tcgen05-dealloc-in-use",
     {"tcgen05-commit-missing", "tcgen05-commit-wrong-thread", "tcgen05-tmem-race",
      "tcgen05-wait-ld-st-missing", "tcgen05-pair-double-issue", "mbarrier-*", "pipeline-*"}},
    {"tcgen05-dealloc-before-peer",
     {"tcgen05-commit-missing", "tcgen05-commit-wrong-thread", "tcgen05-tmem-race",
      "tcgen05-wait-ld-st-missing", "tcgen05-pair-double-issue", "mbarrier-*"}},
    {"tcgen05-tmem-unallocated",
     {"tcgen05-dealloc-in-use", "tcgen05-address-unsynchronized", "tcgen05-column-unsynchronized"}},
    {"tcgen05-address-unsynchronized", {"tcgen05-alloc-not-one-warp"}},
    {"tcgen05-column-unsynchronized",
     {"tcgen05-alloc-not-one-warp", "tcgen05-dealloc-in-use", "tcgen05-address-unsynchronized"}},
    {"tcgen05-alloc-order", {"tcgen05-alloc-not-one-warp"}},
    {"tcgen05-dealloc-missing", {"tcgen05-alloc-not-one-warp"}},
    {"tcgen05-commit-missing", {"tcgen05-commit-wrong-thread"}},
    {"tcgen05-tmem-race",
     {"tcgen05-pair-double-issue", "tcgen05-commit-wrong-thread", "tcgen05-commit-missing"}},
    {"mbarrier-wait-not-converged", {"pipeline-stage-race"}},
    {"tcgen05-commit-wrong-thread", {"tcgen05-issue-not-single-thread"}},
    {"mbarrier-phase-lapped", {"tcgen05-pair-double-issue", "tcgen05-tmem-race"}},
    {"mbarrier-over-arrival", {"tcgen05-pair-double-issue", "tcgen05-issue-not-single-thread"}},
    {"pipeline-barrier-shared", {"tma-issued-by-many-threads"}},
};

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

bool core_follows_from_another(const MachineSession *session, const CoreFinding *finding) {
  for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
    if (follows(session, &rows[i], finding, false)) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(same_place); i++)
    if (follows(session, &same_place[i], finding, true)) return true;
  return false;
}
