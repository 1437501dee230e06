#include <ctype.h>
#include <string.h>

#include "source/internal.h"

SourceText source_text(const IrProgram *program, uint32_t file) {
  const char *line;
  size_t length;
  /* Reads the file on first use; the map caches it, which changes nothing that others see. */
  SourceMap *map = (SourceMap *)&program->sources;
  if (!source_line(map, file, 1, &line, &length)) return (SourceText){"", 0};
  return (SourceText){map->files.items[file].text, map->files.items[file].length};
}

size_t source_offset(SourceText text, uint32_t line, uint32_t column) {
  size_t at = 0;
  for (uint32_t i = 1; i < line; i++) {
    const char *newline = memchr(text.text + at, '\n', text.length - at);
    if (!newline) return text.length;
    at = (size_t)(newline - text.text) + 1;
  }
  at += column > 0 ? column - 1 : 0;
  return at < text.length ? at : text.length;
}

uint32_t source_line_of(SourceText text, size_t offset) {
  uint32_t line = 1;
  for (size_t i = 0; i < offset && i < text.length; i++)
    line += text.text[i] == '\n';
  return line;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static size_t skip_until(SourceText text, size_t at, const char *end) {
  const char *found = g_strstr_len(text.text + at, (gssize)(text.length - at), end);
  return found ? (size_t)(found - text.text) + strlen(end) : text.length;
}

static size_t skip_quoted(SourceText text, size_t at) {
  char quote = text.text[at++];
  while (at < text.length && text.text[at] != quote && text.text[at] != '\n')
    at += text.text[at] == '\\' ? 2 : 1;
  return at < text.length ? at + 1 : text.length;
}

static size_t skip_raw(SourceText text, size_t at) {
  size_t open = at;
  while (open < text.length && text.text[open] != '(')
    open++;
  g_autofree char *end = g_strdup_printf(")%.*s\"", (int)(open - at), text.text + at);
  return skip_until(text, open, end);
}

/* The first offset from `at` on that is neither in a comment nor in a literal. */
static size_t skip_noise(SourceText text, size_t at) {
  while (at < text.length) {
    const char *p = text.text + at;
    size_t left = text.length - at;
    if (left >= 2 && p[0] == '/' && p[1] == '/')
      at = skip_until(text, at, "\n");
    else if (left >= 2 && p[0] == '/' && p[1] == '*')
      at = skip_until(text, at + 2, "*/");
    else if (left >= 2 && p[0] == 'R' && p[1] == '"' && (at == 0 || !is_word(p[-1])))
      at = skip_raw(text, at + 2);
    else if (p[0] == '"' || (p[0] == '\'' && (at == 0 || !isdigit((unsigned char)p[-1]))))
      at = skip_quoted(text, at);
    else
      break;
  }
  return at;
}

size_t source_skip_brackets(SourceText text, size_t at, char open, char close) {
  int depth = 0;
  for (at = skip_noise(text, at); at < text.length; at = skip_noise(text, at + 1)) {
    if (text.text[at] == open) depth++;
    if (text.text[at] == close && --depth == 0) return at + 1;
  }
  return text.length;
}

bool source_body(SourceText text, size_t name, size_t *open, size_t *close) {
  size_t at = name;
  while (at < text.length && is_word(text.text[at]))
    at++;
  at = skip_noise(text, at);
  while (at < text.length && isspace((unsigned char)text.text[at]))
    at = skip_noise(text, at + 1);
  if (at >= text.length || text.text[at] != '(') return false;
  at = source_skip_brackets(text, at, '(', ')');
  for (at = skip_noise(text, at); at < text.length; at = skip_noise(text, at + 1)) {
    if (text.text[at] == '{') break;
    if (!isspace((unsigned char)text.text[at]) && !is_word(text.text[at]) &&
        !strchr("-><:(),&*[]", text.text[at]))
      return false; /* a declaration or a call */
  }
  if (at >= text.length) return false;
  *open = at;
  *close = source_skip_brackets(text, at, '{', '}') - 1;
  return *close > *open && text.text[*close] == '}';
}

bool source_next_word(SourceText text, size_t end, size_t *at, size_t *begin) {
  for (*at = skip_noise(text, *at); *at < end; *at = skip_noise(text, *at + 1)) {
    if (!is_word(text.text[*at])) continue;
    *begin = *at;
    while (*at < text.length && is_word(text.text[*at]))
      ++*at;
    return true;
  }
  return false;
}

bool source_find_body(SourceText text, const char *name, size_t *open, size_t *close) {
  size_t at = 0, begin;
  while (source_next_word(text, text.length, &at, &begin))
    if (at - begin == strlen(name) && memcmp(text.text + begin, name, at - begin) == 0 &&
        source_body(text, begin, open, close))
      return true;
  return false;
}

void source_each_call(SourceText text, size_t begin, size_t end,
                      bool (*visit)(const char *name, void *user), void *user) {
  size_t at = begin, word;
  while (source_next_word(text, end, &at, &word)) {
    size_t length = at - word, next = skip_noise(text, at);
    while (next < end && isspace((unsigned char)text.text[next]))
      next = skip_noise(text, next + 1);
    if (next < end && text.text[next] == '<') next = source_skip_brackets(text, next, '<', '>');
    if (next >= end || text.text[next] != '(') continue;
    g_autofree char *name = g_strndup(text.text + word, length);
    if (!visit(name, user)) return;
  }
}

bool source_contains(SourceText text, size_t begin, size_t end, const char *word) {
  if (begin >= end || end > text.length) return false;
  return g_strstr_len(text.text + begin, (gssize)(end - begin), word) != NULL;
}

bool source_find_define(SourceText text, const char *name, size_t *at) {
  size_t length = strlen(name);
  for (size_t line = 0; line < text.length; line = skip_until(text, line, "\n")) {
    const char *p = text.text + line, *end = text.text + text.length;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '#'))
      p++;
    if ((size_t)(end - p) < 7 + length || strncmp(p, "define", 6) != 0) continue;
    for (p += 6; p < end && (*p == ' ' || *p == '\t');)
      p++;
    if ((size_t)(end - p) <= length || strncmp(p, name, length) != 0 || is_word(p[length]))
      continue;
    *at = (size_t)(p - text.text);
    return true;
  }
  return false;
}
