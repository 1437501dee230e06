/* lsp: the language server on standard input and output (Language Server Protocol 3.17). It knows
 * documents, positions and messages; how a text is checked is its host's business (cli/cmd_lsp.c).
 *
 *   frame     bytes -> messages                 text      a document's text and positions in it
 *   rpc       replies, notifications, calls     sync      documents opened, changed, closed,
 * checked server    the loop, initialize to exit      publish   findings -> diagnostics, pushed and
 * pulled config    settings, watched files           hover, actions
 */
#ifndef KC_LSP_LSP_H
#define KC_LSP_LSP_H

#include <glib.h>
#include <jansson.h>

#include "report/report.h"
#include "support/error.h"

/* One check while it waits or runs; the host's. */
typedef struct LspCheck LspCheck;

/* The end of a check: what was found, taken over by the callee, never NULL. */
typedef void LspDone(Report *report, void *data);

typedef struct LspHost {
  void *user;
  /* Takes the settings of the client (its section "kcheck", an object); false with `error` when a
   * key or a value is wrong: what is right counts all the same. */
  bool (*configure)(void *user, const json_t *settings, KcError *error);
  /* Begins to check `text` (length bytes, copied) as the contents of `path`. `done` is called once
   * from the main loop, unless the check is cancelled before. */
  LspCheck *(*start)(void *user, const char *path, const char *text, gsize length, LspDone *done,
                     void *data);
  /* Ends a check whose `done` has not been called; it never will be. */
  void (*cancel)(void *user, LspCheck *check);
  /* The document is closed: nothing need be kept for it. NULL: files came or went, nothing that is
   * kept for any document may be relied on. */
  void (*forget)(void *user, const char *path);
} LspHost;

/* Serves until the client says exit or is gone; returns the exit status: 0 after shutdown and exit,
 * 1 otherwise. */
int lsp_serve(const LspHost *host);

#endif
