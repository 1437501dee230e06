/* The headers that a file includes, read as text before anything is parsed: which ones clang would
 * refuse parts of, and whether a library is among them that needs the real toolkit. Each parse that
 * this spares takes seconds where CUTLASS is included. */
#ifndef KC_CUDA_INCLUDES_H
#define KC_CUDA_INCLUDES_H

#include "cuda/edit.h"

typedef struct IncludesFound {
  bool toolkit_library; /* cutlass/, cute/, cub/ or thrust/ */
} IncludesFound;

/* Follows the #include lines of `path`, which has an entry in `edits`, through the folders that
 * `flags` (-I, -isystem, -iquote; NULL-terminated, may be NULL) name, conditions or not, and
 * patches the asm statements that clang would refuse. Headers that no folder has are passed over.
 */
IncludesFound includes_read(EditSet *edits, const char *path, const char *const *flags);

#endif
