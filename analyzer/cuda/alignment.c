/* Twin attributes for alignas. */
#include "cuda/alignment.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* Offset of the parenthesis that closes the one at `open`, or `length`. */
static size_t closing(const char *text, size_t length, size_t open) {
  int depth = 0;
  for (size_t i = open; i < length; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return i;
    if (text[i] == ';' || text[i] == '{') break;
  }
  return length;
}

/* Whether the argument of an alignas is a type, as far as the text can tell. */
static bool looks_like_type(const EditedFile *file, const char *argument) {
  static const char BUILTIN[] =
      "^(?:unsigned|signed|char|short|int|long|float|double|void\\s*\\*|u?int\\d+_t|uint4|int4|"
      "float4|double2|uint64_t|max_align_t)\\b";
  if (g_regex_match_simple(BUILTIN, argument, G_REGEX_RAW, 0)) return true;
  if (!g_regex_match_simple("^[A-Za-z_]\\w*$", argument, G_REGEX_RAW, 0)) return false;
  g_autofree char *pattern = g_strdup_printf(
      "\\b(?:struct|class|union|using|typename|class)\\s+(?:alignas\\s*\\([^)]*\\)\\s*)?%s\\b|"
      "\\btypedef\\b[^;]*\\b%s\\s*;",
      argument, argument);
  g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
  return regex && g_regex_match_full(regex, file->original, (gssize)file->length, 0, 0, NULL, NULL);
}

/* Adds the twin behind the parenthesis that closes at `close`. */
static int add_twin(EditSet *set, EditedFile *file, size_t open, size_t close) {
  g_autofree char *argument = g_strndup(file->original + open + 1, close - open - 1);
  g_strstrip(argument);
  g_strdelimit(argument, "\r\n", ' ');
  if (!*argument) return 0;
  const char *of = looks_like_type(file, argument) ? "alignof" : "";
  return edit_add(
      set, file, close + 1, 0,
      kc_printf(set->arena, " __attribute__((annotate(\"kcheck.align\", %s(%s))))", of, argument));
}

void alignment_annotate(EditSet *set, EditedFile *file) {
  static const char PATTERN[] =
      "\\b(?:alignas|__align__)\\s*\\((?:[^()]|\\([^()]*\\))*\\)\\s*"
      "(?=(?:(?:extern|static)\\s+)*__shared__)|"
      "\\b__shared__\\s+(?:(?:extern|static|volatile)\\s+)*\\K(?:alignas|__align__)\\s*"
      "\\((?:[^()]|\\([^()]*\\))*\\)";
  g_autoptr(GRegex) regex = g_regex_new(PATTERN, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  g_regex_match_full(regex, file->original, (gssize)file->length, 0, 0, &match, NULL);
  int added = 0;
  for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
    gint from = 0, to = 0;
    g_match_info_fetch_pos(match, 0, &from, &to);
    const char *paren = memchr(file->original + from, '(', (size_t)(to - from));
    size_t open = (size_t)(paren - file->original);
    size_t close = closing(file->original, file->length, open);
    if (close < file->length) added += add_twin(set, file, open, close);
  }
  if (added) edit_apply(set, file);
}

int alignment_repair(EditSet *set, EditedFile *file, size_t offset) {
  if (offset + 7 >= file->length || strncmp(file->original + offset, "alignas", 7) != 0) return 0;
  size_t open = offset + 7;
  while (open < file->length && g_ascii_isspace(file->original[open]))
    open++;
  size_t close = closing(file->original, file->length, open);
  if (close >= file->length || file->original[open] != '(' ||
      !edit_add(set, file, offset, 7, "_Alignas"))
    return 0;
  return 1 + add_twin(set, file, open, close);
}

uint32_t alignment_from_text(const char *text, size_t length) {
  const char *paren = memchr(text, '(', length);
  while (paren && paren + 1 < text + length && (paren[1] == '(' || g_ascii_isspace(paren[1])))
    paren++;
  if (!paren || paren + 1 >= text + length || !g_ascii_isdigit(paren[1])) return 0;
  g_autofree char *digits = g_strndup(paren + 1, (gsize)(text + length - paren - 1));
  char *end = NULL;
  unsigned long value = strtoul(digits, &end, 0);
  while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L' || g_ascii_isspace(*end))
    end++;
  return *end == ')' && value <= 65536 ? (uint32_t)value : 0;
}
