/* An instruction that fits a form of the table, as an event: operands by role, attributes and
 * numbers from the modifiers. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

static IrEvent event_of(const char *name) {
  for (int i = 1; i < IR_EVENT_COUNT; i++)
    if (strcmp(ir_event_name((IrEvent)i), name) == 0) return (IrEvent)i;
  return IR_EV_other;
}

static IrRole role_of(const char *name) {
  for (int i = 1; i < IR_ROLE_COUNT; i++)
    if (strcmp(ir_role_name((IrRole)i), name) == 0) return (IrRole)i;
  return IR_ROLE_other;
}

static uint64_t flag_of(const char *name) {
  static const char *const names[] = {
#define FLAG(flag) #flag,
#include "ir/flags.def"
#undef FLAG
  };
  for (int i = 0; i < IR_FLAG_COUNT; i++)
    if (strcmp(names[i], name) == 0) return UINT64_C(1) << i;
  return 0;
}

static bool is_written(IrRole role) {
  return role == IR_ROLE_dst || role == IR_ROLE_pred || role == IR_ROLE_acc;
}

typedef struct Event {
  PtxArgs args;
  uint64_t flags;
  const char *text;
  IrRole text_role;
} Event;

static void add(PtxLowering *lowering, Event *event, const char *role_name,
                const PtxOperand *operand) {
  if (strcmp(role_name, "-") == 0) return;
  if (role_name[0] == '+') { /* an immediate that is an attribute: imm-trans-a */
    if (operand->kind == PTX_IMM && operand->value != 0) event->flags |= flag_of(role_name + 1);
    return;
  }
  IrRole role = role_of(role_name);
  IrOperand value;
  if (operand->kind == PTX_VECTOR && is_written(role)) {
    PtxArgs list = {0};
    ptx_flatten(lowering, operand, true, &list);
    value = (IrOperand){.kind = IR_OPD_VECTOR, .list = list.items, .count = list.count};
  } else {
    value = is_written(role) ? ptx_write(lowering, operand) : ptx_read(lowering, operand);
  }
  if (value.kind == IR_OPD_SINK) return;
  KC_PUSH(lowering->arena, event->args, ir_as(value, role));
  const char *text = ptx_source_text(lowering, operand);
  bool better = role == IR_ROLE_mbar || (role == IR_ROLE_addr && event->text_role != IR_ROLE_mbar);
  if (text && (!event->text || better)) {
    event->text = text;
    event->text_role = role;
  }
}

static void add_operand(PtxLowering *lowering, Event *event, const IsaOperand *form,
                        const PtxOperand *operand) {
  if (form->kind == ISA_PAIR && operand->kind == PTX_PAIR) {
    add_operand(lowering, event, &form->list[0], &operand->list[0]);
    add_operand(lowering, event, &form->list[1], &operand->list[1]);
    return;
  }
  add(lowering, event, form->role, operand);
  if (form->kind != ISA_ADDRESS || operand->kind != PTX_ADDRESS) return;
  for (int i = 0; i < form->nlist && i + 1 < operand->count; i++)
    add_operand(lowering, event, &form->list[i], &operand->list[i + 1]);
}

/* ---- numbers in the mnemonic ---- */

static IrData data_of(const char *modifier) {
  static const struct {
    const char *name;
    IrData data;
  } names[] = {
      {"f16", IR_DATA_f16},   {"bf16", IR_DATA_bf16},   {"tf32", IR_DATA_tf32},
      {"f32", IR_DATA_f32},   {"f64", IR_DATA_f64},     {"e4m3", IR_DATA_e4m3},
      {"e5m2", IR_DATA_e5m2}, {"e3m2", IR_DATA_e3m2},   {"e2m3", IR_DATA_e2m3},
      {"e2m1", IR_DATA_e2m1}, {"s8", IR_DATA_s8},       {"u8", IR_DATA_u8},
      {"s4", IR_DATA_s4},     {"u4", IR_DATA_u4},       {"b1", IR_DATA_b1},
      {"s32", IR_DATA_s32},   {"ue8m0", IR_DATA_ue8m0}, {"ue4m3", IR_DATA_ue4m3},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i].name, modifier) == 0) return names[i].data;
  return IR_DATA_none;
}

static IrKind kind_of(const char *name) {
  static const char *const names[] = {"",   "f16",      "tf32", "f8f6f4",
                                      "i8", "mxf8f6f4", "mxf4", "mxf4nvf4"};
  for (size_t i = 1; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], name) == 0) return (IrKind)i;
  return IR_KIND_none;
}

/* m64n128k16, and 16x256b (lanes x bits) of tcgen05.ld, st and cp */
static void read_dimensions(const char *modifier, IrShape *shape) {
  char *end;
  if (modifier[0] == 'm' && isdigit((unsigned char)modifier[1])) {
    shape->m = (uint16_t)strtol(modifier + 1, &end, 10);
    if (*end == 'n') shape->n = (uint16_t)strtol(end + 1, &end, 10);
    if (*end == 'k') shape->k = (uint16_t)strtol(end + 1, &end, 10);
  } else if (isdigit((unsigned char)modifier[0])) {
    long first = strtol(modifier, &end, 10);
    if (strcmp(end, "d") == 0) shape->dim = (uint8_t)first;
    if (*end != 'x' || !isdigit((unsigned char)end[1])) return;
    shape->m = (uint16_t)first;
    shape->n = (uint16_t)strtol(end + 1, NULL, 10);
  } else if (modifier[0] == 'x' && isdigit((unsigned char)modifier[1])) {
    shape->k = (uint16_t)strtol(modifier + 1, NULL, 10);
  }
}

static void read_shape(const PtxInsn *insn, IrShape *shape) {
  int data = 0;
  uint8_t *types[] = {&shape->d_type, &shape->a_type, &shape->b_type};
  for (int i = 0; i < insn->nmodifiers; i++) {
    const char *modifier = insn->modifiers[i];
    read_dimensions(modifier, shape);
    if (strncmp(modifier, "kind::", 6) == 0) shape->kind = (uint8_t)kind_of(modifier + 6);
    if (strncmp(modifier, "scale_vec::", 11) == 0) shape->scale_vec = (uint8_t)atoi(modifier + 11);
    if (strcmp(modifier, "block16") == 0) shape->scale_vec = 16;
    if (strcmp(modifier, "block32") == 0) shape->scale_vec = 32;
    IrData type = data_of(modifier);
    if (type != IR_DATA_none && data < 3) *types[data++] = (uint8_t)type;
  }
}

static void read_sub(const PtxInsn *insn, IrInsn *emitted) {
  static const struct {
    IrEvent event;
    const char *modifier;
    int sub;
  } names[] = {
      {IR_EV_vote, "all", IR_VOTE_all},
      {IR_EV_vote, "any", IR_VOTE_any},
      {IR_EV_vote, "uni", IR_VOTE_uni},
      {IR_EV_vote, "ballot", IR_VOTE_ballot},
      {IR_EV_match, "any", IR_VOTE_any},
      {IR_EV_match, "all", IR_VOTE_all},
      {IR_EV_bar_red, "and", IR_VOTE_all},
      {IR_EV_bar_red, "or", IR_VOTE_any},
      {IR_EV_bar_red, "popc", IR_VOTE_count},
      {IR_EV_shfl, "idx", IR_SHFL_idx},
      {IR_EV_shfl, "up", IR_SHFL_up},
      {IR_EV_shfl, "down", IR_SHFL_down},
      {IR_EV_shfl, "bfly", IR_SHFL_bfly},
      {IR_EV_clc_get_ctaid, "get_first_ctaid::x", 0},
      {IR_EV_clc_get_ctaid, "get_first_ctaid::y", 1},
      {IR_EV_clc_get_ctaid, "get_first_ctaid::z", 2},
      {IR_EV_clc_get_ctaid, "v4", 3},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].event == (IrEvent)emitted->event && ptx_has(insn, names[i].modifier))
      emitted->sub = (uint8_t)names[i].sub;
}

/* Bytes that one executing thread moves, where the mnemonic says it. */
static void read_bytes(const PtxInsn *insn, IrInsn *emitted) {
  switch ((int)emitted->event) {
  case IR_EV_st_async:
  case IR_EV_red_async: {
    int vector = ptx_has(insn, "v2") ? 2 : ptx_has(insn, "v4") ? 4 : 1;
    emitted->shape.bytes = (uint32_t)(emitted->type.bytes * vector);
    break;
  }
  case IR_EV_clc_try_cancel:
  case IR_EV_ldmatrix:
  case IR_EV_stmatrix: emitted->shape.bytes = 16; break;
  default: break;
  }
}

static void read_spaces(const PtxInsn *insn, const IsaForm *form, IrInsn *emitted) {
  IrSpace found[2] = {IR_SPACE_NONE, IR_SPACE_NONE};
  int count = 0;
  for (int i = 0; i < insn->nmodifiers && count < 2; i++) {
    IrSpace space = ptx_space(insn->modifiers[i]);
    if (space != IR_SPACE_NONE) found[count++] = space;
  }
  bool addressed = false;
  for (int i = 0; i < form->noperands; i++)
    addressed = addressed || (form->operands[i].kind == ISA_ADDRESS &&
                              strcmp(form->operands[i].role, "tmem") != 0);
  emitted->space = (uint8_t)(count == 0 && addressed ? IR_SPACE_GENERIC : found[0]);
  emitted->src_space = (uint8_t)found[1];
}

/* One kernel works with single CTAs or with pairs, not with both (PTX ISA 9.7.16.1). */
static void check_cta_group(PtxLowering *lowering, const PtxInsn *insn, uint64_t flags) {
  IrKernel *kernel = lowering->b->kernel;
  int group = flags & IR_FLAG(cta_group2) ? 1 : flags & IR_FLAG(cta_group1) ? 0 : -1;
  if (group < 0 || strcmp(insn->opcode, "tcgen05") != 0 || kernel->cta_group_where[group]) return;
  uint32_t where = lowering->b->where;
  kernel->cta_group_where[group] = where;
  uint32_t other = kernel->cta_group_where[!group];
  if (!other) return;
  IrViolation *v =
      ir_violation(lowering->violations, "tcgen05-cta-group-mixed", kernel, where,
                   "'%s' uses .cta_group::%d in a kernel that uses .cta_group::%d elsewhere",
                   insn->text, group + 1, !group + 1);
  v->caret = ptx_caret(lowering, insn->begin, insn->opcode_end);
  ir_violation_related(lowering->violations, v, other, ".cta_group::%d here", !group + 1);
}

void ptx_lower_event(PtxLowering *lowering, const PtxInsn *insn, const IsaForm *form) {
  IrBuilder *b = lowering->b;
  IsaCall call = ptx_call(lowering, insn);
  const IsaOperand **bound = KC_NEW_ARRAY(lowering->arena, const IsaOperand *, call.nargs);
  Event event = {0};
  if (isa_bind(form, &call, bound))
    for (int i = 0; i < call.nargs; i++)
      if (bound[i]) add_operand(lowering, &event, bound[i], &insn->operands[i]);
  for (int i = 0; form->flags[i]; i++)
    event.flags |= flag_of(form->flags[i]);
  for (int i = 0; i < insn->nmodifiers; i++) {
    const char *flag = isa_modifier_flag(insn->modifiers[i]);
    if (flag) event.flags |= flag_of(flag);
  }
  IrInsn *emitted =
      ir_emit_event(b, event_of(form->event), event.args.items, event.args.count, event.flags);
  ptx_last_type(insn, &emitted->type);
  check_cta_group(lowering, insn, emitted->flags);
  if (!emitted->text) emitted->text = event.text;
  read_shape(insn, &emitted->shape);
  read_sub(insn, emitted);
  read_bytes(insn, emitted);
  read_spaces(insn, form, emitted);
  ptx_guard(lowering, insn, emitted);
}
