/* What kcheck knows about its rules, as text and as JSON. */
#ifndef KC_KNOWLEDGE_EXPLAIN_H
#define KC_KNOWLEDGE_EXPLAIN_H

#include <glib.h>
#include <jansson.h>

#include "rules/rules.h"

/* The rule in a fixed shape of 80 columns: what it does, why it is bad, example, use instead, known
 * limits, fix safety, what other tools say, references. */
void knowledge_explain(const Rule *rule, GString *out);
/* The rules of `families` (NULL or empty: all), one a line under their family. */
void knowledge_rules_text(const Rules *rules, const char *const *families, GString *out);
/* The document of `kcheck rules --format json` (interface contract); new reference. */
json_t *knowledge_rules_json(const Rules *rules, const char *const *families);

#endif
