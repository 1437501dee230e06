/* A check that takes long is shown: the first one of a file with CUTLASS's headers takes seconds.
 */
#include "lsp/internal.h"

enum { SLOW_MS = 1000 };

static void tell(const LspDocument *document, json_t *value) {
  lsp_notify(document->server, "$/progress",
             json_pack("{ss so}", "token", document->progress, "value", value));
}

static gboolean show(gpointer data) {
  LspDocument *document = data;
  LspServer *server = document->server;
  g_autofree char *name = g_path_get_basename(document->path);
  document->slow = 0;
  document->progress = g_strdup_printf("kcheck-%u", ++server->tokens);
  lsp_call(server, "window/workDoneProgress/create", json_pack("{ss}", "token", document->progress),
           NULL);
  tell(document, json_pack("{ss ss ss sb}", "kind", "begin", "title", "kcheck", "message", name,
                           "cancellable", 0));
  return G_SOURCE_REMOVE;
}

void lsp_progress_begin(LspDocument *document) {
  if (document->server->client.progress && !document->slow && !document->progress)
    document->slow = g_timeout_add(SLOW_MS, show, document);
}

void lsp_progress_end(LspDocument *document) {
  if (document->slow) g_source_remove(document->slow);
  document->slow = 0;
  if (document->progress) tell(document, json_pack("{ss}", "kind", "end"));
  g_clear_pointer(&document->progress, g_free);
}
