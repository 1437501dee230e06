#include "rules/mend.h"

#include <string.h>

/* The text of a file and the finding's part of it, as offsets. */
typedef struct Place {
  const char *text;
  size_t length, begin, end;
} Place;

static size_t offset_of(const char *text, size_t length, int line, int column) {
  const char *at = text, *end = text + length;
  for (int i = 1; i < line && at < end; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at) return length;
    at++;
  }
  return MIN((size_t)(at - text) + (size_t)column - 1, length);
}

static bool find_place(const IrProgram *program, const Finding *f, Place *place) {
  SourceMap *map = (SourceMap *)&program->sources; /* it caches texts, nothing else changes */
  for (uint32_t i = 1; i < (uint32_t)map->files.count; i++) {
    const SourceFile *file = &map->files.items[i];
    const char *line = NULL;
    size_t ignored = 0;
    if (strcmp(file->path, f->path) != 0 || !source_line(map, i, 1, &line, &ignored)) continue;
    file = &map->files.items[i];
    *place = (Place){file->text, file->length, 0, 0};
    place->begin = offset_of(file->text, file->length, f->line, f->column);
    place->end = offset_of(file->text, file->length, f->end_line, f->end_column);
    return place->begin < place->end;
  }
  return false;
}

static void position(const Place *place, size_t offset, int *line, int *column) {
  *line = *column = 1;
  for (size_t i = 0; i < offset; i++) {
    bool newline = place->text[i] == '\n';
    *line += newline;
    *column = newline ? 1 : *column + 1;
  }
}

static void set_fix(Finding *f, const Place *place, size_t begin, size_t end, const char *text,
                    bool safe) {
  f->fix_text = g_strdup(text);
  f->fix_safe = safe;
  position(place, begin, &f->fix_line, &f->fix_column);
  position(place, end, &f->fix_end_line, &f->fix_end_column);
}

/* ---- asm ("..." : outputs : inputs : clobbers) ---- */

/* What stands between the parentheses of an asm statement, at its top level. */
typedef struct AsmShape {
  int colons;
  size_t close;          /* offset of the closing parenthesis */
  bool after_colon_text; /* something other than blanks follows the last colon */
} AsmShape;

static size_t skip_string(const Place *place, size_t at) {
  for (at++; at < place->length && place->text[at] != '"'; at++)
    if (place->text[at] == '\\') at++;
  return at;
}

static bool starts_with(const Place *place, size_t at, const char *word) {
  return place->length - at >= strlen(word) && memcmp(place->text + at, word, strlen(word)) == 0;
}

/* The last character of a comment that starts at `at`; `at` itself when none does. */
static size_t skip_comment(const Place *place, size_t at) {
  bool line = starts_with(place, at, "//");
  if (!line && !starts_with(place, at, "/*")) return at;
  const char *close =
      g_strstr_len(place->text + at, (gssize)(place->length - at), line ? "\n" : "*/");
  return close ? (size_t)(close - place->text) + !line : place->length;
}

static bool read_asm(const Place *place, AsmShape *shape) {
  const char *open = memchr(place->text + place->begin, '(', place->end - place->begin);
  int depth = 0;
  if (!open) return false;
  for (size_t i = (size_t)(open - place->text); i < place->length; i++) {
    size_t after = skip_comment(place, i);
    if (after != i) {
      i = after;
      continue;
    }
    char c = place->text[i];
    if (c == ')' && --depth == 0) {
      shape->close = i;
      return true;
    }
    bool colon = c == ':' && depth == 1;
    if (colon) shape->colons++;
    if (colon) shape->after_colon_text = false;
    if (!colon && !g_ascii_isspace(c) && depth > 0) shape->after_colon_text = true;
    if (c == '(') depth++;
    if (c == '"') i = skip_string(place, i);
  }
  return false;
}

static void add_clobber(const Place *place, Finding *f) {
  AsmShape shape = {0};
  if (!starts_with(place, place->begin, "asm") && !starts_with(place, place->begin, "__asm"))
    return;
  if (!strstr(f->message, "clobber") || !read_asm(place, &shape) || shape.colons > 3) return;
  static const char *const missing[] = {" ::: ", " :: ", " : "};
  const char *before = shape.colons < 3         ? missing[shape.colons]
                       : shape.after_colon_text ? ", "
                                                : " ";
  g_autofree char *text = g_strconcat(before, "\"memory\"", NULL);
  set_fix(f, place, shape.close, shape.close, text, true);
}

/* ---- const __grid_constant__ ---- */

static void make_grid_constant(const Place *place, Finding *f) {
  g_autofree char *parameter = g_strndup(place->text + place->begin, place->end - place->begin);
  bool is_const = g_str_has_prefix(parameter, "const ");
  bool is_map = strstr(parameter, "CUtensorMap") != NULL;
  if (strstr(parameter, "__grid_constant__") || strpbrk(parameter, "&*")) return;
  size_t at = place->begin + (is_const ? strlen("const ") : 0);
  /* A struct that the kernel writes to does not compile once it is const. */
  set_fix(f, place, at, at, is_const ? "__grid_constant__ " : "const __grid_constant__ ",
          is_const || is_map);
}

/* ---- a suppression that hides nothing ---- */

static void remove_comment(const Place *place, Finding *f) {
  size_t begin = place->begin, end = place->end;
  const char *close = memchr(place->text + begin, ']', end - begin);
  if (!close || memchr(place->text + begin, ',', (size_t)(close - place->text) - begin)) return;
  while (begin > 0 && (place->text[begin - 1] == ' ' || place->text[begin - 1] == '\t'))
    begin--;
  bool alone = begin == 0 || place->text[begin - 1] == '\n';
  if (alone && end < place->length && place->text[end] == '\n') end++;
  set_fix(f, place, begin, end, "", true);
}

void mend_suggest(const IrProgram *program, Finding *finding) {
  static const struct {
    const char *rule;
    void (*mend)(const Place *place, Finding *finding);
  } fixes[] = {
      {"mbarrier-asm-memory-clobber", add_clobber},
      {"pdl-asm-memory-clobber", add_clobber},
      {"tma-descriptor-not-grid-constant", make_grid_constant},
      {"kcheck-unused-ignore", remove_comment},
  };
  Place place;
  if (finding->fix_text) return;
  for (size_t i = 0; i < G_N_ELEMENTS(fixes); i++)
    if (strcmp(fixes[i].rule, finding->rule) == 0 && find_place(program, finding, &place))
      fixes[i].mend(&place, finding);
}
