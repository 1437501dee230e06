/* The instruction table's verdict on one instruction, as violations with a caret. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/lower.h"

static IsaArg arg_of(PtxLowering *lowering, const PtxOperand *operand);

static const IsaArg *args_of(PtxLowering *lowering, const PtxOperand *list, int count) {
  IsaArg *args = KC_NEW_ARRAY(lowering->arena, IsaArg, count);
  for (int i = 0; i < count; i++)
    args[i] = arg_of(lowering, &list[i]);
  return args;
}

/* The register that nvcc makes of an operand: its width is that of the constraint letter, not of
 * the C++ type. Integer letters give untyped registers. */
static IsaArg asm_arg(const PtxLowering *lowering, const PtxOperand *operand) {
  IsaArg arg = {.kind = ISA_ARG_UNKNOWN};
  if (!lowering->statement || operand->value >= lowering->statement->noperands) return arg;
  const char *constraint = lowering->statement->operands[operand->value].constraint;
  static const struct {
    char letter, cls;
    int bits;
  } letters[] = {{'h', 'b', 16},  {'r', 'b', 32}, {'l', 'b', 64},
                 {'q', 'b', 128}, {'f', 'f', 32}, {'d', 'f', 64}};
  for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
    if (strchr(constraint, letters[i].letter)) {
      arg.kind = ISA_ARG_REGISTER;
      arg.bits = letters[i].bits;
      arg.cls = letters[i].cls;
    }
  return arg;
}

static IsaArg name_arg(PtxLowering *lowering, const PtxOperand *operand) {
  IrType type;
  int32_t reg = ptx_find_register(lowering, operand->text, &type);
  if (reg < 0) {
    bool known = ptx_find_symbol(lowering, operand->text) != NULL;
    return (IsaArg){.kind = known ? ISA_ARG_SYMBOL : ISA_ARG_UNKNOWN};
  }
  if (type.cls == IR_CLASS_PRED) return (IsaArg){.kind = ISA_ARG_PREDICATE};
  return (IsaArg){.kind = ISA_ARG_REGISTER,
                  .bits = type.bytes * 8,
                  .cls = type.cls == IR_CLASS_FLOAT ? 'f' : 0};
}

/* 1.5, 0f3FC00000, 0d3FF8000000000000 */
static double real_of(const char *text) {
  if (text[0] == '0' && (text[1] == 'f' || text[1] == 'F')) {
    uint32_t bits = (uint32_t)strtoul(text + 2, NULL, 16);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
  }
  if (text[0] == '0' && (text[1] == 'd' || text[1] == 'D')) {
    uint64_t bits = strtoull(text + 2, NULL, 16);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  return strtod(text, NULL);
}

static IsaArg arg_of(PtxLowering *lowering, const PtxOperand *operand) {
  IsaArg arg = {.kind = ISA_ARG_UNKNOWN};
  switch (operand->kind) {
  case PTX_ASM: arg = asm_arg(lowering, operand); break;
  case PTX_REG:
  case PTX_LABEL: arg = name_arg(lowering, operand); break;
  case PTX_IMM:
    arg.kind = ISA_ARG_IMMEDIATE;
    arg.value = operand->negated ? -operand->value : operand->value;
    return arg;
  case PTX_FLOAT:
    arg.kind = ISA_ARG_FLOAT;
    arg.real = real_of(operand->text) * (operand->negated ? -1 : 1);
    break;
  case PTX_SREG: arg.kind = ISA_ARG_SPECIAL; break;
  case PTX_SINK: arg.kind = ISA_ARG_SINK; break;
  case PTX_ADDRESS:
  case PTX_VECTOR:
  case PTX_PAIR:
    arg.kind = operand->kind == PTX_ADDRESS  ? ISA_ARG_ADDRESS
               : operand->kind == PTX_VECTOR ? ISA_ARG_VECTOR
                                             : ISA_ARG_PAIR;
    arg.value = operand->value;
    arg.list = args_of(lowering, operand->list, operand->count);
    arg.count = operand->count;
    break;
  }
  arg.negated = operand->negated;
  return arg;
}

IsaCall ptx_call(PtxLowering *lowering, const PtxInsn *insn) {
  return (IsaCall){.modifiers = insn->modifiers,
                   .nmodifiers = insn->nmodifiers,
                   .args = args_of(lowering, insn->operands, insn->noperands),
                   .nargs = insn->noperands};
}

/* Byte range of what is at fault: the modifier, the operand, or the mnemonic. */
static void fault_range(const PtxInsn *insn, const IsaVerdict *verdict, uint32_t start,
                        uint32_t *begin, uint32_t *end) {
  *begin = start;
  *end = insn->opcode_end;
  if (verdict->modifier >= 0 && verdict->modifier < insn->nmodifiers) {
    *begin = start + (uint32_t)strlen(insn->opcode);
    for (int i = 0; i < verdict->modifier; i++)
      *begin += 1 + (uint32_t)strlen(insn->modifiers[i]);
    *end = *begin + 1 + (uint32_t)strlen(insn->modifiers[verdict->modifier]);
  } else if (verdict->operand >= 0 && verdict->operand < insn->noperands) {
    *begin = insn->operands[verdict->operand].begin;
    *end = insn->operands[verdict->operand].end;
  }
}

/* Whether any form of the family has this modifier, or one of its kind (`scale_vec::`). */
static bool modifier_exists(const IsaFamily *family, const char *modifier) {
  const char *colons = strstr(modifier, "::");
  size_t length = colons ? (size_t)(colons - modifier) + 2 : strlen(modifier) + 1;
  size_t stem = strcspn(modifier, "0123456789");
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    for (int j = 0; j < form->nname; j++)
      if (strcmp(form->name[j], modifier) == 0) return true;
    for (int j = 0; j < form->nslots; j++)
      for (int k = 0; k < form->slots[j].nchoices; k++) {
        const char *choice = form->slots[j].choices[k];
        if (strncmp(choice, modifier, length) == 0) return true;
        if (stem > 0 && modifier[stem] && strchr(choice, '{') &&
            strncmp(choice, modifier, stem) == 0)
          return true;
      }
  }
  return false;
}

static bool takes_modifier(const IsaForm *form, const char *modifier) {
  for (int i = 0; i < form->nslots; i++)
    for (int k = 0; k < form->slots[i].nchoices; k++)
      if (strcmp(form->slots[i].choices[k], modifier) == 0) return true;
  return false;
}

/* The kind of all the forms that take a modifier; NULL when they have several. */
static const char *kind_of_modifier(const IsaFamily *family, const char *modifier) {
  const char *kind = NULL;
  for (int i = 0; i < family->nforms; i++) {
    const IsaForm *form = &family->forms[i];
    if (!takes_modifier(form, modifier)) continue;
    if (kind && strcmp(kind, form->violation) != 0) return NULL;
    kind = form->violation;
  }
  return kind;
}

static const char *kind_of(const IsaFamily *family, const PtxInsn *insn,
                           const IsaVerdict *verdict) {
  switch (verdict->fault) {
  case ISA_TARGET_SUFFIX: return "arch-suffix-required";
  case ISA_TARGET: return "arch-feature-absent";
  case ISA_NO_SUCH_NAME: return "arch-unknown-instruction";
  case ISA_UNKNOWN_MODIFIER:
    if (!modifier_exists(family, insn->modifiers[verdict->modifier]))
      return "arch-unknown-instruction";
    {
      const char *kind = kind_of_modifier(family, insn->modifiers[verdict->modifier]);
      if (kind) return kind;
    }
    break;
  case ISA_FITS:
  case ISA_MISSING_MODIFIER:
  case ISA_OPERAND_COUNT:
  case ISA_OPERAND_KIND:
  case ISA_OPERAND_WIDTH:
  case ISA_OPERAND_RANGE:
  case ISA_VECTOR_LENGTH: break;
  }
  return verdict->form->violation;
}

static const char *help_for(PtxLowering *lowering, const PtxInsn *insn, const IsaFamily *family,
                            const IsaVerdict *verdict) {
  if (verdict->fault == ISA_TARGET || verdict->fault == ISA_TARGET_SUFFIX) return NULL;
  char text[400];
  if (verdict->form) {
    isa_print_form(verdict->form, text, sizeof text);
    return kc_printf(lowering->arena, "the nearest form is `%s`", text);
  }
  if (family->instead) return kc_printf(lowering->arena, "what there is: `%s`", family->instead);
  IsaCall name = {.modifiers = insn->modifiers, .nmodifiers = insn->nmodifiers};
  if (isa_nearest_name(family, &name, text, sizeof text))
    return kc_printf(lowering->arena, "did you mean `%s`?", text);
  return NULL;
}

static void report(PtxLowering *lowering, const PtxInsn *insn, const IsaFamily *family,
                   const IsaVerdict *verdict) {
  const char *kind = kind_of(family, insn, verdict);
  IrViolation *v = ir_violation(lowering->violations, kind, lowering->b->kernel, lowering->b->where,
                                "%s", verdict->message);
  uint32_t begin, end;
  uint32_t start = insn->opcode_end - (uint32_t)strlen(insn->opcode);
  for (int i = 0; i < insn->nmodifiers; i++)
    start -= 1 + (uint32_t)strlen(insn->modifiers[i]);
  fault_range(insn, verdict, start, &begin, &end);
  v->caret = ptx_caret(lowering, begin, end);
  ir_violation_fact(lowering->violations, v, "instruction", "%s", insn->text);
  if (lowering->target) ir_violation_fact(lowering->violations, v, "arch", "%s", lowering->target);
  v->help = help_for(lowering, insn, family, verdict);
}

/* A module says which PTX it is written in; asm statements follow the compiler. */
static void check_version(PtxLowering *lowering, const PtxInsn *insn, const IsaForm *form) {
  if (lowering->version == 0 || form->ptx <= lowering->version) return;
  IrViolation *v = ir_violation(
      lowering->violations, "arch-ptx-version", lowering->b->kernel, lowering->b->where,
      "'%s' needs .version %d.%d; the module says %d.%d", insn->text, form->ptx / 10,
      form->ptx % 10, lowering->version / 10, lowering->version % 10);
  v->caret = ptx_caret(lowering, insn->begin, insn->opcode_end);
}

/* Remembers the first instruction that the card's plain target lacks: what to build for is said
 * once a kernel. */
static void note_suffix(PtxLowering *lowering, const PtxInsn *insn, const IsaForm *form) {
  IrKernel *kernel = lowering->b->kernel;
  if (!lowering->target || !form->targets[0] || kernel->needs_suffix == 'a') return;
  char plain[16], family[17];
  g_strlcpy(plain, lowering->target, sizeof plain);
  size_t length = strlen(plain);
  if (length > 0 && strchr("af", plain[length - 1])) plain[length - 1] = '\0';
  bool suffix = false, ignored;
  if (isa_target_allows(form->targets, plain, &suffix) || !suffix) return;
  g_snprintf(family, sizeof family, "%sf", plain);
  char needs = isa_target_allows(form->targets, family, &ignored) ? 'f' : 'a';
  if (kernel->needs_suffix == needs) return;
  kernel->needs_suffix = needs;
  kernel->suffix_where = lowering->b->where;
  kernel->suffix_text = insn->text;
}

static void check_advice(PtxLowering *lowering, const PtxInsn *insn, const IsaForm *form) {
  bool ignored;
  if (!form->advise_when || !ptx_has(insn, form->advise_when) ||
      isa_target_allows(form->advise_targets, lowering->target, &ignored))
    return;
  IrViolation *v = ir_violation(lowering->violations, form->advise_violation, lowering->b->kernel,
                                lowering->b->where, "'.%s' is much slower on %s than elsewhere",
                                form->advise_when, lowering->target);
  v->caret = ptx_caret(lowering, insn->begin, insn->opcode_end);
}

const IsaForm *ptx_check(PtxLowering *lowering, const PtxInsn *insn, bool *listed) {
  const IsaFamily *family = isa_family(insn->opcode);
  *listed = false;
  IsaCall name = {.modifiers = insn->modifiers, .nmodifiers = insn->nmodifiers};
  if (!family || !isa_concerns(family, &name)) return NULL;
  IsaCall call = ptx_call(lowering, insn);
  IsaVerdict verdict = isa_judge(family, &call, lowering->target);
  bool target = verdict.fault == ISA_TARGET || verdict.fault == ISA_TARGET_SUFFIX;
  if (verdict.fault == ISA_FITS) {
    check_version(lowering, insn, verdict.form);
    check_advice(lowering, insn, verdict.form);
    note_suffix(lowering, insn, verdict.form);
    return verdict.form;
  }
  *listed = verdict.form ? isa_claims(verdict.form, &call) : family->complete;
  if (target || *listed) report(lowering, insn, family, &verdict);
  /* the rest of the kernel can still be judged */
  return target || verdict.fault == ISA_OPERAND_RANGE ? verdict.form : NULL;
}
