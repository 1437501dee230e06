/* What the files of the source room share. */
#ifndef KC_SOURCE_INTERNAL_H
#define KC_SOURCE_INTERNAL_H

#include <glib.h>

#include "source/check.h"

typedef struct SourceCheck {
  const IrProgram *program;
  const Arch *arch;
  bool exact_target;
  const MachineHostFacts *host; /* NULL: none */
  IrViolations *violations;
  GHashTable
      *reported; /* "kind file line column" of what is said once however often it is inlined */
} SourceCheck;

/* A violation at the innermost user frame of `where` (the text itself is at fault, whoever called
 * it), unless the same kind stands there already: then NULL. */
IrViolation *source_once(SourceCheck *check, const char *kind, const IrKernel *kernel,
                         uint32_t where, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The first event of a kernel, or NULL. */
const IrInsn *source_find_event(const IrKernel *kernel, IrEvent event);

/* Follows an address back to the object of the kernel that it lies in, through moves, additions and
 * conversions; `converted` (may be NULL) is set when the way led through cvta. -1 when that can't
 * be told. */
int source_object_of(const IrKernel *kernel, int before, const IrOperand *address, bool *converted);

/* asm.c: clobbers, labels and address operands of asm statements. */
void source_check_asms(SourceCheck *check, const IrKernel *kernel);
/* kernel.c: calls beside wgmma, tensor-map parameters, polling. */
void source_check_kernel(SourceCheck *check, const IrKernel *kernel);
/* alias.c: arrays of dynamic shared memory that are used as if they were two. */
void source_check_aliases(SourceCheck *check, const IrKernel *kernel);
/* tail.c: elements behind the last whole vector. */
void source_check_tails(SourceCheck *check, const IrKernel *kernel);
/* numerics.c: a block scale that is rounded after it was used. */
void source_check_numerics(SourceCheck *check, const IrKernel *kernel);
/* packing.c: conversions of two values whose order in memory is swapped. */
void source_check_packing(SourceCheck *check, const IrKernel *kernel);
/* window.c: values of the L2 access-policy window. */
void source_check_windows(SourceCheck *check);
/* empty.c: kernels that the guards leave empty; guards that admit targets without the feature. */
void source_check_guards(SourceCheck *check);
/* launch.c: attributes and results of launches against what the device code does. */
void source_check_launches(SourceCheck *check, const IrKernel *kernel);

/* ---- text.c: C++ text without a parser; comments and literals are skipped ---- */

typedef struct SourceText {
  const char *text;
  size_t length; /* 0: not readable */
} SourceText;

SourceText source_text(const IrProgram *program, uint32_t file);
/* Byte offset of a 1-based position, clamped to the text. */
size_t source_offset(SourceText text, uint32_t line, uint32_t column);
/* 1-based line of an offset. */
uint32_t source_line_of(SourceText text, size_t offset);
/* The braces of the function whose name stands at `name`: offsets of `{` and of its `}`. False for
 * a declaration without a body. */
bool source_body(SourceText text, size_t name, size_t *open, size_t *close);
/* The body of a function called `name`, anywhere in the text. */
bool source_find_body(SourceText text, const char *name, size_t *open, size_t *close);
/* The name in `#define name ...`. */
bool source_find_define(SourceText text, const char *name, size_t *at);
/* Calls `visit` with the name of everything that is called between two offsets; stops at false. */
void source_each_call(SourceText text, size_t begin, size_t end,
                      bool (*visit)(const char *name, void *user), void *user);
/* The next identifier or number from *at on, before `end`: it begins at *begin, *at moves behind
 * it.
 */
bool source_next_word(SourceText text, size_t end, size_t *at, size_t *begin);
/* Behind the bracket that closes the first `open` from `at` on; the end of the text if none does.
 */
size_t source_skip_brackets(SourceText text, size_t at, char open, char close);
/* Whether `word` occurs between two offsets, comments and literals included. */
bool source_contains(SourceText text, size_t begin, size_t end, const char *word);

/* ---- guards.c: #if regions of a file ---- */

typedef struct Guard {
  uint32_t line;         /* of the directive */
  uint32_t begin, end;   /* lines inside: begin <= line < end */
  int parent;            /* index of the enclosing guard, -1 */
  int before;            /* the branch before this one (#elif, #else), -1 */
  const char *condition; /* of #if and #elif; NULL: #else */
} Guard;

typedef struct GuardMacro { /* #define NAME inside a guard (-1: outside all) */
  const char *name;
  const char *value; /* "" when there is none, or it takes parameters */
  int guard;
} GuardMacro;

typedef struct Guards {
  KcArena *arena;
  KC_VEC(Guard) list;
  KC_VEC(GuardMacro) macros;
  const char *defining; /* macro whose definition is looked for: before it, it is not defined */
} Guards;

typedef enum Truth { TRUTH_FALSE, TRUTH_TRUE, TRUTH_UNKNOWN } Truth;

Guards guards_read(KcArena *arena, SourceText text);
/* The innermost guard around a line, -1 when there is none. */
int guards_at(const Guards *guards, uint32_t line);
/* Whether the guard or one around it depends on the target, itself or through a macro. */
bool guards_depend_on_target(const Guards *guards, int guard);
/* Whether one of them tests a feature macro (__CUDA_ARCH_FEAT_*, __CUDA_ARCH_SPECIFIC__,
 * __CUDA_ARCH_FAMILY_SPECIFIC__). */
bool guards_test_feature(const Guards *guards, int guard);
/* Whether lines inside `guard` (and the guards around it) are compiled when __CUDA_ARCH__ is
 * `number` * 10. `nesting`: how many macros deep the question arose, 0 for a caller outside. */
Truth guards_admit(const Guards *guards, int guard, int number, int nesting);
/* condition.c: a preprocessor condition when __CUDA_ARCH__ is `cuda_arch`. */
Truth condition_holds(const Guards *guards, const char *condition, int cuda_arch, int nesting);

#endif
