/* References that are put into the text so that clang instantiates what no launch in the file
 * reaches: explicit instantiations (which libclang does not show), directives, --instantiate. */
#ifndef KC_CUDA_INSTANTIATE_H
#define KC_CUDA_INSTANTIATE_H

#include "cuda/edit.h"
#include "ir/directive.h"

/* Takes every injected reference out again. */
void instantiate_clear(EditSet *set, EditedFile *file);
/* Injects a reference after each explicit instantiation of a function template in the text (as
 * patched so far). */
void instantiate_explicit(EditSet *set, EditedFile *file);
/* Injects references to `kernel<...>` at the end of the text. */
void instantiate_names(EditSet *set, EditedFile *file, const char *const *names, int count);
/* Whether a position in the patched text lies in an injected reference. */
bool instantiate_is_injected(const EditedFile *file, size_t offset);

#endif
