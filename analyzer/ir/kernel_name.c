#include "ir/ir.h"

#include <ctype.h>

/* Behind the namespaces of a qualified name; those of template arguments stay. */
static const char *without_scope(const char *name) {
  const char *start = name;
  for (const char *p = name; *p && *p != '<' && *p != '('; p++)
    if (p[0] == ':' && p[1] == ':') start = p + 2;
  return start;
}

static bool same_but_spaces(const char *a, const char *b) {
  for (;; a++, b++) {
    while (isspace((unsigned char)*a))
      a++;
    while (isspace((unsigned char)*b))
      b++;
    if (*a != *b) return false;
    if (!*a) return true;
  }
}

bool ir_kernel_is_named(const IrKernel *kernel, const char *written) {
  if (!written) return false;
  written = without_scope(written);
  return (kernel->instantiation &&
          same_but_spaces(without_scope(kernel->instantiation), written)) ||
         (kernel->name && same_but_spaces(without_scope(kernel->name), written));
}
