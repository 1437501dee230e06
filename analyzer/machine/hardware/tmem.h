/* tmem: tensor memory, its allocation and who touched which columns (PTX ISA 9.7.16.2, .6, .7). */
#ifndef KC_MACHINE_TMEM_H
#define KC_MACHINE_TMEM_H

#include "machine/hardware/protocol.h"

#define TMEM_ALL_PARTS 255u

/* `access` touches columns [column, column + count) of the quadrants in the mask. */
void tmem_touch(Machine *machine, Strand *strand, const Access *access, int rank, uint32_t column,
                uint32_t count, uint32_t quadrants);
/* Whether every column of the range was written in this run. */
bool tmem_written(const Machine *machine, int rank, uint32_t column, uint32_t count);
/* A tcgen05.ld by `strand` of columns of the parts in the mask: reported at the end when nothing
 * ever writes any of them. */
void tmem_loaded(Machine *machine, const Strand *strand, const IrInsn *insn, uint32_t column,
                 uint32_t count, uint32_t parts);
/* Reports columns that no allocation covers; `what` names the instruction. */
void tmem_check_allocated(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t address, uint32_t count, const char *what);
/* Reports columns that the CTA `rank` has freed already. */
void tmem_check_freed(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                      uint32_t column, uint32_t count);
/* An address that is not known, in a kernel whose CTA never executed an alloc. */
void tmem_check_any_alloc(Machine *machine, const Strand *strand, const IrInsn *insn,
                          const char *what);
/* `load`, a tcgen05.ld, fills the registers of `dst`. */
void tload_fill(Machine *machine, Strand *strand, const IrOperand *dst, Access *load);
/* tcgen05.wait::ld: nothing is in flight any more. */
void tload_waited(Strand *strand);
/* A watched register is read or written: whether a load is still to fill it afterwards. */
bool tload_touch(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg, bool write);
/* What a load brought was computed with before its columns changed hands: without a wait that is
 * safe as long as the compiler keeps the order: advice. `known`: the time of the loading warp that
 * the other side knows. */
static inline void tmem_say_consumed(IrViolation *v, const Access *load, uint32_t known) {
  if (load->spilled && !load->consumed) {
    v->confidence = IR_INFERRED;
    v->assumed = "that nothing computes with the loaded values before the hand-over";
  }
  if (!load->consumed || load->consumed - 1 > known) return;
  v->confidence = IR_FALLBACK;
  v->assumed = "that the compiler may move the use of the loaded registers behind the hand-over";
}
/* tcgen05.c: at the end of a run, commits by lanes that issue nothing. */
void tcgen05_finish(Machine *machine);
/* At the end of a run: columns that were not freed, permits that were not given up. */
void tmem_finish(Machine *machine);

#endif
