#include "arch/load.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "support/yaml.h"

typedef struct {
  const char *path;
  KcArena *arena;
  KcError *error;
} Reader;

#define LIMIT(key_, field, required_)                                                              \
  { key_, offsetof(Arch, field), required_ }
static const struct {
  const char *key;
  size_t offset; /* of an int of Arch */
  bool required;
} limit_keys[] = {
    LIMIT("threads-per-block", max_threads_per_block, true),
    LIMIT("threads-per-sm", max_threads_per_sm, true),
    LIMIT("warps-per-sm", max_warps_per_sm, true),
    LIMIT("blocks-per-sm", max_blocks_per_sm, true),
    LIMIT("registers-per-sm", registers_per_sm, true),
    LIMIT("registers-per-block", registers_per_block, true),
    LIMIT("registers-per-thread", max_registers_per_thread, true),
    LIMIT("shared-memory-default", smem_static_default, true),
    LIMIT("shared-memory-opt-in", smem_opt_in, true),
    LIMIT("shared-memory-per-sm", smem_per_sm, true),
    LIMIT("shared-memory-reserved", smem_reserved_per_block, true),
    LIMIT("shared-memory-granularity", smem_granularity, true),
    LIMIT("cluster-size-portable", max_cluster_portable, false),
    LIMIT("cluster-size", max_cluster, false),
    LIMIT("tensor-memory-columns", tmem_columns, false),
};

#define FEATURE(key_, field)                                                                       \
  { key_, offsetof(Arch, field) }
static const struct {
  const char *key;
  size_t offset; /* of a bool of Arch */
} feature_keys[] = {
    FEATURE("wgmma", has_wgmma), FEATURE("tcgen05", has_tcgen05),
    FEATURE("tma", has_tma),     FEATURE("cluster", has_cluster),
    FEATURE("clc", has_clc),     FEATURE("setmaxnreg", has_setmaxnreg),
    FEATURE("pdl", has_pdl),
};

static const char *const file_keys[] = {"architecture", "name", "former-names", "limits", "targets",
                                        "cards",        NULL};
static const char *const target_keys[] = {"static-shared-memory", "features", NULL};
static const char *const value_keys[] = {"value", "evidence", NULL};

static bool fail_at(const Reader *r, const KcYaml *node, const char *what, const char *name) {
  return kc_fail(r->error, r->path, node->line, node->column, what, name);
}

static const KcYaml *required(const Reader *r, const KcYaml *map, const char *key,
                              KcYamlKind kind) {
  const KcYaml *node = kc_yaml_get(map, key);
  if (node && node->kind == kind) return node;
  fail_at(r, node ? node : map, node ? "`%s` has the wrong form" : "`%s` is missing", key);
  return NULL;
}

static bool required_int(const Reader *r, const KcYaml *map, const char *key, int *value) {
  const KcYaml *node = required(r, map, key, KC_YAML_SCALAR);
  int64_t number = 0;
  if (!node) return false;
  if (!kc_yaml_int(node, &number) || number < 0 || number > INT_MAX)
    return fail_at(r, node, "`%s` is no number of bytes, threads, warps or registers", node->text);
  *value = (int)number;
  return true;
}

static bool read_limit(const Reader *r, const KcYaml *limits, const char *key, int *value) {
  const KcYaml *node = required(r, limits, key, KC_YAML_MAP);
  return node && kc_yaml_check_keys(r->path, node, value_keys, r->error) &&
         required(r, node, "evidence", KC_YAML_LIST) && required_int(r, node, "value", value);
}

static bool read_limits(const Reader *r, const KcYaml *root, Arch *arch) {
  const KcYaml *limits = required(r, root, "limits", KC_YAML_MAP);
  const char *known[G_N_ELEMENTS(limit_keys) + 1] = {NULL};
  for (size_t i = 0; i < G_N_ELEMENTS(limit_keys); i++)
    known[i] = limit_keys[i].key;
  if (!limits || !kc_yaml_check_keys(r->path, limits, known, r->error)) return false;
  arch->max_cluster_portable = arch->max_cluster = 1;
  for (size_t i = 0; i < G_N_ELEMENTS(limit_keys); i++) {
    if (!limit_keys[i].required && !kc_yaml_get(limits, known[i])) continue;
    int *value = (int *)((char *)arch + limit_keys[i].offset);
    if (!read_limit(r, limits, known[i], value)) return false;
  }
  return true;
}

/* The cards of an architecture by their number of multiprocessors. */
static bool read_cards(const Reader *r, const KcYaml *root, Arch *arch) {
  const KcYaml *cards = kc_yaml_get(root, "cards");
  if (!cards) return true;
  if (cards->kind != KC_YAML_MAP || cards->count > ARCH_CARDS)
    return fail_at(r, cards, "`%s` is a map of a few cards", "cards");
  for (int i = 0; i < cards->count; i++)
    if (!read_limit(r, cards, cards->keys[i]->text, &arch->multiprocessors[i])) return false;
  return true;
}

static bool read_feature(const Reader *r, const KcYaml *node, Arch *arch) {
  if (node->kind != KC_YAML_SCALAR) return fail_at(r, node, "a feature is a %s", "name");
  for (size_t i = 0; i < G_N_ELEMENTS(feature_keys); i++) {
    if (strcmp(feature_keys[i].key, node->text) != 0) continue;
    *(bool *)((char *)arch + feature_keys[i].offset) = true;
    return true;
  }
  return fail_at(r, node, "unknown feature `%s`", node->text);
}

/* "sm_100f" of architecture 100: the suffix is a, f or nothing. */
static bool read_target_name(const Reader *r, const KcYaml *key, Arch *arch) {
  g_autofree char *prefix = g_strdup_printf("sm_%d", arch->number);
  if (!g_str_has_prefix(key->text, prefix))
    return fail_at(r, key, "`%s` is no target of this architecture", key->text);
  const char *suffix = key->text + strlen(prefix);
  if (*suffix && strcmp(suffix, "a") != 0 && strcmp(suffix, "f") != 0)
    return fail_at(r, key, "unknown suffix of target `%s`", key->text);
  arch->name = g_intern_string(key->text);
  arch->suffix = *suffix;
  return true;
}

static bool read_target(const Reader *r, const KcYaml *key, const KcYaml *body, Arch *arch) {
  if (!read_target_name(r, key, arch)) return false;
  const KcYaml *features = required(r, body, "features", KC_YAML_LIST);
  if (!features || !kc_yaml_check_keys(r->path, body, target_keys, r->error) ||
      !required_int(r, body, "static-shared-memory", &arch->smem_static_max))
    return false;
  for (int i = 0; i < features->count; i++)
    if (!read_feature(r, features->items[i], arch)) return false;
  return true;
}

static bool read_former_names(const Reader *r, const KcYaml *root, int number, ArchTable *table) {
  const char *const *names =
      kc_yaml_strings(r->arena, r->path, kc_yaml_get(root, "former-names"), r->error);
  for (int i = 0; names && names[i]; i++) {
    ArchFormer former = {g_intern_string(names[i]), number};
    g_array_append_val(table->former, former);
  }
  return names != NULL;
}

static bool read_file(const Reader *r, const KcYaml *root, ArchTable *table) {
  Arch limits = {0};
  const KcYaml *name = required(r, root, "name", KC_YAML_SCALAR);
  const KcYaml *targets = required(r, root, "targets", KC_YAML_MAP);
  if (!name || !targets || !kc_yaml_check_keys(r->path, root, file_keys, r->error) ||
      !required_int(r, root, "architecture", &limits.number) || !read_limits(r, root, &limits) ||
      !read_cards(r, root, &limits))
    return false;
  limits.gpu = g_intern_string(name->text);
  for (int i = 0; i < targets->count; i++) {
    Arch arch = limits;
    if (!read_target(r, targets->keys[i], targets->items[i], &arch)) return false;
    g_array_append_val(table->archs, arch);
  }
  return read_former_names(r, root, limits.number, table);
}

bool arch_load(ArchTable *table, const char *path, const char *text, size_t length,
               KcError *error) {
  KcArena *arena = kc_arena_new();
  const KcYaml *root = kc_yaml_parse(arena, path, text, length, error);
  bool ok = root && read_file(&(Reader){path, arena, error}, root, table);
  kc_arena_free(arena);
  return ok;
}
