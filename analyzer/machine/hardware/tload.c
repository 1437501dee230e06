/* Registers that a tcgen05.ld fills (PTX ISA 9.7.16.6.4, 9.7.16.8.1). An instruction that computes
 * with them has the values: the hardware holds it back until the load is complete, though only
 * tcgen05.wait::ld says so to the memory model. Copies of registers are none: they may vanish. */
#include "machine/hardware/tmem.h"

typedef struct TloadState {
  Access **load; /* by register: the load in flight, or NULL */
  int nregs;
  KC_VEC(int32_t) regs; /* those with one */
  const IrInsn *copy;   /* that is passing a load's value on, and where to */
  int32_t copied_to;
} TloadState;

static void hold(Machine *machine, Warp *warp, int32_t reg, Access *load) {
  TloadState *state = warp_state(warp)->tload;
  if (!state || reg < 0 || reg >= state->nregs) return;
  if (!state->load[reg]) KC_PUSH(machine->arena, state->regs, reg);
  state->load[reg] = load;
  machine_watch(warp, reg, true);
}

typedef struct Filling {
  Machine *machine;
  Warp *warp;
  Access *load;
} Filling;

static void fill(int32_t reg, void *user) {
  const Filling *f = user;
  hold(f->machine, f->warp, reg, f->load);
}

void tload_fill(Machine *machine, Strand *strand, const IrOperand *dst, Access *load) {
  WarpState *ws = warp_state(strand->warp);
  if (!ws->tload) {
    ws->tload = KC_NEW(machine->arena, TloadState);
    ws->tload->nregs = machine->session->nregs;
    ws->tload->load = KC_NEW_ARRAY(machine->arena, Access *, ws->tload->nregs);
  }
  machine_each_reg(dst, fill, &(Filling){machine, strand->warp, load});
}

void tload_waited(Strand *strand) {
  TloadState *state = warp_state(strand->warp)->tload;
  for (int i = 0; state && i < state->regs.count; i++)
    state->load[state->regs.items[i]] = NULL;
  if (state) state->regs.count = 0;
}

/* A store into an array of the thread's own, also through a reference. */
static bool spills(Machine *machine, Strand *strand, const IrInsn *insn) {
  uint64_t address;
  if (insn->op != IR_store) return false;
  if (insn->space != IR_SPACE_GENERIC) return insn->space == IR_SPACE_LOCAL;
  return value_same(machine_read(machine, strand, &insn->args[0]), strand->active, &address) &&
         machine_address(machine, address, IR_SPACE_GENERIC).space == IR_SPACE_LOCAL;
}

/* A register that stands for an element of an array is read through the array's address. */
static bool reads_element(const IrInsn *insn, int32_t reg) {
  const IrOperand *address = &insn->args[insn->nargs - 1];
  return insn->op == IR_load && !(address->kind == IR_OPD_REG && address->id == reg);
}

static bool copies(const IrInsn *insn, int32_t reg) {
  return insn->op == IR_mov || insn->op == IR_copy || insn->op == IR_pack ||
         insn->op == IR_unpack || reads_element(insn, reg);
}

/* Whether registers are left that the load is still to bring. */
static bool awaited(const TloadState *state, const Access *load) {
  for (int i = 0; i < state->regs.count; i++)
    if (state->load[state->regs.items[i]] == load) return true;
  return false;
}

bool tload_touch(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg, bool write) {
  TloadState *state = warp_state(strand->warp)->tload;
  if (!state || reg >= state->nregs || !state->load[reg]) return false;
  Access *load = state->load[reg];
  if (write && insn == state->copy && reg == state->copied_to) {
    state->copy = NULL;
  } else if (write) {
    if (load->insn != insn) state->load[reg] = NULL;
    /* Masked elements: what nobody reads may come at any time. */
    if (!load->consumed && !load->spilled && insn->event != IR_EV_tcgen05_ld &&
        !awaited(state, load))
      load->consumed = warp_state(strand->warp)->lanes.now + 1;
  } else if (spills(machine, strand, insn)) {
    load->spilled = true;
  } else if (!copies(insn, reg)) {
    if (!load->consumed) load->consumed = warp_state(strand->warp)->lanes.now + 1;
    state->load[reg] = NULL;
  } else if ((insn->op == IR_mov || insn->op == IR_load) && insn->args[0].kind == IR_OPD_REG) {
    state->copy = insn;
    state->copied_to = insn->args[0].id;
    hold(machine, strand->warp, state->copied_to, load);
  }
  return state->load[reg] != NULL;
}
