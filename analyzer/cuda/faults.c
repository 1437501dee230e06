/* Sorting clang's errors by what they may cost. */
#include "cuda/faults.h"

#include <glib.h>
#include <string.h>

/* ---- messages ---- */

/* `typedef unsigned long long uint64_t;` beside <cstdint>, of code that is also compiled without
 * it: the first typedef stays, and it is as wide. */
static bool is_same_width(const char *message) {
  static const char *const WIDE[] = {"('unsigned long long' vs 'unsigned long')",
                                     "('long long' vs 'long')"};
  if (!g_str_has_prefix(message, "typedef redefinition with different types")) return false;
  for (size_t i = 0; i < G_N_ELEMENTS(WIDE); i++)
    if (strstr(message, WIDE[i])) return true;
  return false;
}

bool fault_is_harmless(const char *message) {
  /* __shared__ is only an annotation to clang, so that a shared variable is a host variable */
  return g_str_has_prefix(message, "reference to __host__ variable") ||
         /* nvcc takes the larger of the two: alignas(64) on a CUtensorMap of CUDA 13 */
         g_str_has_prefix(message, "requested alignment is less than minimum alignment") ||
         is_same_width(message) || strcmp(message, "too many errors emitted, stopping now") == 0;
}

char *fault_missing_header(const char *message) {
  if (!g_str_has_suffix(message, "' file not found") || *message != '\'') return NULL;
  return g_strndup(message + 1, strlen(message) - strlen("'' file not found"));
}

bool fault_header_is_for_hosts(const char *header) {
  static const char *const BEGINNINGS[] = {
      "sys/",    "arpa/",     "netinet/", "sanitizer/", "GL/",        "GLES",     "GLFW/",
      "EGL/",    "X11/",      "SDL",      "vulkan/",    "windows.h",  "unistd.h", "mpi.h",
      "omp.h",   "pthread.h", "dlfcn.h",  "nvtx3/",     "nvToolsExt", "boost/",   "gtest/",
      "gflags/", "glog/",     "spdlog/",  "fmt/",       "pybind11/",  "Python.h", "opencv"};
  for (size_t i = 0; i < G_N_ELEMENTS(BEGINNINGS); i++)
    if (g_str_has_prefix(header, BEGINNINGS[i])) return true;
  return false;
}

bool fault_stops_any_compiler(const char *category, const char *message) {
  return strcmp(category, "Parse Issue") == 0 ||
         strcmp(category, "User-Defined Issue") == 0 || /* #error */
         g_str_has_prefix(message, "recursive template instantiation exceeded") ||
         g_str_has_prefix(message, "#include nested too deeply");
}

/* ---- places ---- */

typedef struct Place {
  CXFile file;
  unsigned offset;
} Place;

typedef struct HostBodies {
  const Clang *clang;
  const Place *places;
  bool *in_host; /* by place */
  int count;
} HostBodies;

typedef struct FindAttribute {
  CXCursorKind kind;
  bool found;
} FindAttribute;

static CXChildVisitResult match_attribute(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  FindAttribute *find = data;
  if (cursor.kind != find->kind) return CXChildVisit_Continue;
  find->found = true;
  return CXChildVisit_Break;
}

static bool has_attribute(const Clang *clang, CXCursor function, CXCursorKind kind) {
  FindAttribute find = {kind, false};
  clang->visitChildren(function, match_attribute, &find);
  return find.found;
}

static void mark_places(HostBodies *host, CXCursor function) {
  const Clang *clang = host->clang;
  CXSourceRange extent = clang->getCursorExtent(function);
  CXFile file = NULL, end_file = NULL;
  unsigned start = 0, end = 0;
  clang->getFileLocation(clang->getRangeStart(extent), &file, NULL, NULL, &start);
  clang->getFileLocation(clang->getRangeEnd(extent), &end_file, NULL, NULL, &end);
  if (!file || file != end_file) return;
  bool asked = false, device = false;
  for (int i = 0; i < host->count; i++) {
    const Place *place = &host->places[i];
    if (place->file != file || place->offset < start || place->offset > end) continue;
    if (!asked)
      device = has_attribute(clang, function, CXCursor_CUDAGlobalAttr) ||
               has_attribute(clang, function, CXCursor_CUDADeviceAttr);
    asked = true;
    host->in_host[i] = !device;
  }
}

static CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  HostBodies *host = data;
  switch ((int)cursor.kind) {
  case CXCursor_Namespace:
  case CXCursor_LinkageSpec:
  case CXCursor_StructDecl:
  case CXCursor_ClassDecl:
  case CXCursor_ClassTemplate: return CXChildVisit_Recurse;
  case CXCursor_FunctionDecl:
  case CXCursor_FunctionTemplate:
  case CXCursor_CXXMethod:
  case CXCursor_Constructor:
  case CXCursor_Destructor:
    if (host->clang->isCursorDefinition(cursor)) mark_places(host, cursor);
    return CXChildVisit_Continue;
  default: return CXChildVisit_Continue;
  }
}

/* Whether the line of `place` launches a kernel or says how one is launched. */
static bool configures_kernels(const Clang *clang, CXTranslationUnit tu, const Place *place) {
  static const char *const WORDS[] = {"<<<", "LaunchKernel", "FuncSetAttribute", "TensorMapEncode",
                                      "launch"};
  size_t length = 0;
  const char *text = clang->getFileContents(tu, place->file, &length);
  if (!text || place->offset >= length) return true;
  size_t from = place->offset, to = place->offset;
  while (from > 0 && text[from - 1] != '\n')
    from--;
  while (to < length && text[to] != '\n')
    to++;
  for (size_t i = 0; i < G_N_ELEMENTS(WORDS); i++)
    if (g_strstr_len(text + from, (gssize)(to - from), WORDS[i])) return true;
  return false;
}

/* Fills `place`; whether the diagnostic is a harmless one. */
static bool look_at(const Clang *clang, CXDiagnostic diagnostic, Place *place) {
  CXString spelling = clang->getDiagnosticSpelling(diagnostic);
  bool harmless = fault_is_harmless(clang->getCString(spelling));
  clang->disposeString(spelling);
  clang->getFileLocation(clang->getDiagnosticLocation(diagnostic), &place->file, NULL, NULL,
                         &place->offset);
  return harmless;
}

bool *faults_beside_kernels(const Clang *clang, CXTranslationUnit tu) {
  unsigned count = clang->getNumDiagnostics(tu), errors = 0;
  g_autofree Place *places = g_new0(Place, count + 1);
  bool *beside = g_new0(bool, count + 1);
  g_autofree bool *harmless = g_new0(bool, count + 1);
  for (unsigned i = 0; i < count; i++) {
    CXDiagnostic diagnostic = clang->getDiagnostic(tu, i);
    harmless[i] = look_at(clang, diagnostic, &places[i]);
    errors += !harmless[i] && clang->getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
    clang->disposeDiagnostic(diagnostic);
  }
  HostBodies host = {clang, places, beside, (int)count};
  if (errors > 0)
    clang->visitChildren(clang->getTranslationUnitCursor(tu), visit_declaration, &host);
  for (unsigned i = 0; i < count; i++)
    beside[i] = harmless[i] || (beside[i] && !configures_kernels(clang, tu, &places[i]));
  return beside;
}
