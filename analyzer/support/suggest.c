#include "support/suggest.h"

#include <string.h>

#include <glib.h>

enum { MAX_WORD = 64 };

/* Edits (insert, delete, replace, swap of neighbours) between two words of at most MAX_WORD bytes.
 */
static int edits(const char *a, const char *b) {
  int na = (int)strlen(a), nb = (int)strlen(b);
  if (na > MAX_WORD || nb > MAX_WORD) return MAX_WORD;
  int rows[3][MAX_WORD + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (int j = 0; j <= nb; j++)
    last[j] = j;
  for (int i = 1; i <= na; i++) {
    now[0] = i;
    for (int j = 1; j <= nb; j++) {
      char ca = g_ascii_tolower(a[i - 1]), cb = g_ascii_tolower(b[j - 1]);
      now[j] = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (ca != cb));
      if (i > 1 && j > 1 && ca == g_ascii_tolower(b[j - 2]) && cb == g_ascii_tolower(a[i - 2]))
        now[j] = MIN(now[j], before[j - 2] + 1);
    }
    int *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[nb];
}

const char *kc_suggest(const char *word, const char *const *known) {
  const char *best = NULL;
  int best_edits = 0;
  for (; *known; known++) {
    int distance = edits(word, *known);
    if (distance * 3 > (int)strlen(*known) + 2) continue;
    if (!best || distance < best_edits) {
      best = *known;
      best_edits = distance;
    }
  }
  return best;
}
