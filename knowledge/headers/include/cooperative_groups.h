// Cooperative groups: blocks, tiles, clusters and grids, by barriers and shuffles.
#pragma once
#include <cuda_runtime.h>
#include <kcheck/atomic_functions.h>
#include <kcheck/copy_group.h>
#include <kcheck/integers.h>
#include <kcheck/warp_functions.h>
#define _CG_CLUSTER_INTRINSICS_AVAILABLE 1
#define _CG_HAS_CLUSTER_GROUP
namespace cooperative_groups {

class thread_block {
public:
  struct arrival_token {};
  KCHECK_D static void sync() {
    __syncthreads();
  }
  KCHECK_D arrival_token barrier_arrive() const {
    asm volatile("barrier.arrive 0, %0;" ::"r"(num_threads()) : "memory");
    return arrival_token();
  }
  KCHECK_D void barrier_wait(arrival_token &&) const {
    __syncthreads();
  }
  KCHECK_D static unsigned thread_rank() {
    return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  }
  KCHECK_D static unsigned num_threads() {
    return blockDim.x * blockDim.y * blockDim.z;
  }
  KCHECK_D static unsigned size() {
    return num_threads();
  }
  KCHECK_D static dim3 group_index() {
    return dim3(blockIdx);
  }
  KCHECK_D static dim3 thread_index() {
    return dim3(threadIdx);
  }
  KCHECK_D static dim3 group_dim() {
    return blockDim;
  }
  KCHECK_D static dim3 dim_threads() {
    return blockDim;
  }
};
KCHECK_D inline thread_block this_thread_block() {
  return thread_block();
}

class grid_group {
public:
  struct arrival_token {};
  KCHECK_D bool is_valid() const {
    return true;
  }
  KCHECK_D void sync() const;
  KCHECK_D arrival_token barrier_arrive() const;
  KCHECK_D void barrier_wait(arrival_token &&) const;
  KCHECK_D static unsigned long long num_blocks() {
    return (unsigned long long)gridDim.x * gridDim.y * gridDim.z;
  }
  KCHECK_D static unsigned long long block_rank() {
    return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  KCHECK_D static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  KCHECK_D static unsigned long long num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  KCHECK_D static unsigned long long size() {
    return num_threads();
  }
  KCHECK_D static dim3 group_dim() {
    return gridDim;
  }
  KCHECK_D static dim3 dim_blocks() {
    return gridDim;
  }
};
KCHECK_D inline grid_group this_grid() {
  return grid_group();
}

class cluster_group {
public:
  struct arrival_token {};
  KCHECK_D static void sync() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  KCHECK_D static arrival_token barrier_arrive() {
    asm volatile("barrier.cluster.arrive.aligned;" ::: "memory");
    return arrival_token();
  }
  KCHECK_D static void barrier_wait() {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  KCHECK_D static void barrier_wait(arrival_token &&) {
    asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  }
  KCHECK_D static unsigned block_rank() {
    unsigned value;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
    return value;
  }
  KCHECK_D static unsigned num_blocks() {
    unsigned value;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
    return value;
  }
  KCHECK_D static dim3 block_index() {
    unsigned x, y, z;
    asm("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_ctaid.z;" : "=r"(z));
    return dim3(x, y, z);
  }
  KCHECK_D static dim3 dim_blocks() {
    unsigned x, y, z;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(x));
    asm("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(y));
    asm("mov.u32 %0, %%cluster_nctaid.z;" : "=r"(z));
    return dim3(x, y, z);
  }
  KCHECK_D static unsigned thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  KCHECK_D static unsigned num_threads() {
    return num_blocks() * thread_block::num_threads();
  }
  KCHECK_D static unsigned size() {
    return num_threads();
  }
  template <class T> KCHECK_D static T *map_shared_rank(T *address, int rank) {
    T *peer;
    asm("mapa.u64 %0, %1, %2;" : "=l"(peer) : "l"(address), "r"(rank));
    return peer;
  }
  KCHECK_D static unsigned query_shared_rank(const void *address) {
    unsigned rank;
    asm("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(address));
    return rank;
  }
};
KCHECK_D inline cluster_group this_cluster() {
  return cluster_group();
}

class coalesced_group {
  unsigned mask;

public:
  KCHECK_D explicit coalesced_group(unsigned m) : mask(m) {}
  KCHECK_D void sync() const {
    __syncwarp(mask);
  }
  KCHECK_D unsigned size() const {
    return __popc(mask);
  }
  KCHECK_D unsigned num_threads() const {
    return __popc(mask);
  }
  KCHECK_D unsigned thread_rank() const {
    unsigned below;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    return __popc(mask & below);
  }
  template <class T> KCHECK_D T shfl(T value, int rank) const {
    return __shfl_sync(mask, value, __fns(mask, 0, rank + 1));
  }
  KCHECK_D int any(int predicate) const {
    return __any_sync(mask, predicate);
  }
  KCHECK_D int all(int predicate) const {
    return __all_sync(mask, predicate);
  }
  KCHECK_D unsigned ballot(int predicate) const {
    return __ballot_sync(mask, predicate);
  }
};
KCHECK_D inline coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

template <unsigned Size, class Parent = void> class thread_block_tile {
  KCHECK_D static unsigned lane() {
    return thread_block::thread_rank() % 32;
  }
  KCHECK_D static unsigned mask() {
    if constexpr (Size >= 32)
      return 0xffffffffu;
    else
      return ((1u << Size) - 1u) << (lane() & ~(Size - 1u));
  }

public:
  KCHECK_D static void sync() {
    static_assert(Size <= 32, "tiles of several warps are not known here");
    __syncwarp(mask());
  }
  KCHECK_D static unsigned thread_rank() {
    return thread_block::thread_rank() % Size;
  }
  KCHECK_D static constexpr unsigned size() {
    return Size;
  }
  KCHECK_D static constexpr unsigned num_threads() {
    return Size;
  }
  KCHECK_D static unsigned meta_group_rank() {
    return thread_block::thread_rank() / Size;
  }
  KCHECK_D static unsigned meta_group_size() {
    return (thread_block::size() + Size - 1) / Size;
  }
  template <class T> KCHECK_D static T shfl(T value, int rank) {
    return __shfl_sync(mask(), value, rank, Size);
  }
  template <class T> KCHECK_D static T shfl_up(T value, unsigned delta) {
    return __shfl_up_sync(mask(), value, delta, Size);
  }
  template <class T> KCHECK_D static T shfl_down(T value, unsigned delta) {
    return __shfl_down_sync(mask(), value, delta, Size);
  }
  template <class T> KCHECK_D static T shfl_xor(T value, unsigned lanes) {
    return __shfl_xor_sync(mask(), value, lanes, Size);
  }
  KCHECK_D static int any(int predicate) {
    return __any_sync(mask(), predicate);
  }
  KCHECK_D static int all(int predicate) {
    return __all_sync(mask(), predicate);
  }
  KCHECK_D static unsigned ballot(int predicate) {
    return __ballot_sync(mask(), predicate);
  }
};
template <unsigned Size, class Parent>
KCHECK_D inline thread_block_tile<Size, Parent> tiled_partition(const Parent &) {
  return thread_block_tile<Size, Parent>();
}
template <class Group> KCHECK_D inline void sync(const Group &group) {
  group.sync();
}
template <class Group> KCHECK_D inline unsigned thread_rank(const Group &group) {
  return group.thread_rank();
}

// reductions over a tile, as <cooperative_groups/reduce.h> has them
template <class T> struct plus {
  KCHECK_D T operator()(T a, T b) const {
    return a + b;
  }
};
template <class T> struct greater {
  KCHECK_D T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
template <class T> struct less {
  KCHECK_D T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
template <class Group, class T, class Op>
KCHECK_D inline T reduce(const Group &group, T value, Op op) {
  for (unsigned lanes = group.size() / 2; lanes > 0; lanes /= 2)
    value = op(value, group.shfl_xor(value, lanes));
  return value;
}

// copies of a group, as <cooperative_groups/memcpy_async.h> has them
template <class Group, class T, class Size>
KCHECK_D inline void memcpy_async(const Group &group, T *dst, const T *src, const Size &size) {
  constexpr unsigned long align = kcheck_promised<T, Size>();
  const unsigned long bytes = static_cast<unsigned long>(size);
  if constexpr (align >= 4) {
    kcheck_copy<align>(dst, src, bytes, group.thread_rank(), group.size());
  } else if ((reinterpret_cast<unsigned long>(dst) | reinterpret_cast<unsigned long>(src)) % 16) {
    kcheck_copy<align>(dst, src, bytes, group.thread_rank(), group.size());
  } else { // nothing promised: what the addresses are
    const unsigned long whole = bytes / 16 * 16;
    kcheck_copy<16>(dst, src, whole, group.thread_rank(), group.size());
    if (whole < bytes)
      kcheck_copy<1>(reinterpret_cast<char *>(dst) + whole,
                     reinterpret_cast<const char *>(src) + whole, bytes - whole,
                     group.thread_rank(), group.size());
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// the same, in elements of each side
template <class Group, class T, class To, class From>
KCHECK_D inline void memcpy_async(const Group &group, T *dst, const To &to, const T *src,
                                  const From &from) {
  const unsigned long room = static_cast<unsigned long>(to);
  const unsigned long given = static_cast<unsigned long>(from);
  memcpy_async(group, dst, src, (room < given ? room : given) * sizeof(T));
}
template <class Group> KCHECK_D inline void wait(const Group &group) {
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  group.sync();
}
template <unsigned prior, class Group> KCHECK_D inline void wait_prior(const Group &group) {
  asm volatile("cp.async.wait_group %0;" ::"n"(prior) : "memory");
  group.sync();
}
} // namespace cooperative_groups
