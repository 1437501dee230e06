/* --format gcc: one line a finding, as gcc and clang print it; editors and CI parsers know it. */
#include "report/common.h"

static const char *word_of(Severity severity) {
  return severity == SEVERITY_ADVICE ? "note" : severity_name(severity);
}

void report_gcc(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    g_string_append_printf(out, "%s:%d:%d: %s: %s [%s]\n", f->path, f->line, f->column,
                           word_of(f->severity), f->message, f->rule);
    for (guint j = 0; j < f->related->len; j++) {
      const FindingRelated *r = f->related->pdata[j];
      g_string_append_printf(out, "%s:%d:%d: note: %s\n", r->path, r->line, r->column, r->message);
    }
    g_string_append_printf(out, "%s:%d:%d: note: %s\n", f->path, f->line, f->column, f->help);
  }
}
