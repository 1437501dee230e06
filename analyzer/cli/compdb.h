/* compile_commands.json: how a file is really compiled, by nvcc or clang. */
#ifndef KC_CLI_COMPDB_H
#define KC_CLI_COMPDB_H

#include "cli/settings.h"
#include "support/error.h"

typedef struct Compdb Compdb;

/* Opens `path`: the JSON file or the folder that holds it. NULL with `error` naming the place. */
Compdb *compdb_open(const char *path, KcError *error);
void compdb_free(Compdb *compdb);
/* Adds what the first entry for `file` says: include folders, macros, standard, toolkit and exact
 * targets (--gpu-architecture, --generate-code, --offload-arch; response files are read). Returns
 * false when there is no entry for the file. */
bool compdb_lookup(const Compdb *compdb, const char *file, Settings *settings);

#endif
