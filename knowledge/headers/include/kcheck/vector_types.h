// The types that every kernel sees: uint3 and dim3.
#pragma once
#include "vector.h"

KCHECK_VECTOR(uint, unsigned int, 4, 8, 4, 16)

struct dim3 {
  unsigned int x, y, z;
  KCHECK_HD constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
      : x(vx), y(vy), z(vz) {}
  KCHECK_HD constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  KCHECK_HD constexpr operator uint3() const {
    return uint3{x, y, z};
  }
};
