/* cuda: CUDA C++ files through libclang (opened at run time) to the kernel IR. */
#ifndef KC_CUDA_CUDA_H
#define KC_CUDA_CUDA_H

#include "ir/ir.h"
#include "ir/violation.h"
#include "support/error.h"

/* The value of --cuda-path that keeps to the embedded headers, whatever is installed. */
#define CUDA_PATH_NONE "none"

/* Translation units that a process keeps from one check of a file to the next. */
typedef struct CudaKept CudaKept;

/* libclang while a thread opens it: that takes longer than anything before the parse. */
typedef struct CudaOpening CudaOpening;

typedef struct CudaOptions {
  const char *arch;               /* "sm_90a": full name, suffix included; parsed as this target */
  const char *std;                /* "c++17", or NULL for the default */
  const char *cuda_path;          /* --cuda-path: a toolkit's folder, CUDA_PATH_NONE, or NULL */
  const char *const *flags;       /* -I, -D, -U, -include and what follows `--`; NULL-terminated */
  const char *const *instantiate; /* --instantiate 'kern<128,4>'; NULL-terminated, may be NULL */
  const char *const *stages;      /* --stages [NAME=]N; NULL-terminated, may be NULL */
  bool list_constants;            /* fill IrProgram.constants */
  const char *const
      *constants; /* "NAME=N" of IrProgram.constants, set to N in the text; may be NULL */
  const char *const *event_directives; /* event(...) of the configuration; may be NULL */
  const char *const *dialects;         /* event tables of the project: paths; may be NULL */
  /* Told before the toolkit's headers are read ("parse with the toolkit") and before the lowering
   * ("lower"); may be NULL. */
  void (*progress)(const char *stage, const char *detail);
  const char *text; /* contents when not read from disk (stdin, editor), or NULL */
  size_t text_length;
  CudaOpening *opening; /* of cuda_open_start, or NULL: cuda_load opens libclang itself */
  CudaKept *kept;       /* units to use where they fit, or NULL */
} CudaOptions;

/* Timings of the stages in microseconds, for --timing. */
typedef struct CudaTiming {
  int64_t load, parse, lower;
} CudaTiming;

/* Parses `path` and lowers every kernel and every host function that reaches a launch. Returns NULL
 * with `error` when the file can't be read, libclang can't be loaded (the hint says what to
 * install), or the file has a syntax error that nvcc would report too. */
IrProgram *cuda_load(KcArena *arena, const char *path, const CudaOptions *options,
                     IrViolations *violations, CudaTiming *timing, KcError *error);

CudaKept *cuda_keep_new(void);
void cuda_keep_free(CudaKept *kept);
/* Parses `path` as cuda_load would, and keeps the units in options->kept. What goes wrong is left
 * to cuda_load, which will meet it again. To be called between the two that follow. */
void cuda_keep_parse(const char *path, const CudaOptions *options);
void cuda_keep_begin(CudaKept *kept);
/* Drops the units that were not asked for since the beginning. */
void cuda_keep_end(CudaKept *kept);
/* Frees what the units need not keep until they are parsed again. */
void cuda_keep_rest(CudaKept *kept);

/* Starts to open libclang on a thread of its own. */
CudaOpening *cuda_open_start(void);
/* Waits for it and frees what it took; libclang stays. NULL is allowed. */
void cuda_open_free(CudaOpening *opening);

/* Version of the libclang that was opened (22), or 0; opens it when needed. `path` may be NULL. */
int cuda_libclang_version(const char **path);

#endif
