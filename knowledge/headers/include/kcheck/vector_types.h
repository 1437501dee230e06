// Vector types of CUDA C++ with their sizes and alignments, and the make_ functions.
#pragma once
#include "base.h"

#define KCHECK_VECTOR(name, scalar, a1, a2, a3, a4)                                                \
  struct __attribute__((aligned(a1))) name##1 {                                                    \
    scalar x;                                                                                      \
  };                                                                                               \
  struct __attribute__((aligned(a2))) name##2 {                                                    \
    scalar x, y;                                                                                   \
  };                                                                                               \
  struct __attribute__((aligned(a3))) name##3 {                                                    \
    scalar x, y, z;                                                                                \
  };                                                                                               \
  struct __attribute__((aligned(a4))) name##4 {                                                    \
    scalar x, y, z, w;                                                                             \
  };                                                                                               \
  KCHECK_HD inline constexpr name##1 make_##name##1(scalar x) {                                    \
    return name##1{x};                                                                             \
  }                                                                                                \
  KCHECK_HD inline constexpr name##2 make_##name##2(scalar x, scalar y) {                          \
    return name##2{x, y};                                                                          \
  }                                                                                                \
  KCHECK_HD inline constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) {                \
    return name##3{x, y, z};                                                                       \
  }                                                                                                \
  KCHECK_HD inline constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {      \
    return name##4{x, y, z, w};                                                                    \
  }

KCHECK_VECTOR(char, signed char, 1, 2, 1, 4)
KCHECK_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
KCHECK_VECTOR(short, short, 2, 4, 2, 8)
KCHECK_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
KCHECK_VECTOR(int, int, 4, 8, 4, 16)
KCHECK_VECTOR(uint, unsigned int, 4, 8, 4, 16)
KCHECK_VECTOR(long, long, 8, 16, 8, 16)
KCHECK_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
KCHECK_VECTOR(longlong, long long, 8, 16, 8, 16)
KCHECK_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
KCHECK_VECTOR(float, float, 4, 8, 4, 16)
KCHECK_VECTOR(double, double, 8, 16, 8, 16)
#undef KCHECK_VECTOR

#define KCHECK_WIDE(name, scalar, bytes)                                                           \
  struct __attribute__((aligned(bytes))) name##_##bytes##a {                                       \
    scalar x, y, z, w;                                                                             \
  };
KCHECK_WIDE(double4, double, 16)
KCHECK_WIDE(double4, double, 32)
KCHECK_WIDE(long4, long, 16)
KCHECK_WIDE(long4, long, 32)
KCHECK_WIDE(ulong4, unsigned long, 16)
KCHECK_WIDE(ulong4, unsigned long, 32)
KCHECK_WIDE(longlong4, long long, 16)
KCHECK_WIDE(longlong4, long long, 32)
KCHECK_WIDE(ulonglong4, unsigned long long, 16)
KCHECK_WIDE(ulonglong4, unsigned long long, 32)
#undef KCHECK_WIDE

struct dim3 {
  unsigned int x, y, z;
  KCHECK_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  KCHECK_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  KCHECK_HD constexpr operator uint3() const { return uint3{x, y, z}; }
};
