/* The trace in a terminal. */
#include <string.h>

#include "report/trace.h"
#include "report/trace_layout.h"

static char letter(const MachineInterval *interval) {
  if (interval->fault || interval->order || interval->never) return '!';
  switch (interval->kind) {
  case MACHINE_LOAD: return 'L';
  case MACHINE_COMPUTE: return 'M';
  case MACHINE_STORE: return 'S';
  case MACHINE_WAIT: return '.';
  case MACHINE_ARRIVE: return '^';
  case MACHINE_THREAD_READ: return 'r';
  case MACHINE_THREAD_WRITE: return 'w';
  case MACHINE_PHASE_END: return 'P';
  default: return '|';
  }
}

static void paint(const TraceLayout *layout, const MachineInterval *interval, int width,
                  char *line) {
  int from = (int)(trace_position(layout, interval->begin) / layout->width * (width - 1));
  int to = (int)(trace_position(layout, interval->end) / layout->width * (width - 1));
  bool wins = interval->fault || interval->order || interval->kind == MACHINE_PHASE_END;
  for (int x = from; x <= MAX(to, from) && x < width; x++)
    if (line[x] == ' ' || line[x] == '.' || wins) line[x] = letter(interval);
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
    for (int j = 0; j < input->result->intervals.count; j++)
      if (layout->row_of[j] == (int)i)
        paint(layout, &input->result->intervals.items[j], width, line);
    g_strchomp(line);
    g_string_append_printf(out, "%-*s  %s\n", label, g_array_index(layout->rows, TraceRow, i).label,
                           line);
  }
  g_string_append(out,
                  "L load  M tensor core  r read  w write  S store  . wait  ^ arrival  P phase "
                  "completes  | barrier  ! fault\n");
  if (input->fault) g_string_append_printf(out, "%s\n", input->fault->message);
  trace_layout_free(layout);
}
