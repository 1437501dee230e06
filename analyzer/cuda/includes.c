#include "cuda/includes.h"

#include <glib.h>
#include <string.h>

#include "cuda/repair.h"

#define MOST_FILES 4000
#define MOST_BYTES (128u << 20)

typedef struct Walk {
  EditSet *edits;
  GPtrArray *folders; /* of the flags; borrowed */
  GHashTable *seen;   /* paths */
  GQueue todo;        /* paths; owned by `seen` */
  size_t bytes;
  IncludesFound found;
} Walk;

static void collect_folders(Walk *w, const char *const *flags) {
  static const char *const NAMES[] = {"-I", "-isystem", "-iquote"};
  for (const char *const *flag = flags; flag && *flag; flag++)
    for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++) {
      size_t size = strlen(NAMES[i]);
      if (!g_str_has_prefix(*flag, NAMES[i])) continue;
      const char *folder = (*flag)[size] ? *flag + size : flag[1];
      if (folder) g_ptr_array_add(w->folders, (gpointer)folder);
      break;
    }
}

/* Takes ownership of `path`. */
static bool add_file(Walk *w, char *path) {
  if (g_hash_table_contains(w->seen, path)) {
    g_free(path);
    return true;
  }
  if (g_hash_table_size(w->seen) >= MOST_FILES || !g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
    g_free(path);
    return false;
  }
  g_hash_table_add(w->seen, path);
  g_queue_push_tail(&w->todo, path);
  return true;
}

/* The paths are put together as clang does, so that the patched text is found under its name. */
static void add_include(Walk *w, const char *from, const char *name, bool quoted) {
  if (*name == '/') {
    add_file(w, g_strdup(name));
    return;
  }
  const char *slash = strrchr(from, '/');
  if (quoted && add_file(w, slash ? g_strdup_printf("%.*s/%s", (int)(slash - from), from, name)
                                  : g_strdup(name)))
    return;
  for (guint i = 0; i < w->folders->len; i++) {
    const char *folder = g_ptr_array_index(w->folders, i);
    const char *between = g_str_has_suffix(folder, "/") ? "" : "/";
    if (add_file(w, g_strconcat(folder, between, name, NULL))) return;
  }
}

static void read_line(Walk *w, const char *path, const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  if (at >= end || *at++ != '#') return;
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  if ((size_t)(end - at) < strlen("include<>") || strncmp(at, "include", strlen("include")) != 0)
    return;
  at += strlen("include");
  while (at < end && (*at == ' ' || *at == '\t'))
    at++;
  if (at >= end || (*at != '<' && *at != '"')) return;
  char close = *at == '<' ? '>' : '"';
  const char *stop = memchr(at + 1, close, (size_t)(end - at - 1));
  if (!stop) return;
  g_autofree char *name = g_strndup(at + 1, (gsize)(stop - at - 1));
  static const char *const LIBRARIES[] = {"cutlass/", "cute/", "cub/", "thrust/"};
  for (size_t i = 0; i < G_N_ELEMENTS(LIBRARIES); i++)
    w->found.toolkit_library |= g_str_has_prefix(name, LIBRARIES[i]);
  add_include(w, path, name, close == '"');
}

static void read_includes(Walk *w, const char *path, const char *text, size_t length) {
  for (const char *at = text, *end = text + length; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    read_line(w, path, at, stop);
    at = stop + 1;
  }
}

static void read_file(Walk *w, const char *path) {
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!g_file_get_contents(path, &text, &length, NULL)) return;
  w->bytes += length;
  read_includes(w, path, text, length);
  if (strstr(text, "asm")) repair_ahead(w->edits, path, text, length);
}

IncludesFound includes_read(EditSet *edits, const char *path, const char *const *flags) {
  Walk w = {.edits = edits, .folders = g_ptr_array_new()};
  w.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_queue_init(&w.todo);
  collect_folders(&w, flags);
  const EditedFile *file = edit_find(edits, path);
  if (file) read_includes(&w, path, file->original, file->length);
  for (char *next; w.bytes < MOST_BYTES && (next = g_queue_pop_head(&w.todo)) != NULL;)
    read_file(&w, next);
  g_queue_clear(&w.todo);
  g_hash_table_destroy(w.seen);
  g_ptr_array_free(w.folders, TRUE);
  return w.found;
}
