/* Tables of library calls: the built-in ones, a project's own, directives. */
#include <check.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "dialect/dialect.h"

static Dialects *builtin(void) {
  KcError error = {0};
  Dialects *dialects = dialects_load(&error);
  ck_assert_msg(dialects != NULL, "%s:%d: %s", error.path, error.line, error.message);
  return dialects;
}

static const char *argument(const DialectEvent *event, const char *role) {
  for (int i = 0; i < event->arguments.count; i++)
    if (strcmp(event->arguments.items[i].key, role) == 0) return event->arguments.items[i].value;
  return NULL;
}

START_TEST(qualified_names_and_numbers_of_arguments) {
  Dialects *d = builtin();
  const DialectMatch *m =
      dialects_match(d, "cutlass::arch::ClusterTransactionBarrier::arrive_and_expect_tx", 1);
  ck_assert_ptr_nonnull(m);
  ck_assert_str_eq(m->dialect, "cutlass");
  ck_assert_int_eq(m->events.count, 1);
  ck_assert_int_eq(m->events.items[0].event, IR_EV_mbarrier_arrive);
  ck_assert(m->events.items[0].flags & IR_FLAG(expect_tx));
  ck_assert(m->events.items[0].flags & IR_FLAG(from_dialect));
  ck_assert_str_eq(argument(&m->events.items[0], "addr"), "this");
  ck_assert_str_eq(argument(&m->events.items[0], "bytes"), "1");
  m = dialects_match(d, "cutlass::arch::ClusterBarrier::init", 2); /* the static one */
  ck_assert_str_eq(argument(&m->events.items[0], "addr"), "1");
  m = dialects_match(d, "cute::cluster_sync", 0);
  ck_assert_int_eq(m->events.count, 2);
  m = dialects_match(d, "cute::warpgroup_fence_operand", 1);
  ck_assert_ptr_nonnull(m);
  ck_assert_int_eq(m->events.count, 0);
  ck_assert_ptr_null(dialects_match(d, "mine::ClusterBarrier::init", 2));
  ck_assert_ptr_null(dialects_match(d, "cutlass::arch::ClusterBarrier::initialize", 2));
  ck_assert_ptr_null(dialects_match(d, "", 0));
  dialects_free(d);
}
END_TEST

START_TEST(usual_helper_names_by_spelling) {
  static const struct {
    const char *name;
    int arguments;
    IrEvent event;
  } CASES[] = {{"mbarrier_init", 2, IR_EV_mbarrier_init},
               {"mbar_wait_parity", 2, IR_EV_mbarrier_wait},
               {"ptx::mbarrier_wait", 2, IR_EV_mbarrier_wait},
               {"tma_load_2d", 5, IR_EV_bulk_tensor_load},
               {"wgmma_commit_group", 0, IR_EV_wgmma_commit},
               {"tma_store_commit_group", 0, IR_EV_bulk_commit},
               {"fence_barrier_init", 0, IR_EV_fence_mbarrier_init}};
  Dialects *d = builtin();
  for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
    const DialectMatch *m = dialects_match(d, CASES[i].name, CASES[i].arguments);
    ck_assert_msg(m != NULL, "%s", CASES[i].name);
    ck_assert_msg(m->events.items[0].event == CASES[i].event, "%s", CASES[i].name);
  }
  ck_assert_ptr_null(dialects_match(d, "wait", 1));
  ck_assert_ptr_null(dialects_match(d, "init", 2));
  dialects_free(d);
}
END_TEST

START_TEST(directive_teaches_a_wrapper) {
  Dialects *d = builtin();
  KcArena *arena = kc_arena_new();
  IrEventDirective directive = {.function = "my_wait", .event = "mbarrier-wait"};
  IrPair barrier = {"barrier", "1"}, parity = {"parity", "2"};
  KC_PUSH(arena, directive.arguments, barrier);
  KC_PUSH(arena, directive.arguments, parity);
  ck_assert(dialects_add_directive(d, &directive, NULL));
  const DialectMatch *m = dialects_match(d, "ns::my_wait", 3);
  ck_assert_ptr_nonnull(m);
  ck_assert_int_eq(m->events.items[0].event, IR_EV_mbarrier_wait);
  ck_assert(m->events.items[0].flags & IR_FLAG(parity));
  ck_assert_str_eq(argument(&m->events.items[0], "addr"), "1");
  ck_assert_ptr_null(dialects_match(d, "not_my_wait", 3));
  KcError error = {0};
  directive.event = "mbarrier-wiat";
  ck_assert(!dialects_add_directive(d, &directive, &error));
  ck_assert_ptr_nonnull(strstr(error.message, "mbarrier-wiat"));
  kc_error_clear(&error);
  IrPair wrong = {"columns", "1"};
  IrEventDirective other = {.function = "f", .event = "mbarrier-wait"};
  KC_PUSH(arena, other.arguments, wrong);
  ck_assert(dialects_add_directive(d, &other, &error) == false || !error.message);
  kc_error_clear(&error);
  IrPair unreadable = {"parity", "second"};
  other.arguments.items[0] = unreadable;
  ck_assert(!dialects_add_directive(d, &other, &error));
  ck_assert_ptr_nonnull(error.hint);
  kc_error_clear(&error);
  kc_arena_free(arena);
  dialects_free(d);
}
END_TEST

static bool add_text(Dialects *d, const char *text, KcError *error) {
  g_autofree char *path = NULL;
  int file = g_file_open_tmp("dialect-XXXXXX.yaml", &path, NULL);
  ck_assert_int_ge(file, 0);
  close(file);
  ck_assert(g_file_set_contents(path, text, -1, NULL));
  bool added = dialects_add_file(d, path, error);
  g_remove(path);
  return added;
}

START_TEST(project_file_comes_before_the_built_in_tables) {
  Dialects *d = builtin();
  KcError error = {0};
  ck_assert_msg(
      add_text(d,
               "dialect: house\ncalls:\n"
               "  - match: cute::cluster_sync\n    events: []\n"
               "  - match: house::(?:load|fetch)\n    arguments: 2..3\n"
               "    events: [{event: bulk-copy, dst_addr: this.slot, src_addr: 1, size: "
               "sizeof(2), mbar: '*3', flags: [complete_tx]}, {event: bar-sync, id: 2+8}]\n",
               &error),
      "%s", error.message);
  ck_assert_int_eq(dialects_match(d, "cute::cluster_sync", 0)->events.count, 0);
  ck_assert_ptr_null(dialects_match(d, "house::load", 1));
  ck_assert_ptr_nonnull(dialects_match(d, "house::fetch", 3));
  dialects_free(d);
}
END_TEST

START_TEST(mistakes_name_their_line) {
  static const struct {
    const char *text, *message;
    int line;
  } CASES[] = {
      {"dialect: x\ncalls:\n  - events: []\n", "needs `match`", 3},
      {"dialect: x\ncalls:\n  - match: a\n", "needs `events`", 3},
      {"dialect: x\ncalls:\n  - match: a\n    events: [{event: nonsense}]\n", "nonsense", 4},
      {"dialect: x\ncalls:\n  - match: a\n    events: [{event: bulk-commit, flags: [x]}]\n",
       "unknown flag", 4},
      {"dialect: x\ncalls:\n  - match: '(a'\n    events: []\n", "bad pattern", 3},
      {"dialect: x\ncalls:\n  - match: a\n    arguments: many\n    events: []\n", "arguments", 3},
      {"dialect: x\ncals: []\n", "cals", 2},
  };
  Dialects *d = builtin();
  for (size_t i = 0; i < G_N_ELEMENTS(CASES); i++) {
    KcError error = {0};
    ck_assert_msg(!add_text(d, CASES[i].text, &error), "%s", CASES[i].text);
    ck_assert_msg(strstr(error.message, CASES[i].message) != NULL, "%s", error.message);
    ck_assert_msg(error.line == CASES[i].line, "%s: line %d", error.message, error.line);
    kc_error_clear(&error);
  }
  dialects_free(d);
}
END_TEST

Suite *test_suite(void);
Suite *test_suite(void) {
  Suite *suite = suite_create("dialect");
  TCase *t = tcase_create("tables");
  tcase_add_test(t, qualified_names_and_numbers_of_arguments);
  tcase_add_test(t, usual_helper_names_by_spelling);
  tcase_add_test(t, directive_teaches_a_wrapper);
  tcase_add_test(t, project_file_comes_before_the_built_in_tables);
  tcase_add_test(t, mistakes_name_their_line);
  suite_add_tcase(suite, t);
  return suite;
}
