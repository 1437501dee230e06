// cuda::ptx: st.async, red.async, st.bulk (PTX ISA 9.7.9.12).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
} // namespace ptx
} // namespace cuda
