// Takes the place of clang's __clang_cuda_builtin_vars.h: plain variables instead of pseudo-objects
// whose members libclang does not name.
#pragma once
struct uint3;
struct dim3;
#define KCHECK_BUILTIN(name)                                                                       \
  struct __cuda_builtin_##name##_t {                                                               \
    unsigned x, y, z;                                                                              \
    __attribute__((device)) operator dim3() const;                                                 \
    __attribute__((device)) operator uint3() const;                                                \
  };                                                                                               \
  extern const __attribute__((device)) __cuda_builtin_##name##_t name
KCHECK_BUILTIN(threadIdx);
KCHECK_BUILTIN(blockIdx);
KCHECK_BUILTIN(blockDim);
KCHECK_BUILTIN(gridDim);
#undef KCHECK_BUILTIN
__attribute__((device)) const int warpSize = 32;
