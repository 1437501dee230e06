/* Decoding of the commonest instructions. What an operand's type asks for (sign or zero extension,
 * PTX ISA 9.4.1) is settled here once, and left out where it can't reach the result. */
#include "machine/execute/quick.h"

#include "machine/execute/evaluate.h"

static uint8_t extension(IrType type) {
  bool is_signed = type.cls == IR_CLASS_SINT;
  if (type.cls == IR_CLASS_PRED) return EXTEND_PRED;
  switch (type.bytes) {
  case 1: return is_signed ? EXTEND_S1 : EXTEND_U1;
  case 2: return is_signed ? EXTEND_S2 : EXTEND_U2;
  case 4: return is_signed ? EXTEND_S4 : EXTEND_U4;
  default: return EXTEND_NONE;
  }
}

/* What `operand` read as `type` is; IR_TYPE_NONE: as it is. */
static bool source(const MachineSession *session, const IrOperand *operand, IrType type,
                   QuickSource *out) {
  const CoreSession *core = session->core;
  const IrObject *object;
  *out = (QuickSource){.reg = -1, .extend = extension(type), .special = -1};
  switch (operand->kind) {
  case IR_OPD_IMM:
    out->value = quick_extend((uint64_t)operand->value, out->extend);
    out->extend = EXTEND_NONE;
    return true;
  case IR_OPD_OBJECT:
    object = &session->kernel->objects.items[operand->id];
    out->value = session->object_offset[operand->id] + (uint64_t)operand->value;
    out->ranked = object->space == IR_SPACE_SHARED;
    if (out->ranked) out->value += IR_SHARED_BASE;
    return out->extend == EXTEND_NONE;
  case IR_OPD_SPECIAL: /* clocks advance with each reading */
    if (operand->id == IR_SREG_clock || operand->id == IR_SREG_globaltimer) return false;
    out->special = (int8_t)operand->id;
    return true;
  case IR_OPD_REG:
    if (operand->negated) return false;
    out->reg = operand->id;
    out->value = (uint64_t)operand->value;
    IrType held = core->reg_type[operand->id];
    /* Registers hold their bits zero-extended. */
    if (type.cls == IR_CLASS_UINT && held.cls != IR_CLASS_PRED && held.bytes <= type.bytes &&
        !operand->value)
      out->extend = EXTEND_NONE;
    return true;
  default: return false;
  }
}

static bool sources(const MachineSession *session, const IrInsn *insn, int count, bool extend,
                    CoreQuick *out) {
  if (insn->nargs != count + 1) return false;
  for (int i = 0; i < count; i++) {
    IrType type = extend ? alu_operand_type(insn, i) : IR_TYPE_NONE;
    if (!source(session, &insn->args[i + 1], type, &out->src[i])) return false;
  }
  return true;
}

static QuickCode decode_division(const MachineSession *session, const IrInsn *insn,
                                 CoreQuick *out) {
  if (insn->nargs != 3 || insn->args[2].kind != IR_OPD_IMM) return QUICK_EVALUATE;
  uint64_t by = core_extend((uint64_t)insn->args[2].value, insn->type);
  bool power = by && (by & (by - 1)) == 0 && (int64_t)by > 0;
  if (!power || !sources(session, insn, 2, true, out)) return QUICK_EVALUATE;
  out->src[1].value = (uint64_t)__builtin_ctzll(by);
  return insn->op == IR_div ? QUICK_DIV : QUICK_REM;
}

/* Integer operations of which the low bits of the result depend on those of the sources only. */
static QuickCode low_code(IrOp op) {
  switch ((int)op) {
  case IR_add: return QUICK_ADD;
  case IR_sub: return QUICK_SUB;
  case IR_mul: return QUICK_MUL;
  case IR_mad: return QUICK_MAD;
  case IR_band: return QUICK_AND;
  case IR_bor: return QUICK_OR;
  case IR_bxor: return QUICK_XOR;
  case IR_shl: return QUICK_SHL;
  default: return QUICK_NONE;
  }
}

static QuickCode decode_integer(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  const CoreSession *core = session->core;
  int count = insn->nargs - 1;
  if (count < 1 || count > ALU_OPERANDS) return QUICK_NONE;
  IrType held = core->reg_type[out->dst];
  bool fits = held.bytes <= insn->type.bytes;
  out->bits = (uint8_t)alu_bits(insn->type);
  out->is_signed = insn->type.cls == IR_CLASS_SINT;
  QuickCode low = low_code((IrOp)insn->op);
  if (!fits) return QUICK_EVALUATE;
  if (low != QUICK_NONE)
    return sources(session, insn, low == QUICK_MAD ? 3 : 2, false, out) ? low : QUICK_EVALUATE;
  if (insn->op == IR_shr)
    return !sources(session, insn, 2, true, out) ? QUICK_EVALUATE
           : out->is_signed                      ? QUICK_SAR
                                                 : QUICK_SHR;
  if (insn->op == IR_div || insn->op == IR_rem) return decode_division(session, insn, out);
  return QUICK_EVALUATE;
}

static QuickCode decode_cvt(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  const CoreSession *core = session->core;
  if (insn->type.cls == IR_CLASS_FLOAT || insn->type2.cls == IR_CLASS_FLOAT) return QUICK_NONE;
  if (insn->nargs != 2 || !source(session, &insn->args[1], insn->type2, &out->src[0]))
    return QUICK_NONE;
  if (insn->type.cls == IR_CLASS_PRED) return QUICK_BOOL;
  return core->reg_type[out->dst].bytes <= insn->type.bytes ? QUICK_CVT : QUICK_NONE;
}

static QuickCode decode_setp(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  if (insn->type.cls == IR_CLASS_FLOAT || insn->nargs != 3) return QUICK_NONE;
  for (int i = 0; i < 2; i++)
    if (!source(session, &insn->args[i + 1], insn->type, &out->src[i])) return QUICK_NONE;
  out->compare = insn->sub;
  out->is_signed = insn->type.cls == IR_CLASS_SINT;
  return QUICK_SETP;
}

static QuickCode decode_select(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  return sources(session, insn, 3, false, out) ? QUICK_SELECT : QUICK_NONE;
}

static QuickCode decode_cvta(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  bool shared = insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_SHARED_CLUSTER;
  if (!sources(session, insn, 1, false, out)) return QUICK_NONE;
  out->is_signed = insn->sub; /* to the window, else from it */
  return shared ? QUICK_WINDOW : QUICK_MOV;
}

static QuickCode decode_op(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  bool has_dst = insn->nargs > 0 && insn->args[0].kind == IR_OPD_REG;
  if (insn->op == IR_nop) return insn->nargs ? QUICK_NONE : QUICK_NOP;
  if (insn->op == IR_branch) return QUICK_BRANCH;
  /* Named computations and moves of cache policies tell the protocol half something. */
  if (insn->op == IR_opaque) return insn->text ? QUICK_NONE : QUICK_FRESH;
  if (insn->op == IR_mov && insn->flags) return QUICK_NONE;
  if (!has_dst) return QUICK_NONE;
  IrType held = ((const CoreSession *)session->core)->reg_type[insn->args[0].id];
  out->dst = insn->args[0].id;
  out->mask = held.cls == IR_CLASS_PRED ? 1 : core_width_mask(held.bytes);
  switch (insn->op) {
  case IR_mov: return sources(session, insn, 1, false, out) ? QUICK_MOV : QUICK_NONE;
  case IR_setp: return decode_setp(session, insn, out);
  case IR_select: return decode_select(session, insn, out);
  case IR_cvt: return decode_cvt(session, insn, out);
  case IR_cvta: return decode_cvta(session, insn, out);
  case IR_pack:
  case IR_unpack:
  case IR_isspacep:
  case IR_mapa:
  case IR_load:
  case IR_store:
  case IR_atom:
  case IR_copy:
  case IR_fill:
  case IR_branch_index:
  case IR_exit:
  case IR_trap:
  case IR_event:
  case IR_havoc: return QUICK_NONE;
  default:
    return insn->type.cls == IR_CLASS_FLOAT ? QUICK_FRESH : decode_integer(session, insn, out);
  }
}

/* Sources that are read for each lane, of what needs no more than these. */
static int plain_sources(const CoreQuick *quick) {
  if (quick->code < QUICK_MOV || quick->code == QUICK_SELECT || quick->guard >= 0) return 0;
  int count = quick->code == QUICK_MAD ? 3 : quick->code >= QUICK_SETP ? 2 : 1;
  for (int i = 0; i < count; i++)
    if (quick->src[i].reg < 0 && quick->src[i].special >= 0) return 0;
  return count;
}

void quick_decode(const MachineSession *session, const IrInsn *insn, CoreQuick *out) {
  *out = (CoreQuick){
      .guard = insn->guard, .guard_negated = insn->guard_negated, .dst = -1, .mask = UINT64_MAX};
  out->code = (uint8_t)decode_op(session, insn, out);
  out->plain = (uint8_t)plain_sources(out);
  out->target = insn->target;
}
