#include "report/lsp.h"

#include <string.h>

#include "report/common.h"

static int character(const char *source, int column, LspEncoding encoding) {
  switch (encoding) {
  case LSP_UTF16: return report_utf16_offset(source, column);
  case LSP_UTF32: return report_codepoint_offset(source, column);
  case LSP_UTF8: break;
  }
  return column - 1;
}

/* `source` is the text of the first line; an end on another line can't be converted with it, and
 * the range then ends with the first line. */
static json_t *range_json(const char *source, int line, int column, int end_line, int end_column,
                          LspEncoding encoding) {
  if (end_line != line) end_column = source ? (int)strlen(source) + 1 : column + 1;
  return json_pack("{s{si si} s{si si}}", "start", "line", line - 1, "character",
                   character(source, column, encoding), "end", "line", line - 1, "character",
                   character(source, end_column, encoding));
}

static int severity_of(Severity severity) {
  switch (severity) {
  case SEVERITY_ERROR: return 1;
  case SEVERITY_WARNING: return 2;
  case SEVERITY_ADVICE:
  case SEVERITY_OFF: break;
  }
  return 3; /* information */
}

static json_t *related_json(const Finding *f, LspEncoding encoding) {
  json_t *list = json_array();
  for (guint i = 0; i < f->related->len; i++) {
    const FindingRelated *r = f->related->pdata[i];
    g_autofree char *uri = report_file_uri(r->path);
    json_t *range = range_json(r->source, r->line, r->column, r->end_line, r->end_column, encoding);
    json_array_append_new(list, json_pack("{s{ss so} ss}", "location", "uri", uri, "range", range,
                                          "message", r->message));
  }
  return list;
}

static json_t *fix_json(const Finding *f, LspEncoding encoding) {
  if (!f->fix_text) return json_null();
  /* The text of the fix's line is known only where it is the finding's own. */
  const char *source = f->fix_line == f->line ? f->source : NULL;
  json_t *range = json_pack(
      "{s{si si} s{si si}}", "start", "line", f->fix_line - 1, "character",
      character(source, f->fix_column, encoding), "end", "line", f->fix_end_line - 1, "character",
      character(f->fix_end_line == f->line ? f->source : NULL, f->fix_end_column, encoding));
  return json_pack("{so ss sb}", "range", range, "newText", f->fix_text, "safe", f->fix_safe);
}

/* The first line's message, the witness below it, and what to do. */
static char *message_of(const Finding *f) {
  return g_strdup_printf("%s%s%s\nhelp: %s", f->message, f->witness_text ? "\n" : "",
                         f->witness_text ? f->witness_text : "", f->help);
}

json_t *report_lsp_diagnostic(const Finding *f, LspEncoding encoding) {
  g_autofree char *message = message_of(f);
  json_t *range = range_json(f->source, f->line, f->column, f->end_line, f->end_column, encoding);
  return json_pack("{so si ss s{ss} ss ss so s{ss ss ss? ss so}}", "range", range, "severity",
                   severity_of(f->severity), "code", f->rule, "codeDescription", "href", f->url,
                   "source", "kcheck", "message", message, "relatedInformation",
                   related_json(f, encoding), "data", "rule", f->rule, "page", f->page, "anchor",
                   f->anchor, "confidence", f->confidence, "fix", fix_json(f, encoding));
}

json_t *report_lsp_diagnostics(const Report *report, const char *path, LspEncoding encoding) {
  json_t *list = json_array();
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    if (strcmp(f->path, path) == 0) json_array_append_new(list, report_lsp_diagnostic(f, encoding));
  }
  return list;
}

void report_lsp_frame(json_t *message, GString *out) {
  char *text = json_dumps(message, JSON_COMPACT);
  json_decref(message);
  if (!text) return;
  g_string_append_printf(out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
  free(text);
}

static void publish(const Report *report, const char *path, GString *out) {
  g_autofree char *uri = report_file_uri(path);
  json_t *diagnostics = report_lsp_diagnostics(report, path, LSP_UTF16);
  report_lsp_frame(json_pack("{ss ss s{ss so}}", "jsonrpc", "2.0", "method",
                             "textDocument/publishDiagnostics", "params", "uri", uri, "diagnostics",
                             diagnostics),
                   out);
}

/* One notification a file, an empty one too (it clears what an editor shows), then one for each
 * header that findings stand in. */
void report_lsp(const Report *report, const ReportOptions *options, GString *out) {
  (void)options;
  g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < report->files->len; i++) {
    char *path = ((const ReportFile *)report->files->pdata[i])->path;
    if (g_hash_table_add(done, path)) publish(report, path, out);
  }
  for (guint i = 0; i < report->findings->len; i++) {
    char *path = ((const Finding *)report->findings->pdata[i])->path;
    if (g_hash_table_add(done, path)) publish(report, path, out);
  }
}
