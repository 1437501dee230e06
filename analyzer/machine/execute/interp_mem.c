/* Loads, stores, atomics, block copies and fills. Contents first, then the protocol half hears of
 * the access. */
#include "machine/execute/core.h"

#define SPIN_LIMIT 200 /* times one word is read at one place while nothing happens */

static Value offset_address(Machine *machine, Value v, uint32_t lanes, uint64_t add) {
  if (add == 0) return v;
  if (v.uniform) {
    v.scalar += add;
    return v;
  }
  uint64_t *out = core_scratch(machine);
  FOR_LANES(lane, lanes)
  out[lane] = v.lanes[lane] + add;
  v.lanes = out;
  return v;
}

/* Another grid may write a word of global memory that a loop polls: after a while nobody knows what
 * it holds. */
static bool polls(Machine *machine, Strand *strand, uint64_t address) {
  uint64_t effects = core_run(machine)->effects;
  if (strand->spin_pc != strand->pc || strand->spin_address != address ||
      strand->spin_effects != effects) {
    strand->spin_pc = strand->pc;
    strand->spin_address = address;
    strand->spin_effects = effects;
    strand->spin_count = 0;
    return false;
  }
  return ++strand->spin_count > SPIN_LIMIT;
}

static Value sign(Machine *machine, Value v, IrType type, uint32_t lanes) {
  if (type.cls != IR_CLASS_SINT || type.bytes >= 8) return v;
  if (v.uniform) {
    if (v.known) v.scalar = core_extend(v.scalar, type);
    return v;
  }
  uint64_t *out = core_scratch(machine);
  FOR_LANES(lane, lanes)
  out[lane] = v.known >> lane & 1 ? core_extend(v.lanes[lane], type) : v.lanes[lane];
  v.lanes = out;
  return v;
}

static void load(Machine *machine, Strand *strand, const IrInsn *insn) {
  int count = insn->sub ? insn->sub : 1, width = insn->type.bytes;
  IrSpace space = (IrSpace)insn->space;
  Value address = machine_read(machine, strand, &insn->args[count]);
  uint64_t same;
  bool one = value_same(address, strand->active, &same);
  bool polled = one && machine_address(machine, same, space).space == IR_SPACE_GLOBAL &&
                polls(machine, strand, same);
  if (one) address = value_known(same); /* survives the writes below */
  if (!address.uniform)
    address = value_from_lanes(machine, address.lanes, address.known, strand->active);
  for (int i = 0; i < count; i++) {
    Value there = offset_address(machine, address, strand->active, (uint64_t)(i * width));
    Value v = width > 16 || width == 0
                  ? value_fresh(machine)
                  : core_load(machine, strand, there, space, width, strand->active);
    if (polled) v = value_fresh(machine);
    machine_write(machine, strand, &insn->args[i], sign(machine, v, insn->type, strand->active),
                  strand->active);
  }
  core_access(machine, strand, insn, MACHINE_READ, address, space, (uint32_t)(width * count),
              strand->active);
}

/* A constant that is there already (`any = 1` by whoever finds something): whichever thread comes
 * last, the word is the same, so that such stores do not race with each other. */
static bool repeats_constant(Machine *machine, Strand *strand, const IrInsn *insn, Value address,
                             uint32_t lanes) {
  if (insn->nargs != 2 || insn->args[1].kind != IR_OPD_IMM || !lanes) return false;
  uint64_t mask = core_width_mask(insn->type.bytes);
  FOR_LANES(lane, lanes) {
    uint64_t where, there;
    if (!value_lane(address, (int)lane, &where)) return false;
    MachineAddress at = machine_address(machine, where, (IrSpace)insn->space);
    if (at.space != IR_SPACE_SHARED ||
        !core_load_lane(machine, strand, (int)lane, at, insn->type.bytes, &there) ||
        (there & mask) != ((uint64_t)insn->args[1].value & mask))
      return false;
  }
  return true;
}

/* Of a 16-byte value the low half is kept, in registers and in memory: the high half is unknown. */
static void store_value(Machine *machine, Strand *strand, Value address, IrSpace space, int width,
                        Value v, uint32_t lanes) {
  uint64_t first = value_raw(address, __builtin_ctz(lanes));
  bool local = machine_address(machine, first, space).space == IR_SPACE_LOCAL;
  core_store(machine, strand, address, space, width > 8 && !local ? 8 : width, v, lanes);
  for (int at = 8; at < width && !local; at += 8)
    core_store(machine, strand, offset_address(machine, address, lanes, (uint64_t)at), space, 8,
               value_fresh(machine), lanes);
}

static void store(Machine *machine, Strand *strand, const IrInsn *insn) {
  int width = insn->type.bytes;
  IrSpace space = (IrSpace)insn->space;
  Value address = machine_read(machine, strand, &insn->args[0]);
  uint32_t lanes = strand->active & address.known;
  if (repeats_constant(machine, strand, insn, address, lanes)) return;
  for (int i = 1; i < insn->nargs; i++) {
    Value there =
        offset_address(machine, address, strand->active, (uint64_t)(i - 1) * (uint64_t)width);
    Value v = machine_read(machine, strand, &insn->args[i]);
    if (lanes && width >= 1) store_value(machine, strand, there, space, width, v, lanes);
  }
  core_access(machine, strand, insn, MACHINE_WRITE, address, space,
              (uint32_t)(width * (insn->nargs - 1)), strand->active);
}

/* ---- atomics ---- */

static uint64_t combine(IrAtom how, IrType type, uint64_t old, uint64_t a, uint64_t b) {
  bool less = type.cls == IR_CLASS_SINT
                  ? (int64_t)core_extend(old, type) < (int64_t)core_extend(a, type)
                  : old < a;
  switch (how) {
  case IR_ATOM_add: return old + a;
  case IR_ATOM_sub: return old - a;
  case IR_ATOM_exch: return a;
  case IR_ATOM_min: return less ? old : a;
  case IR_ATOM_max: return less ? a : old;
  case IR_ATOM_and: return old & a;
  case IR_ATOM_or: return old | a;
  case IR_ATOM_xor: return old ^ a;
  case IR_ATOM_inc: return old >= a ? 0 : old + 1;
  case IR_ATOM_dec: return old == 0 || old > a ? a : old - 1;
  case IR_ATOM_cas: return old == a ? b : old;
  }
  return old;
}

/* Words of global memory that nothing has written yet and an atomic touches are counters and
 * semaphores: they start at 0. */
static bool load_for_atom(Machine *machine, Strand *strand, int lane, MachineAddress at, int width,
                          uint64_t *old) {
  if (at.space == IR_SPACE_GLOBAL && core_untouched(machine, at.offset)) {
    *old = 0;
    return true;
  }
  return core_load_lane(machine, strand, lane, at, width, old);
}

static void atom(Machine *machine, Strand *strand, const IrInsn *insn) {
  int width = insn->type.bytes;
  bool real = insn->type.cls == IR_CLASS_FLOAT || width > 8 || width == 0;
  Value address = machine_read(machine, strand, &insn->args[1]);
  Value a = insn->nargs > 2 ? machine_read(machine, strand, &insn->args[2]) : value_known(0);
  Value b = insn->nargs > 3 ? machine_read(machine, strand, &insn->args[3]) : value_known(0);
  uint64_t *out = core_scratch(machine), where, x, y, old, same;
  bool polled = value_same(address, strand->active, &same) &&
                machine_address(machine, same, (IrSpace)insn->space).space == IR_SPACE_GLOBAL &&
                polls(machine, strand, same);
  uint32_t known = 0, lanes = strand->active & address.known;
  FOR_LANES(lane, strand->active) {
    out[lane] = value_fresh(machine).scalar;
    if (real || !value_lane(address, (int)lane, &where)) continue;
    MachineAddress at = machine_address(machine, where, (IrSpace)insn->space);
    bool have = load_for_atom(machine, strand, (int)lane, at, width, &old) && !polled;
    bool operands = value_lane(a, (int)lane, &x);
    operands = value_lane(b, (int)lane, &y) && operands;
    uint64_t mask = core_width_mask(width);
    uint64_t fresh = have && operands
                         ? combine((IrAtom)insn->sub, insn->type, old, x & mask, y & mask) & mask
                         : core_hash(old, x);
    bool result = have && operands;
    if (insn->sub == IR_ATOM_exch) {
      result = a.known >> lane & 1;
      fresh = x & mask;
    }
    core_store_lane(machine, strand, (int)lane, at, width, result, fresh);
    out[lane] = old;
    known |= (uint32_t)have << lane;
  }
  Value address_copy = address;
  if (!address.uniform)
    address_copy = value_from_lanes(machine, address.lanes, address.known, strand->active);
  machine_write(machine, strand, &insn->args[0],
                value_from_lanes(machine, out, known, strand->active), strand->active);
  if (real && lanes && width >= 1)
    store_value(machine, strand, address_copy, (IrSpace)insn->space, width, value_fresh(machine),
                lanes);
  core_access(machine, strand, insn, MACHINE_ATOMIC, address_copy, (IrSpace)insn->space,
              (uint32_t)width, strand->active);
}

/* ---- blocks ---- */

static void copy_block(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value dst = machine_read(machine, strand, &insn->args[0]);
  Value src = machine_read(machine, strand, &insn->args[1]);
  Value bytes = machine_read(machine, strand, &insn->args[2]);
  uint64_t n, to, from;
  if (!value_same(bytes, strand->active, &n)) n = 0;
  uint32_t left = strand->active, same = 0;
  bool once = value_same(dst, left, &to);
  /* The first lane is enough where the destination is the same shared or global bytes. */
  if (once && machine_address(machine, to, IR_SPACE_GENERIC).space != IR_SPACE_LOCAL)
    same = left & -left;
  else if (once && value_same(src, left, &from))
    same = left;
  FOR_LANES(lane, same ? same & -same : left) {
    uint32_t lanes = same ? same : 1u << lane;
    bool have_dst = value_lane(dst, (int)lane, &to), have_src = value_lane(src, (int)lane, &from);
    if (have_dst && have_src)
      core_copy(machine, strand, lanes, to, from, n);
    else if (have_dst)
      core_fill(machine, strand, lanes, to, n, false, 0);
  }
  if (n == 0) return;
  core_access(machine, strand, insn, MACHINE_READ, src, IR_SPACE_GENERIC, (uint32_t)n,
              strand->active);
  core_access(machine, strand, insn, MACHINE_WRITE, dst, IR_SPACE_GENERIC, (uint32_t)n,
              strand->active);
}

static void fill_block(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value dst = machine_read(machine, strand, &insn->args[0]);
  Value bytes = machine_read(machine, strand, &insn->args[1]);
  Value byte = machine_read(machine, strand, &insn->args[2]);
  uint64_t n, to, what;
  if (!value_same(bytes, strand->active, &n)) return;
  bool once = value_same(dst, strand->active, &to), all = once && byte.uniform;
  uint32_t first = strand->active & -strand->active;
  if (once && machine_address(machine, to, IR_SPACE_GENERIC).space != IR_SPACE_LOCAL)
    all = true;
  else if (once && (byte.known & strand->active) != strand->active)
    all = false;
  FOR_LANES(lane, all ? first : strand->active) {
    bool known = value_lane(byte, (int)lane, &what);
    if (value_lane(dst, (int)lane, &to))
      core_fill(machine, strand, all ? strand->active : 1u << lane, to, n, known, (uint8_t)what);
  }
  if (n)
    core_access(machine, strand, insn, MACHINE_WRITE, dst, IR_SPACE_GENERIC, (uint32_t)n,
                strand->active);
}

MachineStep core_memory_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  switch (insn->op) {
  case IR_load: load(machine, strand, insn); break;
  case IR_store: store(machine, strand, insn); break;
  case IR_atom: atom(machine, strand, insn); break;
  case IR_copy: copy_block(machine, strand, insn); break;
  default: fill_block(machine, strand, insn);
  }
  return MACHINE_NEXT;
}
