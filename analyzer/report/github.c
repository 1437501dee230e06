/* --format github: workflow commands that GitHub Actions shows as annotations. */
#include <string.h>

#include "report/common.h"

/* Data of a command: %, CR and LF are escaped; in a property also : and , */
static void append_escaped(GString *out, const char *text, bool property) {
  for (; *text; text++) {
    const char *special = property ? "%\r\n:," : "%\r\n";
    if (strchr(special, *text))
      g_string_append_printf(out, "%%%02X", (unsigned)(unsigned char)*text);
    else
      g_string_append_c(out, *text);
  }
}

static const char *command_of(Severity severity) {
  return severity == SEVERITY_ADVICE ? "notice" : severity_name(severity);
}

static void append_finding(GString *out, const Finding *f) {
  g_string_append_printf(out, "::%s file=", command_of(f->severity));
  append_escaped(out, f->path, true);
  g_string_append_printf(out, ",line=%d,endLine=%d", f->line, f->end_line);
  /* Columns are understood on a single line only. */
  if (f->end_line == f->line)
    g_string_append_printf(out, ",col=%d,endColumn=%d", f->column, f->end_column);
  g_string_append(out, ",title=");
  append_escaped(out, f->rule, true);
  g_string_append(out, "::");
  append_escaped(out, f->message, false);
  g_string_append(out, "%0A");
  append_escaped(out, f->help, false);
  g_string_append_c(out, '\n');
}

static void append_not_checked(GString *out, const ReportFile *file) {
  for (guint i = 0; i < file->kernels->len; i++) {
    const ReportKernel *kernel = file->kernels->pdata[i];
    for (guint j = 0; j < kernel->not_checked->len; j++) {
      g_string_append(out, "::notice file=");
      append_escaped(out, file->path, true);
      g_string_append(out, ",title=not checked::in ");
      append_escaped(out, kernel->instantiation, false);
      g_string_append(out, ": ");
      append_escaped(out, kernel->not_checked->pdata[j], false);
      g_string_append_c(out, '\n');
    }
  }
}

void report_github(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  for (guint i = 0; i < report->findings->len; i++)
    append_finding(out, report->findings->pdata[i]);
  for (guint i = 0; i < report->files->len; i++)
    append_not_checked(out, report->files->pdata[i]);
}
