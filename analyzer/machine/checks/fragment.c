/* Layouts of tiles in shared memory. What cp.async and tensor copies bring keeps its origin: for
 * each 16-byte chunk the address that it came from, or its place in the box, whose chunks the
 * hardware permutes by the row (PTX ISA 5.5.7). The eight rows of a matrix that ldmatrix reads have
 * to come from places that are one stride apart; ordinary accesses of a permuted tile have to
 * permute too. */
#include "machine/checks/fragment.h"

#include <stdlib.h>
#include <string.h>

#include "machine/checks/swizzle.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

#define CHUNK 16
#define ROWS 8 /* of a matrix */
#define REGIONS 64

typedef struct Layouts {
  KC_VEC(FragmentTile) regions;
  uint64_t *origin; /* by CTA and chunk: global address that cp.async took it from; 0: none */
  const IrInsn **copy;
  size_t chunks; /* of one CTA */
} Layouts;

static bool kernel_has(const IrKernel *kernel, IrEvent event) {
  for (int i = 0; i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_event && kernel->insns.items[i].event == event) return true;
  return false;
}

static Layouts *layouts_of(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (p->layouts) return p->layouts;
  Layouts *l = KC_NEW(machine->arena, Layouts);
  p->layouts = l;
  l->chunks = machine->session->shared_bytes / CHUNK + 1;
  if (!kernel_has(machine->kernel, IR_EV_ldmatrix)) return l;
  size_t n = l->chunks * (size_t)machine->cluster_size;
  l->origin = KC_NEW_ARRAY(machine->arena, uint64_t, n);
  l->copy = KC_NEW_ARRAY(machine->arena, const IrInsn *, n);
  return l;
}

/* ---- what fills tiles ---- */

void fragment_copied(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                     uint32_t bytes, bool known, uint64_t from) {
  Layouts *l = layouts_of(machine);
  if (!l->origin || rank < 0 || offset / CHUNK >= l->chunks) return;
  size_t at = (size_t)rank * l->chunks + offset / CHUNK;
  l->origin[at] = known && bytes == CHUNK && offset % CHUNK == 0 ? from : 0;
  l->copy[at] = insn;
}

void fragment_tile(Machine *machine, const IrInsn *insn, int rank, uint32_t offset,
                   const MachineTensorMap *map) {
  Layouts *l = layouts_of(machine);
  if (!map || map->box_bytes <= 0 || map->swizzle < 0 || map->swizzle > 3 || map->rank < 1) return;
  int64_t rows = 1;
  for (int i = 1; i < map->rank && i < 5; i++)
    rows *= map->box[i] > 0 ? map->box[i] : 0;
  if (rows <= 0 || map->box_bytes % rows) return;
  FragmentTile fresh = {.rank = rank,
                        .offset = offset,
                        .bytes = (uint32_t)map->box_bytes,
                        .inner = (uint32_t)(map->box_bytes / rows),
                        .swizzle = map->swizzle,
                        .data_type = map->data_type,
                        .insn = insn};
  if (fresh.inner % CHUNK) return;
  for (int i = 0; i < l->regions.count; i++) {
    FragmentTile *r = &l->regions.items[i];
    bool apart =
        r->rank != rank || r->offset >= offset + fresh.bytes || offset >= r->offset + r->bytes;
    if (apart) continue;
    *r = fresh;
    return;
  }
  if (l->regions.count < REGIONS) KC_PUSH(machine->arena, l->regions, fresh);
}

static const FragmentTile *region_at(const Layouts *l, int rank, uint32_t offset) {
  for (int i = 0; i < l->regions.count; i++) {
    const FragmentTile *r = &l->regions.items[i];
    if (r->rank == rank && offset >= r->offset && offset < r->offset + r->bytes) return r;
  }
  return NULL;
}

const FragmentTile *fragment_tile_at(Machine *machine, int rank, uint32_t offset) {
  const Layouts *l = layouts_of(machine);
  const FragmentTile *r = l->regions.count ? region_at(l, rank, offset) : NULL;
  if (!r) return NULL;
  const Access *last = race_last_write(protocol_of(machine)->races, rank, offset);
  return last && last->insn == r->insn ? r : NULL;
}

/* Bits that the pattern flips in the chunk number, by address bits 7 and up. */
static uint32_t row_bits(const FragmentTile *r, uint32_t offset) {
  return r->swizzle > 0 ? offset >> 7 & ((1u << r->swizzle) - 1) : 0;
}

/* ---- matrices ---- */

typedef struct Matrix {
  uint32_t offset[ROWS];      /* of its rows, in shared memory */
  int64_t from[ROWS];         /* where they come from */
  const FragmentTile *region; /* or NULL: by cp.async */
  const IrInsn *copy;
} Matrix;

static bool read_origins(const Machine *machine, const Layouts *l, int rank, Matrix *m) {
  m->region = region_at(l, rank, m->offset[0]);
  if (m->region) {
    const Access *last = race_last_write(protocol_of(machine)->races, rank, m->offset[0]);
    if (!last || last->insn != m->region->insn) m->region = NULL; /* rewritten since */
  }
  for (int i = 0; i < ROWS; i++) {
    uint32_t offset = m->offset[i];
    if (offset % CHUNK || offset / CHUNK >= l->chunks) return false;
    if (m->region) {
      if (region_at(l, rank, offset) != m->region) return false;
      uint32_t logical = offset ^ row_bits(m->region, offset) << 4;
      m->from[i] = (int64_t)logical - m->region->offset;
      continue;
    }
    size_t at = (size_t)rank * l->chunks + offset / CHUNK;
    if (!l->origin[at] || (i > 0 && l->copy[at] != m->copy)) return false;
    m->from[i] = (int64_t)l->origin[at];
    m->copy = l->copy[at];
  }
  if (m->region) m->copy = m->region->insn;
  return true;
}

static bool is_progression(const Matrix *m) {
  for (int i = 2; i < ROWS; i++)
    if (m->from[i] - m->from[i - 1] != m->from[1] - m->from[0]) return false;
  return true;
}

/* Whether the rows are a stride apart but for chunks that were permuted within eight: at least four
 * different ones, so that rows gathered by an index are not taken for it. */
static bool is_permuted(const Matrix *m) {
  for (int64_t k = -7; k <= 7; k++) {
    int64_t stride = m->from[1] - m->from[0] + k * CHUNK, low = 0, high = 0;
    unsigned seen = 0;
    bool fits = llabs(stride) >= 2 * CHUNK;
    for (int i = 0; i < ROWS && fits; i++) {
      int64_t away = m->from[i] - m->from[0] - i * stride;
      fits = away % CHUNK == 0 && llabs(away) < 8 * CHUNK;
      low = away < low ? away : low;
      high = away > high ? away : high;
      if (fits) seen |= 1u << (away / CHUNK + 8);
    }
    if (fits && high - low < 8 * CHUNK && __builtin_popcount(seen) >= 4) return true;
  }
  return false;
}

static bool permutes(Machine *machine, const IrInsn *insn) {
  const IrOperand *address = slice_address(insn);
  if (!address) return true;
  Slice slice = slice_operand(machine->session, address);
  return slice.permutes || slice.opaque || slice.loads;
}

static void check_rows(Machine *machine, Strand *strand, const IrInsn *insn, const Matrix *m) {
  int rank = strand->warp->cta->rank;
  if (m->region && swizzle_is_off(m->region)) return; /* judged by where its pattern begins */
  bool linear = m->region && m->region->swizzle > 0 && !permutes(machine, insn);
  const char *place = protocol_place(machine, strand, rank, m->offset[0]);
  IrViolation *v =
      linear
          ? machine_violation(machine, MACHINE_CHECK_RACE, insn, "tma-swizzled-tile-read-linearly",
                              "the rows that ldmatrix reads at %s were permuted by the tensor "
                              "map (%d-byte swizzle), and the address has no exclusive or of "
                              "the row",
                              place, 16 << m->region->swizzle)
          : machine_violation(machine, MACHINE_CHECK_RACE, insn, "smem-swizzle-mismatch",
                              "the eight rows of a matrix at %s are chunks of different "
                              "columns: the tile is read with another permutation than it was "
                              "written with",
                              place);
  if (v && m->copy)
    ir_violation_related(machine->violations, v, m->copy->where, "the tile is filled here");
}

/* ---- row addresses ---- */

static void count_read(int32_t reg, void *user) {
  int32_t *wanted = user;
  if (reg == wanted[0]) wanted[1]++;
}

/* Whether some instruction uses what the load put into `dst`. */
static bool is_used(Machine *machine, const IrInsn *load, const IrOperand *dst) {
  if (dst->kind != IR_OPD_REG) return false;
  int32_t wanted[2] = {dst->id, 0};
  const IrKernel *kernel = machine->kernel;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn == load) continue;
    bool by_index = insn->op == IR_load && insn->space != IR_SPACE_PARAM &&
                    slice_address(insn)->kind == IR_OPD_REG && kernel->regs.items[dst->id].cell;
    if (by_index && slice_operand(machine->session, slice_address(insn)).local) return true;
    for (int a = 0; a < insn->nargs; a++)
      machine_each_reg(&insn->args[a], count_read, wanted);
  }
  return wanted[1] > 0;
}

static const IrOperand *part(const IrInsn *insn, int matrix) {
  const IrOperand *dst = ir_arg(insn, IR_ROLE_dst);
  if (dst && dst->kind == IR_OPD_VECTOR) return matrix < dst->count ? &dst->list[matrix] : NULL;
  return matrix == 0 ? dst : NULL;
}

static void check_lanes(Machine *machine, const IrInsn *insn, const Matrix *matrices, int n) {
  if (machine->kernel->lacks_arguments) return; /* on which the rows may depend */
  for (int a = 0; a < n; a++)
    for (int b = a + 1; b < n; b++) {
      if (memcmp(matrices[a].offset, matrices[b].offset, sizeof matrices[a].offset) != 0) continue;
      const IrOperand *x = part(insn, a), *y = part(insn, b);
      Slice slice = slice_operand(machine->session, slice_address(insn));
      if (!x || !y || slice.parameter || slice.loads || slice.opaque ||
          !is_used(machine, insn, x) || !is_used(machine, insn, y))
        return;
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "fragment-lane-address",
                        "lanes %d to %d give the same eight rows as lanes %d to %d: matrices %d "
                        "and %d are the same",
                        8 * b, 8 * b + 7, 8 * a, 8 * a + 7, a, b);
      return;
    }
}

static void check_matrices(Machine *machine, Strand *strand, const IrInsn *insn,
                           const MachineAccess *access) {
  if (insn->shape.bytes && insn->shape.bytes != CHUNK) return;
  const Layouts *l = layouts_of(machine);
  Matrix matrices[4];
  int n = 0, own = strand->warp->cta->rank;
  for (; n < 4 && (access->lanes >> 8 * n & 0xff) == 0xff; n++) {
    matrices[n] = (Matrix){.region = NULL};
    for (int i = 0; i < ROWS; i++) {
      uint64_t at = value_raw(access->address, 8 * n + i);
      if ((int)(at >> 24) != own) return;
      matrices[n].offset[i] = (uint32_t)(at & 0xffffff);
    }
  }
  check_lanes(machine, insn, matrices, n);
  for (int i = 0; i < n; i++) {
    if (!l->origin || !read_origins(machine, l, own, &matrices[i]) || is_progression(&matrices[i]))
      continue;
    if (is_permuted(&matrices[i])) check_rows(machine, strand, insn, &matrices[i]);
  }
}

/* ---- ordinary accesses of a permuted tile ---- */

typedef struct Flow { /* registers that hold what a load brought */
  const IrKernel *kernel;
  uint8_t *holds;
  bool changed, reads;
} Flow;

static void mark_reg(int32_t reg, void *user) {
  Flow *f = user;
  if (f->holds[reg]) return;
  f->holds[reg] = 1;
  f->changed = true;
}

static void see_reg(int32_t reg, void *user) {
  Flow *f = user;
  if (f->holds[reg]) f->reads = true;
}

static bool reads_held(Flow *f, const IrInsn *insn, int from) {
  f->reads = false;
  for (int i = from; i < insn->nargs; i++)
    machine_each_reg(&insn->args[i], see_reg, f);
  return f->reads;
}

/* Moves, conversions and arithmetic hand the value on; a sum over a loop or over lanes does not
 * tell any more which column it came from. */
static bool hands_on(MachineSession *session, const IrInsn *insn, int dsts) {
  if (insn->op == IR_event || insn->op == IR_load || insn->op == IR_atom || insn->op == IR_setp ||
      insn->op == IR_store || dsts == 0)
    return false;
  for (int d = 0; d < dsts; d++)
    if (insn->args[d].kind == IR_OPD_REG && slice_feeds_itself(session, insn->args[d].id))
      return false;
  return true;
}

/* A store outside shared memory, at a place that depends on the thread and is not permuted. */
static bool is_placed(Machine *machine, const IrInsn *insn) {
  if (insn->op != IR_store || insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_LOCAL)
    return false;
  Slice slice = slice_operand(machine->session, &insn->args[0]);
  uint64_t thread = UINT64_C(7) << IR_SREG_tid_x | UINT64_C(1) << IR_SREG_laneid;
  return slice.object == SLICE_NO_OBJECT && !slice.permutes && !slice.opaque && !slice.loads &&
         (slice.special & thread);
}

/* Whether the value of a load ends up, as it is or computed on, at a place of its own. */
static bool keeps_its_place(Machine *machine, const IrInsn *load) {
  const IrKernel *kernel = machine->kernel;
  Flow flow = {.kernel = kernel,
               .holds = kc_alloc(machine->arena, (size_t)machine->session->nregs + 1)};
  int results = load->sub ? load->sub : 1;
  for (int i = 0; i < results; i++)
    machine_each_reg(&load->args[i], mark_reg, &flow);
  for (int round = 0; round < 16; round++) {
    flow.changed = false;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      int dsts = slice_destinations(insn);
      if (insn->op == IR_store ? !reads_held(&flow, insn, 1) : !reads_held(&flow, insn, dsts))
        continue;
      if (is_placed(machine, insn)) return true;
      if (!hands_on(machine->session, insn, dsts)) continue;
      for (int d = 0; d < dsts; d++)
        machine_each_reg(&insn->args[d], mark_reg, &flow);
    }
    if (!flow.changed) return false;
  }
  return false;
}

static void check_linear(Machine *machine, Strand *strand, const IrInsn *insn,
                         const MachineAccess *access) {
  const Layouts *l = layouts_of(machine);
  if (!l->regions.count || access->kind != MACHINE_READ || insn->op != IR_load) return;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    uint32_t offset = (uint32_t)(at & 0xffffff);
    const FragmentTile *r = region_at(l, (int)(at >> 24), offset);
    if (!r || !row_bits(r, offset)) continue;
    const Access *last = race_last_write(protocol_of(machine)->races, r->rank, offset);
    if (!last || last->insn != r->insn) return; /* rewritten since */
    ProtocolSession *session = session_protocol(machine->session);
    if (!session->linear)
      session->linear = kc_alloc(machine->session->arena, (size_t)machine->kernel->insns.count + 1);
    uint8_t *state = &session->linear[insn - machine->kernel->insns.items];
    if (!*state) *state = !permutes(machine, insn) && keeps_its_place(machine, insn) ? 2 : 1;
    if (*state != 2) return;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "tma-swizzled-tile-read-linearly",
        "%s was permuted by the tensor map (%d-byte swizzle), and the address that it is read at "
        "has no exclusive or of the row",
        protocol_place(machine, strand, r->rank, offset), 16 << r->swizzle);
    if (v) ir_violation_related(machine->violations, v, r->insn->where, "the tile is filled here");
    return;
  }
}

static uint8_t *answers(Machine *machine, uint8_t **of, const IrInsn *insn) {
  if (!*of) *of = kc_alloc(machine->session->arena, (size_t)machine->kernel->insns.count + 1);
  return &(*of)[insn - machine->kernel->insns.items];
}

/* A tile that ordinary stores permuted, chunk by row, is read without that. */
static void check_permuted(Machine *machine, Strand *strand, const IrInsn *insn,
                           const MachineAccess *access) {
  if (access->kind != MACHINE_READ || insn->op != IR_load || access->address.uniform) return;
  ProtocolSession *session = session_protocol(machine->session);
  uint8_t *plain = answers(machine, &session->plain_reads, insn);
  if (*plain == 1) return;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    const Access *last =
        race_last_write(protocol_of(machine)->races, (int)(at >> 24), (uint32_t)(at & 0xffffff));
    if (!last || last->actor != ACTOR_THREAD || last->insn->op != IR_store) return;
    uint8_t *mixed = answers(machine, &session->mixed_stores, last->insn);
    if (!*mixed) *mixed = slice_mixes(machine->session, slice_address(last->insn)) ? 2 : 1;
    if (*mixed == 1) return;
    if (!*plain) *plain = !permutes(machine, insn) && keeps_its_place(machine, insn) ? 2 : 1;
    if (*plain == 1) return;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "smem-swizzle-mismatch",
        "%s was written with an exclusive or of the row in its address, and is read without one",
        protocol_place(machine, strand, (int)(at >> 24), (uint32_t)(at & 0xffffff)));
    if (v) ir_violation_related(machine->violations, v, last->insn->where, "written here");
    return;
  }
}

void fragment_access(Machine *machine, Strand *strand, const IrInsn *insn,
                     const MachineAccess *access) {
  swizzle_access(machine, insn, access);
  if (insn->op == IR_event && insn->event == IR_EV_ldmatrix) {
    check_matrices(machine, strand, insn, access);
    return;
  }
  check_linear(machine, strand, insn, access);
  check_permuted(machine, strand, insn, access);
  Layouts *l = layouts_of(machine);
  if (access->kind == MACHINE_READ || !l->origin) return;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    uint64_t first = (at & 0xffffff) / CHUNK, last = ((at & 0xffffff) + access->bytes - 1) / CHUNK;
    for (uint64_t c = first; c <= last && c < l->chunks; c++)
      if ((int)(at >> 24) < machine->cluster_size)
        l->origin[(size_t)(at >> 24) * l->chunks + c] = 0;
  }
}

/* ---- a permuted store of a tile that was written in order ---- */

void fragment_store(Machine *machine, Strand *strand, const IrInsn *insn, int rank, uint32_t offset,
                    const MachineTensorMap *map) {
  if (!map || map->swizzle < 1 || map->swizzle > 3 || map->box_bytes <= 0) return;
  FragmentTile tile = {.rank = rank, .swizzle = map->swizzle};
  for (uint32_t at = offset; at < offset + (uint32_t)map->box_bytes; at += CHUNK) {
    if (!row_bits(&tile, at)) continue;
    const Access *last = race_last_write(protocol_of(machine)->races, rank, at);
    if (!last || last->actor != ACTOR_THREAD || last->insn->op != IR_store ||
        last->insn->nargs < 2 || last->insn->args[1].kind == IR_OPD_IMM)
      return;
    Slice to = slice_operand(machine->session, &last->insn->args[0]);
    Slice value = slice_operand(machine->session, &last->insn->args[1]);
    uint64_t thread = UINT64_C(7) << IR_SREG_tid_x | UINT64_C(1) << IR_SREG_laneid;
    if (to.permutes || to.opaque || to.loads || !(to.special & thread) || value.loads) return;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "tma-swizzled-tile-read-linearly",
        "the tensor map permutes the tile at %s when it is stored (%d-byte swizzle), but it was "
        "written without an exclusive or of the row",
        protocol_place(machine, strand, rank, at), 16 << map->swizzle);
    if (v) ir_violation_related(machine->violations, v, last->insn->where, "written here");
    return;
  }
}

/* ---- elements of less than eight bits ---- */

/* Kinds f8f6f4 and mxf8f6f4 read each element from a byte of its own (16U4_ALIGN16B,
 * 16U6_ALIGN16B), mxf4 and mxf4nvf4 two from a byte (16U4_ALIGN8B). */
void fragment_packing(Machine *machine, const IrInsn *insn, char operand, int rank, uint32_t offset,
                      IrKind kind, int bits) {
  enum { TYPE_4_DENSE = 13, TYPE_4_PADDED = 14 };
  const FragmentTile *r = region_at(layouts_of(machine), rank, offset);
  bool dense = kind == IR_KIND_mxf4 || kind == IR_KIND_mxf4nvf4;
  bool padded = (kind == IR_KIND_f8f6f4 || kind == IR_KIND_mxf8f6f4) && bits < 8;
  if (!r || !((dense && r->data_type == TYPE_4_PADDED) || (padded && r->data_type == TYPE_4_DENSE)))
    return;
  const Access *last = race_last_write(protocol_of(machine)->races, rank, offset);
  if (!last || last->insn != r->insn) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-subbyte-smem-packing",
      dense ? "operand %c is read with two elements a byte, but its tensor map (16U4_ALIGN16B) "
              "brings one in each byte"
            : "operand %c is read with one element a byte, but its tensor map (16U4_ALIGN8B) "
              "brings two in each byte",
      operand);
  if (v) ir_violation_related(machine->violations, v, r->insn->where, "the tile is filled here");
}
