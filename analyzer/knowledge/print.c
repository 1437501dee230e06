/* Pages as text: what `kcheck page` prints. */
#include <string.h>

#include "knowledge/fill.h"
#include "knowledge/page.h"
#include "knowledge/table.h"
#include "support/arena.h"
#include "support/data.h"
#include "support/yaml.h"
#include "support/yaml_tree.h"

enum { LIST_INDENT = 43 }; /* the longest ids are 39 columns */

static bool starts_item(const char *line) {
  const char *at = line + strspn(line, " ");
  if ((*at == '-' || *at == '*') && at[1] == ' ') return true;
  size_t digits = strspn(at, "0123456789");
  return digits > 0 && at[digits] == '.' && at[digits + 1] == ' ';
}

static void flush(GString *paragraph, GString *out) {
  if (paragraph->len == 0) return;
  bool item = starts_item(paragraph->str);
  size_t blanks = strspn(paragraph->str, " ");
  size_t indent = blanks + (item ? strcspn(paragraph->str + blanks, " ") + 1 : 0);
  g_autofree char *rest = g_strnfill(indent, ' ');
  g_autofree char *first = g_strndup(paragraph->str, strspn(paragraph->str, " "));
  fill_append(out, paragraph->str, first, rest);
  g_string_truncate(paragraph, 0);
}

static bool holds_kernel(char *const *line) {
  for (; *line && !g_str_has_prefix(*line, "```"); line++)
    if (strstr(*line, "__global__")) return true;
  return false;
}

/* What a fence says of its block, as a comment above it: the target of right code, the rule that
 * names the fault of wrong code. Without a kernel there is nothing to check. */
static void print_fence(char *const *line, GString *out) {
  g_auto(GStrv) words = g_strsplit(*line, " ", -1);
  const char *wrong = NULL, *arch = NULL;
  for (char **word = words; *word; word++) {
    if (g_str_has_prefix(*word, "wrong=")) wrong = *word + strlen("wrong=");
    if (g_str_has_prefix(*word, "arch=")) arch = *word + strlen("arch=");
  }
  if (wrong)
    g_string_append_printf(out, "    // WRONG: %s\n", wrong);
  else if (arch)
    g_string_append_printf(out, "    // compiles%s for %s\n",
                           holds_kernel(line + 1) ? " and is clean" : "", arch);
}

/* Paragraphs, list items and the cells of tables are filled; code and blank lines stay. */
static void print_text(const char *text, GString *out) {
  g_autoptr(GString) paragraph = g_string_new(NULL);
  g_autofree char *trimmed = g_strchomp(g_strdup(text));
  g_auto(GStrv) lines = g_strsplit(trimmed, "\n", -1);
  bool code = false;
  for (char **line = lines; *line; line++) {
    bool fence = g_str_has_prefix(*line, "```");
    bool table = !code && **line == '|';
    bool as_is = code || fence || table || **line == '>' || **line == '\0';
    if (fence) code = !code;
    if (as_is || starts_item(*line)) flush(paragraph, out);
    if (fence && code) print_fence(line, out);
    if (fence) continue;
    if (table) {
      guint rows = 1;
      while (line[rows] && *line[rows] == '|')
        rows++;
      table_append(out, line, rows);
      line += rows - 1;
    } else if (as_is)
      g_string_append_printf(out, "%s%s\n", code && **line ? "    " : "", *line);
    else
      g_string_append_printf(paragraph, "%s%s", paragraph->len ? " " : "", *line);
  }
  flush(paragraph, out);
}

static void print_list(GString *out, const char *name, const char *const *list) {
  if (!*list) return;
  g_autofree char *joined = g_strjoinv(", ", (char **)list);
  g_autofree char *line = g_strdup_printf("%s: %s", name, joined);
  fill_append(out, line, "", "  ");
}

static void print_head(const Page *page, GString *out) {
  g_autofree char *rule = g_strnfill((gsize)g_utf8_strlen(page->title, -1), '=');
  g_string_append_printf(out, "%s\n%s\n", page->title, rule);
  print_list(out, "targets", page->architectures);
  g_autofree char *sure =
      g_strdup_printf("confidence: %s%s%s%s%s", page->confidence, page->evidence_level ? ", " : "",
                      page->evidence_level ? page->evidence_level : "",
                      page->measured_on ? " on " : "", page->measured_on ? page->measured_on : "");
  fill_append(out, sure, "", "  ");
}

static void print_section(const PageSection *section, GString *out) {
  if (section->level > 1) {
    g_autofree char *rule = g_strnfill((gsize)g_utf8_strlen(section->title, -1), '-');
    g_string_append_printf(out, "\n%s\n%s\n", section->title, rule);
  } else {
    g_string_append_c(out, '\n');
  }
  print_text(section->text + strspn(section->text, "\n"), out);
}

static void print_caveats(const Page *page, GString *out) {
  if (page->caveats->len == 0) return;
  g_string_append(out, "\nCaveats\n-------\n");
  for (guint i = 0; i < page->caveats->len; i++) {
    const PageCaveat *c = page->caveats->pdata[i];
    g_autofree char *checks = g_strjoinv(", ", (char **)c->rules);
    g_autofree char *who = c->not_checkable ? g_strconcat("not checked: ", c->not_checkable, NULL)
                                            : g_strconcat("checked by ", checks, NULL);
    g_autofree char *line = g_strdup_printf("%s [%s]", who, c->evidence);
    fill_append(out, c->text, "- ", "  ");
    fill_append(out, line, "    ", "    ");
  }
}

static void print_rules(const Page *page, const Rules *rules, GString *out) {
  g_autoptr(GPtrArray) ids = g_ptr_array_new();
  const GPtrArray *all = rules_all(rules);
  for (guint i = 0; i < all->len; i++)
    if (strcmp(((const Rule *)all->pdata[i])->page, page->id) == 0)
      g_ptr_array_add(ids, ((const Rule *)all->pdata[i])->id);
  g_ptr_array_add(ids, NULL);
  print_list(out, "rules", (const char *const *)ids->pdata);
}

void page_print(const Page *page, const PageSection *section, const Rules *rules, GString *out) {
  if (section) {
    g_string_append_printf(out, "%s: %s\n", page->id, section->title);
    print_text(section->text + strspn(section->text, "\n"), out);
    return;
  }
  print_head(page, out);
  for (guint i = 0; i < page->sections->len; i++)
    print_section(page->sections->pdata[i], out);
  print_caveats(page, out);
  g_string_append_c(out, '\n');
  print_rules(page, rules, out);
  print_list(out, "sources", page->sources);
  print_list(out, "needs", page->prerequisites);
  print_list(out, "related", page->related);
}

void pages_list_text(const Pages *pages, const Rules *rules, const PageFilter *filter,
                     GString *out) {
  const GPtrArray *all = pages_all(pages);
  for (const char *const *type = page_types(); *type; type++) {
    bool any = false;
    for (guint i = 0; i < all->len; i++) {
      const Page *page = all->pdata[i];
      if (strcmp(page->type, *type) != 0 || !page_matches(page, rules, filter)) continue;
      if (!any) g_string_append_printf(out, "%s%s\n", out->len ? "\n" : "", *type);
      any = true;
      g_autofree char *first = g_strdup_printf("  %-*s  ", LIST_INDENT - 4, page->id);
      g_autofree char *rest = g_strnfill(LIST_INDENT, ' ');
      fill_append(out, page->title, first, rest);
    }
  }
}

static json_t *words(const char *const *list) {
  json_t *array = json_array();
  for (; *list; list++)
    json_array_append_new(array, json_string(*list));
  return array;
}

json_t *page_json(const Page *page) {
  json_t *anchors = json_array();
  for (guint s = 0; s < page->sections->len; s++)
    json_array_append_new(anchors,
                          json_string(((const PageSection *)page->sections->pdata[s])->anchor));
  return json_pack("{ss ss ss ss so so so so so}", "id", page->id, "title", page->title, "type",
                   page->type, "confidence", page->confidence, "architectures",
                   words(page->architectures), "languages", words(page->languages), "tags",
                   words(page->tags), "related", words(page->related), "anchors", anchors);
}

json_t *pages_list_json(const Pages *pages, const Rules *rules, const PageFilter *filter) {
  const GPtrArray *all = pages_all(pages);
  json_t *list = json_array();
  for (guint i = 0; i < all->len; i++)
    if (page_matches(all->pdata[i], rules, filter))
      json_array_append_new(list, page_json(all->pdata[i]));
  return json_pack("{so}", "pages", list);
}

void page_print_front_matter(const Page *page, GString *out) {
  size_t size = 0;
  const char *text = kc_data_get(page->path, &size);
  if (text) g_string_append_len(out, text, (gssize)kc_yaml_part(page->path, text, size));
}
