/* checks: what single accesses and their pattern over lanes, loops and CTAs show: alignment and
 * bounds (vector.c), banks and strides (pattern.c), words of global memory that several threads use
 * (words.c). protocol.c calls them; none of them changes anything that the others see. */
#ifndef KC_MACHINE_CHECKS_H
#define KC_MACHINE_CHECKS_H

#include "machine/hardware/protocol.h"

/* Alignment of vector accesses (PTX ISA 6.4.1.1) and of the rows of ldmatrix and stmatrix (PTX ISA
 * 9.7.14.5.15), shared accesses past the end of their array (PTX ISA 5.1.6). */
void vector_access(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access);
/* The policy operand of a copy (PTX ISA 9.7.9.2): made by createpolicy, or one of its encodings. */
void vector_policy(Machine *machine, Strand *strand, const IrInsn *insn);

/* The accumulators of an mma.sync or wmma multiplication, before it is executed; other instructions
 * are let pass. */
void accumulator_check(Machine *machine, Strand *strand, const IrInsn *insn);

/* Advice about memory traffic, from one run with one schedule. */
void pattern_access(Machine *machine, Strand *strand, const IrInsn *insn,
                    const MachineAccess *access);
void pattern_finish(Machine *machine);

/* Tensor cores that wait. `pending`: groups that a wgmma.wait_group leaves. */
void idle_wait(Machine *machine, Strand *strand, const IrInsn *insn, int64_t pending);
void idle_finish(Machine *machine);

/* Tiles of cluster launch control and of CTA pairs. An answer was decoded; ordinary accesses and
 * tensor copies (map may be NULL) of global memory. */
void tiles_answer(Machine *machine, Strand *strand, const IrInsn *insn, bool known);
void tiles_access(Machine *machine, Strand *strand, const MachineAccess *access);
void tiles_copy(Machine *machine, Strand *strand, const IrInsn *insn, const MachineTensorMap *map,
                bool store);
void tiles_finish(Machine *machine);

/* Barriers of the whole grid that some blocks don't come to. */
void gridwide_finish(Machine *machine);

/* Data and flags that blocks hand over to each other through global memory. */
void handover_finish(Machine *machine);

/* Words of global memory: read-only loads of what the kernel has stored, and words that one CTA
 * stores and another reads without anything that could order the two. */
void words_access(Machine *machine, Strand *strand, const IrInsn *insn,
                  const MachineAccess *access);
void words_finish(Machine *machine);
/* proxied.c: an ordinary store to global memory, and a bulk copy of [from, from + bytes) of it into
 * shared memory. */
void proxied_store(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access);
void proxied_copy(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t from,
                  uint64_t bytes);
void words_report(MachineSession *session);

/* Plain accesses of global memory by several threads of a cluster with nothing to order them.
 * `shares_order`: the active lanes execute something that threads can make an order of their own
 * with (an atomic, a fence, an access that is volatile, acquires or releases). */
void shares_access(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access);
void shares_order(Machine *machine, Strand *strand);
void shares_finish(Machine *machine);

#endif
