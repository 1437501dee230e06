#include "lsp/text.h"

#include <string.h>

static void find_lines(LspText *text) {
  gsize start = 0;
  g_array_set_size(text->lines, 0);
  g_array_append_val(text->lines, start);
  const char *bytes = text->bytes->str;
  for (gsize i = 0; i < text->bytes->len; i++) {
    bool ends = bytes[i] == '\n' || (bytes[i] == '\r' && bytes[i + 1] != '\n');
    start = i + 1;
    if (ends) g_array_append_val(text->lines, start);
  }
}

void lsp_text_init(LspText *text, const char *bytes, gsize length) {
  text->bytes = g_string_new_len(bytes, (gssize)length);
  text->lines = g_array_new(FALSE, FALSE, sizeof(gsize));
  find_lines(text);
}

void lsp_text_clear(LspText *text) {
  if (!text->bytes) return;
  g_string_free(text->bytes, TRUE);
  g_array_unref(text->lines);
  *text = (LspText){0};
}

void lsp_text_replace(LspText *text, LspSpan span, const char *bytes, gsize length) {
  g_string_erase(text->bytes, (gssize)span.begin, (gssize)(span.end - span.begin));
  g_string_insert_len(text->bytes, (gssize)span.begin, bytes, (gssize)length);
  find_lines(text);
}

LspSpan lsp_text_line_span(const LspText *text, guint line) {
  gsize begin = g_array_index(text->lines, gsize, line);
  gsize end =
      line + 1 < text->lines->len ? g_array_index(text->lines, gsize, line + 1) : text->bytes->len;
  if (line + 1 < text->lines->len) {
    end--;
    if (end > begin && text->bytes->str[end] == '\n' && text->bytes->str[end - 1] == '\r') end--;
  }
  return (LspSpan){begin, end};
}

guint lsp_text_line(const LspText *text, gsize offset) {
  guint low = 0, high = text->lines->len;
  while (high - low > 1) {
    guint middle = (low + high) / 2;
    if (g_array_index(text->lines, gsize, middle) <= offset)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/* Units of the encoding that the character with this first byte takes. */
static gsize units_of(unsigned char first, LspEncoding encoding) {
  gsize size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  switch (encoding) {
  case LSP_UTF8: return size;
  case LSP_UTF16: return size == 4 ? 2 : 1;
  case LSP_UTF32: break;
  }
  return 1;
}

/* A place inside a character is its start. */
static gsize offset_in_line(const LspText *text, LspSpan line, gsize units, LspEncoding encoding) {
  gsize at = line.begin;
  while (at < line.end) {
    unsigned char first = (unsigned char)text->bytes->str[at];
    gsize width = units_of(first, encoding);
    if (width > units) break;
    units -= width;
    at += units_of(first, LSP_UTF8);
  }
  return MIN(at, line.end);
}

static bool offset_of(const LspText *text, const json_t *position, LspEncoding encoding,
                      gsize *offset) {
  const json_t *line = json_object_get(position, "line");
  const json_t *character = json_object_get(position, "character");
  if (!json_is_integer(line) || !json_is_integer(character)) return false;
  json_int_t l = json_integer_value(line), c = json_integer_value(character);
  if (l < 0 || c < 0) return false;
  *offset = text->bytes->len;
  if (l < (json_int_t)text->lines->len)
    *offset = offset_in_line(text, lsp_text_line_span(text, (guint)l), (gsize)c, encoding);
  return true;
}

bool lsp_text_span(const LspText *text, const json_t *range, LspEncoding encoding, LspSpan *span) {
  return offset_of(text, json_object_get(range, "start"), encoding, &span->begin) &&
         offset_of(text, json_object_get(range, "end"), encoding, &span->end) &&
         span->begin <= span->end;
}

gsize lsp_text_offset(const LspText *text, int line, int column) {
  if (line < 1) return 0;
  if ((guint)line > text->lines->len) return text->bytes->len;
  LspSpan span = lsp_text_line_span(text, (guint)line - 1);
  return MIN(span.begin + (gsize)MAX(column - 1, 0), span.end);
}

static json_t *position_json(const LspText *text, gsize offset, LspEncoding encoding) {
  guint line = lsp_text_line(text, offset);
  json_int_t units = 0;
  gsize at = g_array_index(text->lines, gsize, line);
  while (at < offset) {
    unsigned char first = (unsigned char)text->bytes->str[at];
    units += (json_int_t)units_of(first, encoding);
    at += units_of(first, LSP_UTF8);
  }
  return json_pack("{si sI}", "line", (int)line, "character", units);
}

json_t *lsp_text_range(const LspText *text, LspSpan span, LspEncoding encoding) {
  return json_pack("{so so}", "start", position_json(text, span.begin, encoding), "end",
                   position_json(text, span.end, encoding));
}
