/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and tensormap.* (PTX ISA 9.7.9.27, 9.7.13.16).
 */
#include "machine/hardware/tensor.h"
#include "machine/checks/checks.h"

#include <stdlib.h>

#include "machine/checks/finish.h"
#include "machine/checks/fragment.h"
#include "machine/checks/swizzle.h"
#include "machine/hardware/bulk.h"
#include "machine/hardware/pdl.h"
#include "machine/session.h"

/* ---- sizes ---- */

static InferredCopy *inferred_of(MachineSession *session, const IrInsn *insn, bool make) {
  ProtocolSession *s = session_protocol(session);
  for (int i = 0; i < s->copies.count; i++)
    if (s->copies.items[i].insn == insn) return &s->copies.items[i];
  if (!make) return NULL;
  KC_PUSH(session->arena, s->copies, ((InferredCopy){.insn = insn, .last_offset = -1}));
  return &s->copies.items[s->copies.count - 1];
}

int64_t tensor_bytes(Machine *machine, const IrInsn *insn, const MachineTensorMap *map,
                     bool *inferred) {
  *inferred = false;
  if (map && map->box_bytes > 0) return map->box_bytes * (insn->flags & IR_FLAG(gather4) ? 4 : 1);
  *inferred = true;
  const InferredCopy *copy = inferred_of(machine->session, insn, false);
  return copy && copy->bytes > 0 ? copy->bytes : -1;
}

/* A copy of unknown size is taken to write at least the smallest box. */
#define SPAN_UNKNOWN 128

static void remember_destination(Machine *machine, const IrInsn *insn, int rank, uint32_t offset) {
  InferredCopy *copy = inferred_of(machine->session, insn, true);
  int64_t at = (int64_t)rank << 24 | offset;
  if (copy->last_offset >= 0 && copy->last_offset != at && copy->last_offset >> 24 == at >> 24) {
    int64_t gap = at > copy->last_offset ? at - copy->last_offset : copy->last_offset - at;
    if (!copy->gap || gap < copy->gap) copy->gap = gap;
  }
  copy->last_offset = at;
}

static int by_place(const void *a, const void *b) {
  const MbarCopy *x = a, *y = b;
  if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
  return x->offset < y->offset ? -1 : x->offset > y->offset;
}

typedef struct Rooms { /* of the copies of unknown size in one phase */
  int64_t sum;
  int64_t whole; /* to the ends of the arrays instead of their elements: a tile may be all rows */
  bool known;    /* every copy fills a (part of an) array element */
  bool covered;  /* and together they start where the elements start */
} Rooms;

/* Room of each copy: to the next copy in the same array element, else to the end of the element. */
static Rooms measure(Machine *machine, const MbarCopy *copies, int n, int64_t *room) {
  Rooms r = {.known = true, .covered = true};
  for (int i = 0; i < n; i++) {
    uint64_t start = 0;
    const IrField *field = machine_shared_field(machine, copies[i].offset, &start);
    room[i] = 0;
    if (!field || field->elem_bytes < SPAN_UNKNOWN) {
      r.known = r.covered = false;
      continue;
    }
    uint64_t within = (copies[i].offset - start) % field->elem_bytes;
    uint64_t element = copies[i].offset - within, end = element + field->elem_bytes;
    room[i] = (int64_t)(end - copies[i].offset);
    bool first = i == 0 || copies[i - 1].rank != copies[i].rank || copies[i - 1].offset < element;
    if (first && within) r.covered = false;
    if (i + 1 < n && copies[i + 1].rank == copies[i].rank && copies[i + 1].offset < end)
      room[i] = (int64_t)copies[i + 1].offset - copies[i].offset;
    r.sum += room[i];
    uint64_t array_end = start + field->elem_bytes * field->count;
    bool last =
        i + 1 == n || copies[i + 1].rank != copies[i].rank || copies[i + 1].offset >= array_end;
    r.whole += last ? (int64_t)(array_end - copies[i].offset) : room[i];
  }
  return r;
}

static void learn(Machine *machine, const IrInsn *insn, int64_t bytes) {
  InferredCopy *copy = inferred_of(machine->session, insn, true);
  if (copy->bytes < 0 || bytes <= 0) return;
  copy->bytes = copy->bytes && copy->bytes != bytes ? -1 : bytes;
}

static int64_t announcements(const Mbar *bar) {
  int64_t count = 0;
  for (int i = 0; i < bar->arrivals.count; i++)
    if (bar->arrivals.items[i].insn->flags & IR_FLAG(expect_tx))
      count += bar->arrivals.items[i].times;
  return count;
}

static void announced_too_much(Machine *machine, const Mbar *bar, int64_t announced, int64_t room) {
  /* Several announcements in one phase: arrivals that belong to the next one came early. */
  if (!bar->last_expect || bar->over_arrived || announcements(bar) > bar->expected) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, bar->last_expect, "mbarrier-expect-tx-mismatch",
      "%lld bytes are announced on %s, but the arrays that its copies fill take %lld: the phase "
      "never completes",
      (long long)announced, mbarrier_name(machine, bar, bar->rank), (long long)room);
  if (!v) return;
  v->confidence = IR_INFERRED; /* the boxes are not known, the arrays are */
  ir_violation_related(machine->violations, v, bar->landed.items[0].insn->where,
                       "a copy bound to %s", mbarrier_name(machine, bar, bar->rank));
  ir_violation_fact(machine->violations, v, "announced", "%lld", (long long)announced);
  ir_violation_fact(machine->violations, v, "delivered", "%lld", (long long)room);
}

/* A phase was announced some bytes and copies of unknown size landed in it. Their sizes follow when
 * the arrays they fill, or the distance between the stages they fill, add up. */
void tensor_phase(Machine *machine, Mbar *bar) {
  int n = bar->landed.count;
  int64_t announced = bar->announced - bar->delivered;
  if (!n || announced <= 0) return;
  MbarCopy *copies = bar->landed.items;
  bar->last_landed.count = 0;
  for (int i = 0; i < n; i++)
    KC_PUSH(machine->arena, bar->last_landed, copies[i]);
  bar->last_announced = announced;
  qsort(copies, (size_t)n, sizeof *copies, by_place);
  int64_t *room = KC_NEW_ARRAY(machine->arena, int64_t, n);
  Rooms rooms = measure(machine, copies, n, room);
  bool same = true;
  int64_t gaps = 0;
  for (int i = 0; i < n; i++) {
    same = same && copies[i].insn == copies[0].insn;
    gaps += inferred_of(machine->session, copies[i].insn, true)->gap;
  }
  /* A copy that has only ever been to one place may fill several rows of `tile[rows][columns]`. */
  int64_t most = gaps == 0 ? rooms.whole : rooms.sum;
  if (rooms.covered && announced > most) announced_too_much(machine, bar, announced, most);
  for (int i = 0; i < n; i++) {
    if (rooms.known && rooms.sum == announced)
      learn(machine, copies[i].insn, room[i]);
    else if (same && announced % n == 0 && (!room[i] || announced / n <= room[i]))
      learn(machine, copies[i].insn, announced / n);
    else if (gaps == announced)
      learn(machine, copies[i].insn, inferred_of(machine->session, copies[i].insn, true)->gap);
  }
}

/* Bytes from a copy's destination to the end of the operands that are read there without a gap,
 * up to the destination of another copy; 0: none. */
static int64_t read_bytes(const Machine *machine, const MbarCopy *copy) {
  const Protocol *p = protocol_of(machine);
  uint32_t end = copy->offset, limit = UINT32_MAX;
  for (int i = 0; i < p->mbars.count; i++)
    for (int j = 0; j < p->mbars.items[i]->copies.count; j++) {
      const MbarCopy *other = &p->mbars.items[i]->copies.items[j];
      if (other->rank == copy->rank && other->offset > copy->offset && other->offset < limit)
        limit = other->offset;
    }
  for (bool grown = true; grown;) {
    grown = false;
    for (int i = 0; i < p->operands.count; i++) {
      const OperandRead *o = &p->operands.items[i];
      if (o->rank != copy->rank || o->start < copy->offset || o->start >= limit) continue;
      if (o->start > end + 1023 || o->end <= end) continue;
      end = o->end;
      grown = true;
    }
  }
  return end > limit ? 0 : (int64_t)(end - copy->offset);
}

/* Whether some, but not all, of the sizes add up to `sum`. */
static bool part_sums(const int64_t *sizes, int n, int64_t sum) {
  for (unsigned set = 1; set + 1 < 1u << n; set++) {
    int64_t total = 0;
    for (int i = 0; i < n; i++)
      total += set >> i & 1 ? sizes[i] : 0;
    if (total == sum) return true;
  }
  return false;
}

static void check_announced(Machine *machine, Mbar *bar) {
  int n = bar->last_landed.count;
  int64_t announced = bar->last_announced, sizes[8], sum = 0;
  if (n < 1 || n > 8 || announced <= 0 || !bar->last_expect) return;
  for (int i = 0; i < n; i++) {
    sizes[i] = read_bytes(machine, &bar->last_landed.items[i]);
    if (!sizes[i]) return;
  }
  /* One instruction brings boxes of one size: what is read behind the last is not its own. */
  const MbarCopy *copies = bar->last_landed.items;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      if (copies[i].insn == copies[j].insn && sizes[j] < sizes[i]) sizes[i] = sizes[j];
  for (int i = 0; i < n; i++)
    sum += sizes[i];
  bool scaled =
      announced > sum && machine->cluster_size > 1 &&
      (announced == sum * machine->cluster_size || announced * 2 == sum * machine->cluster_size);
  if (!scaled && !(announced < sum && part_sums(sizes, n, announced))) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, bar->last_expect, "mbarrier-expect-tx-mismatch",
      scaled ? "%lld bytes are announced on %s, but the operands that its %d copies bring take "
               "%lld: bytes of other CTAs do not complete here"
             : "%lld bytes are announced on %s, but the operands that its %d copies bring take "
               "%lld: the phase completes before all of them have landed",
      (long long)announced, mbarrier_name(machine, bar, bar->rank), n, (long long)sum);
  if (!v) return;
  v->confidence = IR_INFERRED; /* the boxes are not known, the operands are */
  ir_violation_related(machine->violations, v, bar->last_landed.items[0].insn->where,
                       "a copy bound to %s", mbarrier_name(machine, bar, bar->rank));
  ir_violation_fact(machine->violations, v, "announced", "%lld", (long long)announced);
  ir_violation_fact(machine->violations, v, "delivered", "%lld", (long long)sum);
}

/* Whether only this copy instruction lands in the array element that starts at `start`. */
static bool fills_alone(const Machine *machine, const MbarCopy *copy, uint64_t start,
                        uint64_t end) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++)
    for (int j = 0; j < p->mbars.items[i]->copies.count; j++) {
      const MbarCopy *other = &p->mbars.items[i]->copies.items[j];
      if (other->rank == copy->rank && other->offset >= start && other->offset < end &&
          (other->offset != copy->offset || other->insn != copy->insn))
        return false;
    }
  return true;
}

/* One copy a phase, alone in an array element (or in an array whose elements are the rows of one
 * tile) that is twice or four times what is announced: the bytes of part of the copy. The box is
 * not known, so that this is inferred. */
static void check_part_announced(Machine *machine, Mbar *bar) {
  if (bar->last_landed.count != 1 || bar->last_announced <= 0 || !bar->last_expect) return;
  const MbarCopy *copy = &bar->last_landed.items[0];
  uint64_t start = 0;
  const IrField *field = machine_shared_field(machine, copy->offset, &start);
  if (!field || (copy->offset - start) % field->elem_bytes != 0) return;
  int64_t bytes = (int64_t)field->elem_bytes, announced = bar->last_announced;
  if (announced > bytes) bytes = (int64_t)(start + field->elem_bytes * field->count - copy->offset);
  if (announced * 2 != bytes && announced * 4 != bytes) return;
  if (!fills_alone(machine, copy, copy->offset, copy->offset + (uint64_t)bytes)) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_PHASE, bar->last_expect, "mbarrier-expect-tx-mismatch",
      "%lld bytes are announced on %s, but the array that its copy fills takes %lld: the phase "
      "completes early, or never",
      (long long)announced, mbarrier_name(machine, bar, bar->rank), (long long)bytes);
  if (!v) return;
  v->confidence = IR_INFERRED; /* the box is not known, the array is */
  ir_violation_related(machine->violations, v, copy->insn->where, "the copy bound to %s",
                       mbarrier_name(machine, bar, bar->rank));
  ir_violation_fact(machine->violations, v, "announced", "%lld", (long long)announced);
  ir_violation_fact(machine->violations, v, "delivered", "%lld", (long long)bytes);
}

void tensor_finish(Machine *machine) {
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->mbars.count; i++) {
    check_announced(machine, p->mbars.items[i]);
    check_part_announced(machine, p->mbars.items[i]);
  }
}

void tensor_infer(Machine *machine) {
  ProtocolSession *s = session_protocol(machine->session);
  for (int i = 0; i < s->copies.count; i++)
    s->copies.items[i].last_offset = -1;
}

/* ---- maps ---- */

static void check_acquire(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t address,
                          uint64_t map) {
  MachineAddress a = machine_address(machine, address, IR_SPACE_GENERIC);
  if (a.space != IR_SPACE_GLOBAL || a.offset >= IR_GLOBAL_BASE) return;
  WarpState *ws = warp_state(strand->warp);
  Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->map_edits.count; i++) {
    const MapEdit *e = &p->map_edits.items[i];
    if (e->map != map) continue;
    bool ordered = lanes_know(&p->clocks, &ws->lanes, strand->active,
                              warp_state(machine->warps[e->warp])->lanes.agent, e->lanes, e->time);
    if (e->released && ordered && tensormap_has_acquire(machine, strand, map)) continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "tma-tensormap-update-no-fence",
        "the copy uses a tensor map that was edited at %s, %s", machine_line(machine, e->insn),
        !e->released ? "and no fence.proxy.tensormap release (or tensormap.cp_fenceproxy) follows "
                       "the edit"
        : !ordered   ? "and nothing orders the copy after the edit"
                     : "with no fence.proxy.tensormap acquire before the copy");
    if (v) ir_violation_related(machine->violations, v, e->insn->where, "edited here");
    return;
  }
  if (!tensormap_has_acquire(machine, strand, map) && !p->has_tensormap_acquire)
    machine_violation(machine, MACHINE_CHECK_RACE, insn, "tma-tensormap-no-acquire",
                      "the tensor map lies in global memory and no "
                      "fence.proxy.tensormap::generic.acquire precedes its use");
}

/* The map operand of the active lanes: bytes of its box, swizzle, and what is wrong with it. */
static const MachineTensorMap *map_operand(Machine *machine, Strand *strand, const IrInsn *insn,
                                           uint64_t *id) {
  Value v;
  uint64_t address;
  *id = 0;
  if (!machine_read_role(machine, strand, insn, IR_ROLE_map, &v) ||
      !value_same(v, strand->active, &address))
    return NULL;
  const MachineTensorMap *map = machine_tensor_map(machine, address, id);
  check_acquire(machine, strand, insn, address, *id);
  return map;
}

/* gather4 and scatter4 name four rows: the box of their map has one row (PTX ISA 5.5.3.5). Returns
 * false if it has more. */
static bool one_row(Machine *machine, const IrInsn *insn, const MachineTensorMap *map) {
  bool rows = insn->flags & (IR_FLAG(gather4) | IR_FLAG(scatter4));
  if (!rows || !map || map->rank != 2 || map->box[1] <= 1) return true;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, insn, "tma-descriptor-limits",
      "the box of this tensor map has %lld rows: %s takes its four rows from the coordinates, and "
      "a map whose box is one row",
      (long long)map->box[1], insn->flags & IR_FLAG(gather4) ? "gather4" : "scatter4");
  if (v) ir_violation_related(machine->violations, v, map->where, "boxDim[1] is given here");
  return false;
}

static void remember_use(Machine *machine, uint64_t map, Access *access, uint32_t offset) {
  Protocol *p = protocol_of(machine);
  if (!map || !access) return;
  for (int i = 0; i < p->maps.count; i++)
    if (p->maps.items[i].map == map && p->maps.items[i].access->insn == access->insn &&
        p->maps.items[i].access->warp == access->warp) {
      p->maps.items[i].access = access;
      return;
    }
  KC_PUSH(machine->arena, p->maps, ((MapUse){map, access, offset}));
}

/* ---- loads ---- */

static SharedPlace mbar_of(Machine *machine, Strand *strand, const IrInsn *insn, int lane) {
  SharedPlace place = {.lanes = UINT32_C(1) << lane, .known = false, .rank = -1};
  Value v;
  if (machine_read_role(machine, strand, insn, IR_ROLE_mbar, &v)) {
    uint32_t left = place.lanes;
    protocol_next_place(machine, strand, &v, IR_SPACE_SHARED_CLUSTER, &left, &place);
  }
  return place;
}

static void load_one(Machine *machine, Strand *strand, const IrInsn *insn, int lane,
                     const SharedPlace *dst, const MachineTensorMap *map, uint64_t map_id) {
  bool inferred;
  bool fits = one_row(machine, insn, map);
  int64_t bytes = tensor_bytes(machine, insn, fits ? map : NULL, &inferred);
  int64_t counted = !inferred && map->payload ? bytes * map->payload / map->box_bytes : bytes;
  uint32_t targets = copy_targets(machine, strand, insn, UINT32_C(1) << lane, dst->rank);
  SharedPlace mbar = mbar_of(machine, strand, insn, lane);
  for (int rank = 0; rank < machine->cluster_size; rank++) {
    if (!(targets >> rank & 1)) continue;
    SharedPlace there = mbar;
    if (insn->flags & IR_FLAG(multicast)) {
      there.rank = rank;
      /* .cta_group::2: an address whose pair bit was cleared names the even CTA of each pair. */
      if ((insn->flags & IR_FLAG(cta_group2)) && !(mbar.rank & 1)) there.rank = rank & ~1;
    }
    copy_check_alignment(machine, strand, insn, rank, dst->offset, 128, "a tensor copy");
    if (!inferred) copy_check_room(machine, strand, insn, rank, dst->offset, bytes);
    if (inferred) remember_destination(machine, insn, rank, dst->offset);
    Access *access =
        copy_load(machine, strand,
                  &(CopyLoad){.insn = insn,
                              .lane = lane,
                              .rank = rank,
                              .offset = dst->offset,
                              .bytes = inferred ? -1 : counted,
                              .span = bytes > 0 ? (uint32_t)bytes : SPAN_UNKNOWN,
                              .mbar = there,
                              .actor = ACTOR_TMA_LOAD,
                              .targets = insn->flags & IR_FLAG(multicast) ? targets : 0,
                              .map = map});
    fragment_tile(machine, insn, rank, dst->offset, map);
    remember_use(machine, map_id, access, dst->offset);
  }
  if (inferred)
    machine_switch_off(machine, MACHINE_CHECK_BYTES, NULL,
                       "the box of tensor map %s is not known (add // kcheck: tensormap(%s, box = "
                       "64x128, type = bf16))",
                       map && map->name ? map->name : "of a copy",
                       map && map->name ? map->name : "map");
}

MachineStep event_bulk_tensor_load(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address;
  uint64_t map_id;
  const MachineTensorMap *map = map_operand(machine, strand, insn, &map_id);
  machine_read_role(machine, strand, insn, IR_ROLE_dst_addr, &address);
  pdl_async_read(machine, strand, insn, pdl_map(map_id));
  tiles_copy(machine, strand, insn, map, false);
  uint32_t left = strand->active;
  SharedPlace dst;
  while (protocol_next_place(machine, strand, &address, IR_SPACE_SHARED_CLUSTER, &left, &dst)) {
    if (!dst.known || dst.rank < 0) {
      finish_unknown_copy(machine, strand, insn, dst.known);
      continue;
    }
    copy_check_issuers(machine, strand, insn, dst.lanes, "tensor copy");
    FOR_LANES(lane, dst.lanes)
    load_one(machine, strand, insn, (int)lane, &dst, map, map_id);
  }
  return MACHINE_NEXT;
}

/* ---- stores ---- */

static MachineStep tensor_store(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value address;
  uint64_t map_id;
  const MachineTensorMap *map = map_operand(machine, strand, insn, &map_id);
  machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &address);
  tiles_copy(machine, strand, insn, map, true);
  uint32_t left = strand->active;
  SharedPlace src;
  while (protocol_next_place(machine, strand, &address, IR_SPACE_SHARED, &left, &src)) {
    if (!src.known || src.rank < 0) {
      finish_unknown_copy(machine, strand, insn, src.known);
      continue;
    }
    copy_check_alignment(machine, strand, insn, src.rank, src.offset, 128, "a tensor copy");
    swizzle_store(machine, insn, src.rank, src.offset, map);
    fragment_store(machine, strand, insn, src.rank, src.offset, map);
    copy_check_issuers(machine, strand, insn, src.lanes, "tensor store");
    bool known = map && map->box_bytes > 0 && one_row(machine, insn, map);
    int64_t bytes =
        known ? map->box_bytes * (insn->flags & IR_FLAG(scatter4) ? 4 : 1) : SPAN_UNKNOWN;
    if (known) copy_check_room(machine, strand, insn, src.rank, src.offset, bytes);
    FOR_LANES(lane, src.lanes)
    remember_use(
        machine, map_id,
        copy_store(machine, strand, insn, (int)lane, src.rank, src.offset, (uint32_t)bytes),
        src.offset);
  }
  return MACHINE_NEXT;
}

MachineStep event_bulk_tensor_store(Machine *machine, Strand *strand, const IrInsn *insn) {
  return tensor_store(machine, strand, insn);
}

MachineStep event_bulk_tensor_reduce(Machine *machine, Strand *strand, const IrInsn *insn) {
  return tensor_store(machine, strand, insn);
}

MachineStep event_bulk_tensor_prefetch(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)machine;
  (void)strand;
  (void)insn;
  return MACHINE_NEXT;
}

MachineStep event_prefetch_tensormap(Machine *machine, Strand *strand, const IrInsn *insn) {
  (void)machine;
  (void)strand;
  (void)insn;
  return MACHINE_NEXT;
}
