#include "report/snippet.h"

#include <string.h>

enum { SHOWN_COLUMNS = 120, LEAST_COLUMNS = 40, BEFORE_CARET = 24, GUTTER = 3, DOTS = 3 };

void snippet_ink(GString *out, bool color, Ink ink, const char *text) {
  static const char *const codes[] = {"", "1", "1;31", "1;35", "1;36", "1;32", "34"};
  if (!color || ink == INK_PLAIN)
    g_string_append(out, text);
  else
    g_string_append_printf(out, "\033[%sm%s\033[0m", codes[ink], text);
}

void snippet_gutter(GString *out, int width, bool color) {
  g_autofree char *bar = g_strdup_printf("%*s |", width, "");
  snippet_ink(out, color, INK_BLUE, bar);
  g_string_append_c(out, '\n');
}

static int columns_of(gunichar c) {
  return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

/* The part of the line that is shown: from `begin` to `end`, in bytes. */
typedef struct Window {
  const char *begin, *end;
  bool cut_before, cut_after;
} Window;

static int room_of(const Snippet *s) {
  if (s->columns <= 0) return SHOWN_COLUMNS;
  int room = s->columns - s->width - GUTTER - 2 * DOTS;
  return CLAMP(room, LEAST_COLUMNS, SHOWN_COLUMNS);
}

static Window window_of(const Snippet *s) {
  int room = room_of(s);
  const char *end = s->source + strlen(s->source),
             *caret = s->source + MIN(s->column - 1, end - s->source);
  Window w = {s->source, end, false, false};
  if (g_utf8_strlen(s->source, -1) <= room) return w;
  const char *at = s->source;
  for (glong skip = g_utf8_strlen(at, caret - at) - BEFORE_CARET; skip > 0; skip--)
    at = g_utf8_next_char(at);
  bool far = g_utf8_strlen(s->source, caret - s->source) > room / 2;
  w.begin = far ? at : s->source;
  w.cut_before = far;
  at = w.begin;
  for (int shown = 0; *at && shown < room; shown++)
    at = g_utf8_next_char(at);
  w.end = at;
  w.cut_after = *at != '\0';
  return w;
}

static void append_source(GString *out, const Window *w) {
  if (w->cut_before) g_string_append(out, "...");
  for (const char *at = w->begin; at < w->end; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    g_string_append_unichar(out, c != '\t' && g_unichar_iscntrl(c) ? '?' : c);
  }
  if (w->cut_after) g_string_append(out, "...");
  g_string_append_c(out, '\n');
}

/* Blanks as wide as the text before the caret; a tab stays one, so that it lines up. */
static void append_padding(GString *out, const Window *w, const char *caret) {
  if (w->cut_before) g_string_append(out, "   ");
  for (const char *at = w->begin; at < caret; at = g_utf8_next_char(at)) {
    gunichar c = g_utf8_get_char(at);
    if (c == '\t')
      g_string_append_c(out, '\t');
    else
      g_string_append_printf(out, "%*s", columns_of(c), "");
  }
}

static char *underline(const char *caret, const char *stop) {
  GString *marks = g_string_new("^");
  int columns = 0;
  for (const char *at = caret; at < stop; at = g_utf8_next_char(at))
    columns += columns_of(g_utf8_get_char(at));
  for (int i = 1; i < columns; i++)
    g_string_append_c(marks, '~');
  return g_string_free(marks, FALSE);
}

static int columns_before(const Window *w, const char *caret) {
  int columns = w->cut_before ? DOTS : 0;
  for (const char *at = w->begin; at < caret; at = g_utf8_next_char(at))
    columns += columns_of(g_utf8_get_char(at));
  return columns;
}

/* Behind the underline, or on a line of its own when it would run over the screen's edge. */
static void append_label(GString *out, const Snippet *s, const char *blank, int before, int marks) {
  int length = (int)g_utf8_strlen(s->label, -1), room = s->columns - s->width - GUTTER;
  if (s->columns <= 0 || before + marks + 1 + length <= room) {
    g_string_append_printf(out, " %s", s->label);
    return;
  }
  g_string_append_c(out, '\n');
  snippet_ink(out, s->color, INK_BLUE, blank);
  g_string_append_printf(out, "%*s%s", CLAMP(room - length, 0, before), "", s->label);
}

void snippet_append(GString *out, const Snippet *s) {
  Window w = window_of(s);
  gsize length = strlen(s->source);
  const char *caret = MIN(s->source + s->column - 1, w.end);
  const char *stop =
      s->source + (s->end_column > 0 ? MIN((gsize)s->end_column - 1, length) : length);
  while (stop > caret + 1 && g_ascii_isspace(stop[-1]))
    stop--;
  g_autofree char *number = g_strdup_printf("%*d | ", s->width, s->line);
  g_autofree char *blank = g_strdup_printf("%*s | ", s->width, "");
  g_autofree char *marks = underline(caret, MIN(stop, w.end));
  snippet_ink(out, s->color, INK_BLUE, number);
  append_source(out, &w);
  snippet_ink(out, s->color, INK_BLUE, blank);
  append_padding(out, &w, caret);
  snippet_ink(out, s->color, s->ink, marks);
  if (s->label) append_label(out, s, blank, columns_before(&w, caret), (int)strlen(marks));
  g_string_append_c(out, '\n');
}
