/* One asm statement lowered into a kernel of its own. */
#ifndef TESTS_PTX_LOWERING_H
#define TESTS_PTX_LOWERING_H

#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"

typedef struct Lowered {
  KcArena *arena;
  IrProgram *program;
  IrKernel *kernel;
  IrViolations violations;
  IrBuilder b;
  bool parsed;
} Lowered;

/* `constraints`: "=r", "l", "n=24" ..., NULL-terminated. Operand N is register N of the kernel. */
static inline Lowered lower_asm(const char *target, const char *text,
                                const char *const *constraints) {
  Lowered l = {.arena = kc_arena_new()};
  l.program = ir_program_new(l.arena, "test.cu", target);
  l.kernel = ir_kernel_new(l.program, "k", false);
  l.violations.arena = l.arena;
  ir_builder_init(&l.b, l.program, l.kernel);
  SourceRange place = {1, 6, 3, 6, 20};
  l.b.where = source_stack(&l.program->sources, place, 0, "k");
  int count = 0;
  while (constraints && constraints[count])
    count++;
  PtxAsmOperand *operands = KC_NEW_ARRAY(l.arena, PtxAsmOperand, count + 1);
  for (int i = 0; i < count; i++) {
    char *constraint = kc_strdup(l.arena, constraints[i]);
    char *value = strchr(constraint + 1, '=');
    if (value) *value++ = '\0';
    IrType type = strchr(constraint, 'l')   ? IR_TYPE_U(8)
                  : strchr(constraint, 'h') ? IR_TYPE_U(2)
                  : strchr(constraint, 'f') ? IR_TYPE_F(4)
                                            : IR_TYPE_U(4);
    int32_t reg = ir_reg(&l.b, type, NULL);
    bool output = constraint[0] == '=' || constraint[0] == '+';
    operands[i] = (PtxAsmOperand){.constraint = constraint,
                                  .value = value ? ir_imm(strtol(value, NULL, 0)) : ir_use(reg),
                                  .dst = output ? reg : -1,
                                  .type = type,
                                  .text = kc_printf(l.arena, "operand%d", i)};
  }
  uint32_t *offsets = KC_NEW(l.arena, uint32_t);
  SourceRange *starts = KC_NEW(l.arena, SourceRange);
  *starts = (SourceRange){1, 7, 11, 7, 12}; /* the string starts at line 7, column 11 */
  PtxAsm statement = {.text = text,
                      .operands = operands,
                      .noperands = count,
                      .is_volatile = true,
                      .map = {offsets, starts, 1}};
  l.parsed = ptx_lower_asm(&l.b, &statement, &l.violations);
  ir_finish(&l.b);
  return l;
}

static inline const IrInsn *insn_at(const Lowered *l, int index) {
  return &l->kernel->insns.items[index];
}

static inline const char *kind_at(const Lowered *l, int index) {
  return index < l->violations.list.count ? l->violations.list.items[index]->kind : "none";
}

static inline void lowered_free(Lowered *l) {
  kc_arena_free(l->arena);
}

#endif
