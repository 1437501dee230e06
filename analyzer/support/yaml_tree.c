#include "support/yaml_tree.h"

#include <string.h>

enum { KIND_MASK = 3, QUOTED_BIT = 4, GROUP_BITS = 7, GROUP_MASK = 127, MORE_BIT = 128 };

static void write_number(GByteArray *out, size_t number) {
  do {
    guint8 byte = number & GROUP_MASK;
    number >>= GROUP_BITS;
    if (number) byte |= MORE_BIT;
    g_byte_array_append(out, &byte, 1);
  } while (number);
}

void kc_yaml_tree_write(GByteArray *out, const KcYaml *node) {
  guint8 head = (guint8)(node->kind | (node->quoted ? QUOTED_BIT : 0));
  g_byte_array_append(out, &head, 1);
  write_number(out, (size_t)node->line);
  write_number(out, (size_t)node->column);
  if (node->kind == KC_YAML_SCALAR) {
    size_t length = strlen(node->text);
    write_number(out, length);
    g_byte_array_append(out, (const guint8 *)node->text, (guint)length + 1);
    return;
  }
  write_number(out, (size_t)node->count);
  for (int i = 0; i < node->count; i++) {
    if (node->kind == KC_YAML_MAP) kc_yaml_tree_write(out, node->keys[i]);
    kc_yaml_tree_write(out, node->items[i]);
  }
}

static size_t read_number(const char **at) {
  size_t number = 0;
  for (int shift = 0;; shift += GROUP_BITS) {
    guint8 byte = (guint8) * (*at)++;
    number |= (size_t)(byte & GROUP_MASK) << shift;
    if (!(byte & MORE_BIT)) return number;
  }
}

static const KcYaml *read_node(KcArena *arena, const char **at) {
  KcYaml *node = KC_NEW(arena, KcYaml);
  int head = *(*at)++;
  node->kind = (KcYamlKind)(head & KIND_MASK);
  node->quoted = (head & QUOTED_BIT) != 0;
  node->line = (int)read_number(at);
  node->column = (int)read_number(at);
  size_t size = read_number(at);
  if (node->kind == KC_YAML_SCALAR) {
    node->text = *at;
    *at += size + 1;
    return node;
  }
  node->count = (int)size;
  const KcYaml **items = KC_NEW_ARRAY(arena, const KcYaml *, size + 1);
  const KcYaml **keys =
      node->kind == KC_YAML_MAP ? KC_NEW_ARRAY(arena, const KcYaml *, size + 1) : NULL;
  for (size_t i = 0; i < size; i++) {
    if (keys) keys[i] = read_node(arena, at);
    items[i] = read_node(arena, at);
  }
  node->items = items;
  node->keys = keys;
  return node;
}

const KcYaml *kc_yaml_tree_read(KcArena *arena, const char *bytes) {
  return read_node(arena, &bytes);
}

size_t kc_yaml_part(const char *path, const char *text, size_t size) {
  if (g_str_has_suffix(path, ".yaml")) return size;
  if (!g_str_has_suffix(path, ".md") || size < 4 || memcmp(text, "---\n", 4) != 0) return 0;
  const char *end = g_strstr_len(text + 4, (gssize)(size - 4), "\n---\n");
  return end ? (size_t)(end + 1 - text) : 0;
}
