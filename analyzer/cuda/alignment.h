/* alignas on shared variables. clang refuses it behind __shared__ (nvcc takes it), and libclang
 * shows no value of it: the text is patched so that a twin attribute carries the value. */
#ifndef KC_CUDA_ALIGNMENT_H
#define KC_CUDA_ALIGNMENT_H

#include "cuda/edit.h"

/* Gives each `alignas(N) [extern] __shared__` of the text its twin. */
void alignment_annotate(EditSet *set, EditedFile *file);
/* Patches the alignas at `offset` of the user's text, which clang refused where it stands. Returns
 * the number of patches. */
int alignment_repair(EditSet *set, EditedFile *file, size_t offset);
/* Bytes that the text of an alignment specifier at `text` ("alignas(128) ...") asks for; 0: not a
 * plain number. */
uint32_t alignment_from_text(const char *text, size_t length);

#endif
