/* The C interface of libclang, declared here and opened at run time, so that kcheck builds and
 * starts without LLVM. Types and values are the binary interface of libclang 17 to 22
 * (clang-c/Index.h); kinds are plain ints, so that a switch need not list two hundred of them.
 *
 * Calls read `clang->getCursorKind(c)`. A function newer than the opened version is NULL; those
 * that may be are marked in libclang.def (`since` above 17).
 */
#ifndef KC_CUDA_LIBCLANG_H
#define KC_CUDA_LIBCLANG_H

#include <stddef.h>

#include "support/error.h"

typedef int CXCursorKind;
typedef int CXTypeKind;
typedef int CXErrorCode;
typedef int CXDiagnosticSeverity;
typedef int CXTokenKind;
typedef int CXLinkageKind;
typedef int CXStorageClass;
typedef int CXTemplateArgumentKind;
typedef int CXEvalResultKind;
typedef int CXBinaryOperatorKind;
typedef int CXUnaryOperatorKind;
typedef int CXRefQualifierKind;
typedef int CXPrintingPolicyProperty;

typedef void *CXIndex;
typedef struct CXTranslationUnitImpl *CXTranslationUnit;
typedef void *CXFile;
typedef void *CXDiagnostic;
typedef void *CXDiagnosticSet;
typedef void *CXEvalResult;
typedef void *CXPrintingPolicy;
typedef void *CXClientData;

typedef struct CXIndexOptions {
  unsigned size; /* of this struct */
  unsigned char priority_for_indexing, priority_for_editing;
  unsigned exclude_declarations_from_pch : 1;
  unsigned display_diagnostics : 1;
  unsigned store_preambles_in_memory : 1;
  unsigned : 13;
  const char *preamble_storage_path, *invocation_emission_path;
} CXIndexOptions;
typedef struct CXString {
  const void *data;
  unsigned private_flags;
} CXString;
typedef struct CXSourceLocation {
  const void *ptr_data[2];
  unsigned int_data;
} CXSourceLocation;
typedef struct CXSourceRange {
  const void *ptr_data[2];
  unsigned begin_int_data;
  unsigned end_int_data;
} CXSourceRange;
typedef struct CXSourceRangeList {
  unsigned count;
  CXSourceRange *ranges;
} CXSourceRangeList;
typedef struct CXCursor {
  CXCursorKind kind;
  int xdata;
  const void *data[3];
} CXCursor;
typedef struct CXType {
  CXTypeKind kind;
  void *data[2];
} CXType;
typedef struct CXToken {
  unsigned int_data[4];
  void *ptr_data;
} CXToken;
struct CXUnsavedFile {
  const char *Filename;
  const char *Contents;
  unsigned long Length;
};

typedef enum CXChildVisitResult {
  CXChildVisit_Break,
  CXChildVisit_Continue,
  CXChildVisit_Recurse
} CXChildVisitResult;
typedef CXChildVisitResult (*CXCursorVisitor)(CXCursor cursor, CXCursor parent, CXClientData data);
typedef enum CXVisitorResult { CXVisit_Break, CXVisit_Continue } CXVisitorResult;
typedef CXVisitorResult (*CXFieldVisitor)(CXCursor cursor, CXClientData data);
typedef void (*CXInclusionVisitor)(CXFile file, CXSourceLocation *stack, unsigned depth,
                                   CXClientData data);

enum {
  CXError_Success,
  CXError_Failure,
  CXError_Crashed,
  CXError_InvalidArguments,
  CXError_ASTReadError
};

enum { /* options of parseTranslationUnit2 */
       CXTranslationUnit_DetailedPreprocessingRecord = 0x01,
       CXTranslationUnit_PrecompiledPreamble = 0x04,
       CXTranslationUnit_CreatePreambleOnFirstParse = 0x100,
       CXTranslationUnit_KeepGoing = 0x200
};

enum {
  CXDiagnostic_Ignored,
  CXDiagnostic_Note,
  CXDiagnostic_Warning,
  CXDiagnostic_Error,
  CXDiagnostic_Fatal
};

enum { CXToken_Punctuation, CXToken_Keyword, CXToken_Identifier, CXToken_Literal, CXToken_Comment };

enum { CX_SC_Invalid, CX_SC_None, CX_SC_Extern, CX_SC_Static };

enum { CXEval_UnExposed, CXEval_Int, CXEval_Float, CXEval_ObjCStrLiteral, CXEval_StrLiteral };

enum {
  CXTemplateArgumentKind_Null,
  CXTemplateArgumentKind_Type,
  CXTemplateArgumentKind_Declaration,
  CXTemplateArgumentKind_NullPtr,
  CXTemplateArgumentKind_Integral,
  CXTemplateArgumentKind_Template,
  CXTemplateArgumentKind_TemplateExpansion,
  CXTemplateArgumentKind_Expression,
  CXTemplateArgumentKind_Pack
};

enum { CXPrintingPolicy_TerseOutput = 17 };

enum { /* negative results of Type_getSizeOf, Type_getAlignOf, Type_getOffsetOf */
       CXTypeLayoutError_Invalid = -1,
       CXTypeLayoutError_Incomplete = -2,
       CXTypeLayoutError_Dependent = -3,
       CXTypeLayoutError_NotConstantSize = -4,
       CXTypeLayoutError_InvalidFieldName = -5,
       CXTypeLayoutError_Undeduced = -6
};

enum { /* cursor kinds */
       CXCursor_UnexposedDecl = 1,
       CXCursor_StructDecl,
       CXCursor_UnionDecl,
       CXCursor_ClassDecl,
       CXCursor_EnumDecl,
       CXCursor_FieldDecl,
       CXCursor_EnumConstantDecl,
       CXCursor_FunctionDecl,
       CXCursor_VarDecl,
       CXCursor_ParmDecl,
       CXCursor_TypedefDecl = 20,
       CXCursor_CXXMethod,
       CXCursor_Namespace,
       CXCursor_LinkageSpec,
       CXCursor_Constructor,
       CXCursor_Destructor,
       CXCursor_ConversionFunction,
       CXCursor_TemplateTypeParameter,
       CXCursor_NonTypeTemplateParameter,
       CXCursor_TemplateTemplateParameter,
       CXCursor_FunctionTemplate,
       CXCursor_ClassTemplate,
       CXCursor_ClassTemplatePartialSpecialization,
       CXCursor_NamespaceAlias,
       CXCursor_UsingDirective,
       CXCursor_UsingDeclaration,
       CXCursor_TypeAliasDecl,
       CXCursor_CXXAccessSpecifier = 39,
       CXCursor_TypeRef = 43,
       CXCursor_CXXBaseSpecifier,
       CXCursor_TemplateRef,
       CXCursor_NamespaceRef,
       CXCursor_MemberRef,
       CXCursor_LabelRef,
       CXCursor_OverloadedDeclRef,
       CXCursor_VariableRef,
       CXCursor_FirstInvalid = 70,
       CXCursor_LastInvalid = 73,
       CXCursor_FirstExpr = 100,
       CXCursor_UnexposedExpr = 100,
       CXCursor_DeclRefExpr,
       CXCursor_MemberRefExpr,
       CXCursor_CallExpr,
       CXCursor_BlockExpr = 105,
       CXCursor_IntegerLiteral,
       CXCursor_FloatingLiteral,
       CXCursor_ImaginaryLiteral,
       CXCursor_StringLiteral,
       CXCursor_CharacterLiteral,
       CXCursor_ParenExpr,
       CXCursor_UnaryOperator,
       CXCursor_ArraySubscriptExpr,
       CXCursor_BinaryOperator,
       CXCursor_CompoundAssignOperator,
       CXCursor_ConditionalOperator,
       CXCursor_CStyleCastExpr,
       CXCursor_CompoundLiteralExpr,
       CXCursor_InitListExpr,
       CXCursor_AddrLabelExpr,
       CXCursor_StmtExpr,
       CXCursor_GenericSelectionExpr,
       CXCursor_GNUNullExpr,
       CXCursor_CXXStaticCastExpr,
       CXCursor_CXXDynamicCastExpr,
       CXCursor_CXXReinterpretCastExpr,
       CXCursor_CXXConstCastExpr,
       CXCursor_CXXFunctionalCastExpr,
       CXCursor_CXXTypeidExpr,
       CXCursor_CXXBoolLiteralExpr,
       CXCursor_CXXNullPtrLiteralExpr,
       CXCursor_CXXThisExpr,
       CXCursor_CXXThrowExpr,
       CXCursor_CXXNewExpr,
       CXCursor_CXXDeleteExpr,
       CXCursor_UnaryExpr,
       CXCursor_PackExpansionExpr = 142,
       CXCursor_SizeOfPackExpr,
       CXCursor_LambdaExpr,
       CXCursor_CXXAddrspaceCastExpr = 152,
       CXCursor_ConceptSpecializationExpr,
       CXCursor_RequiresExpr,
       CXCursor_CXXParenListInitExpr,
       CXCursor_PackIndexingExpr,
       CXCursor_LastExpr = 199,
       CXCursor_FirstStmt = 200,
       CXCursor_UnexposedStmt = 200,
       CXCursor_LabelStmt,
       CXCursor_CompoundStmt,
       CXCursor_CaseStmt,
       CXCursor_DefaultStmt,
       CXCursor_IfStmt,
       CXCursor_SwitchStmt,
       CXCursor_WhileStmt,
       CXCursor_DoStmt,
       CXCursor_ForStmt,
       CXCursor_GotoStmt,
       CXCursor_IndirectGotoStmt,
       CXCursor_ContinueStmt,
       CXCursor_BreakStmt,
       CXCursor_ReturnStmt,
       CXCursor_GCCAsmStmt,
       CXCursor_CXXCatchStmt = 223,
       CXCursor_CXXTryStmt,
       CXCursor_CXXForRangeStmt,
       CXCursor_MSAsmStmt = 229,
       CXCursor_NullStmt,
       CXCursor_DeclStmt,
       CXCursor_BuiltinBitCastExpr = 280,
       CXCursor_LastStmt = 349,
       CXCursor_TranslationUnit = 350,
       CXCursor_FirstAttr = 400,
       CXCursor_UnexposedAttr = 400,
       CXCursor_AnnotateAttr = 406,
       CXCursor_CUDAConstantAttr = 412,
       CXCursor_CUDADeviceAttr,
       CXCursor_CUDAGlobalAttr,
       CXCursor_CUDAHostAttr,
       CXCursor_CUDASharedAttr,
       CXCursor_AlignedAttr = 441,
       CXCursor_LastAttr = 499,
       CXCursor_PreprocessingDirective = 500,
       CXCursor_MacroDefinition,
       CXCursor_MacroExpansion,
       CXCursor_InclusionDirective,
       CXCursor_TypeAliasTemplateDecl = 601,
       CXCursor_StaticAssert,
       CXCursor_FriendDecl,
       CXCursor_ConceptDecl
};

enum { /* type kinds */
       CXType_Invalid,
       CXType_Unexposed,
       CXType_Void,
       CXType_Bool,
       CXType_Char_U,
       CXType_UChar,
       CXType_Char16,
       CXType_Char32,
       CXType_UShort,
       CXType_UInt,
       CXType_ULong,
       CXType_ULongLong,
       CXType_UInt128,
       CXType_Char_S,
       CXType_SChar,
       CXType_WChar,
       CXType_Short,
       CXType_Int,
       CXType_Long,
       CXType_LongLong,
       CXType_Int128,
       CXType_Float,
       CXType_Double,
       CXType_LongDouble,
       CXType_NullPtr,
       CXType_Overload,
       CXType_Dependent,
       CXType_Float128 = 30,
       CXType_Half,
       CXType_Float16,
       CXType_BFloat16 = 39,
       CXType_Complex = 100,
       CXType_Pointer,
       CXType_BlockPointer,
       CXType_LValueReference,
       CXType_RValueReference,
       CXType_Record,
       CXType_Enum,
       CXType_Typedef,
       CXType_FunctionNoProto = 110,
       CXType_FunctionProto,
       CXType_ConstantArray,
       CXType_Vector,
       CXType_IncompleteArray,
       CXType_VariableArray,
       CXType_DependentSizedArray,
       CXType_MemberPointer,
       CXType_Auto,
       CXType_Elaborated,
       CXType_Attributed = 163,
       CXType_ExtVector = 176,
       CXType_Atomic
};

enum { /* getCursorBinaryOperatorKind */
       CXBinaryOperator_Invalid,
       CXBinaryOperator_PtrMemD,
       CXBinaryOperator_PtrMemI,
       CXBinaryOperator_Mul,
       CXBinaryOperator_Div,
       CXBinaryOperator_Rem,
       CXBinaryOperator_Add,
       CXBinaryOperator_Sub,
       CXBinaryOperator_Shl,
       CXBinaryOperator_Shr,
       CXBinaryOperator_Cmp,
       CXBinaryOperator_LT,
       CXBinaryOperator_GT,
       CXBinaryOperator_LE,
       CXBinaryOperator_GE,
       CXBinaryOperator_EQ,
       CXBinaryOperator_NE,
       CXBinaryOperator_And,
       CXBinaryOperator_Xor,
       CXBinaryOperator_Or,
       CXBinaryOperator_LAnd,
       CXBinaryOperator_LOr,
       CXBinaryOperator_Assign,
       CXBinaryOperator_MulAssign,
       CXBinaryOperator_DivAssign,
       CXBinaryOperator_RemAssign,
       CXBinaryOperator_AddAssign,
       CXBinaryOperator_SubAssign,
       CXBinaryOperator_ShlAssign,
       CXBinaryOperator_ShrAssign,
       CXBinaryOperator_AndAssign,
       CXBinaryOperator_XorAssign,
       CXBinaryOperator_OrAssign,
       CXBinaryOperator_Comma
};

enum { /* getCursorUnaryOperatorKind */
       CXUnaryOperator_Invalid,
       CXUnaryOperator_PostInc,
       CXUnaryOperator_PostDec,
       CXUnaryOperator_PreInc,
       CXUnaryOperator_PreDec,
       CXUnaryOperator_AddrOf,
       CXUnaryOperator_Deref,
       CXUnaryOperator_Plus,
       CXUnaryOperator_Minus,
       CXUnaryOperator_Not,
       CXUnaryOperator_LNot,
       CXUnaryOperator_Real,
       CXUnaryOperator_Imag,
       CXUnaryOperator_Extension,
       CXUnaryOperator_Coawait
};

typedef struct Clang {
  int version;      /* major: 22 */
  const char *path; /* file that was opened; lives until exit */
#define FN(since, result, name, parameters) result(*name) parameters;
#include "cuda/libclang.def"
#undef FN
} Clang;

/* Oldest version accepted, and the first that shows the operands of asm statements itself. */
#define CLANG_OLDEST 17
#define CLANG_ASM_API 21

/* Opens libclang into `clang`: the file named by KCHECK_LIBCLANG, else the newest of the usual
 * names and places. Fails, with a hint what to install, when there is none or only one older than
 * CLANG_OLDEST. The library stays mapped until exit (LLVM does not survive being unloaded). */
bool clang_open(Clang *clang, KcError *error);
/* Folder of clang's own headers for `clang` (the argument of -resource-dir), or NULL when they are
 * not installed (distributions ship them apart from the library); caller frees with g_free. */
char *clang_resource_dir(const Clang *clang);

#endif
