#pragma once
#include <kcheck/tiny_floats.h>
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;
typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
KCHECK_TINY(__nv_fp6_e2m3, __nv_fp6_storage_t)
KCHECK_TINY(__nv_fp6_e3m2, __nv_fp6_storage_t)
KCHECK_TINY2(__nv_fp6x2_e2m3, __nv_fp6x2_storage_t)
KCHECK_TINY2(__nv_fp6x2_e3m2, __nv_fp6x2_storage_t)
KCHECK_TINY4(__nv_fp6x4_e2m3, __nv_fp6x4_storage_t)
KCHECK_TINY4(__nv_fp6x4_e3m2, __nv_fp6x4_storage_t)
