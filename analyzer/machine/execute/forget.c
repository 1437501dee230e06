/* Stores whose address nobody knows: which shared contents they may change. A generic address that
 * was computed from a shared array stays in it (PTX ISA 5.1.6: an object is accessed through
 * addresses derived from it); one that came from elsewhere is taken for global. */
#include "machine/execute/core.h"

#include <string.h>

#define SEVERAL (-1) /* derived from more than one object */
#define PASSES 8

static int32_t join(int32_t a, int32_t b) {
  if (a == 0 || a == b) return b;
  return b == 0 ? a : SEVERAL;
}

static int32_t base_of(const MachineSession *session, const IrOperand *operand) {
  const CoreSession *core = session->core;
  if (operand->kind == IR_OPD_REG) return core->points_into[operand->id];
  if (operand->kind != IR_OPD_OBJECT) return 0;
  return session->kernel->objects.items[operand->id].space == IR_SPACE_SHARED ? operand->id + 1 : 0;
}

static bool derives(const IrInsn *insn) {
  switch (insn->op) {
  case IR_mov:
  case IR_cvt:
  case IR_cvta:
  case IR_add:
  case IR_sub:
  case IR_mad:
  case IR_madwide:
  case IR_band:
  case IR_bor:
  case IR_select:
  case IR_mapa: return insn->nargs > 1 && insn->args[0].kind == IR_OPD_REG;
  default: return false;
  }
}

void core_find_bases(MachineSession *session) {
  CoreSession *core = session->core;
  const IrKernel *kernel = session->kernel;
  core->points_into = KC_NEW_ARRAY(session->arena, int32_t, kernel->regs.count + 1);
  bool changed = true;
  for (int pass = 0; pass < PASSES && changed; pass++) {
    changed = false;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      if (!derives(insn)) continue;
      int32_t *base = &core->points_into[insn->args[0].id], before = *base;
      for (int j = 1; j < insn->nargs; j++)
        *base = join(*base, base_of(session, &insn->args[j]));
      changed |= *base != before;
    }
  }
}

static void forget_range(Machine *machine, Cta *cta, uint64_t start, uint64_t end) {
  if (end > machine->session->shared_bytes) end = machine->session->shared_bytes;
  if (start >= end) return;
  uint8_t *known = cta->shared_known;
  while (start < end && (start & 7)) {
    known[start >> 3] &= (uint8_t) ~(1u << (start & 7));
    start++;
  }
  memset(known + (start >> 3), 0, (end - start) >> 3);
  for (uint64_t i = end & ~UINT64_C(7); i >= start && i < end; i++)
    known[i >> 3] &= (uint8_t) ~(1u << (i & 7));
}

void core_forget_unknown(Machine *machine, const Strand *strand, const IrInsn *insn,
                         IrSpace space) {
  const IrOperand *address = insn->op == IR_event  ? ir_arg(insn, IR_ROLE_addr)
                             : insn->op == IR_atom ? &insn->args[1]
                                                   : &insn->args[0];
  bool shared = space == IR_SPACE_SHARED || space == IR_SPACE_SHARED_CLUSTER;
  if (!address || (!shared && space != IR_SPACE_GENERIC)) return;
  int32_t base = base_of(machine->session, address);
  if (base == 0 && !shared) return;
  uint64_t start = CORE_SHARED_RESERVED, end = machine->session->shared_bytes;
  if (base > 0) {
    const IrObject *object = &machine->kernel->objects.items[base - 1];
    start = machine->session->object_offset[base - 1];
    if (!object->dynamic && object->bytes) end = start + object->bytes;
  }
  core_run(machine)->effects++;
  core_run(machine)->stores_blindly = true;
  bool everywhere = space == IR_SPACE_SHARED_CLUSTER;
  for (int rank = 0; rank < machine->cluster_size; rank++)
    if (everywhere || rank == strand->warp->cta->rank)
      forget_range(machine, &machine->ctas[rank], start, end);
}
