#include "support/suggest.h"

#include <string.h>

#include <glib.h>

enum { LONGEST = 96 };

/* Edit distance with transposition of neighbours counted as one edit (optimal string alignment). */
static size_t distance(const char *a, const char *b) {
  size_t la = strlen(a), lb = strlen(b);
  if (la > LONGEST || lb > LONGEST) return LONGEST;
  size_t rows[3][LONGEST + 1];
  for (size_t j = 0; j <= lb; j++)
    rows[1][j] = j;
  for (size_t i = 1; i <= la; i++) {
    size_t *before = rows[(i + 2) % 3], *last = rows[i % 3], *now = rows[(i + 1) % 3];
    now[0] = i;
    for (size_t j = 1; j <= lb; j++) {
      now[j] = MIN(MIN(last[j], now[j - 1]) + 1, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = MIN(now[j], before[j - 2] + 1);
    }
  }
  return rows[(la + 1) % 3][lb];
}

const char *kc_nearest(const char *word, const char *const *names, size_t count) {
  const char *best = NULL;
  size_t best_distance = MAX(strlen(word) / 3, (size_t)2) + 1;
  for (size_t i = 0; i < count; i++) {
    size_t d = distance(word, names[i]);
    if (d < best_distance && d < strlen(names[i])) {
      best = names[i];
      best_distance = d;
    }
  }
  for (size_t i = 0; !best && i < count && strlen(word) >= 3; i++)
    if (strncmp(names[i], word, strlen(word)) == 0) best = names[i];
  return best;
}
