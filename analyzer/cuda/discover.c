/* Walks the user's declarations, then every host body that they reach. */
#include "cuda/discover.h"

#include <glib.h>
#include <string.h>

#include "cuda/library.h"

/* A host function (or variable with an initialiser) that was visited. */
typedef struct HostNode {
  CXCursor cursor;
  bool configures; /* launches, sets attributes, encodes tensor maps itself */
  bool reaches;    /* that, or calls one that does */
  KC_VEC(int) calls;
} HostNode;

typedef struct Discover {
  CudaUnit *unit;
  CudaFound *found;
  CursorList all_patterns; /* kernel templates of user files */
  CursorList instances;    /* instantiations reached */
  KC_VEC(HostNode) hosts;
  GHashTable *host_index; /* cursor hash -> index + 1 of the newest host with that hash */
  int current;            /* host whose body is being visited */
  LibraryCalls *library;
} Discover;

static bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction;
}

static bool list_has(const Clang *clang, const CursorList *list, CXCursor cursor) {
  for (int i = 0; i < list->count; i++)
    if (clang->equalCursors(list->items[i], cursor)) return true;
  return false;
}

/* ---- kernels ---- */

static void add_kernel(Discover *d, CXCursor function) {
  const Clang *clang = d->unit->clang;
  CXCursor definition = clang->getCursorDefinition(function);
  bool lost = unit_is_null(definition) || !clang->isCursorDefinition(definition);
  CXCursor chosen = lost ? function : definition;
  CXCursor pattern = clang->getSpecializedCursorTemplate(chosen);
  if (lost && (unit_is_null(pattern) || unit_is_null(clang->getCursorDefinition(pattern))))
    return; /* declared here, defined in another file */
  CursorList *list = lost ? &d->found->lost : &d->found->kernels;
  if (list_has(clang, list, chosen)) return;
  KC_PUSH(d->unit->arena, *list, chosen);
  if (!unit_is_null(pattern))
    KC_PUSH(d->unit->arena, d->instances, clang->getCanonicalCursor(pattern));
}

/* ---- host bodies ---- */

static bool is_host_function(Discover *d, CXCursor function) {
  return !unit_has_attr(d->unit, function, CXCursor_CUDAGlobalAttr) &&
         (!unit_has_attr(d->unit, function, CXCursor_CUDADeviceAttr) ||
          unit_has_attr(d->unit, function, CXCursor_CUDAHostAttr));
}

/* Index of the host node of `cursor`, added when new. */
static int host_node(Discover *d, CXCursor cursor) {
  const Clang *clang = d->unit->clang;
  gpointer key = GUINT_TO_POINTER(clang->hashCursor(cursor));
  int index = GPOINTER_TO_INT(g_hash_table_lookup(d->host_index, key)) - 1;
  if (index >= 0 && clang->equalCursors(d->hosts.items[index].cursor, cursor)) return index;
  HostNode node = {.cursor = cursor};
  KC_PUSH(d->unit->arena, d->hosts, node);
  g_hash_table_insert(d->host_index, key, GINT_TO_POINTER(d->hosts.count));
  return d->hosts.count - 1;
}

/* Runtime and driver calls that give kernels their launch parameters. */
static bool is_configuration_call(const char *name) {
  static const char *const NAMES[] = {"cudaLaunchKernel",
                                      "cudaLaunchKernelExC",
                                      "cudaLaunchKernelEx",
                                      "cudaFuncSetAttribute",
                                      "cudaLaunchCooperativeKernel",
                                      "cuTensorMapEncodeTiled",
                                      "cuTensorMapEncodeIm2col",
                                      "cuLaunchKernel",
                                      "cuLaunchKernelEx",
                                      "cuFuncSetAttribute",
                                      "cudaLaunchKernelExC_ptsz"};
  for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++)
    if (strcmp(name, NAMES[i]) == 0) return true;
  return false;
}

static void note_reference(Discover *d, CXCursor referenced, CXCursor at) {
  const Clang *clang = d->unit->clang;
  if (is_configuration_call(unit_name(d->unit, referenced)))
    d->hosts.items[d->current].configures = true;
  if (!is_function(referenced.kind)) {
    if (referenced.kind == CXCursor_VarDecl || referenced.kind == CXCursor_ParmDecl ||
        referenced.kind == CXCursor_FieldDecl) {
      const char *type = unit_type_name(d->unit, clang->getCursorType(referenced));
      if (strstr(type, "PFN_cuTensorMapEncode")) d->hosts.items[d->current].configures = true;
    }
    return;
  }
  if (unit_has_attr(d->unit, referenced, CXCursor_CUDAGlobalAttr)) {
    add_kernel(d, referenced);
    d->hosts.items[d->current].configures = true;
    return;
  }
  CXCursor definition = clang->getCursorDefinition(referenced);
  if (unit_is_null(definition) || !is_host_function(d, definition)) return;
  if (!unit_is_user(d->unit, definition)) {
    library_called(d->library, definition, unit_cursor_range(d->unit, at));
    return;
  }
  int callee = host_node(d, definition);
  KC_PUSH(d->unit->arena, d->hosts.items[d->current].calls, callee);
}

static CXChildVisitResult visit_body(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Discover *d = data;
  if (cursor.kind == CXCursor_DeclRefExpr || cursor.kind == CXCursor_MemberRefExpr ||
      cursor.kind == CXCursor_CallExpr) {
    CXCursor referenced = d->unit->clang->getCursorReferenced(cursor);
    if (!unit_is_null(referenced)) note_reference(d, referenced, cursor);
  }
  return CXChildVisit_Recurse;
}

/* ---- declarations ---- */

static CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  Discover *d = data;
  CudaUnit *unit = d->unit;
  const Clang *clang = unit->clang;
  bool container = cursor.kind == CXCursor_Namespace || cursor.kind == CXCursor_LinkageSpec ||
                   cursor.kind == CXCursor_StructDecl || cursor.kind == CXCursor_ClassDecl ||
                   cursor.kind == CXCursor_UnexposedDecl;
  if (!unit_is_user(unit, cursor)) return CXChildVisit_Continue;
  if (container) return CXChildVisit_Recurse;
  if (cursor.kind == CXCursor_FunctionTemplate) {
    if (unit_has_attr(unit, cursor, CXCursor_CUDAGlobalAttr)) {
      CXCursor canonical = clang->getCanonicalCursor(cursor);
      if (!list_has(clang, &d->all_patterns, canonical)) {
        KC_PUSH(unit->arena, d->all_patterns, canonical);
        d->found->global_kernels++;
      }
    }
  } else if (is_function(cursor.kind)) {
    if (unit_has_attr(unit, cursor, CXCursor_CUDAGlobalAttr)) {
      if (clang->isCursorDefinition(cursor)) {
        d->found->global_kernels++;
        add_kernel(d, cursor);
      }
    } else if (clang->isCursorDefinition(cursor) && is_host_function(d, cursor)) {
      host_node(d, cursor);
    }
  } else if (cursor.kind == CXCursor_VarDecl) {
    host_node(d, cursor);
  }
  return CXChildVisit_Continue;
}

/* ---- results ---- */

/* Marks the hosts that reach a configuration, against the direction of the calls. */
static void propagate(Discover *d) {
  for (int i = 0; i < d->hosts.count; i++)
    d->hosts.items[i].reaches = d->hosts.items[i].configures;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < d->hosts.count; i++) {
      HostNode *host = &d->hosts.items[i];
      for (int c = 0; c < host->calls.count && !host->reaches; c++)
        if (d->hosts.items[host->calls.items[c]].reaches) host->reaches = changed = true;
    }
  }
  for (int i = 0; i < d->hosts.count; i++)
    if (d->hosts.items[i].reaches && is_function(d->hosts.items[i].cursor.kind))
      KC_PUSH(d->unit->arena, d->found->hosts, d->hosts.items[i].cursor);
}

/* Kernels in the order of their place in the source, so that output does not depend on which
 * launch was met first. */
static void sort_by_place(CudaUnit *unit, CursorList *list) {
  for (int i = 1; i < list->count; i++)
    for (int j = i; j > 0; j--) {
      SourceRange a = unit_cursor_range(unit, list->items[j - 1]);
      SourceRange b = unit_cursor_range(unit, list->items[j]);
      if (a.file < b.file ||
          (a.file == b.file && (a.line < b.line || (a.line == b.line && a.column <= b.column))))
        break;
      CXCursor swap = list->items[j];
      list->items[j] = list->items[j - 1];
      list->items[j - 1] = swap;
    }
}

void discover(CudaUnit *unit, CudaFound *found) {
  const Clang *clang = unit->clang;
  *found = (CudaFound){0};
  Discover d = {.unit = unit, .found = found};
  d.host_index = g_hash_table_new(NULL, NULL);
  d.library = library_new(unit);
  clang->visitChildren(clang->getTranslationUnitCursor(unit->tu), visit_declaration, &d);
  for (d.current = 0; d.current < d.hosts.count; d.current++)
    clang->visitChildren(d.hosts.items[d.current].cursor, visit_body, &d);
  library_close(d.library, &found->kernels);
  propagate(&d);
  g_hash_table_destroy(d.host_index);
  for (int i = 0; i < d.all_patterns.count; i++)
    if (!list_has(clang, &d.instances, d.all_patterns.items[i])) {
      CXCursor definition = clang->getCursorDefinition(d.all_patterns.items[i]);
      if (!unit_is_null(definition)) KC_PUSH(unit->arena, found->patterns, definition);
    }
  sort_by_place(unit, &found->kernels);
  sort_by_place(unit, &found->lost);
  sort_by_place(unit, &found->patterns);
}

/* ---- variables of the host that never change ---- */

typedef struct Assigned {
  CudaUnit *unit;
  GHashTable *set; /* canonical declarations */
} Assigned;

/* Whatever names a variable other than to read its value may change it. */
static CXChildVisitResult visit_use(CXCursor cursor, CXCursor parent, CXClientData data) {
  Assigned *assigned = data;
  const Clang *clang = assigned->unit->clang;
  if (cursor.kind != CXCursor_DeclRefExpr) return CXChildVisit_Recurse;
  CXCursor variable = clang->getCursorReferenced(cursor);
  if (variable.kind == CXCursor_VarDecl && parent.kind != CXCursor_UnexposedExpr &&
      clang->Cursor_hasVarDeclGlobalStorage(variable) > 0) {
    CXCursor canonical = clang->getCanonicalCursor(variable);
    g_hash_table_add(assigned->set, (gpointer)canonical.data[0]);
  }
  return CXChildVisit_Recurse;
}

static CXChildVisitResult visit_user_declaration(CXCursor cursor, CXCursor parent,
                                                 CXClientData data) {
  (void)parent;
  Assigned *assigned = data;
  if (unit_is_user(assigned->unit, cursor))
    assigned->unit->clang->visitChildren(cursor, visit_use, assigned);
  return CXChildVisit_Continue;
}

bool discover_never_changes(CudaUnit *unit, CXCursor variable) {
  if (!unit->assigned) {
    Assigned assigned = {unit, g_hash_table_new(NULL, NULL)};
    unit->clang->visitChildren(unit->clang->getTranslationUnitCursor(unit->tu),
                               visit_user_declaration, &assigned);
    unit->assigned = assigned.set;
  }
  CXCursor canonical = unit->clang->getCanonicalCursor(variable);
  return !g_hash_table_contains(unit->assigned, canonical.data[0]);
}
