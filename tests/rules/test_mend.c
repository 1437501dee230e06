/* Mechanical fixes: the text that they make of a line. */
#include <string.h>

#include <check.h>

#include "rules/finding.h"
#include "rules/mend.h"

Suite *test_suite(void);

/* Applies the fix that `rule` gives the part of `text` between two bars. */
static char *mended(const char *rule, const char *text, bool safe) {
  KcArena *arena = kc_arena_new();
  g_auto(GStrv) parts = g_strsplit(text, "|", 3);
  g_autofree char *whole = g_strconcat(parts[0], parts[1], parts[2], NULL);
  IrProgram *program = ir_program_new(arena, "a.cu", "sm_90a");
  uint32_t file = source_file(&program->sources, "a.cu", true);
  program->sources.files.items[file].text = whole;
  program->sources.files.items[file].length = strlen(whole);
  Finding *f = finding_new();
  f->rule = g_strdup(rule);
  f->path = g_strdup("a.cu");
  f->message = g_strdup("no \"memory\" clobber");
  g_auto(GStrv) before = g_strsplit(parts[0], "\n", -1), inside = g_strsplit(parts[1], "\n", -1);
  guint lines = g_strv_length(before), more = g_strv_length(inside);
  f->line = (int)MAX(lines, 1u);
  f->column = lines ? (int)strlen(before[lines - 1]) + 1 : 1;
  f->end_line = f->line + (int)more - 1;
  f->end_column = (int)strlen(inside[more - 1]) + (more > 1 ? 1 : f->column);
  mend_suggest(program, f);
  char *result = NULL;
  if (f->fix_text) {
    ck_assert_int_eq(f->fix_safe, safe);
    g_auto(GStrv) all = g_strsplit(whole, "\n", -1);
    size_t begin = 0, end = 0;
    for (int i = 1; i < f->fix_line; i++)
      begin += strlen(all[i - 1]) + 1;
    for (int i = 1; i < f->fix_end_line; i++)
      end += strlen(all[i - 1]) + 1;
    begin += (size_t)f->fix_column - 1;
    end += (size_t)f->fix_end_column - 1;
    g_autofree char *head = g_strndup(whole, begin);
    result = g_strconcat(head, f->fix_text, whole + end, NULL);
  }
  finding_free(f);
  kc_arena_free(arena);
  return result;
}

static void expect(const char *rule, const char *text, const char *expected, bool safe) {
  g_autofree char *got = mended(rule, text, safe);
  ck_assert_msg(g_strcmp0(got, expected) == 0, "%s\n became %s\n not    %s", text, got, expected);
}

START_TEST(clobbers_are_added_in_their_place) {
  const char *rule = "mbarrier-asm-memory-clobber";
  expect(rule, "  |asm volatile(\"a;\")|;\n", "  asm volatile(\"a;\" ::: \"memory\");\n", true);
  expect(rule, "|asm volatile(\"a;\" : \"=r\"(x))|;",
         "asm volatile(\"a;\" : \"=r\"(x) :: \"memory\");", true);
  expect(rule, "|asm volatile(\"a:;\" ::\"r\"(f(n::x ? 1 : 2)))|;",
         "asm volatile(\"a:;\" ::\"r\"(f(n::x ? 1 : 2)) : \"memory\");", true);
  expect(rule, "|asm volatile(\"a;\\\"(\" :: \"r\"(x) : \"cc\")|;",
         "asm volatile(\"a;\\\"(\" :: \"r\"(x) : \"cc\", \"memory\");", true);
  expect(rule, "|asm volatile(\"a;\" ::: )|;", "asm volatile(\"a;\" :::  \"memory\");", true);
  expect(rule, "x;\n|asm volatile(\"a;\"\n  \"b;\" ::\"r\"(x))|;\n",
         "x;\nasm volatile(\"a;\"\n  \"b;\" ::\"r\"(x) : \"memory\");\n", true);
  expect(rule, "|asm volatile(\"a;\" // it: waits\n /* b: c */ ::\"r\"(x))|;",
         "asm volatile(\"a;\" // it: waits\n /* b: c */ ::\"r\"(x) : \"memory\");", true);
  expect(rule, "|MY_ASM(\"a;\")|;", NULL, true);
  expect(rule, "|asm volatile(\"a;\"|", NULL, true);
}
END_TEST

START_TEST(maps_become_grid_constants) {
  const char *rule = "tma-descriptor-not-grid-constant";
  expect(rule, "void k(|CUtensorMap m|)", "void k(const __grid_constant__ CUtensorMap m)", true);
  expect(rule, "void k(|const CUtensorMap m|)", "void k(const __grid_constant__ CUtensorMap m)",
         true);
  expect(rule, "void k(|Params p|)", "void k(const __grid_constant__ Params p)", false);
  expect(rule, "void k(|const Params &p|)", NULL, true);
}
END_TEST

START_TEST(unused_suppressions_go) {
  const char *rule = "kcheck-unused-ignore";
  expect(rule, "a();  |// kcheck: ignore[x] y|\nb();\n", "a();\nb();\n", true);
  expect(rule, "a();\n  |// kcheck: ignore[x] y|\nb();\n", "a();\nb();\n", true);
  expect(rule, "|// kcheck: ignore[x, z] y|\nb();\n", NULL, true);
}
END_TEST

START_TEST(other_rules_have_none) {
  expect("smem-race", "|asm volatile(\"a;\")|;", NULL, true);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("mend");
  TCase *tests = tcase_create("mend");
  tcase_add_test(tests, clobbers_are_added_in_their_place);
  tcase_add_test(tests, maps_become_grid_constants);
  tcase_add_test(tests, unused_suppressions_go);
  tcase_add_test(tests, other_rules_have_none);
  suite_add_tcase(suite, tests);
  return suite;
}
