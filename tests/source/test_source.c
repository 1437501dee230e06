/* Source checks on kernels built by hand over a text given as the main file. */
#include <string.h>

#include <check.h>

#include "ptx/ptx.h"
#include "source/check.h"

Suite *test_suite(void);

static KcArena *arena;
static IrProgram *program;
static IrKernel *kernel;
static IrBuilder builder;
static IrViolations violations;
static MachineHostFacts host;
static uint32_t file;

static void setup(void) {
  arena = kc_arena_new();
  program = ir_program_new(arena, "k.cu", "sm_90a");
  file = source_file(&program->sources, "k.cu", true);
  program->sources.files.items[file].user = true;
  kernel = ir_kernel_new(program, "k", false);
  program->global_kernels_seen = 1;
  ir_builder_init(&builder, program, kernel);
  violations = (IrViolations){.arena = arena};
  host = (MachineHostFacts){0};
}

static void teardown(void) {
  kc_arena_free(arena);
}

static void use_text(const char *text) {
  program->sources.files.items[file].text = text;
  program->sources.files.items[file].length = strlen(text);
}

static uint32_t at(uint32_t line, uint32_t column) {
  return source_stack(&program->sources, (SourceRange){file, line, column, line, column + 1}, 0,
                      "k");
}

static void skip_lines(uint32_t first, uint32_t last) {
  IrSkipped skipped = {{file, first, 1, last, 1}};
  KC_PUSH(arena, program->skipped, skipped);
}

static void check_on(const char *target, bool exact) {
  const Arch *arch = arch_find(target, NULL);
  ck_assert_ptr_nonnull(arch);
  source_check(program, arch, exact, &host, &violations);
}

static const char *kinds(void) {
  char *text = kc_strdup(arena, "");
  for (int i = 0; i < violations.list.count; i++)
    text = kc_printf(arena, "%s%s%s", text, *text ? " " : "", violations.list.items[i]->kind);
  return text;
}

static const char *message(void) {
  return violations.list.count ? violations.list.items[0]->message : "";
}

static MachineLaunch *add_launch(bool pdl) {
  MachineLaunch launch = {
      .kernel = "k", .smem = 0, .pdl_attribute = pdl, .pdl_known = true, .where = at(50, 3)};
  KC_PUSH(arena, host.launches, launch);
  return &host.launches.items[host.launches.count - 1];
}

/* ---- empty bodies ---- */

static const char guarded[] = "__global__ void k(float *p) {\n"
                              "#ifdef __CUDA_ARCH_FEAT_SM100_ALL\n"
                              "  *p = 1;\n"
                              "#endif\n"
                              "}\n";

START_TEST(empty_because_of_a_guard_on_the_target) {
  use_text(guarded);
  kernel->where = at(1, 17);
  skip_lines(2, 4);
  ir_finish(&builder);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "arch-empty-body");
  ck_assert_ptr_nonnull(strstr(message(), "k is empty when it is compiled for sm_103a"));
}
END_TEST

START_TEST(empty_in_a_helper) {
  use_text("__device__ void f(float *p) {\n"
           "#ifdef __CUDA_ARCH_FEAT_SM100_ALL\n"
           "  *p = 1;\n"
           "#endif\n"
           "}\n"
           "__global__ void k(float *p) { f(p); }\n");
  kernel->where = at(6, 17);
  skip_lines(2, 4);
  ir_finish(&builder);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "arch-empty-body");
}
END_TEST

START_TEST(empty_by_nature_or_by_another_macro) {
  use_text("__global__ void k(float *p) {\n"
           "#ifdef ENABLE_STORE\n"
           "  *p = 1;\n"
           "#endif\n"
           "}\n");
  kernel->where = at(1, 17);
  skip_lines(2, 4);
  ir_finish(&builder);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(a_trap_is_not_empty) {
  use_text(guarded);
  kernel->where = at(1, 17);
  skip_lines(2, 4);
  ir_emit(&builder, IR_trap, IR_TYPE_NONE, NULL, 0);
  ir_finish(&builder);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(empty_but_never_launched) {
  use_text(guarded);
  kernel->where = at(1, 17);
  skip_lines(2, 4);
  program->global_kernels_seen = 2;
  ir_finish(&builder);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "");
  add_launch(false);
  check_on("sm_103a", false);
  ck_assert_str_eq(kinds(), "arch-empty-body");
}
END_TEST

/* ---- guards ---- */

START_TEST(a_guard_that_admits_sm_120) {
  use_text("#if __CUDA_ARCH__ >= 1000\n"
           "void f() { asm volatile(\"tcgen05.wait::ld.sync.aligned;\"); }\n"
           "#endif\n");
  ir_finish(&builder);
  check_on("sm_100a", false);
  ck_assert_str_eq(kinds(), "arch-guard-mismatch");
  ck_assert_ptr_nonnull(strstr(message(), "lets tcgen05 through to sm_120"));
  ck_assert_int_eq(violations.list.items[0]->confidence, IR_FALLBACK);
  violations.list.count = 0;
  check_on("sm_120a", false);
  ck_assert_int_eq(violations.list.items[0]->confidence, IR_PROVED_FORCED);
}
END_TEST

START_TEST(guards_that_fit) {
  use_text("#if __CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200\n"
           "void f() { asm volatile(\"tcgen05.wait::ld.sync.aligned;\"); }\n"
           "#endif\n"
           "#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && __CUDA_ARCH__ >= 900\n"
           "void g() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n"
           "#endif\n"
           "#if __CUDA_ARCH__ >= 900\n"
           "void h() { asm volatile(\"fence.proxy.async;\"); } // not \"wgmma\n"
           "#endif\n"
           "void i() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n");
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(the_base_target_lacks_wgmma_whatever_its_number) {
  use_text("#if __CUDA_ARCH__ == 900\n"
           "void f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\n"
           "#endif\n");
  ir_finish(&builder);
  check_on("sm_90a", true);
  ck_assert_str_eq(kinds(), "");
  check_on("sm_90", true);
  ck_assert_str_eq(kinds(), "arch-guard-mismatch");
}
END_TEST

/* ---- asm ---- */

static const PtxInsn *insn(const char *opcode, const char *a, const char *b) {
  const char **modifiers = KC_NEW_ARRAY(arena, const char *, 2);
  modifiers[0] = a;
  modifiers[1] = b;
  PtxInsn *made = KC_NEW(arena, PtxInsn);
  *made = (PtxInsn){.opcode = opcode,
                    .modifiers = modifiers,
                    .nmodifiers = 1 + (b != NULL),
                    .text = kc_printf(arena, "%s.%s", opcode, a)};
  return made;
}

static IrAsm *add_asm(const PtxInsn *made, const char *text, bool is_volatile, bool clobber) {
  IrAsm record = {.text = text,
                  .where = at(10 + (uint32_t)kernel->asms.count, 3),
                  .is_volatile = is_volatile,
                  .memory_clobber = clobber,
                  .insns = made,
                  .ninsns = made ? 1 : 0};
  KC_PUSH(arena, kernel->asms, record);
  return &kernel->asms.items[kernel->asms.count - 1];
}

static void load_of(bool shared) {
  int32_t object =
      ir_object(&builder, (IrObject){.name = "tile",
                                     .space = shared ? IR_SPACE_SHARED : IR_SPACE_GLOBAL,
                                     .bytes = 64,
                                     .align = 4});
  int32_t reg = ir_reg(&builder, IR_TYPE_F(4), "x");
  IrOperand args[] = {ir_use(reg), ir_object_address(object, 0)};
  ir_emit(&builder, IR_load, IR_TYPE_F(4), args, 2);
}

/* griddepcontrol.wait, then an access to `space`. */
static void grid_wait_then_load(bool shared, bool clobber) {
  IrAsm *statement =
      add_asm(insn("griddepcontrol", "wait", NULL), "griddepcontrol.wait;", true, clobber);
  builder.where = statement->where;
  ir_emit_event(&builder, IR_EV_griddep_wait, NULL, 0, IR_FLAG(from_asm));
  load_of(shared);
  ir_finish(&builder);
  check_on("sm_90a", false);
}

START_TEST(griddepcontrol_wait_without_clobber) {
  grid_wait_then_load(false, false);
  ck_assert_str_eq(kinds(), "pdl-asm-memory-clobber");
}
END_TEST

START_TEST(griddepcontrol_wait_with_clobber) {
  grid_wait_then_load(false, true);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(griddepcontrol_wait_before_nothing_global) {
  grid_wait_then_load(true, false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

/* try_wait without clobber, then an access to `space`. */
static void wait_then_load(bool shared) {
  IrAsm *statement = add_asm(insn("mbarrier", "try_wait", "parity"), "mbarrier...", true, false);
  static const char *const constraints[] = {"=r", "r"};
  statement->constraints = constraints;
  statement->nconstraints = 2;
  builder.where = statement->where;
  ir_emit_event(&builder, IR_EV_mbarrier_try_wait, NULL, 0, IR_FLAG(from_asm));
  load_of(shared);
  ir_finish(&builder);
}

START_TEST(a_wait_without_clobber_before_a_shared_access) {
  wait_then_load(true);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "mbarrier-asm-memory-clobber");
}
END_TEST

START_TEST(a_wait_without_clobber_before_nothing_shared) {
  wait_then_load(false);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(a_label_that_stands_twice) {
  const char *bare = "AGAIN: mbarrier.try_wait.parity.b64 p, [%0], %1; @!p bra AGAIN;";
  const char *braced = "{ AGAIN: mbarrier.try_wait.parity.b64 p, [%0], %1; @!p bra AGAIN; }";
  add_asm(NULL, braced, true, true);
  add_asm(NULL, braced, true, true);
  add_asm(NULL, bare, true, true);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  add_asm(NULL, bare, true, true);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "mbarrier-asm-memory-clobber");
  ck_assert_ptr_nonnull(strstr(message(), "the label AGAIN stands twice"));
}
END_TEST

/* mbarrier.init on an address that went through cvta, or not. */
static void init_barrier(bool convert) {
  int32_t object = ir_object(
      &builder, (IrObject){.name = "full", .space = IR_SPACE_SHARED, .bytes = 8, .align = 8});
  int32_t pointer = ir_reg(&builder, IR_TYPE_U(8), "p"),
          address = ir_reg(&builder, IR_TYPE_U(4), NULL);
  IrOperand take[] = {ir_use(pointer), ir_object_address(object, 0)};
  ir_emit(&builder, IR_mov, IR_TYPE_U(8), take, 2);
  IrOperand narrow[] = {ir_use(address), ir_use(pointer)};
  IrInsn *made = ir_emit(&builder, convert ? IR_cvta : IR_cvt, IR_TYPE_U(4), narrow, 2);
  made->space = IR_SPACE_SHARED;
  IrOperand operand = ir_as(ir_use(address), IR_ROLE_addr);
  builder.where = at(20, 3);
  ir_emit_event(&builder, IR_EV_mbarrier_init, &operand, 1, IR_FLAG(from_asm))->space =
      IR_SPACE_SHARED;
  ir_finish(&builder);
}

START_TEST(a_pointer_cast_to_a_shared_address) {
  init_barrier(false);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "smem-generic-pointer-in-shared-asm");
}
END_TEST

START_TEST(a_pointer_converted_to_a_shared_address) {
  init_barrier(true);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

/* ---- kernels ---- */

START_TEST(a_call_beside_wgmma) {
  ir_emit_event(&builder, IR_EV_extern_call, NULL, 0, 0)->text = "printf";
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  ir_emit_event(&builder, IR_EV_wgmma_mma, NULL, 0, 0);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "perf-wgmma-serialized");
  ck_assert_ptr_nonnull(strstr(message(), "printf"));
}
END_TEST

START_TEST(a_tensor_map_by_value) {
  IrParam param = {.name = "map", .type = "CUtensorMap", .bytes = 128, .where = at(30, 5)};
  IrLeaf leaf = {.kind = IR_LEAF_TENSOR_MAP};
  KC_PUSH(arena, param.leaves, leaf);
  KC_PUSH(arena, kernel->params, param);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  ir_emit_event(&builder, IR_EV_bulk_tensor_load, NULL, 0, 0);
  kernel->params.items[0].grid_constant = true;
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  kernel->params.items[0].grid_constant = false;
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "tma-descriptor-not-grid-constant");
}
END_TEST

START_TEST(two_names_of_dynamic_shared_memory) {
  use_text("__global__ void k() {\n"
           "  extern __shared__ float a[];\n"
           "  extern __shared__ __align__(16) int b[];\n"
           "  a[threadIdx.x] = b[0] == 1;\n"
           "  b[threadIdx.x] += 1;\n"
           "}\n");
  kernel->where = at(1, 17);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "smem-extern-alias");
}
END_TEST

START_TEST(a_second_name_that_is_only_read) {
  use_text("__global__ void k() {\n"
           "  extern __shared__ float a[];\n"
           "  extern __shared__ int b[]; // b[0] = 1\n"
           "  a[threadIdx.x] = b[0];\n"
           "}\n");
  kernel->where = at(1, 17);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(polling_where_try_wait_would_sleep) {
  int32_t again = ir_label(&builder);
  ir_place(&builder, again);
  ir_emit_event(&builder, IR_EV_mbarrier_test_wait, NULL, 0, 0);
  ir_branch(&builder, again, ir_reg(&builder, IR_TYPE_PRED, "p"), true);
  ir_finish(&builder);
  check_on("sm_80", false);
  ck_assert_str_eq(kinds(), "");
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "perf-hot-spin");
}
END_TEST

/* ---- launches ---- */

static const char lost_wait[] = "__device__ void wait() {\n"
                                "#ifdef ENABLE_GDC\n"
                                "  asm volatile(\"griddepcontrol.wait;\" ::: \"memory\");\n"
                                "#endif\n"
                                "}\n"
                                "__global__ void k(float *p) { gdc::wait(); *p = 1; }\n"
                                "/* cudaGetLastError */\n";

START_TEST(a_wait_that_is_compiled_out) {
  use_text(lost_wait);
  kernel->where = at(6, 17);
  skip_lines(2, 4);
  add_launch(false);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  add_launch(true);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "pdl-gdc-wrapper-disabled");
  ck_assert_ptr_nonnull(strstr(message(), "(in wait) is compiled out"));
}
END_TEST

START_TEST(a_wait_without_the_attribute) {
  use_text("/* cudaGetLastError */\n");
  builder.where = at(1, 1);
  ir_emit_event(&builder, IR_EV_griddep_wait, NULL, 0, 0);
  ir_finish(&builder);
  check_on("sm_90a", false); /* no launch in sight */
  ck_assert_str_eq(kinds(), "");
  add_launch(false);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "perf-pdl-attribute-missing");
  violations.list.count = 0;
  add_launch(true);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(a_launch_whose_failure_nobody_sees) {
  use_text("void f() {\n  cudaLaunchKernelEx(&c, k);\n  MUST(cudaLaunchKernelEx(&c, k));\n}\n");
  MachineLaunch *launch = add_launch(false);
  launch->smem = 98304;
  launch->extended = true;
  launch->where = at(3, 8);
  ir_finish(&builder);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "");
  launch->where = at(2, 3);
  check_on("sm_90a", false);
  ck_assert_str_eq(kinds(), "launch-error-unchecked");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("source checks");
  TCase *tests = tcase_create("checks");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, empty_because_of_a_guard_on_the_target);
  tcase_add_test(tests, empty_in_a_helper);
  tcase_add_test(tests, empty_by_nature_or_by_another_macro);
  tcase_add_test(tests, a_trap_is_not_empty);
  tcase_add_test(tests, empty_but_never_launched);
  tcase_add_test(tests, a_guard_that_admits_sm_120);
  tcase_add_test(tests, guards_that_fit);
  tcase_add_test(tests, the_base_target_lacks_wgmma_whatever_its_number);
  tcase_add_test(tests, griddepcontrol_wait_without_clobber);
  tcase_add_test(tests, griddepcontrol_wait_with_clobber);
  tcase_add_test(tests, griddepcontrol_wait_before_nothing_global);
  tcase_add_test(tests, a_wait_without_clobber_before_a_shared_access);
  tcase_add_test(tests, a_wait_without_clobber_before_nothing_shared);
  tcase_add_test(tests, a_label_that_stands_twice);
  tcase_add_test(tests, a_pointer_cast_to_a_shared_address);
  tcase_add_test(tests, a_pointer_converted_to_a_shared_address);
  tcase_add_test(tests, a_call_beside_wgmma);
  tcase_add_test(tests, a_tensor_map_by_value);
  tcase_add_test(tests, two_names_of_dynamic_shared_memory);
  tcase_add_test(tests, a_second_name_that_is_only_read);
  tcase_add_test(tests, polling_where_try_wait_would_sleep);
  tcase_add_test(tests, a_wait_that_is_compiled_out);
  tcase_add_test(tests, a_wait_without_the_attribute);
  tcase_add_test(tests, a_launch_whose_failure_nobody_sees);
  suite_add_tcase(suite, tests);
  return suite;
}
