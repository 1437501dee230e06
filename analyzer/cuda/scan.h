/* Reading C++ text without a compiler: comments, literals and words. */
#ifndef KC_CUDA_SCAN_H
#define KC_CUDA_SCAN_H

#include <stdbool.h>
#include <stddef.h>

/* Whether `c` can be part of a name. */
bool scan_is_word(char c);
/* Index after the comment, the literal ("...", '.', R"x(...)x") or the preprocessor line that
 * starts at `at`; `at` itself when none does. */
size_t scan_skip(const char *text, size_t length, size_t at);
/* Whether the whole word `word` stands at `at`. */
bool scan_word(const char *text, size_t length, size_t at, const char *word);

/* Where the first chain of more than `most` prefix operators (`*&*&p`) begins; `length`: nowhere.
 */
size_t scan_prefix_chain(const char *text, size_t length, size_t most);

#endif
