#include "machine/hardware/tmem.h"

#include "machine/causes/symptom.h"
#include "machine/inputs/origin.h"
#include "machine/witness/timeline.h"

/* ---- who touched which columns ---- */

static TmemCell *cells_of(Machine *machine, int rank) {
  CtaState *cta = cta_state(&machine->ctas[rank]);
  if (!cta->tmem) cta->tmem = KC_NEW_ARRAY(machine->arena, TmemCell, TMEM_COLUMNS * TMEM_PARTS);
  return cta->tmem;
}

static bool by_queue(const Access *a) {
  return a->actor == ACTOR_TCGEN05_MMA || a->actor == ACTOR_TCGEN05_CP;
}

/* Whether `known` (a clock) says that `a` is over. */
static bool clock_says(const Machine *machine, const Clock *known, const Access *a) {
  return known && a->time != CLOCK_NEVER &&
         !clock_behind(&protocol_of(machine)->clocks, known, a->agent, a->lanes, a->time);
}

/* What is missing between `a` and an access by one group of lanes; -1: nothing. */
static int missing_for(const Machine *machine, const LaneGroup *group, uint32_t lanes,
                       const Strand *strand, const Access *a, const Access *now) {
  const Protocol *p = protocol_of(machine);
  bool own_warp = a->warp == (uint32_t)strand->warp->index;
  if (by_queue(a) && by_queue(now) && a->agent == now->agent && a->lanes == now->lanes) return -1;
  if (!by_queue(a)) {
    if (own_warp && !by_queue(now) && a->actor == ACTOR_TCGEN05_LD) return -1;
    if (a->time == CLOCK_NEVER) {
      bool used = a->consumed && !own_warp &&
                  clock_behind(&p->clocks, group->clock, a->agent, a->lanes, a->consumed - 1);
      return used ? TMEM_NO_ORDER : TMEM_NO_WAIT;
    }
    if (own_warp) {
      if (!by_queue(now)) return -1;
      uint32_t others = a->lanes & ~lanes;
      return clock_behind(&p->clocks, group->clock, a->agent, others, a->time) ? TMEM_NO_ORDER : -1;
    }
  }
  /* Handed over after the load was issued, but before its wait. */
  bool issued =
      !by_queue(a) && !clock_behind(&p->clocks, group->clock, a->agent, a->lanes, a->issued);
  if (!clock_says(machine, group->clock, a)) return issued ? TMEM_NO_WAIT : TMEM_NO_ORDER;
  if (!by_queue(a) &&
      clock_behind(&p->clocks, group->clock, p->before_agent + a->warp, a->lanes, a->time))
    return TMEM_NO_BEFORE_FENCE;
  if (!clock_says(machine, group->after, a)) return TMEM_NO_AFTER_FENCE;
  return -1;
}

static bool check(Machine *machine, Strand *strand, const Access *a, const Access *now,
                  uint32_t column) {
  const LaneClocks *lanes = &warp_state(strand->warp)->lanes;
  for (int i = 0; i < lanes->ngroups; i++) {
    uint32_t in = lanes->groups[i].lanes & now->issuers;
    if (!in) continue;
    int missing = missing_for(machine, &lanes->groups[i], in, strand, a, now);
    if (missing < 0) continue;
    cause_tmem(machine, strand, a, now, column, (TmemMissing)missing);
    return false;
  }
  return true;
}

/* A region that nobody has read yet is written over as part of another region. Adding to some of
 * its columns is a way to build a sum. */
static void check_overlap(Machine *machine, const TmemCell *cell, const Access *now,
                          uint32_t column) {
  const Access *a = cell->write;
  if (!a || !by_queue(a) || !by_queue(now) || a->base == now->base || now->accumulates ||
      cell->reads[0] || a->insn == now->insn)
    return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, now->insn, "tcgen05-tmem-region-overlap",
      "column %u belongs to the region at column %u, which the %s at %s wrote and nobody has read: "
      "the region at column %u overlaps it",
      column, a->base, ir_event_mnemonic((IrEvent)a->insn->event), machine_line(machine, a->insn),
      now->base);
  if (!v) return;
  v->confidence = IR_FALLBACK; /* many a product is wider than what anybody reads of it */
  v->assumed = "that somebody wants what the columns of the other region hold";
  ir_violation_related(machine->violations, v, a->insn->where, "the other region");
}

static void add_reader(TmemCell *cell, Access *access) {
  int free_slot = -1;
  for (int i = 0; i < 4; i++) {
    if (!cell->reads[i]) {
      free_slot = i;
      break;
    }
    if (cell->reads[i]->warp == access->warp && cell->reads[i]->actor == access->actor) {
      cell->reads[i] = access;
      return;
    }
  }
  cell->reads[free_slot < 0 ? 3 : free_slot] = access;
}

void tmem_touch(Machine *machine, Strand *strand, const Access *access, int rank, uint32_t column,
                uint32_t count, uint32_t quadrants) {
  if (rank < 0 || rank >= machine->cluster_size || column >= TMEM_COLUMNS) return;
  if (count > TMEM_COLUMNS - column) count = TMEM_COLUMNS - column;
  timeline_tmem(machine, strand, access, rank, column);
  TmemCell *cells = cells_of(machine, rank);
  const Access *good = NULL, *bad = NULL; /* the last access that was found (not) in order */
  for (uint32_t c = column; c < column + count; c++) {
    for (int q = 0; q < TMEM_PARTS; q++) {
      if (!(quadrants >> q & 1)) continue;
      TmemCell *cell = &cells[c * TMEM_PARTS + (uint32_t)q];
      for (int i = -1; i < (access->write ? 4 : 0); i++) {
        const Access *a = i < 0 ? cell->write : cell->reads[i];
        if (!a || a == access || a == good || a == bad) continue;
        if (check(machine, strand, a, access, c))
          good = a;
        else
          bad = a;
      }
      if (access->write) check_overlap(machine, cell, access, c);
      if (access->write)
        *cell = (TmemCell){.write = (Access *)(uintptr_t)access};
      else
        add_reader(cell, (Access *)(uintptr_t)access);
    }
  }
}

bool tmem_written(const Machine *machine, int rank, uint32_t column, uint32_t count) {
  const TmemCell *cells = cta_state(&machine->ctas[rank])->tmem;
  if (!cells) return false;
  for (uint32_t c = column; c < column + count && c < TMEM_COLUMNS; c++) {
    bool any = false;
    for (int q = 0; q < TMEM_PARTS; q++)
      any = any || cells[c * TMEM_PARTS + (uint32_t)q].write;
    if (!any) return false;
  }
  return true;
}

/* Whether some column of some part was written, as far as that is known. */
static bool any_written(const Machine *machine, int rank, uint32_t column, uint32_t count,
                        uint32_t parts) {
  const CtaState *cta = cta_state(&machine->ctas[rank]);
  if (cta->tmem_unknown || cta->mma_unknown || cta->alloc_unknown) return true;
  for (uint32_t c = column; cta->tmem && c < column + count && c < TMEM_COLUMNS; c++)
    for (uint32_t q = 0; q < TMEM_PARTS; q++)
      if ((parts >> q & 1) && cta->tmem[c * TMEM_PARTS + q].write) return true;
  return false;
}

void tmem_loaded(Machine *machine, const Strand *strand, const IrInsn *insn, uint32_t column,
                 uint32_t count, uint32_t parts) {
  Protocol *p = protocol_of(machine);
  int rank = strand->warp->cta->rank;
  if (any_written(machine, rank, column, count, parts)) return;
  for (int i = 0; i < p->vain_loads.count; i++)
    if (p->vain_loads.items[i].insn == insn && p->vain_loads.items[i].column == column &&
        p->vain_loads.items[i].rank == rank)
      return;
  TmemLoad load = {insn, rank, strand->warp->id, column, count, parts};
  if (p->vain_loads.count < 256) KC_PUSH(machine->arena, p->vain_loads, load);
}

/* Where the columns are written later, the order is what is wrong; in a block that writes none at
 * all, nobody meant data. */
static void check_load(Machine *machine, const TmemLoad *l) {
  if (any_written(machine, l->rank, l->column, l->count, l->parts) ||
      !any_written(machine, l->rank, 0, TMEM_COLUMNS, TMEM_ALL_PARTS))
    return;
  machine_violation(machine, MACHINE_CHECK_FINISH, l->insn, "tcgen05-ld-unwritten",
                    "tcgen05.ld by warp %d reads columns %u to %u, and nothing ever writes them in "
                    "its lanes",
                    l->warp, l->column, l->column + l->count - 1);
}

/* ---- allocation ---- */

static bool live(const TmemAlloc *a, uint32_t column, uint32_t count) {
  return !a->freed && column >= a->base && column + count <= a->base + a->columns;
}

static void unordered(Machine *machine, const IrInsn *insn, const char *what, int warp,
                      uint32_t column, const TmemAlloc *alloc) {
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "tcgen05-column-unsynchronized",
      "%s by warp %d uses column %u, but nothing orders it after the tcgen05.alloc that gives it",
      what, machine->warps[warp]->id, column);
  if (v) ir_violation_related(machine->violations, v, alloc->insn->where, "allocated here");
}

void tmem_check_freed(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                      uint32_t column, uint32_t count) {
  const CtaState *cta = cta_state(&machine->ctas[rank]);
  const TmemAlloc *freed = NULL;
  for (int i = 0; i < cta->allocs.count; i++) {
    const TmemAlloc *a = &cta->allocs.items[i];
    if (live(a, column, count)) return;
    if (a->freed_by && column >= a->base && column < a->base + a->columns) freed = a;
  }
  if (!freed) return;
  bool peer = rank != strand->warp->cta->rank;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_RACE, freed->freed_by,
                        peer ? "tcgen05-dealloc-before-peer" : "tcgen05-dealloc-in-use",
                        "tcgen05.dealloc%s frees column %u before the %s at %s, which writes it",
                        peer ? " of the peer" : "", column, ir_event_mnemonic((IrEvent)insn->event),
                        machine_line(machine, insn));
  if (v) ir_violation_related(machine->violations, v, insn->where, "used here");
}

/* The column is not allocated at that moment: later perhaps (check_use). */
static void remember_use(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                         uint32_t column, uint32_t count, const char *what) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->unallocated.count; i++)
    if (p->unallocated.items[i].insn == insn) return;
  KC_PUSH(machine->arena, p->unallocated,
          ((TmemUse){insn, what, rank, strand->warp->index, column, count}));
}

void tmem_check_allocated(Machine *machine, const Strand *strand, const IrInsn *insn, int rank,
                          uint32_t address, uint32_t count, const char *what) {
  if (rank < 0 || rank >= machine->cluster_size) return;
  const CtaState *cta = cta_state(&machine->ctas[rank]);
  const Protocol *p = protocol_of(machine);
  uint32_t column = address & 0xffff;
  for (int i = 0; i < cta->allocs.count; i++) {
    const TmemAlloc *a = &cta->allocs.items[i];
    if (!live(a, column, count)) continue;
    /* All columns: the address is 0 whenever the alloc returns, kernels rely on that. */
    if (a->columns < TMEM_COLUMNS && a->warp != strand->warp->index &&
        rank == strand->warp->cta->rank &&
        !lanes_know(&p->clocks, &warp_state(strand->warp)->lanes, strand->active,
                    warp_state(machine->warps[a->warp])->lanes.agent, a->lanes, a->time))
      unordered(machine, insn, what, strand->warp->index, column, a);
    return;
  }
  if (!cta->alloc_unknown) remember_use(machine, strand, insn, rank, column, count, what);
}

static void check_use(Machine *machine, const TmemUse *u) {
  const CtaState *cta = cta_state(&machine->ctas[u->rank]);
  const TmemAlloc *near = NULL;
  if (cta->alloc_unknown) return;
  for (int i = 0; i < cta->allocs.count; i++) {
    const TmemAlloc *a = &cta->allocs.items[i];
    if (u->column < a->base || u->column >= a->base + a->columns) continue;
    if (u->column + u->count <= a->base + a->columns) {
      if (a->columns < TMEM_COLUMNS) unordered(machine, u->insn, u->what, u->warp, u->column, a);
      return;
    }
    near = a;
  }
  IrViolation *v;
  if (near)
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, u->insn, "tcgen05-tmem-unallocated",
                          "%s touches columns %u to %u; the allocation of %u columns ends at %u",
                          u->what, u->column, u->column + u->count - 1, near->columns,
                          near->base + near->columns - 1);
  else
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, u->insn, "tcgen05-tmem-unallocated",
                          "%s by warp %d uses tensor-memory column %u, which no tcgen05.alloc gave "
                          "it",
                          u->what, machine->warps[u->warp]->id, u->column);
  if (v && near) ir_violation_related(machine->violations, v, near->insn->where, "allocated here");
  cause_say_defined(machine, v, u->insn);
}

void tmem_check_any_alloc(Machine *machine, const Strand *strand, const IrInsn *insn,
                          const char *what) {
  const CtaState *cta = cta_state(strand->warp->cta);
  if (cta->allocs.count || cta->alloc_unknown) return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_PHASE, insn, "tcgen05-tmem-unallocated",
                        "%s by %s uses tensor memory, but no tcgen05.alloc was executed", what,
                        machine_who(machine, strand));
  cause_say_defined(machine, v, insn);
}

static int group_of(const IrInsn *insn) {
  return insn->flags & IR_FLAG(cta_group2) ? 2 : 1;
}

static bool free_base(const CtaState *cta, uint32_t columns, uint32_t *base) {
  for (uint32_t at = 0; at + columns <= TMEM_COLUMNS; at += 32) {
    bool taken = false;
    for (int i = 0; i < cta->allocs.count; i++) {
      const TmemAlloc *a = &cta->allocs.items[i];
      taken = taken || (!a->freed && at < a->base + a->columns && a->base < at + columns);
    }
    if (taken) continue;
    *base = at;
    return true;
  }
  return false;
}

static bool never(Machine *machine, const Strand *strand) {
  (void)machine;
  uint32_t base;
  return free_base(cta_state(strand->warp->cta), (uint32_t)strand->wait_value, &base);
}

static char *describe_alloc(Machine *machine, const Strand *strand) {
  return kc_printf(machine->session->arena, "%lld free columns of tensor memory",
                   (long long)strand->wait_value);
}

static void check_alloc(Machine *machine, Strand *strand, const IrInsn *insn, int64_t columns) {
  CtaState *cta = cta_state(strand->warp->cta);
  if (columns < 32 || columns > TMEM_COLUMNS || (columns & (columns - 1))) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, insn,
        columns > TMEM_COLUMNS ? "tcgen05-tmem-exceeds-sm" : "tcgen05-alloc-columns",
        columns > TMEM_COLUMNS
            ? "tcgen05.alloc asks for %lld columns, a SM has 512"
            : "tcgen05.alloc asks for %lld columns: it must be a power of two from 32 to 512",
        (long long)columns);
    if (v) ir_violation_fact(machine->violations, v, "columns", "%lld", (long long)columns);
  }
  if (cta->relinquish) {
    IrViolation *v = machine_violation(machine, MACHINE_CHECK_PHASE, insn, "tcgen05-alloc-order",
                                       "tcgen05.alloc after relinquish_alloc_permit");
    if (v)
      ir_violation_related(machine->violations, v, cta->relinquish->where,
                           "the permit is given up here");
  }
  for (int i = 0; i < cta->allocs.count; i++) {
    const TmemAlloc *a = &cta->allocs.items[i];
    if (a->insn == insn && a->warp != strand->warp->index && !a->freed)
      machine_violation(machine, MACHINE_CHECK_PHASE, insn, "tcgen05-alloc-not-one-warp",
                        "tcgen05.alloc is executed by warps %d and %d of the CTA; one warp has to",
                        machine->warps[a->warp]->id, strand->warp->id);
    if (!a->freed && columns > (int64_t)a->columns && i == cta->allocs.count - 1 &&
        a->insn != insn && columns <= TMEM_COLUMNS) {
      IrViolation *v =
          machine_violation(machine, MACHINE_CHECK_PHASE, insn, "tcgen05-alloc-order",
                            "tcgen05.alloc of %lld columns after one of %u: sizes must not grow",
                            (long long)columns, a->columns);
      if (v) ir_violation_related(machine->violations, v, a->insn->where, "the allocation before");
    }
  }
}

MachineStep event_tcgen05_alloc(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  CtaState *cta = cta_state(strand->warp->cta);
  WarpState *ws = warp_state(strand->warp);
  lanes_meet(&p->clocks, &ws->lanes, strand->active);
  p->cta_groups_used |= (uint64_t)group_of(insn);
  Value slot;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &slot);
  uint32_t left = strand->active;
  SharedPlace at = {.known = false};
  protocol_next_place(machine, strand, &slot, IR_SPACE_SHARED, &left, &at);
  int64_t columns;
  if (!protocol_operand(machine, strand, insn, IR_ROLE_columns, strand->active, &columns) ||
      origin_made_up(machine, insn, IR_ROLE_columns) || !at.known || at.rank < 0) {
    cta->alloc_unknown = true;
    machine_switch_off(machine, MACHINE_CHECK_FINISH, insn,
                       "the size or the place of a tcgen05.alloc is not known");
    return MACHINE_NEXT;
  }
  if (!strand->resume) check_alloc(machine, strand, insn, columns);
  uint32_t wanted = columns < 32 ? 32 : ((uint32_t)columns + 31) / 32 * 32, base = 0;
  bool oversized = columns > TMEM_COLUMNS;
  if (!oversized && !free_base(cta, wanted, &base)) {
    if (!strand->resume) {
      int64_t live_columns = wanted;
      for (int i = 0; i < cta->allocs.count; i++)
        live_columns += cta->allocs.items[i].freed ? 0 : cta->allocs.items[i].columns;
      if ((int)live_columns > p->tmem_columns_max) p->tmem_columns_max = (int)live_columns;
      cta->alloc_short = live_columns;
    }
    strand->resume = 1;
    machine_block(machine, strand, "tensor memory", never, describe_alloc, NULL, wanted);
    return MACHINE_BLOCKED;
  }
  TmemAlloc alloc = {.base = base,
                     .columns = oversized ? TMEM_COLUMNS : wanted,
                     .insn = insn,
                     .slot = at.offset,
                     .cta_group = group_of(insn),
                     .warp = strand->warp->index,
                     .lanes = strand->active,
                     .time = warp_state(strand->warp)->lanes.now};
  KC_PUSH(machine->arena, cta->allocs, alloc);
  int live_columns = 0;
  for (int i = 0; i < cta->allocs.count; i++)
    live_columns += cta->allocs.items[i].freed ? 0 : (int)cta->allocs.items[i].columns;
  if (oversized) live_columns = (int)columns;
  if (live_columns > p->tmem_columns_max) p->tmem_columns_max = live_columns;
  machine_shared_store(machine, at.rank, at.offset, 4, true, base);
  Access *access =
      protocol_thread_access(machine, strand, insn, ACTOR_THREAD, true, strand->active);
  race_touch(p->races, strand, access, -1, at.rank, at.offset, 4);
  return MACHINE_NEXT;
}

/* A tcgen05.ld that nothing waited for, of columns that are freed. */
static void unwaited(Machine *machine, const Access *load, uint32_t column, const IrInsn *insn,
                     uint32_t known) {
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, load->insn, "tcgen05-wait-ld-st-missing",
      "no tcgen05.wait::ld follows this tcgen05.ld before column %u is freed", column);
  if (!v) return;
  ir_violation_related(machine->violations, v, insn->where, "freed here");
  tmem_say_consumed(v, load, known);
}

/* Accesses of the freed columns that the warp does not know to be over. */
static void check_in_use(Machine *machine, Strand *strand, const IrInsn *insn,
                         const TmemAlloc *alloc) {
  const CtaState *cta = cta_state(strand->warp->cta);
  if (!cta->tmem) return;
  const LaneClocks *lanes = &warp_state(strand->warp)->lanes;
  for (uint32_t c = alloc->base; c < alloc->base + alloc->columns; c++)
    for (int q = 0; q < TMEM_PARTS; q++) {
      const TmemCell *cell = &cta->tmem[c * TMEM_PARTS + (uint32_t)q];
      for (int i = -1; i < 4; i++) {
        const Access *a = i < 0 ? cell->write : cell->reads[i];
        if (!a) continue;
        if (a->warp == (uint32_t)strand->warp->index && !by_queue(a) && a->time != CLOCK_NEVER)
          continue;
        if (lanes_know(&protocol_of(machine)->clocks, lanes, strand->active, a->agent, a->lanes,
                       a->time))
          continue;
        /* A relaxed cluster barrier orders what has been executed, if not what was written. */
        if (!by_queue(a) && clock_says(machine, warp_state(strand->warp)->reached, a)) continue;
        if (a->actor == ACTOR_TCGEN05_LD && a->time == CLOCK_NEVER) {
          const Clock *clock = lanes_group(lanes, first_lane(strand->active))->clock;
          unwaited(machine, a, c, insn,
                   a->warp == (uint32_t)strand->warp->index
                       ? lanes->now
                       : clock_time(&protocol_of(machine)->clocks, clock, a->agent,
                                    first_lane(a->lanes)));
          return;
        }
        bool peer = machine->warps[a->warp]->cta != strand->warp->cta;
        IrViolation *v = machine_violation(
            machine, MACHINE_CHECK_RACE, insn,
            peer ? "tcgen05-dealloc-before-peer" : "tcgen05-dealloc-in-use",
            "tcgen05.dealloc frees column %u while the %s at %s is not known to be complete", c,
            ir_event_mnemonic((IrEvent)a->insn->event), machine_line(machine, a->insn));
        if (v) ir_violation_related(machine->violations, v, a->insn->where, "still in use here");
        return;
      }
    }
}

/* The columns of a pair are given to both CTAs: none may free them before the other has got them.
 */
static void check_peer_alloc(Machine *machine, Strand *strand, const IrInsn *insn) {
  int peer = strand->warp->cta->rank ^ 1;
  if (group_of(insn) != 2 || peer >= machine->cluster_size) return;
  const CtaState *cta = cta_state(&machine->ctas[peer]);
  const WarpState *ws = warp_state(strand->warp);
  const TmemAlloc *a = NULL;
  for (int i = 0; i < cta->allocs.count && !a; i++)
    if (cta->allocs.items[i].cta_group == 2) a = &cta->allocs.items[i];
  if (cta->alloc_unknown) return;
  if (a) {
    const Clocks *clocks = &protocol_of(machine)->clocks;
    uint32_t agent = warp_state(machine->warps[a->warp])->lanes.agent;
    if (lanes_know(clocks, &ws->lanes, strand->active, agent, a->lanes, a->time)) return;
    if (ws->reached && !clock_behind(clocks, ws->reached, agent, a->lanes, a->time)) return;
  }
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "tcgen05-dealloc-before-peer",
      "CTA %d frees the columns of its pair, and nothing orders that after the tcgen05.alloc of "
      "CTA %d",
      strand->warp->cta->rank, peer);
  if (v && a) ir_violation_related(machine->violations, v, a->insn->where, "the peer's alloc");
}

MachineStep event_tcgen05_dealloc(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  CtaState *cta = cta_state(strand->warp->cta);
  lanes_meet(&protocol_of(machine)->clocks, &warp_state(strand->warp)->lanes, strand->active);
  protocol_of(machine)->cta_groups_used |= (uint64_t)group_of(insn);
  int64_t address, columns = -1;
  bool known = protocol_operand(machine, strand, insn, IR_ROLE_tmem, strand->active, &address);
  if (origin_made_up(machine, insn, IR_ROLE_tmem)) known = false;
  if (!origin_made_up(machine, insn, IR_ROLE_columns))
    protocol_operand(machine, strand, insn, IR_ROLE_columns, strand->active, &columns);
  if (!known) {
    machine_switch_off(machine, MACHINE_CHECK_FINISH, insn,
                       "the address of a tcgen05.dealloc is not known");
    return MACHINE_NEXT;
  }
  for (int i = 0; i < cta->allocs.count; i++) {
    TmemAlloc *a = &cta->allocs.items[i];
    if (a->freed || a->base != (uint32_t)address) continue;
    if (columns >= 0 && columns != (int64_t)a->columns) {
      IrViolation *v = machine_violation(
          machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-alloc-columns",
          "tcgen05.dealloc of %lld columns; the allocation has %u", (long long)columns, a->columns);
      if (v) ir_violation_related(machine->violations, v, a->insn->where, "allocated here");
    }
    check_in_use(machine, strand, insn, a);
    if (a->cta_group == 2) check_peer_alloc(machine, strand, insn);
    a->freed = true;
    a->freed_by = insn;
    return MACHINE_NEXT;
  }
  bool slot = false;
  for (int i = 0; i < cta->allocs.count; i++)
    slot = slot || (cta->allocs.items[i].slot == ((uint32_t)address & 0xffffff));
  if (cta->alloc_unknown) return MACHINE_NEXT;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-dealloc-address",
                    slot ? "tcgen05.dealloc is given 0x%llx, the address of the shared slot, not "
                           "the tensor-memory address in it"
                         : "tcgen05.dealloc is given 0x%llx, which no tcgen05.alloc returned",
                    (unsigned long long)address);
  cta->dealloc_failed = true;
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_relinquish(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  lanes_meet(&protocol_of(machine)->clocks, &warp_state(strand->warp)->lanes, strand->active);
  cta_state(strand->warp->cta)->relinquish = insn;
  return MACHINE_NEXT;
}

/* Kernels of 64 rows that run correctly address by warp % 2: worth a hint, no more. */
static void check_halves(Machine *machine, const LaneHalf *h) {
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, h->insn, "tcgen05-ld-lane-partition",
                        "%s addresses lane %u in warp %d, which reaches lanes %u to %u only",
                        ir_event_mnemonic((IrEvent)h->insn->event), h->lane, h->warp,
                        32 * ((uint32_t)h->warp % 4), 32 * ((uint32_t)h->warp % 4) + 31);
  if (!v) return;
  v->confidence = IR_FALLBACK;
  v->assumed = "that the lane field counts from lane 0, not within 64 rows";
}

/* Sums of no products at all, where there are no blocks of k, are hardly anybody's aim. */
static bool lacks_products(const Machine *machine) {
  bool any = false;
  for (int i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_tcgen05_mma) continue;
    if (machine->executed[i]) return false;
    any = true;
  }
  return any;
}

void tmem_finish(Machine *machine) {
  for (int i = 0; i < protocol_of(machine)->halves.count; i++)
    check_halves(machine, &protocol_of(machine)->halves.items[i]);
  for (int i = 0; i < protocol_of(machine)->unallocated.count; i++)
    check_use(machine, &protocol_of(machine)->unallocated.items[i]);
  bool whole = !machine->stuck && !machine->stopped && !lacks_products(machine) &&
               !protocol_of(machine)->unallocated.count;
  for (int i = 0; whole && i < protocol_of(machine)->vain_loads.count; i++)
    check_load(machine, &protocol_of(machine)->vain_loads.items[i]);
  for (int c = 0; c < machine->cluster_size; c++) {
    const CtaState *cta = cta_state(&machine->ctas[c]);
    if (!cta->allocs.count) continue;
    const TmemAlloc *first = &cta->allocs.items[0];
    if (!cta->relinquish && machine->kernel->min_blocks >= 2)
      machine_violation(machine, MACHINE_CHECK_FINISH, first->insn, "tcgen05-alloc-permit-held",
                        "tcgen05.alloc with no relinquish_alloc_permit in a kernel that asks for "
                        "%d CTAs on an SM: the second waits until the first exits",
                        machine->kernel->min_blocks);
    for (int i = 0; i < cta->allocs.count && !cta->dealloc_failed && !machine->stuck; i++) {
      const TmemAlloc *a = &cta->allocs.items[i];
      if (a->freed) continue;
      machine_violation(machine, MACHINE_CHECK_FINISH, a->insn, "tcgen05-dealloc-missing",
                        "%u tensor-memory columns are allocated and never freed", a->columns);
    }
  }
}
