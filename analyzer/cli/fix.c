#include "cli/fix.h"

#include <string.h>

#include "rules/rules.h"

enum { CONTEXT = 3 };

typedef struct {
  gsize begin, end;
  const char *text;
} Edit;

/* Byte offset of a 1-based place; the end of the text when it lies behind it. */
static gsize offset_of(const char *text, int line, int column) {
  const char *at = text;
  for (int i = 1; i < line; i++) {
    const char *newline = strchr(at, '\n');
    if (!newline) return strlen(text);
    at = newline + 1;
  }
  gsize room = strlen(at);
  return (gsize)(at - text) + MIN((gsize)MAX(column - 1, 0), room);
}

static gint last_first(gconstpointer a, gconstpointer b) {
  const Edit *x = a, *y = b;
  return x->begin < y->begin ? 1 : x->begin > y->begin ? -1 : 0;
}

char *fix_text(const char *path, const char *text, const GPtrArray *findings, gboolean unsafe,
               FixResult *result) {
  g_autoptr(GArray) edits = g_array_new(FALSE, FALSE, sizeof(Edit));
  for (guint i = 0; i < findings->len; i++) {
    const Finding *f = findings->pdata[i];
    if (!f->fix_text || strcmp(f->path, path) != 0) continue;
    if (!f->fix_safe && !unsafe) {
      result->left++;
      continue;
    }
    Edit edit = {.begin = offset_of(text, f->fix_line, f->fix_column),
                 .end = offset_of(text, f->fix_end_line, f->fix_end_column),
                 .text = f->fix_text};
    g_array_append_val(edits, edit);
  }
  g_array_sort(edits, last_first);
  GString *fixed = g_string_new(text);
  gsize limit = fixed->len + 1;
  guint applied = 0;
  for (guint i = 0; i < edits->len; i++) {
    const Edit *edit = &g_array_index(edits, Edit, i);
    bool apart = edit->end < limit && edit->begin <= edit->end;
    if (!apart) {
      result->left++;
      continue;
    }
    g_string_erase(fixed, (gssize)edit->begin, (gssize)(edit->end - edit->begin));
    g_string_insert(fixed, (gssize)edit->begin, edit->text);
    limit = edit->begin;
    applied++;
  }
  result->applied += applied;
  return g_string_free(fixed, applied == 0);
}

/* Fixes touch few lines: everything between the first and the last differing line is one hunk. */
char *fix_diff(const char *path, const char *before, const char *after) {
  if (strcmp(before, after) == 0) return g_strdup("");
  g_auto(GStrv) a = g_strsplit(before, "\n", -1);
  g_auto(GStrv) b = g_strsplit(after, "\n", -1);
  int na = (int)g_strv_length(a), nb = (int)g_strv_length(b), head = 0, tail = 0;
  while (head < na && head < nb && strcmp(a[head], b[head]) == 0)
    head++;
  while (tail < na - head && tail < nb - head && strcmp(a[na - 1 - tail], b[nb - 1 - tail]) == 0)
    tail++;
  int first = MAX(head - CONTEXT, 0);
  int last_a = MIN(na - tail + CONTEXT, na), last_b = MIN(nb - tail + CONTEXT, nb);
  /* The empty piece behind a final newline is no line. */
  if (last_a == na && !*a[na - 1]) last_a--;
  if (last_b == nb && !*b[nb - 1]) last_b--;
  GString *diff = g_string_new(NULL);
  g_string_append_printf(diff, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", path, path, first + 1,
                         last_a - first, first + 1, last_b - first);
  for (int i = first; i < head; i++)
    g_string_append_printf(diff, " %s\n", a[i]);
  for (int i = head; i < na - tail; i++)
    g_string_append_printf(diff, "-%s\n", a[i]);
  for (int i = head; i < nb - tail; i++)
    g_string_append_printf(diff, "+%s\n", b[i]);
  for (int i = na - tail; i < last_a; i++)
    g_string_append_printf(diff, " %s\n", a[i]);
  return g_string_free(diff, FALSE);
}
