/* Asm statements: operands bound to registers, then handed to the PTX room. */
#include "cuda/lower_internal.h"

#include <string.h>

/* The parts of a statement, asked of the unit once however often it is inlined. */
typedef struct AsmNode {
  bool known;
  const char *why;
  CudaAsm parts;
  AstNode **operands;
} AsmNode;

static AsmNode *assembly(Lower *l, AstNode *n) {
  if (n->assembly) return n->assembly;
  AsmNode *a = n->assembly = KC_NEW(l->scratch, AsmNode);
  a->known = unit_asm(l->unit, n->cursor, &a->parts, &a->why);
  if (!a->known) return a;
  a->operands = KC_NEW_ARRAY(l->scratch, AstNode *, a->parts.operands.count + 1);
  for (int i = 0; i < a->parts.operands.count; i++)
    a->operands[i] = ast_node(l, a->parts.operands.items[i].expression);
  return a;
}

/* An output that is no cell: written to a temporary, stored afterwards. */
typedef struct {
  IrOperand address;
  const CppType *type;
  int32_t reg;
} Pending;

/* A record around one scalar counts as that scalar. */
static const CppType *operand_type(Lower *l, const CppType *type) {
  if (type->kind != CPP_RECORD || !cpp_leaves(l, type) || type->leaves.count != 1) return type;
  const CppLeaf *leaf = &type->leaves.items[0];
  return leaf->offset == 0 && leaf->type->bytes == type->bytes ? leaf->type : type;
}

/* The register of an asynchronous instruction that is no cell. It works on the register itself,
 * later: a load before and a store after it would be accesses that are not there. Elements at a
 * known address that are stored at another width (packed halves) keep one register each. */
static int32_t detached(Lower *l, IrOperand address, IrType type) {
  bool known = address_is_local(address);
  gpointer key = (gpointer)(uintptr_t)address.value;
  if (!l->detached) l->detached = g_hash_table_new(NULL, NULL);
  if (known && g_hash_table_contains(l->detached, key))
    return GPOINTER_TO_INT(g_hash_table_lookup(l->detached, key));
  int32_t reg = lower_temp(l, type);
  if (known) g_hash_table_insert(l->detached, key, GINT_TO_POINTER(reg));
  lower_havoc(l, false,
              known ? "registers in flight: an accumulator is also used at another width"
                    : "registers in flight: an accumulator is chosen by a computed index");
  KC_PUSH(l->scratch, l->unset, reg);
  l->wants_unroll |= !known;
  return reg;
}

static PtxAsmOperand output(Lower *l, AstNode *n, const char *constraint, bool is_async,
                            Pending *pending) {
  const CppType *type = operand_type(l, ast_type(l, n));
  IrOperand address = lower_lvalue(l, n);
  bool reads = strchr(constraint, '+') != NULL;
  IrType ir = cpp_is_scalar(type) ? type->ir : IR_TYPE_U(8);
  int32_t reg = lower_cell(l, address, type);
  if (reg < 0 && is_async) {
    reg = detached(l, address, ir);
  } else if (reg < 0) {
    reg = lower_temp(l, ir);
    *pending = (Pending){address, type, reg};
    if (reads) lower_move(l, reg, ir, lower_load(l, address, type, false));
  }
  ir = l->kernel->regs.items[reg].type;
  IrOperand value = reads ? ir_use(reg) : ir_unknown();
  value.type = ir;
  return (PtxAsmOperand){constraint, value, reg, ir, NULL};
}

/* A fragment that an asynchronous instruction reads from registers: where it lies at a computed
 * index, it has none before the loops around it are unrolled. */
static bool is_unplaced_fragment(Lower *l, AstNode *n, const char *constraint) {
  AstNode *named = ast_strip(l, n);
  bool object = named->kind == CXCursor_DeclRefExpr || named->kind == CXCursor_MemberRefExpr ||
                named->kind == CXCursor_ArraySubscriptExpr;
  const CppType *type = ast_type(l, n);
  if (!object || !strpbrk(constraint, "rf") || !cpp_is_number(type) || type->bytes != 4)
    return false;
  if (ast_constant(l, n, &(int64_t){0})) return false;
  Checkpoint before = lower_checkpoint(l);
  IrOperand address = lower_lvalue(l, named);
  bool unplaced = address.kind == IR_OPD_REG && address_space(l, address) == IR_SPACE_GENERIC;
  lower_rollback(l, &before);
  return unplaced;
}

static IrOperand unplaced_fragment(Lower *l, AstNode *n) {
  l->wants_unroll = true;
  lower_effect(l, n);
  return lower_havoc(l, false, "registers in flight: a fragment is chosen by a computed index");
}

static PtxAsmOperand input(Lower *l, AstNode *n, const char *constraint, bool in_flight) {
  const CppType *type = operand_type(l, ast_type(l, n));
  int64_t constant;
  IrOperand value;
  const char *text = NULL;
  if (type != ast_type(l, n)) {
    value = lower_load(l, lower_lvalue(l, n), type, false);
  } else if (cpp_is_object(type)) {
    lower_effect(l, n);
    value = lower_havoc(l, false, "an asm operand of type %s", cpp_name(l, type));
  } else if (strchr(constraint, 'n') && ast_constant(l, n, &constant)) {
    value = lower_constant(constant, type->ir);
  } else if (in_flight && is_unplaced_fragment(l, n, constraint)) {
    value = unplaced_fragment(l, n);
  } else {
    value = lower_value(l, n);
    text = lower_text(l, n);
  }
  const CppType *wide = NULL;
  bool is_signed = type->ir.cls == IR_CLASS_SINT;
  if (type->kind == CPP_INT && strchr(constraint, 'l') && type->bytes < 8)
    wide = cpp_scalar(l, is_signed ? CXType_LongLong : CXType_ULongLong);
  else if (type->kind == CPP_INT && strchr(constraint, 'r') && type->bytes < 4)
    wide = cpp_scalar(l, is_signed ? CXType_Int : CXType_UInt);
  if (wide) {
    value = lower_convert(l, value, type, wide);
    type = wide;
  }
  if (value.kind == IR_OPD_REG && l->kernel->regs.items[value.id].type.cls == IR_CLASS_PRED)
    value = lower_convert(l, value, cpp_scalar(l, CXType_Bool), cpp_scalar(l, CXType_UInt));
  value.type = type->ir;
  return (PtxAsmOperand){constraint, value, -1, type->ir, text};
}

static void forget_outputs(Lower *l, const PtxAsmOperand *operands, int count) {
  for (int i = 0; i < count; i++) {
    if (operands[i].dst < 0) continue;
    IrOperand dst = ir_use(operands[i].dst);
    lower_emit(l, IR_havoc, operands[i].type, &dst, 1)->text = "asm that could not be read";
  }
}

static bool writes_registers_later(const char *text) {
  return strstr(text, "wgmma.mma_async") || strstr(text, "tcgen05.ld");
}

/* A statement without instructions is a fence for the compiler (warpgroup_fence_operand of
 * CUTLASS): it names registers, but nothing reads or writes them. */
static bool has_no_instruction(const AsmNode *a) {
  return a->known && a->parts.text[strspn(a->parts.text, " \t\r\n;")] == '\0';
}

void lower_asm(Lower *l, AstNode *n) {
  AsmNode *a = assembly(l, n);
  if (has_no_instruction(a)) return;
  l->kernel->reachable_asm++;
  if (!a->known) {
    lower_havoc(l, true, "an asm statement could not be read: %s", a->why ? a->why : "no reason");
    return;
  }
  int count = a->parts.operands.count;
  PtxAsmOperand *operands = KC_NEW_ARRAY(l->arena, PtxAsmOperand, count + 1);
  Pending *pending = KC_NEW_ARRAY(l->scratch, Pending, count + 1);
  bool is_async = writes_registers_later(a->parts.text);
  bool reads_later = strstr(a->parts.text, "wgmma.mma_async") != NULL;
  for (int i = 0; i < count; i++) {
    const char *constraint = a->parts.operands.items[i].constraint;
    operands[i] = i < a->parts.noutputs
                      ? output(l, a->operands[i], constraint, is_async, &pending[i])
                      : input(l, a->operands[i], constraint, reads_later);
  }
  PtxAsm statement = {.text = a->parts.text,
                      .operands = operands,
                      .noperands = count,
                      .clobbers = a->parts.clobbers.items,
                      .nclobbers = a->parts.clobbers.count,
                      .is_volatile = a->parts.is_volatile,
                      .map = a->parts.map};
  for (int i = 0; i < count; i++) { /* what it may write */
    if (operands[i].dst >= 0)
      facts_clobber(l, ir_imm((int64_t)l->kernel->regs.items[operands[i].dst].cell),
                    operands[i].type.bytes);
    else if (address_is_local(operands[i].value))
      facts_clobber(l, ir_unknown(), 0);
  }
  lower_position(l);
  int before = l->b.labels.count;
  bool read = ptx_lower_asm(&l->b, &statement, l->unit->violations);
  for (int i = before; i < l->b.labels.count; i++) { /* labels made behind our back */
    KC_PUSH(l->scratch, l->label_in_prologue, (uint8_t)l->in_prologue);
    KC_PUSH(l->scratch, l->label_uses, 1);
    rounds_label(l, i);
    if (l->b.labels.items[i] == l->kernel->insns.count) l->placed_at = l->kernel->insns.count;
  }
  if (read)
    l->kernel->lowered_asm++;
  else
    forget_outputs(l, operands, count);
  for (int i = 0; i < a->parts.noutputs; i++)
    if (pending[i].type && cpp_is_scalar(pending[i].type))
      lower_store(l, pending[i].address, pending[i].type, ir_use(pending[i].reg), false);
}
