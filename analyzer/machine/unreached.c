/* What no run came to: nothing is known of it, and a kernel whose work lies there was not checked.
 */
#include "machine/execute/core.h"

/* The line of the user's that `insn` belongs to, when a library's function holds it; NULL: it is
 * the user's own. */
static gpointer library_call(const SourceMap *map, const IrInsn *insn) {
  uint32_t user = source_user_frame(map, insn->where);
  if (user == insn->where) return NULL;
  const SourceRange *range = &map->stacks.items[user].range;
  return GSIZE_TO_POINTER(((gsize)range->file << 48) ^ ((gsize)range->line << 16) ^ range->column);
}

/* The calls of library functions of which some synchronisation ran: the function chose its way. */
static GHashTable *calls_that_ran(const MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  GHashTable *calls = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (core->executed[i] && ir_is_protocol(insn))
      g_hash_table_add(calls, library_call(&session->program->sources, insn));
  }
  g_hash_table_remove(calls, NULL);
  return calls;
}

/* ---- loops ---- */

/* One kind of event somewhere within one call. */
static gpointer kind_in_call(const IrInsn *insn, uint32_t call) {
  return GSIZE_TO_POINTER(((gsize)insn->event + 1) << 32 | call);
}

/* Kinds of events that ran, in each of the calls that hold them: where a function does the same in
 * two ways, its arguments have chosen one. */
static GHashTable *ways_that_ran(const MachineSession *session) {
  const SourceMap *map = &session->program->sources;
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  GHashTable *ways = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (!core->executed[i] || insn->op != IR_event) continue;
    for (uint32_t call = map->stacks.items[insn->where].outer; call;
         call = map->stacks.items[call].outer)
      g_hash_table_add(ways, kind_in_call(insn, call));
  }
  return ways;
}

static bool done_another_way(const MachineSession *session, GHashTable *ways, const IrInsn *insn) {
  const SourceMap *map = &session->program->sources;
  for (uint32_t call = map->stacks.items[insn->where].outer; call;
       call = map->stacks.items[call].outer)
    if (g_hash_table_contains(ways, kind_in_call(insn, call))) return true;
  return false;
}

/* What a loop does work with: a loop that holds nothing but waits drains what others began, and
 * data moved within a warp hangs and races with nothing outside of it. */
static bool is_work(const IrInsn *insn) {
  if (!ir_is_protocol(insn)) return false;
  if (insn->op != IR_event) return true;
  switch ((int)insn->event) {
  case IR_EV_mbarrier_try_wait:
  case IR_EV_mbarrier_test_wait:
  case IR_EV_mbarrier_wait:
  case IR_EV_cp_async_wait:
  case IR_EV_bulk_wait:
  case IR_EV_wgmma_wait:
  case IR_EV_fence:
  case IR_EV_elect:
  case IR_EV_shfl:
  case IR_EV_vote:
  case IR_EV_match:
  case IR_EV_redux:
  case IR_EV_warp_sync: return false;
  default: return true;
  }
}

typedef struct Loop {
  const IrInsn *work; /* the first instruction that does work */
  int count;          /* instructions that do work */
} Loop;

/* What the runs have taken of the ways that there are. */
typedef struct Ways {
  GHashTable *calls, *ways;
  const bool *settled; /* by instruction: the block of the launch keeps every input from it */
} Ways;

/* The loop of `from` to `to`, whose last jumps back to its first. False when some of what it holds
 * ran, or none of it is work. */
static bool never_entered(const MachineSession *session, const Ways *taken, int from, int to,
                          Loop *loop) {
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  *loop = (Loop){0};
  for (int i = from; i <= to; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (!ir_is_protocol(insn)) continue;
    if (core->executed[i]) return false;
    if ((taken->settled && taken->settled[i]) || !is_work(insn) ||
        done_another_way(session, taken->ways, insn) ||
        g_hash_table_contains(taken->calls, library_call(&session->program->sources, insn)))
      continue;
    if (loop->count++ == 0) loop->work = insn;
  }
  return loop->count > 0;
}

/* The outermost loop that does work and that no run entered: the first of those in the kernel. */
static bool find_idle_loop(const MachineSession *session, const Ways *taken, Loop *found) {
  const IrKernel *kernel = session->kernel;
  bool any = false;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    Loop loop;
    if (insn->op != IR_branch || insn->target > i ||
        !never_entered(session, taken, insn->target, i, &loop))
      continue;
    if (any && loop.count <= found->count) continue;
    *found = loop;
    any = true;
  }
  return any;
}

/* Synchronisation that no input and no schedule led to: nothing is known of it. Said of kernels
 * that ran as a whole only; what was cut says so by itself. A kernel of which most was not reached
 * has not been checked. */
void core_name_unreached(MachineSession *session, const MachineSamples *samples) {
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  if (!session->result->ran || !session->result->complete) return;
  if (core->hung) return; /* what hangs reaches nothing more */
  Machine naming = {.session = session, .program = session->program};
  int count = 0, total = 0;
  const IrInsn *first = NULL;
  const Ways taken = {calls_that_ran(session), ways_that_ran(session),
                      core_settled(session, samples)};
  Loop loop = {0};
  bool idle = find_idle_loop(session, &taken, &loop);
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (!ir_is_protocol(insn)) continue;
    gpointer call = library_call(&session->program->sources, insn);
    bool chosen = g_hash_table_contains(taken.calls, call) || (taken.settled && taken.settled[i]);
    if (!core->executed[i] && chosen) continue;
    total++;
    if (core->executed[i]) continue;
    if (!first) first = insn;
    count++;
  }
  g_hash_table_destroy(taken.calls);
  g_hash_table_destroy(taken.ways);
  if (!first) return;
  /* Beside a finding most of a kernel may lie behind it, but not the work of a loop. */
  bool mostly = 2 * count > total && core->findings.count == 0;
  if (mostly || idle) session->result->complete = false;
  if (idle)
    core_not_checked(session, "no input that was tried enters the loop of %s (%s)%s",
                     ir_event_mnemonic((IrEvent)loop.work->event), machine_line(&naming, loop.work),
                     loop.count > 1
                         ? kc_printf(session->arena, " and %d instructions more", loop.count - 1)
                         : "");
  core_not_checked(session, "no input that was tried reaches %s (%s)%s",
                   ir_event_mnemonic((IrEvent)first->event), machine_line(&naming, first),
                   count > 1 ? kc_printf(session->arena, " and %d instructions more", count - 1)
                             : "");
}
