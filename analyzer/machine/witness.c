#include "machine/witness.h"

#include <glib.h>

#include "machine/mbarrier.h"

const char *witness_actor(const Access *access) {
  switch ((AccessActor)access->actor) {
  case ACTOR_THREAD: return access->write ? "write" : "read";
  case ACTOR_CP_ASYNC: return "cp.async";
  case ACTOR_TMA_LOAD:
    return access->insn->event == IR_EV_bulk_tensor_load ? "tensor load" : "bulk copy";
  case ACTOR_BULK_STORE:
    return access->insn->event == IR_EV_bulk_tensor_store ? "tensor store" : "bulk store";
  case ACTOR_ST_ASYNC: return "st.async";
  case ACTOR_WGMMA: return "wgmma";
  case ACTOR_TCGEN05_MMA: return "tcgen05.mma";
  case ACTOR_TCGEN05_CP: return "tcgen05.cp";
  case ACTOR_TCGEN05_LD: return "tcgen05.ld";
  case ACTOR_TCGEN05_ST: return "tcgen05.st";
  case ACTOR_CLC: return "try_cancel";
  }
  return "access";
}

const char *witness_warp(Machine *machine, uint32_t warp) {
  const Warp *w = machine->warps[warp];
  if (machine->cluster_size == 1) return kc_printf(machine->session->arena, "warp %d", w->id);
  return kc_printf(machine->session->arena, "warp %d of CTA %d", w->id, w->cta->rank);
}

const char *witness_access(Machine *machine, const Access *access) {
  KcArena *arena = machine->session->arena;
  const char *line = machine_line(machine, access->insn);
  if (access->actor == ACTOR_THREAD)
    return kc_printf(arena, "the %s by %s at %s", witness_actor(access),
                     witness_warp(machine, access->warp), line);
  return kc_printf(arena, "the %s at %s", witness_actor(access), line);
}

/* ---- barriers ---- */

typedef struct PhaseText {
  int64_t phase;
  int64_t arrivals, announced, delivered;
  uint64_t arrivers, passers, blocked; /* warps, a bit each */
  bool commits, complete, copies_unknown;
} PhaseText;

static uint64_t bit_of(const Machine *machine, int warp) {
  return warp < 0 ? 0 : UINT64_C(1) << (machine->warps[warp]->id & 63);
}

static void gather(const Machine *machine, const Mbar *bar, int64_t phase, PhaseText *out) {
  *out = (PhaseText){.phase = phase};
  uint32_t n = bar->nlog < MBAR_LOG ? bar->nlog : MBAR_LOG;
  for (uint32_t i = bar->nlog - n; i < bar->nlog; i++) {
    const MbarLog *l = &bar->log[i % MBAR_LOG];
    if (l->kind == MBAR_LOG_PASS && l->phase - 1 == phase) out->passers |= bit_of(machine, l->warp);
    if (l->phase != phase) continue;
    switch ((MbarLogKind)l->kind) {
    case MBAR_LOG_ARRIVE:
      out->arrivals += l->value;
      out->arrivers |= bit_of(machine, l->warp);
      break;
    case MBAR_LOG_COMMIT:
      out->arrivals += l->value;
      out->commits = true;
      break;
    case MBAR_LOG_EXPECT: out->announced += l->value; break;
    case MBAR_LOG_COMPLETE:
      if (l->value >= 0)
        out->delivered += l->value;
      else
        out->copies_unknown = true;
      break;
    case MBAR_LOG_PHASE: out->complete = true; break;
    case MBAR_LOG_BLOCK: out->blocked |= bit_of(machine, l->warp); break;
    case MBAR_LOG_INIT:
    case MBAR_LOG_PASS: break;
    }
  }
}

static void add_warps(GString *text, uint64_t warps) {
  int first = __builtin_ctzll(warps), last = 63 - __builtin_clzll(warps);
  if (first == last)
    g_string_append_printf(text, "warp %d", first);
  else if (__builtin_popcountll(warps) == last - first + 1)
    g_string_append_printf(text, "warps %d-%d", first, last);
  else
    g_string_append_printf(text, "%d warps from %d to %d", __builtin_popcountll(warps), first,
                           last);
}

static void add_phase(Machine *machine, IrViolation *v, const Mbar *bar, const PhaseText *p) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s  phase %lld: %lld of %lld arrivals",
                         mbarrier_name(machine, bar, bar->rank), (long long)p->phase,
                         (long long)p->arrivals, (long long)bar->init_count);
  if (p->arrivers) {
    g_string_append(text, " (");
    add_warps(text, p->arrivers);
    g_string_append(text, ")");
  } else if (p->commits) {
    g_string_append(text, " (tcgen05.commit)");
  }
  if (p->announced || p->delivered)
    g_string_append_printf(text, ", %lld bytes announced, %lld delivered", (long long)p->announced,
                           (long long)p->delivered);
  else if (p->copies_unknown)
    g_string_append(text, ", copies of unknown size delivered");
  g_string_append(text, p->complete ? ", complete" : ", never completes");
  if (p->passers) {
    g_string_append(text, ", seen by ");
    add_warps(text, p->passers);
  }
  if (p->blocked && !p->complete) {
    g_string_append(text, ", waited for by ");
    add_warps(text, p->blocked);
  }
  ir_violation_witness(machine->violations, v, "%s", text->str);
  g_string_free(text, TRUE);
}

void witness_barrier(Machine *machine, IrViolation *v, const Mbar *bar, int lines) {
  if (!v || !bar) return;
  int64_t first = bar->phase - lines + 1;
  if (first < 0) first = 0;
  for (int64_t phase = first; phase <= bar->phase; phase++) {
    PhaseText text;
    gather(machine, bar, phase, &text);
    if (!text.complete && !text.arrivals && !text.announced && !text.delivered && !text.blocked &&
        !text.passers)
      continue;
    add_phase(machine, v, bar, &text);
  }
}

void witness_race(Machine *machine, IrViolation *v, const Access *before, const Access *now,
                  const char *missing) {
  if (!v) return;
  ir_violation_witness(machine->violations, v, "%s, step %llu", witness_access(machine, before),
                       (unsigned long long)before->step);
  ir_violation_witness(machine->violations, v, "%s, step %llu: %s", witness_access(machine, now),
                       (unsigned long long)now->step, missing);
}
