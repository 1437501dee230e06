/* Translation units that outlive one check. libclang keeps with each what it precompiled of the
 * leading #include lines ("preamble"), in memory, and parses the rest anew: 0.3 s in place of 5 s
 * where the headers are CUTLASS's (docs/editors.md has the figures). */
#ifndef KC_CUDA_KEPT_H
#define KC_CUDA_KEPT_H

#include <glib.h>

#include "cuda/cuda.h"
#include "cuda/libclang.h"

/* The index in which units are kept. */
CXIndex kept_index(const CudaKept *kept);
/* The unit of these flags (ended by NULL) with the contents of `files`: as it is when it was parsed
 * from just these, parsed again when it is there, and new between
 * cuda_keep_begin and cuda_keep_end. NULL: the caller has to parse. The unit stays the keeper's. */
CXTranslationUnit kept_parse(CudaKept *kept, const Clang *clang, const char *path,
                             const char *const *flags, struct CXUnsavedFile *files, guint count,
                             unsigned options);
bool kept_has(const CudaKept *kept, CXTranslationUnit tu);
/* Takes libclang, and makes the index, when that has not been done yet. */
void kept_open(CudaKept *kept, const Clang *clang);

#endif
