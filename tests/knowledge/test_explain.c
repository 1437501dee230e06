/* kcheck explain and kcheck rules: the fixed shape, 80 columns, the JSON of the contract. */
#include <string.h>

#include <check.h>

#include "knowledge/explain.h"
#include "knowledge/fill.h"

Suite *test_suite(void);

static Rules *rules;

static void setup(void) {
  rules = rules_load(NULL);
  ck_assert_ptr_nonnull(rules);
}

static void teardown(void) {
  rules_free(rules);
}

START_TEST(every_explanation_fits_and_has_its_parts) {
  static const char *const parts[] = {"\nWhat it does\n", "\nWhy it is bad\n", "\nUse instead\n",
                                      "\nReferences\n", "// kcheck: ignore["};
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    g_autoptr(GString) text = g_string_new(NULL);
    knowledge_explain(rule, text);
    for (size_t p = 0; p < G_N_ELEMENTS(parts); p++)
      ck_assert_msg(strstr(text->str, parts[p]) != NULL, "%s lacks %s", rule->id, parts[p]);
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    for (char **line = lines; *line; line++)
      ck_assert_msg(g_utf8_strlen(*line, -1) <= FILL_COLUMNS, "%s: %s", rule->id, *line);
  }
}
END_TEST

START_TEST(order_is_fixed) {
  g_autoptr(GString) text = g_string_new(NULL);
  knowledge_explain(rules_find(rules, "mbarrier-phase-not-flipped", NULL), text);
  static const char *const order[] = {"mbarrier-phase-not-flipped",
                                      "What it does",
                                      "Why it is bad",
                                      "Example",
                                      "Use instead",
                                      "Not reported",
                                      "What other tools say",
                                      "References"};
  const char *at = text->str;
  for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
    at = strstr(at, order[i]);
    ck_assert_msg(at != NULL, "%s is missing or out of order", order[i]);
  }
  ck_assert_ptr_nonnull(strstr(text->str, "kcheck page technique-pipeline-stages #phase"));
}
END_TEST

START_TEST(list_has_each_rule_on_a_line) {
  g_autoptr(GString) text = g_string_new(NULL);
  knowledge_rules_text(rules, NULL, text);
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++) {
    g_autofree char *start = g_strdup_printf("\n  %s ", ((const Rule *)all->pdata[i])->id);
    ck_assert_ptr_nonnull(strstr(text->str, start));
  }
  static const char *const some[] = {"warp", NULL};
  g_autoptr(GString) warp = g_string_new(NULL);
  knowledge_rules_text(rules, some, warp);
  ck_assert(g_str_has_prefix(warp->str, "warp\n  warp-"));
  ck_assert_ptr_null(strstr(warp->str, "mbarrier-"));
}
END_TEST

START_TEST(json_has_the_keys_of_the_contract) {
  static const char *const keys[] = {"id",   "family", "summary", "severity", "archs", "engine",
                                     "page", "anchor", "aliases", "fix",      "since"};
  json_t *document = knowledge_rules_json(rules, NULL);
  json_t *list = json_object_get(document, "rules");
  ck_assert_uint_eq(json_array_size(list), rules_all(rules)->len);
  size_t i;
  json_t *rule;
  json_array_foreach(list, i, rule) {
    ck_assert_uint_eq(json_object_size(rule), G_N_ELEMENTS(keys));
    for (size_t k = 0; k < G_N_ELEMENTS(keys); k++)
      ck_assert_ptr_nonnull(json_object_get(rule, keys[k]));
  }
  json_decref(document);
}
END_TEST

START_TEST(filling_breaks_at_words) {
  g_autoptr(GString) text = g_string_new(NULL);
  fill_append(text, "one two\nthree", "- ", "  ");
  ck_assert_str_eq(text->str, "- one two three\n");
  g_autofree char *longest = g_strnfill(100, 'x');
  g_autofree char *words = g_strdup_printf("a %s b", longest);
  g_string_truncate(text, 0);
  fill_append(text, words, "", "");
  g_autofree char *expected = g_strdup_printf("a\n%s\nb\n", longest);
  ck_assert_str_eq(text->str, expected);
  g_string_truncate(text, 0);
  fill_code(text, "a\n\nb\n", "> ");
  ck_assert_str_eq(text->str, "> a\n\n> b\n");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("explain");
  TCase *tests = tcase_create("explain");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, every_explanation_fits_and_has_its_parts);
  tcase_add_test(tests, order_is_fixed);
  tcase_add_test(tests, list_has_each_rule_on_a_line);
  tcase_add_test(tests, json_has_the_keys_of_the_contract);
  tcase_add_test(tests, filling_breaks_at_words);
  suite_add_tcase(suite, tests);
  return suite;
}
