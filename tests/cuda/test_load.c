/* From CUDA text to kernels: what is found, what is known of it, what is an error. */
#include "load.h"

/* ---- kernels and their attributes ---- */

START_TEST(attributes_and_parameters) {
  Loaded l = load_clean("#include <cuda.h>\n"
                        "struct P { int n; const float *x; CUtensorMap map; short s[2]; };\n"
                        "__global__ void __launch_bounds__(128 * 3, 2) __cluster_dims__(2, 1, 1)\n"
                        "k(const __grid_constant__ CUtensorMap m, int n, P p, float f) {}\n"
                        "__global__ void __maxnreg__(168) r(char c, long long v) {}\n"
                        "__global__ void __block_size__((256, 1, 1)) b() {}\n");
  const IrKernel *k = kernel_named(&l, "k");
  ck_assert_ptr_nonnull(k);
  ck_assert(k->has_launch_bounds);
  ck_assert_int_eq(k->max_threads, 384);
  ck_assert_int_eq(k->min_blocks, 2);
  ck_assert_int_eq(k->cluster_dims[0], 2);
  ck_assert_int_eq(k->cluster_dims[2], 1);
  ck_assert_uint_eq(l.program->sources.stacks.items[k->where].range.line, 4);
  ck_assert_uint_eq(l.program->sources.stacks.items[k->attr_where].range.line, 3);
  ck_assert_int_eq(k->params.count, 4);
  ck_assert(k->params.items[0].grid_constant);
  ck_assert_int_eq(k->params.items[0].leaves.items[0].kind, IR_LEAF_TENSOR_MAP);
  ck_assert_uint_eq(k->params.items[1].offset, 128);
  ck_assert_uint_eq(k->params.items[2].offset, 256); /* P is aligned to 128 by its map */
  const IrParam *p = &k->params.items[2];
  ck_assert_int_eq(p->leaves.count, 5);
  ck_assert_str_eq(p->leaves.items[0].name, "p.n");
  ck_assert_int_eq(p->leaves.items[1].kind, IR_LEAF_POINTER);
  ck_assert_int_eq(p->leaves.items[1].pointee_kind, IR_LEAF_FLOAT);
  ck_assert(p->leaves.items[1].pointee_const);
  ck_assert_int_eq(p->leaves.items[2].kind, IR_LEAF_TENSOR_MAP);
  ck_assert_uint_eq(p->leaves.items[2].offset, 256 + 128);
  ck_assert_str_eq(p->leaves.items[4].name, "p.s[1]");
  ck_assert_int_eq(k->params.items[3].leaves.items[0].kind, IR_LEAF_FLOAT);
  const IrKernel *r = kernel_named(&l, "r");
  ck_assert_int_eq(r->maxnreg, 168);
  ck_assert_uint_eq(r->params.items[1].offset, 8);
  ck_assert_int_eq(kernel_named(&l, "b")->reqntid[0], 256);
  ck_assert(!l.program->toolkit_headers);
  unload(&l);
}
END_TEST

START_TEST(instantiations_that_something_reaches) {
  Loaded l = load_clean(
      "namespace ns { template <int S> struct Cfg { static constexpr int kThreads = 32 * S; };\n"
      "template <int N, class C, bool B = false>\n"
      "__global__ void __launch_bounds__(C::kThreads) gemm(float *p) { p[0] = N; }\n"
      "template __global__ void gemm<5, Cfg<3>>(float *); }\n"
      "template <int N> void launch(float *p) { ns::gemm<N, ns::Cfg<N>, true><<<1, 32>>>(p); }\n"
      "void host(float *p) { launch<4>(p); }\n"
      "template <int N> __global__ void by_pointer(float *p) { p[0] = N; }\n"
      "void attribute() { cudaFuncSetAttribute(by_pointer<2>,\n"
      "                     cudaFuncAttributeMaxDynamicSharedMemorySize, 100); }\n"
      "template <int N> __global__ void by_directive(float *p) { p[0] = N; }\n"
      "// kcheck: launch(by_directive<7>, grid = 2, block = 32)\n"
      "template <int N> __global__ void __launch_bounds__(N + 32, 1) never(float *p) {\n"
      "  p[0] = N; }\n");
  const IrKernel *explicit_one = kernel_named(&l, "gemm<5, Cfg<3>, false>");
  if (!explicit_one) explicit_one = kernel_named(&l, "gemm<5, ns::Cfg<3>, false>");
  ck_assert_ptr_nonnull(explicit_one);
  ck_assert_int_eq(explicit_one->max_threads, 96);
  const IrKernel *launched = kernel_named(&l, "gemm<4, ns::Cfg<4>, true>");
  ck_assert_ptr_nonnull(launched);
  ck_assert_int_eq(launched->max_threads, 128);
  ck_assert_ptr_nonnull(kernel_named(&l, "by_pointer<2>"));
  ck_assert_ptr_nonnull(kernel_named(&l, "by_directive<7>"));
  const IrKernel *never = kernel_named(&l, "never");
  ck_assert_ptr_nonnull(never);
  ck_assert(never->is_pattern);
  ck_assert(never->has_launch_bounds);
  ck_assert_int_eq(never->max_threads, 0); /* not known before N is */
  ck_assert_int_eq(never->min_blocks, 0);
  ck_assert_int_gt(never->notes.count, 0);
  ck_assert_int_eq(l.program->global_kernels_seen, 4);
  bool host = false, launch = false;
  for (int i = 0; i < l.program->hosts.count; i++) {
    host |= strcmp(l.program->hosts.items[i]->name, "host") == 0;
    launch |= strcmp(l.program->hosts.items[i]->instantiation, "launch<4>") == 0;
  }
  ck_assert(host && launch);
  unload(&l);
}
END_TEST

START_TEST(explicit_instantiations_of_long_lines) {
  Loaded l = load_clean(
      "template <bool kTail> __global__ void scale(const float *from, float *to, int count) {}\n"
      "template __global__ void scale<true>(const float *from, float *to, int count);\n"
      "template __global__ void scale<false>(const float *from, float *to, int count);\n"
      "template <class T> void host(const T *from, T *to, int first, int second) {}\n"
      "template void host<int>(const int *from, int *to, int first, int second);\n"
      "template void host<float>(const float *from, float *to, int first, int second);\n");
  ck_assert_ptr_nonnull(kernel_named(&l, "scale<true>"));
  ck_assert_ptr_nonnull(kernel_named(&l, "scale<false>"));
  ck_assert_int_eq(l.program->kernels.count, 2);
  unload(&l);
}
END_TEST

START_TEST(kernels_handed_on_as_values) {
  Loaded l = load_clean(
      "template <class T> __global__ void declared_only(T *p);\n"
      "template <class T> __global__ void defined(T *p) { p[0] = T(1); }\n"
      "template <void (*K)(float *)> void by_argument(float *p) { K<<<1, 32>>>(p); }\n"
      "struct S { template <int N> static __global__ void member(int *p) { p[0] = N; } };\n"
      "template <class T> struct C { static __global__ void run(T *p) { p[0] = 2; } };\n"
      "void h(int *p, float *q) {\n"
      "  declared_only<int><<<1, 1>>>(p); by_argument<defined<float>>(q);\n"
      "  S::member<3><<<1, 1>>>(p); C<int>::run<<<1, 1>>>(p);\n"
      "  void *args[] = {&p};\n"
      "  cudaLaunchKernel((void *)defined<unsigned>, dim3(1), dim3(1), args, 0, 0);\n"
      "}\n");
  ck_assert_ptr_nonnull(kernel_named(&l, "defined<float>"));
  ck_assert_ptr_nonnull(kernel_named(&l, "defined<unsigned int>"));
  ck_assert_int_eq(l.program->kernels.count, 4); /* not the one that is only declared */
  unload(&l);
}
END_TEST

START_TEST(alignment_below_that_of_the_type_is_no_error) {
  Loaded l = load_clean("#include <cuda.h>\nstruct Maps { alignas(64) CUtensorMap a; };\n"
                        "__global__ void k(const __grid_constant__ Maps m) {}\n");
  ck_assert_uint_eq(l.program->kernels.items[0]->params.items[0].bytes, 128);
  ck_assert(!l.program->toolkit_headers);
  unload(&l);
}
END_TEST

START_TEST(option_instantiates_inside_a_namespace) {
  const char *wanted[] = {"kern<Tile>", NULL};
  Loaded l = load_with("namespace ns { struct Tile { static constexpr int n = 3; };\n"
                       "template <class T> __global__ void kern(int *p) { p[0] = T::n; } }\n",
                       (CudaOptions){.instantiate = wanted});
  ck_assert_msg(l.program != NULL, "%s", l.error.message);
  ck_assert_int_eq(l.program->kernels.count, 1);
  ck_assert(!l.program->kernels.items[0]->is_pattern);
  unload(&l);
  const char *wrong[] = {"nothing<3>", NULL};
  l = load_with("__global__ void k() {}\n", (CudaOptions){.instantiate = wrong});
  ck_assert_ptr_null(l.program);
  ck_assert_ptr_nonnull(strstr(l.error.message, "--instantiate"));
  unload(&l);
}
END_TEST

START_TEST(directive_that_can_not_be_instantiated_is_an_error_of_the_directive) {
  Loaded l = load("__global__ void k() {}\n// kcheck: launch(nothing<3>, grid = 1)\n");
  ck_assert_ptr_nonnull(l.program);
  ck_assert_int_eq(l.program->directives->errors.count, 1);
  ck_assert_uint_eq(l.program->directives->errors.items[0].range.line, 2);
  ck_assert_ptr_null(first_error(&l));
  unload(&l);
}
END_TEST

/* ---- errors ---- */

START_TEST(syntax_error_fails_with_its_place) {
  Loaded l = load("__global__ void k(int *p) {\n  p[0] = 1\n}\n");
  ck_assert_ptr_null(l.program);
  ck_assert_int_eq(l.error.line, 2);
  ck_assert_int_eq(l.error.column, 11);
  ck_assert_str_eq(l.error.path, "kernel.cu");
  unload(&l);
}
END_TEST

START_TEST(error_in_a_body_makes_its_kernel_partial) {
  Loaded l = load("__global__ void bad(int *p) { p[0] = no_such_function(3); }\n"
                  "__global__ void good(int *p) { p[0] = 1; }\n");
  ck_assert_ptr_nonnull(l.program);
  const IrKernel *bad = kernel_named(&l, "bad"), *good = kernel_named(&l, "good");
  bool hides = false;
  for (int i = 0; i < bad->notes.count; i++)
    hides |= bad->notes.items[i].may_hide_event;
  ck_assert(hides);
  ck_assert_int_eq(good->notes.count, 0);
  ck_assert_ptr_nonnull(first_error(&l));
  unload(&l);
}
END_TEST

START_TEST(lost_body_is_said) {
  Loaded l = load("template <class T> __global__ void k(T *p) { typename T::nothing x; *p = x; }\n"
                  "void h(int *p) { k<int><<<1, 32>>>(p); }\n");
  ck_assert_ptr_nonnull(l.program);
  ck_assert_int_eq(l.program->kernels.count, 1);
  const IrKernel *k = l.program->kernels.items[0];
  ck_assert(k->body_lost);
  ck_assert_int_gt(k->notes.count, 0);
  ck_assert(k->notes.items[k->notes.count - 1].may_hide_event);
  unload(&l);
}
END_TEST

START_TEST(missing_header_is_named) {
  Loaded l = load("#include \"not_here.cuh\"\n__global__ void k(int *p) { p[0] = 1; }\n");
  ck_assert_ptr_nonnull(l.program);
  ck_assert_int_eq(l.program->kernels.count, 1);
  ck_assert_ptr_nonnull(strstr(first_error(&l)->text, "not_here.cuh"));
  ck_assert(!l.program->toolkit_headers);
  unload(&l);
}
END_TEST

START_TEST(file_without_kernels_is_no_error) {
  Loaded l = load_clean("#include <vector>\nint main() { std::vector<int> v(3); return v[0]; }\n");
  ck_assert_int_eq(l.program->kernels.count, 0);
  ck_assert_int_eq(l.program->global_kernels_seen, 0);
  unload(&l);
}
END_TEST

START_TEST(unreadable_file_and_bad_target) {
  KcArena *arena = kc_arena_new();
  IrViolations violations = {.arena = arena};
  KcError error = {0};
  CudaOptions options = {.arch = "sm_90a"};
  ck_assert_ptr_null(cuda_load(arena, "/nowhere/x.cu", &options, &violations, NULL, &error));
  ck_assert_str_eq(error.path, "/nowhere/x.cu");
  kc_error_clear(&error);
  kc_arena_free(arena);
  Loaded l = load_with("\n", (CudaOptions){.arch = "hopper"});
  ck_assert_ptr_null(l.program);
  ck_assert_ptr_nonnull(strstr(l.error.message, "hopper"));
  unload(&l);
}
END_TEST

/* ---- targets ---- */

/* nvcc 13.0: the suffix a defines FEAT_SM*_ALL, ARCH_SPECIFIC and ARCH_FAMILY_SPECIFIC, the suffix
 * f only ARCH_FAMILY_SPECIFIC, no suffix none of them. */
START_TEST(feature_macros_are_those_of_nvcc) {
  static const struct {
    const char *arch, *expected;
  } CASES[] = {{"sm_90", "900 0 0 0"},       {"sm_90a", "900 1 900 900"},
               {"sm_100", "1000 0 0 0"},     {"sm_100a", "1000 1 1000 1000"},
               {"sm_100f", "1000 0 0 1000"}, {"sm_103a", "1030 1 1030 1030"},
               {"sm_103f", "1030 0 0 1030"}, {"sm_120f", "1200 0 0 1200"}};
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    int arch, all, specific, family;
    sscanf(CASES[i].expected, "%d %d %d %d", &arch, &all, &specific, &family);
    KcArena *arena = kc_arena_new();
    char number[16];
    snprintf(number, sizeof number, "%d", arch / 10);
    const char *text =
        kc_printf(arena,
                  "#ifdef __CUDA_ARCH_FEAT_SM%s_ALL\n#define ALL 1\n#else\n#define ALL 0\n#endif\n"
                  "#ifdef __CUDA_ARCH_SPECIFIC__\n#define SPECIFIC __CUDA_ARCH_SPECIFIC__\n#else\n"
                  "#define SPECIFIC 0\n#endif\n"
                  "#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__\n#define FAMILY "
                  "__CUDA_ARCH_FAMILY_SPECIFIC__\n#else\n"
                  "#define FAMILY 0\n#endif\n"
                  "static_assert(__CUDA_ARCH__ == %d, \"\");\nstatic_assert(ALL == %d, \"\");\n"
                  "static_assert(SPECIFIC == %d, \"\");\nstatic_assert(FAMILY == %d, \"\");\n",
                  number, arch, all, specific, family);
    Loaded l = load_with(text, (CudaOptions){.arch = CASES[i].arch});
    ck_assert_msg(l.program != NULL, "%s: %s", CASES[i].arch, l.error.message);
    const IrDiagnostic *error = first_error(&l);
    ck_assert_msg(!error, "%s: %s", CASES[i].arch, error ? error->text : "");
    unload(&l);
    kc_arena_free(arena);
  }
}
END_TEST

START_TEST(kernels_that_the_guards_leave_out_are_counted) {
  Loaded l = load_clean("#if __CUDA_ARCH__ >= 1000\n__global__ void k(int *p) { p[0] = 1; }\n"
                        "// __global__ in a comment\n#endif\n");
  ck_assert_int_eq(l.program->kernels.count, 0);
  ck_assert_int_eq(l.program->global_kernels_seen, 1);
  unload(&l);
  l = load_clean("__global__ void declared(int *p);\n#define K __global__\n"
                 "const char *text = \"__global__ void f() {\"; /* __global__ void g() {} */\n");
  ck_assert_int_eq(l.program->global_kernels_seen, 0);
  unload(&l);
}
END_TEST

START_TEST(skipped_text_is_kept) {
  Loaded l = load_clean("#if __CUDA_ARCH__ >= 1000\nint hidden;\n#endif\nint shown;\n");
  ck_assert_int_eq(l.program->skipped.count, 1);
  ck_assert_uint_eq(l.program->skipped.items[0].range.line, 1);
  ck_assert_uint_eq(l.program->skipped.items[0].range.end_line, 3);
  unload(&l);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("cuda/load");
  TCase *t = tcase_create("load");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, attributes_and_parameters);
  tcase_add_test(t, instantiations_that_something_reaches);
  tcase_add_test(t, explicit_instantiations_of_long_lines);
  tcase_add_test(t, kernels_handed_on_as_values);
  tcase_add_test(t, alignment_below_that_of_the_type_is_no_error);
  tcase_add_test(t, option_instantiates_inside_a_namespace);
  tcase_add_test(t, directive_that_can_not_be_instantiated_is_an_error_of_the_directive);
  tcase_add_test(t, syntax_error_fails_with_its_place);
  tcase_add_test(t, error_in_a_body_makes_its_kernel_partial);
  tcase_add_test(t, lost_body_is_said);
  tcase_add_test(t, missing_header_is_named);
  tcase_add_test(t, file_without_kernels_is_no_error);
  tcase_add_test(t, unreadable_file_and_bad_target);
  tcase_add_test(t, feature_macros_are_those_of_nvcc);
  tcase_add_test(t, kernels_that_the_guards_leave_out_are_counted);
  tcase_add_test(t, skipped_text_is_kept);
  suite_add_tcase(suite, t);
  return suite;
}
