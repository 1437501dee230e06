/* Advice on tensor cores that wait: a wgmma group that is waited for before the next is issued, and
 * mma.sync instructions that all add to the same registers. Only where no other warps of the SM can
 * fill the gap, as far as shared memory and threads tell. */
#include "machine/checks.h"

#include "machine/sample.h"
#include "machine/session.h"
#include "machine/slice.h"

#define WAITS 8
#define TRIPS 3
#define WARPS_ENOUGH 8 /* on an SM: four sub-partitions with two each hide the latency (H200) */

typedef struct ZeroWait {
  const IrInsn *insn;
  const Mbar *filled; /* the barrier waited on before */
  uint32_t group;
  int trips;
  bool ring; /* the stages change from trip to trip */
} ZeroWait;

typedef struct Idle {
  ZeroWait waits[WAITS];
  int nwaits;
  const IrInsn *mma; /* first mma.sync in a loop */
  int32_t accumulator;
  int chain;
  bool several; /* accumulators */
} Idle;

static bool is_watched(const Machine *machine, const Warp *warp) {
  return machine->sample->rank == 0 && machine->schedule == MACHINE_EAGER && warp->cta->rank == 0;
}

static Idle *idle_of(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (!session->idle) session->idle = KC_NEW(machine->session->arena, Idle);
  return session->idle;
}

/* CTAs that an SM holds at a time, at most. */
static int64_t residents(const Machine *machine) {
  const Arch *arch = machine->arch;
  int64_t shared = machine->dynamic_shared > 0 ? machine->dynamic_shared : 0;
  for (int i = 0; i < machine->kernel->objects.count; i++) {
    const IrObject *object = &machine->kernel->objects.items[i];
    if (object->space == IR_SPACE_SHARED && !object->dynamic) shared += (int64_t)object->bytes;
  }
  int64_t by_shared = arch->smem_per_sm / (shared + arch->smem_reserved_per_block + 1);
  int64_t by_threads = arch->max_threads_per_sm / (machine->threads ? machine->threads : 1);
  return by_shared < by_threads ? by_shared : by_threads;
}

/* ---- wgmma.wait_group 0 ---- */

void idle_wait(Machine *machine, Strand *strand, const IrInsn *insn, int64_t pending) {
  WarpState *ws = warp_state(strand->warp);
  if (pending != 0 || !is_watched(machine, strand->warp) || strand->warp->id % 4 != 0) return;
  Idle *idle = idle_of(machine);
  ZeroWait *wait = NULL;
  for (int i = 0; i < idle->nwaits && !wait; i++)
    if (idle->waits[i].insn == insn) wait = &idle->waits[i];
  if (!wait) {
    if (idle->nwaits == WAITS) return;
    wait = &idle->waits[idle->nwaits++];
    *wait = (ZeroWait){.insn = insn};
  }
  if (wait->group == ws->wgmma_open) return; /* nothing was committed in between */
  if (wait->filled && ws->last_wait_mbar && wait->filled != ws->last_wait_mbar) wait->ring = true;
  wait->filled = ws->last_wait_mbar;
  wait->group = ws->wgmma_open;
  wait->trips++;
}

typedef struct Registers {
  uint8_t *accumulates;
  bool read;
} Registers;

static void mark(int32_t reg, void *user) {
  ((Registers *)user)->accumulates[reg] = 1;
}

static void see(int32_t reg, void *user) {
  Registers *r = user;
  r->read |= r->accumulates[reg];
}

static bool is_mma(const IrInsn *insn) {
  return insn->op == IR_event && insn->event == IR_EV_wgmma_mma;
}

/* The innermost loop around `at` that issues wgmma: its first and last instruction. */
static bool loop_around(const IrKernel *kernel, int32_t at, int32_t *head, int32_t *latch) {
  bool found = false;
  for (int32_t i = at; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_branch || insn->target > at || (found && insn->target < *head)) continue;
    bool issues = false;
    for (int32_t j = insn->target; j < i && !issues; j++)
      issues = is_mma(&kernel->insns.items[j]);
    if (!issues || found) continue;
    *head = insn->target;
    *latch = i;
    found = true;
  }
  return found;
}

/* Whether the loop uses an accumulator other than by adding to it. */
static bool uses_accumulators(Machine *machine, int32_t head, int32_t latch) {
  const IrKernel *kernel = machine->kernel;
  Registers r = {.accumulates = kc_alloc(machine->arena, (size_t)machine->session->nregs + 1)};
  for (int32_t i = head; i <= latch; i++) {
    const IrOperand *acc =
        is_mma(&kernel->insns.items[i]) ? ir_arg(&kernel->insns.items[i], IR_ROLE_acc) : NULL;
    if (acc) machine_each_reg(acc, mark, &r);
  }
  for (int32_t i = head; i <= latch; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (is_mma(insn)) continue;
    if (insn->op == IR_load && insn->space == IR_SPACE_LOCAL) return true;
    for (int a = 0; a < insn->nargs; a++)
      machine_each_reg(&insn->args[a], see, &r);
  }
  return r.read;
}

static int multiplying_warpgroups(const Machine *machine) {
  const Cta *cta = &machine->ctas[0];
  int n = 0;
  for (int w = 0; w < cta->nwarps; w += 4)
    n += warp_state(&cta->warps[w])->wgmma_last != NULL;
  return n;
}

static void report_waits(Machine *machine, const Idle *idle) {
  if (multiplying_warpgroups(machine) != 1 || residents(machine) > 1) return;
  for (int i = 0; i < idle->nwaits; i++) {
    const ZeroWait *w = &idle->waits[i];
    int32_t head = 0, latch = 0;
    if (w->trips < TRIPS || !w->ring ||
        !loop_around(machine->kernel, (int32_t)(w->insn - machine->kernel->insns.items), &head,
                     &latch) ||
        uses_accumulators(machine, head, latch))
      continue;
    machine_violation(machine, MACHINE_CHECK_ALWAYS, w->insn, "perf-wait-zero-in-loop",
                      "each of %d trips waits for the wgmma that it has just issued, though the "
                      "loop does not use the accumulators",
                      w->trips);
  }
}

/* ---- mma.sync ---- */

static void first_reg(int32_t reg, void *user) {
  int32_t *first = user;
  if (*first < 0) *first = reg;
}

typedef struct Chain {
  int32_t wanted;
  bool found;
} Chain;

static void find_reg(int32_t reg, void *user) {
  Chain *c = user;
  c->found |= reg == c->wanted;
}

void protocol_mma(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!is_watched(machine, strand->warp) || strand->warp->id != 0) return;
  Idle *idle = idle_of(machine);
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  Chain chain = {-1, false};
  if (!dst || idle->several) return;
  machine_each_reg(dst, first_reg, &chain.wanted);
  for (int i = 0; i < insn->nargs; i++)
    if (insn->args[i].role != IR_ROLE_dst) machine_each_reg(&insn->args[i], find_reg, &chain);
  if (!idle->mma) idle->accumulator = chain.wanted;
  idle->several |= !chain.found || idle->accumulator != chain.wanted;
  idle->mma = idle->mma ? idle->mma : insn;
  idle->chain++;
}

static void report_chain(Machine *machine, const Idle *idle) {
  if (!idle->mma || idle->several || idle->chain < TRIPS ||
      !slice_in_loop(machine->kernel, (int32_t)(idle->mma - machine->kernel->insns.items)))
    return;
  int64_t warps = (machine->threads + 31) / 32 * residents(machine);
  if (warps >= WARPS_ENOUGH) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, idle->mma, "perf-mma-dependent-chain",
                    "all mma.sync of a warp add to the same registers, and at most %lld warps "
                    "share the SM",
                    (long long)warps);
}

void idle_finish(Machine *machine) {
  const Idle *idle = session_protocol(machine->session)->idle;
  if (!idle || machine->sample->rank != 0 || machine->schedule != MACHINE_EAGER || machine->stuck ||
      machine->stopped)
    return;
  report_waits(machine, idle);
  report_chain(machine, idle);
}
