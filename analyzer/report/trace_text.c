/* The trace in a terminal. */
#include <string.h>

#include "report/trace.h"
#include "report/trace_draw.h"

static char letter(const MachineInterval *interval) {
  if (interval->order) return interval->order == 1 ? '1' : '2';
  if (interval->fault || interval->never) return '!';
  switch (interval->kind) {
  case MACHINE_LOAD: return 'L';
  case MACHINE_COMPUTE: return 'M';
  case MACHINE_STORE: return 'S';
  case MACHINE_WAIT: return '.';
  case MACHINE_ARRIVE: return '^';
  case MACHINE_THREAD_READ: return 'r';
  case MACHINE_THREAD_WRITE: return 'w';
  case MACHINE_PHASE_END: return 'P';
  case MACHINE_OTHER: return ':';
  default: return '|';
  }
}

static void paint(const TraceLayout *layout, const MachineInterval *interval, int width,
                  char *line) {
  int from = (int)(trace_position(layout, interval->begin) / layout->width * (width - 1));
  int to = (int)(trace_position(layout, interval->end) / layout->width * (width - 1));
  bool wins = interval->fault || interval->order || interval->kind == MACHINE_PHASE_END;
  for (int x = from; x <= MAX(to, from) && x < width; x++)
    if (line[x] == ' ' || line[x] == '.' || line[x] == ':' || wins) line[x] = letter(interval);
}

/* What the letters say: those that are there. */
static void append_letters(const TraceInput *input, const TraceLayout *layout, int columns,
                           GString *out) {
  static const struct {
    char letter;
    const char *name;
  } all[] = {{'L', "load"},         {'M', "tensor core"},
             {'r', "read"},         {'w', "write"},
             {'S', "store"},        {'.', "wait"},
             {'^', "arrival"},      {'P', "phase completes"},
             {'|', "barrier"},      {':', "other synchronisation"},
             {'1', "first access"}, {'2', "second access"},
             {'!', "the fault"}};
  int used = 0;
  for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
    bool there = false;
    for (int j = 0; j < input->result->intervals.count; j++)
      there |=
          layout->row_of[j] >= 0 && letter(&input->result->intervals.items[j]) == all[i].letter;
    if (!there) continue;
    int length = (int)strlen(all[i].name) + 4;
    if (used + length > columns) g_string_append_c(out, '\n');
    used = used + length > columns ? length : used + length;
    g_string_append_printf(out, "%c %s  ", all[i].letter, all[i].name);
  }
  while (out->len && out->str[out->len - 1] == ' ')
    g_string_truncate(out, out->len - 1);
  g_string_append_c(out, '\n');
}

static void say_place(const char *words, void *out) {
  g_string_append_printf(out, "%s\n", words);
}

static void append_told(const TraceInput *input, GString *out) {
  if (!input->finding) {
    g_string_append_printf(out, "%s: no fault that a run shows, one run as it should be\n",
                           input->kernel->instantiation);
    if (input->changed) g_string_append_printf(out, "with %s\n", input->changed);
    return;
  }
  const Finding *f = input->finding;
  g_string_append_printf(out, "%s:%d: %s: %s [%s]\nin %s", f->path, f->line,
                         severity_name(f->severity), f->message, f->rule,
                         input->kernel->instantiation);
  for (int i = 0; input->fault && i < input->fault->inputs.count; i++)
    g_string_append_printf(out, "%s%s = %s", i ? ", " : ", with ",
                           input->fault->inputs.items[i].name, input->fault->inputs.items[i].value);
  if (input->changed)
    g_string_append_printf(
        out, "%s%s", input->fault && input->fault->inputs.count ? "; " : ", with ", input->changed);
  g_string_append_c(out, '\n');
  for (int i = 0; input->fault && i < input->fault->witness.count; i++)
    g_string_append_printf(out, "%s\n", input->fault->witness.items[i]);
  trace_each_place(input, say_place, out);
}

static void append_row(const TraceInput *input, const TraceLayout *layout, guint row, int label,
                       int width, GString *out) {
  g_autofree char *line = g_malloc((gsize)width + 1);
  memset(line, ' ', (size_t)width);
  line[width] = 0;
  for (int j = 0; j < input->result->intervals.count; j++)
    if (layout->row_of[j] == (int)row)
      paint(layout, &input->result->intervals.items[j], width, line);
  g_strchomp(line);
  g_string_append_printf(out, "%-*s  %s\n", label, g_array_index(layout->rows, TraceRow, row).label,
                         line);
}

void trace_text(const TraceInput *input, int columns, GString *out) {
  TraceSlice *slice = trace_slice_new(input);
  TraceLayout *layout = trace_layout_new(input, slice);
  int label = 0;
  append_told(input, out);
  if (slice->note) g_string_append_printf(out, "%s\n", slice->note);
  g_string_append_c(out, '\n');
  for (guint i = 0; i < layout->rows->len; i++)
    label = MAX(label, (int)strlen(g_array_index(layout->rows, TraceRow, i).label));
  int width = MAX(columns - label - 2, 20);
  for (guint i = 0; i < layout->rows->len; i++)
    append_row(input, layout, i, label, width, out);
  if (layout->left_out)
    g_string_append_printf(out, "%d more rows are not shown\n", layout->left_out);
  g_string_append_c(out, '\n');
  append_letters(input, layout, columns, out);
  trace_layout_free(layout);
  trace_slice_free(slice);
}
