#pragma once
#include <cuda_runtime.h>
#ifdef KCHECK_WANTS_HOST
extern "C" cudaError_t cudaProfilerStart();
extern "C" cudaError_t cudaProfilerStop();
#endif
