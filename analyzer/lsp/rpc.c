/* JSON-RPC: messages to the client, and answers of the client to what it was asked. */
#include <stdarg.h>
#include <stdlib.h>

#include "lsp/internal.h"

json_t *lsp_at(const json_t *json, ...) {
  va_list keys;
  va_start(keys, json);
  for (const char *key; (key = va_arg(keys, const char *)) != NULL;)
    json = json_object_get(json, key);
  va_end(keys);
  return (json_t *)json;
}

const char *lsp_text_at(const json_t *json, const char *outer, const char *key) {
  return json_string_value(lsp_at(json, outer, key, NULL));
}

void lsp_reply(LspServer *server, const json_t *id, json_t *result) {
  lsp_send(server, json_pack("{ss sO so}", "jsonrpc", "2.0", "id", id, "result", result));
}

void lsp_refuse_with(LspServer *server, const json_t *id, LspErrorCode code, json_t *data,
                     const char *message) {
  g_autofree char *text = g_utf8_make_valid(message, -1);
  json_t *error = json_pack("{si ss so*}", "code", (int)code, "message", text, "data", data);
  json_t *copy = id ? json_deep_copy(id) : json_null();
  lsp_send(server, json_pack("{ss so so}", "jsonrpc", "2.0", "id", copy, "error", error));
}

void lsp_refuse(LspServer *server, const json_t *id, LspErrorCode code, const char *format, ...) {
  va_list values;
  va_start(values, format);
  g_autofree char *message = g_strdup_vprintf(format, values);
  va_end(values);
  lsp_refuse_with(server, id, code, NULL, message);
}

void lsp_notify(LspServer *server, const char *method, json_t *params) {
  lsp_send(server, json_pack("{ss ss so}", "jsonrpc", "2.0", "method", method, "params", params));
}

void lsp_log(LspServer *server, LspMessageType type, const char *format, ...) {
  va_list values;
  va_start(values, format);
  g_autofree char *message = g_strdup_vprintf(format, values);
  va_end(values);
  g_autofree char *text = g_utf8_make_valid(message, -1);
  lsp_notify(server, "window/logMessage", json_pack("{si ss}", "type", (int)type, "message", text));
}

void lsp_call(LspServer *server, const char *method, json_t *params, LspAnswered *answered) {
  json_int_t id = ++server->next_call;
  g_hash_table_insert(server->calls, GINT_TO_POINTER((int)id), (gpointer)answered);
  lsp_send(server, json_pack("{ss sI ss so*}", "jsonrpc", "2.0", "id", id, "method", method,
                             "params", params));
}

void lsp_take_answer(LspServer *server, const json_t *message) {
  gpointer key = GINT_TO_POINTER((int)json_integer_value(json_object_get(message, "id")));
  gpointer answered = NULL;
  if (!g_hash_table_steal_extended(server->calls, key, NULL, &answered) || !answered) return;
  ((LspAnswered *)answered)(server, json_object_get(message, "result"));
}
