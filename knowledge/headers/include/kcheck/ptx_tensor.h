// cuda::ptx: tensor copies, one to five dimensions (PTX ISA 9.7.9.25.5).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
} // namespace ptx
} // namespace cuda
