/* Messages out of a stream of bytes: "Content-Length: N\r\n\r\n" and N bytes (LSP 3.17, Base
 * Protocol). After a broken header the reader looks for the next Content-Length. */
#ifndef KC_LSP_FRAME_H
#define KC_LSP_FRAME_H

#include <glib.h>
#include <stdbool.h>

typedef struct LspFrames LspFrames;

typedef enum LspFrameKind {
  LSP_FRAME_NONE,    /* more bytes are needed */
  LSP_FRAME_MESSAGE, /* `body` holds a message */
  LSP_FRAME_BROKEN   /* `why` says what is wrong; reading goes on behind it */
} LspFrameKind;

typedef struct LspFrame {
  const char *body; /* valid until the next call; NUL-terminated */
  gsize length;
  const char *why; /* static */
} LspFrame;

LspFrames *lsp_frames_new(void);
void lsp_frames_free(LspFrames *frames);
void lsp_frames_add(LspFrames *frames, const char *bytes, gsize length);
LspFrameKind lsp_frames_next(LspFrames *frames, LspFrame *frame);

#endif
