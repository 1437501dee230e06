/* --format gitlab: a Code Quality report, the JSON array that GitLab shows in a merge request. */
#include "report/common.h"

static const char *severity_of(Severity severity) {
  switch (severity) {
  case SEVERITY_ERROR: return "critical";
  case SEVERITY_WARNING: return "minor";
  case SEVERITY_ADVICE:
  case SEVERITY_OFF: break;
  }
  return "info";
}

void report_gitlab(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  json_t *list = json_array();
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    g_autofree char *print = report_fingerprint(f, report_occurrence(report, i));
    json_array_append_new(list, json_pack("{ss ss ss ss s{ss s{s{si si} s{si si}}}}", "description",
                                          f->message, "check_name", f->rule, "fingerprint", print,
                                          "severity", severity_of(f->severity), "location", "path",
                                          f->path, "positions", "begin", "line", f->line, "column",
                                          f->column, "end", "line", f->end_line, "column",
                                          f->end_column));
  }
  report_dump(list, out);
}
