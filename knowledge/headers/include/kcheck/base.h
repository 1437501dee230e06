// CUDA's keywords as clang attributes. The attributes that libclang does not show carry a twin
// `annotate("kcheck.*")` with the same arguments.
#pragma once
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((annotate("kcheck.managed")))
#define __shared__ __attribute__((annotate("kcheck.shared")))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __nv_pure__ __attribute__((pure))
#define __align__(n) __attribute__((aligned(n))) __attribute__((annotate("kcheck.align", n)))
#define __builtin_align__(n) __align__(n)
#define __launch_bounds__(...) __attribute__((annotate("kcheck.launch_bounds", __VA_ARGS__)))
#define __maxnreg__(n) __attribute__((annotate("kcheck.maxnreg", n)))
#define __grid_constant__ __attribute__((annotate("kcheck.grid_constant")))
#define __cluster_dims__(...) __attribute__((annotate("kcheck.cluster_dims", __VA_ARGS__)))
#define KCHECK_UNPACK(...) __VA_ARGS__
#define __block_size__(block, ...)                                                                 \
  __attribute__((annotate("kcheck.block_size", KCHECK_UNPACK block)))                              \
  __VA_OPT__(__attribute__((annotate("kcheck.cluster_dims", KCHECK_UNPACK __VA_ARGS__))))
#define __nv_register_params__
#define __tile_builtin__
#define __restrict__ __restrict
#define CUDART_CB
#define CUDARTAPI
#define CUDAAPI
#define CUDA_CB

#define __CUDACC__ 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 88
#define __CUDACC_DEVICE_ATOMIC_BUILTINS__ 1
#define __NVCC_DIAG_PRAGMA_SUPPORT__ 1
#define __CUDA_ARCH_HAS_FEATURE__(feature) __CUDA_ARCH_FEAT_##feature
#define __CUDART_API_VERSION 13000
#define CUDART_VERSION 13000
#define __CUDA_API_VER_MAJOR__ 13
#define __CUDA_API_VER_MINOR__ 0

// Inside these headers: __device__, and __host__ __device__.
#define KCHECK_D __attribute__((device))
#define KCHECK_HD __attribute__((host)) __attribute__((device))

#include <cstddef>
#include <cstdint>
typedef unsigned char u_char;
typedef unsigned int uint;
typedef unsigned short ushort;
typedef unsigned long ulong;
