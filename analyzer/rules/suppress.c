#include "rules/suppress.h"

#include <string.h>

#include "rules/select.h"

typedef struct Entry { /* one name of one directive */
  const IrIgnoreDirective *ignore;
  char *name;
  bool used;
} Entry;

struct Suppressions {
  const Rules *rules;
  const IrProgram *program;
  const RulesOptions *options;
  GArray *entries; /* Entry */
};

char **suppress_names(const IrIgnoreDirective *ignore) {
  char **names = g_strsplit(ignore->rules, ",", -1);
  for (char **name = names; *name; name++)
    g_strstrip(*name);
  return names;
}

Suppressions *suppressions_new(const Rules *rules, const IrProgram *program,
                               const RulesOptions *options) {
  Suppressions *s = g_new0(Suppressions, 1);
  *s = (Suppressions){rules, program, options, g_array_new(FALSE, TRUE, sizeof(Entry))};
  const IrDirectives *directives = program->directives;
  for (int i = 0; directives && i < directives->ignores.count; i++) {
    char **names = suppress_names(&directives->ignores.items[i]);
    for (char **name = names; *name; name++) {
      Entry entry = {&directives->ignores.items[i], *name, false};
      g_array_append_val(s->entries, entry);
    }
    g_free(names); /* the entries have the strings */
  }
  return s;
}

void suppressions_free(Suppressions *s) {
  for (guint i = 0; i < s->entries->len; i++)
    g_free(g_array_index(s->entries, Entry, i).name);
  g_array_free(s->entries, TRUE);
  g_free(s);
}

static bool covers(const Suppressions *s, const IrIgnoreDirective *ignore, const char *path,
                   int line, int end_line) {
  const SourceMap *map = &s->program->sources;
  uint32_t file = ignore->range.file;
  const char *own = file > 0 && file < (uint32_t)map->files.count ? map->files.items[file].path
                                                                  : s->program->path;
  if (strcmp(own, path) != 0) return false;
  if (ignore->whole_file) return true;
  int covered = (int)ignore->line;
  return covered >= line && covered <= MAX(line, end_line);
}

bool suppress(Suppressions *s, const Rule *rule, const char *path, int line, int end_line) {
  bool hidden = false;
  for (guint i = 0; i < s->entries->len; i++) {
    Entry *entry = &g_array_index(s->entries, Entry, i);
    if (!select_names(rule, entry->name) || !covers(s, entry->ignore, path, line, end_line))
      continue;
    entry->used = true;
    hidden = true;
  }
  return hidden;
}

/* Whether a rule that `name` stands for would have been reported at all. */
static bool could_report(const Suppressions *s, const char *name) {
  const GPtrArray *all = rules_all(s->rules);
  for (guint i = 0; i < all->len; i++) {
    const Rule *rule = all->pdata[i];
    if (select_names(rule, name) &&
        select_severity(rule, IR_PROVED_FORCED, s->options) != SEVERITY_OFF)
      return true;
  }
  return false;
}

void suppressions_unused(const Suppressions *s,
                         void (*report)(const IrIgnoreDirective *ignore, const char *name,
                                        void *user),
                         void *user) {
  for (guint i = 0; i < s->entries->len; i++) {
    const Entry *entry = &g_array_index(s->entries, Entry, i);
    if (!entry->used && could_report(s, entry->name)) report(entry->ignore, entry->name, user);
  }
}
