/* Who runs next. Within a warp the strand with the smallest pc runs, so that diverged strands meet
 * again; among warps and asynchronous work the schedule decides. */
#include "machine/execute/core.h"

#define LONG_SLICE 20000 /* instructions before another warp gets its turn */
#define CHANCES 8        /* for those that poll, with no progress in between that could be told */
#define IDLE_ROUNDS 3    /* rounds in which everything that runs only polls */

/* Steps, time and memory are limited; a run that is cut proves nothing about its end. */
static bool over_budget(Machine *machine) {
  CoreRun *core = core_run(machine);
  const MachineOptions *options = machine->session->options;
  if (machine->step >= machine->max_steps) {
    core->cut_steps = true;
    core->cut_reason = kc_printf(machine->session->arena, "stopped after %llu steps",
                                 (unsigned long long)machine->step);
  } else if (machine->step % CORE_CHECK_STEPS == 0) {
    int64_t used = core_clock_us() - core_session(machine)->started_us;
    if (options->max_time_us > 0 && used > options->max_time_us) {
      core->cut_time = true;
      core->cut_reason = "stopped at the time limit";
    }
    size_t bytes =
        kc_arena_used(machine->arena) + core->lane_bytes + core->global_size * sizeof(CoreWord);
    if (options->max_memory && bytes > options->max_memory) {
      core->cut_memory = true;
      core->cut_reason = "stopped at the memory limit";
    }
  }
  if (!core->cut_steps && !core->cut_time && !core->cut_memory) return false;
  machine->stopped = true;
  return true;
}

static void wake_strands(Machine *machine, Warp *warp) {
  for (int i = 0; i < warp->nstrands; i++) {
    Strand *strand = warp->strands[i];
    if (strand->blocked && strand->wake(machine, strand)) {
      strand->blocked = NULL;
      strand->converging = false;
    }
  }
}

/* Runs a strand until it blocks, ends, uses up `slice`, or (others exist) reaches a place where
 * strands may merge. */
static bool run_strand(Machine *machine, Strand *strand, uint64_t *slice, bool stop_at_leaders) {
  const IrInsn *insns = machine->kernel->insns.items;
  Warp *warp = strand->warp;
  bool progress = false;
  while (*slice > 0) {
    if (over_budget(machine)) return progress;
    uint64_t before = *slice;
    if (!core_quick(machine, strand, slice, stop_at_leaders)) return true;
    if (*slice != before) {
      progress = true;
      if (*slice == 0 || core_until_check(machine) == CORE_CHECK_STEPS) continue;
      if (machine->step >= machine->max_steps) continue;
    }
    int32_t at = strand->pc;
    uint64_t effects = core_run(machine)->effects;
    strand->unchanged++;
    MachineStep step = core_execute(machine, strand);
    --*slice;
    if (core_run(machine)->effects != effects) {
      strand->unchanged = 0;
      warp->effects++;
    }
    if (step == MACHINE_BLOCKED) return progress;
    progress = true;
    if (step == MACHINE_STOP || machine->stopped) return progress;
    if (strand->mask == 0) return progress;
    if (step == MACHINE_NEXT) strand->pc = at + 1;
    strand->resume = 0;
    if (strand->unchanged == 0)
      strand->rounds = 0;
    else if (step == MACHINE_JUMPED && strand->pc <= at)
      strand->rounds++;
    if (core_polls(strand)) *slice = 0;
    if (stop_at_leaders && warp->nstrands > 1 &&
        (step == MACHINE_JUMPED || insns[strand->pc].leader))
      return progress;
  }
  return progress;
}

static Strand *smallest_pc(const Warp *warp) {
  Strand *best = NULL;
  for (int i = 0; i < warp->nstrands; i++) {
    Strand *strand = warp->strands[i];
    if (!strand->blocked &&
        (!best || strand->pc < best->pc || (strand->pc == best->pc && strand->mask > best->mask)))
      best = strand;
  }
  return best;
}

static bool run_warp(Machine *machine, Warp *warp, uint64_t slice) {
  bool progress = false;
  while (slice > 0 && warp->nstrands > 0 && !machine->stopped) {
    wake_strands(machine, warp);
    if (warp->nstrands > 1) core_merge(machine, warp);
    Strand *strand = smallest_pc(warp);
    if (!strand) return progress;
    if (run_strand(machine, strand, &slice, true)) progress = true;
  }
  return progress;
}

/* ---- lagging lanes ---- */

static int lanes_of(const Strand *strand) {
  return __builtin_popcount(strand->mask);
}

static Strand *leading_strand(const Warp *warp) {
  Strand *best = NULL;
  for (int i = 0; i < warp->nstrands; i++) {
    Strand *strand = warp->strands[i];
    if (!best || lanes_of(strand) < lanes_of(best) ||
        (lanes_of(strand) == lanes_of(best) && strand->pc > best->pc))
      best = strand;
  }
  return best;
}

/* The smallest strand runs as far as it can and the others stand still until the whole cluster is
 * stuck; strands meet only where an instruction asks for it. */
static bool run_warp_lagging(Machine *machine, Warp *warp, uint64_t slice) {
  CoreRun *core = core_run(machine);
  bool progress = false;
  while (slice > 0 && warp->nstrands > 0 && !machine->stopped) {
    wake_strands(machine, warp);
    Strand *strand = leading_strand(warp);
    if (strand->blocked) {
      if (!core->lag_release) return progress;
      strand = smallest_pc(warp);
      if (!strand) return progress;
      core->lag_release = false;
    }
    if (run_strand(machine, strand, &slice, false)) progress = true;
  }
  return progress;
}

/* ---- rounds ---- */

static bool fire(Machine *machine, size_t index) {
  CoreRun *core = core_run(machine);
  if (core->queue_head >= core->queue_count) return false;
  CoreAsync item = core->queue[core->queue_head + index];
  for (size_t i = core->queue_head + index; i > core->queue_head; i--)
    core->queue[i] = core->queue[i - 1];
  core->queue_head++;
  if (core->queue_head == core->queue_count) core->queue_head = core->queue_count = 0;
  machine->async_done++;
  core->effects++;
  item.run(machine, item.user);
  return true;
}

static size_t waiting(const CoreRun *core) {
  return core->queue_count - core->queue_head;
}

/* All late work of the group that was posted first. */
static bool fire_late(Machine *machine) {
  CoreRun *core = core_run(machine);
  if (core->late_count == 0) return false;
  const void *group = core->late[0].group;
  size_t count = 0, kept = 0, total = core->late_count;
  CoreAsync *now = g_new(CoreAsync, total);
  for (size_t i = 0; i < total; i++) {
    if (core->late[i].group == group)
      now[count++] = core->late[i];
    else
      core->late[kept++] = core->late[i];
  }
  core->late_count = kept;
  core->effects++;
  for (size_t i = 0; i < count; i++) {
    machine->async_done++;
    now[i].run(machine, now[i].user);
  }
  g_free(now);
  return true;
}

static uint64_t random_slice(Machine *machine) {
  static const uint64_t slices[] = {20, 100, 1000, LONG_SLICE};
  return slices[machine_random(machine) % 4];
}

static bool round_of_warps(Machine *machine, int *order) {
  CoreRun *core = core_run(machine);
  bool progress = false;
  for (int i = machine->nwarps - 1; machine->schedule == MACHINE_RANDOM && i > 0; i--) {
    int j = (int)(machine_random(machine) % (uint64_t)(i + 1)), t = order[i];
    order[i] = order[j];
    order[j] = t;
  }
  for (int i = 0; i < machine->nwarps && !machine->stopped; i++) {
    Warp *warp = machine->warps[order[i]];
    if (warp->nstrands == 0) continue;
    uint64_t slice = machine->schedule == MACHINE_RANDOM ? random_slice(machine) : LONG_SLICE;
    bool moved = machine->schedule == MACHINE_LAG ? run_warp_lagging(machine, warp, slice)
                                                  : run_warp(machine, warp, slice);
    progress |= moved;
    if (machine->schedule == MACHINE_RANDOM && waiting(core) && machine_random(machine) % 10 < 3)
      progress |= fire(machine, machine_random(machine) % waiting(core));
  }
  return progress;
}

static bool nothing_left(const Machine *machine) {
  for (int i = 0; i < machine->nwarps; i++)
    if (machine->warps[i]->nstrands > 0) return false;
  return true;
}

/* Whether all that still runs goes round and round without changing a register. */
static bool everything_polls(const Machine *machine) {
  bool any = false;
  for (int i = 0; i < machine->nwarps; i++) {
    const Warp *warp = machine->warps[i];
    for (int j = 0; j < warp->nstrands; j++) {
      if (warp->strands[j]->blocked) continue;
      if (!core_polls(warp->strands[j])) return false;
      any = true;
    }
  }
  return any;
}

static bool never(Machine *machine, const Strand *strand) {
  (void)machine;
  (void)strand;
  return false;
}

static char *describe_polling(Machine *machine, const Strand *strand) {
  return kc_printf(machine->session->arena,
                   "a loop of %s that polls memory which nothing changes any more",
                   machine_who(machine, strand));
}

/* Every strand that still runs only polls: that is a hang too, unless the word is one that other
 * blocks, other grids or the host may change. */
static void block_pollers(Machine *machine) {
  for (int i = 0; i < machine->nwarps; i++) {
    Warp *warp = machine->warps[i];
    for (int j = 0; j < warp->nstrands; j++) {
      Strand *strand = warp->strands[j];
      if (strand->blocked) continue;
      if (strand->spin_address >= IR_POINTER_BASE && strand->spin_address < IR_GLOBAL_BASE)
        machine_switch_off(machine, MACHINE_CHECK_DEADLOCK,
                           &machine->kernel->insns.items[strand->spin_pc],
                           "a loop polls global memory that nothing in this cluster changes");
      machine_block(machine, strand, "polling", never, describe_polling, NULL, 0);
    }
  }
}

/* What may still happen when no warp can move: asynchronous work, then copies of unknown size, then
 * (lagging schedule) the lanes that were held back. */
static bool unblock(Machine *machine) {
  CoreRun *core = core_run(machine);
  size_t pending = waiting(core);
  if (pending) {
    size_t index = machine->schedule == MACHINE_RANDOM ? machine_random(machine) % pending : 0;
    return fire(machine, index);
  }
  if (machine->schedule == MACHINE_LAG && !core->lag_release) {
    core->lag_release = true;
    return true;
  }
  return fire_late(machine);
}

typedef struct {
  uint64_t progress; /* when they were given last */
  int given;
} Chances;

/* Those that poll have run an instruction a round since they were found to: what the others did in
 * the meantime may be what they wait for, and they get the time to see it. */
static bool another_chance(Machine *machine, Chances *chances) {
  uint64_t progress = core_run(machine)->effects + machine->async_done +
                      (uint64_t)machine->most_phases + (uint64_t)machine->most_generations;
  if (progress != chances->progress) chances->given = 0;
  chances->progress = progress;
  if (chances->given++ >= CHANCES) return false;
  for (int i = 0; i < machine->nwarps; i++)
    for (int j = 0; j < machine->warps[i]->nstrands; j++) {
      Strand *strand = machine->warps[i]->strands[j];
      if (!strand->blocked) strand->unchanged = strand->rounds = 0;
    }
  return true;
}

void core_schedule(Machine *machine) {
  Chances chances = {0};
  CoreRun *core = core_run(machine);
  int *order = KC_NEW_ARRAY(machine->arena, int, machine->nwarps + 1);
  for (int i = 0; i < machine->nwarps; i++)
    order[i] = machine->schedule == MACHINE_LAZY ? machine->nwarps - 1 - i : i;
  int idle = 0;
  while (!machine->stopped && !nothing_left(machine)) {
    uint64_t effects = core->effects;
    bool progress = round_of_warps(machine, order);
    if (progress) core->lag_release = false;
    idle = progress && core->effects == effects && everything_polls(machine) ? idle + 1 : 0;
    if (progress && idle < IDLE_ROUNDS) continue;
    if (machine->stopped || unblock(machine)) {
      idle = 0;
      continue;
    }
    if (progress && another_chance(machine, &chances)) {
      idle = 0;
      continue;
    }
    if (progress) block_pollers(machine);
    machine->stuck = !nothing_left(machine);
    break;
  }
  if (machine->stopped) return;
  while (waiting(core))
    fire(machine, 0);
  while (fire_late(machine))
    continue;
}
