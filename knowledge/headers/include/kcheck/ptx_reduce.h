// cuda::ptx: bulk reductions (PTX ISA 9.7.9.25.4.2).
#pragma once
#include "ptx_types.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cuda {
namespace ptx {
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
} // namespace ptx
} // namespace cuda
