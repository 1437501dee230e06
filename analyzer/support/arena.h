/* support: what every room leans on (memory, errors, source positions, embedded data).
 *
 * Ownership rule of the whole project: everything that belongs to one translation unit (program,
 * machine, findings) is allocated from one KcArena and freed with it. GLib containers are used
 * where a lifetime is not that of a translation unit (cli, knowledge, report, lsp).
 */
#ifndef KC_SUPPORT_ARENA_H
#define KC_SUPPORT_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct KcArena KcArena;

/* A new, empty arena; aborts when memory is exhausted (as GLib does). */
KcArena *kc_arena_new(void);
/* Frees the arena and everything allocated from it. NULL is allowed. */
void kc_arena_free(KcArena *arena);
/* Forgets everything that was allocated from the arena; its memory is kept for what comes next. */
void kc_arena_clear(KcArena *arena);
/* Bytes handed out so far, for --statistics and memory budgets. */
size_t kc_arena_used(const KcArena *arena);

/* `size` zeroed bytes aligned for any type. */
void *kc_alloc(KcArena *arena, size_t size);
/* The same with whatever the memory holds, for those who fill all that they read. */
void *kc_alloc_raw(KcArena *arena, size_t size);
/* A copy of `text` (NULL gives NULL). */
char *kc_strdup(KcArena *arena, const char *text);
char *kc_strndup(KcArena *arena, const char *text, size_t length);
/* printf into the arena. */
char *kc_printf(KcArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *kc_vprintf(KcArena *arena, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Grows `old` (of `old_size` bytes) to `new_size`; the old block stays until the arena goes. */
void *kc_grow(KcArena *arena, void *old, size_t old_size, size_t new_size);

#define KC_NEW(arena, Type) ((Type *)kc_alloc((arena), sizeof(Type)))
#define KC_NEW_ARRAY(arena, Type, count) ((Type *)kc_alloc((arena), sizeof(Type) * (size_t)(count)))

/* A growable array: declare `KC_VEC(Type) name;` zeroed, push with KC_PUSH, read .items[.count]. */
#define KC_VEC(Type)                                                                               \
  struct {                                                                                         \
    Type *items;                                                                                   \
    int count;                                                                                     \
    int capacity;                                                                                  \
  }

#define KC_PUSH(arena, vec, value)                                                                 \
  do {                                                                                             \
    if ((vec).count == (vec).capacity) {                                                           \
      int kc_new_capacity_ = (vec).capacity ? (vec).capacity * 2 : 8;                              \
      (vec).items = kc_grow((arena), (vec).items, sizeof(*(vec).items) * (size_t)(vec).capacity,   \
                            sizeof(*(vec).items) * (size_t)kc_new_capacity_);                      \
      (vec).capacity = kc_new_capacity_;                                                           \
    }                                                                                              \
    (vec).items[(vec).count++] = (value);                                                          \
  } while (0)

#endif
