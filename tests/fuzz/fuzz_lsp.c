/* What an editor sends: a stream cut into messages, and edits of a text at places that may be
 * anywhere. */
#include <stdlib.h>
#include <string.h>

#include "lsp/frame.h"
#include "lsp/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* However the stream is cut into pieces, the same messages come out of it. */
static guint read_stream(const char *bytes, gsize length, gsize piece) {
  LspFrames *frames = lsp_frames_new();
  guint hash = 0;
  for (gsize at = 0; at < length; at += piece) {
    LspFrame frame;
    lsp_frames_add(frames, bytes + at, MIN(piece, length - at));
    for (LspFrameKind kind; (kind = lsp_frames_next(frames, &frame)) != LSP_FRAME_NONE;) {
      if (kind == LSP_FRAME_BROKEN && !frame.why) abort();
      if (kind != LSP_FRAME_MESSAGE) continue;
      if (strlen(frame.body) != frame.length) abort();
      hash = hash * 31 + g_str_hash(frame.body);
    }
  }
  lsp_frames_free(frames);
  return hash;
}

static json_t *place(uint8_t line, uint8_t character) {
  return json_pack("{si si}", "line", line, "character", character);
}

static void must_be_whole(const LspText *text) {
  if (!g_utf8_validate(text->bytes->str, (gssize)text->bytes->len, NULL)) abort();
  for (guint i = 0; i < text->lines->len; i++) {
    LspSpan span = lsp_text_line_span(text, i);
    if (span.begin > span.end || span.end > text->bytes->len) abort();
    if (lsp_text_line(text, span.begin) != i) abort();
  }
}

static void edit(const uint8_t *data, const char *bytes, gsize length, LspEncoding encoding) {
  LspText text;
  LspSpan span, back;
  lsp_text_init(&text, bytes, length);
  must_be_whole(&text);
  json_t *range =
      json_pack("{so so}", "start", place(data[0], data[1]), "end", place(data[2], data[3]));
  if (lsp_text_span(&text, range, encoding, &span)) {
    json_t *same = lsp_text_range(&text, span, encoding);
    if (!lsp_text_span(&text, same, encoding, &back)) abort();
    if (back.begin != span.begin || back.end != span.end) abort();
    json_decref(same);
    lsp_text_replace(&text, span, "\xc3\xa4\n", 3);
    must_be_whole(&text);
  }
  lsp_text_offset(&text, data[0], data[1]);
  json_decref(range);
  lsp_text_clear(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 5) return 0;
  const char *bytes = (const char *)data + 5;
  gsize length = size - 5;
  guint whole = read_stream(bytes, length, length + 1);
  if (read_stream(bytes, length, 1) != whole || read_stream(bytes, length, 7) != whole) abort();
  if (!g_utf8_validate(bytes, (gssize)length, NULL)) return 0;
  static const LspEncoding encodings[] = {LSP_UTF8, LSP_UTF16, LSP_UTF32};
  g_autofree char *text = g_strndup(bytes, length);
  edit(data, text, strlen(text), encodings[data[4] % 3]);
  return 0;
}
