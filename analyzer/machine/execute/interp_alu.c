/* Integer arithmetic. Data that nobody knows flows through: an unknown result carries a name made
 * of its operands, so that a condition asked twice gets the same answer. Float arithmetic has no
 * values, only reads and writes. */
#include "machine/execute/evaluate.h"

#include "machine/execute/core.h"

#include <string.h>

/* All 32 lanes at once, for the ops that address arithmetic is made of. Lanes outside the strand
 * compute garbage that nobody reads. Returns false when the op is none of them. */
static bool evaluate_lanes(const IrInsn *insn, uint64_t (*x)[32], uint64_t *restrict out) {
  const uint64_t *restrict a = x[0], *restrict b = x[1], *restrict c = x[2];
  uint64_t bits = alu_bits(insn->type);
  switch (insn->op) {
  case IR_add:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] + b[i];
    return true;
  case IR_sub:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] - b[i];
    return true;
  case IR_mul:
  case IR_mulwide:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] * b[i];
    return true;
  case IR_mad:
  case IR_madwide:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] * b[i] + c[i];
    return true;
  case IR_band:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] & b[i];
    return true;
  case IR_bor:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] | b[i];
    return true;
  case IR_bxor:
    for (int i = 0; i < 32; i++)
      out[i] = a[i] ^ b[i];
    return true;
  case IR_shl:
    for (int i = 0; i < 32; i++)
      out[i] = (uint32_t)b[i] >= bits ? 0 : a[i] << (b[i] & 63);
    return true;
  case IR_shr:
    if (insn->type.cls == IR_CLASS_SINT) return false;
    for (int i = 0; i < 32; i++)
      out[i] = (uint32_t)b[i] >= bits ? 0 : a[i] >> (b[i] & 63);
    return true;
  default: return false;
  }
}

static void extend_lanes(uint64_t *x, IrType type) {
  if (type.cls == IR_CLASS_SINT && type.bytes == 4) {
    for (int i = 0; i < 32; i++)
      x[i] = (uint64_t)(int64_t)(int32_t)x[i];
  } else if (type.bytes < 8 || type.cls == IR_CLASS_PRED) {
    for (int i = 0; i < 32; i++)
      x[i] = core_extend(x[i], type);
  }
}

/* Whether the bits above the type's width don't reach the result's low bits. */
static bool low_bits_only(const IrInsn *insn) {
  return insn->op == IR_add || insn->op == IR_sub || insn->op == IR_mul || insn->op == IR_mad ||
         insn->op == IR_band || insn->op == IR_bor || insn->op == IR_bxor;
}

static void spread(Value v, IrType type, bool extend, uint64_t *restrict to) {
  if (v.uniform) {
    uint64_t scalar = extend ? core_extend(v.scalar, type) : v.scalar;
    for (int i = 0; i < 32; i++)
      to[i] = scalar;
    return;
  }
  memcpy(to, v.lanes, 32 * sizeof *to);
  if (extend) extend_lanes(to, type);
}

/* Known operands of which some differ between lanes. */
static bool fast_lanes(Machine *machine, Strand *strand, const IrInsn *insn, const Value *v,
                       const IrType *types, int count) {
  if (count < 2 || count > 3) return false;
  uint64_t x[3][32];
  bool extend = !low_bits_only(insn);
  for (int i = 0; i < count; i++)
    spread(v[i], types[i], extend, x[i]);
  uint64_t *out = core_scratch(machine);
  if (!evaluate_lanes(insn, x, out)) return false;
  const IrOperand *dst = &insn->args[0];
  bool fits =
      dst->kind == IR_OPD_REG && core_session(machine)->reg_type[dst->id].bytes <= insn->type.bytes;
  if (!fits) extend_lanes(out, insn->type);
  Value r = {.known = MACHINE_ALL_LANES, .lanes = out};
  machine_write(machine, strand, dst, r, strand->active);
  return true;
}

static void general(Machine *machine, Strand *strand, const IrInsn *insn) {
  int count = insn->nargs - 1 < ALU_OPERANDS ? insn->nargs - 1 : ALU_OPERANDS;
  Value v[ALU_OPERANDS];
  IrType types[ALU_OPERANDS];
  bool uniform = true;
  uint32_t all_known = MACHINE_ALL_LANES;
  for (int i = 0; i < count; i++) {
    v[i] = machine_read(machine, strand, &insn->args[i + 1]);
    types[i] = alu_operand_type(insn, i);
    uniform &= v[i].uniform;
    all_known &= v[i].known;
    uint32_t here = v[i].known & strand->active;
    uniform &= here == 0 || here == strand->active;
  }
  AluOperands o;
  uint64_t out;
  if (uniform) {
    uint32_t known = 0;
    for (int i = 0; i < count; i++) {
      o.x[i] = v[i].scalar;
      known |= (uint32_t)((v[i].known & strand->active) != 0) << i;
    }
    bool ok = alu_lane(insn, &o, count, known, types, &out);
    Value r = {.known = ok ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = out};
    machine_write(machine, strand, &insn->args[0], r, strand->active);
    return;
  }
  if ((all_known & strand->active) == strand->active &&
      fast_lanes(machine, strand, insn, v, types, count))
    return;
  uint64_t *lanes = core_scratch(machine);
  uint32_t result_known = 0;
  FOR_LANES(lane, strand->active) {
    uint32_t known = 0;
    for (int i = 0; i < count; i++) {
      o.x[i] = value_raw(v[i], (int)lane);
      known |= (v[i].known >> lane & 1) << i;
    }
    if (alu_lane(insn, &o, count, known, types, &lanes[lane])) result_known |= 1u << lane;
  }
  Value r = {.known = result_known, .lanes = lanes};
  machine_write(machine, strand, &insn->args[0], r, strand->active);
}

/* ---- the ops of another shape ---- */

static void data_only(Machine *machine, Strand *strand, const IrInsn *insn, int ndst) {
  for (int i = ndst; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    for (int j = 0; operand->kind == IR_OPD_VECTOR && j < operand->count; j++)
      machine_read(machine, strand, &operand->list[j]);
    if (operand->kind != IR_OPD_VECTOR) machine_read(machine, strand, operand);
  }
  for (int i = 0; i < ndst; i++)
    machine_write(machine, strand, &insn->args[i], value_fresh(machine), strand->active);
}

static void set_predicate(Machine *machine, Strand *strand, const IrInsn *insn) {
  bool two = insn->nargs >= 4;
  const IrOperand *a = &insn->args[two ? 2 : 1], *b = &insn->args[two ? 3 : 2];
  Value x = machine_read(machine, strand, a), y = machine_read(machine, strand, b);
  uint64_t *out = core_scratch(machine), *complement = core_scratch(machine);
  uint32_t known = 0;
  uint32_t active = strand->active, first = (uint32_t)__builtin_ctz(active);
  uint32_t here_x = x.known & active, here_y = y.known & active;
  bool uniform = x.uniform && y.uniform && (here_x == 0 || here_x == active) &&
                 (here_y == 0 || here_y == active);
  FOR_LANES(lane, uniform ? 1u << first : active) {
    uint64_t p = value_raw(x, (int)lane), q = value_raw(y, (int)lane);
    bool p_known = x.known >> lane & 1, q_known = y.known >> lane & 1;
    known |= (uint32_t)alu_predicate(insn, p, p_known, q, q_known, &out[lane]) << lane;
    complement[lane] = out[lane] ^ 1;
  }
  Value r = {.known = known, .lanes = out}, c = {.known = known, .lanes = complement};
  if (uniform) {
    r = (Value){known ? MACHINE_ALL_LANES : 0, true, out[first], NULL};
    c = (Value){known ? MACHINE_ALL_LANES : 0, true, complement[first], NULL};
  }
  machine_write(machine, strand, &insn->args[0], r, active);
  if (two) machine_write(machine, strand, &insn->args[1], c, strand->active);
}

static void choose(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value a = machine_read(machine, strand, &insn->args[1]);
  Value b = machine_read(machine, strand, &insn->args[2]);
  Value p = machine_read(machine, strand, &insn->args[3]);
  uint64_t which;
  if (value_same(p, strand->active, &which)) {
    machine_write(machine, strand, &insn->args[0], which & 1 ? a : b, strand->active);
    return;
  }
  uint64_t *out = core_scratch(machine);
  uint32_t known = 0;
  FOR_LANES(lane, strand->active) {
    uint64_t x = value_raw(a, (int)lane), y = value_raw(b, (int)lane);
    bool x_known = a.known >> lane & 1, y_known = b.known >> lane & 1;
    if (value_lane(p, (int)lane, &which)) {
      out[lane] = which & 1 ? x : y;
      known |= (uint32_t)(which & 1 ? x_known : y_known) << lane;
    } else if (x == y && x_known == y_known) {
      out[lane] = x;
      known |= (uint32_t)x_known << lane;
    } else {
      out[lane] = core_hash(core_hash(which, x), y) & ~UINT64_C(1);
    }
  }
  machine_write(machine, strand, &insn->args[0], (Value){.known = known, .lanes = out},
                strand->active);
}

/* Applies a function of one number to a value; unknown stays unknown under a new name (or the same
 * when `keep`). */
static Value each(Machine *machine, Strand *strand, Value v, bool keep, uint64_t salt,
                  uint64_t (*f)(uint64_t x, const void *user), const void *user) {
  if (v.uniform) {
    bool known = (v.known & strand->active) == strand->active;
    bool none = (v.known & strand->active) == 0;
    if (known || none) {
      uint64_t out = known  ? f(v.scalar, user)
                     : keep ? v.scalar
                            : core_hash(v.scalar, salt) & ~UINT64_C(1);
      return (Value){.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = out};
    }
  }
  uint64_t *out = core_scratch(machine);
  FOR_LANES(lane, strand->active) {
    uint64_t x;
    bool known = value_lane(v, (int)lane, &x);
    out[lane] = known ? f(x, user) : keep ? x : core_hash(x, salt) & ~UINT64_C(1);
  }
  return (Value){.known = v.known, .lanes = out};
}

static uint64_t convert_one(uint64_t x, const void *user) {
  return alu_convert(user, x);
}

static void convert(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (insn->type.cls == IR_CLASS_FLOAT || insn->type2.cls == IR_CLASS_FLOAT) {
    data_only(machine, strand, insn, 1);
    return;
  }
  Value v = machine_read(machine, strand, &insn->args[1]);
  bool widens = insn->type.bytes >= insn->type2.bytes;
  v = each(machine, strand, v, widens, 41, convert_one, insn);
  machine_write(machine, strand, &insn->args[0], v, strand->active);
}

static uint64_t to_window(uint64_t x, const void *user) {
  const IrInsn *insn = user;
  bool shared = insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_SHARED_CLUSTER;
  if (!shared) return x;
  if (insn->sub) return x >= IR_SHARED_BASE && x < IR_SHARED_END ? x - IR_SHARED_BASE : x;
  return x < IR_SHARED_BASE ? x + IR_SHARED_BASE : x;
}

static uint64_t in_space(uint64_t x, const void *user) {
  const IrInsn *insn = user;
  switch (insn->space) {
  case IR_SPACE_SHARED:
  case IR_SPACE_SHARED_CLUSTER: return x >= IR_SHARED_BASE && x < IR_SHARED_END;
  case IR_SPACE_LOCAL: return x >= IR_LOCAL_BASE && x < IR_LOCAL_END;
  case IR_SPACE_PARAM: return x >= IR_PARAM_BASE && x < IR_LOCAL_BASE;
  default: return x >= IR_POINTER_BASE && x < IR_SHARED_BASE;
  }
}

static void map_rank(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address = machine_read(machine, strand, &insn->args[1]);
  Value rank = machine_read(machine, strand, &insn->args[2]);
  uint64_t *out = core_scratch(machine);
  uint32_t known = address.known & rank.known;
  FOR_LANES(lane, strand->active) {
    uint64_t a = value_raw(address, (int)lane), r = value_raw(rank, (int)lane);
    uint64_t base = a >= IR_SHARED_BASE && a < IR_SHARED_END ? IR_SHARED_BASE : 0;
    out[lane] = known >> lane & 1 ? base + ((a - base) & 0xffffff) + ((r & 0xff) << 24)
                                  : core_hash(core_hash(a, r), 43) & ~UINT64_C(1);
  }
  machine_write(machine, strand, &insn->args[0],
                value_from_lanes(machine, out, known, strand->active), strand->active);
}

/* Values have 64 bits: of a .b128 register the low half is kept. */
static void pack(Machine *machine, Strand *strand, const IrInsn *insn) {
  int parts = insn->nargs - 1, width = parts ? insn->type.bytes / parts : 0;
  uint64_t *out = core_scratch(machine);
  uint32_t known = MACHINE_ALL_LANES;
  for (int i = 0; i < 32; i++)
    out[i] = 0;
  if (width == 0 || width > 8) {
    data_only(machine, strand, insn, 1);
    return;
  }
  for (int i = 0; i < parts; i++) {
    Value v = machine_read(machine, strand, &insn->args[i + 1]);
    if (width * i >= 8) continue;
    known &= v.known;
    FOR_LANES(lane, strand->active)
    out[lane] |= (value_raw(v, (int)lane) & core_width_mask(width)) << (8 * width * i);
  }
  machine_write(machine, strand, &insn->args[0],
                value_from_lanes(machine, out, known, strand->active), strand->active);
}

typedef struct {
  int shift, width;
} Part;

static uint64_t take_part(uint64_t x, const void *user) {
  const Part *part = user;
  return x >> part->shift & core_width_mask(part->width);
}

static void unpack(Machine *machine, Strand *strand, const IrInsn *insn) {
  int parts = insn->sub ? insn->sub : insn->nargs - 1;
  Value v = machine_read(machine, strand, &insn->args[insn->nargs - 1]);
  if (parts <= 0) return;
  Part part = {0, insn->type.bytes / parts};
  for (int i = 0; i < parts; i++, part.shift += 8 * part.width) {
    if (part.shift >= 64 || part.width > 8) {
      machine_write(machine, strand, &insn->args[i], value_fresh(machine), strand->active);
      continue;
    }
    Value piece = each(machine, strand, v, false, 60 + (uint64_t)i, take_part, &part);
    machine_write(machine, strand, &insn->args[i], piece, strand->active);
  }
}

MachineStep core_alu(Machine *machine, Strand *strand, const IrInsn *insn) {
  switch (insn->op) {
  case IR_mov:
    machine_write(machine, strand, &insn->args[0], machine_read(machine, strand, &insn->args[1]),
                  strand->active);
    break;
  case IR_setp: set_predicate(machine, strand, insn); break;
  case IR_select: choose(machine, strand, insn); break;
  case IR_cvt: convert(machine, strand, insn); break;
  case IR_pack: pack(machine, strand, insn); break;
  case IR_unpack: unpack(machine, strand, insn); break;
  case IR_opaque: data_only(machine, strand, insn, insn->sub); break;
  case IR_cvta:
    machine_write(machine, strand, &insn->args[0],
                  each(machine, strand, machine_read(machine, strand, &insn->args[1]), true, 0,
                       to_window, insn),
                  strand->active);
    break;
  case IR_isspacep:
    machine_write(machine, strand, &insn->args[0],
                  each(machine, strand, machine_read(machine, strand, &insn->args[1]), false, 44,
                       in_space, insn),
                  strand->active);
    break;
  case IR_mapa: map_rank(machine, strand, insn); break;
  default:
    if (insn->type.cls == IR_CLASS_FLOAT)
      data_only(machine, strand, insn, 1);
    else
      general(machine, strand, insn);
  }
  return MACHINE_NEXT;
}
