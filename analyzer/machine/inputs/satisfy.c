/* Values of parameters under which the assumptions of directives and --assume hold. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "machine/execute/core.h"

bool sample_is_named(const char *leaf, const char *name) {
  if (!leaf) return false;
  if (strcmp(leaf, name) == 0) return true;
  const char *dot = strrchr(leaf, '.');
  return dot && strcmp(dot + 1, name) == 0;
}

typedef struct {
  GPtrArray *names;   /* char *: those that parameters have */
  GArray *candidates; /* int64_t */
  GHashTable *chosen;
  const MachineSample *sample;
  const char *unknown;
} Search;

static bool dimension_value(const MachineSample *sample, const char *name, int64_t *out) {
  static const struct {
    const char *name;
    int which, axis;
  } names[] = {{"blockDim.x", 0, 0},   {"blockDim.y", 0, 1},   {"blockDim.z", 0, 2},
               {"gridDim.x", 1, 0},    {"gridDim.y", 1, 1},    {"gridDim.z", 1, 2},
               {"clusterDim.x", 2, 0}, {"clusterDim.y", 2, 1}, {"clusterDim.z", 2, 2}};
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    if (strcmp(names[i].name, name) != 0) continue;
    const int64_t *dims = names[i].which == 0   ? sample->block
                          : names[i].which == 1 ? sample->grid
                                                : sample->cluster;
    *out = dims[names[i].axis];
    return true;
  }
  return false;
}

static bool value_of(const char *name, void *user, int64_t *out) {
  Search *search = user;
  gpointer chosen;
  for (guint i = 0; i < search->names->len; i++) {
    const char *leaf = search->names->pdata[i];
    if (sample_is_named(leaf, name) &&
        g_hash_table_lookup_extended(search->chosen, leaf, NULL, &chosen)) {
      *out = *(int64_t *)chosen;
      return true;
    }
  }
  for (int i = 0; i < search->sample->inputs.count; i++) {
    if (!sample_is_named(search->sample->inputs.items[i].name, name)) continue;
    *out = search->sample->inputs.items[i].number;
    return true;
  }
  if (dimension_value(search->sample, name, out)) return true;
  search->unknown = name;
  return false;
}

static bool all_hold(GPtrArray *expressions, Search *search) {
  for (guint i = 0; i < expressions->len; i++) {
    bool ok = false;
    if (assume_evaluate(expressions->pdata[i], value_of, search, &ok) && !ok) return false;
  }
  return true;
}

static void add_candidate(GArray *list, int64_t value) {
  for (guint i = 0; i < list->len; i++)
    if (g_array_index(list, int64_t, i) == value) return;
  g_array_append_val(list, value);
}

static void add_constants(GArray *list, const char *expression, int64_t ints) {
  for (const char *at = expression; *at;) {
    if (isdigit((unsigned char)*at)) {
      char *end;
      int64_t value = strtoll(at, &end, 0);
      at = end;
      for (int64_t d = -1; d <= 1; d++)
        add_candidate(list, value + d);
      if (value > 0 && value < 100000) add_candidate(list, value * (ints > 0 ? ints : 1));
    } else {
      at++;
    }
  }
}

/* Tries candidate values for name `at` and those behind it; at most `budget` evaluations. */
static bool search_names(GPtrArray *expressions, Search *search, guint at, int *budget) {
  if (at == search->names->len) {
    --*budget;
    return all_hold(expressions, search);
  }
  int64_t *slot = g_hash_table_lookup(search->chosen, search->names->pdata[at]);
  for (guint i = 0; i<search->candidates->len && * budget> 0; i++) {
    *slot = g_array_index(search->candidates, int64_t, i);
    if (search_names(expressions, search, at + 1, budget)) return true;
  }
  return false;
}

static void collect_name(const char *name, void *user) {
  Search *search = user;
  for (int i = 0; i < search->sample->inputs.count; i++) {
    const MachineInput *input = &search->sample->inputs.items[i];
    if (input->fixed || !sample_is_named(input->name, name)) continue;
    if (g_hash_table_contains(search->chosen, input->name)) return;
    int64_t *slot = g_new(int64_t, 1);
    *slot = input->number;
    g_hash_table_insert(search->chosen, g_strdup(input->name), slot);
    g_ptr_array_add(search->names, g_strdup(input->name));
    return;
  }
}

static GPtrArray *expressions_of(const MachineSession *session) {
  GPtrArray *out = g_ptr_array_new();
  const IrDirectives *directives = session->program->directives;
  for (int i = 0; directives && i < directives->assumes.count; i++)
    g_ptr_array_add(out, (gpointer)directives->assumes.items[i].expression);
  for (const char *const *e = session->options->assumes; e && *e; e++)
    g_ptr_array_add(out, (gpointer)*e);
  return out;
}

GHashTable *sample_satisfy(const MachineSession *session, const MachineSample *sample,
                           bool *impossible) {
  GPtrArray *expressions = expressions_of(session);
  Search search = {.sample = sample};
  search.names = g_ptr_array_new_with_free_func(g_free);
  search.chosen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
  search.candidates = g_array_new(FALSE, FALSE, sizeof(int64_t));
  static const int64_t usual[] = {64, 128, 256, 512, 1024, 2048, 4096, 1, 2, 3, 4, 8, 16, 32, 0};
  add_candidate(search.candidates, sample->ints);
  for (guint i = 0; i < expressions->len; i++) {
    add_constants(search.candidates, expressions->pdata[i], sample->ints);
    assume_each_name(expressions->pdata[i], collect_name, &search);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
    add_candidate(search.candidates, usual[i]);
  int budget = 200000;
  *impossible = expressions->len > 0 && !search_names(expressions, &search, 0, &budget);
  GHashTable *chosen = search.chosen;
  if (expressions->len == 0 || *impossible) {
    g_hash_table_destroy(chosen);
    chosen = NULL;
  }
  g_ptr_array_free(search.names, TRUE);
  g_array_free(search.candidates, TRUE);
  g_ptr_array_free(expressions, TRUE);
  return chosen;
}
