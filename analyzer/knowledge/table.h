/* A Markdown table for a terminal of 80 columns. */
#ifndef KC_KNOWLEDGE_TABLE_H
#define KC_KNOWLEDGE_TABLE_H

#include <glib.h>

/* Appends the table whose rows are `lines` (each "| a | b |"): columns aligned, two blanks between
 * them, a rule under the head; what is too wide for 80 columns is filled inside its cell. */
void table_append(GString *out, char *const *lines, guint count);

#endif
