#include "report/trace.h"

#include <string.h>

#include "report/trace_draw.h"
#include "support/data.h"

enum { SENTENCE = 16, LINE = 15, MOST_TOLD = 10, LEAST_WIDTH = 780, MOST_WRAP = 150 };

static const char definitions[] =
    "<defs><pattern id=\"kc-hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" class=\"ground\"/>"
    "<line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#c9a227\" stroke-width=\"2\"/></pattern>"
    "<marker id=\"kc-head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#d00\"/></marker></defs>";

/* ---- words ---- */

static char *sentence_of(const TraceInput *input) {
  const Finding *f = input->finding;
  if (!f) return g_strdup("no fault that a run shows: one run as it should be");
  g_autofree char *base = g_path_get_basename(f->path);
  return g_strdup_printf("%s:%d: %s: %s [%s]", base, f->line, severity_name(f->severity),
                         f->message, f->rule);
}

/* "with K = 4, cluster = 2; STAGES = 2 (4 in the source)", or NULL. */
static char *inputs_of(const TraceInput *input) {
  GString *out = g_string_new(NULL);
  for (int i = 0; input->fault && i < input->fault->inputs.count; i++)
    g_string_append_printf(out, "%s%s = %s", i ? ", " : "with ", input->fault->inputs.items[i].name,
                           input->fault->inputs.items[i].value);
  if (input->changed)
    g_string_append_printf(out, "%s%s", out->len ? "; " : "with ", input->changed);
  return g_string_free(out, out->len == 0);
}

/* ---- the picture ---- */

/* Lines of at most `room` characters; returns the y of the next one. */
static int append_wrapped(GString *out, const char *css, const char *text, int room, int step,
                          int y) {
  g_auto(GStrv) words = g_strsplit(text, " ", -1);
  g_autoptr(GString) line = g_string_new(NULL);
  for (char **word = words;; word++) {
    bool full = !*word || (line->len && (int)(line->len + strlen(*word)) + 1 > room);
    if (full) {
      g_string_append_printf(out, "<text class=\"%s\" x=\"8\" y=\"%d\" xml:space=\"preserve\">",
                             css, y);
      trace_append_escaped(out, line->str);
      g_string_append(out, "</text>");
      g_string_assign(line, "    ");
      y += step;
    }
    if (!*word) return y;
    g_string_append_printf(line, "%s%s", line->len && !full ? " " : "", *word);
  }
}

/* Title, sentence, inputs and witness; returns the y below them. */
static int append_head(const TraceInput *input, const char *note, int room, GString *out) {
  g_autofree char *sentence = sentence_of(input), *inputs = inputs_of(input);
  g_string_append(out, "<text class=\"head\" x=\"8\" y=\"20\">");
  trace_append_escaped(out, input->kernel->instantiation);
  g_string_append(out, "</text>");
  int y = append_wrapped(out, input->finding ? "why" : "group", sentence, room, SENTENCE, 40);
  if (inputs) y = append_wrapped(out, "", inputs, room, LINE, y);
  for (int i = 0; input->fault && i < input->fault->witness.count && i < MOST_TOLD; i++)
    y = append_wrapped(out, "", input->fault->witness.items[i], room, LINE, y);
  if (note) y = append_wrapped(out, "unit", note, room, LINE, y);
  return y;
}

static void append_style(GString *out, const char *path) {
  const char *style = kc_data_get(path, NULL);
  g_string_append_printf(out, "<style>%s</style>", style ? style : "");
}

static char *left_out(const TracePicture *p) {
  const char *note = p->slice->note;
  bool points = p->slice->here >= 0 || p->slice->first >= 0;
  if (p->input->finding && !points)
    return g_strdup("no event of this run stands for it: one run of the kernel is drawn");
  if (!p->layout->left_out) return g_strdup(note);
  return g_strdup_printf("%s%s%d more rows are not drawn", note ? note : "", note ? "; " : "",
                         p->layout->left_out);
}

static void open_svg(GString *out, double width, int height, bool alone) {
  g_string_append_printf(out,
                         "<svg class=\"kc\" xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                         "height=\"%d\" viewBox=\"0 0 %.0f %d\"%s>",
                         width, height, width, height, alone ? " role=\"img\"" : "");
}

static const char time_note[] =
    "time runs to the right, idle stretches are shortened; numbers beside diamonds are phases";

void trace_svg(const TraceInput *input, GString *out) {
  TracePicture *p = trace_picture_new(input, TRACE_NAMES, 0, false);
  double width = MAX(TRACE_NAMES + p->width, (double)LEAST_WIDTH);
  g_autofree char *note = left_out(p);
  g_autoptr(GString) body = g_string_new(NULL);
  int room = MIN((int)(width - 24) / TRACE_CHARACTER, MOST_WRAP);
  int top = append_head(input, note, room, body);
  trace_picture_free(p);
  p = trace_picture_new(input, TRACE_NAMES, top - 6, false);
  trace_draw_lines(p, 8, width - 8, body);
  trace_draw_names(p, body);
  trace_draw_events(p, body);
  trace_draw_fault(p, body);
  int y = trace_picture_bottom(p) + 22;
  double legend = trace_draw_legend(p, y, body);
  g_string_append_printf(body, "<text class=\"unit\" x=\"8\" y=\"%d\">%s</text>", y + 16,
                         time_note);
  open_svg(out, MAX(width, legend), y + 24, true);
  append_style(out, "knowledge/trace/style.css");
  g_string_append(out, definitions);
  g_string_append(out, body->str);
  g_string_append(out, "</svg>\n");
  trace_picture_free(p);
}

/* ---- the page ---- */

static void append_element(GString *out, const char *tag, const char *css, const char *text) {
  g_string_append_printf(out, "<%s class=\"%s\">", tag, css);
  trace_append_escaped(out, text);
  g_string_append_printf(out, "</%s>\n", tag);
}

static void say_place(const char *words, void *out) {
  append_element(out, "div", "told", words);
}

static void append_page_head(const TraceInput *input, const char *note, GString *out) {
  g_autofree char *sentence = sentence_of(input), *inputs = inputs_of(input);
  g_string_append(out, "<header><h1>");
  trace_append_escaped(out, input->kernel->instantiation);
  g_autofree char *base = g_path_get_basename(input->program->path);
  g_string_append(out, " <small>");
  trace_append_escaped(out, base);
  g_string_append_printf(out, ", %s</small></h1>\n", input->program->arch);
  append_element(out, "p", input->finding ? "fault" : "note", sentence);
  if (inputs) append_element(out, "p", "note", inputs);
  for (int i = 0; input->fault && i < input->fault->witness.count; i++)
    append_element(out, "div", "told", input->fault->witness.items[i]);
  trace_each_place(input, say_place, out);
  if (note) append_element(out, "p", "note", note);
  g_string_append(out, "</header>\n");
}

static void append_view(const TracePicture *p, GString *out) {
  int height = trace_picture_bottom(p) + 12;
  g_string_append(out, "<div class=\"view\"><div class=\"names\">");
  open_svg(out, TRACE_NAMES, height, false);
  trace_draw_lines(p, 8, TRACE_NAMES, out);
  trace_draw_names(p, out);
  g_string_append(out, "</svg></div><div class=\"pan\">");
  open_svg(out, p->width, height, false);
  g_string_append(out, definitions);
  trace_draw_lines(p, 0, p->width, out);
  trace_draw_events(p, out);
  trace_draw_fault(p, out);
  g_string_append(out, "</svg></div></div>\n");
}

void trace_html(const TraceInput *input, GString *out) {
  TracePicture *p = trace_picture_new(input, 0, 2, true);
  g_autofree char *note = left_out(p);
  g_string_append(out, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"color-scheme\" content=\"light dark\">"
                       "<meta name=\"viewport\" content=\"width=device-width\"><title>");
  trace_append_escaped(out, input->kernel->instantiation);
  g_string_append(out, " - kcheck trace</title>\n");
  append_style(out, "knowledge/trace/style.css");
  append_style(out, "knowledge/trace/page.css");
  g_string_append(out, "</head><body>\n");
  append_page_head(input, note, out);
  append_view(p, out);
  g_string_append(out, "<div class=\"legend\">");
  g_autoptr(GString) legend = g_string_new(NULL);
  double width = trace_draw_legend(p, 14, legend);
  open_svg(out, width, 20, true);
  g_string_append_printf(out, "%s</svg><p class=\"note\">%s</p></div>\n", legend->str, time_note);
  g_string_append_printf(
      out,
      "<div class=\"detail\" aria-live=\"polite\">point at an event, or press <kbd>F</kbd> for the "
      "%s and the arrow keys from there</div>\n<script>",
      input->finding ? "fault" : "first");
  const char *script = kc_data_get("knowledge/trace/page.js", NULL);
  g_string_append_printf(out, "%s</script>\n</body></html>\n", script ? script : "");
  trace_picture_free(p);
}
