// cuda::pipeline. The pipeline of one thread is cp.async groups; one with shared state is a pair of
// mbarriers a stage: `full` is arrived at by producers, `empty` by consumers.
#pragma once
#include <kcheck/pipeline_primitives.h>
#include "barrier.h"
#include "copy_group.h"
namespace cuda {
enum class pipeline_role { producer, consumer };
template <thread_scope scope, ::std::uint8_t stages> class pipeline_shared_state {
public:
  ::std::uint64_t full[stages];
  ::std::uint64_t empty[stages];
  ::std::uint32_t producers;
  pipeline_shared_state() = default;
  pipeline_shared_state(const pipeline_shared_state &) = delete;
  pipeline_shared_state &operator=(const pipeline_shared_state &) = delete;
  KCHECK_D void kcheck_init(::std::uint32_t producing, ::std::uint32_t consuming) {
    for (int i = 0; i < stages; i++) {
      ptx::mbarrier_init(&full[i], producing);
      ptx::mbarrier_init(&empty[i], consuming);
    }
  }
};
template <thread_scope scope> class pipeline {
  ::std::uint64_t *full, *empty;
  ::std::uint32_t stages, head, tail, head_parity, tail_parity;

public:
  pipeline(pipeline &&) = default;
  pipeline(const pipeline &) = delete;
  pipeline &operator=(const pipeline &) = delete;
  KCHECK_D pipeline(::std::uint64_t *f, ::std::uint64_t *e, ::std::uint32_t n)
      : full(f), empty(e), stages(n), head(0), tail(0), head_parity(1), tail_parity(0) {}
  KCHECK_D void producer_acquire() {
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &empty[head],
                                          head_parity)) {
    }
  }
  KCHECK_D void producer_commit() {
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
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &full[tail],
                                          tail_parity)) {
    }
  }
  template <class Duration> KCHECK_D bool consumer_wait_for(const Duration &) {
    return ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &full[tail],
                                         tail_parity);
  }
  template <class Time> KCHECK_D bool consumer_wait_until(const Time &time) {
    return consumer_wait_for(time);
  }
  KCHECK_D void consumer_release() {
    ptx::mbarrier_arrive(&empty[tail]);
    tail++;
    if (tail == stages) {
      tail = 0;
      tail_parity ^= 1;
    }
  }
  // the thread's share in the pipeline ends; the barriers count its arrivals all the same
  KCHECK_D bool quit() {
    return true;
  }
};
template <> class pipeline<thread_scope_thread> {
public:
  ::std::uint8_t kcheck_head, kcheck_tail; // groups committed, and those waited for
  pipeline(pipeline &&) = default;
  pipeline(const pipeline &) = delete;
  pipeline &operator=(const pipeline &) = delete;
  KCHECK_D explicit pipeline(int) : kcheck_head(0), kcheck_tail(0) {}
  KCHECK_D void producer_acquire() {}
  KCHECK_D void producer_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
    kcheck_head++;
  }
  KCHECK_D void consumer_wait() {
    if (kcheck_head == kcheck_tail) return;
    switch (static_cast<::std::uint8_t>(kcheck_head - kcheck_tail - 1)) {
#define KCHECK_PRIOR(label, count)                                                                 \
  label:                                                                                           \
  asm volatile("cp.async.wait_group " #count ";" ::: "memory");                                    \
  break;
      KCHECK_PRIOR(case 0, 0)
      KCHECK_PRIOR(case 1, 1)
      KCHECK_PRIOR(case 2, 2)
      KCHECK_PRIOR(case 3, 3)
      KCHECK_PRIOR(case 4, 4)
      KCHECK_PRIOR(case 5, 5)
      KCHECK_PRIOR(case 6, 6)
      KCHECK_PRIOR(case 7, 7)
      KCHECK_PRIOR(default, 8)
#undef KCHECK_PRIOR
    }
    kcheck_tail++;
  }
  template <class Duration> KCHECK_D bool consumer_wait_for(const Duration &) {
    consumer_wait();
    return true;
  }
  template <class Time> KCHECK_D bool consumer_wait_until(const Time &) {
    consumer_wait();
    return true;
  }
  KCHECK_D void consumer_release() {}
  KCHECK_D bool quit() {
    return true;
  }
};
KCHECK_D inline pipeline<thread_scope_thread> make_pipeline() {
  return pipeline<thread_scope_thread>(0);
}
// every thread of the group produces and consumes
template <class Group, thread_scope scope, ::std::uint8_t stages>
KCHECK_D inline pipeline<scope> make_pipeline(const Group &group,
                                              pipeline_shared_state<scope, stages> *state) {
  const ::std::uint32_t threads = static_cast<::std::uint32_t>(group.size());
  if (group.thread_rank() == 0) state->kcheck_init(threads, threads);
  group.sync();
  return pipeline<scope>(state->full, state->empty, stages);
}
// so many threads produce, the others consume
template <class Group, thread_scope scope, ::std::uint8_t stages>
KCHECK_D inline pipeline<scope> make_pipeline(const Group &group,
                                              pipeline_shared_state<scope, stages> *state,
                                              ::std::size_t producers) {
  const ::std::uint32_t producing = static_cast<::std::uint32_t>(producers);
  if (group.thread_rank() == 0)
    state->kcheck_init(producing, static_cast<::std::uint32_t>(group.size()) - producing);
  group.sync();
  return pipeline<scope>(state->full, state->empty, stages);
}
// each thread says which side it is on
template <class Group, thread_scope scope, ::std::uint8_t stages>
KCHECK_D inline pipeline<scope>
make_pipeline(const Group &group, pipeline_shared_state<scope, stages> *state, pipeline_role role) {
  if (group.thread_rank() == 0) state->producers = 0;
  group.sync();
  if (role == pipeline_role::producer) atomicAdd(&state->producers, 1u);
  group.sync();
  if (group.thread_rank() == 0) {
    const ::std::uint32_t producing = state->producers;
    state->kcheck_init(producing, static_cast<::std::uint32_t>(group.size()) - producing);
  }
  group.sync();
  return pipeline<scope>(state->full, state->empty, stages);
}
template <::std::uint8_t prior>
KCHECK_D inline void pipeline_consumer_wait_prior(pipeline<thread_scope_thread> &self) {
  asm volatile("cp.async.wait_group %0;" ::"n"(prior < 8 ? prior : 8) : "memory");
  self.kcheck_tail = static_cast<::std::uint8_t>(self.kcheck_head - prior);
}
template <thread_scope scope>
KCHECK_D inline void pipeline_producer_commit(pipeline<thread_scope_thread> &,
                                              barrier<scope> &bar) {
  asm volatile(
      "cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(ptx::kcheck_shared(bar.kcheck_word()))
      : "memory");
}
template <class T, class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(T *dst, const T *src, Size size, pipeline<scope> &) {
  kcheck_copy<kcheck_promised<T, Size>()>(dst, src, static_cast<::std::size_t>(size), 0, 1);
}
template <class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(void *dst, const void *src, Size size, pipeline<scope> &) {
  kcheck_copy<kcheck_promised<void, Size>()>(dst, src, static_cast<::std::size_t>(size), 0, 1);
}
template <class Group, class T, class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(const Group &group, T *dst, const T *src, Size size,
                                  pipeline<scope> &) {
  kcheck_copy<kcheck_promised<T, Size>()>(dst, src, static_cast<::std::size_t>(size),
                                          group.thread_rank(), group.size());
}
template <class Group, class Size, thread_scope scope>
KCHECK_D inline void memcpy_async(const Group &group, void *dst, const void *src, Size size,
                                  pipeline<scope> &) {
  kcheck_copy<kcheck_promised<void, Size>()>(dst, src, static_cast<::std::size_t>(size),
                                             group.thread_rank(), group.size());
}
} // namespace cuda
