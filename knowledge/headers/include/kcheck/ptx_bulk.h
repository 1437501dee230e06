// cuda::ptx: bulk copies (PTX ISA 9.7.9.25.4).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
template <typename = void>
KCHECK_PTX void cp_async_bulk(space_cluster_t, space_global_t, void *dst, const void *src,
                              const uint32_t &size, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(kcheck_shared(dst)),
               "l"(src), "r"(size), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk(space_shared_t, space_global_t, void *dst, const void *src,
                              const uint32_t &size, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(kcheck_shared(dst)),
               "l"(src), "r"(size), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk(space_cluster_t, space_global_t, void *dst, const void *src,
                              const uint32_t &size, uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(kcheck_shared(dst)),
               "l"(src), "r"(size), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk(space_cluster_t, space_shared_t, void *dst, const void *src,
                              const uint32_t &size, uint64_t *bar) {
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(kcheck_shared(dst)),
               "r"(kcheck_shared(src)), "r"(size), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk(space_global_t, space_shared_t, void *dst, const void *src,
                              const uint32_t &size) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(dst),
               "r"(kcheck_shared(src)), "r"(size)
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_cp_mask(space_global_t, space_shared_t, void *dst, const void *src,
                                      const uint32_t &size, const uint16_t &mask) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%0], [%1], %2, %3;" ::"l"(dst),
               "r"(kcheck_shared(src)), "r"(size), "h"(mask)
               : "memory");
}
template <typename = void> KCHECK_PTX void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" :::);
}
template <int n> KCHECK_PTX void cp_async_bulk_wait_group(n32_t<n>) {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}
template <int n> KCHECK_PTX void cp_async_bulk_wait_group_read(n32_t<n>) {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}
template <typename = void> KCHECK_PTX void cp_async_mbarrier_arrive(uint64_t *addr) {
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(kcheck_shared(addr))
               : "memory");
}
template <typename = void> KCHECK_PTX void cp_async_mbarrier_arrive_noinc(uint64_t *addr) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(kcheck_shared(addr))
               : "memory");
}
} // namespace ptx
} // namespace cuda
