// cuda::ptx: tcgen05.mma (PTX ISA 9.7.16.10).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
#ifdef KCHECK_WANTS_PTX_MMA
KCHECK_COLLECTORS(KCHECK_MMA, tcgen05_mma, uint64_t, "l", "%1")
KCHECK_COLLECTORS(KCHECK_MMA, tcgen05_mma_tmem_a, uint32_t, "r", "[%1]")
#endif
#ifdef KCHECK_WANTS_PTX_MMA_SCALED
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
#endif
#ifdef KCHECK_WANTS_PTX_MMA_WS
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
#endif
#undef KCHECK_COLLECTORS
#undef KCHECK_SCALED
#undef KCHECK_MMA
#undef KCHECK_BLOCK_KINDS
#undef KCHECK_KINDS
#undef KCHECK_ENABLE
} // namespace ptx
} // namespace cuda
