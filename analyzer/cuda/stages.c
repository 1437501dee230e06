/* Which constants size arrays of mbarriers, and where each gets its value. */
#include "cuda/stages.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* A place in the text that gives a constant its value. */
typedef struct Definition {
  const char *name;
  EditedFile *file;
  size_t offset, length; /* of the value's text; length 0: written on the command line */
} Definition;

/* A place where a name is used that may be a template parameter. */
typedef struct Use {
  const char *name;
  const EditedFile *file;
  size_t offset;
} Use;

typedef struct Stages {
  CudaUnit *unit;
  CudaParse *parse;
  GPtrArray *names;    /* constants that size an array of mbarriers, in order of appearance */
  GPtrArray *bounds;   /* constants that bound a loop of the protocol; empty unless asked for */
  GArray *uses;        /* Use */
  GArray *definitions; /* Definition */
} Stages;

/* ---- text of ranges ---- */

static EditedFile *file_of(Stages *s, CXFile file) {
  const Clang *clang = s->unit->clang;
  const char *path = unit_string(s->unit, clang->getFileName(file));
  EditedFile *found = edit_find(&s->parse->edits, path);
  if (found) return found;
  size_t length = 0;
  const char *text = clang->getFileContents(s->unit->tu, file, &length);
  return text ? edit_file(&s->parse->edits, path, kc_strndup(s->unit->arena, text, length), length)
              : NULL;
}

/* The user's text of a source range; false when it is not written in one file. */
static bool text_range(Stages *s, CXSourceRange range, EditedFile **file, size_t *start,
                       size_t *end) {
  const Clang *clang = s->unit->clang;
  CXFile begin_file = NULL, end_file = NULL;
  unsigned from = 0, to = 0;
  clang->getFileLocation(clang->getRangeStart(range), &begin_file, NULL, NULL, &from);
  clang->getFileLocation(clang->getRangeEnd(range), &end_file, NULL, NULL, &to);
  if (!begin_file || begin_file != end_file || to < from) return false;
  *file = file_of(s, begin_file);
  if (!*file) return false;
  *start = edit_original_offset(*file, from);
  *end = edit_original_offset(*file, to);
  return *start <= *end && *end <= (*file)->length;
}

/* ---- names ---- */

static bool is_listed(const GPtrArray *list, const char *name) {
  for (guint i = 0; i < list->len; i++)
    if (strcmp(g_ptr_array_index(list, i), name) == 0) return true;
  return false;
}

static void add_name_to(Stages *s, GPtrArray *list, const EditedFile *file, size_t offset,
                        size_t length) {
  Use use = {kc_strndup(s->unit->arena, file->original + offset, length), file, offset};
  g_array_append_val(s->uses, use);
  if (!is_listed(list, use.name)) g_ptr_array_add(list, (gpointer)use.name);
}

static void add_name(Stages *s, const EditedFile *file, size_t offset, size_t length) {
  add_name_to(s, s->names, file, offset, length);
}

/* Adds the last part of each name in a piece of the text: `Config::kStages * 2` gives kStages. */
static void add_names_of(Stages *s, const EditedFile *file, size_t from, size_t to) {
  const char *text = file->original + from;
  size_t length = to - from;
  for (size_t i = 0; i < length;) {
    if (!g_ascii_isalpha(text[i]) && text[i] != '_') {
      i += 1;
      while (i > 0 && g_ascii_isdigit(text[i - 1]) && i < length && g_ascii_isalnum(text[i]))
        i++; /* 4u, 0x10 */
      continue;
    }
    size_t end = i;
    while (end < length && (g_ascii_isalnum(text[end]) || text[end] == '_'))
      end++;
    bool scope = end + 1 < length && text[end] == ':' && text[end + 1] == ':';
    bool word = strncmp(text + i, "sizeof", end - i) == 0 || (end < length && text[end] == '(');
    if (!scope && !word) add_name(s, file, from + i, end - i);
    i = end;
  }
}

/* Whether an array of `type` can hold mbarriers: 64-bit words, or a class called a barrier. */
static bool is_barrier_array(CudaUnit *unit, CXType type) {
  const Clang *clang = unit->clang;
  if (type.kind != CXType_ConstantArray && type.kind != CXType_DependentSizedArray) return false;
  CXType element = clang->getCanonicalType(clang->getArrayElementType(type));
  if (element.kind == CXType_ULong || element.kind == CXType_ULongLong) return true;
  const char *name = unit_type_name(unit, element);
  return strstr(name, "arrier") != NULL || strstr(name, "mbar") != NULL;
}

static void names_of_array(Stages *s, CXCursor declaration) {
  CudaUnit *unit = s->unit;
  EditedFile *file;
  size_t start, end;
  bool field = declaration.kind == CXCursor_FieldDecl;
  if (!is_barrier_array(unit,
                        unit->clang->getCanonicalType(unit->clang->getCursorType(declaration))) ||
      (!field && !unit_is_shared(unit, declaration)) ||
      !text_range(s, unit->clang->getCursorExtent(declaration), &file, &start, &end))
    return;
  const char *name = unit_name(unit, declaration);
  g_autofree char *text = g_strndup(file->original + start, end - start);
  g_autofree char *pattern = g_strdup_printf("\\b%s\\s*\\[([^\\[\\]]*)\\]", name);
  g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  gint from = 0, to = 0;
  if (regex && g_regex_match(regex, text, 0, &match) &&
      g_match_info_fetch_pos(match, 1, &from, &to))
    add_names_of(s, file, start + (size_t)from, start + (size_t)to);
}

/* `for (int i = 0; i < STAGES; ++i) mbar_init(&full[i], 1);` sizes the ring as well. */
#define INIT_LOOP 4096 /* bytes of a loop in which an initialisation is looked for */

static void names_of_loop(Stages *s, CXCursor loop) {
  EditedFile *file;
  size_t start, end;
  if (!text_range(s, s->unit->clang->getCursorExtent(loop), &file, &start, &end)) return;
  if (end - start > INIT_LOOP) end = start + INIT_LOOP; /* loops may be nested a thousand deep */
  g_autofree char *text = g_strndup(file->original + start, end - start);
  if (!g_regex_match_simple("mbarrier\\.init|\\w*(?:mbar|barrier)\\w*init|init\\w*(?:mbar|barrier)|"
                            "(?:\\.|->)init\\s*\\(",
                            text, G_REGEX_RAW, 0))
    return;
  g_autoptr(GRegex) regex =
      g_regex_new("^for\\s*\\([^;]*;\\s*\\w+\\s*(?:<|!=)\\s*([^;<]*);", G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  gint from = 0, to = 0;
  if (g_regex_match(regex, text, 0, &match) && g_match_info_fetch_pos(match, 1, &from, &to))
    add_names_of(s, file, start + (size_t)from, start + (size_t)to);
}

static bool wants_bounds(const Stages *s) {
  const CudaOptions *options = s->unit->options;
  return options->list_constants || (options->constants && *options->constants);
}

/* `for (int k = 0; k < K_BLOCKS; ++k) { ... wait(&full[k % STAGES]) ... }`: as many trips as a
 * constant says, where the body takes part in the protocol. */
static void bounds_of_loop(Stages *s, CXCursor loop) {
  EditedFile *file;
  size_t start, end;
  if (!text_range(s, s->unit->clang->getCursorExtent(loop), &file, &start, &end)) return;
  g_autofree char *text = g_strndup(file->original + start, end - start);
  g_autoptr(GRegex) regex =
      g_regex_new("^for\\s*\\([^;]*;\\s*\\w+\\s*(?:<|!=)\\s*(?:\\w+::)*([A-Za-z_]\\w*)\\s*;",
                  G_REGEX_RAW, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  gint from = 0, to = 0;
  if (!regex || !g_regex_match(regex, text, 0, &match) ||
      !g_match_info_fetch_pos(match, 1, &from, &to) ||
      !g_regex_match_simple("wait|arrive|mbar|barrier|sync|bulk|tma|copy", text + to,
                            G_REGEX_RAW | G_REGEX_CASELESS, 0))
    return;
  add_name_to(s, s->bounds, file, start + (size_t)from, (size_t)(to - from));
}

static CXChildVisitResult visit_names(CXCursor cursor, CXCursor parent, CXClientData data) {
  Stages *s = data;
  if (parent.kind == CXCursor_TranslationUnit && !unit_is_user(s->unit, cursor))
    return CXChildVisit_Continue;
  if (cursor.kind == CXCursor_VarDecl || cursor.kind == CXCursor_FieldDecl)
    names_of_array(s, cursor);
  else if (cursor.kind == CXCursor_ForStmt)
    names_of_loop(s, cursor);
  if (cursor.kind == CXCursor_ForStmt && wants_bounds(s)) bounds_of_loop(s, cursor);
  return CXChildVisit_Recurse;
}

/* ---- definitions ---- */

static void add_definition(Stages *s, const char *name, EditedFile *file, size_t start,
                           size_t end) {
  Definition definition = {name, file, start, end - start};
  for (guint i = 0; i < s->definitions->len; i++) {
    const Definition *have = &g_array_index(s->definitions, Definition, i);
    if (have->file == file && have->offset == start) return;
  }
  g_array_append_val(s->definitions, definition);
}

static bool is_wanted(const Stages *s, const char *name) {
  return is_listed(s->names, name) || is_listed(s->bounds, name);
}

/* The value's text of a constant, an enumerator or a template parameter with a default. */
static void define_from_child(Stages *s, CXCursor declaration) {
  CursorList children = unit_children(s->unit, declaration);
  EditedFile *file;
  size_t start, end;
  for (int i = children.count - 1; i >= 0; i--) {
    CXCursorKind kind = children.items[i].kind;
    if (kind < CXCursor_FirstExpr || kind > CXCursor_LastExpr) continue;
    if (!text_range(s, s->unit->clang->getCursorExtent(children.items[i]), &file, &start, &end))
      return;
    if (end > start + 1 && file->original[start] == '{' && file->original[end - 1] == '}')
      start++, end--; /* int STAGES{4}; */
    if (end > start) add_definition(s, unit_name(s->unit, declaration), file, start, end);
    return;
  }
}

static void define_from_macro(Stages *s, CXCursor macro) {
  EditedFile *file;
  size_t start, end;
  const char *name = unit_name(s->unit, macro);
  if (s->unit->clang->Cursor_isMacroFunctionLike(macro)) return;
  if (!text_range(s, s->unit->clang->getCursorExtent(macro), &file, &start, &end)) {
    add_definition(s, name, NULL, 0, 0); /* -DNAME=4 */
    return;
  }
  size_t value = start + strlen(name);
  while (value < end && g_ascii_isspace(file->original[value]))
    value++;
  if (value < end) add_definition(s, name, file, value, end);
}

/* Offsets of argument `index` of the template argument list that opens at `open`. */
static bool template_argument(const EditedFile *file, size_t open, int index, size_t *start,
                              size_t *end) {
  int depth = 0, at_index = 0;
  *start = open + 1;
  for (size_t i = open; i < file->length; i++) {
    char c = file->original[i];
    depth += (c == '<' || c == '(') - (c == ')' || c == '>');
    bool closes = depth == 0, comma = depth == 1 && c == ',';
    if ((closes || comma) && at_index == index) {
      *end = i;
      return true;
    }
    if (comma) at_index++, *start = i + 1;
    if (closes || c == ';' || c == '{') return false;
  }
  return false;
}

/* A template parameter gets its value where the template is used: a literal there is the place to
 * change; a name there is the constant that counts. */
static void define_from_uses(Stages *s, const char *parameter, const char *owner, int index) {
  for (int f = 0; f < s->parse->edits.files.count; f++) {
    EditedFile *file = s->parse->edits.files.items[f];
    g_autofree char *pattern = g_strdup_printf("\\b%s\\s*<(?!<)", owner);
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    g_regex_match_full(regex, file->original, (gssize)file->length, 0, 0, &match, NULL);
    for (; g_match_info_matches(match); g_match_info_next(match, NULL)) {
      gint from = 0, to = 0;
      size_t start, end;
      g_match_info_fetch_pos(match, 0, &from, &to);
      if (!template_argument(file, (size_t)to - 1, index, &start, &end)) continue;
      while (start < end && g_ascii_isspace(file->original[start]))
        start++;
      if (start < end && g_ascii_isdigit(file->original[start]))
        add_definition(s, parameter, file, start, end);
      else
        add_names_of(s, file, start, end);
    }
  }
}

/* Whether `parameter` of `owner` is the one that a wanted use names: the use stands in the owner.
 */
static bool is_used_parameter(Stages *s, const char *name, CXCursor owner) {
  EditedFile *file;
  size_t start, end;
  if (!text_range(s, s->unit->clang->getCursorExtent(owner), &file, &start, &end)) return false;
  for (guint i = 0; i < s->uses->len; i++) {
    const Use *use = &g_array_index(s->uses, Use, i);
    if (use->file == file && use->offset >= start && use->offset < end &&
        strcmp(use->name, name) == 0)
      return true;
  }
  return false;
}

static CXChildVisitResult visit_definitions(CXCursor cursor, CXCursor parent, CXClientData data) {
  Stages *s = data;
  CudaUnit *unit = s->unit;
  bool macro = cursor.kind == CXCursor_MacroDefinition;
  if (macro && unit->clang->Location_isInSystemHeader(unit->clang->getCursorLocation(cursor)))
    return CXChildVisit_Continue;
  if (parent.kind == CXCursor_TranslationUnit && !macro && !unit_is_user(unit, cursor))
    return CXChildVisit_Continue;
  bool constant = cursor.kind == CXCursor_VarDecl &&
                  unit->clang->isConstQualifiedType(unit->clang->getCursorType(cursor));
  bool parameter = cursor.kind == CXCursor_NonTypeTemplateParameter;
  if (!constant && !macro && !parameter && cursor.kind != CXCursor_EnumConstantDecl)
    return CXChildVisit_Recurse;
  const char *name = unit_name(unit, cursor);
  if (!is_wanted(s, name) || (parameter && !is_used_parameter(s, name, parent)))
    return CXChildVisit_Continue;
  if (macro)
    define_from_macro(s, cursor);
  else
    define_from_child(s, cursor);
  if (parameter) {
    CursorList siblings = unit_children(unit, parent);
    int index = 0;
    for (int i = 0; i < siblings.count && !unit->clang->equalCursors(siblings.items[i], cursor);
         i++)
      index += siblings.items[i].kind == CXCursor_NonTypeTemplateParameter ||
               siblings.items[i].kind == CXCursor_TemplateTypeParameter;
    define_from_uses(s, name, unit_name(unit, parent), index);
  }
  return CXChildVisit_Continue;
}

/* Names that no definition gives a value are dropped: loop variables, dependent types. */
static void keep_defined_names(Stages *s) {
  for (guint i = s->names->len; i-- > 0;) {
    bool defined = false;
    for (guint j = 0; j < s->definitions->len && !defined; j++)
      defined = strcmp(g_array_index(s->definitions, Definition, j).name,
                       g_ptr_array_index(s->names, i)) == 0;
    if (!defined) g_ptr_array_remove_index(s->names, i);
  }
}

static void collect(Stages *s) {
  const Clang *clang = s->unit->clang;
  CXCursor root = clang->getTranslationUnitCursor(s->unit->tu);
  clang->visitChildren(root, visit_names, s);
  guint known = 0;
  while (known !=
         s->names->len + s->bounds->len) { /* a use of a template parameter can name a constant */
    known = s->names->len + s->bounds->len;
    clang->visitChildren(root, visit_definitions, s);
  }
  keep_defined_names(s);
}

/* ---- applying ---- */

static char *list_names(const Stages *s) {
  GString *out = g_string_new(NULL);
  for (guint i = 0; i < s->names->len; i++)
    g_string_append_printf(out, "%s%s", i ? ", " : "",
                           (const char *)g_ptr_array_index(s->names, i));
  return g_string_free(out, FALSE);
}

/* Puts `value` where the text defines `name`. */
static void define_anew(Stages *s, const char *name, const char *value) {
  for (guint i = 0; i < s->definitions->len; i++) {
    const Definition *definition = &g_array_index(s->definitions, Definition, i);
    if (strcmp(definition->name, name) != 0) continue;
    if (!definition->file) {
      const char *flag = kc_printf(s->unit->arena, "-D%s=%s", name, value);
      KC_PUSH(s->unit->arena, s->parse->extra_flags, flag);
      continue;
    }
    edit_add(&s->parse->edits, definition->file, definition->offset, definition->length,
             kc_strdup(s->unit->arena, value));
    edit_apply(&s->parse->edits, definition->file);
  }
}

/* The value of a constant that every definition writes as the same plain number; else -1. */
static int64_t value_of(const Stages *s, const char *name) {
  int64_t value = -1;
  for (guint i = 0; i < s->definitions->len; i++) {
    const Definition *definition = &g_array_index(s->definitions, Definition, i);
    if (strcmp(definition->name, name) != 0) continue;
    if (!definition->file) return -1;
    const char *text = definition->file->original + definition->offset;
    gint64 number = 0;
    for (size_t j = 0; j < definition->length; j++) {
      if (!g_ascii_isdigit(text[j]) || number > INT32_MAX / 10) return -1;
      number = 10 * number + (text[j] - '0');
    }
    if (value >= 0 && value != number) return -1;
    value = number;
  }
  return value;
}

static void list_constants(Stages *s) {
  IrProgram *program = s->unit->program;
  const GPtrArray *lists[] = {s->names, s->bounds};
  for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
    for (guint i = 0; i < lists[l]->len; i++) {
      IrConstant constant = {g_ptr_array_index(lists[l], i), 0};
      if (l == 1 && is_listed(s->names, constant.name)) continue;
      constant.value = value_of(s, constant.name);
      if (constant.value > 0) KC_PUSH(s->unit->arena, program->constants, constant);
    }
}

/* CudaOptions.constants; what is no constant of the list is passed over. */
static void apply_constants(Stages *s) {
  for (const char *const *at = s->unit->options->constants; at && *at; at++) {
    const char *equals = strchr(*at, '=');
    g_autofree char *name = equals ? g_strndup(*at, (gsize)(equals - *at)) : NULL;
    if (name && is_wanted(s, name)) define_anew(s, name, equals + 1);
  }
}

static bool set_constant(Stages *s, const char *name, const char *value, const char *path,
                         KcError *error) {
  g_autofree char *known = list_names(s);
  if (s->names->len == 0) {
    kc_fail(error, path, 0, 0, "--stages: no constant sizes an array of mbarriers here");
    return kc_hint(
        error,
        "the number of stages has to be a constexpr, enumerator, macro or template argument");
  }
  if (!name && s->names->len > 1) {
    kc_fail(error, path, 0, 0, "--stages %s could mean several constants: %s", value, known);
    return kc_hint(error, "name one: --stages %s=%s", (const char *)g_ptr_array_index(s->names, 0),
                   value);
  }
  if (!name) name = g_ptr_array_index(s->names, 0);
  if (!is_listed(s->names, name)) {
    kc_fail(error, path, 0, 0, "--stages: %s sizes no array of mbarriers", name);
    return kc_hint(error, "constants that do: %s", known);
  }
  define_anew(s, name, value);
  return true;
}

static bool apply_options(Stages *s, const char *const *options, const char *path, KcError *error) {
  for (; options && *options; options++) {
    const char *equals = strchr(*options, '=');
    g_autofree char *name = equals ? g_strndup(*options, (gsize)(equals - *options)) : NULL;
    const char *value = equals ? equals + 1 : *options;
    char *end = NULL;
    long number = strtol(value, &end, 10);
    if (end == value || *end || number < 1 || number > 64)
      return kc_fail(error, NULL, 0, 0, "--stages %s: %s is not a number of stages (1 to 64)",
                     *options, value);
    if (!set_constant(s, name, value, path, error)) return false;
  }
  return true;
}

bool stages_apply(CudaUnit *unit, CudaParse *parse, const char *path, StageNames *names,
                  bool *changed, KcError *error) {
  Stages s = {.unit = unit, .parse = parse};
  s.names = g_ptr_array_new();
  s.bounds = g_ptr_array_new();
  s.uses = g_array_new(FALSE, FALSE, sizeof(Use));
  s.definitions = g_array_new(FALSE, FALSE, sizeof(Definition));
  collect(&s);
  for (guint i = 0; i < s.names->len; i++)
    KC_PUSH(unit->arena, *names, (const char *)g_ptr_array_index(s.names, i));
  const char *const *options = unit->options->stages;
  const char *const *constants = unit->options->constants;
  if (unit->options->list_constants) list_constants(&s);
  bool done = apply_options(&s, options, path, error);
  if (done) apply_constants(&s);
  *changed = done && ((options && *options) || (constants && *constants));
  g_ptr_array_free(s.names, TRUE);
  g_ptr_array_free(s.bounds, TRUE);
  g_array_free(s.uses, TRUE);
  g_array_free(s.definitions, TRUE);
  return done;
}
