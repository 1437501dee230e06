// cuda::ptx: tcgen05 (PTX ISA 9.7.16).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
// allocation, fences, waits, commits, copies
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

// multiplications: one asm statement for each kind and group
#define KCHECK_KINDS(g, kind, before, after, ...)                                                  \
  if constexpr (kind == dot_kind::f16) {                                                           \
    KCHECK_CTA_GROUP(g, before, ".kind::f16" after, __VA_ARGS__);                                  \
  } else if constexpr (kind == dot_kind::tf32) {                                                   \
    KCHECK_CTA_GROUP(g, before, ".kind::tf32" after, __VA_ARGS__);                                 \
  } else if constexpr (kind == dot_kind::f8f6f4) {                                                 \
    KCHECK_CTA_GROUP(g, before, ".kind::f8f6f4" after, __VA_ARGS__);                               \
  } else {                                                                                         \
    KCHECK_CTA_GROUP(g, before, ".kind::i8" after, __VA_ARGS__);                                   \
  }
#define KCHECK_BLOCK_KINDS(g, kind, before, after, ...)                                            \
  if constexpr (kind == dot_kind::mxf8f6f4) {                                                      \
    KCHECK_CTA_GROUP(g, before, ".kind::mxf8f6f4" after, __VA_ARGS__);                             \
  } else if constexpr (kind == dot_kind::mxf4) {                                                   \
    KCHECK_CTA_GROUP(g, before, ".kind::mxf4" after, __VA_ARGS__);                                 \
  } else {                                                                                         \
    KCHECK_CTA_GROUP(g, before, ".kind::mxf4nvf4" after, __VA_ARGS__);                             \
  }
#define KCHECK_ENABLE "{ .reg .pred ENABLE; setp.ne.b32 ENABLE, "
// `a`: "%1" for a descriptor, "[%1]" for tensor memory
#define KCHECK_MMA(name, a_type, constraint, a, collector)                                         \
  template <dot_kind k, dot_cta_group g>                                                           \
  KCHECK_PTX void name(kind_t<k>, cta_group_t<g>, uint32_t d, a_type a_operand, uint64_t b,        \
                       uint32_t idesc, bool enable) {                                              \
    KCHECK_KINDS(g, k, KCHECK_ENABLE "%4, 0; tcgen05.mma",                                         \
                 collector " [%0], " a ", %2, %3, ENABLE; }",                                      \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc),                              \
                 "r"(static_cast<uint32_t>(enable)) : "memory")                                    \
  }                                                                                                \
  template <int n, dot_kind k, dot_cta_group g>                                                    \
  KCHECK_PTX void name(kind_t<k>, cta_group_t<g>, uint32_t d, a_type a_operand, uint64_t b,        \
                       uint32_t idesc, bool enable, n32_t<n>) {                                    \
    KCHECK_KINDS(g, k, KCHECK_ENABLE "%4, 0; tcgen05.mma",                                         \
                 collector " [%0], " a ", %2, %3, ENABLE, %5; }",                                  \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc),                              \
                 "r"(static_cast<uint32_t>(enable)), "n"(n) : "memory")                            \
  }                                                                                                \
  template <dot_kind k>                                                                            \
  KCHECK_PTX void name(kind_t<k>, cta_group_1_t, uint32_t d, a_type a_operand, uint64_t b,         \
                       uint32_t idesc, const uint32_t(&off)[4], bool enable) {                     \
    KCHECK_KINDS(dot_cta_group::cta_group_1, k, KCHECK_ENABLE "%8, 0; tcgen05.mma",                \
                 collector " [%0], " a ", %2, %3, {%4, %5, %6, %7}, ENABLE; }",                    \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc), "r"(off[0]), "r"(off[1]),    \
                 "r"(off[2]), "r"(off[3]), "r"(static_cast<uint32_t>(enable)) : "memory")          \
  }                                                                                                \
  template <dot_kind k>                                                                            \
  KCHECK_PTX void name(kind_t<k>, cta_group_2_t, uint32_t d, a_type a_operand, uint64_t b,         \
                       uint32_t idesc, const uint32_t(&off)[8], bool enable) {                     \
    KCHECK_KINDS(dot_cta_group::cta_group_2, k, KCHECK_ENABLE "%12, 0; tcgen05.mma",               \
                 collector                                                                         \
                 " [%0], " a ", %2, %3, {%4, %5, %6, %7, %8, %9, %10, %11}, ENABLE; }",            \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc), "r"(off[0]), "r"(off[1]),    \
                 "r"(off[2]), "r"(off[3]), "r"(off[4]), "r"(off[5]), "r"(off[6]), "r"(off[7]),     \
                 "r"(static_cast<uint32_t>(enable)) : "memory")                                    \
  }
#define KCHECK_SCALED(name, a_type, constraint, a, scale, collector)                               \
  template <dot_kind k, dot_cta_group g>                                                           \
  KCHECK_PTX void name(kind_t<k>, cta_group_t<g>, uint32_t d, a_type a_operand, uint64_t b,        \
                       uint32_t idesc, uint32_t scale_a, uint32_t scale_b, bool enable) {          \
    KCHECK_BLOCK_KINDS(g, k, KCHECK_ENABLE "%6, 0; tcgen05.mma",                                   \
                       ".block_scale" scale collector                                              \
                       " [%0], " a ", %2, %3, [%4], [%5], ENABLE; }",                              \
                       ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc), "r"(scale_a),          \
                       "r"(scale_b), "r"(static_cast<uint32_t>(enable)) : "memory")                \
  }
#define KCHECK_COLLECTORS(macro, name, a_type, constraint, a, ...)                                 \
  macro(name, a_type, constraint, a, ##__VA_ARGS__, "")                                            \
  macro(name##_collector_a_fill, a_type, constraint, a, ##__VA_ARGS__, ".collector::a::fill")      \
  macro(name##_collector_a_use, a_type, constraint, a, ##__VA_ARGS__, ".collector::a::use")        \
  macro(name##_collector_a_lastuse, a_type, constraint, a, ##__VA_ARGS__,                          \
        ".collector::a::lastuse")                                                                  \
  macro(name##_collector_a_discard, a_type, constraint, a, ##__VA_ARGS__,                          \
        ".collector::a::discard")
KCHECK_COLLECTORS(KCHECK_MMA, tcgen05_mma, uint64_t, "l", "%1")
KCHECK_COLLECTORS(KCHECK_MMA, tcgen05_mma_tmem_a, uint32_t, "r", "[%1]")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale, uint64_t, "l", "%1", "")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_tmem_a, uint32_t, "r", "[%1]", "")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_1x, uint64_t, "l", "%1",
                  ".scale_vec::1X")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_2x, uint64_t, "l", "%1",
                  ".scale_vec::2X")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_4x, uint64_t, "l", "%1",
                  ".scale_vec::4X")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_1x_tmem_a, uint32_t, "r", "[%1]",
                  ".scale_vec::1X")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_2x_tmem_a, uint32_t, "r", "[%1]",
                  ".scale_vec::2X")
KCHECK_COLLECTORS(KCHECK_SCALED, tcgen05_mma_block_scale_vec_4x_tmem_a, uint32_t, "r", "[%1]",
                  ".scale_vec::4X")
#define KCHECK_WS(name, a_type, constraint, a, collector)                                          \
  template <dot_kind k>                                                                            \
  KCHECK_PTX void name(cta_group_1_t, kind_t<k>, uint32_t d, a_type a_operand, uint64_t b,         \
                       uint32_t idesc, bool enable) {                                              \
    KCHECK_KINDS(dot_cta_group::cta_group_1, k, KCHECK_ENABLE "%4, 0; tcgen05.mma.ws",             \
                 collector " [%0], " a ", %2, %3, ENABLE; }",                                      \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc),                              \
                 "r"(static_cast<uint32_t>(enable)) : "memory")                                    \
  }                                                                                                \
  template <dot_kind k>                                                                            \
  KCHECK_PTX void name(cta_group_1_t, kind_t<k>, uint32_t d, a_type a_operand, uint64_t b,         \
                       uint32_t idesc, bool enable, uint64_t zero_columns) {                       \
    KCHECK_KINDS(dot_cta_group::cta_group_1, k, KCHECK_ENABLE "%4, 0; tcgen05.mma.ws",             \
                 collector " [%0], " a ", %2, %3, ENABLE, %5; }",                                  \
                 ::"r"(d), constraint(a_operand), "l"(b), "r"(idesc),                              \
                 "r"(static_cast<uint32_t>(enable)), "l"(zero_columns) : "memory")                 \
  }
#define KCHECK_WS_BUFFER(buffer, action)                                                           \
  KCHECK_WS(tcgen05_mma_ws_collector_##buffer##_##action, uint64_t, "l", "%1",                     \
            ".collector::" #buffer "::" #action)                                                   \
  KCHECK_WS(tcgen05_mma_ws_tmem_a_collector_##buffer##_##action, uint32_t, "r", "[%1]",            \
            ".collector::" #buffer "::" #action)
#define KCHECK_WS_ACTIONS(buffer)                                                                  \
  KCHECK_WS_BUFFER(buffer, fill) KCHECK_WS_BUFFER(buffer, use) KCHECK_WS_BUFFER(buffer, lastuse)   \
  KCHECK_WS_BUFFER(buffer, discard)
KCHECK_WS_ACTIONS(b0) KCHECK_WS_ACTIONS(b1) KCHECK_WS_ACTIONS(b2) KCHECK_WS_ACTIONS(b3)
#undef KCHECK_WS_ACTIONS
#undef KCHECK_WS_BUFFER
#undef KCHECK_WS
#undef KCHECK_COLLECTORS
#undef KCHECK_SCALED
#undef KCHECK_MMA
#undef KCHECK_BLOCK_KINDS
#undef KCHECK_KINDS

// loads and stores: lists of 1 to 128 registers, as text and as operands
#define KCHECK_TEXT_1 "%0"
#define KCHECK_TEXT_2 KCHECK_TEXT_1                                                                \
  ", %1"
#define KCHECK_TEXT_4 KCHECK_TEXT_2                                                                \
  ", %2, %3"
#define KCHECK_TEXT_8 KCHECK_TEXT_4                                                                \
  ", %4, %5, %6, %7"
#define KCHECK_TEXT_16 KCHECK_TEXT_8                                                               \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define KCHECK_TEXT_32 KCHECK_TEXT_16                                                              \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27"                                   \
  ", %28, %29, %30, %31"
#define KCHECK_TEXT_64 KCHECK_TEXT_32                                                              \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43"                                   \
  ", %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55"                                   \
  ", %56, %57, %58, %59, %60, %61, %62, %63"
#define KCHECK_TEXT_128 KCHECK_TEXT_64                                                             \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75"                                   \
  ", %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87"                                   \
  ", %88, %89, %90, %91, %92, %93, %94, %95, %96, %97, %98, %99"                                   \
  ", %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"                       \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123"                       \
  ", %124, %125, %126, %127"
#define KCHECK_OPERAND(c, v, i) c(*(uint32_t *)&v[i])
#define KCHECK_OPERANDS_1(c, v, i) KCHECK_OPERAND(c, v, i)
#define KCHECK_OPERANDS_2(c, v, i)                                                                \
  KCHECK_OPERANDS_1(c, v, i), KCHECK_OPERANDS_1(c, v, i + 1)
#define KCHECK_OPERANDS_4(c, v, i)                                                                \
  KCHECK_OPERANDS_2(c, v, i), KCHECK_OPERANDS_2(c, v, i + 2)
#define KCHECK_OPERANDS_8(c, v, i)                                                                \
  KCHECK_OPERANDS_4(c, v, i), KCHECK_OPERANDS_4(c, v, i + 4)
#define KCHECK_OPERANDS_16(c, v, i)                                                               \
  KCHECK_OPERANDS_8(c, v, i), KCHECK_OPERANDS_8(c, v, i + 8)
#define KCHECK_OPERANDS_32(c, v, i)                                                               \
  KCHECK_OPERANDS_16(c, v, i), KCHECK_OPERANDS_16(c, v, i + 16)
#define KCHECK_OPERANDS_64(c, v, i)                                                               \
  KCHECK_OPERANDS_32(c, v, i), KCHECK_OPERANDS_32(c, v, i + 32)
#define KCHECK_OPERANDS_128(c, v, i)                                                              \
  KCHECK_OPERANDS_64(c, v, i), KCHECK_OPERANDS_64(c, v, i + 64)
#define KCHECK_TMEM(shape, text, count, repeat)                                                    \
  template <typename B32>                                                                          \
  KCHECK_PTX void tcgen05_ld_##shape(B32(&out)[count], uint32_t taddr) {                           \
    static_assert(sizeof(B32) == 4, "registers have 4 bytes");                                     \
    asm volatile("tcgen05.ld.sync.aligned." text "." repeat ".b32 {" KCHECK_TEXT_##count           \
                 "}, [%[taddr]];"                                                                  \
                 : KCHECK_OPERANDS_##count("=r", out, 0)                                           \
                 : [taddr] "r"(taddr)                                                              \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename B32>                                                                          \
  KCHECK_PTX void tcgen05_ld_##shape##_pack_16b(B32(&out)[count], uint32_t taddr) {                \
    static_assert(sizeof(B32) == 4, "registers have 4 bytes");                                     \
    asm volatile("tcgen05.ld.sync.aligned." text "." repeat                                        \
                 ".pack::16b.b32 {" KCHECK_TEXT_##count "}, [%[taddr]];"                           \
                 : KCHECK_OPERANDS_##count("=r", out, 0)                                           \
                 : [taddr] "r"(taddr)                                                              \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename B32>                                                                          \
  KCHECK_PTX void tcgen05_st_##shape(uint32_t taddr, const B32(&values)[count]) {                  \
    static_assert(sizeof(B32) == 4, "registers have 4 bytes");                                     \
    asm volatile("tcgen05.st.sync.aligned." text "." repeat                                        \
                 ".b32 [%[taddr]], {" KCHECK_TEXT_##count "};" ::KCHECK_OPERANDS_##count(          \
                     "r", values, 0),                                                              \
                 [taddr] "r"(taddr)                                                                \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename B32>                                                                          \
  KCHECK_PTX void tcgen05_st_##shape##_unpack_16b(uint32_t taddr, const B32(&values)[count]) {     \
    static_assert(sizeof(B32) == 4, "registers have 4 bytes");                                     \
    asm volatile("tcgen05.st.sync.aligned." text "." repeat                                        \
                 ".unpack::16b.b32 [%[taddr]], {" KCHECK_TEXT_##count                              \
                 "};" ::KCHECK_OPERANDS_##count("r", values, 0),                                   \
                 [taddr] "r"(taddr)                                                                \
                 : "memory");                                                                      \
  }
KCHECK_TMEM(32x32b, "32x32b", 1, "x1")
KCHECK_TMEM(32x32b, "32x32b", 2, "x2")
KCHECK_TMEM(32x32b, "32x32b", 4, "x4")
KCHECK_TMEM(32x32b, "32x32b", 8, "x8")
KCHECK_TMEM(32x32b, "32x32b", 16, "x16")
KCHECK_TMEM(32x32b, "32x32b", 32, "x32")
KCHECK_TMEM(32x32b, "32x32b", 64, "x64")
KCHECK_TMEM(32x32b, "32x32b", 128, "x128")
KCHECK_TMEM(16x64b, "16x64b", 1, "x1")
KCHECK_TMEM(16x64b, "16x64b", 2, "x2")
KCHECK_TMEM(16x64b, "16x64b", 4, "x4")
KCHECK_TMEM(16x64b, "16x64b", 8, "x8")
KCHECK_TMEM(16x64b, "16x64b", 16, "x16")
KCHECK_TMEM(16x64b, "16x64b", 32, "x32")
KCHECK_TMEM(16x64b, "16x64b", 64, "x64")
KCHECK_TMEM(16x64b, "16x64b", 128, "x128")
KCHECK_TMEM(16x128b, "16x128b", 2, "x1")
KCHECK_TMEM(16x128b, "16x128b", 4, "x2")
KCHECK_TMEM(16x128b, "16x128b", 8, "x4")
KCHECK_TMEM(16x128b, "16x128b", 16, "x8")
KCHECK_TMEM(16x128b, "16x128b", 32, "x16")
KCHECK_TMEM(16x128b, "16x128b", 64, "x32")
KCHECK_TMEM(16x128b, "16x128b", 128, "x64")
KCHECK_TMEM(16x256b, "16x256b", 4, "x1")
KCHECK_TMEM(16x256b, "16x256b", 8, "x2")
KCHECK_TMEM(16x256b, "16x256b", 16, "x4")
KCHECK_TMEM(16x256b, "16x256b", 32, "x8")
KCHECK_TMEM(16x256b, "16x256b", 64, "x16")
KCHECK_TMEM(16x256b, "16x256b", 128, "x32")
#undef KCHECK_TMEM
#undef KCHECK_ENABLE
} // namespace ptx
} // namespace cuda
