/* budget: shared memory, registers, tensor memory, occupancy and launch limits of a kernel: what
 * arithmetic over declarations, launches and attributes can decide, without a run. */
#ifndef KC_BUDGET_BUDGET_H
#define KC_BUDGET_BUDGET_H

#include "arch/arch.h"
#include "ir/ir.h"
#include "ir/violation.h"
#include "machine/machine.h"

typedef struct BudgetRow {                       /* one stage count */
  int stages;                                    /* 0: no stage constant */
  int64_t smem_static, smem_dynamic, smem_total; /* -1: unknown */
  int64_t limit;
  int blocks_per_sm;
  bool fits;
  bool today; /* the value in the source */
} BudgetRow;

typedef struct BudgetKernel {
  const IrKernel *kernel;
  BudgetRow row;
  int threads, min_blocks, launch_bounds_registers; /* 0: unknown */
  const char *setmaxnreg;                           /* "40 + 232 + 232 of 504", or NULL */
  int tmem_columns;
} BudgetKernel;

/* Computes the budget of one kernel and adds what is over a limit to `violations`. */
BudgetKernel budget_check(const IrProgram *program, const IrKernel *kernel, const Arch *arch,
                          const MachineHostFacts *host, const MachineResult *machine,
                          IrViolations *violations);

#endif
