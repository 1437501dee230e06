/* Tensor maps that the kernel edits: tensormap.replace, tensormap.cp_fenceproxy and the tensormap
 * proxy fences (PTX ISA 9.7.13.16, 9.7.13.4). */
#include <string.h>

#include "machine/hardware/pdl.h"
#include "machine/hardware/protocol.h"
#include "machine/inputs/sample.h"

static const char *actor_text(const Access *access) {
  return access->actor == ACTOR_BULK_STORE ? "store" : "load";
}

/* Copies issued with the old contents that the editing thread does not know to be over. */
static void check_in_flight(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t map) {
  Protocol *p = protocol_of(machine);
  const LaneClocks *lanes = &warp_state(strand->warp)->lanes;
  for (int i = 0; i < p->maps.count; i++) {
    const MapUse *use = &p->maps.items[i];
    if (use->map != map || lanes_know(&p->clocks, lanes, strand->active, use->access->agent,
                                      use->access->lanes, use->access->time))
      continue;
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_RACE, insn, "tma-tensormap-modified-in-flight",
        "the tensor map is changed while a %s issued with it at %s is not known to be complete",
        actor_text(use->access), machine_line(machine, use->access->insn));
    if (v)
      ir_violation_related(machine->violations, v, use->access->insn->where,
                           "the %s that may still use the old contents", actor_text(use->access));
    return;
  }
}

static void edited(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t address,
                   bool released) {
  Protocol *p = protocol_of(machine);
  uint64_t map = 0;
  machine_tensor_map(machine, address, &map);
  if (!map) map = address;
  check_in_flight(machine, strand, insn, map);
  const WarpState *ws = warp_state(strand->warp);
  for (int i = 0; i < p->map_edits.count; i++)
    if (p->map_edits.items[i].map == map) {
      p->map_edits.items[i] = (MapEdit){
          map, insn, (uint32_t)strand->warp->index, strand->active, ws->lanes.now, released};
      return;
    }
  KC_PUSH(machine->arena, p->map_edits,
          ((MapEdit){map, insn, (uint32_t)strand->warp->index, strand->active, ws->lanes.now,
                     released}));
}

/* ---- drafts in shared memory ---- */

static MapDraft *draft_at(Protocol *p, uint64_t address, int rank) {
  for (int i = 0; i < p->map_drafts.count; i++)
    if (p->map_drafts.items[i].address == address && p->map_drafts.items[i].rank == rank)
      return &p->map_drafts.items[i];
  return NULL;
}

static void drafted(Machine *machine, const Strand *strand, const IrInsn *insn, uint64_t address) {
  Protocol *p = protocol_of(machine);
  MapDraft *draft = draft_at(p, address, strand->warp->cta->rank);
  if (draft)
    draft->insn = insn, draft->published = false;
  else
    KC_PUSH(machine->arena, p->map_drafts,
            ((MapDraft){address, strand->warp->cta->rank, insn, false}));
}

static const char no_fence[] = "tma-tensormap-update-no-fence";

/* A copy by ordinary stores has been told of where the map is used. */
static bool told_at_the_copy(const Machine *machine) {
  for (int i = 0; i < machine->violations->list.count; i++)
    if (strcmp(machine->violations->list.items[i]->kind, no_fence) == 0) return true;
  return false;
}

/* What was edited in shared memory and never left it. A fence that releases a map says that threads
 * copied one themselves. */
void tensormap_finish(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (told_at_the_copy(machine)) return;
  for (int i = 0; i < p->map_drafts.count && !p->has_tensormap_release; i++)
    if (!p->map_drafts.items[i].published)
      machine_violation(machine, MACHINE_CHECK_RACE, p->map_drafts.items[i].insn, no_fence,
                        "the tensor map is edited in shared memory and nothing publishes the edit: "
                        "no tensormap.cp_fenceproxy of it follows");
}

/* ---- events ---- */

MachineStep event_tensormap_replace(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value v;
  uint64_t address;
  if (!machine_read_role(machine, strand, insn, IR_ROLE_map, &v) ||
      !value_same(v, strand->active, &address))
    return MACHINE_NEXT;
  MachineAddress a = machine_address(machine, address, (IrSpace)insn->space);
  if (a.space == IR_SPACE_SHARED) {
    drafted(machine, strand, insn, a.offset);
    return MACHINE_NEXT;
  }
  edited(machine, strand, insn, address, false);
  return MACHINE_NEXT;
}

static void publish(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  Value v;
  uint64_t address;
  bool known = machine_read_role(machine, strand, insn, IR_ROLE_src_addr, &v) &&
               value_same(v, strand->active, &address);
  MapDraft *draft = NULL;
  if (known)
    draft = draft_at(p, machine_address(machine, address, IR_SPACE_SHARED).offset,
                     strand->warp->cta->rank);
  if (draft)
    draft->published = true;
  else
    p->has_tensormap_release |= !known; /* it may be any of them */
}

MachineStep event_tensormap_cp_fenceproxy(Machine *machine, Strand *strand, const IrInsn *insn) {
  Value v;
  uint64_t address;
  if (!machine_converge(machine, strand, MACHINE_ALL_LANES)) return MACHINE_BLOCKED;
  Protocol *p = protocol_of(machine);
  lanes_meet(&p->clocks, &warp_state(strand->warp)->lanes, strand->active);
  if (machine_read_role(machine, strand, insn, IR_ROLE_dst_addr, &v) &&
      value_same(v, strand->active, &address))
    edited(machine, strand, insn, address, true);
  publish(machine, strand, insn);
  warp_state(strand->warp)->lanes.now++;
  /* Each lane copies a share, and the instruction ends for all of them together. */
  lanes_meet(&p->clocks, &warp_state(strand->warp)->lanes, strand->active);
  return MACHINE_NEXT;
}

/* Whether a pointer parameter may lead to tensor maps: to CUtensorMap itself or to a record. */
static bool may_hold_maps(const Machine *machine, uint64_t address) {
  if (address < IR_POINTER_BASE || address >= IR_GLOBAL_BASE) return false;
  uint64_t index = (address - IR_POINTER_BASE) / IR_POINTER_STRIDE;
  const IrLeaf *leaf = sample_pointer_leaf(machine->kernel, index);
  return leaf && (leaf->pointee_kind == IR_LEAF_TENSOR_MAP || leaf->pointee_kind == IR_LEAF_OTHER);
}

void tensormap_access(Machine *machine, Strand *strand, const IrInsn *insn,
                      const MachineAccess *access) {
  enum { MAP_BYTES = 128, MOST_EDITS = 256 };
  if (access->kind != MACHINE_WRITE || !access->lanes) return;
  uint64_t last = 0, barren = UINT64_MAX; /* a window without maps */
  FOR_LANES(lane, access->lanes) {
    uint64_t map = value_raw(access->address, (int)lane) / MAP_BYTES * MAP_BYTES;
    if (map == last || map / IR_POINTER_STRIDE == barren) continue;
    if (!may_hold_maps(machine, map)) {
      barren = map / IR_POINTER_STRIDE;
      continue;
    }
    last = map;
    if (protocol_of(machine)->map_edits.count < MOST_EDITS)
      edited(machine, strand, insn, map, false);
  }
}

static bool fenced_map(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t *map) {
  Value v;
  uint64_t address;
  *map = 0;
  if (!machine_read_role(machine, strand, insn, IR_ROLE_addr, &v) ||
      !value_same(v, strand->active, &address))
    return false;
  machine_tensor_map(machine, address, map);
  if (!*map) *map = address;
  return true;
}

void tensormap_released(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  uint64_t map;
  bool known = fenced_map(machine, strand, insn, &map);
  p->has_tensormap_release = true;
  for (int i = 0; i < p->map_edits.count; i++) {
    MapEdit *e = &p->map_edits.items[i];
    if ((!known || e->map == map) && e->warp == (uint32_t)strand->warp->index) e->released = true;
  }
}

void tensormap_acquired(Machine *machine, Strand *strand, const IrInsn *insn) {
  Protocol *p = protocol_of(machine);
  uint64_t map;
  fenced_map(machine, strand, insn, &map);
  p->has_tensormap_acquire = true;
  KC_PUSH(machine->arena, p->map_acquires, ((MapAcquire){map, strand->warp->cta->rank}));
}

bool tensormap_has_acquire(Machine *machine, const Strand *strand, uint64_t map) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->map_acquires.count; i++) {
    const MapAcquire *a = &p->map_acquires.items[i];
    if ((a->map == map || !a->map) && a->rank == strand->warp->cta->rank) return true;
  }
  return false;
}
