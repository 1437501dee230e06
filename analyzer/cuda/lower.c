/* Entry of the lowering: sets up one function, lowers its body, puts the prologue in front. */
#include "cuda/lower.h"

#include "cuda/lower_internal.h"

static void begin(Lower *l, CudaUnit *unit, IrKernel *kernel) {
  *l = (Lower){.unit = unit,
               .clang = unit->clang,
               .arena = unit->arena,
               .scratch = kc_arena_new(),
               .program = unit->program,
               .kernel = kernel,
               .types = g_hash_table_new(NULL, NULL),
               .callees = g_hash_table_new(NULL, NULL),
               .declarations = g_hash_table_new(NULL, NULL),
               .globals = g_hash_table_new(NULL, NULL),
               .cells = g_hash_table_new(NULL, NULL),
               .placed_at = -1,
               .dynamic_shared = -1};
  ir_builder_init(&l->b, unit->program, kernel);
}

static void forget_callee(gpointer key, gpointer value, gpointer user) {
  (void)key;
  (void)user;
  Callee *callee = value;
  if (callee->written) g_hash_table_destroy(callee->written);
}

static void end(Lower *l) {
  g_hash_table_foreach(l->callees, forget_callee, NULL);
  g_hash_table_destroy(l->types);
  g_hash_table_destroy(l->callees);
  g_hash_table_destroy(l->declarations);
  g_hash_table_destroy(l->globals);
  g_hash_table_destroy(l->cells);
  if (l->facts) g_hash_table_destroy(l->facts);
  if (l->detached) g_hash_table_destroy(l->detached);
  kc_arena_free(l->scratch);
}

/* Scalars are copied into a cell of their own; records stay in parameter space. */
static void bind_kernel_parameter(Lower *l, AstNode *n, const IrParam *param) {
  const CppType *type = ast_type(l, n);
  IrOperand home = param ? ir_imm((int64_t)(IR_PARAM_BASE + param->offset)) : ir_unknown();
  home.type = IR_TYPE_U(8);
  if (type->kind == CPP_REFERENCE) { /* host functions */
    IrOperand address = param ? address_of_value(l, lower_load(l, home, type, false)) : home;
    frame_bind(l, l->frame, n->cursor, address_pin(l, address), type->elem);
  } else if (cpp_is_scalar(type)) {
    IrOperand cell = lower_allocate(l, type, declaration_name(l, n->cursor));
    frame_bind(l, l->frame, n->cursor, cell, type);
    lower_here(l, n);
    lower_store_last(l, cell, type, param ? lower_load(l, home, type, false) : home, false);
  } else {
    frame_bind(l, l->frame, n->cursor, home, type);
  }
}

/* goto to a label that was not lowered (it stands in a branch that is never taken). */
static void place_lost_labels(Lower *l) {
  for (int i = 0; i < l->b.labels.count; i++)
    if (l->b.labels.items[i] < 0) lower_place(l, i);
}

static void unset_registers(Lower *l) {
  if (l->unset.count == 0) return;
  IrOperand *dst = KC_NEW_ARRAY(l->arena, IrOperand, l->unset.count);
  for (int i = 0; i < l->unset.count; i++)
    dst[i] = ir_use(l->unset.items[i]);
  IrInsn insn = {.op = IR_havoc,
                 .guard = -1,
                 .target = -1,
                 .ipdom = -1,
                 .nargs = (uint16_t)l->unset.count,
                 .args = dst,
                 .where = l->kernel->where,
                 .text = "registers chosen by a computed index"};
  KC_PUSH(l->arena, l->prologue, insn);
}

/* Moves the prologue to the front; labels of the body move with their instructions. */
static void insert_prologue(Lower *l) {
  unset_registers(l);
  int count = l->prologue.count;
  if (count == 0) return;
  for (int i = 0; i < l->kernel->insns.count; i++)
    KC_PUSH(l->arena, l->prologue, l->kernel->insns.items[i]);
  l->kernel->insns.items = l->prologue.items;
  l->kernel->insns.count = l->prologue.count;
  l->kernel->insns.capacity = l->prologue.capacity;
  for (int i = 0; i < l->b.labels.count; i++)
    if (!l->label_in_prologue.items[i]) l->b.labels.items[i] += count;
}

static void body(Lower *l, Callee *callee) {
  l->frame = frame_new(l, NULL, callee);
  for (int i = 0; i < callee->nparams; i++)
    bind_kernel_parameter(l, callee->params[i],
                          i < l->kernel->params.count ? &l->kernel->params.items[i] : NULL);
  lower_statement(l, callee->body);
}

/* Takes everything back that lowering the body made. */
static void start_again(Lower *l, CudaUnit *unit, IrKernel *kernel, int notes, int violations) {
  end(l);
  g_hash_table_destroy(l->b.cells);
  kernel->insns.count = kernel->regs.count = kernel->objects.count = 0;
  kernel->asms.count = kernel->stage_constants.count = 0;
  kernel->notes.count = notes;
  kernel->reachable_asm = kernel->lowered_asm = 0;
  kernel->reachable_calls = kernel->lowered_calls = 0;
  if (unit->violations) unit->violations->list.count = violations;
  begin(l, unit, kernel);
}

bool lower_function(CudaUnit *unit, CXCursor function, IrKernel *kernel) {
  Lower lower, *l = &lower;
  int violations = unit->violations ? unit->violations->list.count : 0;
  int notes = kernel->notes.count; /* of what went before */
  begin(l, unit, kernel);
  Callee *callee = callee_of(l, function);
  bool found = callee_has_body(l, callee);
  if (found) body(l, callee);
  if (l->wants_unroll) {
    start_again(l, unit, kernel, notes, violations);
    l->facts = g_hash_table_new(NULL, NULL);
    callee = callee_of(l, function);
    if (callee_has_body(l, callee)) body(l, callee);
  }
  place_lost_labels(l);
  rounds_insert(l);
  insert_prologue(l);
  lower_position(l);
  ir_finish(&l->b);
  end(l);
  return found;
}
