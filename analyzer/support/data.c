#include "support/data.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

/* Made by analyzer/support/pack.c: records of "path\0size\0bytes\0", sorted by path. */
extern const char kc_packed_data[];
extern const char kc_packed_data_end[];

typedef struct {
  const char *path;
  const char *text;
  size_t length;
} DataFile;

static gint by_path(gconstpointer a, gconstpointer b) {
  return strcmp(((const DataFile *)a)->path, ((const DataFile *)b)->path);
}

static void add_folder(GArray *files, const char *root, const char *relative) {
  g_autofree char *folder = g_build_filename(root, relative, NULL);
  GDir *dir = g_dir_open(folder, 0, NULL);
  if (!dir) return;
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_strdup_printf("%s/%s", relative, name);
    g_autofree char *full = g_build_filename(root, path, NULL);
    if (g_file_test(full, G_FILE_TEST_IS_DIR)) {
      add_folder(files, root, path);
      continue;
    }
    DataFile file = {.path = g_strdup(path)};
    gchar *text = NULL;
    if (g_file_get_contents(full, &text, &file.length, NULL)) {
      file.text = text;
      g_array_append_val(files, file);
    }
  }
  g_dir_close(dir);
}

static void add_packed(GArray *files) {
  for (const char *at = kc_packed_data; at < kc_packed_data_end;) {
    DataFile file = {.path = at};
    at += strlen(at) + 1;
    file.length = strtoul(at, NULL, 10);
    at += strlen(at) + 1;
    file.text = at;
    at += file.length + 1;
    g_array_append_val(files, file);
  }
}

static GArray *all_files(void) {
  static GArray *files; /* immutable once made */
  if (g_once_init_enter(&files)) {
    GArray *made = g_array_new(FALSE, FALSE, sizeof(DataFile));
    const char *root = g_getenv("KCHECK_DATA");
    if (root && *root) {
      add_folder(made, root, "rules");
      add_folder(made, root, "knowledge");
      add_folder(made, root, "fixtures/reference");
      g_array_sort(made, by_path);
    } else {
      add_packed(made);
    }
    g_once_init_leave(&files, made);
  }
  return files;
}

const char *kc_data_get(const char *path, size_t *length) {
  GArray *files = all_files();
  guint index = 0;
  DataFile key = {.path = path};
  if (!g_array_binary_search(files, &key, by_path, &index)) return NULL;
  const DataFile *file = &g_array_index(files, DataFile, index);
  if (length) *length = file->length;
  return file->text;
}

void kc_data_each(const char *prefix,
                  void (*visit)(const char *path, const char *text, size_t length, void *user),
                  void *user) {
  GArray *files = all_files();
  for (guint i = 0; i < files->len; i++) {
    const DataFile *file = &g_array_index(files, DataFile, i);
    if (g_str_has_prefix(file->path, prefix)) visit(file->path, file->text, file->length, user);
  }
}
