#include "cli/longest.h"

#include <string.h>

static gboolean is_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

/* Length of the comment (blank) or of the token at `at`. */
static gsize token_at(const char *text, gsize length, gsize at, gboolean *blank) {
  const char *start = text + at, *end = text + length, *next = start + 1;
  *blank = g_ascii_isspace(*start);
  if (*start == '/' && next < end && (*next == '/' || *next == '*')) {
    const char *close = *next == '/' ? memchr(next, '\n', (gsize)(end - next))
                                     : g_strstr_len(next + 1, end - next - 1, "*/");
    *blank = TRUE;
    return (gsize)((close ? close + 1 : end) - start);
  }
  if (*start == '"' || *start == '\'') {
    while (next < end && *next != *start && *next != '\n')
      next += *next == '\\' && next + 1 < end ? 2 : 1;
    return (gsize)((next < end ? next + 1 : end) - start);
  }
  while (is_word(*start) && next < end && is_word(*next))
    next++;
  return (gsize)(next - start);
}

LongestStatement longest_statement(const char *text, gsize length) {
  LongestStatement longest = {0}, now = {0};
  gboolean ended = TRUE; /* behind a ; { or } */
  guint line = 1;
  for (gsize at = 0; at < length;) {
    gboolean blank;
    gsize size = token_at(text, length, at, &blank);
    if (!blank) {
      gboolean goes_on = size == 4 && strncmp(text + at, "else", 4) == 0;
      if (ended && !goes_on) now = (LongestStatement){.line = line};
      ended = text[at] == ';' || text[at] == '{' || text[at] == '}';
      now.tokens += 1 + (text[at] == '"' ? (guint)(size / 8) : 0);
      if (now.tokens > longest.tokens) longest = now;
    }
    for (gsize i = 0; i < size; i++)
      line += text[at + i] == '\n';
    at += size;
  }
  return longest;
}
