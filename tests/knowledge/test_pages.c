/* Pages of the knowledge base: loaded, printed, found. */
#include <string.h>

#include <check.h>

#include "knowledge/fill.h"
#include "knowledge/page.h"
#include "knowledge/search.h"
#include "knowledge/table.h"

Suite *test_suite(void);

static Pages *pages;
static Rules *rules;

static void setup(void) {
  KcError error = {0};
  rules = rules_load(&error);
  pages = rules ? pages_load(&error) : NULL;
  ck_assert_msg(pages != NULL, "%s:%d: %s", error.path, error.line, error.message);
}

static void teardown(void) {
  pages_free(pages);
  rules_free(rules);
}

START_TEST(every_page_is_whole) {
  const GPtrArray *all = pages_all(pages);
  ck_assert_uint_ge(all->len, 80);
  for (guint i = 0; i < all->len; i++) {
    const Page *page = all->pdata[i];
    const PageSection *first = page->sections->pdata[0];
    ck_assert_msg(first->level == 1, "%s does not start with its own heading", page->id);
    ck_assert_msg(*page->tags && *page->sources, "%s lacks tags or sources", page->id);
    for (const char *const *related = page->related; *related; related++)
      ck_assert_msg(pages_find(pages, *related, NULL) != NULL, "%s: no page %s", page->id,
                    *related);
    for (const char *const *needed = page->prerequisites; *needed; needed++)
      ck_assert_msg(pages_find(pages, *needed, NULL) != NULL, "%s: no page %s", page->id, *needed);
    ck_assert_msg(page->caveats->len > 0 || strcmp(page->type, "architecture") == 0,
                  "%s has no caveats", page->id);
    for (guint c = 0; c < page->caveats->len; c++) {
      const PageCaveat *caveat = page->caveats->pdata[c];
      for (guint other = 0; other < c; other++)
        ck_assert_str_ne(caveat->id, ((const PageCaveat *)page->caveats->pdata[other])->id);
      for (const char *const *rule = caveat->rules; *rule; rule++)
        ck_assert_msg(rules_find(rules, *rule, NULL) != NULL, "%s: caveat %s: no rule %s", page->id,
                      caveat->id, *rule);
    }
  }
}
END_TEST

static bool named_by_a_caveat(const char *rule) {
  const GPtrArray *all = pages_all(pages);
  for (guint i = 0; i < all->len; i++) {
    const GPtrArray *caveats = ((const Page *)all->pdata[i])->caveats;
    for (guint c = 0; c < caveats->len; c++)
      if (g_strv_contains(((const PageCaveat *)caveats->pdata[c])->rules, rule)) return true;
  }
  return false;
}

/* The other way round: what is checked is something that a page warns of. */
START_TEST(every_rule_is_named_by_a_caveat_and_has_its_section) {
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    ck_assert_msg(named_by_a_caveat(rule->id), "no caveat of any page names %s", rule->id);
    KcError error = {0};
    const Page *page = pages_find(pages, rule->page, &error);
    ck_assert_msg(page && page_section(page, rule->anchor, &error), "%s: %s", rule->id,
                  error.message);
  }
}
END_TEST

/* What is known to go wrong only grows. */
START_TEST(caveats_are_many_and_say_who_watches) {
  const GPtrArray *all = pages_all(pages);
  guint count = 0, unchecked = 0;
  for (guint i = 0; i < all->len; i++) {
    const GPtrArray *caveats = ((const Page *)all->pdata[i])->caveats;
    count += caveats->len;
    for (guint c = 0; c < caveats->len; c++)
      unchecked += ((const PageCaveat *)caveats->pdata[c])->not_checkable != NULL;
  }
  ck_assert_uint_ge(count, 400);
  ck_assert_uint_le(unchecked * 5, count); /* at most a fifth is out of reach */
}
END_TEST

START_TEST(sections_have_one_anchor_each) {
  const GPtrArray *all = pages_all(pages);
  for (guint i = 0; i < all->len; i++) {
    const Page *page = all->pdata[i];
    for (guint s = 0; s < page->sections->len; s++) {
      const PageSection *section = page->sections->pdata[s];
      ck_assert_msg(page_section(page, section->anchor, NULL) == section, "%s: #%s twice", page->id,
                    section->anchor);
    }
  }
}
END_TEST

START_TEST(pages_print_in_80_columns) {
  const GPtrArray *all = pages_all(pages);
  for (guint i = 0; i < all->len; i++) {
    const Page *page = all->pdata[i];
    g_autoptr(GString) text = g_string_new(NULL);
    page_print(page, NULL, rules, text);
    ck_assert(g_str_has_prefix(text->str, page->title));
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    for (char **line = lines; *line; line++)
      ck_assert_msg(g_utf8_strlen(*line, -1) <= FILL_COLUMNS ||
                        !strchr(*line + strspn(*line, " "), ' '),
                    "%s: %s", page->id, *line);
  }
}
END_TEST

START_TEST(one_section_prints_alone) {
  const Page *page = pages_find(pages, "technique-pipeline-stages", NULL);
  const PageSection *section = page_section(page, "phase", NULL);
  g_autoptr(GString) text = g_string_new(NULL);
  page_print(page, section, rules, text);
  ck_assert(g_str_has_prefix(text->str, "technique-pipeline-stages: Phase\n"));
  ck_assert_ptr_null(strstr(text->str, "Budget"));
}
END_TEST

START_TEST(code_of_a_page_is_there) {
  const GPtrArray *all = pages_all(pages);
  int with = 0;
  for (guint i = 0; i < all->len; i++) {
    const Page *page = all->pdata[i];
    g_autoptr(GString) text = g_string_new(NULL);
    KcError error = {0};
    ck_assert_msg(page_print_code(page, text, &error), "%s: %s", error.path, error.message);
    ck_assert(!*page->code == (text->len == 0));
    with += *page->code != NULL;
  }
  ck_assert_int_ge(with, 55);
}
END_TEST

/* What `kcheck page` prints of the code of a page. */
static GString *code_of(const char *id) {
  GString *text = g_string_new(NULL);
  KcError error = {0};
  const Page *page = pages_find(pages, id, NULL);
  ck_assert_msg(page_print_code(page, text, &error), "%s: %s", error.path, error.message);
  return text;
}

START_TEST(code_says_whether_it_ran) {
  g_autoptr(GString) ran = code_of("kernel-grouped-gemm");
  ck_assert_ptr_nonnull(strstr(ran->str, "// ---- fixtures/reference/gemm_grouped.cu ----\n"
                                         "// run on NVIDIA H200, driver "));
  ck_assert_ptr_nonnull(strstr(ran->str, "\n// largest error 0 (allowed 1e-3) against products in "
                                         "float64 on the CPU\n// sha256 "));
  g_autoptr(GString) built = code_of("kernel-nvfp4-gemm");
  ck_assert_ptr_nonnull(strstr(built->str, "\n// compiled by nvcc 13.0.88 for sm_100a, not run: "));
  ck_assert_ptr_null(strstr(built->str, "// run on"));
  ck_assert_ptr_null(strstr(ran->str, "changed since"));
}
END_TEST

START_TEST(code_comes_with_its_headers_once) {
  g_autoptr(GString) text = code_of("kernel-flash-attention-4"); /* two kernels that share some */
  static const char *const headers[] = {"attention.h", "ptx.h",        "reference.h", "ring.h",
                                        "tcgen05.h",   "tensor_map.h", "wgmma.h"};
  for (gsize i = 0; i < G_N_ELEMENTS(headers); i++) {
    g_autofree char *head = g_strdup_printf("\n// ---- fixtures/reference/%s ----\n", headers[i]);
    const char *first = strstr(text->str, head);
    ck_assert_msg(first != NULL, "%s is not printed", headers[i]);
    ck_assert_msg(!strstr(first + 1, head), "%s is printed twice", headers[i]);
  }
}
END_TEST

START_TEST(one_file_of_a_package_is_pinned) {
  g_autoptr(GString) text = code_of("kernel-fp8-block-scale-gemm");
  const char *pin = strstr(text->str, "//   sgl-deep-gemm ");
  ck_assert_ptr_nonnull(pin);
  ck_assert_ptr_nonnull(strstr(pin, "/sm90_fp8_gemm_1d2d.cuh\n//     sha256 "));
  ck_assert_ptr_null(strstr(pin + 1, "//   sgl-deep-gemm "));
}
END_TEST

START_TEST(unknown_pages_get_a_suggestion) {
  KcError error = {0};
  ck_assert_ptr_null(pages_find(pages, "hw-mbarier", &error));
  ck_assert_str_eq(error.hint, "did you mean 'hw-mbarrier'?");
  const Page *page = pages_find(pages, "hw-mbarrier", NULL);
  ck_assert_ptr_null(page_section(page, "arivals", &error));
  ck_assert_str_eq(error.hint, "did you mean 'arrivals'?");
  kc_error_clear(&error);
}
END_TEST

START_TEST(lists_hold_every_page) {
  g_autoptr(GString) text = g_string_new(NULL);
  const PageFilter any = {0};
  pages_list_text(pages, rules, &any, text);
  json_t *json = pages_list_json(pages, rules, &any);
  const GPtrArray *all = pages_all(pages);
  ck_assert_uint_eq(json_array_size(json_object_get(json, "pages")), all->len);
  for (guint i = 0; i < all->len; i++)
    ck_assert_ptr_nonnull(strstr(text->str, ((const Page *)all->pdata[i])->id));
  json_decref(json);
}
END_TEST

static guint listed(PageFilter filter) {
  json_t *json = pages_list_json(pages, rules, &filter);
  guint count = (guint)json_array_size(json_object_get(json, "pages"));
  json_decref(json);
  return count;
}

START_TEST(lists_are_filtered) {
  guint all = pages_all(pages)->len;
  guint sum = 0;
  for (const char *const *type = page_types(); *type; type++) {
    guint count = listed((PageFilter){.type = *type});
    ck_assert_uint_gt(count, 0);
    sum += count;
  }
  ck_assert_uint_eq(sum, all); /* each page has one of the types */
  ck_assert_uint_ge(listed((PageFilter){.tag = "tmem"}), 5);
  ck_assert_uint_lt(listed((PageFilter){.arch = "sm_75"}), listed((PageFilter){.arch = "sm_90a"}));
  ck_assert_uint_ge(listed((PageFilter){.rule = "mbarrier-phase-not-flipped"}), 3);
  ck_assert_uint_eq(listed((PageFilter){.tag = "tmem", .type = "skill"}), 0);
  ck_assert_uint_ge(listed((PageFilter){.language = "ptx"}), 5);
  ck_assert_uint_lt(listed((PageFilter){.language = "ptx"}), all);
  ck_assert_uint_lt(listed((PageFilter){.confidence = "verified"}), all);
  g_autoptr(GString) text = g_string_new(NULL);
  pages_list_text(pages, rules, &(PageFilter){.type = "migration"}, text);
  ck_assert(g_str_has_prefix(text->str, "migration\n  migration-hopper-to-ampere "));
  ck_assert_ptr_null(strstr(text->str, "hardware\n"));
}
END_TEST

static const char *line_with(const char *text, const char *word, char **line) {
  const char *at = strstr(text, word);
  ck_assert_msg(at != NULL, "no line with %s", word);
  *line = g_strndup(at, strcspn(at, "\n"));
  return *line;
}

START_TEST(each_architecture_has_a_page) {
  const Page *page = pages_find(pages, "arch-sm_90a", NULL); /* a target is an alias of its card */
  ck_assert_str_eq(page->id, "arch-sm_90");
  ck_assert_str_eq(pages_find(pages, "arch-sm_101", NULL)->id, "arch-sm_110"); /* renamed */
  ck_assert_uint_ge(listed((PageFilter){.type = "architecture"}), 12);
  g_autoptr(GString) text = g_string_new(NULL);
  page_print(page, NULL, rules, text);
  g_autofree char *limit = NULL, *wgmma = NULL, *tcgen05 = NULL, *bounds = NULL;
  ck_assert_ptr_nonnull(strstr(line_with(text->str, "shared memory opt in", &limit), "232448"));
  ck_assert_ptr_nonnull(strstr(limit, "h200"));
  ck_assert_ptr_nonnull(strstr(line_with(text->str, "wgmma  ", &wgmma), "yes"));
  ck_assert_ptr_nonnull(strchr(wgmma, '-')); /* not for plain sm_90 */
  ck_assert_ptr_null(strstr(line_with(text->str, "tcgen05 alloc", &tcgen05), "yes"));
  ck_assert_ptr_nonnull(strstr(line_with(text->str, "384, 1", &bounds), "168"));
}
END_TEST

START_TEST(wrong_code_is_marked) {
  const Page *page = pages_find(pages, "technique-pipeline-stages", NULL);
  g_autoptr(GString) text = g_string_new(NULL);
  page_print(page, page_section(page, "phase", NULL), rules, text);
  ck_assert_ptr_nonnull(strstr(text->str, "    // WRONG: mbarrier-phase-not-flipped\n"));
  g_string_truncate(text, 0);
  page_print(page, page_section(page, "the-two-edges", NULL), rules, text);
  ck_assert_ptr_nonnull(strstr(text->str, "    // compiles and is clean for sm_90a\n"));
}
END_TEST

START_TEST(upstream_kernels_are_pinned_not_copied) {
  const Page *page = pages_find(pages, "kernel-deepgemm", NULL);
  g_autoptr(GString) text = g_string_new(NULL);
  KcError error = {0};
  ck_assert_msg(page_print_code(page, text, &error), "%s: %s", error.path, error.message);
  ck_assert_ptr_nonnull(strstr(text->str, "//   sgl-deep-gemm "));
  ck_assert_ptr_nonnull(strstr(text->str, "//     sha256 "));
}
END_TEST

START_TEST(tables_are_aligned) {
  char *rows[] = {"| a | long head |", "|---|---|", "| x y | 1 |"};
  g_autoptr(GString) text = g_string_new(NULL);
  table_append(text, rows, 3);
  ck_assert_str_eq(text->str, "a    long head\n---  ---------\nx y  1\n");
  g_string_truncate(text, 0);
  g_autofree char *wide = g_strdup_printf("| key | %s |", "many words that go on and on and on and "
                                                          "do not fit into what a line can hold");
  char *one[] = {wide};
  table_append(text, one, 1);
  ck_assert_str_eq(text->str, "key  many words that go on and on and on and do not fit into what a "
                              "line can\n     hold\n");
}
END_TEST

/* The first hit of a query of up to three words. */
static void expect_first(const char *a, const char *b, const char *id) {
  const char *words[] = {a, b, NULL};
  GPtrArray *hits = search(pages, rules, &(SearchQuery){.words = words});
  ck_assert_msg(hits->len > 0, "nothing for %s", a);
  const SearchHit *hit = hits->pdata[0];
  ck_assert_msg(strcmp(hit->id, id) == 0, "%s %s: first is %s", a, b ? b : "", hit->id);
  g_ptr_array_unref(hits);
}

START_TEST(search_finds_what_a_person_means) {
  expect_first("ping-pong", NULL, "technique-ping-pong-scheduling");
  expect_first("tma-size-multiple-16", NULL, "tma-size-multiple-16");
  expect_first("setmaxnreg", "pool", "register-setmaxnreg-pool-overflow");
  expect_first("UMMA", "bits", "tcgen05-smem-descriptor"); /* an everyday name */
  expect_first("compute-sanitizer", "hangs", "pattern-deadlock");
  expect_first("hang", NULL, "pattern-deadlock"); /* not "change" */
  expect_first("hw-pdl-gdc", NULL, "hw-pdl");     /* as another knowledge base calls it */
  expect_first("C7508", NULL, "register-setmaxnreg-ignored"); /* a message of ptxas */
}
END_TEST

START_TEST(search_takes_patterns) {
  const char *const pattern[] = {"try_cancel|query_cancel", NULL};
  GPtrArray *hits = search(pages, rules, &(SearchQuery){.words = pattern, .limit = 50});
  ck_assert_uint_ge(hits->len, 3);
  g_ptr_array_unref(hits);
  const char *const none[] = {"try_[0-9]+cancel", NULL};
  hits = search(pages, rules, &(SearchQuery){.words = none});
  ck_assert_uint_eq(hits->len, 0);
  g_ptr_array_unref(hits);
}
END_TEST

START_TEST(search_filters) {
  GPtrArray *hits = search(pages, rules, &(SearchQuery){.tag = "clc", .limit = 50});
  ck_assert_uint_gt(hits->len, 5);
  for (guint i = 0; i < hits->len; i++) {
    const SearchHit *hit = hits->pdata[i];
    ck_assert(hit->is_rule ? g_str_has_prefix(hit->id, "clc-") : strstr(hit->id, "-") != NULL);
  }
  g_ptr_array_unref(hits);
  hits = search(pages, rules, &(SearchQuery){.rule = "mbarrier-phase-not-flipped"});
  const SearchHit *first = hits->pdata[0];
  ck_assert_str_eq(first->id, "mbarrier-phase-not-flipped");
  g_ptr_array_unref(hits);
  const char *words[] = {"wgmma", NULL};
  hits = search(pages, rules, &(SearchQuery){.words = words, .arch = "sm_120a"});
  for (guint i = 0; i < hits->len; i++)
    ck_assert_str_ne(((const SearchHit *)hits->pdata[i])->id, "wgmma-shape");
  g_ptr_array_unref(hits);
  const char *nothing[] = {"zyzzyva", NULL};
  hits = search(pages, rules, &(SearchQuery){.words = nothing});
  ck_assert_uint_eq(hits->len, 0);
  g_ptr_array_unref(hits);
}
END_TEST

START_TEST(search_is_printed) {
  const char *words[] = {"lapped", NULL};
  GPtrArray *hits = search(pages, rules, &(SearchQuery){.words = words, .limit = 3});
  g_autoptr(GString) text = g_string_new(NULL);
  search_print(hits, text);
  ck_assert_ptr_nonnull(strstr(text->str, "pattern-deadlock#lapped-waiters  Lapped waiters\n    "));
  json_t *json = search_json(hits);
  ck_assert_uint_eq(json_array_size(json_object_get(json, "hits")), hits->len);
  json_decref(json);
  g_ptr_array_unref(hits);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("pages");
  TCase *tests = tcase_create("pages");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, every_page_is_whole);
  tcase_add_test(tests, every_rule_is_named_by_a_caveat_and_has_its_section);
  tcase_add_test(tests, caveats_are_many_and_say_who_watches);
  tcase_add_test(tests, sections_have_one_anchor_each);
  tcase_add_test(tests, pages_print_in_80_columns);
  tcase_add_test(tests, one_section_prints_alone);
  tcase_add_test(tests, code_of_a_page_is_there);
  tcase_add_test(tests, code_says_whether_it_ran);
  tcase_add_test(tests, code_comes_with_its_headers_once);
  tcase_add_test(tests, one_file_of_a_package_is_pinned);
  tcase_add_test(tests, unknown_pages_get_a_suggestion);
  tcase_add_test(tests, lists_hold_every_page);
  tcase_add_test(tests, lists_are_filtered);
  tcase_add_test(tests, each_architecture_has_a_page);
  tcase_add_test(tests, wrong_code_is_marked);
  tcase_add_test(tests, upstream_kernels_are_pinned_not_copied);
  tcase_add_test(tests, tables_are_aligned);
  tcase_add_test(tests, search_finds_what_a_person_means);
  tcase_add_test(tests, search_takes_patterns);
  tcase_add_test(tests, search_filters);
  tcase_add_test(tests, search_is_printed);
  suite_add_tcase(suite, tests);
  return suite;
}
