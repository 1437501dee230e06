// cuda::ptx: mbarriers, fences, cluster barriers, elect and cluster launch control.
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
// PTX ISA 9.7.13.15: mbarrier
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

// PTX ISA 9.7.13.4: fences
#define KCHECK_FENCE(sem)                                                                          \
  template <dot_scope s> KCHECK_PTX void fence(sem_##sem##_t, scope_t<s>) {                        \
    KCHECK_ANY_SCOPE(s, "fence." #sem, ";", ::: "memory");                                         \
  }
KCHECK_FENCE(sc)
KCHECK_FENCE(acq_rel)
KCHECK_FENCE(acquire)
KCHECK_FENCE(release)
#undef KCHECK_FENCE
template <typename = void> KCHECK_PTX void fence_mbarrier_init(sem_release_t, scope_cluster_t) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
template <typename = void> KCHECK_PTX void fence_proxy_alias() {
  asm volatile("fence.proxy.alias;" ::: "memory");
}
template <typename = void> KCHECK_PTX void fence_proxy_async() {
  asm volatile("fence.proxy.async;" ::: "memory");
}
template <dot_space s> KCHECK_PTX void fence_proxy_async(space_t<s>) {
  if constexpr (s == dot_space::global)
    asm volatile("fence.proxy.async.global;" ::: "memory");
  else if constexpr (s == dot_space::cluster)
    asm volatile("fence.proxy.async.shared::cluster;" ::: "memory");
  else
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
template <dot_scope s> KCHECK_PTX void fence_proxy_tensormap_generic(sem_release_t, scope_t<s>) {
  KCHECK_ANY_SCOPE(s, "fence.proxy.tensormap::generic.release", ";", ::: "memory");
}
template <int n, dot_scope s>
KCHECK_PTX void fence_proxy_tensormap_generic(sem_acquire_t, scope_t<s>, const void *addr,
                                              n32_t<n>) {
  KCHECK_ANY_SCOPE(s, "fence.proxy.tensormap::generic.acquire", " [%0], %1;",
                   ::"l"(addr), "n"(n) : "memory");
}
template <typename = void>
KCHECK_PTX void fence_sync_restrict(sem_acquire_t, space_cluster_t, scope_cluster_t) {
  asm volatile("fence.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}
template <typename = void>
KCHECK_PTX void fence_sync_restrict(sem_release_t, space_shared_t, scope_cluster_t) {
  asm volatile("fence.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}
template <typename = void>
KCHECK_PTX void fence_proxy_async_generic_sync_restrict(sem_acquire_t, space_cluster_t,
                                                        scope_cluster_t) {
  asm volatile(
      "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster.cluster;" ::: "memory");
}
template <typename = void>
KCHECK_PTX void fence_proxy_async_generic_sync_restrict(sem_release_t, space_shared_t,
                                                        scope_cluster_t) {
  asm volatile(
      "fence.proxy.async::generic.release.sync_restrict::shared::cta.cluster;" ::: "memory");
}

// PTX ISA 9.7.13.3: barrier.cluster
template <typename = void> KCHECK_PTX void barrier_cluster_arrive() {
  asm volatile("barrier.cluster.arrive;" ::: "memory");
}
template <typename = void> KCHECK_PTX void barrier_cluster_arrive(sem_release_t) {
  asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}
template <typename = void> KCHECK_PTX void barrier_cluster_arrive(sem_relaxed_t) {
  asm volatile("barrier.cluster.arrive.relaxed;" :::);
}
template <typename = void> KCHECK_PTX void barrier_cluster_wait() {
  asm volatile("barrier.cluster.wait;" ::: "memory");
}
template <typename = void> KCHECK_PTX void barrier_cluster_wait(sem_acquire_t) {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
template <typename = void> KCHECK_PTX uint32_t getctarank(space_cluster_t, const void *addr) {
  uint32_t rank;
  asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(rank) : "r"(kcheck_shared(addr)));
  return rank;
}
template <typename T> KCHECK_PTX T *mapa(space_cluster_t, const T *addr, uint32_t rank) {
  T *peer;
  asm("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(addr), "r"(rank));
  return peer;
}
template <typename = void> KCHECK_PTX bool elect_sync(const uint32_t &mask) {
  uint32_t elected;
  asm volatile("{ .reg .pred P_OUT; elect.sync _|P_OUT, %1; selp.b32 %0, 1, 0, P_OUT; }"
               : "=r"(elected)
               : "r"(mask));
  return elected != 0;
}

// PTX ISA 9.7.13.16: clusterlaunchcontrol
template <typename = void>
KCHECK_PTX void clusterlaunchcontrol_try_cancel(void *addr, uint64_t *bar) {
  asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 "
               "[%0], [%1];" ::"r"(kcheck_shared(addr)),
               "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void clusterlaunchcontrol_try_cancel_multicast(void *addr, uint64_t *bar) {
  asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes"
               ".multicast::cluster::all.b128 [%0], [%1];" ::"r"(kcheck_shared(addr)),
               "r"(kcheck_shared(bar))
               : "memory");
}
template <typename B128> KCHECK_PTX bool clusterlaunchcontrol_query_cancel_is_canceled(B128 response) {
  static_assert(sizeof(B128) == 16, "a response has 16 bytes");
  const uint64_t *half = reinterpret_cast<const uint64_t *>(&response);
  uint32_t canceled;
  asm("{ .reg .pred P_OUT; .reg .b128 RESPONSE; mov.b128 RESPONSE, {%1, %2}; "
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 P_OUT, RESPONSE; "
      "selp.b32 %0, 1, 0, P_OUT; }"
      : "=r"(canceled)
      : "l"(half[0]), "l"(half[1]));
  return canceled != 0;
}
#define KCHECK_CTAID(axis)                                                                         \
  template <typename B32 = uint32_t, typename B128>                                                \
  KCHECK_PTX B32 clusterlaunchcontrol_query_cancel_get_first_ctaid_##axis(B128 response) {         \
    static_assert(sizeof(B128) == 16, "a response has 16 bytes");                                  \
    const uint64_t *half = reinterpret_cast<const uint64_t *>(&response);                          \
    uint32_t ctaid;                                                                                \
    asm("{ .reg .b128 RESPONSE; mov.b128 RESPONSE, {%1, %2}; "                                     \
        "clusterlaunchcontrol.query_cancel.get_first_ctaid::" #axis ".b32.b128 %0, RESPONSE; }"    \
        : "=r"(ctaid)                                                                              \
        : "l"(half[0]), "l"(half[1]));                                                             \
    return static_cast<B32>(ctaid);                                                                \
  }
KCHECK_CTAID(x)
KCHECK_CTAID(y)
KCHECK_CTAID(z)
#undef KCHECK_CTAID
template <typename B32, typename B128>
KCHECK_PTX void clusterlaunchcontrol_query_cancel_get_first_ctaid(B32 (&ids)[4], B128 response) {
  const uint64_t *half = reinterpret_cast<const uint64_t *>(&response);
  asm("{ .reg .b128 RESPONSE; mov.b128 RESPONSE, {%4, %5}; "
      "clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%0, %1, %2, %3}, RESPONSE; }"
      : "=r"(ids[0]), "=r"(ids[1]), "=r"(ids[2]), "=r"(ids[3])
      : "l"(half[0]), "l"(half[1]));
}

// PTX ISA 10: special registers
#define KCHECK_SREG(name, text)                                                                    \
  template <typename = void> KCHECK_PTX uint32_t get_sreg_##name() {                               \
    uint32_t value;                                                                                \
    asm volatile("mov.u32 %0, %%" text ";" : "=r"(value));                                         \
    return value;                                                                                  \
  }
#define KCHECK_SREG3(name, text)                                                                   \
  KCHECK_SREG(name##_x, text ".x") KCHECK_SREG(name##_y, text ".y") KCHECK_SREG(name##_z, text ".z")
KCHECK_SREG3(tid, "tid") KCHECK_SREG3(ntid, "ntid") KCHECK_SREG3(ctaid, "ctaid")
KCHECK_SREG3(nctaid, "nctaid") KCHECK_SREG3(clusterid, "clusterid")
KCHECK_SREG3(nclusterid, "nclusterid") KCHECK_SREG3(cluster_ctaid, "cluster_ctaid")
KCHECK_SREG3(cluster_nctaid, "cluster_nctaid") KCHECK_SREG(cluster_ctarank, "cluster_ctarank")
KCHECK_SREG(cluster_nctarank, "cluster_nctarank") KCHECK_SREG(laneid, "laneid")
KCHECK_SREG(warpid, "warpid") KCHECK_SREG(nwarpid, "nwarpid") KCHECK_SREG(smid, "smid")
KCHECK_SREG(nsmid, "nsmid") KCHECK_SREG(lanemask_eq, "lanemask_eq")
KCHECK_SREG(lanemask_le, "lanemask_le") KCHECK_SREG(lanemask_lt, "lanemask_lt")
KCHECK_SREG(lanemask_ge, "lanemask_ge") KCHECK_SREG(lanemask_gt, "lanemask_gt")
KCHECK_SREG(clock, "clock") KCHECK_SREG(dynamic_smem_size, "dynamic_smem_size")
KCHECK_SREG(total_smem_size, "total_smem_size")
#undef KCHECK_SREG3
#undef KCHECK_SREG
template <typename = void> KCHECK_PTX bool get_sreg_is_explicit_cluster() {
  uint32_t value;
  asm volatile("{ .reg .pred P_OUT; mov.pred P_OUT, %%is_explicit_cluster; "
               "selp.b32 %0, 1, 0, P_OUT; }"
               : "=r"(value));
  return value != 0;
}
template <typename = void> KCHECK_PTX uint64_t get_sreg_globaltimer() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value));
  return value;
}
template <typename = void> KCHECK_PTX uint64_t get_sreg_clock64() {
  uint64_t value;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(value));
  return value;
}
template <typename = void> KCHECK_PTX void exit() { asm volatile("exit;" :::); }
template <typename = void> KCHECK_PTX void trap() { asm volatile("trap;" :::); }
template <typename = void> KCHECK_PTX void griddepcontrol_wait() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
template <typename = void> KCHECK_PTX void griddepcontrol_launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;" :::);
}
template <int n> KCHECK_PTX void setmaxnreg_inc(n32_t<n>) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n));
}
template <int n> KCHECK_PTX void setmaxnreg_dec(n32_t<n>) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n));
}
} // namespace ptx
} // namespace cuda
