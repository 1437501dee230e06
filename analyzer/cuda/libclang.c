/* Opening libclang: candidates in order, version check, symbol table. */
#include "cuda/libclang.h"

#include <dlfcn.h>
#include <glib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NEWEST_KNOWN 22

static const struct {
  const char *name;
  int since;
  size_t offset;
} FUNCTIONS[] = {
#define FN(since, result, name, parameters) {"clang_" #name, since, offsetof(Clang, name)},
#include "cuda/libclang.def"
#undef FN
};

/* "Debian clang version 22.1.8 (...)" or "Apple clang version 15.0.0" -> 22, 15; 0: unreadable. */
static int major_version(const char *text) {
  const char *word = text ? strstr(text, "version ") : NULL;
  return word ? atoi(word + strlen("version ")) : 0;
}

/* File that holds `symbol`, interned; falls back to the name it was asked for. */
static const char *file_of_symbol(void *symbol, const char *asked) {
  Dl_info info;
  if (symbol && dladdr(symbol, &info) && info.dli_fname) return g_intern_string(info.dli_fname);
  return g_intern_string(asked);
}

/* Opens `name` and fills `clang`. Returns the version, 0 when it can't be opened or lacks a
 * function that its version should have (named in `missing`). */
static int try_open(Clang *clang, const char *name, const char **missing) {
  void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return 0;
  *clang = (Clang){0};
  CXString (*version)(void) = NULL;
  for (size_t i = 0; i < G_N_ELEMENTS(FUNCTIONS); i++) {
    void *symbol = dlsym(handle, FUNCTIONS[i].name);
    memcpy((char *)clang + FUNCTIONS[i].offset, &symbol, sizeof symbol);
  }
  version = clang->getClangVersion;
  if (!version || !clang->getCString || !clang->disposeString) {
    *missing = "clang_getClangVersion";
    return 0;
  }
  CXString text = version();
  clang->version = major_version(clang->getCString(text));
  clang->disposeString(text);
  void *symbol = NULL;
  memcpy(&symbol, &version, sizeof symbol);
  clang->path = file_of_symbol(symbol, name);
  if (clang->version < CLANG_OLDEST) return clang->version;
  for (size_t i = 0; i < G_N_ELEMENTS(FUNCTIONS); i++) {
    memcpy(&symbol, (char *)clang + FUNCTIONS[i].offset, sizeof symbol);
    if (!symbol && FUNCTIONS[i].since <= CLANG_OLDEST) {
      *missing = FUNCTIONS[i].name;
      return 0;
    }
  }
  return clang->version;
}

/* Patterns of places, newest version first; %d is the major version. */
static const char *const VERSIONED[] = {
    "libclang-%d.so.1",
    "libclang-%d.so.%d",
    "libclang.so.%d",
    "libclang.so.%d.1",
    "/usr/lib/llvm-%d/lib/libclang.so.1",
    "/usr/lib/llvm-%d/lib/libclang.so",
    "/usr/lib/llvm%d/lib/libclang.so",
    "/usr/lib64/llvm%d/lib/libclang.so",
    "/usr/lib64/llvm%d/lib64/libclang.so",
    "/usr/local/opt/llvm@%d/lib/libclang.dylib",
    "/opt/homebrew/opt/llvm@%d/lib/libclang.dylib",
    "/home/linuxbrew/.linuxbrew/opt/llvm@%d/lib/libclang.so",
};
static const char *const UNVERSIONED[] = {
    "libclang.so",
    "libclang.so.1",
    "libclang.so.13",
    "/usr/lib/llvm/lib/libclang.so",
    "/usr/lib64/libclang.so",
    "/opt/homebrew/opt/llvm/lib/libclang.dylib",
    "/usr/local/opt/llvm/lib/libclang.dylib",
    "/home/linuxbrew/.linuxbrew/opt/llvm/lib/libclang.so",
    "libclang.dylib",
};

static bool hint_install(KcError *error) {
  return kc_hint(error,
                 "install libclang %d or later (Debian, Ubuntu: apt install libclang1-22, "
                 "from apt.llvm.org when the distribution lacks it; Fedora: dnf install "
                 "clang-libs; macOS: brew install llvm; pip: libclang), or set "
                 "KCHECK_LIBCLANG to the library file",
                 CLANG_ASM_API);
}

static bool open_named(Clang *clang, const char *path, KcError *error) {
  const char *missing = NULL;
  int version = try_open(clang, path, &missing);
  if (version >= CLANG_OLDEST) return true;
  if (version > 0)
    kc_fail(error, NULL, 0, 0,
            "libclang %d (%s, from KCHECK_LIBCLANG) is too old: %d is the oldest that knows sm_90a",
            version, path, CLANG_OLDEST);
  else if (missing)
    kc_fail(error, NULL, 0, 0, "%s (from KCHECK_LIBCLANG) lacks %s", path, missing);
  else
    kc_fail(error, NULL, 0, 0, "can't open %s (from KCHECK_LIBCLANG): %s", path, dlerror());
  return hint_install(error);
}

/* Opens `name`, keeping it when it is newer than what `best` holds. */
static void consider(Clang *best, const char *name, int *too_old) {
  Clang found;
  const char *missing = NULL;
  int version = try_open(&found, name, &missing);
  if (version >= CLANG_OLDEST && version > best->version)
    *best = found;
  else if (version > 0 && version < CLANG_OLDEST && version > *too_old)
    *too_old = version;
}

bool clang_open(Clang *clang, KcError *error) {
  const char *named = g_getenv("KCHECK_LIBCLANG");
  if (named && *named) return open_named(clang, named, error);
  Clang best = {0};
  int too_old = 0;
  for (int version = NEWEST_KNOWN; version >= CLANG_OLDEST && !best.version; version--)
    for (size_t i = 0; i < G_N_ELEMENTS(VERSIONED) && !best.version; i++) {
      char name[128];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      g_snprintf(name, sizeof name, VERSIONED[i], version, version);
#pragma GCC diagnostic pop
      consider(&best, name, &too_old);
    }
  for (size_t i = 0; i < G_N_ELEMENTS(UNVERSIONED) && best.version < CLANG_ASM_API; i++)
    consider(&best, UNVERSIONED[i], &too_old);
  if (best.version) {
    *clang = best;
    return true;
  }
  if (too_old)
    kc_fail(error, NULL, 0, 0, "libclang %d is too old: %d is the oldest that knows sm_90a",
            too_old, CLANG_OLDEST);
  else
    kc_fail(error, NULL, 0, 0, "libclang was not found");
  return hint_install(error);
}

char *clang_resource_dir(const Clang *clang) {
  g_autofree char *folder = g_path_get_dirname(clang->path);
  static const char *const TRIES[] = {"%s/clang/%d",
                                      "%s/../lib/clang/%d",
                                      "%s/../llvm-%d/lib/clang/%d",
                                      "/usr/lib/llvm-%d/lib/clang/%d",
                                      "/usr/lib/clang/%d",
                                      "/usr/lib64/clang/%d"};
  for (size_t i = 0; i < G_N_ELEMENTS(TRIES); i++) {
    char path[4096];
    if (g_str_has_prefix(TRIES[i], "%s"))
      g_snprintf(path, sizeof path, TRIES[i], folder, clang->version, clang->version);
    else
      g_snprintf(path, sizeof path, TRIES[i], clang->version, clang->version);
    g_autofree char *probe =
        g_build_filename(path, "include", "__clang_cuda_runtime_wrapper.h", NULL);
    if (g_file_test(probe, G_FILE_TEST_EXISTS)) return g_strdup(path);
  }
  return NULL;
}
