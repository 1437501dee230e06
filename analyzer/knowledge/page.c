#include "knowledge/page.h"

#include <string.h>

#include "knowledge/arch_page.h"
#include "support/arena.h"
#include "support/data.h"
#include "support/suggest.h"
#include "support/yaml.h"

struct Pages {
  KcArena *arena;
  GPtrArray *all;  /* Page*, by id */
  GPtrArray *tags; /* const char*: the words that pages may be tagged with, NULL-terminated */
  const KcYaml *aliases;
};

/* Front matter keys; those of the second row are read by nobody but people. */
static const char *const KEYS[] = {"id",
                                   "title",
                                   "type",
                                   "architectures",
                                   "languages",
                                   "tags",
                                   "confidence",
                                   "evidence_level",
                                   "measured_on",
                                   "reproducibility",
                                   "related",
                                   "sources",
                                   "prerequisites",
                                   "code",
                                   "caveats",
                                   "kernel_types",
                                   "techniques",
                                   "hardware_features",
                                   "performance_claims",
                                   "requires_sm",
                                   "cuda_version_tested",
                                   "symptoms",
                                   "aliases",
                                   "upstream",
                                   NULL};

typedef struct Load {
  KcArena *arena;
  const char *path;
  KcError *error;
} Load;

/* The length of the front matter, its first line "---" included (YAML takes that as the start of a
 * document, and line numbers stay those of the file); `body` is what follows. 0 when it fails. */
static size_t front_matter(const Load *load, const char *text, const char **body) {
  const char *end = g_str_has_prefix(text, "---\n") ? strstr(text + 4, "\n---\n") : NULL;
  if (end) {
    *body = end + 5;
    return (size_t)(end + 1 - text);
  }
  kc_fail(load->error, load->path, 1, 0, "a page starts with front matter between '---' lines");
  return 0;
}

static bool need_text(const Load *load, const KcYaml *map, const char *key, const char **out) {
  *out = kc_yaml_text(map, key, NULL);
  if (*out && **out) return true;
  return kc_fail(load->error, load->path, map->line, 0, "front matter lacks '%s'", key);
}

static bool read_list(const Load *load, const KcYaml *map, const char *key,
                      const char *const **out) {
  *out = kc_yaml_strings(load->arena, load->path, kc_yaml_get(map, key), load->error);
  return *out != NULL;
}

static bool read_caveat(const Load *load, const KcYaml *item, Page *page) {
  static const char *const keys[] = {"id", "text", "rule", "not_checkable", "evidence", NULL};
  if (item->kind != KC_YAML_MAP)
    return kc_fail(load->error, load->path, item->line, 0, "a caveat is a map");
  if (!kc_yaml_check_keys(load->path, item, keys, load->error)) return false;
  PageCaveat *caveat = KC_NEW(load->arena, PageCaveat);
  g_ptr_array_add(page->caveats, caveat);
  caveat->not_checkable = kc_yaml_text(item, "not_checkable", NULL);
  if (!need_text(load, item, "id", &caveat->id) || !need_text(load, item, "text", &caveat->text) ||
      !need_text(load, item, "evidence", &caveat->evidence) ||
      !read_list(load, item, "rule", &caveat->rules))
    return false;
  if (!*caveat->rules == !caveat->not_checkable)
    return kc_fail(load->error, load->path, item->line, 0,
                   "caveat '%s' needs a rule, or the reason why none can check it", caveat->id);
  return true;
}

static bool read_caveats(const Load *load, const KcYaml *map, Page *page) {
  const KcYaml *list = kc_yaml_get(map, "caveats");
  if (list && list->kind != KC_YAML_LIST)
    return kc_fail(load->error, load->path, list->line, 0, "'caveats' is a list");
  for (int i = 0; list && i < list->count; i++)
    if (!read_caveat(load, list->items[i], page)) return false;
  return true;
}

static bool read_front_matter(const Load *load, const KcYaml *map, Page *page) {
  page->evidence_level = kc_yaml_text(map, "evidence_level", NULL);
  page->measured_on = kc_yaml_text(map, "measured_on", NULL);
  page->reproducibility = kc_yaml_text(map, "reproducibility", NULL);
  return kc_yaml_check_keys(load->path, map, KEYS, load->error) &&
         need_text(load, map, "id", &page->id) && need_text(load, map, "title", &page->title) &&
         need_text(load, map, "type", &page->type) &&
         need_text(load, map, "confidence", &page->confidence) &&
         read_list(load, map, "architectures", &page->architectures) &&
         read_list(load, map, "languages", &page->languages) &&
         read_list(load, map, "tags", &page->tags) &&
         read_list(load, map, "related", &page->related) &&
         read_list(load, map, "sources", &page->sources) &&
         read_list(load, map, "prerequisites", &page->prerequisites) &&
         read_list(load, map, "aliases", &page->aliases) &&
         read_list(load, map, "symptoms", &page->symptoms) &&
         read_list(load, map, "upstream", &page->upstream) &&
         read_list(load, map, "code", &page->code) && read_caveats(load, map, page);
}

/* Tags are words of knowledge/vocabulary.yaml, so that one thing has one name. */
static bool check_tags(const Pages *pages, const Load *load, const Page *page) {
  const char *const *known = (const char *const *)pages->tags->pdata;
  for (const char *const *tag = page->tags; *tag; tag++) {
    if (g_strv_contains(known, *tag)) continue;
    kc_fail(load->error, load->path, 0, 0, "tag '%s' is not in knowledge/vocabulary.yaml", *tag);
    const char *near = kc_suggest(*tag, known);
    if (near) kc_hint(load->error, "did you mean '%s'?", near);
    return false;
  }
  return true;
}

static bool in_its_place(const Load *load, const Page *page) {
  g_autofree char *expected = g_strdup_printf("knowledge/pages/%s/%s.md", page->type, page->id);
  if (strcmp(page->type, "architecture") == 0 || strcmp(expected, load->path) == 0) return true;
  return kc_fail(load->error, load->path, 2, 0, "page '%s' of type '%s' belongs into %s", page->id,
                 page->type, expected);
}

static char *anchor_of(KcArena *arena, const char *title) {
  char *anchor = kc_strdup(arena, title), *to = anchor;
  for (const char *at = title; *at; at++) {
    if (g_ascii_isalnum(*at)) *to++ = g_ascii_tolower(*at);
    if (*at == ' ' || *at == '-') *to++ = '-';
  }
  *to = '\0';
  return anchor;
}

static int heading_level(const char *line) {
  int level = (int)strspn(line, "#");
  return level > 0 && level <= 4 && line[level] == ' ' ? level : 0;
}

/* Cuts the body at its headings; lines inside a code fence are none. */
static bool read_sections(const Load *load, const char *body, Page *page) {
  g_auto(GStrv) lines = g_strsplit(body, "\n", -1);
  g_autoptr(GString) text = g_string_new(NULL);
  PageSection *section = NULL;
  bool code = false;
  for (char **line = lines;; line++) {
    if (*line && g_str_has_prefix(*line, "```")) code = !code;
    int level = *line && !code ? heading_level(*line) : 0;
    if ((level || !*line) && section) section->text = kc_strdup(load->arena, text->str);
    if (!*line) break;
    if (!level) {
      g_string_append_printf(text, "%s\n", *line);
      continue;
    }
    section = KC_NEW(load->arena, PageSection);
    section->level = level;
    section->title = kc_strdup(load->arena, *line + level + 1);
    section->anchor = anchor_of(load->arena, section->title);
    g_ptr_array_add(page->sections, section);
    g_string_truncate(text, 0);
  }
  if (page->sections->len > 0) return true;
  return kc_fail(load->error, load->path, 0, 0, "a page has a heading");
}

static bool add_page(Pages *pages, const Load *load, const char *text) {
  const char *body = NULL;
  size_t length = front_matter(load, text, &body);
  const KcYaml *map =
      length ? kc_yaml_parse(load->arena, load->path, text, length, load->error) : NULL;
  if (!map) return false;
  Page *page = KC_NEW(load->arena, Page);
  page->path = kc_strdup(load->arena, load->path);
  page->sections = g_ptr_array_new();
  page->caveats = g_ptr_array_new();
  g_ptr_array_add(pages->all, page);
  return read_front_matter(load, map, page) && check_tags(pages, load, page) &&
         read_sections(load, body, page) && in_its_place(load, page);
}

static gint by_id(gconstpointer a, gconstpointer b) {
  return strcmp((*(const Page *const *)a)->id, (*(const Page *const *)b)->id);
}

typedef struct Visit {
  Pages *pages;
  KcError *error;
  bool ok;
} Visit;

static void visit_page(const char *path, const char *text, void *user) {
  Visit *visit = user;
  Load load = {visit->pages->arena, path, visit->error};
  if (visit->ok) visit->ok = add_page(visit->pages, &load, text);
}

static void visit_file(const char *path, const char *text, size_t length, void *user) {
  (void)length;
  if (g_str_has_suffix(path, ".md") && !g_str_has_suffix(path, "/README.md"))
    visit_page(path, text, user);
}

static bool read_vocabulary(Pages *pages, KcError *error) {
  static const char path[] = "knowledge/vocabulary.yaml";
  size_t length = 0;
  const char *text = kc_data_get(path, &length);
  if (!text) return kc_fail(error, path, 0, 0, "the list of tags is not there");
  const KcYaml *root = kc_yaml_parse(pages->arena, path, text, length, error);
  const KcYaml *tags = root ? kc_yaml_get(root, "tags") : NULL;
  if (!root) return false;
  if (!tags || tags->kind != KC_YAML_MAP)
    return kc_fail(error, path, 1, 0, "'tags' is a map of words and what they mean");
  pages->aliases = kc_yaml_get(root, "aliases");
  for (int i = 0; i < tags->count; i++)
    g_ptr_array_add(pages->tags, (gpointer)tags->keys[i]->text);
  g_ptr_array_add(pages->tags, NULL);
  return true;
}

Pages *pages_load(KcError *error) {
  Pages *pages = g_new0(Pages, 1);
  pages->arena = kc_arena_new();
  pages->all = g_ptr_array_new();
  pages->tags = g_ptr_array_new();
  Visit visit = {pages, error, read_vocabulary(pages, error)};
  kc_data_each("knowledge/pages/", visit_file, &visit);
  if (!visit.ok || !arch_pages_each(visit_page, &visit, error) || !visit.ok) {
    pages_free(pages);
    return NULL;
  }
  g_ptr_array_sort(pages->all, by_id);
  return pages;
}

void pages_free(Pages *pages) {
  if (!pages) return;
  for (guint i = 0; i < pages->all->len; i++) {
    g_ptr_array_unref(((Page *)pages->all->pdata[i])->sections);
    g_ptr_array_unref(((Page *)pages->all->pdata[i])->caveats);
  }
  g_ptr_array_unref(pages->all);
  g_ptr_array_unref(pages->tags);
  kc_arena_free(pages->arena);
  g_free(pages);
}

const GPtrArray *pages_all(const Pages *pages) {
  return pages->all;
}

static void suggest(const char *word, const GPtrArray *names, const char *otherwise,
                    KcError *error) {
  const char *near = kc_suggest(word, (const char *const *)names->pdata);
  if (near)
    kc_hint(error, "did you mean '%s'?", near);
  else
    kc_hint(error, "%s", otherwise);
}

const Page *pages_find(const Pages *pages, const char *id, KcError *error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < pages->all->len; i++) {
    const Page *page = pages->all->pdata[i];
    if (strcmp(page->id, id) == 0 || g_strv_contains(page->aliases, id)) return page;
    g_ptr_array_add(names, (gpointer)page->id);
  }
  g_ptr_array_add(names, NULL);
  kc_fail(error, NULL, 0, 0, "there is no page '%s'", id);
  suggest(id, names, "`kcheck page --list` lists them all", error);
  return NULL;
}

const char *pages_word(const Pages *pages, const char *word) {
  return pages->aliases ? kc_yaml_text(pages->aliases, word, word) : word;
}

const char *const *page_types(void) {
  static const char *const types[] = {"technique", "hardware",  "architecture", "skill", "pattern",
                                      "kernel",    "migration", "language",     NULL};
  return types;
}

bool archs_hold(const char *const *archs, const char *wanted) {
  gint64 number = g_ascii_strtoll(wanted + (g_str_has_prefix(wanted, "sm_") ? 3 : 0), NULL, 10);
  for (; *archs; archs++) {
    if (strcmp(*archs, "any") == 0) return true;
    gint64 own = g_ascii_strtoll(*archs + (g_str_has_prefix(*archs, "sm_") ? 3 : 0), NULL, 10);
    if (own == number || (g_str_has_suffix(*archs, "+") && number >= own)) return true;
  }
  return false;
}

bool page_matches(const Page *page, const Rules *rules, const PageFilter *filter) {
  if (filter->type && strcmp(filter->type, page->type) != 0) return false;
  if (filter->tag && !g_strv_contains(page->tags, filter->tag)) return false;
  if (filter->arch && !archs_hold(page->architectures, filter->arch)) return false;
  if (filter->language && !g_strv_contains(page->languages, filter->language)) return false;
  if (filter->confidence && strcmp(filter->confidence, page->confidence) != 0) return false;
  if (!filter->rule) return true;
  const Rule *rule = rules_find(rules, filter->rule, NULL);
  if (rule && strcmp(rule->page, page->id) == 0) return true;
  for (guint i = 0; i < page->caveats->len; i++)
    if (g_strv_contains(((const PageCaveat *)page->caveats->pdata[i])->rules, filter->rule))
      return true;
  return false;
}

const PageSection *page_section(const Page *page, const char *anchor, KcError *error) {
  g_autoptr(GPtrArray) names = g_ptr_array_new();
  for (guint i = 0; i < page->sections->len; i++) {
    const PageSection *section = page->sections->pdata[i];
    if (strcmp(section->anchor, anchor) == 0) return section;
    g_ptr_array_add(names, (gpointer)section->anchor);
  }
  g_ptr_array_add(names, NULL);
  kc_fail(error, NULL, 0, 0, "page '%s' has no section '%s'", page->id, anchor);
  suggest(anchor, names, "the page itself shows its sections", error);
  return NULL;
}
