/* From two runs of a host program to facts, and the limits of tensor maps (cuTensorMapEncodeTiled,
 * CUDA driver API). */
#include "machine/inputs/host.h"

#include <string.h>

static int64_t agree(int64_t a, int64_t b, int64_t otherwise) {
  return a == b && a != HOST_UNKNOWN ? a : otherwise;
}

/* ---- tensor maps ---- */

/* CUtensorMapDataType: bytes an element; 0: not known or sub-byte. */
static int element_bytes(int64_t type) {
  static const int bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  return type >= 0 && type < (int64_t)(sizeof bytes / sizeof bytes[0]) ? bytes[type] : 0;
}

/* CUtensorMapDataType 13..15: 16U4_ALIGN8B, 16U4_ALIGN16B, 16U6_ALIGN16B: bytes of 16 elements in
 * shared memory. */
static int packed_bytes_of_16(int64_t type) {
  return type == 13 ? 8 : type == 14 || type == 15 ? 16 : 0;
}

static int64_t inner_bytes(int64_t type, int64_t elements) {
  if (elements < 0) return -1;
  if (packed_bytes_of_16(type)) return elements * packed_bytes_of_16(type) / 16;
  int each = element_bytes(type);
  return each ? elements * each : -1;
}

/* CUtensorMapSwizzle: bytes of the row that the pattern spans; 0: no swizzle. */
static int swizzle_span(int64_t swizzle) {
  static const int spans[] = {0, 32, 64, 128, 128, 128, 128};
  return swizzle >= 0 && swizzle < 7 ? spans[swizzle] : 0;
}

/* Bits of an element of a packed type in global memory; 0: no packed type. */
static int packed_bits(int64_t type) {
  return type == 13 || type == 14 ? 4 : type == 15 ? 6 : 0;
}

static bool padded(int64_t type) {
  return type == 14 || type == 15;
}

/* FLOAT16, FLOAT32, FLOAT64, BFLOAT16, FLOAT32_FTZ, TFLOAT32, TFLOAT32_FTZ. */
static bool is_float(int64_t type) {
  return type >= 6 && type <= 12;
}

static int64_t positive(int64_t value) {
  return value < 0 ? -1 : value;
}

static MachineTensorMap *merge_map(KcArena *arena, const HostMap *a, const HostMap *b) {
  MachineTensorMap *map = KC_NEW(arena, MachineTensorMap);
  map->where = a->insn->where;
  map->name = a->insn->text;
  map->rank = (int)agree(a->rank, b->rank, -1);
  map->data_type = (int)agree(a->type, b->type, -1);
  map->swizzle = (int)agree(a->swizzle, b->swizzle, -1);
  map->interleave = (int)agree(a->interleave, b->interleave, -1);
  bool ranked = map->rank >= 1 && map->rank <= 5;
  int64_t bytes = ranked ? 1 : -1;
  for (int i = 0; i < 5; i++) {
    bool in = ranked && i < map->rank;
    map->box[i] = in ? positive(agree(a->box[i], b->box[i], -1)) : -1;
    map->dims[i] = in ? agree(a->dims[i], b->dims[i], -1) : -1;
    map->elem_strides[i] = in ? agree(a->elem_strides[i], b->elem_strides[i], -1) : -1;
    if (i < 4)
      map->strides[i] = in && i + 1 < map->rank ? agree(a->strides[i], b->strides[i], -1) : -1;
    if (!in || bytes < 0) continue;
    int64_t part = i == 0 ? inner_bytes(map->data_type, map->box[0]) : map->box[i];
    bytes = part < 0 || part > 1 << 20 ? -1 : bytes * part;
  }
  map->box_bytes = bytes;
  map->im2col = a->insn->flags & IR_FLAG(im2col);
  if (bytes > 0 && padded(map->data_type)) map->payload = bytes * packed_bits(map->data_type) / 8;
  return map;
}

typedef struct {
  const IrKernel *host;
  const MachineTensorMap *map;
  IrViolations *violations;
  const IrProgram *program;
} MapCheck;

static bool reported(const MapCheck *c, const char *message) {
  for (int i = 0; i < c->violations->list.count; i++) {
    const IrViolation *v = c->violations->list.items[i];
    if (v->where == c->map->where && strcmp(v->message, message) == 0) return true;
  }
  return false;
}

static void complain(MapCheck *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void complain(MapCheck *c, const char *format, ...) {
  va_list args;
  va_start(args, format);
  char *text = kc_vprintf(c->violations->arena, format, args);
  va_end(args);
  if (reported(c, text)) return;
  IrViolation *v =
      ir_violation(c->violations, "tma-descriptor-limits", NULL, c->map->where, "%s", text);
  v->confidence = IR_PROVED_FORCED;
}

static void check_extents(MapCheck *c) {
  const MachineTensorMap *map = c->map;
  if (map->im2col) {
    if (map->box[0] == 0 || map->box[0] > 256)
      complain(c, "channelsPerPixel is %lld: it must be 1 to 256", (long long)map->box[0]);
    if (map->box[1] == 0 || map->box[1] > 1024)
      complain(c, "pixelsPerColumn is %lld: it must be 1 to 1024", (long long)map->box[1]);
    return;
  }
  for (int i = 0; i < map->rank; i++)
    if (map->box[i] == 0 || map->box[i] > 256)
      complain(c, "boxDim[%d] is %lld: a box dimension must be 1 to 256", i,
               (long long)map->box[i]);
}

/* The types that padding aligns take whole rows of 128 elements. */
static void check_packed(MapCheck *c) {
  const MachineTensorMap *map = c->map;
  int step = padded(map->data_type) ? 128 : packed_bits(map->data_type) ? 2 : 1;
  if (map->dims[0] > 0 && map->dims[0] % step)
    complain(c, "globalDim[0] is %lld elements: the type takes a multiple of %d",
             (long long)map->dims[0], step);
  if (!padded(map->data_type)) return;
  if (map->box[0] > 0 && map->box[0] != 128)
    complain(c, "boxDim[0] is %lld elements: the type takes 128", (long long)map->box[0]);
  for (int i = 0; i + 1 < map->rank; i++)
    if (map->strides[i] > 0 && map->strides[i] % 32 == 16)
      complain(c, "globalStrides[%d] is %lld bytes: the type takes a multiple of 32", i,
               (long long)map->strides[i]);
}

static void check_box(MapCheck *c) {
  const MachineTensorMap *map = c->map;
  check_extents(c);
  check_packed(c);
  for (int i = 0; i < map->rank; i++) {
    int64_t step = map->elem_strides[i];
    if (step != -1 && (step < 1 || step > 8))
      complain(c, "elementStrides[%d] is %lld: it must be 1 to 8", i, (long long)step);
  }
  int64_t inner = inner_bytes(map->data_type, map->box[0]);
  if (inner <= 0 || map->interleave > 0) return;
  if (inner % 16)
    complain(c, "the inner box dimension is %lld bytes: it must be a multiple of 16",
             (long long)inner);
  int span = swizzle_span(map->swizzle);
  if (span && inner > span)
    complain(c, "the inner box dimension is %lld bytes, more than the %d that the swizzle spans",
             (long long)inner, span);
}

static void check_strides(MapCheck *c) {
  const MachineTensorMap *map = c->map;
  for (int i = 0; i + 1 < map->rank; i++) {
    int64_t stride = map->strides[i];
    if (stride == -1) continue;
    if (stride % 16)
      complain(c, "globalStrides[%d] is %lld bytes: it must be a multiple of 16", i,
               (long long)stride);
    else if (stride < 0 || stride >= INT64_C(1) << 40)
      complain(c, "globalStrides[%d] is %lld bytes: it must be below 2^40", i, (long long)stride);
  }
}

/* Strides of both samples that are no multiple of 16 are wrong for every size that the samples'
 * common factor (256) divides, although their values differ. */
static void check_varying_strides(MapCheck *c, const HostMap *a, const HostMap *b) {
  for (int i = 0; i + 1 < c->map->rank; i++) {
    bool vary =
        c->map->strides[i] == -1 && a->strides[i] != HOST_UNKNOWN && b->strides[i] != HOST_UNKNOWN;
    if (vary && a->strides[i] % 16 && b->strides[i] % 16)
      complain(c,
               "globalStrides[%d] is no multiple of 16 bytes (%lld for one size, %lld for another)",
               i, (long long)a->strides[i], (long long)b->strides[i]);
  }
}

static void check_map(const IrProgram *program, const IrKernel *host, const MachineTensorMap *map,
                      const HostMap *a, const HostMap *b, IrViolations *violations) {
  MapCheck c = {host, map, violations, program};
  if (map->rank == 0 || map->rank > 5)
    complain(&c, "tensorRank is %d: it must be 1 to 5", map->rank);
  if (map->rank < 1 || map->rank > 5) return;
  if (map->im2col && map->rank < 3)
    complain(&c, "tensorRank is %d: im2col takes 3 to 5", map->rank);
  if (agree(a->fill, b->fill, 0) == 1 && map->data_type >= 0 && !is_float(map->data_type))
    complain(&c, "the fill with NaN is for floating-point types; %s",
             "this map's elements are integers or packed");
  check_box(&c);
  check_strides(&c);
  check_varying_strides(&c, a, b);
  int64_t base = agree(a->base, b->base, 0);
  if (base % 16)
    complain(&c, "the global address of the tensor map is not 16-byte aligned (offset %lld)",
             (long long)(base % 16));
}

/* ---- launches ---- */

static const HostLaunch *launch_at(const HostRun *run, const IrInsn *insn, int nth) {
  for (int i = 0; i < run->launches.count; i++)
    if (run->launches.items[i]->insn == insn && nth-- == 0) return run->launches.items[i];
  return NULL;
}

/* The map that a tag in memory names, or NULL. */
static const MachineTensorMap *tagged_map(const HostRun *run, int64_t value,
                                          MachineTensorMap *const *maps) {
  uint64_t number = (uint64_t)value - HOST_MAP_TAG;
  return value != HOST_UNKNOWN && number < (uint64_t)run->maps.count ? maps[number] : NULL;
}

static void merge_leaves(KcArena *arena, const HostLaunch *a, const HostLaunch *b,
                         const HostRun *run, MachineTensorMap *const *maps, MachineLaunch *out) {
  for (int i = 0; i < a->leaves.count; i++) {
    MachineLeafFact fact = {.offset = a->leaves.items[i].offset};
    fact.map = tagged_map(run, a->leaves.items[i].value, maps);
    fact.value = i < b->leaves.count
                     ? agree(a->leaves.items[i].value, b->leaves.items[i].value, INT64_MIN)
                     : INT64_MIN;
    if (fact.map) fact.value = INT64_MIN;
    KC_PUSH(arena, out->leaves, fact);
  }
}

/* The map that is parameter number `param`, from the scalars. */
static const MachineTensorMap *map_of_param(const IrKernel *kernel, int param,
                                            const MachineLaunch *launch) {
  if (!kernel || param >= kernel->params.count) return NULL;
  const IrParam *p = &kernel->params.items[param];
  for (int i = 0; i < launch->leaves.count; i++)
    if (launch->leaves.items[i].map && launch->leaves.items[i].offset == p->offset)
      return launch->leaves.items[i].map;
  return NULL;
}

/* Whether the grid has as many CTAs as the card has SMs, or a few for each. */
static bool fills_the_card(const HostLaunch *a, const HostLaunch *b, const HostRun *first,
                           const HostRun *second) {
  enum { MOST_A_PROCESSOR = 4 };
  int64_t blocks[2] = {1, 1};
  for (int i = 0; i < 3; i++) {
    if (a->grid[i] == HOST_UNKNOWN || b->grid[i] == HOST_UNKNOWN) return false;
    blocks[0] *= a->grid[i];
    blocks[1] *= b->grid[i];
  }
  int64_t times = blocks[0] / first->processors;
  return times >= 1 && times <= MOST_A_PROCESSOR && blocks[0] == times * first->processors &&
         blocks[1] == times * second->processors;
}

static void merge_launch(const IrProgram *program, const HostLaunch *a, const HostLaunch *b,
                         const HostRun *run, MachineTensorMap *const *maps, MachineLaunch *out) {
  KcArena *arena = program->arena;
  const IrKernel *kernel = NULL;
  for (int i = 0; i < program->kernels.count && !kernel; i++)
    if (ir_kernel_is_named(program->kernels.items[i], a->kernel))
      kernel = program->kernels.items[i];
  merge_leaves(arena, a, b, run, maps, out);
  out->kernel = a->kernel;
  out->where = a->insn->where;
  out->extended = a->extended;
  out->pdl_known = a->pdl_known && b->pdl_known && a->pdl == b->pdl;
  out->pdl_attribute = a->pdl && b->pdl;
  out->cooperative = a->cooperative && b->cooperative;
  out->cooperative_known =
      a->cooperative_known && b->cooperative_known && a->cooperative == b->cooperative;
  out->smem = agree(a->smem, b->smem, -1);
  for (int i = 0; i < 3; i++) {
    out->grid[i] = agree(a->grid[i], b->grid[i], -1);
    out->block[i] = agree(a->block[i], b->block[i], -1);
    int64_t cluster = agree(a->cluster[i], b->cluster[i], -1);
    out->cluster[i] = cluster;
  }
  for (int i = 0; i < a->nargs; i++) {
    int64_t value = i < b->nargs ? agree(a->args[i], b->args[i], INT64_MIN) : INT64_MIN;
    const MachineTensorMap *map = map_of_param(kernel, i, out);
    KC_PUSH(arena, out->args, map ? INT64_MIN : value);
    KC_PUSH(arena, out->maps, map);
  }
}

static bool seen_before(const HostRun *run, int at) {
  for (int i = 0; i < at; i++)
    if (run->launches.items[i]->insn == run->launches.items[at]->insn) return true;
  return false;
}

static void merge_attrs(KcArena *arena, const HostRun *a, const HostRun *b,
                        MachineHostFacts *facts) {
  const HostRun *runs[2] = {a, b};
  for (int r = 0; r < 2; r++) {
    for (int i = 0; i < runs[r]->attrs.count; i++) {
      const HostAttr *attr = &runs[r]->attrs.items[i];
      const HostAttr *other = NULL;
      for (int j = 0; j < runs[1 - r]->attrs.count && !other; j++)
        if (runs[1 - r]->attrs.items[j].insn == attr->insn) other = &runs[1 - r]->attrs.items[j];
      if (r == 1 && other) continue;
      MachineFuncAttr out = {.kernel = attr->kernel, .where = attr->insn->where};
      out.conditional = other == NULL;
      out.attribute = other ? agree(attr->attribute, other->attribute, INT64_MIN) : attr->attribute;
      out.value = other ? agree(attr->value, other->value, INT64_MIN) : INT64_MIN;
      KC_PUSH(arena, facts->attrs, out);
    }
  }
}

void host_merge(const IrProgram *program, const IrKernel *kernel, const HostRun *a,
                const HostRun *b, MachineHostFacts *facts, IrViolations *violations) {
  KcArena *arena = program->arena;
  MachineTensorMap **maps = KC_NEW_ARRAY(arena, MachineTensorMap *, a->maps.count + 1);
  for (int i = 0; i < a->maps.count; i++) {
    const HostMap *other = i < b->maps.count && b->maps.items[i]->insn == a->maps.items[i]->insn
                               ? b->maps.items[i]
                               : NULL;
    HostMap nothing = {.insn = a->maps.items[i]->insn,
                       .type = HOST_UNKNOWN,
                       .rank = HOST_UNKNOWN,
                       .base = HOST_UNKNOWN,
                       .interleave = HOST_UNKNOWN,
                       .fill = HOST_UNKNOWN,
                       .swizzle = HOST_UNKNOWN};
    if (!other) other = &nothing;
    maps[i] = merge_map(arena, a->maps.items[i], other);
    KC_PUSH(arena, facts->maps, maps[i]);
    if (other != &nothing) check_map(program, kernel, maps[i], a->maps.items[i], other, violations);
  }
  merge_attrs(arena, a, b, facts);
  for (int i = 0; i < a->launches.count; i++) {
    const HostLaunch *first = a->launches.items[i];
    if (seen_before(a, i)) continue;
    const HostLaunch *second = launch_at(b, first->insn, 0);
    MachineLaunch launch = {.smem = -1};
    if (!second || !first->kernel) continue;
    merge_launch(program, first, second, a, maps, &launch);
    launch.fills_the_card = fills_the_card(first, second, a, b);
    KC_PUSH(arena, facts->launches, launch);
  }
}
