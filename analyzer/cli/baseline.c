#include "cli/baseline.h"

#include <jansson.h>
#include <string.h>

#include "rules/rules.h"

typedef struct {
  char *path; /* relative to the folder of the baseline */
  char *rule, *kernel, *source;
  bool used;
} Entry;

struct Baseline {
  char *path, *folder;
  GPtrArray *entries; /* Entry* */
};

static void entry_free(gpointer data) {
  Entry *entry = data;
  g_free(entry->path);
  g_free(entry->rule);
  g_free(entry->kernel);
  g_free(entry->source);
  g_free(entry);
}

Baseline *baseline_new(const char *path) {
  Baseline *baseline = g_new0(Baseline, 1);
  baseline->path = g_strdup(path);
  g_autofree char *folder = g_path_get_dirname(path);
  baseline->folder = g_canonicalize_filename(folder, NULL);
  baseline->entries = g_ptr_array_new_with_free_func(entry_free);
  return baseline;
}

void baseline_free(Baseline *baseline) {
  if (!baseline) return;
  g_free(baseline->path);
  g_free(baseline->folder);
  g_ptr_array_unref(baseline->entries);
  g_free(baseline);
}

/* A source file as the baseline names it: seen from its own folder where it lies below it. */
static char *entry_path(const Baseline *baseline, const char *path) {
  g_autofree char *absolute = g_canonicalize_filename(path, NULL);
  gsize length = strlen(baseline->folder);
  if (g_str_has_prefix(absolute, baseline->folder) && absolute[length] == '/')
    return g_strdup(absolute + length + 1);
  return g_strdup(absolute);
}

/* The line without what an editor changes: blanks at both ends and runs of blanks inside. */
static char *normal_line(const char *line) {
  GString *text = g_string_new(NULL);
  for (; line && *line; line++) {
    bool blank = g_ascii_isspace(*line);
    if (!blank) g_string_append_c(text, *line);
    if (blank && text->len && text->str[text->len - 1] != ' ') g_string_append_c(text, ' ');
  }
  if (text->len && text->str[text->len - 1] == ' ') g_string_truncate(text, text->len - 1);
  return g_string_free(text, FALSE);
}

static Entry *entry_of(const Baseline *baseline, const Finding *finding) {
  Entry *entry = g_new0(Entry, 1);
  entry->path = entry_path(baseline, finding->path);
  entry->rule = g_strdup(finding->rule);
  entry->kernel = g_strdup(finding->kernel ? finding->kernel : "");
  entry->source = normal_line(finding->source);
  return entry;
}

static int compare(const Entry *a, const Entry *b) {
  int order = strcmp(a->path, b->path);
  if (!order) order = strcmp(a->rule, b->rule);
  if (!order) order = strcmp(a->kernel, b->kernel);
  return order ? order : strcmp(a->source, b->source);
}

static gint by_content(gconstpointer a, gconstpointer b) {
  return compare(*(Entry *const *)a, *(Entry *const *)b);
}

static bool add_entry(Baseline *baseline, const json_t *json) {
  const char *texts[4];
  static const char *const keys[] = {"path", "rule", "kernel", "source"};
  for (int i = 0; i < 4; i++)
    if (!(texts[i] = json_string_value(json_object_get(json, keys[i])))) return false;
  Entry *entry = g_new0(Entry, 1);
  entry->path = g_strdup(texts[0]);
  entry->rule = g_strdup(texts[1]);
  entry->kernel = g_strdup(texts[2]);
  entry->source = g_strdup(texts[3]);
  g_ptr_array_add(baseline->entries, entry);
  return true;
}

Baseline *baseline_open(const char *path, KcError *error) {
  json_error_t problem;
  json_t *json = json_load_file(path, 0, &problem);
  if (!json && problem.line < 0) {
    kc_fail(error, path, 0, 0, "the baseline cannot be read");
    kc_hint(error, "--write-baseline makes one");
    return NULL;
  }
  if (!json) {
    kc_fail(error, path, problem.line, problem.column, "not a baseline: %s", problem.text);
    return NULL;
  }
  Baseline *baseline = baseline_new(path);
  json_t *list = json_object_get(json, "findings");
  bool good = json_is_array(list);
  size_t i;
  json_t *item;
  json_array_foreach(list, i, item) good = good && add_entry(baseline, item);
  json_decref(json);
  if (good) return baseline;
  kc_fail(error, path, 0, 0, "not a baseline: expected \"findings\", a list of entries");
  baseline_free(baseline);
  return NULL;
}

static bool take_unused(Baseline *baseline, const Entry *wanted) {
  for (guint i = 0; i < baseline->entries->len; i++) {
    Entry *entry = baseline->entries->pdata[i];
    if (!entry->used && compare(entry, wanted) == 0) return entry->used = true;
  }
  return false;
}

guint baseline_filter(Baseline *baseline, GPtrArray *findings) {
  guint taken = 0;
  for (guint i = 0; i < findings->len;) {
    Entry *wanted = entry_of(baseline, findings->pdata[i]);
    bool known = take_unused(baseline, wanted);
    entry_free(wanted);
    taken += known;
    if (known)
      g_ptr_array_remove_index(findings, i);
    else
      i++;
  }
  return taken;
}

static GHashTable *path_set(const Baseline *baseline, const GPtrArray *paths) {
  GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (guint i = 0; i < paths->len; i++)
    g_hash_table_add(set, entry_path(baseline, paths->pdata[i]));
  return set;
}

guint baseline_unused(const Baseline *baseline, const GPtrArray *paths) {
  g_autoptr(GHashTable) set = path_set(baseline, paths);
  guint unused = 0;
  for (guint i = 0; i < baseline->entries->len; i++) {
    const Entry *entry = baseline->entries->pdata[i];
    unused += !entry->used && g_hash_table_contains(set, entry->path);
  }
  return unused;
}

static void drop(Baseline *baseline, const GPtrArray *paths, bool used_too) {
  g_autoptr(GHashTable) set = path_set(baseline, paths);
  for (guint i = 0; i < baseline->entries->len;) {
    const Entry *entry = baseline->entries->pdata[i];
    if ((used_too || !entry->used) && g_hash_table_contains(set, entry->path))
      g_ptr_array_remove_index(baseline->entries, i);
    else
      i++;
  }
}

void baseline_prune(Baseline *baseline, const GPtrArray *paths) {
  drop(baseline, paths, false);
}

void baseline_take(Baseline *baseline, const GPtrArray *paths, const GPtrArray *findings) {
  drop(baseline, paths, true);
  for (guint i = 0; i < findings->len; i++)
    g_ptr_array_add(baseline->entries, entry_of(baseline, findings->pdata[i]));
}

bool baseline_write(const Baseline *baseline, KcError *error) {
  g_ptr_array_sort(baseline->entries, by_content);
  g_autoptr(GString) text = g_string_new("{\"version\": 1, \"findings\": [");
  for (guint i = 0; i < baseline->entries->len; i++) {
    const Entry *e = baseline->entries->pdata[i];
    json_t *json = json_pack("{ss ss ss ss}", "path", e->path, "rule", e->rule, "kernel", e->kernel,
                             "source", e->source);
    char *line = json ? json_dumps(json, 0) : NULL;
    g_string_append_printf(text, "%s\n  %s", i ? "," : "", line ? line : "{}");
    free(line);
    json_decref(json);
  }
  g_string_append(text, "\n]}\n");
  g_autoptr(GError) failure = NULL;
  if (g_file_set_contents(baseline->path, text->str, (gssize)text->len, &failure)) return true;
  return kc_fail(error, baseline->path, 0, 0, "cannot be written: %s", failure->message);
}
