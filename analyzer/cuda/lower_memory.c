/* Addresses, cells, loads, stores and copies. */
#include "cuda/lower_internal.h"

/* ---- addresses ---- */

IrOperand address_add(IrOperand address, int64_t offset) {
  if (!ir_is_unknown(address)) address.value += offset;
  return address;
}

bool address_is_local(IrOperand address) {
  return ir_is_imm(address) && (uint64_t)address.value >= IR_LOCAL_BASE &&
         (uint64_t)address.value < IR_LOCAL_END;
}

IrSpace address_space(Lower *l, IrOperand address) {
  if (address.kind == IR_OPD_OBJECT) return (IrSpace)l->kernel->objects.items[address.id].space;
  if (!ir_is_imm(address)) return IR_SPACE_GENERIC;
  if (address_is_local(address)) return IR_SPACE_LOCAL;
  uint64_t at = (uint64_t)address.value;
  if (at >= IR_PARAM_BASE && at < IR_LOCAL_BASE) return IR_SPACE_PARAM;
  return IR_SPACE_GENERIC;
}

IrOperand address_value(Lower *l, IrOperand address) {
  address.type = IR_TYPE_U(8);
  facts_escape(l, address);
  if (address.kind != IR_OPD_REG || address.value == 0) return address;
  IrOperand base = address;
  base.value = 0;
  return lower_binary(l, IR_add, IR_TYPE_U(8), base, lower_constant(address.value, IR_TYPE_U(8)));
}

IrOperand address_of_value(Lower *l, IrOperand pointer) {
  if (pointer.kind == IR_OPD_SPECIAL) return lower_to_reg(l, pointer, IR_TYPE_U(8));
  return pointer;
}

static void pin(Lower *l, int32_t reg) {
  while (l->pinned.count <= reg)
    KC_PUSH(l->scratch, l->pinned, 0);
  l->pinned.items[reg] = 1;
}

IrOperand address_pin(Lower *l, IrOperand address) {
  if (address.kind != IR_OPD_REG) return address;
  if (l->kernel->regs.items[address.id].cell) { /* a pointer variable: it may change */
    int32_t copy = lower_temp(l, IR_TYPE_U(8));
    lower_move(l, copy, IR_TYPE_U(8), ir_use(address.id));
    address.id = copy;
  }
  pin(l, address.id);
  return address;
}

bool lower_is_stable(Lower *l, IrOperand value) {
  if (value.kind == IR_OPD_IMM || value.kind == IR_OPD_OBJECT || value.kind == IR_OPD_SPECIAL)
    return value.kind != IR_OPD_SPECIAL ||
           (value.id != IR_SREG_clock && value.id != IR_SREG_globaltimer);
  if (value.kind != IR_OPD_REG || l->kernel->regs.items[value.id].cell) return false;
  pin(l, value.id);
  return true;
}

IrOperand address_index(Lower *l, IrOperand address, IrOperand index, const CppType *index_type,
                        uint64_t size) {
  if (ir_is_imm(index)) return address_add(address, index.value * (int64_t)size);
  if (ir_is_unknown(index) || ir_is_unknown(address)) return ir_unknown();
  const CppType *wide =
      cpp_scalar(l, index_type->ir.cls == IR_CLASS_SINT ? CXType_LongLong : CXType_ULongLong);
  index = lower_convert(l, index, index_type, wide);
  if (ir_is_unknown(index)) return ir_unknown();
  int64_t offset = 0;
  IrOperand base = address;
  facts_escape(l, base);
  if (base.kind == IR_OPD_REG) {
    offset = base.value;
    base.value = 0;
  }
  IrOperand args[] = {ir_use(lower_temp(l, IR_TYPE_U(8))), index,
                      lower_constant((int64_t)size, IR_TYPE_U(8)), base};
  lower_emit(l, IR_mad, IR_TYPE_U(8), args, 4);
  return address_add(args[0], offset);
}

IrOperand lower_allocate(Lower *l, const CppType *type, const char *name) {
  uint64_t address = ir_local(&l->b, type->bytes, 16);
  facts_allocated(l, address, type->bytes);
  if (l->b.local_top >= IR_LOCAL_END) {
    l->b.local_top = IR_LOCAL_BASE;
    lower_havoc(l, true, "local objects are larger than the local address space");
  }
  if (cpp_has_overlay(l, type)) {
    KC_PUSH(l->scratch, l->overlays, address);
    KC_PUSH(l->scratch, l->overlays, address + type->bytes);
  }
  IrOperand result = ir_imm((int64_t)address);
  result.type = IR_TYPE_U(8);
  if (name && cpp_is_scalar(type)) {
    int32_t reg = lower_cell(l, result, type);
    if (reg >= 0) l->kernel->regs.items[reg].name = name;
  }
  return result;
}

/* ---- cells ---- */

static bool in_overlay(const Lower *l, uint64_t address) {
  int low = 0, high = l->overlays.count / 2;
  while (low < high) {
    int middle = (low + high) / 2;
    if (address < l->overlays.items[2 * middle])
      high = middle;
    else if (address >= l->overlays.items[2 * middle + 1])
      low = middle + 1;
    else
      return true;
  }
  return false;
}

static int cell_width(const Lower *l, uint64_t address) {
  return GPOINTER_TO_INT(g_hash_table_lookup(l->cells, (gpointer)(uintptr_t)address));
}

/* Whether a cell of another place or width covers part of [address, address + bytes). */
static bool cell_overlaps(const Lower *l, uint64_t address, int bytes) {
  for (int before = 1; before < 16; before++)
    if (cell_width(l, address - (uint64_t)before) > before) return true;
  for (int inside = 1; inside < bytes; inside++)
    if (cell_width(l, address + (uint64_t)inside) > 0) return true;
  return false;
}

int32_t lower_cell(Lower *l, IrOperand address, const CppType *type) {
  if (!address_is_local(address) || !cpp_is_scalar(type)) return -1;
  uint64_t at = (uint64_t)address.value;
  int width = cell_width(l, at);
  if (width == 0) {
    bool memory = in_overlay(l, at) || cell_overlaps(l, at, type->ir.bytes);
    width = memory ? -1 : type->ir.bytes;
    g_hash_table_insert(l->cells, (gpointer)(uintptr_t)at, GINT_TO_POINTER(width));
  }
  if (width != type->ir.bytes) return -1;
  return ir_cell(&l->b, at, type->ir);
}

static IrOperand access_operand(IrOperand address) {
  address.type = IR_TYPE_U(8);
  return address;
}

IrOperand lower_load(Lower *l, IrOperand address, const CppType *type, bool is_volatile) {
  if (!cpp_is_scalar(type)) return ir_unknown();
  int32_t cell = lower_cell(l, address, type);
  IrOperand result;
  if (cell >= 0 && facts_read(l, address, type, &result)) return result;
  if (cell >= 0) {
    result = ir_use(cell);
  } else {
    IrOperand args[] = {ir_use(lower_temp(l, type->ir)), access_operand(address)};
    IrInsn *insn = lower_emit(l, IR_load, type->ir, args, 2);
    insn->space = (uint8_t)address_space(l, address);
    insn->sub = 1;
    if (is_volatile) insn->flags |= IR_FLAG(volatile_);
    result = args[0];
  }
  result.type = type->ir;
  return result;
}

/* Lets the instruction just emitted write `cell` instead of the temporary `value`. */
static bool retarget(Lower *l, int32_t cell, const CppType *type, IrOperand value) {
  if (value.kind != IR_OPD_REG || value.value != 0 || l->kernel->insns.count == 0) return false;
  const IrReg *reg = &l->kernel->regs.items[value.id];
  if (reg->cell || reg->type.cls == IR_CLASS_PRED || reg->type.bytes != type->ir.bytes)
    return false;
  if (value.id < l->pinned.count && l->pinned.items[value.id]) return false;
  IrInsn *last = &l->kernel->insns.items[l->kernel->insns.count - 1];
  if (last->op == IR_event || last->op == IR_havoc || last->op == IR_store || last->guard >= 0 ||
      last->nargs == 0 || l->placed_at == l->kernel->insns.count)
    return false;
  IrOperand *dst = (IrOperand *)last->args;
  if (dst[0].kind != IR_OPD_REG || dst[0].id != value.id || last->sub > 1) return false;
  for (int i = 1; i < last->nargs; i++)
    if (dst[i].kind == IR_OPD_REG && dst[i].id == value.id) return false;
  dst[0].id = cell;
  return true;
}

static void store(Lower *l, IrOperand address, const CppType *type, IrOperand value,
                  bool is_volatile, bool last_use) {
  if (!cpp_is_scalar(type)) return;
  value.role = 0;
  int32_t cell = lower_cell(l, address, type);
  if (cell >= 0) {
    facts_stored(l, address, type, value); /* pins a temporary that it keeps */
    if (!last_use || !retarget(l, cell, type, value)) lower_move(l, cell, type->ir, value);
    return;
  }
  facts_clobber(l, address, address_is_local(address) ? type->ir.bytes : 0);
  if (value.kind == IR_OPD_REG && l->kernel->regs.items[value.id].type.cls == IR_CLASS_PRED)
    value = lower_convert(l, value, cpp_scalar(l, CXType_Bool), cpp_scalar(l, CXType_UChar));
  IrOperand args[] = {access_operand(address), value};
  IrInsn *insn = lower_emit(l, IR_store, type->ir, args, 2);
  insn->space = (uint8_t)address_space(l, address);
  if (is_volatile) insn->flags |= IR_FLAG(volatile_);
}

void lower_store(Lower *l, IrOperand address, const CppType *type, IrOperand value,
                 bool is_volatile) {
  store(l, address, type, value, is_volatile, false);
}

void lower_store_last(Lower *l, IrOperand address, const CppType *type, IrOperand value,
                      bool is_volatile) {
  store(l, address, type, value, is_volatile, true);
}

/* ---- blocks ---- */

static void copy_block(Lower *l, IrOperand to, IrOperand from, uint64_t bytes) {
  facts_clobber(l, to, bytes);
  IrOperand args[] = {access_operand(to), access_operand(from), ir_imm((int64_t)bytes)};
  lower_emit(l, IR_copy, IR_TYPE_NONE, args, 3);
}

static void fill_block(Lower *l, IrOperand to, uint64_t bytes) {
  facts_clobber(l, to, bytes);
  IrOperand args[] = {access_operand(to), ir_imm((int64_t)bytes), ir_imm(0)};
  lower_emit(l, IR_fill, IR_TYPE_NONE, args, 3);
}

static bool same_address(IrOperand a, IrOperand b) {
  return a.kind == b.kind && a.id == b.id && a.value == b.value && !ir_is_unknown(a);
}

/* A record that is aligned to more than its elements (float4, int2) moves as one access of at most
 * 16 bytes: marks the loads and stores from instruction `from` on, each element of a row of them
 * first or later part. */
static void mark_vector(Lower *l, int from, const CppType *type, uint64_t offset) {
  enum { WIDEST = 16 };
  uint64_t bytes = type->align < WIDEST ? type->align : WIDEST;
  if (bytes > type->bytes) bytes = type->bytes;
  for (int i = from; i < l->kernel->insns.count; i++) {
    IrInsn *insn = &l->kernel->insns.items[i];
    if ((insn->op != IR_load && insn->op != IR_store) || insn->type.bytes >= bytes) continue;
    insn->vector = offset % bytes == 0 ? (uint8_t)bytes : 1;
  }
}

void lower_copy(Lower *l, IrOperand to, IrOperand from, const CppType *type) {
  if (same_address(to, from)) return;
  if (cpp_is_scalar(type)) {
    lower_store_last(l, to, type, lower_load(l, from, type, false), false);
    return;
  }
  if (type->bytes == 0 || !cpp_is_object(type)) return;
  lower_closure_copied(l, to, from, type);
  if (cpp_has_overlay(l, type) || !cpp_leaves(l, type)) {
    copy_block(l, to, from, type->bytes);
    uint32_t align = type->align < 16 ? type->align : 16;
    if (align > 4) l->kernel->insns.items[l->kernel->insns.count - 1].vector = (uint8_t)align;
    return;
  }
  for (int i = 0; i < type->leaves.count; i++) {
    const CppLeaf *leaf = &type->leaves.items[i];
    int start = l->kernel->insns.count;
    IrOperand value = lower_load(l, address_add(from, (int64_t)leaf->offset), leaf->type, false);
    lower_store_last(l, address_add(to, (int64_t)leaf->offset), leaf->type, value, false);
    mark_vector(l, start, type, leaf->offset);
  }
}

void lower_zero(Lower *l, IrOperand address, const CppType *type) {
  if (cpp_is_scalar(type)) {
    lower_store(l, address, type, lower_constant(0, type->ir), false);
    return;
  }
  if (type->bytes == 0 || !cpp_is_object(type)) return;
  if (cpp_has_overlay(l, type) || !cpp_leaves(l, type) || type->leaves.count > 64) {
    fill_block(l, address, type->bytes);
    return;
  }
  for (int i = 0; i < type->leaves.count; i++) {
    const CppLeaf *leaf = &type->leaves.items[i];
    lower_store(l, address_add(address, (int64_t)leaf->offset), leaf->type,
                lower_constant(0, leaf->type->ir), false);
  }
}

void lower_forget(Lower *l, IrOperand address, const CppType *type) {
  if (address.kind == IR_OPD_UNKNOWN) return;
  if (cpp_is_scalar(type)) {
    int32_t cell = lower_cell(l, address, type);
    facts_clobber(l, address, type->ir.bytes);
    if (cell >= 0) {
      IrOperand dst = ir_use(cell);
      lower_emit(l, IR_havoc, type->ir, &dst, 1)->text = "passed to a function without a body";
      return;
    }
    lower_store(l, address, type, ir_unknown(), false);
    return;
  }
  if (!cpp_is_object(type) || !cpp_leaves(l, type)) return;
  for (int i = 0; i < type->leaves.count; i++)
    lower_forget(l, address_add(address, (int64_t)type->leaves.items[i].offset),
                 type->leaves.items[i].type);
}
