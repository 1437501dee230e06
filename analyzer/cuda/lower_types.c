/* C++ types as the lowering needs them: size, signedness, layout of records, their scalars. */
#include "cuda/lower_internal.h"

#include <string.h>

static const struct {
  CXTypeKind kind;
  uint8_t bytes;
  bool is_signed;
} INTEGERS[] = {
    {CXType_Bool, 1, false},      {CXType_Char_U, 1, false}, {CXType_UChar, 1, false},
    {CXType_Char_S, 1, true},     {CXType_SChar, 1, true},   {CXType_Short, 2, true},
    {CXType_UShort, 2, false},    {CXType_Int, 4, true},     {CXType_UInt, 4, false},
    {CXType_Long, 8, true},       {CXType_ULong, 8, false},  {CXType_LongLong, 8, true},
    {CXType_ULongLong, 8, false}, {CXType_Char16, 2, false}, {CXType_Char32, 4, false},
    {CXType_WChar, 4, true},      {CXType_Int128, 16, true}, {CXType_UInt128, 16, false},
};

static bool integer_type(CXTypeKind kind, CppType *t) {
  for (size_t i = 0; i < G_N_ELEMENTS(INTEGERS); i++) {
    if (INTEGERS[i].kind != kind) continue;
    t->kind = CPP_INT;
    t->ir = INTEGERS[i].is_signed ? IR_TYPE_S(INTEGERS[i].bytes) : IR_TYPE_U(INTEGERS[i].bytes);
    t->bytes = INTEGERS[i].bytes;
    t->align = INTEGERS[i].bytes;
    t->is_bool = kind == CXType_Bool;
    return true;
  }
  return false;
}

static void set_size(Lower *l, CppType *t) {
  long long size = l->clang->Type_getSizeOf(t->type), align = l->clang->Type_getAlignOf(t->type);
  t->bytes = size > 0 ? (uint64_t)size : 0;
  t->align = align > 0 ? (uint32_t)align : 1;
}

static void array_type(Lower *l, CppType *t) {
  t->kind = CPP_ARRAY;
  t->count = -1;
  switch (t->type.kind) {
  case CXType_Vector:
  case CXType_ExtVector:
    t->elem = cpp_type(l, l->clang->getElementType(t->type));
    t->count = l->clang->getNumElements(t->type);
    break;
  case CXType_ConstantArray:
    t->elem = cpp_type(l, l->clang->getArrayElementType(t->type));
    t->count = l->clang->getArraySize(t->type);
    break;
  default: t->elem = cpp_type(l, l->clang->getArrayElementType(t->type)); break;
  }
  if (t->count >= 0) set_size(l, t);
  t->align = t->elem->align;
}

static void record_type(Lower *l, CppType *t) {
  t->kind = CPP_RECORD;
  t->decl = l->clang->getTypeDeclaration(t->type);
  t->is_union = t->decl.kind == CXCursor_UnionDecl;
  CXCursor canonical = l->clang->getCanonicalCursor(t->decl);
  t->key = ast_key(canonical);
}

/* Types whose size may be asked: libclang crashes on the placeholder types of unresolved names. */
static bool has_size(CXTypeKind kind) {
  switch (kind) {
  case CXType_Record:
  case CXType_Enum:
  case CXType_Pointer:
  case CXType_ConstantArray:
  case CXType_Vector:
  case CXType_ExtVector:
  case CXType_Float:
  case CXType_Double:
  case CXType_LongDouble:
  case CXType_Float128:
  case CXType_Half:
  case CXType_Float16:
  case CXType_BFloat16: return true;
  default: return false;
  }
}

static void describe(Lower *l, CppType *t) {
  CXTypeKind kind = t->type.kind;
  if (has_size(kind)) set_size(l, t);
  if (integer_type(kind, t)) return;
  switch (kind) {
  case CXType_Void: t->kind = CPP_VOID; break;
  case CXType_Enum: {
    CXType underlying = l->clang->getEnumDeclIntegerType(l->clang->getTypeDeclaration(t->type));
    const CppType *under = cpp_type(l, underlying);
    t->kind = CPP_INT;
    t->ir = under->kind == CPP_INT ? under->ir : IR_TYPE_S(4);
    t->bytes = t->align = t->ir.bytes;
    break;
  }
  case CXType_Float:
  case CXType_Double:
  case CXType_LongDouble:
  case CXType_Float128:
  case CXType_Half:
  case CXType_Float16:
  case CXType_BFloat16:
    t->kind = CPP_FLOAT;
    t->ir = IR_TYPE_F((uint8_t)(t->bytes ? t->bytes : 4));
    break;
  case CXType_Pointer:
  case CXType_BlockPointer:
    t->kind = CPP_POINTER;
    t->ir = IR_TYPE_U(8);
    t->elem = cpp_type(l, l->clang->getPointeeType(t->type));
    break;
  case CXType_NullPtr:
    t->kind = CPP_POINTER;
    t->ir = IR_TYPE_U(8);
    t->bytes = t->align = 8;
    t->elem = cpp_scalar(l, CXType_Void);
    break;
  case CXType_LValueReference:
  case CXType_RValueReference:
    t->kind = CPP_REFERENCE;
    t->ir = IR_TYPE_U(8);
    t->bytes = 8; /* sizeof gives that of the referent */
    t->align = 8;
    t->elem = cpp_type(l, l->clang->getPointeeType(t->type));
    break;
  case CXType_Record: record_type(l, t); break;
  case CXType_ConstantArray:
  case CXType_IncompleteArray:
  case CXType_VariableArray:
  case CXType_Vector:
  case CXType_ExtVector: array_type(l, t); break;
  case CXType_FunctionProto:
  case CXType_FunctionNoProto: t->kind = CPP_FUNCTION; break;
  default: t->kind = CPP_OTHER; break;
  }
}

const CppType *cpp_type(Lower *l, CXType type) {
  CppType *found = g_hash_table_lookup(l->types, type.data[0]);
  if (found && type.data[0]) return found;
  CXType plain = l->clang->getCanonicalType(type);
  /* libclang crashes on the missing type of a declaration that it could not understand */
  if (plain.data[0]) plain = l->clang->getUnqualifiedType(plain);
  found = plain.data[0] ? g_hash_table_lookup(l->types, plain.data[0]) : NULL;
  if (!found) {
    found = KC_NEW(l->scratch, CppType);
    found->type = plain;
    found->align = 1;
    if (plain.data[0]) g_hash_table_insert(l->types, plain.data[0], found);
    if (plain.kind != CXType_Invalid) describe(l, found);
  }
  if (type.data[0]) g_hash_table_insert(l->types, type.data[0], found);
  return found;
}

const CppType *cpp_cursor_type(Lower *l, CXCursor cursor) {
  return cpp_type(l, l->clang->getCursorType(cursor));
}

const CppType *cpp_scalar(Lower *l, CXTypeKind kind) {
  gpointer key = GINT_TO_POINTER(kind); /* no QualType is that small */
  CppType *found = g_hash_table_lookup(l->types, key);
  if (found) return found;
  found = KC_NEW(l->scratch, CppType);
  found->type.kind = kind;
  if (kind == CXType_Void) found->kind = CPP_VOID;
  integer_type(kind, found);
  found->align = (uint32_t)MAX(found->bytes, 1);
  g_hash_table_insert(l->types, key, found);
  return found;
}

const CppType *cpp_decayed(Lower *l, const CppType *array) {
  CppType *t = (CppType *)array;
  if (!t->decayed) {
    t->decayed = KC_NEW(l->scratch, CppType);
    *t->decayed = (CppType){.kind = CPP_POINTER,
                            .ir = IR_TYPE_U(8),
                            .bytes = 8,
                            .align = 8,
                            .elem = array->elem,
                            .type = array->type};
  }
  return t->decayed;
}

bool cpp_same(const CppType *a, const CppType *b) {
  if (a == b) return true;
  if (a->kind != b->kind) return false;
  if (a->kind == CPP_RECORD) return a->key == b->key;
  if (a->kind == CPP_ARRAY) return a->count == b->count && cpp_same(a->elem, b->elem);
  if (a->kind == CPP_POINTER || a->kind == CPP_REFERENCE) return cpp_same(a->elem, b->elem);
  return a->kind == CPP_INT && a->type.kind == b->type.kind && a->type.kind != CXType_Enum;
}

/* ---- layout ---- */

typedef struct {
  Lower *l;
  CppType *record;
  CXCursor definition;
  uint64_t next_base; /* guess for libclang before 20 */
} Layout;

static void add_base(Layout *layout, CXCursor base) {
  Lower *l = layout->l;
  const CppType *type = cpp_cursor_type(l, base);
  long long bits = -1;
  if (l->clang->getOffsetOfBase) bits = l->clang->getOffsetOfBase(layout->definition, base);
  uint64_t offset = bits >= 0 ? (uint64_t)bits / 8 : 0;
  if (!l->clang->getOffsetOfBase && type->bytes > 1) {
    offset = (layout->next_base + type->align - 1) / type->align * type->align;
    layout->next_base = offset + type->bytes;
  }
  CppField field = {.type = type, .decl = base, .offset = offset, .is_base = true};
  KC_PUSH(l->scratch, layout->record->fields, field);
}

static CXVisitorResult visit_base(CXCursor cursor, CXClientData data) {
  add_base(data, cursor);
  return CXVisit_Continue;
}

static CXChildVisitResult visit_base_child(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  if (cursor.kind == CXCursor_CXXBaseSpecifier) add_base(data, cursor);
  return CXChildVisit_Continue;
}

static CXVisitorResult visit_field(CXCursor cursor, CXClientData data) {
  Layout *layout = data;
  Lower *l = layout->l;
  long long bits = l->clang->Cursor_getOffsetOfField(cursor);
  CppField field = {.type = cpp_cursor_type(l, cursor),
                    .decl = cursor,
                    .key = ast_key(cursor),
                    .bit_offset = bits > 0 ? (uint64_t)bits : 0};
  field.offset = field.bit_offset / 8;
  if (l->clang->Cursor_isBitField(cursor)) {
    int width = l->clang->getFieldDeclBitWidth(cursor);
    field.bit_width = width > 0 ? width : 1;
  }
  KC_PUSH(l->scratch, layout->record->fields, field);
  return CXVisit_Continue;
}

const CppType *cpp_fields(Lower *l, const CppType *type) {
  CppType *t = (CppType *)type;
  if (t->laid_out || t->kind != CPP_RECORD) return t;
  t->laid_out = true;
  CXCursor definition = l->clang->getCursorDefinition(t->decl);
  Layout layout = {l, t, ast_is_null(definition) ? t->decl : definition, 0};
  if (l->clang->visitCXXBaseClasses)
    l->clang->visitCXXBaseClasses(t->type, visit_base, &layout);
  else
    l->clang->visitChildren(layout.definition, visit_base_child, &layout);
  l->clang->Type_visitFields(t->type, visit_field, &layout);
  return t;
}

static bool add_leaf(Lower *l, CppType *t, uint64_t offset, const CppType *leaf) {
  if (t->leaves.count >= LOWER_LEAF_LIMIT) return false;
  for (int i = t->leaves.count - 1; i >= 0 && t->leaves.items[i].offset >= offset; i--)
    if (t->leaves.items[i].offset == offset) return true; /* unions: the first member */
  CppLeaf entry = {offset, leaf};
  KC_PUSH(l->scratch, t->leaves, entry);
  return true;
}

static bool add_leaves(Lower *l, CppType *t, uint64_t offset, const CppType *part) {
  if (cpp_is_scalar(part)) return add_leaf(l, t, offset, part);
  if (part->kind == CPP_ARRAY) {
    if (part->count > LOWER_LEAF_LIMIT && part->elem->bytes > 0) return false;
    for (int64_t i = 0; i < part->count; i++)
      if (!add_leaves(l, t, offset + (uint64_t)i * part->elem->bytes, part->elem)) return false;
    return true;
  }
  if (part->kind != CPP_RECORD || part->is_closure) return true;
  cpp_fields(l, part);
  for (int i = 0; i < part->fields.count; i++) {
    const CppField *f = &part->fields.items[i];
    if (!add_leaves(l, t, offset + f->offset, f->type)) return false;
  }
  return true;
}

bool cpp_leaves(Lower *l, const CppType *type) {
  CppType *t = (CppType *)type;
  if (!t->leaves_known) {
    t->leaves_known = true;
    if (!add_leaves(l, t, 0, t)) t->leaves.count = LOWER_LEAF_LIMIT + 1;
  }
  return t->leaves.count <= LOWER_LEAF_LIMIT;
}

bool cpp_has_overlay(Lower *l, const CppType *type) {
  CppType *t = (CppType *)type;
  if (t->kind == CPP_ARRAY) return cpp_has_overlay(l, t->elem);
  if (t->kind != CPP_RECORD) return false;
  if (t->overlay == 0) {
    t->overlay = 1;
    cpp_fields(l, t);
    bool found = t->is_union;
    for (int i = 0; i < t->fields.count && !found; i++)
      found = t->fields.items[i].bit_width > 0 || cpp_has_overlay(l, t->fields.items[i].type);
    if (found) t->overlay = 2;
  }
  return t->overlay == 2;
}

int64_t cpp_base_offset(Lower *l, const CppType *derived, const CppType *base) {
  if (cpp_same(derived, base)) return 0;
  if (derived->kind != CPP_RECORD) return -1;
  cpp_fields(l, derived);
  for (int i = 0; i < derived->fields.count; i++) {
    const CppField *f = &derived->fields.items[i];
    if (!f->is_base) continue;
    int64_t inner = cpp_base_offset(l, f->type, base);
    if (inner >= 0) return inner + (int64_t)f->offset;
  }
  return -1;
}

int64_t cpp_part_offset(Lower *l, const CppType *whole, const CppType *part) {
  if (cpp_same(whole, part)) return 0;
  if (whole->kind != CPP_RECORD) return -1;
  cpp_fields(l, whole);
  for (int i = 0; i < whole->fields.count; i++) {
    const CppField *f = &whole->fields.items[i];
    bool anonymous = !f->is_base && f->type->kind == CPP_RECORD &&
                     l->clang->Cursor_isAnonymousRecordDecl(f->type->decl);
    if (!f->is_base && !anonymous) continue;
    int64_t inner = cpp_part_offset(l, f->type, part);
    if (inner >= 0) return inner + (int64_t)f->offset;
  }
  return -1;
}

bool cpp_has_bit_fields(Lower *l, const CppType *type) {
  if (type->kind != CPP_RECORD) return false;
  cpp_fields(l, type);
  for (int i = 0; i < type->fields.count; i++)
    if (type->fields.items[i].bit_width > 0) return true;
  return false;
}

/* ---- members ---- */

typedef struct {
  Lower *l;
  CXCursorKind kind;
  CXCursor like;    /* a constructor whose parameters the wanted one has; null: the default one */
  bool from_number; /* a constructor that makes the record of one number */
  CXCursor found;
} MemberSearch;

static bool same_parameters(Lower *l, CXCursor a, CXCursor b) {
  CXType ta = l->clang->getCursorType(a), tb = l->clang->getCursorType(b);
  int count = l->clang->getNumArgTypes(ta);
  if (count != l->clang->getNumArgTypes(tb)) return false;
  for (int i = 0; i < count; i++)
    if (!l->clang->equalTypes(l->clang->getCanonicalType(l->clang->getArgType(ta, (unsigned)i)),
                              l->clang->getCanonicalType(l->clang->getArgType(tb, (unsigned)i))))
      return false;
  return true;
}

static bool takes_number(Lower *l, CXCursor constructor) {
  CXType type = l->clang->getCursorType(constructor);
  if (l->clang->CXXMethod_isDefaulted(constructor) || l->clang->getNumArgTypes(type) < 1)
    return false;
  return cpp_type(l, l->clang->getArgType(type, 0))->kind == CPP_INT;
}

static bool is_wanted_member(MemberSearch *search, CXCursor cursor) {
  Lower *l = search->l;
  if (cursor.kind != search->kind) return false;
  if (cursor.kind == CXCursor_ConversionFunction &&
      !cpp_is_number(cpp_type(l, l->clang->getCursorResultType(cursor))))
    return false;
  if (cursor.kind == CXCursor_Constructor && search->from_number) {
    if (!takes_number(l, cursor)) return false;
  } else if (cursor.kind == CXCursor_Constructor) {
    bool fits = ast_is_null(search->like) ? l->clang->CXXConstructor_isDefaultConstructor(cursor)
                                          : same_parameters(l, search->like, cursor);
    if (!fits) return false;
  }
  search->found = cursor;
  return true;
}

static CXVisitorResult visit_method(CXCursor cursor, CXClientData data) {
  return is_wanted_member(data, cursor) ? CXVisit_Break : CXVisit_Continue;
}

static CXChildVisitResult visit_member(CXCursor cursor, CXCursor parent, CXClientData data) {
  (void)parent;
  return is_wanted_member(data, cursor) ? CXChildVisit_Break : CXChildVisit_Continue;
}

static CXCursor find_member(Lower *l, const CppType *record, MemberSearch *search) {
  search->found = l->clang->getNullCursor();
  if (record->kind != CPP_RECORD) return search->found;
  if (l->clang->visitCXXMethods) {
    l->clang->visitCXXMethods(record->type, visit_method, search);
  } else {
    CXCursor definition = l->clang->getCursorDefinition(record->decl);
    l->clang->visitChildren(ast_is_null(definition) ? record->decl : definition, visit_member,
                            search);
  }
  return search->found;
}

CXCursor cpp_special_member(Lower *l, const CppType *record, CXCursorKind kind) {
  CppType *t = (CppType *)record;
  int which = kind == CXCursor_Destructor;
  if (!t->special_known[which]) {
    MemberSearch search = {.l = l, .kind = kind, .like = l->clang->getNullCursor()};
    t->special_known[which] = true;
    t->special[which] = find_member(l, record, &search);
  }
  return t->special[which];
}

CXCursor cpp_conversion(Lower *l, const CppType *record) {
  MemberSearch search = {
      .l = l, .kind = CXCursor_ConversionFunction, .like = l->clang->getNullCursor()};
  return find_member(l, record, &search);
}

CXCursor cpp_converting_constructor(Lower *l, const CppType *record) {
  MemberSearch search = {
      .l = l, .kind = CXCursor_Constructor, .like = l->clang->getNullCursor(), .from_number = true};
  return find_member(l, record, &search);
}

CXCursor cpp_constructor_like(Lower *l, const CppType *record, CXCursor constructor) {
  MemberSearch search = {.l = l, .kind = CXCursor_Constructor, .like = constructor};
  CXCursor found = find_member(l, record, &search);
  return !ast_is_null(found) && callee_has_body(l, callee_of(l, found)) ? found
                                                                        : l->clang->getNullCursor();
}

static bool destructor_works(Lower *l, const CppType *record) {
  CXCursor destructor = cpp_special_member(l, record, CXCursor_Destructor);
  if (ast_is_null(destructor)) return false;
  Callee *callee = callee_of(l, destructor);
  if (!callee_has_body(l, callee)) return false;
  ast_expand(l, callee->body);
  return callee->body->nparts > 0;
}

bool cpp_needs_cleanup(Lower *l, const CppType *type) {
  CppType *t = (CppType *)type;
  if (t->kind == CPP_ARRAY) return cpp_needs_cleanup(l, t->elem);
  if (t->kind != CPP_RECORD) return false;
  if (t->cleanup == 0) {
    t->cleanup = 1;
    bool works = destructor_works(l, t);
    cpp_fields(l, t);
    for (int i = 0; i < t->fields.count && !works; i++)
      works = cpp_needs_cleanup(l, t->fields.items[i].type);
    if (works) t->cleanup = 2;
  }
  return t->cleanup == 2;
}

const char *cpp_name(Lower *l, const CppType *type) {
  return unit_type_name(l->unit, type->type);
}
