/* Small helpers for NULL-terminated string lists, the form options and settings are kept in. */
#ifndef KC_CLI_STRV_H
#define KC_CLI_STRV_H

#include <glib.h>

/* Appends a copy of `text`; `list` may hold NULL (an empty list). */
void strv_add(char ***list, const char *text);
/* Appends copies of all of `more` (NULL: none). */
void strv_add_all(char ***list, char *const *more);
/* Appends the parts of "a,b, c" (blanks around a part are dropped). */
void strv_add_words(char ***list, const char *words);
static inline const char *const *strv_view(char **list) {
  return (const char *const *)list;
}

#endif
