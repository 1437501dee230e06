/* Conditional regions and their conditions, and finding functions in C++ text. */
#include <string.h>

#include <check.h>

#include "source/internal.h"

Suite *test_suite(void);

static KcArena *arena;

static void setup(void) {
  arena = kc_arena_new();
}

static void teardown(void) {
  kc_arena_free(arena);
}

static SourceText text_of(const char *text) {
  return (SourceText){text, strlen(text)};
}

static Truth holds(const char *condition, int cuda_arch) {
  Guards none = {.arena = arena};
  return condition_holds(&none, condition, cuda_arch, 0);
}

START_TEST(conditions_on_the_target) {
  ck_assert_int_eq(holds("__CUDA_ARCH__ >= 900", 900), TRUTH_TRUE);
  ck_assert_int_eq(holds("__CUDA_ARCH__ >= 900", 890), TRUTH_FALSE);
  ck_assert_int_eq(holds("defined(__CUDA_ARCH__) && (__CUDA_ARCH__ >= 900)", 1200), TRUTH_TRUE);
  ck_assert_int_eq(holds("__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1200", 1200), TRUTH_FALSE);
  ck_assert_int_eq(holds("__CUDA_ARCH__ / 100 == 9", 900), TRUTH_TRUE);
  ck_assert_int_eq(holds("!(__CUDA_ARCH__ < 900)", 900), TRUTH_TRUE);
  ck_assert_int_eq(holds("__CUDA_ARCH__ == 900 || __CUDA_ARCH__ == 1000", 1000), TRUTH_TRUE);
  ck_assert_int_eq(holds("0", 900), TRUTH_FALSE);
}
END_TEST

START_TEST(conditions_that_can_not_be_decided) {
  ck_assert_int_eq(holds("defined(ENABLE_FP8)", 900), TRUTH_UNKNOWN);
  ck_assert_int_eq(holds("ENABLE_FP8 && __CUDA_ARCH__ >= 900", 890), TRUTH_FALSE);
  ck_assert_int_eq(holds("ENABLE_FP8 && __CUDA_ARCH__ >= 900", 900), TRUTH_UNKNOWN);
  ck_assert_int_eq(holds("ENABLE_FP8 || __CUDA_ARCH__ >= 900", 900), TRUTH_TRUE);
  ck_assert_int_eq(holds("VERSION_AT_LEAST(12, 4)", 900), TRUTH_UNKNOWN);
  ck_assert_int_eq(holds("__CUDA_ARCH__ >=", 900), TRUTH_UNKNOWN);
  ck_assert_int_eq(holds("((((", 900), TRUTH_UNKNOWN);
}
END_TEST

static const char branches[] = "#if __CUDA_ARCH__ >= 1000\n" /* 1 */
                               "a\n"
                               "#elif __CUDA_ARCH__ >= 900\n" /* 3 */
                               "b\n"
                               "#else\n" /* 5 */
                               "c\n"
                               "#endif\n" /* 7 */
                               "d\n";

START_TEST(branches_exclude_each_other) {
  Guards guards = guards_read(arena, text_of(branches));
  int a = guards_at(&guards, 2), b = guards_at(&guards, 4), c = guards_at(&guards, 6);
  ck_assert_int_eq(guards_at(&guards, 8), -1);
  ck_assert_int_eq(guards_admit(&guards, a, 100, 0), TRUTH_TRUE);
  ck_assert_int_eq(guards_admit(&guards, b, 100, 0), TRUTH_FALSE);
  ck_assert_int_eq(guards_admit(&guards, b, 90, 0), TRUTH_TRUE);
  ck_assert_int_eq(guards_admit(&guards, c, 90, 0), TRUTH_FALSE);
  ck_assert_int_eq(guards_admit(&guards, c, 80, 0), TRUTH_TRUE);
  ck_assert(guards_depend_on_target(&guards, c));
}
END_TEST

static const char through_macro[] = "#ifndef HAVE_TMA\n" /* 1 */
                                    "#if defined(__CUDA_ARCH__) && \\\n"
                                    "    __CUDA_ARCH__ >= 900 // Hopper\n"
                                    "#define HAVE_TMA 1\n" /* 4 */
                                    "#else\n"
                                    "#define HAVE_TMA 0\n"
                                    "#endif\n" /* 7 */
                                    "#endif\n"
                                    "#if HAVE_TMA\n" /* 9 */
                                    "a\n"
                                    "#endif\n";

START_TEST(guards_through_macros) {
  Guards guards = guards_read(arena, text_of(through_macro));
  int a = guards_at(&guards, 10);
  ck_assert_int_ge(a, 0);
  ck_assert(guards_depend_on_target(&guards, a));
  ck_assert(!guards_test_feature(&guards, a));
  ck_assert_int_eq(guards_admit(&guards, a, 120, 0), TRUTH_TRUE);
  ck_assert_int_eq(guards_admit(&guards, a, 80, 0), TRUTH_FALSE);
  ck_assert_int_eq(guards.list.items[a].line, 9);
}
END_TEST

START_TEST(feature_macros_are_seen_through_macros) {
  Guards guards = guards_read(arena, text_of("#ifdef __CUDA_ARCH_FEAT_SM90_ALL\n#define WGMMA\n"
                                             "#endif\n#if defined(WGMMA)\na\n#endif\n"));
  ck_assert(guards_test_feature(&guards, guards_at(&guards, 5)));
}
END_TEST

START_TEST(broken_directives_are_survived) {
  Guards guards = guards_read(arena, text_of("#endif\n#else\n#if\n#if __CUDA_ARCH__ >= 900\n\\"));
  ck_assert_int_ge(guards.list.count, 1);
  ck_assert_int_ge(guards_at(&guards, 5), 0);
}
END_TEST

static const char functions[] =
    "int f(int); // f() { no }\n"
    "const char *s = \"f() { no }\";\n"
    "template <int N> __global__ void __launch_bounds__(128) f(int x) {\n"
    "  if (x) { g<N>(x, '}'); } /* } */ h (R\"(})\");\n"
    "}\n";

START_TEST(bodies_are_found_past_comments_and_literals) {
  SourceText text = text_of(functions);
  size_t open, close;
  ck_assert(source_find_body(text, "f", &open, &close));
  ck_assert_int_eq(source_line_of(text, open), 3);
  ck_assert_int_eq(source_line_of(text, close), 5);
  ck_assert(!source_find_body(text, "g", &open, &close));
  ck_assert(!source_find_body(text, "missing", &open, &close));
}
END_TEST

static bool collect(const char *name, void *user) {
  g_string_append_printf(user, "%s ", name);
  return true;
}

START_TEST(calls_are_listed_with_template_arguments) {
  SourceText text = text_of(functions);
  size_t open, close;
  g_autoptr(GString) names = g_string_new(NULL);
  ck_assert(source_find_body(text, "f", &open, &close));
  source_each_call(text, open, close, collect, names);
  ck_assert_str_eq(names->str, "if g h ");
}
END_TEST

START_TEST(unfinished_text_is_survived) {
  static const char *const texts[] = {"void f(", "void f() {", "void f() { \"", "R\"x(", "/*", "'"};
  for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
    size_t open, close;
    ck_assert(!source_find_body(text_of(texts[i]), "f", &open, &close));
  }
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("source guards");
  TCase *tests = tcase_create("guards");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, conditions_on_the_target);
  tcase_add_test(tests, conditions_that_can_not_be_decided);
  tcase_add_test(tests, branches_exclude_each_other);
  tcase_add_test(tests, guards_through_macros);
  tcase_add_test(tests, feature_macros_are_seen_through_macros);
  tcase_add_test(tests, broken_directives_are_survived);
  tcase_add_test(tests, bodies_are_found_past_comments_and_literals);
  tcase_add_test(tests, calls_are_listed_with_template_arguments);
  tcase_add_test(tests, unfinished_text_is_survived);
  suite_add_tcase(suite, tests);
  return suite;
}
