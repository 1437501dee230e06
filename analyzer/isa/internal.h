#ifndef KC_ISA_INTERNAL_H
#define KC_ISA_INTERNAL_H

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

#endif
