/* Baseline: a file of findings that are known and accepted, so that a project can start with a
 * clean run and see only what is new. A finding is recognised by file, rule, kernel and the text of
 * its source line, not by its number: code above it may move. */
#ifndef KC_CLI_BASELINE_H
#define KC_CLI_BASELINE_H

#include <glib.h>

#include "support/error.h"

#define BASELINE_DEFAULT_NAME ".kcheck-baseline.json"

typedef struct Baseline Baseline;

/* Reads `path`. NULL with `error` when it is missing or no baseline. */
Baseline *baseline_open(const char *path, KcError *error);
Baseline *baseline_new(const char *path);
void baseline_free(Baseline *baseline);

/* Takes every finding that the baseline holds out of `findings` (Finding*), each entry once;
 * returns how many were taken. Findings of other files are left alone. */
guint baseline_filter(Baseline *baseline, GPtrArray *findings);
/* Entries of the files `paths` (char*) that no finding used: what they accepted is gone. */
guint baseline_unused(const Baseline *baseline, const GPtrArray *paths);
/* Drops those entries. */
void baseline_prune(Baseline *baseline, const GPtrArray *paths);
/* Replaces the entries of the files `paths` by `findings`. */
void baseline_take(Baseline *baseline, const GPtrArray *paths, const GPtrArray *findings);
/* Writes the file: one entry a line, sorted. */
bool baseline_write(const Baseline *baseline, KcError *error);

#endif
