/* Findings as values: freeing, ordering, equality. */
#ifndef KC_RULES_FINDING_H
#define KC_RULES_FINDING_H

#include "rules/rules.h"

/* A finding with empty lists and every text NULL. */
Finding *finding_new(void);
void finding_related_free(FindingRelated *related);
/* Whether the two are of one rule and each names the other's line: one fault seen from both ends.
 */
bool finding_is_mirror(const Finding *a, const Finding *b);
/* GCompareFunc over Finding**: path, line, column, rule, then the more severe first. */
gint finding_compare(gconstpointer a, gconstpointer b);

#endif
