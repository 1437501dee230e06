// cuda::pipeline. The pipeline of one thread is cp.async groups; one with shared state is a pair of
// mbarriers a stage.
#pragma once
#include "barrier.h"
namespace cuda {
enum class pipeline_role { producer, consumer };
template <thread_scope scope, ::std::uint8_t stages> struct pipeline_shared_state {
  ::std::uint64_t full[stages];
  ::std::uint64_t empty[stages];
  pipeline_shared_state() = default;
};
template <thread_scope scope> class pipeline {
  ::std::uint64_t *full, *empty;
  ::std::uint32_t stages, head, tail, head_parity, tail_parity;

public:
  KCHECK_D pipeline()
      : full(nullptr), empty(nullptr), stages(0), head(0), tail(0), head_parity(1),
        tail_parity(0) {}
  KCHECK_D pipeline(::std::uint64_t *f, ::std::uint64_t *e, ::std::uint32_t n)
      : full(f), empty(e), stages(n), head(0), tail(0), head_parity(1), tail_parity(0) {}
  KCHECK_D static void kcheck_wait(::std::uint64_t *word, ::std::uint32_t parity) {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, word, parity)) {
    }
  }
  KCHECK_D void producer_acquire() {
    if (stages)
      kcheck_wait(&empty[head], head_parity);
  }
  KCHECK_D void producer_commit() {
    if (!stages) {
      asm volatile("cp.async.commit_group;" ::: "memory");
      return;
    }
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(ptx::kcheck_shared(&full[head]))
                 : "memory");
    ptx::mbarrier_arrive(&full[head]);
    head++;
    if (head == stages) {
      head = 0;
      head_parity ^= 1;
    }
  }
  KCHECK_D void consumer_wait() {
    if (stages)
      kcheck_wait(&full[tail], tail_parity);
    else
      asm volatile("cp.async.wait_all;" ::: "memory");
  }
  KCHECK_D void consumer_release() {
    if (!stages)
      return;
    ptx::mbarrier_arrive(&empty[tail]);
    tail++;
    if (tail == stages) {
      tail = 0;
      tail_parity ^= 1;
    }
  }
  KCHECK_D bool quit() { return true; }
};
KCHECK_D inline pipeline<thread_scope_thread> make_pipeline() {
  return pipeline<thread_scope_thread>();
}
template <class Group, thread_scope scope, ::std::uint8_t stages>
KCHECK_D inline pipeline<scope> make_pipeline(const Group &group,
                                              pipeline_shared_state<scope, stages> *state) {
  if (group.thread_rank() == 0)
    for (int i = 0; i < stages; i++) {
      ptx::mbarrier_init(&state->full[i], static_cast<::std::uint32_t>(group.size()));
      ptx::mbarrier_init(&state->empty[i], static_cast<::std::uint32_t>(group.size()));
    }
  group.sync();
  return pipeline<scope>(state->full, state->empty, stages);
}
template < ::std::uint8_t prior, thread_scope scope>
KCHECK_D inline void pipeline_consumer_wait_prior(pipeline<scope> &self) {
  asm volatile("cp.async.wait_group %0;" ::"n"(prior) : "memory");
}
template <class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(void *dst, const void *src, Size size, pipeline<scope> &self) {
  kcheck_copy_pieces(dst, src, static_cast<::std::size_t>(size));
}
template <class Group, class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(const Group &group, void *dst, const void *src, Size size,
                                  pipeline<scope> &self) {
  const ::std::size_t bytes = static_cast<::std::size_t>(size);
  for (::std::size_t at = group.thread_rank() * 16; at < bytes; at += group.size() * 16)
    kcheck_copy_pieces(static_cast<char *>(dst) + at, static_cast<const char *>(src) + at,
                       bytes - at < 16 ? bytes - at : 16);
}
} // namespace cuda
