/* One CUDA file to a libclang translation unit: flags, embedded or toolkit headers, repairs. */
#ifndef KC_CUDA_PARSE_H
#define KC_CUDA_PARSE_H

#include "cuda/edit.h"
#include "cuda/target.h"

typedef struct CudaParse {
  const Clang *clang;
  CudaKept *kept; /* units that are not disposed of here, and their index; or NULL */
  CXIndex index;
  CXTranslationUnit tu;
  EditSet edits; /* in: injected text and --stages; out: repairs too */
  CudaTarget target;
  bool toolkit;                 /* parsed with the real headers */
  const char *toolkit_path;     /* the toolkit that was used or could have been, or NULL */
  KC_VEC(const char *) missing; /* headers that were not found */
  const char *toolkit_reason;   /* why the toolkit was tried after the embedded headers, or NULL */
  KC_VEC(const char *) extra_flags;
  bool everything; /* of the embedded headers is read, not only what the file names */
  int problems;    /* errors of any kind that nvcc might not have */
  int errors;      /* that were not repaired and may cost a kernel something */
} CudaParse;

/* Parses `path` for options->arch, whose text (as patched by parse->edits) is the main file. Uses
 * the embedded headers unless options->cuda_path is given; when a header is missing or an error is
 * left that may cost a kernel something, the toolkit of CUDA_PATH, CUDA_HOME or /usr/local/cuda is
 * tried, and kept when it does better. Fails when the target is no target or libclang gives up. */
bool parse_file(CudaParse *parse, const char *path, const CudaOptions *options, KcError *error);
/* Parses once more, with the headers chosen before, after parse->edits has changed. */
bool parse_again(CudaParse *parse, const char *path, const CudaOptions *options, KcError *error);
void parse_dispose(CudaParse *parse);

#endif
