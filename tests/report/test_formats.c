/* Every format against its snapshot in tests/report/expected. KCHECK_UPDATE=1 rewrites them: read
 * the difference before it is committed. */
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "report/lsp.h"
#include "report/report.h"
#include "sample.h"

Suite *test_suite(void);

static char *write_format(const char *name, const ReportOptions *options) {
  Report *report = sample_report();
  GString *out = g_string_new(NULL);
  ck_assert(report_write(report, name, options, out));
  report_free(report);
  return g_string_free(out, FALSE);
}

/* The working folder stands in file: URIs. */
static char *without_folder(const char *text) {
  g_autofree char *folder = g_get_current_dir();
  g_autofree char *uri = g_filename_to_uri(folder, NULL, NULL);
  g_auto(GStrv) parts = g_strsplit(text, uri, -1);
  return g_strjoinv("file:///folder", parts);
}

/* Content-Length counts the folder's name as well. */
static char *without_lengths(const char *text) {
  g_autoptr(GRegex) lengths = g_regex_new("Content-Length: \\d+\r\n\r\n", 0, 0, NULL);
  return g_regex_replace_literal(lengths, text, -1, 0, "Content-Length: N\n\n", 0, NULL);
}

static void compare(const char *snapshot, const char *text) {
  g_autofree char *plain = without_folder(text);
  g_autofree char *got = without_lengths(plain);
  g_autofree char *path =
      g_build_filename(KCHECK_SOURCE_DIR, "tests/report/expected", snapshot, NULL);
  if (g_getenv("KCHECK_UPDATE")) {
    ck_assert(g_file_set_contents(path, got, -1, NULL));
    return;
  }
  g_autofree char *expected = NULL;
  ck_assert_msg(g_file_get_contents(path, &expected, NULL, NULL), "no snapshot %s", path);
  ck_assert_msg(strcmp(expected, got) == 0, "%s differs; it is now:\n%s", snapshot, got);
}

static const char *const FORMATS[][2] = {
    {"text", "text.txt"},      {"gcc", "gcc.txt"},     {"json", "json.json"},
    {"sarif", "sarif.json"},   {"lsp", "lsp.txt"},     {"github", "github.txt"},
    {"gitlab", "gitlab.json"}, {"junit", "junit.xml"}, {"agent", "agent.txt"},
};

START_TEST(formats_have_not_changed) {
  ReportOptions options = {0};
  g_autofree char *text = write_format(FORMATS[_i][0], &options);
  compare(FORMATS[_i][1], text);
}
END_TEST

START_TEST(text_in_its_other_modes) {
  ReportOptions color = {.color = true}, quiet = {.quiet = true};
  ReportOptions loud = {.verbose = true, .statistics = true, .timing = true};
  g_autofree char *one = write_format("text", &color), *two = write_format("text", &quiet);
  g_autofree char *three = write_format("text", &loud);
  compare("text-color.txt", one);
  compare("text-quiet.txt", two);
  compare("text-verbose.txt", three);
  ck_assert_ptr_nonnull(strstr(two, "not checked in gemm<128, 4>")); /* said even when quiet */
}
END_TEST

/* On a narrow terminal nothing below the first line runs over the edge, and no word is lost. */
START_TEST(text_is_folded_at_the_width_of_a_terminal) {
  static const int widths[] = {60, 80, 200};
  for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
    Report *report = report_new();
    Finding *f = sample_phase();
    g_free(f->source);
    f->source =
        g_strdup("        mbar_wait(&s.full[stage], phase); // the consumer waits for a stage "
                 "that the producer has filled, every warp for itself");
    f->end_column = (int)strlen(f->source) + 1;
    g_free(f->help);
    f->help = g_strdup("flip the phase when the stage wraps, in the producer and in the consumer: "
                       "if (++stage == STAGES) { stage = 0; phase ^= 1; }");
    g_free(f->witness_text);
    f->witness_text = g_strdup("full[0]  phase 1 complete: 1 of 1 arrivals (warp 0, line 11), 1024 "
                               "bytes announced, copies of unknown size; seen by warps 0-3");
    g_ptr_array_add(report->findings, f);
    GString *out = g_string_new(NULL);
    ck_assert(report_write(report, "text", &(ReportOptions){.columns = widths[w]}, out));
    g_auto(GStrv) lines = g_strsplit(out->str, "\n", -1);
    for (int i = 1; lines[i]; i++)
      if (!g_str_has_prefix(lines[i], "page:"))
        ck_assert_msg(g_utf8_strlen(lines[i], -1) <= widths[w], "%d: %s", widths[w], lines[i]);
    ck_assert_ptr_nonnull(strstr(out->str, "warps 0-3"));
    ck_assert_ptr_nonnull(strstr(out->str, "phase ^= 1; }"));
    g_string_free(out, TRUE);
    report_free(report);
  }
}
END_TEST

START_TEST(json_formats_are_json) {
  static const char *const names[] = {"json", "sarif", "gitlab"};
  ReportOptions options = {0};
  g_autofree char *text = write_format(names[_i], &options);
  json_error_t problem;
  json_t *json = json_loads(text, 0, &problem);
  ck_assert_msg(json != NULL, "%s: %s", names[_i], problem.text);
  json_decref(json);
}
END_TEST

START_TEST(sarif_tells_what_the_rule_file_says) {
  Report *report = report_new();
  Finding *f = sample_phase();
  g_free(f->rule);
  f->rule = g_strdup("smem-race");
  g_ptr_array_add(report->findings, f);
  GString *out = g_string_new(NULL);
  ck_assert(report_write(report, "sarif", &(ReportOptions){0}, out));
  Rules *rules = rules_load(NULL);
  ck_assert_ptr_nonnull(strstr(out->str, rules_find(rules, "smem-race", NULL)->summary));
  rules_free(rules);
  g_string_free(out, TRUE);
  report_free(report);
}
END_TEST

START_TEST(lsp_frames_count_their_bytes) {
  ReportOptions options = {0};
  g_autofree char *text = write_format("lsp", &options);
  int frames = 0;
  for (const char *at = text; *at; frames++) {
    ck_assert(g_str_has_prefix(at, "Content-Length: "));
    long length = strtol(at + strlen("Content-Length: "), NULL, 10);
    at = strstr(at, "\r\n\r\n") + 4;
    ck_assert_uint_ge(strlen(at), (size_t)length);
    json_t *json = json_loadb(at, (size_t)length, 0, NULL);
    ck_assert_ptr_nonnull(json);
    json_decref(json);
    at += length;
  }
  ck_assert_int_eq(frames, 4); /* three files and the header */
}
END_TEST

START_TEST(lsp_columns_follow_the_encoding) {
  Finding *f = sample_unicode();
  static const struct {
    LspEncoding encoding;
    int start;
  } cases[] = {{LSP_UTF8, 18}, {LSP_UTF16, 13}, {LSP_UTF32, 12}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    json_t *json = report_lsp_diagnostic(f, cases[i].encoding);
    json_t *start = json_object_get(json_object_get(json, "range"), "start");
    ck_assert_int_eq(json_integer_value(json_object_get(start, "line")), 139);
    ck_assert_int_eq(json_integer_value(json_object_get(start, "character")), cases[i].start);
    json_decref(json);
  }
  finding_free(f);
}
END_TEST

START_TEST(unknown_format_is_refused) {
  Report *report = report_new();
  GString *out = g_string_new(NULL);
  ReportOptions options = {0};
  ck_assert(!report_write(report, "xml", &options, out));
  const char *const *names = report_formats();
  for (int i = 0; names[i]; i++)
    ck_assert(report_write(report, names[i], &options, out)); /* an empty report in each */
  g_string_free(out, TRUE);
  report_free(report);
}
END_TEST

START_TEST(transfer_keeps_everything) {
  Report *report = sample_report(), *copy = report_new();
  KcError error = {0};
  json_t *json = report_to_json(report);
  g_autofree char *text = json_dumps(json, 0);
  json_t *read = json_loads(text, 0, NULL);
  ck_assert_msg(report_from_json(copy, read, &error), "%s", error.message);
  json_t *again = report_to_json(copy);
  ck_assert(json_equal(json, again));
  json_decref(json);
  json_decref(read);
  json_decref(again);
  report_free(report);
  report_free(copy);
}
END_TEST

/* Removes one key after the other, at every depth, and puts a wrong type in its place. */
static void damage(json_t *root, json_t *object) {
  g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(g_free);
  const char *key;
  json_t *value;
  json_object_foreach(object, key, value) g_ptr_array_add(keys, g_strdup(key));
  for (guint i = 0; i < keys->len; i++) {
    json_t *old = json_incref(json_object_get(object, keys->pdata[i]));
    KcError error = {0};
    Report *into = report_new();
    json_object_set_new(object, keys->pdata[i], json_real(1.5));
    bool read = report_from_json(into, root, &error);
    ck_assert_msg(read == (strcmp(keys->pdata[i], "timing") == 0), "%s", (char *)keys->pdata[i]);
    if (!read) {
      ck_assert_ptr_nonnull(error.message);
      ck_assert_uint_eq(into->files->len + into->findings->len, 0);
    }
    json_object_set_new(object, keys->pdata[i], old);
    kc_error_clear(&error);
    report_free(into);
  }
}

START_TEST(broken_transfer_is_refused) {
  Report *report = sample_report();
  json_t *json = report_to_json(report);
  damage(json, json);
  json_t *file = json_array_get(json_object_get(json, "files"), 0);
  json_t *finding = json_array_get(json_object_get(json, "findings"), 0);
  damage(json, file);
  damage(json, json_array_get(json_object_get(file, "kernels"), 0));
  damage(json, finding);
  damage(json, json_array_get(json_object_get(finding, "related"), 0));
  json_decref(json);
  report_free(report);
}
END_TEST

START_TEST(text_that_is_not_utf8_survives_the_transfer) {
  Report *report = sample_report(), *copy = report_new();
  Finding *f = report->findings->pdata[0];
  g_free(f->source);
  f->source = g_strdup("caf\xe9");
  json_t *json = report_to_json(report);
  ck_assert(report_from_json(copy, json, NULL));
  const Finding *back = copy->findings->pdata[0];
  ck_assert(g_utf8_validate(back->source, -1, NULL));
  json_decref(json);
  report_free(report);
  report_free(copy);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("formats");
  TCase *tests = tcase_create("formats");
  tcase_add_loop_test(tests, formats_have_not_changed, 0, (int)G_N_ELEMENTS(FORMATS));
  tcase_add_test(tests, text_in_its_other_modes);
  tcase_add_test(tests, text_is_folded_at_the_width_of_a_terminal);
  tcase_add_loop_test(tests, json_formats_are_json, 0, 3);
  tcase_add_test(tests, sarif_tells_what_the_rule_file_says);
  tcase_add_test(tests, lsp_frames_count_their_bytes);
  tcase_add_test(tests, lsp_columns_follow_the_encoding);
  tcase_add_test(tests, unknown_format_is_refused);
  tcase_add_test(tests, transfer_keeps_everything);
  tcase_add_test(tests, broken_transfer_is_refused);
  tcase_add_test(tests, text_that_is_not_utf8_survives_the_transfer);
  suite_add_tcase(suite, tests);
  return suite;
}
