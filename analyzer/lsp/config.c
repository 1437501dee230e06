/* Settings of the client (its section "kcheck"), and files whose change matters. */
#include <string.h>

#include "lsp/internal.h"

#define SECTION "kcheck"
/* Everything that may be included, and what says how a file is checked. */
#define SOURCES "**/*.{cu,cuh,ptx,h,hh,hpp,hxx,inl,inc,ipp,tpp}"
#define SETTINGS "**/{.kcheck.yaml,.kcheck-baseline.json,compile_commands.json}"

/* Settings as they come in: under "kcheck" or bare. Null is none. */
static void take_settings(LspServer *server, const json_t *settings) {
  const json_t *section = json_object_get(settings, SECTION);
  if (section) settings = section;
  json_t *none = json_object();
  KcError error = {0};
  if (!json_is_object(settings)) settings = none;
  if (!server->host->configure(server->host->user, settings, &error)) {
    g_autofree char *text = kc_error_text(&error);
    lsp_log(server, LSP_LOG_ERROR, "settings: %s%s%s", text, error.hint ? "; " : "",
            error.hint ? error.hint : "");
  }
  kc_error_clear(&error);
  json_decref(none);
}

void lsp_initial_settings(LspServer *server, const json_t *options) {
  take_settings(server, options);
}

static void settings_answered(LspServer *server, const json_t *result) {
  /* Null: the client has nothing to say, and what came with initialize holds. */
  if (!json_is_object(json_array_get(result, 0))) return;
  take_settings(server, json_array_get(result, 0));
  lsp_schedule_all(server, NULL);
}

static void ask_for_settings(LspServer *server) {
  lsp_call(server, "workspace/configuration", json_pack("{s[{ss}]}", "items", "section", SECTION),
           settings_answered);
}

void lsp_did_change_configuration(LspServer *server, const json_t *params) {
  if (server->client.configuration) {
    ask_for_settings(server);
    return;
  }
  take_settings(server, json_object_get(params, "settings"));
  lsp_schedule_all(server, NULL);
}

void lsp_register(LspServer *server) {
  json_t *list = json_array();
  if (server->client.watches)
    json_array_append_new(list,
                          json_pack("{ss ss s{s[{ss}{ss}]}}", "id", "kcheck-files", "method",
                                    "workspace/didChangeWatchedFiles", "registerOptions",
                                    "watchers", "globPattern", SOURCES, "globPattern", SETTINGS));
  if (server->client.registers_config)
    json_array_append_new(list, json_pack("{ss ss s{ss}}", "id", "kcheck-settings", "method",
                                          "workspace/didChangeConfiguration", "registerOptions",
                                          "section", SECTION));
  if (json_array_size(list) > 0)
    lsp_call(server, "client/registerCapability", json_pack("{so}", "registrations", list), NULL);
  else
    json_decref(list);
  if (server->client.configuration) ask_for_settings(server);
}

/* A document that is saved is no news to itself: its text is the client's. */
void lsp_did_change_watched_files(LspServer *server, const json_t *params) {
  const json_t *changes = json_object_get(params, "changes");
  g_autofree char *only = NULL;
  bool came_or_went = false;
  size_t i;
  json_t *change;
  json_array_foreach(changes, i, change) {
    const char *uri = json_string_value(json_object_get(change, "uri"));
    g_autofree char *path = uri ? lsp_path(uri) : NULL;
    /* An editor may save by putting another file in place of the old one. */
    bool saved = path && g_hash_table_contains(server->documents, path);
    if (!saved && json_integer_value(json_object_get(change, "type")) != 2) came_or_went = true;
    if (json_array_size(changes) == 1) only = g_steal_pointer(&path);
  }
  if (json_array_size(changes) == 0) return;
  if (came_or_went) server->host->forget(server->host->user, NULL);
  lsp_schedule_all(server, only);
}
