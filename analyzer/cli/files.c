#include "cli/files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "support/error.h"

enum { MAX_FOLDER_DEPTH = 64 };
#define MAX_FILE_BYTES ((gsize)1 << 30)

typedef struct {
  GPtrArray *files;
  GHashTable *seen;
  int found; /* in the folder being walked, already seen ones included */
} Walk;

static void add_file(Walk *walk, const char *path) {
  walk->found++;
  if (g_hash_table_add(walk->seen, g_strdup(path))) g_ptr_array_add(walk->files, g_strdup(path));
}

static gboolean is_kernel_file(const char *name) {
  return g_str_has_suffix(name, ".cu") || g_str_has_suffix(name, ".cuh") ||
         g_str_has_suffix(name, ".ptx");
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void walk_folder(Walk *walk, const char *folder, int depth) {
  GDir *dir = depth < MAX_FOLDER_DEPTH ? g_dir_open(folder, 0, NULL) : NULL;
  if (!dir) return;
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  for (const char *name; (name = g_dir_read_name(dir));)
    if (*name != '.') g_ptr_array_add(names, g_strdup(name));
  g_dir_close(dir);
  g_ptr_array_sort(names, by_name);
  for (guint i = 0; i < names->len; i++) {
    const char *name = names->pdata[i];
    const char *slash = g_str_has_suffix(folder, "/") ? "" : "/";
    g_autofree char *path = g_strconcat(folder, slash, name, NULL);
    struct stat info;
    if (lstat(path, &info) != 0) continue;
    if (S_ISDIR(info.st_mode))
      walk_folder(walk, path, depth + 1);
    else if (is_kernel_file(name) && g_file_test(path, G_FILE_TEST_IS_REGULAR))
      add_file(walk, path);
  }
}

void files_discover(char *const *paths, GPtrArray *files, FilesRefuse *refuse, void *user) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  Walk walk = {.files = files, .seen = seen};
  for (; paths && *paths; paths++) {
    struct stat info;
    if (strcmp(*paths, "-") == 0) {
      add_file(&walk, *paths);
    } else if (stat(*paths, &info) != 0) {
      refuse(*paths, errno == ENOENT ? "no such file" : g_strerror(errno), user);
    } else if (S_ISDIR(info.st_mode)) {
      walk.found = 0;
      walk_folder(&walk, *paths, 0);
      if (walk.found == 0) refuse(*paths, "no .cu, .cuh or .ptx file in this folder", user);
    } else {
      add_file(&walk, *paths);
    }
  }
}

gboolean files_check_text(const char *path, const char *text, gsize length, KcError *error) {
  const char *nul = memchr(text, 0, length);
  if (!nul) return TRUE;
  int line = 1;
  const char *start = text;
  for (const char *at; (at = memchr(start, '\n', (size_t)(nul - start))); start = at + 1)
    line++;
  return kc_fail(error, path, line, (int)(nul - start) + 1,
                 "this is not a text file: it holds a NUL byte");
}

gboolean files_read(const char *path, char **text, gsize *length, KcError *error) {
  struct stat info;
  if (stat(path, &info) != 0)
    return kc_fail(error, path, 0, 0, "cannot be read: %s", g_strerror(errno));
  if (S_ISDIR(info.st_mode)) return kc_fail(error, path, 0, 0, "is a folder, not a file");
  if ((gsize)info.st_size > MAX_FILE_BYTES)
    return kc_fail(error, path, 0, 0, "is larger than 1 GB");
  g_autoptr(GError) failure = NULL;
  if (!g_file_get_contents(path, text, length, &failure))
    return kc_fail(error, path, 0, 0, "cannot be read: %s", g_strerror(errno));
  if (files_check_text(path, *text, *length, error)) return TRUE;
  g_clear_pointer(text, g_free);
  return FALSE;
}

char *files_split_line(char *path) {
  char *colon = strrchr(path, ':');
  if (!colon || !colon[1] || strspn(colon + 1, "0123456789") != strlen(colon + 1)) return NULL;
  if (g_file_test(path, G_FILE_TEST_EXISTS)) return NULL;
  *colon = 0;
  return colon + 1;
}

bool files_check_line(const char *path, const char *line, KcError *error) {
  enum { MOST_LINE = 100000000 };
  gint64 number = line ? g_ascii_strtoll(line, NULL, 10) : 1;
  if (number >= 1 && number <= MOST_LINE) return true;
  return kc_fail(error, path, 0, 0, "there is no line %s: lines count from 1", line);
}
