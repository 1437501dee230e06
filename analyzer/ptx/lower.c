/* Statements, scopes, labels and control flow. */
#include <string.h>

#include "ptx/lower.h"

PtxScope *ptx_scope_new(PtxLowering *lowering, PtxScope *outer) {
  PtxScope *scope = KC_NEW(lowering->arena, PtxScope);
  scope->outer = outer;
  scope->registers = g_hash_table_new(g_str_hash, g_str_equal);
  scope->labels = g_hash_table_new(g_str_hash, g_str_equal);
  scope->symbols = g_hash_table_new(g_str_hash, g_str_equal);
  g_ptr_array_add(lowering->tables, scope->registers);
  g_ptr_array_add(lowering->tables, scope->labels);
  g_ptr_array_add(lowering->tables, scope->symbols);
  return scope;
}

void ptx_lowering_init(PtxLowering *lowering, IrBuilder *b, IrViolations *violations) {
  *lowering = (PtxLowering){.b = b,
                            .violations = violations,
                            .arena = b->arena,
                            .target = b->program->arch,
                            .return_label = -1};
  lowering->tables = g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_destroy);
  lowering->targets = g_hash_table_new(g_str_hash, g_str_equal);
  g_ptr_array_add(lowering->tables, lowering->targets);
  lowering->scope = ptx_scope_new(lowering, NULL);
}

void ptx_lowering_clear(PtxLowering *lowering) {
  g_ptr_array_free(lowering->tables, TRUE);
  lowering->tables = NULL;
  lowering->scope = NULL;
}

static void declare(PtxLowering *lowering, const char *name, IrType type, int count) {
  PtxRegister *reg = KC_NEW(lowering->arena, PtxRegister);
  *reg = (PtxRegister){
      .first = lowering->b->kernel->regs.count, .count = count < 0 ? 1 : count, .type = type};
  for (int i = 0; i < reg->count; i++)
    ir_reg(lowering->b, type, count < 0 ? name : kc_printf(lowering->arena, "%s%d", name, i));
  const char *key = count < 0 ? name : kc_printf(lowering->arena, "%s<", name);
  g_hash_table_insert(lowering->scope->registers, (gpointer)key, reg);
}

static void declare_register(PtxLowering *lowering, const PtxStatement *statement) {
  if (statement->vector == 1) {
    declare(lowering, statement->name, statement->type, statement->count);
    return;
  }
  for (int i = 0; i < statement->vector; i++)
    declare(lowering, kc_printf(lowering->arena, "%s.%c", statement->name, "xyzw"[i & 3]),
            statement->type, -1);
}

/* Labels are visible in their whole scope, so they are entered when the scope opens. */
static void enter_labels(PtxLowering *lowering, const PtxStatement *statements, int count) {
  int depth = 0;
  for (int i = 0; i < count && depth >= 0; i++) {
    const PtxStatement *statement = &statements[i];
    if (statement->kind == PTX_STATEMENT_OPEN) depth++;
    if (statement->kind == PTX_STATEMENT_CLOSE) depth--;
    if (depth != 0) continue;
    if (statement->kind == PTX_STATEMENT_LABEL)
      g_hash_table_insert(lowering->scope->labels, (gpointer)statement->name,
                          GINT_TO_POINTER(ir_label(lowering->b) + 1));
    else if (statement->kind == PTX_STATEMENT_TARGETS)
      g_hash_table_insert(lowering->targets, (gpointer)statement->name, (gpointer)statement);
  }
}

static int32_t find_label(const PtxLowering *lowering, const char *name) {
  for (const PtxScope *scope = lowering->scope; scope && name; scope = scope->outer) {
    int id = GPOINTER_TO_INT(g_hash_table_lookup(scope->labels, name));
    if (id) return id - 1;
  }
  return -1;
}

static void unresolved(PtxLowering *lowering, const PtxInsn *insn, const char *what) {
  ir_note(lowering->b, true, "asm: %s in '%s'", what, insn->text);
  lowering->unsupported = true;
}

static void lower_branch(PtxLowering *lowering, const PtxInsn *insn) {
  int32_t label = insn->noperands == 1 ? find_label(lowering, insn->operands[0].text) : -1;
  if (label < 0) {
    unresolved(lowering, insn, "branch to an unknown label");
    return;
  }
  int32_t guard = -1;
  if (insn->guard) {
    guard = ptx_find_register(lowering, insn->guard, NULL);
    if (guard < 0) {
      unresolved(lowering, insn, "undeclared predicate");
      return;
    }
  }
  ir_branch(lowering->b, label, guard, insn->guard_negated);
}

static void lower_branch_index(PtxLowering *lowering, const PtxInsn *insn) {
  const PtxStatement *targets = insn->noperands == 2 && insn->operands[1].text
                                    ? g_hash_table_lookup(lowering->targets, insn->operands[1].text)
                                    : NULL;
  if (!targets) {
    unresolved(lowering, insn, "brx.idx without its .branchtargets");
    return;
  }
  PtxArgs args = {0};
  IrOperand index = ptx_read(lowering, &insn->operands[0]);
  KC_PUSH(lowering->arena, args, index);
  for (int i = 0; i < targets->ntargets; i++) {
    int32_t label = find_label(lowering, targets->targets[i]);
    if (label < 0) {
      unresolved(lowering, insn, "branch to an unknown label");
      return;
    }
    KC_PUSH(lowering->arena, args, ir_imm(label));
  }
  IrInsn *emitted = ir_emit(lowering->b, IR_branch_index, IR_TYPE_U(4), args.items, args.count);
  ptx_guard(lowering, insn, emitted);
}

/* Functions of the runtime that wait for nobody and touch no barrier. */
static bool is_harmless(const char *callee) {
  static const char *const names[] = {"vprintf", "malloc", "free", "__nv_", "__internal_", NULL};
  for (int i = 0; names[i]; i++)
    if (strncmp(callee, names[i], strlen(names[i])) == 0) return true;
  return false;
}

/* call{.uni} (results), function, (arguments) */
static void lower_call(PtxLowering *lowering, const PtxInsn *insn) {
  const char *callee = NULL;
  for (int i = 0; i < insn->noperands && !callee; i++)
    if (insn->operands[i].kind == PTX_REG) callee = insn->operands[i].text;
  if (!callee) callee = "?";
  if (strcmp(callee, "__assertfail") == 0) {
    ptx_guard(lowering, insn, ir_emit(lowering->b, IR_trap, IR_TYPE_NONE, NULL, 0));
    return;
  }
  if (lowering->module && ptx_module_call(lowering, insn, callee)) return;
  if (!is_harmless(callee))
    ir_note(lowering->b, true, "call of '%s', whose body is not in this module", callee);
  IrInsn *emitted = ir_emit_event(lowering->b, IR_EV_extern_call, NULL, 0, 0);
  emitted->text = callee;
  ptx_guard(lowering, insn, emitted);
}

static bool lower_control(PtxLowering *lowering, const PtxInsn *insn) {
  const char *opcode = insn->opcode;
  if (strcmp(opcode, "bra") == 0) {
    lower_branch(lowering, insn);
  } else if (strcmp(opcode, "brx") == 0) {
    lower_branch_index(lowering, insn);
  } else if (strcmp(opcode, "call") == 0) {
    lower_call(lowering, insn);
  } else if (strcmp(opcode, "ret") == 0 && lowering->return_label >= 0) {
    int32_t guard = insn->guard ? ptx_find_register(lowering, insn->guard, NULL) : -1;
    ir_branch(lowering->b, lowering->return_label, guard, insn->guard_negated);
  } else if (strcmp(opcode, "exit") == 0 || strcmp(opcode, "ret") == 0) {
    ptx_guard(lowering, insn, ir_emit(lowering->b, IR_exit, IR_TYPE_NONE, NULL, 0));
  } else if (strcmp(opcode, "trap") == 0) {
    ptx_guard(lowering, insn, ir_emit(lowering->b, IR_trap, IR_TYPE_NONE, NULL, 0));
  } else {
    return false;
  }
  return true;
}

/* An instruction outside the table. New instructions are not checked, never an error; what looks
 * like one of the protocol may hide an event. */
static void lower_unknown(PtxLowering *lowering, const PtxInsn *insn, bool listed) {
  static const char *const protocol[] = {"mbarrier",   "barrier",
                                         "bar",        "cp",
                                         "fence",      "membar",
                                         "wgmma",      "tcgen05",
                                         "tensormap",  "clusterlaunchcontrol",
                                         "setmaxnreg", "griddepcontrol",
                                         "elect",      "st",
                                         "red",        "multimem",
                                         NULL};
  bool hides = listed;
  for (int i = 0; protocol[i] && !hides; i++)
    hides = strncmp(insn->opcode, protocol[i], strlen(protocol[i])) == 0 ||
            (insn->nmodifiers > 0 && strcmp(insn->modifiers[0], "async") == 0);
  lowering->unsupported = true;
  ir_note(lowering->b, hides,
          listed ? "'%s' is no legal instruction" : "instruction '%s' is not modelled", insn->text);
  IrInsn *emitted = ir_emit_event(lowering->b, IR_EV_other, NULL, 0, 0);
  emitted->text = insn->text;
  ptx_guard(lowering, insn, emitted);
  PtxArgs results = {0};
  if (insn->noperands > 0 && insn->operands[0].kind != PTX_ADDRESS)
    ptx_flatten(lowering, &insn->operands[0], true, &results);
  if (results.count == 0) return;
  emitted = ir_emit(lowering->b, IR_havoc, IR_TYPE_NONE, results.items, results.count);
  emitted->text = "an instruction that is not modelled";
  ptx_guard(lowering, insn, emitted);
}

static void lower_instruction(PtxLowering *lowering, const PtxInsn *insn) {
  if (insn->guard && ptx_find_register(lowering, insn->guard, NULL) < 0) {
    unresolved(lowering, insn, "undeclared predicate");
    return;
  }
  if (lower_control(lowering, insn)) return;
  bool listed = false;
  const IsaForm *form = ptx_check(lowering, insn, &listed);
  if (form && form->event) {
    ptx_lower_event(lowering, insn, form);
    return;
  }
  if (ptx_lower_memory(lowering, insn) || ptx_lower_plain(lowering, insn)) return;
  if (form || isa_is_data(insn->opcode))
    ptx_lower_opaque(lowering, insn);
  else
    lower_unknown(lowering, insn, listed);
}

void ptx_define_symbol(PtxLowering *lowering, const char *name, IrOperand address, IrSpace space) {
  PtxSymbol *symbol = KC_NEW(lowering->arena, PtxSymbol);
  *symbol = (PtxSymbol){address, space};
  g_hash_table_insert(lowering->scope->symbols, (gpointer)name, symbol);
}

/* A variable declared in a body. Shared ones are objects; .local and the .param of a call are local
 * memory. */
static void declare_variable(PtxLowering *lowering, const PtxStatement *variable) {
  if (variable->space == IR_SPACE_SHARED) {
    IrObject object = {.name = ptx_demangle(lowering->arena, variable->name),
                       .space = IR_SPACE_SHARED,
                       .dynamic = variable->bytes == 0,
                       .bytes = variable->bytes,
                       .align = variable->align,
                       .where = lowering->b->where};
    int32_t id = ir_object(lowering->b, object);
    ptx_define_symbol(lowering, variable->name, ir_object_address(id, 0), IR_SPACE_SHARED);
    return;
  }
  uint64_t address = ir_local(lowering->b, variable->bytes, variable->align);
  ptx_define_symbol(lowering, variable->name, ir_imm((int64_t)address), IR_SPACE_LOCAL);
}

void ptx_lower_statements(PtxLowering *lowering, const PtxStatement *statements, int count) {
  PtxScope *bottom = lowering->scope;
  enter_labels(lowering, statements, count);
  for (int i = 0; i < count; i++) {
    const PtxStatement *statement = &statements[i];
    if (lowering->module) ptx_module_place(lowering, statement);
    switch (statement->kind) {
    case PTX_STATEMENT_OPEN:
      lowering->scope = ptx_scope_new(lowering, lowering->scope);
      enter_labels(lowering, statements + i + 1, count - i - 1);
      break;
    case PTX_STATEMENT_CLOSE:
      if (lowering->scope != bottom) lowering->scope = lowering->scope->outer;
      break;
    case PTX_STATEMENT_REGISTER: declare_register(lowering, statement); break;
    case PTX_STATEMENT_LABEL: ir_place(lowering->b, find_label(lowering, statement->name)); break;
    case PTX_STATEMENT_INSN: lower_instruction(lowering, &statement->insn); break;
    case PTX_STATEMENT_VARIABLE: declare_variable(lowering, statement); break;
    case PTX_STATEMENT_LOCATION:
    case PTX_STATEMENT_TARGETS: break;
    }
  }
  lowering->scope = bottom;
}
