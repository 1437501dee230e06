/* Documents: opened, changed, closed, and when each is checked. */
#include <string.h>

#include "lsp/internal.h"

char *lsp_path(const char *uri) {
  g_autofree char *path = g_filename_from_uri(uri, NULL, NULL);
  return path && g_utf8_validate(path, -1, NULL) ? g_steal_pointer(&path) : g_strdup(uri);
}

char *lsp_uri(LspServer *server, const char *path) {
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  const LspDocument *document = g_hash_table_lookup(server->documents, path);
  if (!document) document = g_hash_table_lookup(server->documents, absolute);
  if (document) return g_strdup(document->uri);
  char *uri = g_filename_to_uri(absolute, NULL, NULL);
  return uri ? uri : g_strdup(path);
}

LspDocument *lsp_document(LspServer *server, const json_t *params) {
  const char *uri = lsp_text_at(params, "textDocument", "uri");
  g_autofree char *path = uri ? lsp_path(uri) : NULL;
  return path ? g_hash_table_lookup(server->documents, path) : NULL;
}

/* ---- requests that wait ---- */

static void waiting_free(gpointer data) {
  LspWaiting *waiting = data;
  json_decref(waiting->id);
  json_decref(waiting->params);
  g_free(waiting);
}

void lsp_wait(LspServer *server, LspDocument *document, const json_t *id, const json_t *params,
              void (*answer)(LspServer *, LspDocument *, json_t *, const json_t *)) {
  if (document->current) {
    answer(server, document, (json_t *)id, params);
    return;
  }
  LspWaiting *waiting = g_new0(LspWaiting, 1);
  *waiting = (LspWaiting){json_deep_copy(id), json_deep_copy(params), answer};
  g_ptr_array_add(document->waiting, waiting);
}

bool lsp_withdraw(LspServer *server, const json_t *id) {
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, server->documents);
  while (g_hash_table_iter_next(&iter, NULL, &value)) {
    GPtrArray *waiting = ((LspDocument *)value)->waiting;
    for (guint i = 0; i < waiting->len; i++)
      if (json_equal(((LspWaiting *)waiting->pdata[i])->id, id)) {
        lsp_refuse(server, id, LSP_REQUEST_CANCELLED, "cancelled");
        g_ptr_array_remove_index(waiting, i);
        return true;
      }
  }
  return false;
}

static void answer_waiting(LspDocument *document) {
  g_autoptr(GPtrArray) waiting = document->waiting;
  document->waiting = g_ptr_array_new_with_free_func(waiting_free);
  for (guint i = 0; i < waiting->len; i++) {
    LspWaiting *w = waiting->pdata[i];
    w->answer(document->server, document, w->id, w->params);
  }
}

/* The text changed: what was asked of the old one is asked again by the client. */
static void refuse_waiting(LspDocument *document, bool again) {
  for (guint i = 0; i < document->waiting->len; i++) {
    const LspWaiting *w = document->waiting->pdata[i];
    lsp_refuse_with(document->server, w->id, LSP_SERVER_CANCELLED,
                    json_pack("{sb}", "retriggerRequest", again),
                    again ? "the text has changed" : "the document is closed");
  }
  g_ptr_array_set_size(document->waiting, 0);
}

/* ---- checks ---- */

static void stop_check(LspDocument *document) {
  const LspHost *host = document->server->host;
  if (document->timer) g_source_remove(document->timer);
  document->timer = 0;
  if (document->check) host->cancel(host->user, document->check);
  document->check = NULL;
  lsp_progress_end(document);
}

static void check_ended(Report *report, void *data) {
  LspDocument *document = data;
  document->check = NULL;
  lsp_progress_end(document);
  document->current = true;
  document->checked = document->revision;
  if (document->report) report_free(document->report);
  document->report = report;
  lsp_publish(document);
  answer_waiting(document);
}

static gboolean start_check(gpointer data) {
  LspDocument *document = data;
  const LspHost *host = document->server->host;
  document->timer = 0;
  document->check = host->start(host->user, document->path, document->text.bytes->str,
                                document->text.bytes->len, check_ended, document);
  lsp_progress_begin(document);
  return G_SOURCE_REMOVE;
}

void lsp_schedule(LspDocument *document, guint delay_ms) {
  stop_check(document);
  document->revision++;
  document->current = false;
  document->timer = g_timeout_add(delay_ms, start_check, document);
}

void lsp_schedule_all(LspServer *server, const char *but) {
  GHashTableIter iter;
  gpointer value;
  g_hash_table_iter_init(&iter, server->documents);
  while (g_hash_table_iter_next(&iter, NULL, &value))
    if (g_strcmp0(((LspDocument *)value)->path, but) != 0) lsp_schedule(value, LSP_DEBOUNCE_MS);
  /* A client that pulls asks again, and gets the answer when the checks have ended. */
  if (server->client.pulls && server->client.refreshes)
    lsp_call(server, "workspace/diagnostic/refresh", NULL, NULL);
}

/* ---- notifications ---- */

void lsp_document_free(LspDocument *document) {
  const LspHost *host = document->server->host;
  stop_check(document);
  refuse_waiting(document, false);
  host->forget(host->user, document->path);
  g_ptr_array_unref(document->waiting);
  lsp_text_clear(&document->text);
  if (document->report) report_free(document->report);
  json_decref(document->pushed);
  json_decref(document->elsewhere);
  g_free(document->pulled);
  g_free(document->logged);
  g_free(document->uri);
  g_free(document->path);
  g_free(document);
}

void lsp_did_open(LspServer *server, const json_t *params) {
  const char *uri = lsp_text_at(params, "textDocument", "uri");
  const json_t *text = lsp_at(params, "textDocument", "text", NULL);
  if (!uri || !json_is_string(text)) {
    lsp_log(server, LSP_LOG_ERROR, "textDocument/didOpen without a URI and a text");
    return;
  }
  LspDocument *document = g_new0(LspDocument, 1);
  document->server = server;
  document->uri = g_strdup(uri);
  document->path = lsp_path(uri);
  document->version = json_integer_value(lsp_at(params, "textDocument", "version", NULL));
  document->waiting = g_ptr_array_new_with_free_func(waiting_free);
  lsp_text_init(&document->text, json_string_value(text), json_string_length(text));
  g_hash_table_remove(server->documents, document->path);
  g_hash_table_insert(server->documents, document->path, document);
  lsp_schedule(document, 0);
}

static bool apply_change(LspDocument *document, const json_t *change) {
  const json_t *range = json_object_get(change, "range"), *text = json_object_get(change, "text");
  LspSpan span = {0, document->text.bytes->len};
  if (!json_is_string(text)) return false;
  if (range && !json_is_null(range) &&
      !lsp_text_span(&document->text, range, document->server->client.encoding, &span))
    return false;
  lsp_text_replace(&document->text, span, json_string_value(text), json_string_length(text));
  return true;
}

void lsp_did_change(LspServer *server, const json_t *params) {
  LspDocument *document = lsp_document(server, params);
  if (!document) {
    lsp_log(server, LSP_LOG_ERROR, "textDocument/didChange of a document that is not open");
    return;
  }
  size_t i;
  json_t *change;
  json_array_foreach(json_object_get(params, "contentChanges"), i, change) {
    if (!apply_change(document, change))
      lsp_log(server, LSP_LOG_ERROR,
              "a change of %s without a text, or with a range that is none; close and open it",
              document->uri);
  }
  const json_t *version = lsp_at(params, "textDocument", "version", NULL);
  if (json_is_integer(version)) document->version = json_integer_value(version);
  refuse_waiting(document, true);
  lsp_schedule(document, LSP_DEBOUNCE_MS);
}

/* Other documents may include this one. A client that watches files tells of it in another way. */
void lsp_did_save(LspServer *server, const json_t *params) {
  const LspDocument *document = lsp_document(server, params);
  if (document && !server->client.watches) lsp_schedule_all(server, document->path);
}

void lsp_did_close(LspServer *server, const json_t *params) {
  LspDocument *document = lsp_document(server, params);
  if (!document) return;
  lsp_unpublish(document);
  g_hash_table_remove(server->documents, document->path);
}
