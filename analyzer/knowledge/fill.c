#include "knowledge/fill.h"

void fill_append(GString *out, const char *text, const char *first, const char *rest) {
  g_auto(GStrv) words = g_strsplit_set(text, " \n\t", -1);
  glong column = g_utf8_strlen(first, -1), indent = g_utf8_strlen(rest, -1);
  bool empty = true;
  g_string_append(out, first);
  for (char **word = words; *word; word++) {
    glong length = g_utf8_strlen(*word, -1);
    if (length == 0) continue;
    if (!empty && column + 1 + length > FILL_COLUMNS) {
      g_string_append_printf(out, "\n%s", rest);
      column = indent;
      empty = true;
    }
    g_string_append_printf(out, "%s%s", empty ? "" : " ", *word);
    column += length + !empty;
    empty = false;
  }
  g_string_append_c(out, '\n');
}

void fill_code(GString *out, const char *code, const char *indent) {
  g_auto(GStrv) lines = g_strsplit(code, "\n", -1);
  for (char **line = lines; *line; line++)
    if (**line)
      g_string_append_printf(out, "%s%s\n", indent, *line);
    else if (line[1])
      g_string_append_c(out, '\n');
}
