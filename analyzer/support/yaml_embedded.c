#include "support/data.h"
#include "support/yaml_tree.h"

/* The tree that the build made of an embedded file, when `text` is one. */
static const KcYaml *embedded_tree(KcArena *arena, const char *path, const char *text,
                                   size_t length) {
  size_t whole = 0;
  if (!path || kc_data_get(path, &whole) != text) return NULL;
  if (kc_yaml_part(path, text, whole) != length) return NULL;
  g_autofree char *tree = g_strconcat(KC_YAML_TREES, path, NULL);
  const char *bytes = kc_data_get(tree, NULL);
  return bytes ? kc_yaml_tree_read(arena, bytes) : NULL;
}

const KcYaml *kc_yaml_parse(KcArena *arena, const char *path, const char *text, size_t length,
                            KcError *error) {
  const KcYaml *tree = embedded_tree(arena, path, text, length);
  return tree ? tree : kc_yaml_read(arena, path, text, length, error);
}
