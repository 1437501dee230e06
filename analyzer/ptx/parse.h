/* ptx (private): text to statements. The same parser reads whole modules and asm statements; in
 * asm mode %N is an operand of the statement and %% stands for %. */
#ifndef KC_PTX_PARSE_H
#define KC_PTX_PARSE_H

#include "ptx/ptx.h"

typedef enum PtxStatementKind {
  PTX_STATEMENT_INSN,
  PTX_STATEMENT_LABEL,    /* name */
  PTX_STATEMENT_REGISTER, /* name, type, count (of %r<count>, else -1), vector */
  PTX_STATEMENT_VARIABLE, /* name, type, space, align, bytes */
  PTX_STATEMENT_OPEN,     /* { */
  PTX_STATEMENT_CLOSE,    /* } */
  PTX_STATEMENT_LOCATION, /* .loc; location */
  PTX_STATEMENT_TARGETS   /* name: .branchtargets targets */
} PtxStatementKind;

/* `.loc file line column{, function_name label{+offset}, inlined_at file line column}` */
typedef struct PtxLocation {
  int file, line, column;
  const char *function; /* label of the function name in .debug_str, or NULL */
  int at_file, at_line, at_column;
} PtxLocation;

typedef struct PtxStatement {
  PtxStatementKind kind;
  uint32_t begin;
  PtxInsn insn;
  const char *name;
  IrType type;
  int vector; /* .v2, .v4; else 1 */
  int count;
  IrSpace space;
  uint32_t align;
  uint64_t bytes; /* 0: [] of an extern array */
  bool external;
  const char *const *targets;
  int ntargets;
  PtxLocation location;
} PtxStatement;

typedef struct PtxSyntaxError {
  const char *message;
  uint32_t offset;
} PtxSyntaxError;

typedef struct PtxStatements {
  PtxStatement *items;
  int count;
  int capacity;
} PtxStatements;

/* Limits against text that is no program. */
enum { PTX_MAX_NESTING = 200, PTX_MAX_REGISTERS = 1 << 18 };

typedef struct PtxParser {
  KcArena *arena;
  const char *text;
  size_t length;
  size_t position;
  bool is_asm;
  int depth; /* of nested operands */
  PtxStatements *statements;
  PtxSyntaxError error;
} PtxParser;

/* Parses statements up to the end of the text, or, when `depth` braces were open before the call,
 * up to and over the brace that closes the outermost. False with parser->error. */
bool ptx_parse_statements(PtxParser *parser, int depth);
/* Skips blanks and comments. */
void ptx_skip_blank(PtxParser *parser);
/* One operand at the position; false with parser->error. */
bool ptx_parse_operand(PtxParser *parser, PtxOperand *operand);
/* An identifier ([%A-Za-z_$][\w$]*) at the position, or NULL. */
const char *ptx_parse_name(PtxParser *parser);
/* An integer literal at the position; false when there is none. */
bool ptx_parse_integer(PtxParser *parser, int64_t *value);
/* `.space {.align n} .type name{[n]}{ = ...};`, the position behind the space. */
bool ptx_parse_variable(PtxParser *parser, IrSpace space, bool external, PtxStatement *out);
bool ptx_syntax_error(PtxParser *parser, const char *message);

/* The type that a modifier ("b32", "f16x2") names; false when it names none. */
bool ptx_type(const char *modifier, IrType *type);
/* The space that a modifier names; IR_SPACE_NONE when none. */
IrSpace ptx_space(const char *modifier);
/* The special register called `name` ("%tid.x"); IR_SREG_COUNT when there is none. */
IrSpecial ptx_special(const char *name);

#endif
