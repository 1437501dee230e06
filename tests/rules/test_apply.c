/* Violations to findings: place, words, severity by confidence, suppression, merging. */
#include <string.h>

#include <check.h>

#include "rules/rules.h"

Suite *test_suite(void);

static const char SOURCE[] = "__device__ void wait(uint64_t *bar, int parity) {\n"  /* 1 */
                             "  asm volatile(\"mbarrier.try_wait...\");\n"          /* 2 */
                             "}\n"                                                  /* 3 */
                             "__device__ void consume(uint64_t *full, int k) {\n"   /* 4 */
                             "  wait(full, 0);\n"                                   /* 5 */
                             "  release(full);\n"                                   /* 6 */
                             "}\n"                                                  /* 7 */
                             "__global__ void kern(int k) {\n"                      /* 8 */
                             "  consume(full, k);\n"                                /* 9 */
                             "  consume(full, k);  // kcheck: ignore[perf] timed\n" /* 10 */
                             "}\n";                                                 /* 11 */

static KcArena *arena;
static IrProgram *program;
static IrKernel *kernel;
static IrViolations violations;
static Rules *rules;
static uint32_t file;

static void setup(void) {
  KcError error = {0};
  arena = kc_arena_new();
  program = ir_program_new(arena, "kern.cu", "sm_90a");
  file = source_file(&program->sources, "kern.cu", true);
  program->sources.files.items[file].text = SOURCE;
  program->sources.files.items[file].length = strlen(SOURCE);
  program->directives = KC_NEW(arena, IrDirectives);
  kernel = ir_kernel_new(program, "kern", false);
  violations = (IrViolations){.arena = arena};
  rules = rules_load(&error);
  ck_assert_msg(rules != NULL, "%s: %s", error.path, error.message);
}

static void teardown(void) {
  rules_free(rules);
  kc_arena_free(arena);
}

static uint32_t at(uint32_t line, uint32_t column, uint32_t outer, const char *function) {
  SourceRange range = {file, line, column, line, column + 4};
  return source_stack(&program->sources, range, outer, function);
}

static GPtrArray *apply(const RulesOptions *options) {
  static const RulesOptions plain = {.arch = "sm_90a"};
  return rules_apply(rules, program, &violations, options ? options : &plain);
}

/* An event instruction at `where`, so that the places know the wrapper's one event. */
static void event(uint32_t where) {
  IrInsn insn = {.op = IR_event, .event = IR_EV_mbarrier_wait, .where = where};
  KC_PUSH(arena, kernel->insns, insn);
}

static Finding *only(GPtrArray *findings) {
  ck_assert_uint_eq(findings->len, 1);
  return findings->pdata[0];
}

START_TEST(wrapper_is_reported_at_its_call) {
  uint32_t in_kernel = at(9, 3, 0, "kern");
  uint32_t in_consume = at(5, 3, in_kernel, "consume"), release = at(6, 3, in_kernel, "consume");
  uint32_t in_wait = at(2, 3, in_consume, "wait");
  event(in_wait);
  event(release);
  ir_violation(&violations, "mbarrier-phase-lapped", kernel, in_wait, "the waiter is lapped");
  g_autoptr(GPtrArray) findings = apply(NULL);
  Finding *f = only(findings);
  ck_assert_str_eq(f->path, "kern.cu");
  ck_assert_int_eq(f->line, 5);
  ck_assert_int_eq(f->column, 3);
  ck_assert_str_eq(f->source, "  wait(full, 0);");
  ck_assert_str_eq(f->message, "the waiter is lapped");
  ck_assert_str_eq(f->kernel, "kern");
  ck_assert_uint_eq(f->related->len, 2);
  FindingRelated *wrapper = f->related->pdata[1], *caller = f->related->pdata[0];
  ck_assert_int_eq(wrapper->line, 2);
  ck_assert_str_eq(wrapper->message, "in `wait`, which is called there");
  ck_assert_int_eq(caller->line, 9);
  ck_assert_str_eq(caller->message, "called from here, in `kern`");
}
END_TEST

START_TEST(caret_stays_in_the_asm_string) {
  uint32_t in_kernel = at(9, 3, 0, "kern"), in_wait = at(2, 3, in_kernel, "wait");
  event(in_wait);
  IrViolation *v =
      ir_violation(&violations, "mbarrier-operand-form", kernel, in_wait, "no scope given");
  v->caret = (SourceRange){file, 2, 17, 2, 25};
  ir_violation_related(&violations, v, at(6, 3, 0, "kern"), "initialised here");
  g_autoptr(GPtrArray) findings = apply(NULL);
  Finding *f = only(findings);
  ck_assert_int_eq(f->line, 2);
  ck_assert_int_eq(f->column, 17);
  ck_assert_int_eq(f->end_column, 25);
  ck_assert_int_eq(((FindingRelated *)f->related->pdata[0])->line, 6);
  ck_assert_int_eq(((FindingRelated *)f->related->pdata[1])->line, 9);
}
END_TEST

START_TEST(library_code_is_reported_in_the_users_file) {
  uint32_t header = source_file(&program->sources, "/lib/barrier.h", false);
  uint32_t call = at(9, 3, 0, "kern");
  SourceRange inside = {header, 700, 1, 700, 9};
  uint32_t where = source_stack(&program->sources, inside, call, "ClusterBarrier::wait");
  ir_violation(&violations, "pipeline-deadlock", kernel, where, "nobody arrives");
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_int_eq(only(findings)->line, 9);
  ck_assert_uint_eq(only(findings)->related->len, 0);
}
END_TEST

START_TEST(macro_is_shown_with_its_use) {
  static const char text[] = "#define WAITER 1\n#  define WAIT() asm(\"wait;\")\n\n  WAIT();\n";
  program->sources.files.items[file].text = text;
  program->sources.files.items[file].length = strlen(text);
  ir_violation(&violations, "pdl-asm-memory-clobber", kernel, at(4, 3, 0, "kern"), "no clobber");
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_int_eq(only(findings)->line, 4);
  FindingRelated *macro = only(findings)->related->pdata[0];
  ck_assert_int_eq(macro->line, 2);
  ck_assert_int_eq(macro->column, 11);
  ck_assert_str_eq(macro->message, "in the macro `WAIT`");
}
END_TEST

START_TEST(nowhere_is_the_kernel) {
  kernel->where = at(8, 17, 0, NULL);
  ir_violation(&violations, "pipeline-deadlock", kernel, 0, "nobody arrives");
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_int_eq(only(findings)->line, 8);
}
END_TEST

START_TEST(template_needs_all_its_facts) {
  IrViolation *v = ir_violation(&violations, "tma-size-multiple-16", kernel, at(9, 3, 0, "kern"),
                                "a copy of 132 bytes");
  g_autoptr(GPtrArray) without = apply(NULL);
  ck_assert_str_eq(only(without)->message, "a copy of 132 bytes");
  ir_violation_fact(&violations, v, "bytes", "%d", 132);
  g_autoptr(GPtrArray) with = apply(NULL);
  ck_assert_str_eq(only(with)->message,
                   "bulk copy of 132 bytes: the size must be a multiple of 16");
}
END_TEST

START_TEST(confidence_caps_severity) {
  static const struct {
    IrConfidence confidence;
    Severity severity;
    const char *word;
  } cases[] = {
      {IR_PROVED_FORCED, SEVERITY_ERROR, "proved"},
      {IR_PROVED_CHOSEN, SEVERITY_ERROR, "proved"},
      {IR_INFERRED, SEVERITY_WARNING, "inferred"},
      {IR_FALLBACK, SEVERITY_ADVICE, "inferred"},
      {IR_PROVED_DEGENERATE, SEVERITY_ADVICE, "inferred"},
  };
  IrViolation *v = ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "a race");
  static const char *const as_error[] = {"smem=error", NULL};
  RulesOptions loud = {.severity = as_error};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    v->confidence = cases[i].confidence;
    g_autoptr(GPtrArray) findings = apply(i % 2 ? &loud : NULL);
    ck_assert_int_eq(only(findings)->severity, cases[i].severity);
    ck_assert_str_eq(only(findings)->confidence, cases[i].word);
  }
}
END_TEST

START_TEST(options_choose_rules_and_levels) {
  uint32_t where = at(9, 3, 0, "kern");
  ir_violation(&violations, "smem-race", kernel, where, "a race");
  ir_violation(&violations, "tma-war-no-proxy-fence", kernel, where, "no fence");
  static const char *const smem[] = {"smem", NULL}, *const war[] = {"tma-war-no-proxy-fence", NULL};
  static const char *const quiet[] = {"smem=error", "smem-race=advice", "smem=warning", NULL};
  g_autoptr(GPtrArray) normal = apply(&(RulesOptions){0});
  ck_assert_str_eq(only(normal)->rule, "smem-race"); /* the other is off by default */
  g_autoptr(GPtrArray) selected = apply(&(RulesOptions){.select = war});
  ck_assert_str_eq(only(selected)->rule, "tma-war-no-proxy-fence");
  ck_assert_int_eq(only(selected)->severity, SEVERITY_ADVICE);
  g_autoptr(GPtrArray) ignored = apply(&(RulesOptions){.ignore = smem});
  ck_assert_uint_eq(ignored->len, 0);
  g_autoptr(GPtrArray) set = apply(&(RulesOptions){.severity = quiet});
  ck_assert_int_eq(only(set)->severity, SEVERITY_ADVICE);
}
END_TEST

START_TEST(options_are_checked) {
  KcError error = {0};
  static const char *const good[] = {"smem", "tma-operand-form", NULL};
  static const char *const typo[] = {"smem-rase", NULL};
  static const char *const level[] = {"smem-race=loud", NULL}, *const bare[] = {"smem-race", NULL};
  ck_assert(rules_check_options(rules, &(RulesOptions){.select = good, .ignore = good}, &error));
  ck_assert(!rules_check_options(rules, &(RulesOptions){.select = typo}, &error));
  ck_assert_str_eq(error.message, "select: there is no rule 'smem-rase'");
  ck_assert_str_eq(error.hint, "did you mean 'smem-race'?");
  ck_assert(!rules_check_options(rules, &(RulesOptions){.severity = level}, &error));
  ck_assert(!rules_check_options(rules, &(RulesOptions){.severity = bare}, &error));
  kc_error_clear(&error);
}
END_TEST

START_TEST(same_rule_and_line_is_said_once) {
  IrViolation *first = ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "one");
  first->confidence = IR_INFERRED;
  ir_violation(&violations, "smem-race", kernel, at(9, 20, 0, "kern"), "two");
  ir_violation(&violations, "smem-race", kernel, at(10, 3, 0, "kern"), "three");
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_uint_eq(findings->len, 2);
  Finding *f = findings->pdata[0];
  ck_assert_str_eq(f->message, "one");
  ck_assert_int_eq(f->severity, SEVERITY_ERROR);
}
END_TEST

START_TEST(a_pair_is_said_once) {
  uint32_t a = at(5, 3, 0, "kern"), b = at(9, 3, 0, "kern");
  IrViolation *first = ir_violation(&violations, "smem-race", kernel, b, "written");
  ir_violation_related(&violations, first, a, "read here");
  first->confidence = IR_INFERRED;
  IrViolation *second = ir_violation(&violations, "smem-race", kernel, a, "read");
  ir_violation_related(&violations, second, b, "written here");
  second->confidence = IR_FALLBACK;
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_int_eq(only(findings)->line, 5);
  ck_assert_int_eq(only(findings)->severity, SEVERITY_WARNING);
}
END_TEST

static void ignore(const char *names, uint32_t line, bool whole_file) {
  IrIgnoreDirective d = {.rules = names, .reason = "r", .whole_file = whole_file, .line = line};
  d.range = (SourceRange){file, line, 30, line, 60};
  KC_PUSH(arena, program->directives->ignores, d);
}

START_TEST(a_suppression_hides_the_other_end_too) {
  uint32_t a = at(5, 3, 0, "kern"), b = at(9, 3, 0, "kern");
  IrViolation *first = ir_violation(&violations, "smem-race", kernel, a, "written");
  ir_violation_related(&violations, first, b, "read here");
  IrViolation *second = ir_violation(&violations, "smem-race", kernel, b, "read");
  ir_violation_related(&violations, second, a, "written here");
  ignore("smem-race", 5, false);
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_uint_eq(findings->len, 0);
}
END_TEST

START_TEST(suppressions_hide_and_are_counted) {
  ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "one");
  ir_violation(&violations, "smem-race", kernel, at(10, 3, 0, "kern"), "two");
  ignore("smem-race", 9, false);
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_str_eq(only(findings)->message, "two");
  ignore("pipeline , smem", 10, false); /* pipeline-* hides nothing */
  g_autoptr(GPtrArray) two = apply(NULL);
  ck_assert_str_eq(only(two)->rule, "kcheck-unused-ignore");
  ck_assert_int_eq(only(two)->line, 10);
  ck_assert_ptr_nonnull(strstr(only(two)->message, "'pipeline'"));
  g_autoptr(GPtrArray) partial = apply(&(RulesOptions){.incomplete = true});
  ck_assert_uint_eq(partial->len, 0);
  static const char *const other[] = {"smem", "kcheck", NULL};
  g_autoptr(GPtrArray) selected = apply(&(RulesOptions){.select = other});
  ck_assert_uint_eq(selected->len, 0); /* what did not run can't be unused */
}
END_TEST

START_TEST(whole_file_suppression_and_unknown_names) {
  ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "one");
  ignore("smem-race", 1, true);
  ignore("smem-rase", 3, false);
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_str_eq(only(findings)->rule, "kcheck-directive");
  ck_assert_str_eq(only(findings)->message,
                   "there is no rule 'smem-rase'; did you mean 'smem-race'?");
}
END_TEST

START_TEST(unreadable_directives_are_findings) {
  IrDirectiveError e = {"there is no directive 'lanch'", {file, 4, 5, 4, 20}};
  KC_PUSH(arena, program->directives->errors, e);
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_str_eq(only(findings)->rule, "kcheck-directive");
  ck_assert_int_eq(only(findings)->line, 4);
  ck_assert_int_eq(only(findings)->severity, SEVERITY_WARNING);
}
END_TEST

START_TEST(unknown_kind_is_still_said) {
  ir_violation(&violations, "quantum-leak", kernel, at(9, 3, 0, "kern"), "leaks");
  g_autoptr(GPtrArray) findings = apply(NULL);
  ck_assert_str_eq(only(findings)->rule, "kcheck-unknown-kind");
  ck_assert_str_eq(only(findings)->message, "quantum-leak: leaks");
}
END_TEST

START_TEST(targets_are_merged) {
  ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "one");
  ignore("perf", 10, false);
  GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  static const char *const archs[] = {"sm_90a", "sm_100a"};
  for (int i = 0; i < 2; i++) {
    GPtrArray *some = apply(&(RulesOptions){.arch = archs[i], .incomplete = i == 1});
    g_ptr_array_set_free_func(some, NULL);
    g_ptr_array_extend(all, some, NULL, NULL);
    g_ptr_array_unref(some);
  }
  g_autoptr(GPtrArray) merged = rules_merge(all);
  ck_assert_uint_eq(merged->len, 2);
  Finding *f = merged->pdata[0];
  ck_assert_uint_eq(f->archs->len, 2);
  ck_assert_str_eq(f->archs->pdata[0], "sm_100a");
  ck_assert_str_eq(f->archs->pdata[1], "sm_90a");
  rules_drop_partly_unused(merged, 2); /* the suppression may be used on sm_100a */
  ck_assert_uint_eq(merged->len, 1);
}
END_TEST

START_TEST(url_page_witness_and_fix) {
  IrViolation *v = ir_violation(&violations, "smem-race", kernel, at(9, 3, 0, "kern"), "one");
  ir_violation_input(&violations, v, "K", "%d", 576);
  ir_violation_witness(&violations, v, "first");
  ir_violation_witness(&violations, v, "second");
  v->assumed = "one cluster";
  v->help = "do it here";
  SourceRange insert = {file, 9, 3, 9, 3};
  ir_violation_fix(&violations, v, insert, "__syncwarp(); ", true);
  g_autoptr(GPtrArray) findings = apply(&(RulesOptions){.docs_base = "https://k.example/docs"});
  Finding *f = only(findings);
  ck_assert_str_eq(f->url, "https://k.example/docs/rules/smem-race.html");
  ck_assert_str_eq(f->page, "hw-shared-memory");
  ck_assert_str_eq(f->anchor, "reuse-of-a-buffer");
  ck_assert_str_eq(f->witness_text, "first\nsecond\nassumes one cluster");
  ck_assert_str_eq(f->witness_names->pdata[0], "K");
  ck_assert_str_eq(f->witness_values->pdata[0], "576");
  ck_assert_str_eq(f->help, "do it here");
  ck_assert_str_eq(f->fix_text, "__syncwarp(); ");
  ck_assert(f->fix_safe);
  g_autoptr(GPtrArray) bare = apply(&(RulesOptions){0});
  ck_assert_str_eq(only(bare)->url, "rules/smem-race.html");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("apply");
  TCase *tests = tcase_create("findings");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, wrapper_is_reported_at_its_call);
  tcase_add_test(tests, caret_stays_in_the_asm_string);
  tcase_add_test(tests, library_code_is_reported_in_the_users_file);
  tcase_add_test(tests, macro_is_shown_with_its_use);
  tcase_add_test(tests, nowhere_is_the_kernel);
  tcase_add_test(tests, template_needs_all_its_facts);
  tcase_add_test(tests, confidence_caps_severity);
  tcase_add_test(tests, options_choose_rules_and_levels);
  tcase_add_test(tests, options_are_checked);
  tcase_add_test(tests, same_rule_and_line_is_said_once);
  tcase_add_test(tests, a_pair_is_said_once);
  tcase_add_test(tests, a_suppression_hides_the_other_end_too);
  tcase_add_test(tests, suppressions_hide_and_are_counted);
  tcase_add_test(tests, whole_file_suppression_and_unknown_names);
  tcase_add_test(tests, unreadable_directives_are_findings);
  tcase_add_test(tests, unknown_kind_is_still_said);
  tcase_add_test(tests, targets_are_merged);
  tcase_add_test(tests, url_page_witness_and_fix);
  suite_add_tcase(suite, tests);
  return suite;
}
