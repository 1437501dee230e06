/* The samples of a kernel: dimensions from launches, directives and launch bounds, parameters from
 * launches and assumptions or chosen (2 x stages + 3 and its relatives), integer arrays a short
 * pattern that holds 0 and values above 1. */
#include "machine/execute/core.h"
#include "machine/inputs/origin.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_STAGES 4
#define MAX_THREADS 1024
#define DEFAULT_SMEM_OPT_IN 232448
#define MAX_STAGES 32
#define SMALL_ARGUMENT 32
#define FAR_CLUSTER 4096 /* beyond the tiles of every sample */

/* ---- which launch ---- */

static void take_dims(int64_t to[3], const int64_t from[3]) {
  if (to[0] > 0 || from[0] <= 0) return;
  for (int i = 0; i < 3; i++)
    to[i] = from[i] > 0 ? from[i] : 1;
}

static int64_t volume(const int64_t dims[3]) {
  return dims[0] * dims[1] * dims[2];
}

CoreLaunch core_find_launch(const MachineSession *session) {
  CoreLaunch out = {.smem = -1};
  const IrKernel *kernel = session->kernel;
  const IrDirectives *directives = session->program->directives;
  for (int i = 0; directives && i < directives->launches.count && !out.directive; i++) {
    const IrLaunchDirective *d = &directives->launches.items[i];
    if (!ir_kernel_is_named(kernel, d->kernel)) continue;
    out.directive = d;
    take_dims(out.grid, d->grid);
    take_dims(out.block, d->block);
    take_dims(out.cluster, d->cluster);
    out.smem = d->smem;
  }
  /* One that the bounds forbid only if there is no other: the code is then meant for its size. */
  const int limits[2] = {kernel->max_threads > 0 ? kernel->max_threads : 1024, 1024};
  for (int pass = 0; session->host && pass < 2 && !out.launch; pass++)
    for (int i = 0; i < session->host->launches.count; i++) {
      const MachineLaunch *l = &session->host->launches.items[i];
      if (!ir_kernel_is_named(kernel, l->kernel)) continue;
      if (l->block[0] > 0 && volume(l->block) > limits[pass]) continue;
      if (!out.launch || (out.launch->block[0] <= 0 && l->block[0] > 0)) out.launch = l;
    }
  if (out.launch) {
    take_dims(out.grid, out.launch->grid);
    take_dims(out.block, out.launch->block);
    take_dims(out.cluster, out.launch->cluster);
    if (out.smem < 0 && out.launch->smem >= 0) out.smem = out.launch->smem;
    memcpy(out.shape, out.launch->block, sizeof out.shape);
  }
  for (int i = 0; session->host && out.block[0] <= 0 && i < session->host->unreached.count; i++) {
    const MachineLaunch *l = &session->host->unreached.items[i];
    if (!ir_kernel_is_named(kernel, l->kernel) || volume(l->block) > limits[0]) continue;
    take_dims(out.block, l->block);
    if (!out.launch) memcpy(out.shape, l->block, sizeof out.shape);
  }
  return out;
}

/* ---- dimensions ---- */

static bool uses_cluster(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_mapa) return true;
    if (insn->op == IR_event &&
        (insn->flags & (IR_FLAG(multicast) | IR_FLAG(cta_group2)) ||
         insn->event == IR_EV_cluster_arrive || insn->event == IR_EV_cluster_wait))
      return true;
  }
  return false;
}

static void set_dims(int64_t dims[3], int64_t x) {
  dims[0] = x;
  dims[1] = dims[2] = 1;
}

/* Whether `stack` stands in a library function of a group that counts threads over all dimensions:
 * what it returns is the same for every shape of as many threads. */
static bool in_linear_rank(const SourceMap *map, uint32_t stack) {
  static const char *const NAMES[] = {"thread_rank", "num_threads", "size"};
  for (; stack; stack = map->stacks.items[stack].outer) {
    const SourceStack *frame = &map->stacks.items[stack];
    if (!frame->function || !frame->range.file || map->files.items[frame->range.file].user)
      continue;
    const char *colon = strrchr(frame->function, ':');
    const char *name = colon ? colon + 1 : frame->function;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
      if (strcmp(name, NAMES[i]) == 0) return true;
  }
  return false;
}

static bool is_shape(const IrOperand *operand) {
  return operand->kind == IR_OPD_SPECIAL &&
         (operand->id == IR_SREG_tid_y || operand->id == IR_SREG_tid_z ||
          operand->id == IR_SREG_ntid_y || operand->id == IR_SREG_ntid_z);
}

/* Whether the kernel reads the y or z of threadIdx or blockDim for more than a linear rank. Of the
 * objects that stand for them in the toolkit's headers, what their copies are read for counts. */
static bool reads_block_shape(const SourceMap *map, const IrKernel *kernel) {
  g_autofree bool *copies = g_new0(bool, kernel->regs.count + 1);
  bool reads = false;
  for (int i = 0; i < kernel->insns.count && !reads; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_mov && !insn->where && insn->nargs == 2 && is_shape(&insn->args[1]) &&
        insn->args[0].kind == IR_OPD_REG) {
      copies[insn->args[0].id] = true;
      continue;
    }
    if (in_linear_rank(map, insn->where)) continue;
    for (int j = 0; j < insn->nargs && !reads; j++)
      reads = is_shape(&insn->args[j]) ||
              (insn->args[j].kind == IR_OPD_REG && copies[insn->args[j].id]);
  }
  return reads;
}

/* The launch tells how many rows and planes of threads there are, but not how long they are. */
static bool rows_of_launch(const CoreLaunch *launch, int64_t *y, int64_t *z) {
  if (launch->shape[1] <= 0 || launch->shape[2] <= 0) return false;
  *y = launch->shape[1];
  *z = launch->shape[2];
  return *y * *z <= MAX_THREADS;
}

static void choose_block(const SourceMap *map, const IrKernel *kernel, CoreLaunch *launch,
                         MachineSample *sample) {
  int64_t reqntid[3] = {kernel->reqntid[0], kernel->reqntid[1], kernel->reqntid[2]};
  take_dims(launch->block, reqntid);
  sample->block_known = launch->block[0] > 0;
  if (launch->block[0] <= 0) {
    bool bounded = kernel->max_threads > 0;
    int64_t threads = bounded ? kernel->max_threads : core_guess_threads(kernel), y = 1, z = 1;
    bool rows = rows_of_launch(launch, &y, &z);
    sample->shape_guessed = !rows && reads_block_shape(map, kernel);
    sample->block_guessed = !bounded || sample->shape_guessed;
    if (sample->shape_guessed) {
      core_guess_shape(kernel, launch->block);
    } else {
      launch->block[0] = MAX(threads / (y * z), 1);
      launch->block[1] = y;
      launch->block[2] = z;
      sample->block_known = threads == kernel->named_block;
    }
  }
  memcpy(sample->block, launch->block, sizeof sample->block);
}

static void choose_cluster(const IrKernel *kernel, CoreLaunch *launch, MachineSample *sample) {
  int64_t attribute[3] = {kernel->cluster_dims[0], kernel->cluster_dims[1],
                          kernel->cluster_dims[2]};
  take_dims(launch->cluster, attribute);
  if (launch->cluster[0] <= 0) {
    bool visible = launch->launch || launch->directive;
    bool guess = !visible && uses_cluster(kernel);
    set_dims(launch->cluster, guess ? 2 : 1);
    sample->cluster_guessed = guess;
  }
  memcpy(sample->cluster, launch->cluster, sizeof sample->cluster);
  /* A grid of one cluster: persistent loops then get all the tiles. */
  memcpy(sample->grid, launch->cluster, sizeof sample->grid);
}

static int count_slots(const IrKernel *kernel) {
  int most = 0;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (object->space != IR_SPACE_SHARED) continue;
    for (int j = 0; j < object->fields.count; j++) {
      const IrField *field = &object->fields.items[j];
      bool barrier = field->type && strstr(field->type, "arrier");
      bool word = field->scalar.cls == IR_CLASS_UINT && field->scalar.bytes == 8;
      if ((barrier || word) && field->count > (uint64_t)most && field->count <= MAX_STAGES)
        most = (int)field->count;
    }
  }
  return most;
}

/* ---- parameters ---- */

typedef struct {
  MachineSession *session;
  const CoreLaunch *launch;
  MachineSample *sample;
  GHashTable *chosen; /* leaf name -> value, from assumptions */
  int pointers, leaves;
} Filler;

static bool parse_integer(const char *text, int64_t *out) {
  char *end;
  *out = strtoll(text, &end, 0);
  while (*end == 'u' || *end == 'U' || *end == 'l' || *end == 'L')
    end++;
  return end != text && *end == 0;
}

static bool fixed_value(const Filler *f, const IrLeaf *leaf, int64_t *out) {
  const IrLaunchDirective *d = f->launch->directive;
  for (int i = 0; d && leaf->name && i < d->arguments.count; i++)
    if (sample_is_named(leaf->name, d->arguments.items[i].key))
      return parse_integer(d->arguments.items[i].value, out);
  const MachineLaunch *l = f->launch->launch;
  int64_t value = INT64_MIN;
  for (int i = 0; l && i < l->leaves.count; i++)
    if (l->leaves.items[i].offset == leaf->offset) value = l->leaves.items[i].value;
  if (value == INT64_MIN) return false;
  /* A size that the host passes would take too long to run through: small numbers are choices
   * (a flag, a number of splits), large ones are sizes and only the exact sample keeps them. */
  if (!f->sample->exact && (value > SMALL_ARGUMENT || value < -SMALL_ARGUMENT)) {
    f->sample->resized = true;
    return false;
  }
  *out = value;
  return true;
}

static void put(MachineSample *sample, uint64_t offset, int bytes, uint64_t value) {
  if (offset + (uint64_t)bytes > sample->param_bytes) return;
  memcpy(sample->param + offset, &value, (size_t)bytes);
  memset(sample->param_known + offset, 1, (size_t)bytes);
}

/* What the machine chooses for an integer: whole tiles of what it counts. */
static int64_t chosen_value(const Filler *f, int number) {
  const MachineSample *sample = f->sample;
  const CoreSession *core = f->session->core;
  int64_t granule = core->granules ? core->granules[number] : 1;
  const Origins *origins = core->origins;
  uint8_t admits = origins ? origins->admits[number] : 0;
  if (sample->small >= 0 && admits & (sample->small ? ORIGIN_ONE : ORIGIN_ZERO))
    return granule > 1 ? granule * sample->small : sample->small;
  if (sample->blocks == 0 || granule == 1) return sample->ints;
  if (granule < 0) return -granule;
  int64_t over = granule >= 16 ? granule / 2 : 1;
  return granule * sample->blocks + (sample->uneven && admits & ORIGIN_RAGGED ? over : 0);
}

static void fill_leaf(Filler *f, int param, const IrLeaf *leaf) {
  MachineSample *sample = f->sample;
  KcArena *arena = f->session->arena;
  int number = f->leaves++;
  if (leaf->kind == IR_LEAF_POINTER) {
    put(sample, leaf->offset, 8, IR_POINTER_BASE + (uint64_t)f->pointers++ * IR_POINTER_STRIDE);
    return;
  }
  if (leaf->kind != IR_LEAF_INT || leaf->type.bytes > 8) return;
  int64_t value = chosen_value(f, number);
  bool fixed = fixed_value(f, leaf, &value);
  gpointer chosen;
  if (!fixed && leaf->name && f->chosen &&
      g_hash_table_lookup_extended(f->chosen, leaf->name, NULL, &chosen)) {
    value = *(int64_t *)chosen;
    fixed = true;
  }
  if (!fixed && leaf->type.bytes == 1) value = value != 0;
  if (!fixed) sample->free_ints++;
  int bit = number < ORIGIN_LEAVES ? number : ORIGIN_LEAVES;
  if (!fixed) sample->free_leaves |= UINT64_C(1) << bit;
  if (!fixed && value != sample->ints && leaf->type.bytes > 1) sample->tiled = true;
  if (!fixed && leaf->type.bytes > 1 && value % 16) sample->ragged = true;
  put(sample, leaf->offset, leaf->type.bytes, (uint64_t)value);
  MachineInput input = {.offset = leaf->offset, .bytes = leaf->type.bytes, .fixed = fixed};
  input.name = leaf->name ? leaf->name : f->session->kernel->params.items[param].name;
  input.value = kc_printf(arena, "%lld", (long long)value);
  input.number = value;
  input.tile = ((const CoreSession *)f->session->core)->granules
                   ? ((const CoreSession *)f->session->core)->granules[number]
                   : 1;
  KC_PUSH(arena, sample->inputs, input);
}

static void fill_params(Filler *f) {
  const IrKernel *kernel = f->session->kernel;
  MachineSample *sample = f->sample;
  for (int i = 0; i < kernel->params.count; i++) {
    const IrParam *param = &kernel->params.items[i];
    if (param->offset + param->bytes > sample->param_bytes)
      sample->param_bytes = param->offset + param->bytes;
    for (int j = 0; j < param->leaves.count; j++) {
      uint64_t end = param->leaves.items[j].offset + 8;
      if (end > sample->param_bytes) sample->param_bytes = end;
    }
  }
  sample->param = kc_alloc(f->session->arena, sample->param_bytes + 1);
  sample->param_known = kc_alloc(f->session->arena, sample->param_bytes + 1);
  f->pointers = f->leaves = 0;
  for (int i = 0; i < kernel->params.count; i++)
    for (int j = 0; j < kernel->params.items[i].leaves.count; j++)
      fill_leaf(f, i, &kernel->params.items[i].leaves.items[j]);
}

/* ---- samples ---- */

typedef struct {
  int64_t ints, blocks, cluster_index;
  bool exact, uneven;
  int small;         /* 1 + the number of tiles of what may be so few; 0: not asked for */
  const int64_t *at; /* the cluster's place, in clusters; NULL: cluster_index tells it */
} Choice;

static const int64_t mixed_pattern[] = {2, 0, 3, 1, 0, 1, 5, 0};
/* ... that ends, for code that looks for the end. */
static const int64_t ended_pattern[] = {2, 0, 3, 1, 0, 1, 5, -1};

/* Tiles that try_cancel hands out belong to blocks of the same grid. */
static bool hands_out_tiles(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_event &&
        kernel->insns.items[i].event == IR_EV_clc_try_cancel)
      return true;
  return false;
}

/* The cluster at a place, of the smallest grid that has it. */
static void put_at(MachineSample *sample, const int64_t at[3]) {
  sample->other_plane = true;
  int64_t row = sample->grid[0] / sample->cluster[0];
  for (int i = 1; i < 3; i++)
    sample->grid[i] = sample->cluster[i] * (at[i] + 1);
  sample->cluster_index = at[0] + row * (at[1] + (at[1] + 1) * at[2]);
}

static MachineSample *make_sample(MachineSession *session, MachineSamples *samples,
                                  const char *name, Choice choice) {
  MachineSample *sample = KC_NEW(session->arena, MachineSample);
  CoreLaunch launch = core_find_launch(session);
  CoreSession *core = session->core;
  sample->name = name;
  sample->ints = choice.ints;
  sample->blocks = choice.blocks;
  sample->exact = choice.exact;
  sample->uneven = choice.uneven;
  sample->small = choice.small - 1;
  sample->cluster_index = choice.cluster_index;
  choose_block(&session->program->sources, session->kernel, &launch, sample);
  choose_cluster(session->kernel, &launch, sample);
  if (choice.cluster_index > 0) sample->grid[0] *= choice.cluster_index + 1;
  if (hands_out_tiles(session->kernel)) sample->grid[0] *= CLC_GRANTS + 1;
  if (choice.at) put_at(sample, choice.at);
  if (choice.exact && launch.grid[0] > 0) memcpy(sample->grid, launch.grid, sizeof sample->grid);
  sample->dynamic_shared_known = launch.smem >= 0;
  int64_t limit = session->options->arch && session->options->arch->smem_opt_in
                      ? session->options->arch->smem_opt_in
                      : DEFAULT_SMEM_OPT_IN;
  int64_t used = (int64_t)core->dynamic_base - CORE_SHARED_RESERVED;
  sample->dynamic_shared = launch.smem >= 0     ? launch.smem
                           : !core->has_dynamic ? 0
                           : used < limit       ? limit - used
                                                : 0;
  sample->pattern = core->lists_end ? ended_pattern : mixed_pattern;
  sample->npattern = G_N_ELEMENTS(mixed_pattern);
  sample->cumulative = core->origins ? core->origins->cumulative : 0;
  sample->ends = core->origins ? core->origins->ends : 0;
  Filler filler = {.session = session, .launch = &launch, .sample = sample};
  fill_params(&filler);
  bool impossible = false;
  filler.chosen = sample_satisfy(session, sample, &impossible);
  if (filler.chosen) {
    sample->inputs.count = 0;
    sample->free_ints = 0;
    sample->free_leaves = 0;
    sample->ragged = sample->tiled = false;
    fill_params(&filler);
    g_hash_table_destroy(filler.chosen);
  }
  if (impossible) {
    samples->conflict = "no input satisfies the assumptions together with the launch";
    return NULL;
  }
  sample->launched = launch.launch || launch.directive || filler.chosen;
  return sample;
}

MachineSample *core_plain_sample(MachineSession *session, MachineSamples *samples, int64_t ints) {
  return make_sample(session, samples, "host", (Choice){.ints = ints});
}

static MachineSample *add_sample(MachineSession *session, MachineSamples *samples, const char *name,
                                 Choice choice) {
  MachineSample *sample = make_sample(session, samples, name, choice);
  if (!sample) return NULL;
  sample->rank = samples->list.count;
  KC_PUSH(session->arena, samples->list, sample);
  return sample;
}

/* Whether host code passes sizes that the other samples replace. */
static bool launch_has_sizes(const MachineSession *session) {
  const MachineLaunch *launch = core_find_launch(session).launch;
  for (int i = 0; launch && i < launch->leaves.count; i++) {
    int64_t value = launch->leaves.items[i].value;
    bool is_int = core_int_leaf(session->kernel, launch->leaves.items[i].offset) != NULL;
    if (is_int && value != INT64_MIN && (value > SMALL_ARGUMENT || value < -SMALL_ARGUMENT))
      return true;
  }
  return false;
}

static void add_optional(MachineSession *session, MachineSamples *samples, const char *name,
                         SampleUse use, Choice choice) {
  MachineSample *sample = add_sample(session, samples, name, choice);
  if (sample) sample->use = use;
}

/* Whether an integer that counts elements of tiles may end within one. */
static bool may_be_uneven(const CoreSession *core) {
  for (int i = 0; i < core->origins->leaves; i++)
    if (core->origins->admits[i] & ORIGIN_RAGGED && core->granules[i] > 1) return true;
  return false;
}

/* Sizes that only some kernels are meant for: their code says so. */
static void add_admitted(MachineSession *session, MachineSamples *samples, int64_t trips) {
  const CoreSession *core = session->core;
  const Origins *origins = core->origins;
  if (may_be_uneven(core))
    add_sample(session, samples, "3 tiles and a part",
               (Choice){.ints = trips, .blocks = 3, .uneven = true});
  if (origins->block_guard)
    add_sample(session, samples, "a block beyond the tiles",
               (Choice){.ints = trips, .blocks = 3, .cluster_index = FAR_CLUSTER});
  if (origins->any & ORIGIN_ONE)
    add_sample(session, samples, "1 where the code asks for it",
               (Choice){.ints = trips, .blocks = 3, .small = 2});
  if (origins->any & ORIGIN_ZERO)
    add_sample(session, samples, "0 where the code asks for it",
               (Choice){.ints = trips, .blocks = 3, .small = 1});
}

bool sample_fewer(MachineSession *session, MachineSamples *samples) {
  MachineSamples scratch = {.stages = samples->stages};
  if (samples->list.count < 2 || samples->list.items[0]->free_ints == 0) return false;
  int64_t trips = samples->stages + 1;
  add_sample(session, &scratch, "2 tiles", (Choice){.ints = trips, .blocks = 2});
  add_sample(session, &scratch, "2 tiles, second cluster",
             (Choice){.ints = trips, .blocks = 2, .cluster_index = 1});
  for (int i = 0; i < scratch.list.count; i++)
    samples->list.items[i] = scratch.list.items[i];
  return scratch.list.count > 0;
}

MachineSample *sample_other_plane(MachineSession *session, MachineSamples *samples,
                                  const MachineSample *like, int number) {
  int64_t at[3];
  if (!sample_plane(session, like, number, at)) return NULL;
  const char *conflict = samples->conflict;
  MachineSample *sample = add_sample(session, samples, "another row or plane of the grid",
                                     (Choice){.ints = like->ints,
                                              .blocks = like->blocks,
                                              .uneven = like->uneven,
                                              .small = like->small + 1,
                                              .at = at});
  /* Assumptions may leave the grid no second one. */
  samples->conflict = conflict;
  return sample;
}

/* The last cluster of a launch whose grid and integers host code gives: what is left over when a
 * size is divided among the blocks is its work. */
static void add_last_as_launched(MachineSession *session, MachineSamples *samples, int64_t trips) {
  const CoreLaunch launch = core_find_launch(session);
  int64_t clusters = 1;
  if (launch.grid[0] <= 0) return;
  for (int i = 0; i < 3; i++)
    clusters *= MAX(launch.grid[i] / MAX(samples->list.items[0]->cluster[i], 1), 1);
  if (clusters < 2) return;
  MachineSample *last = make_sample(
      session, samples, "the last block, as launched",
      (Choice){.ints = trips, .blocks = 3, .exact = true, .cluster_index = clusters - 1});
  if (!last || last->free_ints > 0) return;
  last->bounded = true;
  last->rank = samples->list.count;
  KC_PUSH(session->arena, samples->list, last);
}

MachineSamples *sample_make(MachineSession *session) {
  MachineSamples *samples = KC_NEW(session->arena, MachineSamples);
  core_find_granules(session);
  ((CoreSession *)session->core)->origins = origin_find(session);
  int slots = count_slots(session->kernel);
  samples->stages = slots ? slots : DEFAULT_STAGES;
  int64_t trips = 2 * samples->stages + 3;
  MachineSample *first =
      add_sample(session, samples, "3 tiles", (Choice){.ints = trips, .blocks = 3});
  if (!first) return samples;
  add_sample(session, samples, "second cluster",
             (Choice){.ints = trips, .blocks = 3, .cluster_index = 1});
  if (first->free_ints == 0) {
    add_last_as_launched(session, samples, trips);
    return samples;
  }
  /* Where the ring is as long as the loop, it wraps between two tiles only. */
  if (first->tiled && samples->stages == 3)
    add_sample(session, samples, "4 tiles", (Choice){.ints = trips, .blocks = 4});
  add_admitted(session, samples, trips);
  if (first->tiled)
    add_optional(session, samples, "2 x stages + 3 tiles", SAMPLE_MORE_TILES,
                 (Choice){.ints = trips, .blocks = trips});
  add_optional(session, samples, "64 x (2 x stages + 3)", SAMPLE_SIZES,
               (Choice){.ints = trips * 64});
  add_optional(session, samples, "512 x stages", SAMPLE_DIVISIBLE,
               (Choice){.ints = 512 * samples->stages});
  add_optional(session, samples, "16", SAMPLE_FEW_BYTES, (Choice){.ints = 16});
  for (int64_t small = 1; small >= 0; small--) {
    MachineSample *sample =
        add_sample(session, samples, small ? "1" : "0", (Choice){.ints = small});
    if (!sample) continue;
    sample->degenerate = sample->free_ints > 0;
    sample->use = SAMPLE_LAST;
  }
  if (launch_has_sizes(session)) {
    MachineSample *exact = add_sample(session, samples, "as launched",
                                      (Choice){.ints = trips, .blocks = 3, .exact = true});
    if (exact) exact->bounded = true;
  }
  add_last_as_launched(session, samples, trips);
  return samples;
}
