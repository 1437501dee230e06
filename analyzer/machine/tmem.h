/* tmem: tensor memory, its allocation and who touched which columns (PTX ISA 9.7.16.2, .6, .7). */
#ifndef KC_MACHINE_TMEM_H
#define KC_MACHINE_TMEM_H

#include "machine/protocol.h"

#define TMEM_ALL_QUADRANTS 15u

/* `access` touches columns [column, column + count) of the quadrants in the mask. */
void tmem_touch(Machine *machine, Strand *strand, const Access *access, int rank, uint32_t column,
                uint32_t count, uint32_t quadrants);
/* Whether every column of the range was written in this run. */
bool tmem_written(const Machine *machine, int rank, uint32_t column, uint32_t count);
/* Reports columns that no allocation covers; `what` names the instruction. */
void tmem_check_allocated(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t address, uint32_t count, const char *what);
/* An address that is not known, in a kernel whose CTA never executed an alloc. */
void tmem_check_any_alloc(Machine *machine, const Strand *strand, const IrInsn *insn,
                          const char *what);
/* At the end of a run: columns that were not freed, permits that were not given up. */
void tmem_finish(Machine *machine);

#endif
