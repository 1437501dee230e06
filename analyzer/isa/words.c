/* Forms, operands and ranges in words, for messages. */
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "isa/internal.h"
#include "support/suggest.h"

void isa_form_name(const IsaForm *form, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (int i = 0; i < form->nname && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, "%s%s", i ? "." : "", form->name[i]);
}

/* "24..256/8" -> "24 to 256 in steps of 8" */
const char *isa_range_text(const char *range, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  for (const char *at = range; *at && used < size;) {
    if (strncmp(at, "..", 2) == 0) {
      used += (size_t)snprintf(out + used, size - used, " to ");
      at += 2;
    } else if (*at == '/') {
      used += (size_t)snprintf(out + used, size - used, " in steps of ");
      at++;
    } else if (*at == '|') {
      used += (size_t)snprintf(out + used, size - used, strchr(at + 1, '|') ? ", " : " or ");
      at++;
    } else {
      used += (size_t)snprintf(out + used, size - used, "%c", *at++);
    }
  }
  return out;
}

const char *isa_arg_text(const IsaArg *arg, char *out, size_t size) {
  switch (arg->kind) {
  case ISA_ARG_REGISTER:
    snprintf(out, size, arg->bits ? "a %d-bit %sregister" : "a register", arg->bits,
             arg->cls == 'f' ? "float " : "");
    break;
  case ISA_ARG_PREDICATE: return "a predicate";
  case ISA_ARG_IMMEDIATE: snprintf(out, size, "the constant %lld", (long long)arg->value); break;
  case ISA_ARG_FLOAT: return "a float constant";
  case ISA_ARG_SPECIAL: return "a special register";
  case ISA_ARG_SYMBOL: return "a symbol";
  case ISA_ARG_SINK: return "'_'";
  case ISA_ARG_ADDRESS: return "an address in brackets";
  case ISA_ARG_VECTOR: return "a vector in braces";
  case ISA_ARG_PAIR: return "a pair";
  case ISA_ARG_UNKNOWN: return "something unknown";
  }
  return out;
}

void isa_operand_text(const IsaOperand *operand, char *out, size_t size) {
  if (operand->kind == ISA_ADDRESS) {
    snprintf(out, size, "an address in brackets");
    return;
  }
  if (operand->kind == ISA_VECTOR) {
    snprintf(out, size, "a vector in braces");
    return;
  }
  if (operand->kind == ISA_PAIR) {
    snprintf(out, size, "a pair d|p");
    return;
  }
  size_t used = 0;
  const char *joiner = "";
  out[0] = '\0';
  if (operand->accepts & ISA_ACCEPT_REGISTER) {
    used += (size_t)snprintf(out + used, size - used, "a ");
    for (int bits = 8; bits <= 128; bits *= 2)
      if (operand->widths & bits) {
        used += (size_t)snprintf(out + used, size - used, "%s%d", joiner, bits);
        joiner = "- or ";
      }
    used +=
        (size_t)snprintf(out + used, size - used, operand->widths ? "-bit register" : "register");
    joiner = " or ";
  }
  static const struct {
    int accept;
    const char *text;
  } others[] = {{ISA_ACCEPT_PREDICATE, "a predicate"},
                {ISA_ACCEPT_IMMEDIATE, "a constant"},
                {ISA_ACCEPT_FLOAT, "a float constant"},
                {ISA_ACCEPT_SINK, "'_'"}};
  for (size_t i = 0; i < sizeof others / sizeof *others && used < size; i++)
    if (operand->accepts & others[i].accept) {
      used += (size_t)snprintf(out + used, size - used, "%s%s", joiner, others[i].text);
      joiner = " or ";
    }
}

static void print_slot(const IsaSlot *slot, char *out, size_t size, size_t *used) {
  for (int i = 0; i < slot->nchoices && *used < size; i++)
    *used += (size_t)snprintf(out + *used, size - *used, "%s.%s", i ? "|" : "", slot->choices[i]);
}

static void print_operand(const IsaOperand *operand, char *out, size_t size, size_t *used) {
  const char *open = operand->kind == ISA_ADDRESS ? "[" : operand->kind == ISA_VECTOR ? "{" : "";
  const char *close = operand->kind == ISA_ADDRESS ? "]" : operand->kind == ISA_VECTOR ? "}" : "";
  const char *role = strcmp(operand->role, "-") == 0 ? "imm" : operand->role;
  if (*used < size) *used += (size_t)snprintf(out + *used, size - *used, "%s%s", open, role);
  for (int i = operand->kind == ISA_PAIR ? 1 : 0; i < operand->nlist && *used < size; i++) {
    *used += (size_t)snprintf(out + *used, size - *used, operand->kind == ISA_PAIR ? "|" : ", ");
    print_operand(&operand->list[i], out, size, used);
  }
  if (*used < size) *used += (size_t)snprintf(out + *used, size - *used, "%s", close);
}

void isa_print_form(const IsaForm *form, char *out, int length) {
  size_t size = (size_t)length;
  isa_form_name(form, out, size);
  size_t used = strlen(out);
  for (int i = 0; i < form->nslots && used < size; i++) {
    int group = form->slots[i].group;
    bool first = group && (i == 0 || form->slots[i - 1].group != group);
    bool last = group && (i + 1 == form->nslots || form->slots[i + 1].group != group);
    if (first && used < size) used += (size_t)snprintf(out + used, size - used, "{");
    print_slot(&form->slots[i], out, size, &used);
    if (last && used < size) used += (size_t)snprintf(out + used, size - used, "}");
  }
  for (int i = 0; i < form->noperands && used < size; i++) {
    bool optional = form->operands[i].optional || form->operands[i].when;
    used += (size_t)snprintf(out + used, size - used, "%s%s", optional ? "{" : "", i ? ", " : " ");
    print_operand(&form->operands[i], out, size, &used);
    if (optional && used < size) used += (size_t)snprintf(out + used, size - used, "}");
  }
}

const char *isa_nearest_name(const IsaFamily *family, const IsaCall *call, char *out, int size) {
  /* compare names of as many parts as the call has, the longest first */
  for (int parts = call->nmodifiers < 3 ? call->nmodifiers : 3; parts > 0; parts--) {
    g_autoptr(GString) word = g_string_new(family->opcode);
    for (int i = 0; i < parts; i++)
      g_string_append_printf(word, ".%s", call->modifiers[i]);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < family->nforms; i++) {
      if (family->forms[i].nname != parts + 1) continue;
      isa_form_name(&family->forms[i], out, (size_t)size);
      g_ptr_array_add(names, g_strdup(out));
    }
    g_ptr_array_add(names, NULL);
    const char *nearest = kc_suggest(word->str, (const char *const *)names->pdata);
    if (!nearest) continue;
    g_strlcpy(out, nearest, (gsize)size);
    return out;
  }
  return NULL;
}
