/* --fix and --diff: the mechanical fixes that findings carry. */
#ifndef KC_CLI_FIX_H
#define KC_CLI_FIX_H

#include <glib.h>

#include "support/error.h"

typedef struct FixResult {
  guint applied;
  guint left; /* unsafe without --unsafe-fixes, or overlapping one that was applied */
} FixResult;

/* The text of `path` with the fixes of `findings` (Finding*) for that file, from the end to the
 * start of the file; overlapping ones are left for the next run. NULL when nothing changes. */
char *fix_text(const char *path, const char *text, const GPtrArray *findings, gboolean unsafe,
               FixResult *result);
/* A unified diff of two texts with three lines of context, "" when they are equal. */
char *fix_diff(const char *path, const char *before, const char *after);

#endif
