#pragma once
#include <kcheck/tiny_floats.h>
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;
typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short __nv_fp4x4_storage_t;
KCHECK_TINY(__nv_fp4_e2m1, __nv_fp4_storage_t)
KCHECK_TINY2(__nv_fp4x2_e2m1, __nv_fp4x2_storage_t)
KCHECK_TINY4(__nv_fp4x4_e2m1, __nv_fp4x4_storage_t)
KCHECK_HD __nv_fp4_storage_t __nv_cvt_float_to_fp4(float value, __nv_fp4_interpretation_t kind,
                                                   enum cudaRoundMode rounding);
KCHECK_HD __nv_fp4x2_storage_t __nv_cvt_float2_to_fp4x2(float2 value,
                                                        __nv_fp4_interpretation_t kind,
                                                        enum cudaRoundMode rounding);
