#include "machine/inputs/slice.h"

#include "machine/execute/core.h"
#include "machine/inputs/sample.h"
#include "machine/session.h"

/* Which instructions write a register: lists in one array. */
typedef struct SliceIndex {
  int32_t *first;  /* by register, and one more: where its list starts */
  int32_t *writer; /* instruction indices */
  uint32_t *seen;  /* by register: number of the walk that came by */
  uint32_t walk;
  int nregs;
} SliceIndex;

typedef void (*Visit)(int32_t reg, int32_t at, void *user);

static void each_written(const IrOperand *operand, int32_t at, Visit visit, void *user) {
  if (operand->kind == IR_OPD_REG) visit(operand->id, at, user);
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    each_written(&operand->list[i], at, visit, user);
}

static void each_writer(const IrKernel *kernel, Visit visit, void *user) {
  for (int32_t at = 0; at < kernel->insns.count; at++) {
    const IrInsn *insn = &kernel->insns.items[at];
    for (int i = 0; i < insn->nargs; i++)
      if (core_operand_is_written(insn, i)) each_written(&insn->args[i], at, visit, user);
  }
}

static void count_writer(int32_t reg, int32_t at, void *user) {
  (void)at;
  ((SliceIndex *)user)->first[reg + 1]++;
}

static void put_writer(int32_t reg, int32_t at, void *user) {
  SliceIndex *index = user;
  index->writer[index->first[reg]++] = at;
}

static SliceIndex *index_of(MachineSession *session) {
  ProtocolSession *p = session_protocol(session);
  if (p->slices) return p->slices;
  const IrKernel *kernel = session->kernel;
  SliceIndex *index = KC_NEW(session->arena, SliceIndex);
  p->slices = index;
  int n = index->nregs = kernel->regs.count;
  index->first = KC_NEW_ARRAY(session->arena, int32_t, n + 2);
  index->seen = KC_NEW_ARRAY(session->arena, uint32_t, n + 1);
  each_writer(kernel, count_writer, index);
  for (int i = 0; i < n; i++)
    index->first[i + 1] += index->first[i];
  index->writer = KC_NEW_ARRAY(session->arena, int32_t, index->first[n] + 1);
  each_writer(kernel, put_writer, index);
  for (int i = n; i > 0; i--) /* filling moved each start to the next */
    index->first[i] = index->first[i - 1];
  index->first[0] = 0;
  return index;
}

typedef struct Walk {
  MachineSession *session;
  SliceIndex *index;
  Slice out;
  GArray *todo;    /* registers */
  GPtrArray *xors; /* or NULL: instructions passed */
} Walk;

static void reach(Walk *walk, const IrOperand *operand) {
  switch (operand->kind) {
  case IR_OPD_REG:
    if (operand->id >= walk->index->nregs || walk->index->seen[operand->id] == walk->index->walk)
      return;
    walk->index->seen[operand->id] = walk->index->walk;
    g_array_append_val(walk->todo, operand->id);
    return;
  case IR_OPD_IMM:
    if ((uint64_t)operand->value >= IR_LOCAL_BASE && (uint64_t)operand->value < IR_LOCAL_END &&
        operand->type.bytes == 8)
      walk->out.local = true;
    return;
  case IR_OPD_SPECIAL: walk->out.special |= UINT64_C(1) << operand->id; return;
  case IR_OPD_OBJECT:
    if (walk->session->kernel->objects.items[operand->id].space != IR_SPACE_SHARED) {
      walk->out.global |=
          walk->session->kernel->objects.items[operand->id].space == IR_SPACE_GLOBAL;
      return;
    }
    if (walk->out.object != operand->id)
      walk->out.object = walk->out.object == SLICE_NO_OBJECT ? operand->id : SLICE_OBJECTS;
    return;
  case IR_OPD_UNKNOWN: walk->out.opaque = true; return;
  case IR_OPD_VECTOR:
    for (int i = 0; i < operand->count; i++)
      reach(walk, &operand->list[i]);
    return;
  default: return;
  }
}

static void pass_load(Walk *walk, const IrInsn *insn) {
  const IrOperand *address = slice_address(insn);
  bool param = insn->op == IR_load && insn->space == IR_SPACE_PARAM && address &&
               address->kind == IR_OPD_IMM;
  if (!param) {
    walk->out.loads = true;
    return;
  }
  uint64_t offset = (uint64_t)address->value;
  offset -= offset >= IR_PARAM_BASE ? IR_PARAM_BASE : 0;
  if (core_int_leaf(walk->session->kernel, offset)) {
    walk->out.parameter = true;
    walk->out.integers |= UINT64_C(1) << offset / 4 % 64;
  }
  const IrLeaf *leaf = NULL;
  for (uint64_t i = 0; (leaf = sample_pointer_leaf(walk->session->kernel, i)) != NULL; i++)
    if (leaf->offset == offset) walk->out.pointers |= UINT64_C(1) << i % 63;
}

static void pass(Walk *walk, const IrInsn *insn) {
  switch (insn->op) {
  case IR_load:
  case IR_atom: pass_load(walk, insn); return;
  case IR_opaque: walk->out.opaque = true; break;
  case IR_event:
  case IR_havoc:
  case IR_copy:
  case IR_fill: walk->out.opaque = true; return;
  case IR_bxor:
    if (walk->xors) g_ptr_array_add(walk->xors, (void *)insn);
    walk->out.permutes = true;
    break;
  case IR_lop3:
  case IR_prmt:
  case IR_bfi:
  case IR_shf: walk->out.permutes = true; break;
  case IR_mapa: walk->out.mapped = true; break;
  default: break;
  }
  int from = core_destinations(insn), variable = 0;
  for (int i = from; i < insn->nargs; i++) {
    reach(walk, &insn->args[i]);
    variable += i < from + 2 && insn->args[i].kind != IR_OPD_IMM;
  }
  if ((insn->op == IR_mul || insn->op == IR_mad || insn->op == IR_mulwide ||
       insn->op == IR_madwide || insn->op == IR_shl) &&
      variable == 2)
    walk->out.scaled = true;
}

static Slice walk_from(MachineSession *session, const IrOperand *operand, GPtrArray *xors) {
  Walk walk = {.session = session,
               .index = index_of(session),
               .out = {.object = SLICE_NO_OBJECT},
               .todo = g_array_new(FALSE, FALSE, sizeof(int32_t)),
               .xors = xors};
  walk.index->walk++;
  reach(&walk, operand);
  for (guint i = 0; i < walk.todo->len; i++) {
    int32_t reg = g_array_index(walk.todo, int32_t, i);
    int32_t first = walk.index->first[reg], last = walk.index->first[reg + 1];
    if (first == last) walk.out.opaque = true; /* written through an address, if at all */
    for (int32_t w = first; w < last; w++)
      pass(&walk, &session->kernel->insns.items[walk.index->writer[w]]);
  }
  g_array_unref(walk.todo);
  return walk.out;
}

Slice slice_operand(MachineSession *session, const IrOperand *operand) {
  return walk_from(session, operand, NULL);
}

static bool depends_on_thread(MachineSession *session, const IrOperand *operand) {
  const uint64_t thread = UINT64_C(7) << IR_SREG_tid_x | UINT64_C(1) << IR_SREG_laneid;
  return operand->kind != IR_OPD_IMM && (slice_operand(session, operand).special & thread);
}

bool slice_mixes(MachineSession *session, const IrOperand *operand) {
  g_autoptr(GPtrArray) xors = g_ptr_array_new();
  Slice slice = walk_from(session, operand, xors);
  bool mixes = false;
  for (guint i = 0; i < xors->len && !mixes && !slice.loads && !slice.opaque; i++) {
    const IrInsn *insn = g_ptr_array_index(xors, i);
    int from = core_destinations(insn);
    mixes = depends_on_thread(session, &insn->args[from]) &&
            depends_on_thread(session, &insn->args[from + 1]);
  }
  return mixes;
}

int slice_destinations(const IrInsn *insn) {
  return core_destinations(insn);
}

bool slice_feeds_itself(MachineSession *session, int32_t reg) {
  Walk walk = {.session = session,
               .index = index_of(session),
               .todo = g_array_new(FALSE, FALSE, sizeof(int32_t))};
  const IrKernel *kernel = session->kernel;
  bool found = false;
  walk.index->walk++;
  g_array_append_val(walk.todo, reg);
  for (guint i = 0; i < walk.todo->len && !found; i++) {
    int32_t at = g_array_index(walk.todo, int32_t, i);
    if (at >= walk.index->nregs) continue;
    for (int32_t w = walk.index->first[at]; w < walk.index->first[at + 1]; w++) {
      const IrInsn *insn = &kernel->insns.items[walk.index->writer[w]];
      for (int a = core_destinations(insn); a < insn->nargs && insn->op != IR_load; a++)
        if (!core_operand_is_written(insn, a)) reach(&walk, &insn->args[a]);
    }
    found = walk.index->seen[reg] == walk.index->walk;
  }
  g_array_unref(walk.todo);
  return found;
}

const IrOperand *slice_address(const IrInsn *insn) {
  switch (insn->op) {
  case IR_load: return &insn->args[insn->sub ? insn->sub : 1];
  case IR_store: return &insn->args[0];
  case IR_atom: return &insn->args[1];
  case IR_event: return ir_arg(insn, IR_ROLE_addr);
  default: return NULL;
  }
}

bool slice_in_loop(const IrKernel *kernel, int32_t index) {
  for (int32_t i = index; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_branch && insn->target <= index) return true;
  }
  return false;
}
