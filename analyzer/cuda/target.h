/* Targets as nvcc and clang see them: sm_90, sm_90a (architecture-specific), sm_100f (family). */
#ifndef KC_CUDA_TARGET_H
#define KC_CUDA_TARGET_H

#include <stdbool.h>

#include "cuda/libclang.h"

typedef struct CudaTarget {
  int number;   /* 90, 100, 103 */
  char suffix;  /* 'a', 'f', or 0 */
  char cpu[16]; /* the name given to clang, which does not know every target */
} CudaTarget;

/* Reads "sm_100a" ("compute_100a" likewise). False when it is no target name. */
bool target_parse(const char *arch, CudaTarget *target);
/* Sets target->cpu to the closest name that the opened libclang accepts. */
bool target_choose_cpu(const Clang *clang, CXIndex index, CudaTarget *target);
/* The macros that nvcc 13.0 defines for the target in a device pass, as -U and -D flags; they
 * replace those of target->cpu. Calls `add` for each flag. */
void target_macros(const CudaTarget *target, void (*add)(void *user, const char *flag), void *user);

#endif
