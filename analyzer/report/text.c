/* --format text: what a person reads. A finding takes at most a screen; its first line alone says
 * what is wrong and where. */
#include <string.h>

#include "report/common.h"
#include "report/snippet.h"

enum {
  RELATED_SHOWN = 3,
  WITNESS_SHOWN = 8,
  REASONS_SHOWN = 3,
  NOTE_INDENT = 4,
  LEAST_COLUMNS = 40
};

typedef struct Text {
  const Report *report;
  const ReportOptions *options;
  GString *out;
} Text;

static Ink ink_of(Severity severity) {
  switch (severity) {
  case SEVERITY_ERROR: return INK_RED;
  case SEVERITY_WARNING: return INK_MAGENTA;
  case SEVERITY_ADVICE:
  case SEVERITY_OFF: break;
  }
  return INK_CYAN;
}

static void first_line(const Text *t, const Finding *f) {
  bool color = t->options->color;
  g_autofree char *place = g_strdup_printf("%s:%d:%d:", f->path, f->line, f->column);
  g_autofree char *word = g_strdup_printf("%s:", severity_name(f->severity));
  snippet_ink(t->out, color, INK_BOLD, place);
  g_string_append_c(t->out, ' ');
  snippet_ink(t->out, color, ink_of(f->severity), word);
  g_string_append_c(t->out, ' ');
  snippet_ink(t->out, color, INK_BOLD, f->message);
  g_string_append_printf(t->out, " [%s]\n", f->rule);
}

/* A related line that says something of the very place of the finding is its caret's label. */
static const FindingRelated *own_label(const Finding *f) {
  for (guint i = 0; i < f->related->len; i++) {
    const FindingRelated *r = f->related->pdata[i];
    if (r->line == f->line && r->column == f->column && strcmp(r->path, f->path) == 0) return r;
  }
  return NULL;
}

static int gutter_width(const Finding *f) {
  int highest = f->line;
  for (guint i = 0; i < f->related->len; i++)
    highest = MAX(highest, ((const FindingRelated *)f->related->pdata[i])->line);
  g_autofree char *digits = g_strdup_printf("%d", highest);
  return (int)strlen(digits);
}

static void in_file(const Text *t, const char *path, int width) {
  g_autofree char *bar = g_strdup_printf("%*s |", width, "");
  snippet_ink(t->out, t->options->color, INK_BLUE, bar);
  g_string_append_printf(t->out, " in %s:\n", path);
}

static void show_related(const Text *t, const Finding *f, const FindingRelated *r, int width) {
  if (strcmp(r->path, f->path) != 0) in_file(t, r->path, width);
  Snippet snippet = {r->source ? r->source : "",
                     r->line,
                     r->column,
                     r->end_line == r->line ? r->end_column : 0,
                     r->message,
                     width,
                     t->options->color,
                     INK_BLUE,
                     t->options->columns};
  snippet_append(t->out, &snippet);
  snippet_gutter(t->out, width, t->options->color);
}

static void show_source(const Text *t, const Finding *f, int width) {
  const FindingRelated *label = own_label(f);
  guint shown = 0, most = t->options->verbose ? G_MAXUINT : RELATED_SHOWN;
  if (f->source || f->related->len) snippet_gutter(t->out, width, t->options->color);
  if (f->source) {
    Snippet snippet = {f->source,
                       f->line,
                       f->column,
                       f->end_line == f->line ? f->end_column : 0,
                       label ? label->message : NULL,
                       width,
                       t->options->color,
                       INK_GREEN,
                       t->options->columns};
    snippet_append(t->out, &snippet);
    snippet_gutter(t->out, width, t->options->color);
  }
  for (guint i = 0; i < f->related->len; i++) {
    const FindingRelated *r = f->related->pdata[i];
    if (r == label) continue;
    if (shown++ < most && r->source) {
      show_related(t, f, r, width);
    } else {
      g_string_append_printf(t->out, "%*s = %s:%d: %s\n", width, "", r->path, r->line, r->message);
    }
  }
}

/* `text` from column `used` on; what does not fit goes on in lines that begin at `indent`. */
static void append_folded(const Text *t, const char *text, int used, int indent) {
  int columns = MAX(t->options->columns, LEAST_COLUMNS);
  const char *word = text;
  while (*word && t->options->columns > 0) {
    int blanks = (int)strspn(word, " "), length = (int)strcspn(word + blanks, " ");
    int wide = (int)g_utf8_strlen(word + blanks, length);
    if (word != text && used + blanks + wide > columns) {
      g_string_append_printf(t->out, "\n%*s", indent, "");
      used = indent;
      blanks = 0;
      word += strspn(word, " ");
    }
    g_string_append_len(t->out, word, blanks + length);
    used += blanks + wide;
    word += blanks + length;
  }
  g_string_append_printf(t->out, "%s\n", word);
}

static void note(const Text *t, int width, const char *line) {
  g_autofree char *mark = g_strdup_printf("%*s =", width, "");
  snippet_ink(t->out, t->options->color, INK_BLUE, mark);
  g_string_append_c(t->out, ' ');
  append_folded(t, line, width + 3, width + 3 + NOTE_INDENT);
}

/* "in gemm<128, 4>, on sm_90a and sm_100a, with K = 576, cluster = 2" */
static void show_inputs(const Text *t, const Finding *f, int width) {
  GString *line = g_string_new(NULL);
  if (f->kernel) g_string_append_printf(line, "in %s", f->kernel);
  if (f->archs->len > 1) {
    g_autofree char *archs = report_listed(f->archs);
    g_string_append_printf(line, "%son %s", line->len ? ", " : "", archs);
  }
  for (guint i = 0; i < f->witness_names->len; i++)
    g_string_append_printf(line, "%s%s%s = %s", line->len ? ", " : "", i == 0 ? "with " : "",
                           (const char *)f->witness_names->pdata[i],
                           (const char *)f->witness_values->pdata[i]);
  if (line->len) note(t, width, line->str);
  g_string_free(line, TRUE);
}

static void show_witness(const Text *t, const Finding *f, int width) {
  g_auto(GStrv) lines = g_strsplit(f->witness_text ? f->witness_text : "", "\n", -1);
  guint count = f->witness_text ? g_strv_length(lines) : 0;
  guint most = t->options->verbose ? G_MAXUINT : WITNESS_SHOWN;
  for (guint i = 0; i < MIN(count, most); i++)
    note(t, width, lines[i]);
  if (count > most) {
    g_autofree char *rest = g_strdup_printf("%u more lines with --verbose", count - most);
    note(t, width, rest);
  }
  bool says_what = f->witness_text && strstr(f->witness_text, "assumes ");
  if (strcmp(f->confidence, "inferred") == 0 && !says_what)
    note(t, width, "inferred: it rests on something that kcheck could not see for certain");
}

static void show_fix(const Text *t, const Finding *f) {
  if (!f->fix_text) return;
  snippet_ink(t->out, t->options->color, INK_BOLD, "fix:");
  g_string_append_printf(t->out, " kcheck %s can write it\n",
                         f->fix_safe ? "--fix" : "--fix --unsafe-fixes");
}

/* What a run has shown can be drawn, with fewer stages than the source has where that shows it. */
static void show_picture(const Text *t, const Finding *f) {
  if (!f->witness_text || f->line == 0) return;
  snippet_ink(t->out, t->options->color, INK_BOLD, "picture:");
  g_string_append_printf(t->out, " kcheck trace %s:%d\n", f->path, f->line);
}

static void show_finding(const Text *t, const Finding *f) {
  int width = gutter_width(f);
  first_line(t, f);
  show_source(t, f, width);
  show_inputs(t, f, width);
  show_witness(t, f, width);
  snippet_ink(t->out, t->options->color, INK_BOLD, "help:");
  g_string_append_c(t->out, ' ');
  append_folded(t, f->help, (int)strlen("help: "), (int)strlen("help: "));
  show_fix(t, f);
  snippet_ink(t->out, t->options->color, INK_BOLD, "page:");
  g_string_append_printf(t->out, " %s%s%s   more: kcheck explain %s\n", f->page,
                         f->anchor ? "#" : "", f->anchor ? f->anchor : "", f->rule);
  show_picture(t, f);
  g_string_append_c(t->out, '\n');
}

/* ---- the last lines of a run ---- */

static char *kernels_text(const ReportFile *file, const ReportCounts *c) {
  if (file->kernels->len == 0) return g_strdup("no kernels");
  g_autofree char *checked = report_counted(c->checked, "kernel", NULL);
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "%s checked", checked);
  if (c->partial) g_string_append_printf(text, ", %d partly", c->partial);
  if (c->skipped) g_string_append_printf(text, ", %d not", c->skipped);
  return g_string_free(text, FALSE);
}

static char *time_text(int64_t us) {
  if (us < 10000000) return g_strdup_printf("%" G_GINT64_FORMAT " ms", (us + 500) / 1000);
  return g_strdup_printf("%.1f s", (double)us / 1e6);
}

static char *result_text(const ReportFile *file, const ReportCounts *c) {
  if (c->errors + c->warnings + c->advice == 0)
    return g_strdup(c->partial + c->skipped || strcmp(file->status, "checked") != 0
                        ? "nothing found in what was checked"
                        : "clean");
  g_autofree char *errors = report_counted(c->errors, "error", NULL);
  g_autofree char *warnings = report_counted(c->warnings, "warning", NULL);
  if (!c->advice) return g_strdup_printf("%s, %s", errors, warnings);
  return g_strdup_printf("%s, %s, %d advice", errors, warnings, c->advice);
}

static void show_summary(const Text *t, const ReportFile *file) {
  snippet_ink(t->out, t->options->color, INK_BOLD, file->path);
  if (strcmp(file->status, "failed") == 0) {
    g_string_append(t->out, ": could not be checked\n");
    return;
  }
  ReportCounts c = report_count(t->report, file);
  g_autofree char *result = result_text(file, &c);
  g_autofree char *archs = report_listed(file->archs);
  g_autofree char *kernels = kernels_text(file, &c);
  g_autofree char *time = time_text(file->time_us);
  g_autofree char *because =
      file->arch_because ? g_strdup_printf(", guessed from %s", file->arch_because) : NULL;
  g_string_append_printf(t->out, ": %s (%s%s; %s, %s headers, %s)\n", result, archs,
                         because              ? because
                         : file->default_arch ? " by default"
                                              : "",
                         kernels, file->toolkit_headers ? "toolkit" : "embedded", time);
}

/* What was not checked is said even with --quiet. */
static void show_not_checked(const Text *t, const ReportKernel *kernel) {
  guint most = t->options->verbose ? G_MAXUINT : REASONS_SHOWN;
  for (guint i = 0; i < MIN(kernel->not_checked->len, most); i++)
    g_string_append_printf(t->out, "not checked in %s: %s\n", kernel->instantiation,
                           (const char *)kernel->not_checked->pdata[i]);
  if (kernel->not_checked->len > most)
    g_string_append_printf(t->out, "not checked in %s: %u more reasons with --verbose\n",
                           kernel->instantiation, kernel->not_checked->len - most);
}

static void show_timing(const Text *t, const ReportFile *file) {
  const char *stage;
  json_t *value;
  json_object_foreach(file->timing, stage, value) g_string_append_printf(
      t->out, "  %-12s %8.1f ms\n", stage, (double)json_integer_value(value) / 1000.0);
}

static void show_file(const Text *t, const ReportFile *file) {
  if (!t->options->quiet) show_summary(t, file);
  for (guint i = 0; i < file->kernels->len; i++)
    show_not_checked(t, file->kernels->pdata[i]);
  if (t->options->timing && file->timing) show_timing(t, file);
}

static void show_total(const Text *t) {
  ReportCounts c = report_count(t->report, NULL);
  g_autofree char *errors = report_counted(c.errors, "error", NULL);
  g_autofree char *warnings = report_counted(c.warnings, "warning", NULL);
  g_autofree char *kernels = report_counted(c.checked, "kernel", NULL);
  g_string_append_printf(t->out, "%u files: %s, %s, %d advice; %s checked, %d partly, %d not\n",
                         t->report->files->len, errors, warnings, c.advice, kernels, c.partial,
                         c.skipped);
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void show_statistics(const Text *t) {
  g_autoptr(GHashTable) counts = g_hash_table_new(g_str_hash, g_str_equal);
  g_autoptr(GPtrArray) rules = g_ptr_array_new();
  for (guint i = 0; i < t->report->findings->len; i++) {
    const Finding *f = t->report->findings->pdata[i];
    int count = GPOINTER_TO_INT(g_hash_table_lookup(counts, f->rule)) + 1;
    if (count == 1) g_ptr_array_add(rules, f->rule);
    g_hash_table_insert(counts, f->rule, GINT_TO_POINTER(count));
  }
  g_ptr_array_sort(rules, by_name);
  for (guint i = 0; i < rules->len; i++)
    g_string_append_printf(t->out, "%6d  %s\n",
                           GPOINTER_TO_INT(g_hash_table_lookup(counts, rules->pdata[i])),
                           (const char *)rules->pdata[i]);
}

void report_text(const Report *report, const ReportOptions *options, GString *out) {
  Text t = {report, options, out};
  for (guint i = 0; i < report->findings->len; i++)
    show_finding(&t, report->findings->pdata[i]);
  if (options->statistics) show_statistics(&t);
  for (guint i = 0; i < report->files->len; i++)
    show_file(&t, report->files->pdata[i]);
  if (report->files->len > 1 && !options->quiet) show_total(&t);
}
