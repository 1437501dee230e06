/* Which tensor map lies where: maps that host code encodes for a launch, and those that directives
 * describe. */
#include "machine/execute/core.h"

#include <string.h>

static MachineTensorMap *map_of_directive(MachineSession *session, const IrTensorMapDirective *d) {
  MachineTensorMap *map = KC_NEW(session->arena, MachineTensorMap);
  map->name = d->map;
  map->rank = d->rank;
  map->data_type = -1;
  map->interleave = 0;
  map->swizzle = d->swizzle_bytes == 32    ? 1
                 : d->swizzle_bytes == 64  ? 2
                 : d->swizzle_bytes == 128 ? 3
                                           : 0;
  int64_t bits = d->elem_bits;
  for (int i = 0; i < 5; i++) {
    map->box[i] = i < d->rank && d->box[i] > 0 ? d->box[i] : -1;
    map->dims[i] = -1;
    map->elem_strides[i] = -1;
    if (i < 4) map->strides[i] = -1;
    if (i < d->rank) bits = map->box[i] > 0 ? bits * map->box[i] : 0;
  }
  map->box_bytes = bits > 0 ? bits / 8 : -1;
  return map;
}

static const IrTensorMapDirective *directive_for(const MachineSession *session, const char *name) {
  const IrDirectives *directives = session->program->directives;
  for (int i = 0; directives && name && i < directives->tensor_maps.count; i++) {
    const IrTensorMapDirective *d = &directives->tensor_maps.items[i];
    const char *dot = strrchr(name, '.');
    if (strcmp(d->map, name) == 0 || (dot && strcmp(d->map, dot + 1) == 0)) return d;
  }
  return NULL;
}

static void add_map(MachineSession *session, uint64_t address, const MachineTensorMap *map) {
  CoreSession *core = session->core;
  if (map && !g_hash_table_contains(core->maps, GSIZE_TO_POINTER(address)))
    g_hash_table_insert(core->maps, GSIZE_TO_POINTER(address), (gpointer)map);
}

/* Maps in __constant__ and __device__ variables, which a directive may describe. */
static void collect_variables(MachineSession *session) {
  enum { MAP_BYTES = 128, MOST = 64 };
  const IrKernel *kernel = session->kernel;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    bool global = object->space == IR_SPACE_GLOBAL || object->space == IR_SPACE_CONST;
    const IrTensorMapDirective *d = global ? directive_for(session, object->name) : NULL;
    if (!d) continue;
    const MachineTensorMap *map = map_of_directive(session, d);
    for (uint64_t at = 0; at + MAP_BYTES <= object->bytes && at < MOST * MAP_BYTES; at += MAP_BYTES)
      add_map(session, object->address + at, map);
  }
}

void core_collect_maps(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  const MachineLaunch *launch = core_find_launch(session).launch;
  uint64_t pointer = 0;
  collect_variables(session);
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    for (int j = 0; j < param->leaves.count; j++) {
      const IrLeaf *leaf = &param->leaves.items[j];
      bool is_map = leaf->kind == IR_LEAF_TENSOR_MAP;
      bool to_map = leaf->kind == IR_LEAF_POINTER && leaf->pointee_kind == IR_LEAF_TENSOR_MAP;
      uint64_t address =
          is_map ? IR_PARAM_BASE + leaf->offset : IR_POINTER_BASE + pointer * IR_POINTER_STRIDE;
      pointer += leaf->kind == IR_LEAF_POINTER;
      if (!is_map && !to_map) continue;
      const char *name = leaf->name ? leaf->name : param->name;
      const IrTensorMapDirective *d = directive_for(session, name);
      if (d) add_map(session, address, map_of_directive(session, d));
      for (int l = 0; launch && is_map && l < launch->leaves.count; l++)
        if (launch->leaves.items[l].offset == leaf->offset)
          add_map(session, address, launch->leaves.items[l].map);
    }
  }
}
