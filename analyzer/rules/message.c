#include "rules/message.h"

#include <string.h>

#include <glib.h>

static const char *fact(const IrViolation *v, const char *name, size_t length) {
  for (int i = 0; i < v->facts.count; i++)
    if (strlen(v->facts.items[i].name) == length &&
        memcmp(v->facts.items[i].name, name, length) == 0)
      return v->facts.items[i].value;
  return NULL;
}

char *message_fill(const char *text, const IrViolation *violation) {
  GString *out = g_string_new(NULL);
  for (const char *at = text; *at; at++) {
    const char *close = *at == '{' ? strchr(at, '}') : NULL;
    if (at[0] == '{' && at[1] == '{') {
      g_string_append_c(out, *at++);
    } else if (close) {
      const char *value = fact(violation, at + 1, (size_t)(close - at - 1));
      if (!value) {
        g_string_free(out, TRUE);
        return NULL;
      }
      g_string_append(out, value);
      at = close;
    } else {
      g_string_append_c(out, *at);
    }
  }
  return g_string_free(out, FALSE);
}
