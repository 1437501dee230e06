#include "report/trace.h"

#include <string.h>

#include "report/trace_layout.h"

enum {
  LANE = 15,
  BAR = 12,
  PAD = 3,
  TOP = 58,
  LEFT = 132,
  RIGHT = 30,
  GAP = 16,
  FIT = 1010,
  CHARACTER = 6
};
static const double LEAST_UNIT = 2.2; /* pixels: what is denser is panned */

static const struct {
  const char *name, *css, *inside;
} kinds[] = {
    [MACHINE_LOAD] = {"asynchronous load", "load", "load"},
    [MACHINE_COMPUTE] = {"tensor core reads", "mma", "mma"},
    [MACHINE_STORE] = {"asynchronous store", "store", "store"},
    [MACHINE_WAIT] = {"wait", "wait", ""},
    [MACHINE_ARRIVE] = {"arrival", "arrive", ""},
    [MACHINE_BARRIER] = {"block or named barrier", "barrier", ""},
    [MACHINE_THREAD_READ] = {"threads read", "read", "read"},
    [MACHINE_THREAD_WRITE] = {"threads write", "write", "write"},
    [MACHINE_PHASE_END] = {"phase completes", "phase", ""},
};

static const char style[] =
    "<style>.kc{background:#fff}.kc text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#222}"
    ".kc .head{font-weight:bold;font-size:13px}.kc .group{font-size:10px;fill:#777}"
    ".kc .row{stroke:#e4e4e4}.kc rect{stroke:#333;stroke-width:.6}.kc .tile{fill:none;stroke:none}"
    ".kc .load{fill:#3b6ea5}.kc .mma{fill:#3f8f4f}.kc .read{fill:#a6d49f}.kc .store{fill:#8e5ea2}"
    ".kc .write{fill:#e8b04a}.kc .wait{fill:url(#kc-hatch)}.kc .barrier{fill:#cfcfcf}"
    ".kc .arrive{stroke:#222;stroke-width:2}.kc .phase{fill:#222;stroke:none}"
    ".kc .light{fill:#fff}.kc .dark{fill:#222}.kc .over{fill:#222;stroke:#f5e6c8;stroke-width:3;"
    "paint-order:stroke}.kc .num{font-size:9px}"
    ".kc .never{stroke:#d00;stroke-width:2}.kc .ring{fill:none;stroke:#d00;stroke-width:2.5}"
    ".kc .edge{fill:none;stroke:#d00;stroke-width:2;stroke-dasharray:5 3}.kc "
    ".dot{fill:#d00;stroke:none}"
    ".kc .why{fill:#b00;font-weight:bold}.kc .dot+text,.kc .in{fill:#fff;font-weight:bold}"
    "@media(prefers-color-scheme:dark){.kc{background:#181818}.kc text{fill:#ddd}"
    ".kc .group{fill:#999}.kc .row{stroke:#383838}.kc rect{stroke:#bbb}.kc .arrive{stroke:#eee}"
    ".kc .phase{fill:#eee}.kc .light{fill:#fff}.kc .dark,.kc .over{fill:#111}.kc .why{fill:#ff8080}"
    ".kc .ring,.kc .edge,.kc .never{stroke:#ff5050}.kc .dot{fill:#ff5050}.kc "
    ".in{fill:#111}}</style>"
    "<defs><pattern id=\"kc-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" "
    "style=\"fill:#f5e6c8;stroke:none\"/>"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#c9a227\" stroke-width=\"2\"/></pattern>"
    "<marker id=\"kc-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#d00\"/></marker></defs>";

typedef struct Picture {
  const TraceInput *input;
  const TraceLayout *layout;
  GString *out;
  double unit; /* pixels */
  int *top;    /* by row: y of its upper edge; one more for the end */
} Picture;

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

static const TraceRow *row_at(const Picture *p, int row) {
  return &g_array_index(p->layout->rows, TraceRow, row);
}

static bool opens_group(const Picture *p, int row) {
  const TraceRow *now = row_at(p, row), *above = row > 0 ? row_at(p, row - 1) : NULL;
  return !above || above->group != now->group || above->cta != now->cta ||
         (now->group == TRACE_GROUP_STAGE && above->stage != now->stage);
}

static void place_rows(Picture *p) {
  int count = (int)p->layout->rows->len, y = TOP;
  p->top = g_new(int, count + 1);
  for (int i = 0; i < count; i++) {
    if (opens_group(p, i)) y += GAP;
    p->top[i] = y;
    y += row_at(p, i)->lanes * LANE + PAD;
  }
  p->top[count] = y;
}

static double x_of(const Picture *p, uint64_t step) {
  return LEFT + trace_position(p->layout, step) * p->unit;
}

/* The box of an interval in the drawing. */
typedef struct Box {
  double x, width;
  int y;
} Box;

static Box box_of(const Picture *p, int index) {
  const MachineInterval *in = &p->input->result->intervals.items[index];
  Box box = {.x = x_of(p, in->begin),
             .y = p->top[p->layout->row_of[index]] + p->layout->lane_of[index] * LANE + PAD};
  double end = in->never ? LEFT + p->layout->width * p->unit : x_of(p, in->end);
  box.width = in->kind == MACHINE_ARRIVE ? 2 : MAX(end - box.x, 3.0);
  return box;
}

/* ---- frame ---- */

static void append_rows(const Picture *p, double width) {
  for (int i = 0; i < (int)p->layout->rows->len; i++) {
    const TraceRow *row = row_at(p, i);
    if (opens_group(p, i)) {
      g_autofree char *title = row->group == TRACE_GROUP_STAGE
                                   ? g_strdup_printf("stage %d", row->stage)
                               : row->group == TRACE_GROUP_SHARED ? g_strdup("shared memory")
                                                                  : g_strdup("warps");
      g_string_append_printf(p->out,
                             "<text class=\"group\" x=\"8\" y=\"%d\">%s</text>"
                             "<line class=\"row\" x1=\"8\" y1=\"%d\" x2=\"%.0f\" y2=\"%d\"/>",
                             p->top[i] - 3, title, p->top[i], width - 8, p->top[i]);
    }
    g_string_append_printf(p->out, "<text x=\"14\" y=\"%d\">", p->top[i] + PAD + 10);
    append_escaped(p->out, row->label);
    g_string_append(p->out, "</text>");
  }
}

static bool is_used(const Picture *p, int kind) {
  for (int i = 0; i < p->input->result->intervals.count; i++)
    if (p->input->result->intervals.items[i].kind == kind && p->layout->row_of[i] >= 0) return true;
  return false;
}

static void append_phase_mark(GString *out, double x, double y) {
  g_string_append_printf(out, "<path class=\"phase\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"/>", x, y);
}

/* What is drawn, in one line under the title. */
static void append_legend(const Picture *p) {
  double x = 8, y = 52;
  for (int kind = MACHINE_LOAD; kind <= MACHINE_PHASE_END; kind++) {
    if (!is_used(p, kind)) continue;
    if (kind == MACHINE_ARRIVE)
      g_string_append_printf(
          p->out, "<line class=\"arrive\" x1=\"%.0f\" y1=\"%.0f\" x2=\"%.0f\" y2=\"%.0f\"/>", x + 5,
          y - 10, x + 5, y + 1);
    else if (kind == MACHINE_PHASE_END)
      append_phase_mark(p->out, x + 6, y - 9);
    else
      g_string_append_printf(
          p->out, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\"/>",
          kinds[kind].css, x, y - 10);
    g_string_append_printf(p->out, "<text x=\"%.0f\" y=\"%.0f\">%s</text>", x + 16, y,
                           kinds[kind].name);
    x += 32 + 6.7 * (double)strlen(kinds[kind].name);
  }
  if (p->input->fault)
    g_string_append_printf(
        p->out,
        "<rect class=\"ring\" x=\"%.0f\" y=\"%.0f\" width=\"13\" height=\"11\" rx=\"4\"/>"
        "<text class=\"why\" x=\"%.0f\" y=\"%.0f\">the fault</text>",
        x, y - 10, x + 18, y);
}

/* ---- what happened ---- */

static void append_title(const Picture *p, const MachineInterval *in) {
  g_string_append(p->out, "<title>");
  append_escaped(p->out, kinds[in->kind].name);
  if (in->object) {
    g_string_append(p->out,
                    in->kind == MACHINE_WAIT || in->kind == MACHINE_ARRIVE ? " on " : " of ");
    append_escaped(p->out, in->object);
  }
  if (in->kind == MACHINE_BARRIER) {
    if (in->phase >= 0) g_string_append_printf(p->out, " %" G_GINT64_FORMAT, in->phase);
  } else if (in->phase >= 0) {
    g_string_append_printf(p->out, ", phase %" G_GINT64_FORMAT, in->phase);
  }
  if (in->warp >= 0) g_string_append_printf(p->out, ", warp %d", in->warp);
  if (in->never) g_string_append(p->out, ", never ends");
  append_place(p->input, in->where, p->out);
  g_string_append_printf(p->out, ", step %" G_GUINT64_FORMAT "</title>", in->begin);
}

/* "load 1", "w4 read", "full[0]": as much as fits. */
static char *inside_text(const MachineInterval *in, double width) {
  g_autofree char *whole = NULL, *brief = NULL;
  if (in->kind == MACHINE_COMPUTE) {
    whole = g_strdup("mma");
  } else if (in->kind == MACHINE_WAIT) {
    whole = in->never ? g_strdup_printf("waits for ever: %s", in->object ? in->object : "")
                      : g_strdup(in->object ? in->object : "");
    brief = g_strdup(in->never ? "for ever" : "");
  } else if (in->kind == MACHINE_LOAD && in->phase >= 0) {
    whole = g_strdup_printf("load, phase %" G_GINT64_FORMAT, in->phase);
    brief = g_strdup_printf("%" G_GINT64_FORMAT, in->phase);
  } else if (in->warp >= 0) {
    whole = g_strdup_printf("%s by warp %d", kinds[in->kind].inside, in->warp);
    brief = g_strdup_printf("w%d", in->warp);
  }
  int room = (int)((width - 4) / CHARACTER);
  if (whole && *whole && (int)strlen(whole) <= room) return g_steal_pointer(&whole);
  if (in->never && whole && room > 12) return g_strdup_printf("%.*s...", room - 3, whole);
  return brief && *brief && (int)strlen(brief) <= room ? g_steal_pointer(&brief) : NULL;
}

static const char *ink_of(int kind) {
  if (kind == MACHINE_WAIT) return "over";
  return kind == MACHINE_THREAD_READ || kind == MACHINE_THREAD_WRITE || kind == MACHINE_BARRIER
             ? "dark"
             : "light";
}

static void append_interval(const Picture *p, int index) {
  const MachineInterval *in = &p->input->result->intervals.items[index];
  Box box = box_of(p, index);
  g_string_append(p->out, "<g>");
  append_title(p, in);
  if (in->kind == MACHINE_ARRIVE) {
    g_string_append_printf(p->out,
                           "<line class=\"arrive\" x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\"/>",
                           box.x, box.y, box.x, box.y + BAR);
  } else if (in->kind == MACHINE_PHASE_END) {
    append_phase_mark(p->out, box.x + 6, box.y + 1);
    g_string_append_printf(p->out,
                           "<text class=\"num\" x=\"%.1f\" y=\"%d\">%" G_GINT64_FORMAT "</text>",
                           box.x + 13, box.y + 9, in->phase);
  } else {
    g_string_append_printf(
        p->out, "<rect class=\"%s%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
        kinds[in->kind].css, in->never ? " never" : "", box.x, box.y, box.width, BAR);
    g_autofree char *text = inside_text(in, box.width);
    if (text) {
      g_string_append_printf(p->out, "<text class=\"%s num\" x=\"%.1f\" y=\"%d\">",
                             ink_of(in->kind), box.x + 3, box.y + 9);
      append_escaped(p->out, text);
      g_string_append(p->out, "</text>");
    }
  }
  g_string_append(p->out, "</g>");
}

/* ---- the fault ---- */

static void append_ring(const Picture *p, int index, const char *number) {
  Box box = box_of(p, index);
  g_string_append_printf(
      p->out, "<rect class=\"ring\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" rx=\"5\"/>",
      box.x - 4, box.y - 3, box.width + 8, BAR + 6);
  double x = MAX(box.x - 6, (double)LEFT - 8);
  g_string_append_printf(p->out,
                         "<circle class=\"dot\" cx=\"%.1f\" cy=\"%d\" r=\"7\"/>"
                         "<text class=\"in\" x=\"%.1f\" y=\"%d\">%s</text>",
                         x, box.y - 3, x - 3, box.y + 1, number);
}

/* The edge that is missing: from the end of the first access to the start of the second. */
static void append_edge(const Picture *p, int first, int second) {
  Box a = box_of(p, first), b = box_of(p, second);
  const MachineInterval *in = &p->input->result->intervals.items[first];
  bool overlaps = p->input->result->intervals.items[second].begin < in->end;
  double from = overlaps ? a.x + MIN(a.width, 10.0) : a.x + a.width, bend = MAX(from, b.x) + 26;
  int ya = a.y + BAR / 2, yb = b.y + BAR / 2;
  if (ya == yb)
    g_string_append_printf(p->out,
                           "<path class=\"edge\" d=\"M%.1f %dC%.1f %d %.1f %d %.1f %d\" "
                           "marker-end=\"url(#kc-head)\"/>",
                           from, a.y - 3, from + 8, a.y - 18, b.x - 8, b.y - 18, b.x, b.y - 4);
  else
    g_string_append_printf(p->out,
                           "<path class=\"edge\" d=\"M%.1f %dC%.1f %d %.1f %d %.1f %d\" "
                           "marker-end=\"url(#kc-head)\"/>",
                           from, ya, bend, ya, bend, yb, b.x + MIN(b.width, 8.0),
                           yb > ya ? b.y - 3 : b.y + BAR + 3);
}

static bool is_protocol(const MachineInterval *in) {
  return in->kind == MACHINE_WAIT || in->kind == MACHINE_ARRIVE || in->kind == MACHINE_BARRIER;
}

/* The wait, arrival or barrier to point at beside a race: an arrival that comes before its second
 * access, the last wait. */
static int culprit_of_race(const Picture *p, int second) {
  const MachineResult *result = p->input->result;
  int found = -1;
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    if (p->layout->row_of[i] < 0 || !is_protocol(in) || in->where != p->input->fault->where)
      continue;
    if (in->kind == MACHINE_WAIT || in->begin < result->intervals.items[second].begin) found = i;
  }
  return found;
}

/* Without a race: a wait at the place of the finding that never ends, what else stands there first,
 * any wait that never ends. */
static int culprit(const Picture *p) {
  const MachineResult *result = p->input->result;
  int found = -1, never = -1;
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    if (p->layout->row_of[i] < 0 || in->kind == MACHINE_PHASE_END) continue;
    bool here = in->where == p->input->fault->where;
    if (in->never && here) return i;
    if (in->never && never < 0) never = i;
    if (here && found < 0) found = i;
  }
  return found >= 0 ? found : never;
}

static void append_fault(const Picture *p) {
  int order[3] = {-1, -1, -1};
  if (!p->input->fault) return;
  for (int i = 0; i < p->input->result->intervals.count; i++) {
    int n = p->input->result->intervals.items[i].order;
    if (n && p->layout->row_of[i] >= 0) order[n] = i;
  }
  bool race = order[1] >= 0 && order[2] >= 0;
  if (race) {
    append_edge(p, order[1], order[2]);
    append_ring(p, order[1], "1");
    append_ring(p, order[2], "2");
  }
  int at = race ? culprit_of_race(p, order[2]) : culprit(p);
  if (at >= 0) append_ring(p, at, "!");
}

/* A sentence in lines of `room` characters. */
static int append_wrapped(GString *out, const char *text, int room, int y) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  g_autoptr(GString) line = g_string_new(NULL);
  for (char **word = words; *word; word++) {
    bool full = line->len && (int)(line->len + strlen(*word)) + 1 > room;
    if (full) {
      g_string_append_printf(out, "<text class=\"why\" x=\"8\" y=\"%d\">", y);
      append_escaped(out, line->str);
      g_string_append(out, "</text>");
      g_string_truncate(line, 0);
      y += 16;
    }
    g_string_append_printf(line, "%s%s", line->len ? " " : "", *word);
  }
  g_string_append_printf(out, "<text class=\"why\" x=\"8\" y=\"%d\">", y);
  append_escaped(out, line->str);
  g_string_append(out, "</text>");
  return y + 16;
}

static int append_words(const Picture *p, int y, double width) {
  if (p->layout->left_out) {
    g_string_append_printf(
        p->out, "<text class=\"group\" x=\"8\" y=\"%d\">%d more rows are not drawn</text>", y,
        p->layout->left_out);
    y += 18;
  }
  if (!p->input->fault) return y;
  g_autoptr(GString) sentence = g_string_new(p->input->fault->message);
  append_place(p->input, p->input->fault->where, sentence);
  y = append_wrapped(p->out, sentence->str, (int)(width - 24) / 7, y);
  for (int i = 0; i < p->input->fault->witness.count && i < 8; i++) {
    g_string_append_printf(p->out, "<text x=\"8\" y=\"%d\" xml:space=\"preserve\">", y);
    append_escaped(p->out, p->input->fault->witness.items[i]);
    g_string_append(p->out, "</text>");
    y += 15;
  }
  return y;
}

void trace_svg(const TraceInput *input, GString *out) {
  TraceLayout *layout = trace_layout_new(input->result);
  g_autoptr(GString) body = g_string_new(NULL);
  Picture p = {.input = input,
               .layout = layout,
               .out = body,
               .unit = CLAMP(FIT / layout->width, LEAST_UNIT, 30.0)};
  double width = MAX(LEFT + layout->width * p.unit + RIGHT, 780.0);
  place_rows(&p);
  g_string_append(body, "<text class=\"head\" x=\"8\" y=\"20\">");
  append_escaped(body, input->kernel->instantiation);
  g_string_append(
      body,
      "</text><text class=\"group\" x=\"8\" y=\"34\">time runs to the right, idle stretches are "
      "shortened; numbers are phases</text>");
  append_legend(&p);
  append_rows(&p, width);
  for (int i = 0; i < input->result->intervals.count; i++)
    if (layout->row_of[i] >= 0) append_interval(&p, i);
  append_fault(&p);
  int height = append_words(&p, p.top[layout->rows->len] + 24, width) + 6;
  g_string_append_printf(out,
                         "<svg class=\"kc\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                         "height=\"%d\" viewBox=\"0 0 %.0f %d\" role=\"img\">",
                         width, height, width, height);
  g_string_append(out, style);
  g_string_append(out, body->str);
  g_string_append(out, "</svg>\n");
  g_free(p.top);
  trace_layout_free(layout);
}

void trace_html(const TraceInput *input, GString *out) {
  g_string_append(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
  append_escaped(out, input->kernel->instantiation);
  g_string_append(
      out, " - kcheck trace</title><style>body{margin:0;background:#fff}.pan{overflow-x:auto}"
           "@media(prefers-color-scheme:dark){body{background:#181818}}</style></head><body>\n"
           "<div class=\"pan\">");
  trace_svg(input, out);
  g_string_append(out, "</div>\n</body></html>\n");
}
