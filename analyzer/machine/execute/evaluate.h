/* What an instruction computes for one lane. */
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
/* The type that an operand is read as. */
IrType alu_operand_type(const IrInsn *insn, int index);
/* As alu_evaluate, for raw operands of which those in `known` (a bit each) are known; cut to the
 * result's type. False: unknown, and *out is the name of the unknown. */
bool alu_lane(const IrInsn *insn, AluOperands *operands, int count, uint32_t known,
              const IrType *types, uint64_t *out);
/* setp of two raw operands; false: unknown, *out its name. */
bool alu_predicate(const IrInsn *insn, uint64_t p, bool p_known, uint64_t q, bool q_known,
                   uint64_t *out);
/* cvt of a known integer. */
uint64_t alu_convert(const IrInsn *insn, uint64_t x);

#endif
