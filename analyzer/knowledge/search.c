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

/* Small letters; most texts are plain ASCII, where that is one quick pass. */
static char *lowered(const char *text) {
  return g_str_is_ascii(text) ? g_ascii_strdown(text, -1) : g_utf8_strdown(text, -1);
}

static char *lower(char *text) {
  char *result = lowered(text);
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

/* What is looked for: a word in lower case, or a pattern (PCRE2). */
typedef struct Term {
  char *word;
  GRegex *pattern; /* NULL: the word itself */
} Term;

static void term_free(gpointer data) {
  Term *term = data;
  g_free(term->word);
  g_clear_pointer(&term->pattern, g_regex_unref);
  g_free(term);
}

/* A word with signs of a pattern that is none ("c++") stands for itself. */
static Term *term_new(const char *given, const char *word) {
  Term *term = g_new0(Term, 1);
  term->word = g_strdup(word);
  if (strpbrk(given, "\\^$[](){}|*"))
    term->pattern =
        g_regex_new(given, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, G_REGEX_MATCH_NOTEMPTY, NULL);
  return term;
}

/* The next place where a word of `text` begins with the term: "hang" is in "hangs", not in
 * "change"; a pattern matches anywhere. `end`: behind what was found. */
static const char *find_term(const char *text, const Term *term, const char **end) {
  if (term->pattern) {
    g_autoptr(GMatchInfo) match = NULL;
    gint from = 0, to = 0;
    if (!g_regex_match(term->pattern, text, 0, &match)) return NULL;
    g_match_info_fetch_pos(match, 0, &from, &to);
    *end = text + to;
    return text + from;
  }
  for (const char *at = text; (at = strstr(at, term->word)); at++)
    if (at == text || !g_ascii_isalnum(at[-1]) || !g_ascii_isalnum(*term->word)) {
      *end = at + strlen(term->word);
      return at;
    }
  return NULL;
}

/* How often, up to `most`. */
static int occurrences(const char *text, const Term *term, int most) {
  int count = 0;
  for (const char *at = text; count < most && find_term(at, term, &at);)
    count++;
  return count;
}

static double weight_in(const Entry *entry, const Term *term) {
  return NAME_WEIGHT * occurrences(entry->name, term, 1) +
         TAG_WEIGHT * occurrences(entry->tags, term, 1) + occurrences(entry->body, term, BODY_MOST);
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

static bool holds_one(const char *sentence, const GPtrArray *terms) {
  g_autofree char *small = lowered(sentence);
  const char *end;
  for (guint i = 0; i < terms->len; i++)
    if (find_term(small, terms->pdata[i], &end)) return true;
  return false;
}

/* The first sentence of `text` that holds one of the terms, else the first of all. */
static char *excerpt(const char *text, const GPtrArray *terms) {
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  const char *first = NULL;
  for (char **line = lines; *line; line++) {
    if (**line == '|' || !**line) continue; /* a row of a table says little by itself */
    if (!first) first = *line;
    g_auto(GStrv) sentences = g_strsplit(*line, ". ", -1);
    for (char **sentence = sentences; *sentence; sentence++)
      if (holds_one(*sentence, terms)) return cut(*sentence);
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

static GPtrArray *terms_of(const Pages *pages, const char *const *words) {
  GPtrArray *terms = g_ptr_array_new_with_free_func(term_free);
  for (; words && *words; words++) {
    g_auto(GStrv) parts = g_strsplit_set(*words, " \t", -1);
    for (char **part = parts; *part; part++)
      if (**part) {
        g_autofree char *small = lowered(*part);
        g_ptr_array_add(terms, term_new(*part, pages_word(pages, small)));
      }
  }
  return terms;
}

/* How much a term tells: the logarithm of how rare it is. */
static double *rareness(const GPtrArray *entries, const GPtrArray *terms) {
  double *values = g_new0(double, terms->len + 1);
  for (guint t = 0; t < terms->len; t++) {
    guint holding = 0;
    for (guint i = 0; i < entries->len; i++)
      holding += weight_in(entries->pdata[i], terms->pdata[t]) > 0;
    values[t] = log(1.0 + (double)entries->len / (1.0 + holding));
  }
  return values;
}

static guint terms_in(const Entry *entry, const GPtrArray *terms) {
  guint count = 0;
  for (guint i = 0; i < terms->len; i++)
    count += weight_in(entry, terms->pdata[i]) > 0;
  return count;
}

static GPtrArray *rank(const GPtrArray *entries, const GPtrArray *terms, const SearchQuery *query) {
  g_autofree double *values = rareness(entries, terms);
  GPtrArray *hits = g_ptr_array_new_with_free_func(hit_free);
  guint most = 0;
  for (guint i = 0; i < entries->len; i++)
    most = MAX(most, terms_in(entries->pdata[i], terms));
  for (guint i = 0; i < entries->len; i++) {
    const Entry *entry = entries->pdata[i];
    if (terms_in(entry, terms) < most || (terms->len > 0 && most == 0)) continue;
    SearchHit *hit = g_new0(SearchHit, 1);
    *hit = (SearchHit){entry->id, entry->anchor, entry->title, entry->is_rule, 0, NULL};
    /* Asked for by its id, the rule itself comes before the pages about it. */
    if (query->rule && entry->is_rule) hit->score = 1000;
    for (guint t = 0; t < terms->len; t++)
      hit->score += values[t] * weight_in(entry, terms->pdata[t]);
    hit->excerpt = excerpt(entry->text, terms);
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
  const PageFilter filter = {.tag = query->tag, .arch = query->arch, .rule = query->rule};
  for (guint i = 0; i < all_pages->len; i++)
    if (page_matches(all_pages->pdata[i], rules, &filter)) add_page(entries, all_pages->pdata[i]);
  for (guint i = 0; i < all_rules->len; i++)
    if (rule_wanted(all_rules->pdata[i], query)) add_rule(entries, all_rules->pdata[i]);
  g_autoptr(GPtrArray) terms = terms_of(pages, query->words);
  return rank(entries, terms, query);
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
