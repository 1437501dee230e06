/* Rule files: what is read, and the error that names file and line for what can't be. */
#include <string.h>

#include <check.h>

#include "rules/load.h"

Suite *test_suite(void);

static KcArena *arena;
static KcError error;

static void setup(void) {
  arena = kc_arena_new();
}

static void teardown(void) {
  kc_error_clear(&error);
  kc_arena_free(arena);
}

static const char WHOLE[] = "id: smem-race\n"           /* 1 */
                            "family: smem\n"            /* 2 */
                            "summary: two threads\n"    /* 3 */
                            "severity: error\n"         /* 4 */
                            "archs: [any]\n"            /* 5 */
                            "engine: machine\n"         /* 6 */
                            "trigger: two accesses\n"   /* 7 */
                            "consequence: torn data\n"  /* 8 */
                            "help: use a barrier\n"     /* 9 */
                            "evidence: [PTX ISA 8.8]\n" /* 10 */
                            "page: hw-shared-memory\n"  /* 11 */
                            "anchor: limits\n"          /* 12 */
                            "since: 0.1.0\n";           /* 13 */

static Rule *parse(const char *text) {
  return rule_parse(arena, "rules/smem/smem-race.yaml", text, strlen(text), &error);
}

static void expect_error(const char *text, int line, const char *part) {
  ck_assert_msg(parse(text) == NULL, "accepted: %s", text);
  ck_assert_str_eq(error.path, "rules/smem/smem-race.yaml");
  ck_assert_msg(error.line == line, "line %d, not %d: %s", error.line, line, error.message);
  g_autofree char *all = g_strconcat(error.message, " / ", error.hint, NULL);
  ck_assert_msg(strstr(all, part) != NULL, "'%s' lacks '%s'", all, part);
}

static char *with(const char *more) {
  return kc_printf(arena, "%s%s", WHOLE, more);
}

static char *replaced(const char *from, const char *to) {
  g_auto(GStrv) parts = g_strsplit(WHOLE, from, 2);
  ck_assert_ptr_nonnull(parts[1]);
  return kc_printf(arena, "%s%s%s", parts[0], to, parts[1]);
}

START_TEST(reads_every_key) {
  Rule *rule = parse(with("not_when:\n  - same value\ntools:\n  ptxas: silent\n"
                          "message: '{first} and {second}'\nbad: |\n  a();\ngood: |\n  b();\n"
                          "fix: insert a barrier\nfix_safety: unsafe\n"
                          "effect: hang\none_dialect: a host attribute\naliases: [shared-race]\n"));
  ck_assert_msg(rule != NULL, "%s", error.message);
  ck_assert_str_eq(rule->id, "smem-race");
  ck_assert_int_eq(rule->severity, SEVERITY_ERROR);
  ck_assert_int_eq(rule->effect, MACHINE_EFFECT_HANG);
  ck_assert_str_eq(rule->detects[0], "smem-race");
  ck_assert_ptr_null(rule->detects[1]);
  ck_assert_str_eq(rule->tools[0], "ptxas: silent");
  ck_assert_str_eq(rule->not_when[0], "same value");
  ck_assert_str_eq(rule->aliases[0], "shared-race");
  ck_assert_str_eq(rule->bad, "a();");
  ck_assert_str_eq(rule->fix_safety, "unsafe");
  ck_assert_str_eq(rule->one_dialect, "a host attribute");
}
END_TEST

START_TEST(optional_keys_may_be_absent) {
  Rule *rule = parse(WHOLE);
  ck_assert_ptr_nonnull(rule);
  ck_assert_int_eq(rule->effect, MACHINE_EFFECT_DATA);
  ck_assert_ptr_null(rule->message);
  ck_assert_ptr_null(rule->not_when[0]);
  ck_assert_ptr_null(rule->one_dialect);
  ck_assert_ptr_null(rule->aliases[0]);
}
END_TEST

START_TEST(unknown_keys_are_errors) {
  expect_error(with("sevrity: error\n"), 14, "did you mean 'severity'?");
  expect_error(with("colour: red\n"), 14, "unknown key 'colour'");
  expect_error(with("help: again\n"), 14, "given twice");
}
END_TEST

START_TEST(missing_keys_are_errors) {
  expect_error(replaced("summary: two threads\n", ""), 1, "'summary' is missing");
  expect_error(replaced("evidence: [PTX ISA 8.8]\n", ""), 1, "'evidence' is missing");
  expect_error(replaced("[PTX ISA 8.8]", "[]"), 10, "must not be empty");
  expect_error(replaced("[PTX ISA 8.8]", "['']"), 10, "empty entry");
  expect_error(replaced("use a barrier", "''"), 9, "must not be empty");
}
END_TEST

START_TEST(words_are_checked) {
  expect_error(replaced("severity: error", "severity: fatal"), 4, "one of: off, advice");
  expect_error(replaced("engine: machine", "engine: engine"), 6, "one of: instruction, budget");
  expect_error(with("fix: x\nfix_safety: maybe\n"), 15, "safe, unsafe");
  expect_error(with("fix: x\n"), 14, "fix_safety");
  expect_error(replaced("help: use", "help: [use]\nx: y"), 10, "unknown key");
  expect_error(replaced("help: use a barrier", "help: [a, b]"), 9, "must be text");
  expect_error(with("tools: [a]\n"), 14, "must be a map");
  expect_error(with("detects: {a: b}\n"), 14, "must be a list");
}
END_TEST

START_TEST(path_and_id_agree) {
  expect_error(replaced("id: smem-race", "id: smem-rice"), 1, "rules/smem/smem-rice.yaml");
  expect_error(replaced("family: smem", "family: tma"), 1, "rules/tma/smem-race.yaml");
}
END_TEST

START_TEST(templates_and_examples_are_whole) {
  expect_error(with("message: a race\n"), 14, "must name a {fact}");
  expect_error(with("bad: a();\n"), 14, "stands alone");
  expect_error(with("good: a();\n"), 14, "stands alone");
}
END_TEST

START_TEST(bad_yaml_names_its_line) {
  expect_error("id: [\n", 2, "YAML");
  expect_error("- a\n", 1, "a map of keys");
  ck_assert_ptr_null(parse(""));
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("load");
  TCase *tests = tcase_create("rule files");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, reads_every_key);
  tcase_add_test(tests, optional_keys_may_be_absent);
  tcase_add_test(tests, unknown_keys_are_errors);
  tcase_add_test(tests, missing_keys_are_errors);
  tcase_add_test(tests, words_are_checked);
  tcase_add_test(tests, path_and_id_agree);
  tcase_add_test(tests, templates_and_examples_are_whole);
  tcase_add_test(tests, bad_yaml_names_its_line);
  suite_add_tcase(suite, tests);
  return suite;
}
