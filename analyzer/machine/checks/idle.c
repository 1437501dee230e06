/* Advice on tensor cores that wait: a wgmma group that is waited for before the next is issued, and
 * mma.sync instructions that all add to the same registers. Only where no other warps of the SM can
 * fill the gap, as far as shared memory and threads tell. */
#include "machine/checks/checks.h"

#include <string.h>

#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"
#include "ptx/ptx.h"

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

static bool is_mma_sync(const IrKernel *kernel, const IrInsn *insn) {
  if (insn->op == IR_event) return insn->event == IR_EV_mma_sync;
  if (insn->op != IR_opaque || insn->sub < 2) return false;
  for (int i = 0; i < kernel->asms.count; i++) {
    const IrAsm *text = &kernel->asms.items[i];
    for (int n = 0; n < text->ninsns && text->where == insn->where; n++)
      if (strcmp(text->insns[n].opcode, "mma") == 0) return true;
  }
  return false;
}

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

/* The register that the instruction adds to; -1: it adds to none of those it writes. */
static int32_t accumulator_of(const IrInsn *insn) {
  if (insn->op == IR_event) { /* wmma: a fragment at a constant address of local memory */
    const IrOperand *d = ir_arg(insn, IR_ROLE_dst_addr), *c = ir_arg(insn, IR_ROLE_src_addr);
    bool same = d && c && d->kind == IR_OPD_IMM && c->kind == IR_OPD_IMM && d->value == c->value;
    return same ? (int32_t)d->value : -1;
  }
  int dsts = slice_destinations(insn);
  Chain chain = {-1, false};
  for (int i = 0; i < insn->nargs; i++)
    if (i < dsts || insn->args[i].role == IR_ROLE_dst)
      machine_each_reg(&insn->args[i], first_reg, &chain.wanted);
  for (int i = dsts; i < insn->nargs; i++)
    if (insn->args[i].role != IR_ROLE_dst) machine_each_reg(&insn->args[i], find_reg, &chain);
  return chain.found ? chain.wanted : -1;
}

/* What a loop adds to the register in each round; 0: not said by a constant. */
static int64_t step_of(const IrKernel *kernel, int32_t head, int32_t latch, const IrOperand *reg) {
  for (int32_t i = head; i <= latch; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_add && insn->nargs == 3 && insn->args[0].id == reg->id &&
        insn->args[1].kind == IR_OPD_REG && insn->args[1].id == reg->id &&
        insn->args[2].kind == IR_OPD_IMM)
      return insn->args[2].value;
  }
  return 0;
}

/* A loop that ends after one or two rounds, by a constant. */
static bool is_short(const IrKernel *kernel, int32_t at) {
  for (int32_t i = at; i < kernel->insns.count; i++) {
    const IrInsn *latch = &kernel->insns.items[i];
    if (latch->op != IR_branch || latch->target > at) continue;
    for (int32_t j = latch->target; j <= i; j++) {
      const IrInsn *insn = &kernel->insns.items[j];
      if (insn->op != IR_setp) continue;
      const IrOperand *end = &insn->args[insn->nargs - 1];
      if (end->kind != IR_OPD_IMM) continue;
      int64_t step =
          insn->args[1].kind == IR_OPD_REG ? step_of(kernel, latch->target, i, &insn->args[1]) : 0;
      if (end->value <= 2 * (step > 1 ? step : 1)) return true;
    }
    return false;
  }
  return true;
}

static void report_chain(Machine *machine) {
  const IrKernel *kernel = machine->kernel;
  const IrInsn *first = NULL;
  int32_t accumulator = -1;
  for (int32_t i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (!is_mma_sync(kernel, insn)) continue;
    int32_t own = accumulator_of(insn);
    if (own < 0 || (first && own != accumulator) || !slice_in_loop(kernel, i) ||
        is_short(kernel, i) || !machine->executed[i])
      return;
    if (!first) first = insn;
    accumulator = own;
  }
  int64_t warps = (machine->threads + 31) / 32 * residents(machine);
  if (!first || warps >= WARPS_ENOUGH) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, first, "perf-mma-dependent-chain",
                    "all mma.sync of a warp add to the same registers, and at most %lld warps "
                    "share the SM",
                    (long long)warps);
}

void idle_finish(Machine *machine) {
  if (machine->sample->rank != 0 || machine->schedule != MACHINE_EAGER || machine->stuck ||
      machine->stopped)
    return;
  const Idle *idle = session_protocol(machine->session)->idle;
  if (idle) report_waits(machine, idle);
  report_chain(machine);
}
