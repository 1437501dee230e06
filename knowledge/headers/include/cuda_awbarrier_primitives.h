// mbarrier by functions on its 64 bits: what they do, said in PTX.
#pragma once
#include <cuda_runtime.h>
typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;
#define KCHECK_SHARED_ADDRESS(pointer) ((unsigned)__cvta_generic_to_shared(pointer))

KCHECK_HD inline uint32_t __mbarrier_maximum_count() {
  return (1 << 20) - 1;
}
KCHECK_D inline void __mbarrier_init(__mbarrier_t *barrier, uint32_t expected_count) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(KCHECK_SHARED_ADDRESS(barrier)),
               "r"(expected_count)
               : "memory");
}
KCHECK_D inline void __mbarrier_inval(__mbarrier_t *barrier) {
  asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(KCHECK_SHARED_ADDRESS(barrier)) : "memory");
}
KCHECK_D inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *barrier) {
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(KCHECK_SHARED_ADDRESS(barrier))
               : "memory");
  return token;
}
KCHECK_D inline __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t *barrier) {
  __mbarrier_token_t token;
  asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];"
               : "=l"(token)
               : "r"(KCHECK_SHARED_ADDRESS(barrier))
               : "memory");
  return token;
}
KCHECK_D inline bool __mbarrier_test_wait(__mbarrier_t *barrier, __mbarrier_token_t token) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\n"
               "mbarrier.test_wait.shared.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(KCHECK_SHARED_ADDRESS(barrier)), "l"(token)
               : "memory");
  return done != 0;
}
KCHECK_D inline bool __mbarrier_test_wait_parity(__mbarrier_t *barrier, bool phase_parity) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\n"
               "mbarrier.test_wait.parity.shared.b64 p, [%1], %2;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(KCHECK_SHARED_ADDRESS(barrier)), "r"((uint32_t)phase_parity)
               : "memory");
  return done != 0;
}
KCHECK_D inline bool __mbarrier_try_wait(__mbarrier_t *barrier, __mbarrier_token_t token,
                                         uint32_t max_sleep_nanosec) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\n"
               "mbarrier.try_wait.shared.b64 p, [%1], %2, %3;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(KCHECK_SHARED_ADDRESS(barrier)), "l"(token), "r"(max_sleep_nanosec)
               : "memory");
  return done != 0;
}
KCHECK_D inline bool __mbarrier_try_wait_parity(__mbarrier_t *barrier, bool phase_parity,
                                                uint32_t max_sleep_nanosec) {
  uint32_t done;
  asm volatile("{\n.reg .pred p;\n"
               "mbarrier.try_wait.parity.shared.b64 p, [%1], %2, %3;\n"
               "selp.u32 %0, 1, 0, p;\n}"
               : "=r"(done)
               : "r"(KCHECK_SHARED_ADDRESS(barrier)), "r"((uint32_t)phase_parity),
                 "r"(max_sleep_nanosec)
               : "memory");
  return done != 0;
}
KCHECK_D inline uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  uint32_t count;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(count) : "l"(token));
  return count;
}
