/* Directives in comments, as the interface contract ("In the source") gives them. */
#include <string.h>

#include <check.h>

#include "ir/directive.h"
#include "ir/number.h"

Suite *test_suite(void);

static KcArena *arena;

static void setup(void) {
  arena = kc_arena_new();
}

static void teardown(void) {
  kc_arena_free(arena);
}

static const IrDirectives *parse(const char *text) {
  return ir_parse_directives(arena, 1, text, strlen(text));
}

/* The one error of `text`, which must hold `part`. */
static void expect_error(const char *text, const char *part) {
  const IrDirectives *d = parse(text);
  ck_assert_msg(d->errors.count == 1, "%s: %d errors", text, d->errors.count);
  ck_assert_msg(strstr(d->errors.items[0].message, part) != NULL, "%s: '%s' lacks '%s'", text,
                d->errors.items[0].message, part);
}

START_TEST(ignore_covers_its_line_or_the_next) {
  const IrDirectives *d = parse("a();  // kcheck: ignore[smem-race] lanes are ordered\n"
                                "  // kcheck: ignore[tma-size-multiple-16, smem-race] padded\n"
                                "  // an ordinary comment\n"
                                "\n"
                                "b();\n"
                                "// kcheck: ignore-file[perf] measured elsewhere\n");
  ck_assert_int_eq(d->errors.count, 0);
  ck_assert_int_eq(d->ignores.count, 3);
  ck_assert_str_eq(d->ignores.items[0].rules, "smem-race");
  ck_assert_str_eq(d->ignores.items[0].reason, "lanes are ordered");
  ck_assert_uint_eq(d->ignores.items[0].line, 1);
  ck_assert_uint_eq(d->ignores.items[0].range.column, 7);
  ck_assert_str_eq(d->ignores.items[1].rules, "tma-size-multiple-16, smem-race");
  ck_assert_uint_eq(d->ignores.items[1].line, 5);
  ck_assert_uint_eq(d->ignores.items[1].range.line, 2);
  ck_assert(!d->ignores.items[1].whole_file);
  ck_assert(d->ignores.items[2].whole_file);
}
END_TEST

START_TEST(ignore_needs_rule_and_reason) {
  expect_error("// kcheck: ignore[smem-race]\n", "has no reason");
  expect_error("// kcheck: ignore[] why\n", "names no rule");
  expect_error("// kcheck: ignore smem-race why\n", "in brackets");
  expect_error("// kcheck: ignore-file[smem-race\n", "in brackets");
}
END_TEST

START_TEST(launch_gives_sizes_and_arguments) {
  const IrDirectives *d =
      parse("// kcheck: launch(kern<128, 4>, grid = 132, block = (128, 3), smem = 195 * 1024, "
            "cluster = 2x1, K = 576)\n");
  ck_assert_int_eq(d->errors.count, 0);
  ck_assert_int_eq(d->launches.count, 1);
  const IrLaunchDirective *launch = &d->launches.items[0];
  ck_assert_str_eq(launch->kernel, "kern<128, 4>");
  ck_assert_int_eq(launch->grid[0], 132);
  ck_assert_int_eq(launch->grid[1], 1);
  ck_assert_int_eq(launch->block[0], 128);
  ck_assert_int_eq(launch->block[1], 3);
  ck_assert_int_eq(launch->block[2], 1);
  ck_assert_int_eq(launch->cluster[0], 2);
  ck_assert_int_eq(launch->smem, 195 * 1024);
  ck_assert_int_eq(launch->arguments.count, 1);
  ck_assert_str_eq(launch->arguments.items[0].key, "K");
  ck_assert_str_eq(launch->arguments.items[0].value, "576");
  ck_assert_int_eq(d->instantiations.count, 1);
}
END_TEST

START_TEST(launch_without_sizes_leaves_them_open) {
  const IrDirectives *d = parse("// kcheck: launch(gemm)\n");
  ck_assert_int_eq(d->launches.count, 1);
  ck_assert_int_eq(d->launches.items[0].grid[0], 0);
  ck_assert_int_eq(d->launches.items[0].smem, -1);
  ck_assert_int_eq(d->instantiations.count, 0);
}
END_TEST

START_TEST(launch_errors_say_what_to_write) {
  expect_error("// kcheck: launch(gemm, grid = many)\n", "is not a size");
  expect_error("// kcheck: launch(gemm, grid = 0)\n", "start at 1");
  expect_error("// kcheck: launch(gemm, smem = -1)\n", "number of bytes");
  expect_error("// kcheck: launch(gemm, 132)\n", "has no key");
  expect_error("// kcheck: launch(gemm, K = 1, K = 2)\n", "given twice");
  expect_error("// kcheck: launch(grid = 132)\n", "starts with the kernel");
  expect_error("// kcheck: launch(gemm, grid = 132\n", "not closed");
  expect_error("// kcheck: launch gemm\n", "needs (...)");
  expect_error("// kcheck: launch(gemm,, grid = 1)\n", "is empty");
  expect_error("// kcheck: launch(gemm) now\n", "after the closing");
}
END_TEST

START_TEST(tensormap_gives_box_type_and_swizzle) {
  const IrDirectives *d =
      parse("// kcheck: tensormap(map_a, box = 64x128, type = bf16, swizzle = 128B)\n");
  ck_assert_int_eq(d->errors.count, 0);
  const IrTensorMapDirective *map = &d->tensor_maps.items[0];
  ck_assert_str_eq(map->map, "map_a");
  ck_assert_int_eq(map->rank, 2);
  ck_assert_int_eq(map->box[0], 64);
  ck_assert_int_eq(map->box[1], 128);
  ck_assert_int_eq(map->elem_bits, 16);
  ck_assert_int_eq(map->swizzle_bytes, 128);
  expect_error("// kcheck: tensormap(m, box = 512)\n", "1 to 256");
  expect_error("// kcheck: tensormap(m, type = bf16)\n", "no box");
  expect_error("// kcheck: tensormap(m, box = 64, type = bf61)\n", "did you mean 'bf16'");
  expect_error("// kcheck: tensormap(m, box = 64, swizzle = 96B)\n", "32B, 64B or 128B");
  expect_error("// kcheck: tensormap(m, bx = 64)\n", "did you mean 'box'");
}
END_TEST

START_TEST(event_teaches_a_wrapper) {
  const IrDirectives *d =
      parse("// kcheck: event(my::wait, mbarrier-wait, barrier = 1, parity = 2)\n");
  ck_assert_int_eq(d->errors.count, 0);
  const IrEventDirective *event = &d->events.items[0];
  ck_assert_str_eq(event->function, "my::wait");
  ck_assert_str_eq(event->event, "mbarrier-wait");
  ck_assert_int_eq(event->arguments.count, 2);
  ck_assert_str_eq(event->arguments.items[1].key, "parity");
  ck_assert_str_eq(event->arguments.items[1].value, "2");
  expect_error("// kcheck: event(my_wait, mbarrier-wiat)\n", "did you mean 'mbarrier-wait'");
  expect_error("// kcheck: event(my_wait, mbarrier-wait, party = 2)\n", "did you mean 'parity'");
  expect_error("// kcheck: event(my_wait)\n", "which event");
}
END_TEST

START_TEST(assume_keeps_its_expression) {
  const IrDirectives *d = parse("// kcheck: assume(K % 64 == 0 && K >= 64)\n");
  ck_assert_int_eq(d->errors.count, 0);
  ck_assert_str_eq(d->assumes.items[0].expression, "K % 64 == 0 && K >= 64");
  expect_error("// kcheck: assume(K = 64)\n", "compare with ==");
  expect_error("// kcheck: assume()\n", "says nothing");
}
END_TEST

START_TEST(unknown_directives_are_errors) {
  expect_error("// kcheck: lanch(gemm)\n", "did you mean 'launch'");
  expect_error("// kcheck: frobnicate\n", "known are");
  expect_error("// kcheck:\n", "followed by no directive");
}
END_TEST

START_TEST(only_comments_count) {
  const IrDirectives *d = parse("const char *a = \"// kcheck: nonsense\";\n"
                                "const char *b = R\"x(\n// kcheck: nonsense\n)x\";\n"
                                "/* // kcheck: nonsense\n// kcheck: nonsense\n*/\n"
                                "int n = 1'000; char c = '\"'; // kcheck is a word\n"
                                "char q = '\\''; // kcheck: ignore[smem-race] seen\n");
  ck_assert_int_eq(d->errors.count, 0);
  ck_assert_int_eq(d->ignores.count, 1);
  ck_assert_uint_eq(d->ignores.items[0].line, 9);
}
END_TEST

START_TEST(broken_text_is_survived) {
  parse("\"unclosed\n// kcheck: ignore[x] y");
  parse("R\"(");
  parse("/*");
  parse("R\"");
  parse("'");
  parse("\"\\");
  ck_assert_int_eq(parse("\xff\xfe// kcheck: ignore[a] \xff")->ignores.count, 1);
}
END_TEST

START_TEST(numbers_are_constant_expressions) {
  int64_t value = 0, extents[3];
  ck_assert(ir_read_number("0x8000", &value));
  ck_assert_int_eq(value, 0x8000);
  ck_assert(ir_read_number(" (3 + 5) * 2u - 1 ", &value));
  ck_assert_int_eq(value, 15);
  ck_assert(ir_read_number("1 << 17", &value));
  ck_assert_int_eq(value, 1 << 17);
  ck_assert(ir_read_number("232'448", &value));
  ck_assert_int_eq(value, 232448);
  ck_assert(!ir_read_number("1 / 0", &value));
  ck_assert(!ir_read_number("9223372036854775808", &value));
  ck_assert(!ir_read_number("4 + ", &value));
  ck_assert(!ir_read_number("", &value));
  ck_assert(!ir_read_number("K", &value));
  char deep[4096];
  memset(deep, '(', sizeof deep - 1);
  deep[sizeof deep - 1] = '\0';
  ck_assert(!ir_read_number(deep, &value));
  memset(deep, '-', sizeof deep - 1);
  ck_assert(!ir_read_number(deep, &value));
  ck_assert_int_eq(ir_read_extents("8x4x2", extents, 3), 3);
  ck_assert_int_eq(extents[2], 2);
  ck_assert_int_eq(ir_read_extents("(8, 2 + 2)", extents, 3), 2);
  ck_assert_int_eq(extents[1], 4);
  ck_assert_int_eq(ir_read_extents("(3 + 5) * 2", extents, 3), 1);
  ck_assert_int_eq(extents[0], 16);
  ck_assert_int_eq(ir_read_extents("1x2x3x4", extents, 3), 0);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("directive");
  TCase *tests = tcase_create("directives");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, ignore_covers_its_line_or_the_next);
  tcase_add_test(tests, ignore_needs_rule_and_reason);
  tcase_add_test(tests, launch_gives_sizes_and_arguments);
  tcase_add_test(tests, launch_without_sizes_leaves_them_open);
  tcase_add_test(tests, launch_errors_say_what_to_write);
  tcase_add_test(tests, tensormap_gives_box_type_and_swizzle);
  tcase_add_test(tests, event_teaches_a_wrapper);
  tcase_add_test(tests, assume_keeps_its_expression);
  tcase_add_test(tests, unknown_directives_are_errors);
  tcase_add_test(tests, only_comments_count);
  tcase_add_test(tests, broken_text_is_survived);
  tcase_add_test(tests, numbers_are_constant_expressions);
  suite_add_tcase(suite, tests);
  return suite;
}
