/* ir: the Program that every front end writes and every engine reads.
 *
 * A kernel is one flat list of three-address instructions in source order, all device calls
 * inlined, with branch targets and immediate post-dominators. Both front ends (C++ through
 * libclang, PTX text) write the same list; nothing behind this header knows which one did. No SSA:
 * registers are variables. A scalar local's register *is* its memory cell (address, width), so
 * references and pointers to locals work without an address-taken analysis.
 *
 * Addresses are 64-bit generic addresses with windows (IR_SHARED_BASE ...). An operand of an
 * instruction whose `space` is shared may hold either the generic address or the 32-bit address in
 * the shared window (rank << 24 | offset): subtract IR_SHARED_BASE when it is not below it.
 */
#ifndef KC_IR_IR_H
#define KC_IR_IR_H

#include "support/arena.h"
#include "support/source.h"

/* ---- address windows (generic addresses) ---- */
#define IR_PARAM_BASE UINT64_C(0x10000)  /* kernel parameters, byte offset added */
#define IR_LOCAL_BASE UINT64_C(0x100000) /* per-thread objects, static addresses */
#define IR_LOCAL_END UINT64_C(0x10100000)
#define IR_SHARED_BASE UINT64_C(0x7e0000000000) /* + (CTA rank << 24) + offset */
#define IR_SHARED_END UINT64_C(0x7e0100000000)
#define IR_POINTER_BASE UINT64_C(0x500000000000) /* pointer parameter i points to + (i << 32) */
#define IR_POINTER_STRIDE UINT64_C(0x100000000)
#define IR_GLOBAL_BASE UINT64_C(0x600000000000)  /* __device__ and __constant__ objects */
#define IR_FUNCTION_BASE UINT64_C(0xf0000000000) /* + 16 * function id: address of a function */
#define IR_STRING_BASE UINT64_C(0xe0000000000)   /* string literals */

typedef enum IrClass {
  IR_CLASS_NONE,
  IR_CLASS_PRED,
  IR_CLASS_UINT,
  IR_CLASS_SINT,
  IR_CLASS_FLOAT
} IrClass;

/* A scalar type: class and width in bytes (predicates: 1). .bN of PTX is IR_CLASS_UINT. */
typedef struct IrType {
  uint8_t cls;
  uint8_t bytes;
} IrType;

#define IR_TYPE_NONE ((IrType){IR_CLASS_NONE, 0})
#define IR_TYPE_PRED ((IrType){IR_CLASS_PRED, 1})
#define IR_TYPE_U(bytes_) ((IrType){IR_CLASS_UINT, (bytes_)})
#define IR_TYPE_S(bytes_) ((IrType){IR_CLASS_SINT, (bytes_)})
#define IR_TYPE_F(bytes_) ((IrType){IR_CLASS_FLOAT, (bytes_)})

typedef enum IrSpace {
  IR_SPACE_NONE, /* for fences: all */
  IR_SPACE_GENERIC,
  IR_SPACE_SHARED, /* .shared, .shared::cta; plain or generic addresses */
  IR_SPACE_SHARED_CLUSTER,
  IR_SPACE_LOCAL,
  IR_SPACE_PARAM,
  IR_SPACE_GLOBAL,
  IR_SPACE_CONST,
  IR_SPACE_TMEM
} IrSpace;

typedef enum IrOp {
#define OP(name, operands) IR_##name,
#include "ir/ops.def"
#undef OP
  IR_OP_COUNT
} IrOp;

typedef enum IrEvent {
  IR_EV_none,
#define EVENT(name, mnemonic, roles) IR_EV_##name,
#include "ir/events.def"
#undef EVENT
  IR_EVENT_COUNT
} IrEvent;

typedef enum IrRole {
  IR_ROLE_none,
#define ROLE(name) IR_ROLE_##name,
#include "ir/roles.def"
#undef ROLE
  IR_ROLE_COUNT
} IrRole;

enum {
#define FLAG(name) IR_FLAGBIT_##name,
#include "ir/flags.def"
#undef FLAG
  IR_FLAG_COUNT
};
#define IR_FLAG(name) (UINT64_C(1) << IR_FLAGBIT_##name)

typedef enum IrCompare {
  IR_CMP_eq,
  IR_CMP_ne,
  IR_CMP_lt,
  IR_CMP_le,
  IR_CMP_gt,
  IR_CMP_ge
} IrCompare;
typedef enum IrAtom {
  IR_ATOM_add,
  IR_ATOM_sub,
  IR_ATOM_exch,
  IR_ATOM_min,
  IR_ATOM_max,
  IR_ATOM_and,
  IR_ATOM_or,
  IR_ATOM_xor,
  IR_ATOM_inc,
  IR_ATOM_dec,
  IR_ATOM_cas
} IrAtom;
typedef enum IrVote { IR_VOTE_all, IR_VOTE_any, IR_VOTE_uni, IR_VOTE_ballot, IR_VOTE_count } IrVote;
typedef enum IrShuffle { IR_SHFL_idx, IR_SHFL_up, IR_SHFL_down, IR_SHFL_bfly } IrShuffle;
typedef enum IrShf {
  IR_SHF_left_clamp,
  IR_SHF_left_wrap,
  IR_SHF_right_clamp,
  IR_SHF_right_wrap
} IrShf;

/* Special registers (PTX ISA section 10). */
typedef enum IrSpecial {
  IR_SREG_tid_x,
  IR_SREG_tid_y,
  IR_SREG_tid_z,
  IR_SREG_ntid_x,
  IR_SREG_ntid_y,
  IR_SREG_ntid_z,
  IR_SREG_ctaid_x,
  IR_SREG_ctaid_y,
  IR_SREG_ctaid_z,
  IR_SREG_nctaid_x,
  IR_SREG_nctaid_y,
  IR_SREG_nctaid_z,
  IR_SREG_clusterid_x,
  IR_SREG_clusterid_y,
  IR_SREG_clusterid_z,
  IR_SREG_nclusterid_x,
  IR_SREG_nclusterid_y,
  IR_SREG_nclusterid_z,
  IR_SREG_cluster_ctaid_x,
  IR_SREG_cluster_ctaid_y,
  IR_SREG_cluster_ctaid_z,
  IR_SREG_cluster_nctaid_x,
  IR_SREG_cluster_nctaid_y,
  IR_SREG_cluster_nctaid_z,
  IR_SREG_cluster_ctarank,
  IR_SREG_cluster_nctarank,
  IR_SREG_is_explicit_cluster,
  IR_SREG_laneid,
  IR_SREG_warpid,
  IR_SREG_nwarpid,
  IR_SREG_smid,
  IR_SREG_nsmid,
  IR_SREG_gridid,
  IR_SREG_lanemask_eq,
  IR_SREG_lanemask_lt,
  IR_SREG_lanemask_le,
  IR_SREG_lanemask_gt,
  IR_SREG_lanemask_ge,
  IR_SREG_clock,
  IR_SREG_globaltimer,
  IR_SREG_dynamic_smem_size,
  IR_SREG_total_smem_size,
  IR_SREG_unknown,
  IR_SREG_COUNT
} IrSpecial;

typedef enum IrOperandKind {
  IR_OPD_NONE,
  IR_OPD_REG,     /* id: register; value: byte offset when it is an address */
  IR_OPD_IMM,     /* value; as an address, a constant generic (or in-space) address */
  IR_OPD_SPECIAL, /* id: IrSpecial */
  IR_OPD_OBJECT,  /* id: object of the kernel; value: byte offset. The generic address of it */
  IR_OPD_UNKNOWN, /* a value that can't be known (float literal, havoc) */
  IR_OPD_VECTOR,  /* list[id..]: `count` operands ({...} of PTX, coordinates, fragments) */
  IR_OPD_SINK     /* `_` */
} IrOperandKind;

typedef struct IrOperand {
  uint8_t kind;
  uint8_t role;    /* IrRole; events only */
  uint8_t negated; /* predicate operand: !p; integer operand: -x (from PTX text) */
  uint8_t reserved;
  int32_t id;
  int64_t value;
  const struct IrOperand *list; /* IR_OPD_VECTOR */
  int32_t count;                /* IR_OPD_VECTOR */
  IrType type;                  /* declared type of the C++ operand, or of the PTX register */
} IrOperand;

/* Numbers that an event's mnemonic carries. Unused fields are 0. */
typedef struct IrShape {
  uint16_t m, n, k; /* MMA shape; tcgen05.ld/st: m = lanes, n = bits, k = repetitions (.xN) */
  uint8_t a_type, b_type, d_type; /* IrData */
  uint8_t kind;                   /* IrKind of tcgen05.mma */
  uint8_t dim;                    /* dimensions of a tensor copy */
  uint8_t scale_vec;              /* 1, 2, 4, 16 (.block16), 32 (.block32) */
  uint32_t bytes; /* bytes moved by one executing thread, where the mnemonic says it */
} IrShape;

typedef enum IrData {
  IR_DATA_none,
  IR_DATA_f16,
  IR_DATA_bf16,
  IR_DATA_tf32,
  IR_DATA_f32,
  IR_DATA_f64,
  IR_DATA_e4m3,
  IR_DATA_e5m2,
  IR_DATA_e3m2,
  IR_DATA_e2m3,
  IR_DATA_e2m1,
  IR_DATA_s8,
  IR_DATA_u8,
  IR_DATA_s4,
  IR_DATA_u4,
  IR_DATA_b1,
  IR_DATA_s32,
  IR_DATA_ue8m0,
  IR_DATA_ue4m3
} IrData;
typedef enum IrKind {
  IR_KIND_none,
  IR_KIND_f16,
  IR_KIND_tf32,
  IR_KIND_f8f6f4,
  IR_KIND_i8,
  IR_KIND_mxf8f6f4,
  IR_KIND_mxf4,
  IR_KIND_mxf4nvf4
} IrKind;

typedef struct IrInsn {
  uint8_t op;    /* IrOp */
  uint8_t event; /* IrEvent when op is IR_event */
  uint8_t sub;   /* IrCompare, IrAtom, ... as ops.def says */
  uint8_t space; /* IrSpace; copies: of the destination */
  uint8_t src_space;
  IrType type;
  IrType type2;
  uint8_t vector; /* loads, stores: bytes of the vector access that begins here; 1: a later part of
                     one; 0: none */
  bool leader;    /* a branch target: fragments may merge here */
  bool guard_negated;
  int32_t guard;  /* predicate register, or -1 */
  int32_t target; /* branch: index of the target instruction */
  int32_t ipdom;  /* branch: immediate post-dominator; -1: none (the end) */
  uint16_t nargs;
  const IrOperand *args;
  uint64_t flags; /* IR_FLAG(...) */
  IrShape shape;
  uint32_t where;   /* source stack id */
  const char *text; /* events: source text of the barrier/address argument at the outermost wrapper
                       call ("&s.full[stage]") or PTX text; havoc: the reason; or NULL */
} IrInsn;

typedef struct IrReg {
  IrType type;
  uint64_t cell;    /* address of the local cell it stands for, or 0 */
  const char *name; /* C++ variable or PTX register, for messages, or NULL */
} IrReg;

/* A scalar array (or scalar) inside an object, with the name a person would write: used to say
 * "full[2]" for an address and to know the size of the array that a copy fills. */
typedef struct IrField {
  uint64_t offset;
  uint64_t elem_bytes; /* size of one element of the outermost dimension */
  uint64_t count;      /* elements of the outermost dimension; 1 for a scalar */
  IrType scalar;       /* innermost scalar type */
  const char *name;    /* "full", "s.a" (object name not repeated when the object is a struct) */
  const char *type;    /* C++ type spelling, or NULL */
} IrField;

typedef struct IrObject {
  const char *name;
  uint8_t space;    /* IrSpace: SHARED, LOCAL, PARAM, GLOBAL, CONST */
  bool dynamic;     /* extern __shared__ */
  bool read_only;   /* __constant__, const */
  uint64_t address; /* LOCAL, PARAM, GLOBAL: generic address; SHARED: decided by the machine */
  uint64_t bytes;   /* 0 when dynamic */
  uint32_t align;   /* declared alignment, bytes */
  uint32_t where;
  KC_VEC(IrField) fields;
} IrObject;

typedef enum IrLeafKind {
  IR_LEAF_INT,
  IR_LEAF_POINTER,
  IR_LEAF_FLOAT,
  IR_LEAF_TENSOR_MAP,
  IR_LEAF_OTHER
} IrLeafKind;

/* A scalar of a kernel parameter. */
typedef struct IrLeaf {
  uint64_t offset; /* from the start of parameter space */
  IrType type;
  uint8_t kind;         /* IrLeafKind */
  uint8_t pointee_kind; /* IrLeafKind of what a pointer points to */
  IrType pointee;
  bool pointee_const;
  const char *name; /* "params.k" */
} IrLeaf;

typedef struct IrParam {
  const char *name;
  const char *type; /* C++ spelling */
  uint64_t offset, bytes;
  bool grid_constant;
  bool is_record;
  uint32_t where;
  KC_VEC(IrLeaf) leaves;
} IrParam;

/* What one reachable asm statement looked like; the instruction and source engines read it. */
typedef struct IrAsm {
  const char *text; /* template, operands as in the source (%0 ...), immediates substituted */
  uint32_t where;
  bool is_volatile;
  bool memory_clobber;
  bool guarded_by_constant_false;
  const struct PtxInsn *insns; /* parsed instructions, or NULL when the text could not be parsed */
  int ninsns;
  const char *const *constraints; /* "=r", "l", "n" ... */
  const IrType *operand_types;
  int nconstraints;
} IrAsm;

typedef struct IrNote {
  const char *text; /* what could not be lowered */
  uint32_t where;
  bool may_hide_event; /* the construct contains or may reach an event: the kernel is partial */
} IrNote;

typedef struct IrKernel {
  const char *name;          /* "gemm" */
  const char *instantiation; /* "gemm<128, 4>", or the name */
  const char *scope;         /* namespaces and classes around it, "ns::Class::"; NULL: none */
  bool is_host;              /* a host function, run for its launches and attributes */
  uint32_t where;            /* its name in the source */
  bool body_lost;            /* declared with a body, but none could be had: not checked */
  bool is_pattern;           /* an uninstantiated template */
  bool asks_grid;            /* it asks whether its launch is cooperative (grid_group::is_valid) */
  bool lacks_arguments;      /* ... that uses the value of a template argument */
  bool has_launch_bounds;
  int max_threads, min_blocks, max_blocks_per_cluster; /* __launch_bounds__; 0: not given */
  int maxnreg;                                         /* __maxnreg__; 0: not given */
  int reqntid[3];                                      /* .reqntid / __block_size__; 0: not given */
  int cluster_dims[3];                                 /* __cluster_dims__; 0: not given */
  int named_block;     /* the template argument that is named as the threads of a block; 0: none */
  uint32_t attr_where; /* the launch-bounds attribute */
  KC_VEC(IrInsn) insns;
  KC_VEC(IrReg) regs;
  KC_VEC(IrObject) objects;
  KC_VEC(IrParam) params;
  KC_VEC(IrAsm) asms;
  KC_VEC(IrNote) notes;               /* empty: fully lowered */
  int reachable_asm, lowered_asm;     /* asm statements reachable / lowered */
  int reachable_calls, lowered_calls; /* device calls likewise */
  uint64_t local_bytes;
  KC_VEC(const char *) stage_constants; /* names of constants that size an mbarrier array */
  uint32_t cta_group_where[2];          /* first instruction with .cta_group::1, ::2; 0: none */
  char
      needs_suffix; /* 'a' or 'f': some instruction exists only on targets with that suffix; or 0 */
  uint32_t suffix_where;   /* the first such instruction */
  const char *suffix_text; /* its PTX text */
} IrKernel;

/* `// kcheck: launch(...)`, `assume(...)`, `tensormap(...)`, `event(...)`; ir/directive.h. */
typedef struct IrDirectives IrDirectives;

typedef struct IrFunction { /* a function whose address was taken, id = index */
  const char *name;
  const char *instantiation;
} IrFunction;

typedef struct IrDiagnostic { /* what the front end said about the file */
  SourceRange range;
  bool is_error;
  bool in_user_file;
  bool unread; /* what stands there (a header, a declaration for the device) could not be read */
  const char *text;
} IrDiagnostic;

typedef struct IrSkipped { /* text between #if and #endif that the preprocessor left out */
  SourceRange range;
} IrSkipped;

typedef struct IrConstant { /* a named integer that the text fixes */
  const char *name;
  int64_t value;
} IrConstant;

/* Kernels of library headers that the file launches through the library's own host functions: they
 * are not lowered. */
typedef struct IrLibraryKernels {
  int count;
  const char *first;    /* qualified name of one of them */
  bool is_template;     /* that one is an instantiation */
  SourceRange launched; /* the call in user code that leads to it */
  bool cut;             /* the library's functions were too many to follow: there may be others */
} IrLibraryKernels;

/* What IR_EV_host_device asks for: numbers of enum cudaDeviceAttr (driver_types.h). */
enum { IR_DEVICE_PROCESSORS = 16, IR_DEVICE_MAJOR = 75, IR_DEVICE_MINOR = 76 };

typedef struct IrProgram {
  KcArena *arena;
  SourceMap sources;
  const char *path;           /* main file */
  const char *arch;           /* "sm_90a" that it was parsed for */
  bool toolkit_headers;       /* real CUDA toolkit headers were used */
  KC_VEC(IrKernel *) kernels; /* device kernels */
  KC_VEC(IrKernel *) hosts;   /* host functions that reach a launch, attribute or tensor map */
  KC_VEC(IrFunction) functions;
  KC_VEC(IrDiagnostic) diagnostics;
  KC_VEC(IrSkipped) skipped;
  IrDirectives *directives;
  KC_VEC(IrConstant) constants; /* that size rings or bound loops of a protocol; when asked for */
  int global_kernels_seen;      /* __global__ functions in user files, templates included */
  IrLibraryKernels library;
  int syntax_errors; /* errors that nvcc would report too */
} IrProgram;

/* ---- construction (builder.c) ---- */

IrProgram *ir_program_new(KcArena *arena, const char *path, const char *arch);
IrKernel *ir_kernel_new(IrProgram *program, const char *name, bool is_host);

typedef struct IrBuilder {
  IrProgram *program;
  IrKernel *kernel;
  KcArena *arena;
  uint32_t where;       /* given to each emitted instruction */
  const char *text;     /* given to each emitted event; see IrInsn.text */
  uint64_t extra_flags; /* or-ed into each emitted event (IR_FLAG(from_asm), memory_clobber ...) */
  uint64_t local_top;   /* next free local address */
  KC_VEC(int32_t) labels; /* label id -> instruction index, -1 while unplaced */
  void *cells;            /* (address, width) -> register */
} IrBuilder;

void ir_builder_init(IrBuilder *b, IrProgram *program, IrKernel *kernel);
int32_t ir_reg(IrBuilder *b, IrType type, const char *name);
/* The register that stands for the local cell (address, width). */
int32_t ir_cell(IrBuilder *b, uint64_t address, IrType type);
/* Reserves `bytes` of local memory; returns its generic address. */
uint64_t ir_local(IrBuilder *b, uint64_t bytes, uint32_t align);
int32_t ir_object(IrBuilder *b, IrObject object);
int32_t ir_label(IrBuilder *b);
void ir_place(IrBuilder *b, int32_t label);
/* Appends an instruction; `args` are copied. The pointer is valid until the next emit. */
IrInsn *ir_emit(IrBuilder *b, IrOp op, IrType type, const IrOperand *args, int nargs);
IrInsn *ir_emit_event(IrBuilder *b, IrEvent event, const IrOperand *args, int nargs,
                      uint64_t flags);
/* Branch to `label`; guard -1: always. */
IrInsn *ir_branch(IrBuilder *b, int32_t label, int32_t guard, bool negated);
/* Says that something could not be lowered. */
void ir_note(IrBuilder *b, bool may_hide_event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Resolves labels, appends a final exit, sets leaders and post-dominators. */
void ir_finish(IrBuilder *b);

static inline IrOperand ir_imm(int64_t value) {
  return (IrOperand){.kind = IR_OPD_IMM, .value = value};
}
static inline IrOperand ir_use(int32_t reg) {
  return (IrOperand){.kind = IR_OPD_REG, .id = reg};
}
static inline IrOperand ir_sreg(IrSpecial special) {
  return (IrOperand){.kind = IR_OPD_SPECIAL, .id = (int32_t)special};
}
static inline IrOperand ir_object_address(int32_t object, int64_t offset) {
  return (IrOperand){.kind = IR_OPD_OBJECT, .id = object, .value = offset};
}
static inline IrOperand ir_unknown(void) {
  return (IrOperand){.kind = IR_OPD_UNKNOWN};
}
static inline IrOperand ir_as(IrOperand operand, IrRole role) {
  operand.role = (uint8_t)role;
  return operand;
}

/* ---- reading ---- */

/* The operand of an event with `role`, or NULL. */
const IrOperand *ir_arg(const IrInsn *insn, IrRole role);
/* Whether a launch or directive that names `written` means this kernel: "gemm<128, 4>" and "gemm"
 * both name the instantiation gemm<128, 4>; spaces and namespaces don't count. */
bool ir_kernel_is_named(const IrKernel *kernel, const char *written);
const char *ir_op_name(IrOp op);
const char *ir_event_name(IrEvent event);
const char *ir_event_mnemonic(IrEvent event);
const char *ir_role_name(IrRole role);
/* Whether an event synchronises, copies asynchronously or otherwise matters to the protocol (an
 * unknown branch over such an event can't simply be skipped). */
bool ir_is_protocol(const IrInsn *insn);
/* "full[2]" for offset `offset` of an object, by its fields; falls back to "name+0x10". */
char *ir_object_place(KcArena *arena, const IrObject *object, uint64_t offset);
/* Checks the invariants (operands in range, targets placed, roles known); aborts with a dump in
 * debug builds, returns false with `error` in release builds. */
struct KcError;
bool ir_verify(const IrProgram *program, struct KcError *error);
/* The text of --dump ir: one instruction a line. Caller frees with g_free. */
char *ir_print_kernel(const IrProgram *program, const IrKernel *kernel);

#endif
