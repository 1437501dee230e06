/* Host programs built by hand: launches, attributes and tensor maps become facts, limits of tensor
 * maps become violations (CUDA driver API, cuTensorMapEncodeTiled). */
#include <check.h>

#include <string.h>

#include "machine/machine.h"

typedef struct {
  KcArena *arena;
  IrProgram *program;
  IrKernel *host;
  IrBuilder b;
  IrViolations violations;
  MachineOptions options;
  MachineHostFacts *facts;
  int32_t param; /* register with the integer parameter */
} Host;

static void begin(Host *h) {
  *h = (Host){.arena = kc_arena_new()};
  h->violations.arena = h->arena;
  h->program = ir_program_new(h->arena, "test.cu", "sm_90a");
  IrFunction f = {.name = "gemm", .instantiation = "gemm<4>"};
  KC_PUSH(h->arena, h->program->functions, f);
  IrKernel *kernel = ir_kernel_new(h->program, "gemm", false);
  kernel->instantiation = "gemm<4>";
  IrParam map = {.name = "map", .bytes = 128};
  IrLeaf tensor_map = {.kind = IR_LEAF_TENSOR_MAP, .type = IR_TYPE_U(8), .name = "map"};
  KC_PUSH(h->arena, map.leaves, tensor_map);
  KC_PUSH(h->arena, kernel->params, map);
  h->host = ir_kernel_new(h->program, "main", true);
  IrParam param = {.name = "n", .offset = 0, .bytes = 4};
  IrLeaf leaf = {.kind = IR_LEAF_INT, .type = IR_TYPE_S(4), .name = "n"};
  KC_PUSH(h->arena, param.leaves, leaf);
  KC_PUSH(h->arena, h->host->params, param);
  ir_builder_init(&h->b, h->program, h->host);
  h->param = ir_reg(&h->b, IR_TYPE_U(8), "n");
  IrOperand load[] = {ir_use(h->param), ir_imm((int64_t)IR_PARAM_BASE)};
  ir_emit(&h->b, IR_load, IR_TYPE_S(4), load, 2)->space = IR_SPACE_PARAM;
}

static void run(Host *h) {
  ir_finish(&h->b);
  h->facts = machine_run_hosts(h->program, &h->options, &h->violations);
}

static void store(Host *h, uint64_t at, int bytes, IrOperand value) {
  IrOperand args[] = {ir_imm((int64_t)at), value};
  ir_emit(&h->b, IR_store, IR_TYPE_U((uint8_t)bytes), args, 2)->space = IR_SPACE_GENERIC;
}

static IrOperand kernel_operand(void) {
  return ir_as(ir_imm((int64_t)IR_FUNCTION_BASE), IR_ROLE_kernel);
}

START_TEST(launch_with_constants_and_sizes) {
  Host h;
  begin(&h);
  IrOperand args[] = {kernel_operand(),
                      ir_as(ir_use(h.param), IR_ROLE_grid),
                      ir_as(ir_imm(1), IR_ROLE_grid),
                      ir_as(ir_imm(1), IR_ROLE_grid),
                      ir_as(ir_imm(384), IR_ROLE_block),
                      ir_as(ir_imm(1), IR_ROLE_block),
                      ir_as(ir_imm(1), IR_ROLE_block),
                      ir_as(ir_imm(100000), IR_ROLE_size),
                      ir_as(ir_imm(7), IR_ROLE_args),
                      ir_as(ir_use(h.param), IR_ROLE_args)};
  ir_emit_event(&h.b, IR_EV_host_launch, args, 10, 0);
  run(&h);
  ck_assert_int_eq(h.facts->launches.count, 1);
  const MachineLaunch *l = &h.facts->launches.items[0];
  ck_assert_str_eq(l->kernel, "gemm<4>");
  ck_assert_int_eq(l->grid[0], -1); /* differs between the samples */
  ck_assert_int_eq(l->block[0], 384);
  ck_assert_int_eq(l->smem, 100000);
  ck_assert_int_eq(l->args.items[0], 7);
  ck_assert(l->args.items[1] == INT64_MIN);
  kc_arena_free(h.arena);
}
END_TEST

START_TEST(launch_config_is_read_from_memory) {
  Host h;
  begin(&h);
  uint64_t config = ir_local(&h.b, 56, 8), attrs = ir_local(&h.b, 144, 8);
  store(&h, config, 4, ir_imm(8));
  store(&h, config + 4, 4, ir_imm(1));
  store(&h, config + 8, 4, ir_imm(1));
  store(&h, config + 12, 4, ir_imm(256));
  store(&h, config + 16, 4, ir_imm(1));
  store(&h, config + 20, 4, ir_imm(1));
  store(&h, config + 24, 8, ir_imm(65536));
  store(&h, config + 40, 8, ir_imm((int64_t)attrs));
  store(&h, config + 48, 4, ir_imm(2));
  store(&h, attrs, 4, ir_imm(4)); /* cudaLaunchAttributeClusterDimension */
  store(&h, attrs + 8, 4, ir_imm(2));
  store(&h, attrs + 12, 4, ir_imm(1));
  store(&h, attrs + 16, 4, ir_imm(1));
  store(&h, attrs + 72, 4, ir_imm(6)); /* programmatic stream serialization */
  store(&h, attrs + 80, 4, ir_imm(1));
  IrOperand args[] = {kernel_operand(), ir_as(ir_imm((int64_t)config), IR_ROLE_config)};
  ir_emit_event(&h.b, IR_EV_host_launch_ex, args, 2, 0);
  run(&h);
  const MachineLaunch *l = &h.facts->launches.items[0];
  ck_assert(l->extended && l->pdl_known && l->pdl_attribute);
  ck_assert_int_eq(l->grid[0], 8);
  ck_assert_int_eq(l->block[0], 256);
  ck_assert_int_eq(l->cluster[0], 2);
  ck_assert_int_eq(l->smem, 65536);
  kc_arena_free(h.arena);
}
END_TEST

/* cudaLaunchKernelExC: a list of addresses, one a parameter, of scalars as of records. */
START_TEST(listed_arguments_are_read_where_they_lie) {
  Host h;
  begin(&h);
  IrKernel *kernel = h.program->kernels.items[0];
  IrParam rows = {.name = "rows", .offset = 128, .bytes = 4};
  IrLeaf leaf = {.kind = IR_LEAF_INT, .type = IR_TYPE_S(4), .name = "rows", .offset = 128};
  KC_PUSH(h.arena, rows.leaves, leaf);
  KC_PUSH(h.arena, kernel->params, rows);
  uint64_t map = ir_local(&h.b, 128, 64), number = ir_local(&h.b, 4, 4);
  uint64_t list = ir_local(&h.b, 16, 8), config = ir_local(&h.b, 56, 8);
  store(&h, number, 4, ir_imm(77));
  store(&h, list, 8, ir_imm((int64_t)map));
  store(&h, list + 8, 8, ir_imm((int64_t)number));
  IrOperand args[] = {kernel_operand(), ir_as(ir_imm((int64_t)config), IR_ROLE_config),
                      ir_as(ir_imm((int64_t)list), IR_ROLE_arg_list)};
  ir_emit_event(&h.b, IR_EV_host_launch_ex, args, 3, 0);
  run(&h);
  const MachineLaunch *l = &h.facts->launches.items[0];
  ck_assert_int_eq(l->leaves.count, 2);
  ck_assert_int_eq(l->leaves.items[1].offset, 128);
  ck_assert_int_eq(l->leaves.items[1].value, 77);
  kc_arena_free(h.arena);
}
END_TEST

static uint64_t array(Host *h, int width, int count, const int64_t *values) {
  uint64_t at = ir_local(&h->b, (uint64_t)(width * count), 8);
  for (int i = 0; i < count; i++)
    store(h, at + (uint64_t)(i * width), width, ir_imm(values[i]));
  return at;
}

static void encode(Host *h, uint64_t map, int64_t type, int64_t swizzle, const int64_t box[2],
                   IrOperand stride) {
  static const int64_t dims[] = {4096, 4096}, ones[] = {1, 1};
  uint64_t strides = ir_local(&h->b, 8, 8);
  store(h, strides, 8, stride);
  IrOperand args[] = {
      ir_as(ir_imm((int64_t)map), IR_ROLE_map),
      ir_as(ir_imm(type), IR_ROLE_id),
      ir_as(ir_imm(2), IR_ROLE_rank),
      ir_as(ir_imm((int64_t)IR_POINTER_BASE), IR_ROLE_base),
      ir_as(ir_imm((int64_t)array(h, 8, 2, dims)), IR_ROLE_dims),
      ir_as(ir_imm((int64_t)strides), IR_ROLE_strides),
      ir_as(ir_imm((int64_t)array(h, 4, 2, box)), IR_ROLE_box),
      ir_as(ir_imm((int64_t)array(h, 4, 2, ones)), IR_ROLE_elem_strides),
      ir_as(ir_imm(0), IR_ROLE_interleave),
      ir_as(ir_imm(swizzle), IR_ROLE_swizzle),
  };
  ir_emit_event(&h->b, IR_EV_host_tensor_map, args, 10, 0);
}

START_TEST(tensor_map_reaches_the_launch) {
  Host h;
  begin(&h);
  uint64_t map = ir_local(&h.b, 128, 64);
  static const int64_t box[] = {64, 128};
  encode(&h, map, 9, 3, box, ir_imm(8192)); /* bf16, 128B */
  uint64_t by_value = ir_local(&h.b, 128, 64);
  IrOperand copy[] = {ir_imm((int64_t)by_value), ir_imm((int64_t)map), ir_imm(128)};
  ir_emit(&h.b, IR_copy, IR_TYPE_NONE, copy, 3);
  IrOperand args[] = {kernel_operand(), ir_as(ir_imm((int64_t)by_value), IR_ROLE_args)};
  ir_emit_event(&h.b, IR_EV_host_launch, args, 2, 0);
  run(&h);
  ck_assert_int_eq(h.violations.list.count, 0);
  ck_assert_int_eq(h.facts->maps.count, 1);
  ck_assert_int_eq(h.facts->maps.items[0]->box_bytes, 64 * 128 * 2);
  ck_assert_ptr_eq(h.facts->launches.items[0].maps.items[0], h.facts->maps.items[0]);
  kc_arena_free(h.arena);
}
END_TEST

static const char *only_message(const Host *h) {
  ck_assert_int_eq(h->violations.list.count, 1);
  ck_assert_str_eq(h->violations.list.items[0]->kind, "tma-descriptor-limits");
  return h->violations.list.items[0]->message;
}

START_TEST(box_dimension_above_256) {
  Host h;
  begin(&h);
  static const int64_t box[] = {64, 320};
  encode(&h, ir_local(&h.b, 128, 64), 9, 3, box, ir_imm(8192));
  run(&h);
  ck_assert(strstr(only_message(&h), "boxDim[1] is 320") != NULL);
  kc_arena_free(h.arena);
}
END_TEST

START_TEST(inner_box_wider_than_the_swizzle) {
  Host h;
  begin(&h);
  static const int64_t box[] = {128, 64};
  encode(&h, ir_local(&h.b, 128, 64), 9, 3, box, ir_imm(8192));
  run(&h);
  ck_assert(strstr(only_message(&h), "256 bytes, more than the 128") != NULL);
  kc_arena_free(h.arena);
}
END_TEST

START_TEST(stride_not_a_multiple_of_16) {
  Host h;
  begin(&h);
  static const int64_t box[] = {16, 64};
  encode(&h, ir_local(&h.b, 128, 64), 9, 0, box, ir_imm(44));
  run(&h);
  ck_assert(strstr(only_message(&h), "globalStrides[0] is 44") != NULL);
  kc_arena_free(h.arena);
}
END_TEST

/* A stride that follows a size is the sample's doing unless it is wrong for every size. */
START_TEST(stride_of_a_size_is_not_judged) {
  Host h;
  begin(&h);
  int32_t stride = ir_reg(&h.b, IR_TYPE_U(8), NULL);
  IrOperand mul[] = {ir_use(stride), ir_use(h.param), ir_imm(2)};
  ir_emit(&h.b, IR_mul, IR_TYPE_U(8), mul, 3);
  static const int64_t box[] = {64, 64};
  encode(&h, ir_local(&h.b, 128, 64), 9, 3, box, ir_use(stride));
  run(&h);
  ck_assert_int_eq(h.violations.list.count, 0);
  ck_assert_int_eq(h.facts->maps.items[0]->strides[0], -1);
  kc_arena_free(h.arena);
}
END_TEST

START_TEST(attribute_of_a_kernel) {
  Host h;
  begin(&h);
  IrOperand args[] = {kernel_operand(), ir_as(ir_imm(8), IR_ROLE_id),
                      ir_as(ir_imm(131072), IR_ROLE_value)};
  ir_emit_event(&h.b, IR_EV_host_func_attr, args, 3, 0);
  run(&h);
  ck_assert_int_eq(h.facts->attrs.count, 1);
  ck_assert_int_eq(h.facts->attrs.items[0].attribute, 8);
  ck_assert_int_eq(h.facts->attrs.items[0].value, 131072);
  ck_assert(!h.facts->attrs.items[0].conditional);
  kc_arena_free(h.arena);
}
END_TEST

Suite *test_suite(void);

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/host");
  TCase *tc = tcase_create("host");
  tcase_add_test(tc, launch_with_constants_and_sizes);
  tcase_add_test(tc, launch_config_is_read_from_memory);
  tcase_add_test(tc, listed_arguments_are_read_where_they_lie);
  tcase_add_test(tc, tensor_map_reaches_the_launch);
  tcase_add_test(tc, box_dimension_above_256);
  tcase_add_test(tc, inner_box_wider_than_the_swizzle);
  tcase_add_test(tc, stride_not_a_multiple_of_16);
  tcase_add_test(tc, stride_of_a_size_is_not_judged);
  tcase_add_test(tc, attribute_of_a_kernel);
  suite_add_tcase(suite, tc);
  return suite;
}
