// cuda::ptx: tensormap.replace, tensormap.cp_fenceproxy (PTX ISA 9.7.9.27).
#pragma once
#include "ptx_types.h"
namespace cuda {
namespace ptx {
#define KCHECK_TENSORMAP(function, field, type, constraint, value_type)                            \
  template <typename T> KCHECK_PTX void function(space_global_t, void *map, T value) {             \
    asm volatile("tensormap.replace.tile." field ".global.b1024." value_type " [%0], %1;" ::"l"(   \
                     map),                                                                         \
                 constraint((type)value)                                                           \
                 : "memory");                                                                      \
  }                                                                                                \
  template <typename T> KCHECK_PTX void function(space_shared_t, void *map, T value) {             \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." value_type                  \
                 " [%0], %1;" ::"r"(kcheck_shared(map)),                                           \
                 constraint((type)value)                                                           \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_global_address, "global_address", uint64_t, "l", "b64")
KCHECK_TENSORMAP(tensormap_replace_rank, "rank", uint32_t, "r", "b32")
#undef KCHECK_TENSORMAP
#define KCHECK_TENSORMAP(function, field)                                                          \
  template <int n> KCHECK_PTX void function(space_global_t, void *map, n32_t<n>) {                 \
    asm volatile("tensormap.replace.tile." field ".global.b1024.b32 [%0], %1;" ::"l"(map), "n"(n)  \
                 : "memory");                                                                      \
  }                                                                                                \
  template <int n> KCHECK_PTX void function(space_shared_t, void *map, n32_t<n>) {                 \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024.b32 [%0], %1;" ::"r"(         \
                     kcheck_shared(map)),                                                          \
                 "n"(n)                                                                            \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_elemtype, "elemtype")
KCHECK_TENSORMAP(tensormap_replace_interleave_layout, "interleave_layout")
KCHECK_TENSORMAP(tensormap_replace_swizzle_mode, "swizzle_mode")
KCHECK_TENSORMAP(tensormap_replace_fill_mode, "fill_mode")
#undef KCHECK_TENSORMAP
#define KCHECK_TENSORMAP(function, field, type, constraint, value_type)                            \
  template <int n, typename T>                                                                     \
  KCHECK_PTX void function(space_global_t, void *map, n32_t<n>, T value) {                         \
    asm volatile("tensormap.replace.tile." field ".global.b1024." value_type                       \
                 " [%0], %1, %2;" ::"l"(map),                                                      \
                 "n"(n), constraint((type)value)                                                   \
                 : "memory");                                                                      \
  }                                                                                                \
  template <int n, typename T>                                                                     \
  KCHECK_PTX void function(space_shared_t, void *map, n32_t<n>, T value) {                         \
    asm volatile("tensormap.replace.tile." field ".shared::cta.b1024." value_type                  \
                 " [%0], %1, %2;" ::"r"(kcheck_shared(map)),                                       \
                 "n"(n), constraint((type)value)                                                   \
                 : "memory");                                                                      \
  }
KCHECK_TENSORMAP(tensormap_replace_box_dim, "box_dim", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_global_dim, "global_dim", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_global_stride, "global_stride", uint64_t, "l", "b64")
KCHECK_TENSORMAP(tensormap_replace_element_size, "element_stride", uint32_t, "r", "b32")
KCHECK_TENSORMAP(tensormap_replace_element_stride, "element_stride", uint32_t, "r", "b32")
#undef KCHECK_TENSORMAP
template <int n, dot_scope s>
KCHECK_PTX void tensormap_cp_fenceproxy(sem_release_t, scope_t<s>, void *dst, const void *src,
                                        n32_t<n>) {
  KCHECK_ANY_SCOPE(s, "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release",
                   ".sync.aligned [%0], [%1], %2;",
                   ::"l"(dst), "r"(kcheck_shared(src)), "n"(n) : "memory");
}
} // namespace ptx
} // namespace cuda
