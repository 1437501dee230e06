// cuda::ptx: tcgen05 (PTX ISA 9.7.16): allocation, fences, waits, commits, copies.
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
template <dot_cta_group g>
KCHECK_PTX void tcgen05_alloc(cta_group_t<g>, uint32_t *dst, const uint32_t &columns) {
  KCHECK_CTA_GROUP(g, "tcgen05.alloc", ".sync.aligned.shared::cta.b32 [%0], %1;",
                   ::"r"(kcheck_shared(dst)), "r"(columns) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void tcgen05_dealloc(cta_group_t<g>, uint32_t taddr, const uint32_t &columns) {
  KCHECK_CTA_GROUP(g, "tcgen05.dealloc", ".sync.aligned.b32 %0, %1;",
                   ::"r"(taddr), "r"(columns) : "memory");
}
template <dot_cta_group g> KCHECK_PTX void tcgen05_relinquish_alloc_permit(cta_group_t<g>) {
  KCHECK_CTA_GROUP(g, "tcgen05.relinquish_alloc_permit", ".sync.aligned;", ::: "memory");
}
template <typename = void> KCHECK_PTX void tcgen05_fence_before_thread_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
template <typename = void> KCHECK_PTX void tcgen05_fence_after_thread_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}
template <typename = void> KCHECK_PTX void tcgen05_wait_ld() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
}
template <typename = void> KCHECK_PTX void tcgen05_wait_st() {
  asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}
template <dot_cta_group g> KCHECK_PTX void tcgen05_commit(cta_group_t<g>, uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "tcgen05.commit",
                   ".mbarrier::arrive::one.shared::cluster.b64 [%0];",
                   ::"r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void tcgen05_commit_multicast(cta_group_t<g>, uint64_t *bar, uint16_t mask) {
  KCHECK_CTA_GROUP(g, "tcgen05.commit",
                   ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;",
                   ::"r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <dot_cta_group g> KCHECK_PTX void tcgen05_shift_down(cta_group_t<g>, uint32_t taddr) {
  KCHECK_CTA_GROUP(g, "tcgen05.shift", ".down [%0];", ::"r"(taddr) : "memory");
}
#define KCHECK_CP(name, shape)                                                                     \
  template <dot_cta_group g>                                                                       \
  KCHECK_PTX void tcgen05_cp_##name(cta_group_t<g>, uint32_t taddr, uint64_t desc) {               \
    KCHECK_CTA_GROUP(g, "tcgen05.cp", "." shape " [%0], %1;", ::"r"(taddr), "l"(desc) : "memory"); \
  }                                                                                                \
  template <dot_cta_group g>                                                                       \
  KCHECK_PTX void tcgen05_cp_##name##_b8x16_b6x16_p32(cta_group_t<g>, uint32_t taddr,              \
                                                      uint64_t desc) {                             \
    KCHECK_CTA_GROUP(g, "tcgen05.cp", "." shape ".b8x16.b6x16_p32 [%0], %1;",                      \
                     ::"r"(taddr), "l"(desc) : "memory");                                          \
  }                                                                                                \
  template <dot_cta_group g>                                                                       \
  KCHECK_PTX void tcgen05_cp_##name##_b8x16_b4x16_p64(cta_group_t<g>, uint32_t taddr,              \
                                                      uint64_t desc) {                             \
    KCHECK_CTA_GROUP(g, "tcgen05.cp", "." shape ".b8x16.b4x16_p64 [%0], %1;",                      \
                     ::"r"(taddr), "l"(desc) : "memory");                                          \
  }
KCHECK_CP(128x256b, "128x256b")
KCHECK_CP(4x256b, "4x256b")
KCHECK_CP(128x128b, "128x128b")
KCHECK_CP(64x128b_warpx2_02_13, "64x128b.warpx2::02_13")
KCHECK_CP(64x128b_warpx2_01_23, "64x128b.warpx2::01_23")
KCHECK_CP(32x128b_warpx4, "32x128b.warpx4")
#undef KCHECK_CP
} // namespace ptx
} // namespace cuda
