#include "budget/internal.h"

#include <glib.h>

static int64_t round_up(int64_t value, int64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/* cuda_occupancy.h: registers are allocated to warps in units of 256, and a block's warps are
 * spread over four sub-partitions with 16384 registers each. */
static int64_t blocks_by_registers(const Arch *arch, int64_t threads, int64_t registers) {
  int64_t per_warp = round_up(registers, 8) * 32;
  int64_t warps_per_partition = arch->registers_per_sm / 4 / per_warp;
  return warps_per_partition * 4 / ((threads + 31) / 32);
}

int budget_blocks_per_sm(const Arch *arch, int64_t smem, int64_t threads, int64_t registers) {
  if (smem < 0 && threads <= 0) return -1;
  int64_t blocks = arch->max_blocks_per_sm;
  if (smem >= 0) {
    int64_t used = round_up(smem + arch->smem_reserved_per_block, arch->smem_granularity);
    if (smem > arch->smem_opt_in) return 0;
    if (used > 0) blocks = MIN(blocks, arch->smem_per_sm / used);
  }
  if (threads > arch->max_threads_per_block) return 0;
  if (threads > 0) {
    blocks = MIN(blocks, arch->max_threads_per_sm / round_up(threads, 32));
    if (registers > 0) blocks = MIN(blocks, blocks_by_registers(arch, threads, registers));
  }
  return (int)blocks;
}
