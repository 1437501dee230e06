/* --format json: the one document that scripts and the score read. */
#include <string.h>

#include "report/common.h"

static json_t *texts(const GPtrArray *list) {
  json_t *array = json_array();
  for (guint i = 0; i < list->len; i++)
    json_array_append_new(array, json_string(list->pdata[i]));
  return array;
}

static json_t *kernel_json(const ReportKernel *kernel) {
  return json_pack("{ss ss ss so}", "name", kernel->name, "instantiation", kernel->instantiation,
                   "status", kernel->status, "not_checked", texts(kernel->not_checked));
}

static json_t *file_json(const ReportFile *file, const ReportOptions *options) {
  json_t *kernels = json_array();
  for (guint i = 0; i < file->kernels->len; i++)
    json_array_append_new(kernels, kernel_json(file->kernels->pdata[i]));
  json_t *json = json_pack("{ss ss so so so si}", "path", file->path, "status", file->status,
                           "arch", texts(file->archs), "kernels", kernels, "errors",
                           texts(file->errors), "exit_status", file->exit_status);
  if (options->timing) {
    json_object_set_new(json, "time_us", json_integer(file->time_us));
    if (file->timing) json_object_set(json, "timing", file->timing);
  }
  return json;
}

/* One target is a word, several are a list. */
static json_t *archs_json(const GPtrArray *archs) {
  if (archs->len == 0) return json_null();
  return archs->len == 1 ? json_string(archs->pdata[0]) : texts(archs);
}

static json_t *related_json(const GPtrArray *list) {
  json_t *array = json_array();
  for (guint i = 0; i < list->len; i++) {
    const FindingRelated *r = list->pdata[i];
    json_array_append_new(array, json_pack("{ss si si si si ss}", "path", r->path, "line", r->line,
                                           "column", r->column, "end_line", r->end_line,
                                           "end_column", r->end_column, "message", r->message));
  }
  return array;
}

/* 576 as a number, "4x1" as text. */
static json_t *input_json(const char *value) {
  gint64 number = 0;
  if (g_ascii_string_to_signed(value, 10, INT64_MIN, INT64_MAX, &number, NULL))
    return json_integer(number);
  return json_string(value);
}

static json_t *witness_json(const Finding *finding) {
  if (!finding->witness_text && finding->witness_names->len == 0) return json_null();
  json_t *inputs = json_object();
  for (guint i = 0; i < finding->witness_names->len; i++)
    json_object_set_new(inputs, finding->witness_names->pdata[i],
                        input_json(finding->witness_values->pdata[i]));
  return json_pack("{so ss?}", "inputs", inputs, "text", finding->witness_text);
}

static json_t *fix_json(const Finding *f) {
  if (!f->fix_text) return json_null();
  return json_pack("{ss sb si si si si}", "text", f->fix_text, "safe", f->fix_safe, "line",
                   f->fix_line, "column", f->fix_column, "end_line", f->fix_end_line, "end_column",
                   f->fix_end_column);
}

static json_t *finding_json(const Finding *f) {
  return json_pack("{ss ss ss ss si si si si ss? so ss ss ss ss? ss so so so}", "rule", f->rule,
                   "severity", severity_name(f->severity), "confidence", f->confidence, "path",
                   f->path, "line", f->line, "column", f->column, "end_line", f->end_line,
                   "end_column", f->end_column, "kernel", f->kernel, "arch", archs_json(f->archs),
                   "message", f->message, "help", f->help, "page", f->page, "anchor", f->anchor,
                   "url", f->url, "related", related_json(f->related), "witness", witness_json(f),
                   "fix", fix_json(f));
}

void report_json(const Report *report, const ReportOptions *options, GString *out) {
  json_t *files = json_array(), *findings = json_array();
  for (guint i = 0; i < report->files->len; i++)
    json_array_append_new(files, file_json(report->files->pdata[i], options));
  for (guint i = 0; i < report->findings->len; i++)
    json_array_append_new(findings, finding_json(report->findings->pdata[i]));
  ReportCounts c = report_count(report, NULL);
  report_dump(json_pack("{si s{ss ss} so so s{si si si si si si}}", "version", 1, "tool", "name",
                        "kcheck", "version", KCHECK_VERSION, "files", files, "findings", findings,
                        "summary", "errors", c.errors, "warnings", c.warnings, "advice", c.advice,
                        "kernels_checked", c.checked, "kernels_partial", c.partial,
                        "kernels_skipped", c.skipped),
              out);
}
