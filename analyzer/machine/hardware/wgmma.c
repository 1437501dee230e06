/* wgmma (PTX ISA 9.7.15). Collective over the four warps of a warpgroup: none passes a wait_group
 * before all have issued what it waits for (measured on an H200 with three delayed warps). The
 * accumulators and A fragments in flight are registers that the core watches. */
#include "machine/hardware/wgmma.h"
#include "machine/checks/checks.h"

#include "machine/checks/finish.h"
#include "machine/hardware/desc.h"
#include "machine/hardware/tmem.h"
#include "machine/inputs/origin.h"
#include "machine/witness/timeline.h"
#include "machine/witness/witness.h"

#define FP8_ACCUMULATIONS 16 /* of K = 32: 512 products without promotion */

typedef struct PendingReg { /* what the last wgmma that uses a register does with it */
  uint32_t group;           /* 0: none uses it any more */
  bool accumulator;         /* else an A fragment */
  bool born;                /* some wgmma has accumulated into it */
  bool renewed;             /* made in this round of a loop, not written yet */
  uint32_t copied;          /* step at which it became a copy of another register, ... */
  uint32_t original;        /* ... which was written at this step */
  const IrInsn *insn;
} PendingReg;

typedef struct WgmmaState { /* of a warp that executes wgmma */
  PendingReg *regs;         /* by register of the kernel */
  uint64_t touches;         /* of registers in flight */
  uint64_t issued;          /* mma_async */
  const IrInsn *reported;   /* a violation about its registers was reported */
  /* the last mma, to see descriptors that don't advance */
  const IrInsn *last;
  uint64_t last_a, last_b;
  uint32_t last_group;
  int32_t last_acc;
  int fp8_chain;
  int32_t fp8_acc;
  /* the last that marked its registers, which it need not do again */
  const IrInsn *marked;
  uint32_t marked_group;
  uint64_t marked_fence, marked_touches;
  int32_t marked_first;
} WgmmaState;

static uint32_t group_agent(const Machine *machine, const Warp *warp) {
  const Protocol *p = protocol_of(machine);
  return p->wgmma_agent + (uint32_t)(warp->cta->rank * p->warpgroups + warp->id / 4);
}

uint32_t wgmma_done(const Machine *machine, const Warp *warp) {
  const LaneGroup *group = &warp_state(warp)->lanes.groups[0];
  return clock_time(&protocol_of(machine)->clocks, group->clock, group_agent(machine, warp), 0);
}

static WgmmaState *state_of(Machine *machine, Warp *warp) {
  WarpState *ws = warp_state(warp);
  if (!ws->wgmma) {
    ws->wgmma = KC_NEW(machine->arena, WgmmaState);
    ws->wgmma->regs = KC_NEW_ARRAY(machine->arena, PendingReg, machine->kernel->regs.count + 1);
    ws->wgmma->last_acc = ws->wgmma->fp8_acc = -1;
  }
  return ws->wgmma;
}

static bool gather(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return false;
  Cta *cta = strand->warp->cta;
  int first = strand->warp->id / 4 * 4;
  bool full = first + 4 <= cta->nwarps;
  for (int i = first; full && i < first + 4; i++)
    full = cta->warps[i].lanes == MACHINE_ALL_LANES;
  if (!full)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "wgmma-incomplete-warpgroup",
                      "%s is executed by a warpgroup that has %d of 4 warps: the block has %d "
                      "threads",
                      ir_event_mnemonic((IrEvent)insn->event), cta->nwarps - first,
                      machine->threads);
  lanes_meet(&protocol_of(machine)->clocks, &warp_state(strand->warp)->lanes, strand->active);
  return true;
}

/* ---- registers ---- */

typedef struct Marking {
  Strand *strand;
  const IrInsn *insn;
  PendingReg *regs;
  uint32_t group, fence;
  bool accumulator;
  int32_t first;    /* first register seen, -1 */
  int32_t unfenced; /* a register written since the fence, -1 */
  int untouched;    /* accumulators that nothing has written */
} Marking;

static void mark(Marking *m, int32_t reg) {
  MachineReg *of_warp = &m->strand->warp->regs[reg];
  PendingReg *pending = &m->regs[reg];
  bool copy = pending->copied && pending->copied == of_warp->written;
  uint32_t written = copy ? pending->original : of_warp->written;
  if (m->first < 0) m->first = reg;
  if (m->accumulator && !written && !pending->group && !pending->born) m->untouched++;
  if (written && (int32_t)(written - m->fence) > 0 && m->unfenced < 0) m->unfenced = reg;
  pending->group = m->group;
  pending->accumulator = m->accumulator;
  pending->born |= m->accumulator;
  pending->insn = m->insn;
  of_warp->watched = true;
}

static void mark_all(Marking *m, const IrOperand *operand, bool accumulator) {
  if (!operand) return;
  m->accumulator = accumulator;
  if (operand->kind == IR_OPD_REG) mark(m, operand->id);
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++) {
    if (operand->list[i].kind == IR_OPD_REG)
      mark(m, operand->list[i].id);
    else
      mark_all(m, &operand->list[i], accumulator);
  }
}

static const char *reg_name(const Machine *machine, int32_t reg) {
  const char *name = reg < machine->kernel->regs.count ? machine->kernel->regs.items[reg].name : 0;
  return name ? name : "a register";
}

/* The first thing that a fragment made in this round gets is another register's value: nvcc lets
 * the wgmma read that register instead. */
static void note_copy(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg) {
  PendingReg *p = &warp_state(strand->warp)->wgmma->regs[reg];
  if (!p->renewed) return;
  p->renewed = false;
  if (insn->op != IR_mov || insn->args[1].kind != IR_OPD_REG) return;
  p->copied = (uint32_t)machine->step;
  p->original = strand->warp->regs[insn->args[1].id].written;
}

void protocol_renew(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (insn->nargs == 0 || insn->args[0].kind != IR_OPD_VECTOR) return;
  WgmmaState *state = state_of(machine, strand->warp);
  for (int i = 0; i < insn->args[0].count; i++) {
    int64_t reg = insn->args[0].list[i].value;
    if (reg >= machine->kernel->regs.count || state->regs[reg].accumulator) continue;
    state->regs[reg] = (PendingReg){.renewed = true};
    machine_watch(strand->warp, (int32_t)reg, true);
  }
  state->touches++;
}

static void touch_register(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg,
                           bool write) {
  Warp *warp = strand->warp;
  WgmmaState *state = warp_state(warp)->wgmma;
  bool loading = tload_touch(machine, strand, insn, reg, write);
  if (state && write && reg < machine->kernel->regs.count) note_copy(machine, strand, insn, reg);
  if (!state || reg >= machine->kernel->regs.count || !state->regs[reg].group) {
    machine_watch(warp, reg, loading);
    return;
  }
  PendingReg *p = &state->regs[reg];
  state->touches++;
  if (p->group <= wgmma_done(machine, warp)) {
    p->group = 0;
    machine_watch(warp, reg, loading);
    return;
  }
  if (!write && !p->accumulator) return;
  if (state->reported == p->insn) return; /* one finding a wgmma, not one a register */
  state->reported = p->insn;
  bool uncommitted = p->group == warp_state(warp)->wgmma_open;
  if (uncommitted && warp_state(warp)->wgmma_vain == p->group) return; /* said at the wait */
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, write ? "wgmma-pending-overwrite" : "wgmma-pending-read",
      "%s is %s while the wgmma at %s that %s it is not known to be complete: %s",
      reg_name(machine, reg), write ? "written" : "read", machine_line(machine, p->insn),
      p->accumulator ? "accumulates into" : "reads",
      uncommitted ? "it was not committed to a group" : "no wgmma.wait_group covers its group");
  if (v) {
    ir_violation_related(machine->violations, v, p->insn->where, "the wgmma in flight");
    timeline_pair(machine, v, p->insn, insn);
    witness_order(machine, v,
                  kc_printf(machine->arena, "the wgmma at %s %s the register",
                            machine_line(machine, p->insn),
                            p->accumulator ? "accumulates into" : "reads"),
                  kc_printf(machine->arena, "%s %s it at %s, step %llu",
                            machine_who(machine, strand), write ? "writes" : "reads",
                            machine_line(machine, insn), (unsigned long long)machine->step),
                  uncommitted ? "wgmma.commit_group, then a wgmma.wait_group"
                              : "a wgmma.wait_group that covers the group");
    const IrInsn *wait = warp_state(warp)->wgmma_wait;
    if (wait)
      ir_violation_related(machine->violations, v, wait->where,
                           "the last wait leaves %lld group%s pending",
                           (long long)warp_state(warp)->wgmma_wait_n,
                           warp_state(warp)->wgmma_wait_n == 1 ? "" : "s");
  }
}

void protocol_reg_read(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg) {
  touch_register(machine, strand, insn, reg, false);
}

void protocol_reg_write(Machine *machine, Strand *strand, const IrInsn *insn, int32_t reg) {
  touch_register(machine, strand, insn, reg, true);
}

static void check_fence(Machine *machine, Strand *strand, const IrInsn *insn, const Marking *m) {
  const WarpState *ws = warp_state(strand->warp);
  if (!ws->wgmma_fence) {
    machine_violation(machine, MACHINE_CHECK_RACE, insn, "wgmma-fence-missing",
                      "no wgmma.fence precedes the first wgmma.mma_async of %s",
                      machine_who(machine, strand));
    return;
  }
  if (m->unfenced < 0) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "wgmma-fence-missing",
      "%s was written after the last wgmma.fence and is used by this wgmma: the write is not "
      "ordered before it",
      reg_name(machine, m->unfenced));
  if (v && ws->wgmma_fence_insn)
    ir_violation_related(machine->violations, v, ws->wgmma_fence_insn->where, "the last fence");
}

/* ---- mma_async ---- */

static bool descriptor(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                       uint64_t *raw) {
  Value v;
  return machine_read_role(machine, strand, insn, role, &v) && value_same(v, strand->active, raw);
}

static void check_advance(Machine *machine, Strand *strand, const IrInsn *insn, WgmmaState *state,
                          bool has_a, uint64_t a, bool has_b, uint64_t b, int32_t acc) {
  uint32_t group = warp_state(strand->warp)->wgmma_open;
  bool chained =
      has_a && has_b && state->last && state->last_group == group && state->last_acc == acc;
  char stays = chained ? desc_that_stays(state->last_a, state->last_b, a, b) : 0;
  if (stays) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, insn, "wgmma-descriptor-not-advanced",
        "two wgmma in a row read the same %s (shared 0x%x and 0x%x): the K step does not "
        "advance %s",
        desc_operands(stays), (unsigned)(a & 0x3fff) << 4, (unsigned)(b & 0x3fff) << 4,
        stays == '*' ? "the descriptors" : "that descriptor");
    if (v && state->last != insn)
      ir_violation_related(machine->violations, v, state->last->where, "the wgmma before");
  }
  state->last = has_a && has_b ? insn : NULL;
  state->last_a = a;
  state->last_b = b;
  state->last_group = group;
  state->last_acc = acc;
}

static void check_promotion(Machine *machine, Strand *strand, const IrInsn *insn, WgmmaState *state,
                            int32_t acc) {
  bool fp8 = insn->shape.a_type == IR_DATA_e4m3 || insn->shape.a_type == IR_DATA_e5m2;
  if (!fp8) return;
  int64_t scale;
  bool fresh = protocol_operand(machine, strand, insn, IR_ROLE_scale_d, strand->active, &scale) &&
               scale == 0;
  if (fresh || acc != state->fp8_acc) state->fp8_chain = 0;
  state->fp8_acc = acc;
  if (++state->fp8_chain <= FP8_ACCUMULATIONS) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "numerics-fp8-no-promotion",
                    "%d FP8 wgmma (K = %d) accumulate inside the tensor core with no promotion "
                    "into FP32 registers",
                    state->fp8_chain, state->fp8_chain * 32);
}

/* The registers of a wgmma are in flight now; its first accumulator, or -1. */
static int32_t mark_registers(Machine *machine, Strand *strand, const IrInsn *insn,
                              WgmmaState *state) {
  const WarpState *ws = warp_state(strand->warp);
  if (state->marked == insn && state->marked_group == ws->wgmma_open &&
      state->marked_fence == ws->wgmma_fence && state->marked_touches == state->touches)
    return state->marked_first;
  Marking m = {.strand = strand,
               .insn = insn,
               .regs = state->regs,
               .group = ws->wgmma_open,
               .fence = (uint32_t)ws->wgmma_fence,
               .first = -1,
               .unfenced = -1};
  mark_all(&m, ir_arg(insn, IR_ROLE_acc), true);
  int32_t first = m.first;
  int64_t scale;
  if (m.untouched > 0 &&
      protocol_operand(machine, strand, insn, IR_ROLE_scale_d, strand->active, &scale) && scale)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "fragment-accumulator-uninitialized",
                      "the first wgmma of the tile adds to accumulators that nothing has written "
                      "(scale-d is not 0)");
  mark_all(&m, ir_arg(insn, IR_ROLE_a_regs), false);
  check_fence(machine, strand, insn, &m);
  bool same_again = ws->wgmma_fence && m.unfenced < 0;
  state->marked = same_again ? insn : NULL;
  state->marked_group = ws->wgmma_open;
  state->marked_fence = ws->wgmma_fence;
  state->marked_touches = state->touches;
  state->marked_first = first;
  return first;
}

MachineStep event_wgmma_mma(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!gather(machine, strand, insn)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  Warp *warp = strand->warp;
  WarpState *ws = warp_state(warp);
  WgmmaState *state = state_of(machine, warp);
  int32_t first = mark_registers(machine, strand, insn, state);
  state->issued++;
  ws->wgmma_uncommitted++;
  ws->wgmma_last = insn;
  uint64_t a = 0, b = 0;
  bool has_a = descriptor(machine, strand, insn, IR_ROLE_a_desc, &a);
  bool has_b = descriptor(machine, strand, insn, IR_ROLE_b_desc, &b);
  bool a_made_up = origin_made_up(machine, insn, IR_ROLE_a_desc);
  bool b_made_up = origin_made_up(machine, insn, IR_ROLE_b_desc);
  check_advance(machine, strand, insn, state, has_a && !a_made_up, a, has_b && !b_made_up, b,
                first);
  check_promotion(machine, strand, insn, state, first);
  Access *access = race_access(p->races, &(Access){.agent = group_agent(machine, warp),
                                                   .lanes = 1,
                                                   .time = ws->wgmma_open,
                                                   .issued = ws->lanes.now,
                                                   .warp = (uint32_t)warp->index,
                                                   .issuers = strand->active,
                                                   .actor = ACTOR_WGMMA,
                                                   .insn = insn,
                                                   .step = machine->step});
  int bits = desc_bits(insn->shape.a_type);
  int k_bytes = insn->shape.k ? insn->shape.k * bits / 8 : 32;
  int a_bytes = insn->flags & IR_FLAG(sparse) ? k_bytes / 2 : k_bytes; /* half of A is stored */
  DescRead read = {insn, "wgmma", 'A', warp->cta->rank, a_made_up};
  if (has_a) {
    Descriptor d = desc_wgmma(a);
    desc_read(machine, strand, &read, &d,
              &(DescTile){64, a_bytes, (insn->flags & IR_FLAG(trans_a)) != 0, bits}, access);
  }
  read.operand = 'B';
  read.made_up = b_made_up;
  if (has_b) {
    Descriptor d = desc_wgmma(b);
    desc_read(machine, strand, &read, &d,
              &(DescTile){insn->shape.n, k_bytes, (insn->flags & IR_FLAG(trans_b)) != 0, bits},
              access);
  }
  timeline_mma(machine, strand, insn);
  return MACHINE_NEXT;
}

MachineStep event_wgmma_fence(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!gather(machine, strand, insn)) return MACHINE_BLOCKED;
  WarpState *ws = warp_state(strand->warp);
  ws->wgmma_fence = machine->step ? machine->step : 1;
  ws->wgmma_fence_insn = insn;
  return MACHINE_NEXT;
}

MachineStep event_wgmma_commit(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!gather(machine, strand, insn)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  Clock **slot = &ws->wgmma_commits[ws->wgmma_open % WGMMA_COMMITS];
  clock_free(&p->clocks, *slot);
  *slot = clock_new(&p->clocks);
  lanes_release(&p->clocks, &ws->lanes, strand->active, *slot);
  ws->wgmma_open++;
  ws->wgmma_uncommitted = 0;
  return MACHINE_NEXT;
}

/* ---- wait_group ---- */

static bool all_committed(Machine *machine, const Strand *strand) {
  (void)machine;
  const Cta *cta = strand->warp->cta;
  int first = strand->warp->id / 4 * 4;
  for (int i = first; i < first + 4 && i < cta->nwarps; i++) {
    const Warp *warp = &cta->warps[i];
    if ((int64_t)warp_state(warp)->wgmma_open - 1 < strand->wait_value && warp->alive) return false;
  }
  return true;
}

static char *describe(Machine *machine, const Strand *strand) {
  return kc_printf(machine->session->arena,
                   "wgmma group %lld, which not all warps of the warpgroup have issued",
                   (long long)strand->wait_value);
}

MachineStep event_wgmma_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!gather(machine, strand, insn)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  Warp *warp = strand->warp;
  WarpState *ws = warp_state(warp);
  int64_t n = protocol_number(machine, strand, insn, IR_ROLE_group, strand->active, 0);
  int64_t done = (int64_t)ws->wgmma_open - 1 - n;
  strand->wait_value = done;
  if (done > 0 && !all_committed(machine, strand)) {
    machine_block(machine, strand, "wgmma group", all_committed, describe, NULL, done);
    return MACHINE_BLOCKED;
  }
  if (n == 0 && ws->wgmma_uncommitted > 0) {
    ws->wgmma_vain = ws->wgmma_open;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "wgmma-group-protocol",
        "%d wgmma.mma_async were issued since the last wgmma.commit_group: the wait does not cover "
        "them",
        ws->wgmma_uncommitted);
    if (v && ws->wgmma_last)
      ir_violation_related(machine->violations, v, ws->wgmma_last->where, "never committed");
  }
  ws->wgmma_wait = insn;
  ws->wgmma_wait_n = n;
  idle_wait(machine, strand, insn, n);
  if (done <= 0) return MACHINE_NEXT;
  timeline_mma_done(machine, strand, (uint32_t)done);
  lanes_raise(&p->clocks, &ws->lanes, strand->active, group_agent(machine, warp), CLOCK_ALL_LANES,
              (uint32_t)done);
  int first = warp->id / 4 * 4;
  for (int i = first; i < first + 4 && i < warp->cta->nwarps; i++) {
    const WarpState *other = warp_state(&warp->cta->warps[i]);
    if (other->wgmma_open > done && other->wgmma_open - done <= WGMMA_COMMITS)
      lanes_acquire(&p->clocks, &ws->lanes, strand->active,
                    other->wgmma_commits[done % WGMMA_COMMITS]);
  }
  return MACHINE_NEXT;
}

/* ---- the end ---- */

void wgmma_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  (void)lanes;
  WarpState *ws = warp_state(strand->warp);
  if (!ws->wgmma || !ws->wgmma_last) return;
  /* What a wait in vain or a read too early has told already. */
  if (ws->wgmma_vain == ws->wgmma_open || ws->wgmma->reported) return;
  if (ws->wgmma_uncommitted > 0)
    machine_violation(machine, MACHINE_CHECK_FINISH, ws->wgmma_last, "wgmma-group-protocol",
                      "the kernel ends with wgmma.mma_async that no wgmma.commit_group follows");
  else if (wgmma_done(machine, strand->warp) < ws->wgmma_open - 1)
    machine_violation(machine, MACHINE_CHECK_FINISH, ws->wgmma_last, "wgmma-group-protocol",
                      "the kernel ends while wgmma groups are pending: no wgmma.wait_group covers "
                      "the last ones");
}

void wgmma_finish(Machine *machine) {
  if (machine->stuck || machine->stopped) return;
  for (int c = 0; c < machine->cluster_size; c++) {
    const Cta *cta = &machine->ctas[c];
    for (int g = 0; g + 4 <= cta->nwarps; g += 4) {
      uint64_t most = 0, least = UINT64_MAX;
      const IrInsn *insn = NULL;
      for (int i = g; i < g + 4; i++) {
        const WarpState *ws = warp_state(&cta->warps[i]);
        uint64_t n = ws->wgmma ? ws->wgmma->issued : 0;
        if (n > most) insn = ws->wgmma_last;
        most = n > most ? n : most;
        least = n < least ? n : least;
      }
      if (!insn || most == least) continue;
      machine_violation(machine, MACHINE_CHECK_FINISH, insn, "wgmma-incomplete-warpgroup",
                        "only some of warps %d to %d execute this wgmma (%llu times by one, %llu "
                        "by another): all four have to",
                        g, g + 3, (unsigned long long)most, (unsigned long long)least);
      return;
    }
  }
}
