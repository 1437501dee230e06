/* Positions in source files. A SourceMap owns the file names and the stacks of positions of one
 * translation unit; instructions refer to a stack by a 32-bit id. */
#ifndef KC_SUPPORT_SOURCE_H
#define KC_SUPPORT_SOURCE_H

#include "support/arena.h"

/* A range in one file; lines and columns count from 1, columns in UTF-8 bytes; the end is
 * exclusive. line 0: unknown. */
typedef struct SourceRange {
  uint32_t file; /* id in the SourceMap */
  uint32_t line, column;
  uint32_t end_line, end_column;
} SourceRange;

/* Where an instruction stands: its own range, and the stack of the call (or macro expansion) that
 * it was inlined from. */
typedef struct SourceStack {
  SourceRange range;
  uint32_t outer;       /* id of the call site's stack; 0: none */
  const char *function; /* function whose body holds `range`, or NULL */
} SourceStack;

typedef struct SourceFile {
  const char *path; /* as given on the command line, or as the compiler names it */
  bool user;        /* findings may be placed here: the main file and files beside it, not system
                       or embedded headers */
  const char *text; /* contents once loaded, or NULL */
  size_t length;
} SourceFile;

typedef struct SourceMap {
  KcArena *arena;
  KC_VEC(SourceFile) files;   /* id 0 is "no file" */
  KC_VEC(SourceStack) stacks; /* id 0 is "nowhere" */
} SourceMap;

void source_map_init(SourceMap *map, KcArena *arena);
/* The id of `path`, adding it when new. */
uint32_t source_file(SourceMap *map, const char *path, bool user);
/* Adds (or finds, when it equals the one added last) a stack; returns its id. */
uint32_t source_stack(SourceMap *map, SourceRange range, uint32_t outer, const char *function);
/* The id of the innermost stack entry of `stack` that lies in a user file; `stack` itself when none
 * does. */
uint32_t source_user_frame(const SourceMap *map, uint32_t stack);
/* The text of line `line` (without newline) of a file, read on first use; false when unknown. */
bool source_line(SourceMap *map, uint32_t file, uint32_t line, const char **text, size_t *length);

#endif
