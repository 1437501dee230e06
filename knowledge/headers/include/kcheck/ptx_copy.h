// cuda::ptx: bulk copies, tensor copies, reductions, st.async and red.async, tensormap.replace.
#pragma once
#include "ptx_types.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cuda {
namespace ptx {
// PTX ISA 9.7.9.25.4: bulk copies
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

// PTX ISA 9.7.9.25.5: tensor copies, one to five dimensions
#define KCHECK_REDUCE_OP(op, before, after, ...)                                                   \
  if constexpr (op == dot_op::add)                                                                 \
    asm volatile(before ".add" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::min)                                                            \
    asm volatile(before ".min" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::max)                                                            \
    asm volatile(before ".max" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::inc)                                                            \
    asm volatile(before ".inc" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::dec)                                                            \
    asm volatile(before ".dec" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::and_op)                                                         \
    asm volatile(before ".and" after __VA_ARGS__);                                                 \
  else if constexpr (op == dot_op::or_op)                                                          \
    asm volatile(before ".or" after __VA_ARGS__);                                                  \
  else                                                                                             \
    asm volatile(before ".xor" after __VA_ARGS__)

template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[1], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2}], [%3];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[1], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2}], [%3];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[1], uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2}], [%3], %4;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[1], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " [%0], [%1, {%2}], [%3];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[1], uint64_t *bar,
                                     const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2}], [%3], %4;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map,
                                     const int32_t (&c)[1], const void *src) {
  asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(c[0]), "r"(kcheck_shared(src))
               : "memory");
}
template <dot_op op>
KCHECK_PTX void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                            const void *map, const int32_t (&c)[1],
                                            const void *src) {
  KCHECK_REDUCE_OP(op, "cp.reduce.async.bulk.tensor.1d.global.shared::cta",
                   ".tile.bulk_group [%0, {%1}], [%2];",
                   ::"l"(map), "r"(c[0]), "r"(kcheck_shared(src)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[2], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[2], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[2], uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[2], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " [%0], [%1, {%2, %3}], [%4];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[2], uint64_t *bar,
                                     const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2, %3}], [%4], %5;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map,
                                     const int32_t (&c)[2], const void *src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(src))
               : "memory");
}
template <dot_op op>
KCHECK_PTX void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                            const void *map, const int32_t (&c)[2],
                                            const void *src) {
  KCHECK_REDUCE_OP(op, "cp.reduce.async.bulk.tensor.2d.global.shared::cta",
                   ".tile.bulk_group [%0, {%1, %2}], [%3];",
                   ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(kcheck_shared(src)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[3], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[3], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[3], uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[3], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " [%0], [%1, {%2, %3, %4}], [%5];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[3], uint64_t *bar,
                                     const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2, %3, %4}], [%5], %6;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map,
                                     const int32_t (&c)[3], const void *src) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(src))
               : "memory");
}
template <dot_op op>
KCHECK_PTX void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                            const void *map, const int32_t (&c)[3],
                                            const void *src) {
  KCHECK_REDUCE_OP(op, "cp.reduce.async.bulk.tensor.3d.global.shared::cta",
                   ".tile.bulk_group [%0, {%1, %2, %3}], [%4];",
                   ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(kcheck_shared(src)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[4], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[4], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[4], uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[4], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " [%0], [%1, {%2, %3, %4, %5}], [%6];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[4], uint64_t *bar,
                                     const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2, %3, %4, %5}], [%6], %7;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map,
                                     const int32_t (&c)[4], const void *src) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];" ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(src))
               : "memory");
}
template <dot_op op>
KCHECK_PTX void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                            const void *map, const int32_t (&c)[4],
                                            const void *src) {
  KCHECK_REDUCE_OP(op, "cp.reduce.async.bulk.tensor.4d.global.shared::cta",
                   ".tile.bulk_group [%0, {%1, %2, %3, %4}], [%5];",
                   ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(kcheck_shared(src)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[5], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[5], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar))
               : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, void *dst, const void *map,
                                     const int32_t (&c)[5], uint64_t *bar, const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_shared_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[5], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes", " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)) : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor(space_cluster_t, space_global_t, cta_group_t<g>, void *dst,
                                     const void *map, const int32_t (&c)[5], uint64_t *bar,
                                     const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor(space_global_t, space_shared_t, const void *map,
                                     const int32_t (&c)[5], const void *src) {
  asm volatile("cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(src))
               : "memory");
}
template <dot_op op>
KCHECK_PTX void cp_reduce_async_bulk_tensor(space_global_t, space_shared_t, op_t<op>,
                                            const void *map, const int32_t (&c)[5],
                                            const void *src) {
  KCHECK_REDUCE_OP(op, "cp.reduce.async.bulk.tensor.5d.global.shared::cta",
                   ".tile.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];",
                   ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(src)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor_tile_gather4(space_cluster_t, space_global_t, void *dst,
                                                  const void *map, const int32_t (&c)[5], uint64_t *bar,
                                                  const uint16_t &mask) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)), "h"(mask)
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor_tile_gather4(space_cluster_t, space_global_t, cta_group_t<g>,
                                                  void *dst, const void *map,
                                                  const int32_t (&c)[5], uint64_t *bar, const uint16_t &mask) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes"
                   ".multicast::cluster", " [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)), "h"(mask) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor_tile_gather4(space_shared_t, space_global_t, void *dst,
                                                  const void *map, const int32_t (&c)[5], uint64_t *bar) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar))
               : "memory");
}
template <dot_cta_group g>
KCHECK_PTX void cp_async_bulk_tensor_tile_gather4(space_shared_t, space_global_t, cta_group_t<g>,
                                                  void *dst, const void *map,
                                                  const int32_t (&c)[5], uint64_t *bar) {
  KCHECK_CTA_GROUP(g, "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes", " [%0], [%1, {%2, %3, %4, %5, %6}], [%7];",
                   ::"r"(kcheck_shared(dst)), "l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(bar)) : "memory");
}
template <typename = void>
KCHECK_PTX void cp_async_bulk_tensor_tile_scatter4(space_global_t, space_shared_t, const void *map,
                                                   const int32_t (&c)[5], const void *src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
               "[%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(map), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]), "r"(kcheck_shared(src))
               : "memory");
}

// PTX ISA 9.7.9.25.4.2: bulk reductions
#define KCHECK_BULK_REDUCE(op, type, suffix)                                                       \
  template <typename = void>                                                                       \
  KCHECK_PTX void cp_reduce_async_bulk(space_global_t, space_shared_t, op_##op##_t, type *dst,     \
                                       const type *src, uint32_t size) {                           \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." suffix                      \
                 " [%0], [%1], %2;" ::"l"(dst),                                                    \
                 "r"(kcheck_shared(src)), "r"(size)                                                \
                 : "memory");                                                                      \
  }
#define KCHECK_CLUSTER_REDUCE(op, type, suffix)                                                    \
  template <typename = void>                                                                       \
  KCHECK_PTX void cp_reduce_async_bulk(space_cluster_t, space_shared_t, op_##op##_t, type *dst,    \
                                       const type *src, uint32_t size, uint64_t *bar) {            \
    asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta"                                \
                 ".mbarrier::complete_tx::bytes." suffix " [%0], [%1], %2, [%3];" ::"r"(           \
                     kcheck_shared(dst)),                                                          \
                 "r"(kcheck_shared(src)), "r"(size), "r"(kcheck_shared(bar))                       \
                 : "memory");                                                                      \
  }
#define KCHECK_BOTH_REDUCE(op, type, suffix)                                                       \
  KCHECK_BULK_REDUCE(op, type, suffix) KCHECK_CLUSTER_REDUCE(op, type, suffix)
KCHECK_BOTH_REDUCE(add, uint32_t, "add.u32") KCHECK_BOTH_REDUCE(add, int32_t, "add.s32")
KCHECK_BOTH_REDUCE(add, uint64_t, "add.u64") KCHECK_BOTH_REDUCE(min, uint32_t, "min.u32")
KCHECK_BOTH_REDUCE(min, int32_t, "min.s32") KCHECK_BOTH_REDUCE(max, uint32_t, "max.u32")
KCHECK_BOTH_REDUCE(max, int32_t, "max.s32") KCHECK_BOTH_REDUCE(inc, uint32_t, "inc.u32")
KCHECK_BOTH_REDUCE(dec, uint32_t, "dec.u32") KCHECK_BOTH_REDUCE(and_op, uint32_t, "and.b32")
KCHECK_BOTH_REDUCE(or_op, uint32_t, "or.b32") KCHECK_BOTH_REDUCE(xor_op, uint32_t, "xor.b32")
KCHECK_BULK_REDUCE(add, float, "add.f32") KCHECK_BULK_REDUCE(add, double, "add.f64")
KCHECK_BULK_REDUCE(add, int64_t, "add.s64") KCHECK_BULK_REDUCE(min, uint64_t, "min.u64")
KCHECK_BULK_REDUCE(max, uint64_t, "max.u64")
#undef KCHECK_BOTH_REDUCE
#undef KCHECK_CLUSTER_REDUCE
// the 16-bit types
#define KCHECK_HALF_REDUCE(op, tag, type, suffix)                                                  \
  template <typename T, typename = ::std::enable_if_t<::std::is_same_v<T, type>>>                      \
  KCHECK_PTX void cp_reduce_async_bulk(space_global_t, space_shared_t, op_##op##_t, T *dst,        \
                                       const T *src, uint32_t size, tag = tag()) {                 \
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." suffix                      \
                 " [%0], [%1], %2;" ::"l"(dst),                                                    \
                 "r"(kcheck_shared(src)), "r"(size)                                                \
                 : "memory");                                                                      \
  }
struct kcheck_f16 {};
struct kcheck_bf16 {};
KCHECK_HALF_REDUCE(add, kcheck_f16, ::__half, "add.noftz.f16")
KCHECK_HALF_REDUCE(min, kcheck_f16, ::__half, "min.f16")
KCHECK_HALF_REDUCE(max, kcheck_f16, ::__half, "max.f16")
KCHECK_HALF_REDUCE(add, kcheck_bf16, ::__nv_bfloat16, "add.noftz.bf16")
KCHECK_HALF_REDUCE(min, kcheck_bf16, ::__nv_bfloat16, "min.bf16")
KCHECK_HALF_REDUCE(max, kcheck_bf16, ::__nv_bfloat16, "max.bf16")
#undef KCHECK_HALF_REDUCE
#undef KCHECK_BULK_REDUCE

// PTX ISA 9.7.9.12: st.async, red.async
template <typename T> KCHECK_PTX void st_async(T *addr, const T &value, uint64_t *bar) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 "
                 "[%0], %1, [%2];" ::"r"(kcheck_shared(addr)),
                 "r"(*reinterpret_cast<const uint32_t *>(&value)), "r"(kcheck_shared(bar))
                 : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 "
                 "[%0], %1, [%2];" ::"r"(kcheck_shared(addr)),
                 "l"(*reinterpret_cast<const uint64_t *>(&value)), "r"(kcheck_shared(bar))
                 : "memory");
}
template <typename T> KCHECK_PTX void st_async(T *addr, const T (&value)[2], uint64_t *bar) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "4 or 8 bytes");
  if constexpr (sizeof(T) == 4)
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 "
                 "[%0], {%1, %2}, [%3];" ::"r"(kcheck_shared(addr)),
                 "r"(*reinterpret_cast<const uint32_t *>(&value[0])),
                 "r"(*reinterpret_cast<const uint32_t *>(&value[1])), "r"(kcheck_shared(bar))
                 : "memory");
  else
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
                 "[%0], {%1, %2}, [%3];" ::"r"(kcheck_shared(addr)),
                 "l"(*reinterpret_cast<const uint64_t *>(&value[0])),
                 "l"(*reinterpret_cast<const uint64_t *>(&value[1])), "r"(kcheck_shared(bar))
                 : "memory");
}
template <typename T> KCHECK_PTX void st_async(T *addr, const T (&value)[4], uint64_t *bar) {
  static_assert(sizeof(T) == 4, "4 bytes");
  asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 "
               "[%0], {%1, %2, %3, %4}, [%5];" ::"r"(kcheck_shared(addr)),
               "r"(*reinterpret_cast<const uint32_t *>(&value[0])),
               "r"(*reinterpret_cast<const uint32_t *>(&value[1])),
               "r"(*reinterpret_cast<const uint32_t *>(&value[2])),
               "r"(*reinterpret_cast<const uint32_t *>(&value[3])), "r"(kcheck_shared(bar))
               : "memory");
}
template <int n> KCHECK_PTX void st_bulk(void *addr, uint64_t size, n32_t<n>) {
  asm volatile("st.bulk.weak.shared::cta [%0], %1, %2;" ::"r"(kcheck_shared(addr)), "l"(size),
               "n"(n)
               : "memory");
}
#define KCHECK_RED_ASYNC(op, type, suffix, constraint)                                             \
  template <typename = void>                                                                       \
  KCHECK_PTX void red_async(op_##op##_t, type *dst, const type &value, uint64_t *bar) {            \
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." suffix  \
                 " [%0], %1, [%2];" ::"r"(kcheck_shared(dst)),                                     \
                 constraint(value), "r"(kcheck_shared(bar))                                        \
                 : "memory");                                                                      \
  }
KCHECK_RED_ASYNC(inc, uint32_t, "inc.u32", "r") KCHECK_RED_ASYNC(dec, uint32_t, "dec.u32", "r")
KCHECK_RED_ASYNC(min, uint32_t, "min.u32", "r") KCHECK_RED_ASYNC(max, uint32_t, "max.u32", "r")
KCHECK_RED_ASYNC(add, uint32_t, "add.u32", "r") KCHECK_RED_ASYNC(min, int32_t, "min.s32", "r")
KCHECK_RED_ASYNC(max, int32_t, "max.s32", "r") KCHECK_RED_ASYNC(add, int32_t, "add.s32", "r")
KCHECK_RED_ASYNC(and_op, uint32_t, "and.b32", "r") KCHECK_RED_ASYNC(or_op, uint32_t, "or.b32", "r")
KCHECK_RED_ASYNC(xor_op, uint32_t, "xor.b32", "r") KCHECK_RED_ASYNC(add, uint64_t, "add.u64", "l")
#undef KCHECK_RED_ASYNC

// PTX ISA 9.7.9.27: tensormap.replace, tensormap.cp_fenceproxy
#define KCHECK_TENSORMAP(function, field, type, constraint, value_type)                            \
  template <typename T> KCHECK_PTX void function(space_global_t, void *map, T value) {             \
    asm volatile("tensormap.replace.tile." field ".global.b1024." value_type " [%0], %1;" ::"l"(   \
                     map),                                                                         \
                 constraint((type)value)                                                           \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename T> KCHECK_PTX void function(space_shared_t, void *map, T value) {             \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." value_type                  \
                 " [%0], %1;" ::"r"(kcheck_shared(map)),                                           \
                 constraint((type)value)                                                           \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_global_address, "global_address", uint64_t, "l", "b64")
KCHECK_TENSORMAP(tensormap_replace_rank, "rank", uint32_t, "r", "b32")
#undef KCHECK_TENSORMAP
#define KCHECK_TENSORMAP(function, field)                                                          \
  template <int n> KCHECK_PTX void function(space_global_t, void *map, n32_t<n>) {                 \
    asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], %1;" ::"l"(map), "n"(n)  \
                 : "memory");                                                                      \
  }                                                                                                \
  template <int n> KCHECK_PTX void function(space_shared_t, void *map, n32_t<n>) {                 \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], %1;" ::"r"(         \
                     kcheck_shared(map)),                                                          \
                 "n"(n)                                                                            \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_elemtype, "elemtype")
KCHECK_TENSORMAP(tensormap_replace_interleave_layout, "interleave_layout")
KCHECK_TENSORMAP(tensormap_replace_swizzle_mode, "swizzle_mode")
KCHECK_TENSORMAP(tensormap_replace_fill_mode, "fill_mode")
#undef KCHECK_TENSORMAP
#define KCHECK_TENSORMAP(function, field, type, constraint, value_type)                            \
  template <int n, typename T>                                                                     \
  KCHECK_PTX void function(space_global_t, void *map, n32_t<n>, T value) {                         \
    asm volatile("tensormap.replace.tile." field ".global.b1024." value_type                       \
                 " [%0], %1, %2;" ::"l"(map),                                                      \
                 "n"(n), constraint((type)value)                                                   \
                 : "memory");                                                                      \
  }                                                                                                \
  template <int n, typename T>                                                                     \
  KCHECK_PTX void function(space_shared_t, void *map, n32_t<n>, T value) {                         \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." value_type                  \
                 " [%0], %1, %2;" ::"r"(kcheck_shared(map)),                                       \
                 "n"(n), constraint((type)value)                                                   \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_box_dim, "box_dim", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_global_dim, "global_dim", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_global_stride, "global_stride", uint64_t, "l", "b64")
KCHECK_TENSORMAP(tensormap_replace_element_size, "element_stride", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_element_stride, "element_stride", uint32_t, "r", "b32")
#undef KCHECK_TENSORMAP
template <int n, dot_scope s>
KCHECK_PTX void tensormap_cp_fenceproxy(sem_release_t, scope_t<s>, void *dst, const void *src,
                                        n32_t<n>) {
  KCHECK_ANY_SCOPE(s, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release",
                   ".sync.aligned [%0], [%1], %2;",
                   ::"l"(dst), "r"(kcheck_shared(src)), "n"(n) : "memory");
}
} // namespace ptx
} // namespace cuda
