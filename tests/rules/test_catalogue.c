/* The rules as they stand in rules/: all load, and every one leads somewhere. */
#include <stdio.h>
#include <string.h>

#include <check.h>

#include "rules/rules.h"
#include "support/data.h"

Suite *test_suite(void);

static Rules *rules;
static GHashTable *pages; /* id -> text */

static void read_page(const char *path, const char *text, size_t length, void *user) {
  (void)length;
  (void)user;
  if (!g_str_has_suffix(path, ".md")) return;
  g_autofree char *name = g_path_get_basename(path);
  name[strlen(name) - 3] = '\0';
  g_hash_table_insert(pages, g_strdup(name), (gpointer)text);
}

static void setup(void) {
  KcError error = {0};
  rules = rules_load(&error);
  ck_assert_msg(rules != NULL, "%s:%d: %s", error.path, error.line, error.message);
  pages = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  kc_data_each("knowledge/pages/", read_page, NULL);
}

static void teardown(void) {
  rules_free(rules);
  g_hash_table_destroy(pages);
}

/* "One role's branch" -> "one-roles-branch": letters, digits and hyphens. */
static char *anchor_of(const char *heading) {
  GString *anchor = g_string_new(NULL);
  for (; *heading; heading++) {
    if (g_ascii_isalnum(*heading)) g_string_append_c(anchor, g_ascii_tolower(*heading));
    if (*heading == ' ' || *heading == '-') g_string_append_c(anchor, '-');
  }
  return g_string_free(anchor, FALSE);
}

static bool has_anchor(const char *page, const char *anchor) {
  g_auto(GStrv) lines = g_strsplit(page, "\n", -1);
  for (char **line = lines; *line; line++) {
    if (**line != '#') continue;
    g_autofree char *own = anchor_of(g_strstrip(*line + strspn(*line, "#")));
    if (strcmp(own, anchor) == 0) return true;
  }
  return false;
}

START_TEST(every_rule_leads_to_a_page) {
  const GPtrArray *all = rules_all(rules);
  GString *missing = g_string_new(NULL);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    const char *page = g_hash_table_lookup(pages, rule->page);
    if (!page)
      g_string_append_printf(missing, "%s: no page %s\n", rule->id, rule->page);
    else if (!has_anchor(page, rule->anchor))
      g_string_append_printf(missing, "%s: no heading #%s in %s\n", rule->id, rule->anchor,
                             rule->page);
  }
  ck_assert_msg(missing->len == 0, "%s", missing->str);
  g_string_free(missing, TRUE);
}
END_TEST

START_TEST(every_rule_has_its_words) {
  const GPtrArray *all = rules_all(rules);
  ck_assert_uint_ge(all->len, 145);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    ck_assert_msg(rule->evidence[0] != NULL, "%s has no evidence", rule->id);
    ck_assert_msg(strlen(rule->summary) <= 90, "%s: summary of %zu characters", rule->id,
                  strlen(rule->summary));
    ck_assert_msg(!strchr(rule->summary, '\n'), "%s: summary of several lines", rule->id);
    ck_assert_msg(!g_str_has_suffix(rule->summary, "."), "%s: summary ends in a period", rule->id);
    ck_assert_msg(!g_str_has_suffix(rule->help, "."), "%s: help ends in a period", rule->id);
    /* An unquoted " #" begins a comment in YAML and takes the rest of the sentence away. */
    ck_assert_msg(!g_regex_match_simple("\\b(the|a|an|and|or)$", rule->help, 0, 0),
                  "%s: help breaks off: %s", rule->id, rule->help);
    ck_assert_msg(rules_find(rules, rule->id, NULL) == rule, "%s is not found", rule->id);
  }
}
END_TEST

START_TEST(every_rule_teaches_by_example) {
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    bool own_defect = strcmp(rule->id, "kcheck-unknown-kind") == 0; /* nobody can write one */
    ck_assert_msg(own_defect || (rule->bad && rule->good), "%s has no example", rule->id);
    ck_assert_msg(own_defect || strcmp(rule->bad, rule->good) != 0, "%s: bad is good", rule->id);
  }
}
END_TEST

/* Whether "tma-size-*" stands for some kind: one that begins so. */
static bool stands_for_some(const char *pattern) {
  const GPtrArray *all = rules_all(rules);
  g_autofree char *beginning = g_strndup(pattern, strlen(pattern) - 1);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    if (g_str_has_prefix(rule->id, beginning)) return true;
    for (char **kind = rule->detects; kind && *kind; kind++)
      if (g_str_has_prefix(*kind, beginning)) return true;
  }
  return false;
}

/* Every word in an engine's source that looks like a kind ("family-something") is one; one that
 * ends in a star stands for at least one. */
static void check_words(const char *path, GRegex *pattern, GString *unknown) {
  g_autofree char *text = NULL;
  g_autoptr(GMatchInfo) match = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) return;
  for (g_regex_match(pattern, text, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *family = g_match_info_fetch(match, 1), *kind = g_match_info_fetch(match, 0);
    g_autofree char *bare = g_strndup(kind + 1, strlen(kind) - 2);
    bool known =
        g_str_has_suffix(bare, "*") ? stands_for_some(bare) : rules_detecting(rules, bare) != NULL;
    if (rules_is_family(rules, family) && !known)
      g_string_append_printf(unknown, "%s in %s\n", bare, path);
  }
}

START_TEST(engines_name_only_known_kinds) {
  static const char *const engines[] = {"machine", "budget", "source", "ptx", "isa"};
  g_autoptr(GRegex) pattern =
      g_regex_new("\"(async-copy|[a-z0-9]+)-([a-z0-9-]+|[a-z0-9-]*\\*)\"", 0, 0, NULL);
  g_autoptr(GString) unknown = g_string_new(NULL);
  for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
    g_autofree char *folder = g_build_filename(KCHECK_SOURCE_DIR, "analyzer", engines[i], NULL);
    GDir *dir = g_dir_open(folder, 0, NULL);
    ck_assert_ptr_nonnull(dir);
    for (const char *name; (name = g_dir_read_name(dir));) {
      g_autofree char *path = g_build_filename(folder, name, NULL);
      if (g_str_has_suffix(name, ".c")) check_words(path, pattern, unknown);
    }
    g_dir_close(dir);
  }
  ck_assert_msg(unknown->len == 0, "kinds without a rule:\n%s", unknown->str);
}
END_TEST

static void check_instruction_file(const char *path, const char *text, size_t length, void *user) {
  g_autoptr(GRegex) pattern = g_regex_new("violation: ([a-z0-9-]+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  (void)length;
  for (g_regex_match(pattern, text, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *kind = g_match_info_fetch(match, 1);
    if (!rules_detecting(rules, kind)) g_string_append_printf(user, "%s in %s\n", kind, path);
  }
}

START_TEST(instruction_table_names_only_known_kinds) {
  g_autoptr(GString) unknown = g_string_new(NULL);
  kc_data_each("knowledge/isa/", check_instruction_file, unknown);
  ck_assert_msg(unknown->len == 0, "kinds without a rule:\n%s", unknown->str);
}
END_TEST

/* ---- every rule can fire, and fixtures show when it does and when not ---- */

typedef struct Shown {
  GString *emitters;       /* text of the engines and of the instruction table */
  GHashTable *bad, *quiet; /* rule id: some fixture expects it; its folder has one that does not */
} Shown;

static void each_file(const char *folder, void (*visit)(const char *path, const char *text, void *),
                      void *user) {
  GDir *dir = g_dir_open(folder, 0, NULL);
  ck_assert_msg(dir != NULL, "no folder %s", folder);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
      each_file(path, visit, user);
    else if (g_file_get_contents(path, &text, NULL, NULL))
      visit(path, text, user);
  }
  g_dir_close(dir);
}

static void add_emitter(const char *path, const char *text, void *user) {
  if (g_str_has_suffix(path, ".c") || g_str_has_suffix(path, ".yaml"))
    g_string_append(((Shown *)user)->emitters, text);
}

static void add_fixture(const char *path, const char *text, void *user) {
  Shown *shown = user;
  g_autofree char *folder = g_path_get_dirname(path), *own = g_path_get_basename(folder);
  g_autoptr(GRegex) pattern =
      g_regex_new("// *(?:expect|expect-next-line): *([a-z0-9, -]+)", 0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  bool expects_own = false;
  if (!g_str_has_suffix(path, ".cu") && !g_str_has_suffix(path, ".ptx")) return;
  for (g_regex_match(pattern, text, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *list = g_match_info_fetch(match, 1);
    g_auto(GStrv) ids = g_strsplit_set(list, ", ", -1);
    for (char **id = ids; *id; id++) {
      g_hash_table_add(shown->bad, g_strdup(*id));
      expects_own |= strcmp(*id, own) == 0;
    }
  }
  if (!expects_own) g_hash_table_add(shown->quiet, g_strdup(own));
}

static bool is_emitted(const Shown *shown, const char *kind) {
  g_autofree char *in_code = g_strdup_printf("\"%s\"", kind);
  g_autofree char *in_table = g_strdup_printf("violation: %s", kind);
  return strstr(shown->emitters->str, in_code) || strstr(shown->emitters->str, in_table);
}

/* Rules that no fixture can show. The list may only get shorter. */
static const struct {
  const char *rule, *reason;
} UNSHOWN[] = {
    {"kcheck-unknown-kind", "only a defect of kcheck itself can cause it; test_apply does"},
};

static bool is_unshown(const char *rule) {
  for (size_t i = 0; i < G_N_ELEMENTS(UNSHOWN); i++)
    if (strcmp(rule, UNSHOWN[i].rule) == 0) {
      printf("no fixture for %s: %s\n", rule, UNSHOWN[i].reason);
      return true;
    }
  return false;
}

static void check_shown(const Shown *shown, const Rule *rule, GString *missing) {
  const char *own[] = {rule->id, NULL};
  for (const char *const *kind = rule->detects[0] ? (const char *const *)rule->detects : own; *kind;
       kind++)
    if (!is_emitted(shown, *kind))
      g_string_append_printf(missing, "%s: no engine emits %s\n", rule->id, *kind);
  if (is_unshown(rule->id)) return;
  if (!g_hash_table_contains(shown->bad, rule->id))
    g_string_append_printf(missing, "%s: no fixture expects it\n", rule->id);
  if (!g_hash_table_contains(shown->quiet, rule->id))
    g_string_append_printf(missing, "%s: its folder has no fixture without it\n", rule->id);
}

START_TEST(every_rule_has_an_engine_and_fixtures) {
  static const char *const engines[] = {"machine", "budget", "source", "ptx", "isa", "ir", "rules"};
  Shown shown = {g_string_new(NULL), g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                 g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
  for (size_t i = 0; i < G_N_ELEMENTS(engines); i++) {
    g_autofree char *folder = g_build_filename(KCHECK_SOURCE_DIR, "analyzer", engines[i], NULL);
    each_file(folder, add_emitter, &shown);
  }
  g_autofree char *isa = g_build_filename(KCHECK_SOURCE_DIR, "knowledge", "isa", NULL);
  g_autofree char *fixtures = g_build_filename(KCHECK_SOURCE_DIR, "fixtures", "rules", NULL);
  each_file(isa, add_emitter, &shown);
  each_file(fixtures, add_fixture, &shown);
  g_autoptr(GString) missing = g_string_new(NULL);
  for (guint i = 0; i < rules_all(rules)->len; i++)
    check_shown(&shown, rules_all(rules)->pdata[i], missing);
  ck_assert_msg(missing->len == 0, "rules that promise too much:\n%s", missing->str);
  g_string_free(shown.emitters, TRUE);
  g_hash_table_destroy(shown.bad);
  g_hash_table_destroy(shown.quiet);
}
END_TEST

START_TEST(kcheck_reports_about_itself) {
  static const char *const own[] = {"kcheck-directive", "kcheck-unused-ignore",
                                    "kcheck-unknown-kind"};
  for (size_t i = 0; i < G_N_ELEMENTS(own); i++)
    ck_assert_ptr_nonnull(rules_find(rules, own[i], NULL));
}
END_TEST

START_TEST(kinds_and_families_are_found) {
  ck_assert_str_eq(rules_detecting(rules, "smem-array-overrun")->id, "smem-out-of-bounds");
  ck_assert_ptr_null(rules_detecting(rules, "no-such-kind"));
  ck_assert(rules_is_family(rules, "tcgen05"));
  ck_assert(!rules_is_family(rules, "tcgen"));
}
END_TEST

START_TEST(unknown_rules_get_a_suggestion) {
  KcError error = {0};
  ck_assert_ptr_null(rules_find(rules, "mbarier-init-missing", &error));
  ck_assert_str_eq(error.hint, "did you mean 'mbarrier-init-missing'?");
  ck_assert_ptr_null(rules_find(rules, "zzzzzz", &error));
  ck_assert_str_eq(error.hint, "`kcheck rules` lists them all");
  kc_error_clear(&error);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("catalogue");
  TCase *tests = tcase_create("catalogue");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, every_rule_leads_to_a_page);
  tcase_add_test(tests, every_rule_has_its_words);
  tcase_add_test(tests, every_rule_teaches_by_example);
  tcase_add_test(tests, engines_name_only_known_kinds);
  tcase_add_test(tests, instruction_table_names_only_known_kinds);
  tcase_add_test(tests, every_rule_has_an_engine_and_fixtures);
  tcase_add_test(tests, kcheck_reports_about_itself);
  tcase_add_test(tests, kinds_and_families_are_found);
  tcase_add_test(tests, unknown_rules_get_a_suggestion);
  suite_add_tcase(suite, tests);
  return suite;
}
