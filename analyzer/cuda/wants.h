/* Which parts of the embedded runtime header, and of cuda::ptx, a file can use: clang's time for a
 * small kernel goes to declarations, most of which it never names. */
#ifndef KC_CUDA_WANTS_H
#define KC_CUDA_WANTS_H

#include <stdbool.h>
#include <stddef.h>

/* Calls `add` with the macro of each part that the text of `path`, the files that it includes and
 * the user's `flags` (NULL-terminated) may use: those that contain a name of it. All parts when the
 * text can't be followed (an include by macro, flags that bring in more). */
void wants_find(const char *path, const char *text, size_t length, const char *const *flags,
                void (*add)(void *user, const char *macro), void *user);
/* Calls `visit` with the macro of every part. */
void wants_each_macro(void (*visit)(void *user, const char *macro), void *user);
/* Whether `word` asks for the part of `macro`. */
bool wants_is_name(const char *word, const char *macro);

#endif
