/* The L2 access-policy window (CUDA C++ programming guide, L2 set-aside): values that the driver
 * refuses, as they stand in host code. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "source/internal.h"

typedef struct Words {
  SourceCheck *check;
  SourceText text;
  uint32_t file;
} Words;

static void report(const Words *w, size_t begin, size_t end, const char *what) {
  SourceMap *map = (SourceMap *)&w->check->program->sources;
  uint32_t line = source_line_of(w->text, begin);
  size_t start = begin;
  while (start > 0 && w->text.text[start - 1] != '\n')
    start--;
  SourceRange range = {.file = w->file,
                       .line = line,
                       .column = (uint32_t)(begin - start) + 1,
                       .end_line = line,
                       .end_column = (uint32_t)(end - start) + 1};
  source_once(w->check, "cache-persist-window", NULL, source_stack(map, range, 0, NULL), "%s",
              what);
}

/* The text behind `= ` after a word; NULL when it is not assigned. */
static const char *assigned(const Words *w, size_t at) {
  while (at < w->text.length && isspace((unsigned char)w->text.text[at]))
    at++;
  if (at + 1 >= w->text.length || w->text.text[at] != '=' || w->text.text[at + 1] == '=')
    return NULL;
  for (at++; at < w->text.length && isspace((unsigned char)w->text.text[at]);)
    at++;
  return at < w->text.length ? w->text.text + at : NULL;
}

static bool is_word(const Words *w, size_t begin, size_t end, const char *word) {
  return end - begin == strlen(word) && memcmp(w->text.text + begin, word, end - begin) == 0;
}

static void check_word(const Words *w, size_t begin, size_t end) {
  const char *value;
  if (is_word(w, begin, end, "hitRatio") && (value = assigned(w, end))) {
    char *rest;
    double ratio = g_ascii_strtod(value, &rest);
    bool alone =
        rest > value && (*rest == ';' || ((*rest == 'f' || *rest == 'F') && rest[1] == ';'));
    if (alone && (ratio > 1.0 || ratio < 0.0))
      report(w, begin, end, "hitRatio lies outside 0 to 1: the driver refuses the window");
  } else if (is_word(w, begin, end, "missProp") && (value = assigned(w, end))) {
    if (g_str_has_prefix(value, "cudaAccessPropertyPersisting") ||
        g_str_has_prefix(value, "CU_ACCESS_PROPERTY_PERSISTING"))
      report(w, begin, end,
             "missProp is persisting, which only hitProp may be: the driver refuses "
             "the window");
  }
}

void source_check_windows(SourceCheck *check) {
  for (int i = 1; i < check->program->sources.files.count; i++) {
    if (!check->program->sources.files.items[i].user) continue;
    Words w = {check, source_text(check->program, (uint32_t)i), (uint32_t)i};
    size_t at = 0, begin;
    if (!w.text.length || !source_contains(w.text, 0, w.text.length, "hitRatio")) continue;
    while (source_next_word(w.text, w.text.length, &at, &begin))
      check_word(&w, begin, at);
  }
}
