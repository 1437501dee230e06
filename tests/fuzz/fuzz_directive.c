/* The `// kcheck:` comments of a source text. Places must lie inside the text. */
#include <stdlib.h>

#include "ir/directive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_lie_inside(const SourceRange *range, uint32_t lines) {
  if (range->line < 1 || range->line > lines || range->column < 1) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  KcArena *arena = kc_arena_new();
  uint32_t lines = 1;
  for (size_t i = 0; i < size; i++)
    lines += data[i] == '\n';
  const IrDirectives *directives = ir_parse_directives(arena, 1, (const char *)data, size);
  for (int i = 0; i < directives->launches.count; i++)
    must_lie_inside(&directives->launches.items[i].range, lines);
  for (int i = 0; i < directives->tensor_maps.count; i++)
    must_lie_inside(&directives->tensor_maps.items[i].range, lines);
  for (int i = 0; i < directives->events.count; i++)
    must_lie_inside(&directives->events.items[i].range, lines);
  for (int i = 0; i < directives->ignores.count; i++)
    must_lie_inside(&directives->ignores.items[i].range, lines);
  for (int i = 0; i < directives->assumes.count; i++)
    must_lie_inside(&directives->assumes.items[i].range, lines);
  for (int i = 0; i < directives->errors.count; i++) {
    must_lie_inside(&directives->errors.items[i].range, lines);
    if (!directives->errors.items[i].message) abort();
  }
  kc_arena_free(arena);
  return 0;
}
