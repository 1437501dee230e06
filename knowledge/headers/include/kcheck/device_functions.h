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
KCHECK_LOAD(__ldcg) KCHECK_LOAD(__ldca) KCHECK_LOAD(__ldcs) KCHECK_LOAD(__ldlu) KCHECK_LOAD(__ldcv)
#undef KCHECK_LOAD
    template <class T>
    struct kcheck_same {
  typedef T type;
};
#define KCHECK_STORE(name)                                                                         \
  template <class T> KCHECK_D void name(T *pointer, typename kcheck_same<T>::type value);
KCHECK_STORE(__stwb)
KCHECK_STORE(__stcg) KCHECK_STORE(__stcs) KCHECK_STORE(__stwt)
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
  KCHECK_WAIT(1) KCHECK_WAIT(2) KCHECK_WAIT(3) KCHECK_WAIT(4) KCHECK_WAIT(5) KCHECK_WAIT(6)
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
KCHECK_ATOMIC(atomicSub) KCHECK_ATOMIC(atomicExch) KCHECK_ATOMIC(atomicMin) KCHECK_ATOMIC(atomicMax)
    KCHECK_ATOMIC(atomicInc) KCHECK_ATOMIC(atomicDec) KCHECK_ATOMIC(atomicAnd)
        KCHECK_ATOMIC(atomicOr) KCHECK_ATOMIC(atomicXor)
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

// integers
KCHECK_D int __popc(unsigned x);
KCHECK_D int __popcll(unsigned long long x);
KCHECK_D int __clz(int x);
KCHECK_D int __clzll(long long x);
KCHECK_D int __ffs(int x);
KCHECK_D int __ffsll(long long x);
KCHECK_D unsigned __brev(unsigned x);
KCHECK_D unsigned long long __brevll(unsigned long long x);
KCHECK_D unsigned __byte_perm(unsigned x, unsigned y, unsigned selector);
KCHECK_D unsigned __fns(unsigned mask, unsigned base, int offset);
KCHECK_D unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift);
KCHECK_D unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift);
KCHECK_D int __mulhi(int x, int y);
KCHECK_D unsigned __umulhi(unsigned x, unsigned y);
KCHECK_D long long __mul64hi(long long x, long long y);
KCHECK_D unsigned long long __umul64hi(unsigned long long x, unsigned long long y);
KCHECK_D int __mul24(int x, int y);
KCHECK_D unsigned __umul24(unsigned x, unsigned y);
KCHECK_D unsigned __sad(int x, int y, unsigned z);
KCHECK_D unsigned __usad(unsigned x, unsigned y, unsigned z);
KCHECK_D int __hadd(int x, int y);
KCHECK_D int __rhadd(int x, int y);
KCHECK_D unsigned __uhadd(unsigned x, unsigned y);
KCHECK_D int __dp4a(int a, int b, int c);
KCHECK_D unsigned __dp4a(unsigned a, unsigned b, unsigned c);
KCHECK_D int __dp2a_lo(int a, int b, int c);
KCHECK_D int __dp2a_hi(int a, int b, int c);
#define KCHECK_SIMD(name)                                                                          \
  KCHECK_D unsigned name##2(unsigned a, unsigned b);                                               \
  KCHECK_D unsigned name##4(unsigned a, unsigned b);
KCHECK_SIMD(__vadd)
KCHECK_SIMD(__vsub) KCHECK_SIMD(__vmaxs) KCHECK_SIMD(__vmaxu) KCHECK_SIMD(__vmins)
    KCHECK_SIMD(__vminu) KCHECK_SIMD(__vcmpeq) KCHECK_SIMD(__vcmpne) KCHECK_SIMD(__vcmpgts)
        KCHECK_SIMD(__vcmplts) KCHECK_SIMD(__vcmpgtu) KCHECK_SIMD(__vcmpltu) KCHECK_SIMD(__vsetgts)
            KCHECK_SIMD(__vavgs) KCHECK_SIMD(__vavgu) KCHECK_SIMD(__vabsdiffs) KCHECK_SIMD(__vaddss)
                KCHECK_SIMD(__vsubss) KCHECK_SIMD(__vaddus) KCHECK_SIMD(__vsubus)
#undef KCHECK_SIMD

    // bit casts
    KCHECK_D int __float_as_int(float x);
KCHECK_D unsigned __float_as_uint(float x);
KCHECK_D float __int_as_float(int x);
KCHECK_D float __uint_as_float(unsigned x);
KCHECK_D long long __double_as_longlong(double x);
KCHECK_D double __longlong_as_double(long long x);
KCHECK_D int __double2hiint(double x);
KCHECK_D int __double2loint(double x);
KCHECK_D double __hiloint2double(int high, int low);

// conversions, in the four roundings
#define KCHECK_CONVERT(from, to, name)                                                             \
  KCHECK_D to name##_rn(from x);                                                                   \
  KCHECK_D to name##_rz(from x);                                                                   \
  KCHECK_D to name##_ru(from x);                                                                   \
  KCHECK_D to name##_rd(from x);
KCHECK_CONVERT(float, int, __float2int)
KCHECK_CONVERT(float, unsigned, __float2uint) KCHECK_CONVERT(float, long long, __float2ll)
    KCHECK_CONVERT(float, unsigned long long, __float2ull) KCHECK_CONVERT(int, float, __int2float)
        KCHECK_CONVERT(unsigned, float, __uint2float) KCHECK_CONVERT(long long, float, __ll2float)
            KCHECK_CONVERT(unsigned long long, float, __ull2float)
                KCHECK_CONVERT(double, float, __double2float)
                    KCHECK_CONVERT(double, int, __double2int) KCHECK_CONVERT(double, unsigned,
                                                                             __double2uint)
                        KCHECK_CONVERT(double, long long, __double2ll)
                            KCHECK_CONVERT(double, unsigned long long, __double2ull)
                                KCHECK_CONVERT(int, double, __int2double)
                                    KCHECK_CONVERT(long long, double, __ll2double)
#undef KCHECK_CONVERT

// arithmetic in a given rounding, fast versions
#define KCHECK_ROUNDED(name, type)                                                                 \
  KCHECK_D type name##_rn(type x, type y);                                                         \
  KCHECK_D type name##_rz(type x, type y);                                                         \
  KCHECK_D type name##_ru(type x, type y);                                                         \
  KCHECK_D type name##_rd(type x, type y);
                                        KCHECK_ROUNDED(__fadd, float) KCHECK_ROUNDED(__fsub, float)
                                            KCHECK_ROUNDED(__fmul, float)
                                                KCHECK_ROUNDED(__fdiv, float)
                                                    KCHECK_ROUNDED(__dadd, double)
                                                        KCHECK_ROUNDED(__dmul, double)
#undef KCHECK_ROUNDED
#define KCHECK_ROUNDED1(name, type)                                                                \
  KCHECK_D type name##_rn(type x);                                                                 \
  KCHECK_D type name##_rz(type x);                                                                 \
  KCHECK_D type name##_ru(type x);                                                                 \
  KCHECK_D type name##_rd(type x);
                                                            KCHECK_ROUNDED1(__frcp, float)
                                                                KCHECK_ROUNDED1(__fsqrt, float)
                                                                    KCHECK_ROUNDED1(__frsqrt, float)
#undef KCHECK_ROUNDED1
                                                                        KCHECK_D
    float __fmaf_rn(float x, float y, float z);
KCHECK_D float __fmaf_rz(float x, float y, float z);
KCHECK_D float __fmaf_ru(float x, float y, float z);
KCHECK_D float __fmaf_rd(float x, float y, float z);
KCHECK_D double __fma_rn(double x, double y, double z);
KCHECK_D float __fdividef(float x, float y);
KCHECK_D float __expf(float x);
KCHECK_D float __exp10f(float x);
KCHECK_D float __logf(float x);
KCHECK_D float __log2f(float x);
KCHECK_D float __log10f(float x);
KCHECK_D float __powf(float x, float y);
KCHECK_D float __sinf(float x);
KCHECK_D float __cosf(float x);
KCHECK_D float __tanf(float x);
KCHECK_D float __tanhf(float x);
KCHECK_D float __saturatef(float x);
KCHECK_D void __sincosf(float x, float *sine, float *cosine);
KCHECK_D float2 __fadd2_rn(float2 x, float2 y);
KCHECK_D float2 __fmul2_rn(float2 x, float2 y);
KCHECK_D float2 __ffma2_rn(float2 x, float2 y, float2 z);

// min, max, abs of the usual types, also mixed as CUDA declares them
KCHECK_HD inline int min(int a, int b) {
  return b < a ? b : a;
}
KCHECK_HD inline int max(int a, int b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned min(unsigned a, unsigned b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned max(unsigned a, unsigned b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned min(int a, unsigned b) {
  return min((unsigned)a, b);
}
KCHECK_HD inline unsigned max(int a, unsigned b) {
  return max((unsigned)a, b);
}
KCHECK_HD inline unsigned min(unsigned a, int b) {
  return min(a, (unsigned)b);
}
KCHECK_HD inline unsigned max(unsigned a, int b) {
  return max(a, (unsigned)b);
}
KCHECK_HD inline long min(long a, long b) {
  return b < a ? b : a;
}
KCHECK_HD inline long max(long a, long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long min(unsigned long a, unsigned long b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned long max(unsigned long a, unsigned long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long min(long a, unsigned long b) {
  return min((unsigned long)a, b);
}
KCHECK_HD inline unsigned long max(long a, unsigned long b) {
  return max((unsigned long)a, b);
}
KCHECK_HD inline unsigned long min(unsigned long a, long b) {
  return min(a, (unsigned long)b);
}
KCHECK_HD inline unsigned long max(unsigned long a, long b) {
  return max(a, (unsigned long)b);
}
KCHECK_HD inline long long min(long long a, long long b) {
  return b < a ? b : a;
}
KCHECK_HD inline long long max(long long a, long long b) {
  return a < b ? b : a;
}
KCHECK_HD inline unsigned long long min(unsigned long long a, unsigned long long b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned long long max(unsigned long long a, unsigned long long b) {
  return a < b ? b : a;
}
KCHECK_HD float min(float a, float b);
KCHECK_HD float max(float a, float b);
KCHECK_HD double min(double a, double b);
KCHECK_HD double max(double a, double b);
KCHECK_HD double min(float a, double b);
KCHECK_HD double max(float a, double b);
KCHECK_HD double min(double a, float b);
KCHECK_HD double max(double a, float b);
KCHECK_HD inline unsigned umin(unsigned a, unsigned b) {
  return b < a ? b : a;
}
KCHECK_HD inline unsigned umax(unsigned a, unsigned b) {
  return a < b ? b : a;
}
KCHECK_D int __vimax_s32_relu(int a, int b);
KCHECK_D int __vimax3_s32(int a, int b, int c);
KCHECK_D int __vimin3_s32(int a, int b, int c);
KCHECK_D unsigned __vimax3_u32(unsigned a, unsigned b, unsigned c);
KCHECK_D unsigned __vimin3_u32(unsigned a, unsigned b, unsigned c);
