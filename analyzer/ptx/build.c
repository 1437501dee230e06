/* What to build a kernel for, when the user named a card and not a target. */
#include <string.h>

#include "ptx/ptx.h"

void ptx_check_build(const IrProgram *program, IrViolations *violations) {
  char plain[16];
  if (!program->arch || strlen(program->arch) >= sizeof plain) return;
  strcpy(plain, program->arch);
  size_t length = strlen(plain);
  if (length > 0 && strchr("af", plain[length - 1])) plain[length - 1] = '\0';
  for (int i = 0; i < program->kernels.count; i++) {
    const IrKernel *kernel = program->kernels.items[i];
    if (!kernel->needs_suffix) continue;
    IrViolation *v =
        ir_violation(violations, "arch-build-suffix", kernel, kernel->where,
                     "%s must be built for %s%c: '%s' does not exist on plain %s", kernel->name,
                     plain, kernel->needs_suffix, kernel->suffix_text, plain);
    const char *number = plain + 3; /* behind "sm_" */
    char suffix = kernel->needs_suffix;
    v->help =
        kc_printf(violations->arena,
                  "nvcc -gencode arch=compute_%s%c,code=sm_%s%c (-arch=sm_%s%c of nvcc 13 also "
                  "compiles for compute_%s, which refuses what only %s%c has)",
                  number, suffix, number, suffix, number, suffix, number, plain, suffix);
    ir_violation_related(violations, v, kernel->suffix_where, "first instruction that needs it");
  }
}
