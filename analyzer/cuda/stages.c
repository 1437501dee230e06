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

static void add_name(Stages *s, const EditedFile *file, size_t offset, size_t length) {
  const char *name = file->original + offset;
  Use use = {kc_strndup(s->unit->arena, name, length), file, offset};
  g_array_append_val(s->uses, use);
  for (guint i = 0; i < s->names->len; i++) {
    const char *have = g_ptr_array_index(s->names, i);
    if (strlen(have) == length && strncmp(have, name, length) == 0) return;
  }
  g_ptr_array_add(s->names, (gpointer)use.name);
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
static void names_of_loop(Stages *s, CXCursor loop) {
  EditedFile *file;
  size_t start, end;
  if (!text_range(s, s->unit->clang->getCursorExtent(loop), &file, &start, &end)) return;
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

static CXChildVisitResult visit_names(CXCursor cursor, CXCursor parent, CXClientData data) {
  Stages *s = data;
  if (parent.kind == CXCursor_TranslationUnit && !unit_is_user(s->unit, cursor))
    return CXChildVisit_Continue;
  if (cursor.kind == CXCursor_VarDecl || cursor.kind == CXCursor_FieldDecl)
    names_of_array(s, cursor);
  else if (cursor.kind == CXCursor_ForStmt)
    names_of_loop(s, cursor);
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
  for (guint i = 0; i < s->names->len; i++)
    if (strcmp(g_ptr_array_index(s->names, i), name) == 0) return true;
  return false;
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
  while (known != s->names->len) { /* a use of a template parameter can name a constant */
    known = s->names->len;
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
  if (!is_wanted(s, name)) {
    kc_fail(error, path, 0, 0, "--stages: %s sizes no array of mbarriers", name);
    return kc_hint(error, "constants that do: %s", known);
  }
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
  s.uses = g_array_new(FALSE, FALSE, sizeof(Use));
  s.definitions = g_array_new(FALSE, FALSE, sizeof(Definition));
  collect(&s);
  for (guint i = 0; i < s.names->len; i++)
    KC_PUSH(unit->arena, *names, (const char *)g_ptr_array_index(s.names, i));
  const char *const *options = unit->options->stages;
  bool done = apply_options(&s, options, path, error);
  *changed = done && options && *options;
  g_ptr_array_free(s.names, TRUE);
  g_array_free(s.uses, TRUE);
  g_array_free(s.definitions, TRUE);
  return done;
}
