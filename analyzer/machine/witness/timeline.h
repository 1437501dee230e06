/* timeline: what happened when, for `kcheck trace`. */
#ifndef KC_MACHINE_TIMELINE_H
#define KC_MACHINE_TIMELINE_H

#include "machine/hardware/protocol.h"

void timeline_init(Machine *machine);
void timeline_load(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t offset, Mbar *bar);
/* A cp.async of one lane. */
void timeline_copy(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t offset);
void timeline_landed(Machine *machine, const Access *access);
void timeline_store(Machine *machine, const Strand *strand, const Access *access, int rank,
                    uint32_t offset);
/* An operand of a tensor instruction, and (wgmma) the end of commit groups up to `group`. */
void timeline_operand(Machine *machine, const Strand *strand, const Access *access, int rank,
                      uint32_t offset);
void timeline_mma_done(Machine *machine, const Strand *strand, uint32_t group);
/* Ordinary loads and stores. */
void timeline_access(Machine *machine, const Strand *strand, const Access *access, int rank,
                     uint32_t offset);
/* Columns of tensor memory. */
void timeline_tmem(Machine *machine, const Strand *strand, const Access *access, int rank,
                   uint32_t column);
/* The two accesses that `v` says are not ordered. */
void timeline_race(Machine *machine, const IrViolation *v, const Access *before, const Access *now);
/* Lanes of the strand end. */
void timeline_exit(Machine *machine, const Strand *strand);
/* The same of two instructions, of which the second executes now. */
void timeline_pair(Machine *machine, const IrViolation *v, const IrInsn *first,
                   const IrInsn *second);
/* A violation is reported while the strand that shows it executes `insn`. */
void timeline_violation(Machine *machine, const IrInsn *insn);
/* Synchronisation that no other function of these is called for. */
void timeline_other(Machine *machine, const Strand *strand, const IrInsn *insn);
void timeline_mma(Machine *machine, const Strand *strand, const IrInsn *insn);
void timeline_block(Machine *machine, const Strand *strand, const Mbar *bar);
void timeline_wait(Machine *machine, const Strand *strand, const Mbar *bar, const IrInsn *insn);
void timeline_arrive(Machine *machine, const Mbar *bar, const Strand *strand, const IrInsn *insn);
/* The phase of the barrier completes. */
void timeline_phase(Machine *machine, const Mbar *bar);
void timeline_barrier(Machine *machine, const Strand *strand, const IrInsn *insn, int64_t id);
/* Keeps the run's intervals when it is the one that the options ask for. */
void timeline_finish(Machine *machine);
void timeline_report(MachineSession *session);

#endif
