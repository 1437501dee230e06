#include "cli/lazy.h"

struct LazyRules {
  GThread *thread; /* NULL once it was joined */
  Rules *rules;
  KcError error;
};

static gpointer read_rules(gpointer data) {
  LazyRules *lazy = data;
  lazy->rules = rules_load(&lazy->error);
  return NULL;
}

LazyRules *lazy_rules_start(void) {
  LazyRules *lazy = g_new0(LazyRules, 1);
  lazy->thread = g_thread_new("rules", read_rules, lazy);
  return lazy;
}

const Rules *lazy_rules_get(LazyRules *lazy, KcError *error) {
  if (lazy->thread) g_thread_join(lazy->thread);
  lazy->thread = NULL;
  if (!lazy->rules) {
    kc_fail(error, lazy->error.path, lazy->error.line, lazy->error.column, "%s",
            lazy->error.message ? lazy->error.message : "the rules cannot be read");
    if (lazy->error.hint) kc_hint(error, "%s", lazy->error.hint);
  }
  return lazy->rules;
}

void lazy_rules_free(LazyRules *lazy) {
  if (!lazy) return;
  if (lazy->thread) g_thread_join(lazy->thread);
  rules_free(lazy->rules);
  kc_error_clear(&lazy->error);
  g_free(lazy);
}
