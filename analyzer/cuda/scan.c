/* Comments, literals and words of C++ text. */
#include "cuda/scan.h"

#include <glib.h>
#include <string.h>

bool scan_is_word(char c) {
  return g_ascii_isalnum(c) || c == '_';
}

bool scan_word(const char *text, size_t length, size_t at, const char *word) {
  size_t size = strlen(word);
  return at + size <= length && strncmp(text + at, word, size) == 0 &&
         (at == 0 || !scan_is_word(text[at - 1])) &&
         (at + size == length || !scan_is_word(text[at + size]));
}

/* End of the raw literal whose quote is at `at`. */
static size_t skip_raw(const char *text, size_t length, size_t at) {
  const char *open = memchr(text + at, '(', length - at);
  if (!open) return length;
  g_autofree char *close =
      g_strdup_printf(")%.*s\"", (int)(open - text - (gssize)at - 1), text + at + 1);
  const char *end = g_strstr_len(open, (gssize)(length - (size_t)(open - text)), close);
  return end ? (size_t)(end - text) + strlen(close) : length;
}

/* End of the line, with the lines that a backslash joins to it. */
static size_t skip_line(const char *text, size_t length, size_t at) {
  while (at < length && (text[at] != '\n' || (at > 0 && text[at - 1] == '\\')))
    at++;
  return at;
}

/* Whether only blanks stand before `at` on its line. */
static bool starts_line(const char *text, size_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
    at--;
  return at == 0 || text[at - 1] == '\n';
}

size_t scan_skip(const char *text, size_t length, size_t at) {
  char c = text[at], second = at + 1 < length ? text[at + 1] : 0;
  if (c == '/' && second == '/') return skip_line(text, length, at);
  if (c == '#' && starts_line(text, at)) return skip_line(text, length, at);
  if (c == '/' && second == '*') {
    const char *end = g_strstr_len(text + at + 2, (gssize)(length - at - 2), "*/");
    return end ? (size_t)(end - text) + 2 : length;
  }
  if (c == '"' && at > 0 && text[at - 1] == 'R') return skip_raw(text, length, at);
  bool digit_separator = c == '\'' && at > 0 && g_ascii_isxdigit(text[at - 1]);
  if ((c != '"' && c != '\'') || digit_separator) return at;
  for (at++; at < length && text[at] != c && text[at] != '\n';)
    at += text[at] == '\\' ? 2 : 1;
  return at < length ? at + 1 : length;
}

size_t scan_prefix_chain(const char *text, size_t length, size_t most) {
  size_t count = 0, start = 0;
  for (size_t at = 0; at < length;) {
    size_t next = scan_skip(text, length, at);
    if (next == at) {
      bool prefix = text[at] == '*' || text[at] == '&';
      if (prefix && count++ == 0) start = at;
      if (count > most) return start;
      if (!prefix && !g_ascii_isspace(text[at])) count = 0;
      next++;
    }
    at = next;
  }
  return length;
}
