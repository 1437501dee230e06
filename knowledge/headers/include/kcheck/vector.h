// How the vector types of CUDA C++ and their make_ functions are declared.
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
    return name##1 {x};                                                                            \
  }                                                                                                \
  KCHECK_HD inline constexpr name##2 make_##name##2(scalar x, scalar y) {                          \
    return name##2 {x, y};                                                                         \
  }                                                                                                \
  KCHECK_HD inline constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) {                \
    return name##3 {x, y, z};                                                                      \
  }                                                                                                \
  KCHECK_HD inline constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) {      \
    return name##4 {x, y, z, w};                                                                   \
  }
