#include "rules/place.h"

#include <string.h>

#include "ir/site.h"
#include "rules/finding.h"

struct Places {
  const IrProgram *program;
  IrSites *sites;
};

enum { CALLERS_SHOWN = 2 };

static const SourceMap *map_of(const Places *places) {
  return &places->program->sources;
}

static const SourceStack *stack_at(const Places *places, uint32_t id) {
  const SourceMap *map = map_of(places);
  return &map->stacks.items[id < (uint32_t)map->stacks.count ? id : 0];
}

static bool is_user(const Places *places, uint32_t id) {
  const SourceMap *map = map_of(places);
  uint32_t file = stack_at(places, id)->range.file;
  return file > 0 && file < (uint32_t)map->files.count && map->files.items[file].user;
}

Places *places_new(const IrProgram *program) {
  Places *places = g_new0(Places, 1);
  places->program = program;
  places->sites = ir_sites_new(program);
  return places;
}

void places_free(Places *places) {
  ir_sites_free(places->sites);
  g_free(places);
}

char *place_path(const Places *places, SourceRange range) {
  const SourceMap *map = map_of(places);
  bool known = range.file > 0 && range.file < (uint32_t)map->files.count;
  return g_strdup(known ? map->files.items[range.file].path : places->program->path);
}

char *place_source(const Places *places, SourceRange range) {
  const char *text = NULL;
  size_t length = 0;
  /* Reading a line may load its file: the map caches texts, nothing else of it changes. */
  SourceMap *map = (SourceMap *)map_of(places);
  if (!source_line(map, range.file, range.line, &text, &length)) return NULL;
  return g_utf8_make_valid(text, (gssize)length);
}

static void set_range(SourceRange range, int *line, int *column, int *end_line, int *end_column) {
  *line = (int)MAX(range.line, 1u);
  *column = (int)MAX(range.column, 1u);
  *end_line = (int)range.end_line;
  *end_column = (int)range.end_column;
  bool empty = *end_line < *line || (*end_line == *line && *end_column <= *column);
  if (empty) {
    *end_line = *line;
    *end_column = *column + 1;
  }
}

void place_finding_at(const Places *places, SourceRange range, Finding *f) {
  f->path = place_path(places, range);
  f->source = place_source(places, range);
  set_range(range, &f->line, &f->column, &f->end_line, &f->end_column);
}

static bool is_there(const Finding *finding, const FindingRelated *related) {
  for (guint i = 0; i < finding->related->len; i++) {
    const FindingRelated *other = finding->related->pdata[i];
    if (other->line == related->line && strcmp(other->path, related->path) == 0 &&
        strcmp(other->message, related->message) == 0)
      return true;
  }
  return false;
}

static void add_related(const Places *places, Finding *finding, SourceRange range,
                        const char *message) {
  if (!range.line) return;
  FindingRelated *related = g_new0(FindingRelated, 1);
  related->path = place_path(places, range);
  related->source = place_source(places, range);
  related->message = g_strdup(message);
  set_range(range, &related->line, &related->column, &related->end_line, &related->end_column);
  if (is_there(finding, related))
    finding_related_free(related);
  else
    g_ptr_array_add(finding->related, related);
}

static void add_frame(const Places *places, Finding *finding, uint32_t id, const char *format) {
  const SourceStack *stack = stack_at(places, id);
  g_autofree char *message =
      g_strdup_printf(format, stack->function ? stack->function : "the kernel");
  add_related(places, finding, stack->range, message);
}

/* The wrapper that holds the instruction, when the finding stands at a call of it. Wrappers between
 * the two only pass on. */
static void add_wrapper(const Places *places, Finding *finding, uint32_t id, uint32_t site) {
  if (id != site) add_frame(places, finding, id, "in `%s`, which is called there");
}

/* Where the kernel itself calls what holds the finding: the first of its callers to look at. */
static void add_outermost(const Places *places, Finding *finding, uint32_t id) {
  uint32_t last = 0;
  while ((id = ir_site_caller(places->sites, id)) != 0)
    last = id;
  if (last) add_frame(places, finding, last, "called from here, in `%s`");
}

static void add_callers(const Places *places, Finding *finding, uint32_t id) {
  for (int shown = 0; shown < CALLERS_SHOWN && (id = ir_site_caller(places->sites, id)) != 0;
       shown++)
    add_frame(places, finding, id, "called from here, in `%s`");
}

/* The word that starts at `column` of `line`, or NULL. Caller frees. */
static char *word_at(const char *line, int column) {
  if (!line || column < 1 || (size_t)column > strlen(line)) return NULL;
  const char *at = line + column - 1;
  size_t length = 0;
  while (g_ascii_isalnum(at[length]) || at[length] == '_')
    length++;
  return length && !g_ascii_isdigit(*at) ? g_strndup(at, length) : NULL;
}

/* Where `text` says `#define name`; line 0 when it does not. */
static SourceRange definition_in(const char *text, const char *name) {
  SourceRange range = {0};
  size_t length = strlen(name);
  uint32_t line = 1;
  for (const char *at = text; at; line++) {
    const char *word = at + strspn(at, " \t");
    const char *end = strchr(at, '\n');
    bool directive = *word == '#';
    if (directive) word += 1 + strspn(word + 1, " \t");
    if (directive && g_str_has_prefix(word, "define")) {
      word += strlen("define") + strspn(word + strlen("define"), " \t");
      bool same =
          strncmp(word, name, length) == 0 && !g_ascii_isalnum(word[length]) && word[length] != '_';
      uint32_t column = (uint32_t)(word - at) + 1;
      if (same) return (SourceRange){0, line, column, line, column + (uint32_t)length};
    }
    at = end ? end + 1 : NULL;
  }
  return range;
}

/* A finding in the expansion of a macro stands at its use; the definition is shown with it. */
static void add_macro(const Places *places, Finding *finding) {
  SourceMap *map = (SourceMap *)map_of(places); /* reading a line may load a file */
  g_autofree char *name = word_at(finding->source, finding->column);
  for (uint32_t i = 1; name && i < (uint32_t)map->files.count; i++) {
    const char *line = NULL;
    size_t length = 0;
    if (!map->files.items[i].user || !source_line(map, i, 1, &line, &length)) continue;
    SourceRange range = definition_in(map->files.items[i].text, name);
    if (!range.line) continue;
    range.file = i;
    g_autofree char *message = g_strdup_printf("in the macro `%s`", name);
    add_related(places, finding, range, message);
    return;
  }
}

/* Where the kernel itself stands in a library's header, and the user's file only launches it: the
 * innermost frame in the kernel's file, else the kernel's name. */
static uint32_t kernel_frame(const Places *places, uint32_t where, const IrKernel *kernel) {
  uint32_t file = stack_at(places, kernel->where)->range.file;
  for (uint32_t id = where; id; id = stack_at(places, id)->outer)
    if (stack_at(places, id)->range.file == file && stack_at(places, id)->range.line) return id;
  return kernel->where;
}

void place_finding(const Places *places, const IrViolation *v, Finding *finding) {
  const SourceMap *map = map_of(places);
  uint32_t where = v->where;
  if (!is_user(places, source_user_frame(map, where)) && v->kernel)
    where = kernel_frame(places, where, v->kernel);
  uint32_t inner = source_user_frame(map, where), site = ir_site(places->sites, where);
  bool caret = v->caret.line && v->caret.file < (uint32_t)map->files.count &&
               map->files.items[v->caret.file].user;
  place_finding_at(places, caret ? v->caret : stack_at(places, site)->range, finding);
  for (int i = 0; i < v->related.count; i++) {
    const IrRelated *related = &v->related.items[i];
    add_related(places, finding, stack_at(places, ir_site(places->sites, related->where))->range,
                related->message);
  }
  add_outermost(places, finding, caret ? inner : site);
  add_macro(places, finding);
  add_callers(places, finding, caret ? inner : site);
  if (!caret) add_wrapper(places, finding, inner, site);
}
