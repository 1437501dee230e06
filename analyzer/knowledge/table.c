#include "knowledge/table.h"

#include <string.h>

#include "knowledge/fill.h"

enum { GAP = 2, NARROWEST = 8 };

typedef struct Table {
  GPtrArray *rows; /* char**: the cells of a row; NULL for the rule under the head */
  guint columns;
  glong *widths;
} Table;

static char **cells_of(const char *line) {
  g_autofree char *inner = g_strstrip(g_strdup(line));
  char *from = inner + (*inner == '|');
  size_t length = strlen(from);
  if (length && from[length - 1] == '|') from[length - 1] = '\0';
  char **cells = g_strsplit(from, "|", -1);
  for (char **cell = cells; *cell; cell++)
    g_strstrip(*cell);
  return cells;
}

static bool is_rule(const char *line) {
  return line[strspn(line, "|-: ")] == '\0';
}

static void measure(Table *table) {
  for (guint r = 0; r < table->rows->len; r++) {
    char **cells = table->rows->pdata[r];
    if (cells) table->columns = MAX(table->columns, g_strv_length(cells));
  }
  table->widths = g_new0(glong, table->columns + 1);
  for (guint r = 0; r < table->rows->len; r++) {
    char **cells = table->rows->pdata[r];
    for (guint c = 0; cells && cells[c]; c++)
      table->widths[c] = MAX(table->widths[c], g_utf8_strlen(cells[c], -1));
  }
}

/* Takes from the widest column until all fit beside one another. */
static void narrow(Table *table) {
  for (;;) {
    glong total = -GAP;
    guint widest = 0;
    for (guint c = 0; c < table->columns; c++) {
      total += table->widths[c] + GAP;
      if (table->widths[c] > table->widths[widest]) widest = c;
    }
    if (total <= FILL_COLUMNS || table->widths[widest] <= NARROWEST) return;
    table->widths[widest]--;
  }
}

/* The lines of a cell filled to `width`; a word that is too long stands on its own. */
static char **filled(const char *cell, glong width) {
  g_autoptr(GString) text = g_string_new(NULL);
  g_auto(GStrv) words = g_strsplit(cell, " ", -1);
  glong column = 0;
  for (char **word = words; *word; word++) {
    glong length = g_utf8_strlen(*word, -1);
    bool fits = column == 0 || column + 1 + length <= width;
    g_string_append_printf(text, "%s%s", column == 0 ? "" : fits ? " " : "\n", *word);
    column = fits ? column + length + (column > 0) : length;
  }
  return g_strsplit(text->str, "\n", -1);
}

static void append_row(const Table *table, char **cells, GString *out) {
  g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
  guint height = 1;
  for (guint c = 0; c < table->columns && cells[c]; c++) {
    char **lines = filled(cells[c], table->widths[c]);
    height = MAX(height, g_strv_length(lines));
    g_ptr_array_add(columns, lines);
  }
  for (guint l = 0; l < height; l++) {
    g_autoptr(GString) line = g_string_new(NULL);
    for (guint c = 0; c < columns->len; c++) {
      char **lines = columns->pdata[c];
      const char *part = l < g_strv_length(lines) ? lines[l] : "";
      glong pad = table->widths[c] + GAP - g_utf8_strlen(part, -1);
      g_string_append_printf(line, "%s%*s", part, (int)MAX(pad, 1), "");
    }
    g_string_append_printf(out, "%s\n", g_strchomp(line->str));
  }
}

static void append_rule(const Table *table, GString *out) {
  g_autoptr(GString) line = g_string_new(NULL);
  for (guint c = 0; c < table->columns; c++) {
    g_autofree char *dashes = g_strnfill((gsize)table->widths[c], '-');
    g_string_append_printf(line, "%s%s", c ? "  " : "", dashes);
  }
  g_string_append_printf(out, "%s\n", line->str);
}

void table_append(GString *out, char *const *lines, guint count) {
  Table table = {g_ptr_array_new(), 0, NULL};
  for (guint i = 0; i < count; i++)
    g_ptr_array_add(table.rows, is_rule(lines[i]) ? NULL : cells_of(lines[i]));
  measure(&table);
  narrow(&table);
  for (guint r = 0; r < table.rows->len; r++) {
    char **cells = table.rows->pdata[r];
    if (cells)
      append_row(&table, cells, out);
    else
      append_rule(&table, out);
    g_strfreev(cells);
  }
  g_ptr_array_unref(table.rows);
  g_free(table.widths);
}
