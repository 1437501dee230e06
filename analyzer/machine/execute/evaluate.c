/* Integer arithmetic of one lane (PTX ISA 9.7.1, 9.7.8). */
#include "machine/execute/evaluate.h"

#include "machine/execute/core.h"

uint64_t alu_bits(IrType type) {
  return type.cls == IR_CLASS_PRED ? 1 : 8u * type.bytes;
}

/* Division and remainder truncate towards zero; by zero: unknown. */
static bool divide(const IrInsn *insn, uint64_t a, uint64_t b, uint64_t *out) {
  bool want_rest = insn->op == IR_rem;
  if (b == 0) return false;
  if (insn->type.cls == IR_CLASS_SINT) {
    int64_t x = (int64_t)a, y = (int64_t)b;
    if (y == -1)
      *out = want_rest ? 0 : (uint64_t)0 - a;
    else
      *out = (uint64_t)(want_rest ? x % y : x / y);
  } else {
    *out = want_rest ? a % b : a / b;
  }
  return true;
}

static uint64_t high_half(IrType type, uint64_t a, uint64_t b) {
  uint64_t bits = alu_bits(type);
  if (bits < 64) {
    return type.cls == IR_CLASS_SINT ? (uint64_t)(((int64_t)a * (int64_t)b) >> bits)
                                     : (a * b) >> bits;
  }
  if (type.cls == IR_CLASS_SINT) return (uint64_t)(((__int128)(int64_t)a * (int64_t)b) >> 64);
  return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

static uint64_t shift(const IrInsn *insn, uint64_t a, uint64_t amount) {
  uint64_t bits = alu_bits(insn->type);
  amount &= UINT32_MAX;
  if (insn->op == IR_shl) return amount >= bits ? 0 : a << amount;
  if (insn->type.cls == IR_CLASS_SINT)
    return (uint64_t)((int64_t)a >> (amount >= bits ? bits - 1 : amount));
  return amount >= bits ? 0 : a >> amount;
}

static uint64_t field_extract(IrType type, uint64_t a, uint64_t pos, uint64_t len) {
  uint64_t bits = alu_bits(type);
  pos &= 0xff;
  len &= 0xff;
  if (len == 0) return 0;
  bool negative =
      type.cls == IR_CLASS_SINT && a >> (pos + len - 1 < bits ? pos + len - 1 : bits - 1) & 1;
  uint64_t plain = a & core_width_mask(type.bytes);
  uint64_t v = pos >= 64 ? 0 : plain >> pos;
  uint64_t width = pos >= bits ? 0 : bits - pos;
  uint64_t keep = len < width ? len : width;
  uint64_t mask = keep >= 64 ? UINT64_MAX : (UINT64_C(1) << keep) - 1;
  return negative ? (v & mask) | ~mask : v & mask;
}

static uint64_t field_insert(uint64_t a, uint64_t b, uint64_t pos, uint64_t len) {
  pos &= 0xff;
  len &= 0xff;
  if (pos >= 64 || len == 0) return b;
  uint64_t mask = (len >= 64 ? UINT64_MAX : (UINT64_C(1) << len) - 1) << pos;
  return (b & ~mask) | (a << pos & mask);
}

static uint64_t permute(uint64_t a, uint64_t b, uint64_t selector) {
  uint64_t bytes = (a & UINT32_MAX) | b << 32, out = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t nibble = selector >> (4 * i) & 15;
    uint64_t byte = bytes >> (8 * (nibble & 7)) & 0xff;
    if (nibble & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * i);
  }
  return out;
}

static uint64_t lookup3(uint64_t a, uint64_t b, uint64_t c, uint64_t table) {
  uint64_t out = 0;
  for (int i = 0; i < 8; i++)
    if (table >> i & 1) out |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return out & UINT32_MAX;
}

static uint64_t funnel(IrShf kind, uint64_t lo, uint64_t hi, uint64_t amount) {
  bool clamp = kind == IR_SHF_left_clamp || kind == IR_SHF_right_clamp;
  amount &= UINT32_MAX;
  amount = clamp ? (amount > 32 ? 32 : amount) : amount & 31;
  uint64_t both = (lo & UINT32_MAX) | hi << 32;
  bool left = kind == IR_SHF_left_clamp || kind == IR_SHF_left_wrap;
  return left ? (amount == 32 ? lo : both << amount >> 32) & UINT32_MAX
              : both >> amount & UINT32_MAX;
}

bool alu_compare(IrCompare how, IrType type, uint64_t a, uint64_t b) {
  bool less = type.cls == IR_CLASS_SINT ? (int64_t)a < (int64_t)b : a < b;
  switch (how) {
  case IR_CMP_eq: return a == b;
  case IR_CMP_ne: return a != b;
  case IR_CMP_lt: return less;
  case IR_CMP_le: return less || a == b;
  case IR_CMP_gt: return !less && a != b;
  case IR_CMP_ge: return !less;
  }
  return false;
}

static bool unary(const IrInsn *insn, uint64_t a, uint64_t *out) {
  uint64_t bits = alu_bits(insn->type);
  uint64_t plain = insn->type.cls == IR_CLASS_PRED ? a & 1 : a & core_width_mask(insn->type.bytes);
  switch (insn->op) {
  case IR_neg: *out = (uint64_t)0 - a; return true;
  case IR_bnot: *out = insn->type.cls == IR_CLASS_PRED ? plain ^ 1 : ~a; return true;
  case IR_abs:
    *out = (int64_t)a < 0 && insn->type.cls == IR_CLASS_SINT ? (uint64_t)0 - a : a;
    return true;
  case IR_popc: *out = (uint64_t)__builtin_popcountll(plain); return true;
  case IR_clz: *out = plain ? (uint64_t)__builtin_clzll(plain) - (64 - bits) : bits; return true;
  case IR_ffs: *out = (uint64_t)__builtin_ffsll((long long)plain); return true;
  case IR_bfind:
    if (insn->type.cls == IR_CLASS_SINT && (int64_t)a < 0)
      plain = ~a & core_width_mask(insn->type.bytes);
    *out = plain ? 63 - (uint64_t)__builtin_clzll(plain) : UINT32_MAX;
    return true;
  case IR_brev: {
    uint64_t r = 0;
    for (uint64_t i = 0; i < bits; i++)
      r |= (plain >> i & 1) << (bits - 1 - i);
    *out = r;
    return true;
  }
  default: return false;
  }
}

/* The result of one lane from known operands, each extended from the operand type. */
bool alu_evaluate(const IrInsn *insn, const AluOperands *o, uint64_t *out) {
  const uint64_t *x = o->x;
  switch (insn->op) {
  case IR_add: *out = x[0] + x[1]; return true;
  case IR_sub: *out = x[0] - x[1]; return true;
  case IR_mul:
  case IR_mulwide: *out = x[0] * x[1]; return true;
  case IR_mad:
  case IR_madwide: *out = x[0] * x[1] + x[2]; return true;
  case IR_mulhi: *out = high_half(insn->type, x[0], x[1]); return true;
  case IR_div:
  case IR_rem: return divide(insn, x[0], x[1], out);
  case IR_band: *out = x[0] & x[1]; return true;
  case IR_bor: *out = x[0] | x[1]; return true;
  case IR_bxor: *out = x[0] ^ x[1]; return true;
  case IR_shl:
  case IR_shr: *out = shift(insn, x[0], x[1]); return true;
  case IR_min:
  case IR_max: {
    bool less = alu_compare(IR_CMP_lt, insn->type, x[0], x[1]);
    *out = less == (insn->op == IR_min) ? x[0] : x[1];
    return true;
  }
  case IR_bfe: *out = field_extract(insn->type, x[0], x[1], x[2]); return true;
  case IR_bfi: *out = field_insert(x[0], x[1], x[2], x[3]); return true;
  case IR_prmt: *out = permute(x[0], x[1], x[2]); return true;
  case IR_lop3: *out = lookup3(x[0], x[1], x[2], x[3]); return true;
  case IR_shf: *out = funnel((IrShf)insn->sub, x[0], x[1], x[2]); return true;
  default: return unary(insn, x[0], out);
  }
}

/* ---- with operands that may be unknown ---- */

/* What is known although an operand is not: x & 0, x * 0, p | true, x - x. */
static bool absorbs(const IrInsn *insn, const AluOperands *o, uint32_t known, uint64_t *out) {
  bool zero = ((known & 1) && o->x[0] == 0) || ((known & 2) && o->x[1] == 0);
  bool same = (known & 3) == 0 && o->x[0] == o->x[1] && o->x[0] != 0;
  *out = 0;
  if (insn->op == IR_band || insn->op == IR_mul || insn->op == IR_mulwide) return zero;
  if (insn->op == IR_sub || insn->op == IR_bxor) return same;
  if (insn->op == IR_bor && insn->type.cls == IR_CLASS_PRED) {
    *out = 1;
    return ((known & 1) && (o->x[0] & 1)) || ((known & 2) && (o->x[1] & 1));
  }
  return false;
}

/* The name of an unknown result. Predicates: the low bit is the polarity, so that a condition and
 * its complement are one question. */
static uint64_t name_result(const IrInsn *insn, const AluOperands *o, int count, uint32_t known) {
  bool predicate = insn->type.cls == IR_CLASS_PRED;
  if (predicate && insn->op == IR_bnot) return o->x[0] ^ 1;
  if (predicate && count == 2 && known && known != 3) {
    uint64_t unknown = known & 1 ? o->x[1] : o->x[0];
    bool other = (known & 1 ? o->x[0] : o->x[1]) & 1;
    if (insn->op == IR_band || insn->op == IR_bor) return unknown;
    if (insn->op == IR_bxor) return unknown ^ (uint64_t)other;
  }
  if (count == 2 && (known & 2) && o->x[1] == 0 &&
      (insn->op == IR_add || insn->op == IR_sub || insn->op == IR_bor || insn->op == IR_shl ||
       insn->op == IR_shr))
    return o->x[0];
  uint64_t name = core_hash((uint64_t)insn->op << 8 | insn->sub, (uint64_t)count);
  for (int i = 0; i < count; i++)
    name = core_hash(name, o->x[i]);
  return name & ~UINT64_C(1);
}

IrType alu_operand_type(const IrInsn *insn, int index) {
  bool wide = insn->op == IR_mulwide || insn->op == IR_madwide;
  if (wide && index < 2) return insn->type2;
  bool amount = (insn->op == IR_shl || insn->op == IR_shr || insn->op == IR_bfe) && index >= 1;
  if (amount || (insn->op == IR_bfi && index >= 2) || insn->op == IR_lop3 || insn->op == IR_prmt)
    return IR_TYPE_U(8);
  return insn->type;
}

static IrType result_type(const IrInsn *insn) {
  switch (insn->op) {
  case IR_popc:
  case IR_clz:
  case IR_ffs:
  case IR_bfind: return IR_TYPE_U(8);
  default: return insn->type;
  }
}

bool alu_lane(const IrInsn *insn, AluOperands *o, int count, uint32_t known, const IrType *types,
              uint64_t *out) {
  uint32_t all = (1u << count) - 1;
  for (int i = 0; i < count; i++)
    if (known >> i & 1) o->x[i] = core_extend(o->x[i], types[i]);
  if (known == all) {
    if (alu_evaluate(insn, o, out)) {
      *out = core_extend(*out, result_type(insn));
      return true;
    }
  } else if (absorbs(insn, o, known, out)) {
    return true;
  }
  *out = name_result(insn, o, count, known);
  return false;
}

bool alu_predicate(const IrInsn *insn, uint64_t p, bool p_known, uint64_t q, bool q_known,
                   uint64_t *out) {
  bool real = insn->type.cls == IR_CLASS_FLOAT;
  bool both = !real && p_known && q_known;
  bool same = !real && !p_known && !q_known && p == q && p != 0;
  if (both || same) {
    p = both ? core_extend(p, insn->type) : 0;
    q = both ? core_extend(q, insn->type) : 0;
    *out = alu_compare((IrCompare)insn->sub, insn->type, p, q);
    return true;
  }
  /* ne is eq turned round, ge is lt, gt is le */
  bool turned = insn->sub == IR_CMP_ne || insn->sub == IR_CMP_ge || insn->sub == IR_CMP_gt;
  uint64_t base = insn->sub == IR_CMP_eq || insn->sub == IR_CMP_ne   ? 1
                  : insn->sub == IR_CMP_lt || insn->sub == IR_CMP_ge ? 2
                                                                     : 3;
  *out = (core_hash(core_hash(base, p), q) & ~UINT64_C(1)) | (uint64_t)turned;
  return false;
}

uint64_t alu_convert(const IrInsn *insn, uint64_t x) {
  x = core_extend(x, insn->type2);
  if (insn->type.cls == IR_CLASS_PRED) return x != 0;
  return core_extend(x, insn->type);
}
