/* Launches: block, cluster and grid against the limits of the target and of the kernel. */
#include "budget/internal.h"

#include <glib.h>
#include <stdlib.h>

enum { ATTRIBUTE_NON_PORTABLE_CLUSTER = 14 }; /* cudaFuncAttributeNonPortableClusterSizeAllowed */

static void check_declared_block(const Budget *b) {
  const IrKernel *kernel = b->kernel;
  if (kernel->max_threads <= b->arch->max_threads_per_block) return;
  ir_violation(b->violations, "launch-block-size", kernel,
               kernel->attr_where ? kernel->attr_where : kernel->where,
               "__launch_bounds__(%d): a block of %s has at most %d threads", kernel->max_threads,
               b->arch->name, b->arch->max_threads_per_block);
}

static void check_block(const Budget *b, const BudgetLaunch *launch) {
  const IrKernel *kernel = b->kernel;
  int64_t threads = budget_volume(launch->block);
  if (threads == 0) return;
  const int *required = kernel->reqntid;
  IrViolation *v = NULL;
  if (threads > b->arch->max_threads_per_block) {
    v = ir_violation(b->violations, "launch-block-size", kernel, launch->where,
                     "%s is launched with %" G_GINT64_FORMAT " threads a block, %s allows %d",
                     kernel->name, threads, b->arch->name, b->arch->max_threads_per_block);
  } else if (required[0] > 0 &&
             (launch->block[0] != required[0] || launch->block[1] != MAX(required[1], 1) ||
              launch->block[2] != MAX(required[2], 1))) {
    v = ir_violation(b->violations, "launch-block-size", kernel, launch->where,
                     "%s is launched with %" G_GINT64_FORMAT
                     " threads a block, it requires %d x %d x %d",
                     kernel->name, threads, required[0], MAX(required[1], 1), MAX(required[2], 1));
  } else if (kernel->max_threads > 0 && threads > kernel->max_threads) {
    v = ir_violation(b->violations, "launch-block-size", kernel, launch->where,
                     "%s is launched with %" G_GINT64_FORMAT
                     " threads a block, its launch bounds allow %d",
                     kernel->name, threads, kernel->max_threads);
  }
  if (v && kernel->attr_where)
    ir_violation_related(b->violations, v, kernel->attr_where, "the kernel's bounds are here");
}

/* ---- clusters (PTX ISA 9.7.13.3; limits measured on an H200) ---- */

static bool allows_non_portable(const Budget *b) {
  for (int i = 0; b->host && i < b->host->attrs.count; i++) {
    const MachineFuncAttr *attr = &b->host->attrs.items[i];
    bool named = !attr->kernel || ir_kernel_is_named(b->kernel, attr->kernel);
    if (named &&
        (attr->attribute == ATTRIBUTE_NON_PORTABLE_CLUSTER || attr->attribute == INT64_MIN))
      return attr->value != 0;
  }
  return false;
}

static void check_cluster_size(const Budget *b, const BudgetLaunch *launch) {
  const Arch *arch = b->arch;
  uint32_t where = launch ? launch->where : b->kernel->where;
  int64_t size = budget_cluster(b, launch);
  if (size <= arch->max_cluster_portable || !arch->has_cluster ||
      budget_reported(b, "cluster-size-limit"))
    return;
  if (size > arch->max_cluster) {
    ir_violation(b->violations, "cluster-size-limit", b->kernel, where,
                 "a cluster of %" G_GINT64_FORMAT " CTAs, %s allows at most %d", size, arch->name,
                 arch->max_cluster);
  } else if (launch && !launch->directive && !allows_non_portable(b)) {
    IrViolation *v = ir_violation(b->violations, "cluster-size-limit", b->kernel, where,
                                  "a cluster of %" G_GINT64_FORMAT " CTAs, more than %d need "
                                  "cudaFuncAttributeNonPortableClusterSizeAllowed",
                                  size, arch->max_cluster_portable);
    if (b->host_partial) v->confidence = IR_INFERRED;
  }
}

static void check_cluster_agrees(const Budget *b, const BudgetLaunch *launch) {
  const int *dims = b->kernel->cluster_dims;
  if (dims[0] <= 0 || launch->cluster[0] <= 0 || !launch->extended) return;
  if (budget_volume(launch->cluster) == 1) return; /* as good as no attribute */
  for (int i = 0; i < 3; i++) {
    if (launch->cluster[i] == MAX(dims[i], 1)) continue;
    ir_violation(b->violations, "cluster-size-limit", b->kernel, launch->where,
                 "the launch asks for clusters of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                 " x %" G_GINT64_FORMAT " CTAs, __cluster_dims__ says %d x %d x %d",
                 launch->cluster[0], launch->cluster[1], launch->cluster[2], dims[0],
                 MAX(dims[1], 1), MAX(dims[2], 1));
    return;
  }
}

static void check_grid_multiple(const Budget *b, const BudgetLaunch *launch) {
  static const char axes[] = "xyz";
  if (launch->grid[0] <= 0) return;
  for (int i = 0; i < 3; i++) {
    const int *dims = b->kernel->cluster_dims;
    int64_t cluster = dims[0] > 0 ? MAX(dims[i], 1) : MAX(launch->cluster[i], 1);
    if (launch->grid[i] % cluster == 0) continue;
    ir_violation(b->violations, "cluster-grid-not-multiple", b->kernel, launch->where,
                 "the grid has %" G_GINT64_FORMAT " CTAs along %c, no multiple of the cluster's "
                 "%" G_GINT64_FORMAT,
                 launch->grid[i], axes[i], cluster);
    return;
  }
}

/* Largest dimensions of a grid (CUDA programming guide, compute capabilities). Each is looked at by
 * itself: one may be known although the others are not. */
static void check_grid_size(const Budget *b, const MachineLaunch *launch) {
  static const int64_t most[3] = {INT32_MAX, 65535, 65535};
  static const char axes[] = "xyz";
  for (int i = 0; i < 3; i++) {
    if (launch->grid[i] <= most[i]) continue;
    ir_violation(b->violations, "launch-grid-size", b->kernel, launch->where,
                 "%s is launched with %" G_GINT64_FORMAT
                 " blocks along %c, at most %" G_GINT64_FORMAT " are allowed",
                 b->kernel->name, launch->grid[i], axes[i], most[i]);
    return;
  }
}

/* ---- instructions that need a certain launch ---- */

static const IrInsn *find_event(const IrKernel *kernel, IrEvent event, uint64_t flags) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && (event == IR_EV_none || insn->event == event) &&
        (insn->flags & flags) == flags)
      return insn;
  }
  return NULL;
}

/* Most SMs of any known card of the target; 0: none is known. */
static int most_processors(const Arch *arch) {
  int most = 0;
  for (int c = 0; c < ARCH_CARDS; c++)
    most = MAX(most, arch->multiprocessors[c]);
  return most;
}

/* A barrier of all blocks needs all of them to run at a time, which only a cooperative launch
 * promises (CUDA programming guide, grid synchronization); it is refused when they don't fit. */
static void check_cooperative(const Budget *b, const BudgetLaunch *launch,
                              const BudgetKernel *out) {
  if (launch->directive || !launch->cooperative_known) return;
  const IrInsn *sync = find_event(b->kernel, IR_EV_bar_sync, IR_FLAG(grid_wide));
  int64_t blocks = budget_volume(launch->grid);
  IrViolation *v = NULL;
  if (sync && !launch->cooperative && blocks != 1 && !b->kernel->asks_grid) {
    v = ir_violation(b->violations, "launch-not-cooperative", b->kernel, launch->where,
                     "%s synchronises the grid, but this launch is not cooperative",
                     b->kernel->name);
    ir_violation_related(b->violations, v, sync->where, "the barrier of the grid");
    return;
  }
  int64_t room = (int64_t)most_processors(b->arch) * out->row.blocks_per_sm;
  if (!launch->cooperative || room <= 0 || blocks <= room) return;
  v = ir_violation(b->violations, "launch-cooperative-too-large", b->kernel, launch->where,
                   "a cooperative launch of %" G_GINT64_FORMAT
                   " blocks: at most %d of them fit on an SM, %" G_GINT64_FORMAT
                   " on the largest card of %s",
                   blocks, out->row.blocks_per_sm, room, b->arch->name);
  ir_violation_fact(b->violations, v, "room", "%" G_GINT64_FORMAT, room);
}

/* The first tcgen05 instruction of a CTA pair. A copy with the modifier does not count: libraries
 * keep the form for pairs and the plain one in one function, behind a condition. */
static const IrInsn *find_pair(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && (insn->flags & IR_FLAG(cta_group2)) &&
        insn->event != IR_EV_bulk_tensor_load)
      return insn;
  }
  return NULL;
}

/* tcgen05 with cta_group::2 works on two CTAs of one cluster (PTX ISA 9.7.16.5). */
static void check_pair(const Budget *b, const BudgetLaunch *launch) {
  const IrInsn *insn = find_pair(b->kernel);
  if (!insn || budget_reported(b, "tcgen05-pair-without-cluster")) return;
  int64_t size = budget_cluster(b, launch);
  bool known = b->kernel->cluster_dims[0] > 0 || (launch && (!launch->extended || size > 0));
  if (!known || (launch && launch->directive && size == 0)) return;
  if (size > 0 && size % 2 == 0) return;
  IrViolation *v;
  if (size > 1)
    v = ir_violation(b->violations, "tcgen05-pair-without-cluster", b->kernel, insn->where,
                     "cta_group::2 in a cluster of %" G_GINT64_FORMAT " CTAs, an odd number", size);
  else
    v = ir_violation(b->violations, "tcgen05-pair-without-cluster", b->kernel, insn->where,
                     "cta_group::2 works on two CTAs of a cluster, %s runs without clusters",
                     b->kernel->name);
  if (launch) ir_violation_related(b->violations, v, launch->where, "launched here");
}

/* Grids of one CTA for each SM of a known card: H100, H200, B200, B300. */
static bool is_sm_count(int64_t grid) {
  static const int64_t counts[] = {114, 132, 148, 152, 160};
  for (size_t i = 0; i < G_N_ELEMENTS(counts); i++)
    if (grid == counts[i]) return true;
  return false;
}

static void check_clc_grid(const Budget *b, const BudgetLaunch *launch) {
  if (!find_event(b->kernel, IR_EV_clc_try_cancel, 0)) return;
  IrViolation *v;
  if (launch->fills_the_card)
    v = ir_violation(b->violations, "clc-grid-already-persistent", b->kernel, launch->where,
                     "the grid is sized by the number of SMs of the device, which leaves "
                     "try_cancel nothing to cancel");
  else if (is_sm_count(budget_volume(launch->grid)))
    v = ir_violation(b->violations, "clc-grid-already-persistent", b->kernel, launch->where,
                     "a grid of %" G_GINT64_FORMAT
                     " CTAs, one for each SM, leaves try_cancel nothing to cancel",
                     budget_volume(launch->grid));
  else
    return;
  v->confidence = IR_INFERRED;
}

/* Slots of an SM that blocks of this size can't use. `launch` may be NULL: the size that the kernel
 * requires. */
static void check_strands(const Budget *b, const BudgetLaunch *launch, const BudgetKernel *out) {
  const int *required = b->kernel->reqntid;
  int64_t own[3] = {required[0], MAX(required[1], 1), MAX(required[2], 1)};
  int64_t threads = (budget_volume(launch ? launch->block : own) + 31) / 32 * 32,
          all = b->arch->max_threads_per_sm;
  if (threads <= 0 || threads > b->arch->max_threads_per_block) return;
  bool alone = out->row.smem_total > b->arch->smem_per_sm / 2 || b->setmaxnregs > 0 ||
               (out->tmem_columns > 0 && out->tmem_columns == b->arch->tmem_columns) ||
               budget_cluster(b, launch) > 1 || b->kernel->min_blocks == 1;
  int64_t used = all / threads * threads;
  if (alone || used * 4 > all * 3) return;
  ir_violation(b->violations, "perf-block-size-strands-sm", b->kernel,
               launch ? launch->where : b->kernel->where,
               "blocks of %" G_GINT64_FORMAT " threads fill %" G_GINT64_FORMAT
               " of the %" G_GINT64_FORMAT " thread slots of an SM of %s",
               threads, used, all, b->arch->name);
}

void budget_launches(const Budget *b, const BudgetKernel *out) {
  check_declared_block(b);
  if (b->launches.count == 0) {
    check_cluster_size(b, NULL);
    check_pair(b, NULL);
    check_strands(b, NULL, out);
  }
  for (int i = 0; i < b->launches.count; i++) {
    const BudgetLaunch *launch = &b->launches.items[i];
    check_block(b, launch);
    check_cluster_size(b, launch);
    check_cluster_agrees(b, launch);
    check_grid_multiple(b, launch);
    check_pair(b, launch);
    check_clc_grid(b, launch);
    check_strands(b, launch, out);
    check_cooperative(b, launch, out);
  }
  for (int i = 0; b->host && i < b->host->launches.count; i++)
    if (ir_kernel_is_named(b->kernel, b->host->launches.items[i].kernel))
      check_grid_size(b, &b->host->launches.items[i]);
}
