/* The commonest instructions on values that all lanes of a strand share, with no look at any lane.
 * Whatever else comes up is left to interp_alu.c; the results are the same. */
#include "machine/execute/core.h"
#include "machine/execute/evaluate.h"

typedef struct Scalar {
  uint64_t x;
  bool known;
} Scalar;

/* False when the lanes differ, or the protocol half wants to hear of the read. */
static inline bool scalar_of(Machine *machine, const Strand *strand, const IrOperand *operand,
                             Scalar *out) {
  if (operand->kind == IR_OPD_IMM) {
    *out = (Scalar){(uint64_t)operand->value, true};
    return true;
  }
  if (operand->kind != IR_OPD_REG) return false;
  const MachineReg *reg = &strand->warp->regs[operand->id];
  if (reg->lanes || reg->watched) return false;
  uint32_t here = reg->known & strand->active;
  if (here && here != strand->active) return false;
  *out = (Scalar){reg->scalar + (uint64_t)operand->value, here != 0};
  if (operand->negated) {
    bool predicate = core_session(machine)->reg_type[operand->id].cls == IR_CLASS_PRED;
    out->x = predicate ? out->x ^ 1 : (uint64_t)0 - out->x;
  }
  return true;
}

static inline void put(Machine *machine, Strand *strand, const IrOperand *dst, bool known,
                       uint64_t x) {
  const CoreSession *session = core_session(machine);
  uint32_t lanes = strand->active;
  MachineReg *reg = dst->kind == IR_OPD_REG ? &strand->warp->regs[dst->id] : NULL;
  if (!reg || reg->lanes || reg->watched || session->reg_overlaps[dst->id] ||
      (strand->warp->alive & ~lanes)) {
    Value v = {.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = x};
    machine_write(machine, strand, dst, v, lanes);
    return;
  }
  IrType type = session->reg_type[dst->id];
  if (known) x &= type.cls == IR_CLASS_PRED ? 1 : core_width_mask(type.bytes);
  if (reg->scalar != x) strand->unchanged = 0;
  reg->scalar = x;
  reg->known = known ? reg->known | lanes : reg->known & ~lanes;
  reg->written = (uint32_t)machine->step;
}

static bool integer_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  int count = insn->nargs - 1;
  if (count < 1 || count > ALU_OPERANDS) return false;
  AluOperands o;
  IrType types[ALU_OPERANDS];
  uint32_t known = 0;
  for (int i = 0; i < count; i++) {
    Scalar s;
    if (!scalar_of(machine, strand, &insn->args[i + 1], &s)) return false;
    o.x[i] = s.x;
    types[i] = alu_operand_type(insn, i);
    known |= (uint32_t)s.known << i;
  }
  uint64_t out;
  bool ok = alu_lane(insn, &o, count, known, types, &out);
  put(machine, strand, &insn->args[0], ok, out);
  return true;
}

static bool predicate_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  Scalar p, q;
  if (insn->nargs != 3 || !scalar_of(machine, strand, &insn->args[1], &p) ||
      !scalar_of(machine, strand, &insn->args[2], &q))
    return false;
  uint64_t out;
  bool known = alu_predicate(insn, p.x, p.known, q.x, q.known, &out);
  put(machine, strand, &insn->args[0], known, out);
  return true;
}

static bool convert_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  Scalar s;
  if (insn->type.cls == IR_CLASS_FLOAT || insn->type2.cls == IR_CLASS_FLOAT) return false;
  if (!scalar_of(machine, strand, &insn->args[1], &s) || !s.known) return false;
  put(machine, strand, &insn->args[0], true, alu_convert(insn, s.x));
  return true;
}

static bool select_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  Scalar a, b, p;
  if (!scalar_of(machine, strand, &insn->args[3], &p) || !p.known ||
      !scalar_of(machine, strand, &insn->args[1], &a) ||
      !scalar_of(machine, strand, &insn->args[2], &b))
    return false;
  const Scalar *taken = p.x & 1 ? &a : &b;
  put(machine, strand, &insn->args[0], taken->known, taken->x);
  return true;
}

/* Nobody looks at floating-point data: the result is a new unknown. */
static bool data_op(Machine *machine, Strand *strand, const IrInsn *insn, int results) {
  for (int i = results; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    if (operand->kind == IR_OPD_IMM) continue;
    if (operand->kind != IR_OPD_REG || strand->warp->regs[operand->id].watched) return false;
  }
  for (int i = 0; i < results; i++)
    put(machine, strand, &insn->args[i], false, value_fresh(machine).scalar);
  return true;
}

bool core_alu_quick(Machine *machine, Strand *strand, const IrInsn *insn) {
  Scalar s;
  switch (insn->op) {
  case IR_mov:
    if (!scalar_of(machine, strand, &insn->args[1], &s)) return false;
    put(machine, strand, &insn->args[0], s.known, s.x);
    return true;
  case IR_setp: return predicate_op(machine, strand, insn);
  case IR_select: return select_op(machine, strand, insn);
  case IR_cvt: return convert_op(machine, strand, insn);
  case IR_opaque: return data_op(machine, strand, insn, insn->sub);
  case IR_pack:
  case IR_unpack:
  case IR_cvta:
  case IR_isspacep:
  case IR_mapa: return false;
  default:
    return insn->type.cls == IR_CLASS_FLOAT ? data_op(machine, strand, insn, 1)
                                            : integer_op(machine, strand, insn);
  }
}
