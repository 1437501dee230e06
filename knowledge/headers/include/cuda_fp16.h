#pragma once
#include <kcheck/small_floats.h>
#include <kcheck/vector_float.h>
KCHECK_SMALL_FLOAT(__half, __half2, __half_raw, __half2_raw)
KCHECK_NAMED(__half, __half2)
typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;
KCHECK_HD __half __float2half(float value);
KCHECK_HD __half __float2half_rn(float value);
KCHECK_HD __half __float2half_rz(float value);
KCHECK_HD __half __float2half_ru(float value);
KCHECK_HD __half __float2half_rd(float value);
KCHECK_HD __half __double2half(double value);
KCHECK_HD float __half2float(__half value);
KCHECK_HD __half2 __float2half2_rn(float value);
KCHECK_HD __half2 __floats2half2_rn(float a, float b);
KCHECK_HD __half2 __float22half2_rn(float2 value);
KCHECK_HD float2 __half22float2(__half2 value);
KCHECK_HD float __low2float(__half2 value);
KCHECK_HD float __high2float(__half2 value);
KCHECK_HD inline __half __low2half(__half2 value) { return value.x; }
KCHECK_HD inline __half __high2half(__half2 value) { return value.y; }
KCHECK_HD inline __half2 __half2half2(__half value) { return __half2(value, value); }
KCHECK_HD inline __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
KCHECK_HD inline __half2 make_half2(__half a, __half b) { return __half2(a, b); }
KCHECK_HD inline __half2 __lows2half2(__half2 a, __half2 b) { return __half2(a.x, b.x); }
KCHECK_HD inline __half2 __highs2half2(__half2 a, __half2 b) { return __half2(a.y, b.y); }
KCHECK_HD inline __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
KCHECK_HD inline __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
KCHECK_HD inline __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
KCHECK_HD inline short __half_as_short(__half value) { return (short)value.__x; }
KCHECK_HD inline unsigned short __half_as_ushort(__half value) { return value.__x; }
KCHECK_HD inline __half __ushort_as_half(unsigned short value) { return __half(__half_raw{value}); }
KCHECK_HD inline __half __short_as_half(short value) {
  return __half(__half_raw{(unsigned short)value});
}
KCHECK_HD int __half2int_rn(__half value);
KCHECK_HD int __half2int_rz(__half value);
KCHECK_HD unsigned __half2uint_rn(__half value);
KCHECK_HD short __half2short_rn(__half value);
KCHECK_HD signed char __half2char_rz(__half value);
KCHECK_HD __half __int2half_rn(int value);
KCHECK_HD __half __uint2half_rn(unsigned value);
KCHECK_HD __half __short2half_rn(short value);
KCHECK_HD __half __ushort2half_rn(unsigned short value);
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)
