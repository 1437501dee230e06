/* Loading CUDA text from memory, for the suites of this folder. */
#ifndef KC_TESTS_CUDA_LOAD_H
#define KC_TESTS_CUDA_LOAD_H

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "ir/directive.h"

typedef struct Loaded {
  KcArena *arena;
  IrViolations violations;
  IrProgram *program;
  KcError error;
} Loaded;

static inline Loaded load_with(const char *text, CudaOptions options) {
  Loaded l = {.arena = kc_arena_new()};
  l.violations.arena = l.arena;
  options.text = text;
  options.text_length = strlen(text);
  if (!options.arch) options.arch = "sm_90a";
  l.program = cuda_load(l.arena, "kernel.cu", &options, &l.violations, NULL, &l.error);
  return l;
}

static inline Loaded load(const char *text) {
  return load_with(text, (CudaOptions){0});
}

/* The first error of clang that was kept, or NULL. (An older libclang leaves a remark as well.) */
static inline const IrDiagnostic *first_error(const Loaded *l) {
  for (int i = 0; i < l->program->diagnostics.count; i++)
    if (l->program->diagnostics.items[i].is_error) return &l->program->diagnostics.items[i];
  return NULL;
}

/* Loads and fails the test, with the reason, when that does not work or leaves an error behind. */
static inline Loaded load_clean(const char *text) {
  Loaded l = load(text);
  ck_assert_msg(l.program != NULL, "%s", l.error.message);
  const IrDiagnostic *error = first_error(&l);
  ck_assert_msg(!error, "line %u: %s", error ? error->range.line : 0, error ? error->text : "");
  return l;
}

static inline void unload(Loaded *l) {
  kc_error_clear(&l->error);
  kc_arena_free(l->arena);
}

static inline const IrKernel *kernel_named(const Loaded *l, const char *instantiation) {
  for (int i = 0; i < l->program->kernels.count; i++)
    if (strcmp(l->program->kernels.items[i]->instantiation, instantiation) == 0)
      return l->program->kernels.items[i];
  return NULL;
}

/* Ends the program with 77 ("skipped") when there is no libclang here. */
static inline void need_libclang(void) {
  if (cuda_libclang_version(NULL)) return;
  printf("skip: libclang was not found\n");
  exit(77);
}

#endif
