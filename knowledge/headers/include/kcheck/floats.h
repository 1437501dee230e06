// Conversions and arithmetic of the device in a given rounding.
#pragma once
#include "vector_float.h"

// conversions, in the four roundings
#define KCHECK_CONVERT(from, to, name)                                                             \
  KCHECK_D to name##_rn(from x);                                                                   \
  KCHECK_D to name##_rz(from x);                                                                   \
  KCHECK_D to name##_ru(from x);                                                                   \
  KCHECK_D to name##_rd(from x);
KCHECK_CONVERT(float, int, __float2int)
KCHECK_CONVERT(float, unsigned, __float2uint)
KCHECK_CONVERT(float, long long, __float2ll) KCHECK_CONVERT(float, unsigned long long, __float2ull)
    KCHECK_CONVERT(int, float, __int2float) KCHECK_CONVERT(unsigned, float, __uint2float)
        KCHECK_CONVERT(long long, float, __ll2float) KCHECK_CONVERT(unsigned long long, float,
                                                                    __ull2float)
            KCHECK_CONVERT(double, float, __double2float) KCHECK_CONVERT(double, int, __double2int)
                KCHECK_CONVERT(double, unsigned, __double2uint)
                    KCHECK_CONVERT(double, long long, __double2ll)
                        KCHECK_CONVERT(double, unsigned long long, __double2ull)
                            KCHECK_CONVERT(int, double, __int2double)
                                KCHECK_CONVERT(long long, double, __ll2double)
#undef KCHECK_CONVERT

// arithmetic in a given rounding, fast versions
#define KCHECK_ROUNDED(name, type)                                                                 \
  KCHECK_D type name##_rn(type x, type y);                                                         \
  KCHECK_D type name##_rz(type x, type y);                                                         \
  KCHECK_D type name##_ru(type x, type y);                                                         \
  KCHECK_D type name##_rd(type x, type y);
                                    KCHECK_ROUNDED(__fadd, float) KCHECK_ROUNDED(__fsub, float)
                                        KCHECK_ROUNDED(__fmul, float) KCHECK_ROUNDED(__fdiv, float)
                                            KCHECK_ROUNDED(__dadd, double)
                                                KCHECK_ROUNDED(__dmul, double)
#undef KCHECK_ROUNDED
#define KCHECK_ROUNDED1(name, type)                                                                \
  KCHECK_D type name##_rn(type x);                                                                 \
  KCHECK_D type name##_rz(type x);                                                                 \
  KCHECK_D type name##_ru(type x);                                                                 \
  KCHECK_D type name##_rd(type x);
                                                    KCHECK_ROUNDED1(__frcp, float)
                                                        KCHECK_ROUNDED1(__fsqrt, float)
                                                            KCHECK_ROUNDED1(__frsqrt, float)
#undef KCHECK_ROUNDED1
                                                                KCHECK_D
    float __fmaf_rn(float x, float y, float z);
KCHECK_D float __fmaf_rz(float x, float y, float z);
KCHECK_D float __fmaf_ru(float x, float y, float z);
KCHECK_D float __fmaf_rd(float x, float y, float z);
KCHECK_D double __fma_rn(double x, double y, double z);
KCHECK_D float __fdividef(float x, float y);
KCHECK_D float __expf(float x);
KCHECK_D float __exp10f(float x);
KCHECK_D float __logf(float x);
KCHECK_D float __log2f(float x);
KCHECK_D float __log10f(float x);
KCHECK_D float __powf(float x, float y);
KCHECK_D float __sinf(float x);
KCHECK_D float __cosf(float x);
KCHECK_D float __tanf(float x);
KCHECK_D float __tanhf(float x);
KCHECK_D float __saturatef(float x);
KCHECK_D void __sincosf(float x, float *sine, float *cosine);
KCHECK_D float2 __fadd2_rn(float2 x, float2 y);
KCHECK_D float2 __fmul2_rn(float2 x, float2 y);
KCHECK_D float2 __ffma2_rn(float2 x, float2 y, float2 z);
