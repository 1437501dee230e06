// cuda::ptx: fences, cluster barriers, elect, and what ends or paces a kernel.
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
