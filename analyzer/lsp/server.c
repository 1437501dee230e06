/* The loop, the life of a session, and which message goes where. */
#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "lsp/internal.h"

enum { CLIENT_LOOK_S = 5, LAST_WRITE_MS = 2000 };

/* ---- output ---- */

/* Writes what the client takes now; false when it is gone. */
static bool write_some(LspServer *server) {
  while (server->output->len > 0) {
    ssize_t count = write(STDOUT_FILENO, server->output->str, server->output->len);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    g_string_erase(server->output, 0, count);
  }
  return true;
}

static gboolean on_writable(gint fd, GIOCondition condition, gpointer data) {
  (void)fd;
  LspServer *server = data;
  bool gone = (condition & (G_IO_ERR | G_IO_NVAL)) || !write_some(server);
  if (gone) g_main_loop_quit(server->loop);
  if (!gone && server->output->len > 0) return G_SOURCE_CONTINUE;
  server->writing = 0;
  return G_SOURCE_REMOVE;
}

/* Output is never waited for: a client that does not read while it writes would stop both. */
void lsp_send(LspServer *server, json_t *message) {
  report_lsp_frame(message, server->output);
  if (server->writing) return;
  if (!write_some(server)) g_main_loop_quit(server->loop);
  if (server->output->len > 0)
    server->writing =
        g_unix_fd_add(STDOUT_FILENO, G_IO_OUT | G_IO_ERR | G_IO_HUP, on_writable, server);
}

/* The client has said exit, or is gone: what it still wants to read it gets. */
static void write_rest(LspServer *server) {
  struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
  while (server->output->len > 0 && poll(&out, 1, LAST_WRITE_MS) > 0 &&
         !(out.revents & (POLLERR | POLLNVAL)) && write_some(server)) {
  }
}

/* ---- initialize ---- */

static LspEncoding choose_encoding(const json_t *capabilities) {
  static const struct {
    const char *name;
    LspEncoding encoding;
  } known[] = {{"utf-8", LSP_UTF8}, {"utf-16", LSP_UTF16}, {"utf-32", LSP_UTF32}};
  size_t i;
  json_t *offered;
  json_array_foreach(lsp_at(capabilities, "general", "positionEncodings", NULL), i, offered) {
    const char *name = json_string_value(offered);
    for (size_t k = 0; name && k < G_N_ELEMENTS(known); k++)
      if (strcmp(known[k].name, name) == 0) return known[k].encoding;
  }
  return LSP_UTF16;
}

static bool offers(const json_t *list, const char *word) {
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) if (g_strcmp0(json_string_value(item), word) == 0) return true;
  return false;
}

static void read_capabilities(LspClient *client, const json_t *c) {
  const json_t *text = json_object_get(c, "textDocument"), *work = json_object_get(c, "workspace");
  client->encoding = choose_encoding(c);
  client->pulls = json_is_object(json_object_get(text, "diagnostic"));
  client->takes_related = json_is_true(lsp_at(text, "diagnostic", "relatedDocumentSupport", NULL));
  client->refreshes = json_is_true(lsp_at(work, "diagnostics", "refreshSupport", NULL));
  client->configuration = json_is_true(json_object_get(work, "configuration"));
  client->registers_config =
      json_is_true(lsp_at(work, "didChangeConfiguration", "dynamicRegistration", NULL));
  client->watches =
      json_is_true(lsp_at(work, "didChangeWatchedFiles", "dynamicRegistration", NULL));
  client->document_changes = json_is_true(lsp_at(work, "workspaceEdit", "documentChanges", NULL));
  client->progress = json_is_true(lsp_at(c, "window", "workDoneProgress", NULL));
  client->markdown = offers(lsp_at(text, "hover", "contentFormat", NULL), "markdown");
}

/* Relative paths in settings mean the workspace's folder, as they do on a command line given there.
 */
static void enter_workspace(const json_t *params) {
  const json_t *first = json_array_get(json_object_get(params, "workspaceFolders"), 0);
  const char *uri = json_string_value(json_object_get(first, "uri"));
  if (!uri) uri = json_string_value(json_object_get(params, "rootUri"));
  g_autofree char *folder = uri ? g_filename_from_uri(uri, NULL, NULL) : NULL;
  if (!folder) folder = g_strdup(json_string_value(json_object_get(params, "rootPath")));
  if (folder && chdir(folder) != 0) return;
}

/* A client that crashed may leave the pipe open in another process. */
static gboolean look_at_client(gpointer data) {
  LspServer *server = data;
  if (kill(server->client_pid, 0) == 0 || errno != ESRCH) return G_SOURCE_CONTINUE;
  server->parent = 0;
  g_main_loop_quit(server->loop);
  return G_SOURCE_REMOVE;
}

static json_t *capabilities_json(const LspServer *server) {
  static const char *const names[] = {
      [LSP_UTF16] = "utf-16", [LSP_UTF8] = "utf-8", [LSP_UTF32] = "utf-32"};
  return json_pack("{ss s{sb si sb} sb s{s[ss]} s{ss sb sb}}", "positionEncoding",
                   names[server->client.encoding], "textDocumentSync", "openClose", 1, "change", 2,
                   "save", 1, "hoverProvider", 1, "codeActionProvider", "codeActionKinds",
                   "quickfix", "source.fixAll.kcheck", "diagnosticProvider", "identifier", "kcheck",
                   "interFileDependencies", 1, "workspaceDiagnostics", 0);
}

static void initialize(LspServer *server, const json_t *id, const json_t *params) {
  if (server->state != LSP_FRESH) {
    lsp_refuse(server, id, LSP_INVALID_REQUEST, "initialize was called before");
    return;
  }
  read_capabilities(&server->client, json_object_get(params, "capabilities"));
  enter_workspace(params);
  json_int_t pid = json_integer_value(json_object_get(params, "processId"));
  if (pid > 0) {
    server->client_pid = (GPid)pid;
    server->parent = g_timeout_add_seconds(CLIENT_LOOK_S, look_at_client, server);
  }
  server->state = LSP_RUNNING;
  lsp_reply(server, id,
            json_pack("{so s{ss ss}}", "capabilities", capabilities_json(server), "serverInfo",
                      "name", "kcheck", "version", KCHECK_VERSION));
  lsp_initial_settings(server, json_object_get(params, "initializationOptions"));
}

static void shut_down(LspServer *server, const json_t *id, const json_t *params) {
  (void)params;
  server->state = LSP_SHUT_DOWN;
  g_hash_table_remove_all(server->documents);
  lsp_reply(server, id, json_null());
}

/* ---- dispatch ---- */

static void cancel_request(LspServer *server, const json_t *params) {
  lsp_withdraw(server, json_object_get(params, "id"));
}

static void initialized(LspServer *server, const json_t *params) {
  (void)params;
  lsp_register(server);
}

typedef void Request(LspServer *server, const json_t *id, const json_t *params);
typedef void Notification(LspServer *server, const json_t *params);

static const struct {
  const char *method;
  Request *answer;
} requests[] = {
    {"initialize", initialize},
    {"shutdown", shut_down},
    {"textDocument/diagnostic", lsp_pull},
    {"textDocument/hover", lsp_hover},
    {"textDocument/codeAction", lsp_code_action},
};

static const struct {
  const char *method;
  Notification *take;
} notifications[] = {
    {"initialized", initialized},
    {"textDocument/didOpen", lsp_did_open},
    {"textDocument/didChange", lsp_did_change},
    {"textDocument/didSave", lsp_did_save},
    {"textDocument/didClose", lsp_did_close},
    {"workspace/didChangeConfiguration", lsp_did_change_configuration},
    {"workspace/didChangeWatchedFiles", lsp_did_change_watched_files},
    {"$/cancelRequest", cancel_request},
};

static void take_request(LspServer *server, const char *method, const json_t *id,
                         const json_t *params) {
  if (server->state == LSP_FRESH && strcmp(method, "initialize") != 0) {
    lsp_refuse(server, id, LSP_SERVER_NOT_INITIALIZED, "%s before initialize", method);
    return;
  }
  if (server->state == LSP_SHUT_DOWN) {
    lsp_refuse(server, id, LSP_INVALID_REQUEST, "%s after shutdown: only exit may follow", method);
    return;
  }
  for (size_t i = 0; i < G_N_ELEMENTS(requests); i++)
    if (strcmp(requests[i].method, method) == 0) {
      requests[i].answer(server, id, params);
      return;
    }
  lsp_refuse(server, id, LSP_METHOD_NOT_FOUND, "unknown method '%s'", method);
}

static void take_notification(LspServer *server, const char *method, const json_t *params) {
  if (strcmp(method, "exit") == 0) {
    server->clean = server->state == LSP_SHUT_DOWN;
    g_main_loop_quit(server->loop);
  }
  if (server->state != LSP_RUNNING) return;
  for (size_t i = 0; i < G_N_ELEMENTS(notifications); i++)
    if (strcmp(notifications[i].method, method) == 0) notifications[i].take(server, params);
}

static void take_message(LspServer *server, const json_t *message) {
  const json_t *id = json_object_get(message, "id");
  const json_t *method = json_object_get(message, "method");
  const json_t *params = json_object_get(message, "params");
  bool named = json_is_integer(id) || json_is_string(id);
  if (!method && named && (json_object_get(message, "result") || json_object_get(message, "error")))
    lsp_take_answer(server, message);
  else if (!json_is_object(message) || !json_is_string(method) || (id && !named) ||
           g_strcmp0(json_string_value(json_object_get(message, "jsonrpc")), "2.0") != 0)
    lsp_refuse(server, named ? id : NULL, LSP_INVALID_REQUEST,
               "no message of JSON-RPC 2.0: it needs \"jsonrpc\": \"2.0\" and a method%s",
               json_is_array(message) ? "; batches are not part of the protocol" : "");
  else if (id)
    take_request(server, json_string_value(method), id, params);
  else
    take_notification(server, json_string_value(method), params);
}

static void take_frame(LspServer *server, const LspFrame *frame) {
  json_error_t problem;
  json_t *message =
      json_loadb(frame->body, frame->length, JSON_ALLOW_NUL | JSON_DECODE_ANY, &problem);
  if (message)
    take_message(server, message);
  else
    lsp_refuse(server, NULL, LSP_PARSE_ERROR, "not JSON: %s (line %d, column %d)", problem.text,
               problem.line, problem.column);
  json_decref(message);
}

static gboolean on_readable(gint fd, GIOCondition condition, gpointer data) {
  (void)condition;
  LspServer *server = data;
  char buffer[65536];
  ssize_t count = read(fd, buffer, sizeof buffer);
  if (count < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
    return G_SOURCE_CONTINUE;
  if (count <= 0) {
    server->reading = 0;
    g_main_loop_quit(server->loop);
    return G_SOURCE_REMOVE;
  }
  lsp_frames_add(server->frames, buffer, (gsize)count);
  LspFrame frame;
  for (LspFrameKind kind; (kind = lsp_frames_next(server->frames, &frame)) != LSP_FRAME_NONE;)
    if (kind == LSP_FRAME_MESSAGE)
      take_frame(server, &frame);
    else
      lsp_refuse(server, NULL, LSP_PARSE_ERROR, "%s", frame.why);
  return G_SOURCE_CONTINUE;
}

/* ---- the session ---- */

static void set_nonblocking(int fd, int *before) {
  *before = fcntl(fd, F_GETFL);
  if (*before >= 0) fcntl(fd, F_SETFL, *before | O_NONBLOCK);
}

static void clear(LspServer *server) {
  guint sources[] = {server->reading, server->writing, server->parent};
  for (size_t i = 0; i < G_N_ELEMENTS(sources); i++)
    if (sources[i]) g_source_remove(sources[i]);
  g_hash_table_unref(server->documents);
  g_hash_table_unref(server->calls);
  if (server->rules) rules_free(server->rules);
  if (server->pages) pages_free(server->pages);
  lsp_frames_free(server->frames);
  g_string_free(server->output, TRUE);
  g_main_loop_unref(server->loop);
}

int lsp_serve(const LspHost *host) {
  LspServer server = {.host = host, .frames = lsp_frames_new(), .output = g_string_new(NULL)};
  int in_flags, out_flags;
  signal(SIGPIPE, SIG_IGN);
  set_nonblocking(STDIN_FILENO, &in_flags);
  set_nonblocking(STDOUT_FILENO, &out_flags);
  server.loop = g_main_loop_new(NULL, FALSE);
  server.documents =
      g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)lsp_document_free);
  server.calls = g_hash_table_new(NULL, NULL);
  server.reading = g_unix_fd_add(STDIN_FILENO, G_IO_IN | G_IO_HUP | G_IO_ERR, on_readable, &server);
  g_main_loop_run(server.loop);
  g_hash_table_remove_all(server.documents);
  write_rest(&server);
  clear(&server);
  if (out_flags >= 0) fcntl(STDOUT_FILENO, F_SETFL, out_flags);
  if (in_flags >= 0) fcntl(STDIN_FILENO, F_SETFL, in_flags);
  return server.clean ? 0 : 1;
}
