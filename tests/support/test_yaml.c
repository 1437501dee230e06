#include <string.h>

#include <check.h>
#include <glib.h>

#include "support/data.h"
#include "support/suggest.h"
#include "support/yaml.h"
#include "support/yaml_tree.h"

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

static const KcYaml *parse(const char *text) {
  return kc_yaml_parse(arena, "t.yaml", text, strlen(text), &error);
}

static void compare(const char *path, const KcYaml *a, const KcYaml *b) {
  ck_assert_msg(a->kind == b->kind && a->count == b->count && a->quoted == b->quoted, "%s:%d", path,
                a->line);
  ck_assert_msg(a->line == b->line && a->column == b->column, "%s:%d", path, a->line);
  if (a->kind == KC_YAML_SCALAR) ck_assert_str_eq(a->text, b->text);
  for (int i = 0; i < a->count; i++) {
    if (a->kind == KC_YAML_MAP) compare(path, a->keys[i], b->keys[i]);
    compare(path, a->items[i], b->items[i]);
  }
}

static void compare_file(const char *path, const char *text, size_t length, void *user) {
  int *trees = user;
  length = kc_yaml_part(path, text, length);
  if (length == 0) return;
  g_autofree char *name = g_strconcat(KC_YAML_TREES, path, NULL);
  ck_assert_msg(kc_data_get(name, NULL) != NULL, "%s has no tree", path);
  const KcYaml *read = kc_yaml_read(arena, path, text, length, &error);
  const KcYaml *packed = kc_yaml_parse(arena, path, text, length, &error);
  ck_assert_msg(read && packed, "%s: %s", path, error.message);
  compare(path, read, packed);
  (*trees)++;
}

START_TEST(embedded_trees_are_what_the_files_say) {
  int trees = 0;
  kc_data_each("rules/", compare_file, &trees);
  kc_data_each("knowledge/", compare_file, &trees);
  kc_data_each("fixtures/", compare_file, &trees);
  ck_assert_int_gt(trees, 200);
}
END_TEST

START_TEST(a_text_of_ones_own_is_not_an_embedded_file) {
  const KcYaml *root = kc_yaml_parse(arena, "knowledge/vocabulary.yaml", "a: 1\n", 5, &error);
  ck_assert_str_eq(kc_yaml_text(root, "a", ""), "1");
}
END_TEST

START_TEST(reads_maps_lists_and_blocks) {
  const KcYaml *root = parse("a: 1\nb: [x, 'y']\nc: |\n  two\n  lines\nd: {e: true}\n");
  ck_assert_ptr_nonnull(root);
  int64_t number = 0;
  ck_assert(kc_yaml_int(kc_yaml_get(root, "a"), &number));
  ck_assert_int_eq(number, 1);
  const char *const *list = kc_yaml_strings(arena, "t.yaml", kc_yaml_get(root, "b"), &error);
  ck_assert_str_eq(list[0], "x");
  ck_assert_str_eq(list[1], "y");
  ck_assert_ptr_null(list[2]);
  ck_assert_str_eq(kc_yaml_text(root, "c", ""), "two\nlines\n");
  bool truth = false;
  ck_assert(kc_yaml_bool(kc_yaml_get(kc_yaml_get(root, "d"), "e"), &truth));
  ck_assert(truth);
  ck_assert_int_eq(kc_yaml_get(root, "c")->line, 3);
}
END_TEST

START_TEST(an_empty_document_is_an_empty_map) {
  const KcYaml *root = parse("# nothing\n");
  ck_assert_ptr_nonnull(root);
  ck_assert_int_eq(root->kind, KC_YAML_MAP);
  ck_assert_int_eq(root->count, 0);
}
END_TEST

START_TEST(bad_syntax_names_its_line) {
  ck_assert_ptr_null(parse("a: 1\nb: [x\nc: 2\n"));
  ck_assert_int_eq(error.line, 3);
}
END_TEST

START_TEST(a_key_given_twice_is_an_error) {
  ck_assert_ptr_null(parse("a: 1\nb: 2\na: 3\n"));
  ck_assert_int_eq(error.line, 3);
  ck_assert(strstr(error.message, "'a'") != NULL);
}
END_TEST

START_TEST(a_cycle_through_an_anchor_is_an_error) {
  ck_assert_ptr_null(parse("a: &x\n  - *x\n"));
  ck_assert(strstr(error.message, "nested") != NULL);
}
END_TEST

START_TEST(an_unknown_key_gets_a_suggestion) {
  static const char *const known[] = {"select", "ignore", NULL};
  ck_assert(!kc_yaml_check_keys("t.yaml", parse("ignore: a\nselct: b\n"), known, &error));
  ck_assert_int_eq(error.line, 2);
  ck_assert(strstr(error.hint, "'select'") != NULL);
}
END_TEST

START_TEST(a_list_has_no_keys) {
  static const char *const known[] = {"calls", NULL};
  ck_assert(!kc_yaml_check_keys("t.yaml", parse("\n- calls: a\n"), known, &error));
  ck_assert_int_eq(error.line, 2);
}
END_TEST

START_TEST(suggests_only_what_is_near) {
  static const char *const known[] = {"--format", "--arch", "sm_90a", NULL};
  ck_assert_str_eq(kc_suggest("--fromat", known), "--format");
  ck_assert_str_eq(kc_suggest("sm_90b", known), "sm_90a");
  ck_assert_ptr_null(kc_suggest("--quux", known));
  ck_assert_ptr_null(kc_suggest("", known));
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("support/yaml");
  TCase *tests = tcase_create("yaml");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, embedded_trees_are_what_the_files_say);
  tcase_add_test(tests, a_text_of_ones_own_is_not_an_embedded_file);
  tcase_add_test(tests, reads_maps_lists_and_blocks);
  tcase_add_test(tests, an_empty_document_is_an_empty_map);
  tcase_add_test(tests, bad_syntax_names_its_line);
  tcase_add_test(tests, a_key_given_twice_is_an_error);
  tcase_add_test(tests, a_cycle_through_an_anchor_is_an_error);
  tcase_add_test(tests, an_unknown_key_gets_a_suggestion);
  tcase_add_test(tests, a_list_has_no_keys);
  tcase_add_test(tests, suggests_only_what_is_near);
  suite_add_tcase(suite, tests);
  return suite;
}
