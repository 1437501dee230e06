/* Which functions of the translation unit are to be lowered: kernels (with the instantiations that
 * launches, attributes, function pointers, explicit instantiations and directives reach) and the
 * host functions that launch or configure them. */
#ifndef KC_CUDA_DISCOVER_H
#define KC_CUDA_DISCOVER_H

#include "cuda/unit.h"

typedef struct CudaFound {
  CursorList kernels;  /* definitions: plain kernels and instantiations, in source order */
  CursorList lost;     /* instantiations that were reached but have no body */
  CursorList patterns; /* kernel templates of user files without any instantiation */
  CursorList hosts;    /* host functions that reach a launch, an attribute or a tensor map */
  int global_kernels;  /* __global__ functions and templates of user files */
} CudaFound;

void discover(CudaUnit *unit, CudaFound *found);

/* Whether no user code does anything with a global variable of the host but read it. */
bool discover_never_changes(CudaUnit *unit, CXCursor variable);

#endif
