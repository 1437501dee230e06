#include "report/trace.h"

#include <string.h>

#include "report/trace_layout.h"

enum { ROW_HEIGHT = 22, BAR_HEIGHT = 14, TOP = 34, LEFT = 150, UNIT = 9, MAX_WIDTH = 3200 };

static const struct {
  const char *name, *css;
} kinds[] = {
    [MACHINE_LOAD] = {"asynchronous load", "load"}, [MACHINE_COMPUTE] = {"read", "read"},
    [MACHINE_STORE] = {"store", "store"},           [MACHINE_WAIT] = {"wait", "wait"},
    [MACHINE_ARRIVE] = {"arrival", "arrive"},       [MACHINE_BARRIER] = {"barrier", "barrier"},
};

static const char style[] =
    "<style>.kc text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#222}"
    ".kc .row{stroke:#ddd}.kc rect{stroke:#333;stroke-width:.6}"
    ".kc .load{fill:#4e79a7}.kc .read{fill:#59a14f}.kc .store{fill:#b07aa1}"
    ".kc .wait{fill:url(#kc-hatch)}.kc .barrier{fill:#d9d9d9}"
    ".kc .arrive{stroke:#222;stroke-width:2}.kc .in{fill:#fff;font-size:9px}"
    ".kc .fault{fill:none;stroke:#d00;stroke-width:2.5}.kc .why{fill:#b00;font-weight:bold}"
    "@media(prefers-color-scheme:dark){.kc text{fill:#ddd}.kc .row{stroke:#444}"
    ".kc .arrive{stroke:#eee}.kc .why{fill:#f77}}</style>"
    "<defs><pattern id=\"kc-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#f5e6c8\" "
    "stroke=\"none\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#a67c00\" "
    "stroke-width=\"2\"/></pattern></defs>";

static void append_escaped(GString *out, const char *text) {
  g_autofree char *escaped = g_markup_escape_text(text ? text : "", -1);
  g_string_append(out, escaped);
}

static void append_place(const TraceInput *input, uint32_t where, GString *out) {
  const SourceMap *map = &input->program->sources;
  const SourceStack *stack = &map->stacks.items[source_user_frame(map, where)];
  if (stack->range.line == 0) return;
  g_autofree char *base = g_path_get_basename(map->files.items[stack->range.file].path);
  g_string_append_printf(out, " (%s:%u)", base, stack->range.line);
}

static double x_of(const TraceLayout *layout, double unit, uint64_t step) {
  return LEFT + trace_position(layout, step) * unit;
}

static void append_bar(const TraceInput *input, const TraceLayout *layout, double unit, int row,
                       const MachineInterval *interval, GString *out) {
  double x = x_of(layout, unit, interval->begin);
  double width = MAX(x_of(layout, unit, interval->end) - x, 3.0);
  int y = TOP + row * ROW_HEIGHT + (ROW_HEIGHT - BAR_HEIGHT) / 2;
  g_string_append(out, "<g><title>");
  append_escaped(out, kinds[interval->kind].name);
  if (interval->object) {
    g_string_append(out, " of ");
    append_escaped(out, interval->object);
  }
  if (interval->phase >= 0)
    g_string_append_printf(out, ", phase %" G_GINT64_FORMAT, interval->phase);
  if (interval->warp >= 0) g_string_append_printf(out, ", warp %d", interval->warp);
  append_place(input, interval->where, out);
  g_string_append(out, "</title>");
  if (interval->kind == MACHINE_ARRIVE)
    g_string_append_printf(out,
                           "<line class=\"arrive\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                           x, y, x, y + BAR_HEIGHT);
  else
    g_string_append_printf(out,
                           "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                           kinds[interval->kind].css, x, y, width, BAR_HEIGHT);
  if (width > 14 && interval->phase >= 0 &&
      (interval->kind == MACHINE_LOAD || interval->kind == MACHINE_COMPUTE))
    g_string_append_printf(out,
                           "<text class=\"in\" x=\"%.1f\" y=\"%d\">%" G_GINT64_FORMAT "</text>",
                           x + 3, y + 10, interval->phase);
  g_string_append(out, "</g>");
}

static void append_fault(const TraceInput *input, const TraceLayout *layout, double unit, int row,
                         const MachineInterval *interval, GString *out) {
  double x = x_of(layout, unit, interval->begin);
  double width = MAX(x_of(layout, unit, interval->end) - x, 3.0);
  int y = TOP + row * ROW_HEIGHT;
  g_string_append_printf(out,
                         "<rect class=\"fault\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" "
                         "rx=\"6\"/>",
                         x - 5, y, width + 10, ROW_HEIGHT);
  if (!input->fault) return;
  int below = TOP + (int)layout->rows->len * ROW_HEIGHT + 44;
  g_string_append_printf(out,
                         "<line class=\"fault\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" "
                         "stroke-dasharray=\"4 3\"/>",
                         x, y + ROW_HEIGHT, x, below - 14);
}

static void append_legend(double y, GString *out) {
  double x = LEFT;
  for (int kind = MACHINE_LOAD; kind <= MACHINE_BARRIER; kind++) {
    if (kind == MACHINE_ARRIVE)
      g_string_append_printf(
          out, "<line class=\"arrive\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>", x + 5,
          y - 10, x + 5, y + 1);
    else
      g_string_append_printf(
          out, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\"/>",
          kinds[kind].css, x, y - 10);
    g_string_append_printf(out, "<text x=\"%.0f\" y=\"%.0f\">%s</text>", x + 16, y,
                           kinds[kind].name);
    x += 30 + 7.0 * (double)strlen(kinds[kind].name);
  }
}

void trace_svg(const TraceInput *input, GString *out) {
  TraceLayout *layout = trace_layout_new(input->result);
  double unit = MIN((double)UNIT, (MAX_WIDTH - LEFT) / MAX(layout->width, 1.0));
  double width = MAX(LEFT + layout->width * unit + 40, 760.0);
  int height = TOP + (int)layout->rows->len * ROW_HEIGHT + 70;
  g_string_append_printf(out,
                         "<svg class=\"kc\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                         "height=\"%d\" viewBox=\"0 0 %.0f %d\" role=\"img\">",
                         width, height, width, height);
  g_string_append(out, style);
  g_string_append(out, "<text x=\"8\" y=\"18\">");
  append_escaped(out, input->kernel->instantiation);
  g_string_append(out, ": time in machine steps, idle stretches shortened</text>");
  for (guint i = 0; i < layout->rows->len; i++) {
    int y = TOP + (int)i * ROW_HEIGHT;
    g_string_append_printf(out, "<line class=\"row\" x1=\"8\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\"/>",
                           y + ROW_HEIGHT, width - 8, y + ROW_HEIGHT);
    g_string_append_printf(out, "<text x=\"8\" y=\"%d\">", y + 15);
    append_escaped(out, g_array_index(layout->rows, TraceRow, i).label);
    g_string_append(out, "</text>");
  }
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < input->result->intervals.count; i++) {
      const MachineInterval *interval = &input->result->intervals.items[i];
      int row = trace_row_of(layout, interval);
      if (row < 0) continue;
      if (pass == 0)
        append_bar(input, layout, unit, row, interval, out);
      else if (interval->fault)
        append_fault(input, layout, unit, row, interval, out);
    }
  }
  double below = TOP + (double)layout->rows->len * ROW_HEIGHT;
  append_legend(below + 24, out);
  if (input->fault) {
    g_string_append_printf(out, "<text class=\"why\" x=\"8\" y=\"%.0f\">", below + 48);
    append_escaped(out, input->fault->message);
    append_place(input, input->fault->where, out);
    g_string_append(out, "</text>");
  }
  g_string_append(out, "</svg>\n");
  trace_layout_free(layout);
}

void trace_html(const TraceInput *input, GString *out) {
  g_string_append(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  append_escaped(out, input->kernel->instantiation);
  g_string_append(out,
                  " - kcheck trace</title><style>body{font:14px system-ui,sans-serif;margin:1.2em;"
                  "background:#fff;color:#222}pre{font:12px ui-monospace,Menlo,Consolas,monospace}"
                  ".pan{overflow-x:auto}@media(prefers-color-scheme:dark){body{background:#181818;"
                  "color:#ddd}}</style></head><body>\n<h1>");
  append_escaped(out, input->kernel->instantiation);
  g_string_append(out, "</h1>\n<p>");
  append_escaped(out, input->fault ? input->fault->message : "No fault found in this run.");
  if (input->fault) append_place(input, input->fault->where, out);
  g_string_append(out, "</p>\n<div class=\"pan\">");
  trace_svg(input, out);
  g_string_append(out, "</div>\n");
  if (input->fault && input->fault->witness.count > 0) {
    g_string_append(out, "<pre>");
    for (int i = 0; i < input->fault->witness.count; i++) {
      append_escaped(out, input->fault->witness.items[i]);
      g_string_append_c(out, '\n');
    }
    g_string_append(out, "</pre>\n");
  }
  g_string_append(out, "</body></html>\n");
}

static char letter(const MachineInterval *interval) {
  if (interval->fault) return '!';
  switch (interval->kind) {
  case MACHINE_LOAD: return 'L';
  case MACHINE_COMPUTE: return 'R';
  case MACHINE_STORE: return 'S';
  case MACHINE_WAIT: return '.';
  case MACHINE_ARRIVE: return '^';
  default: return '|';
  }
}

static void paint(const TraceLayout *layout, const MachineInterval *interval, int width,
                  char *line) {
  int from = (int)(trace_position(layout, interval->begin) / layout->width * (width - 1));
  int to = (int)(trace_position(layout, interval->end) / layout->width * (width - 1));
  for (int x = from; x <= MAX(to, from) && x < width; x++)
    if (line[x] == ' ' || line[x] == '.' || interval->fault) line[x] = letter(interval);
}

void trace_text(const TraceInput *input, int columns, GString *out) {
  TraceLayout *layout = trace_layout_new(input->result);
  int label = 0;
  for (guint i = 0; i < layout->rows->len; i++)
    label = MAX(label, (int)strlen(g_array_index(layout->rows, TraceRow, i).label));
  int width = MAX(columns - label - 2, 20);
  g_autofree char *line = g_malloc((gsize)width + 1);
  for (guint i = 0; i < layout->rows->len; i++) {
    memset(line, ' ', (size_t)width);
    line[width] = 0;
    for (int j = 0; j < input->result->intervals.count; j++) {
      const MachineInterval *interval = &input->result->intervals.items[j];
      if (trace_row_of(layout, interval) == (int)i) paint(layout, interval, width, line);
    }
    g_strchomp(line);
    g_string_append_printf(out, "%-*s  %s\n", label, g_array_index(layout->rows, TraceRow, i).label,
                           line);
  }
  g_string_append(out, "L load  R read  S store  . wait  ^ arrival  | barrier  ! fault\n");
  trace_layout_free(layout);
}
