/* setmaxnreg (PTX ISA 9.7.19.5): one pool of registers a CTA, what was allocated at launch. An
 * increase waits until the pool can give it; whether it ever can is a matter of the sum, which the
 * budget engine checks from MachineResult.warpgroup_registers. */
#include "arch/arch.h"
#include "machine/hardware/protocol.h"

void setmaxnreg_init(Machine *machine) {
  const IrKernel *kernel = machine->kernel;
  int64_t entry = kernel->maxnreg;
  if (!entry && kernel->has_launch_bounds && kernel->min_blocks > 0)
    entry = arch_launch_bounds_registers(machine->arch, kernel->max_threads, kernel->min_blocks);
  for (int i = 0; i < machine->cluster_size; i++) {
    CtaState *cta = cta_state(&machine->ctas[i]);
    cta->entry_registers = entry;
    cta->pool = entry > 0 ? 0 : -1;
  }
}

static bool enough(Machine *machine, const Strand *strand) {
  (void)machine;
  return cta_state(strand->warp->cta)->pool >= strand->wait_value;
}

static char *describe(Machine *machine, const Strand *strand) {
  const CtaState *cta = cta_state(strand->warp->cta);
  return kc_printf(machine->session->arena,
                   "%lld registers a thread more; the pool of the CTA has %lld left for one warp",
                   (long long)strand->wait_value, (long long)cta->pool);
}

static void check_uniform(Machine *machine, Strand *strand, const IrInsn *insn) {
  Cta *cta = strand->warp->cta;
  int first = strand->warp->id / 4 * 4;
  WarpState *ws = warp_state(strand->warp);
  ws->setmaxnreg_count++;
  ws->setmaxnreg_insn = insn;
  for (int i = first; i < first + 4 && i < cta->nwarps; i++) {
    const WarpState *other = warp_state(&cta->warps[i]);
    if (other == ws || other->setmaxnreg_count != ws->setmaxnreg_count ||
        other->setmaxnreg_value == ws->setmaxnreg_value)
      continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_PHASE, insn, "register-setmaxnreg-not-uniform",
        "warps %d and %d of one warpgroup ask for %lld and %lld registers: all four have to "
        "execute the same setmaxnreg",
        strand->warp->id, i, (long long)ws->setmaxnreg_value, (long long)other->setmaxnreg_value);
    if (v && other->setmaxnreg_insn && other->setmaxnreg_insn != insn)
      ir_violation_related(machine->violations, v, other->setmaxnreg_insn->where, "the other one");
    return;
  }
}

/* At the end: a warp that executed fewer than the others of its warpgroup. The card leaves the pool
 * in a state that nobody asked for, or waits. */
void setmaxnreg_finish(Machine *machine) {
  for (int i = 0; i < machine->nwarps; i++) {
    const Warp *warp = machine->warps[i];
    const WarpState *ws = warp_state(warp);
    if (!ws->setmaxnreg_count) continue;
    for (int j = warp->id / 4 * 4; j < warp->id / 4 * 4 + 4 && j < warp->cta->nwarps; j++) {
      const WarpState *other = warp_state(&warp->cta->warps[j]);
      if (other->setmaxnreg_count >= ws->setmaxnreg_count) continue;
      if (machine->stuck && warp->cta->warps[j].alive) continue; /* it may still come */
      IrViolation *v = machine_violation(
          machine, MACHINE_CHECK_FINISH, ws->setmaxnreg_insn, "register-setmaxnreg-not-uniform",
          "warp %d executes this setmaxnreg, warp %d of the same warpgroup does not: all four "
          "warps have to execute the same one",
          warp->id, j);
      if (v && other->setmaxnreg_insn)
        ir_violation_related(machine->violations, v, other->setmaxnreg_insn->where,
                             "the last one of warp %d", j);
      return;
    }
  }
}

/* An increase asks for more than the warp has, a decrease for less (PTX ISA 9.7.19.5). Bounds that
 * leave every thread all the registers there are don't say how many it begins with. */
static void check_direction(Machine *machine, Strand *strand, const IrInsn *insn, int64_t count,
                            int64_t now) {
  bool inc = insn->flags & IR_FLAG(inc);
  if (now <= 0 || now >= machine->arch->max_registers_per_thread ||
      (inc ? count >= now : count <= now))
    return;
  machine_violation(
      machine, MACHINE_CHECK_ALWAYS, insn, "register-setmaxnreg-below-entry",
      warp_state(strand->warp)->registers ? "setmaxnreg.%s to %lld registers, %s has %lld by then"
                                          : "setmaxnreg.%s to %lld registers, %s starts with %lld",
      inc ? "inc" : "dec", (long long)count, machine_who(machine, strand), (long long)now);
}

MachineStep event_setmaxnreg(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  CtaState *cta = cta_state(strand->warp->cta);
  lanes_meet(&p->clocks, &ws->lanes, strand->active);
  int64_t count;
  if (!protocol_operand(machine, strand, insn, IR_ROLE_count, strand->active, &count))
    return MACHINE_NEXT;
  if (!strand->resume) {
    ws->setmaxnreg_value = count;
    check_uniform(machine, strand, insn);
    check_direction(machine, strand, insn, count,
                    ws->registers ? ws->registers : cta->entry_registers);
  }
  if (count > p->registers_max) p->registers_max = (int)count;
  if (cta->pool < 0) {
    ws->registers = count;
    return MACHINE_NEXT;
  }
  int64_t now = ws->registers ? ws->registers : cta->entry_registers;
  if (count > now && cta->pool < count - now) {
    strand->resume = 1;
    machine_block(machine, strand, "register pool", enough, describe, NULL, count - now);
    return MACHINE_BLOCKED;
  }
  cta->pool += now - count;
  ws->registers = count;
  return MACHINE_NEXT;
}
