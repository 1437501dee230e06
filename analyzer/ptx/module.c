/* Whole .ptx modules: each kernel becomes one flat list, functions with a body are inlined. */
#include <string.h>

#include "ir/directive.h"
#include "ptx/module.h"

enum { MAX_INLINE_DEPTH = 24 };

const PtxSymbol *ptx_module_symbol(PtxLowering *lowering, const char *name) {
  PtxModule *module = lowering->module;
  const PtxSymbol *known = g_hash_table_lookup(module->objects, name);
  if (known) return known;
  const PtxVariable *variable = g_hash_table_lookup(module->variables, name);
  if (!variable) return NULL;
  const PtxStatement *declared = &variable->statement;
  IrObject object = {.name = ptx_demangle(module->arena, name),
                     .space = (uint8_t)declared->space,
                     .dynamic = declared->space == IR_SPACE_SHARED && declared->bytes == 0,
                     .read_only = variable->read_only,
                     .address = variable->address,
                     .bytes = declared->bytes,
                     .align = declared->align,
                     .where = lowering->b->where};
  if (declared->type.bytes > 1 && declared->bytes > 0) {
    IrField field = {.elem_bytes = declared->type.bytes,
                     .count = declared->bytes / declared->type.bytes,
                     .scalar = declared->type,
                     .name = object.name};
    KC_PUSH(module->arena, object.fields, field);
  }
  PtxSymbol *symbol = KC_NEW(module->arena, PtxSymbol);
  symbol->address = ir_object_address(ir_object(lowering->b, object), 0);
  symbol->space = declared->space;
  g_hash_table_insert(module->objects, (gpointer)name, symbol);
  return symbol;
}

/* ---- calls ---- */

/* Binds the formal parameters to the .param variables of the call, in order. */
static void bind_params(PtxLowering *lowering, PtxScope *caller, const PtxParam *params, int count,
                        const PtxOperand *actual) {
  PtxScope *inside = lowering->scope;
  for (int i = 0; i < count && actual && i < actual->count; i++) {
    lowering->scope = caller;
    const PtxSymbol *symbol =
        actual->list[i].text ? ptx_find_symbol(lowering, actual->list[i].text) : NULL;
    lowering->scope = inside;
    if (symbol) ptx_define_symbol(lowering, params[i].name, symbol->address, symbol->space);
  }
}

static void lower_inlined(PtxLowering *lowering, const PtxInsn *insn, const PtxFunction *function) {
  const PtxOperand *lists[2] = {NULL, NULL}; /* results, arguments */
  bool seen = false;
  for (int i = 0; i < insn->noperands; i++) {
    if (insn->operands[i].kind == PTX_VECTOR) lists[seen] = &insn->operands[i];
    if (insn->operands[i].kind == PTX_REG) seen = true;
  }
  PtxScope *caller = lowering->scope;
  int32_t outer_return = lowering->return_label, end = ir_label(lowering->b);
  if (insn->guard)
    ir_branch(lowering->b, end, ptx_find_register(lowering, insn->guard, NULL),
              !insn->guard_negated);
  uint32_t where = lowering->b->where;
  lowering->scope = ptx_scope_new(lowering, NULL);
  bind_params(lowering, caller, function->results.items, function->results.count, lists[0]);
  bind_params(lowering, caller, function->params.items, function->params.count, lists[1]);
  lowering->return_label = end;
  lowering->depth++;
  ptx_lower_statements(lowering, function->body.items, function->body.count);
  lowering->depth--;
  lowering->return_label = outer_return;
  lowering->scope = caller;
  lowering->b->where = where;
  ir_place(lowering->b, end);
}

bool ptx_module_call(PtxLowering *lowering, const PtxInsn *insn, const char *callee) {
  const PtxFunction *function = g_hash_table_lookup(lowering->module->functions, callee);
  lowering->b->kernel->reachable_calls++;
  if (!function || !function->has_body) return false;
  if (lowering->depth >= MAX_INLINE_DEPTH) {
    ir_note(lowering->b, true, "call of '%s' is nested too deeply", callee);
    return true;
  }
  lowering->b->kernel->lowered_calls++;
  lower_inlined(lowering, insn, function);
  return true;
}

/* ---- parameters ---- */

/* Registers that the kernel uses as addresses: what is loaded into them are pointers. */
static GHashTable *pointer_registers(const PtxFunction *function) {
  GHashTable *pointers = g_hash_table_new(g_str_hash, g_str_equal);
  for (int i = 0; i < function->body.count; i++) {
    const PtxStatement *statement = &function->body.items[i];
    if (statement->kind != PTX_STATEMENT_INSN) continue;
    const PtxInsn *insn = &statement->insn;
    if (strcmp(insn->opcode, "cvta") == 0 && insn->noperands == 2 && insn->operands[1].text)
      g_hash_table_add(pointers, (gpointer)insn->operands[1].text);
    for (int j = 0; j < insn->noperands; j++)
      if (insn->operands[j].kind == PTX_ADDRESS && insn->operands[j].list[0].text)
        g_hash_table_add(pointers, (gpointer)insn->operands[j].list[0].text);
  }
  return pointers;
}

static IrLeaf leaf_of(const PtxModule *module, const PtxParam *param, uint64_t offset, IrType type,
                      bool pointer) {
  IrLeaf leaf = {.offset = param->offset + offset, .type = type};
  leaf.kind = pointer ? IR_LEAF_POINTER : type.cls == IR_CLASS_FLOAT ? IR_LEAF_FLOAT : IR_LEAF_INT;
  leaf.pointee_kind = IR_LEAF_OTHER;
  leaf.name = offset ? kc_printf(module->arena, "%s+%llu", param->name, (unsigned long long)offset)
                     : param->name;
  return leaf;
}

static bool has_leaf(const IrParam *param, uint64_t offset) {
  for (int i = 0; i < param->leaves.count; i++)
    if (param->leaves.items[i].offset == offset) return true;
  return false;
}

/* ld.param.TYPE d, [param+offset]: a scalar of a struct. */
static void add_loaded_leaves(const PtxModule *module, const PtxFunction *function,
                              const PtxParam *param, GHashTable *pointers, IrParam *out) {
  for (int i = 0; i < function->body.count; i++) {
    const PtxInsn *insn = &function->body.items[i].insn;
    if (function->body.items[i].kind != PTX_STATEMENT_INSN || strcmp(insn->opcode, "ld") != 0 ||
        !ptx_has(insn, "param") || insn->noperands != 2 || insn->operands[1].kind != PTX_ADDRESS ||
        !insn->operands[1].list[0].text || strcmp(insn->operands[1].list[0].text, param->name) != 0)
      continue;
    IrType type;
    if (!ptx_last_type(insn, &type)) continue;
    const PtxOperand *dst = &insn->operands[0];
    int count = dst->kind == PTX_VECTOR ? dst->count : 1;
    for (int j = 0; j < count; j++) {
      const PtxOperand *reg = dst->kind == PTX_VECTOR ? &dst->list[j] : dst;
      uint64_t offset = (uint64_t)insn->operands[1].value + (uint64_t)j * type.bytes;
      bool pointer = type.bytes == 8 && reg->text && g_hash_table_contains(pointers, reg->text);
      if (!has_leaf(out, param->offset + offset))
        KC_PUSH(module->arena, out->leaves, leaf_of(module, param, offset, type, pointer));
    }
  }
}

static void add_params(PtxLowering *lowering, const PtxFunction *function) {
  const PtxModule *module = lowering->module;
  GHashTable *pointers = pointer_registers(function);
  for (int i = 0; i < function->params.count; i++) {
    const PtxParam *param = &function->params.items[i];
    IrParam out = {.name = param->name,
                   .offset = param->offset,
                   .bytes = param->bytes,
                   .grid_constant = true,
                   .is_record = param->type.cls == IR_CLASS_NONE,
                   .where = function->where};
    add_loaded_leaves(module, function, param, pointers, &out);
    if (out.is_record && param->bytes == 128 && param->align >= 64 && out.leaves.count == 0) {
      IrLeaf map = {.offset = param->offset,
                    .type = IR_TYPE_U(8),
                    .kind = IR_LEAF_TENSOR_MAP,
                    .name = param->name};
      KC_PUSH(module->arena, out.leaves, map);
      out.type = "CUtensorMap";
    } else if (!out.is_record && out.leaves.count == 0) {
      KC_PUSH(module->arena, out.leaves, leaf_of(module, param, 0, param->type, param->pointer));
    }
    KC_PUSH(module->arena, lowering->b->kernel->params, out);
    ptx_define_symbol(lowering, param->name, ir_imm((int64_t)(IR_PARAM_BASE + param->offset)),
                      IR_SPACE_PARAM);
  }
  g_hash_table_destroy(pointers);
}

/* ---- kernels ---- */

static void set_attributes(IrKernel *kernel, const PtxFunction *function) {
  kernel->where = function->where;
  kernel->attr_where = function->where;
  kernel->has_launch_bounds = function->has_maxntid;
  if (function->has_maxntid) {
    kernel->max_threads = 1;
    for (int i = 0; i < 3; i++)
      kernel->max_threads *= function->maxntid[i] ? function->maxntid[i] : 1;
  }
  kernel->min_blocks = function->minnctapersm;
  kernel->max_blocks_per_cluster = function->maxclusterrank;
  kernel->maxnreg = function->maxnreg;
  for (int i = 0; i < 3; i++) {
    kernel->reqntid[i] = function->reqntid[0] && !function->reqntid[i] ? 1 : function->reqntid[i];
    kernel->cluster_dims[i] =
        function->cluster[0] && !function->cluster[i] ? 1 : function->cluster[i];
  }
}

static void lower_kernel(PtxModule *module, const PtxFunction *function, IrViolations *violations) {
  IrKernel *kernel =
      ir_kernel_new(module->program, ptx_demangle(module->arena, function->name), false);
  for (int i = 0; i < module->program->kernels.count - 1; i++)
    if (strcmp(module->program->kernels.items[i]->name, kernel->name) == 0)
      kernel->instantiation = function->name; /* another instance of the template */
  set_attributes(kernel, function);
  module->program->global_kernels_seen++;
  IrBuilder b;
  ir_builder_init(&b, module->program, kernel);
  b.where = function->where;
  module->objects = g_hash_table_new(g_str_hash, g_str_equal);
  PtxLowering lowering;
  ptx_lowering_init(&lowering, &b, violations);
  lowering.module = module;
  lowering.version = module->version;
  if (module->target) lowering.target = module->target;
  add_params(&lowering, function);
  ptx_lower_statements(&lowering, function->body.items, function->body.count);
  ptx_lowering_clear(&lowering);
  g_hash_table_destroy(module->objects);
  ir_finish(&b);
}

/* Entries in the order of the text. */
static gint by_place(gconstpointer a, gconstpointer b) {
  const PtxFunction *x = *(const PtxFunction *const *)a, *y = *(const PtxFunction *const *)b;
  return x->where < y->where ? -1 : x->where > y->where;
}

static void lower_kernels(PtxModule *module, IrViolations *violations) {
  g_autoptr(GPtrArray) entries = g_ptr_array_new();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, module->functions);
  while (g_hash_table_iter_next(&iter, NULL, &value))
    if (((PtxFunction *)value)->entry && ((PtxFunction *)value)->has_body)
      g_ptr_array_add(entries, value);
  g_ptr_array_sort(entries, by_place);
  for (guint i = 0; i < entries->len; i++)
    lower_kernel(module, entries->pdata[i], violations);
}

bool ptx_load_module(IrProgram *program, const char *text, size_t length, IrViolations *violations,
                     KcError *error) {
  PtxModule module = {.program = program,
                      .arena = program->arena,
                      .text = kc_strndup(program->arena, text, length), /* NUL at its end */
                      .length = length,
                      .file = source_file(&program->sources, program->path, true),
                      .files = g_hash_table_new(NULL, NULL),
                      .strings = g_hash_table_new(g_str_hash, g_str_equal),
                      .stacks = g_hash_table_new(g_str_hash, g_str_equal),
                      .functions = g_hash_table_new(g_str_hash, g_str_equal),
                      .variables = g_hash_table_new(g_str_hash, g_str_equal),
                      .line = 1};
  program->directives = ir_parse_directives(program->arena, module.file, module.text, length);
  ptx_read_debug(&module);
  bool good = ptx_read_module(&module, error);
  if (good) lower_kernels(&module, violations);
  g_hash_table_destroy(module.files);
  g_hash_table_destroy(module.strings);
  g_hash_table_destroy(module.stacks);
  g_hash_table_destroy(module.functions);
  g_hash_table_destroy(module.variables);
  return good;
}
