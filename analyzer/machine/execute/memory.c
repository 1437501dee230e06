/* Contents of memory, by window of the generic address space. Shared memory is dense with a known
 * bit for each byte; global memory is sparse; locals are registers (cells). Bytes that are not
 * known hold the name of the unknown value stored there, so that it is recognised when it is loaded
 * again. */
#include "machine/execute/core.h"
#include "machine/inputs/sample.h"

#include <string.h>

bool machine_is_global_address(const Machine *machine, uint64_t value) {
  return value >= IR_POINTER_BASE || !sample_pointer_leaf(machine->session->kernel, 0);
}

/* ---- shared memory ---- */

void core_reach(Machine *machine, uint64_t end) {
  CoreSession *core = core_session(machine);
  if (end > core->shared_reach && end < 1 << 20) core->shared_reach = end;
}

static bool shared_range(const Machine *machine, int rank, uint64_t offset, uint64_t bytes) {
  return rank >= 0 && rank < machine->cluster_size && offset + bytes >= offset &&
         offset + bytes <= machine->session->shared_bytes;
}

static bool shared_read(const Machine *machine, int rank, uint64_t offset, int width,
                        uint64_t *out) {
  if (!shared_range(machine, rank, offset, (uint64_t)width)) {
    *out = core_hash(offset, (uint64_t)rank + 77) & ~UINT64_C(1);
    return false;
  }
  const Cta *cta = &machine->ctas[rank];
  uint64_t raw = 0;
  if (width == 4)
    memcpy(&raw, cta->shared + offset, 4);
  else
    memcpy(&raw, cta->shared + offset, (size_t)width);
  /* The known bits of up to eight bytes lie in two neighbours; the array is padded. */
  unsigned bits = cta->shared_known[offset >> 3] | (unsigned)cta->shared_known[(offset >> 3) + 1]
                                                       << 8;
  unsigned mask = (1u << width) - 1;
  bool known = (bits >> (offset & 7) & mask) == mask;
  *out = known ? raw : core_hash(raw, offset << 8 | (uint64_t)rank) & ~UINT64_C(1);
  return known;
}

bool machine_shared_load(const Machine *machine, int rank, uint64_t offset, int width,
                         uint64_t *out) {
  return shared_read(machine, rank, offset, width, out);
}

/* Replaces the low `width` bytes at `to`; whether that changed any. */
static inline bool put_bytes(uint8_t *to, int width, uint64_t value) {
  uint64_t old = 0;
  switch (width) {
  case 2: {
    uint16_t v = (uint16_t)value, o;
    memcpy(&o, to, 2);
    memcpy(to, &v, 2);
    return o != v;
  }
  case 4: {
    uint32_t v = (uint32_t)value, o;
    memcpy(&o, to, 4);
    memcpy(to, &v, 4);
    return o != v;
  }
  case 8:
    memcpy(&old, to, 8);
    memcpy(to, &value, 8);
    return old != value;
  default: {
    bool changed = memcmp(to, &value, (size_t)width) != 0;
    memcpy(to, &value, (size_t)width);
    return changed;
  }
  }
}

void machine_shared_store(Machine *machine, int rank, uint64_t offset, int width, bool known,
                          uint64_t value) {
  core_reach(machine, offset + (uint64_t)width);
  if (!shared_range(machine, rank, offset, (uint64_t)width)) return;
  Cta *cta = &machine->ctas[rank];
  if (put_bytes(cta->shared + offset, width, value)) core_run(machine)->effects++;
  /* The known bits of up to eight bytes lie in two neighbours; the array is padded. */
  uint8_t *bits = &cta->shared_known[offset >> 3];
  unsigned mask = ((1u << width) - 1) << (offset & 7);
  if (known) {
    bits[0] |= (uint8_t)mask;
    bits[1] |= (uint8_t)(mask >> 8);
  } else {
    bits[0] &= (uint8_t)~mask;
    bits[1] &= (uint8_t) ~(mask >> 8);
  }
}

/* Clears the known bits of [from, end). */
static void forget_known(uint8_t *known, uint64_t from, uint64_t end) {
  for (; from < end && (from & 7); from++)
    known[from >> 3] &= (uint8_t) ~(1u << (from & 7));
  if (from + 8 <= end) memset(known + (from >> 3), 0, (size_t)((end - from) >> 3));
  for (from += (end - from) & ~UINT64_C(7); from < end; from++)
    known[from >> 3] &= (uint8_t) ~(1u << (from & 7));
}

void machine_shared_forget(Machine *machine, int rank, uint64_t offset, uint64_t bytes) {
  if (rank < 0 || rank >= machine->cluster_size) return;
  core_reach(machine, offset + bytes);
  if (offset >= machine->session->shared_bytes) return;
  if (bytes > machine->session->shared_bytes - offset)
    bytes = machine->session->shared_bytes - offset;
  Cta *cta = &machine->ctas[rank];
  forget_known(cta->shared_known, offset, offset + bytes);
  /* One mark for all: what is read of it is named by its place, too. */
  uint64_t mark =
      (core_hash(++core_run(machine)->fresh, offset) & UINT32_MAX) * UINT64_C(0x100000001);
  const uint64_t marks[4] = {mark, mark, mark, mark};
  uint64_t i = 0;
  for (; i + sizeof marks <= bytes; i += sizeof marks)
    memcpy(cta->shared + offset + i, marks, sizeof marks);
  for (; i + sizeof mark <= bytes; i += sizeof mark)
    memcpy(cta->shared + offset + i, &mark, sizeof mark);
  if (i + 4 <= bytes) memcpy(cta->shared + offset + i, &mark, 4);
  core_run(machine)->effects++;
}

/* ---- global memory ---- */

static CoreWord *global_slot(const CoreRun *run, uint64_t word) {
  uint64_t key = word + 1;
  size_t at = (size_t)core_hash(key, 1) & (run->global_size - 1);
  while (run->global[at].key && run->global[at].key != key)
    at = (at + 1) & (run->global_size - 1);
  return &run->global[at];
}

static CoreWord *global_find(const Machine *machine, uint64_t word) {
  const CoreRun *run = core_run(machine);
  if (run->global_used == 0) return NULL;
  CoreWord *slot = global_slot(run, word);
  return slot->key ? slot : NULL;
}

bool core_untouched(const Machine *machine, uint64_t address) {
  return global_find(machine, address >> 3) == NULL;
}

static void global_grow(CoreRun *run) {
  CoreWord *old = run->global;
  size_t old_size = run->global_size;
  run->global_size = old_size ? old_size * 2 : 256;
  run->global = g_new0(CoreWord, run->global_size);
  for (size_t i = 0; i < old_size; i++)
    if (old[i].key) *global_slot(run, old[i].key - 1) = old[i];
  g_free(old);
}

static CoreWord *global_make(Machine *machine, uint64_t word) {
  CoreRun *run = core_run(machine);
  if ((run->global_used + 1) * 2 > run->global_size) global_grow(run);
  CoreWord *slot = global_slot(run, word);
  if (slot->key) return slot;
  run->global_used++;
  slot->key = word + 1;
  slot->known =
      sample_initial_word(machine->kernel, machine->sample, word << 3, &slot->bytes) ? 0xff : 0;
  if (!slot->known) slot->bytes = core_hash(word << 3, 8);
  return slot;
}

static bool global_read(const Machine *machine, uint64_t address, int width, uint64_t *out) {
  uint64_t raw = 0;
  bool known = true;
  for (int done = 0; done < width;) {
    uint64_t word = (address + (uint64_t)done) >> 3;
    int within = (int)((address + (uint64_t)done) & 7);
    int take = 8 - within < width - done ? 8 - within : width - done;
    const CoreWord *slot = global_find(machine, word);
    uint64_t bytes;
    uint8_t bits;
    if (slot) {
      bytes = slot->bytes;
      bits = slot->known;
    } else {
      bits = sample_initial_word(machine->kernel, machine->sample, word << 3, &bytes) ? 0xff : 0;
      if (bits) {
        core_run(machine)->pattern_read = true;
        core_run(machine)->pattern_of |= UINT64_C(1) << (word / (IR_POINTER_STRIDE / 8) & 63);
      }
      if (!bits) bytes = core_hash(word << 3, 8);
    }
    uint64_t part = bytes >> (8 * within) & core_width_mask(take);
    raw |= part << (8 * done);
    known &= (bits >> within & ((1u << take) - 1)) == (1u << take) - 1;
    done += take;
  }
  *out = known ? raw : core_hash(raw, address) & ~UINT64_C(1);
  return known;
}

static void global_write(Machine *machine, uint64_t address, int width, bool known,
                         uint64_t value) {
  CoreRun *run = core_run(machine);
  for (int done = 0; done < width;) {
    uint64_t word = (address + (uint64_t)done) >> 3, unused;
    int within = (int)((address + (uint64_t)done) & 7);
    int take = 8 - within < width - done ? 8 - within : width - done;
    CoreWord *slot = global_find(machine, word);
    bool matters =
        known || slot || sample_initial_word(machine->kernel, machine->sample, word << 3, &unused);
    if (!matters || (!slot && run->global_used > 1000000)) {
      done += take;
      continue;
    }
    if (!slot) slot = global_make(machine, word);
    uint64_t mask = core_width_mask(take) << (8 * within);
    uint64_t fresh = (slot->bytes & ~mask) | (value >> (8 * done) << (8 * within) & mask);
    uint8_t bits = (uint8_t)(((1u << take) - 1) << within);
    if (fresh != slot->bytes) run->effects++;
    slot->bytes = fresh;
    slot->known = known ? slot->known | bits : slot->known & (uint8_t)~bits;
    done += take;
  }
}

/* ---- locals: cells ---- */

/* A register in flight may be read by its address, too. */
static void tell_of_read(Machine *machine, Strand *strand, int32_t reg) {
  protocol_reg_read(machine, strand, &machine->kernel->insns.items[strand->pc], reg);
}

static bool local_read(Machine *machine, Strand *strand, int lane, uint64_t address, int width,
                       uint64_t *out) {
  const CoreSession *core = core_session(machine);
  const MachineReg *regs = strand->warp->regs;
  int32_t exact = core_find_cell(machine->session, address, width);
  if (exact >= 0) {
    const MachineReg *reg = &regs[exact];
    if (reg->watched) tell_of_read(machine, strand, exact);
    *out = reg->lanes ? reg->lanes[lane] : reg->scalar;
    return reg->known >> lane & 1;
  }
  GArray *cells = core_cells_in(machine->session, address, (uint64_t)width);
  uint64_t raw = 0;
  uint32_t have = 0;
  for (guint i = 0; i < cells->len; i++) {
    int32_t id = g_array_index(cells, int32_t, i);
    if (regs[id].watched) tell_of_read(machine, strand, id);
    if (!(regs[id].known >> lane & 1)) continue;
    uint64_t value = regs[id].lanes ? regs[id].lanes[lane] : regs[id].scalar;
    for (int b = 0; b < core->reg_type[id].bytes && b < 8; b++) {
      uint64_t at = core->reg_cell[id] + (uint64_t)b;
      if (at < address || at >= address + (uint64_t)width) continue;
      int to = (int)(at - address);
      raw = (raw & ~(UINT64_C(0xff) << (8 * to))) | (value >> (8 * b) & 0xff) << (8 * to);
      have |= 1u << to;
    }
  }
  g_array_unref(cells);
  bool known = have == (1u << width) - 1;
  *out = known ? raw : core_hash(raw, address) & ~UINT64_C(1);
  return known;
}

static bool param_read(const Machine *machine, uint64_t address, int width, uint64_t *out) {
  const MachineSample *sample = machine->sample;
  uint64_t offset = address - IR_PARAM_BASE;
  *out = core_hash(address, 3) & ~UINT64_C(1);
  if (offset + (uint64_t)width > sample->param_bytes) return false;
  for (int i = 0; i < width; i++)
    if (!sample->param_known[offset + (uint64_t)i]) return false;
  core_run(machine)->param_read[offset] = 1;
  *out = 0;
  memcpy(out, sample->param + offset, (size_t)width);
  return true;
}

/* ---- loads and stores ---- */

bool core_load_lane(Machine *machine, Strand *strand, int lane, MachineAddress at, int bytes,
                    uint64_t *out) {
  if (bytes > 8) bytes = 8; /* of a .b128 register the low half is kept */
  if (at.space == IR_SPACE_SHARED) return shared_read(machine, at.rank, at.offset, bytes, out);
  if (at.space == IR_SPACE_LOCAL) return local_read(machine, strand, lane, at.offset, bytes, out);
  if (at.space == IR_SPACE_PARAM) return param_read(machine, at.offset, bytes, out);
  if (at.space == IR_SPACE_GLOBAL) return global_read(machine, at.offset, bytes, out);
  *out = core_hash(at.offset, 5) & ~UINT64_C(1);
  return false;
}

void core_store_lane(Machine *machine, Strand *strand, int lane, MachineAddress at, int bytes,
                     bool known, uint64_t value) {
  if (at.space == IR_SPACE_SHARED) {
    machine_shared_store(machine, at.rank, at.offset, bytes, known, value);
  } else if (at.space == IR_SPACE_LOCAL) {
    core_loop_local(
        strand, &(CoreLocalAccess){
                    .pc = -1, .address = at.offset, .value = value, .store = true, .known = known});
    int32_t reg = core_make_cell(machine->session, at.offset, bytes);
    Value v = {.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = value};
    if (reg >= 0) core_write_reg(machine, strand, reg, v, 1u << lane);
  } else if (at.space == IR_SPACE_GLOBAL) {
    global_write(machine, at.offset, bytes, known, value);
  }
}

Value core_load(Machine *machine, Strand *strand, Value address, IrSpace space, int bytes,
                uint32_t lanes) {
  uint64_t same, out;
  if (value_same(address, lanes, &same)) {
    MachineAddress at = machine_address(machine, same, space);
    if (at.space == IR_SPACE_LOCAL) {
      int32_t exact = core_find_cell(machine->session, at.offset, bytes);
      core_loop_local(strand, &(CoreLocalAccess){.pc = exact >= 0 ? strand->pc : -1,
                                                 .lanes = lanes,
                                                 .address = at.offset,
                                                 .bytes = (uint8_t)bytes});
      if (exact >= 0) {
        const MachineReg *reg = &strand->warp->regs[exact];
        if (reg->watched) tell_of_read(machine, strand, exact);
        return (Value){reg->known, reg->lanes == NULL, reg->scalar, reg->lanes};
      }
    } else {
      bool known = core_load_lane(machine, strand, 0, at, bytes, &out);
      return (Value){.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = out};
    }
  }
  uint64_t *result = core_scratch(machine);
  uint32_t known = 0;
  bool local = false;
  FOR_LANES(lane, lanes) {
    uint64_t where;
    if (!value_lane(address, (int)lane, &where)) {
      result[lane] = core_hash(where, 9) & ~UINT64_C(1);
      continue;
    }
    MachineAddress at = machine_address(machine, where, space);
    local |= at.space == IR_SPACE_LOCAL;
    if (core_load_lane(machine, strand, (int)lane, at, bytes, &out)) known |= 1u << lane;
    result[lane] = out;
  }
  if (local) core_loop_local(strand, &(CoreLocalAccess){.pc = -1});
  return value_from_lanes(machine, result, known, lanes);
}

/* One number for the known lanes of a value. */
static uint64_t name_lanes(Value value, uint32_t lanes) {
  uint64_t name = 0;
  if (value.uniform) return value.scalar;
  FOR_LANES(lane, lanes & value.known)
  name = core_hash(name, value.lanes[lane]);
  return name;
}

/* Unknown data written where nothing is known and nothing was written: it stays that way. */
static bool stays_unknown(Machine *machine, MachineAddress at) {
  CoreRun *run = core_run(machine);
  if (at.space != IR_SPACE_GLOBAL || run->global_used || at.offset < IR_POINTER_BASE) return false;
  uint64_t window = (at.offset - IR_POINTER_BASE) / IR_POINTER_STRIDE + 1;
  if (window != run->plain_window)
    run->plain_window = sample_plain_window(machine->kernel, machine->sample, at.offset);
  return window == run->plain_window;
}

/* The same for all lanes, of one window. */
static bool all_stay_unknown(Machine *machine, Value address, uint32_t lanes) {
  if (address.uniform || core_run(machine)->global_used) return false;
  uint64_t first = address.lanes[__builtin_ctz(lanes)], window = first / IR_POINTER_STRIDE;
  if (first < IR_POINTER_BASE || first >= IR_GLOBAL_BASE) return false;
  FOR_LANES(lane, lanes)
  if (address.lanes[lane] / IR_POINTER_STRIDE != window) return false;
  return stays_unknown(machine, (MachineAddress){IR_SPACE_GLOBAL, 0, first});
}

void core_store(Machine *machine, Strand *strand, Value address, IrSpace space, int bytes,
                Value value, uint32_t lanes) {
  uint64_t same;
  if (value_same(address, lanes, &same)) {
    MachineAddress at = machine_address(machine, same, space);
    if (at.space == IR_SPACE_LOCAL) {
      bool some = (value.known & lanes) != 0, all = (value.known & lanes) == lanes;
      core_loop_local(strand,
                      &(CoreLocalAccess){.pc = !some || (all && value.uniform) ? strand->pc : -1,
                                         .lanes = lanes,
                                         .address = at.offset,
                                         .value = name_lanes(value, lanes),
                                         .bytes = (uint8_t)bytes,
                                         .store = true,
                                         .known = some});
      int32_t reg = core_make_cell(machine->session, at.offset, bytes);
      if (reg >= 0) core_write_reg(machine, strand, reg, value, lanes);
      return;
    }
    /* All lanes write one place: which of them stays is not defined unless they agree. */
    uint64_t raw = value_raw(value, __builtin_ctz(lanes)), agreed;
    bool known = value_same(value, lanes, &agreed);
    core_store_lane(machine, strand, 0, at, bytes, known, known ? agreed : raw);
    return;
  }
  bool unknown = (value.known & lanes) == 0 && (lanes & ~address.known) == 0;
  if (unknown && all_stay_unknown(machine, address, lanes)) return;
  FOR_LANES(lane, lanes) {
    uint64_t where, what;
    if (!value_lane(address, (int)lane, &where)) continue;
    bool known = value_lane(value, (int)lane, &what);
    MachineAddress at = machine_address(machine, where, space);
    if (known || !stays_unknown(machine, at))
      core_store_lane(machine, strand, (int)lane, at, bytes, known, what);
  }
}
