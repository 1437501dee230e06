/* Lowering of one function body from the instantiated AST to the kernel IR. */
#ifndef KC_CUDA_LOWER_H
#define KC_CUDA_LOWER_H

#include "cuda/unit.h"

/* Lowers `function` (a kernel, a kernel template's pattern, or a host function when
 * kernel->is_host) into `kernel`, whose names, attributes and params are already filled. What can't
 * be lowered becomes a note of the kernel. False when there was no body to lower. */
bool lower_function(CudaUnit *unit, CXCursor function, IrKernel *kernel);

#endif
