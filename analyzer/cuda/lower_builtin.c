/* Builtins of memory, numbers and the compiler. Matched by declaration and scope, never by bare
 * name: a method or a user's function may share a builtin's name. */
#include "cuda/lower_internal.h"

#include <string.h>

static bool scalar_result(Lower *l, const Call *call) {
  return cpp_is_scalar(ast_type(l, call->node));
}

/* ---- address spaces ---- */

static bool cvta(Lower *l, const Call *call, int to_shared, IrOperand *result) {
  if (call->nargs < 1) return false;
  const CppType *type = ast_type(l, call->args[0]);
  IrOperand source = type->kind == CPP_POINTER ? address_value(l, lower_decayed(l, call->args[0]))
                                               : lower_value(l, call->args[0]);
  IrType ir = scalar_result(l, call) ? ast_type(l, call->node)->ir : IR_TYPE_U(8);
  IrOperand args[] = {ir_use(lower_temp(l, ir)), source};
  IrInsn *insn = lower_emit(l, IR_cvta, ir, args, 2);
  insn->space = IR_SPACE_SHARED;
  insn->sub = (uint8_t)to_shared;
  args[0].type = ir;
  *result = args[0];
  return true;
}

static bool identity(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 1) return false;
  for (int i = 1; i < call->nargs; i++)
    if (!lower_is_default_argument(l, call->args[i])) lower_effect(l, call->args[i]);
  *result = lower_value_as(l, call->args[0], ast_type(l, call->node));
  return true;
}

static bool is_space(Lower *l, const Call *call, int space, IrOperand *result) {
  if (call->nargs < 1) return false;
  IrOperand args[] = {ir_use(lower_temp(l, IR_TYPE_PRED)),
                      address_value(l, lower_decayed(l, call->args[0]))};
  lower_emit(l, IR_isspacep, IR_TYPE_PRED, args, 2)->space = (uint8_t)space;
  *result = lower_convert(l, args[0], cpp_scalar(l, CXType_Bool), ast_type(l, call->node));
  return true;
}

/* ---- memory ---- */

/* `variant` 1: through the read-only path (ld.global.nc). */
/* Variant 0: an asm statement of the header, volatile; 1: through the read-only path; 2: from where
 * all see it. */
static bool load_through(Lower *l, const Call *call, int variant, IrOperand *result) {
  static const uint64_t flags[] = {IR_FLAG(from_asm), IR_FLAG(nc), IR_FLAG(volatile_)};
  if (call->nargs < 1) return false;
  const CppType *type = ast_type(l, call->node);
  IrOperand address = lower_decayed(l, call->args[0]);
  int start = l->kernel->insns.count;
  if (cpp_is_object(type)) {
    *result = lower_allocate(l, type, NULL);
    lower_copy(l, *result, address, type);
  } else {
    *result = lower_load(l, address, type, false);
  }
  for (int i = start; i < l->kernel->insns.count; i++)
    if (l->kernel->insns.items[i].op == IR_load) l->kernel->insns.items[i].flags |= flags[variant];
  return true;
}

static bool store_through(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 2) return false;
  const CppType *type = ast_type(l, call->args[1]);
  *result = ir_unknown();
  if (cpp_is_object(type)) {
    IrOperand from = lower_lvalue(l, call->args[1]);
    lower_copy(l, lower_decayed(l, call->args[0]), from, type);
  } else {
    IrOperand value = lower_value(l, call->args[1]);
    lower_store(l, lower_decayed(l, call->args[0]), type, value, false);
  }
  return true;
}

/* What a pointer argument points to, before it was converted to void *. */
static const CppType *pointee_of(Lower *l, AstNode *n) {
  n = ast_strip(l, n);
  while ((ast_is_cast(n->kind) || n->kind == CXCursor_UnexposedExpr) && ast_last(l, n) &&
         (ast_type(l, ast_last(l, n))->kind == CPP_POINTER ||
          ast_type(l, ast_last(l, n))->kind == CPP_ARRAY))
    n = ast_strip(l, ast_last(l, n));
  const CppType *type = ast_type(l, n);
  return type->kind == CPP_ARRAY ? type : type->elem;
}

static bool copy_memory(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 3) return false;
  const CppType *to = pointee_of(l, call->args[0]), *from = pointee_of(l, call->args[1]);
  IrOperand dst = address_pin(l, lower_decayed(l, call->args[0]));
  IrOperand src = lower_decayed(l, call->args[1]);
  IrOperand size = lower_value(l, call->args[2]);
  *result = address_value(l, dst);
  uint64_t bytes = ir_is_imm(size) ? (uint64_t)size.value : 0;
  if (to && from && cpp_is_scalar(to) && cpp_is_scalar(from) && bytes > 0 && to->bytes == bytes &&
      from->bytes == bytes) { /* a bit cast */
    lower_store(l, dst, to, lower_load(l, src, from, false), false);
    return true;
  }
  if (to && from && cpp_is_object(to) && cpp_same(to, from) && to->bytes == bytes && bytes > 0) {
    lower_copy(l, dst, src, to);
    return true;
  }
  facts_clobber(l, dst, bytes);
  IrOperand args[] = {*result, address_value(l, src), size};
  lower_emit(l, IR_copy, IR_TYPE_NONE, args, 3);
  return true;
}

static bool fill_memory(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 3) return false;
  IrOperand dst = address_value(l, address_pin(l, lower_decayed(l, call->args[0])));
  IrOperand value = lower_value(l, call->args[1]), size = lower_value(l, call->args[2]);
  facts_clobber(l, dst, ir_is_imm(size) ? (uint64_t)size.value : 0);
  IrOperand args[] = {dst, size, value};
  lower_emit(l, IR_fill, IR_TYPE_NONE, args, 3);
  *result = dst;
  return true;
}

static bool address_of(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs < 1) return false;
  *result = address_value(l, lower_lvalue(l, call->args[0]));
  return true;
}

/* std::move, std::forward: the reference itself. */
static bool same_object(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs != 1) return false;
  *result = lower_lvalue(l, call->args[0]);
  return true;
}

/* ---- numbers ---- */

static bool opaque_number(Lower *l, const Call *call, IrOperand *result) {
  IrOperand args[7];
  int count = 0;
  for (int i = 0; i < call->nargs; i++) {
    if (!cpp_is_scalar(ast_type(l, call->args[i])) || count == 7)
      lower_effect(l, call->args[i]);
    else
      args[count++] = lower_value(l, call->args[i]);
  }
  *result = lower_opaque(l, ast_type(l, call->node)->ir, args, count);
  return true;
}

static bool two_operands(Lower *l, const Call *call, int op, IrOperand *result) {
  const CppType *type = ast_type(l, call->node);
  if (call->nargs != 2 || !cpp_is_scalar(type)) return false;
  if (type->kind == CPP_INT) {
    IrOperand a = lower_value_as(l, call->args[0], type);
    IrOperand b = lower_value_as(l, call->args[1], type);
    *result = lower_binary(l, (IrOp)op, type->ir, a, b);
  } else {
    opaque_number(l, call, result);
  }
  if (call->callee->result->kind == CPP_REFERENCE) { /* std::min: give it an object */
    IrOperand address = lower_allocate(l, type, NULL);
    lower_store_last(l, address, type, *result, false);
    *result = address;
  }
  return true;
}

/* popc, clz, ffs work on the argument's type and give an int. */
static bool one_operand(Lower *l, const Call *call, int op, IrOperand *result) {
  if (call->nargs != 1 || !scalar_result(l, call)) return false;
  const CppType *type = ast_type(l, call->args[0]), *given = ast_type(l, call->node);
  if (type->kind != CPP_INT || given->kind != CPP_INT) return opaque_number(l, call, result);
  IrOperand value = lower_value(l, call->args[0]);
  *result = ir_unknown();
  if (ir_is_unknown(value)) return true;
  bool counts = op == IR_popc || op == IR_clz || op == IR_ffs;
  IrOperand args[] = {ir_use(lower_temp(l, counts ? given->ir : type->ir)), value};
  lower_emit(l, (IrOp)op, type->ir, args, 2);
  args[0].type = given->ir;
  *result = args[0];
  return true;
}

static bool byte_permute(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs != 3) return false;
  IrOperand args[4] = {{0}};
  for (int i = 0; i < 3; i++)
    args[i + 1] = lower_value(l, call->args[i]);
  args[0] = ir_use(lower_temp(l, IR_TYPE_U(4)));
  lower_emit(l, IR_prmt, IR_TYPE_U(4), args, 4);
  *result = args[0];
  return true;
}

static bool funnel_shift(Lower *l, const Call *call, int kind, IrOperand *result) {
  if (call->nargs != 3) return false;
  IrOperand args[4] = {{0}};
  for (int i = 0; i < 3; i++)
    args[i + 1] = lower_value(l, call->args[i]);
  args[0] = ir_use(lower_temp(l, IR_TYPE_U(4)));
  lower_emit(l, IR_shf, IR_TYPE_U(4), args, 4)->sub = (uint8_t)kind;
  *result = args[0];
  return true;
}

/* The same bits under another type: a float's register is read as a number. */
static bool same_bits(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  if (call->nargs != 1 || !scalar_result(l, call) || !cpp_is_scalar(ast_type(l, call->args[0])))
    return false;
  *result = lower_value(l, call->args[0]);
  result->type = ast_type(l, call->node)->ir;
  return true;
}

static bool constant_zero(Lower *l, const Call *call, int variant, IrOperand *result) {
  *result =
      lower_constant(variant, scalar_result(l, call) ? ast_type(l, call->node)->ir : IR_TYPE_S(4));
  return true;
}

static bool nothing(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)l;
  (void)call;
  (void)variant;
  *result = ir_unknown();
  return true;
}

/* ---- control ---- */

static bool trap(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  lower_arguments_for_effect(l, call);
  lower_emit(l, IR_trap, IR_TYPE_NONE, NULL, 0);
  *result = ir_unknown();
  return true;
}

static bool leave(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  lower_arguments_for_effect(l, call);
  lower_emit(l, IR_exit, IR_TYPE_NONE, NULL, 0);
  *result = ir_unknown();
  return true;
}

/* printf, malloc: known to do nothing to the protocol, but they are calls in the machine code. */
static bool extern_call(Lower *l, const Call *call, int variant, IrOperand *result) {
  (void)variant;
  lower_arguments_for_effect(l, call);
  lower_event(l, IR_EV_extern_call, NULL, 0, 0)->text = call->callee->name;
  *result = lower_unknown_result(l, call);
  return true;
}

#define CACHED_LOAD(name)                                                                          \
  { name, load_through, 0, false }
#define CACHED_STORE(name)                                                                         \
  { name, store_through, 0, false }
#define MINMAX(prefix)                                                                             \
  {prefix "min", two_operands, IR_min, false}, {                                                   \
    prefix "max", two_operands, IR_max, false                                                      \
  }

static const LowerBuiltin DEVICE[] = {
    {"__cvta_generic_to_shared", cvta, 1, false},
    {"__nv_cvta_generic_to_shared_impl", cvta, 1, false},
    {"__cvta_shared_to_generic", cvta, 0, false},
    {"__nv_cvta_shared_to_generic_impl", cvta, 0, false},
    {"__cvta_generic_to_global", identity, 0, false},
    {"__nv_cvta_generic_to_global_impl", identity, 0, false},
    {"__cvta_global_to_generic", identity, 0, false},
    {"__cvta_generic_to_local", identity, 0, false},
    {"__cvta_local_to_generic", identity, 0, false},
    {"__cvta_generic_to_constant", identity, 0, false},
    {"__cvta_constant_to_generic", identity, 0, false},
    {"__cvta_generic_to_grid_constant", identity, 0, false},
    {"__cvta_grid_constant_to_generic", identity, 0, false},
    {"__isShared", is_space, IR_SPACE_SHARED, false},
    {"__isClusterShared", is_space, IR_SPACE_SHARED_CLUSTER, false},
    {"__isGlobal", is_space, IR_SPACE_GLOBAL, false},
    {"__isLocal", is_space, IR_SPACE_LOCAL, false},
    {"__isConstant", is_space, IR_SPACE_CONST, false},
    {"__nvvm_isspacep_shared", is_space, IR_SPACE_SHARED, false},
    {"__nvvm_isspacep_shared_cluster", is_space, IR_SPACE_SHARED_CLUSTER, false},
    {"__nvvm_isspacep_global", is_space, IR_SPACE_GLOBAL, false},
    {"__nvvm_isspacep_local", is_space, IR_SPACE_LOCAL, false},
    {"__nvvm_isspacep_const", is_space, IR_SPACE_CONST, false},
    {"__ldg", load_through, 1, false},
    CACHED_LOAD("__ldcg"),
    CACHED_LOAD("__ldca"),
    CACHED_LOAD("__ldcs"),
    CACHED_LOAD("__ldlu"),
    {"__ldcv", load_through, 2, false},
    CACHED_STORE("__stwb"),
    CACHED_STORE("__stcg"),
    CACHED_STORE("__stcs"),
    CACHED_STORE("__stwt"),
    {"memcpy", copy_memory, 0, false},
    {"memmove", copy_memory, 0, false},
    {"__builtin_memcpy", copy_memory, 0, false},
    {"__builtin_memmove", copy_memory, 0, false},
    {"memset", fill_memory, 0, false},
    {"__builtin_memset", fill_memory, 0, false},
    {"__builtin_addressof", address_of, 0, false},
    {"__builtin_expect", identity, 0, false},
    {"__builtin_expect_with_probability", identity, 0, false},
    {"__builtin_assume_aligned", identity, 0, false},
    {"__builtin_launder", identity, 0, false},
    {"__builtin_assume", nothing, 0, false},
    {"__assume", nothing, 0, false},
    {"__builtin_unreachable", nothing, 0, false},
    {"__builtin_is_constant_evaluated", constant_zero, 0, false},
    {"__builtin_constant_p", constant_zero, 0, false},
    {"__brkpt", nothing, 0, false},
    {"__prof_trigger", nothing, 0, false},
    MINMAX(""),
    MINMAX("u"),
    MINMAX("ll"),
    MINMAX("ull"),
    {"__mul24", two_operands, IR_mul, false},
    {"__umul24", two_operands, IR_mul, false},
    {"__mulhi", two_operands, IR_mulhi, false},
    {"__umulhi", two_operands, IR_mulhi, false},
    {"__mul64hi", two_operands, IR_mulhi, false},
    {"__umul64hi", two_operands, IR_mulhi, false},
    {"abs", one_operand, IR_abs, false},
    {"labs", one_operand, IR_abs, false},
    {"llabs", one_operand, IR_abs, false},
    {"__popc", one_operand, IR_popc, false},
    {"__popcll", one_operand, IR_popc, false},
    {"__builtin_popcount", one_operand, IR_popc, false},
    {"__builtin_popcountll", one_operand, IR_popc, false},
    {"__clz", one_operand, IR_clz, false},
    {"__clzll", one_operand, IR_clz, false},
    {"__builtin_clz", one_operand, IR_clz, false},
    {"__builtin_clzll", one_operand, IR_clz, false},
    {"__ffs", one_operand, IR_ffs, false},
    {"__ffsll", one_operand, IR_ffs, false},
    {"__builtin_ffs", one_operand, IR_ffs, false},
    {"__brev", one_operand, IR_brev, false},
    {"__brevll", one_operand, IR_brev, false},
    {"__byte_perm", byte_permute, 0, false},
    {"__funnelshift_l", funnel_shift, IR_SHF_left_wrap, false},
    {"__funnelshift_lc", funnel_shift, IR_SHF_left_clamp, false},
    {"__funnelshift_r", funnel_shift, IR_SHF_right_wrap, false},
    {"__funnelshift_rc", funnel_shift, IR_SHF_right_clamp, false},
    {"__float_as_uint", same_bits, 0, false},
    {"__float_as_int", same_bits, 0, false},
    {"__uint_as_float", same_bits, 0, false},
    {"__int_as_float", same_bits, 0, false},
    {"__double_as_longlong", same_bits, 0, false},
    {"__longlong_as_double", same_bits, 0, false},
    {"__trap", trap, 0, false},
    {"__builtin_trap", trap, 0, false},
    {"__nvvm_exit", leave, 0, false},
    {"__assert_fail", trap, 0, false},
    {"__assertfail", trap, 0, false},
    {"abort", trap, 0, false},
    {"exit", leave, 0, false},
    {"_exit", leave, 0, false},
    {"printf", extern_call, 0, false},
    {"vprintf", extern_call, 0, false},
    {"puts", extern_call, 0, false},
    {"malloc", extern_call, 0, false},
    {"free", extern_call, 0, false},
};

/* By qualified name, whoever declares them: clang looks on them as builtins and makes no body. */
static const LowerBuiltin QUALIFIED[] = {
    {"std::move", same_object, 0, false},
    {"std::forward", same_object, 0, false},
    {"std::as_const", same_object, 0, false},
    {"std::move_if_noexcept", same_object, 0, false},
    {"std::forward_like", same_object, 0, false},
    {"std::addressof", address_of, 0, false},
    {"std::__addressof", address_of, 0, false},
    {"std::launder", identity, 0, false},
    {"std::is_constant_evaluated", constant_zero, 0, false},
    {"std::min", two_operands, IR_min, false},
    {"std::max", two_operands, IR_max, false},
};

static const LowerBuiltin *in_table(const LowerBuiltin *table, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i].name, name) == 0) return &table[i];
  return NULL;
}

/* Declared outside every namespace and class. */
static bool is_global_function(Lower *l, const Callee *callee) {
  CXCursor parent = l->clang->getCursorSemanticParent(callee->decl);
  return parent.kind == CXCursor_TranslationUnit || parent.kind == CXCursor_LinkageSpec ||
         ast_is_null(parent) || parent.kind == CXCursor_UnexposedDecl;
}

static const LowerBuiltin *global_builtin(Lower *l, Callee *callee) {
  const char *name = callee->name;
  const LowerBuiltin *found = builtin_warp(name);
  if (!found) found = in_table(DEVICE, G_N_ELEMENTS(DEVICE), name);
  if (!found && l->kernel->is_host) found = builtin_host(name);
  if (!found) return NULL;
  /* a plain declaration by the user (extern "C" void __assert_fail) means the same function */
  return callee_is_system(l, callee) || !callee_has_body(l, callee) ? found : NULL;
}

const LowerBuiltin *builtin_find(Lower *l, Callee *callee) {
  if (callee->builtin_known) return callee->builtin;
  callee->builtin_known = true;
  static const char GROUPS[] = "cooperative_groups::";
  if (callee->kind == CXCursor_CXXMethod) {
    const char *name = callee_qualified(l, callee), *member = strstr(name, "grid_group::");
    if (g_str_has_prefix(name, GROUPS) && member) callee->builtin = builtin_group(member);
  }
  if (callee->kind != CXCursor_FunctionDecl) return callee->builtin;
  if (is_global_function(l, callee)) {
    callee->builtin = global_builtin(l, callee);
  } else {
    const char *name = callee_qualified(l, callee);
    if (g_str_has_prefix(name, "cuda::std::")) name += strlen("cuda::");
    if (g_str_has_prefix(name, "std::"))
      callee->builtin = in_table(QUALIFIED, G_N_ELEMENTS(QUALIFIED), name);
    else if (g_str_has_prefix(name, "nvcuda::wmma::"))
      callee->builtin = builtin_wmma(name + strlen("nvcuda::wmma::"));
  }
  return callee->builtin;
}
