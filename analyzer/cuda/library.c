/* The walk through a library's host functions starts at what user code calls and follows references
 * to functions, instantiated where they are templates. It looks for one thing only: a reference to
 * a __global__ function, which is how a launch, an attribute and a launcher's argument alike name
 * their kernel. */
#include "cuda/library.h"

#include <glib.h>
#include <string.h>

/* Functions that are walked and nodes that are looked at; the largest adapters seen take a tenth.
 */
enum { MAX_FUNCTIONS = 50000, MAX_NODES = 8000000 };

typedef struct Called {
  CXCursor function;
  SourceRange place; /* in user code, which leads here */
} Called;

struct LibraryCalls {
  CudaUnit *unit;
  KC_VEC(Called) functions;
  KC_VEC(Called) kernels;
  GHashTable *seen; /* declarations, by address */
  SourceRange place;
  int nodes;
  bool cut; /* a limit was reached */
};

LibraryCalls *library_new(CudaUnit *unit) {
  LibraryCalls *calls = KC_NEW(unit->arena, LibraryCalls);
  calls->unit = unit;
  calls->seen = g_hash_table_new(NULL, NULL);
  return calls;
}

static bool is_function(CXCursorKind kind) {
  return kind == CXCursor_FunctionDecl || kind == CXCursor_CXXMethod ||
         kind == CXCursor_Constructor || kind == CXCursor_ConversionFunction;
}

/* The C++ library of the host launches nothing by itself. */
static bool in_std(CudaUnit *unit, CXCursor function) {
  const Clang *clang = unit->clang;
  CXCursor outer = {0};
  for (CXCursor scope = clang->getCursorSemanticParent(function);
       !unit_is_null(scope) && scope.kind != CXCursor_TranslationUnit;
       scope = clang->getCursorSemanticParent(scope))
    outer = scope;
  return outer.kind == CXCursor_Namespace && strcmp(unit_name(unit, outer), "std") == 0;
}

void library_called(LibraryCalls *calls, CXCursor function, SourceRange place) {
  CudaUnit *unit = calls->unit;
  const Clang *clang = unit->clang;
  if (!is_function(function.kind)) return;
  CXCursor canonical = clang->getCanonicalCursor(function);
  if (!g_hash_table_add(calls->seen, (gpointer)canonical.data[0])) return;
  if (unit_is_user(unit, function)) return; /* it is walked, or lowered, as the user's */
  Called called = {function, place};
  if (unit_has_attr(unit, function, CXCursor_CUDAGlobalAttr)) {
    KC_PUSH(unit->arena, calls->kernels, called);
    return;
  }
  called.function = clang->getCursorDefinition(function);
  if (unit_is_null(called.function) || in_std(unit, function)) return;
  if (unit_has_attr(unit, function, CXCursor_CUDADeviceAttr) &&
      !unit_has_attr(unit, function, CXCursor_CUDAHostAttr))
    return;
  calls->cut |= calls->functions.count >= MAX_FUNCTIONS;
  if (!calls->cut) KC_PUSH(unit->arena, calls->functions, called);
}

static CXChildVisitResult visit_body(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  LibraryCalls *calls = data;
  calls->cut |= ++calls->nodes > MAX_NODES;
  if (calls->cut) return CXChildVisit_Break;
  if (cursor.kind == CXCursor_DeclRefExpr || cursor.kind == CXCursor_MemberRefExpr ||
      cursor.kind == CXCursor_CallExpr) {
    CXCursor referenced = calls->unit->clang->getCursorReferenced(cursor);
    if (!unit_is_null(referenced)) library_called(calls, referenced, calls->place);
  }
  return CXChildVisit_Recurse;
}

static bool is_lowered(const LibraryCalls *calls, const CursorList *lowered, CXCursor kernel) {
  const Clang *clang = calls->unit->clang;
  CXCursor canonical = clang->getCanonicalCursor(kernel);
  for (int i = 0; i < lowered->count; i++)
    if (clang->equalCursors(clang->getCanonicalCursor(lowered->items[i]), canonical)) return true;
  return false;
}

void library_close(LibraryCalls *calls, const CursorList *lowered) {
  CudaUnit *unit = calls->unit;
  IrLibraryKernels *out = &unit->program->library;
  for (int i = 0; i < calls->functions.count; i++) {
    calls->place = calls->functions.items[i].place;
    unit->clang->visitChildren(calls->functions.items[i].function, visit_body, calls);
  }
  for (int i = 0; i < calls->kernels.count; i++) {
    const Called *kernel = &calls->kernels.items[i];
    if (is_lowered(calls, lowered, kernel->function)) continue;
    if (out->count++ > 0) continue;
    out->first = unit_qualified_name(unit, kernel->function);
    out->is_template = !unit_is_null(unit->clang->getSpecializedCursorTemplate(kernel->function));
    out->launched = kernel->place;
  }
  out->cut = calls->cut;
  g_hash_table_destroy(calls->seen);
}
