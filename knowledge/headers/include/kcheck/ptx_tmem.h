// cuda::ptx: tcgen05.ld and tcgen05.st (PTX ISA 9.7.16.8).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
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
#ifdef KCHECK_WANTS_PTX_TMEM_32X32B
KCHECK_TMEM(32x32b, "32x32b", 1, "x1")
KCHECK_TMEM(32x32b, "32x32b", 2, "x2")
KCHECK_TMEM(32x32b, "32x32b", 4, "x4")
KCHECK_TMEM(32x32b, "32x32b", 8, "x8")
KCHECK_TMEM(32x32b, "32x32b", 16, "x16")
KCHECK_TMEM(32x32b, "32x32b", 32, "x32")
KCHECK_TMEM(32x32b, "32x32b", 64, "x64")
KCHECK_TMEM(32x32b, "32x32b", 128, "x128")
#endif
#ifdef KCHECK_WANTS_PTX_TMEM_16X64B
KCHECK_TMEM(16x64b, "16x64b", 1, "x1")
KCHECK_TMEM(16x64b, "16x64b", 2, "x2")
KCHECK_TMEM(16x64b, "16x64b", 4, "x4")
KCHECK_TMEM(16x64b, "16x64b", 8, "x8")
KCHECK_TMEM(16x64b, "16x64b", 16, "x16")
KCHECK_TMEM(16x64b, "16x64b", 32, "x32")
KCHECK_TMEM(16x64b, "16x64b", 64, "x64")
KCHECK_TMEM(16x64b, "16x64b", 128, "x128")
#endif
#ifdef KCHECK_WANTS_PTX_TMEM_16X128B
KCHECK_TMEM(16x128b, "16x128b", 2, "x1")
KCHECK_TMEM(16x128b, "16x128b", 4, "x2")
KCHECK_TMEM(16x128b, "16x128b", 8, "x4")
KCHECK_TMEM(16x128b, "16x128b", 16, "x8")
KCHECK_TMEM(16x128b, "16x128b", 32, "x16")
KCHECK_TMEM(16x128b, "16x128b", 64, "x32")
KCHECK_TMEM(16x128b, "16x128b", 128, "x64")
#endif
#ifdef KCHECK_WANTS_PTX_TMEM_16X256B
KCHECK_TMEM(16x256b, "16x256b", 4, "x1")
KCHECK_TMEM(16x256b, "16x256b", 8, "x2")
KCHECK_TMEM(16x256b, "16x256b", 16, "x4")
KCHECK_TMEM(16x256b, "16x256b", 32, "x8")
KCHECK_TMEM(16x256b, "16x256b", 64, "x16")
KCHECK_TMEM(16x256b, "16x256b", 128, "x32")
#endif
#undef KCHECK_TMEM
} // namespace ptx
} // namespace cuda
