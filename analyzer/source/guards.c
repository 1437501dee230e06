/* The conditional regions of a file, read line by line: libclang says which text it skipped, not
 * under which condition. */
#include <ctype.h>
#include <string.h>

#include "source/internal.h"

typedef struct {
  Guards *guards;
  SourceText text;
  size_t at;
  uint32_t line;
  int open; /* innermost open guard, -1 */
} GuardReader;

/* A directive with its continuation lines joined and its comment cut off. */
static char *directive_line(GuardReader *r, uint32_t *lines) {
  g_autoptr(GString) joined = g_string_new(NULL);
  *lines = 0;
  for (bool more = true; more && r->at < r->text.length;) {
    const char *start = r->text.text + r->at;
    const char *newline = memchr(start, '\n', r->text.length - r->at);
    size_t length = newline ? (size_t)(newline - start) : r->text.length - r->at;
    r->at += length + (newline != NULL);
    ++*lines;
    while (length > 0 && start[length - 1] == '\r')
      length--;
    more = length > 0 && start[length - 1] == '\\';
    g_string_append_len(joined, start, (gssize)(more ? length - 1 : length));
  }
  char *comment = strstr(joined->str, "//");
  if (comment) g_string_truncate(joined, (gsize)(comment - joined->str));
  return kc_strdup(r->guards->arena, g_strstrip(joined->str));
}

static const char *after_word(const char *text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(text, word, length) != 0) return NULL;
  if (isalnum((unsigned char)text[length]) || text[length] == '_') return NULL;
  for (text += length; isspace((unsigned char)*text);)
    text++;
  return text;
}

static void open_guard(GuardReader *r, const char *condition, int before, int parent) {
  Guard guard = {.line = r->line,
                 .end = UINT32_MAX,
                 .parent = parent,
                 .before = before,
                 .condition = condition};
  KC_PUSH(r->guards->arena, r->guards->list, guard);
  r->open = r->guards->list.count - 1;
}

static void read_directive(GuardReader *r, const char *text) {
  KcArena *arena = r->guards->arena;
  const char *rest;
  if ((rest = after_word(text, "ifdef"))) {
    open_guard(r, kc_printf(arena, "defined(%s)", rest), -1, r->open);
  } else if ((rest = after_word(text, "ifndef"))) {
    open_guard(r, kc_printf(arena, "!defined(%s)", rest), -1, r->open);
  } else if ((rest = after_word(text, "if"))) {
    open_guard(r, rest, -1, r->open);
  } else if (r->open < 0) {
    rest = after_word(text, "define");
  } else if ((rest = after_word(text, "elif")) || after_word(text, "else")) {
    int before = r->open;
    r->guards->list.items[before].end = r->line;
    open_guard(r, rest, before, r->guards->list.items[before].parent);
  } else if (after_word(text, "endif")) {
    r->guards->list.items[r->open].end = r->line;
    r->open = r->guards->list.items[r->open].parent;
  }
  if ((rest = after_word(text, "define"))) {
    size_t length = strspn(rest, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    const char *value = rest[length] == '(' ? "" : rest + length + strspn(rest + length, " \t");
    GuardMacro macro = {kc_strndup(arena, rest, length), value, r->open};
    KC_PUSH(arena, r->guards->macros, macro);
  }
}

Guards guards_read(KcArena *arena, SourceText text) {
  Guards guards = {.arena = arena};
  GuardReader r = {&guards, text, 0, 1, -1};
  while (r.at < text.length) {
    uint32_t lines;
    int before = guards.list.count;
    const char *line = directive_line(&r, &lines);
    if (*line == '#') {
      for (line++; isspace((unsigned char)*line);)
        line++;
      read_directive(&r, line);
    }
    r.line += lines;
    if (guards.list.count > before) guards.list.items[before].begin = r.line;
  }
  return guards;
}

int guards_at(const Guards *guards, uint32_t line) {
  int innermost = -1;
  for (int i = 0; i < guards->list.count; i++) {
    const Guard *g = &guards->list.items[i];
    if (g->begin <= line && line < g->end) innermost = i;
  }
  return innermost;
}

static bool mentions(const char *condition, const char *const *words) {
  for (; *words; words++)
    if (strstr(condition, *words)) return true;
  return false;
}

static bool chain_mentions(const Guards *guards, int guard, const char *const *words, int depth);

/* Also through macros that are defined in a region of such a guard. */
static bool condition_mentions(const Guards *guards, const char *condition,
                               const char *const *words, int depth) {
  if (mentions(condition, words)) return true;
  for (int i = 0; i < guards->macros.count; i++) {
    const GuardMacro *macro = &guards->macros.items[i];
    const char *found = *macro->name ? strstr(condition, macro->name) : NULL;
    if (found && chain_mentions(guards, macro->guard, words, depth - 1)) return true;
  }
  return false;
}

static bool chain_mentions(const Guards *guards, int guard, const char *const *words, int depth) {
  if (depth <= 0) return false;
  for (; guard >= 0; guard = guards->list.items[guard].parent)
    for (int branch = guard; branch >= 0; branch = guards->list.items[branch].before) {
      const char *condition = guards->list.items[branch].condition;
      if (condition && condition_mentions(guards, condition, words, depth)) return true;
    }
  return false;
}

bool guards_depend_on_target(const Guards *guards, int guard) {
  static const char *const words[] = {"__CUDA_ARCH", NULL};
  return chain_mentions(guards, guard, words, 4);
}

bool guards_test_feature(const Guards *guards, int guard) {
  static const char *const words[] = {"__CUDA_ARCH_FEAT_", "__CUDA_ARCH_SPECIFIC__",
                                      "__CUDA_ARCH_FAMILY_SPECIFIC__", "__CUDA_ARCH_HAS_FEATURE__",
                                      NULL};
  return chain_mentions(guards, guard, words, 4);
}

Truth guards_admit(const Guards *guards, int guard, int number, int nesting) {
  Truth all = TRUTH_TRUE;
  for (; guard >= 0; guard = guards->list.items[guard].parent) {
    const Guard *g = &guards->list.items[guard];
    Truth here =
        g->condition ? condition_holds(guards, g->condition, number * 10, nesting) : TRUTH_TRUE;
    if (here == TRUTH_FALSE) return TRUTH_FALSE;
    if (here == TRUTH_UNKNOWN) all = TRUTH_UNKNOWN;
    for (int branch = g->before; branch >= 0; branch = guards->list.items[branch].before) {
      Truth taken =
          condition_holds(guards, guards->list.items[branch].condition, number * 10, nesting);
      if (taken == TRUTH_TRUE) return TRUTH_FALSE;
      if (taken == TRUTH_UNKNOWN) all = TRUTH_UNKNOWN;
    }
  }
  return all;
}
