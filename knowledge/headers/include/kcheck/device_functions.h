// Builtin variables and device functions. They have no bodies: the lowering knows them by name.
#pragma once
#include "vector_types.h"

extern const KCHECK_D uint3 threadIdx;
extern const KCHECK_D uint3 blockIdx;
extern const KCHECK_D dim3 blockDim;
extern const KCHECK_D dim3 gridDim;
KCHECK_D const int warpSize = 32;

// synchronisation and fences
KCHECK_D void __syncthreads();
KCHECK_D int __syncthreads_count(int predicate);
KCHECK_D int __syncthreads_and(int predicate);
KCHECK_D int __syncthreads_or(int predicate);
KCHECK_D void __syncwarp(unsigned mask = 0xffffffff);
KCHECK_D void __threadfence();
KCHECK_D void __threadfence_block();
KCHECK_D void __threadfence_system();
KCHECK_D void __barrier_sync(unsigned id);
KCHECK_D void __barrier_sync_count(unsigned id, unsigned count);
KCHECK_D void __cluster_barrier_arrive();
KCHECK_D void __cluster_barrier_arrive_relaxed();
KCHECK_D void __cluster_barrier_wait();
KCHECK_D unsigned __clusterRelativeBlockRank();
KCHECK_D unsigned __clusterSizeInBlocks();
KCHECK_D dim3 __clusterDim();
KCHECK_D dim3 __clusterRelativeBlockIdx();
KCHECK_D dim3 __clusterGridDimInClusters();
KCHECK_D dim3 __clusterIdx();
KCHECK_D void *__cluster_map_shared_rank(const void *pointer, unsigned rank);
KCHECK_D unsigned __cluster_query_shared_rank(const void *pointer);
KCHECK_D void cudaGridDependencySynchronize();
KCHECK_D void cudaTriggerProgrammaticLaunchCompletion();

// address spaces
KCHECK_D size_t __cvta_generic_to_shared(const void *pointer);
KCHECK_D size_t __cvta_generic_to_global(const void *pointer);
KCHECK_D size_t __cvta_generic_to_local(const void *pointer);
KCHECK_D size_t __cvta_generic_to_constant(const void *pointer);
KCHECK_D size_t __cvta_generic_to_grid_constant(const void *pointer);
KCHECK_D void *__cvta_shared_to_generic(size_t address);
KCHECK_D void *__cvta_global_to_generic(size_t address);
KCHECK_D void *__cvta_local_to_generic(size_t address);
KCHECK_D void *__cvta_constant_to_generic(size_t address);
KCHECK_D unsigned __isGlobal(const void *pointer);
KCHECK_D unsigned __isShared(const void *pointer);
KCHECK_D unsigned __isConstant(const void *pointer);
KCHECK_D unsigned __isLocal(const void *pointer);
KCHECK_D unsigned __isGridConstant(const void *pointer);
KCHECK_D unsigned __isClusterShared(const void *pointer);

// warp functions
template <class T> KCHECK_D T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T>
KCHECK_D T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T>
KCHECK_D T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> KCHECK_D T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
KCHECK_D unsigned __ballot_sync(unsigned mask, int predicate);
KCHECK_D int __any_sync(unsigned mask, int predicate);
KCHECK_D int __all_sync(unsigned mask, int predicate);
KCHECK_D int __uni_sync(unsigned mask, int predicate);
KCHECK_D unsigned __activemask();
template <class T> KCHECK_D unsigned __match_any_sync(unsigned mask, T value);
template <class T> KCHECK_D unsigned __match_all_sync(unsigned mask, T value, int *predicate);
KCHECK_D unsigned __reduce_add_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_min_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_max_sync(unsigned mask, unsigned value);
KCHECK_D int __reduce_add_sync(unsigned mask, int value);
KCHECK_D int __reduce_min_sync(unsigned mask, int value);
KCHECK_D int __reduce_max_sync(unsigned mask, int value);
KCHECK_D unsigned __reduce_and_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_or_sync(unsigned mask, unsigned value);
KCHECK_D unsigned __reduce_xor_sync(unsigned mask, unsigned value);

// time, traps, asserts
KCHECK_D long long clock64();
KCHECK_D long clock();
KCHECK_D unsigned long long __globaltimer();
KCHECK_D void __nanosleep(unsigned nanoseconds);
KCHECK_D void __trap();
KCHECK_D void __brkpt();
KCHECK_D void __prof_trigger(int counter);
KCHECK_D void __nv_unreachable();

// memory with cache hints
#define KCHECK_LOAD(name) template <class T> KCHECK_D T name(const T *pointer);
KCHECK_LOAD(__ldg)
KCHECK_LOAD(__ldcg)
KCHECK_LOAD(__ldca) KCHECK_LOAD(__ldcs) KCHECK_LOAD(__ldlu) KCHECK_LOAD(__ldcv)
#undef KCHECK_LOAD
    template <class T>
    struct kcheck_same {
  typedef T type;
};
#define KCHECK_STORE(name)                                                                         \
  template <class T> KCHECK_D void name(T *pointer, typename kcheck_same<T>::type value);
KCHECK_STORE(__stwb)
KCHECK_STORE(__stcg)
KCHECK_STORE(__stcs) KCHECK_STORE(__stwt)
#undef KCHECK_STORE
    KCHECK_D size_t
    __nv_associate_access_property(const void *pointer, unsigned long long property);
// cp.async by 16, 8 or 4 bytes (CUDA, Pipeline Primitives Interface)
#define KCHECK_COPY(cache, bytes)                                                                  \
  if (size == bytes && zero_fill == 0)                                                             \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes                            \
                 ";" ::"r"((unsigned int)__cvta_generic_to_shared(shared)),                        \
                 "l"(global)                                                                       \
                 : "memory");                                                                      \
  else if (size == bytes)                                                                          \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes                            \
                 ", %2;" ::"r"((unsigned int)__cvta_generic_to_shared(shared)),                    \
                 "l"(global), "r"((unsigned int)(size - zero_fill))                                \
                 : "memory");
KCHECK_D inline void __pipeline_memcpy_async(void *shared, const void *global, size_t size,
                                             size_t zero_fill = 0){
    KCHECK_COPY("cg", 16) KCHECK_COPY("ca", 8) KCHECK_COPY("ca", 4)}
#undef KCHECK_COPY
KCHECK_D inline void __pipeline_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
#define KCHECK_WAIT(n)                                                                             \
  if (prior == n) asm volatile("cp.async.wait_group " #n ";" ::: "memory");
KCHECK_D inline void __pipeline_wait_prior(size_t prior) {
  KCHECK_WAIT(0)
  KCHECK_WAIT(1)
  KCHECK_WAIT(2) KCHECK_WAIT(3) KCHECK_WAIT(4) KCHECK_WAIT(5) KCHECK_WAIT(6)
      KCHECK_WAIT(7) if (prior >= 8) asm volatile("cp.async.wait_group 8;" ::
                                                      : "memory");
}
#undef KCHECK_WAIT
KCHECK_D inline void __pipeline_arrive_on(unsigned long long *barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                   (unsigned int)__cvta_generic_to_shared(barrier))
               : "memory");
}

// atomics
#define KCHECK_ATOMIC(name)                                                                        \
  template <class T> KCHECK_D T name(T *address, typename kcheck_same<T>::type value);             \
  template <class T> KCHECK_D T name##_block(T *address, typename kcheck_same<T>::type value);     \
  template <class T> KCHECK_D T name##_system(T *address, typename kcheck_same<T>::type value);
KCHECK_ATOMIC(atomicAdd)
KCHECK_ATOMIC(atomicSub)
KCHECK_ATOMIC(atomicExch) KCHECK_ATOMIC(atomicMin) KCHECK_ATOMIC(atomicMax) KCHECK_ATOMIC(atomicInc)
    KCHECK_ATOMIC(atomicDec) KCHECK_ATOMIC(atomicAnd) KCHECK_ATOMIC(atomicOr)
        KCHECK_ATOMIC(atomicXor)
#undef KCHECK_ATOMIC
#define KCHECK_CAS(name)                                                                           \
  template <class T>                                                                               \
  KCHECK_D T name(T *address, typename kcheck_same<T>::type compare,                               \
                  typename kcheck_same<T>::type value);
            KCHECK_CAS(atomicCAS) KCHECK_CAS(atomicCAS_block) KCHECK_CAS(atomicCAS_system)
#undef KCHECK_CAS
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
                template <class T>
                KCHECK_D T __nv_atomic_load_n(const T *address, int order, int scope = 5);
template <class T, class V>
KCHECK_D void __nv_atomic_store_n(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_exchange_n(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_add(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_sub(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_and(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_or(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_xor(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_min(T *address, V value, int order, int scope = 5);
template <class T, class V>
KCHECK_D T __nv_atomic_fetch_max(T *address, V value, int order, int scope = 5);
KCHECK_D void __nv_atomic_thread_fence(int order, int scope = 5);
