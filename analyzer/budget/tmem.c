/* Tensor memory of the CTAs that share an SM (PTX ISA 9.7.16.1.2). What one CTA allocates beyond
 * the SM's columns shows when it runs and is the machine's to report. */
#include "budget/internal.h"

#include <glib.h>

static const IrInsn *first_alloc(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->event == IR_EV_tcgen05_alloc) return insn;
  }
  return NULL;
}

void budget_tmem(const Budget *b, BudgetKernel *out) {
  const IrInsn *alloc = first_alloc(b->kernel);
  out->tmem_columns = b->machine && b->machine->tmem_columns > 0 ? b->machine->tmem_columns : 0;
  if (!alloc || out->tmem_columns <= 0 || out->tmem_columns > b->arch->tmem_columns) return;
  /* Only blocks that the kernel asks for itself: how many fit by registers is not known here. */
  int64_t columns = (int64_t)out->tmem_columns * b->kernel->min_blocks;
  if (columns <= b->arch->tmem_columns) return;
  ir_violation(b->violations, "tcgen05-tmem-overcommit", b->kernel, alloc->where,
               "%d blocks an SM, as the launch bounds ask for, need %" G_GINT64_FORMAT
               " columns of tensor memory, an SM has %d",
               b->kernel->min_blocks, columns, b->arch->tmem_columns);
}
