#include "lsp/frame.h"

#include <string.h>

#define LENGTH_FIELD "Content-Length:"
#define TYPE_FIELD "Content-Type:"

enum { MAX_HEADER = 4096 };
/* A source file is at most some megabytes; what announces more is no message. */
#define MAX_BODY ((guint64)256 << 20)

struct LspFrames {
  GString *bytes;
  gsize at;     /* of what was not read yet */
  guint64 skip; /* bytes of a body that nobody wants */
  bool lost;    /* inside something broken: everything up to the next length field goes */
  char *body;
};

LspFrames *lsp_frames_new(void) {
  LspFrames *frames = g_new0(LspFrames, 1);
  frames->bytes = g_string_new(NULL);
  return frames;
}

void lsp_frames_free(LspFrames *frames) {
  g_string_free(frames->bytes, TRUE);
  g_free(frames->body);
  g_free(frames);
}

void lsp_frames_add(LspFrames *frames, const char *bytes, gsize length) {
  g_string_erase(frames->bytes, 0, (gssize)frames->at);
  frames->at = 0;
  g_string_append_len(frames->bytes, bytes, (gssize)length);
}

static LspFrameKind broken(LspFrames *frames, LspFrame *frame, const char *why) {
  frames->lost = true;
  frame->why = why;
  return LSP_FRAME_BROKEN;
}

static bool begins_with(const char *text, gsize length, const char *field) {
  gsize size = strlen(field);
  return length >= size && g_ascii_strncasecmp(text, field, size) == 0;
}

/* Goes to the next length field; false when there is none yet. */
static bool find_again(LspFrames *frames) {
  gsize size = strlen(LENGTH_FIELD);
  for (; frames->at + size <= frames->bytes->len; frames->at++)
    if (begins_with(frames->bytes->str + frames->at, size, LENGTH_FIELD)) {
      frames->lost = false;
      return true;
    }
  return false;
}

/* Discards a body that is too large; false when more of it is to come. */
static bool skip_body(LspFrames *frames) {
  gsize count = (gsize)MIN(frames->skip, frames->bytes->len - frames->at);
  frames->at += count;
  frames->skip -= count;
  return frames->skip == 0;
}

/* The number of a length field; false when it is none. */
static bool read_length(const char *text, gsize length, guint64 *out) {
  g_autofree char *copy = g_strndup(text, length);
  return g_ascii_string_to_unsigned(g_strstrip(copy), 10, 0, G_MAXINT64, out, NULL);
}

static bool is_utf8(const char *text, gsize length) {
  g_autofree char *type = g_ascii_strdown(text, (gssize)length);
  const char *charset = strstr(type, "charset=");
  if (!charset) return true;
  charset += strlen("charset=");
  charset += *charset == '"';
  return g_str_has_prefix(charset, "utf-8") || g_str_has_prefix(charset, "utf8");
}

/* A name of letters and hyphens, and a colon (RFC 7230, 3.2). */
static bool is_field(const char *line, gsize length) {
  gsize at = 0;
  while (at < length && (g_ascii_isalnum(line[at]) || line[at] == '-'))
    at++;
  return at > 0 && at < length && line[at] == ':';
}

typedef struct {
  bool ended, has_length, other_charset;
  guint64 length;
  const char *why;
} Header;

/* Reads header lines from frames->at; stays there when they have not all come. */
static void read_header(LspFrames *frames, Header *header) {
  gsize at = frames->at;
  while (!header->ended && !header->why) {
    const char *line = frames->bytes->str + at;
    const char *newline = memchr(line, '\n', frames->bytes->len - at);
    const char *seen = newline ? newline : frames->bytes->str + frames->bytes->len;
    if (seen - (frames->bytes->str + frames->at) > MAX_HEADER) {
      header->why = "a header that does not end";
      break;
    }
    if (!newline) break;
    gsize length = (gsize)(newline - line);
    at += length + 1;
    if (length > 0 && line[length - 1] == '\r') length--;
    if (length == 0) {
      header->ended = true;
    } else if (begins_with(line, length, LENGTH_FIELD)) {
      gsize name = strlen(LENGTH_FIELD);
      header->has_length = read_length(line + name, length - name, &header->length);
      if (!header->has_length) header->why = "Content-Length is not a number of bytes";
    } else if (begins_with(line, length, TYPE_FIELD)) {
      header->other_charset = !is_utf8(line, length);
    } else if (!is_field(line, length)) {
      header->why = "a header line that is no \"Name: value\"";
    }
  }
  if (header->ended && !header->has_length) header->why = "a header without Content-Length";
  if (header->ended || header->why) frames->at = at;
}

LspFrameKind lsp_frames_next(LspFrames *frames, LspFrame *frame) {
  *frame = (LspFrame){0};
  g_clear_pointer(&frames->body, g_free);
  if (!skip_body(frames) || (frames->lost && !find_again(frames))) return LSP_FRAME_NONE;
  gsize start = frames->at;
  Header header = {0};
  read_header(frames, &header);
  if (header.why) return broken(frames, frame, header.why);
  if (!header.ended) return LSP_FRAME_NONE;
  if (header.length > MAX_BODY || header.other_charset) {
    frames->skip = header.length;
    frame->why =
        header.other_charset ? "a message that is not UTF-8" : "a message that is too large";
    return LSP_FRAME_BROKEN;
  }
  if (frames->bytes->len - frames->at < header.length) {
    frames->at = start;
    return LSP_FRAME_NONE;
  }
  frames->body = g_strndup(frames->bytes->str + frames->at, (gsize)header.length);
  /* g_strndup stops at a NUL, which then is no JSON either. */
  frame->body = frames->body;
  frame->length = strlen(frames->body);
  frames->at += (gsize)header.length;
  return LSP_FRAME_MESSAGE;
}
