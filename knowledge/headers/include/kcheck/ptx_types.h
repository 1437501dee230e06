// cuda::ptx: the tags that name the variants of an instruction.
#pragma once
#include <cuda_runtime.h>
#include <type_traits>
namespace cuda {
namespace ptx {
using ::std::int32_t;
using ::std::int64_t;
using ::std::uint16_t;
using ::std::uint32_t;
using ::std::uint64_t;
enum class dot_sem { acq_rel, acquire, relaxed, release, sc, weak };
enum class dot_space { global, cluster, shared };
enum class dot_scope { cta, cluster, gpu, sys };
enum class dot_op { add, dec, inc, max, min, and_op, or_op, xor_op, cas, exch };
enum class dot_cta_group { cta_group_1, cta_group_2 };
enum class dot_kind { f16, f8f6f4, i8, mxf4, mxf4nvf4, mxf8f6f4, tf32 };
template <dot_sem v> using sem_t = ::std::integral_constant<dot_sem, v>;
template <dot_space v> using space_t = ::std::integral_constant<dot_space, v>;
template <dot_scope v> using scope_t = ::std::integral_constant<dot_scope, v>;
template <dot_op v> using op_t = ::std::integral_constant<dot_op, v>;
template <dot_cta_group v> using cta_group_t = ::std::integral_constant<dot_cta_group, v>;
template <dot_kind v> using kind_t = ::std::integral_constant<dot_kind, v>;
template <int n> using n32_t = ::std::integral_constant<int, n>;
#define KCHECK_TAG(family, name)                                                                   \
  typedef family##_t<dot_##family::name> family##_##name##_t;                                      \
  static constexpr family##_##name##_t family##_##name{};
KCHECK_TAG(sem, acq_rel) KCHECK_TAG(sem, acquire) KCHECK_TAG(sem, relaxed)
KCHECK_TAG(sem, release) KCHECK_TAG(sem, sc) KCHECK_TAG(sem, weak)
KCHECK_TAG(space, global) KCHECK_TAG(space, shared) KCHECK_TAG(space, cluster)
KCHECK_TAG(scope, cta) KCHECK_TAG(scope, cluster) KCHECK_TAG(scope, gpu) KCHECK_TAG(scope, sys)
KCHECK_TAG(op, add) KCHECK_TAG(op, dec) KCHECK_TAG(op, inc) KCHECK_TAG(op, max)
KCHECK_TAG(op, min) KCHECK_TAG(op, and_op) KCHECK_TAG(op, or_op) KCHECK_TAG(op, xor_op)
KCHECK_TAG(op, cas) KCHECK_TAG(op, exch)
KCHECK_TAG(kind, f16) KCHECK_TAG(kind, f8f6f4) KCHECK_TAG(kind, i8) KCHECK_TAG(kind, mxf4)
KCHECK_TAG(kind, mxf4nvf4) KCHECK_TAG(kind, mxf8f6f4) KCHECK_TAG(kind, tf32)
#undef KCHECK_TAG
typedef cta_group_t<dot_cta_group::cta_group_1> cta_group_1_t;
typedef cta_group_t<dot_cta_group::cta_group_2> cta_group_2_t;
static constexpr cta_group_1_t cta_group_1{};
static constexpr cta_group_2_t cta_group_2{};
template <int n> static constexpr n32_t<n> n32{};

KCHECK_D inline uint32_t kcheck_shared(const void *pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
} // namespace ptx
} // namespace cuda

#define KCHECK_PTX KCHECK_D static inline
// One asm statement for each scope; the operands follow the text.
#define KCHECK_CTA_OR_CLUSTER(scope, before, after, ...)                                           \
  if constexpr (scope == dot_scope::cta)                                                           \
    asm volatile(before ".cta" after __VA_ARGS__);                                                 \
  else                                                                                             \
    asm volatile(before ".cluster" after __VA_ARGS__)
#define KCHECK_ANY_SCOPE(scope, before, after, ...)                                                \
  if constexpr (scope == dot_scope::cta)                                                           \
    asm volatile(before ".cta" after __VA_ARGS__);                                                 \
  else if constexpr (scope == dot_scope::cluster)                                                  \
    asm volatile(before ".cluster" after __VA_ARGS__);                                             \
  else if constexpr (scope == dot_scope::gpu)                                                      \
    asm volatile(before ".gpu" after __VA_ARGS__);                                                 \
  else                                                                                             \
    asm volatile(before ".sys" after __VA_ARGS__)
#define KCHECK_CTA_GROUP(group, before, after, ...)                                                \
  if constexpr (group == dot_cta_group::cta_group_1)                                               \
    asm volatile(before ".cta_group::1" after __VA_ARGS__);                                        \
  else                                                                                             \
    asm volatile(before ".cta_group::2" after __VA_ARGS__)
