/* A YAML tree as bytes: the build reads the embedded files once, so that a run does not.
 *
 * A node is one byte (kind, and 4 when quoted), line, column and a size as numbers of seven bits a
 * byte, low ones first, then what it holds: a scalar its text and a NUL, a list its items, a map
 * its keys and values in turn. Written by the build tool (support/pack.c) to "trees/PATH". */
#ifndef KC_SUPPORT_YAML_TREE_H
#define KC_SUPPORT_YAML_TREE_H

#include <glib.h>

#include "support/yaml.h"

/* Folder of the embedded trees. */
#define KC_YAML_TREES "trees/"

/* How many of the first `size` bytes of the file `path` are YAML: all of a .yaml file, the front
 * matter of a Markdown page ("---" line included, which ends where the closing one begins), else 0.
 */
size_t kc_yaml_part(const char *path, const char *text, size_t size);
/* Appends the bytes of `node` and of all below it. */
void kc_yaml_tree_write(GByteArray *out, const KcYaml *node);
/* The tree of bytes that kc_yaml_tree_write made, in `arena`; the texts stay where they are. */
const KcYaml *kc_yaml_tree_read(KcArena *arena, const char *bytes);

#endif
