/* The faults of fixtures/reference/faults: each edit of the reference kernel must bring one of the
 * rules that the table names, and the kernel without an edit none of them. `FAULTS_OUT=folder`
 * keeps the edited kernels there, to be built and run on a card. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>

#include "support/yaml.h"

Suite *test_suite(void);

#define REFERENCE KCHECK_SOURCE_DIR "/fixtures/reference/"

typedef struct {
  KcArena *arena;
  char *folder;
  const KcYaml *table, *faults;
  json_t *report;
} Faults;

static char *read_file(const char *path) {
  char *text = NULL;
  ck_assert_msg(g_file_get_contents(path, &text, NULL, NULL), "%s can't be read", path);
  return text;
}

static char *apply_edit(const char *text, const KcYaml *fault) {
  const char *replace = kc_yaml_text(fault, "replace", ""), *with = kc_yaml_text(fault, "with", "");
  int64_t times = 1;
  const KcYaml *node = kc_yaml_get(fault, "times");
  if (node) ck_assert(kc_yaml_int(node, &times));
  g_auto(GStrv) parts = g_strsplit(text, replace, -1);
  ck_assert_msg(g_strv_length(parts) == (guint)times + 1, "%s: `%s` stands %u times in the kernel",
                kc_yaml_text(fault, "fault", "?"), replace, g_strv_length(parts) - 1);
  return g_strjoinv(with, parts);
}

static char *variant_path(const Faults *f, int i) {
  return g_strdup_printf("%s/%02d.cu", f->folder, i);
}

/* Variant 0 is the kernel itself; the headers beside it are copied along. */
static void write_variants(Faults *f, const KcYaml *faults, const char *kernel) {
  static const char *const headers[] = {"ptx.h", "wgmma.h", "reference.h"};
  for (size_t i = 0; i < G_N_ELEMENTS(headers); i++) {
    g_autofree char *from = g_strconcat(REFERENCE, headers[i], NULL), *text = read_file(from);
    g_autofree char *to = g_build_filename(f->folder, headers[i], NULL);
    ck_assert(g_file_set_contents(to, text, -1, NULL));
  }
  for (int i = 0; i <= faults->count; i++) {
    g_autofree char *path = variant_path(f, i);
    g_autofree char *text = i == 0 ? g_strdup(kernel) : apply_edit(kernel, faults->items[i - 1]);
    ck_assert(g_file_set_contents(path, text, -1, NULL));
  }
}

static json_t *run_kcheck(const Faults *f, int count) {
  g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
  g_ptr_array_add(argv, g_strdup(KCHECK_BINARY));
  for (int i = 0; i <= count; i++)
    g_ptr_array_add(argv, variant_path(f, i));
  g_ptr_array_add(argv, g_strdup("--arch"));
  g_ptr_array_add(argv, g_strdup(kc_yaml_text(f->table, "arch", "sm_90a")));
  g_ptr_array_add(argv, g_strdup("--format"));
  g_ptr_array_add(argv, g_strdup("json"));
  g_ptr_array_add(argv, NULL);
  g_autofree char *out = NULL;
  g_autoptr(GError) failure = NULL;
  ck_assert_msg(g_spawn_sync(NULL, (char **)argv->pdata, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                             NULL, &out, NULL, NULL, &failure),
                "%s", failure ? failure->message : "");
  json_t *report = json_loads(out, 0, NULL);
  ck_assert_msg(report != NULL, "kcheck gave no JSON");
  return report;
}

static bool counts(const Faults *f, const json_t *finding, int i) {
  g_autofree char *path = variant_path(f, i);
  return strcmp(json_string_value(json_object_get(finding, "path")), path) == 0 &&
         strcmp(json_string_value(json_object_get(finding, "severity")), "advice") != 0;
}

/* Rules that report an error or warning in variant `i`, with lines, separated by spaces. */
static char *rules_of(const Faults *f, int i) {
  GString *rules = g_string_new(" ");
  size_t index;
  json_t *finding;
  json_array_foreach(json_object_get(f->report, "findings"), index, finding) {
    if (counts(f, finding, i))
      g_string_append_printf(rules, "%s:%d ", json_string_value(json_object_get(finding, "rule")),
                             (int)json_integer_value(json_object_get(finding, "line")));
  }
  return g_string_free(rules, FALSE);
}

/* Whether the place `at` (a finding or a note of one) is a line of variant `i` that holds `text`.
 */
static bool is_at(const Faults *f, int i, const json_t *at, const char *text) {
  g_autofree char *path = variant_path(f, i), *source = read_file(path);
  if (strcmp(json_string_value(json_object_get(at, "path")), path) != 0) return false;
  g_auto(GStrv) lines = g_strsplit(source, "\n", -1);
  json_int_t line = json_integer_value(json_object_get(at, "line"));
  return line > 0 && line <= g_strv_length(lines) && strstr(lines[line - 1], text);
}

static bool is_placed(const Faults *f, int i, const json_t *finding, const char *text) {
  if (is_at(f, i, finding, text)) return true;
  size_t index;
  json_t *note;
  json_array_foreach(json_object_get(finding, "related"), index, note) {
    if (is_at(f, i, note, text)) return true;
  }
  return false;
}

static bool is_named(const Faults *f, const KcYaml *fault, int i) {
  const KcYaml *expected = kc_yaml_get(fault, "expect");
  g_autofree char *rules = rules_of(f, i);
  if (!expected || expected->count == 0) return strcmp(rules, " ") == 0;
  const char *at = kc_yaml_text(fault, "at", NULL);
  ck_assert_msg(at != NULL, "%s: no `at`", kc_yaml_text(fault, "fault", "?"));
  size_t index;
  json_t *finding;
  json_array_foreach(json_object_get(f->report, "findings"), index, finding) {
    if (!counts(f, finding, i)) continue;
    for (int e = 0; e < expected->count; e++)
      if (strcmp(json_string_value(json_object_get(finding, "rule")), expected->items[e]->text) ==
              0 &&
          is_placed(f, i, finding, at))
        return true;
  }
  return false;
}

static void remove_folder(const char *folder) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_unlink(path);
  }
  if (dir) g_dir_close(dir);
  g_rmdir(folder);
}

static void load(Faults *f, const char *name) {
  g_autofree char *path = g_strconcat(REFERENCE, "faults/", name, NULL), *yaml = read_file(path);
  KcError error = {0};
  f->table = kc_yaml_parse(f->arena, path, yaml, strlen(yaml), &error);
  ck_assert_msg(f->table != NULL, "%s", error.message ? error.message : "");
  f->faults = kc_yaml_get(f->table, "faults");
  g_autofree char *kernel_path = g_strconcat(REFERENCE, kc_yaml_text(f->table, "kernel", ""), NULL);
  g_autofree char *kernel = read_file(kernel_path);
  write_variants(f, f->faults, kernel);
}

static void check_table(const char *name) {
  const char *keep = g_getenv("FAULTS_OUT");
  Faults f = {.arena = kc_arena_new()};
  f.folder =
      keep ? g_build_filename(keep, name, NULL) : g_dir_make_tmp("kcheck-faults-XXXXXX", NULL);
  ck_assert_ptr_nonnull(f.folder);
  ck_assert_int_eq(g_mkdir_with_parents(f.folder, 0755), 0);
  load(&f, name);
  f.report = run_kcheck(&f, f.faults->count);

  int named = 0;
  for (int i = 1; i <= f.faults->count; i++) {
    bool good = is_named(&f, f.faults->items[i - 1], i);
    g_autofree char *rules = rules_of(&f, i);
    named += good;
    if (!good)
      printf("not named on its line: %02d %s; said:%s\n", i,
             kc_yaml_text(f.faults->items[i - 1], "fault", "?"), rules);
  }
  printf("%s: faults named on their lines: %d of %d\n", name, named, f.faults->count);
  fflush(stdout);
  g_autofree char *control = rules_of(&f, 0);
  ck_assert_msg(strcmp(control, " ") == 0, "the kernel without a fault:%s", control);
  ck_assert_int_eq(named, f.faults->count);
  json_decref(f.report);
  if (!keep) remove_folder(f.folder);
  g_free(f.folder);
  kc_arena_free(f.arena);
}

START_TEST(every_fault_is_named) {
  check_table("gemm_tma_store.yaml");
}
END_TEST

START_TEST(the_fault_that_needs_a_cluster_is_named) {
  check_table("gemm_multicast.yaml");
}
END_TEST

Suite *test_suite(void) {
  if (!g_file_test(KCHECK_BINARY, G_FILE_TEST_IS_EXECUTABLE)) {
    puts("skip: kcheck is not built");
    exit(77);
  }
  Suite *suite = suite_create("faults");
  TCase *tests = tcase_create("faults");
  tcase_set_timeout(tests, 290);
  tcase_add_test(tests, every_fault_is_named);
  tcase_add_test(tests, the_fault_that_needs_a_cluster_is_named);
  suite_add_tcase(suite, tests);
  return suite;
}
