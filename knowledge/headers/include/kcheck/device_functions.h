// Builtin variables and device functions. They have no bodies: the lowering knows them by name.
#pragma once
#include "vector_types.h"

extern const KCHECK_D uint3 threadIdx;
extern const KCHECK_D uint3 blockIdx;
extern const KCHECK_D dim3 blockDim;
extern const KCHECK_D dim3 gridDim;
KCHECK_D const int warpSize = 32;

// synchronisation and fences
KCHECK_D void __syncthreads();
KCHECK_D int __syncthreads_count(int predicate);
KCHECK_D int __syncthreads_and(int predicate);
KCHECK_D int __syncthreads_or(int predicate);
KCHECK_D void __syncwarp(unsigned mask = 0xffffffff);
KCHECK_D void __threadfence();
KCHECK_D void __threadfence_block();
KCHECK_D void __threadfence_system();
KCHECK_D void __barrier_sync(unsigned id);
KCHECK_D void __barrier_sync_count(unsigned id, unsigned count);
KCHECK_D void __cluster_barrier_arrive();
KCHECK_D void __cluster_barrier_arrive_relaxed();
KCHECK_D void __cluster_barrier_wait();
KCHECK_D unsigned __clusterRelativeBlockRank();
KCHECK_D unsigned __clusterSizeInBlocks();
KCHECK_D dim3 __clusterDim();
KCHECK_D dim3 __clusterRelativeBlockIdx();
KCHECK_D dim3 __clusterGridDimInClusters();
KCHECK_D dim3 __clusterIdx();
KCHECK_D void *__cluster_map_shared_rank(const void *pointer, unsigned rank);
KCHECK_D unsigned __cluster_query_shared_rank(const void *pointer);
KCHECK_D void cudaGridDependencySynchronize();
KCHECK_D void cudaTriggerProgrammaticLaunchCompletion();

// address spaces
KCHECK_D size_t __cvta_generic_to_shared(const void *pointer);
KCHECK_D size_t __cvta_generic_to_global(const void *pointer);
KCHECK_D size_t __cvta_generic_to_local(const void *pointer);
KCHECK_D size_t __cvta_generic_to_constant(const void *pointer);
KCHECK_D size_t __cvta_generic_to_grid_constant(const void *pointer);
KCHECK_D void *__cvta_shared_to_generic(size_t address);
KCHECK_D void *__cvta_global_to_generic(size_t address);
KCHECK_D void *__cvta_local_to_generic(size_t address);
KCHECK_D void *__cvta_constant_to_generic(size_t address);
KCHECK_D unsigned __isGlobal(const void *pointer);
KCHECK_D unsigned __isShared(const void *pointer);
KCHECK_D unsigned __isConstant(const void *pointer);
KCHECK_D unsigned __isLocal(const void *pointer);
KCHECK_D unsigned __isGridConstant(const void *pointer);
KCHECK_D unsigned __isClusterShared(const void *pointer);

// time, traps, asserts
KCHECK_D long long clock64();
KCHECK_D long clock();
KCHECK_D unsigned long long __globaltimer();
KCHECK_D void __nanosleep(unsigned nanoseconds);
KCHECK_D void __trap();
KCHECK_D void __brkpt();
KCHECK_D void __prof_trigger(int counter);
KCHECK_D void __nv_unreachable();
