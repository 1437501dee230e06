/* Where a text is most likely to be too much for a compiler. */
#ifndef KC_CLI_LONGEST_H
#define KC_CLI_LONGEST_H

#include <glib.h>

typedef struct LongestStatement {
  guint line;   /* where it begins, 1-based */
  guint tokens; /* words, signs, and literals by their length in it */
} LongestStatement;

/* The statement of C++ `text` with the most tokens; a chain of `else` counts as one. Tokens are
 * counted by their signs alone, so that this ends on any text. */
LongestStatement longest_statement(const char *text, gsize length);

#endif
