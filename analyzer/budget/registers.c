/* Registers: what launch bounds allow, whether setmaxnreg is honoured, whether the counts of the
 * warpgroups fit the pool (PTX ISA 9.7.19.5), whether accumulators fit a thread. */
#include "budget/internal.h"

#include <glib.h>

enum { WARPGROUP = 128 };

int budget_entry_registers(const IrKernel *kernel, const Arch *arch) {
  if (kernel->maxnreg > 0) return MIN(kernel->maxnreg, arch->max_registers_per_thread) / 8 * 8;
  if (kernel->max_threads > 0 && kernel->min_blocks > 0)
    return arch_launch_bounds_registers(arch, kernel->max_threads, kernel->min_blocks);
  return 0;
}

static const IrInsn *first_setmaxnreg(const Budget *b) {
  for (int i = 0; i < b->kernel->insns.count; i++) {
    const IrInsn *insn = &b->kernel->insns.items[i];
    if (insn->op == IR_event && insn->event == IR_EV_setmaxnreg) return insn;
  }
  return NULL;
}

static uint32_t bounds_where(const Budget *b) {
  return b->kernel->attr_where ? b->kernel->attr_where : b->kernel->where;
}

/* ptxas ignores a number of blocks that an SM can't hold: the register cap is then gone. */
static void check_overcommit(const Budget *b) {
  const IrKernel *kernel = b->kernel;
  const Arch *arch = b->arch;
  if (!kernel->has_launch_bounds || kernel->min_blocks <= 0 || kernel->max_threads <= 0 ||
      kernel->max_threads > arch->max_threads_per_block)
    return;
  int64_t threads = (int64_t)kernel->max_threads * kernel->min_blocks;
  if (threads > arch->max_threads_per_sm) {
    ir_violation(b->violations, "register-launch-bounds-overcommit", kernel, bounds_where(b),
                 "__launch_bounds__(%d, %d) asks for %" G_GINT64_FORMAT
                 " threads on an SM of %s, which holds %d: the %d blocks are ignored",
                 kernel->max_threads, kernel->min_blocks, threads, arch->name,
                 arch->max_threads_per_sm, kernel->min_blocks);
  } else if (kernel->min_blocks > arch->max_blocks_per_sm) {
    ir_violation(b->violations, "register-launch-bounds-overcommit", kernel, bounds_where(b),
                 "__launch_bounds__(%d, %d) asks for %d blocks on an SM of %s, which holds %d: the "
                 "number is ignored",
                 kernel->max_threads, kernel->min_blocks, kernel->min_blocks, arch->name,
                 arch->max_blocks_per_sm);
  }
}

static bool immediate_count(const IrInsn *insn, int64_t *count) {
  const IrOperand *operand = ir_arg(insn, IR_ROLE_count);
  if (!operand || operand->kind != IR_OPD_IMM) return false;
  *count = operand->value;
  return true;
}

/* An inc below the count at entry, or a dec above it, where no other setmaxnreg comes between. */
static void check_below_entry(const Budget *b) {
  const IrKernel *kernel = b->kernel;
  int64_t lowest = INT64_MAX, highest = 0, count = 0;
  if (b->entry_registers <= 0 || budget_reported(b, "register-setmaxnreg-below-entry")) return;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_setmaxnreg) continue;
    if (!immediate_count(insn, &count)) return;
    if (insn->flags & IR_FLAG(dec)) lowest = MIN(lowest, count);
    if (insn->flags & IR_FLAG(inc)) highest = MAX(highest, count);
  }
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_setmaxnreg) continue;
    immediate_count(insn, &count);
    bool inc = insn->flags & IR_FLAG(inc);
    bool wrong = inc ? count < b->entry_registers && lowest >= count
                     : count > b->entry_registers && highest <= count;
    if (!wrong) continue;
    IrViolation *v =
        ir_violation(b->violations, "register-setmaxnreg-below-entry", kernel, insn->where,
                     "setmaxnreg.%s to %" G_GINT64_FORMAT " registers, the thread starts with %d",
                     inc ? "inc" : "dec", count, b->entry_registers);
    ir_violation_related(b->violations, v, bounds_where(b), "the count at entry follows from this");
  }
}

/* Whether the counts that the machine saw speak of the launch: its block is that of the kernel, or
 * nothing tells the block's size and all warpgroups ask alike, so that their number is no matter.
 */
static bool counts_hold(const Budget *b, const MachineResult *machine) {
  int count = machine ? machine->warpgroup_registers.count : 0;
  if (b->entry_registers <= 0 || count == 0) return false;
  if (b->threads > 0) return b->threads % WARPGROUP == 0 && count == b->threads / WARPGROUP;
  for (int i = 0; i < count; i++)
    if (machine->warpgroup_registers.items[i] != machine->warpgroup_registers.items[0])
      return false;
  return true;
}

/* The one that asks for most: it is what the pool can't give. */
static const IrInsn *largest_setmaxnreg(const Budget *b) {
  const IrInsn *largest = first_setmaxnreg(b);
  int64_t most = 0, count = 0;
  for (int i = 0; i < b->kernel->insns.count; i++) {
    const IrInsn *insn = &b->kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_setmaxnreg || !immediate_count(insn, &count) ||
        !(insn->flags & IR_FLAG(inc)) || count <= most)
      continue;
    most = count;
    largest = insn;
  }
  return largest;
}

/* The counts of the warpgroups, and the pool that the CTA has from its launch. */
static void check_pool(const Budget *b, BudgetKernel *out) {
  const MachineResult *machine = b->machine;
  if (!counts_hold(b, machine)) return;
  int count = machine->warpgroup_registers.count;
  KcArena *arena = b->violations->arena;
  g_autoptr(GString) text = g_string_new(NULL);
  int64_t sum = 0, pool = (int64_t)b->entry_registers * count;
  for (int i = 0; i < count; i++) {
    int registers = machine->warpgroup_registers.items[i];
    if (registers <= 0) registers = b->entry_registers;
    sum += registers;
    g_string_append_printf(text, "%s%d", i ? " + " : "", registers);
  }
  out->setmaxnreg = kc_printf(arena, "%s of %" G_GINT64_FORMAT, text->str, pool);
  if (sum <= pool || budget_reported(b, "register-setmaxnreg-pool-overflow")) return;
  const IrInsn *insn = largest_setmaxnreg(b);
  IrViolation *v = ir_violation(b->violations, "register-setmaxnreg-pool-overflow", b->kernel,
                                insn ? insn->where : b->kernel->where,
                                "setmaxnreg asks for %s = %" G_GINT64_FORMAT
                                " registers a lane, the CTA was launched with "
                                "%d x %d = %" G_GINT64_FORMAT,
                                text->str, sum, count, b->entry_registers, pool);
  v->confidence = IR_PROVED_CHOSEN;
  ir_violation_related(b->violations, v, bounds_where(b), "%d registers a thread follow from this",
                       b->entry_registers);
}

/* ---- accumulators ---- */

static int acc_registers(const IrInsn *insn) {
  const IrOperand *acc = ir_arg(insn, IR_ROLE_acc);
  if (!acc) return 0;
  return acc->kind == IR_OPD_VECTOR ? acc->count : 1;
}

static bool same_acc(const IrInsn *a, const IrInsn *b) {
  const IrOperand *x = ir_arg(a, IR_ROLE_acc), *y = ir_arg(b, IR_ROLE_acc);
  if (!x || !y || x->kind != IR_OPD_VECTOR || y->kind != IR_OPD_VECTOR || !x->count || !y->count)
    return false;
  return x->list[0].kind == y->list[0].kind && x->list[0].id == y->list[0].id;
}

/* Registers that wgmma instructions without a wait between them accumulate into: all of them live
 * at once. `worst` receives an instruction of the largest set. */
static int live_accumulators(const IrKernel *kernel, const IrInsn **worst) {
  int most = 0, now = 0, start = 0;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_branch || insn->op == IR_exit ||
        (insn->op == IR_event && insn->event == IR_EV_wgmma_wait)) {
      now = 0;
      start = i + 1;
    }
    if (insn->op != IR_event || insn->event != IR_EV_wgmma_mma) continue;
    bool seen = false;
    for (int j = start; j < i && !seen; j++) {
      const IrInsn *before = &kernel->insns.items[j];
      seen = before->op == IR_event && before->event == IR_EV_wgmma_mma && same_acc(before, insn);
    }
    if (!seen) now += acc_registers(insn);
    if (now <= most) continue;
    most = now;
    *worst = insn;
  }
  return most;
}

static void check_accumulators(const Budget *b) {
  const IrInsn *insn = NULL;
  int needed = live_accumulators(b->kernel, &insn);
  int allowed = b->machine ? b->machine->max_registers_requested : 0;
  if (allowed <= 0) allowed = b->entry_registers;
  if (allowed <= 0 && b->kernel->max_threads > 0)
    allowed = arch_launch_bounds_registers(b->arch, b->kernel->max_threads, 0);
  if (allowed <= 0 || needed < allowed) return;
  ir_violation(b->violations, "register-accumulator-exceeds-budget", b->kernel, insn->where,
               "the accumulators of %s take %d registers a thread of the %d that it may have",
               b->kernel->name, needed, allowed);
}

/* The registers that the kernel takes at least, as far as instructions show it: its accumulators
 * and the widest load from tensor memory, and what small kernels take beside them (24 to 26:
 * addresses, counters, descriptors; measured with ptxas 13.0.88). */
static int registers_shown(const IrKernel *kernel) {
  enum { BESIDE = 26 };
  int accumulators = 0, widest = 0;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event) continue;
    const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
    if (insn->event == IR_EV_tcgen05_ld && dst && dst->kind == IR_OPD_VECTOR)
      widest = MAX(widest, dst->count);
    if (insn->event != IR_EV_wgmma_mma) continue;
    bool seen = false;
    for (int j = 0; j < i && !seen; j++)
      seen = kernel->insns.items[j].op == IR_event &&
             kernel->insns.items[j].event == IR_EV_wgmma_mma &&
             same_acc(&kernel->insns.items[j], insn);
    if (!seen) accumulators += acc_registers(insn);
  }
  return MAX(accumulators, widest) + BESIDE;
}

/* Without .minnctapersm or .maxnreg ptxas can't know the count at entry (C7508), unless the kernel
 * needs so many that two blocks of .maxntid threads don't fit: then it takes the count of one block
 * (ptxas 13.0.88, kernels of 256, 384 and 512 threads with accumulators of all sizes). */
static void check_ignored(const Budget *b) {
  const IrInsn *insn = first_setmaxnreg(b);
  if (!insn || b->kernel->maxnreg > 0 || b->kernel->min_blocks > 0) return;
  const IrKernel *kernel = b->kernel;
  if (kernel->has_launch_bounds && kernel->is_pattern) return; /* its arguments decide */
  if (kernel->has_launch_bounds && kernel->max_threads > 0 &&
      budget_blocks_per_sm(b->arch, -1, kernel->max_threads, registers_shown(kernel)) < 2)
    return;
  IrViolation *v = ir_violation(
      b->violations, "register-setmaxnreg-ignored", b->kernel, insn->where,
      "setmaxnreg in %s is ignored: %s, so the register count at entry is not known",
      b->kernel->name,
      b->kernel->has_launch_bounds
          ? "__launch_bounds__ gives no minimum of blocks"
          : "the kernel has neither __launch_bounds__(threads, blocks) nor __maxnreg__");
  ir_violation_related(b->violations, v, bounds_where(b), "the kernel is declared here");
  int64_t threads = b->threads > 0 ? b->threads : 0;
  if (threads > 0)
    v->help = kc_printf(b->violations->arena, "write __launch_bounds__(%" G_GINT64_FORMAT ", 1)",
                        threads);
}

static bool exceeds_file(const Budget *b, int64_t block, uint32_t where) {
  const IrKernel *kernel = b->kernel;
  int64_t threads = (block + 31) / 32 * 32, registers = (kernel->maxnreg + 7) / 8 * 8;
  if (threads * registers <= b->arch->registers_per_block) return false;
  IrViolation *v =
      ir_violation(b->violations, "launch-registers-exceed-file", kernel, where,
                   "%" G_GINT64_FORMAT " threads with __maxnreg__(%d) may need %" G_GINT64_FORMAT
                   " registers, a block has %d",
                   threads, kernel->maxnreg, threads * registers, b->arch->registers_per_block);
  v->confidence = IR_INFERRED; /* the cap, not what the compiler used */
  return true;
}

static void check_file(const Budget *b) {
  const IrKernel *kernel = b->kernel;
  if (kernel->maxnreg <= 0) return;
  for (int i = 0; i < b->launches.count; i++)
    if (exceeds_file(b, budget_volume(b->launches.items[i].block), b->launches.items[i].where))
      return;
  int64_t required[3];
  for (int i = 0; i < 3; i++)
    required[i] = kernel->reqntid[i] > 0 ? kernel->reqntid[i] : kernel->reqntid[0] > 0;
  exceeds_file(b, budget_volume(required), kernel->where);
}

void budget_registers(const Budget *b, BudgetKernel *out) {
  if (b->kernel->max_threads > 0)
    out->launch_bounds_registers =
        arch_launch_bounds_registers(b->arch, b->kernel->max_threads, b->kernel->min_blocks);
  check_overcommit(b);
  if (b->arch->has_setmaxnreg) {
    check_ignored(b);
    check_below_entry(b);
    check_pool(b, out);
  }
  check_accumulators(b);
  check_file(b);
}
