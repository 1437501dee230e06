// cuda::barrier on top of the mbarrier instructions. For the scope of a block its storage is one
// mbarrier; the host-visible scopes have the same layout here.
#pragma once
#include "ptx_mbarrier.h"
#include "ptx_bulk.h"
#ifdef KCHECK_WANTS_PTX_TENSOR
#include "ptx_tensor.h"
#endif
#include <cuda/std/atomic>
namespace cuda {
namespace std {
struct __empty_completion {
  KCHECK_HD void operator()() noexcept {}
};
} // namespace std
template <thread_scope scope, class Completion = std::__empty_completion> class barrier {
  ::std::uint64_t word;

public:
  typedef ::std::uint64_t arrival_token;
  barrier() = default;
  barrier(const barrier &) = delete;
  barrier &operator=(const barrier &) = delete;
  KCHECK_HD constexpr explicit barrier(::std::ptrdiff_t expected, Completion = Completion())
      : word(static_cast<::std::uint64_t>(expected)) {}
  KCHECK_D friend void init(barrier *self, ::std::ptrdiff_t expected) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ptx::kcheck_shared(&self->word)),
                 "r"(static_cast<::std::uint32_t>(expected))
                 : "memory");
  }
  KCHECK_D friend void init(barrier *self, ::std::ptrdiff_t expected, Completion) {
    init(self, expected);
  }
  KCHECK_D arrival_token arrive(::std::ptrdiff_t update = 1) {
    arrival_token token;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1], %2;"
                 : "=l"(token)
                 : "r"(ptx::kcheck_shared(&word)), "r"(static_cast<::std::uint32_t>(update))
                 : "memory");
    return token;
  }
  KCHECK_D bool kcheck_test(arrival_token token) const {
    ::std::uint32_t done;
    asm volatile("{ .reg .pred P_OUT; mbarrier.try_wait.shared.b64 P_OUT, [%1], %2; "
                 "selp.b32 %0, 1, 0, P_OUT; }"
                 : "=r"(done)
                 : "r"(ptx::kcheck_shared(&word)), "l"(token)
                 : "memory");
    return done != 0;
  }
  KCHECK_D bool kcheck_test_parity(bool parity) const {
    ::std::uint32_t done;
    asm volatile("{ .reg .pred P_OUT; mbarrier.try_wait.parity.shared.b64 P_OUT, [%1], %2; "
                 "selp.b32 %0, 1, 0, P_OUT; }"
                 : "=r"(done)
                 : "r"(ptx::kcheck_shared(&word)), "r"(static_cast<::std::uint32_t>(parity))
                 : "memory");
    return done != 0;
  }
  KCHECK_D void wait(arrival_token &&token) const {
    while (!kcheck_test(token)) {
    }
  }
  KCHECK_D void wait_parity(bool parity) const {
    while (!kcheck_test_parity(parity)) {
    }
  }
  KCHECK_D void arrive_and_wait() { wait(arrive()); }
  KCHECK_D void arrive_and_drop() {
    asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"(ptx::kcheck_shared(&word))
                 : "memory");
  }
  template <class Rep, class Period>
  KCHECK_D bool try_wait_for(arrival_token &&token, const Rep &, const Period &) const {
    return kcheck_test(token);
  }
  KCHECK_D bool try_wait(arrival_token &&token) const { return kcheck_test(token); }
  KCHECK_D bool try_wait_parity(bool parity) const { return kcheck_test_parity(parity); }
  KCHECK_HD static constexpr ::std::ptrdiff_t max() noexcept { return (1 << 20) - 1; }
  KCHECK_D ::std::uint64_t *kcheck_word() { return &word; }
};

namespace device {
template <class Completion>
KCHECK_D inline ::std::uint64_t *
barrier_native_handle(barrier<thread_scope_block, Completion> &self) {
  return self.kcheck_word();
}
template <class Completion>
KCHECK_D inline ::std::uint64_t
barrier_arrive_tx(barrier<thread_scope_block, Completion> &self, ::std::ptrdiff_t arrivals,
                  ::std::ptrdiff_t bytes) {
  ::std::uint64_t token;
  if (arrivals == 1) {
    asm volatile("mbarrier.arrive.expect_tx.relaxed.cta.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(token)
                 : "r"(ptx::kcheck_shared(self.kcheck_word())),
                   "r"(static_cast<::std::uint32_t>(bytes))
                 : "memory");
  } else {
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
                     ptx::kcheck_shared(self.kcheck_word())),
                 "r"(static_cast<::std::uint32_t>(bytes))
                 : "memory");
    token = self.arrive(arrivals);
  }
  return token;
}
template <class Completion>
KCHECK_D inline void barrier_expect_tx(barrier<thread_scope_block, Completion> &self,
                                       ::std::ptrdiff_t bytes) {
  asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(
                   ptx::kcheck_shared(self.kcheck_word())),
               "r"(static_cast<::std::uint32_t>(bytes))
               : "memory");
}
template <class T, class Size, class Completion>
KCHECK_D inline void memcpy_async_tx(T *dst, const T *src, Size size,
                                     barrier<thread_scope_block, Completion> &self) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, dst, src,
                     static_cast<::std::uint32_t>(static_cast<::std::size_t>(size)),
                     self.kcheck_word());
}

namespace experimental {
inline namespace __v1 {
KCHECK_D inline void fence_proxy_async_shared_cta() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
KCHECK_D inline void cp_async_bulk_commit_group() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int n> KCHECK_D inline void cp_async_bulk_wait_group_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(n) : "memory");
}
template <int n> KCHECK_D inline void cp_async_bulk_wait_group() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(n) : "memory");
}
typedef barrier<thread_scope_block> kcheck_barrier;
KCHECK_D inline void cp_async_bulk_global_to_shared(void *dst, const void *src,
                                                    ::std::uint32_t size, kcheck_barrier &bar) {
  ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, dst, src, size, bar.kcheck_word());
}
KCHECK_D inline void cp_async_bulk_shared_to_global(void *dst, const void *src,
                                                    ::std::uint32_t size) {
  ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, dst, src, size);
}
#ifdef KCHECK_WANTS_PTX_TENSOR
#define KCHECK_TENSOR(dim, parameters, list)                                                       \
  KCHECK_D inline void cp_async_bulk_tensor_##dim##d_global_to_shared(                             \
      void *dst, const CUtensorMap *map, KCHECK_UNPACK parameters, kcheck_barrier &bar) {          \
    const ::std::int32_t c[] = list;                                                               \
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, dst, map, c,                  \
                              bar.kcheck_word());                                                  \
  }                                                                                                \
  KCHECK_D inline void cp_async_bulk_tensor_##dim##d_shared_to_global(                             \
      const CUtensorMap *map, KCHECK_UNPACK parameters, const void *src) {                         \
    const ::std::int32_t c[] = list;                                                               \
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, c, src);                  \
  }
#define KCHECK_LIST(...) {__VA_ARGS__}
KCHECK_TENSOR(1, (int c0), KCHECK_LIST(c0))
KCHECK_TENSOR(2, (int c0, int c1), KCHECK_LIST(c0, c1))
KCHECK_TENSOR(3, (int c0, int c1, int c2), KCHECK_LIST(c0, c1, c2))
KCHECK_TENSOR(4, (int c0, int c1, int c2, int c3), KCHECK_LIST(c0, c1, c2, c3))
KCHECK_TENSOR(5, (int c0, int c1, int c2, int c3, int c4), KCHECK_LIST(c0, c1, c2, c3, c4))
#undef KCHECK_TENSOR
#undef KCHECK_LIST
#endif
} // namespace __v1
} // namespace experimental
} // namespace device

template < ::std::size_t alignment> struct aligned_size_t {
  static constexpr ::std::size_t align = alignment;
  ::std::size_t value;
  KCHECK_HD constexpr explicit aligned_size_t(::std::size_t v) : value(v) {}
  KCHECK_HD constexpr operator ::std::size_t() const { return value; }
};
// An asynchronous copy by the calling thread in 16, 8 or 4-byte pieces.
KCHECK_D inline void kcheck_copy_pieces(void *dst, const void *src, ::std::size_t size) {
  char *to = static_cast<char *>(dst);
  const char *from = static_cast<const char *>(src);
  ::std::size_t at = 0;
  for (; at + 16 <= size; at += 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(ptx::kcheck_shared(to + at)),
                 "l"(from + at)
                 : "memory");
  for (; at + 4 <= size; at += 4)
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(ptx::kcheck_shared(to + at)),
                 "l"(from + at)
                 : "memory");
}
template <class Size, class Completion>
KCHECK_D inline void memcpy_async(void *dst, const void *src, Size size,
                                  barrier<thread_scope_block, Completion> &bar) {
  kcheck_copy_pieces(dst, src, static_cast<::std::size_t>(size));
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                   ptx::kcheck_shared(bar.kcheck_word()))
               : "memory");
}
template <class Group, class Size, class Completion>
KCHECK_D inline void memcpy_async(const Group &group, void *dst, const void *src, Size size,
                                  barrier<thread_scope_block, Completion> &bar) {
  const ::std::size_t bytes = static_cast<::std::size_t>(size);
  for (::std::size_t at = group.thread_rank() * 16; at < bytes; at += group.size() * 16)
    kcheck_copy_pieces(static_cast<char *>(dst) + at, static_cast<const char *>(src) + at,
                       bytes - at < 16 ? bytes - at : 16);
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                   ptx::kcheck_shared(bar.kcheck_word()))
               : "memory");
}
} // namespace cuda
