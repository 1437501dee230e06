/* A document's text, and places in it as the protocol and as kcheck count them. Lines end with
 * \n, \r\n or \r, as in LSP 3.17 (Text Documents) and in clang. */
#ifndef KC_LSP_TEXT_H
#define KC_LSP_TEXT_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "report/lsp.h"

typedef struct LspText {
  GString *bytes; /* valid UTF-8 */
  GArray *lines;  /* gsize: offset of the start of each line; at least one */
} LspText;

/* The offsets of a range, begin <= end. */
typedef struct LspSpan {
  gsize begin, end;
} LspSpan;

void lsp_text_init(LspText *text, const char *bytes, gsize length);
void lsp_text_clear(LspText *text);
/* Puts `bytes` in place of a span. */
void lsp_text_replace(LspText *text, LspSpan span, const char *bytes, gsize length);

/* A Range of the protocol as offsets; places behind the end of a line or of the text are its end
 * (LSP 3.17, Position). False when `range` is none. */
bool lsp_text_span(const LspText *text, const json_t *range, LspEncoding encoding, LspSpan *span);
/* The offset of line and byte column, both from 1, as kcheck counts. */
gsize lsp_text_offset(const LspText *text, int line, int column);
/* The Range of two offsets; new reference. */
json_t *lsp_text_range(const LspText *text, LspSpan span, LspEncoding encoding);
/* The line (from 0) that holds an offset. */
guint lsp_text_line(const LspText *text, gsize offset);
/* The span of line `line` (from 0) without what ends it. */
LspSpan lsp_text_line_span(const LspText *text, guint line);

#endif
