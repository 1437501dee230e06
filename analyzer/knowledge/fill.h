/* Text for a terminal of 80 columns. */
#ifndef KC_KNOWLEDGE_FILL_H
#define KC_KNOWLEDGE_FILL_H

#include <glib.h>
#include <stdbool.h>

enum { FILL_COLUMNS = 80 };

/* Appends `text` filled to 80 columns: the first line behind `first`, the others behind `rest`. A
 * word too long for a line stands on its own. */
void fill_append(GString *out, const char *text, const char *first, const char *rest);
/* Appends each line of `code` behind `indent`, unfilled. */
void fill_code(GString *out, const char *code, const char *indent);

#endif
