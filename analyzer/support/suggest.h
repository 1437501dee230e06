/* "Did you mean ...?" for names that a person wrote. */
#ifndef KC_SUPPORT_SUGGEST_H
#define KC_SUPPORT_SUGGEST_H

#include <stddef.h>

/* The name nearest to `word` by edit distance, when it is near enough to be meant (a third of the
 * word's length, at least 2 edits, or a prefix of it); else NULL. The first wins a tie. */
const char *kc_nearest(const char *word, const char *const *names, size_t count);

#endif
