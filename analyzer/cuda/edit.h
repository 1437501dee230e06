/* Text that is changed before libclang reads it (asm repair, missing `template`, --stages, injected
 * references), kept as edits of the user's text, so that every position maps back. */
#ifndef KC_CUDA_EDIT_H
#define KC_CUDA_EDIT_H

#include "cuda/unit.h"

typedef struct EditPatch {
  size_t offset;     /* into the user's text */
  size_t removed;    /* bytes taken away there */
  const char *added; /* bytes put in their place; no newline, except at the end of the file */
} EditPatch;

typedef struct EditedFile {
  const char *path;
  const char *original;
  size_t length;
  KC_VEC(EditPatch) patches; /* ascending offsets */
  const char *text;          /* the text as patched */
  size_t text_length;
} EditedFile;

typedef struct EditSet {
  KcArena *arena;
  KC_VEC(EditedFile *) files;
  bool counts_bytes; /* some patch calls the functions of kcheck/bytes.h */
} EditSet;

/* The edited file of `path`, or NULL when it has no entry. */
EditedFile *edit_find(EditSet *set, const char *path);
/* The entry of `path`, created with `text` (not copied) as the user's text when it is new. */
EditedFile *edit_file(EditSet *set, const char *path, const char *text, size_t length);
/* Adds a patch at `offset` of the user's text; false when one stands there already. */
bool edit_add(EditSet *set, EditedFile *file, size_t offset, size_t removed, const char *added);
/* Rebuilds file->text from the patches. */
void edit_apply(EditSet *set, EditedFile *file);
/* Offset in the user's text of `offset` in the patched text. */
size_t edit_original_offset(const EditedFile *file, size_t offset);
/* A copy whose entries and patches can be changed without touching `set`. */
EditSet edit_copy(const EditSet *set);
/* Gives the edits to `unit`, as places in the patched text. */
void edit_publish(const EditSet *set, CudaUnit *unit);

#endif
