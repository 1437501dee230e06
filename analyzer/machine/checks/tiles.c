/* Which tile each CTA works on: of kernels that get tiles by cluster launch control (PTX ISA
 * 9.7.13.16), and of the two CTAs of a pair that multiply one tile together (9.7.16.5). A tile is
 * known by the first place that a warp loads from or stores to while it works on it. */
#include "machine/checks/checks.h"

#include "machine/checks/raster.h"
#include "machine/inputs/sample.h"
#include "machine/session.h"

#define TILE_WARPS 32
#define PAIR_LOADS 16

typedef struct Place {
  bool have, known;
  uint64_t hash;
} Place;

typedef struct WarpTiles { /* loads, stores */
  Place own[2];            /* of the tile that the CTA starts with */
  Place answered[2];       /* of the first tile that an answer names */
  const IrInsn *answer;
} WarpTiles;

typedef struct PairLoad { /* a tensor load of .cta_group::2, as both CTAs execute it first */
  const IrInsn *insn;
  const MachineTensorMap *map;
  int64_t first[2][5], second[2][5];
  int times[2];
} PairLoad;

typedef struct Tiles {
  bool clc, grid_size, reads_block;
  WarpTiles first[2][TILE_WARPS]; /* by rank: first cluster */
  WarpTiles second[TILE_WARPS];   /* rank 0 of the second cluster */
  PairLoad pairs[PAIR_LOADS];
  int npairs;
} Tiles;

static bool uses(const IrInsn *insn, IrSpecial from, IrSpecial to) {
  for (int i = 0; i < insn->nargs; i++) {
    const IrOperand *o = &insn->args[i];
    for (int j = 0; j < (o->kind == IR_OPD_VECTOR ? o->count : 1); j++) {
      const IrOperand *e = o->kind == IR_OPD_VECTOR ? &o->list[j] : o;
      if (e->kind == IR_OPD_SPECIAL && e->id >= (int32_t)from && e->id <= (int32_t)to) return true;
    }
  }
  return false;
}

static Tiles *tiles_of(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (session->tiles) return session->tiles;
  Tiles *t = KC_NEW(machine->session->arena, Tiles);
  session->tiles = t;
  const IrKernel *kernel = machine->kernel;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    t->clc |= insn->op == IR_event && insn->event == IR_EV_clc_get_ctaid;
    t->grid_size |= uses(insn, IR_SREG_nctaid_x, IR_SREG_nctaid_z) ||
                    uses(insn, IR_SREG_nclusterid_x, IR_SREG_nclusterid_z);
    t->reads_block |= uses(insn, IR_SREG_ctaid_x, IR_SREG_ctaid_z) ||
                      uses(insn, IR_SREG_clusterid_x, IR_SREG_clusterid_z);
  }
  return t;
}

static bool is_first(const Machine *machine) {
  return machine->sample->rank == 0 && machine->schedule == MACHINE_EAGER;
}

static bool is_second(const Machine *machine) {
  return machine->sample->rank == 1 && machine->sample->cluster_index == 1 &&
         machine->schedule == MACHINE_EAGER;
}

/* ---- answers ---- */

void tiles_answer(Machine *machine, Strand *strand, const IrInsn *insn, bool known) {
  Tiles *t = tiles_of(machine);
  WarpState *ws = warp_state(strand->warp);
  if (insn->sub != 0 && insn->sub != 3) return; /* the x of the answer counts it */
  ws->tile_answers += known ? 1 : 2;
  int rank = strand->warp->cta->rank, warp = strand->warp->id;
  if (is_first(machine) && rank < 2 && warp < TILE_WARPS && !t->first[rank][warp].answer)
    t->first[rank][warp].answer = insn;
}

static void note(Machine *machine, Strand *strand, bool store, bool known, uint64_t hash) {
  Tiles *t = tiles_of(machine);
  int rank = strand->warp->cta->rank, warp = strand->warp->id;
  int answers = warp_state(strand->warp)->tile_answers;
  if (!t->clc || answers > 1 || rank > 1 || warp >= TILE_WARPS) return;
  WarpTiles *w = is_first(machine)                 ? &t->first[rank][warp]
                 : is_second(machine) && rank == 0 ? &t->second[warp]
                                                   : NULL;
  if (!w) return;
  Place *place = answers ? &w->answered[store] : &w->own[store];
  if (!place->have) *place = (Place){true, known, hash};
}

void tiles_access(Machine *machine, Strand *strand, const MachineAccess *access) {
  uint64_t at = value_raw(access->address, first_lane(access->lanes));
  if (at < IR_POINTER_BASE || at >= IR_GLOBAL_BASE) return;
  note(machine, strand, access->kind != MACHINE_READ, true, at);
}

/* ---- tensor copies ---- */

static int read_coordinates(Machine *machine, Strand *strand, const IrInsn *insn, int64_t out[5]) {
  const IrOperand *coords = ir_arg(insn, IR_ROLE_coords);
  int n = 0;
  if (!coords) return 0;
  int count = coords->kind == IR_OPD_VECTOR ? coords->count : 1;
  for (; n < count && n < 5; n++) {
    uint64_t value;
    const IrOperand *one = coords->kind == IR_OPD_VECTOR ? &coords->list[n] : coords;
    if (!value_same(machine_read(machine, strand, one), strand->active, &value)) return 0;
    out[n] = (int32_t)value;
  }
  return n;
}

static void note_pair(Machine *machine, Strand *strand, const IrInsn *insn,
                      const MachineTensorMap *map, const int64_t coords[5]) {
  Tiles *t = tiles_of(machine);
  int rank = strand->warp->cta->rank;
  if (!is_first(machine) || !(insn->flags & IR_FLAG(cta_group2)) || !map || rank > 1) return;
  PairLoad *load = NULL;
  for (int i = 0; i < t->npairs && !load; i++)
    if (t->pairs[i].insn == insn) load = &t->pairs[i];
  if (!load) {
    if (t->npairs == PAIR_LOADS) return;
    load = &t->pairs[t->npairs++];
    *load = (PairLoad){.insn = insn, .map = map};
  }
  int time = load->times[rank]++;
  for (int i = 0; i < 5 && time < 2; i++)
    (time ? load->second : load->first)[rank][i] = coords[i];
}

void tiles_copy(Machine *machine, Strand *strand, const IrInsn *insn, const MachineTensorMap *map,
                bool store) {
  int64_t coords[5] = {0};
  if (!is_first(machine) && !is_second(machine)) return;
  int n = read_coordinates(machine, strand, insn, coords);
  if (raster_runs(machine)) {
    if (store) raster_copy(machine, insn, n, coords);
    return;
  }
  uint64_t hash = UINT64_C(1469598103934665603);
  for (int i = 0; i < n; i++)
    hash = (hash ^ (uint64_t)coords[i]) * UINT64_C(1099511628211);
  note(machine, strand, store, n > 0, hash);
  if (n > 0 && !store) note_pair(machine, strand, insn, map, coords);
}

/* ---- the end ---- */

static bool same(const Place *a, const Place *b) {
  return a->have && b->have && a->known && b->known && a->hash == b->hash;
}

static bool differ(const Place *a, const Place *b) {
  return a->have && b->have && a->known && b->known && a->hash != b->hash;
}

static void check_skipped(Machine *machine, const Tiles *t) {
  if (t->reads_block) return;
  for (int i = 0; i < machine->kernel->insns.count; i++) {
    const IrInsn *insn = &machine->kernel->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_clc_get_ctaid) continue;
    machine_violation(machine, MACHINE_CHECK_FINISH, insn, "clc-initial-tile-skipped",
                      "all tiles come from answers: the kernel never reads blockIdx, so that the "
                      "tile that each CTA was launched for is not processed");
    return;
  }
}

static void check_ranks(Machine *machine, const Tiles *t) {
  if (machine->cluster_size < 2 || machine->sample->cluster_guessed) return;
  for (int w = 0; w < TILE_WARPS; w++) {
    const WarpTiles *a = &t->first[0][w], *b = &t->first[1][w];
    for (int kind = 0; kind < 2; kind++) {
      if (!a->answer || !same(&a->answered[kind], &b->answered[kind]) ||
          !differ(&a->own[kind], &b->own[kind]))
        continue;
      machine_violation(machine, MACHINE_CHECK_FINISH, a->answer, "clc-cluster-rank-not-added",
                        "warp %d of CTA 0 and of CTA 1 work on the same tile once the answer is "
                        "in: it names the first CTA of the cluster",
                        w);
      return;
    }
  }
}

static void check_transforms(Machine *machine, const Tiles *t) {
  if (t->grid_size) return; /* the two runs have grids of different size */
  for (int w = 0; w < TILE_WARPS; w++)
    for (int kind = 0; kind < 2; kind++) {
      const WarpTiles *a = &t->first[0][w];
      if (!a->answer || !differ(&a->answered[kind], &t->second[w].own[kind])) continue;
      machine_violation(machine, MACHINE_CHECK_FINISH, a->answer, "clc-transform-mismatch",
                        "the CTA that is launched as block %d and one that gets block %d as an "
                        "answer %s different places",
                        machine->cluster_size, machine->cluster_size,
                        kind ? "store to" : "load from");
      return;
    }
}

/* The halves of a pair lie one box (or a few, by powers of two) apart; a pair whose CTAs count
 * tiles each on their own is a whole tile further apart. */
static void check_pairs(Machine *machine, const Tiles *t) {
  for (int i = 0; i < t->npairs; i++) {
    const PairLoad *p = &t->pairs[i];
    for (int d = 0; d < 5 && d < p->map->rank && p->times[0] > 1 && p->times[1] > 1; d++) {
      int64_t apart = p->first[1][d] - p->first[0][d], box = p->map->box[d];
      bool steady = p->first[0][d] == p->second[0][d] && p->first[1][d] == p->second[1][d];
      if (box <= 0 || !steady || apart <= 0 || apart % box || apart / box != 3) continue;
      IrViolation *v = machine_violation(
          machine, MACHINE_CHECK_FINISH, p->insn, "cluster-tile-index-not-uniform",
          "the two CTAs of a pair load rows %lld and %lld, a whole tile and a half apart: each "
          "works on a tile of its own",
          (long long)p->first[0][d], (long long)p->first[1][d]);
      if (v) ir_violation_fact(machine->violations, v, "apart", "%lld", (long long)apart);
      return;
    }
  }
}

void tiles_finish(Machine *machine) {
  const Tiles *t = session_protocol(machine->session)->tiles;
  if (!t) return;
  if (is_first(machine)) check_pairs(machine, t);
  if (!t->clc || machine->stuck || machine->stopped) return;
  if (is_first(machine)) {
    check_skipped(machine, t);
    check_ranks(machine, t);
  }
  if (is_second(machine)) check_transforms(machine, t);
}
