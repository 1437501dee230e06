// For measuring: the largest portable cluster, 8 CTAs of 12 warps that share B by TMA multicast.
// arch: sm_90a
#include <cuda_bf16.h>

#include "../../fixtures/reference/ptx.h"
#include "../../fixtures/reference/wgmma.h"

constexpr int TILE_M = 128;
constexpr int TILE_N = 128;
constexpr int TILE_K = 64; // 128 bytes: one swizzle row
constexpr int STAGES = 4;
constexpr int CLUSTER = 8;
constexpr int CONSUMERS = 2; // warpgroups
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

// Columns of tiles, one above the other, go to the clusters in turn.
struct Tile {
  int row, column;

  __device__ __forceinline__ Tile(int group, int tiles_n, uint32_t rank)
      : row((group / tiles_n * CLUSTER + static_cast<int>(rank)) * TILE_M),
        column(group % tiles_n * TILE_N) {}
};

__device__ __forceinline__ void produce(Storage &s, const CUtensorMap *map_a,
                                        const CUtensorMap *map_b, int groups, int tiles_n,
                                        int k_blocks) {
  const uint32_t rank = cluster_rank();
  const int part = static_cast<int>(rank) * (TILE_N / CLUSTER); // rows of B that this CTA loads
  RingPosition ring;
  for (int group = blockIdx.x / CLUSTER; group < groups; group += gridDim.x / CLUSTER) {
    const Tile tile(group, tiles_n, rank);
    for (int k = 0; k < k_blocks; ++k) {
      mbarrier_wait_cluster(&s.empty[ring.stage], ring.phase ^ 1);
      mbarrier_arrive_expect_tx(&s.full[ring.stage], STAGE_BYTES);
      tma_load_2d(s.a[ring.stage], map_a, &s.full[ring.stage], k * TILE_K, tile.row);
      tma_load_2d_multicast(s.b[ring.stage] + part * TILE_K, map_b, &s.full[ring.stage],
                            (1 << CLUSTER) - 1, k * TILE_K, tile.column + part);
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

// One thread of the warpgroup releases the stage to each CTA of the cluster.
__device__ __forceinline__ void release(uint64_t *empty) {
  const uint32_t thread = threadIdx.x % 128;
  if (thread < CLUSTER) mbarrier_arrive_remote(empty, thread);
}

__device__ __forceinline__ void consume(Storage &s, int consumer, float *d, int n, int groups,
                                        int tiles_n, int k_blocks) {
  RingPosition ring;
  float acc[64];
  for (int group = blockIdx.x / CLUSTER; group < groups; group += gridDim.x / CLUSTER) {
    const Tile tile(group, tiles_n, cluster_rank());
    int previous = 0;
    for (int k = 0; k < k_blocks; ++k) {
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
        release(&s.empty[previous]);
      }
      previous = ring.stage;
      ring.advance();
    }
    wgmma_wait<0>();
    wgmma_pin(acc);
    release(&s.empty[previous]);
    store_fragment(acc, d, tile.row + consumer * 64, tile.column, n);
  }
}

// kcheck: tensormap(map_a, box = 64x128, type = bf16, swizzle = 128B)
// kcheck: tensormap(map_b, box = 64x16, type = bf16, swizzle = 128B)
__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap map_a, const __grid_constant__ CUtensorMap map_b,
         float *d, int m, int n, int k) {
  extern __shared__ __align__(1024) unsigned char shared_storage[];
  Storage &s = *reinterpret_cast<Storage *>(shared_storage);
  const int tiles_n = n / TILE_N;
  const int groups = m / (TILE_M * CLUSTER) * tiles_n;
  const int k_blocks = k / TILE_K;
  const int warpgroup = threadIdx.x / 128;

  if (threadIdx.x == 0) {
    prefetch_tensormap(&map_a);
    prefetch_tensormap(&map_b);
    for (int stage = 0; stage < STAGES; ++stage) {
      mbarrier_init(&s.full[stage], 1);
      mbarrier_init(&s.empty[stage], CONSUMERS * CLUSTER);
    }
    fence_mbarrier_init();
  }
  cluster_arrive(); // the peer must not signal a barrier before it is initialised
  cluster_wait();

  if (warpgroup == 0) {
    setmaxnreg_dec<40>();
    if (threadIdx.x / 32 == 0 && elect_one()) produce(s, &map_a, &map_b, groups, tiles_n, k_blocks);
  } else {
    setmaxnreg_inc<232>();
    consume(s, warpgroup - 1, d, n, groups, tiles_n, k_blocks);
  }
  __syncwarp();
  cluster_arrive(); // the peer may still release stages of this CTA
  cluster_wait();
}
