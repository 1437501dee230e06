/* Patches of source text and the way back to the user's positions. */
#include "cuda/edit.h"

#include <glib.h>
#include <string.h>

EditedFile *edit_find(EditSet *set, const char *path) {
  for (int i = 0; i < set->files.count; i++)
    if (strcmp(set->files.items[i]->path, path) == 0) return set->files.items[i];
  return NULL;
}

EditedFile *edit_file(EditSet *set, const char *path, const char *text, size_t length) {
  EditedFile *found = edit_find(set, path);
  if (found) return found;
  EditedFile *file = KC_NEW(set->arena, EditedFile);
  file->path = kc_strdup(set->arena, path);
  file->original = file->text = text;
  file->length = file->text_length = length;
  KC_PUSH(set->arena, set->files, file);
  return file;
}

bool edit_add(EditSet *set, EditedFile *file, size_t offset, size_t removed, const char *added) {
  if (offset > file->length) return false;
  int at = file->patches.count;
  while (at > 0 && file->patches.items[at - 1].offset >= offset) {
    if (file->patches.items[at - 1].offset == offset) return false;
    at--;
  }
  EditPatch patch = {offset, removed, added};
  KC_PUSH(set->arena, file->patches, patch);
  for (int i = file->patches.count - 1; i > at; i--)
    file->patches.items[i] = file->patches.items[i - 1];
  file->patches.items[at] = patch;
  return true;
}

void edit_apply(EditSet *set, EditedFile *file) {
  g_autoptr(GString) out = g_string_sized_new(file->length + 256);
  size_t from = 0;
  for (int i = 0; i < file->patches.count; i++) {
    const EditPatch *patch = &file->patches.items[i];
    g_string_append_len(out, file->original + from, (gssize)(patch->offset - from));
    g_string_append(out, patch->added);
    from = patch->offset + patch->removed;
  }
  g_string_append_len(out, file->original + from, (gssize)(file->length - from));
  file->text = kc_strndup(set->arena, out->str, out->len);
  file->text_length = out->len;
}

size_t edit_original_offset(const EditedFile *file, size_t offset) {
  size_t shift = 0, unshift = 0; /* bytes added and removed before the place */
  for (int i = 0; i < file->patches.count; i++) {
    const EditPatch *patch = &file->patches.items[i];
    size_t start = patch->offset + shift - unshift; /* in the patched text */
    size_t added = strlen(patch->added);
    if (offset < start) break;
    if (offset < start + added) return patch->offset;
    shift += added;
    unshift += patch->removed;
  }
  return offset - shift + unshift;
}

EditSet edit_copy(const EditSet *set) {
  EditSet copy = {.arena = set->arena};
  for (int f = 0; f < set->files.count; f++) {
    const EditedFile *from = set->files.items[f];
    EditedFile *file = KC_NEW(set->arena, EditedFile);
    *file = *from;
    file->patches = (__typeof__(file->patches)){0};
    for (int i = 0; i < from->patches.count; i++)
      KC_PUSH(set->arena, file->patches, from->patches.items[i]);
    KC_PUSH(set->arena, copy.files, file);
  }
  return copy;
}

void edit_publish(const EditSet *set, CudaUnit *unit) {
  for (int f = 0; f < set->files.count; f++) {
    const EditedFile *file = set->files.items[f];
    uint32_t line = 1;
    size_t line_start = 0, at = 0;
    int64_t shift = 0; /* of this line so far */
    for (int i = 0; i < file->patches.count; i++) {
      const EditPatch *patch = &file->patches.items[i];
      for (; at < patch->offset; at++)
        if (file->original[at] == '\n') line++, line_start = at + 1, shift = 0;
      CudaEdit edit = {.path = file->path, .line = line};
      edit.column = (uint32_t)((int64_t)(patch->offset - line_start) + 1 + shift);
      edit.inserted = (int32_t)((int64_t)strlen(patch->added) - (int64_t)patch->removed);
      shift += edit.inserted;
      KC_PUSH(unit->arena, unit->edits, edit);
    }
  }
}
