/* ptx: PTX text, of whole modules and of asm statements alike, to the kernel IR.
 *
 * The instruction table (isa/) says for each form which event it is, what each operand is and
 * where it is legal; this room tokenises, resolves scoped labels and registers, and emits. */
#ifndef KC_PTX_PTX_H
#define KC_PTX_PTX_H

#include "ir/ir.h"
#include "ir/violation.h"
#include "support/error.h"

/* One instruction of PTX text, as written. */
typedef enum PtxOperandKind {
  PTX_REG,     /* register or unresolved symbol; text */
  PTX_IMM,     /* integer; value */
  PTX_FLOAT,   /* float literal */
  PTX_SREG,    /* %tid.x; text */
  PTX_ADDRESS, /* [base + offset {, inner...}] ; list[0] = base, rest: coordinates vector etc. */
  PTX_VECTOR,  /* { ... } */
  PTX_SINK,    /* _ */
  PTX_PAIR,    /* a|b ; list[0], list[1] */
  PTX_ASM,     /* %N of an asm statement; value = N */
  PTX_LABEL
} PtxOperandKind;

typedef struct PtxOperand {
  PtxOperandKind kind;
  const char *text;
  int64_t value; /* immediate, asm operand index, or address offset */
  bool negated;  /* !p or -x */
  const struct PtxOperand *list;
  int count;
  uint32_t begin, end; /* byte offsets into the text it was parsed from */
} PtxOperand;

typedef struct PtxInsn {
  const char *opcode;           /* "mbarrier" */
  const char *const *modifiers; /* "arrive", "expect_tx", "shared::cta", "b64" in order */
  int nmodifiers;
  const PtxOperand *operands;
  int noperands;
  const char *guard; /* predicate register, or NULL */
  bool guard_negated;
  uint32_t begin, end; /* byte offsets of the whole instruction */
  uint32_t opcode_end; /* end of the mnemonic with its modifiers */
  const char *text;    /* the instruction without guard and semicolon, blanks collapsed */
} PtxInsn;

/* An operand of an asm statement, already lowered by the C++ front end. */
typedef struct PtxAsmOperand {
  const char *constraint; /* "=r", "+f", "l", "n" ... */
  IrOperand value;        /* what is read (register, immediate, object address, unknown) */
  int32_t dst;            /* register written back, -1 when it is not an output */
  IrType type;            /* of the C++ expression */
  const char *text;       /* source text of the expression, or NULL */
} PtxAsmOperand;

/* Maps a byte offset of the asm template to the source: string literals may be spread over lines.
 */
typedef struct PtxTextMap {
  const uint32_t *offsets;   /* ascending template offsets at which a run starts */
  const SourceRange *starts; /* position in the file of each run's first byte */
  int count;
} PtxTextMap;

typedef struct PtxAsm {
  const char *text; /* template in nvcc's spelling: %0, %%reg, %[name] already turned into %N */
  const PtxAsmOperand *operands; /* outputs first, then inputs, as %N counts */
  int noperands;
  const char *const *clobbers;
  int nclobbers;
  bool is_volatile;
  PtxTextMap map;
} PtxAsm;

/* Lowers one asm statement into `b` (whose `where` is the statement's stack) and records it in
 * kernel->asms. Immediates ("n") are substituted into the text before parsing. Scoped labels and
 * registers are private to the statement. Violations of the instruction table (illegal here, wrong
 * operand kind, out of range) go to `violations` with a caret inside the asm string. An instruction
 * outside every complete family becomes IR_EV_other/opaque with a note. Returns false when the text
 * can't be parsed: then a note that may hide an event was left. */
bool ptx_lower_asm(IrBuilder *b, const PtxAsm *statement, IrViolations *violations);

/* Parses a whole .ptx module into `program` (kernels, shared objects, parameters, .loc stacks).
 * `text` must stay valid as long as the program. Returns false with the place of the syntax error.
 */
bool ptx_load_module(IrProgram *program, const char *text, size_t length, IrViolations *violations,
                     KcError *error);

/* For a card that the user named without saying how the file is built (--arch sm_100): one
 * violation for each kernel that the plain target can't hold, naming the target to build for. */
void ptx_check_build(const IrProgram *program, IrViolations *violations);

#endif
