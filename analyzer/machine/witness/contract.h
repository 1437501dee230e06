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
/* At the end of a run, and once a kernel. */
void contract_collect(Machine *machine);
void contract_report(MachineSession *session);

#endif
