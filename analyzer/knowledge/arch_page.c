#include "knowledge/arch_page.h"

#include <string.h>

#include "arch/arch.h"
#include "support/data.h"
#include "support/yaml.h"

static const char FEATURES[] = "knowledge/features.yaml";

typedef struct ArchPages {
  KcArena *arena;
  const KcYaml *features; /* the list of knowledge/features.yaml */
  void (*visit)(const char *path, const char *text, void *user);
  void *user;
  KcError *error;
  bool ok;
} ArchPages;

/* 100 and 103 are one family, 120 and 121 another, 110 its own: families go by tens. */
static bool target_holds(const char *pattern, int number, char suffix) {
  char *end = NULL;
  int own = (int)g_ascii_strtoll(pattern, &end, 10);
  switch (*end) {
  case '+': return number >= own;
  case 'a': return number == own && suffix == 'a';
  default: /* 'f' */ return suffix && number / 10 == own / 10 && number >= own;
  }
}

static bool feature_on(const ArchPages *pages, const KcYaml *feature, const char *target) {
  const char *const *patterns =
      kc_yaml_strings(pages->arena, FEATURES, kc_yaml_get(feature, "targets"), NULL);
  char *suffix = NULL;
  int number = (int)g_ascii_strtoll(target + strlen("sm_"), &suffix, 10);
  for (; patterns && *patterns; patterns++)
    if (target_holds(*patterns, number, *suffix)) return true;
  return false;
}

static void append_list(GString *out, const KcYaml *list, const char *separator) {
  for (int i = 0; list && i < list->count; i++)
    g_string_append_printf(out, "%s%s", i ? separator : "", list->items[i]->text);
}

static void append_names(GString *out, const KcYaml *map, const char *separator) {
  for (int i = 0; map && i < map->count; i++)
    g_string_append_printf(out, "%s%s", i ? separator : "", map->keys[i]->text);
}

static void append_head(GString *out, const KcYaml *root) {
  const char *number = kc_yaml_text(root, "architecture", "?");
  const KcYaml *targets = kc_yaml_get(root, "targets"), *former = kc_yaml_get(root, "former-names");
  g_string_append_printf(out, "---\nid: arch-sm_%s\ntitle: \"sm_%s: %s\"\ntype: architecture\n",
                         number, number, kc_yaml_text(root, "name", "?"));
  g_string_append(out, "confidence: verified\nevidence_level: measured\narchitectures: [");
  append_names(out, targets, ", ");
  g_string_append(out, "]\ntags: [targets, limits]\nrelated: [hw-targets, hw-shared-memory, "
                       "technique-register-budgeting]\naliases: [arch-");
  append_names(out, targets, ", arch-");
  if (former && former->count) g_string_append(out, ", arch-");
  append_list(out, former, ", arch-");
  g_string_append_printf(out,
                         "]\nsources: [\"knowledge/architectures/sm_%s.yaml\", "
                         "\"knowledge/features.yaml\"]\n---\n# sm_%s: %s\n\n",
                         number, number, kc_yaml_text(root, "name", "?"));
}

static void append_limits(GString *out, const KcYaml *root) {
  const KcYaml *limits = kc_yaml_get(root, "limits");
  g_string_append(out, "## Limits\nBytes, threads, warps, registers.\n\n"
                       "| limit | value | evidence |\n|---|---|---|\n");
  for (int i = 0; limits && i < limits->count; i++) {
    g_autofree char *name = g_strdelimit(g_strdup(limits->keys[i]->text), "-", ' ');
    g_string_append_printf(out, "| %s | %s | ", name, kc_yaml_text(limits->items[i], "value", "?"));
    append_list(out, kc_yaml_get(limits->items[i], "evidence"), ", ");
    g_string_append(out, " |\n");
  }
}

static void append_launch_bounds(GString *out, const Arch *arch) {
  static const int bounds[][2] = {{128, 1},  {256, 1}, {384, 1}, {512, 1},
                                  {1024, 1}, {256, 2}, {256, 4}, {256, 8}};
  g_string_append(out, "\n## Registers by launch bounds\n| threads, blocks | registers a thread "
                       "|\n|---|---|\n");
  for (size_t i = 0; i < G_N_ELEMENTS(bounds); i++) {
    int threads = bounds[i][0], blocks = bounds[i][1];
    if (threads * blocks > arch->max_threads_per_sm || blocks > arch->max_blocks_per_sm)
      g_string_append_printf(out, "| %d, %d | ignored: more than an SM holds |\n", threads, blocks);
    else
      g_string_append_printf(out, "| %d, %d | %d |\n", threads, blocks,
                             arch_launch_bounds_registers(arch, threads, blocks));
  }
}

static void append_features(const ArchPages *pages, GString *out, const KcYaml *root) {
  const KcYaml *targets = kc_yaml_get(root, "targets");
  g_string_append(out, "\n## What each target assembles\nOne probe instruction a feature, ptxas "
                       "13.0.88; the lowest PTX version where it was probed.\n\n| feature | PTX |");
  for (int t = 0; targets && t < targets->count; t++)
    g_string_append_printf(out, " %s |", targets->keys[t]->text);
  g_string_append(out, "\n|---|---|");
  for (int t = 0; targets && t < targets->count; t++)
    g_string_append(out, "---|");
  g_string_append_c(out, '\n');
  for (int i = 0; i < pages->features->count; i++) {
    const KcYaml *feature = pages->features->items[i];
    g_string_append_printf(out, "| %s | %s |", kc_yaml_text(feature, "name", "?"),
                           kc_yaml_text(feature, "ptx", ""));
    for (int t = 0; targets && t < targets->count; t++)
      g_string_append_printf(out, " %s |",
                             feature_on(pages, feature, targets->keys[t]->text) ? "yes" : "-");
    g_string_append_c(out, '\n');
  }
}

static void visit_file(const char *path, const char *text, size_t length, void *user) {
  ArchPages *pages = user;
  if (!pages->ok || !g_str_has_suffix(path, ".yaml")) return;
  const KcYaml *root = kc_yaml_parse(pages->arena, path, text, length, pages->error);
  const KcYaml *targets = root ? kc_yaml_get(root, "targets") : NULL;
  const Arch *arch =
      targets && targets->count ? arch_find(targets->keys[0]->text, pages->error) : NULL;
  if (!arch) {
    pages->ok = false;
    return;
  }
  g_autoptr(GString) page = g_string_new(NULL);
  append_head(page, root);
  append_limits(page, root);
  append_launch_bounds(page, arch);
  append_features(pages, page, root);
  pages->visit(path, page->str, pages->user);
}

bool arch_pages_each(void (*visit)(const char *path, const char *text, void *user), void *user,
                     KcError *error) {
  size_t length = 0;
  const char *text = kc_data_get(FEATURES, &length);
  if (!text) return kc_fail(error, FEATURES, 0, 0, "the table of features is not there");
  ArchPages pages = {kc_arena_new(), NULL, visit, user, error, true};
  const KcYaml *root = kc_yaml_parse(pages.arena, FEATURES, text, length, error);
  pages.features = root ? kc_yaml_get(root, "features") : NULL;
  pages.ok = pages.features != NULL;
  if (root && !pages.features) kc_fail(error, FEATURES, 1, 0, "`features` is missing");
  if (pages.ok) kc_data_each("knowledge/architectures/", visit_file, &pages);
  kc_arena_free(pages.arena);
  return pages.ok;
}
