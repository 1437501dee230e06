/* What a finding of a run comes with: the smallest inputs that show it, and a picture that is
 * whole. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>

Suite *test_suite(void);

#define RULES KCHECK_SOURCE_DIR "/fixtures/rules/"

static char *run(const char *const *words) {
  char *out = NULL;
  g_autoptr(GError) failure = NULL;
  ck_assert_msg(g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                             &out, NULL, NULL, &failure),
                "%s", failure ? failure->message : "");
  return out;
}

static char *svg_of(const char *fixture) {
  g_autofree char *folder = g_dir_make_tmp("kcheck-trace-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "trace.svg", NULL);
  const char *words[] = {KCHECK_BINARY, "trace", fixture, "--svg", path, NULL};
  char *svg = NULL;
  g_free(run(words));
  ck_assert_msg(g_file_get_contents(path, &svg, NULL, NULL), "%s: no picture", fixture);
  g_remove(path);
  g_rmdir(folder);
  return svg;
}

static void check_xml(const char *text, const char *fixture) {
  const GMarkupParser parser = {NULL, NULL, NULL, NULL, NULL};
  g_autoptr(GError) error = NULL;
  GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
  bool good = g_markup_parse_context_parse(context, text, -1, &error) &&
              g_markup_parse_context_end_parse(context, &error);
  ck_assert_msg(good, "%s: %s", fixture, error ? error->message : "");
  g_markup_parse_context_free(context);
}

START_TEST(pictures_are_well_formed) {
  static const char *const fixtures[] = {
      RULES "wgmma-slot-released-early/bad.cu", RULES "mbarrier-phase-not-flipped/bad_wrap.cu",
      RULES "barrier-thread-count/bad_too_many.cu", RULES "smem-race/bad_second_pass.cu",
      RULES "cluster-barrier-unpaired/bad_role.cu"};
  for (size_t i = 0; i < G_N_ELEMENTS(fixtures); i++) {
    g_autofree char *svg = svg_of(fixtures[i]);
    check_xml(svg, fixtures[i]);
    ck_assert_msg(strstr(svg, "nan") == NULL, "%s: a number is none", fixtures[i]);
    ck_assert_msg(strstr(svg, "class=\"why\"") != NULL, "%s: no sentence", fixtures[i]);
  }
}
END_TEST

START_TEST(a_race_shows_both_accesses_and_the_missing_edge) {
  g_autofree char *svg = svg_of(RULES "wgmma-slot-released-early/bad.cu");
  ck_assert_ptr_nonnull(strstr(svg, "<path class=\"edge\""));
  ck_assert_ptr_nonnull(strstr(svg, ">1</text>"));
  ck_assert_ptr_nonnull(strstr(svg, ">2</text>"));
  ck_assert_ptr_nonnull(strstr(svg, "tensor core reads"));
}
END_TEST

START_TEST(a_hang_shows_the_wait_that_never_ends) {
  g_autofree char *svg = svg_of(RULES "barrier-thread-count/bad_too_many.cu");
  ck_assert_ptr_nonnull(strstr(svg, "class=\"wait never\""));
}
END_TEST

/* A ring of two stages and a phase that is not flipped: three trips show it. */
START_TEST(the_witness_is_small) {
  const char *words[] = {KCHECK_BINARY, RULES "mbarrier-phase-not-flipped/bad_wrap.cu", "--format",
                         "json", NULL};
  g_autofree char *text = run(words);
  json_t *report = json_loads(text, 0, NULL);
  ck_assert_ptr_nonnull(report);
  json_t *finding = json_array_get(json_object_get(report, "findings"), 0);
  json_t *inputs = json_object_get(json_object_get(finding, "witness"), "inputs");
  json_t *trips = json_object_get(inputs, "trips");
  ck_assert_ptr_nonnull(trips);
  int value =
      json_is_integer(trips) ? (int)json_integer_value(trips) : atoi(json_string_value(trips));
  ck_assert_int_ge(value, 2);
  ck_assert_int_le(value, 4);
  json_decref(report);
}
END_TEST

Suite *test_suite(void) {
  if (!g_file_test(KCHECK_BINARY, G_FILE_TEST_IS_EXECUTABLE)) {
    puts("skip: kcheck is not built");
    exit(77);
  }
  Suite *suite = suite_create("trace");
  TCase *tests = tcase_create("trace");
  tcase_set_timeout(tests, 120);
  tcase_add_test(tests, pictures_are_well_formed);
  tcase_add_test(tests, a_race_shows_both_accesses_and_the_missing_edge);
  tcase_add_test(tests, a_hang_shows_the_wait_that_never_ends);
  tcase_add_test(tests, the_witness_is_small);
  suite_add_tcase(suite, tests);
  return suite;
}
