/* lower (private): C++ types and syntax-tree nodes, asked of libclang once and kept. */
#ifndef KC_CUDA_LOWER_AST_H
#define KC_CUDA_LOWER_AST_H

#include <glib.h>

#include "cuda/unit.h"

#define LOWER_LEAF_LIMIT 512 /* scalars copied one by one; more as a block */

typedef struct Lower Lower;
typedef struct AstNode AstNode;

/* ---- types ---- */

typedef enum CppKind {
  CPP_OTHER, /* unknown, dependent, pointer to member */
  CPP_VOID,
  CPP_INT, /* integers, bool, characters, enumerations */
  CPP_FLOAT,
  CPP_POINTER,
  CPP_REFERENCE,
  CPP_RECORD,
  CPP_ARRAY, /* also vectors */
  CPP_FUNCTION
} CppKind;

typedef struct CppType CppType;

typedef struct CppField {
  const CppType *type;
  CXCursor decl;   /* FieldDecl, or CXXBaseSpecifier */
  const void *key; /* of the FieldDecl */
  uint64_t offset; /* bytes; of a bit-field: of the byte that holds its first bit */
  bool is_base;
  bool init_known;
  AstNode *init;       /* `= value` of its declaration; lower_init.c */
  int bit_width;       /* 0: no bit-field */
  uint64_t bit_offset; /* of a bit-field: from the start of the record */
} CppField;

typedef struct CppLeaf {
  uint64_t offset;
  const CppType *type;
} CppLeaf;

struct CppType {
  CppKind kind;
  IrType ir; /* scalars */
  bool is_bool;
  bool is_union;
  bool is_closure; /* of a lambda: captures are kept by the lowering, not in memory */
  uint64_t bytes;
  uint32_t align;
  const CppType *elem; /* of pointers, references, arrays */
  CppType *decayed;    /* of arrays: cpp_decayed() */
  int64_t count;       /* arrays; -1: no bound */
  CXType type;         /* canonical, unqualified */
  CXCursor decl;       /* records */
  const void *key;     /* records: identity of the declaration */
  bool laid_out;
  KC_VEC(CppField) fields; /* bases first; cpp_fields() */
  bool leaves_known;
  KC_VEC(CppLeaf) leaves; /* cpp_leaves() */
  int overlay;            /* 0 unknown, 1 no, 2 has unions or bit-fields */
  bool special_known[2];
  CXCursor special[2]; /* default constructor, destructor; cpp_special_member() */
  int cleanup;         /* 0 unknown, 1 no, 2 has a destructor that does something */
};

const CppType *cpp_type(Lower *l, CXType type);
const CppType *cpp_cursor_type(Lower *l, CXCursor cursor);
/* A plain scalar that no cursor names: cpp_scalar(l, CXType_Int). */
const CppType *cpp_scalar(Lower *l, CXTypeKind kind);
/* The pointer that an array type decays to. */
const CppType *cpp_decayed(Lower *l, const CppType *array);
const CppType *cpp_fields(Lower *l, const CppType *type);
/* The scalars inside, in order of offset; false when there are more than LOWER_LEAF_LIMIT. */
bool cpp_leaves(Lower *l, const CppType *type);
bool cpp_has_overlay(Lower *l, const CppType *type);
/* Offset of base class `base` in `derived`; -1 when it is none. */
int64_t cpp_base_offset(Lower *l, const CppType *derived, const CppType *base);
/* As cpp_base_offset, also for the unnamed structs and unions among the members. */
int64_t cpp_part_offset(Lower *l, const CppType *whole, const CppType *part);
bool cpp_has_bit_fields(Lower *l, const CppType *type); /* of its own */
bool cpp_same(const CppType *a, const CppType *b);
/* The default constructor or the destructor of a record; null cursor when there is none. */
CXCursor cpp_special_member(Lower *l, const CppType *record, CXCursorKind kind);
/* A constructor with a body and the same parameters as one of another class; else null cursor. */
CXCursor cpp_constructor_like(Lower *l, const CppType *record, CXCursor constructor);
/* The conversion of a record to a number; the constructor that makes one of a number. libclang
 * shows initialiser lists as they are written, without the conversions. Null cursor when there is
 * none. */
CXCursor cpp_conversion(Lower *l, const CppType *record);
CXCursor cpp_converting_constructor(Lower *l, const CppType *record);
bool cpp_needs_cleanup(Lower *l, const CppType *type);
const char *cpp_name(Lower *l, const CppType *type);

static inline bool cpp_is_scalar(const CppType *t) {
  return t->kind == CPP_INT || t->kind == CPP_FLOAT || t->kind == CPP_POINTER ||
         t->kind == CPP_REFERENCE;
}
static inline bool cpp_is_number(const CppType *t) { /* has a value that the IR represents */
  return t->kind == CPP_INT || t->kind == CPP_POINTER || t->kind == CPP_REFERENCE;
}
static inline bool cpp_is_object(const CppType *t) { /* values are handled by address */
  return t->kind == CPP_RECORD || t->kind == CPP_ARRAY;
}
static inline const CppType *cpp_referent(const CppType *t) {
  return t->kind == CPP_REFERENCE ? t->elem : t;
}

/* ---- nodes ---- */

struct AstNode {
  CXCursor cursor;
  CXCursorKind kind;
  bool expanded;
  int8_t constant;  /* 0 unknown, 1 none, 2 value */
  int8_t pure;      /* 0 unknown, 1 no, 2 yes */
  int8_t evaluable; /* the same */
  int8_t where_known;
  const CppType *type; /* ast_type() */
  AstNode **kids;      /* all children */
  AstNode **parts;     /* children without references to types, names and attributes */
  int nkids, nparts;
  AstNode **arguments; /* of calls */
  int narguments;      /* -1: not asked */
  bool reference_known;
  CXCursor reference;
  int64_t value;
  struct AsmNode *assembly; /* parts of an asm statement; lower_asm.c */
  SourceRange range;
  uint32_t where, where_outer; /* stack id made last, and the frame it was made for */
};

AstNode *ast_node(Lower *l, CXCursor cursor);
void ast_expand(Lower *l, AstNode *n);
const CppType *ast_type(Lower *l, AstNode *n);
CXCursor ast_reference(Lower *l, AstNode *n); /* null cursor when none */
bool ast_constant(Lower *l, AstNode *n, int64_t *value);
/* No side effects, no memory read that a skipped evaluation would not do. */
bool ast_pure(Lower *l, AstNode *n);
int ast_arguments(Lower *l, AstNode *n);
bool ast_has_location(Lower *l, AstNode *n);
/* Without parentheses and wrappers that change nothing. */
AstNode *ast_strip(Lower *l, AstNode *n);
/* What a copy is made of, when `n` is the call of an implicit copy or move constructor that has no
 * declaration to refer to; else NULL. */
AstNode *ast_copied(Lower *l, AstNode *n);
/* Whether `parent` (may be NULL) is the implicit conversion that reads the variable that its child
 * names. */
bool ast_is_read(Lower *l, AstNode *parent);
/* A call of a function that returns a reference. */
bool ast_returns_reference(Lower *l, AstNode *n);
/* The variable's initialiser, or NULL. */
AstNode *ast_initializer(Lower *l, CXCursor variable);

static inline AstNode *ast_part(Lower *l, AstNode *n, int index) {
  ast_expand(l, n);
  return index < n->nparts ? n->parts[index] : NULL;
}
static inline AstNode *ast_last(Lower *l, AstNode *n) {
  ast_expand(l, n);
  return n->nparts > 0 ? n->parts[n->nparts - 1] : NULL;
}
static inline bool ast_is_expression(const AstNode *n) {
  return (n->kind >= CXCursor_FirstExpr && n->kind <= CXCursor_LastExpr) ||
         n->kind == CXCursor_BuiltinBitCastExpr;
}
static inline bool ast_is_cast(CXCursorKind kind) {
  return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
         kind == CXCursor_CXXReinterpretCastExpr || kind == CXCursor_CXXConstCastExpr ||
         kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CXXDynamicCastExpr ||
         kind == CXCursor_CXXAddrspaceCastExpr;
}
static inline bool ast_is_reference_kind(CXCursorKind kind) {
  return kind >= CXCursor_TypeRef && kind <= CXCursor_VariableRef &&
         kind != CXCursor_CXXBaseSpecifier;
}
static inline const void *ast_key(CXCursor declaration) { /* identity of a declaration */
  return declaration.data[0];
}
static inline bool ast_is_null(CXCursor cursor) {
  return unit_is_null(cursor);
}

/* What is asked of one variable or parameter again and again. */
typedef struct Declaration {
  CXCursor cursor;
  const char *name;
  bool init_known, constant_known;
  AstNode *init;    /* NULL: none */
  int8_t shared;    /* 0 unknown, 1 no, 2 __shared__ */
  int8_t special;   /* 0 unknown, 1 no, 2 threadIdx and its like */
  bool is_constant; /* its value is known to clang */
  int64_t constant;
  int first_special; /* IrSpecial of .x */
} Declaration;

Declaration *declaration_of(Lower *l, CXCursor cursor);
bool declaration_is_shared(Lower *l, CXCursor variable);
/* The value of a const or constexpr variable. */
bool declaration_constant(Lower *l, CXCursor variable, int64_t *value);
static inline const char *declaration_name(Lower *l, CXCursor cursor) {
  return declaration_of(l, cursor)->name;
}

#endif
