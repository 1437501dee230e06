/* PTX text as a module (text with a .version directive) or as the template of an asm statement.
 * What was accepted must be well-formed IR. */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "ptx/ptx.h"

enum { OPERANDS = 6, MAX_LENGTH = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_well_formed(const IrProgram *program) {
  KcError error = {0};
  if (ir_verify(program, &error)) return;
  g_printerr("not well-formed: %s\n", error.message);
  abort();
}

static void load_module(IrProgram *program, const char *text, size_t length,
                        IrViolations *violations) {
  KcError error = {0};
  if (ptx_load_module(program, text, length, violations, &error)) {
    must_be_well_formed(program);
    ptx_check_build(program, violations);
  } else if (!error.message) {
    abort(); /* a failure without a reason */
  }
  kc_error_clear(&error);
}

/* Four inputs, an output and an immediate, as %0 to %5. */
static void lower_statement(IrProgram *program, const char *text, IrViolations *violations) {
  static const char *const constraints[OPERANDS] = {"=r", "l", "r", "h", "f", "n"};
  static const int bytes[OPERANDS] = {4, 8, 4, 2, 4, 4};
  IrKernel *kernel = ir_kernel_new(program, "k", false);
  IrBuilder b;
  ir_builder_init(&b, program, kernel);
  b.where = source_stack(&program->sources, (SourceRange){1, 6, 3, 6, 20}, 0, "k");
  PtxAsmOperand operands[OPERANDS];
  for (int i = 0; i < OPERANDS; i++) {
    IrType type = constraints[i][0] == 'f' ? IR_TYPE_F(4) : IR_TYPE_U(bytes[i]);
    int32_t reg = ir_reg(&b, type, NULL);
    operands[i] = (PtxAsmOperand){.constraint = constraints[i],
                                  .value = constraints[i][0] == 'n' ? ir_imm(24) : ir_use(reg),
                                  .dst = constraints[i][0] == '=' ? reg : -1,
                                  .type = type,
                                  .text = "x"};
  }
  uint32_t offset = 0;
  SourceRange start = {1, 7, 11, 7, 12};
  PtxAsm statement = {.text = text,
                      .operands = operands,
                      .noperands = OPERANDS,
                      .is_volatile = true,
                      .map = {&offset, &start, 1}};
  ptx_lower_asm(&b, &statement, violations);
  ir_finish(&b);
  must_be_well_formed(program);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > MAX_LENGTH || memchr(data, '\0', size)) return 0; /* refused before PTX is read */
  KcArena *arena = kc_arena_new();
  char *text = g_strndup((const char *)data, size);
  IrProgram *program = ir_program_new(arena, "fuzz.ptx", "sm_90a");
  IrViolations violations = {.arena = arena};
  if (strstr(text, ".version"))
    load_module(program, text, size, &violations);
  else
    lower_statement(program, text, &violations);
  g_free(text);
  kc_arena_free(arena);
  return 0;
}
