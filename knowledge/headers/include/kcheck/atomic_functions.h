// Atomic functions.
#pragma once
#include "base.h"
#include "same_type.h"

#define KCHECK_ATOMIC(name)                                                                        \
  template <class T> KCHECK_D T name(T *address, typename kcheck_same<T>::type value);             \
  template <class T> KCHECK_D T name##_block(T *address, typename kcheck_same<T>::type value);     \
  template <class T> KCHECK_D T name##_system(T *address, typename kcheck_same<T>::type value)
KCHECK_ATOMIC(atomicAdd);
KCHECK_ATOMIC(atomicSub);
KCHECK_ATOMIC(atomicExch);
KCHECK_ATOMIC(atomicMin);
KCHECK_ATOMIC(atomicMax);
KCHECK_ATOMIC(atomicInc);
KCHECK_ATOMIC(atomicDec);
KCHECK_ATOMIC(atomicAnd);
KCHECK_ATOMIC(atomicOr);
KCHECK_ATOMIC(atomicXor);
#undef KCHECK_ATOMIC
#define KCHECK_CAS(name)                                                                           \
  template <class T>                                                                               \
  KCHECK_D T name(T *address, typename kcheck_same<T>::type compare,                               \
                  typename kcheck_same<T>::type value)
KCHECK_CAS(atomicCAS);
KCHECK_CAS(atomicCAS_block);
KCHECK_CAS(atomicCAS_system);
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
template <class T> KCHECK_D T __nv_atomic_load_n(const T *address, int order, int scope = 5);
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
