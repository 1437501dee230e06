// The 8, 6 and 4-bit types: one, a pair, four; conversions have no bodies.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <kcheck/round_mode.h>
#include <kcheck/vector_float.h>
#include <kcheck/vector_others.h>
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
#define KCHECK_TINY(name, bits1)                                                                  \
  struct __attribute__((aligned(sizeof(bits1)))) name {                                            \
    bits1 __x;                                                                                     \
    name() = default;                                                                              \
    KCHECK_HD explicit name(float value);                                                          \
    KCHECK_HD explicit name(double value);                                                         \
    KCHECK_HD explicit name(int value);                                                            \
    KCHECK_HD explicit name(unsigned value);                                                       \
    KCHECK_HD explicit name(const __half &value);                                                  \
    KCHECK_HD explicit name(const __nv_bfloat16 &value);                                           \
    KCHECK_HD explicit operator float() const;                                                     \
    KCHECK_HD explicit operator double() const;                                                    \
    KCHECK_HD explicit operator __half() const;                                                    \
    KCHECK_HD explicit operator __nv_bfloat16() const;                                             \
    KCHECK_HD explicit operator int() const;                                                       \
    KCHECK_HD explicit operator bool() const;                                                      \
  };
#define KCHECK_TINY2(name, bits)                                                                   \
  struct __attribute__((aligned(sizeof(bits)))) name {                                             \
    bits __x;                                                                                      \
    name() = default;                                                                              \
    KCHECK_HD explicit name(float2 value);                                                         \
    KCHECK_HD explicit name(double2 value);                                                        \
    KCHECK_HD explicit name(__half2 value);                                                        \
    KCHECK_HD explicit name(__nv_bfloat162 value);                                                 \
    KCHECK_HD explicit operator float2() const;                                                    \
    KCHECK_HD explicit operator __half2() const;                                                   \
    KCHECK_HD explicit operator __nv_bfloat162() const;                                            \
  };
#define KCHECK_TINY4(name, bits)                                                                   \
  struct __attribute__((aligned(sizeof(bits)))) name {                                             \
    bits __x;                                                                                      \
    name() = default;                                                                              \
    KCHECK_HD explicit name(float4 value);                                                         \
    KCHECK_HD explicit name(__half2 low, __half2 high);                                            \
    KCHECK_HD explicit name(__nv_bfloat162 low, __nv_bfloat162 high);                              \
    KCHECK_HD explicit operator float4() const;                                                    \
  };
typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
