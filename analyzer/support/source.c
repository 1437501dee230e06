#include "support/source.h"

#include <string.h>

#include <glib.h>

void source_map_init(SourceMap *map, KcArena *arena) {
  *map = (SourceMap){.arena = arena};
  KC_PUSH(arena, map->files, ((SourceFile){.path = "?"}));
  KC_PUSH(arena, map->stacks, ((SourceStack){{0}, 0, NULL}));
}

uint32_t source_file(SourceMap *map, const char *path, bool user) {
  for (int i = map->files.count - 1; i > 0; i--)
    if (strcmp(map->files.items[i].path, path) == 0) return (uint32_t)i;
  SourceFile file = {.path = kc_strdup(map->arena, path), .user = user};
  KC_PUSH(map->arena, map->files, file);
  return (uint32_t)map->files.count - 1;
}

uint32_t source_stack(SourceMap *map, SourceRange range, uint32_t outer, const char *function) {
  const SourceStack *last = &map->stacks.items[map->stacks.count - 1];
  if (last->outer == outer && memcmp(&last->range, &range, sizeof range) == 0)
    return (uint32_t)map->stacks.count - 1;
  SourceStack stack = {.range = range, .outer = outer, .function = function};
  KC_PUSH(map->arena, map->stacks, stack);
  return (uint32_t)map->stacks.count - 1;
}

uint32_t source_user_frame(const SourceMap *map, uint32_t stack) {
  for (uint32_t at = stack; at; at = map->stacks.items[at].outer)
    if (map->files.items[map->stacks.items[at].range.file].user) return at;
  return stack;
}

static void load(SourceMap *map, SourceFile *file) {
  g_autofree gchar *text = NULL;
  gsize length = 0;
  if (!g_file_get_contents(file->path, &text, &length, NULL)) {
    file->text = "";
    return;
  }
  file->text = kc_strndup(map->arena, text, length);
  file->length = length;
}

bool source_line(SourceMap *map, uint32_t file, uint32_t line, const char **text, size_t *length) {
  if (file == 0 || file >= (uint32_t)map->files.count || line == 0) return false;
  SourceFile *source = &map->files.items[file];
  if (!source->text) load(map, source);
  const char *at = source->text, *end = source->text + source->length;
  for (uint32_t i = 1; i < line; i++) {
    at = memchr(at, '\n', (size_t)(end - at));
    if (!at) return false;
    at++;
  }
  const char *stop = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
  if (!stop) stop = end;
  if (stop > at && stop[-1] == '\r') stop--;
  *text = at;
  *length = (size_t)(stop - at);
  return at < end;
}
