/* Attributes and parameters of kernels. */
#include "cuda/describe.h"

#include <glib.h>
#include <string.h>

#define MAX_LEAVES 512

/* ---- attributes ---- */

/* Values of the arguments of the twin attribute `name`; those that are no constants stay as they
 * are. Returns whether the attribute is there. */
static bool attribute_values(CudaUnit *unit, CXCursor function, const char *name, int *const *out,
                             int count) {
  CursorList arguments = {0};
  if (!unit_attribute(unit, function, name, &arguments)) return false;
  if (function.kind == CXCursor_FunctionTemplate) return true; /* clang scrambles them there */
  for (int i = 0; i < count && i < arguments.count; i++) {
    int64_t value;
    if (unit_evaluate(unit, arguments.items[i], &value, NULL) && value >= 0 && value < INT32_MAX)
      *out[i] = (int)value;
  }
  return true;
}

static uint32_t attribute_place(CudaUnit *unit, CXCursor function, const char *name) {
  g_autofree char *wanted = g_strconcat("kcheck.", name, NULL);
  CursorList children = unit_children(unit, function);
  for (int i = 0; i < children.count; i++)
    if (children.items[i].kind == CXCursor_AnnotateAttr &&
        strcmp(unit_name(unit, children.items[i]), wanted) == 0)
      return source_stack(&unit->program->sources, unit_cursor_range(unit, children.items[i]), 0,
                          NULL);
  return 0;
}

static void describe_attributes(CudaUnit *unit, CXCursor function, IrKernel *kernel) {
  int *const bounds[] = {&kernel->max_threads, &kernel->min_blocks,
                         &kernel->max_blocks_per_cluster};
  int *const cluster[] = {&kernel->cluster_dims[0], &kernel->cluster_dims[1],
                          &kernel->cluster_dims[2]};
  int *const block[] = {&kernel->reqntid[0], &kernel->reqntid[1], &kernel->reqntid[2]};
  int *const registers[] = {&kernel->maxnreg};
  kernel->has_launch_bounds = attribute_values(unit, function, "launch_bounds", bounds, 3);
  attribute_values(unit, function, "maxnreg", registers, 1);
  /* dimensions that are not written are 1 */
  if (attribute_values(unit, function, "cluster_dims", cluster, 3) && kernel->cluster_dims[0])
    for (int i = 1; i < 3; i++)
      if (!kernel->cluster_dims[i]) kernel->cluster_dims[i] = 1;
  if (attribute_values(unit, function, "block_size", block, 3) && kernel->reqntid[0])
    for (int i = 1; i < 3; i++)
      if (!kernel->reqntid[i]) kernel->reqntid[i] = 1;
  if (kernel->has_launch_bounds)
    kernel->attr_where = attribute_place(unit, function, "launch_bounds");
}

/* ---- the size of the block, by name ---- */

/* Whether a template parameter is named as the number of threads of a block: kThreads, BLOCK_SIZE,
 * num_threads. Tiles are named BLOCK_M, BLOCK, TILE. */
static bool names_block(const char *name) {
  static const char *const NAMES[] = {"blocksize", "blockthreads",    "threads",
                                      "blockdim",  "threadsperblock", "threadspercta"};
  g_autoptr(GString) plain = g_string_new(NULL);
  if (name[0] == 'k' && g_ascii_isupper(name[1])) name++;
  for (; *name; name++)
    if (*name != '_') g_string_append_c(plain, g_ascii_tolower(*name));
  const char *text = plain->str;
  if (g_str_has_prefix(text, "num")) text += 3;
  if (g_str_has_prefix(text, "nthreads")) text++;
  for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++)
    if (strcmp(text, NAMES[i]) == 0) return true;
  return false;
}

static bool is_template_parameter(int kind) {
  return kind == CXCursor_NonTypeTemplateParameter || kind == CXCursor_TemplateTypeParameter ||
         kind == CXCursor_TemplateTemplateParameter;
}

static void describe_block(CudaUnit *unit, CXCursor function, IrKernel *kernel) {
  const Clang *clang = unit->clang;
  CXCursor pattern = clang->getSpecializedCursorTemplate(function);
  int count = clang->Cursor_getNumTemplateArguments(function);
  if (unit_is_null(pattern) || count <= 0) return;
  CursorList children = unit_children(unit, pattern);
  unsigned at = 0;
  for (int i = 0; i < children.count && at < (unsigned)count; i++) {
    CXCursor child = children.items[i];
    if (!is_template_parameter(child.kind)) continue;
    unsigned index = at++;
    if (child.kind != CXCursor_NonTypeTemplateParameter || !names_block(unit_name(unit, child)) ||
        clang->Cursor_getTemplateArgumentKind(function, index) != CXTemplateArgumentKind_Integral)
      continue;
    int64_t value = clang->Cursor_getTemplateArgumentValue(function, index);
    if (value > 0 && value <= 1024 && !kernel->named_block) kernel->named_block = (int)value;
  }
}

/* ---- parameters ---- */

static IrType scalar_type(CudaUnit *unit, CXType type) {
  int64_t bytes = unit->clang->Type_getSizeOf(type);
  if (bytes < 1 || bytes > 16) return IR_TYPE_NONE;
  switch (type.kind) {
  case CXType_Char_S:
  case CXType_SChar:
  case CXType_Short:
  case CXType_Int:
  case CXType_Long:
  case CXType_LongLong:
  case CXType_Int128: return IR_TYPE_S((uint8_t)bytes);
  case CXType_Float:
  case CXType_Double:
  case CXType_Half:
  case CXType_Float16:
  case CXType_BFloat16: return IR_TYPE_F((uint8_t)bytes);
  default: return IR_TYPE_U((uint8_t)bytes);
  }
}

/* Records that are a number to the kernel: half and its relatives. */
static bool is_number_record(const char *name) {
  static const char *const NAMES[] = {"__half",         "__half2",         "__nv_bfloat16",
                                      "__nv_bfloat162", "cutlass::half_t", "cutlass::bfloat16_t"};
  for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++)
    if (strcmp(name, NAMES[i]) == 0) return true;
  return g_str_has_prefix(name, "__nv_fp8") || g_str_has_prefix(name, "__nv_fp6") ||
         g_str_has_prefix(name, "__nv_fp4") || g_str_has_prefix(name, "cutlass::float_e");
}

static bool is_tensor_map(const char *name) {
  const char *last = strrchr(name, ':');
  last = last ? last + 1 : name;
  return strcmp(last, "CUtensorMap_st") == 0 || strcmp(last, "CUtensorMap") == 0;
}

static uint8_t leaf_kind(CudaUnit *unit, CXType type) {
  switch (type.kind) {
  case CXType_Pointer:
  case CXType_LValueReference:
  case CXType_RValueReference: return IR_LEAF_POINTER;
  case CXType_Float:
  case CXType_Double:
  case CXType_LongDouble:
  case CXType_Half:
  case CXType_Float16:
  case CXType_BFloat16: return IR_LEAF_FLOAT;
  case CXType_Record: {
    CXType plain = unit->clang->getUnqualifiedType(type);
    const char *name = unit_type_name(unit, plain);
    return is_tensor_map(name)      ? IR_LEAF_TENSOR_MAP
           : is_number_record(name) ? IR_LEAF_FLOAT
                                    : IR_LEAF_OTHER;
  }
  default:
    return type.kind >= CXType_Bool && type.kind <= CXType_Int128 ? IR_LEAF_INT
           : type.kind == CXType_Enum                             ? IR_LEAF_INT
                                                                  : IR_LEAF_OTHER;
  }
}

typedef struct LeafWalk {
  CudaUnit *unit;
  IrParam *param;
  uint64_t offset;  /* of the object whose fields are visited, in parameter space */
  const char *name; /* its name */
  CXType record;
} LeafWalk;

static void add_leaves(CudaUnit *unit, IrParam *param, CXType type, uint64_t offset,
                       const char *name);

static CXVisitorResult visit_field(CXCursor field, CXClientData data) {
  LeafWalk *walk = data;
  const Clang *clang = walk->unit->clang;
  int64_t bits = clang->Cursor_getOffsetOfField(field);
  if (bits < 0 || clang->Cursor_isBitField(field)) return CXVisit_Continue;
  const char *field_name = unit_name(walk->unit, field);
  const char *name =
      *field_name ? kc_printf(walk->unit->arena, "%s.%s", walk->name, field_name) : walk->name;
  add_leaves(walk->unit, walk->param, clang->getCursorType(field),
             walk->offset + (uint64_t)bits / 8, name);
  return CXVisit_Continue;
}

static CXVisitorResult visit_base(CXCursor base, CXClientData data) {
  LeafWalk *walk = data;
  const Clang *clang = walk->unit->clang;
  int64_t bits = clang->getOffsetOfBase(clang->getTypeDeclaration(walk->record), base);
  if (bits >= 0)
    add_leaves(walk->unit, walk->param, clang->getCursorType(base),
               walk->offset + (uint64_t)bits / 8, walk->name);
  return CXVisit_Continue;
}

static void add_leaf(CudaUnit *unit, IrParam *param, CXType type, uint64_t offset,
                     const char *name) {
  const Clang *clang = unit->clang;
  IrLeaf leaf = {.offset = offset, .name = name, .kind = leaf_kind(unit, type)};
  leaf.type = leaf.kind == IR_LEAF_FLOAT && type.kind == CXType_Record
                  ? IR_TYPE_F((uint8_t)clang->Type_getSizeOf(type))
                  : scalar_type(unit, type);
  if (leaf.kind == IR_LEAF_POINTER) {
    CXType pointee = clang->getCanonicalType(clang->getPointeeType(type));
    leaf.pointee_const = clang->isConstQualifiedType(pointee);
    leaf.pointee_kind = leaf_kind(unit, pointee);
    leaf.pointee = pointee.kind == CXType_Record ? IR_TYPE_NONE : scalar_type(unit, pointee);
    leaf.type = IR_TYPE_U(8);
  }
  KC_PUSH(unit->arena, param->leaves, leaf);
}

static void add_leaves(CudaUnit *unit, IrParam *param, CXType type, uint64_t offset,
                       const char *name) {
  const Clang *clang = unit->clang;
  type = clang->getCanonicalType(type);
  if (param->leaves.count >= MAX_LEAVES) return;
  if (type.kind == CXType_ConstantArray) {
    CXType element = clang->getArrayElementType(type);
    int64_t count = clang->getArraySize(type), bytes = clang->Type_getSizeOf(element);
    for (int64_t i = 0; i < count && bytes > 0 && param->leaves.count < MAX_LEAVES; i++)
      add_leaves(unit, param, element, offset + (uint64_t)(i * bytes),
                 kc_printf(unit->arena, "%s[%lld]", name, (long long)i));
    return;
  }
  bool record = type.kind == CXType_Record && leaf_kind(unit, type) == IR_LEAF_OTHER;
  if (!record) {
    add_leaf(unit, param, type, offset, name);
    return;
  }
  if (clang->getTypeDeclaration(type).kind == CXCursor_UnionDecl)
    return; /* which member counts is not known */
  LeafWalk walk = {unit, param, offset, name, type};
  if (clang->visitCXXBaseClasses && clang->getOffsetOfBase)
    clang->visitCXXBaseClasses(type, visit_base, &walk);
  clang->Type_visitFields(type, visit_field, &walk);
}

static void describe_params(CudaUnit *unit, CXCursor function, IrKernel *kernel) {
  const Clang *clang = unit->clang;
  uint64_t offset = 0;
  CursorList children = unit_children(unit, function);
  for (int i = 0; i < children.count; i++) {
    CXCursor child = children.items[i];
    if (child.kind != CXCursor_ParmDecl) continue;
    CXType type = clang->getCursorType(child);
    CXType canonical = clang->getCanonicalType(type);
    int64_t bytes = clang->Type_getSizeOf(canonical);
    uint64_t align = unit_alignment(unit, child);
    if (clang->Type_getAlignOf(canonical) > 0) align = (uint64_t)clang->Type_getAlignOf(canonical);
    IrParam param = {.name = unit_name(unit, child), .type = unit_type_name(unit, type)};
    param.bytes = bytes > 0 ? (uint64_t)bytes : 0;
    offset = (offset + align - 1) / align * align;
    param.offset = offset;
    offset += param.bytes;
    param.grid_constant = unit_attribute(unit, child, "grid_constant", NULL);
    param.is_record = canonical.kind == CXType_Record;
    param.where = source_stack(&unit->program->sources, unit_cursor_range(unit, child), 0, NULL);
    add_leaves(unit, &param, canonical, param.offset, param.name);
    KC_PUSH(unit->arena, kernel->params, param);
  }
}

void describe_kernel(CudaUnit *unit, CXCursor function, IrKernel *kernel) {
  kernel->name = unit_name(unit, function);
  kernel->instantiation = unit_instantiation_name(unit, function);
  const char *qualified = unit_qualified_name(unit, function);
  size_t outside = strlen(qualified) - strlen(kernel->name);
  if (outside > 0) kernel->scope = kc_strndup(unit->arena, qualified, outside);
  SourceRange place = unit_location(unit, unit->clang->getCursorLocation(function));
  place.end_column = place.column + (uint32_t)strlen(kernel->name);
  kernel->where = source_stack(&unit->program->sources, place, 0, kernel->name);
  describe_params(unit, function, kernel);
  if (kernel->is_host) return;
  describe_attributes(unit, function, kernel);
  describe_block(unit, function, kernel);
}
