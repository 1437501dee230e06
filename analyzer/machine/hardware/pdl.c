/* griddepcontrol (PTX ISA 9.7.13.13): who may read what the preceding grid writes. That a thread
 * has waited is knowledge like any other: whoever synchronises with it afterwards has it too. */
#include "machine/hardware/pdl.h"

#include "machine/hardware/bulk.h"

#include <string.h>

static uint32_t grid_agent(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (!p->grid_agent) p->grid_agent = clocks_agents(&p->clocks, 1);
  return p->grid_agent;
}

MachineStep event_griddep_wait(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  lanes_raise(&p->clocks, &ws->lanes, strand->active, grid_agent(machine), CLOCK_ALL_LANES, 1);
  ws->waited_grid = true;
  for (int i = 0; i < p->early_reads.count; i++)
    if (p->early_reads.items[i].warp == (uint32_t)strand->warp->index)
      p->early_reads.items[i].waited = insn;
  return MACHINE_NEXT;
}

MachineStep event_griddep_launch(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)machine;
  (void)strand;
  (void)insn;
  return MACHINE_NEXT;
}

/* Whether a launch of this kernel may overlap its predecessor: one says so, or none is known. */
static bool overlaps(const Machine *machine) {
  const MachineHostFacts *host = machine->session->host;
  bool any = false;
  for (int i = 0; host && i < host->launches.count; i++) {
    const MachineLaunch *launch = &host->launches.items[i];
    if (!launch->kernel || (strcmp(launch->kernel, machine->kernel->instantiation) != 0 &&
                            strcmp(launch->kernel, machine->kernel->name) != 0))
      continue;
    if (!launch->pdl_known || launch->pdl_attribute) return true;
    any = true;
  }
  return !any;
}

static bool read_late(const Protocol *p, uint64_t buffer) {
  for (int i = 0; i < p->late_buffers.count; i++)
    if (p->late_buffers.items[i] == buffer) return true;
  return false;
}

static void note_access(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t buffer,
                        bool write) {
  Protocol *p = protocol_of(machine);
  if (!p->first_global_read && !write) p->first_global_read = insn;
  WarpState *ws = warp_state(strand->warp);
  if (!p->has_grid_wait) return;
  if (lanes_know(&p->clocks, &ws->lanes, strand->active, grid_agent(machine), 1, 1)) {
    if (!write && !read_late(p, buffer)) KC_PUSH(machine->arena, p->late_buffers, buffer);
    return;
  }
  for (int i = 0; i < p->early_reads.count; i++)
    if (p->early_reads.items[i].insn == insn &&
        p->early_reads.items[i].warp == (uint32_t)strand->warp->index)
      return;
  EarlyRead early = {
      .insn = insn, .warp = (uint32_t)strand->warp->index, .buffer = buffer, .write = write};
  KC_PUSH(machine->arena, p->early_reads, early);
}

/* Words that one thread stores to and others update atomically: work counters. */
static void note_word(Machine *machine, const IrInsn *insn, const MachineAccess *access) {
  Protocol *p = protocol_of(machine);
  uint64_t address;
  if (access->kind == MACHINE_READ || !value_same(access->address, access->lanes, &address)) return;
  bool atomic = access->kind == MACHINE_ATOMIC;
  GlobalWord *word = NULL;
  for (int i = 0; i < p->words.count && !word; i++)
    if (p->words.items[i].address == address) word = &p->words.items[i];
  if (!word) {
    if (p->words.count >= 256) return;
    KC_PUSH(machine->arena, p->words, ((GlobalWord){.address = address}));
    word = &p->words.items[p->words.count - 1];
  }
  if (atomic && !word->atomic) {
    word->atomic = insn;
    word->atomic_step = machine->step;
  } else if (!atomic && !word->store) {
    word->store = insn;
    word->store_step = machine->step;
  }
}

static void check_words(Machine *machine) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->words.count; i++) {
    const GlobalWord *w = &p->words.items[i];
    if (!w->store || !w->atomic || w->store_step > w->atomic_step) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, w->store, "global-counter-init-race",
        "the global word is stored to here and updated atomically at %s by every block: no barrier "
        "orders the store before the atomics of the other blocks",
        machine_line(machine, w->atomic));
    if (v) ir_violation_related(machine->violations, v, w->atomic->where, "the atomic update");
  }
}

static bool is_reg(const IrOperand *operand, int32_t reg) {
  return operand->kind == IR_OPD_REG && operand->id == reg;
}

/* Whether the loop counts: adds a constant to a register and compares that register. A loop that
 * traps when it has counted enough is no better than one that never ends. */
static bool counts(const IrKernel *kernel, int first, int last) {
  bool compared = false;
  for (int i = first; i <= last; i++) {
    const IrInsn *add = &kernel->insns.items[i];
    if (add->op == IR_trap) return false;
    if (add->op != IR_add || add->nargs < 3 || add->args[2].kind != IR_OPD_IMM ||
        add->args[0].kind != IR_OPD_REG || !is_reg(&add->args[1], add->args[0].id))
      continue;
    for (int j = first; j <= last; j++) {
      const IrInsn *compare = &kernel->insns.items[j];
      if (compare->op == IR_setp && compare->nargs >= 3 &&
          (is_reg(&compare->args[1], add->args[0].id) ||
           is_reg(&compare->args[2], add->args[0].id)))
        compared = true;
    }
  }
  return compared;
}

/* A loop of a few instructions that only leaves when the loaded word changes. */
static bool polls(const IrKernel *kernel, const IrInsn *load) {
  enum { LOOP_LENGTH = 24 };
  uint64_t strong = IR_FLAG(volatile_) | IR_FLAG(acquire) | IR_FLAG(relaxed);
  if (load->op != IR_atom && !(load->op == IR_load && (load->flags & strong))) return false;
  int at = (int)(load - kernel->insns.items);
  for (int i = at + 1; i < kernel->insns.count && i <= at + LOOP_LENGTH; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_store ||
        (insn->op == IR_event && insn->event != IR_EV_nanosleep && insn->event != IR_EV_fence))
      return false;
    if (insn->op == IR_branch && insn->target <= at && at - insn->target <= LOOP_LENGTH)
      return !counts(kernel, insn->target, i);
  }
  return false;
}

static bool check_poll(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (!p->has_grid_wait || !polls(machine->kernel, insn) || !overlaps(machine) ||
      lanes_know(&p->clocks, &ws->lanes, strand->active, grid_agent(machine), 1, 1))
    return false;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, insn, "pdl-spin-before-wait",
      "%s polls global memory before griddepcontrol.wait: the grid that sets the word need not run "
      "at the same time",
      machine_who(machine, strand));
  if (!v) return true;
  v->confidence = IR_INFERRED;
  v->assumed = "that the preceding grid sets the word";
  return true;
}

void pdl_access(Machine *machine, Strand *strand, const IrInsn *insn, const MachineAccess *access) {
  if (access->lanes && check_poll(machine, strand, insn)) return;
  if (access->lanes) note_word(machine, insn, access);
  tensormap_access(machine, strand, insn, access);
  if (access->lanes && access->kind != MACHINE_READ && strand->active == access->lanes &&
      (access->kind == MACHINE_ATOMIC || (insn->flags & (IR_FLAG(release) | IR_FLAG(volatile_)))))
    bulk_signal(machine, strand, insn, access->lanes);
  if (access->kind == MACHINE_ATOMIC || insn->space == IR_SPACE_CONST || !access->lanes) return;
  uint64_t at = value_raw(access->address, first_lane(access->lanes));
  if (at < IR_POINTER_BASE || at >= IR_GLOBAL_BASE) return;
  note_access(machine, strand, insn, pdl_buffer(at), access->kind == MACHINE_WRITE);
}

void pdl_async_read(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t buffer) {
  note_access(machine, strand, insn, buffer, false);
}

/* The launch that lets this kernel overlap its predecessor, or NULL. */
static const MachineLaunch *overlapping_launch(const Machine *machine) {
  const MachineHostFacts *host = machine->session->host;
  for (int i = 0; host && i < host->launches.count; i++) {
    const MachineLaunch *launch = &host->launches.items[i];
    if (launch->kernel && launch->pdl_known && launch->pdl_attribute &&
        (strcmp(launch->kernel, machine->kernel->instantiation) == 0 ||
         strcmp(launch->kernel, machine->kernel->name) == 0))
      return launch;
  }
  return NULL;
}

static void check_no_wait(Machine *machine) {
  const Protocol *p = protocol_of(machine);
  const MachineLaunch *launch = overlapping_launch(machine);
  if (p->has_grid_wait || !launch || !p->first_global_read) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, p->first_global_read, "pdl-wait-missing",
      "the kernel is launched with programmatic stream serialization and reads global memory, but "
      "it never waits for the preceding grid (griddepcontrol.wait)");
  if (v) ir_violation_related(machine->violations, v, launch->where, "launched here");
}

/* How sure it is that the preceding grid writes what is read. That a launch lets the two overlap
 * and that threads which have waited read the same buffer says it; of a buffer that only others
 * read (weights, a bias) the author may well have thought. */
static IrConfidence early_confidence(const Protocol *p, const EarlyRead *r, bool launched) {
  if (r->write) return launched ? IR_INFERRED : IR_FALLBACK;
  bool same = read_late(p, r->buffer);
  if (!launched || (!same && p->late_buffers.count > 0)) return IR_FALLBACK;
  return same && !r->waited ? IR_PROVED_FORCED : IR_INFERRED;
}

static void report_early(Machine *machine, const EarlyRead *r, IrConfidence confidence) {
  const Warp *warp = machine->warps[r->warp];
  const char *does = r->write ? "stores to" : "reads";
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, r->insn, "pdl-read-before-wait",
      r->waited ? "warp %d %s global memory before its griddepcontrol.wait: the preceding grid may "
                  "still be %s it"
                : "warp %d %s global memory and neither it nor anything ordered before it executes "
                  "griddepcontrol.wait%s",
      warp->id, does,
      !r->waited ? ""
      : r->write ? "using"
                 : "writing");
  if (!v) return;
  v->confidence = confidence;
  if (r->write)
    v->assumed = "that the preceding grid uses what is stored to";
  else if (confidence != IR_PROVED_FORCED)
    v->assumed = "that the preceding grid writes what is read";
  if (r->waited)
    ir_violation_related(machine->violations, v, r->waited->where, "it waits only here");
}

/* Of what is advice one read of each buffer is enough. */
static bool said_before(const Protocol *p, int at) {
  const EarlyRead *r = &p->early_reads.items[at];
  for (int i = 0; i < at; i++) {
    const EarlyRead *other = &p->early_reads.items[i];
    if (other->buffer == r->buffer && other->write == r->write && !other->waited == !r->waited)
      return true;
  }
  return false;
}

void pdl_finish(Machine *machine) {
  Protocol *p = protocol_of(machine);
  check_words(machine);
  check_no_wait(machine);
  if (!p->early_reads.count || !overlaps(machine)) return;
  bool launched = overlapping_launch(machine) != NULL;
  for (int i = 0; i < p->early_reads.count; i++) {
    const EarlyRead *r = &p->early_reads.items[i];
    IrConfidence confidence = early_confidence(p, r, launched);
    if (confidence != IR_FALLBACK || !said_before(p, i)) report_early(machine, r, confidence);
  }
}
