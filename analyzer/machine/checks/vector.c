#include "machine/checks/checks.h"

#include "machine/execute/core.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

/* ---- alignment ---- */

static bool is_matrix(const IrInsn *insn) {
  return insn->op == IR_event && (insn->event == IR_EV_ldmatrix || insn->event == IR_EV_stmatrix);
}

/* The multiple that the address of an access has to be of; 0: any. */
static unsigned needed(const IrInsn *insn) {
  if (is_matrix(insn)) return !insn->shape.bytes || insn->shape.bytes == 16 ? 16 : 0;
  return insn->vector > 1 ? insn->vector : 0;
}

/* The first lane whose address is not a multiple; -1: none. */
static int first_misaligned(const MachineAccess *access, unsigned align, uint64_t *rest) {
  uint64_t bits = access->address.scalar;
  if (!access->address.uniform) {
    bits = 0;
    FOR_LANES(lane, access->lanes)
    bits |= access->address.lanes[lane];
  }
  if ((align & (align - 1)) == 0 && (bits & (align - 1)) == 0) return -1;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    if (access->space == IR_SPACE_SHARED) at &= 0xffffff;
    *rest = at % align;
    if (*rest) return (int)lane;
    if (access->address.uniform) break;
  }
  return -1;
}

/* Where the machine put an array is its own choice unless the declaration asks for that alignment:
 * then only the distance from the start of the array counts. */
static bool depends_on_placement(const Machine *machine, const IrObject *object, int id,
                                 unsigned align) {
  if (object->align >= align) return false;
  if (object->dynamic && align <= 16) return false;
  for (int i = 0; i < machine->kernel->objects.count; i++)
    if (i != id && machine->kernel->objects.items[i].space == IR_SPACE_SHARED) return true;
  return align > 16;
}

static void report_misaligned(Machine *machine, Strand *strand, const IrInsn *insn,
                              const MachineAccess *access, int lane, unsigned align,
                              uint64_t rest) {
  const IrOperand *address = slice_address(insn);
  if (address && slice_operand(machine->session, address).loads) return; /* an index from memory */
  uint64_t at = value_raw(access->address, lane), within = 0;
  const char *place = "global memory";
  int id = -1;
  if (access->space == IR_SPACE_SHARED) {
    place = protocol_place(machine, strand, (int)(at >> 24), (uint32_t)(at & 0xffffff));
    id = machine_shared_object(machine, at & 0xffffff, &within);
  } else {
    place = machine_place(machine, (MachineAddress){access->space, 0, at}, 0);
  }
  bool rows = is_matrix(insn);
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn,
                        rows ? "fragment-row-misaligned" : "vector-access-misaligned",
                        rows ? "lane %d gives %s row %s, %llu bytes past a multiple of %u"
                             : "lane %d makes %s at %s, %llu bytes past a multiple of %u",
                        lane,
                        rows ? ir_event_mnemonic((IrEvent)insn->event)
                             : kc_printf(machine->session->arena, "a %u-byte access", align),
                        place, (unsigned long long)rest, align);
  if (!v) return;
  ir_violation_fact(machine->violations, v, "align", "%u", align);
  if (id < 0) return;
  const IrObject *object = &machine->kernel->objects.items[id];
  if (object->where) ir_violation_related(machine->violations, v, object->where, "declared here");
  if (depends_on_placement(machine, object, id, align)) {
    v->confidence = IR_INFERRED;
    v->assumed = "where the arrays of shared memory are placed";
  }
}

static void check_alignment(Machine *machine, Strand *strand, const IrInsn *insn,
                            const MachineAccess *access) {
  unsigned align = needed(insn);
  uint64_t rest;
  if (!align) return;
  if (access->space == IR_SPACE_GLOBAL) { /* where objects of the module lie is not known */
    uint64_t at = value_raw(access->address, first_lane(access->lanes));
    if (at < IR_POINTER_BASE || at >= IR_GLOBAL_BASE) return;
  }
  int lane = first_misaligned(access, align, &rest);
  if (lane >= 0) report_misaligned(machine, strand, insn, access, lane, align, rest);
}

/* ---- bounds ---- */

#define ARRAY_UNKNOWN INT32_MIN

/* The static array that the address of an instruction is computed from, by the code; else -1. */
static int32_t array_of(Machine *machine, const IrInsn *insn) {
  ProtocolSession *session = session_protocol(machine->session);
  const IrKernel *kernel = machine->kernel;
  if (!session->array_of) {
    session->array_of = KC_NEW_ARRAY(machine->session->arena, int32_t, kernel->insns.count + 1);
    for (int i = 0; i < kernel->insns.count; i++)
      session->array_of[i] = ARRAY_UNKNOWN;
  }
  int32_t *slot = &session->array_of[insn - kernel->insns.items];
  if (*slot != ARRAY_UNKNOWN) return *slot;
  *slot = -1;
  const IrOperand *address = slice_address(insn);
  if (!address) return -1;
  Slice slice = slice_operand(machine->session, address);
  if (slice.object < 0 || slice.loads || slice.opaque) return -1;
  const IrObject *object = &kernel->objects.items[slice.object];
  if (!object->dynamic && object->bytes) *slot = slice.object;
  return *slot;
}

/* Branches on values that nobody knows and elements of arrays that the machine made up may lead
 * where no input leads. */
static bool is_realisable(const Machine *machine) {
  return core_session(machine)->decisions_used == 0 && !core_run(machine)->pattern_read;
}

static bool all_inside(const MachineAccess *access, uint64_t start, uint64_t end) {
  if (end - start < access->bytes) return false;
  uint64_t room = end - start - access->bytes;
  if (access->address.uniform) return (access->address.scalar & 0xffffff) - start <= room;
  bool inside = true;
  FOR_LANES(lane, access->lanes)
  inside &= (access->address.lanes[lane] & 0xffffff) - start <= room;
  return inside;
}

static void check_bounds(Machine *machine, Strand *strand, const IrInsn *insn,
                         const MachineAccess *access) {
  int32_t id = array_of(machine, insn);
  if (id < 0) return;
  const IrObject *object = &machine->kernel->objects.items[id];
  uint64_t start = machine->session->object_offset[id], end = start + object->bytes;
  if (all_inside(access, start, end)) return;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane) & 0xffffff;
    if (at >= start && at + access->bytes <= end) continue;
    if (!is_realisable(machine)) return;
    bool permuted = slice_operand(machine->session, slice_address(insn)).permutes;
    IrViolation *v =
        machine_violation(machine, MACHINE_CHECK_ALWAYS, insn,
                          permuted ? "smem-swizzle-escapes-row" : "smem-array-overrun",
                          "lane %u of %s accesses bytes %lld to %lld of %s, which has %llu", lane,
                          machine_who(machine, strand), (long long)(at - start),
                          (long long)(at + access->bytes - 1 - start), object->name,
                          (unsigned long long)object->bytes);
    if (v && object->where)
      ir_violation_related(machine->violations, v, object->where, "declared here");
    return;
  }
}

void vector_access(Machine *machine, Strand *strand, const IrInsn *insn,
                   const MachineAccess *access) {
  check_alignment(machine, strand, insn, access);
  if (access->space == IR_SPACE_SHARED) check_bounds(machine, strand, insn, access);
}

/* ---- cache policies ---- */

void vector_policy(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value policy;
  uint64_t bits;
  const IrOperand *operand = ir_arg(insn, IR_ROLE_policy);
  if (!operand || !machine_read_role(machine, strand, insn, IR_ROLE_policy, &policy) ||
      !value_same(policy, strand->active, &bits) || bits >> 60 == 1)
    return;
  Slice slice = slice_operand(machine->session, operand);
  if (slice.loads || slice.parameter || slice.opaque) return; /* the host may have made it */
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "cache-policy-operand",
                        "the cache policy of this %s is 0x%llx, which createpolicy never makes",
                        insn->op == IR_event ? "copy" : "access", (unsigned long long)bits);
  /* All ones stop the kernel on an H200; what small numbers mean is not said anywhere. */
  if (v && bits != UINT64_MAX) v->confidence = IR_INFERRED;
}
