/* YAML as a tree with positions (libyaml underneath): rules, architectures, dialects and
 * .kcheck.yaml are read through it, so that every error can name its line. */
#ifndef KC_SUPPORT_YAML_H
#define KC_SUPPORT_YAML_H

#include "support/arena.h"
#include "support/error.h"

typedef enum KcYamlKind { KC_YAML_SCALAR, KC_YAML_LIST, KC_YAML_MAP } KcYamlKind;

/* A node. Everything is owned by the arena it was parsed into. */
typedef struct KcYaml {
  KcYamlKind kind;
  int line, column;                  /* 1-based place of the node */
  const char *text;                  /* scalars: the value, without quotes */
  bool quoted;                       /* scalars: written with quotes or as a block */
  int count;                         /* lists and maps: number of items */
  const struct KcYaml *const *items; /* list items, or the values of a map */
  const struct KcYaml *const *keys;  /* maps: the keys (scalars), in order */
} KcYaml;

/* Parses the first document of `text`; `path` is for messages. An empty document is an empty map.
 * Returns NULL with file, line and column of the first mistake: bad syntax, a key that is not a
 * scalar, the same key twice, nesting deeper than 64. */
const KcYaml *kc_yaml_parse(KcArena *arena, const char *path, const char *text, size_t length,
                            KcError *error);
/* The same without a look at the trees that the build made of the embedded files (kc_yaml_parse
 * returns those for an embedded file's own text). */
const KcYaml *kc_yaml_read(KcArena *arena, const char *path, const char *text, size_t length,
                           KcError *error);

/* The value of `key` in a map, or NULL when it is absent (or `map` is no map). */
const KcYaml *kc_yaml_get(const KcYaml *map, const char *key);
/* The scalar text of `key`, or `otherwise`. */
const char *kc_yaml_text(const KcYaml *map, const char *key, const char *otherwise);
/* Reads a scalar as an integer (decimal, 0x...) into `value`; false when it is not one. */
bool kc_yaml_int(const KcYaml *node, int64_t *value);
/* Reads true/false/yes/no/on/off. */
bool kc_yaml_bool(const KcYaml *node, bool *value);
/* The texts of a list of scalars, or of one scalar, NULL-terminated; NULL with `error` when the
 * node is something else. A NULL node gives an empty list. */
const char *const *kc_yaml_strings(KcArena *arena, const char *path, const KcYaml *node,
                                   KcError *error);
/* Fails when `map` is no map, and at the first key that is not in `known` (NULL-terminated), with a
 * suggestion. */
bool kc_yaml_check_keys(const char *path, const KcYaml *map, const char *const *known,
                        KcError *error);

#endif
