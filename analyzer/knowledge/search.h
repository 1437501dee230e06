/* Finds the pages and rules that speak of something. */
#ifndef KC_KNOWLEDGE_SEARCH_H
#define KC_KNOWLEDGE_SEARCH_H

#include <glib.h>
#include <jansson.h>

#include "knowledge/page.h"
#include "rules/rules.h"

typedef struct SearchQuery {
  const char *const *words; /* NULL-terminated; may be empty when a filter is given */
  const char *tag;          /* only pages with this tag, rules of this family; or NULL */
  const char *arch;         /* only what speaks of this target ("sm_100", "sm_100a"); or NULL */
  const char *rule; /* only the page of this rule, and pages whose caveats name it; or NULL */
  guint limit;      /* most results; 0: 10 */
} SearchQuery;

typedef struct SearchHit {
  const char *id;     /* "technique-pipeline-stages", "mbarrier-phase-not-flipped" */
  const char *anchor; /* of the section, or NULL for a rule or a whole page */
  const char *title;
  bool is_rule;
  double score;
  char *excerpt; /* the first sentence that holds a word, or the first of all */
} SearchHit;

/* The hits, best first, among equals rules before pages and then by id: every section that holds
 * all words; when none does, those that hold most of them. A word counts more in a title than in a
 * tag, more in a tag than in the text, and more the rarer it is. GPtrArray of SearchHit*, freed
 * with it; valid as long as both rooms. */
GPtrArray *search(const Pages *pages, const Rules *rules, const SearchQuery *query);
void search_print(const GPtrArray *hits, GString *out);
json_t *search_json(const GPtrArray *hits);

#endif
