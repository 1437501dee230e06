/* The text of --dump ir: one instruction a line, with its place. For people and for tests that
 * compare front ends; nothing parses it back. */
#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "ir/ir.h"

static const char *const flag_names[] = {
#define FLAG(name) #name,
#include "ir/flags.def"
#undef FLAG
};

static const char *const special_names[IR_SREG_COUNT] = {
    [IR_SREG_tid_x] = "tid.x",
    [IR_SREG_tid_y] = "tid.y",
    [IR_SREG_tid_z] = "tid.z",
    [IR_SREG_ntid_x] = "ntid.x",
    [IR_SREG_ntid_y] = "ntid.y",
    [IR_SREG_ntid_z] = "ntid.z",
    [IR_SREG_ctaid_x] = "ctaid.x",
    [IR_SREG_ctaid_y] = "ctaid.y",
    [IR_SREG_ctaid_z] = "ctaid.z",
    [IR_SREG_nctaid_x] = "nctaid.x",
    [IR_SREG_nctaid_y] = "nctaid.y",
    [IR_SREG_nctaid_z] = "nctaid.z",
    [IR_SREG_clusterid_x] = "clusterid.x",
    [IR_SREG_clusterid_y] = "clusterid.y",
    [IR_SREG_clusterid_z] = "clusterid.z",
    [IR_SREG_nclusterid_x] = "nclusterid.x",
    [IR_SREG_nclusterid_y] = "nclusterid.y",
    [IR_SREG_nclusterid_z] = "nclusterid.z",
    [IR_SREG_cluster_ctaid_x] = "cluster_ctaid.x",
    [IR_SREG_cluster_ctaid_y] = "cluster_ctaid.y",
    [IR_SREG_cluster_ctaid_z] = "cluster_ctaid.z",
    [IR_SREG_cluster_nctaid_x] = "cluster_nctaid.x",
    [IR_SREG_cluster_nctaid_y] = "cluster_nctaid.y",
    [IR_SREG_cluster_nctaid_z] = "cluster_nctaid.z",
    [IR_SREG_cluster_ctarank] = "cluster_ctarank",
    [IR_SREG_cluster_nctarank] = "cluster_nctarank",
    [IR_SREG_is_explicit_cluster] = "is_explicit_cluster",
    [IR_SREG_laneid] = "laneid",
    [IR_SREG_warpid] = "warpid",
    [IR_SREG_nwarpid] = "nwarpid",
    [IR_SREG_smid] = "smid",
    [IR_SREG_nsmid] = "nsmid",
    [IR_SREG_gridid] = "gridid",
    [IR_SREG_lanemask_eq] = "lanemask_eq",
    [IR_SREG_lanemask_lt] = "lanemask_lt",
    [IR_SREG_lanemask_le] = "lanemask_le",
    [IR_SREG_lanemask_gt] = "lanemask_gt",
    [IR_SREG_lanemask_ge] = "lanemask_ge",
    [IR_SREG_clock] = "clock",
    [IR_SREG_globaltimer] = "globaltimer",
    [IR_SREG_dynamic_smem_size] = "dynamic_smem_size",
    [IR_SREG_total_smem_size] = "total_smem_size",
    [IR_SREG_unknown] = "unknown",
};

static const char *space_name(unsigned space) {
  static const char *const names[] = {
      "", "generic", "shared", "shared::cluster", "local", "param", "global", "const", "tmem"};
  return space < G_N_ELEMENTS(names) ? names[space] : "?";
}

static void print_type(GString *out, IrType type) {
  static const char letters[] = {0, 'p', 'u', 's', 'f'};
  if (type.cls == IR_CLASS_NONE || type.cls > IR_CLASS_FLOAT) return;
  if (type.cls == IR_CLASS_PRED)
    g_string_append(out, ".pred");
  else
    g_string_append_printf(out, ".%c%d", letters[type.cls], type.bytes * 8);
}

static void print_value(GString *out, int64_t value) {
  if (value > -100000 && value < 100000)
    g_string_append_printf(out, "%" PRId64, value);
  else
    g_string_append_printf(out, "0x%" PRIx64, (uint64_t)value);
}

static void print_offset(GString *out, int64_t offset) {
  if (offset) g_string_append_printf(out, "%+" PRId64, offset);
}

static void print_operand(GString *out, const IrKernel *kernel, const IrOperand *operand) {
  if (operand->role) g_string_append_printf(out, "%s=", ir_role_name((IrRole)operand->role));
  if (operand->negated) g_string_append_c(out, '!');
  switch ((IrOperandKind)operand->kind) {
  case IR_OPD_NONE: g_string_append(out, "none"); break;
  case IR_OPD_REG: {
    const char *name = operand->id >= 0 && operand->id < kernel->regs.count
                           ? kernel->regs.items[operand->id].name
                           : NULL;
    g_string_append_printf(out, "r%d", operand->id);
    if (name) g_string_append_printf(out, "(%s)", name);
    print_offset(out, operand->value);
    break;
  }
  case IR_OPD_IMM: print_value(out, operand->value); break;
  case IR_OPD_SPECIAL:
    g_string_append_printf(
        out, "%%%s",
        operand->id >= 0 && operand->id < IR_SREG_COUNT ? special_names[operand->id] : "?");
    break;
  case IR_OPD_OBJECT: {
    const char *name = operand->id >= 0 && operand->id < kernel->objects.count
                           ? kernel->objects.items[operand->id].name
                           : NULL;
    g_string_append_printf(out, "&%s", name ? name : "object");
    print_offset(out, operand->value);
    break;
  }
  case IR_OPD_UNKNOWN: g_string_append_c(out, '?'); break;
  case IR_OPD_SINK: g_string_append_c(out, '_'); break;
  case IR_OPD_VECTOR:
    g_string_append_c(out, '{');
    for (int i = 0; i < operand->count; i++) {
      if (i) g_string_append(out, ", ");
      print_operand(out, kernel, &operand->list[i]);
    }
    g_string_append_c(out, '}');
    break;
  }
}

static void print_sub(GString *out, const IrInsn *insn) {
  static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  static const char *const atoms[] = {"add", "sub", "exch", "min", "max", "and",
                                      "or",  "xor", "inc",  "dec", "cas"};
  if (insn->op == IR_setp && insn->sub < G_N_ELEMENTS(compares))
    g_string_append_printf(out, ".%s", compares[insn->sub]);
  else if (insn->op == IR_atom && insn->sub < G_N_ELEMENTS(atoms))
    g_string_append_printf(out, ".%s", atoms[insn->sub]);
  else if (insn->sub)
    g_string_append_printf(out, "/%d", insn->sub);
}

static void print_shape(GString *out, const IrShape *shape) {
  if (shape->m || shape->n || shape->k)
    g_string_append_printf(out, " shape %dx%dx%d", shape->m, shape->n, shape->k);
  if (shape->dim) g_string_append_printf(out, " dim %d", shape->dim);
  if (shape->bytes) g_string_append_printf(out, " bytes %u", shape->bytes);
  if (shape->d_type || shape->a_type)
    g_string_append_printf(out, " types %d,%d,%d", shape->d_type, shape->a_type, shape->b_type);
  if (shape->kind) g_string_append_printf(out, " kind %d", shape->kind);
  if (shape->scale_vec) g_string_append_printf(out, " scale_vec %d", shape->scale_vec);
}

static void print_place(GString *out, const IrProgram *program, uint32_t where) {
  int depth = 0;
  for (uint32_t id = where; id && id < (uint32_t)program->sources.stacks.count && depth < 16;
       depth++) {
    const SourceStack *stack = &program->sources.stacks.items[id];
    const char *path = stack->range.file < (uint32_t)program->sources.files.count
                           ? program->sources.files.items[stack->range.file].path
                           : NULL;
    const char *slash = path ? strrchr(path, '/') : NULL;
    g_string_append_printf(out, "%s%s:%u", depth ? " < " : "  ; ",
                           slash  ? slash + 1
                           : path ? path
                                  : "?",
                           stack->range.line);
    id = stack->outer;
  }
}

static void print_insn(GString *out, const IrProgram *program, const IrKernel *kernel, int index) {
  const IrInsn *insn = &kernel->insns.items[index];
  g_string_append_printf(out, "%c%5d  ", insn->leader ? '>' : ' ', index);
  if (insn->guard >= 0) {
    const char *name =
        insn->guard < kernel->regs.count ? kernel->regs.items[insn->guard].name : NULL;
    g_string_append_printf(out, "@%sr%d%s%s%s ", insn->guard_negated ? "!" : "", insn->guard,
                           name ? "(" : "", name ? name : "", name ? ")" : "");
  }
  g_string_append(out, insn->op == IR_event ? ir_event_name((IrEvent)insn->event)
                                            : ir_op_name((IrOp)insn->op));
  print_sub(out, insn);
  print_type(out, insn->type);
  print_type(out, insn->type2);
  if (insn->space) g_string_append_printf(out, " %s", space_name(insn->space));
  if (insn->src_space) g_string_append_printf(out, " from %s", space_name(insn->src_space));
  for (int i = 0; i < insn->nargs; i++) {
    g_string_append(out, i ? ", " : " ");
    print_operand(out, kernel, &insn->args[i]);
  }
  if (insn->op == IR_branch)
    g_string_append_printf(out, " -> %d (joins at %d)", insn->target, insn->ipdom);
  print_shape(out, &insn->shape);
  const char *separator = " [";
  for (int i = 0; i < IR_FLAG_COUNT; i++)
    if (insn->flags >> i & 1) {
      g_string_append_printf(out, "%s%s", separator, flag_names[i]);
      separator = " ";
    }
  if (insn->flags) g_string_append_c(out, ']');
  if (insn->text) g_string_append_printf(out, " \"%s\"", insn->text);
  print_place(out, program, insn->where);
  g_string_append_c(out, '\n');
}

static void print_objects(GString *out, const IrKernel *kernel) {
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    g_string_append_printf(out, "  object %s %s%s %" PRIu64 " bytes align %u\n",
                           object->name ? object->name : "?", space_name(object->space),
                           object->dynamic ? " dynamic" : "", object->bytes, object->align);
    for (int j = 0; j < object->fields.count; j++)
      g_string_append_printf(out, "    +%" PRIu64 " %s x%" PRIu64 " of %" PRIu64 "\n",
                             object->fields.items[j].offset, object->fields.items[j].name,
                             object->fields.items[j].count, object->fields.items[j].elem_bytes);
  }
}

static void print_dims(GString *out, const char *name, const int *dims) {
  if (dims[0]) g_string_append_printf(out, "  %s %d,%d,%d\n", name, dims[0], dims[1], dims[2]);
}

char *ir_print_kernel(const IrProgram *program, const IrKernel *kernel) {
  GString *out = g_string_new(NULL);
  g_string_append_printf(out, "%s %s\n", kernel->is_host ? "host" : "kernel",
                         kernel->instantiation ? kernel->instantiation : kernel->name);
  if (kernel->has_launch_bounds)
    g_string_append_printf(out, "  launch_bounds %d, %d, %d\n", kernel->max_threads,
                           kernel->min_blocks, kernel->max_blocks_per_cluster);
  if (kernel->maxnreg) g_string_append_printf(out, "  maxnreg %d\n", kernel->maxnreg);
  print_dims(out, "reqntid", kernel->reqntid);
  print_dims(out, "cluster", kernel->cluster_dims);
  for (int i = 0; i < kernel->params.count; i++)
    g_string_append_printf(out, "  param %s %s +%" PRIu64 " %" PRIu64 " bytes%s\n",
                           kernel->params.items[i].type ? kernel->params.items[i].type : "?",
                           kernel->params.items[i].name ? kernel->params.items[i].name : "?",
                           kernel->params.items[i].offset, kernel->params.items[i].bytes,
                           kernel->params.items[i].grid_constant ? " grid_constant" : "");
  print_objects(out, kernel);
  for (int i = 0; i < kernel->notes.count; i++) {
    g_string_append_printf(out, "  note%s: %s",
                           kernel->notes.items[i].may_hide_event ? " (may hide an event)" : "",
                           kernel->notes.items[i].text);
    print_place(out, program, kernel->notes.items[i].where);
    g_string_append_c(out, '\n');
  }
  for (int i = 0; i < kernel->insns.count; i++)
    print_insn(out, program, kernel, i);
  return g_string_free(out, FALSE);
}
