/* The code that shows what a page says: reference kernels, whole and with their headers, each with
 * what became of it (fixtures/reference/runs.yaml), and where pinned upstream kernels are. */
#include <string.h>

#include "knowledge/page.h"
#include "support/arena.h"
#include "support/data.h"
#include "support/yaml.h"
#include "support/yaml_tree.h"

#define REFERENCE "fixtures/reference/"

static const KcYaml *read_list(KcArena *arena, const char *path, const char *key, KcError *error) {
  size_t length = 0;
  const char *text = kc_data_get(path, &length);
  if (!text) {
    kc_fail(error, path, 0, 0, "the list is not there");
    return NULL;
  }
  const KcYaml *root = kc_yaml_parse(arena, path, text, length, error);
  const KcYaml *list = root ? kc_yaml_get(root, key) : NULL;
  if (root && (!list || list->kind != KC_YAML_LIST))
    kc_fail(error, path, 1, 0, "'%s' is a list", key);
  return list && list->kind == KC_YAML_LIST ? list : NULL;
}

/* ---- reference kernels ---- */

static const KcYaml *run_of(const KcYaml *runs, const char *file) {
  for (int i = 0; i < runs->count; i++)
    if (strcmp(kc_yaml_text(runs->items[i], "file", ""), file) == 0) return runs->items[i];
  return NULL;
}

/* What was done with the kernel, and whether with this text. */
static bool print_run(const KcYaml *runs, const char *file, const char *text, GString *out,
                      KcError *error) {
  const KcYaml *run = run_of(runs, file);
  if (!run)
    return kc_fail(error, REFERENCE "runs.yaml", 0, 0, "nothing is said of %s%s", REFERENCE, file);
  const char *card = kc_yaml_text(run, "ran", NULL);
  const char *target = kc_yaml_text(run, "target", "?"), *built = kc_yaml_text(run, "built", "?");
  if (card)
    g_string_append_printf(out,
                           "// run on %s; built by %s for %s\n// largest error %s (allowed %s) "
                           "against %s\n",
                           card, built, target, kc_yaml_text(run, "error", "?"),
                           kc_yaml_text(run, "allowed", "?"), kc_yaml_text(run, "against", "?"));
  else
    g_string_append_printf(out, "// compiled by %s for %s, not run: %s\n", built, target,
                           kc_yaml_text(run, "not_run", "?"));
  const char *sha256 = kc_yaml_text(run, "sha256", "?");
  g_autofree char *now = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
  g_string_append_printf(out, "// sha256 %s%s\n", sha256,
                         strcmp(now, sha256) == 0 ? "" : "; this text has been changed since");
  return true;
}

/* The headers of the same folder that `text` includes, and theirs, each once. */
static void collect_headers(const char *text, GPtrArray *names) {
  g_autoptr(GRegex) include = g_regex_new("^#include \"([^\"]+)\"", G_REGEX_MULTILINE, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  for (g_regex_match(include, text, 0, &match); g_match_info_matches(match);
       g_match_info_next(match, NULL)) {
    g_autofree char *name = g_match_info_fetch(match, 1);
    g_autofree char *path = g_strconcat(REFERENCE, name, NULL);
    const char *header = kc_data_get(path, NULL);
    if (!header || g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL)) continue;
    g_ptr_array_add(names, g_strdup(name));
    collect_headers(header, names);
  }
}

static bool print_reference(const Page *page, GString *out, KcError *error) {
  if (!*page->code) return true;
  KcArena *arena = kc_arena_new();
  g_autoptr(GPtrArray) headers = g_ptr_array_new_with_free_func(g_free);
  const KcYaml *runs = read_list(arena, REFERENCE "runs.yaml", "kernels", error);
  bool good = runs != NULL;
  for (const char *const *name = page->code; good && *name; name++) {
    g_autofree char *path = g_strconcat(REFERENCE, *name, NULL);
    const char *text = kc_data_get(path, NULL);
    if (!text) {
      good = kc_fail(error, page->path, 0, 0, "the page names %s, which is not there", path);
      break;
    }
    g_string_append_printf(out, "\n// ---- %s ----\n", path);
    good = print_run(runs, *name, text, out, error);
    g_string_append_printf(out, "\n%s", text);
    collect_headers(text, headers);
  }
  for (guint i = 0; good && i < headers->len; i++) {
    g_autofree char *path = g_strconcat(REFERENCE, (const char *)headers->pdata[i], NULL);
    g_string_append_printf(out, "\n// ---- %s ----\n%s", path, kc_data_get(path, NULL));
  }
  kc_arena_free(arena);
  return good;
}

/* ---- upstream kernels ---- */

static void print_pin(const KcYaml *package, const KcYaml *kernel, GString *out) {
  g_string_append_printf(out, "//   %s %s: %s\n//     sha256 %s\n//     checked for %s: %s\n",
                         kc_yaml_text(package, "package", "?"),
                         kc_yaml_text(package, "version", "?"), kc_yaml_text(kernel, "file", "?"),
                         kc_yaml_text(kernel, "sha256", "?"), kc_yaml_text(kernel, "arch", "?"),
                         kc_yaml_text(kernel, "status", "checked"));
}

/* The pins of "package", or of those files of "package:file" whose path ends so; how many. */
static int print_pins(const KcYaml *packages, const char *wanted, GString *out) {
  g_auto(GStrv) parts = g_strsplit(wanted, ":", 2);
  int count = 0;
  for (int i = 0; i < packages->count; i++) {
    const KcYaml *package = packages->items[i], *kernels = kc_yaml_get(package, "kernels");
    if (g_strcmp0(kc_yaml_text(package, "package", NULL), parts[0]) != 0) continue;
    for (int k = 0; kernels && k < kernels->count; k++) {
      const char *file = kc_yaml_text(kernels->items[k], "file", "");
      if (parts[1] && !g_str_has_suffix(file, parts[1])) continue;
      print_pin(package, kernels->items[k], out);
      count++;
    }
  }
  return count;
}

/* Upstream code is never copied: what is printed says where it is and how to know it is the same.
 */
static bool print_upstream(const Page *page, GString *out, KcError *error) {
  static const char path[] = "fixtures/upstream.yaml";
  if (!*page->upstream) return true;
  KcArena *arena = kc_arena_new();
  const KcYaml *packages = read_list(arena, path, "packages", error);
  bool good = packages != NULL;
  g_string_append(out, "\n// ---- pinned upstream kernels, from the Python package index ----\n");
  for (const char *const *name = page->upstream; good && *name; name++)
    if (print_pins(packages, *name, out) == 0)
      good = kc_fail(error, page->path, 0, 0, "%s pins no kernel of '%s'", path, *name);
  kc_arena_free(arena);
  return good;
}

bool page_print_code(const Page *page, GString *out, KcError *error) {
  return print_reference(page, out, error) && print_upstream(page, out, error);
}
