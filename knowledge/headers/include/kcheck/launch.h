// What a launch in the source needs.
#pragma once
#include "vector_types.h"
// libraries ask by these whether the runtime's header came first
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__

typedef struct CUstream_st *cudaStream_t;

extern "C" {
// what `kernel<<<...>>>` calls; clang asks for one or the other by version
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0);
int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
}
