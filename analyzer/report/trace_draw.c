#include "report/trace_draw.h"

#include <string.h>

enum {
  LANE = 15,
  BAR = 12,
  PAD = 3,
  GAP = 16,
  FIT = 900,
  SMALL_CHARACTER = 6,
  MARGIN = 30,
  MOST_REMARK = 100
};
static const double LEAST_UNIT = 2.2; /* pixels: what is denser is panned */
static const double MOST_UNIT = 30.0;

static const struct {
  const char *name, *css, *verb;
} kinds[] = {
    [MACHINE_LOAD] = {"asynchronous load", "load", "load"},
    [MACHINE_COMPUTE] = {"tensor core", "mma", "mma"},
    [MACHINE_STORE] = {"asynchronous store", "store", "store"},
    [MACHINE_WAIT] = {"wait", "wait", "wait"},
    [MACHINE_ARRIVE] = {"arrival", "arrive", "arrival"},
    [MACHINE_BARRIER] = {"barrier", "barrier", "barrier"},
    [MACHINE_THREAD_READ] = {"threads read", "read", "read"},
    [MACHINE_THREAD_WRITE] = {"threads write", "write", "write"},
    [MACHINE_PHASE_END] = {"phase completes", "phase", "phase"},
    [MACHINE_OTHER] = {"other synchronisation", "other", ""},
};

/* ---- words ---- */

void trace_append_escaped(GString *out, const char *text) {
  g_autofree char *escaped = g_markup_escape_text(text ? text : "", -1);
  g_string_append(out, escaped);
}

static const SourceRange *place_of(const TraceInput *input, uint32_t where) {
  const SourceMap *map = &input->program->sources;
  return &map->stacks.items[ir_event_site(input->sites, where)].range;
}

void trace_append_place(const TraceInput *input, uint32_t where, GString *out) {
  const SourceRange *range = place_of(input, where);
  if (range->line == 0) return;
  g_autofree char *base =
      g_path_get_basename(input->program->sources.files.items[range->file].path);
  g_string_append_printf(out, " (%s:%u)", base, range->line);
}

static void append_phase(GString *out, const MachineInterval *in) {
  bool counts = in->kind != MACHINE_BARRIER && in->kind != MACHINE_OTHER && in->phase >= 0;
  if (counts) g_string_append_printf(out, ", phase %" G_GINT64_FORMAT, in->phase);
}

static void append_warp(GString *out, const TraceInput *input, const MachineInterval *in,
                        const char *opening) {
  const MachineResult *result = input->result;
  bool cluster = false;
  for (int i = 0; i < result->intervals.count; i++)
    cluster |= result->intervals.items[i].by != result->intervals.items[0].by;
  g_string_append_printf(out, "%swarp %d", opening, in->warp);
  if (cluster) g_string_append_printf(out, " of CTA %d", in->by);
}

char *trace_detail(const TraceInput *input, const MachineInterval *in) {
  GString *out = g_string_new(NULL);
  bool named = in->deed && !in->never;
  g_string_append(out, named ? in->deed : kinds[in->kind].name);
  if (in->kind == MACHINE_THREAD_READ || in->kind == MACHINE_THREAD_WRITE)
    g_string_append_printf(
        out, "%s", named ? (in->kind == MACHINE_THREAD_READ ? ", a read" : ", a write") : "");
  if (in->object) {
    bool on = in->kind == MACHINE_WAIT || in->kind == MACHINE_ARRIVE;
    g_string_append_printf(out, " %s %s", on ? "on" : "of", in->object);
  }
  append_phase(out, in);
  if (in->warp >= 0) append_warp(out, input, in, ", ");
  if (in->never) g_string_append_printf(out, ", never ends: %s", in->deed ? in->deed : "");
  trace_append_place(input, in->where, out);
  g_string_append_printf(out, ", step %" G_GUINT64_FORMAT, in->begin);
  if (in->end > in->begin + 1 && !in->never)
    g_string_append_printf(out, " to %" G_GUINT64_FORMAT, in->end);
  return g_string_free(out, FALSE);
}

/* What stands beside a ring. */
static char *remark(const TraceInput *input, const MachineInterval *in, const char *opening) {
  GString *out = g_string_new(opening);
  if (in->never) {
    g_string_append(out, in->kind == MACHINE_WAIT ? "waits for ever" : "never ends");
    if (in->deed) g_string_append_printf(out, ": %s", in->deed);
  } else {
    bool thread = in->kind == MACHINE_THREAD_READ || in->kind == MACHINE_THREAD_WRITE;
    g_string_append(out, in->deed ? in->deed : kinds[in->kind].verb);
    bool barrier = in->kind == MACHINE_WAIT || in->kind == MACHINE_ARRIVE;
    if (barrier && in->object) g_string_append_printf(out, " on %s", in->object);
    if (thread || barrier) append_warp(out, input, in, " by ");
  }
  const SourceRange *range = place_of(input, in->where);
  if (g_utf8_strlen(out->str, -1) > MOST_REMARK) {
    g_string_truncate(out, (gsize)(g_utf8_offset_to_pointer(out->str, MOST_REMARK - 3) - out->str));
    g_string_append(out, "...");
  }
  if (range->line) g_string_append_printf(out, ", line %u", range->line);
  return g_string_free(out, FALSE);
}

static double width_of(const char *words) {
  return (double)g_utf8_strlen(words, -1) * TRACE_CHARACTER;
}

/* ---- places ---- */

static const TraceRow *row_at(const TracePicture *p, int row) {
  return &g_array_index(p->layout->rows, TraceRow, row);
}

static bool opens_group(const TracePicture *p, int row) {
  const TraceRow *now = row_at(p, row), *above = row > 0 ? row_at(p, row - 1) : NULL;
  return !above || above->group != now->group || above->cta != now->cta ||
         (now->group == TRACE_GROUP_STAGE && above->stage != now->stage);
}

static int bars_of(const TracePicture *p, int row) {
  return p->row_top[row] + row_at(p, row)->remarks * LANE;
}

static const char *const openings[] = {"first: ", "then: ", ""};

static double x_of(const TracePicture *p, uint64_t step) {
  return p->left + 8 + trace_position(p->layout, step) * p->unit;
}

/* Words at the right end need room, unless they are alone in their row and fit to the left. */
static void make_room(TracePicture *p) {
  const int intervals[] = {p->slice->first, p->slice->second, p->slice->here};
  for (int i = 0; i < 3; i++) {
    if (p->layout->remark_of[i] < 0) continue;
    const MachineInterval *in = &p->input->result->intervals.items[intervals[i]];
    g_autofree char *words = remark(p->input, in, openings[i]);
    double from = x_of(p, in->begin) - p->left, length = width_of(words) + 24;
    bool alone = row_at(p, p->layout->row_of[intervals[i]])->remarks == 1;
    if (!alone || from < length) p->width = MAX(p->width, from + length);
  }
}

TracePicture *trace_picture_new(const TraceInput *input, int left, int top, bool keyboard) {
  TracePicture *p = g_new0(TracePicture, 1);
  p->input = input;
  p->slice = trace_slice_new(input);
  p->layout = trace_layout_new(input, p->slice);
  p->left = left;
  p->top = top;
  p->keyboard = keyboard;
  p->unit = CLAMP(FIT / p->layout->width, LEAST_UNIT, MOST_UNIT);
  p->width = MAX(p->layout->width * p->unit + MARGIN, 620.0);
  int count = (int)p->layout->rows->len, y = top;
  p->row_top = g_new(int, count + 1);
  for (int i = 0; i < count; i++) {
    if (opens_group(p, i)) y += GAP;
    p->row_top[i] = y;
    y += (row_at(p, i)->lanes + row_at(p, i)->remarks) * LANE + PAD;
  }
  p->row_top[count] = y;
  make_room(p);
  return p;
}

void trace_picture_free(TracePicture *p) {
  trace_layout_free(p->layout);
  trace_slice_free(p->slice);
  g_free(p->row_top);
  g_free(p);
}

int trace_picture_bottom(const TracePicture *p) {
  return p->row_top[p->layout->rows->len];
}

/* The box of an interval in the drawing. */
typedef struct Box {
  double x, width;
  int y;
} Box;

static Box box_of(const TracePicture *p, int index) {
  const MachineInterval *in = &p->input->result->intervals.items[index];
  Box box = {.x = x_of(p, in->begin),
             .y = bars_of(p, p->layout->row_of[index]) + p->layout->lane_of[index] * LANE + PAD};
  double end = in->never ? p->left + 8 + p->layout->width * p->unit : x_of(p, in->end);
  bool moment = in->kind == MACHINE_ARRIVE || in->kind == MACHINE_OTHER;
  box.width = moment ? 2 : MAX(end - box.x, 3.0);
  return box;
}

/* ---- frame ---- */

void trace_draw_lines(const TracePicture *p, double from, double to, GString *out) {
  for (int i = 0; i < (int)p->layout->rows->len; i++)
    if (opens_group(p, i))
      g_string_append_printf(out,
                             "<line class=\"row\" x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\"/>",
                             from, p->row_top[i], to, p->row_top[i]);
}

void trace_draw_names(const TracePicture *p, GString *out) {
  for (int i = 0; i < (int)p->layout->rows->len; i++) {
    const TraceRow *row = row_at(p, i);
    if (opens_group(p, i)) {
      g_autofree char *title = row->group == TRACE_GROUP_STAGE
                                   ? g_strdup_printf("stage %d", row->stage)
                               : row->group == TRACE_GROUP_SHARED ? g_strdup("memory")
                                                                  : g_strdup("warps");
      g_string_append_printf(out, "<text class=\"group\" x=\"8\" y=\"%d\">%s</text>",
                             p->row_top[i] - 3, title);
    }
    int most = (TRACE_NAMES - 16) / TRACE_CHARACTER, length = (int)strlen(row->label);
    g_string_append_printf(out, "<text x=\"12\" y=\"%d\">", bars_of(p, i) + PAD + 10);
    if (length > most) { /* the whole name on a hover, its end in view: that is where indices are */
      g_string_append(out, "<title>");
      trace_append_escaped(out, row->label);
      g_string_append(out, "</title>..");
    }
    trace_append_escaped(out, row->label + MAX(length > most ? length - most + 2 : 0, 0));
    g_string_append(out, "</text>");
  }
}

static bool is_used(const TracePicture *p, int kind) {
  for (int i = 0; i < p->input->result->intervals.count; i++)
    if (p->input->result->intervals.items[i].kind == kind && p->layout->row_of[i] >= 0) return true;
  return false;
}

static void append_phase_mark(GString *out, double x, double y) {
  g_string_append_printf(out, "<path class=\"phase\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/>", x, y);
}

double trace_draw_legend(const TracePicture *p, int y, GString *out) {
  double x = 8;
  for (int kind = MACHINE_LOAD; kind <= MACHINE_OTHER; kind++) {
    if (!is_used(p, kind)) continue;
    if (kind == MACHINE_ARRIVE || kind == MACHINE_OTHER)
      g_string_append_printf(out,
                             "<line class=\"%s\" x1=\"%.0f\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\"/>",
                             kinds[kind].css, x + 5, y - 10, x + 5, y + 1);
    else if (kind == MACHINE_PHASE_END)
      append_phase_mark(out, x + 6, y - 9);
    else
      g_string_append_printf(out,
                             "<rect class=\"%s\" x=\"%.0f\" y=\"%d\" width=\"11\" height=\"11\"/>",
                             kinds[kind].css, x, y - 10);
    g_string_append_printf(out, "<text x=\"%.0f\" y=\"%d\">%s</text>", x + 16, y, kinds[kind].name);
    x += 32 + TRACE_CHARACTER * (double)strlen(kinds[kind].name);
  }
  if (p->slice->here >= 0 || p->slice->first >= 0) {
    g_string_append_printf(
        out,
        "<rect class=\"ring\" x=\"%.0f\" y=\"%d\" width=\"13\" height=\"11\" rx=\"4\"/>"
        "<text class=\"why\" x=\"%.0f\" y=\"%d\">the fault</text>",
        x, y - 10, x + 18, y);
    x += 90;
  }
  return x;
}

/* ---- what happened ---- */

/* "load, phase 1", "read by warp 4", "full[0]": as much as fits. */
static char *inside_text(const MachineInterval *in, double width) {
  g_autofree char *whole = NULL, *brief = NULL;
  const char *deed = in->deed ? in->deed : kinds[in->kind].verb;
  if (in->kind == MACHINE_WAIT) {
    whole = in->never ? g_strdup("waits for ever") : g_strdup(in->object ? in->object : "");
    brief = g_strdup(in->never ? "for ever" : "");
  } else if (in->kind == MACHINE_LOAD && in->phase >= 0) {
    whole = g_strdup_printf("%s, phase %" G_GINT64_FORMAT, deed, in->phase);
    brief = g_strdup_printf("load %" G_GINT64_FORMAT, in->phase);
  } else if (in->kind == MACHINE_THREAD_READ || in->kind == MACHINE_THREAD_WRITE) {
    whole = g_strdup_printf("%s by warp %d", deed, in->warp);
    brief = g_strdup_printf("w%d", in->warp);
  } else {
    whole = g_strdup(deed);
    brief = g_strdup(kinds[in->kind].verb);
  }
  int room = (int)((width - 6) / SMALL_CHARACTER);
  if (*whole && (int)strlen(whole) <= room) return g_steal_pointer(&whole);
  return *brief && (int)strlen(brief) <= room ? g_steal_pointer(&brief) : NULL;
}

static const char *ink_of(int kind) {
  if (kind == MACHINE_WAIT) return "over";
  return kind == MACHINE_THREAD_READ || kind == MACHINE_THREAD_WRITE || kind == MACHINE_BARRIER
             ? "dark"
             : "light";
}

static void open_event(const TracePicture *p, int index, Box box, GString *out) {
  g_autofree char *detail = trace_detail(p->input, &p->input->result->intervals.items[index]);
  const TraceSlice *s = p->slice;
  int first = s->first >= 0 ? s->first : s->here;
  g_string_append(out, "<g");
  if (p->keyboard) {
    g_string_append_printf(
        out,
        " class=\"e%s\" tabindex=\"%s\" role=\"img\" data-x=\"%.0f\" data-row=\"%d\" aria-label=\"",
        index == first ? " fault-event" : "", index == MAX(first, 0) ? "0" : "-1", box.x,
        p->layout->row_of[index]);
    trace_append_escaped(out, detail);
    g_string_append_c(out, '"');
  }
  g_string_append(out, "><title>");
  trace_append_escaped(out, detail);
  g_string_append(out, "</title>");
}

static void append_interval(const TracePicture *p, int index, GString *out) {
  const MachineInterval *in = &p->input->result->intervals.items[index];
  Box box = box_of(p, index);
  open_event(p, index, box, out);
  if (in->kind == MACHINE_ARRIVE || in->kind == MACHINE_OTHER) {
    int inset = in->kind == MACHINE_OTHER ? 3 : 0;
    g_string_append_printf(out, "<line class=\"%s\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                           kinds[in->kind].css, box.x, box.y + inset, box.x, box.y + BAR - inset);
  } else if (in->kind == MACHINE_PHASE_END) {
    append_phase_mark(out, box.x + 6, box.y + 1);
    g_string_append_printf(out,
                           "<text class=\"num\" x=\"%.1f\" y=\"%d\">%" G_GINT64_FORMAT "</text>",
                           box.x + 13, box.y + 9, in->phase);
  } else {
    g_string_append_printf(
        out, "<rect class=\"%s%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
        kinds[in->kind].css, in->never ? " never" : "", box.x, box.y, box.width, BAR);
    g_autofree char *text = inside_text(in, box.width);
    if (text) {
      g_string_append_printf(out, "<text class=\"%s num\" x=\"%.1f\" y=\"%d\">", ink_of(in->kind),
                             box.x + 3, box.y + 9);
      trace_append_escaped(out, text);
      g_string_append(out, "</text>");
    }
  }
  g_string_append(out, "</g>");
}

void trace_draw_events(const TracePicture *p, GString *out) {
  for (int i = 0; i < p->input->result->intervals.count; i++)
    if (p->layout->row_of[i] >= 0) append_interval(p, i, out);
}

/* ---- the fault ---- */

/* Where the number stands: at the start of its line of words. */
static void dot_of(const TracePicture *p, int which, int index, double *x, double *y) {
  Box box = box_of(p, index);
  *x = MAX(box.x, p->left + 8.0);
  *y = p->row_top[p->layout->row_of[index]] + p->layout->remark_of[which] * LANE + LANE / 2.0;
}

static void append_ring(const TracePicture *p, int which, int index, const char *number,
                        const char *opening, GString *out) {
  const MachineInterval *in = &p->input->result->intervals.items[index];
  Box box = box_of(p, index);
  double x, y;
  dot_of(p, which, index, &x, &y);
  g_string_append_printf(
      out,
      "<rect class=\"ring\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"5\"/>"
      "<line class=\"lead\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%d\"/>"
      "<circle class=\"dot\" cx=\"%.1f\" cy=\"%.1f\" r=\"7\"/>"
      "<text class=\"in\" x=\"%.1f\" y=\"%.1f\">%s</text>",
      box.x - 4, box.y - 2, box.width + 8, BAR + 4, x, y, x, box.y - 2, x, y, x - 3, y + 4, number);
  g_autofree char *words = remark(p->input, in, opening);
  double room = p->left + p->width - x - 11, length = width_of(words);
  bool left = length > room; /* what is alone in its line can stand there too */
  g_string_append_printf(out, "<text class=\"why\" x=\"%.1f\" y=\"%.1f\">",
                         left ? x - 11 - length : x + 11, y + 4);
  trace_append_escaped(out, words);
  g_string_append(out, "</text>");
}

/* The order that is missing: from the first access to the second. */
static void append_edge(const TracePicture *p, GString *out) {
  double x1, y1, x2, y2;
  dot_of(p, 0, p->slice->first, &x1, &y1);
  dot_of(p, 1, p->slice->second, &x2, &y2);
  double side = x2 >= x1 ? -1 : 1, bend = MIN(x1, x2) - 22;
  g_string_append_printf(out,
                         "<path class=\"edge\" d=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f\" "
                         "marker-end=\"url(#kc-head)\"/>",
                         x1, y1 + 7, side < 0 ? x1 : bend, y1 + 24, x2 - 24, y2, x2 - 8, y2);
}

void trace_draw_fault(const TracePicture *p, GString *out) {
  const TraceSlice *s = p->slice;
  const int *remark_of = p->layout->remark_of;
  if (remark_of[0] >= 0 && remark_of[1] >= 0) append_edge(p, out);
  if (remark_of[0] >= 0) append_ring(p, 0, s->first, "1", openings[0], out);
  if (remark_of[1] >= 0) append_ring(p, 1, s->second, "2", openings[1], out);
  if (remark_of[2] >= 0) append_ring(p, 2, s->here, "!", openings[2], out);
}

void trace_each_place(const TraceInput *input, void (*say)(const char *words, void *user),
                      void *user) {
  const Finding *f = input->finding;
  for (guint i = 0; f && i < f->related->len; i++) {
    const FindingRelated *place = f->related->pdata[i];
    if (g_str_has_prefix(place->message, "called from") ||
        g_str_has_prefix(place->message, "in `") ||
        g_str_has_prefix(place->message, "in the macro") || strcmp(place->path, f->path) != 0)
      continue;
    g_autofree char *words = g_strdup_printf("line %d: %s", place->line, place->message);
    say(words, user);
  }
}
