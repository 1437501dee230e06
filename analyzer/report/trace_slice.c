#include "report/trace_slice.h"

#include <string.h>

enum { MOST_EVENTS = 120, MANY_EVENTS = 80, MOST_STAGES = 64 };

static const MachineInterval *at(const TraceInput *input, int i) {
  return &input->result->intervals.items[i];
}

static int count_of(const TraceInput *input) {
  return input->result->intervals.count;
}

static bool synchronises(const MachineInterval *in) {
  return in->kind == MACHINE_WAIT || in->kind == MACHINE_ARRIVE || in->kind == MACHINE_BARRIER ||
         in->kind == MACHINE_OTHER;
}

/* ---- what to point at ---- */

/* Whether two intervals are of one warpgroup. */
static bool same_group(const MachineInterval *a, const MachineInterval *b) {
  enum { GROUP = 4 };
  return a->by == b->by && a->warp / GROUP == b->warp / GROUP;
}

/* Beside a race: what stands at the place of the finding and comes last before the second access;
 * of waits one of the warps that make that access, where there is one. */
static int culprit_of_race(const TraceInput *input, const TraceSlice *slice) {
  const MachineInterval *first = at(input, slice->first), *second = at(input, slice->second);
  int found = -1, own = -1, last = -1;
  for (int i = 0; i < count_of(input); i++) {
    const MachineInterval *in = at(input, i);
    if (!in->fault || !synchronises(in) || i == slice->first || i == slice->second) continue;
    if (in->where == first->where || in->where == second->where) continue;
    if (in->begin < second->begin) found = i;
    if (in->begin < second->begin && in->kind == MACHINE_WAIT && same_group(in, second)) own = i;
    if (in->kind == MACHINE_WAIT) last = i;
  }
  return own >= 0 ? own : found >= 0 ? found : last;
}

/* Without a race: a wait at the place of the finding that never ends; what else stands there, the
 * first or of waits that pass the last of the warp that comes first; any wait that never ends. */
static int culprit(const TraceInput *input) {
  int found = -1, never = -1;
  for (int i = 0; i < count_of(input); i++) {
    const MachineInterval *in = at(input, i);
    if (in->never && in->fault) return i;
    if (in->never && never < 0) never = i;
    bool later = found >= 0 && in->kind == MACHINE_WAIT && at(input, found)->kind == MACHINE_WAIT &&
                 in->warp == at(input, found)->warp && in->by == at(input, found)->by;
    if (in->fault && (found < 0 || later)) found = i;
  }
  return found >= 0 ? found : never;
}

static void point(const TraceInput *input, TraceSlice *slice) {
  slice->first = slice->second = slice->here = -1;
  for (int i = 0; i < count_of(input); i++) {
    if (at(input, i)->order == 1) slice->first = i;
    if (at(input, i)->order == 2) slice->second = i;
  }
  bool race = slice->first >= 0 && slice->second >= 0;
  if (!race && slice->first >= 0) slice->here = slice->first;
  if (!race && slice->second >= 0) slice->here = slice->second;
  if (!race) slice->first = slice->second = -1;
  if (race)
    slice->here = culprit_of_race(input, slice);
  else if (slice->here < 0)
    slice->here = culprit(input);
}

bool trace_slice_is_fault(const TraceSlice *slice, const TraceInput *input, int interval) {
  return interval == slice->first || interval == slice->second || interval == slice->here ||
         at(input, interval)->never;
}

/* ---- what has part in it ---- */

static void hide(TraceSlice *slice, const TraceInput *input, int i) {
  if (!trace_slice_is_fault(slice, input, i)) slice->shown[i] = false;
}

/* Rows of stages that the fault does not touch. */
static void hide_stages(const TraceInput *input, TraceSlice *slice, GString *note) {
  guint64 all = 0, touched = 0;
  for (int i = 0; i < count_of(input); i++) {
    const MachineInterval *in = at(input, i);
    if (in->stage < 0 || in->stage >= MOST_STAGES) continue;
    guint64 bit = G_GUINT64_CONSTANT(1) << in->stage;
    all |= bit;
    if (trace_slice_is_fault(slice, input, i)) touched |= bit;
  }
  if (!touched || touched == all) return;
  for (int i = 0; i < count_of(input); i++) {
    const MachineInterval *in = at(input, i);
    bool row = in->kind != MACHINE_WAIT && in->kind != MACHINE_BARRIER && in->kind != MACHINE_OTHER;
    if (row && in->stage >= 0 && in->stage < MOST_STAGES && !(touched >> in->stage & 1))
      hide(slice, input, i);
  }
  bool many = (touched & (touched - 1)) != 0;
  g_string_append_printf(note, "%s", many ? "stages " : "stage ");
  bool comma = false;
  for (int s = 0; s < MOST_STAGES; s++)
    if (touched >> s & 1) {
      g_string_append_printf(note, "%s%d", comma ? ", " : "", s);
      comma = true;
    }
  g_string_append_printf(note, " of %d", 64 - __builtin_clzll(all));
}

/* What comes after the fault says nothing about it. */
static void hide_future(const TraceInput *input, TraceSlice *slice, GString *note) {
  uint64_t end = 0;
  for (int i = 0; i < count_of(input); i++) {
    if (!trace_slice_is_fault(slice, input, i)) continue;
    if (at(input, i)->never) return;
    end = MAX(end, at(input, i)->end);
  }
  bool any = false;
  for (int i = 0; i < count_of(input); i++) {
    if (at(input, i)->begin <= end) continue;
    any |= slice->shown[i];
    hide(slice, input, i);
  }
  if (any) g_string_append_printf(note, "%sup to the fault", note->len ? ", " : "");
}

/* Whether the warp of an interval does one of the things that are pointed at. */
static bool takes_part(const TraceInput *input, const TraceSlice *slice,
                       const MachineInterval *in) {
  const int pointed[] = {slice->first, slice->second, slice->here};
  for (int i = 0; i < 3; i++) {
    const MachineInterval *at_fault = pointed[i] >= 0 ? at(input, pointed[i]) : NULL;
    if (at_fault && at_fault->warp == in->warp && at_fault->by == in->by) return true;
  }
  return false;
}

/* In a run with much in it, fences, commits and block-wide barriers of the other warps. */
static void hide_minor(const TraceInput *input, TraceSlice *slice, GString *note) {
  int shown = 0;
  bool any = false;
  for (int i = 0; i < count_of(input); i++)
    shown += slice->shown[i];
  for (int i = 0; i < count_of(input) && shown > MANY_EVENTS; i++) {
    const MachineInterval *in = at(input, i);
    bool minor = in->kind == MACHINE_OTHER || in->kind == MACHINE_BARRIER;
    if (!minor || !slice->shown[i] || takes_part(input, slice, in)) continue;
    any = true;
    hide(slice, input, i);
  }
  if (any)
    g_string_append_printf(note, "%swithout barriers and fences of other warps",
                           note->len ? ", " : "");
}

static gint by_time(gconstpointer left, gconstpointer right) {
  guint64 a = *(const guint64 *)left, b = *(const guint64 *)right;
  return (a > b) - (a < b);
}

/* Of a long run, the last events before the fault and those since the first access. */
static void hide_past(const TraceInput *input, TraceSlice *slice, GString *note) {
  g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
  uint64_t first = UINT64_MAX;
  for (int i = 0; i < count_of(input); i++) {
    guint64 end = at(input, i)->end;
    if (slice->shown[i]) g_array_append_val(ends, end);
    if (i == slice->first || i == slice->second || i == slice->here)
      first = MIN(first, at(input, i)->begin);
  }
  if (ends->len <= MOST_EVENTS) return;
  g_array_sort(ends, by_time);
  uint64_t from = MIN(g_array_index(ends, guint64, ends->len - MOST_EVENTS), first);
  bool any = false;
  for (int i = 0; i < count_of(input); i++) {
    if (!slice->shown[i] || at(input, i)->end >= from) continue;
    any = true;
    hide(slice, input, i);
  }
  if (any)
    g_string_append_printf(note, "%sfrom step %" G_GUINT64_FORMAT " on", note->len ? ", " : "",
                           (guint64)from);
}

TraceSlice *trace_slice_new(const TraceInput *input) {
  TraceSlice *slice = g_new0(TraceSlice, 1);
  int count = count_of(input);
  slice->shown = g_new(bool, count + 1);
  for (int i = 0; i < count; i++)
    slice->shown[i] = true;
  slice->first = slice->second = slice->here = -1;
  if (!input->fault && !input->finding) return slice;
  point(input, slice);
  if (input->all || (slice->here < 0 && slice->first < 0)) return slice;
  g_autoptr(GString) note = g_string_new(NULL);
  hide_stages(input, slice, note);
  hide_future(input, slice, note);
  hide_minor(input, slice, note);
  hide_past(input, slice, note);
  if (note->len) slice->note = g_strdup_printf("shown: %s (--all draws everything)", note->str);
  return slice;
}

void trace_slice_free(TraceSlice *slice) {
  g_free(slice->shown);
  g_free(slice->note);
  g_free(slice);
}
