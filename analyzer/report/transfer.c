/* A report as JSON between the worker process and its parent: every field, nothing for people. */
#include <stddef.h>
#include <string.h>

#include "report/report.h"
#include "rules/finding.h"

/* One field of a struct. */
typedef struct Field {
  const char *name;
  char kind; /* 's' text or null, 'i' int, 'b' bool, 'l' int64, 'a' list of texts */
  size_t offset;
} Field;

#define FIELD(Type, name, kind)                                                                    \
  { #name, kind, offsetof(Type, name) }

static const Field RELATED[] = {
    FIELD(FindingRelated, path, 's'),       FIELD(FindingRelated, line, 'i'),
    FIELD(FindingRelated, column, 'i'),     FIELD(FindingRelated, end_line, 'i'),
    FIELD(FindingRelated, end_column, 'i'), FIELD(FindingRelated, message, 's'),
    FIELD(FindingRelated, source, 's'),     {NULL, 0, 0},
};

static const Field FINDING[] = {
    FIELD(Finding, rule, 's'),          FIELD(Finding, confidence, 's'),
    FIELD(Finding, file, 's'),          FIELD(Finding, path, 's'),
    FIELD(Finding, line, 'i'),          FIELD(Finding, column, 'i'),
    FIELD(Finding, end_line, 'i'),      FIELD(Finding, end_column, 'i'),
    FIELD(Finding, kernel, 's'),        FIELD(Finding, archs, 'a'),
    FIELD(Finding, source, 's'),        FIELD(Finding, message, 's'),
    FIELD(Finding, help, 's'),          FIELD(Finding, page, 's'),
    FIELD(Finding, anchor, 's'),        FIELD(Finding, url, 's'),
    FIELD(Finding, witness_names, 'a'), FIELD(Finding, witness_values, 'a'),
    FIELD(Finding, witness_text, 's'),  FIELD(Finding, fix_text, 's'),
    FIELD(Finding, fix_line, 'i'),      FIELD(Finding, fix_column, 'i'),
    FIELD(Finding, fix_end_line, 'i'),  FIELD(Finding, fix_end_column, 'i'),
    FIELD(Finding, fix_safe, 'b'),      {NULL, 0, 0},
};

static const Field KERNEL[] = {
    FIELD(ReportKernel, name, 's'),
    FIELD(ReportKernel, instantiation, 's'),
    FIELD(ReportKernel, status, 's'),
    FIELD(ReportKernel, not_checked, 'a'),
    {NULL, 0, 0},
};

static const Field FILE_FIELDS[] = {
    FIELD(ReportFile, path, 's'),         FIELD(ReportFile, status, 's'),
    FIELD(ReportFile, archs, 'a'),        FIELD(ReportFile, errors, 'a'),
    FIELD(ReportFile, exit_status, 'i'),  FIELD(ReportFile, toolkit_headers, 'b'),
    FIELD(ReportFile, default_arch, 'b'), FIELD(ReportFile, arch_because, 's'),
    FIELD(ReportFile, time_us, 'l'),      {NULL, 0, 0},
};

/* A text that is not UTF-8 (a file name, say) must not take the whole report with it. */
static json_t *text_to_json(const char *text) {
  if (!text) return json_null();
  json_t *json = json_string(text);
  if (json) return json;
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  return json_string(valid);
}

static json_t *texts_to_json(const GPtrArray *texts) {
  json_t *list = json_array();
  for (guint i = 0; i < texts->len; i++)
    json_array_append_new(list, text_to_json(texts->pdata[i]));
  return list;
}

static json_t *struct_to_json(const void *object, const Field *fields) {
  json_t *json = json_object();
  for (const Field *field = fields; field->name; field++) {
    const char *at = (const char *)object + field->offset;
    json_t *value = field->kind == 's'   ? text_to_json(*(char *const *)at)
                    : field->kind == 'i' ? json_integer(*(const int *)at)
                    : field->kind == 'l' ? json_integer(*(const int64_t *)at)
                    : field->kind == 'b' ? json_boolean(*(const bool *)at)
                                         : texts_to_json(*(GPtrArray *const *)at);
    json_object_set_new(json, field->name, value);
  }
  return json;
}

static json_t *finding_to_json(const Finding *finding) {
  json_t *json = struct_to_json(finding, FINDING);
  json_object_set_new(json, "severity", json_string(severity_name(finding->severity)));
  json_t *related = json_array();
  for (guint i = 0; i < finding->related->len; i++)
    json_array_append_new(related, struct_to_json(finding->related->pdata[i], RELATED));
  json_object_set_new(json, "related", related);
  return json;
}

static json_t *file_to_json(const ReportFile *file) {
  json_t *json = struct_to_json(file, FILE_FIELDS);
  json_t *kernels = json_array();
  for (guint i = 0; i < file->kernels->len; i++)
    json_array_append_new(kernels, struct_to_json(file->kernels->pdata[i], KERNEL));
  json_object_set_new(json, "kernels", kernels);
  if (file->timing) json_object_set(json, "timing", file->timing);
  return json;
}

json_t *report_to_json(const Report *report) {
  json_t *files = json_array(), *findings = json_array();
  for (guint i = 0; i < report->files->len; i++)
    json_array_append_new(files, file_to_json(report->files->pdata[i]));
  for (guint i = 0; i < report->findings->len; i++)
    json_array_append_new(findings, finding_to_json(report->findings->pdata[i]));
  return json_pack("{so so}", "files", files, "findings", findings);
}

/* ---- back ---- */

static bool wrong(const char *name, KcError *error) {
  return kc_fail(error, NULL, 0, 0, "the worker's answer has no proper '%s'", name);
}

static bool texts_from_json(const json_t *json, GPtrArray *texts) {
  size_t i;
  json_t *item;
  if (!json_is_array(json)) return false;
  json_array_foreach(json, i, item) {
    if (!json_is_string(item)) return false;
    g_ptr_array_add(texts, g_strdup(json_string_value(item)));
  }
  return true;
}

static bool field_from_json(char *at, const Field *field, const json_t *value) {
  switch (field->kind) {
  case 's':
    if (!json_is_string(value) && !json_is_null(value)) return false;
    g_free(*(char **)at);
    *(char **)at = g_strdup(json_string_value(value));
    return true;
  case 'i': *(int *)at = (int)json_integer_value(value); return json_is_integer(value);
  case 'l': *(int64_t *)at = json_integer_value(value); return json_is_integer(value);
  case 'b': *(bool *)at = json_is_true(value); return json_is_boolean(value);
  default: return texts_from_json(value, *(GPtrArray **)at);
  }
}

static bool struct_from_json(void *object, const Field *fields, const json_t *json,
                             KcError *error) {
  for (const Field *field = fields; field->name; field++) {
    const json_t *value = json_object_get(json, field->name);
    if (!value || !field_from_json((char *)object + field->offset, field, value))
      return wrong(field->name, error);
  }
  return true;
}

static bool related_from_json(Finding *finding, const json_t *list, KcError *error) {
  size_t i;
  json_t *item;
  if (!json_is_array(list)) return wrong("related", error);
  json_array_foreach(list, i, item) {
    FindingRelated *related = g_new0(FindingRelated, 1);
    g_ptr_array_add(finding->related, related);
    if (!struct_from_json(related, RELATED, item, error)) return false;
    if (!related->path || !related->message) return wrong("related", error);
  }
  return true;
}

/* What a format may take for granted. */
static bool is_whole(const Finding *f) {
  return f->rule && f->confidence && f->file && f->path && f->message && f->help && f->page &&
         f->url && f->witness_names->len == f->witness_values->len;
}

static bool finding_from_json(Report *into, const json_t *json, KcError *error) {
  Finding *finding = finding_new();
  g_ptr_array_add(into->findings, finding);
  const char *severity = json_string_value(json_object_get(json, "severity"));
  if (!severity || !severity_from_name(severity, &finding->severity))
    return wrong("severity", error);
  if (!struct_from_json(finding, FINDING, json, error)) return false;
  if (!is_whole(finding)) return wrong("finding", error);
  return related_from_json(finding, json_object_get(json, "related"), error);
}

static bool file_from_json(Report *into, const json_t *json, KcError *error) {
  ReportFile *file = report_file_new(NULL, NULL);
  g_ptr_array_add(into->files, file);
  if (!struct_from_json(file, FILE_FIELDS, json, error)) return false;
  if (!file->path || !file->status) return wrong("path", error);
  json_t *timing = json_object_get(json, "timing");
  if (timing) file->timing = json_deep_copy(timing);
  const json_t *kernels = json_object_get(json, "kernels");
  size_t i;
  json_t *item;
  if (!json_is_array(kernels)) return wrong("kernels", error);
  json_array_foreach(kernels, i, item) {
    ReportKernel *kernel = report_kernel_new(NULL, NULL, NULL);
    g_ptr_array_add(file->kernels, kernel);
    if (!struct_from_json(kernel, KERNEL, item, error)) return false;
    if (!kernel->name || !kernel->instantiation || !kernel->status) return wrong("kernels", error);
  }
  return true;
}

/* Takes away what a broken answer left half read. */
static bool cut_back(Report *report, guint files, guint findings) {
  g_ptr_array_set_size(report->files, (gint)files);
  g_ptr_array_set_size(report->findings, (gint)findings);
  return false;
}

bool report_from_json(Report *into, const json_t *json, KcError *error) {
  guint old_files = into->files->len, old_findings = into->findings->len;
  const json_t *files = json_object_get(json, "files");
  const json_t *findings = json_object_get(json, "findings");
  size_t i;
  json_t *item;
  if (!json_is_array(files) || !json_is_array(findings)) return wrong("files", error);
  json_array_foreach(files, i, item) {
    if (!file_from_json(into, item, error)) return cut_back(into, old_files, old_findings);
  }
  json_array_foreach(findings, i, item) {
    if (!finding_from_json(into, item, error)) return cut_back(into, old_files, old_findings);
  }
  return true;
}
