/* Places in a text, LSP 3.17 "Position" and "Text Documents", and messages of the "Base Protocol".
 */
#include <check.h>
#include <string.h>

#include "lsp/frame.h"
#include "lsp/text.h"

Suite *test_suite(void);

/* "aä世😀b": 1 + 2 + 3 + 4 + 1 bytes; 1 + 1 + 1 + 2 + 1 units of UTF-16. */
#define MIXED                                                                                      \
  "a\xc3\xa4\xe4\xb8\x96\xf0\x9f\x98\x80"                                                          \
  "b"

static json_t *range_of(int line1, int character1, int line2, int character2) {
  return json_pack("{s{si si} s{si si}}", "start", "line", line1, "character", character1, "end",
                   "line", line2, "character", character2);
}

static bool span_of(const LspText *text, LspEncoding encoding, int line1, int character1, int line2,
                    int character2, LspSpan *span) {
  json_t *range = range_of(line1, character1, line2, character2);
  bool read = lsp_text_span(text, range, encoding, span);
  json_decref(range);
  return read;
}

START_TEST(characters_are_counted_in_units_of_the_encoding) {
  static const struct {
    LspEncoding encoding;
    int b; /* character of the "b" */
  } cases[] = {{LSP_UTF8, 10}, {LSP_UTF16, 5}, {LSP_UTF32, 4}};
  LspText text;
  lsp_text_init(&text, "x\n" MIXED "\n", strlen("x\n" MIXED "\n"));
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    LspSpan span;
    ck_assert(span_of(&text, cases[i].encoding, 1, cases[i].b, 1, cases[i].b + 1, &span));
    ck_assert_uint_eq(span.begin, 12);
    ck_assert_uint_eq(span.end, 13);
    json_t *range = lsp_text_range(&text, span, cases[i].encoding);
    json_t *same = range_of(1, cases[i].b, 1, cases[i].b + 1);
    ck_assert(json_equal(range, same));
    json_decref(range);
    json_decref(same);
  }
  lsp_text_clear(&text);
}
END_TEST

START_TEST(a_place_inside_a_character_is_its_start) {
  LspText text;
  LspSpan span;
  lsp_text_init(&text, MIXED, strlen(MIXED));
  ck_assert(span_of(&text, LSP_UTF16, 0, 4, 0, 4, &span)); /* between the surrogates */
  ck_assert_uint_eq(span.begin, 6);
  ck_assert(span_of(&text, LSP_UTF8, 0, 2, 0, 8, &span));
  ck_assert_uint_eq(span.begin, 1);
  ck_assert_uint_eq(span.end, 6);
  lsp_text_clear(&text);
}
END_TEST

START_TEST(places_behind_the_end_are_the_end) {
  LspText text;
  LspSpan span;
  lsp_text_init(&text, "ab\r\ncd", 6);
  ck_assert(span_of(&text, LSP_UTF16, 0, 99, 7, 3, &span));
  ck_assert_uint_eq(span.begin, 2);
  ck_assert_uint_eq(span.end, 6);
  ck_assert(!span_of(&text, LSP_UTF16, 1, 1, 0, 1, &span));
  ck_assert(!span_of(&text, LSP_UTF16, -1, 0, 0, 1, &span));
  ck_assert(!lsp_text_span(&text, NULL, LSP_UTF16, &span));
  ck_assert_uint_eq(lsp_text_offset(&text, 1, 9), 2);
  ck_assert_uint_eq(lsp_text_offset(&text, 9, 1), 6);
  ck_assert_uint_eq(lsp_text_offset(&text, 0, 0), 0);
  lsp_text_clear(&text);
}
END_TEST

START_TEST(lines_end_with_any_of_the_three_ends) {
  LspText text;
  lsp_text_init(&text, "a\r\nb\rc\nd", 8);
  ck_assert_uint_eq(text.lines->len, 4);
  static const gsize ends[] = {1, 4, 6, 8};
  for (guint i = 0; i < 4; i++)
    ck_assert_uint_eq(lsp_text_line_span(&text, i).end, ends[i]);
  lsp_text_replace(&text, (LspSpan){1, 7}, "\n", 1);
  ck_assert_str_eq(text.bytes->str, "a\nd");
  ck_assert_uint_eq(text.lines->len, 2);
  ck_assert_uint_eq(lsp_text_line(&text, 2), 1);
  lsp_text_clear(&text);
}
END_TEST

static LspFrameKind next(LspFrames *frames, const char *bytes, LspFrame *frame) {
  lsp_frames_add(frames, bytes, strlen(bytes));
  return lsp_frames_next(frames, frame);
}

START_TEST(messages_come_out_whole) {
  LspFrames *frames = lsp_frames_new();
  LspFrame frame;
  ck_assert_int_eq(next(frames, "Content-Le", &frame), LSP_FRAME_NONE);
  ck_assert_int_eq(next(frames, "ngth: 2\r\n", &frame), LSP_FRAME_NONE);
  ck_assert_int_eq(next(frames, "\r\n{", &frame), LSP_FRAME_NONE);
  ck_assert_int_eq(next(frames, "}content-length:1\r\n\r\n7", &frame), LSP_FRAME_MESSAGE);
  ck_assert_str_eq(frame.body, "{}");
  ck_assert_int_eq(lsp_frames_next(frames, &frame), LSP_FRAME_MESSAGE);
  ck_assert_str_eq(frame.body, "7");
  ck_assert_int_eq(lsp_frames_next(frames, &frame), LSP_FRAME_NONE);
  lsp_frames_free(frames);
}
END_TEST

START_TEST(reading_goes_on_behind_what_is_broken) {
  static const char *const broken[] = {
      "Content-Length: x\r\n\r\n{}", "{\"a\": 1}\r\n", "\r\n",
      "Content-Type: a; charset=latin-1\r\nContent-Length: 2\r\n\r\n"
      "{}"};
  for (size_t i = 0; i < G_N_ELEMENTS(broken); i++) {
    LspFrames *frames = lsp_frames_new();
    LspFrame frame;
    ck_assert_int_eq(next(frames, broken[i], &frame), LSP_FRAME_BROKEN);
    ck_assert_ptr_nonnull(frame.why);
    ck_assert_int_eq(next(frames, "Content-Length: 1\r\n\r\n8", &frame), LSP_FRAME_MESSAGE);
    ck_assert_str_eq(frame.body, "8");
    lsp_frames_free(frames);
  }
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("lsp/text");
  TCase *tests = tcase_create("text");
  tcase_add_test(tests, characters_are_counted_in_units_of_the_encoding);
  tcase_add_test(tests, a_place_inside_a_character_is_its_start);
  tcase_add_test(tests, places_behind_the_end_are_the_end);
  tcase_add_test(tests, lines_end_with_any_of_the_three_ends);
  tcase_add_test(tests, messages_come_out_whole);
  tcase_add_test(tests, reading_goes_on_behind_what_is_broken);
  suite_add_tcase(suite, tests);
  return suite;
}
