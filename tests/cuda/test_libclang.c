/* Opening libclang: which one, and what is said when there is none that will do. */
#include <glib.h>

#include "load.h"

#include "cuda/libclang.h"
#include "cuda/target.h"

START_TEST(the_one_found_is_complete) {
  Clang clang;
  KcError error = {0};
  ck_assert_msg(clang_open(&clang, &error), "%s", error.message);
  ck_assert_int_ge(clang.version, CLANG_OLDEST);
  ck_assert(g_file_test(clang.path, G_FILE_TEST_EXISTS));
  ck_assert_ptr_nonnull(clang.parseTranslationUnit2);
  ck_assert_int_eq(clang.Cursor_getGCCAssemblyTemplate != NULL, clang.version >= CLANG_ASM_API);
  const char *path = NULL;
  ck_assert_int_eq(cuda_libclang_version(&path), clang.version);
  ck_assert_str_eq(path, clang.path);
}
END_TEST

START_TEST(a_named_file_that_will_not_do) {
  static const char *const FILES[] = {"/nowhere/libclang.so", "libc.so.6"};
  for (size_t i = 0; i < G_N_ELEMENTS(FILES); i++) {
    KcError error = {0};
    Clang clang;
    g_setenv("KCHECK_LIBCLANG", FILES[i], TRUE);
    ck_assert(!clang_open(&clang, &error));
    ck_assert_ptr_nonnull(strstr(error.message, FILES[i]));
    ck_assert_ptr_nonnull(strstr(error.hint, "KCHECK_LIBCLANG"));
    kc_error_clear(&error);
  }
  g_unsetenv("KCHECK_LIBCLANG");
}
END_TEST

START_TEST(names_of_targets) {
  CudaTarget target;
  ck_assert(target_parse("sm_90a", &target));
  ck_assert_int_eq(target.number, 90);
  ck_assert_int_eq(target.suffix, 'a');
  ck_assert(target_parse("sm_103f", &target));
  ck_assert_int_eq(target.number, 103);
  ck_assert_int_eq(target.suffix, 'f');
  ck_assert(target_parse("compute_80", &target));
  ck_assert_int_eq(target.suffix, 0);
  static const char *const WRONG[] = {"", "sm_", "hopper", "sm_90ab", "sm_9", "90a"};
  for (size_t i = 0; i < G_N_ELEMENTS(WRONG); i++)
    ck_assert_msg(!target_parse(WRONG[i], &target), "%s", WRONG[i]);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("cuda/libclang");
  TCase *t = tcase_create("libclang");
  tcase_set_timeout(t, 60);
  tcase_add_test(t, the_one_found_is_complete);
  tcase_add_test(t, a_named_file_that_will_not_do);
  tcase_add_test(t, names_of_targets);
  suite_add_tcase(suite, t);
  return suite;
}
