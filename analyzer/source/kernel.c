/* What the instructions of a kernel say without a run: calls beside wgmma, how tensor maps come in,
 * loops that poll, mma.sync where the target has more. */
#include <string.h>

#include "ptx/ptx.h"
#include "source/internal.h"

/* ---- calls beside wgmma (ptxas C7509, C7510) ---- */

static void check_calls(SourceCheck *check, const IrKernel *kernel) {
  const IrInsn *mma = source_find_event(kernel, IR_EV_wgmma_mma);
  const IrInsn *call = source_find_event(kernel, IR_EV_extern_call);
  if (!mma || !call || !check->arch->has_wgmma) return;
  IrViolation *v = source_once(check, "perf-wgmma-serialized", kernel, call->where,
                               "the call of %s in %s makes the compiler serialise wgmma",
                               call->text ? call->text : "a function", kernel->name);
  if (v) ir_violation_related(check->violations, v, mma->where, "wgmma stands here");
}

/* ---- tensor maps (PTX ISA 9.7.9.27: .param, .const or .global) ---- */

static const IrInsn *tensor_copy(const IrKernel *kernel) {
  static const IrEvent events[] = {IR_EV_bulk_tensor_load, IR_EV_bulk_tensor_store,
                                   IR_EV_bulk_tensor_reduce, IR_EV_bulk_tensor_prefetch,
                                   IR_EV_prefetch_tensormap};
  const IrInsn *first = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(events) && !first; i++)
    first = source_find_event(kernel, events[i]);
  return first;
}

static bool holds_tensor_map(const IrParam *param) {
  for (int i = 0; i < param->leaves.count; i++)
    if (param->leaves.items[i].kind == IR_LEAF_TENSOR_MAP) return true;
  return false;
}

static void check_tensor_maps(SourceCheck *check, const IrKernel *kernel) {
  const IrInsn *copy = tensor_copy(kernel);
  if (!copy) return;
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    if (param->grid_constant || !holds_tensor_map(param)) continue;
    IrViolation *v = source_once(
        check, "tma-descriptor-not-grid-constant", kernel,
        param->where ? param->where : kernel->where,
        "the tensor map %s is passed by value without const __grid_constant__: TMA gets "
        "the address of a copy in local memory",
        param->name);
    if (v) ir_violation_related(check->violations, v, copy->where, "the tensor copy");
  }
}

/* ---- polling ---- */

/* A loop around test_wait that does nothing else: try_wait would sleep instead. */
static void check_polling(SourceCheck *check, const IrKernel *kernel) {
  enum { LOOP_LENGTH = 12 };
  if (!check->arch->has_tma) return; /* no try_wait before sm_90 */
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_mbarrier_test_wait) continue;
    for (int j = i + 1; j < kernel->insns.count && j <= i + LOOP_LENGTH; j++) {
      const IrInsn *next = &kernel->insns.items[j];
      if (next->op == IR_event || next->op == IR_store) break; /* it does something meanwhile */
      if (next->op != IR_branch || next->target > i || i - next->target > LOOP_LENGTH) continue;
      source_once(check, "perf-hot-spin", kernel, insn->where,
                  "a loop polls with mbarrier.test_wait; try_wait suspends the thread meanwhile");
      break;
    }
  }
}

/* ---- mma.sync where there is more ---- */

/* Whether an instruction at `where` stands in a loop. */
static bool in_loop(const IrKernel *kernel, uint32_t where) {
  for (int i = 0; i < kernel->insns.count; i++) {
    if (kernel->insns.items[i].where != where) continue;
    for (int j = i; j < kernel->insns.count; j++)
      if (kernel->insns.items[j].op == IR_branch && kernel->insns.items[j].target <= i) return true;
  }
  return false;
}

/* Where the first mma.sync of the kernel stands: as an asm statement an ordinary computation to the
 * IR, as a call of wmma an event. 0: it has none. */
static uint32_t mma_sync(const IrKernel *kernel) {
  for (int i = 0; i < kernel->asms.count; i++)
    for (int j = 0; j < kernel->asms.items[i].ninsns; j++)
      if (strcmp(kernel->asms.items[i].insns[j].opcode, "mma") == 0)
        return kernel->asms.items[i].where;
  const IrInsn *event = source_find_event(kernel, IR_EV_mma_sync);
  return event ? event->where : 0;
}

/* What is computed, and not only moved or packed, into a register. */
static bool computes(const IrInsn *insn) {
  switch (insn->op) {
  case IR_band:
  case IR_bor:
  case IR_bxor:
  case IR_lop3:
  case IR_prmt:
  case IR_shr:
  case IR_sub:
  case IR_mul:
  case IR_mad: return true;
  case IR_opaque: return !insn->text || strcmp(insn->text, "mma") != 0;
  default: return false;
  }
}

static bool is_computed(const IrKernel *kernel, int32_t reg, int depth) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    int results = insn->op == IR_opaque ? insn->sub : insn->op == IR_event ? 0 : 1;
    for (int d = 0; d < results && d < insn->nargs; d++) {
      if (insn->args[d].kind != IR_OPD_REG || insn->args[d].id != reg) continue;
      bool copy = insn->op == IR_mov && insn->args[1].kind == IR_OPD_REG;
      if (computes(insn) || (copy && depth > 0 && is_computed(kernel, insn->args[1].id, depth - 1)))
        return true;
    }
  }
  return false;
}

/* Operands that are unpacked or converted in registers: wgmma takes one of them from there, the
 * other has to be in shared memory. */
static bool transforms_operands(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_opaque || !insn->text || strcmp(insn->text, "mma") != 0) continue;
    for (int a = insn->sub; a < insn->nargs - insn->sub; a++)
      if (insn->args[a].kind == IR_OPD_REG && is_computed(kernel, insn->args[a].id, 3)) return true;
    return false;
  }
  return false;
}

static void check_mma_sync(SourceCheck *check, const IrKernel *kernel) {
  enum { SMALL_BLOCK = 128 };
  const Arch *arch = check->arch;
  if ((!arch->has_wgmma && !arch->has_tcgen05) || source_find_event(kernel, IR_EV_wgmma_mma) ||
      source_find_event(kernel, IR_EV_tcgen05_mma) || kernel->max_threads < SMALL_BLOCK)
    return;
  uint32_t mma = mma_sync(kernel);
  if (!mma || !in_loop(kernel, mma) || transforms_operands(kernel)) return;
  IrViolation *v = source_once(check, "perf-mma-sync-on-wgmma-target", kernel, kernel->where,
                               "%s multiplies with mma.sync only; %s has %s", kernel->name,
                               arch->name, arch->has_wgmma ? "wgmma" : "tcgen05.mma");
  if (v) ir_violation_related(check->violations, v, mma, "mma.sync stands here");
}

void source_check_kernel(SourceCheck *check, const IrKernel *kernel) {
  check_calls(check, kernel);
  check_tensor_maps(check, kernel);
  check_polling(check, kernel);
  check_mma_sync(check, kernel);
}
