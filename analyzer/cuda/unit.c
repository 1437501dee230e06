/* Positions, names, values and attributes of cursors. */
#include "cuda/unit.h"

#include <glib.h>
#include <string.h>

#include "cuda/alignment.h"

/* ---- strings ---- */

const char *unit_string(CudaUnit *unit, CXString string) {
  const char *text = unit->clang->getCString(string);
  const char *copy = kc_strdup(unit->arena, text ? text : "");
  unit->clang->disposeString(string);
  return copy;
}

const char *unit_name(CudaUnit *unit, CXCursor cursor) {
  return unit_string(unit, unit->clang->getCursorSpelling(cursor));
}

const char *unit_type_name(CudaUnit *unit, CXType type) {
  return unit_string(unit, unit->clang->getTypeSpelling(type));
}

bool unit_is_null(CXCursor cursor) {
  return (cursor.kind >= CXCursor_FirstInvalid && cursor.kind <= CXCursor_LastInvalid) ||
         cursor.kind == 0;
}

/* ---- files and positions ---- */

/* Whether `path` is the main file's or lies in or below its folder. */
static bool in_user_folder(const CudaUnit *unit, const char *path) {
  if (strcmp(path, unit->program->path) == 0) return true;
  if (g_str_has_prefix(path, CUDA_VIRTUAL_ROOT)) return false;
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  return g_str_has_prefix(absolute, unit->folder);
}

static uint32_t file_id(CudaUnit *unit, CXFile file, CXSourceLocation location) {
  if (!file) return 0;
  for (int i = 0; i < unit->files.count; i++)
    if (unit->files.items[i].file == file) {
      CudaFileId hit = unit->files.items[i];
      if (i > 0) { /* keep the busiest files in front */
        unit->files.items[i] = unit->files.items[i - 1];
        unit->files.items[i - 1] = hit;
      }
      return hit.id;
    }
  const char *path = unit_string(unit, unit->clang->getFileName(file));
  bool user = !unit->clang->Location_isInSystemHeader(location) && in_user_folder(unit, path);
  CudaFileId entry = {file, source_file(&unit->program->sources, path, user)};
  KC_PUSH(unit->arena, unit->files, entry);
  return entry.id;
}

uint32_t unit_user_column(const CudaUnit *unit, uint32_t id, uint32_t line, uint32_t column) {
  const char *path = unit->program->sources.files.items[id].path;
  int64_t shift = 0;
  for (int i = 0; i < unit->edits.count; i++) {
    const CudaEdit *edit = &unit->edits.items[i];
    if (edit->line != line || edit->column >= column || strcmp(edit->path, path) != 0) continue;
    int64_t inside = (int64_t)column - edit->column;
    shift += edit->inserted > inside ? inside : edit->inserted;
  }
  return (uint32_t)((int64_t)column - shift);
}

SourceRange unit_range(CudaUnit *unit, CXSourceRange range) {
  const Clang *clang = unit->clang;
  CXFile file = NULL, end_file = NULL;
  unsigned line = 0, column = 0, end_line = 0, end_column = 0;
  CXSourceLocation start = clang->getRangeStart(range);
  clang->getFileLocation(start, &file, &line, &column, NULL);
  clang->getFileLocation(clang->getRangeEnd(range), &end_file, &end_line, &end_column, NULL);
  if (!file || line == 0) return (SourceRange){0};
  uint32_t id = file_id(unit, file, start);
  SourceRange out = {.file = id, .line = line, .column = unit_user_column(unit, id, line, column)};
  bool ordered = end_file == file && (end_line > line || (end_line == line && end_column > column));
  out.end_line = ordered ? end_line : line;
  out.end_column = ordered ? unit_user_column(unit, id, end_line, end_column) : out.column + 1;
  return out;
}

SourceRange unit_cursor_range(CudaUnit *unit, CXCursor cursor) {
  SourceRange range = unit_range(unit, unit->clang->getCursorExtent(cursor));
  return range.line ? range : unit_location(unit, unit->clang->getCursorLocation(cursor));
}

SourceRange unit_location(CudaUnit *unit, CXSourceLocation location) {
  return unit_range(unit, unit->clang->getRange(location, location));
}

SourceRange unit_macro_body(CudaUnit *unit, CXCursor cursor) {
  CXSourceLocation location = unit->clang->getCursorLocation(cursor);
  CXFile file = NULL, body_file = NULL;
  unsigned line = 0, column = 0, body_line = 0, body_column = 0;
  unit->clang->getFileLocation(location, &file, &line, &column, NULL);
  unit->clang->getSpellingLocation(location, &body_file, &body_line, &body_column, NULL);
  if (!body_file || (body_file == file && body_line == line && body_column == column))
    return (SourceRange){0};
  uint32_t id = file_id(unit, body_file, location);
  uint32_t user = unit_user_column(unit, id, body_line, body_column);
  return (SourceRange){id, body_line, user, body_line, user + 1};
}

/* Whether `location` is written in a file (not made by a macro). */
static bool written_in_file(CudaUnit *unit, CXSourceLocation location) {
  CXFile spelled = NULL, expanded = NULL;
  unsigned spelled_offset = 0, expanded_offset = 0;
  unit->clang->getSpellingLocation(location, &spelled, NULL, NULL, &spelled_offset);
  unit->clang->getExpansionLocation(location, &expanded, NULL, NULL, &expanded_offset);
  return spelled && spelled == expanded && spelled_offset == expanded_offset;
}

bool unit_can_tokenize(CudaUnit *unit, CXCursor cursor) {
  CXSourceRange extent = unit->clang->getCursorExtent(cursor);
  return written_in_file(unit, unit->clang->getRangeStart(extent)) &&
         written_in_file(unit, unit->clang->getRangeEnd(extent));
}

bool unit_is_user(CudaUnit *unit, CXCursor cursor) {
  SourceRange place = unit_location(unit, unit->clang->getCursorLocation(cursor));
  return place.file && unit->program->sources.files.items[place.file].user;
}

bool unit_is_builtin(CudaUnit *unit, CXCursor declaration) {
  CXSourceLocation location = unit->clang->getCursorLocation(declaration);
  SourceRange place = unit_location(unit, location);
  if (!place.file) return true; /* declared by the compiler */
  const char *path = unit->program->sources.files.items[place.file].path;
  if (g_str_has_prefix(path, CUDA_VIRTUAL_ROOT)) return true;
  return !unit->program->sources.files.items[place.file].user &&
         unit->clang->Location_isInSystemHeader(location);
}

static bool holds(SourceRange extent, SourceRange at) {
  bool after = at.line > extent.line || (at.line == extent.line && at.column >= extent.column);
  bool before =
      at.line < extent.end_line || (at.line == extent.end_line && at.column <= extent.end_column);
  return at.file == extent.file && after && before;
}

bool unit_is_within(CudaUnit *unit, CXCursor cursor, SourceRange place) {
  return holds(unit_cursor_range(unit, cursor), place);
}

const CudaFault *unit_fault_within(CudaUnit *unit, CXCursor cursor) {
  if (unit->faults.count == 0) return NULL;
  SourceRange extent = unit_cursor_range(unit, cursor);
  for (int i = 0; i < unit->faults.count; i++)
    if (holds(extent, unit->faults.items[i].range)) return &unit->faults.items[i];
  return NULL;
}

const char *unit_text(CudaUnit *unit, SourceRange range) {
  if (!range.line || range.end_line > range.line + 20) return NULL;
  g_autoptr(GString) out = g_string_new(NULL);
  for (uint32_t line = range.line; line <= range.end_line; line++) {
    const char *text;
    size_t length;
    if (!source_line(&unit->program->sources, range.file, line, &text, &length)) return NULL;
    size_t from = line == range.line ? range.column - 1 : 0;
    size_t to = line == range.end_line ? range.end_column - 1 : length;
    for (size_t i = from; i < to && i < length; i++)
      if (!g_ascii_isspace(text[i]))
        g_string_append_c(out, text[i]);
      else if (out->len && out->str[out->len - 1] != ' ')
        g_string_append_c(out, ' ');
    if (line != range.end_line && out->len && out->str[out->len - 1] != ' ')
      g_string_append_c(out, ' ');
  }
  return kc_strndup(unit->arena, out->str, out->len);
}

/* ---- names ---- */

const char *unit_qualified_name(CudaUnit *unit, CXCursor declaration) {
  const Clang *clang = unit->clang;
  const char *name = unit_name(unit, declaration);
  CXCursor parent = clang->getCursorSemanticParent(declaration);
  while (!unit_is_null(parent) && parent.kind != CXCursor_TranslationUnit) {
    bool shown = parent.kind != CXCursor_LinkageSpec && !clang->Cursor_isInlineNamespace(parent) &&
                 !clang->Cursor_isAnonymous(parent);
    const char *scope = shown ? unit_name(unit, parent) : "";
    const char *angle = strchr(scope, '<');
    if (*scope && !g_str_has_prefix(scope, "operator"))
      name = kc_printf(unit->arena, "%.*s::%s", angle ? (int)(angle - scope) : (int)strlen(scope),
                       scope, name);
    parent = clang->getCursorSemanticParent(parent);
  }
  return name;
}

/* Types of the non-type template parameters of `pattern`, CXType_Invalid for type parameters. */
static CXType parameter_type(CudaUnit *unit, CXCursor pattern, int index) {
  CursorList children = unit_children(unit, pattern);
  int at = 0;
  for (int i = 0; i < children.count; i++) {
    CXCursor child = children.items[i];
    if (child.kind != CXCursor_NonTypeTemplateParameter &&
        child.kind != CXCursor_TemplateTypeParameter &&
        child.kind != CXCursor_TemplateTemplateParameter)
      continue;
    if (at++ == index)
      return child.kind == CXCursor_NonTypeTemplateParameter
                 ? unit->clang->getCanonicalType(unit->clang->getCursorType(child))
                 : (CXType){0};
  }
  return (CXType){0};
}

/* Text of template argument `index`, or NULL when libclang can't say it (packs, pointers). */
static const char *template_argument(CudaUnit *unit, CXCursor function, CXCursor pattern,
                                     int index) {
  const Clang *clang = unit->clang;
  switch (clang->Cursor_getTemplateArgumentKind(function, (unsigned)index)) {
  case CXTemplateArgumentKind_Type:
    return unit_type_name(unit, clang->Cursor_getTemplateArgumentType(function, (unsigned)index));
  case CXTemplateArgumentKind_Integral: {
    CXType type = parameter_type(unit, pattern, index);
    int64_t value = clang->Cursor_getTemplateArgumentValue(function, (unsigned)index);
    if (type.kind == CXType_Bool) return value ? "true" : "false";
    if (type.kind == CXType_ULong || type.kind == CXType_ULongLong)
      return kc_printf(unit->arena, "%llu", (unsigned long long)value);
    return kc_printf(unit->arena, "%lld", (long long)value);
  }
  default: return NULL;
  }
}

/* "gemm<Cfg<3>, 8>" out of clang's own print of the declaration; NULL when it can't be found. */
static const char *printed_instantiation(CudaUnit *unit, CXCursor function, const char *name) {
  const Clang *clang = unit->clang;
  CXPrintingPolicy policy = clang->getCursorPrintingPolicy(function);
  clang->PrintingPolicy_setProperty(policy, CXPrintingPolicy_TerseOutput, 1);
  const char *text = unit_string(unit, clang->getCursorPrettyPrinted(function, policy));
  clang->PrintingPolicy_dispose(policy);
  g_autofree char *start_text = g_strconcat(name, "<", NULL);
  const char *start = strstr(text, start_text);
  if (!start) return NULL;
  int depth = 0;
  for (const char *at = start; *at; at++) {
    if (*at == '<' || *at == '(') depth++;
    if ((*at == '>' && at[-1] != '-') || *at == ')') depth--;
    if (*at == '>' && depth == 0) return kc_strndup(unit->arena, start, (size_t)(at + 1 - start));
  }
  return NULL;
}

const char *unit_instantiation_name(CudaUnit *unit, CXCursor function) {
  const char *name = unit_name(unit, function);
  CXCursor pattern = unit->clang->getSpecializedCursorTemplate(function);
  int count = unit->clang->Cursor_getNumTemplateArguments(function);
  if (unit_is_null(pattern) || count <= 0) return name;
  g_autoptr(GString) out = g_string_new(name);
  g_string_append_c(out, '<');
  for (int i = 0; i < count; i++) {
    const char *argument = template_argument(unit, function, pattern, i);
    if (!argument) {
      const char *printed = printed_instantiation(unit, function, name);
      return printed ? printed : kc_printf(unit->arena, "%s<...>", name);
    }
    g_string_append_printf(out, "%s%s", i ? ", " : "", argument);
  }
  g_string_append_c(out, '>');
  return kc_strndup(unit->arena, out->str, out->len);
}

/* ---- children and attributes ---- */

typedef struct Collect {
  KcArena *arena;
  CursorList list;
} Collect;

static CXChildVisitResult collect_child(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Collect *collect = data;
  KC_PUSH(collect->arena, collect->list, cursor);
  return CXChildVisit_Continue;
}

CursorList unit_children(CudaUnit *unit, CXCursor cursor) {
  Collect collect = {.arena = unit->arena};
  unit->clang->visitChildren(cursor, collect_child, &collect);
  return collect.list;
}

/* Whether it is worth looking for attributes; those of a template are its pattern's. */
static bool may_have_attrs(CudaUnit *unit, CXCursor declaration) {
  return declaration.kind == CXCursor_FunctionTemplate || unit->clang->Cursor_hasAttrs(declaration);
}

bool unit_attribute(CudaUnit *unit, CXCursor declaration, const char *name, CursorList *arguments) {
  if (!may_have_attrs(unit, declaration)) return false;
  g_autofree char *wanted = g_strconcat("kcheck.", name, NULL);
  CursorList children = unit_children(unit, declaration);
  for (int i = 0; i < children.count; i++) {
    if (children.items[i].kind != CXCursor_AnnotateAttr ||
        strcmp(unit_name(unit, children.items[i]), wanted) != 0)
      continue;
    if (arguments) *arguments = unit_children(unit, children.items[i]);
    return true;
  }
  return false;
}

bool unit_has_attr(CudaUnit *unit, CXCursor declaration, CXCursorKind kind) {
  if (!may_have_attrs(unit, declaration)) return false;
  CursorList children = unit_children(unit, declaration);
  for (int i = 0; i < children.count; i++)
    if (children.items[i].kind == kind) return true;
  return false;
}

bool unit_is_shared(CudaUnit *unit, CXCursor variable) {
  return unit_attribute(unit, variable, "shared", NULL) ||
         unit_has_attr(unit, variable, CXCursor_CUDASharedAttr);
}

/* The alignment that the twin attribute `twin` carries; 0: not known. */
static int64_t twin_alignment(CudaUnit *unit, CXCursor twin) {
  CursorList arguments = unit_children(unit, twin);
  int64_t value = 0, best = 0;
  for (int j = 0; j < arguments.count; j++)
    if (unit_evaluate(unit, arguments.items[j], &value, NULL) && value > best) best = value;
  return best;
}

/* libclang shows where an alignas or aligned attribute stands, but not its value: read the text. */
static int64_t written_alignment(CudaUnit *unit, CXCursor attribute) {
  SourceRange place = unit_cursor_range(unit, attribute);
  const char *text;
  size_t length;
  if (!place.line ||
      !source_line(&unit->program->sources, place.file, place.line, &text, &length) ||
      place.column > length)
    return 0;
  return alignment_from_text(text + place.column - 1, length - place.column + 1);
}

uint32_t unit_alignment(CudaUnit *unit, CXCursor declaration) {
  int64_t best = unit->clang->Type_getAlignOf(unit->clang->getCursorType(declaration));
  if (best < 1) best = 1;
  if (!unit->clang->Cursor_hasAttrs(declaration)) return (uint32_t)best;
  CursorList children = unit_children(unit, declaration);
  for (int i = 0; i < children.count; i++) {
    CXCursor child = children.items[i];
    int64_t value = 0;
    if (child.kind == CXCursor_AnnotateAttr && strcmp(unit_name(unit, child), "kcheck.align") == 0)
      value = twin_alignment(unit, child);
    else if (child.kind == CXCursor_AlignedAttr)
      value = written_alignment(unit, child);
    if (value > best) best = value;
  }
  return (uint32_t)best;
}

/* ---- values ---- */

/* clang evaluates a variable to its initialiser even when the program changes it later. */
static bool may_evaluate(CudaUnit *unit, CXCursor cursor) {
  return cursor.kind != CXCursor_VarDecl ||
         unit->clang->isConstQualifiedType(unit->clang->getCursorType(cursor));
}

bool unit_evaluate(CudaUnit *unit, CXCursor cursor, int64_t *value, bool *is_unsigned) {
  const Clang *clang = unit->clang;
  if (!may_evaluate(unit, cursor)) return false;
  CXEvalResult result = clang->Cursor_Evaluate(cursor);
  if (!result) return false;
  bool found = clang->EvalResult_getKind(result) == CXEval_Int;
  if (found) {
    bool no_sign = clang->EvalResult_isUnsignedInt(result);
    *value = no_sign ? (int64_t)clang->EvalResult_getAsUnsigned(result)
                     : clang->EvalResult_getAsLongLong(result);
    if (is_unsigned) *is_unsigned = no_sign;
  }
  clang->EvalResult_dispose(result);
  return found;
}

bool unit_evaluate_float(CudaUnit *unit, CXCursor cursor, double *value) {
  if (!may_evaluate(unit, cursor)) return false;
  CXEvalResult result = unit->clang->Cursor_Evaluate(cursor);
  if (!result) return false;
  bool found = unit->clang->EvalResult_getKind(result) == CXEval_Float;
  if (found) *value = unit->clang->EvalResult_getAsDouble(result);
  unit->clang->EvalResult_dispose(result);
  return found;
}

const char *unit_evaluate_string(CudaUnit *unit, CXCursor cursor) {
  CXEvalResult result = unit->clang->Cursor_Evaluate(cursor);
  if (!result) return NULL;
  const char *text = NULL;
  if (unit->clang->EvalResult_getKind(result) == CXEval_StrLiteral)
    text = kc_strdup(unit->arena, unit->clang->EvalResult_getAsStr(result));
  unit->clang->EvalResult_dispose(result);
  return text;
}
