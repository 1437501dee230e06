/* ptx (private): statements to IR. One lowering serves an asm statement or a kernel of a module. */
#ifndef KC_PTX_LOWER_H
#define KC_PTX_LOWER_H

#include <glib.h>

#include "isa/isa.h"
#include "ptx/parse.h"

typedef struct PtxSymbol {
  IrOperand address;
  IrSpace space; /* of the object: .param of a call is local memory */
} PtxSymbol;

typedef struct PtxScope {
  struct PtxScope *outer;
  GHashTable *symbols;   /* name -> PtxSymbol */
  GHashTable *registers; /* name -> PtxRegister; a range `%r<n>` under "%r<" */
  GHashTable *labels;    /* name -> label id + 1 */
} PtxScope;

typedef struct PtxRegister {
  int32_t first;
  int count; /* of a range, else 1 */
  IrType type;
} PtxRegister;

/* A run of the substituted text: its offset, and that of the template it came from. */
typedef struct PtxShift {
  uint32_t offset, original;
  bool substituted; /* the run is an immediate: every byte maps to the start of its %N */
} PtxShift;

struct PtxModule;

typedef struct PtxLowering {
  IrBuilder *b;
  IrViolations *violations;
  KcArena *arena;
  const char *target;      /* that instructions are judged for, or NULL */
  int version;             /* PTX version of a module times 10; 0: not known */
  const PtxAsm *statement; /* NULL for a module */
  const PtxShift *shifts;  /* of the asm statement */
  int nshifts;
  struct PtxModule *module; /* NULL for an asm statement */
  PtxScope *scope;
  GHashTable *targets;  /* name of .branchtargets -> PtxStatement */
  GPtrArray *tables;    /* hash tables to destroy when done */
  int32_t return_label; /* of the function being inlined, else -1 */
  int depth;            /* of inlining */
  bool unsupported;     /* an instruction of this text was not understood */
} PtxLowering;

void ptx_lowering_init(PtxLowering *lowering, IrBuilder *b, IrViolations *violations);
void ptx_lowering_clear(PtxLowering *lowering);
/* Lowers `count` statements; scopes opened inside are closed again. */
void ptx_lower_statements(PtxLowering *lowering, const PtxStatement *statements, int count);
/* A scope inside `outer` (NULL: a function of its own). */
PtxScope *ptx_scope_new(PtxLowering *lowering, PtxScope *outer);
void ptx_define_symbol(PtxLowering *lowering, const char *name, IrOperand address, IrSpace space);

/* The identifier that a mangled name ends in ("_Z4gemmILi4EEvPf" -> "gemm"). */
const char *ptx_demangle(KcArena *arena, const char *name);

/* ---- what a module adds (module.c) ---- */
/* Sets the builder's place to that of a statement, following .loc. */
void ptx_module_place(PtxLowering *lowering, const PtxStatement *statement);
/* A variable of the module, made an object of this kernel when first used; NULL: there is none. */
const PtxSymbol *ptx_module_symbol(PtxLowering *lowering, const char *name);
/* Inlines a call of a function with a body in this module; false when it has none. */
bool ptx_module_call(PtxLowering *lowering, const PtxInsn *insn, const char *callee);
/* The place of a byte range of the module's text. */
SourceRange ptx_module_caret(const PtxLowering *lowering, uint32_t begin, uint32_t end);

/* ---- operands (value.c) ---- */
/* The register called `name` in the innermost scope, -1 when there is none. */
int32_t ptx_find_register(const PtxLowering *lowering, const char *name, IrType *type);
/* The variable called `name`, or NULL. */
const PtxSymbol *ptx_find_symbol(PtxLowering *lowering, const char *name);
/* What reading `operand` gives. An address gives its generic or in-space address with the offset
 * in IrOperand.value. */
IrOperand ptx_read(PtxLowering *lowering, const PtxOperand *operand);
/* The register that writing `operand` fills (IR_OPD_REG or IR_OPD_SINK). */
IrOperand ptx_write(PtxLowering *lowering, const PtxOperand *operand);
/* All registers that `operand` (a vector, pair or single one) writes or reads, appended. */
typedef KC_VEC(IrOperand) PtxArgs;
void ptx_flatten(PtxLowering *lowering, const PtxOperand *operand, bool write, PtxArgs *out);
/* The C++ text of the expression behind an operand, or NULL. */
const char *ptx_source_text(const PtxLowering *lowering, const PtxOperand *operand);
/* Sets the guard of the instruction emitted last. */
void ptx_guard(PtxLowering *lowering, const PtxInsn *insn, IrInsn *emitted);

/* ---- families ---- */
bool ptx_has(const PtxInsn *insn, const char *modifier);
/* The last modifier that is a type (the operation's type); false when there is none. */
bool ptx_last_type(const PtxInsn *insn, IrType *type);
/* Each returns false when the instruction is none of its own. */
bool ptx_lower_plain(PtxLowering *lowering, const PtxInsn *insn);
bool ptx_lower_memory(PtxLowering *lowering, const PtxInsn *insn);
void ptx_lower_opaque(PtxLowering *lowering, const PtxInsn *insn);
/* Emits the event of a form of the instruction table that fits. */
void ptx_lower_event(PtxLowering *lowering, const PtxInsn *insn, const IsaForm *form);

/* ---- checks against the instruction table (check.c) ---- */
/* Finds the form that `insn` is an instance of and reports what is wrong with it. NULL when the
 * table has none; *listed says whether a family of the table claims the opcode as complete. */
/* The instruction in the terms of the table. */
IsaCall ptx_call(PtxLowering *lowering, const PtxInsn *insn);
const IsaForm *ptx_check(PtxLowering *lowering, const PtxInsn *insn, bool *listed);
/* The place of a byte range of the (substituted) text in the source; line 0 when unknown. */
SourceRange ptx_caret(const PtxLowering *lowering, uint32_t begin, uint32_t end);

#endif
