/* Fences (PTX ISA 9.7.13.4) and the async proxy (8.6). A proxy fence says of everything its threads
 * know or did that it is in order for the other proxy too; the saying travels with the next
 * release, so that a fence of the writer, of the reader or of someone between them counts. */
#include "machine/causes/cause.h"
#include "machine/checks/checks.h"
#include "machine/hardware/pdl.h"
#include "machine/hardware/protocol.h"

static bool is_release(const IrInsn *insn) {
  uint64_t sem = IR_FLAG(acquire) | IR_FLAG(release) | IR_FLAG(acq_rel) | IR_FLAG(sc);
  return (insn->flags & sem) != IR_FLAG(acquire);
}

static void publish(Machine *machine, Strand *strand) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (!ws->released) ws->released = clock_new(&p->clocks);
  lanes_release(&p->clocks, &ws->lanes, strand->active, ws->released);
}

MachineStep event_fence(Machine *machine, Strand *strand, const IrInsn *insn) {
  warp_state(strand->warp)->relaxed_wait = NULL;
  bool wide = (insn->flags & (IR_FLAG(scope_cluster) | IR_FLAG(scope_gpu) | IR_FLAG(scope_sys))) ||
              !(insn->flags & IR_FLAG(scope_cta));
  if (wide && is_release(insn)) {
    publish(machine, strand);
    if (!(insn->flags & IR_FLAG(scope_cluster)))
      warp_state(strand->warp)->wide_fence = machine->step ? machine->step : 1;
    warp_state(strand->warp)->narrow_stores = 0;
  }
  shares_order(machine, strand);
  return MACHINE_NEXT;
}

MachineStep event_fence_mbarrier_init(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  bool initialised = false;
  for (int i = 0; i < p->mbars.count; i++) {
    Mbar *bar = p->mbars.items[i];
    if (!bar->live || bar->init_warp != (uint32_t)strand->warp->index ||
        !(bar->init_lanes & strand->active))
      continue;
    bar->init_fenced = true;
    initialised = true;
  }
  cause_init_fence(machine, insn, initialised);
  publish(machine, strand);
  return MACHINE_NEXT;
}

MachineStep event_fence_proxy_async(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (insn->space == IR_SPACE_GLOBAL) return MACHINE_NEXT;
  lanes_split(&p->clocks, &ws->lanes, strand->active);
  for (int i = 0; i < ws->lanes.ngroups; i++) {
    const LaneGroup *group = &ws->lanes.groups[i];
    if (!(group->lanes & strand->active)) continue;
    for (int w = 0; w < machine->nwarps; w++)
      clock_lift(&p->clocks, group->clock, p->fenced_agent + (uint32_t)w, (uint32_t)w);
    clock_raise(&p->clocks, group->clock, p->fenced_agent + (uint32_t)strand->warp->index,
                group->lanes, ws->lanes.now);
  }
  for (int i = 0; i < p->mbars.count; i++) {
    Mbar *bar = p->mbars.items[i];
    if (bar->init_warp == (uint32_t)strand->warp->index && (bar->init_lanes & strand->active))
      bar->init_fenced = true;
  }
  ws->lanes.now++; /* what follows is not fenced */
  return MACHINE_NEXT;
}

MachineStep event_fence_proxy_tensormap(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (insn->flags & IR_FLAG(acquire))
    tensormap_acquired(machine, strand, insn);
  else
    tensormap_released(machine, strand, insn);
  return MACHINE_NEXT;
}
