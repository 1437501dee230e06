#include "report/repro_map.h"

#include <string.h>

enum { BOXES_WIDE = 16, BOXES_DEEP = 4, MOST_BOX = 256, BUFFER_BYTES = 32 << 20 };

typedef struct Shape {
  int rank, type, element_bytes, swizzle, interleave;
  int64_t box[5], dims[5], strides[4];
  bool made_up;
} Shape;

/* Bytes of an element by CUtensorMapDataType (cuda.h), CU_TENSOR_MAP_DATA_TYPE_UINT8 first. */
static const int type_bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

/* A type of that size, where only the size is known. */
static int type_of_size(int bytes) {
  enum { UINT8 = 0, BFLOAT16 = 9, FLOAT32 = 7, FLOAT64 = 8 };
  return bytes == 1 ? UINT8 : bytes == 2 ? BFLOAT16 : bytes == 8 ? FLOAT64 : FLOAT32;
}

static const MachineMapUse *use_of(const ReproInput *input, uint64_t address) {
  for (int i = 0; i < input->result->maps.count; i++)
    if (input->result->maps.items[i].address == address) return &input->result->maps.items[i];
  return NULL;
}

static bool take_described(const MachineTensorMap *map, Shape *shape) {
  int64_t elements = 1;
  if (map->im2col) return false;
  shape->rank = map->rank;
  for (int i = 0; i < map->rank; i++) {
    if (map->box[i] <= 0) return false;
    shape->box[i] = map->box[i];
    elements *= map->box[i];
    shape->dims[i] = map->dims[i];
    if (i + 1 < map->rank) shape->strides[i] = map->strides[i];
  }
  bool known = map->data_type >= 0 && map->data_type < (int)G_N_ELEMENTS(type_bytes);
  if (map->data_type >= (int)G_N_ELEMENTS(type_bytes)) return false; /* packed below a byte */
  if (!known && (map->box_bytes <= 0 || map->box_bytes % elements)) return false;
  shape->element_bytes = known ? type_bytes[map->data_type] : (int)(map->box_bytes / elements);
  shape->type = known ? map->data_type : type_of_size(shape->element_bytes);
  shape->swizzle = MAX(map->swizzle, 0);
  shape->interleave = MAX(map->interleave, 0);
  return true;
}

/* Any box that moves the same bytes shows the same faults of synchronisation. */
static bool make_up(const MachineMapUse *use, Shape *shape) {
  int64_t bytes = use->bytes > 0 ? use->bytes : use->room;
  int size = use->scalar.bytes ? use->scalar.bytes : 4;
  if (bytes <= 0 || use->rank < 1 || size > 8 || bytes % size) return false;
  int64_t left = bytes / size;
  shape->made_up = true;
  shape->rank = use->rank;
  shape->element_bytes = size;
  shape->type = type_of_size(size);
  for (int i = 0; i < use->rank; i++) {
    int64_t most = i + 1 == use->rank ? MOST_BOX : i == 0 ? 128 / size : MOST_BOX;
    int64_t part = MIN(most, left);
    while (left % part)
      part--;
    shape->box[i] = part;
    left /= part;
  }
  return left == 1 && shape->box[0] * size % 16 == 0;
}

/* A tensor that the box fits into many times, and that fits into the memory behind it. */
static void size_tensor(Shape *shape) {
  int64_t stride = shape->element_bytes;
  bool known = true;
  for (int i = 0; i < shape->rank; i++)
    known = known && shape->dims[i] > 0;
  for (int i = 0; i < shape->rank; i++) {
    if (!known) shape->dims[i] = shape->box[i] * (i < 2 ? BOXES_WIDE : BOXES_DEEP);
    bool room = stride * shape->dims[i] <= BUFFER_BYTES;
    if (!room) shape->dims[i] = MAX(BUFFER_BYTES / stride, 1);
    stride = (stride * shape->dims[i] + 15) / 16 * 16;
    if (i + 1 < shape->rank) shape->strides[i] = stride;
  }
}

static void append_list(GString *out, const int64_t *values, int count) {
  g_string_append_c(out, '{');
  for (int i = 0; i < count; i++)
    g_string_append_printf(out, "%s%" G_GINT64_FORMAT, i ? ", " : "", values[i]);
  g_string_append_c(out, '}');
}

bool repro_put_map(const ReproInput *input, uint64_t address, const char *buffer, uint64_t offset,
                   const char *name, GString *out, KcError *error) {
  const MachineMapUse *use = use_of(input, address);
  Shape shape = {0};
  if (!use) { /* no copy was issued with it */
    g_string_append_printf(out, "  // %s: not used before the fault shows;", name);
    return true;
  }
  bool known = use->map ? take_described(use->map, &shape) : make_up(use, &shape);
  if (!known) {
    kc_fail(error, input->finding->path, input->finding->line, 0,
            "nothing tells what box the tensor map %s has", name);
    return kc_hint(error, "add // kcheck: tensormap(%s, box = 64x128, type = bf16)", name);
  }
  size_tensor(&shape);
  if (shape.made_up)
    g_string_append_printf(out, "  // The box of %s is not known: one that moves as many bytes.\n",
                           name);
  g_string_append_printf(out, "  put_map(%s, %" G_GUINT64_FORMAT ", \"%s\", %d, %d, ", buffer,
                         offset, name, shape.type, shape.element_bytes);
  append_list(out, shape.dims, shape.rank);
  g_string_append(out, ", ");
  append_list(out, shape.strides, shape.rank - 1);
  g_string_append(out, ", ");
  append_list(out, shape.box, shape.rank);
  g_string_append_printf(out, ", %d, %d);", shape.interleave, shape.swizzle);
  return true;
}
