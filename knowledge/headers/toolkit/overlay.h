// Included before a file that is parsed with the real CUDA headers: the attributes that libclang
// does not show are given twins that it does, and what nvcc has and clang lacks is declared.
#pragma once
#include <assert.h> // nvcc's runtime header brings it

#undef __shared__
#define __shared__ __attribute__((annotate("kcheck.shared")))
#undef __launch_bounds__
#define __launch_bounds__(...)                                                                     \
  __attribute__((launch_bounds(__VA_ARGS__)))                                                      \
  __attribute__((annotate("kcheck.launch_bounds", __VA_ARGS__)))
#undef __maxnreg__
#define __maxnreg__(n) __attribute__((annotate("kcheck.maxnreg", n)))
#undef __cluster_dims__
#define __cluster_dims__(...) __attribute__((annotate("kcheck.cluster_dims", __VA_ARGS__)))
#define KCHECK_UNPACK(...) __VA_ARGS__
#undef __block_size__
#define __block_size__(block, ...)                                                                 \
  __attribute__((annotate("kcheck.block_size", KCHECK_UNPACK block)))                              \
  __VA_OPT__(__attribute__((annotate("kcheck.cluster_dims", KCHECK_UNPACK __VA_ARGS__))))
#undef __grid_constant__
#define __grid_constant__ __attribute__((annotate("kcheck.grid_constant")))
#undef __align__
#define __align__(n) __attribute__((aligned(n))) __attribute__((annotate("kcheck.align", n)))

#define __NV_ATOMIC_RELAXED 0
#define __NV_ATOMIC_CONSUME 1
#define __NV_ATOMIC_ACQUIRE 2
#define __NV_ATOMIC_RELEASE 3
#define __NV_ATOMIC_ACQ_REL 4
#define __NV_ATOMIC_SEQ_CST 5
#define __NV_THREAD_SCOPE_THREAD 1
#define __NV_THREAD_SCOPE_BLOCK 2
#define __NV_THREAD_SCOPE_CLUSTER 3
#define __NV_THREAD_SCOPE_DEVICE 4
#define __NV_THREAD_SCOPE_SYSTEM 5
template <class T> __device__ T __nv_atomic_load_n(T *, int, int = 0);
template <class T> __device__ void __nv_atomic_load(T *, T *, int, int = 0);
template <class T, class V> __device__ void __nv_atomic_store_n(T *, V, int, int = 0);
template <class T> __device__ void __nv_atomic_store(T *, T *, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_exchange_n(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_add(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_sub(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_and(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_or(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_xor(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_min(T *, V, int, int = 0);
template <class T, class V> __device__ T __nv_atomic_fetch_max(T *, V, int, int = 0);
__device__ void __nv_atomic_thread_fence(int, int = 0);
__device__ float2 __fmul2_rn(float2, float2);
__device__ float2 __ffma2_rn(float2, float2, float2);
__device__ float2 __fadd2_rn(float2, float2);

// clang has the loads and stores with cache hints for half types only.
template <class T> struct kcheck_same { typedef T type; };
#define KCHECK_LOAD(name) template <class T> __device__ T name(const T *pointer)
KCHECK_LOAD(__ldcg);
KCHECK_LOAD(__ldca);
KCHECK_LOAD(__ldcs);
KCHECK_LOAD(__ldlu);
KCHECK_LOAD(__ldcv);
#undef KCHECK_LOAD
#define KCHECK_STORE(name)                                                                         \
  template <class T> __device__ void name(T *pointer, typename kcheck_same<T>::type value)
KCHECK_STORE(__stwb);
KCHECK_STORE(__stcg);
KCHECK_STORE(__stcs);
KCHECK_STORE(__stwt);
#undef KCHECK_STORE
