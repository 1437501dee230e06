// For measuring: a GEMM of 384 threads, 4 stages, 9 k-blocks and 3 tiles, whatever the inputs are.
// arch: sm_90a
#include <cuda_bf16.h>

#include "../../fixtures/reference/ptx.h"
#include "../../fixtures/reference/wgmma.h"

constexpr int TILE_M = 128;
constexpr int TILE_N = 128;
constexpr int TILE_K = 64; // 128 bytes: one swizzle row
constexpr int STAGES = 4;
constexpr int K_BLOCKS = 9;
constexpr int TILES = 3; // of a CTA, one above the other
constexpr int CONSUMER_WARPS = 8;
constexpr uint32_t STAGE_BYTES = (TILE_M + TILE_N) * TILE_K * sizeof(__nv_bfloat16);

struct Storage {
  alignas(1024) __nv_bfloat16 a[STAGES][TILE_M * TILE_K];
  alignas(1024) __nv_bfloat16 b[STAGES][TILE_N * TILE_K];
  alignas(8) uint64_t full[STAGES];
  alignas(8) uint64_t empty[STAGES];
};

// Position in the ring. The phase is that of the pass through the ring, counted modulo 2.
struct RingPosition {
  int stage = 0;
  uint32_t phase = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == STAGES) {
      stage = 0;
      phase ^= 1;
    }
  }
};

__device__ __forceinline__ void produce(Storage &s, const CUtensorMap *map_a,
                                        const CUtensorMap *map_b) {
  RingPosition ring;
  for (int tile = 0; tile < TILES; ++tile) {
    const int row = tile * TILE_M;
    const int column = blockIdx.x * TILE_N;
    for (int k = 0; k < K_BLOCKS; ++k) {
      mbarrier_wait(&s.empty[ring.stage], ring.phase ^ 1);
      mbarrier_arrive_expect_tx(&s.full[ring.stage], STAGE_BYTES);
      tma_load_2d(s.a[ring.stage], map_a, &s.full[ring.stage], k * TILE_K, row);
      tma_load_2d(s.b[ring.stage], map_b, &s.full[ring.stage], k * TILE_K, column);
      ring.advance();
    }
  }
}

// Fragment layout of an m64n128 accumulator: PTX ISA 9.7.15.5.2, register fragments of D.
__device__ __forceinline__ void store_fragment(const float (&acc)[64], float *d, int row,
                                               int column, int n) {
  const int warp = threadIdx.x / 32 % 4;
  const int lane = threadIdx.x % 32;
  row += warp * 16 + lane / 4;
  column += lane % 4 * 2;
#pragma unroll
  for (int j = 0; j < TILE_N / 8; ++j) {
    float *out = d + static_cast<size_t>(row) * n + column + j * 8;
    *reinterpret_cast<float2 *>(out) = make_float2(acc[4 * j], acc[4 * j + 1]);
    out += static_cast<size_t>(8) * n;
    *reinterpret_cast<float2 *>(out) = make_float2(acc[4 * j + 2], acc[4 * j + 3]);
  }
}

__device__ __forceinline__ void consume(Storage &s, int consumer, float *d, int n) {
  const bool releases = threadIdx.x % 32 == 0;
  RingPosition ring;
  float acc[64];
  for (int tile = 0; tile < TILES; ++tile) {
    int previous = 0;
    for (int k = 0; k < K_BLOCKS; ++k) {
      mbarrier_wait(&s.full[ring.stage], ring.phase);
      const uint64_t a = wgmma_descriptor_128b(s.a[ring.stage] + consumer * 64 * TILE_K);
      const uint64_t b = wgmma_descriptor_128b(s.b[ring.stage]);
      wgmma_fence();
#pragma unroll
      for (int step = 0; step < TILE_K / 16; ++step)
        wgmma_m64n128k16_bf16(acc, a + step * 2, b + step * 2, k > 0 || step > 0);
      wgmma_commit();
      if (k > 0) {
        wgmma_wait<1>();
        if (releases) mbarrier_arrive(&s.empty[previous]);
      }
      previous = ring.stage;
      ring.advance();
    }
    wgmma_wait<0>();
    wgmma_pin(acc);
    if (releases) mbarrier_arrive(&s.empty[previous]);
    store_fragment(acc, d, tile * TILE_M + consumer * 64, blockIdx.x * TILE_N, n);
  }
}

// kcheck: tensormap(map_a, box = 64x128, type = bf16, swizzle = 128B)
// kcheck: tensormap(map_b, box = 64x128, type = bf16, swizzle = 128B)
__global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         float *d, int n) {
  extern __shared__ __align__(1024) unsigned char shared_storage[];
  Storage &s = *reinterpret_cast<Storage *>(shared_storage);
  const int warpgroup = threadIdx.x / 128;

  if (threadIdx.x == 0) {
    prefetch_tensormap(&map_a);
    prefetch_tensormap(&map_b);
    for (int stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&s.full[stage], 1);
      mbarrier_init(&s.empty[stage], CONSUMER_WARPS);
    }
    fence_mbarrier_init();
  }
  __syncthreads();

  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x / 32 == 0 && elect_one()) produce(s, &map_a, &map_b);
  } else {
    setmaxnreg_inc<232>();
    consume(s, warpgroup - 1, d, n);
  }
}
