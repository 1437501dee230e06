/* Integer arithmetic, logic, comparison, conversion and data movement (PTX ISA 9.7.1 to 9.7.10):
 * what addresses, counts, parities and branch conditions are computed with. Everything on data is
 * opaque: it reads its sources and makes its destinations unknown. */
#include <string.h>

#include "ptx/lower.h"

bool ptx_has(const PtxInsn *insn, const char *modifier) {
  for (int i = 0; i < insn->nmodifiers; i++)
    if (strcmp(insn->modifiers[i], modifier) == 0) return true;
  return false;
}

static int types_of(const PtxInsn *insn, IrType *types, int capacity) {
  int count = 0;
  for (int i = 0; i < insn->nmodifiers && count < capacity; i++)
    if (ptx_type(insn->modifiers[i], &types[count])) count++;
  return count;
}

bool ptx_last_type(const PtxInsn *insn, IrType *type) {
  IrType types[8];
  int count = types_of(insn, types, 8);
  if (count == 0) return false;
  *type = types[count - 1];
  return true;
}

void ptx_lower_opaque(PtxLowering *lowering, const PtxInsn *insn) {
  PtxArgs args = {0};
  int first = 0;
  if (insn->noperands > 0 && insn->operands[0].kind != PTX_ADDRESS) {
    ptx_flatten(lowering, &insn->operands[0], true, &args);
    first = 1;
  }
  int results = args.count;
  for (int i = first; i < insn->noperands; i++)
    ptx_flatten(lowering, &insn->operands[i], false, &args);
  IrType type = IR_TYPE_NONE;
  ptx_last_type(insn, &type);
  IrInsn *emitted = ir_emit(lowering->b, IR_opaque, type, args.items, args.count);
  emitted->sub = (uint8_t)results;
  emitted->text = insn->opcode;
  ptx_guard(lowering, insn, emitted);
}

/* dst, then `sources` operands. */
static IrInsn *emit_simple(PtxLowering *lowering, const PtxInsn *insn, IrOp op, IrType type,
                           int sources) {
  IrOperand args[6];
  const PtxOperand *dst = &insn->operands[0];
  if (dst->kind == PTX_PAIR) dst = &dst->list[0];
  args[0] = ptx_write(lowering, dst);
  for (int i = 0; i < sources; i++)
    args[1 + i] = ptx_read(lowering, &insn->operands[1 + i]);
  IrInsn *emitted = ir_emit(lowering->b, op, type, args, 1 + sources);
  ptx_guard(lowering, insn, emitted);
  return emitted;
}

/* mov.b64 d, {lo, hi} and {lo, hi}, s; plain moves (9.7.9.2) */
static bool lower_mov(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  const PtxOperand *dst = &insn->operands[0], *src = &insn->operands[1];
  if (dst->kind != PTX_VECTOR && src->kind != PTX_VECTOR) {
    emit_simple(lowering, insn, IR_mov, type, 1);
    return true;
  }
  PtxArgs args = {0};
  ptx_flatten(lowering, dst, true, &args);
  int results = args.count;
  ptx_flatten(lowering, src, false, &args);
  IrOp op = dst->kind == PTX_VECTOR ? IR_unpack : IR_pack;
  if (dst->kind == PTX_VECTOR && src->kind == PTX_VECTOR) return false;
  IrInsn *emitted = ir_emit(lowering->b, op, type, args.items, args.count);
  emitted->sub = op == IR_unpack ? (uint8_t)results : 0;
  ptx_guard(lowering, insn, emitted);
  return true;
}

static bool compare_of(const char *modifier, IrCompare *compare, bool *is_unsigned) {
  static const struct {
    const char *name;
    IrCompare compare;
    bool is_unsigned;
  } names[] = {{"eq", IR_CMP_eq, false}, {"ne", IR_CMP_ne, false}, {"lt", IR_CMP_lt, false},
               {"le", IR_CMP_le, false}, {"gt", IR_CMP_gt, false}, {"ge", IR_CMP_ge, false},
               {"lo", IR_CMP_lt, true},  {"ls", IR_CMP_le, true},  {"hi", IR_CMP_gt, true},
               {"hs", IR_CMP_ge, true}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, modifier) == 0) {
      *compare = names[i].compare;
      *is_unsigned = names[i].is_unsigned;
      return true;
    }
  return false;
}

/* setp.CMP{.and|.or|.xor}.type p{|q}, a, b{, {!}c}: p = CMP op c, q = !CMP op c (9.7.6.2). A
 * destination may also be a source, so the comparison goes through registers of its own. */
static bool lower_setp(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  IrCompare compare;
  bool is_unsigned = false;
  if (insn->noperands < 3 || !compare_of(insn->modifiers[0], &compare, &is_unsigned)) return false;
  if (type.cls == IR_CLASS_FLOAT) return false;
  if (is_unsigned) type.cls = IR_CLASS_UINT;
  const PtxOperand *dst = &insn->operands[0];
  bool pair = dst->kind == PTX_PAIR;
  IrOperand to[2] = {ptx_write(lowering, pair ? &dst->list[0] : dst)};
  if (pair) to[1] = ptx_write(lowering, &dst->list[1]);
  IrOp combine = ptx_has(insn, "and")   ? IR_band
                 : ptx_has(insn, "or")  ? IR_bor
                 : ptx_has(insn, "xor") ? IR_bxor
                                        : IR_nop;
  int results = pair ? 2 : 1;
  IrOperand args[4];
  for (int i = 0; i < results; i++)
    args[i] = combine == IR_nop ? to[i] : ir_use(ir_reg(lowering->b, IR_TYPE_PRED, NULL));
  IrOperand result[2] = {args[0], args[1]};
  args[results] = ptx_read(lowering, &insn->operands[1]);
  args[results + 1] = ptx_read(lowering, &insn->operands[2]);
  IrInsn *emitted = ir_emit(lowering->b, IR_setp, type, args, results + 2);
  emitted->sub = (uint8_t)compare;
  ptx_guard(lowering, insn, emitted);
  if (combine == IR_nop) return true;
  if (insn->noperands < 4) return false;
  IrOperand other = ptx_read(lowering, &insn->operands[3]);
  for (int i = results - 1; i >= 0; i--) {
    IrOperand both[3] = {to[i], result[i], other};
    ptx_guard(lowering, insn, ir_emit(lowering->b, combine, IR_TYPE_PRED, both, 3));
  }
  return true;
}

/* cvt.dtype.stype d, a (9.7.9.22): between integers; the rest is data. */
static bool lower_cvt(PtxLowering *lowering, const PtxInsn *insn) {
  IrType types[4];
  if (types_of(insn, types, 4) != 2 || insn->noperands != 2 || ptx_has(insn, "sat")) return false;
  if (types[0].cls == IR_CLASS_FLOAT || types[1].cls == IR_CLASS_FLOAT) return false;
  emit_simple(lowering, insn, IR_cvt, types[0], 1)->type2 = types[1];
  return true;
}

static IrSpace space_of(const PtxInsn *insn) {
  for (int i = 0; i < insn->nmodifiers; i++)
    if (ptx_space(insn->modifiers[i]) != IR_SPACE_NONE) return ptx_space(insn->modifiers[i]);
  return IR_SPACE_GENERIC;
}

/* cvta{.to}.space.u64 d, a; isspacep.space p, a; mapa{.shared::cluster}.u32 d, a, rank;
 * getctarank */
static bool lower_address(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  IrInsn *emitted;
  if (strcmp(insn->opcode, "cvta") == 0 && insn->noperands == 2) {
    emitted = emit_simple(lowering, insn, IR_cvta, type, 1);
    emitted->sub = ptx_has(insn, "to");
  } else if (strcmp(insn->opcode, "isspacep") == 0 && insn->noperands == 2) {
    emitted = emit_simple(lowering, insn, IR_isspacep, IR_TYPE_PRED, 1);
  } else if (strcmp(insn->opcode, "mapa") == 0 && insn->noperands == 3) {
    emitted = emit_simple(lowering, insn, IR_mapa, type, 2);
    if (space_of(insn) == IR_SPACE_GENERIC) emitted->flags |= IR_FLAG(generic);
  } else {
    return false;
  }
  emitted->space = (uint8_t)space_of(insn);
  return true;
}

/* getctarank{.shared::cluster} d, a: the rank is bits 24.. of the offset in the shared window; both
 * spellings of the address hold it there. */
static bool lower_getctarank(PtxLowering *lowering, const PtxInsn *insn) {
  if (insn->noperands != 2) return false;
  IrOperand args[4] = {ptx_write(lowering, &insn->operands[0]),
                       ptx_read(lowering, &insn->operands[1]), ir_imm(24), ir_imm(8)};
  ptx_guard(lowering, insn, ir_emit(lowering->b, IR_bfe, IR_TYPE_U(4), args, 4));
  return true;
}

static bool lower_lop3(PtxLowering *lowering, const PtxInsn *insn) {
  if (insn->noperands != 5 || insn->operands[0].kind == PTX_PAIR) return false;
  emit_simple(lowering, insn, IR_lop3, IR_TYPE_U(4), 4);
  return true;
}

static bool lower_shf(PtxLowering *lowering, const PtxInsn *insn) {
  if (insn->noperands != 4) return false;
  bool left = ptx_has(insn, "l"), wrap = ptx_has(insn, "wrap");
  emit_simple(lowering, insn, IR_shf, IR_TYPE_U(4), 3)->sub =
      (uint8_t)(left ? (wrap ? IR_SHF_left_wrap : IR_SHF_left_clamp)
                     : (wrap ? IR_SHF_right_wrap : IR_SHF_right_clamp));
  return true;
}

/* mul and mad: .lo keeps the width, .wide doubles it. */
static bool lower_multiply(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  bool mad = strcmp(insn->opcode, "mad") == 0;
  int sources = mad ? 3 : 2;
  if (insn->noperands != 1 + sources) return false;
  if (ptx_has(insn, "wide")) {
    IrType wide = {type.cls, (uint8_t)(type.bytes * 2)};
    emit_simple(lowering, insn, mad ? IR_madwide : IR_mulwide, wide, sources)->type2 = type;
    return true;
  }
  if (ptx_has(insn, "hi")) {
    if (mad) return false;
    emit_simple(lowering, insn, IR_mulhi, type, sources);
    return true;
  }
  if (!ptx_has(insn, "lo")) return false;
  emit_simple(lowering, insn, mad ? IR_mad : IR_mul, type, sources);
  return true;
}

static bool lower_cnot(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  if (insn->noperands != 2) return false;
  IrOperand zero = ir_use(ir_reg(lowering->b, IR_TYPE_PRED, NULL));
  IrOperand compare[3] = {zero, ptx_read(lowering, &insn->operands[1]), ir_imm(0)};
  IrInsn *emitted = ir_emit(lowering->b, IR_setp, type, compare, 3);
  emitted->sub = IR_CMP_eq;
  ptx_guard(lowering, insn, emitted);
  IrOperand pick[4] = {ptx_write(lowering, &insn->operands[0]), ir_imm(1), ir_imm(0), zero};
  ptx_guard(lowering, insn, ir_emit(lowering->b, IR_select, type, pick, 4));
  return true;
}

/* Opcodes whose operands are those of an IR op in the same order. Anything with a modifier that
 * changes the result (.sat, .cc, .relu ...) is data. */
static const struct {
  const char *opcode;
  IrOp op;
  int sources;
} direct[] = {
    {"add", IR_add, 2},   {"sub", IR_sub, 2},     {"div", IR_div, 2},   {"rem", IR_rem, 2},
    {"abs", IR_abs, 1},   {"neg", IR_neg, 1},     {"min", IR_min, 2},   {"max", IR_max, 2},
    {"popc", IR_popc, 1}, {"clz", IR_clz, 1},     {"brev", IR_brev, 1}, {"bfind", IR_bfind, 1},
    {"bfe", IR_bfe, 3},   {"bfi", IR_bfi, 4},     {"and", IR_band, 2},  {"or", IR_bor, 2},
    {"xor", IR_bxor, 2},  {"not", IR_bnot, 1},    {"shl", IR_shl, 2},   {"shr", IR_shr, 2},
    {"prmt", IR_prmt, 3}, {"selp", IR_select, 3},
};

static bool lower_direct(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  static const char *const changing[] = {"sat", "cc",  "relu", "shiftamt", "f4e",   "b4e", "rc8",
                                         "ecl", "ecr", "rc16", "u16x2",    "s16x2", NULL};
  for (size_t i = 0; i < sizeof direct / sizeof *direct; i++) {
    if (strcmp(direct[i].opcode, insn->opcode) != 0) continue;
    if (insn->noperands != 1 + direct[i].sources) return false;
    for (int j = 0; changing[j]; j++)
      if (ptx_has(insn, changing[j])) return false;
    if (type.cls == IR_CLASS_FLOAT && direct[i].op != IR_select) return false;
    emit_simple(lowering, insn, direct[i].op, type, direct[i].sources);
    return true;
  }
  return false;
}

bool ptx_lower_plain(PtxLowering *lowering, const PtxInsn *insn) {
  const char *opcode = insn->opcode;
  if (insn->noperands == 0) return false;
  IrType type = IR_TYPE_U(4);
  ptx_last_type(insn, &type);
  bool done = false;
  if (strcmp(opcode, "mov") == 0 && insn->noperands == 2)
    done = lower_mov(lowering, insn, type);
  else if (strcmp(opcode, "setp") == 0 && insn->nmodifiers > 0)
    done = lower_setp(lowering, insn, type);
  else if (strcmp(opcode, "cvt") == 0)
    done = lower_cvt(lowering, insn);
  else if (strcmp(opcode, "lop3") == 0)
    done = lower_lop3(lowering, insn);
  else if (strcmp(opcode, "shf") == 0)
    done = lower_shf(lowering, insn);
  else if (strcmp(opcode, "cnot") == 0)
    done = lower_cnot(lowering, insn, type);
  else if (strcmp(opcode, "getctarank") == 0)
    done = lower_getctarank(lowering, insn);
  else if ((strcmp(opcode, "mul") == 0 || strcmp(opcode, "mad") == 0) &&
           type.cls != IR_CLASS_FLOAT && !ptx_has(insn, "sat") && !ptx_has(insn, "cc"))
    done = lower_multiply(lowering, insn, type);
  else
    done = lower_address(lowering, insn, type) || lower_direct(lowering, insn, type);
  return done;
}
