"""Kernels that the cases open."""
import os

RULE = "pipeline-slot-never-released"
GOOD = "__global__ void scale(float *x, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] *= 2.0f;\n}\n"
# A consumer that waits on a barrier that nothing ever completes: an error whatever the inputs.
BAD = """#include <cuda_runtime.h>
#include <cstdint>
__device__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
}
__device__ void wait(uint32_t bar, uint32_t parity) {
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra L; D: }"
               ::"r"(bar), "r"(parity) : "memory");
}
__global__ void __launch_bounds__(128) stuck() {
  __shared__ uint64_t full;
  uint32_t bar = (uint32_t)__cvta_generic_to_shared(&full);
  if (threadIdx.x == 0) init(bar, 1);
  __syncthreads();
  wait(bar, 0);
}
"""
# The first asm statement lacks a clobber, for which there is a fix.
FIXABLE = """#include <cstdint>
#include <cuda_runtime.h>
__device__ __forceinline__ uint32_t address(const void *p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}
// second
__global__ void __launch_bounds__(64) hand_over(const float *in, float *out) {
  __shared__ float value[32];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(address(&full)) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    value[threadIdx.x] = in[threadIdx.x];
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(&full)));
  } else {
    uint32_t done = 0;
    while (!done)
      asm volatile("{\\n.reg .pred p;\\n"
                   "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\\n"
                   "selp.u32 %0, 1, 0, p;\\n}"
                   : "=r"(done)
                   : "r"(address(&full))
                   : "memory");
    out[threadIdx.x - 32] = value[63 - threadIdx.x];
  }
}
"""
# Takes clang some seconds, whatever the machine.
SLOW = GOOD + "".join("__device__ int v%d = %d;\n" % (i, i) for i in range(100000))


def fixed(text):
    return text.replace("wait(bar, 0);", "wait(bar, 1);")


def waits_at(text, unit=lambda c: 1):
    """Line and column, from 0, of the wait in the kernel BAD."""
    for number, line in enumerate(text.split("\n")):
        at = line.find("wait(bar, 0);")
        if at >= 0:
            return number, sum(unit(c) for c in line[:at])
    return None


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path
