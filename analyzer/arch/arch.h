/* arch: limits and feature sets of GPU targets, from knowledge/architectures (one file a compute
 * capability, each value with its evidence). The table is read on first use and never changes. */
#ifndef KC_ARCH_ARCH_H
#define KC_ARCH_ARCH_H

#include <stdbool.h>

#include "support/error.h"

#define ARCH_CARDS 4

typedef struct Arch {
  const char *name; /* "sm_90a", "sm_100", "sm_100f" */
  const char *gpu;  /* "Hopper" */
  int number;       /* 90, 100 */
  char suffix;      /* 'a', 'f' or 0 */
  int max_threads_per_block, max_threads_per_sm, max_warps_per_sm, max_blocks_per_sm;
  int registers_per_sm, registers_per_block, max_registers_per_thread;
  int smem_static_default; /* 49152: static + dynamic without opt-in */
  int smem_static_max;     /* what ptxas lets a kernel declare: 49152, the opt-in limit on `a` */
  int smem_opt_in;         /* 232448 on sm_90, sm_100 */
  int smem_per_sm, smem_reserved_per_block, smem_granularity;
  int tmem_columns;                      /* 512 where there is tensor memory, else 0 */
  int max_cluster_portable, max_cluster; /* 1 where there are no clusters */
  int multiprocessors[ARCH_CARDS]; /* of the known cards, 0 behind the last; not known: all 0 */
  bool has_wgmma, has_tcgen05, has_tma, has_cluster, has_clc, has_setmaxnreg, has_pdl;
} Arch;

/* The target called `name` ("sm_100", "100a", "compute_90" are understood); NULL with an error that
 * suggests the nearest known name. */
const Arch *arch_find(const char *name, KcError *error);
/* The target with the full feature set of the GPU `name` names: sm_100 -> sm_100a (`--arch`). */
const Arch *arch_full(const Arch *arch);
/* Whether code for `arch` can run on a device of compute capability `capability` (major * 10 +
 * minor), PTX included: with `a` on that one alone, with `f` on the later ones of its family, else
 * on all later ones. Source: measured with ptxas 13.0; CUDA programming guide. */
bool arch_covers(const Arch *arch, int capability);
/* Registers a thread that __launch_bounds__(threads, min_blocks) allows; the formula of the
 * architecture table (W = ceil(T/32)*B rounded up to a multiple of 4; floor8(65536/(32 W)), at most
 * 255; measured with ptxas 13.0). `min_blocks` 0 (not given) counts as 1, and so does a number of
 * blocks that an SM can't hold (ptxas warns and ignores it); `threads` outside 1..1024 gives 255.
 */
int arch_launch_bounds_registers(const Arch *arch, int threads, int min_blocks);
/* Visits all known targets in order. */
void arch_each(void (*visit)(const Arch *arch, void *user), void *user);

#endif
