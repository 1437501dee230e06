#include "cli/strv.h"

void strv_add(char ***list, const char *text) {
  guint count = *list ? g_strv_length(*list) : 0;
  *list = g_renew(char *, *list, count + 2);
  (*list)[count] = g_strdup(text);
  (*list)[count + 1] = NULL;
}

void strv_add_all(char ***list, char *const *more) {
  for (; more && *more; more++)
    strv_add(list, *more);
}

void strv_add_words(char ***list, const char *words) {
  g_auto(GStrv) parts = g_strsplit(words, ",", -1);
  for (char **part = parts; *part; part++)
    if (*g_strstrip(*part)) strv_add(list, *part);
}
