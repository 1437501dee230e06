/* lower (private): what the files of the lowering share.
 *
 * lower.c           entry, prologue, finishing
 * lower_types.c     C++ types: scalars, layout of records, leaves
 * lower_ast.c       cursors as nodes with cached children, types, constants; callees
 * lower_emit.c      positions, instructions with constant folding, conversions, branches
 * lower_memory.c    addresses, cells, loads, stores, copies
 * lower_facts.c     what cells are known to hold, where that is needed
 * lower_object.c    variables: frames and bindings, shared objects, globals
 * lower_lvalue.c    expressions that designate objects
 * lower_rvalue.c    expressions that compute values
 * lower_operator.c  operators, conditions
 * lower_init.c      initialisers, constructors, destructors
 * lower_call.c      calls, inlining, lambdas
 * lower_unknown.c   calls without a body: dialects, havoc, what may hide an event
 * lower_builtin.c   CUDA and compiler builtins; lower_warp.c those of warps and barriers;
 *                   lower_wmma.c nvcuda::wmma; lower_groups.c grid-wide groups
 * lower_host.c      the host API
 * lower_stmt.c      statements; lower_loop.c loops and switches; lower_unroll.c loops that must be
 *                   unrolled; lower_rounds.c what each round of a loop makes anew
 * lower_decl.c      declarations, structured bindings, clean-up of scopes
 * lower_asm.c       asm statements
 * lower_text.c      source text of operands as the caller of the wrappers wrote it
 *
 * Values and addresses are IrOperands. A *value* of kind REG never carries an offset; an *address*
 * may (IrOperand.value bytes). A scalar at a static local address is its cell register. An
 * expression of record or array type has no value: functions that return "value or address" return
 * the address of the object for those.
 */
#ifndef KC_CUDA_LOWER_INTERNAL_H
#define KC_CUDA_LOWER_INTERNAL_H

#include <glib.h>

#include "cuda/lower.h"
#include "cuda/lower_ast.h"

#define LOWER_INSN_LIMIT 400000 /* instructions a kernel; more is not inlined */
#define LOWER_RECURSION_LIMIT 3 /* copies of one function inside itself */
#define LOWER_DEPTH_LIMIT 120   /* nested calls */

typedef struct Frame Frame;
typedef struct Callee Callee;

/* ---- callees ---- */

typedef struct LowerBuiltin LowerBuiltin;

struct Callee {
  CXCursor decl;
  CXCursorKind kind;
  const char *name;
  const CppType *result;
  bool is_member; /* has an object */
  bool body_known;
  AstNode *definition; /* NULL: no body */
  AstNode *body;
  AstNode **params;
  int nparams;
  AstNode **defaults; /* arguments left out, by parameter; NULL until asked */
  bool *defaults_known;
  const char *qualified; /* callee_qualified() */
  GHashTable *written;   /* variables with a use that is not reading; callee_only_reads() */
  int returns;           /* return statements of the body, nested lambdas not counted */
  bool tail_return;      /* the only return statement is the last statement */
  bool builtin_known;
  const LowerBuiltin *builtin;
  int system; /* 0 unknown, 1 no, 2 declared by CUDA or the compiler */
  int global; /* 0 unknown, 1 no, 2 a kernel */
  int opaque; /* 0 unknown, 1 no, 2 its body is not followed */
  int reach;  /* 0 unknown, 1 reaches no event, 2 may */
  int asms;   /* asm statements in the body and below; -1 unknown */
  int active; /* copies being inlined now */
};

Callee *callee_of(Lower *l, CXCursor function);
bool callee_has_body(Lower *l, Callee *callee);
/* Whether the body does nothing with a parameter or local variable, once it is initialised, but
 * read its value. */
bool callee_only_reads(Lower *l, Callee *callee, CXCursor variable);
bool callee_is_system(Lower *l, Callee *callee);
bool callee_is_kernel(Lower *l, Callee *callee);
const char *callee_qualified(Lower *l, Callee *callee);

/* ---- frames ---- */

typedef struct Binding {
  const void *key;
  IrOperand address; /* of the object; kind NONE: it has none, only `value` */
  IrOperand value;   /* never changes */
  const CppType *type;
  AstNode *origin; /* what initialised it, for source text; or NULL */
  Frame *origin_frame;
  Callee *function; /* the function it points to, when that is known */
} Binding;

typedef struct LoopTarget {
  int32_t break_label, continue_label; /* continue -1: a switch */
  int cleanups;                        /* clean-ups that stay when it is left */
} LoopTarget;

typedef struct GotoLabel {
  const void *key;
  int32_t label;
  bool placed;
} GotoLabel;

typedef struct Cleanup {
  IrOperand address;
  const CppType *type;
} Cleanup;

typedef struct CaseLabel {
  const AstNode *node;
  int32_t label;
} CaseLabel;

struct Frame {
  Frame *scope;  /* where names are looked up next: a lambda's defining frame */
  Frame *caller; /* NULL: the function that is lowered */
  Callee *callee;
  const char *name;
  KC_VEC(Binding) bindings;
  bool has_self;
  IrOperand self; /* address of *this */
  const CppType *self_type;
  AstNode *self_origin;
  Frame *self_frame;
  int32_t return_label;
  bool return_direct;      /* the result is handed over without a slot */
  IrOperand return_slot;   /* address */
  IrOperand return_result; /* direct: value or address */
  const CppType *return_type;
  AstNode *call;       /* what called it; NULL: the function that is lowered */
  uint32_t call_where; /* stack of the call site */
  KC_VEC(LoopTarget) loops;
  KC_VEC(GotoLabel) labels;
  KC_VEC(Cleanup) cleanups;
  KC_VEC(CaseLabel) cases;
};

/* Captured state of a lambda object at a static address. */
typedef struct Closure {
  uint64_t address; /* local address of the object; 0: by class only */
  const void *key;  /* class */
  Frame *frame;     /* defining frame, or an overlay of it with the copies captured */
} Closure;

/* ---- what cells are known to hold (lower_facts.c) ---- */

typedef struct Fact Fact;

typedef struct FactChange {
  uint64_t address, bytes;
  Fact *old; /* NULL: nothing was known */
} FactChange;

typedef struct Allocation {
  uint64_t start, end;
  bool escaped; /* its address is a value somewhere */
} Allocation;

typedef struct LoopFacts {
  int before, head; /* places in the log: before the head forgot what the body may change, after */
  int escapes;
  bool writes_escaped;
  uint64_t fresh; /* objects from here on are made again each time the loop is lowered */
  KC_VEC(FactChange) written;
} LoopFacts;

/* Where each round of a loop begins, and the local memory of what its body declares. */
typedef struct Round {
  int at; /* instruction */
  uint64_t start, end;
} Round;

/* ---- the lowering of one function ---- */

struct Lower {
  CudaUnit *unit;
  const Clang *clang;
  KcArena *arena;   /* of the program: what the IR refers to */
  KcArena *scratch; /* nodes, types, frames: gone when the function is lowered */
  IrProgram *program;
  IrKernel *kernel;
  IrBuilder b;
  Frame *frame;
  Frame *free_frames;        /* linked by scope */
  AstNode *here;             /* position of what is emitted now */
  AstNode *temporary;        /* whose object is being initialised; NULL: none */
  GHashTable *types;         /* QualType -> CppType */
  GHashTable *callees;       /* declaration -> Callee */
  GHashTable *declarations;  /* declaration -> Declaration */
  GHashTable *globals;       /* declaration -> Binding */
  GHashTable *cells;         /* local address -> width that a cell has there, -1 none may */
  KC_VEC(uint64_t) overlays; /* start, end of local ranges that are no cells; ascending */
  KC_VEC(uint8_t) pinned;    /* by register: bound by name, must keep its definition */
  KC_VEC(Closure) closures;
  KC_VEC(IrInsn) prologue;
  GHashTable *detached;  /* address -> register of an asynchronous instruction that is no cell */
  KC_VEC(int32_t) unset; /* registers that get an unknown value before everything else */
  KC_VEC(uint8_t) label_in_prologue;
  KC_VEC(int32_t) label_uses; /* branches to it so far */
  bool in_prologue;
  int placed_at; /* index that the last placed label stands for, -1 none */
  int depth;
  int32_t dynamic_shared; /* object of extern __shared__ arrays, -1 none yet */
  uint64_t global_top;
  bool limit_noted;
  GHashTable *facts; /* local address -> Fact; NULL: none are kept */
  KC_VEC(FactChange) fact_log;
  KC_VEC(Allocation) allocations; /* ascending */
  KC_VEC(int) label_marks;        /* place in the log of the first jump to a label, -1 none */
  int escaped_written;            /* writes that may have hit any object whose address escaped */
  bool first_pass;                /* inside a loop that will be lowered again */
  LoopFacts last_loop;            /* of the loop lowered last */
  const LoopFacts *loop_facts;    /* of the first pass, for the next loop head */
  bool wants_unroll;    /* an asynchronous instruction writes registers at a computed index */
  KC_VEC(Round) rounds; /* in the order of the code */
  KC_VEC(int32_t) label_rounds; /* how many rounds began before a label was placed */
};

/* ---- emission (lower_emit.c) ---- */

/* Sets the position for what follows; returns the one before, for lower_back. */
AstNode *lower_here(Lower *l, AstNode *n);
/* Source stack of a node (may be NULL) of the function that `frame` is the activation of. */
uint32_t lower_where(Lower *l, AstNode *n, Frame *frame);
void lower_position(Lower *l); /* b->where for `here` */
IrInsn *lower_emit(Lower *l, IrOp op, IrType type, const IrOperand *args, int nargs);
IrInsn *lower_event(Lower *l, IrEvent event, const IrOperand *args, int nargs, uint64_t flags);
int32_t lower_temp(Lower *l, IrType type);
IrOperand lower_unary(Lower *l, IrOp op, IrType type, IrOperand a);
IrOperand lower_binary(Lower *l, IrOp op, IrType type, IrOperand a, IrOperand b);
IrOperand lower_compare(Lower *l, IrCompare compare, IrType type, IrOperand a, IrOperand b);
IrOperand lower_select(Lower *l, IrType type, IrOperand a, IrOperand b, IrOperand predicate);
/* A value of `type` that depends on `args` in a way that the IR does not represent. */
IrOperand lower_opaque(Lower *l, IrType type, const IrOperand *args, int nargs);
IrOperand lower_convert(Lower *l, IrOperand value, const CppType *from, const CppType *to);
/* A predicate (or a constant) that says whether a value of `type` is not zero. */
IrOperand lower_truth(Lower *l, IrOperand value, const CppType *type);
IrOperand lower_constant(int64_t value, IrType type); /* wrapped to the type */
IrOperand lower_to_reg(Lower *l, IrOperand value, IrType type);
void lower_move(Lower *l, int32_t reg, IrType type, IrOperand value);
int32_t lower_label(Lower *l);
void lower_place(Lower *l, int32_t label);
/* The label at the head of a loop; `loop` is for facts_loop_end. */
void lower_head(Lower *l, int32_t label, LoopFacts *loop);
/* As lower_place, when no branch to the label can follow: unused ones leave no trace. */
void lower_close(Lower *l, int32_t label);
void lower_jump(Lower *l, int32_t label);
/* Branches to `label` when the predicate equals `want`. */
void lower_branch(Lower *l, IrOperand predicate, int32_t label, bool want);
bool lower_reachable(Lower *l); /* false right after an unconditional branch or exit */
/* A note, and for one that may hide an event a havoc instruction; returns an unknown value. */
IrOperand lower_havoc(Lower *l, bool may_hide_event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline bool ir_is_imm(IrOperand o) {
  return o.kind == IR_OPD_IMM;
}
static inline bool ir_is_unknown(IrOperand o) {
  return o.kind == IR_OPD_UNKNOWN || o.kind == IR_OPD_NONE;
}

/* ---- facts (lower_facts.c) ---- */

void facts_allocated(Lower *l, uint64_t address, uint64_t bytes);
void facts_escape(Lower *l, IrOperand address);
bool facts_read(Lower *l, IrOperand address, const CppType *type, IrOperand *value);
void facts_stored(Lower *l, IrOperand address, const CppType *type, IrOperand value);
/* Something wrote there; bytes 0: nobody knows where. */
void facts_clobber(Lower *l, IrOperand address, uint64_t bytes);
void facts_jump(Lower *l, int32_t label);
/* At a label to which no further jump follows. */
void facts_join(Lower *l, int32_t label, bool falls_through);
void facts_forget_all(Lower *l);
void facts_rollback(Lower *l, int mark);
/* At the head of a loop: `earlier` (may be NULL) is what its first pass wrote. */
LoopFacts facts_loop_head(Lower *l, const LoopFacts *earlier);
/* Behind it: what the body did not write still holds. */
void facts_loop_end(Lower *l, LoopFacts *loop);

/* ---- memory (lower_memory.c) ---- */

IrOperand lower_allocate(Lower *l, const CppType *type, const char *name); /* address */
IrOperand address_add(IrOperand address, int64_t offset);
IrOperand address_index(Lower *l, IrOperand address, IrOperand index, const CppType *index_type,
                        uint64_t size);
IrOperand address_value(Lower *l, IrOperand address); /* as a pointer value */
IrOperand address_of_value(Lower *l, IrOperand pointer);
/* An address that stays what it is when registers are written later. */
IrOperand address_pin(Lower *l, IrOperand address);
/* Whether the operand gives the same value wherever it is read later: a constant, an address, or a
 * temporary (which is pinned). */
bool lower_is_stable(Lower *l, IrOperand value);
bool address_is_local(IrOperand address);
IrSpace address_space(Lower *l, IrOperand address);
/* The cell register of a scalar at a static local address; -1 when it must go through memory. */
int32_t lower_cell(Lower *l, IrOperand address, const CppType *type);
IrOperand lower_load(Lower *l, IrOperand address, const CppType *type, bool is_volatile);
void lower_store(Lower *l, IrOperand address, const CppType *type, IrOperand value,
                 bool is_volatile);
/* As lower_store, when `value` is not used again: the instruction that made it may write the cell
 * itself. */
void lower_store_last(Lower *l, IrOperand address, const CppType *type, IrOperand value,
                      bool is_volatile);
void lower_copy(Lower *l, IrOperand to, IrOperand from, const CppType *type);
void lower_zero(Lower *l, IrOperand address, const CppType *type);
/* What an unknown callee may have written through an address. */
void lower_forget(Lower *l, IrOperand address, const CppType *type);

/* ---- variables (lower_object.c) ---- */

Frame *frame_new(Lower *l, Frame *scope, Callee *callee);
/* Gives a frame back, unless a lambda was made since there were `closures`. */
void frame_done(Lower *l, Frame *frame, int closures);
/* Source stack of the call. */
uint32_t frame_where(Lower *l, Frame *frame);
Binding *frame_bind(Lower *l, Frame *frame, CXCursor declaration, IrOperand address,
                    const CppType *type);
/* Binds a scalar that never changes to its value. */
Binding *frame_bind_value(Lower *l, Frame *frame, CXCursor declaration, IrOperand value,
                          const CppType *type);
Binding *frame_find(Frame *frame, const void *key);
bool frame_self(Lower *l, IrOperand *address, const CppType **type);
/* The binding of a variable; global ones are made on first use. NULL when it is unbound. */
Binding *lower_variable(Lower *l, CXCursor variable);
Binding *lower_shared_variable(Lower *l, CXCursor variable);
/* Gives the fields of a record laid over dynamic shared memory their names, after the variable that
 * points or refers to it. */
void lower_name_dynamic(Lower *l, CXCursor variable, IrOperand address, const CppType *pointee);
/* The object a binding stands for (a temporary when it is a constant). */
IrOperand binding_address(Lower *l, const Binding *binding);
IrOperand lower_function_address(Lower *l, CXCursor function);
/* The special register that `base.member` means (threadIdx.x); false when it is none. */
bool lower_special(Lower *l, AstNode *member, IrOperand *out);
bool lower_is_special_variable(Lower *l, CXCursor variable, int *first);

/* ---- expressions ---- */

IrOperand lower_lvalue(Lower *l, AstNode *n); /* address */
IrOperand lower_temporary(Lower *l, AstNode *n);
IrOperand lower_value(Lower *l, AstNode *n);   /* value; of records and arrays the address */
void lower_effect(Lower *l, AstNode *n);       /* evaluated for its effects */
IrOperand lower_decayed(Lower *l, AstNode *n); /* address that a pointer expression holds */
/* Address of the object of `n`, an access to a member of class `owner` (`x.m`, `p->m`, `m`). */
/* The object that stands before a member's name, or NULL: `this`. */
AstNode *lower_named_object(Lower *l, AstNode *n);
IrOperand lower_object_of(Lower *l, AstNode *n, const CppType *owner);
/* Whether `n` names a bit-field; gives the address of the record that holds it. */
bool lower_bit_field(Lower *l, AstNode *n, CppField *field, IrOperand *record);
/* A cast to a reference: designates its operand under another type. */
bool lower_is_reference_cast(Lower *l, AstNode *n);
IrOperand lower_load_bits(Lower *l, IrOperand record, const CppField *field);
void lower_store_bits(Lower *l, IrOperand record, const CppField *field, IrOperand value);
IrOperand lower_cast(Lower *l, AstNode *n);
bool lower_is_volatile(Lower *l, AstNode *n);

IrOperand lower_unary_operator(Lower *l, AstNode *n);
IrOperand lower_binary_operator(Lower *l, AstNode *n);
/* `a = b`, `a += b`, `++a`: the value, and in `address` (may be NULL) where `a` is. `used`: whether
 * the value of a postfix operator is. */
IrOperand lower_assign(Lower *l, AstNode *n, IrOperand *address);
IrOperand lower_compound_assign(Lower *l, AstNode *n, IrOperand *address);
IrOperand lower_increment(Lower *l, AstNode *n, IrOperand *address, bool used);
IrOperand lower_conditional(Lower *l, AstNode *n);
/* Value of `n`, converted to `to` the way its type asks. */
IrOperand lower_value_as(Lower *l, AstNode *n, const CppType *to);
bool lower_constant_condition(Lower *l, AstNode *n, bool *value);
/* Which sides of a condition are taken, as far as the values that are known here tell. */
typedef enum { LOWER_BOTH, LOWER_FIRST, LOWER_SECOND } LowerSides;
/* Jumps to `otherwise` when the condition is false. When it is known, what stands next is the side
 * that is taken, with `otherwise` placed: the other side is not followed, and a recursion ends
 * there. */
LowerSides lower_sides(Lower *l, AstNode *condition, int32_t otherwise);
/* Jumps to `label` when the condition equals `want`. */
void lower_condition(Lower *l, AstNode *n, int32_t label, bool want);

/* ---- initialisation (lower_init.c) ---- */

void lower_init(Lower *l, IrOperand address, const CppType *type, AstNode *n);
void lower_default_init(Lower *l, IrOperand address, const CppType *type, bool zero);
void lower_construct(Lower *l, IrOperand address, const CppType *type, CXCursor constructor,
                     AstNode **args, int nargs, AstNode *call);
void lower_member_inits(Lower *l, AstNode *definition, IrOperand self, const CppType *type);
void lower_destroy(Lower *l, IrOperand address, const CppType *type);

/* ---- calls ---- */

typedef struct Call {
  AstNode *node;
  Callee *callee;   /* NULL: unresolved */
  const char *name; /* qualified where that is known */
  AstNode **args;
  int nargs;
  bool has_object;
  IrOperand object; /* address */
  AstNode *object_node;
} Call;

/* Value; the address of the object for records and for functions that return a reference. */
IrOperand lower_call(Lower *l, AstNode *n);
IrOperand lower_inline(Lower *l, const Call *call, const CppType *constructed);
/* Makes the closure object of a lambda expression at `address` (kind NONE: in a new temporary). */
IrOperand lower_lambda(Lower *l, AstNode *n, IrOperand address);
/* A call whose callee clang could not resolve. */
IrOperand lower_unresolved_call(Lower *l, AstNode *n);
bool lower_is_unresolved_call(Lower *l, AstNode *n);
void lower_closure_copied(Lower *l, IrOperand to, IrOperand from, const CppType *type);
/* The function that a function-pointer expression is known to hold, or NULL. */
Callee *lower_function_value(Lower *l, AstNode *n);
/* The value of an argument; of records the address; unknown when there is none. */
IrOperand lower_call_argument(Lower *l, const Call *call, int index);
/* An argument left to the parameter's default. */
bool lower_is_default_argument(Lower *l, AstNode *n);

/* A function whose body says nothing about the protocol (host libraries, number formats). */
bool lower_is_opaque_call(Lower *l, Callee *callee);
IrOperand lower_unknown_call(Lower *l, const Call *call);
bool lower_dialect_call(Lower *l, const Call *call, IrOperand *result);
bool lower_may_reach_event(Lower *l, AstNode *n);
bool callee_may_reach_event(Lower *l, Callee *callee);
int callee_asms(Lower *l, Callee *callee);
IrOperand lower_unknown_result(Lower *l, const Call *call);
void lower_arguments_for_effect(Lower *l, const Call *call);

/* ---- builtins ---- */

typedef bool (*BuiltinHandler)(Lower *l, const Call *call, int variant, IrOperand *result);

struct LowerBuiltin {
  const char *name;
  BuiltinHandler handler;
  int variant;
  bool is_event; /* it synchronises, or may */
};

const LowerBuiltin *builtin_find(Lower *l, Callee *callee);
const LowerBuiltin *builtin_warp(const char *name);
const LowerBuiltin *builtin_host(const char *name);
const LowerBuiltin *builtin_wmma(const char *name);  /* of nvcuda::wmma */
const LowerBuiltin *builtin_group(const char *name); /* of cooperative_groups */
/* cuTensorMapEncodeTiled, also through the pointer that cudaGetDriverEntryPoint gives. */
/* The value of cudaDeviceProp::major or ::minor in a host program; false for any other member. */
bool lower_device_property(Lower *l, CXCursor member, const CppType *type, IrOperand *result);
bool lower_encode_tiled(Lower *l, const Call *call, IrOperand *result);
bool lower_kernel_launch(Lower *l, const Call *call, IrOperand *result);

/* ---- statements ---- */

void lower_statement(Lower *l, AstNode *n);
void lower_declaration(Lower *l, AstNode *n);
void lower_local_variable(Lower *l, AstNode *n);
void lower_loop(Lower *l, AstNode *n); /* for, while, do, range-for */
void lower_switch(Lower *l, AstNode *n);

/* The parts of a for statement; NULL where there is none. */
typedef struct ForParts {
  AstNode *init, *variable, *condition, *increment, *body;
} ForParts;

/* A loop over known values of one integer variable that its body only reads. */
typedef struct Induction {
  CXCursor variable;
  const CppType *type;
  int64_t first, step, count;
} Induction;

/* State to come back to when code has to be lowered again. */
typedef struct Checkpoint {
  int insns, labels, notes, asms, violations, closures, cases, placed_at, facts, unset, rounds;
  uint64_t local_top;
  int reachable_asm, lowered_asm, reachable_calls, lowered_calls;
} Checkpoint;

/* ---- rounds of loops (lower_rounds.c) ---- */

/* The body of a loop begins, or ends; `round` is what the beginning returned. */
int rounds_begin(Lower *l);
void rounds_end(Lower *l, int round);
/* A label was placed at the end of the code. */
void rounds_label(Lower *l, int32_t label);
/* Whether the code since `before` has a wgmma that reads A from registers of objects made there. */
bool rounds_make_fragments(const Lower *l, const Checkpoint *before);
/* Puts the markers in; after the last instruction of the body, before the prologue is inserted. */
void rounds_insert(Lower *l);

bool lower_induction(Lower *l, const ForParts *parts, Induction *out);
Checkpoint lower_checkpoint(Lower *l);
void lower_rollback(Lower *l, const Checkpoint *checkpoint);
/* The constant that an expression is here, constants of inlined arguments included. Emits nothing.
 */
bool lower_fold(Lower *l, AstNode *n, const CppType *as, int64_t *value);
void lower_asm(Lower *l, AstNode *n);
void lower_cleanups(Lower *l, int keep); /* destructors of the scopes above; the list stays */
void lower_leave_scope(Lower *l, int keep);

/* Text of an operand as the outermost user code wrote it, or NULL. */
const char *lower_text(Lower *l, AstNode *n);
const char *lower_text_in(Lower *l, AstNode *n, Frame *frame, int depth);

#endif
