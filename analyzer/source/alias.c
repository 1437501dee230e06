/* All extern __shared__ arrays of a kernel start at the same address. The IR knows one object only,
 * so their names are taken from the text. */
#include <ctype.h>
#include <string.h>

#include "source/internal.h"

enum { MAX_ARRAYS = 8 };

typedef struct {
  char *name;
  bool barriers;  /* by its element type: mbarriers lie in it */
  size_t written; /* offset of the first write, 0: none */
  size_t used;    /* ... of the first use */
} Array;

static bool is_word(SourceText text, size_t begin, size_t end, const char *word) {
  return end - begin == strlen(word) && memcmp(text.text + begin, word, end - begin) == 0;
}

static size_t skip_blanks(SourceText text, size_t at) {
  while (at < text.length && isspace((unsigned char)text.text[at]))
    at++;
  return at;
}

/* Behind `extern`: the name of the array if this declares dynamic shared memory, else NULL. */
static char *declared_array(SourceText text, size_t end, size_t *at, bool *barriers) {
  bool shared = false;
  size_t begin;
  while (source_next_word(text, end, at, &begin)) {
    if (is_word(text, begin, *at, "__shared__")) shared = true;
    if (is_word(text, begin, *at, "uint64_t") || is_word(text, begin, *at, "Barrier") ||
        is_word(text, begin, *at, "barrier"))
      *barriers = true;
    size_t next = skip_blanks(text, *at);
    if (next >= end || text.text[next] == ';') return NULL;
    if (text.text[next] == '[') return shared ? g_strndup(text.text + begin, *at - begin) : NULL;
  }
  return NULL;
}

/* Whether the element behind the name is assigned to: `name[i] =`, `name[i].x +=`. */
static bool is_write(SourceText text, size_t at) {
  at = skip_blanks(text, at);
  if (at >= text.length || text.text[at] != '[') return false;
  at = skip_blanks(text, source_skip_brackets(text, at, '[', ']'));
  while (at < text.length && (text.text[at] == '.' || isalnum((unsigned char)text.text[at])))
    at++;
  at = skip_blanks(text, at);
  if (at + 1 >= text.length) return false;
  if (strchr("+-*/|&^", text.text[at])) at++;
  return text.text[at] == '=' && text.text[at + 1] != '=';
}

/* An array of mbarriers beside one of something else: whoever uses them writes them, through
 * pointers and calls as well. */
static void count_barriers(Array *arrays, int count) {
  bool mixed = false;
  for (int i = 1; i < count; i++)
    mixed |= arrays[i].barriers != arrays[0].barriers;
  for (int i = 0; i < count && mixed; i++)
    if (!arrays[i].written) arrays[i].written = arrays[i].used;
}

static int read_arrays(SourceText text, size_t open, size_t close, Array *arrays) {
  int count = 0;
  size_t at = open, begin;
  while (source_next_word(text, close, &at, &begin)) {
    if (is_word(text, begin, at, "extern")) {
      bool barriers = false;
      char *name = declared_array(text, close, &at, &barriers);
      if (name && count < MAX_ARRAYS)
        arrays[count++] = (Array){.name = name, .barriers = barriers};
      else
        g_free(name);
      continue;
    }
    for (int i = 0; i < count; i++) {
      if (!is_word(text, begin, at, arrays[i].name)) continue;
      if (!arrays[i].used) arrays[i].used = begin;
      if (!arrays[i].written && is_write(text, at)) arrays[i].written = begin;
    }
  }
  count_barriers(arrays, count);
  return count;
}

/* A copy into one of the arrays that overwrites the barriers in the other is this same fault. */
static void drop_overwritten(IrViolations *violations, const IrKernel *kernel) {
  int kept = 0;
  for (int i = 0; i < violations->list.count; i++) {
    IrViolation *v = violations->list.items[i];
    bool same = v->kernel == kernel && strcmp(v->kind, "tma-box-exceeds-buffer") == 0 &&
                strstr(v->message, "overwrites the mbarrier");
    if (!same) violations->list.items[kept++] = v;
  }
  violations->list.count = kept;
}

static void report(SourceCheck *check, const IrKernel *kernel, SourceText text, uint32_t file,
                   const Array *first, const Array *second) {
  SourceMap *map = (SourceMap *)&check->program->sources;
  size_t offsets[2] = {second->written, first->written};
  uint32_t stacks[2];
  for (int i = 0; i < 2; i++) {
    uint32_t line = source_line_of(text, offsets[i]);
    uint32_t column = (uint32_t)(offsets[i] - source_offset(text, line, 1)) + 1;
    SourceRange range = {file, line, column, line,
                         column + (uint32_t)strlen(i ? first->name : second->name)};
    stacks[i] = source_stack(map, range, 0, kernel->name);
  }
  IrViolation *v = source_once(check, "smem-extern-alias", kernel, stacks[0],
                               "%s and %s are both extern __shared__: they start at the same "
                               "address, and both are written",
                               first->name, second->name);
  if (!v) return;
  v->confidence = IR_INFERRED; /* the two may be used one after the other */
  drop_overwritten(check->violations, kernel);
  ir_violation_related(check->violations, v, stacks[1], "%s is written here", first->name);
}

void source_check_aliases(SourceCheck *check, const IrKernel *kernel) {
  const SourceRange *name = &check->program->sources.stacks.items[kernel->where].range;
  uint32_t file = name->file;
  SourceText text = source_text(check->program, file);
  size_t open, close;
  if (!source_body(text, source_offset(text, name->line, name->column), &open, &close)) return;
  Array arrays[MAX_ARRAYS] = {0};
  int count = read_arrays(text, open, close, arrays), first = -1;
  for (int i = 0; i < count; i++) {
    if (!arrays[i].written) continue;
    if (first >= 0 && strcmp(arrays[first].name, arrays[i].name) != 0) {
      report(check, kernel, text, file, &arrays[first], &arrays[i]);
      break;
    }
    first = i;
  }
  for (int i = 0; i < count; i++)
    g_free(arrays[i].name);
}
