/* "did you mean": the known word nearest to one that was mistyped. */
#ifndef KC_SUPPORT_SUGGEST_H
#define KC_SUPPORT_SUGGEST_H

#include <stddef.h>

/* The word of `known` (NULL-terminated) within a third of its length of edits of `word`; NULL when
 * none is near enough to be what was meant. Case is ignored. */
const char *kc_suggest(const char *word, const char *const *known);

#endif
