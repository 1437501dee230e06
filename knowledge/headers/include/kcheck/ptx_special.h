// cuda::ptx: special registers (PTX ISA 10).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
} // namespace ptx
} // namespace cuda
