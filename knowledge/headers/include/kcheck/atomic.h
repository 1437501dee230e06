// cuda::atomic and cuda::atomic_ref: the operations go through the compiler's atomics, which the
// lowering knows by name.
#pragma once
#include <cuda_runtime.h>
#include <kcheck/atomic_functions.h>
#include <type_traits>
namespace cuda {
namespace std {
enum memory_order {
  memory_order_relaxed,
  memory_order_consume,
  memory_order_acquire,
  memory_order_release,
  memory_order_acq_rel,
  memory_order_seq_cst
};
} // namespace std
using std::memory_order;
using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_consume;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;
enum thread_scope {
  thread_scope_system = 0,
  thread_scope_device = 1,
  thread_scope_block = 2,
  thread_scope_thread = 10
};
namespace std {
using ::cuda::thread_scope;
using ::cuda::thread_scope_block;
using ::cuda::thread_scope_device;
using ::cuda::thread_scope_system;
using ::cuda::thread_scope_thread;
} // namespace std
KCHECK_HD constexpr int kcheck_nv_scope(thread_scope scope) {
  return scope == thread_scope_thread  ? __NV_THREAD_SCOPE_THREAD
         : scope == thread_scope_block ? __NV_THREAD_SCOPE_BLOCK
         : scope == thread_scope_device ? __NV_THREAD_SCOPE_DEVICE
                                        : __NV_THREAD_SCOPE_SYSTEM;
}
KCHECK_D inline void atomic_thread_fence(std::memory_order order,
                                         thread_scope scope = thread_scope_system) {
  if (scope == thread_scope_block)
    __threadfence_block();
  else if (scope == thread_scope_device)
    __threadfence();
  else if (scope == thread_scope_system)
    __threadfence_system();
}
#define KCHECK_ATOMIC_MEMBERS(address)                                                             \
  KCHECK_D T load(std::memory_order order = std::memory_order_seq_cst) const {                     \
    return __nv_atomic_load_n(address, order, kcheck_nv_scope(scope));                             \
  }                                                                                                \
  KCHECK_D void store(T value, std::memory_order order = std::memory_order_seq_cst) {              \
    __nv_atomic_store_n(address, value, order, kcheck_nv_scope(scope));                            \
  }                                                                                                \
  KCHECK_D T exchange(T value, std::memory_order order = std::memory_order_seq_cst) {              \
    return __nv_atomic_exchange_n(address, value, order, kcheck_nv_scope(scope));                  \
  }                                                                                                \
  KCHECK_D bool compare_exchange_strong(T &expected, T desired,                                    \
                                        std::memory_order order = std::memory_order_seq_cst,       \
                                        std::memory_order = std::memory_order_seq_cst) {           \
    if (order != std::memory_order_relaxed) atomic_thread_fence(order, scope);                     \
    T old = atomicCAS(address, expected, desired);                                                 \
    if (order != std::memory_order_relaxed) atomic_thread_fence(order, scope);                     \
    bool same = old == expected;                                                                   \
    expected = old;                                                                                \
    return same;                                                                                   \
  }                                                                                                \
  KCHECK_D bool compare_exchange_weak(T &expected, T desired,                                      \
                                      std::memory_order order = std::memory_order_seq_cst,         \
                                      std::memory_order = std::memory_order_seq_cst) {             \
    return compare_exchange_strong(expected, desired, order);                                      \
  }                                                                                                \
  KCHECK_D T fetch_add(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_add(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D T fetch_sub(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_sub(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D T fetch_and(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_and(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D T fetch_or(T value, std::memory_order order = std::memory_order_seq_cst) {              \
    return __nv_atomic_fetch_or(address, value, order, kcheck_nv_scope(scope));                    \
  }                                                                                                \
  KCHECK_D T fetch_xor(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_xor(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D T fetch_min(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_min(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D T fetch_max(T value, std::memory_order order = std::memory_order_seq_cst) {             \
    return __nv_atomic_fetch_max(address, value, order, kcheck_nv_scope(scope));                   \
  }                                                                                                \
  KCHECK_D void wait(T old, std::memory_order order = std::memory_order_seq_cst) const {           \
    while (load(order) == old) {                                                                   \
    }                                                                                              \
  }                                                                                                \
  KCHECK_D void notify_one() {}                                                                    \
  KCHECK_D void notify_all() {}                                                                    \
  KCHECK_D operator T() const { return load(); }                                                   \
  KCHECK_D T operator=(T value) {                                                                  \
    store(value);                                                                                  \
    return value;                                                                                  \
  }                                                                                                \
  KCHECK_D T operator++(int) { return fetch_add(T(1)); }                                           \
  KCHECK_D T operator++() { return fetch_add(T(1)) + T(1); }                                       \
  KCHECK_D T operator--(int) { return fetch_sub(T(1)); }                                           \
  KCHECK_D T operator--() { return fetch_sub(T(1)) - T(1); }                                       \
  KCHECK_D T operator+=(T value) { return fetch_add(value) + value; }                              \
  KCHECK_D T operator-=(T value) { return fetch_sub(value) - value; }
template <class T, thread_scope scope = thread_scope_system> struct atomic {
  T word;
  atomic() = default;
  KCHECK_HD constexpr atomic(T value) : word(value) {}
  atomic(const atomic &) = delete;
  KCHECK_ATOMIC_MEMBERS((const_cast<T *>(&word)))
};
template <class T, thread_scope scope = thread_scope_system> struct atomic_ref {
  T *word;
  KCHECK_HD constexpr explicit atomic_ref(T &object) : word(&object) {}
  atomic_ref(const atomic_ref &) = default;
  KCHECK_ATOMIC_MEMBERS(word)
};
#undef KCHECK_ATOMIC_MEMBERS
namespace std {
template <class T> using atomic = ::cuda::atomic<T, thread_scope_system>;
template <class T> using atomic_ref = ::cuda::atomic_ref<T, thread_scope_system>;
using ::cuda::atomic_thread_fence;
} // namespace std
} // namespace cuda
