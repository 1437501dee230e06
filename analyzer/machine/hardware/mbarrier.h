/* mbarrier: the barrier objects of shared memory (PTX ISA 9.7.13.15). */
#ifndef KC_MACHINE_MBARRIER_H
#define KC_MACHINE_MBARRIER_H

#include "machine/hardware/protocol.h"

/* Largest count and tx-count of an mbarrier (PTX ISA 9.7.13.15.2). */
#define MBARRIER_MAX ((INT64_C(1) << 20) - 1)

/* The live barrier at an offset, or NULL. */
Mbar *mbarrier_find(const Machine *machine, int rank, uint32_t offset);
/* As mbarrier_find for an operation by `strand`: reports what is wrong with using it there (not
 * initialised, not ordered after its initialisation). `what` names the operation. */
Mbar *mbarrier_use(Machine *machine, Strand *strand, const IrInsn *insn, const SharedPlace *place,
                   const char *what);
/* Bytes have landed; `accesses` (with what they wrote) complete with the current phase. bytes < 0:
 * unknown, they make up whatever is missing. `known` is what the issuer knew, or NULL. */
void mbarrier_deliver(Machine *machine, Mbar *bar, int64_t bytes, const Clock *known,
                      Access *access, const IrInsn *insn);
/* `count` arrivals that publish `known`. warp -1: an asynchronous agent (tcgen05.commit). */
void mbarrier_arrive(Machine *machine, Mbar *bar, int64_t count, const Clock *known, int warp,
                     uint32_t lanes, const IrInsn *insn, MbarLogKind kind);
/* "full[2]" */
const char *mbarrier_name(Machine *machine, const Mbar *bar, int seen_from);
/* An ordinary store over [offset, offset + bytes). */
void mbarrier_overwritten(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t offset, uint32_t bytes);
/* The phase that a wait for `parity` by a lane means, from what the lane knows to be complete. */
int64_t mbarrier_expected_phase(const Machine *machine, const Mbar *bar, const Warp *warp, int lane,
                                int parity);
void mbarrier_log(Mbar *bar, MbarLogKind kind, int warp, uint32_t lanes, int64_t value,
                  const IrInsn *insn, uint64_t step);

#endif
