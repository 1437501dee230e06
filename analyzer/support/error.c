#include "support/error.h"

#include <glib.h>

bool kc_fail(KcError *error, const char *path, int line, int column, const char *format, ...) {
  if (!error) return false;
  kc_error_clear(error);
  va_list args;
  va_start(args, format);
  error->message = g_strdup_vprintf(format, args);
  va_end(args);
  error->path = g_strdup(path);
  error->line = line;
  error->column = column;
  return false;
}

bool kc_hint(KcError *error, const char *format, ...) {
  if (!error) return false;
  va_list args;
  va_start(args, format);
  g_free(error->hint);
  error->hint = g_strdup_vprintf(format, args);
  va_end(args);
  return false;
}

void kc_error_clear(KcError *error) {
  g_free(error->message);
  g_free(error->hint);
  g_free(error->path);
  *error = (KcError){0};
}

char *kc_error_text(const KcError *error) {
  GString *text = g_string_new(NULL);
  if (error->path) g_string_append_printf(text, "%s:", error->path);
  if (error->path && error->line > 0) g_string_append_printf(text, "%d:", error->line);
  if (error->path && error->line > 0 && error->column > 0)
    g_string_append_printf(text, "%d:", error->column);
  if (text->len > 0) g_string_append_c(text, ' ');
  g_string_append(text, error->message ? error->message : "unknown error");
  return g_string_free(text, FALSE);
}
