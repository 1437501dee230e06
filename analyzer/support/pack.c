/* Build tool: packs the files named on standard input (one path a line, relative to the folder
 * argv[1]) into argv[2] as records "path\0size\0bytes\0", sorted by path. Read by support/data.c.
 * Each YAML file is there a second time, as the tree that a run needs (support/yaml_tree.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/yaml_tree.h"

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void put(FILE *out, const char *path, const void *bytes, size_t size) {
  fprintf(out, "%s%c%zu%c", path, 0, size, 0);
  fwrite(bytes, 1, size, out);
  fputc(0, out);
}

/* A file with a mistake gets no tree: whoever reads it then says where the mistake is. */
static void grow_tree(FILE *trees, const char *path, const char *text, size_t size) {
  size = kc_yaml_part(path, text, size);
  if (size == 0) return;
  KcArena *arena = kc_arena_new();
  KcError error = {0};
  const KcYaml *root = kc_yaml_read(arena, path, text, size, &error);
  if (root) {
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_autofree char *name = g_strconcat(KC_YAML_TREES, path, NULL);
    kc_yaml_tree_write(bytes, root);
    put(trees, name, bytes->data, bytes->len);
  }
  kc_error_clear(&error);
  kc_arena_free(arena);
}

static int pack_file(FILE *out, FILE *trees, const char *root, const char *path) {
  char full[4096];
  snprintf(full, sizeof full, "%s/%s", root, path);
  FILE *in = fopen(full, "rb");
  if (!in) {
    perror(full);
    return 1;
  }
  fseek(in, 0, SEEK_END);
  long size = ftell(in);
  rewind(in);
  char *bytes = malloc((size_t)size + 1);
  if (!bytes || fread(bytes, 1, (size_t)size, in) != (size_t)size) {
    fprintf(stderr, "%s: short read\n", full);
    return 1;
  }
  fclose(in);
  bytes[size] = 0;
  put(out, path, bytes, (size_t)size);
  grow_tree(trees, path, bytes, (size_t)size);
  free(bytes);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  char **paths = NULL;
  size_t count = 0;
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = 0;
    if (!*line) continue;
    paths = realloc(paths, (count + 1) * sizeof *paths);
    paths[count] = malloc(strlen(line) + 1);
    strcpy(paths[count++], line);
  }
  qsort(paths, count, sizeof *paths, by_text);
  FILE *out = fopen(argv[2], "wb");
  if (!out) {
    perror(argv[2]);
    return 1;
  }
  int failed = 0;
  char *trees = NULL; /* they sort behind all files */
  size_t size = 0;
  FILE *behind = open_memstream(&trees, &size);
  for (size_t i = 0; i < count; i++)
    failed |= pack_file(out, behind, argv[1], paths[i]);
  failed |= fclose(behind);
  fwrite(trees, 1, size, out);
  free(trees);
  return fclose(out) != 0 || failed;
}
