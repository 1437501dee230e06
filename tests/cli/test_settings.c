/* Settings: how configuration, compile command and command line are laid over each other. */
#include <string.h>

#include <check.h>
#include <glib/gstdio.h>

#include "cli/compdb.h"
#include "cli/config.h"
#include "cli/options.h"
#include "cli/settings.h"
#include "cli/strv.h"

Suite *test_suite(void);

static char *folder;
static KcError error;

static void setup(void) {
  folder = g_dir_make_tmp("kcheck-XXXXXX", NULL);
  ck_assert_ptr_nonnull(folder);
}

static void teardown(void) {
  kc_error_clear(&error);
  g_free(folder);
}

static char *put(const char *name, const char *text) {
  char *path = g_build_filename(folder, name, NULL);
  g_autofree char *parent = g_path_get_dirname(path);
  g_mkdir_with_parents(parent, 0755);
  ck_assert(g_file_set_contents(path, text, -1, NULL));
  return path;
}

static void assert_list(char **list, const char *expected) {
  g_autofree char *joined = list ? g_strjoinv(" ", list) : g_strdup("");
  ck_assert_str_eq(joined, expected);
}

START_TEST(an_overlay_replaces_choices_and_appends_lists) {
  g_auto(Settings) base = {0}, over = {0};
  strv_add(&base.archs, "sm_90");
  strv_add_words(&base.ignore, "a, b");
  strv_add(&base.select, "x");
  base.std = g_strdup("c++17");
  strv_add(&over.targets, "sm_100");
  strv_add(&over.ignore, "c");
  strv_add(&over.select, "y");
  settings_overlay(&base, &over);
  assert_list(base.archs, "");
  assert_list(base.targets, "sm_100");
  assert_list(base.ignore, "a b c");
  assert_list(base.select, "y");
  ck_assert_str_eq(base.std, "c++17");
}
END_TEST

START_TEST(settings_survive_the_way_to_a_worker) {
  g_auto(Settings) sent = {0}, received = {0};
  strv_add(&sent.flags, "-DX=\"a b\"");
  sent.ptx = true;
  sent.fail_on = g_strdup("advice");
  settings_add_directive(&sent, "c.yaml", 7, "launch(k, grid = 1)");
  json_t *json = settings_to_json(&sent);
  settings_from_json(&received, json);
  json_decref(json);
  assert_list(received.flags, "-DX=\"a b\"");
  ck_assert(received.ptx);
  ck_assert_str_eq(received.fail_on, "advice");
  const SettingsDirective *directive = received.directives->pdata[0];
  ck_assert_str_eq(directive->text, "launch(k, grid = 1)");
  ck_assert_int_eq(directive->line, 7);
}
END_TEST

START_TEST(directives_of_the_configuration_keep_their_line) {
  g_autofree char *config =
      put(".kcheck.yaml", "launches:\n  - k, grid = 4\n"
                          "  - {kernel: 'k<1, 2>', grid: [2, 3], block: 64}\nassume: ['n > 0']\n");
  g_autofree char *source = g_build_filename(folder, "src", "k.cu", NULL);
  g_autoptr(Configs) configs = configs_new();
  g_auto(Settings) settings = {0};
  ck_assert(configs_apply(configs, source, NULL, &settings, &error));
  ck_assert_uint_eq(settings.directives->len, 2);
  const SettingsDirective *second = settings.directives->pdata[1];
  ck_assert_str_eq(second->text, "launch(k<1, 2>, grid = 2x3, block = 64)");
  ck_assert_int_eq(second->line, 3);
  ck_assert_str_eq(second->path, config);
  assert_list(settings.assumes, "n > 0");
}
END_TEST

START_TEST(per_file_entries_are_laid_over_the_rest) {
  g_autofree char *config = put(
      ".kcheck.yaml", "arch: sm_90\nper-file:\n  'old/*.cu': {arch: sm_100, ignore: mbarrier}\n");
  g_autofree char *match = g_build_filename(folder, "old", "deep", "k.cu", NULL);
  g_autofree char *other = g_build_filename(folder, "k.cu", NULL);
  g_autoptr(Configs) configs = configs_new();
  g_auto(Settings) a = {0}, b = {0};
  ck_assert(configs_apply(configs, match, NULL, &a, &error));
  ck_assert(configs_apply(configs, other, config, &b, &error));
  assert_list(a.archs, "sm_100");
  assert_list(a.ignore, "mbarrier");
  assert_list(b.archs, "sm_90");
}
END_TEST

START_TEST(a_mistake_in_an_entry_that_does_not_match_is_reported) {
  g_autofree char *config = put(".kcheck.yaml", "per-file:\n  'x/*': {arhc: sm_90}\n");
  g_autofree char *source = g_build_filename(folder, "k.cu", NULL);
  g_autoptr(Configs) configs = configs_new();
  g_auto(Settings) settings = {0};
  ck_assert(!configs_apply(configs, source, NULL, &settings, &error));
  ck_assert_str_eq(error.path, config);
  ck_assert_int_eq(error.line, 2);
  ck_assert(strstr(error.hint, "'arch'") != NULL);
}
END_TEST

START_TEST(a_compile_command_of_nvcc_is_understood) {
  g_autofree char *rsp = put("inc.rsp", "-isystem /opt/x -I=/opt/y,/opt/z");
  g_autofree char *source = put("src/k.cu", "");
  g_autofree char *json = g_strdup_printf(
      "[{\"directory\": \"%s\", \"file\": \"src/k.cu\", \"command\": \"nvcc --options-file inc.rsp "
      "-Iinclude -DA=1 -D B --std=c++20 -Xcompiler -fPIC "
      "--generate-code=arch=compute_90a,code=[compute_90a,sm_90a] -arch sm_100f -c src/k.cu -o "
      "-I\"}]",
      folder);
  g_autofree char *path = put("compile_commands.json", json);
  Compdb *compdb = compdb_open(folder, &error);
  ck_assert_ptr_nonnull(compdb);
  g_auto(Settings) settings = {0};
  ck_assert(compdb_lookup(compdb, source, &settings));
  g_autofree char *flags = g_strdup_printf("-isystem /opt/x -I /opt/y -I /opt/z -I %s/include -D "
                                           "A=1 -D B",
                                           folder);
  assert_list(settings.flags, flags);
  assert_list(settings.targets, "sm_90a sm_100f");
  ck_assert_str_eq(settings.std, "c++20");
  ck_assert(!compdb_lookup(compdb, "other.cu", &settings));
  compdb_free(compdb);
}
END_TEST

START_TEST(a_broken_compile_database_names_its_line) {
  g_autofree char *path = put("compile_commands.json", "[\n{\"file\": }\n]");
  ck_assert_ptr_null(compdb_open(path, &error));
  ck_assert_int_eq(error.line, 2);
}
END_TEST

static bool parse(CliOptions *options, const char *line) {
  g_auto(GStrv) words = NULL;
  ck_assert(g_shell_parse_argv(line, NULL, &words, NULL));
  return options_parse(options, "check", (int)g_strv_length(words), words, &error);
}

START_TEST(compilers_spellings_are_options_too) {
  g_auto(CliOptions) options = {0};
  ck_assert(parse(&options, "check -Iinc -I inc2 k.cu -DX=1 -U Y -std=c++20 -include p.h -j4 -o f "
                            "--arch sm_90,sm_100 -- -Wall"));
  assert_list(options.settings.flags, "-I inc -I inc2 -D X=1 -U Y -include p.h -Wall");
  assert_list(options.settings.archs, "sm_90 sm_100");
  assert_list(options.paths, "k.cu");
  ck_assert_str_eq(options.settings.std, "c++20");
  ck_assert_int_eq(options.jobs, 4);
  ck_assert_str_eq(options.output, "f");
}
END_TEST

START_TEST(what_makes_no_sense_is_refused) {
  static const char *const lines[] = {"check k.cu --arch sm_9000", "check k.cu --fail-on sometimes",
                                      "check k.cu --color blue",   "check k.cu --jobs two",
                                      "check k.cu --jobs -3",      "check",
                                      "check k.cu -gencode x",     "check k.cu --format"};
  for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
    g_auto(CliOptions) options = {0};
    ck_assert_msg(!parse(&options, lines[i]), "%s", lines[i]);
    ck_assert_msg(error.message && *error.message, "%s", lines[i]);
    kc_error_clear(&error);
  }
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("cli/settings");
  TCase *tests = tcase_create("settings");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, an_overlay_replaces_choices_and_appends_lists);
  tcase_add_test(tests, settings_survive_the_way_to_a_worker);
  tcase_add_test(tests, directives_of_the_configuration_keep_their_line);
  tcase_add_test(tests, per_file_entries_are_laid_over_the_rest);
  tcase_add_test(tests, a_mistake_in_an_entry_that_does_not_match_is_reported);
  tcase_add_test(tests, a_compile_command_of_nvcc_is_understood);
  tcase_add_test(tests, a_broken_compile_database_names_its_line);
  tcase_add_test(tests, compilers_spellings_are_options_too);
  tcase_add_test(tests, what_makes_no_sense_is_refused);
  suite_add_tcase(suite, tests);
  return suite;
}
