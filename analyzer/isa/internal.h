#ifndef KC_ISA_INTERNAL_H
#define KC_ISA_INTERNAL_H

#include <stddef.h>

#include "isa/isa.h"
#include "support/arena.h"
#include "support/error.h"

/* Reads the notation of one form into `form` (name, slots, operands). */
bool isa_parse_form(KcArena *arena, const char *text, IsaForm *form, const char **problem);
/* Whether `modifier` is one of the choices: literal, or a pattern such as m64n{8..256/8}k16. */
bool isa_choice_fits(const char *choice, const char *modifier);
/* Whether `value` lies in `range`. */
bool isa_in_range(const char *range, int64_t value);
/* 's' (state space), 't' (type), 'l' (layout): these keep their order among themselves; else 0. */
char isa_order_of(const char *modifier);

/* ---- words.c ---- */
/* "mbarrier.arrive" */
void isa_form_name(const IsaForm *form, char *out, size_t size);
/* "24..256/8" -> "24 to 256 in steps of 8" */
const char *isa_range_text(const char *range, char *out, size_t size);
/* "a 32-bit register", "the constant 4": what stands there; `out` or a literal. */
const char *isa_arg_text(const IsaArg *arg, char *out, size_t size);
/* "a 32- or 64-bit register or a constant": what belongs there. */
void isa_operand_text(const IsaOperand *operand, char *out, size_t size);

#endif
