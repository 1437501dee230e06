/* Diagnostics: made from a report, pushed to the client or pulled by it. A document's findings may
 * stand in a header; those of several documents in one header are shown together. */
#include <stdlib.h>
#include <string.h>

#include "lsp/internal.h"

bool lsp_is_own(const LspDocument *document, const Finding *finding) {
  return strcmp(finding->path, document->path) == 0;
}

LspSpan lsp_finding_span(const LspDocument *document, const Finding *f) {
  gsize begin = lsp_text_offset(&document->text, f->line, f->column);
  gsize end = lsp_text_offset(&document->text, f->end_line, f->end_column);
  /* One line is underlined, the first: as in --format lsp. */
  if (f->end_line != f->line)
    end = lsp_text_line_span(&document->text, lsp_text_line(&document->text, begin)).end;
  return (LspSpan){begin, MAX(begin, end)};
}

/* ---- the diagnostics of a report ---- */

/* Related places under the URIs that the client knows; those in kcheck's own headers, which are no
 * files, go. */
static void respell_related(LspServer *server, json_t *diagnostic, const Finding *f) {
  json_t *all = json_object_get(diagnostic, "relatedInformation"), *known = json_array();
  for (guint i = 0; i < f->related->len; i++) {
    const char *path = ((const FindingRelated *)f->related->pdata[i])->path;
    json_t *related = json_array_get(all, i);
    g_autofree char *uri = lsp_uri(server, path);
    bool open = g_hash_table_contains(server->documents, path);
    if (!open && !g_file_test(path, G_FILE_TEST_EXISTS)) continue;
    json_object_set_new(json_object_get(related, "location"), "uri", json_string(uri));
    json_array_append(known, related);
  }
  json_object_set_new(diagnostic, "relatedInformation", known);
}

json_t *lsp_finding_json(const LspDocument *document, const Finding *f) {
  LspEncoding encoding = document->server->client.encoding;
  json_t *json = report_lsp_diagnostic(f, encoding);
  /* A relative address means a place in the documentation's site; a client would look for a file.
   */
  if (!strstr(f->url ? f->url : "", "://")) json_object_del(json, "codeDescription");
  respell_related(document->server, json, f);
  if (!lsp_is_own(document, f)) return json;
  LspSpan span = lsp_finding_span(document, f);
  json_object_set_new(json, "range", lsp_text_range(&document->text, span, encoding));
  if (f->fix_text) {
    LspSpan fix = {lsp_text_offset(&document->text, f->fix_line, f->fix_column),
                   lsp_text_offset(&document->text, f->fix_end_line, f->fix_end_column)};
    json_object_set_new(lsp_at(json, "data", "fix", NULL), "range",
                        lsp_text_range(&document->text, fix, encoding));
  }
  return json;
}

static json_t *line_json(const LspDocument *document, int line, int severity, const char *code,
                         const char *message) {
  gsize at = lsp_text_offset(&document->text, line, 1);
  LspSpan span = lsp_text_line_span(&document->text, lsp_text_line(&document->text, at));
  while (span.begin < span.end && g_ascii_isspace(document->text.bytes->str[span.begin]))
    span.begin++;
  g_autofree char *text = g_utf8_make_valid(message, -1);
  json_t *range = lsp_text_range(&document->text, span, document->server->client.encoding);
  return json_pack("{so si ss ss ss}", "range", range, "severity", severity, "code", code, "source",
                   "kcheck", "message", text);
}

static void add_elsewhere(LspDocument *document, const char *path, json_t *diagnostic) {
  g_autofree char *uri = lsp_uri(document->server, path);
  if (!document->elsewhere) document->elsewhere = json_object();
  json_t *list = json_object_get(document->elsewhere, uri);
  if (!list) {
    list = json_array();
    json_object_set_new(document->elsewhere, uri, list);
  }
  json_array_append_new(list, diagnostic);
}

/* "path:3:1: error: message" -> path, 3, the message. Without a place: line 1. */
static const char *split_error(const char *error, char **path, int *line) {
  static const char WORD[] = ": error: ";
  const char *message = strstr(error, WORD);
  *line = 1;
  if (!message) {
    *path = NULL;
    return error;
  }
  g_autofree char *head = g_strndup(error, (gsize)(message - error));
  int numbers[2] = {0}, count = 0;
  for (char *colon; count < 2 && (colon = strrchr(head, ':')) != NULL; count++) {
    if (!colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1)) break;
    numbers[count] = atoi(colon + 1);
    *colon = 0;
  }
  if (count > 0) *line = MAX(numbers[count - 1], 1);
  *path = g_steal_pointer(&head);
  return message + strlen(WORD);
}

/* Why the file could not be checked: at the place that the error names, or on the first line. */
static void add_error(LspDocument *document, const char *error) {
  g_autofree char *path = NULL;
  int line;
  const char *message = split_error(error, &path, &line);
  bool own = !path || strcmp(path, document->path) == 0 || strcmp(path, "kcheck") == 0;
  json_array_append_new(document->pushed, line_json(document, own ? line : 1, 1, "not-checked",
                                                    own ? message : error));
  if (own || !g_file_test(path, G_FILE_TEST_EXISTS)) return;
  json_t *place = json_pack("{si si}", "line", line - 1, "character", 0);
  add_elsewhere(document, path,
                json_pack("{s{sO so} si ss ss ss}", "range", "start", place, "end", place,
                          "severity", 1, "code", "not-checked", "source", "kcheck", "message",
                          message));
}

/* The line on which a kernel's name is first called or defined; 1 when there is none. */
static int line_of_kernel(const LspDocument *document, const char *name) {
  const char *text = document->text.bytes->str, *global = strstr(text, "__global__");
  const char *scope = strrchr(name, ':');
  if (scope) name = scope + 1;
  gsize size = strlen(name);
  for (const char *at = global ? global : text; size && (at = strstr(at, name)) != NULL; at++) {
    bool starts = at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '_');
    const char *after = at + size;
    while (*after == ' ')
      after++;
    if (starts && *after == '(') return (int)lsp_text_line(&document->text, (gsize)(at - text)) + 1;
  }
  return 1;
}

static void add_not_checked(LspDocument *document, const ReportKernel *kernel) {
  if (kernel->not_checked->len == 0) return;
  bool skipped = strcmp(kernel->status, "skipped") == 0;
  g_autoptr(GString) text = g_string_new(NULL);
  g_string_printf(text, "not checked in %s: ", kernel->instantiation);
  for (guint i = 0; i < kernel->not_checked->len; i++)
    g_string_append_printf(text, "%s%s", i ? "; " : "", (char *)kernel->not_checked->pdata[i]);
  json_array_append_new(document->pushed,
                        line_json(document, line_of_kernel(document, kernel->name), skipped ? 2 : 3,
                                  "not-checked", text->str));
}

static void make_diagnostics(LspDocument *document) {
  const Report *report = document->report;
  json_decref(document->pushed);
  json_decref(document->elsewhere);
  document->pushed = json_array();
  document->elsewhere = NULL;
  for (guint i = 0; i < report->files->len; i++) {
    const ReportFile *file = report->files->pdata[i];
    for (guint e = 0; e < file->errors->len; e++)
      add_error(document, file->errors->pdata[e]);
    for (guint k = 0; k < file->kernels->len; k++)
      add_not_checked(document, file->kernels->pdata[k]);
  }
  for (guint i = 0; i < report->findings->len; i++) {
    const Finding *f = report->findings->pdata[i];
    json_t *json = lsp_finding_json(document, f);
    if (lsp_is_own(document, f))
      json_array_append_new(document->pushed, json);
    else
      add_elsewhere(document, f->path, json);
  }
  g_free(document->pulled);
  document->pulled = g_strdup_printf("%u", ++document->server->result_ids);
}

/* ---- push ---- */

/* Each of `from` that `into` has not. */
static void add_new(json_t *into, const json_t *from) {
  size_t i, k;
  json_t *item, *known;
  json_array_foreach(from, i, item) {
    bool there = false;
    json_array_foreach(into, k, known) there = there || json_equal(known, item);
    if (!there) json_array_append(into, item);
  }
}

/* Everything that any open document has at `uri`. `but` (may be NULL) is left out. */
static json_t *all_at(LspServer *server, const char *uri, const LspDocument *but) {
  json_t *all = json_array();
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, server->documents);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    const LspDocument *document = value;
    if (document == but) continue;
    if (strcmp(document->uri, uri) == 0 && !server->client.pulls) add_new(all, document->pushed);
    add_new(all, json_object_get(document->elsewhere, uri));
  }
  return all;
}

static void push(LspServer *server, const char *uri, const LspDocument *but) {
  g_autofree char *path = lsp_path(uri);
  const LspDocument *document = g_hash_table_lookup(server->documents, path);
  json_t *params = json_pack("{ss so}", "uri", uri, "diagnostics", all_at(server, uri, but));
  if (document && document != but)
    json_object_set_new(params, "version", json_integer(document->version));
  lsp_notify(server, "textDocument/publishDiagnostics", params);
}

static void push_elsewhere(LspServer *server, const json_t *before, const json_t *now,
                           const LspDocument *but) {
  const char *uri;
  json_t *list;
  if (server->client.pulls && server->client.takes_related) return;
  json_object_foreach((json_t *)before, uri, list) {
    if (!json_object_get(now, uri)) push(server, uri, but);
  }
  json_object_foreach((json_t *)now, uri, list) push(server, uri, but);
}

/* What went wrong beyond the text itself is said in the log as well, once. */
static void log_failure(LspDocument *document) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (guint i = 0; i < document->report->files->len; i++) {
    const GPtrArray *errors = ((ReportFile *)document->report->files->pdata[i])->errors;
    for (guint e = 0; e < errors->len; e++)
      if (strstr(errors->pdata[e], "the checker") || !strstr(errors->pdata[e], document->path))
        g_string_append_printf(text, "%s%s", text->len ? "\n" : "", (char *)errors->pdata[e]);
  }
  if (text->len && g_strcmp0(document->logged, text->str) != 0)
    lsp_log(document->server, LSP_LOG_WARNING, "%s", text->str);
  g_free(document->logged);
  document->logged = g_strdup(text->str);
}

void lsp_publish(LspDocument *document) {
  LspServer *server = document->server;
  json_t *before = json_incref(document->elsewhere);
  make_diagnostics(document);
  if (!server->client.pulls) push(server, document->uri, NULL);
  push_elsewhere(server, before, document->elsewhere, NULL);
  json_decref(before);
  log_failure(document);
}

void lsp_unpublish(LspDocument *document) {
  LspServer *server = document->server;
  if (!server->client.pulls) push(server, document->uri, document);
  push_elsewhere(server, document->elsewhere, NULL, document);
}

/* ---- pull ---- */

static json_t *related_reports(const LspDocument *document) {
  json_t *reports = json_object();
  const char *uri;
  json_t *list;
  json_object_foreach(document->elsewhere, uri, list)
      json_object_set_new(reports, uri, json_pack("{ss sO}", "kind", "full", "items", list));
  return reports;
}

static void answer_pull(LspServer *server, LspDocument *document, json_t *id,
                        const json_t *params) {
  const char *known = json_string_value(json_object_get(params, "previousResultId"));
  bool unchanged = g_strcmp0(known, document->pulled) == 0;
  json_t *report =
      json_pack("{ss ss}", "kind", unchanged ? "unchanged" : "full", "resultId", document->pulled);
  if (!unchanged) json_object_set(report, "items", document->pushed);
  if (server->client.takes_related)
    json_object_set_new(report, "relatedDocuments", related_reports(document));
  lsp_reply(server, id, report);
}

void lsp_pull(LspServer *server, const json_t *id, const json_t *params) {
  LspDocument *document = lsp_document(server, params);
  if (document)
    lsp_wait(server, document, id, params, answer_pull);
  else
    lsp_refuse(server, id, LSP_INVALID_PARAMS,
               "textDocument/diagnostic of a document that is not open");
}
