#include "cli/config.h"

#include <string.h>

#include "arch/arch.h"
#include "cli/files.h"
#include "cli/names.h"
#include "cli/options.h"
#include "cli/strv.h"
#include "cuda/cuda.h"
#include "support/yaml.h"

#define CONFIG_NAME ".kcheck.yaml"

typedef struct {
  char *path, *folder;
  KcArena *arena;
  const KcYaml *root;
} Config;

struct Configs {
  GHashTable *by_path; /* path -> Config* */
  GPtrArray *paths;
};

/* What a key of the file does to the settings. */
typedef enum {
  KEY_LIST,
  KEY_TEXT,
  KEY_LEVEL,
  KEY_ARCH,
  KEY_PATHS,
  KEY_PATH,
  KEY_TOOLKIT, /* a path, or none */
  KEY_FLAGS,
  KEY_SEVERITY,
  KEY_DIRECTIVES,
  KEY_PER_FILE
} KeyKind;

static const struct {
  const char *name;
  KeyKind kind;
  size_t offset;      /* of the field of Settings */
  const char *detail; /* KEY_FLAGS: clang's flag; KEY_DIRECTIVES: the directive */
} config_keys[] = {
    {"arch", KEY_ARCH, offsetof(Settings, archs), NULL},
    {"target", KEY_ARCH, offsetof(Settings, targets), NULL},
    {"select", KEY_LIST, offsetof(Settings, select), NULL},
    {"ignore", KEY_LIST, offsetof(Settings, ignore), NULL},
    {"severity", KEY_SEVERITY, offsetof(Settings, severity), NULL},
    {"include-paths", KEY_FLAGS, 0, "-I"},
    {"defines", KEY_FLAGS, 0, "-D"},
    {"std", KEY_TEXT, offsetof(Settings, std), NULL},
    {"cuda-path", KEY_TOOLKIT, offsetof(Settings, cuda_path), NULL},
    {"compile-commands", KEY_PATH, offsetof(Settings, compile_commands), NULL},
    {"dialects", KEY_PATHS, offsetof(Settings, dialects), NULL},
    {"launches", KEY_DIRECTIVES, 0, "launch"},
    {"tensormaps", KEY_DIRECTIVES, 0, "tensormap"},
    {"events", KEY_DIRECTIVES, 0, "event"},
    {"assume", KEY_LIST, offsetof(Settings, assumes), NULL},
    {"instantiate", KEY_LIST, offsetof(Settings, instantiate), NULL},
    {"baseline", KEY_PATH, offsetof(Settings, baseline), NULL},
    {"fail-on", KEY_LEVEL, offsetof(Settings, fail_on), NULL},
    {"docs-base", KEY_TEXT, offsetof(Settings, docs_base), NULL},
    {"per-file", KEY_PER_FILE, 0, NULL},
};

static int find_key(const char *name) {
  for (guint i = 0; i < G_N_ELEMENTS(config_keys); i++)
    if (strcmp(config_keys[i].name, name) == 0) return (int)i;
  return -1;
}

static void config_free(gpointer data) {
  Config *config = data;
  kc_arena_free(config->arena);
  g_free(config->path);
  g_free(config->folder);
  g_free(config);
}

Configs *configs_new(void) {
  Configs *configs = g_new0(Configs, 1);
  configs->by_path = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, config_free);
  configs->paths = g_ptr_array_new();
  return configs;
}

void configs_free(Configs *configs) {
  if (!configs) return;
  g_hash_table_unref(configs->by_path);
  g_ptr_array_unref(configs->paths);
  g_free(configs);
}

const GPtrArray *configs_paths(const Configs *configs) {
  return configs->paths;
}

static bool check_known_keys(const Config *config, const KcYaml *map, KcError *error) {
  const char *known[G_N_ELEMENTS(config_keys) + 1] = {0};
  for (guint i = 0; i < G_N_ELEMENTS(config_keys); i++)
    known[i] = config_keys[i].name;
  if (map->kind != KC_YAML_MAP)
    return kc_fail(error, config->path, map->line, map->column, "expected `key: value` lines here");
  return kc_yaml_check_keys(config->path, map, known, error);
}

/* The nearest .kcheck.yaml at or above the folder of `path`; NULL when there is none. The path is
 * spelled as the source's is ("src/.kcheck.yaml", "../.kcheck.yaml") so that messages are stable.
 */
static char *find_upward(const char *path) {
  g_autofree char *folder = g_path_get_dirname(path);
  g_autofree char *absolute = g_canonicalize_filename(folder, NULL);
  GString *shown = g_string_new(strcmp(folder, ".") == 0 ? "" : folder);
  for (;;) {
    if (shown->len && shown->str[shown->len - 1] != '/') g_string_append_c(shown, '/');
    g_autofree char *candidate = g_strconcat(shown->str, CONFIG_NAME, NULL);
    if (g_file_test(candidate, G_FILE_TEST_IS_REGULAR)) {
      g_string_free(shown, TRUE);
      return g_steal_pointer(&candidate);
    }
    char *slash = strrchr(absolute, '/');
    if (!slash || slash[1] == 0) break;
    slash[slash == absolute] = 0;
    /* "a/b/" -> "a/", "" -> "../" */
    g_autofree char *last = shown->len ? g_path_get_basename(shown->str) : g_strdup("..");
    if (strcmp(last, "..") == 0 || strcmp(last, ".") == 0)
      g_string_append(shown, "..");
    else
      g_string_truncate(shown, shown->len - 1 - strlen(last));
  }
  g_string_free(shown, TRUE);
  return NULL;
}

static char *beside(const Config *config, const char *path) {
  if (g_path_is_absolute(path) || strcmp(config->folder, ".") == 0) return g_strdup(path);
  return g_build_filename(config->folder, path, NULL);
}

static bool wrong_type(const Config *config, const KcYaml *node, const char *expected,
                       KcError *error) {
  return kc_fail(error, config->path, node->line, node->column, "expected %s here", expected);
}

/* "gemm, grid = 132, block = 384" from {kernel: gemm, grid: 132, block: 384}: the first value is
 * what the directive is about, the others keep their keys; [a, b] becomes axb. */
static char *directive_arguments(const Config *config, const KcYaml *map, KcError *error) {
  g_autoptr(GString) text = g_string_new(NULL);
  for (int i = 0; i < map->count; i++) {
    const char *const *words = kc_yaml_strings(config->arena, config->path, map->items[i], error);
    if (!words) return NULL;
    g_autofree char *value = g_strjoinv("x", (char **)words);
    if (i > 0) g_string_append_printf(text, ", %s = ", map->keys[i]->text);
    g_string_append(text, value);
  }
  return g_strdup(text->str);
}

static bool add_directives(const Config *config, const KcYaml *node, const char *directive,
                           Settings *settings, KcError *error) {
  if (node->kind != KC_YAML_LIST) return wrong_type(config, node, "a list", error);
  for (int i = 0; i < node->count; i++) {
    const KcYaml *item = node->items[i];
    g_autofree char *arguments = NULL;
    if (item->kind == KC_YAML_SCALAR) arguments = g_strdup(item->text);
    if (item->kind == KC_YAML_MAP && !(arguments = directive_arguments(config, item, error)))
      return false;
    if (!arguments) return wrong_type(config, item, "the text of a directive", error);
    g_autofree char *text = g_strdup_printf("%s(%s)", directive, arguments);
    settings_add_directive(settings, config->path, item->line, text);
  }
  return true;
}

static bool add_severities(const Config *config, const KcYaml *node, Settings *settings,
                           KcError *error) {
  if (node->kind != KC_YAML_MAP) return wrong_type(config, node, "`rule: level` lines", error);
  for (int i = 0; i < node->count; i++) {
    const KcYaml *level = node->items[i];
    if (level->kind != KC_YAML_SCALAR) return wrong_type(config, level, "a level", error);
    /* YAML reads a bare `off` as a word here: scalars keep their text. */
    if (!options_check_level(level->text, false, error))
      return kc_fail(error, config->path, level->line, level->column,
                     "severity %s is not one of error, warning, advice, off", level->text);
    g_autofree char *pair = g_strdup_printf("%s=%s", node->keys[i]->text, level->text);
    strv_add(&settings->severity, pair);
  }
  return true;
}

static bool add_flags(const Config *config, const KcYaml *node, const char *flag,
                      Settings *settings, KcError *error) {
  const char *const *words = kc_yaml_strings(config->arena, config->path, node, error);
  for (int i = 0; words && words[i]; i++) {
    g_autofree char *path = strcmp(flag, "-I") == 0 ? beside(config, words[i]) : NULL;
    strv_add(&settings->flags, flag);
    strv_add(&settings->flags, path ? path : words[i]);
  }
  return words != NULL;
}

static bool add_archs(const Config *config, const KcYaml *node, char ***field, KcError *error) {
  const char *const *words = kc_yaml_strings(config->arena, config->path, node, error);
  for (int i = 0; words && words[i]; i++) {
    KcError reason = {0};
    if (!arch_find(words[i], &reason)) {
      kc_fail(error, config->path, node->line, node->column, "%s", reason.message);
      if (reason.hint) kc_hint(error, "%s", reason.hint);
      kc_error_clear(&reason);
      return false;
    }
    strv_add(field, words[i]);
  }
  return words != NULL;
}

static bool add_list(const Config *config, const KcYaml *node, bool paths, char ***field,
                     KcError *error) {
  const char *const *words = kc_yaml_strings(config->arena, config->path, node, error);
  for (int i = 0; words && words[i]; i++) {
    g_autofree char *path = paths ? beside(config, words[i]) : NULL;
    strv_add(field, paths ? path : words[i]);
  }
  return words != NULL;
}

static bool set_text(const Config *config, const KcYaml *node, KeyKind kind, char **field,
                     KcError *error) {
  if (node->kind != KC_YAML_SCALAR) return wrong_type(config, node, "one value", error);
  if (kind == KEY_LEVEL && !options_check_level(node->text, true, error))
    return kc_fail(error, config->path, node->line, node->column,
                   "fail-on %s is not one of error, warning, advice, never", node->text);
  g_free(*field);
  bool path = kind == KEY_PATH || (kind == KEY_TOOLKIT && strcmp(node->text, CUDA_PATH_NONE) != 0);
  *field = path ? beside(config, node->text) : g_strdup(node->text);
  return true;
}

static bool read_key(const Config *config, int key, const KcYaml *node, Settings *settings,
                     KcError *error) {
  void *field = (char *)settings + config_keys[key].offset;
  const char *detail = config_keys[key].detail;
  switch (config_keys[key].kind) {
  case KEY_LIST: return add_list(config, node, false, field, error);
  case KEY_PATHS: return add_list(config, node, true, field, error);
  case KEY_TEXT:
  case KEY_LEVEL:
  case KEY_PATH:
  case KEY_TOOLKIT: return set_text(config, node, config_keys[key].kind, field, error);
  case KEY_ARCH: return add_archs(config, node, field, error);
  case KEY_FLAGS: return add_flags(config, node, detail, settings, error);
  case KEY_SEVERITY: return add_severities(config, node, settings, error);
  case KEY_DIRECTIVES: return add_directives(config, node, detail, settings, error);
  case KEY_PER_FILE: return true; /* read after the others: it is laid over them */
  }
  return true;
}

static bool read_map(const Config *config, const KcYaml *map, Settings *settings, KcError *error) {
  if (!check_known_keys(config, map, error)) return false;
  for (int i = 0; i < map->count; i++)
    if (!read_key(config, find_key(map->keys[i]->text), map->items[i], settings, error))
      return false;
  return true;
}

/* Reads a map and checks the rule names in it, line by line. */
static bool check_map(const Config *config, const KcYaml *map, KcError *error) {
  g_auto(Settings) all = {0};
  if (!read_map(config, map, &all, error)) return false;
  for (int i = 0; i < map->count; i++) {
    g_auto(Settings) one = {0};
    if (!read_key(config, find_key(map->keys[i]->text), map->items[i], &one, error) ||
        !names_check(&one, config->path, map->items[i]->line, error))
      return false;
  }
  return true;
}

/* A mistake is reported whichever file is checked, also in a per-file entry that does not match. */
static bool check_whole(const Config *config, KcError *error) {
  if (!check_map(config, config->root, error)) return false;
  const KcYaml *per_file = kc_yaml_get(config->root, "per-file");
  for (int i = 0; per_file && per_file->kind == KC_YAML_MAP && i < per_file->count; i++)
    if (!check_map(config, per_file->items[i], error)) return false;
  return true;
}

static Config *load(Configs *configs, const char *path, KcError *error) {
  Config *config = g_hash_table_lookup(configs->by_path, path);
  if (config) return config;
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!files_read(path, &text, &length, error)) return NULL;
  config = g_new0(Config, 1);
  config->path = g_strdup(path);
  config->folder = g_path_get_dirname(path);
  config->arena = kc_arena_new();
  config->root = kc_yaml_parse(config->arena, path, text, length, error);
  if (!config->root || !check_whole(config, error)) {
    config_free(config);
    return NULL;
  }
  g_hash_table_insert(configs->by_path, config->path, config);
  g_ptr_array_add(configs->paths, config->path);
  return config;
}

/* The path of a source file relative to the configuration's folder, for per-file globs. */
static char *relative_to(const Config *config, const char *path) {
  g_autofree char *folder = g_canonicalize_filename(config->folder, NULL);
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  g_autofree char *prefix = g_strconcat(strcmp(folder, "/") == 0 ? "" : folder, "/", NULL);
  return g_strdup(g_str_has_prefix(absolute, prefix) ? absolute + strlen(prefix) : absolute);
}

static bool read_per_file(const Config *config, const KcYaml *map, const char *path,
                          Settings *settings, KcError *error) {
  if (!map) return true;
  if (map->kind != KC_YAML_MAP) return wrong_type(config, map, "`glob: settings` lines", error);
  g_autofree char *relative = relative_to(config, path);
  for (int i = 0; i < map->count; i++) {
    g_auto(Settings) over = {0};
    if (!read_map(config, map->items[i], &over, error)) return false;
    if (g_pattern_match_simple(map->keys[i]->text, relative)) settings_overlay(settings, &over);
  }
  return true;
}

bool configs_apply(Configs *configs, const char *path, const char *explicit_path,
                   Settings *settings, KcError *error) {
  g_autofree char *found = explicit_path ? g_strdup(explicit_path) : find_upward(path);
  if (!found) return true;
  Config *config = load(configs, found, error);
  if (!config) return false;
  g_auto(Settings) own = {0};
  if (!read_map(config, config->root, &own, error) ||
      !read_per_file(config, kc_yaml_get(config->root, "per-file"), path, &own, error))
    return false;
  settings_overlay(settings, &own);
  return true;
}

bool config_read_launches(const char *path, Settings *settings, KcError *error) {
  static const char *const known[] = {"launches", "tensormaps", "events", "assume", NULL};
  g_autofree char *text = NULL;
  gsize length = 0;
  if (!files_read(path, &text, &length, error)) return false;
  KcArena *arena = kc_arena_new();
  Config config = {.path = (char *)path, .folder = (char *)".", .arena = arena};
  config.root = kc_yaml_parse(arena, path, text, length, error);
  bool read = config.root && config.root->kind == KC_YAML_MAP;
  if (config.root && !read) wrong_type(&config, config.root, "`launches:` and its list", error);
  read = read && kc_yaml_check_keys(path, config.root, known, error) &&
         read_map(&config, config.root, settings, error);
  kc_arena_free(arena);
  return read;
}

bool config_read_text(const char *text, Settings *settings, KcError *error) {
  KcArena *arena = kc_arena_new();
  Config config = {.path = (char *)"settings", .folder = (char *)".", .arena = arena};
  config.root = kc_yaml_parse(arena, config.path, text, strlen(text), error);
  bool read = config.root && check_map(&config, config.root, error) &&
              read_map(&config, config.root, settings, error);
  if (read && kc_yaml_get(config.root, "per-file"))
    read = kc_fail(error, config.path, 0, 0, "per-file belongs into .kcheck.yaml");
  kc_arena_free(arena);
  return read;
}
