// Vector types with their sizes and alignments: all but those of int, unsigned and float.
#pragma once
#include "vector.h"

KCHECK_VECTOR(char, signed char, 1, 2, 1, 4)
KCHECK_VECTOR(uchar, unsigned char, 1, 2, 1, 4)
KCHECK_VECTOR(short, short, 2, 4, 2, 8)
KCHECK_VECTOR(ushort, unsigned short, 2, 4, 2, 8)
KCHECK_VECTOR(long, long, 8, 16, 8, 16)
KCHECK_VECTOR(ulong, unsigned long, 8, 16, 8, 16)
KCHECK_VECTOR(longlong, long long, 8, 16, 8, 16)
KCHECK_VECTOR(ulonglong, unsigned long long, 8, 16, 8, 16)
KCHECK_VECTOR(double, double, 8, 16, 8, 16)

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
