#include "cli/guess.h"

#include <string.h>

#include "cuda/scan.h"

typedef struct Clue {
  const char *word, *arch;
} Clue;

static const Clue CLUES[] = {
    {"tcgen05", "sm_100a"},
    {"clusterlaunchcontrol", "sm_100a"},
    {"kind::mxf", "sm_120a"},
    {"wgmma", "sm_90a"},
};

/* A bit for each clue that occurs outside comments. */
static unsigned find_clues(const char *text, gsize length) {
  unsigned seen = 0;
  for (gsize at = 0; at < length; at++) {
    if (text[at] == '/' && at + 1 < length && (text[at + 1] == '/' || text[at + 1] == '*')) {
      gsize end = scan_skip(text, length, at);
      if (end > at) at = end - 1;
      continue;
    }
    for (guint i = 0; i < G_N_ELEMENTS(CLUES); i++) {
      const char *word = CLUES[i].word;
      if (text[at] == *word && length - at >= strlen(word) &&
          !memcmp(text + at, word, strlen(word)))
        seen |= 1u << i;
    }
  }
  /* tcgen05.mma has the same kinds as the mma of sm_120a. */
  if (seen & 1u) seen &= ~(1u << 2);
  return seen;
}

static void add(GPtrArray *out, const char *arch) {
  for (guint i = 0; i < out->len; i++)
    if (strcmp(out->pdata[i], arch) == 0) return;
  g_ptr_array_add(out, (gpointer)arch);
}

void guess_archs(const char *text, gsize length, GPtrArray *out, const char **because) {
  unsigned seen = find_clues(text, length);
  *because = NULL;
  for (guint i = G_N_ELEMENTS(CLUES); i-- > 0;) { /* oldest target first */
    if (!(seen & 1u << i)) continue;
    add(out, CLUES[i].arch);
    *because = CLUES[i].word;
  }
  if (out->len == 0) g_ptr_array_add(out, (gpointer)GUESS_DEFAULT);
  /* The default needs no reason. */
  if (out->len == 1 && strcmp(out->pdata[0], GUESS_DEFAULT) == 0) *because = NULL;
}
