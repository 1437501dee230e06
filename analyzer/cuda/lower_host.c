/* The host API: launches, function attributes and tensor maps become events of the host program;
 * every other call of the CUDA API succeeds and makes what it writes unknown. */
#include "cuda/lower_internal.h"

#include <string.h>

static IrOperand role(IrOperand operand, IrRole r) {
  return ir_as(operand, r);
}

/* The function that an argument names, as an address. */
static IrOperand kernel_argument(Lower *l, AstNode *n, const char **name) {
  Callee *callee = lower_function_value(l, n);
  if (callee) {
    *name = unit_instantiation_name(l->unit, callee->decl);
    return lower_function_address(l, callee->decl);
  }
  return lower_value(l, n);
}

/* Past the copy that passing a record by value makes: a tensor map is known by its address. */
static AstNode *passed(Lower *l, AstNode *n) {
  for (;;) {
    n = ast_strip(l, n);
    AstNode *copied = ast_copied(l, n);
    bool constructs =
        n->kind == CXCursor_CallExpr && ast_reference(l, n).kind == CXCursor_Constructor &&
        ast_arguments(l, n) == 1 && cpp_same(ast_type(l, n->arguments[0]), ast_type(l, n));
    if (!copied && !constructs) return n;
    n = copied ? copied : n->arguments[0];
  }
}

/* A kernel argument: scalars by value, records by address. */
static IrOperand launch_argument(Lower *l, AstNode *n) {
  const CppType *type = ast_type(l, n);
  if (type->kind == CPP_RECORD) n = passed(l, n);
  if (cpp_is_object(type)) return address_value(l, lower_lvalue(l, n));
  return lower_value(l, n);
}

static IrOperand vector_of(Lower *l, IrOperand *items, int count) {
  IrOperand *list = KC_NEW_ARRAY(l->arena, IrOperand, count + 1);
  for (int i = 0; i < count; i++)
    list[i] = items[i];
  return (IrOperand){.kind = IR_OPD_VECTOR, .list = list, .count = count};
}

static IrOperand arguments(Lower *l, AstNode **nodes, int count) {
  IrOperand *list = KC_NEW_ARRAY(l->arena, IrOperand, count + 1);
  for (int i = 0; i < count; i++)
    list[i] = launch_argument(l, nodes[i]);
  return (IrOperand){.kind = IR_OPD_VECTOR, .list = list, .count = count, .role = IR_ROLE_args};
}

/* ---- <<<grid, block, smem, stream>>> ---- */

/* x, y, z of a dim3 that an expression makes. */
static IrOperand dimensions(Lower *l, AstNode *n) {
  const CppType *word = cpp_scalar(l, CXType_UInt);
  IrOperand items[3] = {lower_constant(1, word->ir), lower_constant(1, word->ir),
                        lower_constant(1, word->ir)};
  if (cpp_is_object(ast_type(l, n))) {
    IrOperand address = address_pin(l, lower_lvalue(l, n));
    for (int i = 0; i < 3; i++)
      items[i] = lower_load(l, address_add(address, 4 * i), word, false);
  } else {
    items[0] = lower_value_as(l, n, word);
  }
  return vector_of(l, items, 3);
}

static AstNode *configuration(Lower *l, AstNode *call) {
  for (int i = 0; i < call->nparts && i < 3; i++) {
    AstNode *n = ast_strip(l, call->parts[i]);
    CXCursor d = ast_reference(l, n);
    if (n->kind != CXCursor_CallExpr || ast_is_null(d)) continue;
    const char *name = unit_name(l->unit, d);
    if (strcmp(name, "__cudaPushCallConfiguration") == 0 || strcmp(name, "cudaConfigureCall") == 0)
      return n;
  }
  return NULL;
}

/* The kernel that a launch expression starts: a function, or whatever a pointer holds. */
static IrOperand launched(Lower *l, const Call *call, const char **name) {
  if (!call->callee) return lower_value(l, call->node->parts[0]);
  *name = unit_instantiation_name(l->unit, call->callee->decl);
  return lower_function_address(l, call->callee->decl);
}

bool lower_kernel_launch(Lower *l, const Call *call, IrOperand *result) {
  *result = ir_unknown();
  ast_expand(l, call->node);
  AstNode *config = configuration(l, call->node);
  if (!config) return false;
  if (!l->kernel->is_host) {
    lower_arguments_for_effect(l, call);
    lower_event(l, IR_EV_extern_call, NULL, 0, 0)->text = "launch from device code";
    return true;
  }
  const char *name = NULL;
  int count = ast_arguments(l, config), nargs = ast_arguments(l, call->node);
  IrOperand args[5] = {role(launched(l, call, &name), IR_ROLE_kernel)};
  for (int i = 0; i < 2; i++) {
    IrOperand dims = count > i ? dimensions(l, config->arguments[i]) : ir_unknown();
    args[1 + i] = role(dims, i == 0 ? IR_ROLE_grid : IR_ROLE_block);
  }
  IrOperand size = lower_constant(0, IR_TYPE_U(8));
  if (count > 2 && !lower_is_default_argument(l, config->arguments[2]))
    size = lower_value(l, config->arguments[2]);
  args[3] = role(size, IR_ROLE_size);
  args[4] = arguments(l, call->node->arguments, nargs);
  lower_event(l, IR_EV_host_launch, args, 5, 0)->text = name;
  return true;
}

/* ---- the device that the program runs on ---- */

static IrOperand device_value(Lower *l, IrOperand id, const CppType *type) {
  IrOperand args[] = {role(ir_use(lower_temp(l, type->ir)), IR_ROLE_dst), role(id, IR_ROLE_id)};
  lower_event(l, IR_EV_host_device, args, 2, 0);
  return ir_use(args[0].id);
}

bool lower_device_property(Lower *l, CXCursor member, const CppType *type, IrOperand *result) {
  if (!l->kernel->is_host) return false;
  const char *name = unit_name(l->unit, member);
  bool processors = strcmp(name, "multiProcessorCount") == 0, major = strcmp(name, "major") == 0;
  if (!processors && !major && strcmp(name, "minor") != 0) return false;
  const char *owner = unit_name(l->unit, l->clang->getCursorSemanticParent(member));
  if (strcmp(owner, "cudaDeviceProp") != 0) return false;
  int64_t id = processors ? IR_DEVICE_PROCESSORS : major ? IR_DEVICE_MAJOR : IR_DEVICE_MINOR;
  *result = device_value(l, lower_constant(id, IR_TYPE_U(4)), type);
  return true;
}

/* ---- API functions that become events ---- */

static bool launch_ex(Lower *l, const Call *call, int variant, IrOperand *result) {
  if (call->nargs < 2) return false;
  const char *name = NULL;
  IrOperand config = lower_value(l, call->args[0]);
  IrOperand kernel = kernel_argument(l, call->args[1], &name);
  IrOperand list = variant ? role(lower_call_argument(l, call, 2), IR_ROLE_arg_list)
                           : arguments(l, call->args + 2, call->nargs - 2);
  IrOperand args[] = {role(kernel, IR_ROLE_kernel), role(config, IR_ROLE_config), list};
  lower_event(l, IR_EV_host_launch_ex, args, 3, 0)->text = name;
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

/* cudaLaunchKernel(func, grid, block, args, smem, stream); variant 1: cudaLaunchCooperativeKernel.
 */
static bool launch_kernel(Lower *l, const Call *call, int variant, IrOperand *result) {
  uint64_t flags = variant ? IR_FLAG(cooperative) : 0;
  if (call->nargs < 3) return false;
  const char *name = NULL;
  IrOperand kernel = kernel_argument(l, call->args[0], &name);
  IrOperand grid = dimensions(l, call->args[1]), block = dimensions(l, call->args[2]);
  IrOperand list = lower_call_argument(l, call, 3);
  bool has_size = call->nargs > 4 && !lower_is_default_argument(l, call->args[4]);
  IrOperand size = has_size ? lower_call_argument(l, call, 4) : lower_constant(0, IR_TYPE_U(8));
  IrOperand args[] = {role(kernel, IR_ROLE_kernel), role(grid, IR_ROLE_grid),
                      role(block, IR_ROLE_block), role(size, IR_ROLE_size),
                      role(list, IR_ROLE_arg_list)};
  lower_event(l, IR_EV_host_launch, args, 5, flags)->text = name;
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

static bool function_attribute(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 3) return false;
  const char *name = NULL;
  IrOperand kernel = kernel_argument(l, call->args[0], &name);
  IrOperand args[] = {role(kernel, IR_ROLE_kernel),
                      role(lower_call_argument(l, call, 1), IR_ROLE_id),
                      role(lower_call_argument(l, call, 2), IR_ROLE_value)};
  lower_event(l, IR_EV_host_func_attr, args, 3, 0)->text = name;
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

/* cudaDeviceGetAttribute(&value, attribute, device). */
static bool device_attribute(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 3) return false;
  IrOperand address = address_pin(l, lower_decayed(l, call->args[0]));
  IrOperand id = lower_call_argument(l, call, 1);
  const CppType *word = cpp_scalar(l, CXType_Int);
  lower_store(l, address, word, device_value(l, id, word), false);
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

/* cuTensorMapEncodeTiled(map, type, rank, base, dims, strides, box, element strides, interleave,
 * swizzle, l2 promotion, fill). */
bool lower_encode_tiled(Lower *l, const Call *call, IrOperand *result) {
  static const IrRole ROLES[] = {IR_ROLE_map,     IR_ROLE_id,           IR_ROLE_rank,
                                 IR_ROLE_base,    IR_ROLE_dims,         IR_ROLE_strides,
                                 IR_ROLE_box,     IR_ROLE_elem_strides, IR_ROLE_interleave,
                                 IR_ROLE_swizzle, IR_ROLE_l2,           IR_ROLE_fill};
  IrOperand args[G_N_ELEMENTS(ROLES)];
  int count = MIN(call->nargs, (int)G_N_ELEMENTS(ROLES));
  if (count < 10) return false;
  for (int i = 0; i < count; i++)
    args[i] = role(lower_call_argument(l, call, i), ROLES[i]);
  IrInsn *insn = lower_event(l, IR_EV_host_tensor_map, args, count, 0);
  insn->text = lower_text(l, call->args[0]);
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

/* cuTensorMapEncodeIm2col(map, type, rank, base, dims, strides, lower corner, upper corner,
 * channels per pixel, pixels per column, element strides, interleave, swizzle, l2 promotion, fill).
 */
static bool encode_im2col(Lower *l, const Call *call, int variant, IrOperand *result) {
  static const IrRole ROLES[] = {
      IR_ROLE_map,          IR_ROLE_id,         IR_ROLE_rank,    IR_ROLE_base, IR_ROLE_dims,
      IR_ROLE_strides,      IR_ROLE_other,      IR_ROLE_other,   IR_ROLE_size, IR_ROLE_count,
      IR_ROLE_elem_strides, IR_ROLE_interleave, IR_ROLE_swizzle, IR_ROLE_l2,   IR_ROLE_fill};
  (void)variant;
  IrOperand args[G_N_ELEMENTS(ROLES)];
  if (call->nargs != (int)G_N_ELEMENTS(ROLES)) return false;
  for (int i = 0; i < call->nargs; i++)
    args[i] = role(lower_call_argument(l, call, i), ROLES[i]);
  lower_event(l, IR_EV_host_tensor_map, args, call->nargs, IR_FLAG(im2col))->text =
      lower_text(l, call->args[0]);
  *result = lower_constant(0, IR_TYPE_U(4));
  return true;
}

static bool encode_tiled(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  return lower_encode_tiled(l, call, result);
}

static const LowerBuiltin HOST[] = {
    {"cudaFuncSetAttribute", function_attribute, 0, false},
    {"cuFuncSetAttribute", function_attribute, 0, false},
    {"cudaLaunchKernelEx", launch_ex, 0, false},
    {"cudaLaunchKernelExC", launch_ex, 1, false},
    {"cudaLaunchKernel", launch_kernel, 0, false},
    {"cudaLaunchCooperativeKernel", launch_kernel, 1, false},
    {"cuTensorMapEncodeTiled", encode_tiled, 0, false},
    {"cuTensorMapEncodeIm2col", encode_im2col, 0, false},
    {"cudaDeviceGetAttribute", device_attribute, 0, false},
    {"cuDeviceGetAttribute", device_attribute, 0, false},
};

/* ---- the rest of the API ---- */

static bool succeed(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  for (int i = 0; i < call->nargs; i++) {
    AstNode *n = call->args[i];
    if (lower_is_default_argument(l, n)) continue;
    const CppType *type = ast_type(l, n);
    bool pointer = type->kind == CPP_POINTER;
    if (!pointer) {
      lower_effect(l, n);
      continue;
    }
    AstNode *inner = ast_strip(l, n); /* (void **)&p: forget p */
    while (ast_is_cast(inner->kind) && ast_last(l, inner))
      inner = ast_strip(l, ast_last(l, inner));
    IrOperand address = lower_decayed(l, inner);
    const CppType *elem = ast_type(l, inner)->elem;
    if (address_is_local(address) && elem &&
        !l->clang->isConstQualifiedType(
            l->clang->getPointeeType(l->clang->getCursorType(n->cursor))))
      lower_forget(l, address, elem);
  }
  const CppType *type = call->callee->result;
  *result = cpp_is_number(type) ? lower_constant(0, type->ir) : lower_unknown_result(l, call);
  return true;
}

static const LowerBuiltin SUCCEED = {"cuda*", succeed, 0, false};

const LowerBuiltin *builtin_host(const char *name) {
  for (size_t i = 0; i < G_N_ELEMENTS(HOST); i++)
    if (strcmp(HOST[i].name, name) == 0) return &HOST[i];
  bool api =
      g_str_has_prefix(name, "cuda") || (g_str_has_prefix(name, "cu") && g_ascii_isupper(name[2]));
  return api ? &SUCCEED : NULL;
}
