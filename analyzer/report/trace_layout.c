#include "report/trace_layout.h"

#include <math.h>
#include <string.h>

enum { LONGEST_GAP = 12 };

static TraceRowKind row_kind(const MachineInterval *interval) {
  switch (interval->kind) {
  case MACHINE_WAIT:
  case MACHINE_BARRIER: return TRACE_ROW_WARP;
  case MACHINE_ARRIVE: return TRACE_ROW_BARRIER;
  default: return TRACE_ROW_STAGE;
  }
}

/* What cannot be named shares one row. */
static const char *object_of(const MachineInterval *interval) {
  return interval->object ? interval->object : "elsewhere";
}

static bool same_row(const TraceRow *row, const MachineInterval *interval) {
  if (row->kind != row_kind(interval) || row->cta != interval->cta) return false;
  if (row->kind == TRACE_ROW_WARP) return row->warp == interval->warp;
  return strcmp(row->object, object_of(interval)) == 0;
}

int trace_row_of(const TraceLayout *layout, const MachineInterval *interval) {
  for (guint i = 0; i < layout->rows->len; i++)
    if (same_row(&g_array_index(layout->rows, TraceRow, i), interval)) return (int)i;
  return -1;
}

static gint by_order(gconstpointer left, gconstpointer right) {
  const TraceRow *a = left, *b = right;
  if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
  if (a->kind != b->kind) return a->kind < b->kind ? -1 : 1;
  if (a->kind == TRACE_ROW_WARP) return (a->warp > b->warp) - (a->warp < b->warp);
  size_t length = strcspn(a->object, "[");
  int names = length == strcspn(b->object, "[") ? strncmp(a->object, b->object, length)
                                                : strcmp(a->object, b->object);
  if (names != 0) return names;
  return (a->stage > b->stage) - (a->stage < b->stage);
}

static gint by_time(gconstpointer left, gconstpointer right) {
  guint64 a = *(const guint64 *)left, b = *(const guint64 *)right;
  return (a > b) - (a < b);
}

static void add_row(TraceLayout *layout, const MachineInterval *interval, bool many_ctas) {
  if (trace_row_of(layout, interval) >= 0) return;
  TraceRow row = {.kind = row_kind(interval),
                  .cta = interval->cta,
                  .warp = interval->warp,
                  .object = object_of(interval),
                  .stage = interval->stage};
  g_autofree char *name = row.kind == TRACE_ROW_WARP ? g_strdup_printf("warp %d", interval->warp)
                                                     : g_strdup(row.object);
  row.label = many_ctas ? g_strdup_printf("cta %d %s", row.cta, name) : g_strdup(name);
  g_array_append_val(layout->rows, row);
}

/* Keeps each time once and spreads them: a gap of g steps takes min(1 + log2(g), LONGEST_GAP). */
static void place_times(TraceLayout *layout) {
  g_array_sort(layout->times, by_time);
  guint kept = 0;
  for (guint i = 0; i < layout->times->len; i++) {
    guint64 time = g_array_index(layout->times, guint64, i);
    if (kept == 0 || g_array_index(layout->times, guint64, kept - 1) != time)
      g_array_index(layout->times, guint64, kept++) = time;
  }
  g_array_set_size(layout->times, kept);
  layout->at = g_new0(double, kept + 1);
  for (guint i = 1; i < kept; i++) {
    guint64 gap =
        g_array_index(layout->times, guint64, i) - g_array_index(layout->times, guint64, i - 1);
    layout->at[i] = layout->at[i - 1] + MIN(1.0 + log2((double)gap), (double)LONGEST_GAP);
  }
  layout->width = kept ? layout->at[kept - 1] + 1.0 : 1.0;
}

TraceLayout *trace_layout_new(const MachineResult *result) {
  TraceLayout *layout = g_new0(TraceLayout, 1);
  layout->rows = g_array_new(FALSE, TRUE, sizeof(TraceRow));
  layout->times = g_array_new(FALSE, TRUE, sizeof(guint64));
  bool many_ctas = false;
  for (int i = 0; i < result->intervals.count; i++)
    many_ctas |= result->intervals.items[i].cta != result->intervals.items[0].cta;
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *interval = &result->intervals.items[i];
    add_row(layout, interval, many_ctas);
    guint64 begin = interval->begin, end = MAX(interval->end, interval->begin);
    g_array_append_val(layout->times, begin);
    g_array_append_val(layout->times, end);
  }
  g_array_sort(layout->rows, by_order);
  place_times(layout);
  return layout;
}

void trace_layout_free(TraceLayout *layout) {
  for (guint i = 0; i < layout->rows->len; i++)
    g_free(g_array_index(layout->rows, TraceRow, i).label);
  g_array_free(layout->rows, TRUE);
  g_array_free(layout->times, TRUE);
  g_free(layout->at);
  g_free(layout);
}

double trace_position(const TraceLayout *layout, uint64_t step) {
  guint low = 0, high = layout->times->len;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (g_array_index(layout->times, guint64, middle) < step)
      low = middle + 1;
    else
      high = middle;
  }
  if (low >= layout->times->len) return layout->width;
  return layout->at[low];
}
