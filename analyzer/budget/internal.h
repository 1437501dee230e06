/* What the files of the budget room share: the facts of one kernel, gathered once. */
#ifndef KC_BUDGET_INTERNAL_H
#define KC_BUDGET_INTERNAL_H

#include "budget/budget.h"

typedef struct BudgetLaunch { /* a launch of this kernel, from host code or a directive */
  int64_t grid[3], block[3], cluster[3]; /* all three positive, or the first is 0: not known */
  int64_t smem;                          /* dynamic, bytes; -1: not known */
  bool extended;                         /* cudaLaunchKernelEx */
  bool cooperative, cooperative_known;
  bool directive;
  bool fills_the_card; /* a CTA (or a few) for each SM, whatever their number */
  uint32_t where;
} BudgetLaunch;

typedef struct Budget {
  const IrProgram *program;
  const IrKernel *kernel;
  const Arch *arch;
  const MachineHostFacts *host; /* NULL: none */
  const MachineResult *machine; /* NULL: did not run */
  IrViolations *violations;
  KC_VEC(BudgetLaunch) launches;
  int64_t smem_static; /* bytes, declared alignment counted */
  int64_t threads;     /* of a block: launch, required size or launch bounds; 0: not known */
  bool host_partial;   /* host code that could set attributes was not understood */
  int setmaxnregs;     /* setmaxnreg instructions of the kernel */
  int entry_registers; /* a thread has at the start; 0: not known */
} Budget;

/* The product of three dimensions, 0 when they are not known. */
int64_t budget_volume(const int64_t dims[3]);
/* Cluster size of the kernel's attribute, else of the launch; 0 when neither says it. */
int64_t budget_cluster(const Budget *b, const BudgetLaunch *launch);
/* Whether `kind` has been reported for this kernel already. */
bool budget_reported(const Budget *b, const char *kind);

/* smem.c: static and dynamic shared memory; fills the row of today. */
void budget_smem(const Budget *b, BudgetRow *row);
/* registers.c: launch bounds, __maxnreg__, setmaxnreg; fills what concerns registers. */
void budget_registers(const Budget *b, BudgetKernel *out);
/* Registers that a thread has at launch where declarations decide it, else 0. */
int budget_entry_registers(const IrKernel *kernel, const Arch *arch);
/* launch.c: block, cluster and grid of every launch. */
void budget_launches(const Budget *b, const BudgetKernel *out);
/* wave.c: the last wave of a grid. */
void budget_waves(const Budget *b, const BudgetKernel *out);
/* tmem.c: tensor memory of the CTAs that share an SM. */
void budget_tmem(const Budget *b, BudgetKernel *out);

/* occupancy.c: CTAs that fit on an SM at a time, by shared memory (bytes of a CTA, -1: not known),
 * threads of a CTA (0: not known) and registers of a thread (0: not known). 0: not even one; -1:
 * nothing is known. */
int budget_blocks_per_sm(const Arch *arch, int64_t smem, int64_t threads, int64_t registers);

#endif
