/* Operations among the lanes of a warp (PTX ISA 9.7.9 shfl, 9.7.13 vote, match, redux, elect,
 * activemask), matrix fragments through shared memory, and the events that only the host has. */
#include "machine/execute/core.h"

/* The lanes that the instruction waits for. Lanes may name different groups (those that a match or
 * a ballot gave them): `groups` is set, and all of them are meant. Of a mask that is not known
 * nothing is claimed: it names who is here. */
static uint32_t member_mask(Machine *machine, Strand *strand, const IrInsn *insn, bool *groups) {
  Value v;
  uint64_t mask;
  *groups = false;
  if (!ir_arg(insn, IR_ROLE_mask) || !machine_read_role(machine, strand, insn, IR_ROLE_mask, &v))
    return MACHINE_ALL_LANES;
  if (value_same(v, strand->mask, &mask)) return (uint32_t)mask;
  uint32_t named = 0, unknown = strand->active & ~v.known;
  *groups = true;
  FOR_LANES(lane, strand->active & v.known) named |= (uint32_t)value_raw(v, (int)lane);
  return unknown ? named | strand->active : named;
}

static void write_role(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                       Value value) {
  const IrOperand *dst = ir_arg(insn, role);
  if (dst) machine_write(machine, strand, dst, value, strand->active);
}

static void elect(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t members) {
  uint32_t candidates = strand->mask & members;
  if (candidates == 0) candidates = strand->mask;
  uint32_t leader = (uint32_t)__builtin_ctz(candidates);
  uint64_t *out = core_scratch(machine);
  for (uint32_t lane = 0; lane < 32; lane++)
    out[lane] = lane == leader;
  write_role(machine, strand, insn, IR_ROLE_dst, value_known(leader));
  write_role(machine, strand, insn, IR_ROLE_pred,
             value_from_lanes(machine, out, MACHINE_ALL_LANES, strand->active));
}

/* Source lane of a shuffle; *in_range as the predicate that the instruction may write. */
static int shuffle_source(IrShuffle how, int lane, int b, uint64_t clamp, bool *in_range) {
  int segment = (int)(clamp >> 8 & 31), bound = (int)(clamp & 31);
  int max_lane = (lane & segment) | (bound & ~segment), min_lane = lane & segment;
  int from = lane;
  switch (how) {
  case IR_SHFL_idx:
    from = min_lane | (b & ~segment & 31);
    *in_range = from <= max_lane;
    break;
  case IR_SHFL_up:
    from = lane - b;
    *in_range = from >= max_lane;
    break;
  case IR_SHFL_down:
    from = lane + b;
    *in_range = from <= max_lane;
    break;
  case IR_SHFL_bfly:
    from = lane ^ b;
    *in_range = from <= max_lane;
    break;
  }
  return *in_range && from >= 0 && from < 32 ? from : lane;
}

static void shuffle(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value v, b, c;
  machine_read_role(machine, strand, insn, IR_ROLE_value, &v);
  machine_read_role(machine, strand, insn, IR_ROLE_lane, &b);
  uint64_t clamp = insn->sub == IR_SHFL_up ? 0 : 31, given;
  if (machine_read_role(machine, strand, insn, IR_ROLE_clamp, &c) &&
      value_same(c, strand->mask, &given))
    clamp = given;
  uint64_t *out = core_scratch(machine), *pred = core_scratch(machine);
  uint32_t known = 0, pred_known = 0;
  FOR_LANES(lane, strand->active) {
    uint64_t delta;
    out[lane] = core_hash(value_raw(v, (int)lane), 71) & ~UINT64_C(1);
    pred[lane] = 0;
    if (!value_lane(b, (int)lane, &delta)) continue;
    bool in_range = false;
    int from = shuffle_source((IrShuffle)insn->sub, (int)lane, (int)(delta & 31), clamp, &in_range);
    pred[lane] = in_range;
    pred_known |= 1u << lane;
    bool here = strand->mask >> from & 1;
    out[lane] = here ? value_raw(v, from) : out[lane];
    known |= (uint32_t)(here && (v.known >> from & 1)) << lane;
  }
  Value result = value_from_lanes(machine, out, known, strand->active);
  write_role(machine, strand, insn, IR_ROLE_dst, result);
  write_role(machine, strand, insn, IR_ROLE_pred,
             value_from_lanes(machine, pred, pred_known, strand->active));
}

static void vote(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t members) {
  Value v;
  machine_read_role(machine, strand, insn, IR_ROLE_value, &v);
  uint32_t voters = strand->active & members, ballot = 0;
  FOR_LANES(lane, voters & v.known)
  ballot |= (uint32_t)(value_raw(v, (int)lane) != 0) << lane;
  uint32_t unknown = voters & ~v.known, no = voters & v.known & ~ballot;
  Value result = value_fresh(machine);
  switch (insn->sub) {
  case IR_VOTE_ballot:
    if (!unknown) result = value_known(ballot);
    break;
  case IR_VOTE_count:
    if (!unknown) result = value_known((uint64_t)__builtin_popcount(ballot));
    break;
  case IR_VOTE_all:
    if (no || !unknown) result = value_known(no == 0);
    break;
  case IR_VOTE_any:
    if (ballot || !unknown) result = value_known(ballot != 0);
    break;
  default:
    if (!unknown || (ballot && no)) result = value_known(ballot == 0 || no == 0);
  }
  /* One unknown value voted by all lanes: the answer is that value. */
  if (unknown == voters && v.uniform && (insn->sub == IR_VOTE_all || insn->sub == IR_VOTE_any))
    result = value_unknown(v.scalar);
  write_role(machine, strand, insn, IR_ROLE_dst, result);
}

static void match(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t members) {
  Value v;
  machine_read_role(machine, strand, insn, IR_ROLE_value, &v);
  uint32_t voters = strand->active & members;
  bool all = ir_arg(insn, IR_ROLE_pred) != NULL;
  uint64_t *out = core_scratch(machine), same;
  bool known = (voters & ~v.known) == 0;
  bool agree = value_same(v, voters, &same);
  FOR_LANES(lane, strand->active) {
    uint32_t equal = 0;
    FOR_LANES(other, voters)
    equal |= (uint32_t)(value_raw(v, (int)other) == value_raw(v, (int)lane)) << other;
    out[lane] = all ? (agree ? voters : 0) : equal;
  }
  Value result = known ? value_from_lanes(machine, out, MACHINE_ALL_LANES, strand->active)
                       : value_fresh(machine);
  write_role(machine, strand, insn, IR_ROLE_dst, result);
  write_role(machine, strand, insn, IR_ROLE_pred,
             known ? value_known(agree) : value_fresh(machine));
}

static int vector_count(const IrOperand *operand) {
  return operand && operand->kind == IR_OPD_VECTOR ? operand->count : 1;
}

/* Eight rows of 16 bytes a matrix; lanes 0-7 address the first, 8-15 the second ... */
static void matrix(Machine *machine, Strand *strand, const IrInsn *insn, bool is_load) {
  const IrOperand *data = ir_arg(insn, is_load ? IR_ROLE_dst : IR_ROLE_value);
  int matrices = vector_count(data);
  uint32_t rows = matrices >= 4 ? MACHINE_ALL_LANES : (1u << (8 * matrices)) - 1;
  Value address;
  machine_read_role(machine, strand, insn, IR_ROLE_addr, &address);
  IrSpace space = insn->space == IR_SPACE_NONE ? IR_SPACE_SHARED : (IrSpace)insn->space;
  if (!address.uniform)
    address = value_from_lanes(machine, address.lanes, address.known, strand->active);
  uint32_t bytes = insn->shape.bytes ? insn->shape.bytes : 16;
  if (is_load) {
    write_role(machine, strand, insn, IR_ROLE_dst, value_fresh(machine));
  } else {
    for (int i = 0; data && data->kind == IR_OPD_VECTOR && i < data->count; i++)
      machine_read(machine, strand, &data->list[i]);
    FOR_LANES(lane, strand->active & rows & address.known) {
      MachineAddress at = machine_address(machine, value_raw(address, (int)lane), space);
      if (at.space == IR_SPACE_SHARED) machine_shared_forget(machine, at.rank, at.offset, bytes);
    }
  }
  core_access(machine, strand, insn, is_load ? MACHINE_READ : MACHINE_WRITE, address, space, bytes,
              strand->active & rows);
}

static void read_all(Machine *machine, Strand *strand, const IrOperand *operand) {
  if (operand->kind == IR_OPD_VECTOR) {
    for (int i = 0; i < operand->count; i++)
      read_all(machine, strand, &operand->list[i]);
  } else {
    machine_read(machine, strand, operand);
  }
}

static void opaque(Machine *machine, Strand *strand, const IrInsn *insn) {
  for (int i = 0; i < insn->nargs; i++)
    if (insn->args[i].role != IR_ROLE_dst && insn->args[i].role != IR_ROLE_pred)
      read_all(machine, strand, &insn->args[i]);
  core_havoc_insn(machine, strand, insn);
}

/* Lanes that run a `.sync` operation must be in its member mask (PTX ISA 9.7.9.6). */
static void check_members(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t members) {
  uint32_t outside = strand->active & ~members;
  if (!outside || !ir_arg(insn, IR_ROLE_mask)) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "warp-sync-mask-mismatch",
                    "%s is executed by lanes 0x%08x of %s that are not in its member mask 0x%08x",
                    ir_event_mnemonic((IrEvent)insn->event), outside, machine_who(machine, strand),
                    members);
}

MachineStep core_warp_op(Machine *machine, Strand *strand, const IrInsn *insn) {
  uint32_t members;
  bool groups;
  switch (insn->event) {
  case IR_EV_elect:
  case IR_EV_shfl:
  case IR_EV_vote:
  case IR_EV_match:
  case IR_EV_redux:
    members = member_mask(machine, strand, insn, &groups);
    if (!machine_converge(machine, strand, members)) return MACHINE_BLOCKED;
    if (strand->active & ~members) /* lanes of other groups have joined */
      members = member_mask(machine, strand, insn, &groups);
    check_members(machine, strand, insn, members);
    protocol_warp_op(machine, strand, insn);
    if (insn->event == IR_EV_elect) elect(machine, strand, insn, members);
    if (insn->event == IR_EV_shfl) shuffle(machine, strand, insn);
    bool one_answer = insn->event == IR_EV_vote || insn->event == IR_EV_match;
    if (insn->event == IR_EV_redux || (groups && one_answer)) {
      opaque(machine, strand, insn);
      return MACHINE_NEXT;
    }
    if (insn->event == IR_EV_vote) vote(machine, strand, insn, members);
    if (insn->event == IR_EV_match) match(machine, strand, insn, members);
    return MACHINE_NEXT;
  case IR_EV_activemask:
    write_role(machine, strand, insn, IR_ROLE_dst, value_known(strand->mask));
    return MACHINE_NEXT;
  case IR_EV_ldmatrix:
  case IR_EV_stmatrix:
    if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
    matrix(machine, strand, insn, insn->event == IR_EV_ldmatrix);
    return MACHINE_NEXT;
  case IR_EV_mma_sync:
    if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
    protocol_multiply(machine, strand, insn);
    opaque(machine, strand, insn);
    return MACHINE_NEXT;
  case IR_EV_extern_call:
    protocol_extern_call(machine, strand, insn);
    opaque(machine, strand, insn);
    return MACHINE_NEXT;
  case IR_EV_nanosleep: return MACHINE_NEXT;
  case IR_EV_other: opaque(machine, strand, insn); return MACHINE_NEXT;
  default: return core_host_event(machine, strand, insn);
  }
}
