/* Build tool: packs the files named on standard input (one path a line, relative to the folder
 * argv[1]) into argv[2] as records "path\0size\0bytes\0", sorted by path. Read by support/data.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int pack_file(FILE *out, const char *root, const char *path) {
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
  fprintf(out, "%s%c%ld%c", path, 0, size, 0);
  fwrite(bytes, 1, (size_t)size + 1, out);
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
  for (size_t i = 0; i < count; i++)
    failed |= pack_file(out, argv[1], paths[i]);
  return fclose(out) != 0 || failed;
}
