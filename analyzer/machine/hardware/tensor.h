/* tensor: tensor maps and the sizes of their boxes. */
#ifndef KC_MACHINE_TENSOR_H
#define KC_MACHINE_TENSOR_H

#include "machine/hardware/protocol.h"

/* Bytes that one copy of `insn` moves: from the map, else as inferred from earlier runs; -1: not
 * known. *inferred says which. */
int64_t tensor_bytes(Machine *machine, const IrInsn *insn, const MachineTensorMap *map,
                     bool *inferred);
/* At the end of a run that came to an end: what the copies of a phase must have brought, by the
 * operands that matrix instructions read there, against what was announced. */
void tensor_finish(Machine *machine);
/* At the end of a run: works out the sizes of copies of unknown size from what the barriers
 * announced and how far their destinations lie apart. */
void tensor_infer(Machine *machine);
/* A phase of `bar` completed with copies of unknown size in it. */
void tensor_phase(Machine *machine, Mbar *bar);

#endif
