/* Values of lanes and the register file. A register is uniform or has 32 lanes; a strand's write
 * touches only its own lanes, so divergence never copies the file. */
#include "machine/execute/core.h"

#include <string.h>

uint64_t core_hash(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xbf58476d1ce4e5b9) + b;
  x ^= x >> 29;
  x *= UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 32;
}

bool value_same(Value v, uint32_t mask, uint64_t *out) {
  *out = 0;
  if (mask == 0 || (v.known & mask) != mask) return false;
  if (v.uniform) {
    *out = v.scalar;
    return true;
  }
  *out = v.lanes[__builtin_ctz(mask)];
  FOR_LANES(lane, mask) {
    if (v.lanes[lane] != *out) return false;
  }
  return true;
}

uint64_t *core_scratch(Machine *machine) {
  CoreRun *run = core_run(machine);
  return run->scratch[run->scratch_used++ % CORE_SCRATCH];
}

Value value_from_lanes(Machine *machine, const uint64_t lanes[32], uint32_t known, uint32_t mask) {
  if (mask == 0) return value_unknown(0);
  uint64_t first = lanes[__builtin_ctz(mask)];
  bool same = true;
  FOR_LANES(lane, mask) {
    if (lanes[lane] != first) {
      same = false;
      break;
    }
  }
  if (same) return (Value){.known = known, .uniform = true, .scalar = first};
  uint64_t *copy = core_scratch(machine);
  if (copy != lanes) memcpy(copy, lanes, 32 * sizeof *copy);
  return (Value){.known = known, .lanes = copy};
}

Value value_fresh(Machine *machine) {
  return value_unknown(core_hash(++core_run(machine)->fresh, 0x5f) & ~UINT64_C(1));
}

enum { LANE_CHUNK = 64 };

static void free_chunk(CoreRun *run, uint64_t (*chunk)[32]) {
  for (int i = 0; i < LANE_CHUNK; i++) {
    *(void **)chunk[i] = run->free_lanes;
    run->free_lanes = chunk[i];
  }
}

void core_lanes_init(Machine *machine) {
  CoreSpare *spare = &core_session(machine)->spare;
  if (!spare->lane_chunks) spare->lane_chunks = g_ptr_array_new_with_free_func(g_free);
  for (guint i = 0; i < spare->lane_chunks->len; i++)
    free_chunk(core_run(machine), spare->lane_chunks->pdata[i]);
  core_run(machine)->lane_bytes = sizeof(uint64_t[32]) * LANE_CHUNK * spare->lane_chunks->len;
}

uint64_t *core_alloc_lanes(Machine *machine) {
  CoreRun *run = core_run(machine);
  if (!run->free_lanes) {
    uint64_t(*chunk)[32] = g_malloc(sizeof(uint64_t[32]) * LANE_CHUNK);
    g_ptr_array_add(core_session(machine)->spare.lane_chunks, chunk);
    run->lane_bytes += sizeof(uint64_t[32]) * LANE_CHUNK;
    free_chunk(run, chunk);
  }
  uint64_t *lanes = run->free_lanes;
  run->free_lanes = *(void **)lanes;
  return lanes;
}

void core_free_lanes(Machine *machine, uint64_t *lanes) {
  CoreRun *run = core_run(machine);
  *(void **)lanes = run->free_lanes;
  run->free_lanes = lanes;
}

static void expand(Machine *machine, MachineReg *reg) {
  if (reg->lanes) return;
  reg->lanes = core_alloc_lanes(machine);
  for (int i = 0; i < 32; i++)
    reg->lanes[i] = reg->scalar;
}

/* Known lanes are cut to the register's width; the names of unknowns are not. */
static inline uint64_t fit(uint64_t raw, uint32_t known, uint32_t lane, uint64_t mask) {
  return known >> lane & 1 ? raw & mask : raw;
}

/* Every living lane gets a known value. The writers return whether anything changed. */
static bool write_all(Machine *machine, MachineReg *reg, const uint64_t *from, uint32_t living,
                      uint64_t mask) {
  expand(machine, reg);
  uint64_t *to = reg->lanes, first = from[__builtin_ctz(living)] & mask, differ = 0, changed = 0;
  if (living == MACHINE_ALL_LANES) {
    for (int i = 0; i < 32; i++) {
      uint64_t raw = from[i] & mask;
      changed |= to[i] ^ raw;
      differ |= raw ^ first;
      to[i] = raw;
    }
  } else {
    FOR_LANES(lane, living) {
      uint64_t raw = from[lane] & mask;
      changed |= to[lane] ^ raw;
      differ |= raw ^ first;
      to[lane] = raw;
    }
  }
  if (!differ) {
    core_free_lanes(machine, reg->lanes);
    reg->lanes = NULL;
    reg->scalar = first;
  }
  return changed != 0;
}

static bool write_uniform(Machine *machine, MachineReg *reg, uint64_t raw, uint32_t lanes,
                          bool all) {
  if (!reg->lanes && reg->scalar == raw) return false;
  if (all) {
    bool changed = !reg->lanes;
    if (reg->lanes) {
      FOR_LANES(lane, lanes)
      changed |= reg->lanes[lane] != raw;
      core_free_lanes(machine, reg->lanes);
    }
    reg->lanes = NULL;
    reg->scalar = raw;
    return changed;
  }
  expand(machine, reg);
  bool changed = false;
  FOR_LANES(lane, lanes) {
    changed |= reg->lanes[lane] != raw;
    reg->lanes[lane] = raw;
  }
  return changed;
}

static bool write_lanes(Machine *machine, MachineReg *reg, Value value, uint32_t lanes,
                        uint32_t living, uint64_t mask) {
  bool all = (living & ~lanes) == 0;
  uint32_t first = (uint32_t)__builtin_ctz(lanes);
  if (value.uniform)
    return write_uniform(machine, reg, fit(value.scalar, value.known, first, mask), lanes, all);
  if (all && (value.known & lanes) == lanes)
    return write_all(machine, reg, value.lanes, living & lanes, mask);
  expand(machine, reg);
  uint64_t sample = fit(value.lanes[first], value.known, first, mask);
  bool same = all, changed = false;
  FOR_LANES(lane, lanes) {
    uint64_t raw = fit(value.lanes[lane], value.known, lane, mask);
    changed |= reg->lanes[lane] != raw;
    reg->lanes[lane] = raw;
    same &= raw == sample;
  }
  if (same) {
    core_free_lanes(machine, reg->lanes);
    reg->lanes = NULL;
    reg->scalar = sample;
  }
  return changed;
}

void core_put_reg(Machine *machine, Strand *strand, int32_t id, Value value, uint32_t lanes) {
  CoreSession *session = core_session(machine);
  MachineReg *reg = &strand->warp->regs[id];
  IrType type = session->reg_type[id];
  uint64_t mask = type.cls == IR_CLASS_PRED ? 1 : core_width_mask(type.bytes);
  if (write_lanes(machine, reg, value, lanes, strand->warp->alive, mask)) strand->unchanged = 0;
  reg->known = (reg->known & ~lanes) | (value.known & lanes);
  reg->written = (uint32_t)machine->step;
  if (reg->watched)
    protocol_reg_write(machine, strand, &machine->kernel->insns.items[strand->pc], id);
}

void core_write_reg(Machine *machine, Strand *strand, int32_t id, Value value, uint32_t lanes) {
  if (lanes == 0) return;
  core_put_reg(machine, strand, id, value, lanes);
  if (core_session(machine)->reg_overlaps[id]) core_splice_cells(machine, strand, id, lanes);
}
