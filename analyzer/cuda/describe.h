/* Facts of a kernel that its declaration states: names, launch bounds, cluster, parameters. */
#ifndef KC_CUDA_DESCRIBE_H
#define KC_CUDA_DESCRIBE_H

#include "cuda/unit.h"

/* Fills name, instantiation, place, attributes and params of `kernel` from `function` (a
 * definition, an instantiation without body, or a template). */
void describe_kernel(CudaUnit *unit, CXCursor function, IrKernel *kernel);

#endif
