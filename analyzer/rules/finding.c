#include "rules/finding.h"

#include <string.h>

static void free_related(gpointer related) {
  finding_related_free(related);
}

Finding *finding_new(void) {
  Finding *finding = g_new0(Finding, 1);
  finding->archs = g_ptr_array_new_with_free_func(g_free);
  finding->related = g_ptr_array_new_with_free_func(free_related);
  finding->witness_names = g_ptr_array_new_with_free_func(g_free);
  finding->witness_values = g_ptr_array_new_with_free_func(g_free);
  return finding;
}

void finding_related_free(FindingRelated *related) {
  if (!related) return;
  g_free(related->path);
  g_free(related->message);
  g_free(related->source);
  g_free(related);
}

void finding_free(Finding *finding) {
  if (!finding) return;
  g_free(finding->rule);
  g_free(finding->confidence);
  g_free(finding->file);
  g_free(finding->path);
  g_free(finding->kernel);
  g_free(finding->source);
  g_free(finding->message);
  g_free(finding->help);
  g_free(finding->page);
  g_free(finding->anchor);
  g_free(finding->url);
  g_free(finding->witness_text);
  g_free(finding->fix_text);
  g_ptr_array_unref(finding->archs);
  g_ptr_array_unref(finding->related);
  g_ptr_array_unref(finding->witness_names);
  g_ptr_array_unref(finding->witness_values);
  g_free(finding);
}

static bool names_line_of(const Finding *finding, const Finding *other) {
  for (guint i = 0; i < finding->related->len; i++) {
    const FindingRelated *related = finding->related->pdata[i];
    if (related->line == other->line && strcmp(related->path, other->path) == 0) return true;
  }
  return false;
}

bool finding_is_mirror(const Finding *a, const Finding *b) {
  return strcmp(a->rule, b->rule) == 0 && names_line_of(a, b) && names_line_of(b, a);
}

gint finding_compare(gconstpointer a, gconstpointer b) {
  const Finding *left = *(const Finding *const *)a, *right = *(const Finding *const *)b;
  int order = strcmp(left->path, right->path);
  if (!order) order = left->line - right->line;
  if (!order) order = left->column - right->column;
  if (!order) order = strcmp(left->rule, right->rule);
  if (!order) order = (int)right->severity - (int)left->severity;
  if (!order) order = g_strcmp0(left->kernel, right->kernel);
  if (!order) order = strcmp(left->message, right->message);
  return order;
}

static void add_archs(Finding *to, const Finding *from) {
  for (guint i = 0; i < from->archs->len; i++)
    if (!g_ptr_array_find_with_equal_func(to->archs, from->archs->pdata[i], g_str_equal, NULL))
      g_ptr_array_add(to->archs, g_strdup(from->archs->pdata[i]));
}

static gint by_name(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What makes findings of two targets the same: rule and place. What the words say may differ (a
 * limit), and then the more severe one, or the first, speaks. */
static char *identity(const Finding *f) {
  return g_strdup_printf("%s\n%d\n%s", f->path, f->line, f->rule);
}

GPtrArray *rules_merge(GPtrArray *findings) {
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  GPtrArray *merged = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  g_ptr_array_sort(findings, finding_compare);
  for (guint i = 0; i < findings->len; i++) {
    Finding *finding = findings->pdata[i];
    char *key = identity(finding);
    Finding *first = g_hash_table_lookup(seen, key);
    if (!first) {
      g_hash_table_insert(seen, key, finding);
      g_ptr_array_add(merged, finding);
      continue;
    }
    g_free(key);
    add_archs(first, finding);
    first->severity = MAX(first->severity, finding->severity);
    finding_free(finding);
  }
  for (guint i = 0; i < merged->len; i++)
    g_ptr_array_sort(((Finding *)merged->pdata[i])->archs, by_name);
  g_ptr_array_set_free_func(findings, NULL);
  g_ptr_array_unref(findings);
  return merged;
}

void rules_drop_partly_unused(GPtrArray *findings, guint targets) {
  for (guint i = findings->len; i-- > 0;) {
    const Finding *finding = findings->pdata[i];
    if (strcmp(finding->rule, "kcheck-unused-ignore") == 0 && finding->archs->len < targets)
      g_ptr_array_remove_index(findings, i);
  }
}
