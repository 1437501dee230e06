/* --format agent: short and complete for a program that reads text (a coding agent): no colour, no
 * drawing, every fact once, what was not checked at the end. */
#include <string.h>

#include "report/common.h"

static void append_finding(GString *out, const Finding *f) {
  g_string_append_printf(out, "%s %s:%d:%d %s\n", severity_name(f->severity), f->path, f->line,
                         f->column, f->rule);
  g_string_append_printf(out, " what: %s\n", f->message);
  if (f->source) {
    g_autofree char *line = g_strstrip(g_strdup(f->source));
    g_string_append_printf(out, " code: %s\n", line);
  }
  for (guint i = 0; i < f->related->len; i++) {
    const FindingRelated *r = f->related->pdata[i];
    bool elsewhere = strcmp(r->path, f->path) != 0;
    g_string_append_printf(out, " line %s%s%d: %s\n", elsewhere ? r->path : "",
                           elsewhere ? ":" : "", r->line, r->message);
  }
  if (f->kernel) g_string_append_printf(out, " kernel: %s\n", f->kernel);
  for (guint i = 0; i < f->witness_names->len; i++)
    g_string_append_printf(
        out, "%s%s = %s%s", i ? ", " : " inputs: ", (const char *)f->witness_names->pdata[i],
        (const char *)f->witness_values->pdata[i], i + 1 == f->witness_names->len ? "\n" : "");
  if (f->witness_text) {
    g_auto(GStrv) lines = g_strsplit(f->witness_text, "\n", -1);
    for (char **line = lines; *line; line++)
      g_string_append_printf(out, " witness: %s\n", *line);
  }
  g_string_append_printf(out, " do: %s\n", f->help);
  g_string_append_printf(out, " sure: %s; read: kcheck explain %s, kcheck page %s\n", f->confidence,
                         f->rule, f->page);
}

static void append_file(GString *out, const Report *report, const ReportFile *file) {
  ReportCounts c = report_count(report, file);
  g_autofree char *archs = report_listed(file->archs);
  g_string_append_printf(out, "file %s %s on %s: %d errors, %d warnings, %d advice\n", file->path,
                         file->status, file->archs->len ? archs : "no target", c.errors, c.warnings,
                         c.advice);
  for (guint i = 0; i < file->errors->len; i++)
    g_string_append_printf(out, " failed: %s\n", (const char *)file->errors->pdata[i]);
  for (guint i = 0; i < file->kernels->len; i++) {
    const ReportKernel *kernel = file->kernels->pdata[i];
    g_string_append_printf(out, " kernel %s: %s\n", kernel->instantiation, kernel->status);
    for (guint j = 0; j < kernel->not_checked->len; j++)
      g_string_append_printf(out, "  not checked: %s\n",
                             (const char *)kernel->not_checked->pdata[j]);
  }
}

void report_agent(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  for (guint i = 0; i < report->findings->len; i++)
    append_finding(out, report->findings->pdata[i]);
  for (guint i = 0; i < report->files->len; i++)
    append_file(out, report, report->files->pdata[i]);
}
