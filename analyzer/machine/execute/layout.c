/* Where things lie: shared objects (static first, dynamic after them, at their declared alignment
 * and no better) and the cells of local memory. A local scalar's register is its cell; cells of
 * different width that share bytes are kept equal byte by byte when one of them is written. */
#include "machine/execute/core.h"

#include <string.h>

static void place_shared(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  CoreSession *core = session->core;
  uint64_t offset = CORE_SHARED_RESERVED;
  session->object_offset =
      KC_NEW_ARRAY(session->arena, uint64_t, kernel->objects.count ? kernel->objects.count : 1);
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    session->object_offset[i] = object->address;
    if (object->space != IR_SPACE_SHARED || object->dynamic) continue;
    uint64_t align = object->align ? object->align : 1;
    offset = (offset + align - 1) / align * align;
    session->object_offset[i] = offset;
    offset += object->bytes;
  }
  core->static_end = (uint32_t)offset;
  core->dynamic_base = (uint32_t)((offset + 15) / 16 * 16);
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (object->space != IR_SPACE_SHARED || !object->dynamic) continue;
    uint64_t align = object->align > 16 ? object->align : 16;
    core->has_dynamic = true;
    uint64_t base = (offset + align - 1) / align * align;
    session->object_offset[i] = base;
    if (base > core->dynamic_base) core->dynamic_base = (uint32_t)base;
  }
}

/* `reg` overlaps a cell that was not there when its partners were looked up. */
static void forget_partners(CoreSession *core, int32_t reg) {
  if (core->partners[reg]) g_array_unref(core->partners[reg]);
  core->partners[reg] = NULL;
}

static void add_granules(CoreSession *core, int32_t reg, uint64_t address, int bytes) {
  for (uint64_t g = address >> 4; g <= (address + (uint64_t)bytes - 1) >> 4; g++) {
    GArray *list = g_hash_table_lookup(core->granule, GSIZE_TO_POINTER(g));
    if (!list) {
      list = g_array_new(FALSE, FALSE, sizeof(int32_t));
      g_hash_table_insert(core->granule, GSIZE_TO_POINTER(g), list);
    }
    for (guint i = 0; i < list->len; i++) {
      int32_t other = g_array_index(list, int32_t, i);
      uint64_t start = core->reg_cell[other], end = start + core->reg_type[other].bytes;
      if (other != reg && start < address + (uint64_t)bytes && address < end) {
        core->reg_overlaps[other] = 1;
        core->reg_overlaps[reg] = 1;
        forget_partners(core, other);
      }
    }
    g_array_append_val(list, reg);
  }
}

static void add_cell(CoreSession *core, int32_t reg, uint64_t address, IrType type) {
  core->reg_cell[reg] = address;
  core->reg_type[reg] = type;
  gsize key = (gsize)(address << 8 | type.bytes);
  if (!g_hash_table_contains(core->cells, GSIZE_TO_POINTER(key)))
    g_hash_table_insert(core->cells, GSIZE_TO_POINTER(key), GINT_TO_POINTER(reg + 1));
  add_granules(core, reg, address, type.bytes);
}

void core_layout(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  CoreSession *core = session->core;
  place_shared(session);
  core->reg_capacity = kernel->regs.count + CORE_EXTRA_CELLS;
  core->reg_type = g_new0(IrType, core->reg_capacity);
  core->reg_overlaps = g_new0(uint8_t, core->reg_capacity);
  core->reg_cell = g_new0(uint64_t, core->reg_capacity);
  core->partners = g_new0(GArray *, core->reg_capacity);
  core->cells = g_hash_table_new(NULL, NULL);
  core->granule =
      g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)(void (*)(void))g_array_unref);
  session->nregs = kernel->regs.count;
  for (int i = 0; i < kernel->regs.count; i++) {
    const IrReg *reg = &kernel->regs.items[i];
    core->reg_type[i] = reg->type;
    if (reg->cell && reg->type.bytes) add_cell(core, i, reg->cell, reg->type);
  }
}

void core_layout_free(MachineSession *session) {
  CoreSession *core = session->core;
  for (int i = 0; i < core->reg_capacity; i++)
    forget_partners(core, i);
  g_free(core->partners);
  for (int i = 0; i < CORE_LOOKUPS; i++)
    if (core->lookups[i].cells) g_array_unref(core->lookups[i].cells);
  g_free(core->reg_type);
  g_free(core->reg_overlaps);
  g_free(core->reg_cell);
  g_hash_table_destroy(core->cells);
  g_hash_table_destroy(core->granule);
}

static CoreLookup *lookup_of(CoreSession *core, uint64_t address, uint64_t bytes) {
  return &core->lookups[core_hash(address, bytes) % CORE_LOOKUPS];
}

int32_t core_find_cell(const MachineSession *session, uint64_t address, int bytes) {
  CoreSession *core = session->core;
  CoreLookup *lookup = lookup_of(core, address, (uint64_t)bytes);
  /* A cell that is there stays there. */
  if (lookup->cell_bytes == bytes && lookup->cell_address == address) return lookup->cell;
  gsize key = (gsize)(address << 8 | (uint64_t)bytes);
  int32_t found = GPOINTER_TO_INT(g_hash_table_lookup(core->cells, GSIZE_TO_POINTER(key))) - 1;
  if (found < 0) return found;
  lookup->cell = found;
  lookup->cell_address = address;
  lookup->cell_bytes = bytes;
  return found;
}

int32_t core_make_cell(MachineSession *session, uint64_t address, int bytes) {
  CoreSession *core = session->core;
  int32_t found = core_find_cell(session, address, bytes);
  if (found >= 0) return found;
  if (session->nregs >= core->reg_capacity) return -1;
  int32_t reg = session->nregs++;
  add_cell(core, reg, address, IR_TYPE_U((uint8_t)bytes));
  return reg;
}

static gint by_address(gconstpointer a, gconstpointer b, gpointer user) {
  const CoreSession *core = user;
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  if (core->reg_cell[x] != core->reg_cell[y]) return core->reg_cell[x] < core->reg_cell[y] ? -1 : 1;
  return (x > y) - (x < y);
}

static GArray *find_cells(CoreSession *core, uint64_t address, uint64_t bytes) {
  GArray *out = g_array_new(FALSE, FALSE, sizeof(int32_t));
  if (bytes == 0) return out;
  for (uint64_t g = address >> 4; g <= (address + bytes - 1) >> 4; g++) {
    const GArray *list = g_hash_table_lookup(core->granule, GSIZE_TO_POINTER(g));
    for (guint i = 0; list && i < list->len; i++) {
      int32_t reg = g_array_index(list, int32_t, i);
      uint64_t start = core->reg_cell[reg], end = start + core->reg_type[reg].bytes;
      bool touches = start < address + bytes && address < end;
      bool first_granule = g == (start > address ? start : address) >> 4;
      if (touches && first_granule) g_array_append_val(out, reg);
    }
  }
  g_array_sort_with_data(out, by_address, core);
  return out;
}

GArray *core_cells_in(const MachineSession *session, uint64_t address, uint64_t bytes) {
  CoreSession *core = session->core;
  CoreLookup *lookup = lookup_of(core, address, bytes);
  if (!lookup->cells || lookup->address != address || lookup->bytes != bytes ||
      lookup->nregs != session->nregs) {
    if (lookup->cells) g_array_unref(lookup->cells);
    lookup->cells = find_cells(core, address, bytes);
    lookup->address = address;
    lookup->bytes = bytes;
    lookup->nregs = session->nregs;
  }
  return g_array_ref(lookup->cells);
}

/* The bytes of `from` (value of a cell at `start`) that lie in the cell (to_start, to_bytes)
 * replace those of `old`. */
static uint64_t splice(uint64_t old, uint64_t to_start, int to_bytes, uint64_t from, uint64_t start,
                       int bytes) {
  for (int i = 0; i < to_bytes && i < 8; i++) {
    uint64_t at = to_start + (uint64_t)i;
    if (at < start || at >= start + (uint64_t)bytes) continue;
    uint64_t byte = from >> (8 * (at - start)) & 0xff;
    old = (old & ~(UINT64_C(0xff) << (8 * i))) | byte << (8 * i);
  }
  return old;
}

/* The value of `lane` after the bytes of `from` went in; false: unknown. */
static bool spliced(const CoreSession *core, const MachineReg *from, int32_t reg,
                    const MachineReg *to, int32_t other, uint32_t lane, uint64_t *out) {
  uint64_t start = core->reg_cell[reg], to_start = core->reg_cell[other];
  int bytes = core->reg_type[reg].bytes, to_bytes = core->reg_type[other].bytes;
  bool covers = start <= to_start && to_start + (uint64_t)to_bytes <= start + (uint64_t)bytes;
  uint64_t old = to->lanes ? to->lanes[lane] : to->scalar;
  uint64_t fresh = from->lanes ? from->lanes[lane] : from->scalar;
  bool ok = (from->known >> lane & 1) && (covers || (to->known >> lane & 1));
  /* Of a 16-byte cell the low half is kept. */
  if (bytes > 8 && to_start + (uint64_t)(to_bytes < 8 ? to_bytes : 8) > start + 8) ok = false;
  *out = ok ? splice(covers ? 0 : old, to_start, to_bytes, fresh, start, bytes)
            : core_hash(fresh, to_start);
  return ok;
}

static bool none_or_all(uint32_t known, uint32_t lanes) {
  return (known & lanes) == 0 || (known & lanes) == lanes;
}

static void splice_one(Machine *machine, Strand *strand, int32_t reg, int32_t other,
                       uint32_t lanes) {
  const CoreSession *core = core_session(machine);
  MachineReg *from = &strand->warp->regs[reg], *to = &strand->warp->regs[other];
  to->written = from->written;
  if (!from->lanes && !to->lanes && (strand->warp->alive & ~lanes) == 0 &&
      none_or_all(from->known, lanes) && none_or_all(to->known, lanes)) {
    bool ok = spliced(core, from, reg, to, other, (uint32_t)__builtin_ctz(lanes), &to->scalar);
    to->known = ok ? to->known | lanes : to->known & ~lanes;
    return;
  }
  uint64_t result[32];
  uint32_t known = 0;
  FOR_LANES(lane, lanes)
  known |= (uint32_t)spliced(core, from, reg, to, other, lane, &result[lane]) << lane;
  if (!to->lanes) {
    uint64_t *fresh = core_alloc_lanes(machine);
    for (int i = 0; i < 32; i++)
      fresh[i] = to->scalar;
    to->lanes = fresh;
  }
  FOR_LANES(lane, lanes)
  to->lanes[lane] = result[lane];
  to->known = (to->known & ~lanes) | known;
}

void core_splice_cells(Machine *machine, Strand *strand, int32_t reg, uint32_t lanes) {
  CoreSession *core = core_session(machine);
  if (!core->partners[reg])
    core->partners[reg] = find_cells(core, core->reg_cell[reg], core->reg_type[reg].bytes);
  const GArray *others = core->partners[reg];
  for (guint i = 0; i < others->len; i++) {
    int32_t other = g_array_index(others, int32_t, i);
    if (other != reg) splice_one(machine, strand, reg, other, lanes);
  }
}
