#include "support/arena.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

typedef struct Block Block;
struct Block {
  Block *next;
  size_t used;
  size_t size;
  max_align_t data[];
};

struct KcArena {
  Block *head;
  Block *spare; /* of before kc_arena_clear */
  size_t total;
};

enum { BLOCK_SIZE = 1 << 18, ALIGNMENT = sizeof(max_align_t) };

KcArena *kc_arena_new(void) {
  return g_new0(KcArena, 1);
}

static void free_blocks(Block *block) {
  for (Block *next; block; block = next) {
    next = block->next;
    g_free(block);
  }
}

void kc_arena_free(KcArena *arena) {
  if (!arena) return;
  free_blocks(arena->head);
  free_blocks(arena->spare);
  g_free(arena);
}

void kc_arena_clear(KcArena *arena) {
  for (Block *block = arena->head, *next; block; block = next) {
    next = block->next;
    block->next = arena->spare;
    arena->spare = block;
  }
  arena->head = NULL;
  arena->total = 0;
}

/* A block of at least `capacity` bytes: the first spare one that is large enough and not far too
 * large, else a new one. */
static Block *block_new(KcArena *arena, size_t capacity) {
  for (Block **at = &arena->spare; *at; at = &(*at)->next) {
    Block *block = *at;
    if (block->size < capacity || block->size / 2 > capacity) continue;
    *at = block->next;
    block->used = 0;
    return block;
  }
  Block *block = g_malloc(sizeof(Block) + capacity);
  block->used = 0;
  block->size = capacity;
  return block;
}

size_t kc_arena_used(const KcArena *arena) {
  return arena->total;
}

static size_t rounded(size_t size) {
  return size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
}

void *kc_alloc_raw(KcArena *arena, size_t size) {
  size = rounded(size);
  Block *block = arena->head;
  if (!block || block->size - block->used < size) {
    size_t capacity = size > BLOCK_SIZE ? size : BLOCK_SIZE;
    Block *fresh = block_new(arena, capacity);
    if (block && size > BLOCK_SIZE / 4) { /* keep filling the current block */
      fresh->next = block->next;
      block->next = fresh;
    } else {
      fresh->next = block;
      arena->head = fresh;
    }
    block = fresh;
  }
  void *result = (char *)block->data + block->used;
  block->used += size;
  arena->total += size;
  return result;
}

void *kc_alloc(KcArena *arena, size_t size) {
  return memset(kc_alloc_raw(arena, size), 0, rounded(size));
}

char *kc_strndup(KcArena *arena, const char *text, size_t length) {
  char *copy = kc_alloc(arena, length + 1);
  memcpy(copy, text, length);
  return copy;
}

char *kc_strdup(KcArena *arena, const char *text) {
  return text ? kc_strndup(arena, text, strlen(text)) : NULL;
}

char *kc_vprintf(KcArena *arena, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int length = vsnprintf(NULL, 0, format, again);
  va_end(again);
  char *text = kc_alloc(arena, (size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, args);
  return text;
}

char *kc_printf(KcArena *arena, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = kc_vprintf(arena, format, args);
  va_end(args);
  return text;
}

void *kc_grow(KcArena *arena, void *old, size_t old_size, size_t new_size) {
  void *fresh = kc_alloc(arena, new_size);
  if (old) memcpy(fresh, old, old_size);
  return fresh;
}
