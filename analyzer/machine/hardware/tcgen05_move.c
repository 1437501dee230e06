/* tcgen05: loads and stores of a warp, their waits, and the thread-sync fences (PTX ISA 9.7.16). */
#include "machine/hardware/tmem.h"
#include "machine/inputs/origin.h"

/* The address of the active lanes, unless a number made up for this run has gone into it. */
static bool known_address(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t *out) {
  Value v;
  return machine_read_role(machine, strand, insn, IR_ROLE_tmem, &v) &&
         value_same(v, strand->active, out) && !origin_made_up(machine, insn, IR_ROLE_tmem);
}

static uint32_t columns_of(const IrInsn *insn) {
  uint32_t num = insn->shape.k ? insn->shape.k : 1;
  switch (insn->shape.n) {
  case 64: return 2 * num;
  case 128: return 4 * num;
  case 256: return 8 * num;
  default: return num; /* 32x32b, 16x32bx2 */
  }
}

/* The lanes of its quadrant that a load or store of a warp reaches. */
static uint32_t parts_of(const IrInsn *insn, int warp, uint32_t address) {
  uint32_t both = 3u << (2 * (warp % 4));
  bool half = insn->shape.m == 16 && insn->shape.n >= 64;
  if (!half) return both;
  return 1u << (2 * (warp % 4) + (address >> 20 & 1));
}

static MachineStep move(Machine *machine, Strand *strand, const IrInsn *insn, bool store) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  lanes_meet(&p->clocks, &ws->lanes, strand->active);
  const char *what = store ? "tcgen05.st" : "tcgen05.ld";
  uint64_t address;
  int warp = strand->warp->id;
  Access *load = NULL;
  if (known_address(machine, strand, insn, &address)) {
    uint32_t lane = (uint32_t)address >> 16 & 0x7f, own = 32 * ((uint32_t)warp % 4);
    /* A field below 32 is left alone: epilogues pass the base, or the half of a 16-lane shape, as
     * it is and mean their own lanes. */
    bool elsewhere = lane >= 32 && (lane < own || lane >= own + 32);
    if (elsewhere && lane < 64 && lane / 32 % 2 == (uint32_t)warp % 2) {
      KC_PUSH(machine->arena, p->halves, ((LaneHalf){insn, lane, warp}));
    } else if (elsewhere) {
      IrViolation *v =
          machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-ld-lane-partition",
                            "%s addresses lane %u in warp %d, which reaches lanes %u to %u only",
                            what, lane, warp, own, own + 31);
      if (v) ir_violation_fact(machine->violations, v, "lane", "%u", lane);
    }
    uint32_t count = columns_of(insn);
    tmem_check_allocated(machine, strand, insn, strand->warp->cta->rank, (uint32_t)address, count,
                         what);
    Access *access =
        race_access(p->races, &(Access){.agent = ws->lanes.agent,
                                        .lanes = strand->active,
                                        .time = CLOCK_NEVER,
                                        .issued = ws->lanes.now,
                                        .warp = (uint32_t)strand->warp->index,
                                        .issuers = strand->active,
                                        .actor = store ? ACTOR_TCGEN05_ST : ACTOR_TCGEN05_LD,
                                        .write = store,
                                        .insn = insn,
                                        .step = machine->step});
    tmem_touch(machine, strand, access, strand->warp->cta->rank, (uint32_t)address & 0xffff, count,
               parts_of(insn, warp, (uint32_t)address));
    if (!store && !elsewhere)
      tmem_loaded(machine, strand, insn, (uint32_t)address & 0xffff, count,
                  parts_of(insn, warp, (uint32_t)address));
    if (store)
      KC_PUSH(machine->arena, ws->tcgen05_st, access);
    else
      KC_PUSH(machine->arena, ws->tcgen05_ld, access);
    load = access;
  } else if (store) {
    cta_state(strand->warp->cta)->tmem_unknown = true;
  }
  if (!load && !origin_made_up(machine, insn, IR_ROLE_tmem)) {
    tmem_check_any_alloc(machine, strand, insn, what);
  }
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (!store && dst) machine_write(machine, strand, dst, value_fresh(machine), strand->active);
  if (!store && dst && load) tload_fill(machine, strand, dst, load);
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_ld(Machine *machine, Strand *strand, const IrInsn *insn) {
  return move(machine, strand, insn, false);
}

MachineStep event_tcgen05_st(Machine *machine, Strand *strand, const IrInsn *insn) {
  return move(machine, strand, insn, true);
}

MachineStep event_tcgen05_wait_ld(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)insn;
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  WarpState *ws = warp_state(strand->warp);
  lanes_meet(&protocol_of(machine)->clocks, &ws->lanes, strand->active);
  for (int i = 0; i < ws->tcgen05_ld.count; i++)
    ws->tcgen05_ld.items[i]->time = ws->lanes.now;
  ws->tcgen05_ld.count = 0;
  ws->tcgen05_waited = ws->lanes.now;
  tload_waited(strand);
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_wait_st(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)insn;
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  WarpState *ws = warp_state(strand->warp);
  lanes_meet(&protocol_of(machine)->clocks, &ws->lanes, strand->active);
  for (int i = 0; i < ws->tcgen05_st.count; i++)
    ws->tcgen05_st.items[i]->time = ws->lanes.now;
  ws->tcgen05_st.count = 0;
  ws->tcgen05_waited = ws->lanes.now;
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_fence_before(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)insn;
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  uint32_t agent = p->before_agent + (uint32_t)strand->warp->index;
  lanes_raise(&p->clocks, &ws->lanes, strand->active, agent, strand->active, ws->lanes.now);
  /* tcgen05.ld, .st and their waits are the whole warp's: a thread that is elected behind the wait
   * fences them for all */
  if (ws->tcgen05_waited)
    lanes_raise(&p->clocks, &ws->lanes, strand->active, agent, ~strand->active, ws->tcgen05_waited);
  ws->lanes.now++;
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_fence_after(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)insn;
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  lanes_split(&p->clocks, &ws->lanes, strand->active);
  for (int i = 0; i < ws->lanes.ngroups; i++) {
    LaneGroup *group = &ws->lanes.groups[i];
    if (!(group->lanes & strand->active)) continue;
    clock_free(&p->clocks, group->after);
    group->after = clock_copy(&p->clocks, group->clock);
  }
  return MACHINE_NEXT;
}
