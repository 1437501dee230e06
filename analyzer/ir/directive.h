/* The `// kcheck: ...` comments of a file (interface contract, "In the source"). Parsed from the
 * text of the main file; a directive that can't be read is kept with its error, never dropped. */
#ifndef KC_IR_DIRECTIVE_H
#define KC_IR_DIRECTIVE_H

#include "ir/ir.h"

typedef struct IrPair { /* key = value inside the parentheses */
  const char *key, *value;
} IrPair;

typedef struct IrLaunchDirective {       /* launch(kern<128, 4>, grid = 132, block = 384, smem = N,
                                            cluster = 2, K = 576) */
  const char *kernel;                    /* as written: "kern<128, 4>" */
  int64_t grid[3], block[3], cluster[3]; /* 0: not given */
  int64_t smem;                          /* bytes; -1: not given */
  KC_VEC(IrPair) arguments;              /* other keys: values of kernel parameters */
  SourceRange range;
} IrLaunchDirective;

typedef struct IrTensorMapDirective { /* tensormap(map_a, box = 64x128, type = bf16, swizzle = 128B)
                                       */
  const char *map;
  int64_t box[5]; /* innermost first as written; 0: not given */
  int rank;
  int elem_bits;     /* 0: unknown */
  int swizzle_bytes; /* 0: none */
  SourceRange range;
} IrTensorMapDirective;

typedef struct IrEventDirective { /* event(my_wait, mbarrier-wait, barrier = 1, parity = 2) */
  const char *function;
  const char *event; /* "mbarrier-wait" */
  KC_VEC(IrPair) arguments;
  SourceRange range;
} IrEventDirective;

typedef struct IrIgnoreDirective { /* ignore[rule] reason, ignore-file[rule] reason */
  const char *rules;               /* comma-separated ids as written */
  const char *reason;
  bool whole_file;
  uint32_t line; /* line that it covers */
  SourceRange range;
} IrIgnoreDirective;

typedef struct IrAssume { /* assume(K % 64 == 0 && K >= 64) */
  const char *expression;
  SourceRange range;
} IrAssume;

typedef struct IrDirectiveError {
  const char *message;
  SourceRange range;
} IrDirectiveError;

struct IrDirectives {
  KC_VEC(IrLaunchDirective) launches;
  KC_VEC(IrTensorMapDirective) tensor_maps;
  KC_VEC(IrEventDirective) events;
  KC_VEC(IrIgnoreDirective) ignores;
  KC_VEC(IrAssume) assumes;
  KC_VEC(const char *) instantiations; /* every kernel<...> named by a launch directive */
  KC_VEC(IrDirectiveError) errors;
};

/* Parses all directives of `text` (file id `file` of the program's source map). Never fails: what
 * can't be read is in `errors`. */
IrDirectives *ir_parse_directives(KcArena *arena, uint32_t file, const char *text, size_t length);

#endif
