/* References that are put into the text so that clang instantiates what no launch in the file
 * reaches: explicit instantiations (which libclang does not show), directives, --instantiate. */
#ifndef KC_CUDA_INSTANTIATE_H
#define KC_CUDA_INSTANTIATE_H

#include "cuda/edit.h"
#include "ir/directive.h"

/* Injects a reference after each explicit instantiation of a function template in the text. */
void instantiate_explicit(EditSet *set, EditedFile *file);
/* Injects references to `kernel<...>` at the end of the text. */
void instantiate_names(EditSet *set, EditedFile *file, const char *const *names, int count);
/* Whether a position in the patched text lies in an injected reference. */
bool instantiate_is_injected(const EditedFile *file, size_t offset);

#endif
