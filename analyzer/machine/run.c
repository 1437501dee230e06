/* machine_run: all samples and schedules of one kernel, within its budgets. */
#include "ir/site.h"
#include "machine/checks/raster.h"
#include "machine/execute/core.h"
#include "machine/execute/quick.h"

#include <string.h>
#include <time.h>

#define DEFAULT_STEPS UINT64_C(2000000)
#define ALL_RUNS 6 /* all runs of a kernel together may take this many times the steps of one */
#define DEFAULT_TIME_US INT64_C(5000000)
#define DEFAULT_MEMORY ((size_t)200 << 20)
#define DEFAULT_SMEM_OPT_IN 232448
#define ENOUGH_PHASES 2                /* completed by one mbarrier */
#define ENOUGH_GENERATIONS 4           /* of the barriers that one warp passes */
#define BOUNDED_STEPS UINT64_C(300000) /* of a run that is an extra */
#define DECISION_RUNS 8 /* extra runs for the other sides of data-dependent branches */

/* Time the analysis itself takes: a busy computer must not change what is checked. */
int64_t core_clock_us(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) return g_get_monotonic_time();
  return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* ---- a run ---- */

static void cluster_position(Machine *machine, int64_t index) {
  for (int i = 0; i < 3; i++) {
    int64_t count = machine->grid[i] / machine->cluster[i];
    if (count < 1) count = 1;
    machine->cluster_id[i] = index % count;
    index /= count;
  }
}

/* Bytes that one CTA's shared memory takes, with a known bit a byte; reads may go a little past
 * either. */
static size_t shared_each(const Machine *machine) {
  size_t bytes = machine->session->shared_bytes;
  return (bytes + 16 + bytes / 8 + 16 + 15) / 16 * 16;
}

static void make_shared(Machine *machine) {
  CoreSpare *spare = &core_session(machine)->spare;
  size_t bytes = shared_each(machine) * (size_t)machine->cluster_size;
  if (bytes > spare->shared_bytes) {
    g_free(spare->shared);
    spare->shared = g_malloc0(bytes);
    spare->shared_bytes = bytes;
  } else {
    memset(spare->shared, 0, bytes);
  }
}

static void make_cta(Machine *machine, Cta *cta, int rank) {
  int64_t r = rank;
  cta->machine = machine;
  cta->rank = rank;
  for (int i = 0; i < 3; i++) {
    cta->id[i] = machine->cluster_id[i] * machine->cluster[i] + r % machine->cluster[i];
    r /= machine->cluster[i];
  }
  size_t contents = machine->session->shared_bytes + 16;
  cta->shared = core_session(machine)->spare.shared + shared_each(machine) * (size_t)rank;
  cta->shared_known = cta->shared + contents;
  cta->nwarps = (machine->threads + 31) / 32;
  cta->warps = KC_NEW_ARRAY(machine->arena, Warp, cta->nwarps);
  for (int w = 0; w < cta->nwarps; w++) {
    Warp *warp = &cta->warps[w];
    int threads = machine->threads - 32 * w;
    warp->cta = cta;
    warp->id = w;
    warp->index = machine->nwarps;
    warp->lanes = threads >= 32 ? MACHINE_ALL_LANES : (1u << threads) - 1;
    warp->alive = warp->lanes;
    machine->warps[machine->nwarps++] = warp;
  }
}

static void make_registers(Machine *machine) {
  CoreSpare *spare = &core_session(machine)->spare;
  size_t each = (size_t)core_session(machine)->reg_capacity, count = each * (size_t)machine->nwarps;
  bool fresh = count > spare->reg_count;
  if (fresh) {
    g_free(spare->regs);
    spare->regs = g_malloc0_n(count, sizeof(MachineReg));
    spare->reg_count = count;
  }
  for (int i = 0; i < machine->nwarps; i++) {
    Warp *warp = machine->warps[i];
    warp->regs = (MachineReg *)spare->regs + each * (size_t)i;
    if (!fresh) memset(warp->regs, 0, sizeof(MachineReg) * (size_t)machine->session->nregs);
    core_strand_new(machine, warp, warp->lanes, 0);
  }
}

static KcArena *take_arena(CoreSession *core) {
  KcArena *arena = core->spare.arena;
  core->spare.arena = NULL;
  return arena ? arena : kc_arena_new();
}

Machine *core_machine_new(MachineSession *session, const MachineSample *sample,
                          MachineSchedule schedule, uint64_t max_steps) {
  CoreSession *core = session->core;
  KcArena *arena = take_arena(core);
  Machine *machine = KC_NEW(arena, Machine);
  machine->arena = arena;
  machine->session = session;
  machine->sample = sample;
  machine->schedule = schedule;
  machine->kernel = session->kernel;
  machine->program = session->program;
  machine->arch = session->options->arch;
  machine->max_steps = max_steps;
  machine->random = UINT64_C(0x853c49e6748fea9b);
  machine->violations = KC_NEW(arena, IrViolations);
  machine->violations->arena = session->arena;
  memcpy(machine->grid, sample->grid, sizeof machine->grid);
  memcpy(machine->block, sample->block, sizeof machine->block);
  memcpy(machine->cluster, sample->cluster, sizeof machine->cluster);
  machine->dynamic_shared = sample->dynamic_shared_known ? sample->dynamic_shared : -1;
  machine->threads = (int)(sample->block[0] * sample->block[1] * sample->block[2]);
  machine->cluster_size = (int)(sample->cluster[0] * sample->cluster[1] * sample->cluster[2]);
  machine->executed = kc_alloc(arena, (size_t)session->kernel->insns.count + 1);
  CoreRun *run = g_new0(CoreRun, 1);
  machine->core = run;
  core_lanes_init(machine);
  run->param_read = kc_alloc(arena, sample->param_bytes + 8);
  cluster_position(machine, sample->cluster_index);
  machine->ctas = KC_NEW_ARRAY(arena, Cta, machine->cluster_size);
  machine->warps =
      KC_NEW_ARRAY(arena, Warp *, machine->cluster_size * ((machine->threads + 31) / 32));
  make_shared(machine);
  for (int rank = 0; rank < machine->cluster_size; rank++)
    make_cta(machine, &machine->ctas[rank], rank);
  make_registers(machine);
  return machine;
}

static void account(Machine *machine) {
  CoreSession *core = core_session(machine);
  CoreRun *run = core_run(machine);
  core->steps += machine->step;
  size_t bytes = kc_arena_used(machine->arena) + run->lane_bytes +
                 run->global_size * sizeof(CoreWord) +
                 (size_t)machine->cluster_size * machine->session->shared_bytes +
                 (size_t)machine->session->nregs * sizeof(MachineReg) * (size_t)machine->nwarps;
  if (bytes > core->peak_memory) core->peak_memory = bytes;
  for (int i = 0; i < machine->kernel->insns.count; i++)
    core->executed[i] |= machine->executed[i];
}

void core_machine_free(Machine *machine) {
  CoreRun *run = core_run(machine);
  account(machine);
  if (run->reported) g_hash_table_destroy(run->reported);
  g_free(run->global);
  g_free(run->queue);
  g_free(run->late);
  g_free(run);
  CoreSpare *spare = &core_session(machine)->spare;
  kc_arena_clear(machine->arena);
  if (spare->arena) kc_arena_free(spare->arena);
  spare->arena = machine->arena;
}

static void run_to_the_end(Machine *machine) {
  core_session(machine)->decisions_used = 0;
  protocol_init(machine);
  core_schedule(machine);
  protocol_finish(machine);
  core_note_order(machine);
  core_note_maps(machine);
}

void core_machine_run(Machine *machine) {
  run_to_the_end(machine);
  core_collect(machine);
  protocol_free(machine);
}

void core_machine_rehearse(Machine *machine) {
  run_to_the_end(machine);
  protocol_free(machine);
}

/* ---- a session ---- */

static MachineOptions *normal_options(KcArena *arena, const MachineOptions *options) {
  MachineOptions *out = KC_NEW(arena, MachineOptions);
  if (options) *out = *options;
  if (out->max_steps == 0) out->max_steps = DEFAULT_STEPS;
  if (out->max_time_us == 0) out->max_time_us = DEFAULT_TIME_US;
  if (out->max_memory == 0) out->max_memory = DEFAULT_MEMORY;
  return out;
}

void core_session_init(MachineSession *session, KcArena *arena, const IrProgram *program,
                       const IrKernel *kernel, const MachineHostFacts *host,
                       const MachineOptions *options) {
  CoreSession *core = KC_NEW(arena, CoreSession);
  *session = (MachineSession){.arena = arena,
                              .program = program,
                              .kernel = core_fuse_stores(arena, kernel),
                              .host = host,
                              .core = core,
                              .options = normal_options(arena, options),
                              .result = KC_NEW(arena, MachineResult)};
  core->started_us = core_clock_us();
  core->not_checked = g_hash_table_new(g_str_hash, g_str_equal);
  core->maps = g_hash_table_new(NULL, NULL);
  core->regions = KC_NEW_ARRAY(arena, CoreRegion, kernel->insns.count + 1);
  core->quick = KC_NEW_ARRAY(arena, CoreQuick, kernel->insns.count + 1);
  core->executed = kc_alloc(arena, (size_t)kernel->insns.count + 1);
  core_layout(session);
  core_find_bases(session);
}

void core_session_free(MachineSession *session) {
  CoreSession *core = session->core;
  core_layout_free(session);
  if (core->spare.arena) kc_arena_free(core->spare.arena);
  g_free(core->spare.regs);
  g_free(core->spare.shared);
  if (core->spare.lane_chunks) g_ptr_array_free(core->spare.lane_chunks, TRUE);
  g_hash_table_destroy(core->not_checked);
  g_hash_table_destroy(core->maps);
  ir_sites_free(session->sites);
  session->sites = NULL;
}

/* ---- samples and schedules ---- */

typedef struct {
  bool trapped, cut;
  bool too_long; /* cut, by the number of steps */
  int64_t phases, generations;
  int barriers;
} Outcome;

/* A run that was cut after the rings had gone round often enough has shown what it was for. */
static void note_cut(MachineSession *session, const Machine *machine) {
  const MachineSample *sample = machine->sample;
  if (machine->trapped || sample->bounded) return;
  if (sample->use != SAMPLE_ALWAYS && machine->most_phases >= ENOUGH_PHASES) return;
  /* The other schedules look at the same events in another order. */
  bool extra = machine->schedule != MACHINE_EAGER && session->result->ran;
  if (!extra) session->result->complete = false;
  static const char *const schedules[] = {"", ", asynchronous work late", ", random order",
                                          ", lanes that lag"};
  core_not_checked(session, "inputs '%s'%s: %s", sample->name, schedules[machine->schedule],
                   core_run(machine)->cut_reason);
}

static bool waits_for_registers(const Machine *machine) {
  for (int w = 0; w < machine->nwarps; w++)
    for (int i = 0; i < machine->warps[w]->nstrands; i++) {
      const char *blocked = machine->warps[w]->strands[i]->blocked;
      if (blocked && strcmp(blocked, "register pool") == 0) return true;
    }
  return false;
}

/* A run that hangs and says nothing of it must not pass for a clean one. */
static void note_hang(MachineSession *session, const Machine *machine) {
  if (!machine->stuck || machine->stopped || machine->violations->list.count > 0) return;
  if (machine_is_off(machine, MACHINE_CHECK_DEADLOCK)) return;
  /* What another run has found may be why. */
  if (((const CoreSession *)session->core)->findings.count > 0) return;
  core_not_checked(session,
                   waits_for_registers(machine)
                       ? "inputs '%s': the run hangs in setmaxnreg, since the pool has too few "
                         "registers left"
                       : "inputs '%s': the run hangs, and what it waits for could not be named",
                   machine->sample->name);
}

/* Runs the machine and notes how far into shared memory this run alone came: other sizes reach
 * farther than the launch's own. */
static void reach_alone(Machine *machine) {
  CoreSession *core = core_session(machine);
  const MachineSample *sample = machine->sample;
  uint64_t before = core->shared_reach;
  core->shared_reach = 0;
  core_machine_run(machine);
  uint64_t reached = core->shared_reach;
  if (before > reached) core->shared_reach = before;
  bool whole = !sample->resized && !sample->degenerate && !machine->stopped && !machine->stuck;
  if (!whole || reached <= core->dynamic_base) return;
  if (core->least_reach == 0 || reached < core->least_reach) core->least_reach = reached;
}

static Outcome run_once(MachineSession *session, const MachineSample *sample,
                        MachineSchedule schedule) {
  const CoreRunRecord *known = core_known_run(session, sample, schedule);
  if (known)
    return (Outcome){
        .phases = known->phases, .generations = known->generations, .barriers = known->barriers};
  uint64_t steps = session->options->max_steps;
  if (sample->bounded && steps > BOUNDED_STEPS) steps = BOUNDED_STEPS;
  Machine *machine = core_machine_new(session, sample, schedule, steps);
  bool dump = session->options->dump_events && !session->result->event_dump;
  if (dump) core_run(machine)->dump = g_string_new(NULL);
  reach_alone(machine);
  Outcome out = {.trapped = machine->trapped,
                 .cut = machine->stopped && !machine->trapped,
                 .too_long = machine->stopped && core_run(machine)->cut_steps,
                 .phases = machine->most_phases,
                 .generations = machine->most_generations,
                 .barriers = machine->initialised_barriers};
  core_note_run(machine);
  if (machine->stopped) note_cut(session, machine);
  note_hang(session, machine);
  ((CoreSession *)session->core)->hung |= machine->stuck;
  if (!machine->stopped) session->result->ran = true;
  if (dump) {
    GString *text = core_run(machine)->dump;
    session->result->event_dump = kc_strdup(session->arena, text->str);
    g_string_free(text, TRUE);
  }
  core_machine_free(machine);
  return out;
}

static bool time_is_up(const MachineSession *session) {
  const CoreSession *core = session->core;
  if (core->steps > ALL_RUNS * session->options->max_steps) return true;
  return core_clock_us() - core->started_us > session->options->max_time_us;
}

/* The next combination of sides to try: the last decision whose other side has not been tried is
 * turned over, those behind it are forgotten. */
static bool next_decisions(CoreSession *core) {
  while (core->decisions.count > 0) {
    CoreDecision *last = &core->decisions.items[core->decisions.count - 1];
    if (!last->both) {
      last->both = true;
      last->side = !last->side;
      return true;
    }
    core->decisions.count--;
  }
  return false;
}

/* Runs a sample under one schedule, and again for the other sides of branches that depend on
 * data. */
static Outcome run_sides(MachineSession *session, const MachineSample *sample,
                         MachineSchedule schedule, int *budget) {
  CoreSession *core = session->core;
  core->decisions.count = 0;
  Outcome out = run_once(session, sample, schedule);
  const IrInsn *branch = core->decisions.count ? core->decisions.items[0].insn : NULL;
  if (core->decisions_cut) *budget = 0;
  int runs = 1;
  bool all = !core->decisions_cut;
  while (next_decisions(core)) {
    if (*budget <= 0 || time_is_up(session)) {
      session->result->complete = false;
      Machine naming = {.session = session, .program = session->program};
      core_not_checked(session,
                       "a condition on data that nobody knows controls synchronisation (%s): not "
                       "all of its outcomes were run",
                       machine_line(&naming, branch));
      all = false;
      break;
    }
    --*budget;
    runs++;
    run_once(session, sample, schedule);
  }
  core_all_sides(core, all && branch ? runs : 0);
  core->decisions.count = 0;
  return out;
}

/* Runs a sample under the schedules from number `from` to before `to`; the outcome of the first. */
static Outcome run_schedules(MachineSession *session, const MachineSample *sample, int from, int to,
                             int *budget) {
  static const MachineSchedule order[] = {MACHINE_EAGER, MACHINE_LAZY, MACHINE_LAG, MACHINE_RANDOM};
  Outcome first = {.trapped = false};
  for (int i = from; i < to; i++) {
    if (i > 0 && time_is_up(session)) {
      session->result->complete = false;
      core_not_checked(session, "inputs '%s': time limit, %d of %d schedules not run", sample->name,
                       to - i, to);
      break;
    }
    Outcome out = run_sides(session, sample, order[i], budget);
    if (i == from) first = out;
    if (out.trapped) break;
  }
  return first;
}

/* Whether the rings went round often enough to show what a second lap breaks. */
static bool enough(const Outcome *out) {
  if (out->trapped) return false;
  if (out->barriers > 0) return out->phases >= ENOUGH_PHASES;
  return out->generations >= ENOUGH_GENERATIONS;
}

typedef struct {
  bool trapped;              /* every run so far */
  bool few;                  /* the rings never went round often enough */
  bool idle;                 /* there are barriers, and no phase of any was ever completed */
  bool large;                /* the sample of large, divisible integers trapped */
  bool laps;                 /* `best` goes round the rings often enough */
  const MachineSample *best; /* whole, of the first cluster */
} Progress;

/* Schedules to run a sample under: 0 when it is not wanted. */
static int schedules_for(const CoreSession *core, const MachineSample *sample, const Progress *p) {
  enum { ALL = 4 };
  switch (sample->use) {
  case SAMPLE_ALWAYS: return sample->rank == 0 ? ALL : 1;
  case SAMPLE_MORE_TILES: return p->few && !p->trapped ? ALL : 0;
  case SAMPLE_SIZES: return p->trapped || p->idle ? ALL : 0;
  case SAMPLE_DIVISIBLE: return p->trapped ? ALL : core_wants_divisible(core) ? 1 : 0;
  case SAMPLE_FEW_BYTES:
    return !p->large ? 0 : p->trapped ? ALL : core_wants_divisible(core) ? 1 : 0;
  case SAMPLE_LAST: return p->trapped ? 1 : 0;
  }
  return 0;
}

/* The other schedules of the first sample wait for the sample with more tiles, which shows all that
 * they would show where the rings don't go round often enough. */
static bool more_tiles_come(const MachineSamples *samples) {
  for (int i = 1; i < samples->list.count; i++)
    if (samples->list.items[i]->use == SAMPLE_MORE_TILES) return true;
  return false;
}

/* The first inputs take more steps than a run may: do fewer trips show all there is to see? Then
 * the kernel counts as run, and that the longer run was cut stays said. */
static bool run_fewer(MachineSession *session, MachineSamples *samples, bool complete, int *budget,
                      Outcome *out) {
  MachineSample *longer[2];
  if (samples->list.count < 2) return false;
  memcpy(longer, samples->list.items, sizeof longer);
  if (!sample_fewer(session, samples)) return false;
  bool before = session->result->complete;
  session->result->complete = complete;
  *out = run_schedules(session, samples->list.items[0], 0, 1, budget);
  if (!out->cut && enough(out)) return true;
  session->result->complete = before;
  memcpy(samples->list.items, longer, sizeof longer);
  return false;
}

static void note_best(Progress *progress, const MachineSample *sample, const Outcome *out) {
  if (out->trapped || out->cut || sample->degenerate || sample->cluster_index > 0) return;
  if (progress->best && (progress->laps || !enough(out))) return;
  progress->best = sample;
  progress->laps = enough(out);
}

/* Clusters of other rows and planes of the grid, while there is work that only they do. */
static void run_planes(MachineSession *session, MachineSamples *samples, const MachineSample *like,
                       int *budget) {
  enum { ALL = 4, PLANES = 2 };
  for (int i = 1; like && i <= PLANES; i++) {
    const MachineSample *sample = sample_other_plane(session, samples, like, i);
    if (!sample || time_is_up(session)) return;
    run_schedules(session, sample, 0, ALL, budget);
  }
}

static void run_samples(MachineSession *session, MachineSamples *samples) {
  CoreSession *core = session->core;
  Progress progress = {.trapped = true, .few = true, .idle = true};
  int budget = DECISION_RUNS;
  for (int i = 0; i < samples->list.count; i++) {
    const MachineSample *sample = samples->list.items[i];
    int schedules = schedules_for(core, sample, &progress);
    if (schedules == 0) continue;
    if (i > 0 && time_is_up(session)) {
      if (!sample->bounded) session->result->complete = false;
      core_not_checked(session, "inputs '%s': time limit", sample->name);
      continue;
    }
    bool waits = i == 0 && schedules > 1 && more_tiles_come(samples);
    bool complete = session->result->complete;
    Outcome out = run_schedules(session, sample, 0, i == 0 ? 1 : schedules, &budget), fewer;
    if (i == 0 && out.too_long && run_fewer(session, samples, complete, &budget, &fewer)) {
      out = fewer;
      sample = samples->list.items[0];
    }
    if (i == 0 && !out.trapped && (!waits || out.cut || enough(&out)))
      run_schedules(session, sample, 1, schedules, &budget);
    if (sample->use == SAMPLE_MORE_TILES && (out.trapped || out.cut))
      run_schedules(session, samples->list.items[0], 1, schedules, &budget);
    note_best(&progress, sample, &out);
    /* Sizes of 0 and 1 pass assertions that no real size would: they show nothing. */
    if (sample->degenerate) continue;
    progress.trapped &= out.trapped;
    progress.large |= sample->use == SAMPLE_DIVISIBLE && out.trapped;
    if (out.trapped) continue;
    progress.few &= !enough(&out);
    progress.idle &= out.barriers > 0 && out.phases == 0;
  }
  run_planes(session, samples, progress.best, &budget);
  if (!progress.trapped) return;
  session->result->complete = false;
  core_not_checked(session, "every input that was tried reaches a trap or a failed assertion");
}

/* ---- what was left out before it ran ---- */

static void withhold_for_notes(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  Machine naming = {.session = session, .program = session->program};
  for (int i = 0; i < kernel->notes.count; i++) {
    const IrNote *note = &kernel->notes.items[i];
    IrInsn place = {.where = note->where};
    core_not_checked(session, "%s (%s)", note->text, machine_line(&naming, &place));
    if (!note->may_hide_event) continue;
    session->result->complete = false;
    ((CoreSession *)session->core)->partial = true;
  }
}

static void count_asm(MachineSession *session) {
  const IrKernel *kernel = session->kernel;
  const CoreSession *core = session->core;
  GHashTable *ran = g_hash_table_new(NULL, NULL);
  for (int i = 0; i < kernel->insns.count; i++)
    if (core->executed[i]) g_hash_table_add(ran, GUINT_TO_POINTER(kernel->insns.items[i].where));
  for (int i = 0; i < kernel->asms.count; i++)
    session->result->asm_executed +=
        g_hash_table_contains(ran, GUINT_TO_POINTER(kernel->asms.items[i].where));
  session->result->asm_total = kernel->asms.count;
  g_hash_table_destroy(ran);
}

#define FORGOTTEN_BARRIERS 1024

static void size_shared(MachineSession *session, const MachineSamples *samples) {
  const CoreSession *core = session->core;
  uint64_t end = core->static_end;
  for (int i = 0; i < samples->list.count; i++) {
    int64_t dynamic = samples->list.items[i]->dynamic_shared;
    uint64_t last = core->dynamic_base + (uint64_t)(dynamic > 0 ? dynamic : 0);
    if (last > end) end = last;
  }
  uint64_t most = CORE_SHARED_RESERVED + UINT64_C(0x100000);
  session->shared_bytes = (uint32_t)((end < most ? end : most) + 7) & ~7u;
  if (!core->has_dynamic || samples->list.count == 0 || !samples->list.items[0]->launched) return;
  session->shared_slack = FORGOTTEN_BARRIERS;
  session->shared_bytes += FORGOTTEN_BARRIERS;
}

MachineResult *machine_run(KcArena *arena, const IrProgram *program, const IrKernel *kernel,
                           const MachineHostFacts *host, const MachineOptions *options,
                           IrViolations *violations) {
  MachineSession *session = KC_NEW(arena, MachineSession);
  core_session_init(session, arena, program, kernel, host, options);
  CoreSession *core = session->core;
  MachineResult *result = session->result;
  result->complete = true;
  result->tmem_columns = -1;
  if (kernel->body_lost || kernel->insns.count == 0) {
    result->complete = false;
    core_not_checked(session, "the body of the kernel could not be had");
    core_session_free(session);
    return result;
  }
  withhold_for_notes(session);
  core_collect_maps(session);
  MachineSamples *samples = sample_make(session);
  if (samples->conflict) {
    ir_violation(violations, "kcheck-assume", kernel, kernel->where, "%s", samples->conflict);
    result->complete = false;
    core_not_checked(session, "%s", samples->conflict);
  }
  size_shared(session, samples);
  if (samples->list.count > 0) run_samples(session, samples);
  core_shrink(session);
  int before = violations->list.count;
  core_publish(session, violations);
  for (int i = before; i < violations->list.count; i++)
    violations->list.items[i]->kernel = kernel; /* it ran as a copy with fused stores */
  core_replays(session, samples);
  protocol_report(session);
  core_name_unreached(session, samples);
  bool overflows = false; /* a copy that is too large reaches too far, the size is right */
  for (int i = before; i < violations->list.count; i++)
    overflows |= strcmp(violations->list.items[i]->kind, "tma-box-exceeds-buffer") == 0;
  if (core->has_dynamic && core->shared_reach > core->dynamic_base && !overflows)
    result->dynamic_smem_end = (int64_t)core->shared_reach - core->dynamic_base;
  if (core->has_dynamic && core->least_reach > core->dynamic_base)
    result->dynamic_smem_least = (int64_t)core->least_reach - core->dynamic_base;
  count_asm(session);
  before = violations->list.count;
  raster_check(session, samples, violations);
  for (int i = before; i < violations->list.count; i++)
    violations->list.items[i]->kernel = kernel;
  result->steps = core->steps;
  result->time_us = core_clock_us() - core->started_us;
  result->memory = core->peak_memory;
  core_session_free(session);
  return result;
}
