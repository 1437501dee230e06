#include "report/trace_layout.h"

#include <math.h>
#include <string.h>

enum { LONGEST_GAP = 6, DENSE_GAP = 3, DENSE_TIMES = 150, MOST_ROWS = 48, MOST_LANES = 4 };

static bool is_barrier(const MachineInterval *interval) {
  return interval->kind == MACHINE_ARRIVE || interval->kind == MACHINE_PHASE_END;
}

static TraceGroup group_of(const MachineInterval *interval) {
  if (interval->kind == MACHINE_WAIT || interval->kind == MACHINE_BARRIER ||
      interval->kind == MACHINE_OTHER)
    return TRACE_GROUP_WARP;
  return interval->stage >= 0 ? TRACE_GROUP_STAGE : TRACE_GROUP_SHARED;
}

/* What cannot be named shares one row. */
static const char *object_of(const MachineInterval *interval) {
  return interval->object ? interval->object : "elsewhere";
}

static bool same_row(const TraceRow *row, const MachineInterval *interval) {
  if (row->group != group_of(interval) || row->cta != interval->cta) return false;
  if (row->group == TRACE_GROUP_WARP) return row->warp == interval->warp;
  return strcmp(row->object, object_of(interval)) == 0;
}

static int find_row(const TraceLayout *layout, const MachineInterval *interval) {
  for (guint i = 0; i < layout->rows->len; i++)
    if (same_row(&g_array_index(layout->rows, TraceRow, i), interval)) return (int)i;
  return -1;
}

static gint by_order(gconstpointer left, gconstpointer right) {
  const TraceRow *a = left, *b = right;
  if (a->cta != b->cta) return a->cta < b->cta ? -1 : 1;
  if (a->group != b->group) return a->group < b->group ? -1 : 1;
  if (a->group == TRACE_GROUP_WARP) return (a->warp > b->warp) - (a->warp < b->warp);
  if (a->stage != b->stage) return a->stage < b->stage ? -1 : 1;
  if (a->barrier != b->barrier) return a->barrier ? 1 : -1;
  /* full before empty, as the data flows */
  if (a->barrier) return strcmp(b->object, a->object);
  return strcmp(a->object, b->object);
}

static gint by_time(gconstpointer left, gconstpointer right) {
  guint64 a = *(const guint64 *)left, b = *(const guint64 *)right;
  return (a > b) - (a < b);
}

/* ---- rows ---- */

static void add_row(TraceLayout *layout, const MachineInterval *interval, bool fault) {
  int known = find_row(layout, interval);
  if (known >= 0) {
    g_array_index(layout->rows, TraceRow, known).barrier |= is_barrier(interval);
    g_array_index(layout->rows, TraceRow, known).fault |= fault;
    return;
  }
  TraceRow row = {.group = group_of(interval),
                  .cta = interval->cta,
                  .stage = interval->stage,
                  .warp = interval->warp,
                  .last_warp = interval->warp,
                  .barrier = is_barrier(interval),
                  .object = object_of(interval),
                  .lanes = 1,
                  .fault = fault};
  g_array_append_val(layout->rows, row);
}

/* What a warp does, as text: equal for warps of the same role. */
static char *role_of(const MachineResult *result, const TraceSlice *slice, const TraceRow *row) {
  GString *role = g_string_new(NULL);
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    if (!slice->shown[i] || !same_row(row, in)) continue;
    bool alone = i == slice->first || i == slice->second || i == slice->here;
    /* A wait passes on whatever phase is over by then: that is no difference between roles. */
    int64_t phase = in->kind == MACHINE_WAIT ? 0 : in->phase;
    g_string_append_printf(role, "%d %u %s %" G_GINT64_FORMAT " %d %d;", in->kind, in->where,
                           object_of(in), phase, in->never, alone && !in->never ? i : -1);
  }
  return g_string_free(role, FALSE);
}

/* Rows of neighbouring warps that do the same become the row of the first. */
static void merge_warps(TraceLayout *layout, const MachineResult *result, const TraceSlice *slice) {
  g_autofree char *before = NULL;
  for (guint i = 0; i < layout->rows->len;) {
    TraceRow *row = &g_array_index(layout->rows, TraceRow, i);
    char *role = row->group == TRACE_GROUP_WARP ? role_of(result, slice, row) : NULL;
    TraceRow *above = i > 0 ? row - 1 : NULL;
    bool same = role && before && above->group == TRACE_GROUP_WARP && above->cta == row->cta &&
                strcmp(role, before) == 0;
    if (same) {
      above->last_warp = row->warp;
      above->fault |= row->fault;
      g_array_remove_index(layout->rows, i);
      g_free(role);
      continue;
    }
    g_free(before);
    before = role;
    i++;
  }
}

static void label_rows(TraceLayout *layout) {
  for (guint i = 0; i < layout->rows->len; i++) {
    TraceRow *row = &g_array_index(layout->rows, TraceRow, i);
    g_autofree char *name = row->group != TRACE_GROUP_WARP ? g_strdup(row->object)
                            : row->last_warp > row->warp
                                ? g_strdup_printf("warps %d-%d", row->warp, row->last_warp)
                                : g_strdup_printf("warp %d", row->warp);
    row->label = layout->many_ctas ? g_strdup_printf("CTA %d %s", row->cta, name) : g_strdup(name);
  }
}

/* ---- lanes ---- */

/* Bars that would overlap go above each other; marks of a moment never do. */
static void place_lanes(TraceLayout *layout, const MachineResult *result, const TraceSlice *slice) {
  guint rows = layout->rows->len;
  g_autofree double *ends = g_new(double, rows *MOST_LANES);
  for (guint i = 0; i < rows * MOST_LANES; i++)
    ends[i] = -1;
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    int row = slice->shown[i] ? find_row(layout, in) : -1;
    layout->row_of[i] = row;
    layout->lane_of[i] = 0;
    if (row < 0 || is_barrier(in) || in->kind == MACHINE_OTHER) continue;
    double from = trace_position(layout, in->begin), to = trace_position(layout, in->end);
    int lane = 0;
    while (lane + 1 < MOST_LANES && ends[row * MOST_LANES + lane] > from)
      lane++;
    ends[row * MOST_LANES + lane] = MAX(to, ends[row * MOST_LANES + lane]);
    layout->lane_of[i] = lane;
    TraceRow *r = &g_array_index(layout->rows, TraceRow, row);
    r->lanes = MAX(r->lanes, lane + 1);
  }
}

/* ---- time ---- */

/* Keeps each time once and spreads them: a gap of g steps takes 1 + log2(g), up to a bound. */
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
  double longest = kept > DENSE_TIMES ? DENSE_GAP : LONGEST_GAP;
  for (guint i = 1; i < kept; i++) {
    guint64 gap =
        g_array_index(layout->times, guint64, i) - g_array_index(layout->times, guint64, i - 1);
    layout->at[i] = layout->at[i - 1] + MIN(1.0 + log2((double)gap), longest);
  }
  layout->width = kept ? layout->at[kept - 1] + 1.0 : 1.0;
}

/* Times of what is drawn only: a row that stands for several warps shows the first. */
static void collect_times(TraceLayout *layout, const MachineResult *result,
                          const TraceSlice *slice) {
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    if (!slice->shown[i] || find_row(layout, in) < 0) continue;
    guint64 begin = in->begin, end = MAX(in->end, in->begin);
    g_array_append_val(layout->times, begin);
    g_array_append_val(layout->times, end);
  }
}

/* Rows beyond what can be looked at: those without a fault go, the last first. */
static void drop_rows(TraceLayout *layout) {
  for (guint i = layout->rows->len; i-- > 0 && layout->rows->len > MOST_ROWS;) {
    if (g_array_index(layout->rows, TraceRow, i).fault) continue;
    g_array_remove_index(layout->rows, i);
    layout->left_out++;
  }
  if (layout->rows->len <= MOST_ROWS) return;
  layout->left_out += (int)layout->rows->len - MOST_ROWS;
  g_array_set_size(layout->rows, MOST_ROWS);
}

/* A line of words above the bars for each thing that is pointed at. */
static void place_remarks(TraceLayout *layout, const TraceSlice *slice) {
  const int intervals[] = {slice->first, slice->second, slice->here};
  for (int i = 0; i < 3; i++) {
    int row = intervals[i] >= 0 ? layout->row_of[intervals[i]] : -1;
    layout->remark_of[i] = row >= 0 ? g_array_index(layout->rows, TraceRow, row).remarks++ : -1;
  }
}

TraceLayout *trace_layout_new(const TraceInput *input, const TraceSlice *slice) {
  const MachineResult *result = input->result;
  TraceLayout *layout = g_new0(TraceLayout, 1);
  layout->rows = g_array_new(FALSE, TRUE, sizeof(TraceRow));
  layout->times = g_array_new(FALSE, TRUE, sizeof(guint64));
  int count = result->intervals.count;
  layout->row_of = g_new(int, count + 1);
  layout->lane_of = g_new0(int, count + 1);
  for (int i = 0; i < count; i++) {
    layout->many_ctas |= result->intervals.items[i].cta != result->intervals.items[0].cta;
    if (slice->shown[i])
      add_row(layout, &result->intervals.items[i], trace_slice_is_fault(slice, input, i));
  }
  g_array_sort(layout->rows, by_order);
  merge_warps(layout, result, slice);
  drop_rows(layout);
  label_rows(layout);
  collect_times(layout, result, slice);
  place_times(layout);
  place_lanes(layout, result, slice);
  place_remarks(layout, slice);
  return layout;
}

void trace_layout_free(TraceLayout *layout) {
  for (guint i = 0; i < layout->rows->len; i++)
    g_free(g_array_index(layout->rows, TraceRow, i).label);
  g_array_free(layout->rows, TRUE);
  g_array_free(layout->times, TRUE);
  g_free(layout->row_of);
  g_free(layout->lane_of);
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
