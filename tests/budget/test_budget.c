/* Budgets of kernels built by hand: every limit from just below and just above. */
#include <string.h>

#include <check.h>

#include "budget/budget.h"
#include "budget/internal.h"

Suite *test_suite(void);

enum { MAX_DYNAMIC_SMEM = 8, NON_PORTABLE_CLUSTER = 14 };

static KcArena *arena;
static IrProgram *program;
static IrKernel *kernel;
static IrBuilder builder;
static IrViolations violations;
static MachineHostFacts host;
static MachineResult machine;

static void setup(void) {
  arena = kc_arena_new();
  program = ir_program_new(arena, "k.cu", "sm_90a");
  kernel = ir_kernel_new(program, "k", false);
  ir_builder_init(&builder, program, kernel);
  violations = (IrViolations){.arena = arena};
  host = (MachineHostFacts){0};
  machine = (MachineResult){0};
}

static void teardown(void) {
  kc_arena_free(arena);
}

static void add_static(uint64_t bytes, uint32_t align) {
  ir_object(&builder,
            (IrObject){.name = "tile", .space = IR_SPACE_SHARED, .bytes = bytes, .align = align});
}

static void use_dynamic(void) {
  int32_t object = ir_object(
      &builder,
      (IrObject){.name = "storage", .space = IR_SPACE_SHARED, .dynamic = true, .align = 16});
  int32_t reg = ir_reg(&builder, IR_TYPE_U(8), "p");
  IrOperand args[] = {ir_use(reg), ir_object_address(object, 0)};
  ir_emit(&builder, IR_mov, IR_TYPE_U(8), args, 2);
}

static MachineLaunch *add_launch(int64_t grid, int64_t block, int64_t smem) {
  MachineLaunch launch = {.kernel = "k",
                          .grid = {grid, 1, 1},
                          .block = {block, 1, 1},
                          .cluster = {-1, -1, -1},
                          .smem = smem};
  KC_PUSH(arena, host.launches, launch);
  return &host.launches.items[host.launches.count - 1];
}

static void add_attribute(int64_t attribute, int64_t value) {
  MachineFuncAttr attr = {.kernel = "k", .attribute = attribute, .value = value};
  KC_PUSH(arena, host.attrs, attr);
}

static void add_setmaxnreg(int64_t count, bool inc) {
  IrOperand operand = ir_as(ir_imm(count), IR_ROLE_count);
  ir_emit_event(&builder, IR_EV_setmaxnreg, &operand, 1, inc ? IR_FLAG(inc) : IR_FLAG(dec));
}

static BudgetKernel check_on(const char *target) {
  const Arch *arch = arch_find(target, NULL);
  ck_assert_ptr_nonnull(arch);
  return budget_check(program, kernel, arch, &host, &machine, &violations);
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

/* ---- shared memory ---- */

START_TEST(static_memory_up_to_the_limit_of_the_target) {
  add_static(49152, 16);
  check_on("sm_90");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(static_memory_above_48k_only_on_a_targets) {
  add_static(65536, 16);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  check_on("sm_90");
  ck_assert_str_eq(kinds(), "smem-static-over-48k");
  ck_assert_ptr_nonnull(
      strstr(message(), "65536 bytes of static shared memory, sm_90 allows 49152"));
}
END_TEST

START_TEST(static_padding_counts) {
  add_static(1, 1);
  add_static(49151, 16);
  BudgetKernel out = check_on("sm_90");
  ck_assert_int_eq(out.row.smem_static, 16 + 49151);
  ck_assert_str_eq(kinds(), "smem-static-over-48k");
}
END_TEST

START_TEST(opt_in_missing_counts_static_and_dynamic_together) {
  add_static(32, 4);
  use_dynamic();
  add_launch(1, 128, 49152);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-optin-missing");
  ck_assert_ptr_nonnull(strstr(message(), "49152 bytes of dynamic and 32 of static"));
}
END_TEST

START_TEST(opt_in_of_48k_is_not_needed) {
  use_dynamic();
  add_launch(1, 128, 49152);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(opt_in_present_too_small_unknown_or_of_another_kernel) {
  use_dynamic();
  add_launch(1, 128, 98304);
  add_attribute(MAX_DYNAMIC_SMEM, 65536);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-optin-missing");
  ck_assert_ptr_nonnull(strstr(message(), "its attribute allows 65536"));
  violations.list.count = 0;
  host.attrs.items[0].value = 98304;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  host.attrs.items[0].value = INT64_MIN;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  host.attrs.items[0].kernel = "other";
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-optin-missing");
}
END_TEST

START_TEST(over_the_opt_in_limit) {
  use_dynamic();
  add_launch(1, 128, 232448);
  add_attribute(MAX_DYNAMIC_SMEM, 232448);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  host.launches.items[0].smem = host.attrs.items[0].value = 232464;
  BudgetKernel out = check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-over-limit");
  ck_assert_ptr_nonnull(strstr(message(), "16 more than a block of sm_90a may have (232448)"));
  ck_assert(!out.row.fits);
  ck_assert_int_eq(out.row.blocks_per_sm, 0);
}
END_TEST

START_TEST(all_of_an_sm_is_a_message_of_its_own) {
  use_dynamic();
  add_launch(1, 128, 233472);
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "smem-over-limit");
  ck_assert_ptr_nonnull(strstr(message(), "that is all of an SM"));
}
END_TEST

START_TEST(a_ring_over_the_limit_is_named_by_its_stages) {
  use_dynamic();
  KC_PUSH(arena, kernel->stage_constants, "STAGES");
  add_attribute(MAX_DYNAMIC_SMEM, 262208); /* the launch is in another file */
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "pipeline-stages-exceed-smem");
  ck_assert_ptr_nonnull(strstr(violations.list.items[0]->help, "lower STAGES"));
}
END_TEST

START_TEST(unknown_sizes_are_silent) {
  use_dynamic();
  add_launch(1, 128, -1);
  BudgetKernel out = check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  ck_assert_int_eq(out.row.smem_total, -1);
}
END_TEST

START_TEST(a_launch_without_the_dynamic_memory_that_is_used) {
  use_dynamic();
  add_launch(1, 128, 0);
  check_on("sm_90a"); /* named, but never reached */
  ck_assert_str_eq(kinds(), "");
  machine.dynamic_smem_least = 512;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-launch-too-small");
  violations.list.count = 0;
  host.launches.items[0].smem = 1000;
  machine.dynamic_smem_least = 1024;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "smem-launch-too-small");
  ck_assert_ptr_nonnull(strstr(message(), "reaches byte 1023"));
}
END_TEST

/* ---- registers ---- */

START_TEST(setmaxnreg_needs_a_minimum_of_blocks) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 384;
  add_setmaxnreg(40, false);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "register-setmaxnreg-ignored");
  ck_assert_str_eq(violations.list.items[0]->help, "write __launch_bounds__(384, 1)");
  violations.list.count = 0;
  kernel->min_blocks = 1;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  kernel->min_blocks = 0;
  kernel->maxnreg = 168;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

static void set_warpgroups(int a, int b, int c) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 384;
  kernel->min_blocks = 1;
  add_setmaxnreg(232, true);
  KC_PUSH(arena, machine.warpgroup_registers, a);
  KC_PUSH(arena, machine.warpgroup_registers, b);
  KC_PUSH(arena, machine.warpgroup_registers, c);
}

START_TEST(the_pool_is_what_the_cta_was_launched_with) {
  set_warpgroups(40, 232, 232);
  BudgetKernel out = check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  ck_assert_str_eq(out.setmaxnreg, "40 + 232 + 232 of 504");
  ck_assert_int_eq(out.launch_bounds_registers, 168);
}
END_TEST

START_TEST(the_pool_overflows_when_nobody_gives_back) {
  set_warpgroups(0, 232, 232);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "register-setmaxnreg-pool-overflow");
  ck_assert_ptr_nonnull(strstr(message(), "168 + 232 + 232 = 632"));
}
END_TEST

START_TEST(inc_below_the_count_at_entry) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 256;
  kernel->min_blocks = 1;
  add_setmaxnreg(152, true);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "register-setmaxnreg-below-entry");
  violations.list.count = 0;
  add_setmaxnreg(40, false); /* it may come before the inc */
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(launch_bounds_that_an_sm_can_not_hold) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 256;
  kernel->min_blocks = 8;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  check_on("sm_120a");
  ck_assert_str_eq(kinds(), "register-launch-bounds-overcommit");
}
END_TEST

START_TEST(accumulators_that_are_live_together) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 384;
  kernel->min_blocks = 1;
  for (int set = 0; set < 2; set++) {
    IrOperand *regs = KC_NEW_ARRAY(arena, IrOperand, 128);
    for (int i = 0; i < 128; i++)
      regs[i] = ir_use(ir_reg(&builder, IR_TYPE_F(4), "d"));
    IrOperand acc = {.kind = IR_OPD_VECTOR, .role = IR_ROLE_acc, .list = regs, .count = 128};
    ir_emit_event(&builder, IR_EV_wgmma_mma, &acc, 1, 0);
    ir_emit_event(&builder, IR_EV_wgmma_mma, &acc, 1, 0); /* the same registers */
  }
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "register-accumulator-exceeds-budget");
  ck_assert_ptr_nonnull(strstr(message(), "256 registers a thread of the 168"));
}
END_TEST

/* ---- launches ---- */

START_TEST(blocks_larger_than_allowed) {
  add_launch(1, 1025, 0);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "launch-block-size");
  violations.list.count = 0;
  kernel->max_threads = 256;
  host.launches.items[0].block[0] = 257;
  check_on("sm_90a");
  ck_assert_ptr_nonnull(strstr(message(), "its launch bounds allow 256"));
  violations.list.count = 0;
  host.launches.items[0].block[0] = 256;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  kernel->reqntid[0] = 128;
  check_on("sm_90a");
  ck_assert_ptr_nonnull(strstr(message(), "it requires 128 x 1 x 1"));
}
END_TEST

START_TEST(launch_bounds_above_the_block_limit) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 2048;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "launch-block-size");
}
END_TEST

START_TEST(clusters_above_8_and_16) {
  MachineLaunch *launch = add_launch(32, 128, 0);
  launch->extended = true;
  launch->cluster[0] = 16;
  launch->cluster[1] = launch->cluster[2] = 1;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "cluster-size-limit");
  violations.list.count = 0;
  add_attribute(NON_PORTABLE_CLUSTER, 1);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  launch->cluster[0] = 32;
  check_on("sm_90a");
  ck_assert_ptr_nonnull(strstr(message(), "allows at most 16"));
}
END_TEST

START_TEST(grids_are_whole_clusters) {
  kernel->cluster_dims[0] = 2;
  add_launch(7, 128, 0);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "cluster-grid-not-multiple");
  violations.list.count = 0;
  host.launches.items[0].grid[0] = 8;
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(pairs_need_clusters) {
  ir_emit_event(&builder, IR_EV_tcgen05_commit, NULL, 0, IR_FLAG(cta_group2));
  check_on("sm_100a"); /* no launch in sight */
  ck_assert_str_eq(kinds(), "");
  add_launch(8, 128, 0);
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "tcgen05-pair-without-cluster");
  violations.list.count = 0;
  host.launches.items[0].extended = true; /* cluster attribute not known */
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "");
  kernel->cluster_dims[0] = 2;
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "");
}
END_TEST

START_TEST(blocks_that_strand_thread_slots) {
  add_launch(100, 1024, 0);
  check_on("sm_90a");
  ck_assert_str_eq(kinds(), "");
  check_on("sm_120a");
  ck_assert_str_eq(kinds(), "perf-block-size-strands-sm");
}
END_TEST

START_TEST(tensor_memory_of_the_blocks_asked_for) {
  kernel->has_launch_bounds = true;
  kernel->max_threads = 128;
  kernel->min_blocks = 2;
  ir_emit_event(&builder, IR_EV_tcgen05_alloc, NULL, 0, 0);
  machine.tmem_columns = 256;
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "");
  machine.tmem_columns = 512;
  check_on("sm_100a");
  ck_assert_str_eq(kinds(), "tcgen05-tmem-overcommit");
}
END_TEST

/* cuda_occupancy.h for 9.0: 1024 bytes are reserved for each block. */
START_TEST(blocks_on_an_sm) {
  const Arch *arch = arch_find("sm_90a", NULL);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 0, 128, 0), 16);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 98304, 128, 0), 2);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 232448, 128, 0), 1);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 232449, 128, 0), 0);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 0, 384, 168), 1);
  ck_assert_int_eq(budget_blocks_per_sm(arch, 0, 256, 64), 4);
  ck_assert_int_eq(budget_blocks_per_sm(arch, -1, 0, 0), -1);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("budget");
  TCase *tests = tcase_create("budget");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, static_memory_up_to_the_limit_of_the_target);
  tcase_add_test(tests, static_memory_above_48k_only_on_a_targets);
  tcase_add_test(tests, static_padding_counts);
  tcase_add_test(tests, opt_in_missing_counts_static_and_dynamic_together);
  tcase_add_test(tests, opt_in_of_48k_is_not_needed);
  tcase_add_test(tests, opt_in_present_too_small_unknown_or_of_another_kernel);
  tcase_add_test(tests, over_the_opt_in_limit);
  tcase_add_test(tests, all_of_an_sm_is_a_message_of_its_own);
  tcase_add_test(tests, a_ring_over_the_limit_is_named_by_its_stages);
  tcase_add_test(tests, unknown_sizes_are_silent);
  tcase_add_test(tests, a_launch_without_the_dynamic_memory_that_is_used);
  tcase_add_test(tests, setmaxnreg_needs_a_minimum_of_blocks);
  tcase_add_test(tests, the_pool_is_what_the_cta_was_launched_with);
  tcase_add_test(tests, the_pool_overflows_when_nobody_gives_back);
  tcase_add_test(tests, inc_below_the_count_at_entry);
  tcase_add_test(tests, launch_bounds_that_an_sm_can_not_hold);
  tcase_add_test(tests, accumulators_that_are_live_together);
  tcase_add_test(tests, blocks_larger_than_allowed);
  tcase_add_test(tests, launch_bounds_above_the_block_limit);
  tcase_add_test(tests, clusters_above_8_and_16);
  tcase_add_test(tests, grids_are_whole_clusters);
  tcase_add_test(tests, pairs_need_clusters);
  tcase_add_test(tests, blocks_that_strand_thread_slots);
  tcase_add_test(tests, tensor_memory_of_the_blocks_asked_for);
  tcase_add_test(tests, blocks_on_an_sm);
  suite_add_tcase(suite, tests);
  return suite;
}
