/* Integer constant expressions in directives and options: "199680", "195 * 1024", "0x8000". */
#ifndef KC_IR_NUMBER_H
#define KC_IR_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Evaluates + - * / % << >> and parentheses over integers (decimal, hexadecimal, C suffixes, digit
 * separators); false when `text` is something else, divides by zero or leaves 64 bits. */
bool ir_read_number(const char *text, int64_t *value);
/* Reads "64x128", "(8, 4, 1)" or one number into `out`; returns how many there are, 0 when `text`
 * is something else or has more than `max`. */
int ir_read_extents(const char *text, int64_t *out, int max);

#endif
