#include "ir/ir.h"

static const char *const op_names[] = {
#define OP(name, operands) #name,
#include "ir/ops.def"
#undef OP
};

static const struct {
  const char *name, *mnemonic;
} events[] = {
    {"none", ""},
#define EVENT(name, mnemonic, roles) {#name, mnemonic},
#include "ir/events.def"
#undef EVENT
};

static const char *const role_names[] = {
    "none",
#define ROLE(name) #name,
#include "ir/roles.def"
#undef ROLE
};

const char *ir_op_name(IrOp op) {
  return (unsigned)op < IR_OP_COUNT ? op_names[op] : "?";
}

const char *ir_event_name(IrEvent event) {
  return (unsigned)event < IR_EVENT_COUNT ? events[event].name : "?";
}

const char *ir_event_mnemonic(IrEvent event) {
  return (unsigned)event < IR_EVENT_COUNT ? events[event].mnemonic : "?";
}

const char *ir_role_name(IrRole role) {
  return (unsigned)role < IR_ROLE_COUNT ? role_names[role] : "?";
}

const IrOperand *ir_arg(const IrInsn *insn, IrRole role) {
  for (int i = 0; i < insn->nargs; i++)
    if (insn->args[i].role == role) return &insn->args[i];
  return NULL;
}

bool ir_is_protocol(const IrInsn *insn) {
  if (insn->op == IR_trap || insn->op == IR_exit) return false;
  if (insn->op == IR_havoc) return insn->nargs == 0;
  if (insn->op != IR_event) return false;
  switch ((int)insn->event) {
  case IR_EV_activemask:
  case IR_EV_nanosleep:
  case IR_EV_extern_call:
  case IR_EV_other:
  case IR_EV_prefetch_tensormap:
  case IR_EV_bulk_prefetch:
  case IR_EV_bulk_tensor_prefetch:
  case IR_EV_clc_is_canceled:
  case IR_EV_clc_get_ctaid:
  case IR_EV_mbarrier_pending_count: return false;
  default: return true;
  }
}
