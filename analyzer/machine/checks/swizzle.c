#include "machine/checks/swizzle.h"

#include "machine/inputs/slice.h"
#include "machine/session.h"

#define CHUNK_BITS 4 /* of an address within a chunk */
#define ROW_BITS 7   /* the pattern goes by the address bits from here */
#define WARP 32
#define STORES 16

/* How regular the columns of an access are that a permutation by address and one by the rows of the
 * tile leave: pairs that fall into one column of different rows by the one and not by the other. */
typedef struct Regular {
  int by_address, by_tile;
} Regular;

typedef struct Reader { /* of a tile that lies off its pattern */
  const IrInsn *insn;
  FragmentTile tile;
  Regular regular;
  bool seen;
  uint8_t address_columns[WARP], tile_columns[WARP]; /* of the last access */
} Reader;

typedef struct Stored { /* what one store with an exclusive or in its address wrote first */
  const IrInsn *insn;
  uint32_t lanes;
  uint32_t offset[WARP];
} Stored;

typedef struct Anchors {
  KC_VEC(Reader) readers;
  KC_VEC(Stored) stores;
} Anchors;

static Anchors *anchors_of(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (!p->anchors) p->anchors = KC_NEW(machine->arena, Anchors);
  return p->anchors;
}

static unsigned pattern_bytes(int swizzle) {
  return swizzle > 0 ? 128u << swizzle : 1; /* eight chunk rows of 32, 64 or 128 bytes */
}

bool swizzle_is_off(const FragmentTile *tile) {
  return tile->offset % pattern_bytes(tile->swizzle) != 0;
}

/* The columns that an access at `offset` is meant for, if its address was permuted by the address
 * itself and if it was by the rows behind `base`. */
static void columns(uint32_t offset, uint32_t base, int swizzle, uint8_t *by_address,
                    uint8_t *by_tile) {
  uint32_t mask = (1u << swizzle) - 1, chunk = offset >> CHUNK_BITS;
  *by_address = (uint8_t)((chunk ^ offset >> ROW_BITS) & mask);
  *by_tile = (uint8_t)((chunk ^ (offset - base) >> ROW_BITS) & mask);
}

static void compare(Regular *regular, bool same_by_address, bool same_by_tile) {
  regular->by_address += same_by_address && !same_by_tile;
  regular->by_tile += same_by_tile && !same_by_address;
}

static void compare_lanes(Regular *regular, const uint8_t *by_address, const uint8_t *by_tile,
                          uint32_t lanes) {
  for (unsigned away = 1; away < WARP; away *= 2)
    FOR_LANES(lane, lanes & lanes >> away) {
      unsigned other = (unsigned)lane + away;
      compare(regular, by_address[lane] == by_address[other], by_tile[lane] == by_tile[other]);
    }
}

static bool clearly(int more, int less) {
  return more >= 12 && more > 2 * less;
}

/* ---- ordinary readers ---- */

static Reader *reader_of(Machine *machine, const IrInsn *insn, const FragmentTile *tile) {
  Anchors *a = anchors_of(machine);
  for (int i = 0; i < a->readers.count; i++) {
    Reader *r = &a->readers.items[i];
    if (r->insn == insn && r->tile.insn == tile->insn && r->tile.offset == tile->offset) return r;
  }
  KC_PUSH(machine->arena, a->readers, ((Reader){.insn = insn, .tile = *tile}));
  return &a->readers.items[a->readers.count - 1];
}

static void read_tile(Machine *machine, const IrInsn *insn, const MachineAccess *access,
                      const FragmentTile *tile) {
  Reader *r = reader_of(machine, insn, tile);
  uint8_t by_address[WARP] = {0}, by_tile[WARP] = {0};
  uint32_t lanes = 0;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    uint32_t offset = (uint32_t)(at & 0xffffff);
    if ((int)(at >> 24) != tile->rank || offset < tile->offset ||
        offset >= tile->offset + tile->bytes)
      continue;
    lanes |= UINT32_C(1) << lane;
    columns(offset, tile->offset, tile->swizzle, &by_address[lane], &by_tile[lane]);
  }
  compare_lanes(&r->regular, by_address, by_tile, lanes);
  FOR_LANES(lane, lanes) {
    if (r->seen)
      compare(&r->regular, r->address_columns[lane] == by_address[lane],
              r->tile_columns[lane] == by_tile[lane]);
    r->address_columns[lane] = by_address[lane];
    r->tile_columns[lane] = by_tile[lane];
  }
  r->seen = true;
}

static bool mixes(Machine *machine, const IrInsn *insn) {
  ProtocolSession *session = session_protocol(machine->session);
  if (!session->mixed_stores)
    session->mixed_stores =
        kc_alloc(machine->session->arena, (size_t)machine->kernel->insns.count + 1);
  uint8_t *mixed = &session->mixed_stores[insn - machine->kernel->insns.items];
  if (!*mixed) *mixed = slice_mixes(machine->session, slice_address(insn)) ? 2 : 1;
  return *mixed == 2;
}

static void keep_store(Machine *machine, const IrInsn *insn, const MachineAccess *access) {
  if (!mixes(machine, insn)) return;
  Anchors *a = anchors_of(machine);
  for (int i = 0; i < a->stores.count; i++)
    if (a->stores.items[i].insn == insn) return;
  if (a->stores.count >= STORES) return;
  Stored stored = {.insn = insn, .lanes = access->lanes};
  FOR_LANES(lane, access->lanes)
  stored.offset[lane] = (uint32_t)(value_raw(access->address, (int)lane) & 0xffffff);
  KC_PUSH(machine->arena, a->stores, stored);
}

void swizzle_access(Machine *machine, const IrInsn *insn, const MachineAccess *access) {
  if (access->address.uniform || !access->lanes) return;
  if (insn->op == IR_store) keep_store(machine, insn, access);
  if (access->kind != MACHINE_READ) return;
  uint64_t at = value_raw(access->address, __builtin_ctz(access->lanes));
  const FragmentTile *tile = fragment_tile_at(machine, (int)(at >> 24), (uint32_t)(at & 0xffffff));
  if (tile && swizzle_is_off(tile)) read_tile(machine, insn, access, tile);
}

static IrViolation *misaligned(Machine *machine, const FragmentTile *tile, const char *reader) {
  unsigned align = pattern_bytes(tile->swizzle);
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, tile->insn, "tma-swizzle-base-misaligned",
      "%s is copied with %d-byte swizzle, which goes by the shared address, but lies %u bytes past "
      "a multiple of %u, and %s",
      protocol_place(machine, NULL, tile->rank, tile->offset), 16 << tile->swizzle,
      tile->offset % align, align, reader);
  if (v) ir_violation_fact(machine->violations, v, "align", "%u", align);
  return v;
}

void swizzle_finish(Machine *machine) {
  const Anchors *a = protocol_of(machine)->anchors;
  for (int i = 0; a && i < a->readers.count; i++) {
    const Reader *r = &a->readers.items[i];
    if (!clearly(r->regular.by_tile, r->regular.by_address)) continue;
    IrViolation *v =
        misaligned(machine, &r->tile, "its reader permutes by the row within the tile");
    if (v) ir_violation_related(machine->violations, v, r->insn->where, "read here");
  }
}

/* ---- descriptors ---- */

static const char *family_rule(const DescRead *read) {
  return read->family[0] == 'w' ? "wgmma-descriptor" : "tcgen05-smem-descriptor";
}

/* What holds for wgmma was measured; for tcgen05 the ISA says the same. */
static void hedge(const DescRead *read, IrViolation *v) {
  if (!v || read->family[0] == 'w') return;
  v->confidence = IR_INFERRED;
  v->assumed = "that tcgen05 takes the base offset as wgmma does";
}

static void read_copied(Machine *machine, const DescRead *read, const Descriptor *desc,
                        const FragmentTile *tile) {
  IrViolation *v;
  if (desc->base_offset) {
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, read->insn, family_rule(read),
                          "operand %c has base offset %d, but a tensor copy fills its tile: the "
                          "pattern of the copy goes by the shared address, so that the base offset "
                          "is 0 wherever the tile lies",
                          read->operand, desc->base_offset);
    if (v) ir_violation_related(machine->violations, v, tile->insn->where, "filled here");
    desc_say_composed(machine, v, read->insn, read->operand);
    hedge(read, v);
  } else if (read->family[0] != 'w' && swizzle_is_off(tile)) {
    v = misaligned(machine, tile, "tcgen05 reads it through a descriptor with base offset 0");
    if (!v) return;
    v->confidence = IR_INFERRED;
    v->assumed = "that tcgen05 needs the alignment (wgmma on an H200 does not)";
    ir_violation_related(machine->violations, v, read->insn->where, "read here");
  }
}

/* Whether a store permuted by the rows behind `base`, by the shared address, or in no clear way. */
typedef enum Anchor { NO_ANCHOR, BY_ADDRESS, BY_TILE } Anchor;

static Anchor stored_by(const Stored *stored, uint32_t base, int swizzle) {
  uint8_t by_address[WARP] = {0}, by_tile[WARP] = {0};
  FOR_LANES(lane, stored->lanes)
  columns(stored->offset[lane], base, swizzle, &by_address[lane], &by_tile[lane]);
  Regular regular = {0};
  compare_lanes(&regular, by_address, by_tile, stored->lanes);
  if (clearly(regular.by_tile, regular.by_address)) return BY_TILE;
  return clearly(regular.by_address, regular.by_tile) ? BY_ADDRESS : NO_ANCHOR;
}

/* The store, one of those kept, that wrote at `offset` last. */
static const Stored *stored_at(Machine *machine, int rank, uint32_t offset) {
  const Anchors *a = protocol_of(machine)->anchors;
  if (!a || !a->stores.count) return NULL;
  const Access *last = race_last_write(protocol_of(machine)->races, rank, offset);
  for (int i = 0; last && i < a->stores.count; i++)
    if (a->stores.items[i].insn == last->insn) return &a->stores.items[i];
  return NULL;
}

static void read_stored(Machine *machine, const DescRead *read, const Descriptor *desc,
                        const Stored *stored) {
  int swizzle = desc->swizzle == 128 ? 3 : desc->swizzle == 64 ? 2 : 1;
  int row = (int)(desc->start % pattern_bytes(swizzle) >> ROW_BITS);
  if (row == 0 && !desc->base_offset) return;
  Anchor anchor = stored_by(stored, desc->start, swizzle);
  int right = anchor == BY_TILE ? row : 0;
  if (anchor == NO_ANCHOR || desc->base_offset == right) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, read->insn, family_rule(read),
      "operand %c begins at row %d of a %d-byte swizzle pattern and has base offset %d, but its "
      "tile is written with a pattern that goes by %s: the base offset is %d",
      read->operand, row, desc->swizzle, desc->base_offset,
      anchor == BY_TILE ? "the rows of the tile" : "the shared address", right);
  if (!v) return;
  ir_violation_related(machine->violations, v, stored->insn->where, "written here");
  desc_say_composed(machine, v, read->insn, read->operand);
  hedge(read, v);
}

void swizzle_operand(Machine *machine, const DescRead *read, const Descriptor *desc,
                     const DescTile *tile) {
  if (!desc->swizzle || tile->transposed || desc->wide_chunks) return;
  const FragmentTile *copied = fragment_tile_at(machine, read->rank, desc->start);
  if (copied && copied->swizzle > 0) {
    read_copied(machine, read, desc, copied);
    return;
  }
  const Stored *stored = stored_at(machine, read->rank, desc->start);
  if (stored) read_stored(machine, read, desc, stored);
}

void swizzle_store(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                   const MachineTensorMap *map) {
  if (!map || map->swizzle < 1 || map->swizzle > 3) return;
  FragmentTile tile = {.rank = rank, .offset = offset, .swizzle = map->swizzle, .insn = insn};
  const Stored *stored = swizzle_is_off(&tile) ? stored_at(machine, rank, offset) : NULL;
  if (!stored || stored_by(stored, offset, map->swizzle) != BY_TILE) return;
  IrViolation *v = misaligned(machine, &tile, "its writer permutes by the row within the tile");
  if (v) ir_violation_related(machine->violations, v, stored->insn->where, "written here");
}
