/* Registers, scopes and operands. */
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

/* "%r12" as element 12 of the range `%r<n>`. */
static const PtxRegister *find_in_range(const PtxScope *scope, const char *name, int *index) {
  size_t length = strlen(name), digits = length;
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9')
    digits--;
  if (digits == length || digits == 0 || digits > 60 || length - digits > 8) return NULL;
  char key[64];
  memcpy(key, name, digits);
  strcpy(key + digits, "<");
  const PtxRegister *found = g_hash_table_lookup(scope->registers, key);
  *index = atoi(name + digits);
  return found && *index < found->count ? found : NULL;
}

int32_t ptx_find_register(const PtxLowering *lowering, const char *name, IrType *type) {
  for (const PtxScope *scope = lowering->scope; scope; scope = scope->outer) {
    int index = 0;
    const PtxRegister *found = g_hash_table_lookup(scope->registers, name);
    if (!found) found = find_in_range(scope, name, &index);
    if (!found) continue;
    if (type) *type = found->type;
    return found->first + index;
  }
  return -1;
}

const PtxSymbol *ptx_find_symbol(PtxLowering *lowering, const char *name) {
  for (const PtxScope *scope = lowering->scope; scope; scope = scope->outer) {
    const PtxSymbol *found = g_hash_table_lookup(scope->symbols, name);
    if (found) return found;
  }
  return lowering->module ? ptx_module_symbol(lowering, name) : NULL;
}

static const PtxAsmOperand *asm_operand(const PtxLowering *lowering, const PtxOperand *operand) {
  if (operand->kind != PTX_ASM || !lowering->statement) return NULL;
  if (operand->value < 0 || operand->value >= lowering->statement->noperands) return NULL;
  return &lowering->statement->operands[operand->value];
}

const char *ptx_source_text(const PtxLowering *lowering, const PtxOperand *operand) {
  if (operand->kind == PTX_ADDRESS && operand->count > 0) operand = &operand->list[0];
  const PtxAsmOperand *bound = asm_operand(lowering, operand);
  return bound ? bound->text : NULL;
}

static IrOperand read_name(PtxLowering *lowering, const PtxOperand *operand) {
  IrType type = IR_TYPE_NONE;
  int32_t reg = ptx_find_register(lowering, operand->text, &type);
  if (reg >= 0) {
    IrOperand value = ir_use(reg);
    value.type = type;
    value.negated = operand->negated;
    value.value = operand->value;
    return value;
  }
  const PtxSymbol *symbol = ptx_find_symbol(lowering, operand->text);
  if (symbol) {
    IrOperand value = symbol->address;
    value.value += operand->value;
    return value;
  }
  if (strcmp(operand->text, "WARP_SZ") == 0) return ir_imm(32);
  return ir_unknown();
}

static IrOperand read_address(PtxLowering *lowering, const PtxOperand *operand) {
  IrOperand base = ptx_read(lowering, &operand->list[0]);
  /* the offset of `sym+4` is in the element as well as in the address: count it once */
  int64_t inner = operand->list[0].kind == PTX_REG ? operand->list[0].value : 0;
  if (base.kind == IR_OPD_REG || base.kind == IR_OPD_IMM || base.kind == IR_OPD_OBJECT)
    base.value += operand->value - inner;
  return base;
}

static IrOperand read_list(PtxLowering *lowering, const PtxOperand *operand) {
  IrOperand *list = KC_NEW_ARRAY(lowering->arena, IrOperand, operand->count);
  for (int i = 0; i < operand->count; i++)
    list[i] = ptx_read(lowering, &operand->list[i]);
  return (IrOperand){.kind = IR_OPD_VECTOR, .list = list, .count = operand->count};
}

IrOperand ptx_read(PtxLowering *lowering, const PtxOperand *operand) {
  switch (operand->kind) {
  case PTX_ASM: {
    const PtxAsmOperand *bound = asm_operand(lowering, operand);
    if (!bound) return ir_unknown();
    IrOperand value = bound->value;
    if (bound->dst >= 0 && bound->constraint[0] == '=') value = ir_use(bound->dst);
    value.type = bound->type;
    value.negated = operand->negated;
    return value;
  }
  case PTX_REG:
  case PTX_LABEL: return read_name(lowering, operand);
  case PTX_SREG: {
    IrOperand value = ir_sreg(ptx_special(operand->text));
    value.type = IR_TYPE_U(4);
    return value;
  }
  case PTX_IMM: return ir_imm(operand->negated ? -operand->value : operand->value);
  case PTX_FLOAT: return ir_unknown();
  case PTX_ADDRESS: return read_address(lowering, operand);
  case PTX_VECTOR:
  case PTX_PAIR: return read_list(lowering, operand);
  case PTX_SINK: return (IrOperand){.kind = IR_OPD_SINK};
  }
  return ir_unknown();
}

IrOperand ptx_write(PtxLowering *lowering, const PtxOperand *operand) {
  IrOperand sink = {.kind = IR_OPD_SINK};
  if (operand->kind == PTX_ASM) {
    const PtxAsmOperand *bound = asm_operand(lowering, operand);
    if (!bound || bound->dst < 0) return sink;
    IrOperand value = ir_use(bound->dst);
    value.type = bound->type;
    return value;
  }
  if (operand->kind != PTX_REG) return sink;
  IrType type = IR_TYPE_NONE;
  int32_t reg = ptx_find_register(lowering, operand->text, &type);
  if (reg < 0) return sink;
  IrOperand value = ir_use(reg);
  value.type = type;
  return value;
}

void ptx_flatten(PtxLowering *lowering, const PtxOperand *operand, bool write, PtxArgs *out) {
  if (operand->kind == PTX_VECTOR || operand->kind == PTX_PAIR) {
    for (int i = 0; i < operand->count; i++)
      ptx_flatten(lowering, &operand->list[i], write, out);
    return;
  }
  IrOperand value = write ? ptx_write(lowering, operand) : ptx_read(lowering, operand);
  KC_PUSH(lowering->arena, *out, value);
}

void ptx_guard(PtxLowering *lowering, const PtxInsn *insn, IrInsn *emitted) {
  if (!insn->guard) return;
  int32_t reg = ptx_find_register(lowering, insn->guard, NULL);
  emitted->guard = reg;
  emitted->guard_negated = insn->guard_negated;
  if (emitted->op == IR_event && reg >= 0) emitted->flags |= IR_FLAG(predicated);
}
