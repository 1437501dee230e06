// cuda::ptx: mbarriers (PTX ISA 9.7.13.15).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
template <typename = void> KCHECK_PTX void mbarrier_init(uint64_t *addr, const uint32_t &count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(kcheck_shared(addr)), "r"(count)
               : "memory");
}
template <typename = void> KCHECK_PTX void mbarrier_inval(uint64_t *addr) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(kcheck_shared(addr)) : "memory");
}
template <typename = void> KCHECK_PTX uint64_t mbarrier_arrive(uint64_t *addr) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(kcheck_shared(addr))
               : "memory");
  return state;
}
template <typename = void>
KCHECK_PTX uint64_t mbarrier_arrive(uint64_t *addr, const uint32_t &count) {
  uint64_t state;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(kcheck_shared(addr)), "r"(count)
               : "memory");
  return state;
}
template <typename = void>
KCHECK_PTX uint64_t mbarrier_arrive_no_complete(uint64_t *addr, const uint32_t &count) {
  uint64_t state;
  asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], %2;"
               : "=l"(state)
               : "r"(kcheck_shared(addr)), "r"(count)
               : "memory");
  return state;
}
#define KCHECK_ARRIVE(sem)                                                                         \
  template <dot_scope s>                                                                           \
  KCHECK_PTX uint64_t mbarrier_arrive(sem_##sem##_t, scope_t<s>, space_shared_t, uint64_t *addr) { \
    uint64_t state;                                                                                \
    KCHECK_CTA_OR_CLUSTER(s, "mbarrier.arrive." #sem, ".shared::cta.b64 %0, [%1];",                \
                          : "=l"(state)                                                            \
                          : "r"(kcheck_shared(addr))                                               \
                          : "memory");                                                             \
    return state;                                                                                  \
  }                                                                                                \
  template <dot_scope s>                                                                           \
  KCHECK_PTX uint64_t mbarrier_arrive(sem_##sem##_t, scope_t<s>, space_shared_t, uint64_t *addr,   \
                                      const uint32_t &count) {                                     \
    uint64_t state;                                                                                \
    KCHECK_CTA_OR_CLUSTER(s, "mbarrier.arrive." #sem, ".shared::cta.b64 %0, [%1], %2;",            \
                          : "=l"(state)                                                            \
                          : "r"(kcheck_shared(addr)), "r"(count)                                   \
                          : "memory");                                                             \
    return state;                                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  KCHECK_PTX void mbarrier_arrive(sem_##sem##_t, scope_cluster_t, space_cluster_t,                 \
                                  uint64_t *addr) {                                                \
    asm volatile("mbarrier.arrive." #sem ".cluster.shared::cluster.b64 _, [%0];" ::"r"(            \
                     kcheck_shared(addr))                                                          \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename = void>                                                                       \
  KCHECK_PTX void mbarrier_arrive(sem_##sem##_t, scope_cluster_t, space_cluster_t, uint64_t *addr, \
                                  const uint32_t &count) {                                         \
    asm volatile("mbarrier.arrive." #sem ".cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(        \
                     kcheck_shared(addr)),                                                         \
                 "r"(count)                                                                        \
                 : "memory");                                                                      \
  }                                                                                                \
  template <dot_scope s>                                                                           \
  KCHECK_PTX uint64_t mbarrier_arrive_expect_tx(sem_##sem##_t, scope_t<s>, space_shared_t,         \
                                                uint64_t *addr, const uint32_t &tx_count) {        \
    uint64_t state;                                                                                \
    KCHECK_CTA_OR_CLUSTER(s, "mbarrier.arrive.expect_tx." #sem, ".shared::cta.b64 %0, [%1], %2;",  \
                          : "=l"(state)                                                            \
                          : "r"(kcheck_shared(addr)), "r"(tx_count)                                \
                          : "memory");                                                             \
    return state;                                                                                  \
  }                                                                                                \
  template <typename = void>                                                                       \
  KCHECK_PTX void mbarrier_arrive_expect_tx(sem_##sem##_t, scope_cluster_t, space_cluster_t,       \
                                            uint64_t *addr, const uint32_t &tx_count) {            \
    asm volatile("mbarrier.arrive.expect_tx." #sem                                                 \
                 ".cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(kcheck_shared(addr)),           \
                 "r"(tx_count)                                                                     \
                 : "memory");                                                                      \
  }
KCHECK_ARRIVE(release)
KCHECK_ARRIVE(relaxed)
#undef KCHECK_ARRIVE
template <dot_scope s>
KCHECK_PTX void mbarrier_expect_tx(sem_relaxed_t, scope_t<s>, space_shared_t, uint64_t *addr,
                                   uint32_t tx_count) {
  KCHECK_CTA_OR_CLUSTER(s, "mbarrier.expect_tx.relaxed", ".shared::cta.b64 [%0], %1;",
                        ::"r"(kcheck_shared(addr)), "r"(tx_count) : "memory");
}
template <dot_scope s>
KCHECK_PTX void mbarrier_expect_tx(sem_relaxed_t, scope_t<s>, space_cluster_t, uint64_t *addr,
                                   uint32_t tx_count) {
  KCHECK_CTA_OR_CLUSTER(s, "mbarrier.expect_tx.relaxed", ".shared::cluster.b64 [%0], %1;",
                        ::"r"(kcheck_shared(addr)), "r"(tx_count) : "memory");
}

#define KCHECK_WAIT_TEXT(operands)                                                                 \
  ".shared::cta.b64 P_OUT, [%1], " operands "; selp.b32 %0, 1, 0, P_OUT; }"
// test_wait and try_wait, with and without parity; `kind` also names the function
#define KCHECK_WAIT(function, kind, type)                                                          \
  template <typename = void> KCHECK_PTX bool function(uint64_t *addr, const type &state) {         \
    uint32_t done;                                                                                 \
    asm volatile("{ .reg .pred P_OUT; mbarrier." kind KCHECK_WAIT_TEXT("%2")                       \
                 : "=r"(done)                                                                      \
                 : "r"(kcheck_shared(addr)), KCHECK_STATE(type)(state)                             \
                 : "memory");                                                                      \
    return done != 0;                                                                              \
  }                                                                                                \
  template <dot_scope s>                                                                           \
  KCHECK_PTX bool function(sem_acquire_t, scope_t<s>, uint64_t *addr, const type &state) {         \
    uint32_t done;                                                                                 \
    KCHECK_CTA_OR_CLUSTER(s, "{ .reg .pred P_OUT; mbarrier." kind ".acquire",                      \
                          KCHECK_WAIT_TEXT("%2"),                                                  \
                          : "=r"(done)                                                             \
                          : "r"(kcheck_shared(addr)), KCHECK_STATE(type)(state)                    \
                          : "memory");                                                             \
    return done != 0;                                                                              \
  }                                                                                                \
  template <dot_scope s>                                                                           \
  KCHECK_PTX bool function(sem_relaxed_t, scope_t<s>, uint64_t *addr, const type &state) {         \
    uint32_t done;                                                                                 \
    KCHECK_CTA_OR_CLUSTER(s, "{ .reg .pred P_OUT; mbarrier." kind ".relaxed",                      \
                          KCHECK_WAIT_TEXT("%2"),                                                  \
                          : "=r"(done)                                                             \
                          : "r"(kcheck_shared(addr)), KCHECK_STATE(type)(state)                    \
                          : "memory");                                                             \
    return done != 0;                                                                              \
  }
#define KCHECK_WAIT_HINT(function, kind, type)                                                     \
  template <typename = void>                                                                       \
  KCHECK_PTX bool function(uint64_t *addr, const type &state, const uint32_t &hint) {              \
    uint32_t done;                                                                                 \
    asm volatile("{ .reg .pred P_OUT; mbarrier." kind KCHECK_WAIT_TEXT("%2, %3")                   \
                 : "=r"(done)                                                                      \
                 : "r"(kcheck_shared(addr)), KCHECK_STATE(type)(state), "r"(hint)                  \
                 : "memory");                                                                      \
    return done != 0;                                                                              \
  }                                                                                                \
  template <dot_scope s>                                                                           \
  KCHECK_PTX bool function(sem_acquire_t, scope_t<s>, uint64_t *addr, const type &state,           \
                           const uint32_t &hint) {                                                 \
    uint32_t done;                                                                                 \
    KCHECK_CTA_OR_CLUSTER(s, "{ .reg .pred P_OUT; mbarrier." kind ".acquire",                      \
                          KCHECK_WAIT_TEXT("%2, %3"),                                              \
                          : "=r"(done)                                                             \
                          : "r"(kcheck_shared(addr)), KCHECK_STATE(type)(state), "r"(hint)         \
                          : "memory");                                                             \
    return done != 0;                                                                              \
  }
#define KCHECK_STATE(type) KCHECK_STATE_##type
#define KCHECK_STATE_uint32_t "r"
#define KCHECK_STATE_uint64_t "l"
KCHECK_WAIT(mbarrier_test_wait, "test_wait", uint64_t)
KCHECK_WAIT(mbarrier_test_wait_parity, "test_wait.parity", uint32_t)
KCHECK_WAIT(mbarrier_try_wait, "try_wait", uint64_t)
KCHECK_WAIT(mbarrier_try_wait_parity, "try_wait.parity", uint32_t)
KCHECK_WAIT_HINT(mbarrier_try_wait, "try_wait", uint64_t)
KCHECK_WAIT_HINT(mbarrier_try_wait_parity, "try_wait.parity", uint32_t)
#undef KCHECK_WAIT
#undef KCHECK_WAIT_HINT
#undef KCHECK_WAIT_TEXT
} // namespace ptx
} // namespace cuda
