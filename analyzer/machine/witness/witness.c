#include "machine/witness/witness.h"

#include <glib.h>
#include <string.h>

#include "machine/hardware/mbarrier.h"
#include "machine/witness/timeline.h"

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

const char *witness_label(Machine *machine, const Access *access) {
  KcArena *arena = machine->session->arena;
  if (access->actor == ACTOR_THREAD)
    return kc_printf(arena, "the %s by %s", witness_actor(access),
                     witness_warp(machine, access->warp));
  return kc_printf(arena, "the %s", witness_actor(access));
}

const char *witness_access(Machine *machine, const Access *access) {
  return kc_printf(machine->session->arena, "%s at %s", witness_label(machine, access),
                   machine_line(machine, access->insn));
}

/* ---- barriers ---- */

typedef struct PhaseText {
  int64_t phase;
  int64_t arrivals, announced, delivered;
  uint64_t arrivers, passers, blocked; /* warps, a bit each */
  const IrInsn *arrived_at;            /* NULL: nowhere, or in several places */
  const IrInsn *blocked_at;
  bool many_places, commits, complete, copies_unknown;
} PhaseText;

static uint64_t bit_of(const Machine *machine, int warp) {
  return warp < 0 ? 0 : UINT64_C(1) << (machine->warps[warp]->id & 63);
}

static void note_arrival(PhaseText *out, const MbarLog *l) {
  out->arrivals += l->value;
  out->many_places |= out->arrived_at && out->arrived_at != l->insn;
  out->arrived_at = l->insn;
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
      note_arrival(out, l);
      out->arrivers |= bit_of(machine, l->warp);
      break;
    case MBAR_LOG_COMMIT:
      note_arrival(out, l);
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
    case MBAR_LOG_BLOCK:
      out->blocked |= bit_of(machine, l->warp);
      out->blocked_at = l->insn;
      break;
    case MBAR_LOG_INIT:
    case MBAR_LOG_PASS: break;
    }
  }
  if (out->many_places) out->arrived_at = NULL;
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

const char *witness_warps(Machine *machine, uint64_t warps) {
  if (!warps) return "no warp";
  GString *text = g_string_new(NULL);
  add_warps(text, warps);
  const char *out = kc_strdup(machine->session->arena, text->str);
  g_string_free(text, TRUE);
  return out;
}

const char *witness_ordinal(int64_t n) {
  if (n % 100 / 10 == 1) return "th";
  return n % 10 == 1 ? "st" : n % 10 == 2 ? "nd" : n % 10 == 3 ? "rd" : "th";
}

static void add_arrivals(Machine *machine, GString *text, const Mbar *bar, const PhaseText *p) {
  g_string_append_printf(text, "%lld of %lld arrivals", (long long)p->arrivals,
                         (long long)bar->init_count);
  if (!p->arrivers && !p->commits) return;
  g_string_append(text, " (");
  if (p->arrivers) add_warps(text, p->arrivers);
  if (p->commits) g_string_append(text, p->arrivers ? ", tcgen05.commit" : "tcgen05.commit");
  if (p->arrived_at) g_string_append_printf(text, ", %s", machine_line(machine, p->arrived_at));
  g_string_append_c(text, ')');
}

static void add_bytes(GString *text, const PhaseText *p) {
  if (p->copies_unknown && p->announced)
    g_string_append_printf(text, ", %lld bytes announced, copies of unknown size",
                           (long long)p->announced);
  else if (p->copies_unknown)
    g_string_append(text, ", copies of unknown size");
  else if (p->announced && p->announced == p->delivered)
    g_string_append_printf(text, ", %lld bytes announced and delivered", (long long)p->announced);
  else if (p->announced || p->delivered)
    g_string_append_printf(text, ", %lld bytes announced, %lld delivered", (long long)p->announced,
                           (long long)p->delivered);
}

/* "full[0]  phase 1: never completes: 1 of 2 arrivals (warp 0, line 35); pending 1, tx-count 0;
 * warps 4-7 wait for it (line 41)" */
static void add_phase(Machine *machine, IrViolation *v, const Mbar *bar, const PhaseText *p) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s  phase %lld %s: ", mbarrier_name(machine, bar, bar->rank),
                         (long long)p->phase, p->complete ? "complete" : "never completes");
  add_arrivals(machine, text, bar, p);
  add_bytes(text, p);
  if (!p->complete && p->phase == bar->phase && !p->copies_unknown)
    g_string_append_printf(text, "; pending %lld, tx-count %lld", (long long)bar->pending,
                           (long long)bar->tx);
  if (p->passers) {
    g_string_append(text, "; seen by ");
    add_warps(text, p->passers);
  }
  /* Of a run that is stuck, witness_stuck tells who waits. */
  if (p->blocked && !p->complete && !machine->stuck) {
    g_string_append(text, "; ");
    add_warps(text, p->blocked);
    bool one = (p->blocked & (p->blocked - 1)) == 0;
    g_string_append_printf(text, " wait%s for it (%s)", one ? "s" : "",
                           machine_line(machine, p->blocked_at));
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

static const char *verb_of(const Access *access) {
  if (access->atomic) return "updates";
  return access->write ? "writes" : "reads";
}

/* "the wgmma at line 47 reads", "warp 3 writes at line 8" */
static const char *deed(Machine *machine, const Access *access) {
  const char *line = machine_line(machine, access->insn), *verb = verb_of(access);
  if (access->actor == ACTOR_THREAD)
    return kc_printf(machine->session->arena, "%s %s at %s", witness_warp(machine, access->warp),
                     verb, line);
  return kc_printf(machine->session->arena, "%s at %s %s", witness_label(machine, access), line,
                   verb);
}

void witness_race(Machine *machine, IrViolation *v, const Access *before, const Access *now,
                  const char *missing) {
  if (!v) return;
  timeline_race(machine, v, before, now);
  ir_violation_witness(machine->violations, v, "first   step %-6llu %s",
                       (unsigned long long)before->step, deed(machine, before));
  ir_violation_witness(machine->violations, v, "then    step %-6llu %s",
                       (unsigned long long)now->step, deed(machine, now));
  ir_violation_witness(machine->violations, v, "missing between them: %s", missing);
}

void witness_order(Machine *machine, IrViolation *v, const char *first, const char *then,
                   const char *missing) {
  if (!v) return;
  ir_violation_witness(machine->violations, v, "first   %s", first);
  ir_violation_witness(machine->violations, v, "then    %s", then);
  ir_violation_witness(machine->violations, v, "missing between them: %s", missing);
}

/* ---- a run that is stuck ---- */

/* The first strand of each warp that waits: what `a` and `b` say is the same for both. */
static bool same_wait(Machine *machine, const Strand *a, const Strand *b) {
  if (a->pc != b->pc || a->warp->cta != b->warp->cta || a->describe != b->describe) return false;
  if (!a->describe) return true;
  return strcmp(a->describe(machine, a), b->describe(machine, b)) == 0;
}

static void add_stuck(Machine *machine, IrViolation *v, const Strand *strand, uint64_t warps) {
  GString *text = g_string_new("stuck  ");
  add_warps(text, warps);
  if (machine->cluster_size > 1)
    g_string_append_printf(text, " of CTA %d", strand->warp->cta->rank);
  const IrInsn *insn = &machine->kernel->insns.items[strand->pc];
  g_string_append_printf(text, " at %s", machine_line(machine, insn));
  const char *what = strand->describe ? strand->describe(machine, strand) : strand->blocked;
  if (what) g_string_append_printf(text, ": %s", what);
  ir_violation_witness(machine->violations, v, "%s", text->str);
  g_string_free(text, TRUE);
}

void witness_stuck(Machine *machine, IrViolation *v, int lines) {
  GHashTable *told = g_hash_table_new(NULL, NULL);
  for (int w = 0; v && w < machine->nwarps && lines > 0; w++) {
    const Warp *warp = machine->warps[w];
    const Strand *strand = warp->nstrands ? warp->strands[0] : NULL;
    if (!strand || strand->pc < 0 || strand->pc >= machine->kernel->insns.count ||
        g_hash_table_contains(told, warp))
      continue;
    uint64_t warps = bit_of(machine, w);
    for (int o = w + 1; o < machine->nwarps; o++) {
      const Warp *other = machine->warps[o];
      if (!other->nstrands || !same_wait(machine, strand, other->strands[0])) continue;
      warps |= bit_of(machine, o);
      g_hash_table_add(told, (gpointer)other);
    }
    add_stuck(machine, v, strand, warps);
    lines--;
  }
  g_hash_table_destroy(told);
}
