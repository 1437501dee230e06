#include "knowledge/search.h"

#include <math.h>
#include <string.h>

#include "knowledge/fill.h"

/* What can be found: a section of a page, or a rule. Texts in lower case. */
typedef struct Entry {
  const char *id, *anchor, *title;
  bool is_rule;
  char *name, *tags, *body; /* name: id, page title and heading */
  const char *text;         /* as written, for the excerpt */
} Entry;

enum { NAME_WEIGHT = 10, TAG_WEIGHT = 6, BODY_MOST = 3, DEFAULT_LIMIT = 10, EXCERPT_MOST = 150 };

static void entry_free(gpointer data) {
  Entry *entry = data;
  g_free(entry->name);
  g_free(entry->tags);
  g_free(entry->body);
  g_free(entry);
}

static char *lower(char *text) {
  char *result = g_utf8_strdown(text, -1);
  g_free(text);
  return result;
}

static bool rule_wanted(const Rule *rule, const SearchQuery *query) {
  if (query->tag && strcmp(query->tag, rule->family) != 0) return false;
  if (query->arch && !archs_hold((const char *const *)rule->archs, query->arch)) return false;
  return !query->rule || strcmp(query->rule, rule->id) == 0;
}

static void add_page(GPtrArray *entries, const Page *page) {
  g_autofree char *own = g_strjoinv(" ", (char **)page->tags);
  g_autofree char *aliases = g_strjoinv(" ", (char **)page->aliases);
  g_autofree char *symptoms = g_strjoinv(" ", (char **)page->symptoms);
  g_autofree char *tags = g_strjoin(" ", own, aliases, symptoms, NULL);
  for (guint i = 0; i < page->sections->len; i++) {
    const PageSection *section = page->sections->pdata[i];
    Entry *entry = g_new0(Entry, 1);
    entry->id = page->id;
    entry->anchor = i ? section->anchor : NULL;
    entry->title = i ? section->title : page->title;
    /* The page's own words count for its first section only, else all would tie. */
    entry->name =
        lower(i ? g_strdup(section->title) : g_strdup_printf("%s %s", page->id, page->title));
    entry->tags = lower(g_strdup(i ? "" : tags));
    entry->body = lower(g_strdup(section->text));
    entry->text = section->text;
    g_ptr_array_add(entries, entry);
  }
}

static void add_rule(GPtrArray *entries, const Rule *rule) {
  Entry *entry = g_new0(Entry, 1);
  entry->id = rule->id;
  entry->title = rule->summary;
  entry->is_rule = true;
  entry->name = lower(g_strdup_printf("%s %s", rule->id, rule->summary));
  entry->tags = lower(g_strdup(rule->family));
  g_autofree char *tools = g_strjoinv(" ", rule->tools);
  entry->body =
      lower(g_strdup_printf("%s %s %s %s", rule->trigger, rule->consequence, rule->help, tools));
  entry->text = rule->trigger;
  g_ptr_array_add(entries, entry);
}

/* The next place where a word of `text` begins with `word`: "hang" is in "hangs", not in "change".
 */
static const char *find_word(const char *text, const char *word) {
  for (const char *at = text; (at = strstr(at, word)); at++)
    if (at == text || !g_ascii_isalnum(at[-1]) || !g_ascii_isalnum(*word)) return at;
  return NULL;
}

/* How often, up to `most`. */
static int occurrences(const char *text, const char *word, int most) {
  int count = 0;
  for (const char *at = text; count < most && (at = find_word(at, word)); at += strlen(word))
    count++;
  return count;
}

static double weight_in(const Entry *entry, const char *word) {
  return NAME_WEIGHT * occurrences(entry->name, word, 1) +
         TAG_WEIGHT * occurrences(entry->tags, word, 1) + occurrences(entry->body, word, BODY_MOST);
}

/* At most EXCERPT_MOST characters, ended behind a word. */
static char *cut(const char *sentence) {
  glong length = g_utf8_strlen(sentence, -1);
  if (length <= EXCERPT_MOST) return g_strdup(sentence);
  g_autofree char *part = g_utf8_substring(sentence, 0, EXCERPT_MOST);
  char *blank = strrchr(part, ' ');
  if (blank) *blank = '\0';
  return g_strconcat(part, " ...", NULL);
}

static bool holds_one(const char *sentence, char *const *words) {
  g_autofree char *small = g_utf8_strdown(sentence, -1);
  for (; *words; words++)
    if (find_word(small, *words)) return true;
  return false;
}

/* The first sentence of `text` that holds one of the words, else the first of all. */
static char *excerpt(const char *text, char *const *words) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  const char *first = NULL;
  for (char **line = lines; *line; line++) {
    if (**line == '|' || !**line) continue; /* a row of a table says little by itself */
    if (!first) first = *line;
    g_auto(GStrv) sentences = g_strsplit(*line, ". ", -1);
    for (char **sentence = sentences; *sentence; sentence++)
      if (holds_one(*sentence, words)) return cut(*sentence);
  }
  return cut(first ? first : "");
}

static void hit_free(gpointer data) {
  SearchHit *hit = data;
  g_free(hit->excerpt);
  g_free(hit);
}

static gint by_score(gconstpointer a, gconstpointer b) {
  const SearchHit *left = *(SearchHit *const *)a, *right = *(SearchHit *const *)b;
  if (left->score != right->score) return left->score > right->score ? -1 : 1;
  if (left->is_rule != right->is_rule) return left->is_rule ? -1 : 1;
  int order = strcmp(left->id, right->id);
  return order ? order : g_strcmp0(left->anchor, right->anchor);
}

static char **normal_words(const Pages *pages, const char *const *words) {
  g_autoptr(GPtrArray) normal = g_ptr_array_new();
  for (; words && *words; words++) {
    g_auto(GStrv) parts = g_strsplit_set(*words, " \t", -1);
    for (char **part = parts; *part; part++)
      if (**part) {
        g_autofree char *small = g_utf8_strdown(*part, -1);
        g_ptr_array_add(normal, g_strdup(pages_word(pages, small)));
      }
  }
  g_ptr_array_add(normal, NULL);
  return (char **)g_ptr_array_steal(normal, NULL);
}

/* How much a word tells: the logarithm of how rare it is. */
static double *rareness(const GPtrArray *entries, char *const *words) {
  double *values = g_new0(double, g_strv_length((char **)words) + 1);
  for (guint w = 0; words[w]; w++) {
    guint holding = 0;
    for (guint i = 0; i < entries->len; i++)
      holding += weight_in(entries->pdata[i], words[w]) > 0;
    values[w] = log(1.0 + (double)entries->len / (1.0 + holding));
  }
  return values;
}

static guint words_in(const Entry *entry, char *const *words) {
  guint count = 0;
  for (; *words; words++)
    count += weight_in(entry, *words) > 0;
  return count;
}

static GPtrArray *rank(const GPtrArray *entries, char *const *words, const SearchQuery *query) {
  g_autofree double *values = rareness(entries, words);
  GPtrArray *hits = g_ptr_array_new_with_free_func(hit_free);
  guint most = 0;
  for (guint i = 0; i < entries->len; i++)
    most = MAX(most, words_in(entries->pdata[i], words));
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = entries->pdata[i];
    if (words_in(entry, words) < most || (*words && most == 0)) continue;
    SearchHit *hit = g_new0(SearchHit, 1);
    *hit = (SearchHit){entry->id, entry->anchor, entry->title, entry->is_rule, 0, NULL};
    /* Asked for by its id, the rule itself comes before the pages about it. */
    if (query->rule && entry->is_rule) hit->score = 1000;
    for (guint w = 0; words[w]; w++)
      hit->score += values[w] * weight_in(entry, words[w]);
    hit->excerpt = excerpt(entry->text, words);
    g_ptr_array_add(hits, hit);
  }
  g_ptr_array_sort(hits, by_score);
  guint limit = query->limit ? query->limit : DEFAULT_LIMIT;
  if (hits->len > limit) g_ptr_array_set_size(hits, (gint)limit);
  return hits;
}

GPtrArray *search(const Pages *pages, const Rules *rules, const SearchQuery *query) {
  g_autoptr(GPtrArray) entries = g_ptr_array_new_with_free_func(entry_free);
  const GPtrArray *all_pages = pages_all(pages), *all_rules = rules_all(rules);
  const PageFilter filter = {NULL, query->tag, query->arch, query->rule};
  for (guint i = 0; i < all_pages->len; i++)
    if (page_matches(all_pages->pdata[i], rules, &filter)) add_page(entries, all_pages->pdata[i]);
  for (guint i = 0; i < all_rules->len; i++)
    if (rule_wanted(all_rules->pdata[i], query)) add_rule(entries, all_rules->pdata[i]);
  g_auto(GStrv) words = normal_words(pages, query->words);
  return rank(entries, words, query);
}

void search_print(const GPtrArray *hits, GString *out) {
  for (guint i = 0; i < hits->len; i++) {
    const SearchHit *hit = hits->pdata[i];
    g_autofree char *head = g_strdup_printf("%s%s%s  ", hit->id, hit->anchor ? "#" : "",
                                            hit->anchor ? hit->anchor : "");
    g_autofree char *title = g_strconcat(hit->is_rule ? "rule: " : "", hit->title, NULL);
    fill_append(out, title, head, "    ");
    if (*hit->excerpt) fill_append(out, hit->excerpt, "    ", "    ");
  }
}

json_t *search_json(const GPtrArray *hits) {
  json_t *list = json_array();
  for (guint i = 0; i < hits->len; i++) {
    const SearchHit *hit = hits->pdata[i];
    json_array_append_new(list, json_pack("{ss ss? ss ss ss}", "id", hit->id, "anchor", hit->anchor,
                                          "title", hit->title, "kind",
                                          hit->is_rule ? "rule" : "page", "excerpt", hit->excerpt));
  }
  return json_pack("{so}", "hits", list);
}
