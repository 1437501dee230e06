/* Strands: splitting on divergence, merging on equal pc, waiting for convergence, blocking; and the
 * queue of asynchronous work. A merge is the simulator's economy, not a synchronisation. */
#include "machine/execute/core.h"

Strand *core_strand_new(Machine *machine, Warp *warp, uint32_t mask, int32_t pc) {
  g_assert(warp->nstrands < 32);
  Strand *strand = KC_NEW(machine->arena, Strand);
  strand->warp = warp;
  strand->mask = mask;
  strand->pc = pc;
  strand->spin_pc = -1;
  warp->strands[warp->nstrands++] = strand;
  return strand;
}

void core_strand_drop(Strand *strand) {
  Warp *warp = strand->warp;
  for (int i = 0; i < warp->nstrands; i++) {
    if (warp->strands[i] != strand) continue;
    warp->strands[i] = warp->strands[--warp->nstrands];
    break;
  }
  strand->mask = 0;
}

Strand *core_split(Machine *machine, Strand *strand, uint32_t lanes, int32_t pc) {
  Strand *child = core_strand_new(machine, strand->warp, lanes, pc);
  strand->mask &= ~lanes;
  strand->active &= strand->mask;
  core_run(machine)->diverged = true;
  protocol_split(machine, strand, child);
  return child;
}

static bool may_merge(const Strand *a, const Strand *b) {
  if (a->pc != b->pc || a->resume || b->resume) return false;
  return (!a->blocked || a->converging) && (!b->blocked || b->converging);
}

static void merge_pair(Machine *machine, Strand *into, Strand *gone) {
  protocol_merge(machine, into, gone);
  into->mask |= gone->mask;
  into->converge_mask |= gone->converge_mask;
  into->blocked = NULL;
  into->converging = false;
  core_strand_drop(gone);
}

void core_merge(Machine *machine, Warp *warp) {
  for (int i = 0; i < warp->nstrands; i++) {
    for (int j = i + 1; j < warp->nstrands;) {
      if (may_merge(warp->strands[i], warp->strands[j]))
        merge_pair(machine, warp->strands[i], warp->strands[j]);
      else
        j++;
    }
  }
}

static bool converged(Machine *machine, const Strand *strand) {
  (void)machine;
  uint32_t need = strand->converge_mask & strand->warp->alive;
  return (strand->mask & need) == need;
}

static char *describe_convergence(Machine *machine, const Strand *strand) {
  uint32_t missing = strand->converge_mask & strand->warp->alive & ~strand->mask;
  return kc_printf(machine->session->arena, "lanes 0x%08x wait here for lanes 0x%08x of their warp",
                   strand->mask, missing);
}

/* Lanes that were waited for here have ended without coming. */
static void tell_of_absent(Machine *machine, Strand *strand) {
  uint32_t absent = strand->absent & ~strand->mask;
  strand->absent = 0;
  if (absent) protocol_absent(machine, strand, absent);
}

bool machine_converge(Machine *machine, Strand *strand, uint32_t mask) {
  strand->converge_mask = mask;
  if (converged(machine, strand)) {
    tell_of_absent(machine, strand);
    return true;
  }
  /* Others may already stand at the same instruction; this strand takes them in. */
  Warp *warp = strand->warp;
  uint32_t active = strand->active;
  for (int i = 0; i < warp->nstrands;) {
    Strand *other = warp->strands[i];
    if (other != strand && other->converging && may_merge(strand, other)) {
      active |= other->active;
      merge_pair(machine, strand, other);
    } else {
      i++;
    }
  }
  strand->active = active;
  if (converged(machine, strand)) {
    strand->absent = 0;
    return true;
  }
  strand->absent = mask & strand->warp->alive & ~strand->mask;
  machine_block(machine, strand, "converge", converged, describe_convergence, NULL, 0);
  strand->converging = true;
  return false;
}

void machine_block(Machine *machine, Strand *strand, const char *reason, MachineWake wake,
                   MachineDescribe describe, void *object, int64_t value) {
  strand->blocked = reason;
  strand->wake = wake;
  strand->describe = describe;
  strand->wait_object = object;
  strand->wait_value = value;
  strand->converging = false;
  strand->blocked_since = machine->step;
}

/* ---- asynchronous work ---- */

static void append(CoreAsync **items, size_t *count, size_t *capacity, CoreAsync item) {
  if (*count == *capacity) {
    *capacity = *capacity ? *capacity * 2 : 64;
    *items = g_renew(CoreAsync, *items, *capacity);
  }
  (*items)[(*count)++] = item;
}

void machine_post(Machine *machine, MachineAsync run, void *user) {
  CoreRun *core = core_run(machine);
  machine->async_posted++;
  if (machine->schedule == MACHINE_EAGER || machine->schedule == MACHINE_LAG) {
    machine->async_done++;
    core->effects++;
    run(machine, user);
    return;
  }
  append(&core->queue, &core->queue_count, &core->queue_capacity, (CoreAsync){run, user, NULL});
}

void machine_post_late(Machine *machine, const void *group, MachineAsync run, void *user) {
  CoreRun *core = core_run(machine);
  machine->async_posted++;
  append(&core->late, &core->late_count, &core->late_capacity, (CoreAsync){run, user, group});
}

uint64_t machine_random(Machine *machine) {
  machine->random ^= machine->random << 13;
  machine->random ^= machine->random >> 7;
  machine->random ^= machine->random << 17;
  return machine->random;
}
