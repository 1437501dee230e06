/* The instruction interpreter: operands, guards, branches, exits. Arithmetic, memory and warp
 * operations are in interp_alu.c, interp_mem.c and interp_warp.c; events go to the protocol half.
 */
#include "machine/execute/core.h"
#include "machine/execute/special.h"
#include "machine/inputs/origin.h"

/* ---- operands ---- */

static Value map_lanes(Machine *machine, Value v, uint32_t lanes, uint64_t add, uint64_t mul,
                       uint64_t flip) {
  if (v.uniform) {
    v.scalar = (v.scalar * mul + add) ^ flip;
    return v;
  }
  uint64_t *out = core_scratch(machine);
  FOR_LANES(lane, lanes)
  out[lane] = (v.lanes[lane] * mul + add) ^ flip;
  v.lanes = out;
  return v;
}

static Value read_register(Machine *machine, Strand *strand, const IrOperand *operand) {
  const MachineReg *reg = &strand->warp->regs[operand->id];
  if (reg->watched)
    protocol_reg_read(machine, strand, &machine->kernel->insns.items[strand->pc], operand->id);
  Value v = {reg->known, reg->lanes == NULL, reg->scalar, reg->lanes};
  if (!v.uniform && (strand->mask & (strand->mask - 1)) == 0) {
    int lane = __builtin_ctz(strand->mask);
    v = (Value){.known = reg->known >> lane & 1 ? MACHINE_ALL_LANES : 0,
                .uniform = true,
                .scalar = reg->lanes[lane]};
  }
  if (operand->value) v = map_lanes(machine, v, strand->mask, (uint64_t)operand->value, 1, 0);
  if (operand->negated) {
    IrType type = core_session(machine)->reg_type[operand->id];
    v = type.cls == IR_CLASS_PRED ? map_lanes(machine, v, strand->mask, 0, 1, 1)
                                  : map_lanes(machine, v, strand->mask, 0, UINT64_MAX, 0);
  }
  return v;
}

Value machine_read(Machine *machine, Strand *strand, const IrOperand *operand) {
  switch (operand->kind) {
  case IR_OPD_REG: return read_register(machine, strand, operand);
  case IR_OPD_IMM: return value_known((uint64_t)operand->value);
  case IR_OPD_SPECIAL: return core_special(machine, strand, (IrSpecial)operand->id);
  case IR_OPD_OBJECT: {
    const IrObject *object = &machine->kernel->objects.items[operand->id];
    uint64_t at = machine->session->object_offset[operand->id] + (uint64_t)operand->value;
    if (object->space == IR_SPACE_SHARED)
      at += IR_SHARED_BASE + ((uint64_t)strand->warp->cta->rank << 24);
    return value_known(at);
  }
  case IR_OPD_VECTOR:
    return operand->count > 0 ? machine_read(machine, strand, &operand->list[0]) : value_unknown(0);
  default: return value_unknown(core_hash((uint64_t)strand->pc, 11) & ~UINT64_C(1));
  }
}

bool machine_read_role(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                       Value *out) {
  const IrOperand *operand = ir_arg(insn, role);
  *out = value_unknown(0);
  if (!operand) return false;
  *out = machine_read(machine, strand, operand);
  return true;
}

void machine_write(Machine *machine, Strand *strand, const IrOperand *dst, Value value,
                   uint32_t lanes) {
  if (dst->kind == IR_OPD_REG) {
    core_write_reg(machine, strand, dst->id, value, lanes);
  } else if (dst->kind == IR_OPD_VECTOR) {
    for (int i = 0; i < dst->count; i++)
      machine_write(machine, strand, &dst->list[i], value, lanes);
  }
}

void machine_each_reg(const IrOperand *operand, void (*visit)(int32_t reg, void *user),
                      void *user) {
  if (operand->kind == IR_OPD_REG) visit(operand->id, user);
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    machine_each_reg(&operand->list[i], visit, user);
}

/* ---- destinations, for havoc ---- */

static bool is_destination_role(uint8_t role) {
  return role == IR_ROLE_dst || role == IR_ROLE_pred || role == IR_ROLE_acc;
}

int core_destinations(const IrInsn *insn) {
  switch (insn->op) {
  case IR_nop:
  case IR_store:
  case IR_copy:
  case IR_fill:
  case IR_branch:
  case IR_branch_index:
  case IR_exit:
  case IR_trap:
  case IR_event: return 0;
  case IR_setp: return insn->nargs - 2;
  case IR_unpack:
  case IR_opaque:
  case IR_load: return insn->sub ? insn->sub : 1;
  case IR_havoc: return insn->nargs;
  default: return 1;
  }
}

bool core_operand_is_written(const IrInsn *insn, int index) {
  if (insn->op == IR_event) return is_destination_role(insn->args[index].role);
  return index < core_destinations(insn);
}

static void havoc_store(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address = machine_read(machine, strand, &insn->args[0]);
  uint32_t lanes = strand->active & address.known;
  if (lanes != strand->active) core_forget_unknown(machine, strand, insn, (IrSpace)insn->space);
  for (int i = 1; i < insn->nargs && lanes; i++) {
    core_store(machine, strand, address, (IrSpace)insn->space, insn->type.bytes,
               value_fresh(machine), lanes);
    address = map_lanes(machine, address, strand->mask, insn->type.bytes, 1, 0);
  }
}

static void havoc_block(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address = machine_read(machine, strand, &insn->args[0]);
  Value bytes = machine_read(machine, strand, &insn->args[insn->op == IR_copy ? 2 : 1]);
  uint64_t where, count;
  if (!value_same(bytes, strand->active, &count)) return;
  FOR_LANES(lane, strand->active)
  if (value_lane(address, (int)lane, &where))
    core_fill(machine, strand, 1u << lane, where, count, false, 0);
}

void core_havoc_insn(Machine *machine, Strand *strand, const IrInsn *insn) {
  uint32_t lanes = strand->active;
  if (insn->op == IR_event) {
    for (int i = 0; i < insn->nargs; i++)
      if (is_destination_role(insn->args[i].role))
        machine_write(machine, strand, &insn->args[i], value_fresh(machine), lanes);
    return;
  }
  int count = core_destinations(insn);
  for (int i = 0; i < count && i < insn->nargs; i++)
    machine_write(machine, strand, &insn->args[i], value_fresh(machine), lanes);
  if (insn->op == IR_store) havoc_store(machine, strand, insn);
  if (insn->op == IR_copy || insn->op == IR_fill) havoc_block(machine, strand, insn);
}

/* ---- regions between a branch and its post-dominator ---- */

static void region_push(const IrKernel *kernel, int32_t at, int32_t stop, uint8_t *seen,
                        GArray *todo) {
  if (at == stop || at < 0 || at >= kernel->insns.count || seen[at]) return;
  seen[at] = 1;
  g_array_append_val(todo, at);
}

static gint by_index(gconstpointer a, gconstpointer b) {
  return *(const int32_t *)a - *(const int32_t *)b;
}

static void region_successors(const IrKernel *kernel, int32_t at, int32_t stop, uint8_t *seen,
                              GArray *todo) {
  const IrInsn *insn = &kernel->insns.items[at];
  if (insn->op == IR_branch) region_push(kernel, insn->target, stop, seen, todo);
  for (int i = 1; insn->op == IR_branch_index && i < insn->nargs; i++)
    region_push(kernel, (int32_t)insn->args[i].value, stop, seen, todo);
  bool ends =
      (insn->op == IR_branch || insn->op == IR_exit || insn->op == IR_trap) && insn->guard < 0;
  if (!ends) region_push(kernel, at + 1, stop, seen, todo);
}

static const CoreRegion *region_of(Machine *machine, int32_t pc) {
  const IrKernel *kernel = machine->kernel;
  CoreRegion *region = &core_session(machine)->regions[pc];
  if (region->computed) return region;
  region->computed = true;
  const IrInsn *branch = &kernel->insns.items[pc];
  uint8_t *seen = g_new0(uint8_t, kernel->insns.count);
  GArray *todo = g_array_new(FALSE, FALSE, sizeof(int32_t));
  region_successors(kernel, pc, branch->ipdom, seen, todo);
  for (guint i = 0; i < todo->len; i++) {
    int32_t at = g_array_index(todo, int32_t, i);
    const IrInsn *insn = &kernel->insns.items[at];
    bool data_only =
        insn->op == IR_event && insn->event >= IR_EV_elect && insn->event <= IR_EV_mma_sync;
    if ((ir_is_protocol(insn) && !data_only) || insn->op == IR_exit) region->protocol = true;
    region_successors(kernel, at, branch->ipdom, seen, todo);
  }
  if (branch->ipdom < 0) region->protocol = true;
  g_array_sort(todo, by_index);
  region->ninsns = (int)todo->len;
  region->insns = KC_NEW_ARRAY(machine->session->arena, int32_t, region->ninsns + 1);
  for (guint i = 0; i < todo->len; i++)
    region->insns[i] = g_array_index(todo, int32_t, i);
  g_array_unref(todo);
  g_free(seen);
  return region;
}

/* Nobody knows which way it goes and no event depends on it: what the region may write becomes
 * unknown, and the strand goes on behind it. Registers first, then stores, so that a store whose
 * address the region computes is met with that address unknown. */
static void havoc_region(Machine *machine, Strand *strand, const CoreRegion *region) {
  int32_t pc = strand->pc;
  strand->active = strand->mask;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < region->ninsns; i++) {
      const IrInsn *insn = &machine->kernel->insns.items[region->insns[i]];
      bool memory =
          insn->op == IR_store || insn->op == IR_copy || insn->op == IR_fill || insn->op == IR_atom;
      if ((pass == 1) != memory || insn->op == IR_trap) continue;
      strand->pc = region->insns[i];
      core_run(machine)->scratch_used = 0;
      core_havoc_insn(machine, strand, insn);
    }
  }
  strand->pc = pc;
}

/* ---- decisions ---- */

#define MAX_DECISIONS 64 /* of one run; further questions get the usual answer */
#define LOOP_ROUNDS 2    /* times that a loop which nobody knows the end of is gone through */

static bool reaches(const IrKernel *kernel, int32_t from, int32_t to) {
  uint8_t *seen = g_new0(uint8_t, kernel->insns.count + 1);
  GArray *todo = g_array_new(FALSE, FALSE, sizeof(int32_t));
  region_push(kernel, from, -1, seen, todo);
  bool found = false;
  for (guint i = 0; i < todo->len && !found; i++) {
    int32_t at = g_array_index(todo, int32_t, i);
    found = at == to;
    region_successors(kernel, at, -1, seen, todo);
  }
  g_array_unref(todo);
  g_free(seen);
  return found;
}

/* The usual answer: into the code behind the branch; in a loop, round it twice and then out. */
static bool usual_side(Machine *machine, const IrInsn *insn, int asked_before) {
  const IrKernel *kernel = machine->kernel;
  if (core_run(machine)->host) return core_host_decide(kernel, insn);
  if (insn->op != IR_branch) return asked_before < LOOP_ROUNDS;
  int32_t pc = (int32_t)(insn - kernel->insns.items);
  CoreRegion *region = &core_session(machine)->regions[pc];
  if (!region->sides_known) {
    region->sides_known = true;
    region->taken_returns = reaches(kernel, insn->target, pc);
    region->falls_returns = reaches(kernel, pc + 1, pc);
  }
  if (region->taken_returns == region->falls_returns) return asked_before >= 1 && asked_before & 1;
  bool stay = asked_before < LOOP_ROUNDS;
  return region->taken_returns ? stay : !stay;
}

bool core_decide(Machine *machine, uint64_t name, const IrInsn *insn) {
  CoreSession *session = core_session(machine);
  bool flip = name & 1;
  name &= ~UINT64_C(1);
  int asked_before = 0;
  for (int i = 0; i < session->decisions_used; i++) {
    if (session->decisions.items[i].name == name) return session->decisions.items[i].side ^ flip;
    asked_before += session->decisions.items[i].insn == insn;
  }
  if (session->decisions_used < session->decisions.count &&
      session->decisions.items[session->decisions_used].name == name)
    return session->decisions.items[session->decisions_used++].side ^ flip;
  if (session->decisions_used >= MAX_DECISIONS) {
    session->decisions_cut = true;
    return usual_side(machine, insn, LOOP_ROUNDS);
  }
  session->decisions.count = session->decisions_used;
  bool taken = usual_side(machine, insn, asked_before);
  CoreDecision decision = {
      .name = name, .side = taken ^ flip, .insn = insn, .both = asked_before >= 1};
  KC_PUSH(machine->session->arena, session->decisions, decision);
  session->decisions_used = session->decisions.count;
  return taken;
}

/* ---- assertions ---- */

#define TRAP_STEPS 32

typedef enum { TRAP_NONE, TRAP_TAKEN, TRAP_FALLS } TrapSide;

/* Whether nothing but a message stands between `pc` and a trap. */
static bool leads_to_trap(const IrKernel *kernel, int32_t pc) {
  for (int step = 0; step < TRAP_STEPS && pc >= 0 && pc < kernel->insns.count; step++) {
    const IrInsn *insn = &kernel->insns.items[pc];
    if (insn->op == IR_trap) return insn->guard < 0;
    if (insn->op == IR_exit || (insn->op == IR_branch && insn->guard >= 0) ||
        (insn->op == IR_event && insn->event != IR_EV_extern_call))
      return false;
    pc = insn->op == IR_branch ? insn->target : pc + 1;
  }
  return false;
}

/* The side of a branch that is a failed assertion. What happens there proves nothing, so that of a
 * condition that nobody knows the other side is taken. */
static TrapSide trap_side(Machine *machine, const IrInsn *insn) {
  const IrKernel *kernel = machine->kernel;
  int32_t pc = (int32_t)(insn - kernel->insns.items);
  CoreRegion *region = &core_session(machine)->regions[pc];
  if (region->trap_side == 0) {
    bool taken = leads_to_trap(kernel, insn->target), falls = leads_to_trap(kernel, pc + 1);
    region->trap_side = 1 + (taken == falls ? TRAP_NONE : taken ? TRAP_TAKEN : TRAP_FALLS);
  }
  return core_run(machine)->host ? TRAP_NONE : (TrapSide)(region->trap_side - 1);
}

/* ---- control ---- */

/* Splits the active lanes by the guard. */
static void guard_lanes(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t *yes,
                        uint32_t *unknown, uint64_t *name) {
  const MachineReg *reg = &strand->warp->regs[insn->guard];
  if (!reg->lanes && !reg->watched && (reg->known & strand->mask) == strand->mask) {
    *yes = (reg->scalar & 1) != insn->guard_negated ? strand->mask : 0;
    *unknown = 0;
    *name = 0;
    return;
  }
  IrOperand guard = {.kind = IR_OPD_REG, .id = insn->guard, .negated = insn->guard_negated};
  Value v = machine_read(machine, strand, &guard);
  *yes = 0;
  *unknown = strand->mask & ~v.known;
  uint32_t known = strand->mask & v.known;
  if (v.uniform) {
    if (v.scalar & 1) *yes = known;
  } else {
    FOR_LANES(lane, known)
    *yes |= (uint32_t)(v.lanes[lane] & 1) << lane;
  }
  *name = *unknown ? value_raw(v, __builtin_ctz(*unknown)) : 0;
}

static MachineStep jump(Strand *strand, int32_t to) {
  strand->pc = to;
  return MACHINE_JUMPED;
}

/* A host loop that has gone round often enough and reaches no launch fills arrays: what it would
 * still write is not needed, so that it is left as if its end were not known. */
static bool is_long_host_loop(Machine *machine, int32_t pc) {
  enum { HOST_LOOP_ROUNDS = 512 };
  CoreRun *run = core_run(machine);
  if (!run->host) return false;
  if (!run->visits)
    run->visits = KC_NEW_ARRAY(machine->arena, uint32_t, machine->kernel->insns.count);
  return ++run->visits[pc] > HOST_LOOP_ROUNDS && !region_of(machine, pc)->protocol;
}

/* Jumps with all lanes; a jump back may pass over rounds of a loop that show nothing new. */
static MachineStep jump_all(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (insn->target <= strand->pc && !core_run(machine)->host) core_loop_back(machine, strand);
  return jump(strand, insn->target);
}

MachineStep core_branch(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (insn->guard < 0) return jump_all(machine, strand, insn);
  if (is_long_host_loop(machine, strand->pc)) {
    havoc_region(machine, strand, region_of(machine, strand->pc));
    return jump(strand, insn->ipdom);
  }
  uint32_t yes, unknown;
  uint64_t name;
  guard_lanes(machine, strand, insn, &yes, &unknown, &name);
  if (unknown) {
    const CoreRegion *region = region_of(machine, strand->pc);
    if (!region->protocol) {
      havoc_region(machine, strand, region);
      return jump(strand, insn->ipdom);
    }
    TrapSide trap = trap_side(machine, insn);
    if (trap == TRAP_FALLS || (trap == TRAP_NONE && core_decide(machine, name, insn)))
      yes |= unknown;
  }
  if (yes == strand->mask) return jump_all(machine, strand, insn);
  if (yes) core_split(machine, strand, yes, insn->target);
  return jump(strand, strand->pc + 1);
}

MachineStep core_branch_index(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value index = machine_read(machine, strand, &insn->args[0]);
  uint32_t unknown = strand->mask & ~index.known;
  if (unknown) {
    const CoreRegion *region = region_of(machine, strand->pc);
    if (!region->protocol) {
      havoc_region(machine, strand, region);
      return jump(strand, insn->ipdom);
    }
    core_not_checked(machine->session, "%s: an unknown index controls synchronisation",
                     machine_line(machine, insn));
    return jump(strand, insn->nargs > 1 ? (int32_t)insn->args[1].value : strand->pc + 1);
  }
  int32_t next = strand->pc + 1;
  uint32_t left = strand->mask;
  while (left) {
    uint64_t which = value_raw(index, __builtin_ctz(left));
    uint32_t same = 0;
    FOR_LANES(lane, left)
    same |= (uint32_t)(value_raw(index, (int)lane) == which) << lane;
    int32_t to = which + 1 < insn->nargs ? (int32_t)insn->args[which + 1].value : next;
    left &= ~same;
    if (left)
      core_split(machine, strand, same, to);
    else
      return jump(strand, to);
  }
  return jump(strand, next);
}

MachineStep core_exit(Machine *machine, Strand *strand, uint32_t lanes) {
  protocol_exit(machine, strand, lanes);
  strand->warp->alive &= ~lanes;
  strand->mask &= ~lanes;
  core_run(machine)->effects++;
  if (strand->mask == 0) {
    core_strand_drop(strand);
    return MACHINE_JUMPED;
  }
  return MACHINE_NEXT;
}

static MachineStep trap(Machine *machine, const IrInsn *insn) {
  machine->trapped = machine->stopped = true;
  core_run(machine)->cut_reason = machine_line(machine, insn);
  return MACHINE_STOP;
}

bool machine_impossible_size(Machine *machine, const IrInsn *insn, IrRole role, uint32_t bytes,
                             uint32_t most) {
  const MachineSample *sample = machine->sample;
  if (bytes <= most || (sample->launched && sample->free_ints == 0)) return false;
  if (bytes >> 31 == 0 && !origin_made_up(machine, insn, role)) return false;
  trap(machine, insn);
  return true;
}

/* ---- one instruction ---- */

static bool is_quiet_event(const IrInsn *insn) {
  return insn->event == IR_EV_mbarrier_try_wait || insn->event == IR_EV_mbarrier_test_wait ||
         insn->event == IR_EV_fence || insn->event == IR_EV_warp_sync;
}

/* "120 cta0 warp1 ffffffff mbarrier.init full[0] (line 41)": the trace of --dump events. */
static void dump_event(Machine *machine, const Strand *strand, const IrInsn *insn) {
  g_string_append_printf(core_run(machine)->dump, "%llu cta%d warp%d %08x %s%s%s (%s)\n",
                         (unsigned long long)machine->step, strand->warp->cta->rank,
                         strand->warp->id, strand->active, ir_event_mnemonic((IrEvent)insn->event),
                         insn->text ? " " : "", insn->text ? insn->text : "",
                         machine_line(machine, insn));
}

static MachineStep event(Machine *machine, Strand *strand, const IrInsn *insn) {
  bool own = (insn->event >= IR_EV_elect && insn->event <= IR_EV_mma_sync) ||
             insn->event == IR_EV_nanosleep || insn->event == IR_EV_extern_call ||
             insn->event == IR_EV_other || insn->event >= IR_EV_host_device;
  if (own) return core_warp_op(machine, strand, insn);
  MachineStep step = protocol_event(machine, strand, insn);
  if (core_run(machine)->dump && step == MACHINE_NEXT) dump_event(machine, strand, insn);
  if (step == MACHINE_NEXT && !is_quiet_event(insn)) core_run(machine)->effects++;
  if (step == MACHINE_NEXT &&
      (insn->event == IR_EV_bar_sync || insn->event == IR_EV_bar_red ||
       insn->event == IR_EV_cluster_wait) &&
      strand->warp->index == 0)
    machine->most_generations++;
  return step;
}

static MachineStep dispatch(Machine *machine, Strand *strand, const IrInsn *insn) {
  switch (insn->op) {
  case IR_branch: return core_branch(machine, strand, insn);
  case IR_branch_index: return core_branch_index(machine, strand, insn);
  case IR_event: return event(machine, strand, insn);
  case IR_load:
  case IR_store:
  case IR_atom:
  case IR_copy:
  case IR_fill: return core_memory_op(machine, strand, insn);
  case IR_exit: return core_exit(machine, strand, strand->active);
  case IR_trap: return trap(machine, insn);
  case IR_havoc: core_havoc_insn(machine, strand, insn); return MACHINE_NEXT;
  case IR_nop: protocol_renew(machine, strand, insn); return MACHINE_NEXT;
  case IR_mov:
    if (insn->flags & IR_FLAG(cache_hint)) protocol_policy(machine, strand, insn);
    return core_alu(machine, strand, insn);
  case IR_opaque: protocol_multiply(machine, strand, insn); return core_alu(machine, strand, insn);
  default: return core_alu(machine, strand, insn);
  }
}

/* A guard that nobody knows: an event or exit is decided, everything else may or may not have
 * happened. */
static bool resolve_guard(Machine *machine, Strand *strand, const IrInsn *insn) {
  uint32_t yes, unknown;
  uint64_t name;
  guard_lanes(machine, strand, insn, &yes, &unknown, &name);
  if (unknown && insn->op != IR_trap) {
    if (ir_is_protocol(insn) || insn->op == IR_exit) {
      if (core_decide(machine, name, insn)) yes |= unknown;
    } else {
      strand->active = unknown;
      core_havoc_insn(machine, strand, insn);
    }
  }
  strand->active = yes;
  return yes != 0;
}

MachineStep core_execute(Machine *machine, Strand *strand) {
  const IrKernel *kernel = machine->kernel;
  strand->active = strand->mask;
  if (strand->pc >= kernel->insns.count) return core_exit(machine, strand, strand->mask);
  const IrInsn *insn = &kernel->insns.items[strand->pc];
  machine->step++;
  core_run(machine)->scratch_used = 0;
  if (insn->guard >= 0 && insn->op != IR_branch && !resolve_guard(machine, strand, insn))
    return MACHINE_NEXT;
  machine->executed[strand->pc] = 1;
  return dispatch(machine, strand, insn);
}
