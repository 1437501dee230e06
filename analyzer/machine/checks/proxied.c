/* Global memory that threads write with ordinary stores and a bulk copy of the same CTA then
 * fetches: the async proxy sees the stores only behind a fence.proxy.async that covers global
 * memory (PTX ISA 8.6, 9.7.13.4). Reported of kernels that have no such fence at all. Addresses
 * that depend on a stride which the machine made up prove nothing: rows might overlap that never
 * do. */
#include "machine/checks/checks.h"

#include "machine/execute/core.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"
#include "machine/witness/witness.h"

#define GRANULES 4096 /* of 16 bytes, kept of a run; a power of two */
#define MOST_BYTES 16384

typedef struct Granule {
  uint64_t key; /* address >> 4, plus 1 */
  const IrInsn *store;
  int32_t rank; /* of the CTA */
  uint32_t warp;
} Granule;

typedef struct Proxied {
  Granule *granules;
  size_t used;
} Proxied;

/* Whether the kernel copies out of global memory and has no fence towards that. */
static bool concerns(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (session->proxied) return session->proxied > 0;
  bool copies = false, fences = false;
  for (int i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn->op == IR_havoc && insn->nargs == 0) fences = true; /* who knows what it does */
    if (insn->op != IR_event) continue;
    copies |= insn->event == IR_EV_bulk_copy;
    fences |= insn->event == IR_EV_fence_proxy_async &&
              (insn->space == IR_SPACE_NONE || insn->space == IR_SPACE_GLOBAL);
  }
  session->proxied = copies && !fences ? 1 : -1;
  return session->proxied > 0;
}

static bool is_certain(Machine *machine, const IrOperand *address) {
  if (!address) return false;
  Slice s = slice_operand(machine->session, address);
  return !s.loads && !s.opaque && !s.local && !s.mapped && s.object < 0 &&
         !(s.scaled && s.parameter) && (s.pointers || s.global);
}

static Granule *granule_at(Proxied *p, uint64_t address, bool make) {
  uint64_t key = (address >> 4) + 1;
  size_t at = (size_t)core_hash(key, 5) & (GRANULES - 1);
  while (p->granules[at].key && p->granules[at].key != key)
    at = (at + 1) & (GRANULES - 1);
  if (p->granules[at].key == key) return &p->granules[at];
  if (!make || p->used * 2 > GRANULES) return NULL;
  p->used++;
  p->granules[at].key = key;
  return &p->granules[at];
}

void proxied_store(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access) {
  if (access->kind != MACHINE_WRITE || insn->op != IR_store || !access->lanes ||
      !concerns(machine) || !is_certain(machine, slice_address(insn)))
    return;
  Protocol *protocol = protocol_of(machine);
  if (!protocol->proxied) {
    protocol->proxied = KC_NEW(machine->arena, Proxied);
    protocol->proxied->granules = KC_NEW_ARRAY(machine->arena, Granule, GRANULES);
  }
  FOR_LANES(lane, access->lanes) {
    Granule *g = granule_at(protocol->proxied, value_raw(access->address, (int)lane), true);
    if (!g) return;
    g->store = insn;
    g->rank = strand->warp->cta->rank;
    g->warp = (uint32_t)strand->warp->index;
    if (access->address.uniform) return;
  }
}

void proxied_copy(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t from,
                  uint64_t bytes) {
  Proxied *p = protocol_of(machine)->proxied;
  if (!p || bytes > MOST_BYTES || !is_certain(machine, ir_arg(insn, IR_ROLE_src_addr))) return;
  for (uint64_t at = from; at < from + bytes; at += 16) {
    const Granule *g = granule_at(p, at, false);
    if (!g || g->rank != strand->warp->cta->rank) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "tma-global-no-proxy-fence",
        "the copy fetches global memory that %s wrote with ordinary stores, and no "
        "fence.proxy.async of the kernel covers global memory",
        witness_warp(machine, g->warp));
    if (v) ir_violation_related(machine->violations, v, g->store->where, "written here");
    return;
  }
}
