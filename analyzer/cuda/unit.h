/* One parsed CUDA translation unit, and what the lowering asks of it: positions, names, constants,
 * the parts of asm statements. Everything returned lives in the unit's arena. */
#ifndef KC_CUDA_UNIT_H
#define KC_CUDA_UNIT_H

#include <glib.h>

#include "cuda/cuda.h"
#include "cuda/libclang.h"
#include "dialect/dialect.h"
#include "ptx/ptx.h"

/* Folder under which the embedded headers are given to libclang; it does not exist on disk. */
#define CUDA_VIRTUAL_ROOT "/kcheck-builtin/"

/* Text that was put into a file before parsing (asm repair, `template `, --stages), so that
 * positions can be given in the file as the user sees it. */
typedef struct CudaEdit {
  const char *path;
  uint32_t line, column; /* place in the edited text, 1-based bytes */
  int32_t inserted;      /* bytes that the user's text lacks here (negative: bytes removed) */
} CudaEdit;

typedef struct CudaFileId { /* libclang's file -> id in program->sources */
  CXFile file;
  uint32_t id;
} CudaFileId;

/* An error of clang that was not repaired: what stood there may be missing from the AST. */
typedef struct CudaFault {
  SourceRange range;
  const char *message;
} CudaFault;

typedef struct CudaUnit {
  const Clang *clang;
  CXTranslationUnit tu;
  KcArena *arena;
  IrProgram *program;
  IrViolations *violations;
  Dialects *dialects;
  const CudaOptions *options;
  const char *folder; /* folder of the main file, absolute, with a slash at the end */
  KC_VEC(CudaEdit) edits;
  KC_VEC(CudaFileId) files;
  KC_VEC(CudaFault) faults;
  GHashTable *assigned; /* global variables that user code may change; NULL until asked */
  void *printed;        /* asm texts by function, for libclang before CLANG_ASM_API (unit_asm.c) */
} CudaUnit;

/* An array of cursors in the arena. */
typedef KC_VEC(CXCursor) CursorList;

/* ---- positions (unit.c) ---- */

/* The range in the file (macro arguments: where they are written; macro bodies: the call of the
 * macro). line 0 when clang has none. */
SourceRange unit_range(CudaUnit *unit, CXSourceRange range);
SourceRange unit_cursor_range(CudaUnit *unit, CXCursor cursor);
/* The point where the cursor's name or operator stands. */
SourceRange unit_location(CudaUnit *unit, CXSourceLocation location);
/* Column `column` of line `line` of the parsed text as a column of the user's text. */
uint32_t unit_user_column(const CudaUnit *unit, uint32_t file, uint32_t line, uint32_t column);
/* Where the text of a macro body that `cursor` comes from stands; line 0 when `cursor` is not from
 * a macro body. For a related note: the primary place is unit_cursor_range. */
SourceRange unit_macro_body(CudaUnit *unit, CXCursor cursor);
/* Whether both ends of the cursor's extent are written in the file itself (not made by a macro):
 * only then may it be tokenised. */
bool unit_can_tokenize(CudaUnit *unit, CXCursor cursor);
/* Whether the cursor stands in the main file or a file beside or below it. */
bool unit_is_user(CudaUnit *unit, CXCursor cursor);
/* Whether the declaration comes with CUDA (embedded headers, the toolkit, clang's own wrappers) or
 * from the compiler itself, so that its name may mean a builtin. */
bool unit_is_builtin(CudaUnit *unit, CXCursor declaration);
/* The first error of clang within the cursor's extent, or NULL. A function in whose body clang
 * reported an error may lack statements without a trace: whoever lowers it must say so. */
const CudaFault *unit_fault_within(CudaUnit *unit, CXCursor cursor);
/* Whether `place` lies within the cursor's extent. */
bool unit_is_within(CudaUnit *unit, CXCursor cursor, SourceRange place);
/* Source text of a range within one line or several, blanks collapsed; NULL when unknown. */
const char *unit_text(CudaUnit *unit, SourceRange range);

/* ---- names and values (unit.c) ---- */

const char *unit_string(CudaUnit *unit, CXString string); /* copies and disposes */
const char *unit_name(CudaUnit *unit, CXCursor cursor);   /* spelling; "" when none */
/* "cutlass::arch::ClusterBarrier::wait": without template arguments, without inline namespaces. */
const char *unit_qualified_name(CudaUnit *unit, CXCursor declaration);
/* "gemm<128, 4>" of a function specialisation, "gemm" of a plain function. */
const char *unit_instantiation_name(CudaUnit *unit, CXCursor function);
const char *unit_type_name(CudaUnit *unit, CXType type);
/* Children in order. */
CursorList unit_children(CudaUnit *unit, CXCursor cursor);
bool unit_is_null(CXCursor cursor);
/* The constant value of an expression, or of a const or constexpr variable (never the initialiser
 * of a variable that can change). False when it has none. `is_unsigned` may be NULL. */
bool unit_evaluate(CudaUnit *unit, CXCursor cursor, int64_t *value, bool *is_unsigned);
bool unit_evaluate_float(CudaUnit *unit, CXCursor cursor, double *value);
/* The text of a constant string ("..." literal or constant pointer to one), or NULL. */
const char *unit_evaluate_string(CudaUnit *unit, CXCursor cursor);
/* The annotate attribute "kcheck.<name>" of a declaration and its arguments (in the order
 * written). The CUDA attributes that libclang does not show are given to it as these twins:
 * shared, launch_bounds, cluster_dims, maxnreg, grid_constant, align, block_size. */
bool unit_attribute(CudaUnit *unit, CXCursor declaration, const char *name, CursorList *arguments);
bool unit_has_attr(CudaUnit *unit, CXCursor declaration, CXCursorKind kind);
bool unit_is_shared(CudaUnit *unit, CXCursor variable); /* __shared__ */
/* Bytes that `__align__(n)` or `alignas(n)` of the declaration asks for, else the alignment of its
 * type. */
uint32_t unit_alignment(CudaUnit *unit, CXCursor declaration);

/* ---- asm statements (unit_asm.c) ---- */

typedef struct CudaAsmOperand {
  const char *constraint; /* "=r", "+f", "l", "n" */
  CXCursor expression;
} CudaAsmOperand;

typedef struct CudaAsm {
  const char *text; /* as ptx_lower_asm wants it: %0, %%reg, %[name] turned into %N */
  KC_VEC(CudaAsmOperand) operands; /* outputs first, then inputs */
  int noutputs;
  KC_VEC(const char *) clobbers;
  bool is_volatile;
  PtxTextMap map; /* empty when the text is made by a macro */
} CudaAsm;

/* Before a function is lowered: lets libclang before CLANG_ASM_API find the asm statements of it
 * and of all functions it refers to. Nothing to do with later versions. */
void unit_asm_prepare(CudaUnit *unit, CXCursor function);
/* The parts of a GCCAsmStmt cursor. False (with `why`) when they can't be had. */
bool unit_asm(CudaUnit *unit, CXCursor statement, CudaAsm *out, const char **why);

#endif
