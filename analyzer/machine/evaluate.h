/* What an instruction computes from known operands. */
#ifndef KC_MACHINE_EVALUATE_H
#define KC_MACHINE_EVALUATE_H

#include "ir/ir.h"

#define ALU_OPERANDS 5

typedef struct AluOperands {
  uint64_t x[ALU_OPERANDS]; /* each extended to 64 bits from the operand's type */
} AluOperands;

/* Bits of a type; 1 for predicates. */
uint64_t alu_bits(IrType type);
bool alu_compare(IrCompare how, IrType type, uint64_t a, uint64_t b);
/* The result, not yet cut to the result's type; false when there is none (division by zero, an op
 * without integer meaning). */
bool alu_evaluate(const IrInsn *insn, const AluOperands *operands, uint64_t *out);

#endif
