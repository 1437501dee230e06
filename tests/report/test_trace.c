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

static char *drawn(const char *fixture, const char *form, const char *arch, bool all) {
  g_autofree char *folder = g_dir_make_tmp("kcheck-trace-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "trace", NULL);
  const char *words[] = {KCHECK_BINARY,        "trace", fixture, form, path, "--arch", arch,
                         all ? "--all" : NULL, NULL};
  char *text = NULL;
  g_free(run(words));
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s: no picture", fixture);
  g_remove(path);
  g_rmdir(folder);
  return text;
}

static char *svg_of(const char *fixture) {
  return drawn(fixture, "--svg", "sm_90a", false);
}

/* Standard output of a trace of `text`, written to a file of its own. */
static char *trace_of_text(const char *text) {
  g_autofree char *folder = g_dir_make_tmp("kcheck-trace-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "kernel.cu", NULL);
  ck_assert(g_file_set_contents(path, text, -1, NULL));
  const char *words[] = {KCHECK_BINARY, "trace", path, NULL};
  char *out = run(words);
  g_remove(path);
  g_rmdir(folder);
  return out;
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
  ck_assert_ptr_nonnull(strstr(svg, "first: wgmma, line 47"));
  ck_assert_ptr_nonnull(strstr(svg, "then: tensor load, line 35"));
}
END_TEST

START_TEST(tensor_memory_has_rows) {
  g_autofree char *svg = drawn(RULES "tcgen05-tmem-race/bad.cu", "--svg", "sm_100a", false);
  ck_assert_ptr_nonnull(strstr(svg, ">TMEM column 0</text>"));
  ck_assert_ptr_nonnull(strstr(svg, "first: tcgen05.mma"));
  ck_assert_ptr_nonnull(strstr(svg, "then: tcgen05.ld"));
}
END_TEST

/* The ring of three stages is read again with two, which show the same; --all leaves it alone. */
START_TEST(a_ring_is_made_smaller) {
  const char *fixture = RULES "wgmma-slot-released-early/bad.cu";
  g_autofree char *svg = svg_of(fixture), *all = drawn(fixture, "--svg", "sm_90a", true);
  ck_assert_ptr_nonnull(strstr(svg, "STAGES = 2 (3 in the source)"));
  ck_assert_ptr_null(strstr(svg, ">s.a[1]</text>"));
  ck_assert_ptr_null(strstr(all, "in the source)"));
  ck_assert_ptr_nonnull(strstr(all, ">s.a[2]</text>"));
}
END_TEST

/* A count of trips that the source fixes is made smaller as well, and only as far as shows it. */
START_TEST(trips_that_a_constant_fixes_are_fewer) {
  g_autofree char *out =
      trace_of_text("#include <cuda_runtime.h>\n"
                    "constexpr int ROUNDS = 40;\n"
                    "__global__ void __launch_bounds__(64) smooth(float *out) {\n"
                    "  __shared__ float slot[64];\n"
                    "  for (int k = 0; k < ROUNDS; ++k) {\n"
                    "    slot[threadIdx.x] = out[k * 64 + threadIdx.x];\n"
                    "    __syncthreads();\n"
                    "    out[k * 64 + threadIdx.x] = slot[threadIdx.x ^ 32];\n"
                    "  }\n"
                    "}\n");
  ck_assert_msg(strstr(out, "ROUNDS = 2 (40 in the source)") != NULL, "%s", out);
  ck_assert_ptr_nonnull(strstr(out, "[smem-race]"));
}
END_TEST

/* A value that takes part in the fault stays: with fewer than 9 rounds there is no race. */
START_TEST(a_constant_that_the_fault_needs_stays) {
  g_autofree char *out =
      trace_of_text("#include <cuda_runtime.h>\n"
                    "constexpr int ROUNDS = 9;\n"
                    "__global__ void __launch_bounds__(64) smooth(float *out) {\n"
                    "  __shared__ float slot[64];\n"
                    "  for (int k = 0; k < ROUNDS; ++k) {\n"
                    "    if (k != 8) __syncthreads();\n"
                    "    slot[threadIdx.x] = out[k * 64 + threadIdx.x];\n"
                    "    __syncthreads();\n"
                    "    out[k * 64 + threadIdx.x] = slot[threadIdx.x ^ 32];\n"
                    "  }\n"
                    "}\n");
  ck_assert_ptr_nonnull(strstr(out, "[smem-race]"));
  ck_assert_msg(strstr(out, "in the source)") == NULL, "%s", out);
}
END_TEST

/* Stores of neighbouring words run as one, in a copy of the kernel: its findings are drawn too. */
START_TEST(a_kernel_with_vector_stores_is_drawn) {
  g_autofree char *out = trace_of_text("#include <cuda_runtime.h>\n"
                                       "__global__ void __launch_bounds__(64) turn(float2 *out) {\n"
                                       "  __shared__ float slot[64];\n"
                                       "  slot[threadIdx.x] = threadIdx.x;\n"
                                       "  const float here = slot[threadIdx.x ^ 32];\n"
                                       "  out[threadIdx.x] = make_float2(here, 1.0f);\n"
                                       "}\n");
  ck_assert_ptr_nonnull(strstr(out, "[smem-race]"));
  ck_assert_msg(strstr(out, "1 first access") != NULL, "%s", out);
  ck_assert_ptr_nonnull(strstr(out, "2 second access"));
}
END_TEST

static char *attribute(const char *element, const char *name) {
  g_autofree char *key = g_strdup_printf(" %s=\"", name);
  const char *at = strstr(element, key), *end = strchr(element, '>');
  if (!at || (end && at > end)) return NULL;
  at += strlen(key);
  return g_strndup(at, strcspn(at, "\""));
}

/* Words in red beside the fault, in lines of their own: none covers another. */
START_TEST(words_do_not_overlap) {
  static const char *const fixtures[] = {
      RULES "wgmma-slot-released-early/bad.cu", RULES "smem-race/bad_second_pass.cu",
      RULES "pipeline-stage-race/bad_late_wait_of_a.cu", RULES "cluster-exit-without-sync/bad.cu"};
  enum { CHARACTER = 7, MOST = 64 };
  for (size_t f = 0; f < G_N_ELEMENTS(fixtures); f++) {
    g_autofree char *svg = svg_of(fixtures[f]);
    double left[MOST], right[MOST], y[MOST];
    int count = 0;
    for (const char *at = svg; (at = strstr(at, "<text class=\"why\"")) && count < MOST; at++) {
      g_autofree char *x = attribute(at, "x"), *line = attribute(at, "y");
      const char *words = strchr(at, '>') + 1;
      left[count] = g_ascii_strtod(x, NULL);
      right[count] = left[count] + CHARACTER * (double)strcspn(words, "<");
      y[count] = g_ascii_strtod(line, NULL);
      for (int i = 0; i < count; i++)
        ck_assert_msg(y[i] != y[count] || left[count] >= right[i] || right[count] <= left[i],
                      "%s: words over each other at y = %g", fixtures[f], y[i]);
      count++;
    }
    ck_assert_int_gt(count, 0);
  }
}
END_TEST

/* One file that asks for nothing: no address but that of the SVG namespace, and what a mouse shows
 * can be had from the keyboard. */
START_TEST(a_page_is_self_contained) {
  g_autofree char *html =
      drawn(RULES "wgmma-slot-released-early/bad.cu", "--html", "sm_90a", false);
  ck_assert_ptr_null(strstr(html, "src="));
  ck_assert_ptr_null(strstr(html, "href="));
  ck_assert_ptr_null(strstr(html, "@import"));
  for (const char *at = html; (at = strstr(at, "http")); at++)
    ck_assert_int_eq(strncmp(at, "http://www.w3.org/2000/svg", 26), 0);
  const char *focus = strstr(html, "tabindex=\"0\"");
  ck_assert_ptr_nonnull(focus);
  ck_assert_ptr_null(strstr(focus + 1, "tabindex=\"0\""));
  ck_assert_ptr_nonnull(strstr(html, "aria-label=\"wgmma of s.a[0]"));
  ck_assert_ptr_nonnull(strstr(html, "prefers-color-scheme:dark"));
}
END_TEST

START_TEST(a_clean_kernel_is_drawn_and_said_to_be_clean) {
  const char *words[] = {KCHECK_BINARY, "trace",
                         RULES "wgmma-slot-released-early/good_fuser_release_before_wait.cu", NULL};
  g_autofree char *out = run(words);
  ck_assert_ptr_nonnull(strstr(out, "no fault"));
  ck_assert_ptr_nonnull(strstr(out, "s.full[0]"));
  ck_assert_ptr_null(strstr(out, "! the fault"));
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
  tcase_add_test(tests, tensor_memory_has_rows);
  tcase_add_test(tests, a_ring_is_made_smaller);
  tcase_add_test(tests, trips_that_a_constant_fixes_are_fewer);
  tcase_add_test(tests, a_constant_that_the_fault_needs_stays);
  tcase_add_test(tests, a_kernel_with_vector_stores_is_drawn);
  tcase_add_test(tests, words_do_not_overlap);
  tcase_add_test(tests, a_page_is_self_contained);
  tcase_add_test(tests, a_clean_kernel_is_drawn_and_said_to_be_clean);
  tcase_add_test(tests, a_hang_shows_the_wait_that_never_ends);
  tcase_add_test(tests, the_witness_is_small);
  suite_add_tcase(suite, tests);
  return suite;
}
