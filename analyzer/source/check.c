#include "source/check.h"

#include "source/internal.h"

IrViolation *source_once(SourceCheck *check, const char *kind, const IrKernel *kernel,
                         uint32_t where, const char *format, ...) {
  SourceMap *map = (SourceMap *)&check->program->sources; /* a new stack, seen by nobody else */
  const SourceStack *frame = &map->stacks.items[source_user_frame(map, where)];
  SourceRange range = frame->range;
  char *key = g_strdup_printf("%s %u %u %u", kind, range.file, range.line, range.column);
  if (!g_hash_table_add(check->reported, key)) return NULL;
  va_list args;
  va_start(args, format);
  const char *message = kc_vprintf(check->violations->arena, format, args);
  va_end(args);
  uint32_t here = frame->outer ? source_stack(map, range, 0, frame->function) : where;
  return ir_violation(check->violations, kind, kernel, here, "%s", message);
}

/* The operand of an instruction that an address computed by it goes on from, one by one. */
static const IrOperand *base_operand(const IrInsn *insn, int which) {
  switch ((int)insn->op) { /* only these compute addresses */
  case IR_mov:
  case IR_cvt:
  case IR_cvta: return which == 0 ? &insn->args[1] : NULL;
  case IR_add:
  case IR_sub: return which < 2 ? &insn->args[1 + which] : NULL;
  case IR_mad:
  case IR_madwide: return which == 0 ? &insn->args[3] : NULL;
  default: return NULL;
  }
}

static int object_of(const IrKernel *kernel, int before, const IrOperand *address, int depth,
                     bool *converted) {
  if (address->kind == IR_OPD_OBJECT) return address->id;
  if (address->kind != IR_OPD_REG || depth == 0) return -1;
  for (int i = before - 1; i >= 0; i--) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->nargs < 2 || insn->args[0].kind != IR_OPD_REG || insn->args[0].id != address->id)
      continue;
    const IrOperand *base;
    int object = -1;
    for (int which = 0; object < 0 && (base = base_operand(insn, which)); which++)
      object = object_of(kernel, i, base, depth - 1, converted);
    if (object >= 0 && insn->op == IR_cvta && converted) *converted = true;
    return object;
  }
  return -1;
}

int source_object_of(const IrKernel *kernel, int before, const IrOperand *address,
                     bool *converted) {
  enum { DEPTH = 10 };
  return object_of(kernel, before, address, DEPTH, converted);
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
    source_check_aliases(&check, kernel);
    source_check_launches(&check, kernel);
    source_check_tails(&check, kernel);
    source_check_numerics(&check, kernel);
    source_check_packing(&check, kernel);
  }
  source_check_guards(&check);
  source_check_windows(&check);
  g_hash_table_unref(check.reported);
}
