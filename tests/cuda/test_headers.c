/* The embedded headers: each can be included alone, and their constants and sizes are those of the
 * real ones where a toolkit is installed to compare with. */
#include <glib.h>

#include "load.h"

#include "support/data.h"

#define ROOT "knowledge/headers/include/"

static void include_one(const char *path, const char *text, size_t length, void *user) {
  (void)text;
  (void)length;
  const char *name = path + strlen(ROOT);
  const char *const *std = user;
  if (g_str_has_prefix(name, "kcheck/")) return;
  g_autofree char *source = g_strdup_printf("#include <%s>\n__global__ void k() {}\n", name);
  Loaded l = load_with(source, (CudaOptions){.arch = "sm_100a", .std = *std});
  ck_assert_msg(l.program != NULL, "%s: %s", name, l.error.message);
  const IrDiagnostic *error = first_error(&l);
  ck_assert_msg(!error, "%s: %s", name, error ? error->text : "");
  ck_assert_msg(!l.program->toolkit_headers, "%s", name);
  unload(&l);
}

START_TEST(each_header_stands_alone) {
  const char *std = "c++17";
  kc_data_each(ROOT, include_one, &std);
}
END_TEST

static void add_include(const char *path, const char *text, size_t length, void *user) {
  (void)text;
  (void)length;
  if (!g_str_has_prefix(path, ROOT "kcheck/"))
    g_string_append_printf(user, "#include <%s>\n", path + strlen(ROOT));
}

START_TEST(all_headers_together_in_each_standard) {
  static const char *const STANDARDS[] = {"c++17", "c++20"};
  g_autoptr(GString) source = g_string_new(NULL);
  kc_data_each(ROOT, add_include, source);
  for (size_t i = 0; i < G_N_ELEMENTS(STANDARDS); i++) {
    Loaded l = load_with(source->str, (CudaOptions){.std = STANDARDS[i]});
    ck_assert_msg(l.program != NULL, "%s: %s", STANDARDS[i], l.error.message);
    const IrDiagnostic *error = first_error(&l);
    ck_assert_msg(!error, "%s: %s", STANDARDS[i], error ? error->text : "");
    ck_assert(!l.program->toolkit_headers);
    unload(&l);
  }
}
END_TEST

/* Adds a static_assert for each `NAME = 3` and `#define cudaNAME 0x01` of an embedded header. */
static void add_constants(GString *out, const char *path) {
  size_t length;
  const char *text = kc_data_get(path, &length);
  ck_assert_ptr_nonnull(text);
  g_autoptr(GRegex) regex = g_regex_new(
      "\\b((?:CU|cuda|CUDA)_?\\w+) = (-?\\d+)\\b|#define (cuda\\w+) (0x[0-9a-f]+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  for (g_regex_match(regex, text, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *name = g_match_info_fetch(match, 1), *value = g_match_info_fetch(match, 2);
    g_autofree char *macro = g_match_info_fetch(match, 3), *bits = g_match_info_fetch(match, 4);
    g_string_append_printf(out, "static_assert((int)%s == %s, \"\");\n", *name ? name : macro,
                           *name ? value : bits);
  }
}

/* Adds a static_assert for the size and alignment that the embedded headers give to each type. */
static void add_sizes(GString *out) {
  static const char *const TYPES[] = {"char4",
                                      "short3",
                                      "int3",
                                      "uint4",
                                      "long2",
                                      "ulonglong2",
                                      "float2",
                                      "float3",
                                      "float4",
                                      "double2",
                                      "double3",
                                      "longlong3",
                                      "dim3",
                                      "__half",
                                      "__half2",
                                      "__nv_bfloat16",
                                      "__nv_bfloat162",
                                      "__nv_fp8_e4m3",
                                      "__nv_fp8x4_e5m2",
                                      "CUtensorMap",
                                      "cudaLaunchConfig_t",
                                      "cudaLaunchAttribute",
                                      "CUlaunchAttribute",
                                      "cudaFuncAttributes"};
  g_autoptr(GString) source =
      g_string_new("#include <cuda.h>\n#include <cuda_fp8.h>\n__global__ void k(");
  for (size_t i = 0; i < G_N_ELEMENTS(TYPES); i++)
    g_string_append_printf(source, "%sint (&a%zu)[sizeof(%s)], int (&b%zu)[alignof(%s)]",
                           i ? ", " : "", i, TYPES[i], i, TYPES[i]);
  g_string_append(source, ") {}\n");
  Loaded l = load_with(source->str, (CudaOptions){0});
  ck_assert_msg(l.program != NULL, "%s", l.error.message);
  const IrKernel *kernel = l.program->kernels.items[0];
  for (size_t i = 0; i < G_N_ELEMENTS(TYPES); i++) {
    int size = 0, align = 0;
    sscanf(strchr(kernel->params.items[2 * i].type, '['), "[%d]", &size);
    sscanf(strchr(kernel->params.items[2 * i + 1].type, '['), "[%d]", &align);
    g_string_append_printf(out, "static_assert(sizeof(%s) == %d && alignof(%s) == %d, \"\");\n",
                           TYPES[i], size, TYPES[i], align);
  }
  unload(&l);
}

START_TEST(constants_and_sizes_are_those_of_the_toolkit) {
  const char *toolkit = g_getenv("CUDA_PATH");
  if (!toolkit || !*toolkit) toolkit = "/usr/local/cuda";
  g_autofree char *probe = g_build_filename(toolkit, "include", "cuda_runtime.h", NULL);
  if (!g_file_test(probe, G_FILE_TEST_EXISTS)) return;
  g_autoptr(GString) source =
      g_string_new("#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cudaTypedefs.h>\n"
                   "#include <cuda_fp8.h>\n");
  add_constants(source, ROOT "cuda.h");
  add_constants(source, ROOT "kcheck/host_api.h");
  add_sizes(source);
  g_string_append(source, "__global__ void cached(float *p, int4 *q) {\n"
                          "  *p = __ldcg(p) + __ldca(p + 1) + __ldcs(p + 2) + __ldlu(p + 3);\n"
                          "  *q = __ldcv(q); __stwb(p, 1.0f); __stcg(p, 1); __stwt(p, 1.0f);\n"
                          "  __stcs(q, make_int4(1, 2, 3, 4));\n}\n");
  Loaded l = load_with(source->str, (CudaOptions){.cuda_path = toolkit});
  if (!l.program && strstr(l.error.message, "are not installed")) { /* clang's own headers */
    unload(&l);
    return;
  }
  ck_assert_msg(l.program != NULL, "%s", l.error.message);
  ck_assert(l.program->toolkit_headers);
  for (int i = 0; i < l.program->diagnostics.count; i++) {
    const IrDiagnostic *d = &l.program->diagnostics.items[i];
    if (!d->is_error) continue;
    const char *text = "";
    size_t length = 0;
    source_line(&l.program->sources, d->range.file, d->range.line, &text, &length);
    ck_assert_msg(false, "%s: %.*s", d->text, (int)length, text);
  }
  unload(&l);
}
END_TEST

/* The library calls of cuda::ptx, cuda::barrier, cuda::pipeline and cooperative groups have bodies
 * of inline PTX, so that each is lowered as the instruction it is. */
START_TEST(library_calls_are_visible_instructions) {
  Loaded l = load_clean(
      "#include <cuda/barrier>\n#include <cuda/pipeline>\n#include <cuda/ptx>\n"
      "#include <cooperative_groups.h>\n"
      "namespace cg = cooperative_groups; namespace cde = cuda::device::experimental;\n"
      "using barrier = cuda::barrier<cuda::thread_scope_block>;\n"
      "__global__ void k(const __grid_constant__ CUtensorMap m, float *out) {\n"
      "  __shared__ barrier bar; __shared__ alignas(128) float buf[64]; __shared__ uint64_t full;\n"
      "  if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }\n"
      "  __syncthreads();\n"
      "  barrier::arrival_token token;\n"
      "  if (threadIdx.x == 0) {\n"
      "    cde::cp_async_bulk_tensor_2d_global_to_shared(buf, &m, 0, 0, bar);\n"
      "    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(buf));\n"
      "  } else token = bar.arrive();\n"
      "  bar.wait(std::move(token));\n"
      "  cg::this_cluster().sync();\n"
      "  cuda::ptx::mbarrier_init(&full, 1);\n"
      "  while (!cuda::ptx::mbarrier_try_wait_parity(&full, 0)) {}\n"
      "  out[threadIdx.x] = buf[threadIdx.x % 64];\n"
      "}\n");
  const IrKernel *k = l.program->kernels.items[0];
  ck_assert_int_eq(k->notes.count, 0);
  ck_assert_int_gt(k->reachable_asm, 8);
  ck_assert_int_eq(k->reachable_asm, k->lowered_asm);
  unload(&l);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("cuda/headers");
  TCase *t = tcase_create("headers");
  tcase_set_timeout(t, 240);
  tcase_add_test(t, each_header_stands_alone);
  tcase_add_test(t, all_headers_together_in_each_standard);
  tcase_add_test(t, constants_and_sizes_are_those_of_the_toolkit);
  tcase_add_test(t, library_calls_are_visible_instructions);
  suite_add_tcase(suite, t);
  return suite;
}
