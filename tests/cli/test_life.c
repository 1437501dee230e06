/* Baselines and mechanical fixes: findings over the life of a repository. */
#include <string.h>

#include <check.h>

#include "cli/baseline.h"
#include "cli/fix.h"
#include "rules/rules.h"

Suite *test_suite(void);

static KcError error;

static Finding *finding(const char *path, const char *rule, const char *source) {
  Finding *f = g_new0(Finding, 1);
  f->path = g_strdup(path);
  f->rule = g_strdup(rule);
  f->source = g_strdup(source);
  f->archs = g_ptr_array_new_with_free_func(g_free);
  f->related = g_ptr_array_new();
  f->witness_names = g_ptr_array_new_with_free_func(g_free);
  f->witness_values = g_ptr_array_new_with_free_func(g_free);
  return f;
}

static GPtrArray *findings_new(void) {
  return g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
}

static char *accept_two(void) {
  g_autofree char *folder = g_dir_make_tmp("kcheck-XXXXXX", NULL);
  char *path = g_build_filename(folder, "base.json", NULL);
  g_autoptr(GPtrArray) all = findings_new();
  g_autoptr(GPtrArray) paths = g_ptr_array_new();
  g_ptr_array_add(all, finding("a.cu", "r1", "  wait(bar,  0);"));
  g_ptr_array_add(all, finding("a.cu", "r1", "  wait(bar,  0);"));
  g_ptr_array_add(paths, (gpointer) "a.cu");
  Baseline *baseline = baseline_new(path);
  baseline_take(baseline, paths, all);
  ck_assert(baseline_write(baseline, &error));
  baseline_free(baseline);
  return path;
}

START_TEST(an_entry_accepts_one_finding_wherever_its_line_moved) {
  g_autofree char *path = accept_two();
  Baseline *baseline = baseline_open(path, &error);
  ck_assert_ptr_nonnull(baseline);
  g_autoptr(GPtrArray) now = findings_new();
  for (int i = 0; i < 3; i++)
    g_ptr_array_add(now, finding("a.cu", "r1", "wait(bar, 0);"));
  g_ptr_array_add(now, finding("a.cu", "r2", "wait(bar, 0);"));
  ck_assert_uint_eq(baseline_filter(baseline, now), 2);
  ck_assert_uint_eq(now->len, 2);
  baseline_free(baseline);
}
END_TEST

START_TEST(what_is_gone_can_be_pruned_only_for_files_that_were_checked) {
  g_autofree char *path = accept_two();
  Baseline *baseline = baseline_open(path, &error);
  g_autoptr(GPtrArray) other = g_ptr_array_new(), same = g_ptr_array_new();
  g_ptr_array_add(other, (gpointer) "b.cu");
  g_ptr_array_add(same, (gpointer) "./a.cu");
  ck_assert_uint_eq(baseline_unused(baseline, other), 0);
  ck_assert_uint_eq(baseline_unused(baseline, same), 2);
  baseline_prune(baseline, same);
  ck_assert_uint_eq(baseline_unused(baseline, same), 0);
  baseline_free(baseline);
}
END_TEST

static void add_fix(GPtrArray *list, int line, int column, int end, const char *text, bool safe) {
  Finding *f = finding("a.cu", "r", "");
  f->fix_text = g_strdup(text);
  f->fix_line = f->fix_end_line = line;
  f->fix_column = column;
  f->fix_end_column = end;
  f->fix_safe = safe;
  g_ptr_array_add(list, f);
}

START_TEST(fixes_are_applied_from_the_end_and_overlaps_left) {
  g_autoptr(GPtrArray) list = findings_new();
  add_fix(list, 1, 1, 4, "ONE", true);
  add_fix(list, 2, 5, 5, ", 2", true);
  add_fix(list, 1, 2, 3, "x", true); /* inside the first */
  add_fix(list, 2, 1, 2, "T", false);
  FixResult result = {0};
  g_autofree char *fixed = fix_text("a.cu", "one\ntwo.\n", list, FALSE, &result);
  ck_assert_uint_eq(result.applied, 2);
  ck_assert_uint_eq(result.left, 2);
  ck_assert_str_eq(fixed, "oxe\ntwo., 2\n");
}
END_TEST

START_TEST(a_diff_can_be_read_by_patch) {
  g_autofree char *diff =
      fix_diff("a.cu", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nfive\n6\n7\n8\n");
  ck_assert_str_eq(diff,
                   "--- a.cu\n+++ a.cu\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
  g_autofree char *same = fix_diff("a.cu", "1\n", "1\n");
  ck_assert_str_eq(same, "");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("cli/life");
  TCase *tests = tcase_create("life");
  tcase_add_test(tests, an_entry_accepts_one_finding_wherever_its_line_moved);
  tcase_add_test(tests, what_is_gone_can_be_pruned_only_for_files_that_were_checked);
  tcase_add_test(tests, fixes_are_applied_from_the_end_and_overlaps_left);
  tcase_add_test(tests, a_diff_can_be_read_by_patch);
  suite_add_tcase(suite, tests);
  return suite;
}
