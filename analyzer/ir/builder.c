#include "ir/ir.h"

#include <string.h>

#include <glib.h>

IrProgram *ir_program_new(KcArena *arena, const char *path, const char *arch) {
  IrProgram *program = KC_NEW(arena, IrProgram);
  program->arena = arena;
  program->path = kc_strdup(arena, path);
  program->arch = kc_strdup(arena, arch);
  source_map_init(&program->sources, arena);
  source_file(&program->sources, path, true);
  return program;
}

IrKernel *ir_kernel_new(IrProgram *program, const char *name, bool is_host) {
  IrKernel *kernel = KC_NEW(program->arena, IrKernel);
  kernel->name = kc_strdup(program->arena, name);
  kernel->instantiation = kernel->name;
  kernel->is_host = is_host;
  if (is_host)
    KC_PUSH(program->arena, program->hosts, kernel);
  else
    KC_PUSH(program->arena, program->kernels, kernel);
  return kernel;
}

void ir_builder_init(IrBuilder *b, IrProgram *program, IrKernel *kernel) {
  *b = (IrBuilder){.program = program,
                   .kernel = kernel,
                   .arena = program->arena,
                   .local_top = IR_LOCAL_BASE,
                   .cells = g_hash_table_new(g_int64_hash, g_int64_equal)};
}

int32_t ir_reg(IrBuilder *b, IrType type, const char *name) {
  IrReg reg = {.type = type, .name = name};
  KC_PUSH(b->arena, b->kernel->regs, reg);
  return b->kernel->regs.count - 1;
}

int32_t ir_cell(IrBuilder *b, uint64_t address, IrType type) {
  gint64 key = (gint64)(address << 8 | type.bytes);
  gpointer found = NULL;
  if (g_hash_table_lookup_extended(b->cells, &key, NULL, &found)) return GPOINTER_TO_INT(found);
  int32_t reg = ir_reg(b, type, NULL);
  b->kernel->regs.items[reg].cell = address;
  gint64 *stored = kc_alloc(b->arena, sizeof *stored);
  *stored = key;
  g_hash_table_insert(b->cells, stored, GINT_TO_POINTER(reg));
  return reg;
}

uint64_t ir_local(IrBuilder *b, uint64_t bytes, uint32_t align) {
  if (align == 0) align = 1;
  b->local_top = (b->local_top + align - 1) / align * align;
  uint64_t address = b->local_top;
  b->local_top += bytes ? bytes : 1;
  b->kernel->local_bytes = b->local_top - IR_LOCAL_BASE;
  return address;
}

int32_t ir_object(IrBuilder *b, IrObject object) {
  KC_PUSH(b->arena, b->kernel->objects, object);
  return b->kernel->objects.count - 1;
}

int32_t ir_label(IrBuilder *b) {
  KC_PUSH(b->arena, b->labels, -1);
  return b->labels.count - 1;
}

void ir_place(IrBuilder *b, int32_t label) {
  b->labels.items[label] = b->kernel->insns.count;
}

IrInsn *ir_emit(IrBuilder *b, IrOp op, IrType type, const IrOperand *args, int nargs) {
  IrInsn insn = {.op = (uint8_t)op,
                 .type = type,
                 .guard = -1,
                 .target = -1,
                 .ipdom = -1,
                 .nargs = (uint16_t)nargs,
                 .where = b->where};
  if (nargs > 0) {
    IrOperand *copy = KC_NEW_ARRAY(b->arena, IrOperand, nargs);
    memcpy(copy, args, sizeof *copy * (size_t)nargs);
    insn.args = copy;
  }
  KC_PUSH(b->arena, b->kernel->insns, insn);
  return &b->kernel->insns.items[b->kernel->insns.count - 1];
}

IrInsn *ir_emit_event(IrBuilder *b, IrEvent event, const IrOperand *args, int nargs,
                      uint64_t flags) {
  IrInsn *insn = ir_emit(b, IR_event, IR_TYPE_NONE, args, nargs);
  insn->event = (uint8_t)event;
  insn->flags = flags | b->extra_flags;
  insn->text = b->text;
  return insn;
}

IrInsn *ir_branch(IrBuilder *b, int32_t label, int32_t guard, bool negated) {
  IrInsn *insn = ir_emit(b, IR_branch, IR_TYPE_NONE, NULL, 0);
  insn->target = label; /* label id until ir_finish */
  insn->guard = guard;
  insn->guard_negated = negated;
  return insn;
}

void ir_note(IrBuilder *b, bool may_hide_event, const char *format, ...) {
  va_list args;
  va_start(args, format);
  IrNote note = {.text = kc_vprintf(b->arena, format, args),
                 .where = b->where,
                 .may_hide_event = may_hide_event};
  va_end(args);
  KC_PUSH(b->arena, b->kernel->notes, note);
}

static void resolve_labels(IrBuilder *b) {
  IrKernel *kernel = b->kernel;
  for (int i = 0; i < kernel->insns.count; i++) {
    IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_branch) {
      insn->target = b->labels.items[insn->target];
      g_assert(insn->target >= 0);
      kernel->insns.items[insn->target].leader = true;
    } else if (insn->op == IR_branch_index) {
      IrOperand *targets = (IrOperand *)insn->args;
      for (int j = 1; j < insn->nargs; j++) {
        targets[j].value = b->labels.items[targets[j].value];
        kernel->insns.items[targets[j].value].leader = true;
      }
    }
  }
}

void ir_postdominators(IrKernel *kernel); /* postdom.c */

void ir_finish(IrBuilder *b) {
  ir_emit(b, IR_exit, IR_TYPE_NONE, NULL, 0);
  resolve_labels(b);
  ir_postdominators(b->kernel);
  g_hash_table_destroy(b->cells);
  b->cells = NULL;
}
