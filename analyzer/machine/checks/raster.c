/* Whether the order in which blocks take tiles gives every tile once, also where the last group of
 * rows is smaller. The kernel is run for each block of a grid up to its first store to global
 * memory; the places must form a full rectangle. A size that is a multiple of every usual group is
 * the control: only an order that is right for it, and wrong for another size that the code itself
 * allows for, is told. */
#include "machine/checks/raster.h"

#include "machine/execute/core.h"
#include "machine/inputs/origin.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

#include <string.h>

#define ROWS 11 /* no multiple of a group of 2 to 8, 16, 32 or 64 */
#define COLUMNS 3
#define WIDEST 64 /* group */
#define MOST_BLOCKS 1024
#define BLOCK_STEPS UINT64_C(60000)
#define ALL_STEPS UINT64_C(6000000)
#define ALL_US INT64_C(400000)

typedef struct RasterPlace { /* where a block stores first */
  bool have, known;
  const IrInsn *insn; /* of a tensor store; NULL: an ordinary one */
  int n;
  int64_t at[5];
} RasterPlace;

typedef struct Raster {
  MachineSession *session;
  const MachineSample *base;
  const IrInsn *insn;        /* the last division */
  const MachineInput *of[2]; /* the two numbers of tiles */
  bool small_group;          /* the code compares what is left with a constant */
  RasterPlace place;         /* of the block that runs */
  uint64_t first_step;
  int64_t first_us;
} Raster;

typedef enum { RASTER_UNKNOWN, RASTER_FULL, RASTER_WRONG } RasterOrder;

typedef struct RasterGrid { /* one pair of sizes */
  int64_t size[2];
  RasterPlace *places; /* by block */
  int blocks, working;
  int one, other; /* blocks with the same place; -1: none */
} RasterGrid;

/* ---- what a block does ---- */

static void take(Machine *machine, RasterPlace place) {
  Raster *r = session_protocol(machine->session)->raster;
  if (r->place.have) return;
  r->place = place;
  machine->stopped = true;
}

bool raster_runs(const Machine *machine) {
  return session_protocol(machine->session)->raster != NULL;
}

void raster_copy(Machine *machine, const IrInsn *insn, int n, const int64_t coords[5]) {
  RasterPlace place = {.have = true, .known = n > 0, .insn = insn, .n = n};
  memcpy(place.at, coords, sizeof place.at);
  take(machine, place);
}

void raster_access(Machine *machine, const MachineAccess *access) {
  if (access->kind != MACHINE_WRITE) return;
  RasterPlace place = {.have = true, .known = access->lanes != 0, .n = 1};
  if (place.known) place.at[0] = (int64_t)value_raw(access->address, __builtin_ctz(access->lanes));
  take(machine, place);
}

static bool out_of_budget(const Raster *r) {
  const CoreSession *core = r->session->core;
  return core->steps - r->first_step > ALL_STEPS || core_clock_us() - r->first_us > ALL_US;
}

/* False when what the block does is not known. */
static bool run_block(Raster *r, MachineSample *sample, int block, RasterPlace *out) {
  CoreSession *core = r->session->core;
  core->decisions.count = 0;
  sample->cluster_index = block;
  r->place = (RasterPlace){.have = false};
  Machine *machine = core_machine_new(r->session, sample, MACHINE_EAGER, BLOCK_STEPS);
  core_machine_rehearse(machine);
  *out = r->place;
  bool whole = r->place.have ? r->place.known : !machine->stopped && !machine->stuck;
  bool guessed = machine->trapped || core->decisions.count > 0 || core_run(machine)->pattern_read;
  core_machine_free(machine);
  core->decisions.count = 0;
  return whole && !guessed && !out_of_budget(r);
}

/* ---- the places of a grid ---- */

static bool same_place(const RasterPlace *a, const RasterPlace *b) {
  return a->n == b->n && memcmp(a->at, b->at, sizeof a->at) == 0;
}

static bool has_twice(RasterGrid *grid, int blocks) {
  for (int i = 0; i < blocks; i++)
    for (int j = 0; j < i && grid->places[i].have; j++)
      if (grid->places[j].have && same_place(&grid->places[i], &grid->places[j])) {
        grid->one = j;
        grid->other = i;
        return true;
      }
  return false;
}

/* Different values of one coordinate. */
static int count_values(const RasterGrid *grid, int blocks, int axis) {
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < blocks; i++)
    if (grid->places[i].have) g_hash_table_add(seen, (gpointer)grid->places[i].at[axis]);
  return (int)g_hash_table_size(seen);
}

static int by_address(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* Whether sorted addresses are those of the first row, repeated at equal distances. */
static bool is_lattice(const int64_t *at, int count) {
  for (int row = 1; row <= count; row++) {
    if (count % row) continue;
    int64_t pitch = row < count ? at[row] - at[0] : 0;
    bool fits = true;
    for (int i = row; i < count && fits; i++)
      fits = at[i] - at[i - row] == pitch;
    if (fits && row < count) return true;
  }
  return count == 1;
}

static bool is_full(RasterGrid *grid, int blocks) {
  int working = 0, cells = 1, n = 0;
  g_autofree int64_t *at = g_new(int64_t, blocks + 1);
  for (int i = 0; i < blocks; i++) {
    if (!grid->places[i].have) continue;
    n = grid->places[i].n;
    at[working++] = grid->places[i].at[0];
  }
  grid->working = working;
  grid->one = grid->other = -1;
  if (has_twice(grid, blocks)) return false;
  if (n == 1) {
    qsort(at, (size_t)working, sizeof *at, by_address);
    return is_lattice(at, working);
  }
  for (int axis = 0; axis < n; axis++)
    cells *= count_values(grid, blocks, axis);
  return cells == working;
}

static MachineSample *sized(Raster *r, const RasterGrid *grid) {
  MachineSample *out = KC_NEW(r->session->arena, MachineSample);
  *out = *r->base;
  out->param = kc_alloc(r->session->arena, out->param_bytes + 1);
  memcpy(out->param, r->base->param, out->param_bytes);
  for (int i = 0; i < 2; i++)
    memcpy(out->param + r->of[i]->offset, &grid->size[i], (size_t)r->of[i]->bytes);
  out->grid[0] = grid->blocks;
  out->grid[1] = out->grid[2] = 1;
  return out;
}

/* A kernel that doesn't end blocks without a tile by itself is launched for the tiles, or for whole
 * groups of them. */
static RasterOrder judge_open(RasterGrid *grid, int64_t rows, int64_t columns) {
  for (int64_t group = WIDEST; group >= 1; group /= 2) {
    int64_t blocks = (rows + group - 1) / group * group * columns;
    if (blocks <= grid->blocks && is_full(grid, (int)blocks)) return RASTER_FULL;
  }
  return RASTER_WRONG;
}

/* `rows` of the number of tiles `which`, and `columns` of the other. */
static RasterOrder order_of(Raster *r, int which, int64_t rows, int64_t columns, RasterGrid *grid) {
  const int64_t tiles[2] = {which ? columns : rows, which ? rows : columns};
  for (int i = 0; i < 2; i++)
    grid->size[i] = tiles[i] * (r->of[i]->tile > 1 ? r->of[i]->tile : 1);
  grid->blocks = (int)((rows + WIDEST - 1) / WIDEST * WIDEST * columns);
  grid->places = KC_NEW_ARRAY(r->session->arena, RasterPlace, grid->blocks + 1);
  MachineSample *sample = sized(r, grid);
  const RasterPlace *first = NULL;
  int working = 0;
  for (int i = 0; i < grid->blocks; i++) {
    RasterPlace *place = &grid->places[i];
    if (!run_block(r, sample, i, place)) return RASTER_UNKNOWN;
    if (!place->have) continue;
    if (!first) first = place;
    if (place->insn != first->insn || place->n != first->n) return RASTER_UNKNOWN;
    working++;
  }
  if (working < 2) return RASTER_UNKNOWN;
  if (working == grid->blocks) return judge_open(grid, rows, columns);
  return is_full(grid, grid->blocks) ? RASTER_FULL : RASTER_WRONG;
}

/* ---- kernels with such an order ---- */

static uint64_t origin_of_operand(const Origins *o, const IrOperand *operand) {
  if (operand->kind == IR_OPD_SPECIAL)
    return operand->id == IR_SREG_ctaid_x || operand->id == IR_SREG_clusterid_x ? ORIGIN_CTAID : 0;
  return operand->kind == IR_OPD_REG && operand->id < o->nregs ? o->of[operand->id] : 0;
}

/* Whether what is divided counts the pieces of warps or threads, not those of blocks. */
static bool is_finer(const Raster *r, const IrInsn *divides) {
  const uint64_t thread = UINT64_C(7) << IR_SREG_tid_x;
  return slice_operand(r->session, &divides->args[1]).special & thread;
}

static bool is_small(const IrOperand *operand) {
  return operand->kind == IR_OPD_IMM && operand->value >= 2 && operand->value <= WIDEST;
}

/* Finds the divisions of a block number by sizes, and the two sizes that tiles are counted by. */
static bool find_order(Raster *r) {
  const IrKernel *kernel = r->session->kernel;
  const Origins *o = ((const CoreSession *)r->session->core)->origins;
  uint64_t leaves = 0;
  bool quotient = false, rest = false;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    bool divides = insn->op == IR_div || insn->op == IR_rem;
    bool looks = insn->op == IR_setp || insn->op == IR_min || insn->op == IR_sub;
    if ((!divides && !looks) || insn->nargs < 3) continue;
    uint64_t a = origin_of_operand(o, &insn->args[1]), b = origin_of_operand(o, &insn->args[2]);
    if (!((a | b) & ORIGIN_CTAID) || (divides && !(a & ORIGIN_CTAID))) continue;
    leaves |= (a | b) & ORIGIN_PARAMS;
    if (divides) r->insn = insn;
    bool sizes = divides && b & ORIGIN_PARAMS;
    if (sizes && is_finer(r, insn)) return false;
    quotient |= sizes && insn->op == IR_div;
    rest |= sizes && insn->op == IR_rem;
    bool limit = is_small(&insn->args[1]) || is_small(&insn->args[2]);
    r->small_group |= looks && insn->op != IR_sub && limit && ((a | b) & ORIGIN_PARAMS);
  }
  if (!quotient || !rest || __builtin_popcountll(leaves) != 2) return false;
  /* Leaves are counted with the pointers among them. */
  int found = 0;
  for (int p = 0, number = 0; p < kernel->params.count; p++)
    for (int j = 0; j < kernel->params.items[p].leaves.count; j++, number++) {
      if (number >= ORIGIN_LEAVES || !(leaves >> number & 1)) continue;
      for (int k = 0; k < r->base->inputs.count && found < 2; k++)
        if (r->base->inputs.items[k].offset == kernel->params.items[p].leaves.items[j].offset)
          r->of[found++] = &r->base->inputs.items[k];
    }
  return found == 2 && !r->of[0]->fixed && !r->of[1]->fixed && r->of[0]->bytes >= 4 &&
         r->of[1]->bytes >= 4;
}

/* Whether the code itself allows for a number of tiles that is no multiple of a group. */
static bool allows_rest(const Raster *r, int which) {
  const IrKernel *kernel = r->session->kernel;
  const Origins *o = ((const CoreSession *)r->session->core)->origins;
  if (r->small_group) return true;
  for (int p = 0, number = 0; p < kernel->params.count; p++)
    for (int j = 0; j < kernel->params.items[p].leaves.count; j++, number++)
      if (kernel->params.items[p].leaves.items[j].offset == r->of[which]->offset)
        return o->admits[number] & ORIGIN_RAGGED;
  return false;
}

/* Tiles of size `which` as the launch passes it; 0: it is not known. */
static int64_t launched_tiles(const Raster *r, int which) {
  const MachineLaunch *launch = core_find_launch(r->session).launch;
  int64_t tile = r->of[which]->tile > 1 ? r->of[which]->tile : 1;
  for (int i = 0; launch && i < launch->leaves.count; i++)
    if (launch->leaves.items[i].offset == r->of[which]->offset &&
        launch->leaves.items[i].value != INT64_MIN)
      return (launch->leaves.items[i].value + tile - 1) / tile;
  return 0;
}

/* ---- what is told ---- */

static void tell(const Raster *r, const RasterGrid *bad, const RasterGrid *good,
                 IrViolations *violations) {
  KcArena *arena = r->session->arena;
  const char *with = kc_printf(arena, "%s = %lld and %s = %lld", r->of[0]->name,
                               (long long)bad->size[0], r->of[1]->name, (long long)bad->size[1]);
  const char *what =
      bad->one >= 0
          ? kc_printf(arena, "indices %d and %d both give the same tile", bad->one, bad->other)
          : kc_printf(arena, "the tiles of %d indices don't fill a rectangle: some are left out",
                      bad->working);
  IrViolation *v = ir_violation(
      violations, "grid-raster-not-bijective", r->session->kernel, r->insn->where,
      "with %s %s; with %s = %lld and %s = %lld every tile comes once", with, what, r->of[0]->name,
      (long long)good->size[0], r->of[1]->name, (long long)good->size[1]);
  ir_violation_fact(violations, v, "sizes", "%s", with);
}

static bool try_axis(Raster *r, int which, int64_t rows, int64_t columns,
                     IrViolations *violations) {
  RasterGrid bad = {.one = -1}, good = {.one = -1};
  if (order_of(r, which, rows, columns, &bad) != RASTER_WRONG) return false;
  for (int64_t group = 16; group <= WIDEST; group *= 4) {
    int64_t whole = (rows + group - 1) / group * group;
    RasterOrder order = order_of(r, which, whole, columns, &good);
    if (order == RASTER_UNKNOWN) return false;
    if (order == RASTER_WRONG) continue;
    tell(r, &bad, &good, violations);
    return true;
  }
  return false;
}

void raster_check(MachineSession *session, const MachineSamples *samples,
                  IrViolations *violations) {
  CoreSession *core = session->core;
  if (!session->result->ran || samples->list.count == 0 || !core->origins) return;
  Raster r = {.session = session,
              .base = samples->list.items[0],
              .first_step = core->steps,
              .first_us = core_clock_us()};
  const int64_t *cluster = r.base->cluster;
  if (cluster[0] * cluster[1] * cluster[2] != 1 || !find_order(&r)) return;
  session_protocol(session)->raster = &r;
  const int64_t launched[2] = {launched_tiles(&r, 0), launched_tiles(&r, 1)};
  bool told = false;
  for (int i = 0; i < 2 && !told; i++) {
    int64_t rows = launched[i], columns = launched[1 - i];
    if (rows > 0 && columns > 0) {
      if (rows * columns <= MOST_BLOCKS && columns <= 2 * WIDEST)
        told = try_axis(&r, i, rows, columns, violations);
    } else if (rows == 0 && columns == 0 && allows_rest(&r, i)) {
      told = try_axis(&r, i, ROWS, COLUMNS, violations);
    }
  }
  session_protocol(session)->raster = NULL;
}
