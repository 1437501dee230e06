/* --stages: the constant that sizes an array of mbarriers. */
#include "load.h"

#include "cuda/cuda.h"

static Loaded load_stages(const char *text, const char *stages) {
  const char *options[] = {stages, NULL};
  return load_with(text, (CudaOptions){.stages = options});
}

/* Elements of the shared array `name` of the first kernel. */
static uint64_t elements_of(const Loaded *l, const char *name) {
  ck_assert_msg(l->program != NULL, "%s", l->error.message);
  const IrKernel *kernel = l->program->kernels.items[0];
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (strcmp(object->name, name) == 0) return object->bytes / 8;
  }
  return 0;
}

static const char RING[] =
    "#include <cstdint>\n"
    "%s\n"
    "__global__ void k(int *p) {\n"
    "  __shared__ uint64_t full[STAGES];\n"
    "  if (threadIdx.x == 0)\n"
    "    for (int i = 0; i < STAGES; i++)\n"
    "      asm volatile(\"mbarrier.init.shared::cta.b64 [%%0], 1;\" ::\"r\"(\n"
    "        (uint32_t)__cvta_generic_to_shared(&full[i])));\n"
    "}\n";

START_TEST(constants_macros_and_enumerators) {
  static const char *const DEFINITIONS[] = {"constexpr int STAGES = 4;", "#define STAGES 4",
                                            "enum { OTHER = 2, STAGES = OTHER * 2 };",
                                            "static const unsigned STAGES{4};"};
  for (size_t i = 0; i < sizeof DEFINITIONS / sizeof *DEFINITIONS; i++) {
    char text[1024];
    snprintf(text, sizeof text, RING, DEFINITIONS[i]);
    Loaded l = load(text);
    ck_assert_uint_eq(elements_of(&l, "full"), 4);
    ck_assert_str_eq(l.program->kernels.items[0]->stage_constants.items[0], "STAGES");
    unload(&l);
    l = load_stages(text, "6");
    ck_assert_msg(elements_of(&l, "full") == 6, "%s", DEFINITIONS[i]);
    unload(&l);
    l = load_stages(text, "STAGES=3");
    ck_assert_uint_eq(elements_of(&l, "full"), 3);
    unload(&l);
  }
}
END_TEST

START_TEST(macro_of_the_command_line) {
  char text[1024];
  snprintf(text, sizeof text, RING, "");
  const char *flags[] = {"-DSTAGES=4", NULL}, *stages[] = {"STAGES=5", NULL};
  Loaded l = load_with(text, (CudaOptions){.flags = flags, .stages = stages});
  ck_assert_uint_eq(elements_of(&l, "full"), 5);
  unload(&l);
}
END_TEST

START_TEST(template_argument_at_its_use) {
  static const char TEXT[] = "#include <cstdint>\n"
                             "template <int S> struct Cfg { static constexpr int kStages = S; };\n"
                             "template <class C> __global__ void k(int *p) {\n"
                             "  __shared__ uint64_t full[C::kStages];\n"
                             "  p[0] = full[0];\n"
                             "}\n"
                             "void h(int *p) { k<Cfg<4>><<<1, 32>>>(p); }\n";
  Loaded l = load_stages(TEXT, "8");
  ck_assert_uint_eq(elements_of(&l, "full"), 8);
  unload(&l);
}
END_TEST

START_TEST(several_constants_are_listed) {
  static const char TEXT[] = "#include <cstdint>\n"
                             "constexpr int LOADS = 4, STORES = 2;\n"
                             "__global__ void k(int *p) {\n"
                             "  __shared__ uint64_t full[LOADS];\n"
                             "  __shared__ uint64_t out[STORES];\n"
                             "  p[0] = full[0] + out[0];\n"
                             "}\n";
  Loaded l = load_stages(TEXT, "3");
  ck_assert_ptr_null(l.program);
  ck_assert_ptr_nonnull(strstr(l.error.message, "LOADS"));
  ck_assert_ptr_nonnull(strstr(l.error.message, "STORES"));
  unload(&l);
  l = load_stages(TEXT, "STORES=3");
  ck_assert_uint_eq(elements_of(&l, "out"), 3);
  ck_assert_uint_eq(elements_of(&l, "full"), 4);
  unload(&l);
  l = load_stages(TEXT, "WARPS=3");
  ck_assert_ptr_null(l.program);
  ck_assert_ptr_nonnull(strstr(l.error.message, "WARPS"));
  unload(&l);
  l = load_stages(TEXT, "LOADS=none");
  ck_assert_ptr_null(l.program);
  unload(&l);
}
END_TEST

START_TEST(file_without_a_ring_says_so) {
  Loaded l = load_stages("__global__ void k(int *p) { p[0] = 1; }\n", "3");
  ck_assert_ptr_null(l.program);
  ck_assert_ptr_nonnull(strstr(l.error.message, "no constant"));
  unload(&l);
}
END_TEST

START_TEST(positions_stay_those_of_the_file) {
  static const char TEXT[] = "#include <cstdint>\n"
                             "constexpr int STAGES = 4; __global__ void k(int *p) {\n"
                             "  __shared__ uint64_t full[STAGES]; p[0] = full[0];\n"
                             "}\n";
  Loaded l = load_stages(TEXT, "STAGES=16");
  SourceRange at = l.program->sources.stacks.items[l.program->kernels.items[0]->where].range;
  ck_assert_uint_eq(at.line, 2);
  ck_assert_uint_eq(at.column, 43);
  unload(&l);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("cuda/stages");
  TCase *t = tcase_create("stages");
  tcase_set_timeout(t, 120);
  tcase_add_test(t, constants_macros_and_enumerators);
  tcase_add_test(t, macro_of_the_command_line);
  tcase_add_test(t, template_argument_at_its_use);
  tcase_add_test(t, several_constants_are_listed);
  tcase_add_test(t, file_without_a_ring_says_so);
  tcase_add_test(t, positions_stay_those_of_the_file);
  suite_add_tcase(suite, t);
  return suite;
}
