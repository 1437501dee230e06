#include "report/common.h"

#include <string.h>

static void count_findings(const Report *report, const char *file, ReportCounts *counts) {
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *finding = report->findings->pdata[i];
    if (file && strcmp(finding->file, file) != 0) continue;
    counts->errors += finding->severity == SEVERITY_ERROR;
    counts->warnings += finding->severity == SEVERITY_WARNING;
    counts->advice += finding->severity == SEVERITY_ADVICE;
  }
}

static void count_kernels(const ReportFile *file, ReportCounts *counts) {
  for (guint i = 0; i < file->kernels->len; i++) {
    const char *status = ((const ReportKernel *)file->kernels->pdata[i])->status;
    counts->checked += strcmp(status, "checked") == 0;
    counts->partial += strcmp(status, "partial") == 0;
    counts->skipped += strcmp(status, "skipped") == 0;
  }
}

ReportCounts report_count(const Report *report, const ReportFile *file) {
  ReportCounts counts = {0};
  count_findings(report, file ? file->path : NULL, &counts);
  if (file) {
    count_kernels(file, &counts);
    return counts;
  }
  for (guint i = 0; i < report->files->len; i++)
    count_kernels(report->files->pdata[i], &counts);
  return counts;
}

char *report_counted(int count, const char *word, const char *plural) {
  if (count == 1) return g_strdup_printf("1 %s", word);
  if (plural) return g_strdup_printf("%d %s", count, plural);
  return g_strdup_printf("%d %ss", count, word);
}

char *report_listed(const GPtrArray *words) {
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < words->len; i++) {
    const char *between = i == 0 ? "" : i + 1 == words->len ? " and " : ", ";
    g_string_append_printf(text, "%s%s", between, (const char *)words->pdata[i]);
  }
  return g_string_free(text, FALSE);
}

static int offset_in(const char *source, int column, bool utf16) {
  int bytes = column - 1, offset = 0;
  const char *at = source;
  while (at && *at && at - source < bytes) {
    gunichar c = g_utf8_get_char(at);
    offset += utf16 && c > 0xffff ? 2 : 1;
    at = g_utf8_next_char(at);
  }
  int beyond = at ? bytes - (int)(at - source) : bytes;
  return offset + MAX(beyond, 0);
}

int report_utf16_offset(const char *source, int column) {
  return offset_in(source, column, true);
}

int report_codepoint_offset(const char *source, int column) {
  return offset_in(source, column, false);
}

char *report_file_uri(const char *path) {
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  char *uri = g_filename_to_uri(absolute, NULL, NULL);
  return uri ? uri : g_strdup(path);
}

char *report_relative_uri(const char *path) {
  if (g_path_is_absolute(path)) return report_file_uri(path);
  return g_uri_escape_string(path, "/", FALSE);
}

static char *normal_line(const char *line) {
  GString *text = g_string_new(NULL);
  for (; line && *line; line++)
    if (!g_ascii_isspace(*line)) g_string_append_c(text, *line);
  return g_string_free(text, FALSE);
}

char *report_fingerprint(const Finding *finding, int nth) {
  g_autofree char *line = normal_line(finding->source);
  g_autofree char *key = g_strdup_printf("%s\n%s\n%s\n%s\n%d", finding->path, finding->rule,
                                         finding->kernel ? finding->kernel : "", line, nth);
  return g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);
}

int report_occurrence(const Report *report, guint index) {
  const Finding *finding = report->findings->pdata[index];
  g_autofree char *own = report_fingerprint(finding, 0);
  int before = 0;
  for (guint i = 0; i < index; i++) {
    const Finding *other = report->findings->pdata[i];
    if (strcmp(other->path, finding->path) != 0 || strcmp(other->rule, finding->rule) != 0)
      continue;
    g_autofree char *theirs = report_fingerprint(other, 0);
    before += strcmp(own, theirs) == 0;
  }
  return before;
}

void report_dump(json_t *json, GString *out) {
  char *text = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
  if (text) g_string_append(out, text);
  g_string_append_c(out, '\n');
  free(text);
  json_decref(json);
}
