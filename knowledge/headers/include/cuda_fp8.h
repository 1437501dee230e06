#pragma once
#include <kcheck/tiny_floats.h>
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;
KCHECK_TINY(__nv_fp8_e4m3, __nv_fp8_storage_t)
KCHECK_TINY(__nv_fp8_e5m2, __nv_fp8_storage_t)
KCHECK_TINY(__nv_fp8_e8m0, __nv_fp8_storage_t)
KCHECK_TINY2(__nv_fp8x2_e4m3, __nv_fp8x2_storage_t)
KCHECK_TINY2(__nv_fp8x2_e5m2, __nv_fp8x2_storage_t)
KCHECK_TINY2(__nv_fp8x2_e8m0, __nv_fp8x2_storage_t)
KCHECK_TINY4(__nv_fp8x4_e4m3, __nv_fp8x4_storage_t)
KCHECK_TINY4(__nv_fp8x4_e5m2, __nv_fp8x4_storage_t)
KCHECK_TINY4(__nv_fp8x4_e8m0, __nv_fp8x4_storage_t)
KCHECK_HD __nv_fp8_storage_t __nv_cvt_float_to_fp8(float value, __nv_saturation_t saturate,
                                                   __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2 value, __nv_saturation_t saturate,
                                                        __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8_storage_t __nv_cvt_double_to_fp8(double value, __nv_saturation_t saturate,
                                                    __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw value, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw value,
                                                          __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw value,
                                                         __nv_saturation_t saturate,
                                                         __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(__nv_bfloat162_raw value,
                                                              __nv_saturation_t saturate,
                                                              __nv_fp8_interpretation_t kind);
KCHECK_HD __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t value,
                                             __nv_fp8_interpretation_t kind);
KCHECK_HD __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t value,
                                                 __nv_fp8_interpretation_t kind);
KCHECK_HD __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float value, __nv_saturation_t saturate,
                                                    enum cudaRoundMode rounding);
KCHECK_HD __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t value);
