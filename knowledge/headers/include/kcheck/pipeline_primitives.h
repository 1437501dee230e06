// cp.async by 16, 8 or 4 bytes (CUDA, Pipeline Primitives Interface).
#pragma once
#include "device_functions.h"

#define KCHECK_COPY(cache, bytes)                                                                  \
  if (size == bytes && zero_fill == 0)                                                             \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes                            \
                 ";" ::"r"((unsigned int)__cvta_generic_to_shared(shared)),                        \
                 "l"(global)                                                                       \
                 : "memory");                                                                      \
  else if (size == bytes)                                                                          \
    asm volatile("cp.async." cache ".shared.global [%0], [%1], " #bytes                            \
                 ", %2;" ::"r"((unsigned int)__cvta_generic_to_shared(shared)),                    \
                 "l"(global), "r"((unsigned int)(size - zero_fill))                                \
                 : "memory");
KCHECK_D inline void __pipeline_memcpy_async(void *shared, const void *global, size_t size,
                                             size_t zero_fill = 0){
    KCHECK_COPY("cg", 16) KCHECK_COPY("ca", 8) KCHECK_COPY("ca", 4)}
#undef KCHECK_COPY
KCHECK_D inline void __pipeline_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
#define KCHECK_WAIT(n)                                                                             \
  if (prior == n) asm volatile("cp.async.wait_group " #n ";" ::: "memory");
KCHECK_D inline void __pipeline_wait_prior(size_t prior) {
  KCHECK_WAIT(0)
  KCHECK_WAIT(1)
  KCHECK_WAIT(2)
  KCHECK_WAIT(3) KCHECK_WAIT(4) KCHECK_WAIT(5) KCHECK_WAIT(6)
      KCHECK_WAIT(7) if (prior >= 8) asm volatile("cp.async.wait_group 8;" ::
                                                      : "memory");
}
#undef KCHECK_WAIT
KCHECK_D inline void __pipeline_arrive_on(unsigned long long *barrier) {
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(
                   (unsigned int)__cvta_generic_to_shared(barrier))
               : "memory");
}
