/* Names for places in objects: "full[2]", "s.a[3]+0x10". */
#include <inttypes.h>
#include <string.h>

#include "ir/ir.h"

char *ir_object_place(KcArena *arena, const IrObject *object, uint64_t offset) {
  const char *name = object->name ? object->name : "object";
  for (int i = 0; i < object->fields.count; i++) {
    const IrField *field = &object->fields.items[i];
    uint64_t bytes = field->elem_bytes * (field->count ? field->count : 1);
    if (offset < field->offset || offset - field->offset >= bytes || field->elem_bytes == 0)
      continue;
    uint64_t inside = offset - field->offset, rest = inside % field->elem_bytes;
    const char *shown = field->name ? field->name : name;
    char *place = field->count > 1
                      ? kc_printf(arena, "%s[%" PRIu64 "]", shown, inside / field->elem_bytes)
                      : kc_strdup(arena, shown);
    return rest ? kc_printf(arena, "%s+0x%" PRIx64, place, rest) : place;
  }
  return offset ? kc_printf(arena, "%s+0x%" PRIx64, name, offset) : kc_strdup(arena, name);
}
