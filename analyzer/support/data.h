/* The files that are compiled into the binary: rules/, fixtures/reference, fixtures/upstream.yaml
 * and knowledge/ (pages, architectures, isa, dialects, headers). The environment variable
 * KCHECK_DATA names a folder (the root of a source checkout) to read instead, for those who edit
 * rules. Paths are relative to that root: "rules/mbarrier/mbarrier-init-missing.yaml". */
#ifndef KC_SUPPORT_DATA_H
#define KC_SUPPORT_DATA_H

#include <stdbool.h>
#include <stddef.h>

/* The text of one file, NUL-terminated, valid until exit; NULL when there is no such file. */
const char *kc_data_get(const char *path, size_t *length);
/* Calls `visit` for each file whose path starts with `prefix`, in byte order of the paths. */
void kc_data_each(const char *prefix,
                  void (*visit)(const char *path, const char *text, size_t length, void *user),
                  void *user);

#endif
