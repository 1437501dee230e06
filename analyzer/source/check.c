#include "source/check.h"

#include "source/internal.h"

IrViolation *source_once(SourceCheck *check, const char *kind, const IrKernel *kernel,
                         uint32_t where, const char *format, ...) {
  const SourceMap *map = &check->program->sources;
  uint32_t frame = source_user_frame(map, where);
  const SourceRange *range = &map->stacks.items[frame].range;
  char *key = g_strdup_printf("%s %u %u %u", kind, range->file, range->line, range->column);
  if (!g_hash_table_add(check->reported, key)) return NULL;
  va_list args;
  va_start(args, format);
  const char *message = kc_vprintf(check->violations->arena, format, args);
  va_end(args);
  return ir_violation(check->violations, kind, kernel, where, "%s", message);
}

const IrInsn *source_find_event(const IrKernel *kernel, IrEvent event) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_event && insn->event == event) return insn;
  }
  return NULL;
}

void source_check(const IrProgram *program, const Arch *arch, bool exact_target,
                  const MachineHostFacts *host, IrViolations *violations) {
  SourceCheck check = {program,      arch,
                       exact_target, host,
                       violations,   g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  for (int i = 0; i < program->kernels.count; i++) {
    const IrKernel *kernel = program->kernels.items[i];
    if (kernel->body_lost) continue;
    source_check_asms(&check, kernel);
    source_check_kernel(&check, kernel);
    source_check_launches(&check, kernel);
  }
  source_check_guards(&check);
  g_hash_table_unref(check.reported);
}
