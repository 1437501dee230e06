/* Loads, stores and atomics of the generic proxy (PTX ISA 9.7.9.8 to 9.7.9.12, 9.7.13.5). */
#include <string.h>

#include "ptx/lower.h"

static IrSpace space_of(const PtxInsn *insn) {
  for (int i = 0; i < insn->nmodifiers; i++)
    if (ptx_space(insn->modifiers[i]) != IR_SPACE_NONE) return ptx_space(insn->modifiers[i]);
  return IR_SPACE_GENERIC;
}

static uint64_t memory_flags(const PtxInsn *insn) {
  static const struct {
    const char *modifier;
    uint64_t flag;
  } names[] = {
      {"volatile", IR_FLAG(volatile_)},
      {"relaxed", IR_FLAG(relaxed)},
      {"acquire", IR_FLAG(acquire)},
      {"release", IR_FLAG(release)},
      {"acq_rel", IR_FLAG(acq_rel)},
      {"weak", IR_FLAG(weak)},
      {"cta", IR_FLAG(scope_cta)},
      {"cluster", IR_FLAG(scope_cluster)},
      {"gpu", IR_FLAG(scope_gpu)},
      {"sys", IR_FLAG(scope_sys)},
      {"nc", IR_FLAG(nc)},
  };
  uint64_t flags = 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ptx_has(insn, names[i].modifier)) flags |= names[i].flag;
  return flags;
}

/* ld.param and st.param of a call go to local memory. */
static IrSpace space_at(PtxLowering *lowering, const PtxInsn *insn, int address) {
  IrSpace space = space_of(insn);
  const PtxOperand *base = &insn->operands[address].list[0];
  if (space != IR_SPACE_PARAM || base->kind != PTX_REG) return space;
  const PtxSymbol *symbol = ptx_find_symbol(lowering, base->text);
  return symbol ? symbol->space : space;
}

/* v2, v4, v8: one access of all elements, at a multiple of its size. */
static uint8_t vector_bytes(IrType type, int elements) {
  return elements > 1 ? (uint8_t)(type.bytes * elements) : 0;
}

static void finish(PtxLowering *lowering, const PtxInsn *insn, int address, IrInsn *emitted) {
  emitted->space = (uint8_t)space_at(lowering, insn, address);
  emitted->flags = memory_flags(insn) | lowering->b->extra_flags;
  ptx_guard(lowering, insn, emitted);
}

static bool lower_load(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  if (insn->noperands < 2 || insn->operands[1].kind != PTX_ADDRESS) return false;
  PtxArgs args = {0};
  ptx_flatten(lowering, &insn->operands[0], true, &args);
  int results = args.count;
  IrOperand address = ptx_read(lowering, &insn->operands[1]);
  KC_PUSH(lowering->arena, args, address);
  IrInsn *emitted = ir_emit(lowering->b, IR_load, type, args.items, args.count);
  emitted->sub = (uint8_t)results;
  emitted->vector = vector_bytes(type, results);
  finish(lowering, insn, 1, emitted);
  return true;
}

static bool lower_store(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  if (insn->noperands < 2 || insn->operands[0].kind != PTX_ADDRESS) return false;
  PtxArgs args = {0};
  IrOperand address = ptx_read(lowering, &insn->operands[0]);
  KC_PUSH(lowering->arena, args, address);
  ptx_flatten(lowering, &insn->operands[1], false, &args);
  IrInsn *emitted = ir_emit(lowering->b, IR_store, type, args.items, args.count);
  emitted->vector = vector_bytes(type, args.count - 1);
  finish(lowering, insn, 0, emitted);
  return true;
}

static bool atom_of(const PtxInsn *insn, IrAtom *atom) {
  static const char *const names[] = {"add", "sub", "exch", "min", "max", "and",
                                      "or",  "xor", "inc",  "dec", "cas"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (ptx_has(insn, names[i])) {
      *atom = (IrAtom)i;
      return true;
    }
  return false;
}

/* atom d, [a], b{, c}; red [a], b. Vector atomics are lowered element by element. */
static bool lower_atomic(PtxLowering *lowering, const PtxInsn *insn, IrType type) {
  bool red = strcmp(insn->opcode, "red") == 0;
  IrAtom atom;
  int first = red ? 0 : 1;
  if (insn->noperands < first + 2 || insn->operands[first].kind != PTX_ADDRESS) return false;
  if (!atom_of(insn, &atom)) return false;
  PtxArgs results = {0}, values = {0};
  IrOperand address = ptx_read(lowering, &insn->operands[first]);
  ptx_flatten(lowering, &insn->operands[first + 1], false, &values);
  if (!red) ptx_flatten(lowering, &insn->operands[0], true, &results);
  for (int i = 0; i < values.count; i++) {
    IrOperand args[4] = {i < results.count ? results.items[i] : (IrOperand){.kind = IR_OPD_SINK},
                         address, values.items[i]};
    int nargs = 3;
    if (atom == IR_ATOM_cas && insn->noperands > first + 2)
      args[nargs++] = ptx_read(lowering, &insn->operands[first + 2]);
    args[1].value += (int64_t)i * type.bytes;
    IrInsn *emitted = ir_emit(lowering->b, IR_atom, type, args, nargs);
    emitted->sub = (uint8_t)atom;
    finish(lowering, insn, first, emitted);
  }
  return true;
}

/* The policy of an access is looked at before it: a move of its own, so that the access keeps the
 * form that it has without one. */
static void lower_policy(PtxLowering *lowering, const PtxInsn *insn) {
  const PtxOperand *last = insn->noperands ? &insn->operands[insn->noperands - 1] : NULL;
  if (!ptx_has(insn, "L2::cache_hint") || !last || last->kind != PTX_REG) return;
  IrOperand args[2] = {ir_use(ir_reg(lowering->b, IR_TYPE_U(8), NULL)), ptx_read(lowering, last)};
  args[1].role = IR_ROLE_policy;
  IrInsn *emitted = ir_emit(lowering->b, IR_mov, IR_TYPE_U(8), args, 2);
  emitted->flags = IR_FLAG(cache_hint);
  ptx_guard(lowering, insn, emitted);
}

bool ptx_lower_memory(PtxLowering *lowering, const PtxInsn *insn) {
  const char *opcode = insn->opcode;
  IrType type = IR_TYPE_U(4);
  bool typed = ptx_last_type(insn, &type);
  if (!typed || ptx_has(insn, "async")) return false;
  lower_policy(lowering, insn);
  if (strcmp(opcode, "ld") == 0 || strcmp(opcode, "ldu") == 0)
    return lower_load(lowering, insn, type);
  if (strcmp(opcode, "st") == 0) return lower_store(lowering, insn, type);
  if (strcmp(opcode, "atom") == 0 || strcmp(opcode, "red") == 0)
    return lower_atomic(lowering, insn, type);
  return false;
}
