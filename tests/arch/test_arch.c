#include <string.h>

#include <check.h>
#include <glib.h>

#include "arch/arch.h"
#include "arch/load.h"

Suite *test_suite(void);

static KcError error;

static void teardown(void) {
  kc_error_clear(&error);
}

static const Arch *find(const char *name) {
  const Arch *arch = arch_find(name, &error);
  ck_assert_msg(arch != NULL, "%s: %s", name, error.message ? error.message : "");
  return arch;
}

START_TEST(finds_every_target_by_its_names) {
  const char *const names[] = {"sm_70",   "sm_75",  "sm_80",   "sm_86",   "sm_89",  "sm_90",
                               "sm_90a",  "sm_100", "sm_100f", "sm_100a", "sm_103", "sm_103f",
                               "sm_103a", "sm_110", "sm_110f", "sm_110a", "sm_120", "sm_120f",
                               "sm_120a", "sm_121", "sm_121f", "sm_121a", "sm_87"};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
    ck_assert_str_eq(find(names[i])->name, names[i]);
  ck_assert_str_eq(find("100a")->name, "sm_100a");
  ck_assert_str_eq(find("compute_90")->name, "sm_90");
}
END_TEST

START_TEST(suggests_the_nearest_name) {
  ck_assert_ptr_null(arch_find("sm_90b", &error));
  ck_assert_str_eq(error.message, "unknown architecture `sm_90b`");
  ck_assert_ptr_nonnull(strstr(error.hint, "did you mean sm_90"));
  ck_assert_ptr_null(arch_find("sm_101a", &error));
  ck_assert_str_eq(error.hint, "sm_101a is called sm_110a now");
  ck_assert_ptr_null(arch_find("hopper", &error));
  ck_assert_str_eq(error.hint, "give a target such as sm_90, sm_100 or sm_100a");
}
END_TEST

START_TEST(full_is_the_a_target_of_the_gpu) {
  ck_assert_str_eq(arch_full(find("sm_100"))->name, "sm_100a");
  ck_assert_str_eq(arch_full(find("sm_103f"))->name, "sm_103a");
  ck_assert_str_eq(arch_full(find("sm_90a"))->name, "sm_90a");
  ck_assert_str_eq(arch_full(find("sm_80"))->name, "sm_80");
}
END_TEST

START_TEST(limits_and_features_differ_by_target) {
  const Arch *hopper = find("sm_90a"), *portable = find("sm_90"), *consumer = find("sm_120a");
  ck_assert_int_eq(hopper->smem_opt_in, 232448);
  ck_assert_int_eq(hopper->smem_static_max, 232448);
  ck_assert_int_eq(portable->smem_static_max, 49152);
  ck_assert_int_eq(consumer->smem_opt_in, 101376);
  ck_assert_int_eq(consumer->max_threads_per_sm, 1536);
  ck_assert(hopper->has_wgmma && hopper->has_setmaxnreg && !hopper->has_tcgen05);
  ck_assert(!portable->has_wgmma && !portable->has_setmaxnreg && portable->has_tma);
  ck_assert(!consumer->has_tcgen05 && consumer->has_clc && consumer->tmem_columns == 0);
  ck_assert(find("sm_100f")->has_tcgen05 && !find("sm_100")->has_tcgen05);
  ck_assert_int_eq(find("sm_100")->tmem_columns, 512);
  ck_assert_int_eq(find("sm_100")->max_cluster, 16);
  ck_assert_int_eq(find("sm_80")->max_cluster, 1);
}
END_TEST

/* Values that ptxas 13.0 gave a register-hungry kernel, sm_90a. */
START_TEST(launch_bounds_registers_as_measured) {
  static const struct {
    int threads, blocks, registers;
  } observed[] = {
      {288, 1, 168}, {416, 1, 128}, {160, 3, 128}, {320, 1, 168}, {544, 1, 96},  {96, 5, 128},
      {672, 1, 80},  {800, 1, 72},  {128, 1, 255}, {256, 1, 255}, {384, 1, 168}, {512, 1, 128},
      {640, 1, 96},  {768, 1, 80},  {896, 1, 72},  {1024, 1, 64}, {256, 2, 128}, {384, 2, 80},
      {128, 4, 128}, {256, 4, 64},  {256, 8, 32},  {1024, 2, 32},
  };
  const Arch *arch = find("sm_90a");
  for (size_t i = 0; i < G_N_ELEMENTS(observed); i++)
    ck_assert_int_eq(arch_launch_bounds_registers(arch, observed[i].threads, observed[i].blocks),
                     observed[i].registers);
}
END_TEST

START_TEST(launch_bounds_that_do_not_fit_count_as_one_block) {
  const Arch *arch = find("sm_120a");
  ck_assert_int_eq(arch_launch_bounds_registers(arch, 1024, 2), 64); /* 2048 of 1536 threads */
  ck_assert_int_eq(arch_launch_bounds_registers(find("sm_90a"), 32, 33), 255);
  ck_assert_int_eq(arch_launch_bounds_registers(arch, 384, 0), 168);
  ck_assert_int_eq(arch_launch_bounds_registers(arch, 2048, 1), 255);
  ck_assert_int_eq(arch_launch_bounds_registers(arch, 0, 0), 255);
}
END_TEST

static void in_order(const Arch *arch, void *user) {
  const Arch **last = user;
  if (*last) ck_assert_int_le((*last)->number, arch->number);
  *last = arch;
}

START_TEST(each_visits_in_order) {
  const Arch *last = NULL;
  arch_each(in_order, &last);
  ck_assert_str_eq(last->name, "sm_121a");
}
END_TEST

static void assert_broken(const char *text, int line, const char *message) {
  ArchTable table = {g_array_new(FALSE, TRUE, sizeof(Arch)),
                     g_array_new(FALSE, TRUE, sizeof(ArchFormer))};
  ck_assert(!arch_load(&table, "knowledge/architectures/x.yaml", text, strlen(text), &error));
  ck_assert_str_eq(error.path, "knowledge/architectures/x.yaml");
  ck_assert_msg(error.line == line, "line %d: %s", error.line, error.message);
  ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
  g_array_unref(table.archs);
  g_array_unref(table.former);
}

START_TEST(a_broken_file_is_named_with_its_line) {
  assert_broken("architecture: 90\nname: x\ntargets: {}\nlimits:\n  threads-per-blok: 3\n", 5,
                "threads-per-blok");
  assert_broken("architecture: 90\nname: x\ntargets: {}\n"
                "limits:\n  threads-per-block: {value: many, evidence: [h200]}\n",
                5, "many");
  assert_broken("architecture: 90\nname: x\ntargets: {}\n"
                "limits:\n  threads-per-block: {value: 3}\n",
                5, "evidence");
  assert_broken("architecture: 90\nname: x\nlimits: {}\n", 1, "targets");
  assert_broken("architecture: [90\n", 2, "");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("arch");
  TCase *tests = tcase_create("arch");
  tcase_add_checked_fixture(tests, NULL, teardown);
  tcase_add_test(tests, finds_every_target_by_its_names);
  tcase_add_test(tests, suggests_the_nearest_name);
  tcase_add_test(tests, full_is_the_a_target_of_the_gpu);
  tcase_add_test(tests, limits_and_features_differ_by_target);
  tcase_add_test(tests, launch_bounds_registers_as_measured);
  tcase_add_test(tests, launch_bounds_that_do_not_fit_count_as_one_block);
  tcase_add_test(tests, each_visits_in_order);
  tcase_add_test(tests, a_broken_file_is_named_with_its_line);
  suite_add_tcase(suite, tests);
  return suite;
}
