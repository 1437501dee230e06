#include "cuda/kept.h"

#include <string.h>

typedef struct {
  char **flags;
  char *digest; /* of the path and contents of all files; NULL: suspended */
  CXTranslationUnit tu;
  bool asked;
} Unit;

struct CudaKept {
  Clang clang; /* once something is kept */
  CXIndex index;
  GPtrArray *units; /* Unit* */
  bool adding;
};

CudaKept *cuda_keep_new(void) {
  CudaKept *kept = g_new0(CudaKept, 1);
  kept->units = g_ptr_array_new();
  return kept;
}

static void unit_free(CudaKept *kept, Unit *unit) {
  kept->clang.disposeTranslationUnit(unit->tu);
  g_strfreev(unit->flags);
  g_free(unit->digest);
  g_free(unit);
}

void cuda_keep_free(CudaKept *kept) {
  for (guint i = 0; i < kept->units->len; i++)
    unit_free(kept, kept->units->pdata[i]);
  g_ptr_array_unref(kept->units);
  if (kept->index) kept->clang.disposeIndex(kept->index);
  g_free(kept);
}

void cuda_keep_rest(CudaKept *kept) {
  for (guint i = 0; i < kept->units->len; i++) {
    Unit *unit = kept->units->pdata[i];
    kept->clang.suspendTranslationUnit(unit->tu);
    g_clear_pointer(&unit->digest, g_free);
  }
}

CXIndex kept_index(const CudaKept *kept) {
  return kept->index;
}

void kept_open(CudaKept *kept, const Clang *clang) {
  if (kept->index) return;
  kept->clang = *clang;
  /* By default a preamble is a file in the folder for temporary ones. */
  const CXIndexOptions options = {.size = sizeof options, .store_preambles_in_memory = 1};
  kept->index = clang->createIndexWithOptions(&options);
}

void cuda_keep_begin(CudaKept *kept) {
  kept->adding = true;
  for (guint i = 0; i < kept->units->len; i++)
    ((Unit *)kept->units->pdata[i])->asked = false;
}

void cuda_keep_end(CudaKept *kept) {
  kept->adding = false;
  for (guint i = kept->units->len; i-- > 0;) {
    Unit *unit = kept->units->pdata[i];
    if (unit->asked) continue;
    unit_free(kept, unit);
    g_ptr_array_remove_index(kept->units, i);
  }
}

bool kept_has(const CudaKept *kept, CXTranslationUnit tu) {
  for (guint i = 0; i < kept->units->len; i++)
    if (((const Unit *)kept->units->pdata[i])->tu == tu) return true;
  return false;
}

static char *digest_of(const struct CXUnsavedFile *files, guint count) {
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  for (guint i = 0; i < count; i++) {
    g_checksum_update(sum, (const guchar *)files[i].Filename,
                      (gssize)strlen(files[i].Filename) + 1);
    g_checksum_update(sum, (const guchar *)files[i].Contents, (gssize)files[i].Length);
  }
  return g_strdup(g_checksum_get_string(sum));
}

static Unit *find(const CudaKept *kept, const char *const *flags) {
  for (guint i = 0; i < kept->units->len; i++) {
    Unit *unit = kept->units->pdata[i];
    if (g_strv_equal((const char *const *)unit->flags, flags)) return unit;
  }
  return NULL;
}

/* A unit that could not be parsed again is good for nothing but to be disposed of. */
static CXTranslationUnit parse_again(CudaKept *kept, Unit *unit, struct CXUnsavedFile *files,
                                     guint count, char *digest) {
  g_free(unit->digest);
  unit->digest = digest;
  unit->asked = true;
  if (kept->clang.reparseTranslationUnit(unit->tu, count, files, 0) == 0) return unit->tu;
  g_ptr_array_remove(kept->units, unit);
  unit_free(kept, unit);
  return NULL;
}

CXTranslationUnit kept_parse(CudaKept *kept, const Clang *clang, const char *path,
                             const char *const *flags, struct CXUnsavedFile *files, guint count,
                             unsigned options) {
  Unit *unit = find(kept, flags);
  g_autofree char *digest = digest_of(files, count);
  if (unit && g_strcmp0(unit->digest, digest) == 0) {
    unit->asked = true;
    return unit->tu;
  }
  if (unit) return parse_again(kept, unit, files, count, g_steal_pointer(&digest));
  if (!kept->adding) return NULL;
  CXTranslationUnit tu = NULL;
  clang->parseTranslationUnit2(kept->index, path, flags, (int)g_strv_length((char **)flags), files,
                               count,
                               options | CXTranslationUnit_PrecompiledPreamble |
                                   CXTranslationUnit_CreatePreambleOnFirstParse,
                               &tu);
  if (!tu) return NULL;
  unit = g_new0(Unit, 1);
  *unit = (Unit){g_strdupv((char **)flags), g_steal_pointer(&digest), tu, true};
  g_ptr_array_add(kept->units, unit);
  return tu;
}
