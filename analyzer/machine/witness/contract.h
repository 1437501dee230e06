/* contract: who initialises, arrives on and waits on each array of mbarriers, and what its phases
 * protect; for `kcheck protocol`. */
#ifndef KC_MACHINE_CONTRACT_H
#define KC_MACHINE_CONTRACT_H

#include "machine/hardware/protocol.h"

typedef enum ContractRole {
  CONTRACT_INIT,     /* value: count */
  CONTRACT_EXPECT,   /* value: bytes */
  CONTRACT_COMPLETE, /* value: bytes */
  CONTRACT_ARRIVE,   /* value: arrivals */
  CONTRACT_WAIT      /* value: parity */
} ContractRole;

void contract_site(Machine *machine, const Mbar *bar, ContractRole role, const IrInsn *insn,
                   int64_t value);
/* A copy bound to `bar` goes to shared memory at `offset`. */
void contract_copy(Machine *machine, const Strand *strand, const Access *access, const Mbar *bar,
                   uint32_t offset);
/* A tensor instruction or a thread touches shared memory at `offset`, behind its last wait. */
void contract_touch(Machine *machine, const Strand *strand, const Access *access, uint32_t offset);
/* A tcgen05.ld or tcgen05.st behind the warp's last wait. */
void contract_tensor_memory(Machine *machine, const Strand *strand, const Access *access);
/* A warp comes to barrier `id` of the block (MACHINE_BLOCK_BARRIER: without a count of its own) or
 * of the cluster. */
void contract_barrier(Machine *machine, const Strand *strand, const IrInsn *insn,
                      MachineBarrierKind kind, int64_t id, int64_t count, bool waits);
/* At the end of a run, and once a kernel. */
void contract_collect(Machine *machine);
void contract_report(MachineSession *session);

#endif
