/* --format junit: a test suite a file; a finding is a failed case, a kernel without one passes, a
 * kernel that was not (fully) checked is skipped with the reasons. */
#include <string.h>

#include "report/common.h"

/* Character data and attribute values; XML 1.0 has no place for control characters. */
static void append_escaped(GString *out, const char *text) {
  for (; *text; text = g_utf8_next_char(text)) {
    gunichar c = g_utf8_get_char(text);
    switch (c) {
    case '&': g_string_append(out, "&amp;"); break;
    case '<': g_string_append(out, "&lt;"); break;
    case '>': g_string_append(out, "&gt;"); break;
    case '"': g_string_append(out, "&quot;"); break;
    case '\n': g_string_append(out, "&#10;"); break;
    default:
      if (c == 0xfffe || c == 0xffff || (c < 0x20 && c != '\t')) c = '?';
      g_string_append_unichar(out, c);
    }
  }
}

static void attribute(GString *out, const char *name, const char *value) {
  g_string_append_printf(out, " %s=\"", name);
  append_escaped(out, value);
  g_string_append_c(out, '"');
}

static void open_case(GString *out, const char *path, const char *name) {
  g_string_append(out, "  <testcase");
  attribute(out, "classname", path);
  attribute(out, "name", name);
  g_string_append(out, ">");
}

static void finding_case(GString *out, const Finding *f) {
  bool fails = f->severity >= SEVERITY_WARNING;
  g_autofree char *name = g_strdup_printf("%s:%d:%d %s", f->path, f->line, f->column, f->rule);
  open_case(out, f->path, name);
  g_string_append(out, fails ? "<failure" : "<system-out");
  if (fails) {
    attribute(out, "type", f->rule);
    attribute(out, "message", f->message);
  }
  g_string_append_c(out, '>');
  g_autofree char *text =
      g_strdup_printf("%s:%d:%d: %s: %s [%s]\n%s%shelp: %s", f->path, f->line, f->column,
                      severity_name(f->severity), f->message, f->rule,
                      f->witness_text ? f->witness_text : "", f->witness_text ? "\n" : "", f->help);
  append_escaped(out, text);
  g_string_append(out, fails ? "</failure></testcase>\n" : "</system-out></testcase>\n");
}

static void kernel_case(GString *out, const ReportFile *file, const ReportKernel *kernel) {
  open_case(out, file->path, kernel->instantiation);
  if (kernel->not_checked->len) {
    g_string_append(out, "<skipped message=\"");
    for (guint i = 0; i < kernel->not_checked->len; i++) {
      if (i) g_string_append(out, "; ");
      append_escaped(out, kernel->not_checked->pdata[i]);
    }
    g_string_append(out, "\"/>");
  }
  g_string_append(out, "</testcase>\n");
}

typedef struct Totals {
  int tests, failures, errors, skipped;
} Totals;

static Totals totals_of(const Report *report, const ReportFile *file) {
  ReportCounts c = report_count(report, file);
  Totals t = {.tests = c.errors + c.warnings + c.advice + (int)file->kernels->len,
              .failures = c.errors + c.warnings,
              .errors = file->errors->len > 0};
  t.tests += t.errors;
  for (guint i = 0; i < file->kernels->len; i++)
    t.skipped += ((const ReportKernel *)file->kernels->pdata[i])->not_checked->len > 0;
  return t;
}

static void file_suite(GString *out, const Report *report, const ReportFile *file) {
  Totals t = totals_of(report, file);
  g_string_append(out, " <testsuite");
  attribute(out, "name", file->path);
  g_string_append_printf(out, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\">\n",
                         t.tests, t.failures, t.errors, t.skipped);
  if (file->errors->len) {
    open_case(out, file->path, "analysis");
    g_string_append(out, "<error");
    attribute(out, "message", file->errors->pdata[0]);
    g_string_append(out, "/></testcase>\n");
  }
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    if (strcmp(f->file, file->path) == 0) finding_case(out, f);
  }
  for (guint i = 0; i < file->kernels->len; i++)
    kernel_case(out, file, file->kernels->pdata[i]);
  g_string_append(out, " </testsuite>\n");
}

void report_junit(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  g_string_append(out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kcheck\">\n");
  for (guint i = 0; i < report->files->len; i++)
    file_suite(out, report, report->files->pdata[i]);
  g_string_append(out, "</testsuites>\n");
}
