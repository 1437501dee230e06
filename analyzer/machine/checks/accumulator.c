/* Accumulators of mma.sync and wmma (PTX ISA 9.7.14.5): the first multiplication of a tile adds to
 * registers, or to a local array, that the warp has never written. An instruction is looked at when
 * it runs for the first time; what runs later adds to what an earlier one has left. */
#include "machine/checks/checks.h"

#include <string.h>

#include "machine/execute/core.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

static bool is_multiplication(const IrInsn *insn) {
  if (insn->op == IR_event) return insn->event == IR_EV_mma_sync;
  return insn->op == IR_opaque && insn->sub > 0 && insn->nargs >= 2 * insn->sub && insn->text &&
         strcmp(insn->text, "mma") == 0;
}

static bool first_time(Machine *machine, const IrInsn *insn) {
  ProtocolSession *session = session_protocol(machine->session);
  if (!session->multiplied)
    session->multiplied =
        kc_alloc(machine->session->arena, (size_t)machine->kernel->insns.count + 1);
  uint8_t *seen = &session->multiplied[insn - machine->kernel->insns.items];
  return (*seen)++ == 0 || (*seen = 1, false);
}

/* Blocks of local memory that are set as a whole need not have a register for every byte. */
static bool has_block_writes(Machine *machine) {
  for (int i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if ((insn->op == IR_fill || insn->op == IR_copy) &&
        (insn->args[0].kind != IR_OPD_IMM || ((uint64_t)insn->args[0].value >= IR_LOCAL_BASE &&
                                              (uint64_t)insn->args[0].value < IR_LOCAL_END)))
      return true;
  }
  return false;
}

static bool untouched_bytes(Machine *machine, const Strand *strand, uint64_t address,
                            uint64_t bytes) {
  if (address < IR_LOCAL_BASE || address >= IR_LOCAL_END) return false;
  g_autoptr(GArray) cells = core_cells_in(machine->session, address, bytes);
  for (guint i = 0; i < cells->len; i++)
    if (strand->warp->regs[g_array_index(cells, int32_t, i)].written) return false;
  return cells->len > 0 || !has_block_writes(machine);
}

static const IrInsn *writer_before(const Machine *machine, const IrInsn *use, int32_t reg) {
  enum { BACK = 64 };
  for (const IrInsn *at = use - 1; at >= machine->kernel->insns.items && use - at < BACK; at--) {
    if (at->leader || at->op == IR_branch) return NULL;
    int dsts = slice_destinations(at);
    for (int i = 0; i < dsts; i++)
      if (at->args[i].kind == IR_OPD_REG && at->args[i].id == reg) return at;
  }
  return NULL;
}

/* Where an asm operand that is an element of a local array was loaded from, just before. */
static bool loaded_from(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg,
                        uint64_t *address) {
  const IrInsn *from = writer_before(machine, insn, reg);
  if (from && from->op == IR_mov && from->args[1].kind == IR_OPD_REG)
    from = writer_before(machine, from, from->args[1].id);
  if (!from || from->op != IR_load || from->sub > 1) return false;
  Value v = machine_read(machine, strand, slice_address(from));
  return value_same(v, strand->active, address);
}

static bool untouched(Machine *machine, Strand *strand, const IrInsn *insn,
                      const IrOperand *operand) {
  if (operand->kind != IR_OPD_REG) return false;
  uint64_t address;
  if (!strand->warp->regs[operand->id].written) return true;
  return loaded_from(machine, strand, insn, operand->id, &address) &&
         untouched_bytes(machine, strand, address, insn->type.bytes ? insn->type.bytes : 4);
}

/* wmma::mma_sync(d, a, b, c): c is a fragment in local memory. */
static bool untouched_fragment(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value v;
  uint64_t address;
  return insn->shape.bytes && machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &v) &&
         value_same(v, strand->active, &address) &&
         untouched_bytes(machine, strand, address, insn->shape.bytes);
}

void accumulator_check(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!is_multiplication(insn) || !first_time(machine, insn)) return;
  /* A loop that clears may go round by an argument that the template lacks. */
  if (machine->kernel->lacks_arguments) return;
  bool fresh = insn->op == IR_event && untouched_fragment(machine, strand, insn);
  if (insn->op == IR_opaque) {
    fresh = true;
    for (int i = insn->nargs - insn->sub; i < insn->nargs && fresh; i++)
      fresh = untouched(machine, strand, insn, &insn->args[i]);
  }
  uint8_t *said = &session_protocol(machine->session)->multiplied[machine->kernel->insns.count];
  if (!fresh || *said) return;
  *said = 1; /* the tile has other parts; the cause is one */
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "fragment-accumulator-uninitialized",
                    "the first %s of the tile adds to accumulators that nothing has written",
                    insn->op == IR_event ? "mma_sync" : "mma.sync");
}
