/* What the files of this room share. */
#ifndef KC_LSP_INTERNAL_H
#define KC_LSP_INTERNAL_H

#include "knowledge/page.h"
#include "lsp/frame.h"
#include "lsp/lsp.h"
#include "lsp/text.h"

/* Error codes of JSON-RPC and LSP 3.17 (Response Message). */
typedef enum LspErrorCode {
  LSP_PARSE_ERROR = -32700,
  LSP_INVALID_REQUEST = -32600,
  LSP_METHOD_NOT_FOUND = -32601,
  LSP_INVALID_PARAMS = -32602,
  LSP_SERVER_NOT_INITIALIZED = -32002,
  LSP_REQUEST_CANCELLED = -32800,
  LSP_SERVER_CANCELLED = -32802
} LspErrorCode;

/* MessageType of window/logMessage. */
typedef enum LspMessageType { LSP_LOG_ERROR = 1, LSP_LOG_WARNING, LSP_LOG_INFO } LspMessageType;

/* Wait after an edit before the text is checked. */
enum { LSP_DEBOUNCE_MS = 200 };

typedef enum LspState { LSP_FRESH, LSP_RUNNING, LSP_SHUT_DOWN } LspState;

/* What the client can do. */
typedef struct LspClient {
  LspEncoding encoding;
  bool pulls;            /* textDocument/diagnostic: nothing is pushed then */
  bool refreshes;        /* workspace/diagnostic/refresh */
  bool takes_related;    /* relatedDocuments of a pulled report */
  bool configuration;    /* workspace/configuration */
  bool registers_config; /* didChangeConfiguration is registered dynamically */
  bool watches;          /* didChangeWatchedFiles, registered dynamically */
  bool document_changes; /* versioned edits */
  bool markdown;         /* in hovers */
  bool progress;         /* window/workDoneProgress/create */
} LspClient;

typedef struct LspServer LspServer;
typedef struct LspDocument LspDocument;

/* A request that waits for the check of the document's present text. */
typedef struct LspWaiting {
  json_t *id, *params;
  void (*answer)(LspServer *server, LspDocument *document, json_t *id, const json_t *params);
} LspWaiting;

struct LspDocument {
  LspServer *server;
  char *uri;  /* as the client spells it */
  char *path; /* its key */
  json_int_t version;
  LspText text;
  guint revision; /* counts the texts, and the causes to check one again */
  guint timer;    /* source id of the wait after an edit, or 0 */
  LspCheck *check;
  guint slow;         /* source id: when it is to be said that the check takes long, or 0 */
  char *progress;     /* token under which that was said, or NULL */
  guint checked;      /* revision of `report`; 0: none yet */
  bool current;       /* `report` is of the present text */
  Report *report;     /* of the last check that ended, or NULL */
  json_t *pushed;     /* Diagnostic[] of the last check, for its own text */
  json_t *elsewhere;  /* uri -> Diagnostic[] that it has in headers and settings; or NULL */
  char *pulled;       /* result id of `pushed` */
  char *logged;       /* what was last said of it in the log */
  GPtrArray *waiting; /* LspWaiting* */
};

struct LspServer {
  const LspHost *host;
  GMainLoop *loop;
  LspFrames *frames;
  LspState state;
  LspClient client;
  bool clean; /* exit came after shutdown */
  bool input_over;
  GString *output; /* what the client did not take yet */
  guint writing;   /* source id */
  guint reading;   /* source id */
  guint parent;    /* source id of the look at the client's process */
  GPid client_pid;
  GHashTable *documents; /* path -> LspDocument* */
  GHashTable *calls;     /* id -> LspAnswered, as a pointer */
  json_int_t next_call;
  guint result_ids, tokens;
  Rules *rules; /* once something asked for them */
  Pages *pages;
};

/* ---- rpc.c ---- */

void lsp_send(LspServer *server, json_t *message);
/* Answers request `id` (borrowed) with `result` (taken over). */
void lsp_reply(LspServer *server, const json_t *id, json_t *result);
/* `id` NULL: of a message that could not be read. */
void lsp_refuse(LspServer *server, const json_t *id, LspErrorCode code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same with the error's `data`, which is taken over. */
void lsp_refuse_with(LspServer *server, const json_t *id, LspErrorCode code, json_t *data,
                     const char *message);
void lsp_notify(LspServer *server, const char *method, json_t *params);
void lsp_log(LspServer *server, LspMessageType type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What to do with the client's answer; `result` NULL when it was an error. */
typedef void LspAnswered(LspServer *server, const json_t *result);
/* Asks the client; `answered` may be NULL. */
void lsp_call(LspServer *server, const char *method, json_t *params, LspAnswered *answered);
void lsp_take_answer(LspServer *server, const json_t *message);
/* The value under a path of keys, ended by NULL; or NULL. */
json_t *lsp_at(const json_t *json, ...) __attribute__((sentinel));
const char *lsp_text_at(const json_t *json, const char *outer, const char *key);

/* ---- sync.c ---- */

void lsp_did_open(LspServer *server, const json_t *params);
void lsp_did_change(LspServer *server, const json_t *params);
void lsp_did_save(LspServer *server, const json_t *params);
void lsp_did_close(LspServer *server, const json_t *params);
/* The open document of params.textDocument.uri, or NULL. */
LspDocument *lsp_document(LspServer *server, const json_t *params);
void lsp_document_free(LspDocument *document);
/* Checks a document again in `delay_ms`; a check of it that runs is cancelled. */
void lsp_schedule(LspDocument *document, guint delay_ms);
/* Checks all of them again but the one at `but` (may be NULL). */
void lsp_schedule_all(LspServer *server, const char *but);
/* Answers when the present text has been checked: at once when it is. */
void lsp_wait(LspServer *server, LspDocument *document, const json_t *id, const json_t *params,
              void (*answer)(LspServer *, LspDocument *, json_t *, const json_t *));
/* Withdraws the request with this id; false when nothing waits under it. */
bool lsp_withdraw(LspServer *server, const json_t *id);
/* The path of a URI; what is no file has its URI as path. Caller frees. */
char *lsp_path(const char *uri);
/* The URI of a path, as the client spells it when the document is open. Caller frees. */
char *lsp_uri(LspServer *server, const char *path);

/* ---- publish.c ---- */

/* Makes the diagnostics of document->report and tells the client. */
void lsp_publish(LspDocument *document);
/* Takes back what the document showed, in its own text and elsewhere. */
void lsp_unpublish(LspDocument *document);
void lsp_pull(LspServer *server, const json_t *id, const json_t *params);
/* The Diagnostic of one finding of the document; new reference. */
json_t *lsp_finding_json(const LspDocument *document, const Finding *finding);
/* Where a finding stands in the document's text. */
LspSpan lsp_finding_span(const LspDocument *document, const Finding *finding);
/* Whether the finding stands in the document's own text. */
bool lsp_is_own(const LspDocument *document, const Finding *finding);

/* ---- progress.c ---- */

/* A check has begun: the client shows it once it takes long. */
void lsp_progress_begin(LspDocument *document);
/* It has ended, whatever its end. */
void lsp_progress_end(LspDocument *document);

/* ---- hover.c, actions.c ---- */

void lsp_hover(LspServer *server, const json_t *id, const json_t *params);
void lsp_code_action(LspServer *server, const json_t *id, const json_t *params);

/* ---- config.c ---- */

/* After `initialized`: asks for settings, registers what is to be watched. */
void lsp_register(LspServer *server);
void lsp_initial_settings(LspServer *server, const json_t *options);
void lsp_did_change_configuration(LspServer *server, const json_t *params);
void lsp_did_change_watched_files(LspServer *server, const json_t *params);

#endif
