/* Reads one file of knowledge/architectures into the table of targets. */
#ifndef KC_ARCH_LOAD_H
#define KC_ARCH_LOAD_H

#include <glib.h>

#include "arch/arch.h"

typedef struct ArchTable {
  GArray *archs;  /* Arch, in no order */
  GArray *former; /* ArchFormer */
} ArchTable;

typedef struct ArchFormer { /* a name that a target had in older toolkits */
  const char *name;
  int number; /* compute capability times ten that carries it today */
} ArchFormer;

/* Adds the targets of the YAML text `text` to `table`. Unknown and missing keys, values that are no
 * numbers and features that nobody knows fail with the line of `path`. */
bool arch_load(ArchTable *table, const char *path, const char *text, size_t length, KcError *error);

#endif
