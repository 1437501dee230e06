#pragma once
#include <kcheck/small_floats.h>
#include <kcheck/vector_float.h>
KCHECK_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, __nv_bfloat162_raw)
KCHECK_NAMED(__nv_bfloat16, __nv_bfloat162)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;
KCHECK_HD __nv_bfloat16 __float2bfloat16(float value);
KCHECK_HD __nv_bfloat16 __float2bfloat16_rn(float value);
KCHECK_HD __nv_bfloat16 __float2bfloat16_rz(float value);
KCHECK_HD __nv_bfloat16 __float2bfloat16_ru(float value);
KCHECK_HD __nv_bfloat16 __float2bfloat16_rd(float value);
KCHECK_HD __nv_bfloat16 __double2bfloat16(double value);
KCHECK_HD float __bfloat162float(__nv_bfloat16 value);
KCHECK_HD __nv_bfloat162 __float2bfloat162_rn(float value);
KCHECK_HD __nv_bfloat162 __floats2bfloat162_rn(float a, float b);
KCHECK_HD __nv_bfloat162 __float22bfloat162_rn(float2 value);
KCHECK_HD float2 __bfloat1622float2(__nv_bfloat162 value);
KCHECK_HD float __low2float(__nv_bfloat162 value);
KCHECK_HD float __high2float(__nv_bfloat162 value);
KCHECK_HD inline __nv_bfloat16 __low2bfloat16(__nv_bfloat162 value) { return value.x; }
KCHECK_HD inline __nv_bfloat16 __high2bfloat16(__nv_bfloat162 value) { return value.y; }
KCHECK_HD inline __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 value) {
  return __nv_bfloat162(value, value);
}
KCHECK_HD inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
KCHECK_HD inline __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
  return __nv_bfloat162(a, b);
}
KCHECK_HD inline __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(a.x, b.x);
}
KCHECK_HD inline __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
  return __nv_bfloat162(a.y, b.y);
}
KCHECK_HD inline short __bfloat16_as_short(__nv_bfloat16 value) { return (short)value.__x; }
KCHECK_HD inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 value) { return value.__x; }
KCHECK_HD inline __nv_bfloat16 __ushort_as_bfloat16(unsigned short value) {
  return __nv_bfloat16(__nv_bfloat16_raw{value});
}
KCHECK_HD int __bfloat162int_rn(__nv_bfloat16 value);
KCHECK_HD __nv_bfloat16 __int2bfloat16_rn(int value);
KCHECK_HD __nv_bfloat16 __uint2bfloat16_rn(unsigned value);
#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)
