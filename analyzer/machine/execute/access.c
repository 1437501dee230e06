/* Block copies and fills, names of places, tensor maps by address, and the report of every access
 * to the protocol half. */
#include "machine/execute/core.h"

#include <string.h>

static Value load_at(Machine *machine, Strand *strand, uint32_t lanes, uint64_t address,
                     int width) {
  return core_load(machine, strand, value_known(address), IR_SPACE_GENERIC, width, lanes);
}

static void store_at(Machine *machine, Strand *strand, uint32_t lanes, uint64_t address, int width,
                     Value value) {
  core_store(machine, strand, value_known(address), IR_SPACE_GENERIC, width, value, lanes);
}

/* Copies what the source's cells hold to the same places of the destination; bytes of the
 * destination that no source cell covers become unknown. */
static void copy_from_local(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst,
                            uint64_t src, uint64_t bytes) {
  const CoreSession *core = core_session(machine);
  MachineAddress to = machine_address(machine, dst, IR_SPACE_GENERIC);
  GArray *cells = core_cells_in(machine->session, src, bytes);
  GArray *old = to.space == IR_SPACE_LOCAL ? core_cells_in(machine->session, dst, bytes) : NULL;
  for (guint i = 0; old && i < old->len; i++) {
    int32_t reg = g_array_index(old, int32_t, i);
    if (core->reg_cell[reg] < dst) continue;
    uint64_t from = src + (core->reg_cell[reg] - dst);
    core_write_reg(machine, strand, reg,
                   load_at(machine, strand, lanes, from, core->reg_type[reg].bytes), lanes);
  }
  if (to.space == IR_SPACE_SHARED && cells->len == 0)
    machine_shared_forget(machine, to.rank, to.offset, bytes);
  for (guint i = 0; i < cells->len; i++) {
    int32_t reg = g_array_index(cells, int32_t, i);
    uint64_t start = core->reg_cell[reg], there = dst + (start - src);
    int width = core->reg_type[reg].bytes;
    if (start < src || start + (uint64_t)width > src + bytes) continue;
    if (old && core_find_cell(machine->session, there, width) >= 0) continue;
    store_at(machine, strand, lanes, there, width, load_at(machine, strand, lanes, start, width));
  }
  g_array_unref(cells);
  if (old) g_array_unref(old);
}

static int chunk_at(uint64_t a, uint64_t b, uint64_t left) {
  int width = 8;
  while (width > 1 && (((a | b) & (uint64_t)(width - 1)) || (uint64_t)width > left))
    width /= 2;
  return width;
}

static void copy_to_local(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst,
                          uint64_t src, uint64_t bytes) {
  const CoreSession *core = core_session(machine);
  GArray *cells = core_cells_in(machine->session, dst, bytes);
  uint64_t done = 0;
  for (guint i = 0; i < cells->len; i++) {
    int32_t reg = g_array_index(cells, int32_t, i);
    if (core->reg_cell[reg] < dst) continue;
    int width = core->reg_type[reg].bytes;
    uint64_t from = src + (core->reg_cell[reg] - dst);
    core_write_reg(machine, strand, reg, load_at(machine, strand, lanes, from, width), lanes);
    done += (uint64_t)width;
  }
  g_array_unref(cells);
  if (done >= bytes || bytes > 512) return;
  /* Parts that nothing has named yet: a computed address may ask for them. */
  for (uint64_t at = 0; at < bytes;) {
    int width = chunk_at(dst + at, src + at, bytes - at);
    if (width > 4) width = 4;
    GArray *there = core_cells_in(machine->session, dst + at, (uint64_t)width);
    bool fresh = there->len == 0;
    g_array_unref(there);
    Value v = fresh ? load_at(machine, strand, lanes, src + at, width) : value_unknown(0);
    if (v.known & lanes) store_at(machine, strand, lanes, dst + at, width, v);
    at += (uint64_t)width;
  }
}

void core_copy(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst, uint64_t src,
               uint64_t bytes) {
  MachineAddress to = machine_address(machine, dst, IR_SPACE_GENERIC);
  MachineAddress from = machine_address(machine, src, IR_SPACE_GENERIC);
  if (bytes > 1 << 20) bytes = 1 << 20;
  if (from.space == IR_SPACE_LOCAL) {
    copy_from_local(machine, strand, lanes, dst, src, bytes);
    return;
  }
  if (to.space == IR_SPACE_LOCAL) {
    copy_to_local(machine, strand, lanes, dst, src, bytes);
    return;
  }
  for (uint64_t at = 0; at < bytes;) {
    int width = chunk_at(to.offset + at, from.offset + at, bytes - at);
    MachineAddress a = from, b = to;
    a.offset += at;
    b.offset += at;
    uint64_t out;
    bool known = core_load_lane(machine, strand, __builtin_ctz(lanes), a, width, &out);
    core_store_lane(machine, strand, __builtin_ctz(lanes), b, width, known, out);
    at += (uint64_t)width;
  }
}

/* Whether none of the cells reaches out of [dst, dst + bytes), so that a fill with one byte leaves
 * nothing to splice. */
static bool all_covered(const CoreSession *core, const GArray *cells, uint64_t dst,
                        uint64_t bytes) {
  for (guint i = 0; i < cells->len; i++) {
    int32_t reg = g_array_index(cells, int32_t, i);
    if (core->reg_cell[reg] < dst || core->reg_type[reg].cls == IR_CLASS_PRED ||
        core->reg_cell[reg] + core->reg_type[reg].bytes > dst + bytes)
      return false;
  }
  return true;
}

static void fill_cells(Machine *machine, Strand *strand, uint32_t lanes, const GArray *cells,
                       uint64_t dst, uint64_t bytes, Value v) {
  const CoreSession *core = core_session(machine);
  bool alone = lanes && (v.known & lanes) == lanes && all_covered(core, cells, dst, bytes);
  for (guint i = 0; i < cells->len; i++) {
    int32_t reg = g_array_index(cells, int32_t, i);
    if (alone)
      core_put_reg(machine, strand, reg, v, lanes);
    else if (core->reg_cell[reg] >= dst && core->reg_type[reg].cls != IR_CLASS_PRED)
      core_write_reg(machine, strand, reg, v, lanes);
  }
}

void core_fill(Machine *machine, Strand *strand, uint32_t lanes, uint64_t dst, uint64_t bytes,
               bool known, uint8_t byte) {
  MachineAddress to = machine_address(machine, dst, IR_SPACE_GENERIC);
  uint64_t pattern = byte * UINT64_C(0x0101010101010101);
  Value v = {.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = pattern};
  if (bytes > 1 << 20) bytes = 1 << 20;
  if (to.space == IR_SPACE_LOCAL) {
    GArray *cells = core_cells_in(machine->session, dst, bytes);
    fill_cells(machine, strand, lanes, cells, dst, bytes, v);
    bool any = cells->len > 0;
    g_array_unref(cells);
    if (any || bytes > 4096) return;
  }
  for (uint64_t at = 0; at < bytes;) {
    int width = chunk_at(to.offset + at, 0, bytes - at);
    if (to.space == IR_SPACE_LOCAL && width > 4) width = 4;
    MachineAddress there = to;
    there.offset += at;
    if (to.space == IR_SPACE_LOCAL)
      store_at(machine, strand, lanes, there.offset, width, v);
    else
      core_store_lane(machine, strand, __builtin_ctz(lanes), there, width, known, pattern);
    at += (uint64_t)width;
  }
}

/* ---- reporting accesses ---- */

typedef struct {
  uint64_t lanes[32];
  uint32_t shared, global, unknown;
} Split;

static void split_access(Machine *machine, Value address, IrSpace space, uint32_t lanes,
                         Split *out) {
  FOR_LANES(lane, lanes) {
    uint64_t raw;
    if (!value_lane(address, (int)lane, &raw)) {
      out->unknown |= 1u << lane;
      continue;
    }
    MachineAddress at = machine_address(machine, raw, space);
    if (at.space == IR_SPACE_SHARED) {
      out->shared |= 1u << lane;
      out->lanes[lane] = (uint64_t)at.rank << 24 | at.offset;
    } else if (at.space == IR_SPACE_GLOBAL) {
      out->global |= 1u << lane;
      out->lanes[lane] = raw;
    }
  }
}

void core_access(Machine *machine, Strand *strand, const IrInsn *insn, MachineAccessKind kind,
                 Value address, IrSpace space, uint32_t bytes, uint32_t lanes) {
  uint64_t same;
  MachineAccess access = {.kind = kind, .bytes = bytes};
  if (space == IR_SPACE_LOCAL || space == IR_SPACE_PARAM) return;
  if (value_same(address, lanes, &same)) {
    MachineAddress at = machine_address(machine, same, space);
    if (at.space != IR_SPACE_SHARED && at.space != IR_SPACE_GLOBAL) return;
    access.space = at.space;
    access.lanes = lanes;
    if (at.space == IR_SPACE_SHARED) {
      core_reach(machine, at.offset + bytes);
      strand->warp->shared_sum += core_hash(at.offset, (uint64_t)kind << 32 | lanes);
    }
    access.address =
        value_known(at.space == IR_SPACE_SHARED ? (uint64_t)at.rank << 24 | at.offset : at.offset);
    protocol_access(machine, strand, insn, &access);
    return;
  }
  Split split = {.shared = 0};
  split_access(machine, address, space, lanes, &split);
  if (split.unknown) strand->warp->shared_sum += machine->step;
  if (split.shared) {
    uint64_t end = 0;
    FOR_LANES(lane, split.shared) {
      uint64_t offset = split.lanes[lane] & 0xffffff;
      if (offset > end && offset + bytes < 1 << 20) end = offset;
    }
    core_reach(machine, end + bytes);
    access.space = IR_SPACE_SHARED;
    access.lanes = split.shared;
    access.address = value_from_lanes(machine, split.lanes, split.shared, split.shared);
    protocol_access(machine, strand, insn, &access);
  }
  if (split.global) {
    access.space = IR_SPACE_GLOBAL;
    access.lanes = split.global;
    access.address = value_from_lanes(machine, split.lanes, split.global, split.global);
    protocol_access(machine, strand, insn, &access);
  }
  if (split.unknown) {
    if (kind != MACHINE_READ) core_forget_unknown(machine, strand, insn, space);
    access.space = space == IR_SPACE_GLOBAL || space == IR_SPACE_CONST ? IR_SPACE_GLOBAL
                   : space == IR_SPACE_GENERIC                         ? IR_SPACE_GENERIC
                                                                       : IR_SPACE_SHARED;
    access.lanes = 0;
    access.unknown = split.unknown;
    access.address = value_unknown(0);
    protocol_access(machine, strand, insn, &access);
  }
}

/* ---- names ---- */

int machine_shared_object(const Machine *machine, uint64_t offset, uint64_t *within) {
  const IrKernel *kernel = machine->kernel;
  int best = -1;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (object->space != IR_SPACE_SHARED) continue;
    uint64_t start = machine->session->object_offset[i];
    uint64_t bytes = object->dynamic ? machine->session->shared_bytes : object->bytes;
    if (offset < start || offset >= start + bytes) continue;
    if (best >= 0 && kernel->objects.items[best].fields.count >= object->fields.count) continue;
    best = i;
  }
  if (best >= 0) *within = offset - machine->session->object_offset[best];
  return best;
}

const char *machine_place(Machine *machine, MachineAddress address, int seen_from) {
  KcArena *arena = machine->session->arena;
  if (address.space == IR_SPACE_NONE)
    return kc_printf(arena, "address 0x%llx", (unsigned long long)address.offset);
  if (address.space == IR_SPACE_PARAM) {
    uint64_t offset = address.offset - IR_PARAM_BASE;
    for (int i = 0; i < machine->kernel->params.count; i++) {
      const IrParam *param = &machine->kernel->params.items[i];
      if (offset >= param->offset && offset < param->offset + param->bytes) return param->name;
    }
    return kc_printf(arena, "parameter+0x%llx", (unsigned long long)offset);
  }
  if (address.space != IR_SPACE_SHARED) {
    uint64_t index = (address.offset - IR_POINTER_BASE) / IR_POINTER_STRIDE;
    const IrLeaf *leaf = address.offset >= IR_POINTER_BASE && address.offset < IR_GLOBAL_BASE
                             ? sample_pointer_leaf(machine->kernel, index)
                             : NULL;
    uint64_t offset = (address.offset - IR_POINTER_BASE) % IR_POINTER_STRIDE;
    if (leaf && leaf->name && offset == 0) return leaf->name;
    if (leaf && leaf->name)
      return kc_printf(arena, "%s+0x%llx", leaf->name, (unsigned long long)offset);
    return kc_printf(arena, "0x%llx", (unsigned long long)address.offset);
  }
  uint64_t within = 0;
  int id = machine_shared_object(machine, address.offset, &within);
  const char *name = id >= 0
                         ? ir_object_place(arena, &machine->kernel->objects.items[id], within)
                         : kc_printf(arena, "shared+0x%llx", (unsigned long long)address.offset);
  if (address.rank == seen_from || machine->cluster_size == 1) return name;
  return kc_printf(arena, "%s of CTA %d", name, address.rank);
}

const IrField *machine_shared_field(const Machine *machine, uint64_t offset, uint64_t *start) {
  uint64_t within = 0;
  int id = machine_shared_object(machine, offset, &within);
  if (id < 0) return NULL;
  const IrObject *object = &machine->kernel->objects.items[id];
  for (int i = 0; i < object->fields.count; i++) {
    const IrField *field = &object->fields.items[i];
    uint64_t bytes = field->elem_bytes * field->count;
    if (within < field->offset || within >= field->offset + bytes) continue;
    *start = machine->session->object_offset[id] + field->offset;
    return field;
  }
  return NULL;
}

const MachineTensorMap *machine_tensor_map(Machine *machine, uint64_t address, uint64_t *id) {
  *id = address;
  GHashTable *maps = core_session(machine)->maps;
  const MachineTensorMap *map = g_hash_table_lookup(maps, GSIZE_TO_POINTER(address));
  if (map || address < IR_POINTER_BASE) return map;
  /* Another element of an array of maps: what is said of the array is said of each. */
  uint64_t array = address - (address - IR_POINTER_BASE) % IR_POINTER_STRIDE;
  return g_hash_table_lookup(maps, GSIZE_TO_POINTER(array));
}
