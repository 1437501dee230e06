/* Which files a run reads: files as named, and the .cu .cuh .ptx files below a folder. */
#ifndef KC_CLI_FILES_H
#define KC_CLI_FILES_H

#include <glib.h>
#include <stdbool.h>

#include "support/error.h"

/* Called for a path that can't be used, with the reason. */
typedef void FilesRefuse(const char *path, const char *reason, void *user);

/* Expands `paths` in order (folders sorted by name, hidden folders and symbolic links to folders
 * left out, each path once) into `files` (char*). What can't be used (a folder without kernels, a
 * path that isn't there) goes to `refuse`, and the others go on. */
void files_discover(char *const *paths, GPtrArray *files, FilesRefuse *refuse, void *user);

/* Reads a source file whole. Returns false with `error` when it can't be read, is a folder, is
 * larger than 1 GB, or is not text (a NUL byte; the place is given). Caller frees `*text`. */
struct KcError;
gboolean files_read(const char *path, char **text, gsize *length, KcError *error);
/* The check for NUL bytes alone, for text that came another way. */
gboolean files_check_text(const char *path, const char *text, gsize length, KcError *error);

/* Cuts ":41" off "kernel.cu:41" and returns "41"; NULL when there is none. A file of that very name
 * wins. */
char *files_split_line(char *path);

/* Whether `line` of files_split_line (NULL: none was given) can be one; else `error` says so. */
bool files_check_line(const char *path, const char *line, KcError *error);

#endif
