/* Comments, literals and preprocessor lines of C++ text. */
#include <check.h>

#include <string.h>

#include "cuda/scan.h"

/* What is left of `text` when everything that scan_skip passes over is taken out. */
static void ck_assert_left(const char *text, const char *expected) {
  char left[256] = {0};
  size_t length = strlen(text), out = 0;
  for (size_t at = 0; at < length;) {
    size_t next = scan_skip(text, length, at);
    if (next == at)
      left[out++] = text[at++];
    else
      at = next;
  }
  ck_assert_str_eq(left, expected);
}

START_TEST(comments_literals_and_directives) {
  ck_assert_left("a // b\nc", "a \nc");
  ck_assert_left("a /* b\n c */ d", "a  d");
  ck_assert_left("f(\"x)\\\"y\", 'c', '\\'')", "f(, , )");
  ck_assert_left("R\"x(a \" )\" )x\" b", "R b");
  ck_assert_left("1'000'000 + x", "1'000'000 + x");
  ck_assert_left("#define A \\\n  b\nc", "\nc");
  ck_assert_left("a # b", "a # b");
  ck_assert_left("/* never closed", "");
  ck_assert_left("\"never closed", "");
}
END_TEST

START_TEST(whole_words) {
  static const char TEXT[] = "asm __asm asm_x";
  ck_assert(scan_word(TEXT, strlen(TEXT), 0, "asm"));
  ck_assert(!scan_word(TEXT, strlen(TEXT), 6, "asm"));
  ck_assert(!scan_word(TEXT, strlen(TEXT), 10, "asm"));
  ck_assert(!scan_word(TEXT, strlen(TEXT), 14, "x_long"));
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  Suite *suite = suite_create("cuda/scan");
  TCase *t = tcase_create("scan");
  tcase_add_test(t, comments_literals_and_directives);
  tcase_add_test(t, whole_words);
  suite_add_tcase(suite, t);
  return suite;
}
