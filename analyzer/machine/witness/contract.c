#include "machine/witness/contract.h"

#include <glib.h>
#include <string.h>

#include "machine/hardware/mbarrier.h"
#include "machine/session.h"
#include "machine/witness/witness.h"

enum { MOST_TOUCHES = 12 };

static bool wanted(const Machine *machine) {
  return machine->session->options->contracts;
}

static BarrierContract *add_contract(Machine *machine, uint64_t start, uint64_t stride,
                                     MachineBarrierKind kind, const char *name) {
  ProtocolSession *s = session_protocol(machine->session);
  BarrierContract fresh = {.start = start, .stride = stride};
  fresh.use.kind = kind;
  fresh.use.name = name;
  fresh.use.expect_bytes = -2; /* nothing seen yet */
  fresh.use.arrivals = fresh.use.first_parity = -1;
  KC_PUSH(machine->session->arena, s->contracts, fresh);
  return &s->contracts.items[s->contracts.count - 1];
}

static BarrierContract *find_contract(Machine *machine, uint64_t start, MachineBarrierKind kind) {
  ProtocolSession *s = session_protocol(machine->session);
  for (int i = 0; i < s->contracts.count; i++)
    if (s->contracts.items[i].start == start && s->contracts.items[i].use.kind == kind)
      return &s->contracts.items[i];
  return NULL;
}

static BarrierContract *contract_of(Machine *machine, const Mbar *bar) {
  uint64_t start = bar->offset;
  const IrField *field = machine_shared_field(machine, bar->offset, &start);
  BarrierContract *known = find_contract(machine, start, MACHINE_MBARRIER);
  if (known) return known;
  const char *name = field && field->name ? field->name
                                          : kc_strdup(machine->session->arena,
                                                      mbarrier_name(machine, bar, bar->rank));
  return add_contract(machine, start, field ? field->elem_bytes : 8, MACHINE_MBARRIER, name);
}

#define ADD_SITE(arena, list, site)                                                                \
  do {                                                                                             \
    bool seen_ = false;                                                                            \
    for (int i_ = 0; i_ < (list).count; i_++)                                                      \
      seen_ = seen_ || (list).items[i_] == (site);                                                 \
    if (!seen_) KC_PUSH(arena, list, site);                                                        \
  } while (0)

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

/* ---- what a phase protects ---- */

static const char *object_at(Machine *machine, uint32_t offset) {
  uint64_t start;
  const IrField *field = machine_shared_field(machine, offset, &start);
  const char *bracket = field && field->name ? strchr(field->name, '[') : NULL;
  if (!bracket) return field ? field->name : NULL;
  size_t length = (size_t)(bracket - field->name); /* a part of an element: "response[0].x" */
  const ProtocolSession *s = session_protocol(machine->session);
  for (int i = 0; i < s->arrays.count; i++)
    if (strncmp(s->arrays.items[i], field->name, length) == 0 && !s->arrays.items[i][length])
      return s->arrays.items[i];
  const char *name = kc_strndup(machine->session->arena, field->name, length);
  KC_PUSH(machine->session->arena, session_protocol(machine->session)->arrays, name);
  return name;
}

static void add_touch(Machine *machine, const Mbar *bar, const char *object, const char *deed,
                      bool fills) {
  BarrierContract *c = contract_of(machine, bar);
  for (int i = 0; i < c->touches.count; i++) {
    const ContractTouch *t = &c->touches.items[i];
    if (t->object == object && t->fills == fills && strcmp(t->deed, deed) == 0) return;
  }
  if (c->touches.count < MOST_TOUCHES)
    KC_PUSH(machine->session->arena, c->touches, ((ContractTouch){object, deed, fills}));
}

void contract_copy(Machine *machine, const Strand *strand, const Access *access, const Mbar *bar,
                   uint32_t offset) {
  if (!wanted(machine)) return;
  const char *object = object_at(machine, offset);
  const Mbar *before = warp_state(strand->warp)->last_wait_mbar;
  if (!object) return;
  ProtocolSession *s = session_protocol(machine->session);
  bool known = false;
  for (int i = 0; i < s->targets.count; i++)
    known |= s->targets.items[i].insn == access->insn && s->targets.items[i].object == object;
  if (!known)
    KC_PUSH(machine->session->arena, s->targets, ((ContractTarget){access->insn, object}));
  if (bar) add_touch(machine, bar, object, witness_actor(access), true);
  if (before && before != bar) add_touch(machine, before, object, "refill", false);
}

void contract_touch(Machine *machine, const Strand *strand, const Access *access, uint32_t offset) {
  const Mbar *before = wanted(machine) ? warp_state(strand->warp)->last_wait_mbar : NULL;
  const char *object = before ? object_at(machine, offset) : NULL;
  if (!object) return;
  const char *deed =
      access->actor == ACTOR_THREAD ? (access->write ? "stores" : "loads") : witness_actor(access);
  /* What a copy bound to it fills is what its waiters come for. */
  const BarrierContract *c = contract_of(machine, before);
  bool filled = false, any = false;
  for (int i = 0; i < c->touches.count; i++) {
    any |= c->touches.items[i].fills;
    filled |= c->touches.items[i].fills && c->touches.items[i].object == object;
  }
  if (filled || !any) add_touch(machine, before, object, deed, false);
}

void contract_tensor_memory(Machine *machine, const Strand *strand, const Access *access) {
  const Mbar *before = wanted(machine) ? warp_state(strand->warp)->last_wait_mbar : NULL;
  if (before) add_touch(machine, before, "tensor memory", witness_actor(access), false);
}

/* "s.a, s.b: tensor load -> wgmma", "s.a: -> refill" */
static void tell_touches(Machine *machine, BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  for (int i = 0; i < c->touches.count; i++) {
    const char *object = c->touches.items[i].object;
    bool told = false;
    for (int j = 0; j < i; j++)
      told |= c->touches.items[j].object == object;
    if (told) continue;
    g_autoptr(GString) text = g_string_new(object);
    const char *before = "";
    for (int fills = 1; fills >= 0; fills--)
      for (int j = i; j < c->touches.count; j++) {
        const ContractTouch *t = &c->touches.items[j];
        if (t->object != object || t->fills != (fills == 1)) continue;
        g_string_append_printf(text, "%s%s", *before ? (fills ? ", " : before) : " (", t->deed);
        before = fills ? " -> " : ", ";
      }
    g_string_append_c(text, ')');
    KC_PUSH(arena, c->use.protects, kc_strdup(arena, text->str));
  }
}

/* ---- who arrives and waits ---- */

/* "warps 4-11" from the warps that did something, a bit each. */
static const char *warps_text(KcArena *arena, uint64_t warps) {
  int first = __builtin_ctzll(warps), last = 63 - __builtin_clzll(warps);
  int count = __builtin_popcountll(warps);
  if (first == last) return kc_printf(arena, "warp %d", first);
  if (count == last - first + 1) return kc_printf(arena, "warps %d-%d", first, last);
  if (count == 2) return kc_printf(arena, "warps %d and %d", first, last);
  return kc_printf(arena, "%d warps from %d to %d", count, first, last);
}

static const char *threads_of(KcArena *arena, int lanes, uint64_t warps) {
  const char *of = warps_text(arena, warps);
  bool many = (warps & (warps - 1)) != 0;
  if (lanes == 1) return kc_printf(arena, "one thread of %s%s", many ? "each of " : "", of);
  if (lanes == 32) return kc_printf(arena, "all threads of %s", of);
  return kc_printf(arena, "%d threads of %s%s", lanes, many ? "each of " : "", of);
}

static const char *deed_of(KcArena *arena, const IrInsn *insn) {
  const char *name = ir_event_mnemonic((IrEvent)insn->event);
  bool announces = insn->event == IR_EV_mbarrier_arrive && insn->flags & IR_FLAG(expect_tx);
  return announces ? kc_printf(arena, "%s.expect_tx", name) : name;
}

/* The slots of one array, all CTAs. */
typedef struct Slots {
  const Mbar *bars[64];
  int count;
} Slots;

static Slots slots_of(Machine *machine, const BarrierContract *c) {
  Slots slots = {.count = 0};
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count && slots.count < 64; i++)
    if (contract_of(machine, p->mbars.items[i]) == c) slots.bars[slots.count++] = p->mbars.items[i];
  return slots;
}

static bool is_first_of(const Slots *slots, int slot, int i) {
  const IrInsn *insn = slots->bars[slot]->arrivers.items[i].insn;
  for (int s = 0; s <= slot; s++)
    for (int j = 0; j < (s == slot ? i : slots->bars[s]->arrivers.count); j++)
      if (slots->bars[s]->arrivers.items[j].insn == insn) return false;
  return true;
}

/* One instruction that arrives, on whatever slot. */
static void describe_arrival(Machine *machine, const Slots *slots, const IrInsn *insn,
                             BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  uint64_t warps = 0;
  int lanes = 0;
  bool remote = false;
  for (int s = 0; s < slots->count; s++)
    for (int j = 0; j < slots->bars[s]->arrivers.count; j++) {
      const MbarArrival *a = &slots->bars[s]->arrivers.items[j];
      if (a->insn != insn || a->warp == UINT32_MAX) continue;
      warps |= UINT64_C(1) << (machine->warps[a->warp]->id & 63);
      remote |= machine->warps[a->warp]->cta->rank != slots->bars[s]->rank;
      if (lane_count(a->lanes) > lanes) lanes = lane_count(a->lanes);
    }
  const char *deed = deed_of(arena, insn), *line = machine_line(machine, insn);
  const char *text = warps ? kc_printf(arena, "%s%s, %s at %s", threads_of(arena, lanes, warps),
                                       remote ? " (other CTAs too)" : "", deed, line)
                           : kc_printf(arena, "%s at %s", deed, line);
  KC_PUSH(arena, c->use.arrive_text, text);
}

static void describe_arrivers(Machine *machine, const Slots *slots, BarrierContract *c) {
  for (int s = 0; s < slots->count; s++)
    for (int i = 0; i < slots->bars[s]->arrivers.count; i++)
      if (is_first_of(slots, s, i))
        describe_arrival(machine, slots, slots->bars[s]->arrivers.items[i].insn, c);
}

/* Waits of one place that begin with one parity, on whatever slot. */
static void describe_wait(Machine *machine, const Slots *slots, const MbarView *like,
                          BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  uint64_t warps = 0;
  bool remote = false, flips = false, again = false;
  for (int s = 0; s < slots->count; s++)
    for (int w = 0; w < machine->nwarps; w++) {
      const MbarView *view = slots->bars[s]->views[w];
      if (!view || view->insn != like->insn || view->first_passed != like->first_passed) continue;
      warps |= UINT64_C(1) << (machine->warps[w]->id & 63);
      remote |= machine->warps[w]->cta->rank != slots->bars[s]->rank;
      flips |= view->flips > 0;
      again |= view->waits > 1;
    }
  const char *idiom =
      like->first_passed ? "parity 1 first (the first trip passes at once)" : "parity 0 first";
  const char *then = flips ? ", flips from phase to phase" : again ? ", never flips" : "";
  KC_PUSH(arena, c->use.wait_text,
          kc_printf(arena, "%s%s at %s, %s%s", warps_text(arena, warps),
                    remote ? " (other CTAs too)" : "", machine_line(machine, like->insn), idiom,
                    then));
}

static void describe_waiters(Machine *machine, const Slots *slots, BarrierContract *c) {
  struct {
    const IrInsn *insn;
    bool first_passed;
  } told[16];
  int count = 0;
  for (int s = 0; s < slots->count; s++)
    for (int w = 0; w < machine->nwarps && count < 16; w++) {
      const MbarView *view = slots->bars[s]->views[w];
      bool known = !view || !view->insn;
      for (int i = 0; i < count; i++)
        known = known || (told[i].insn == view->insn && told[i].first_passed == view->first_passed);
      if (known) continue;
      told[count].insn = view->insn;
      told[count++].first_passed = view->first_passed;
      describe_wait(machine, slots, view, c);
      bool same = c->use.first_parity == -1 || c->use.first_parity == view->first_parity;
      c->use.first_parity = same ? view->first_parity : -2;
    }
}

/* ---- one whole phase ---- */

static const char *target_of(const ProtocolSession *s, const IrInsn *insn) {
  const char *object = NULL;
  for (int i = 0; i < s->targets.count; i++) {
    if (s->targets.items[i].insn != insn) continue;
    if (object && object != s->targets.items[i].object) return "several arrays";
    object = s->targets.items[i].object;
  }
  return object;
}

static void add_part(Machine *machine, BarrierContract *c, const MbarLog *l) {
  const char *object = target_of(session_protocol(machine->session), l->insn);
  if (!object) object = machine_line(machine, l->insn);
  for (int i = 0; i < c->use.parts.count; i++) {
    MachineBarrierPart *part = &c->use.parts.items[i];
    if (strcmp(part->object, object) != 0) continue;
    part->copies++;
    part->bytes = part->bytes < 0 || l->value < 0 ? -1 : part->bytes + l->value;
    return;
  }
  MachineBarrierPart part = {object, l->value, 1};
  KC_PUSH(machine->session->arena, c->use.parts, part);
}

/* The last phase that completed while all of it was being logged; -1: none. */
static int64_t whole_phase(const Mbar *bar) {
  uint32_t n = bar->nlog < MBAR_LOG ? bar->nlog : MBAR_LOG;
  const MbarLog *oldest = n ? &bar->log[(bar->nlog - n) % MBAR_LOG] : NULL;
  int64_t phase = bar->phase - 1;
  bool all = bar->nlog <= MBAR_LOG || (oldest && oldest->phase < phase);
  return phase >= 0 && all ? phase : -1;
}

static void describe_phase(Machine *machine, const Mbar *bar, BarrierContract *c) {
  int64_t phase = whole_phase(bar), announced = 0;
  if (phase < 0) return;
  c->use.arrivals = 0;
  uint32_t n = bar->nlog < MBAR_LOG ? bar->nlog : MBAR_LOG;
  for (uint32_t i = bar->nlog - n; i < bar->nlog; i++) {
    const MbarLog *l = &bar->log[i % MBAR_LOG];
    if (l->phase != phase) continue;
    if (l->kind == MBAR_LOG_ARRIVE || l->kind == MBAR_LOG_COMMIT) c->use.arrivals += l->value;
    if (l->kind == MBAR_LOG_EXPECT) announced += l->value;
    if (l->kind == MBAR_LOG_COMPLETE) add_part(machine, c, l);
  }
  if (announced) c->use.expect_bytes = announced;
}

/* ---- barriers of the block and of the cluster ---- */

void contract_barrier(Machine *machine, const Strand *strand, const IrInsn *insn,
                      MachineBarrierKind kind, int64_t id, int64_t count, bool waits) {
  if (!wanted(machine)) return;
  KcArena *arena = machine->session->arena;
  BarrierContract *c = find_contract(machine, (uint64_t)id, kind);
  if (!c) {
    const char *name = kind == MACHINE_CLUSTER_BARRIER ? "the cluster"
                       : kind == MACHINE_BLOCK_BARRIER
                           ? "the block"
                           : kc_printf(arena, "barrier %lld", (long long)id);
    c = add_contract(machine, (uint64_t)id, 0, kind, name);
    c->use.init_count = count;
  }
  if (c->use.init_count != count) c->use.init_count = -1;
  ContractDeed *deed = NULL;
  for (int i = 0; i < c->deeds.count && !deed; i++)
    if (c->deeds.items[i].insn == insn) deed = &c->deeds.items[i];
  if (!deed) {
    KC_PUSH(arena, c->deeds, ((ContractDeed){.insn = insn, .waits = waits}));
    deed = &c->deeds.items[c->deeds.count - 1];
    if (waits)
      ADD_SITE(arena, c->use.waits, insn->where);
    else
      ADD_SITE(arena, c->use.arrives, insn->where);
  }
  deed->warps |= UINT64_C(1) << (strand->warp->id & 63);
  if (lane_count(strand->active) > deed->lanes) deed->lanes = lane_count(strand->active);
}

static bool said(const char *const *texts, int count, const char *text) {
  for (int i = 0; i < count; i++)
    if (strcmp(texts[i], text) == 0) return true;
  return false;
}

static void describe_barrier(Machine *machine, BarrierContract *c) {
  KcArena *arena = machine->session->arena;
  for (int i = 0; i < c->deeds.count; i++) {
    const ContractDeed *d = &c->deeds.items[i];
    const char *who =
        d->lanes == 32 ? warps_text(arena, d->warps) : threads_of(arena, d->lanes, d->warps);
    const char *text = kc_printf(arena, "%s at %s", who, machine_line(machine, d->insn));
    /* One place that calls a helper twice is said once. */
    MachineBarrierUse *use = &c->use;
    if (d->waits && !said(use->wait_text.items, use->wait_text.count, text))
      KC_PUSH(arena, use->wait_text, text);
    if (!d->waits && !said(use->arrive_text.items, use->arrive_text.count, text))
      KC_PUSH(arena, use->arrive_text, text);
  }
}

/* ---- all together ---- */

static void describe(Machine *machine, BarrierContract *c, const Mbar *bar) {
  c->use.arrive_text.count = c->use.wait_text.count = c->use.protects.count = 0;
  c->use.parts.count = 0;
  c->use.first_parity = -1;
  Slots slots = slots_of(machine, c);
  describe_arrivers(machine, &slots, c);
  describe_waiters(machine, &slots, c);
  describe_phase(machine, bar, c);
  tell_touches(machine, c);
  c->use.phases = bar->phase;
}

/* Of the slots of an array, the one with most phases tells; of the runs, the first that completed
 * phases. */
void contract_collect(Machine *machine) {
  Protocol *p = protocol_of(machine);
  ProtocolSession *s = session_protocol(machine->session);
  if (!wanted(machine)) return;
  bool any = false;
  for (int i = 0; i < p->mbars.count; i++) {
    const Mbar *bar = p->mbars.items[i];
    BarrierContract *c = contract_of(machine, bar);
    bool more = bar->phase > c->use.phases || !c->use.arrive_text.count;
    if (!c->described && more) describe(machine, c, bar);
    any |= bar->phase > 0;
  }
  for (int i = 0; i < s->contracts.count; i++) {
    BarrierContract *c = &s->contracts.items[i];
    if (c->use.kind != MACHINE_MBARRIER && !c->described && !machine->stopped) {
      c->use.arrive_text.count = c->use.wait_text.count = 0;
      describe_barrier(machine, c);
    }
    c->described |= any || (c->use.kind != MACHINE_MBARRIER && p->mbars.count == 0);
  }
}

void contract_report(MachineSession *session) {
  ProtocolSession *s = session_protocol(session);
  for (int i = 0; i < s->contracts.count; i++) {
    BarrierContract *c = &s->contracts.items[i];
    c->use.slots = c->use.kind == MACHINE_MBARRIER ? __builtin_popcountll(c->slots_seen) : 1;
    if (c->use.expect_bytes == -2) c->use.expect_bytes = -1;
    if (c->use.first_parity == -2) c->use.first_parity = -1;
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
