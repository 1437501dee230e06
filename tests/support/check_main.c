/* Runs the suite that a tests/<room>/test_*.c file defines. */
#include <stdlib.h>

#include <check.h>

Suite *test_suite(void);

int main(void) {
  SRunner *runner = srunner_create(test_suite());
  srunner_run_all(runner, CK_ENV);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
