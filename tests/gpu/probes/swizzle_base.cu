// Where the pattern of a 128-byte swizzle is anchored, by who fills the tile and by the base offset of
// the descriptor that reads it: one 64x64x64 bf16 product for each place of the tiles, against the
// product on the CPU. Prints a line a combination.
//   nvcc -gencode arch=compute_90a,code=sm_90a swizzle_base.cu -o swizzle_base && timeout 60 ./swizzle_base
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#include "../../../fixtures/reference/ptx.h"

enum Writer { COPY, BY_TILE, BY_ADDRESS };

constexpr int M = 64, N = 64, K = 64, TILE = 64 * 64, BYTES = TILE * 2, WRITERS = 3;

__device__ uint64_t descriptor(uint32_t address, bool with_base_offset) {
  uint64_t base_offset = with_base_offset ? address >> 7 & 7 : 0;
  return (address & 0x3ffff) >> 4 | uint64_t{1} << 16 | uint64_t{1024 >> 4} << 32 | base_offset << 49 |
         uint64_t{1} << 62;
}

__device__ void store(uint32_t tile, const __nv_bfloat16 *from, int writer) {
  for (int i = threadIdx.x; i < TILE; i += blockDim.x) {
    const uint32_t byte = i * 2;
    uint32_t at = tile + byte;
    if (writer == BY_TILE)
      at = tile + (byte ^ (byte >> 7 & 7) << 4);
    else
      at ^= (at >> 7 & 7) << 4;
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(at), "h"(__bfloat16_as_ushort(from[i])) : "memory");
  }
}

__global__ void product(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
                        const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *out, int away, int writer,
                        bool with_base_offset) {
  extern __shared__ __align__(1024) unsigned char smem[];
  __shared__ alignas(8) uint64_t full;
  const uint32_t tile_a = (shared_address(smem) + 1023) / 1024 * 1024 + away, tile_b = tile_a + BYTES;
  if (threadIdx.x == 0) {
    mbarrier_init(&full, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  if (writer == COPY) {
    if (threadIdx.x == 0) {
      mbarrier_arrive_expect_tx(&full, 2 * BYTES);
      tma_load_2d(__cvta_shared_to_generic(tile_a), &map_a, &full, 0, 0);
      tma_load_2d(__cvta_shared_to_generic(tile_b), &map_b, &full, 0, 0);
    }
    mbarrier_wait(&full, 0);
  } else {
    store(tile_a, a, writer);
    store(tile_b, b, writer);
    fence_proxy_async();
    __syncthreads();
  }
  float d[32] = {};
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int k = 0; k < K * 2; k += 32)
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "
                 "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
                   "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
                   "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
                   "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
                   "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(descriptor(tile_a + k, with_base_offset)), "l"(descriptor(tile_b + k, with_base_offset)));
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
  const int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
  for (int i = 0; i < 32; ++i)
    out[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + column + i % 2] = d[i];
}

static CUtensorMap encode(void *matrix) {
  void *entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found)) exit(1);
  auto tiled = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  CUtensorMap map;
  const cuuint64_t dims[2] = {64, 64}, strides[1] = {128};
  const cuuint32_t box[2] = {64, 64}, steps[2] = {1, 1};
  if (tiled(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, dims, strides, box, steps,
            CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
    exit(1);
  return map;
}

int main() {
  static const char *const writers[] = {"a tensor copy", "stores, by the row of the tile", "stores, by the address"};
  __nv_bfloat16 *a, *b;
  float *out;
  cudaMallocManaged(&a, BYTES);
  cudaMallocManaged(&b, BYTES);
  cudaMallocManaged(&out, M * N * sizeof *out);
  for (int i = 0; i < TILE; ++i) {
    a[i] = float(rand() % 9 - 4);
    b[i] = float(rand() % 9 - 4);
  }
  const CUtensorMap map_a = encode(a), map_b = encode(b);
  const int bytes = 2 * BYTES + 2048;
  cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  for (int writer = 0; writer < WRITERS; ++writer)
    for (int base = 0; base < 2; ++base)
      for (int away = 0; away <= 1024; away += 128) {
        product<<<1, 128, bytes>>>(map_a, map_b, a, b, out, away, writer, base != 0);
        const cudaError_t status = cudaDeviceSynchronize();
        int wrong = 0;
        for (int i = 0; i < M * N; ++i) {
          float sum = 0;
          for (int k = 0; k < K; ++k) sum += float(a[i / N * K + k]) * float(b[i % N * K + k]);
          wrong += sum != out[i];
        }
        printf("%-32s base offset %-18s tile at +%-5d %s, %d of %d wrong\n", writers[writer],
               base ? "(address / 128) % 8" : "0", away, cudaGetErrorString(status), wrong, M * N);
      }
}
