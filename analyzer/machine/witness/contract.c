#include "machine/witness/contract.h"

#include <string.h>

#include "machine/hardware/mbarrier.h"
#include "machine/session.h"

static BarrierContract *contract_of(Machine *machine, const Mbar *bar) {
  ProtocolSession *s = session_protocol(machine->session);
  uint64_t start = bar->offset;
  const IrField *field = machine_shared_field(machine, bar->offset, &start);
  for (int i = 0; i < s->contracts.count; i++)
    if (s->contracts.items[i].start == start) return &s->contracts.items[i];
  BarrierContract fresh = {.start = start, .stride = field ? field->elem_bytes : 8};
  fresh.use.name = field && field->name
                       ? field->name
                       : kc_strdup(machine->session->arena, mbarrier_name(machine, bar, bar->rank));
  fresh.use.expect_bytes = -2; /* nothing seen yet */
  KC_PUSH(machine->session->arena, s->contracts, fresh);
  return &s->contracts.items[s->contracts.count - 1];
}

#define ADD_SITE(arena, list, site)                                                                \
  do {                                                                                             \
    bool seen_ = false;                                                                            \
    for (int i_ = 0; i_ < (list).count; i_++)                                                      \
      seen_ = seen_ || (list).items[i_] == (site);                                                 \
    if (!seen_) KC_PUSH(arena, list, site);                                                        \
  } while (0)

static void add_text(KcArena *arena, MachineBarrierUse *use, ContractRole role, const char *text) {
  if (role == CONTRACT_ARRIVE) {
    for (int i = 0; i < use->arrive_text.count; i++)
      if (strcmp(use->arrive_text.items[i], text) == 0) return;
    KC_PUSH(arena, use->arrive_text, text);
  } else {
    for (int i = 0; i < use->wait_text.count; i++)
      if (strcmp(use->wait_text.items[i], text) == 0) return;
    KC_PUSH(arena, use->wait_text, text);
  }
}

void contract_site(Machine *machine, const Mbar *bar, ContractRole role, const IrInsn *insn,
                   int64_t value) {
  KcArena *arena = machine->session->arena;
  BarrierContract *c = contract_of(machine, bar);
  if (c->stride) c->slots_seen |= UINT64_C(1) << ((bar->offset - c->start) / c->stride & 63);
  switch (role) {
  case CONTRACT_INIT:
    c->use.init_count = value;
    ADD_SITE(arena, c->use.inits, insn->where);
    break;
  case CONTRACT_EXPECT:
    if (c->use.expect_bytes == -2)
      c->use.expect_bytes = value;
    else if (c->use.expect_bytes != value)
      c->use.expect_bytes = -1;
    break;
  case CONTRACT_COMPLETE: ADD_SITE(arena, c->use.completions, insn->where); break;
  case CONTRACT_ARRIVE: ADD_SITE(arena, c->use.arrives, insn->where); break;
  case CONTRACT_WAIT: ADD_SITE(arena, c->use.waits, insn->where); break;
  }
}

/* "warps 4-11" from the warps that did something, a bit each. */
static const char *warps_text(KcArena *arena, uint64_t warps) {
  int first = __builtin_ctzll(warps), last = 63 - __builtin_clzll(warps);
  if (first == last) return kc_printf(arena, "warp %d", first);
  if (__builtin_popcountll(warps) == last - first + 1)
    return kc_printf(arena, "warps %d-%d", first, last);
  return kc_printf(arena, "%d warps from %d to %d", __builtin_popcountll(warps), first, last);
}

static void describe_arrivers(Machine *machine, const Mbar *bar, BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  for (int i = 0; i < bar->arrivers.count; i++) {
    const MbarArrival *a = &bar->arrivers.items[i];
    if (a->described) continue;
    uint64_t warps = 0;
    int lanes = 0;
    for (int j = i; j < bar->arrivers.count; j++) {
      MbarArrival *b = &bar->arrivers.items[j];
      if (b->insn != a->insn) continue;
      b->described = true;
      if (b->warp == UINT32_MAX) continue;
      warps |= UINT64_C(1) << (machine->warps[b->warp]->id & 63);
      if (lane_count(b->lanes) > lanes) lanes = lane_count(b->lanes);
    }
    const char *who =
        !warps       ? "tcgen05.commit"
        : lanes == 1 ? kc_printf(arena, "one thread of %s", warps_text(arena, warps))
                     : kc_printf(arena, "%d threads each of %s", lanes, warps_text(arena, warps));
    add_text(arena, &c->use, CONTRACT_ARRIVE,
             kc_printf(arena, "%s at %s", who, machine_line(machine, a->insn)));
  }
}

static void describe_waiters(Machine *machine, const Mbar *bar, BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  uint64_t warps = 0;
  const IrInsn *insn = NULL;
  bool first_passes = false;
  for (int w = 0; w < machine->nwarps; w++) {
    const MbarView *view = bar->views[w];
    if (!view || !view->insn) continue;
    warps |= UINT64_C(1) << (machine->warps[w]->id & 63);
    insn = view->insn;
    first_passes = first_passes || view->first_passed;
  }
  if (!insn) return;
  add_text(arena, &c->use, CONTRACT_WAIT,
           kc_printf(arena, "%s at %s%s", warps_text(arena, warps), machine_line(machine, insn),
                     first_passes ? ", parity of the preceding phase (first trip passes)" : ""));
}

static void add_protected(KcArena *arena, MachineBarrierUse *use, const char *text) {
  for (int i = 0; i < use->protects.count; i++)
    if (strcmp(use->protects.items[i], text) == 0) return;
  if (use->protects.count < 8) KC_PUSH(arena, use->protects, text);
}

void contract_collect(Machine *machine) {
  Protocol *p = protocol_of(machine);
  KcArena *arena = machine->session->arena;
  int most = 0;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    BarrierContract *c = contract_of(machine, bar);
    if (c->described) continue;
    describe_arrivers(machine, bar, c);
    describe_waiters(machine, bar, c);
    for (int j = 0; j < bar->fills.count; j++)
      add_protected(arena, &c->use, kc_strdup(arena, bar->fills.items[j]));
    if (bar->phase > most) most = (int)bar->phase;
  }
  ProtocolSession *s = session_protocol(machine->session);
  for (int i = 0; i < s->contracts.count; i++)
    if (most > 0) s->contracts.items[i].described = true;
}

void contract_report(MachineSession *session) {
  ProtocolSession *s = session_protocol(session);
  for (int i = 0; i < s->contracts.count; i++) {
    BarrierContract *c = &s->contracts.items[i];
    c->use.slots = __builtin_popcountll(c->slots_seen);
    if (c->use.expect_bytes == -2) c->use.expect_bytes = -1;
    KC_PUSH(session->arena, session->result->barriers, c->use);
  }
  session->result->tmem_columns = s->tmem_columns ? s->tmem_columns : -1;
  session->result->max_registers_requested = s->registers;
  for (int i = 0; i < s->warpgroup_registers.count; i++)
    KC_PUSH(session->arena, session->result->warpgroup_registers, s->warpgroup_registers.items[i]);
}

ProtocolSession *session_protocol(MachineSession *session) {
  if (!session->protocol) session->protocol = KC_NEW(session->arena, ProtocolSession);
  return session->protocol;
}
