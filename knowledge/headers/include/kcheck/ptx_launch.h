// cuda::ptx: cluster launch control (PTX ISA 9.7.13.16).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
} // namespace ptx
} // namespace cuda
