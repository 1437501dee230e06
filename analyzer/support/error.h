/* The one way to fail: `bool f(..., KcError *error)` returns false and fills `error` with what went
 * wrong, where, and what to do about it. Errors are for the user: a file that can't be read, an
 * option that makes no sense. Defects of kcheck itself are g_assert/abort. */
#ifndef KC_SUPPORT_ERROR_H
#define KC_SUPPORT_ERROR_H

#include <stdbool.h>

typedef struct KcError {
  char *message; /* what went wrong; heap-allocated, freed by kc_error_clear */
  char *hint;    /* what to do about it, or NULL */
  char *path;    /* file at fault, or NULL */
  int line;      /* 1-based; 0 when unknown */
  int column;    /* 1-based byte column; 0 when unknown */
} KcError;

/* Fills `error` (may be NULL: then nothing happens) and returns false, so that a failing function
 * can end in `return kc_fail(error, path, line, column, "...")`. */
bool kc_fail(KcError *error, const char *path, int line, int column, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Adds the advice to an error that kc_fail filled; returns false. */
bool kc_hint(KcError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kc_error_clear(KcError *error);
/* "path:line:column: message" (parts that are unknown left out); caller frees with g_free. */
char *kc_error_text(const KcError *error);

#endif
