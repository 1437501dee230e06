/* Host programs run on the same interpreter, one thread, under two samples; launches, function
 * attributes and tensor maps that come out the same under both are facts. */
#include "machine/inputs/host.h"

#include <string.h>

#include "machine/execute/core.h"

#define HOST_STEPS UINT64_C(300000)

/* ---- operands in host memory ---- */

static bool load_number(Machine *machine, Strand *strand, uint64_t address, int width,
                        int64_t *out) {
  uint64_t raw;
  MachineAddress at = machine_address(machine, address, IR_SPACE_GENERIC);
  *out = HOST_UNKNOWN;
  if (!core_load_lane(machine, strand, 0, at, width, &raw)) return false;
  *out = (int64_t)raw;
  return true;
}

static int64_t operand_number(Machine *machine, Strand *strand, const IrOperand *operand) {
  uint64_t raw;
  Value v = machine_read(machine, strand, operand);
  return value_same(v, strand->mask, &raw) ? (int64_t)raw : HOST_UNKNOWN;
}

static int64_t role_number(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role) {
  const IrOperand *operand = ir_arg(insn, role);
  return operand ? operand_number(machine, strand, operand) : HOST_UNKNOWN;
}

/* Operands of one role: several operands, or one vector. */
static int role_numbers(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                        int64_t *out, int limit) {
  int count = 0;
  for (int i = 0; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    if (operand->role != role) continue;
    int parts = operand->kind == IR_OPD_VECTOR ? operand->count : 1;
    for (int j = 0; j < parts && count < limit; j++)
      out[count++] = operand_number(machine, strand,
                                    operand->kind == IR_OPD_VECTOR ? &operand->list[j] : operand);
  }
  return count;
}

static void load_array(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role, int width,
                       int count, int64_t *out) {
  int64_t base = role_number(machine, strand, insn, role);
  for (int i = 0; i < count; i++) {
    out[i] = HOST_UNKNOWN;
    if (base != HOST_UNKNOWN)
      load_number(machine, strand, (uint64_t)base + (uint64_t)(i * width), width, &out[i]);
  }
}

static const char *kernel_name(Machine *machine, Strand *strand, const IrInsn *insn) {
  int64_t at = role_number(machine, strand, insn, IR_ROLE_kernel);
  uint64_t id = ((uint64_t)at - IR_FUNCTION_BASE) / 16;
  if (at != HOST_UNKNOWN && (uint64_t)at >= IR_FUNCTION_BASE &&
      id < (uint64_t)machine->program->functions.count) {
    const IrFunction *f = &machine->program->functions.items[id];
    return f->instantiation ? f->instantiation : f->name;
  }
  return insn->text;
}

/* ---- events ---- */

static const IrKernel *find_kernel(const IrProgram *program, const char *name) {
  for (int i = 0; i < program->kernels.count; i++)
    if (ir_kernel_is_named(program->kernels.items[i], name)) return program->kernels.items[i];
  return NULL;
}

/* The scalars of all parameters. A record is passed by the address of the caller's copy; what
 * cudaLaunchKernel and cudaLaunchKernelExC start has a list of such addresses for everything. */
static void read_leaves(Machine *machine, Strand *strand, HostLaunch *launch, bool by_address) {
  const IrKernel *kernel = find_kernel(machine->program, launch->kernel);
  for (int i = 0; kernel && i < kernel->params.count && i < launch->nargs; i++) {
    const IrParam *param = &kernel->params.items[i];
    int64_t arg = launch->args[i];
    for (int j = 0; j < param->leaves.count; j++) {
      const IrLeaf *leaf = &param->leaves.items[j];
      HostLeaf out = {.offset = leaf->offset, .value = HOST_UNKNOWN};
      int width = leaf->kind == IR_LEAF_TENSOR_MAP ? 8 : leaf->type.bytes;
      if (!by_address && !param->is_record && leaf->kind != IR_LEAF_TENSOR_MAP)
        out.value = arg;
      else if (arg != HOST_UNKNOWN && width >= 1 && width <= 8)
        load_number(machine, strand, (uint64_t)arg + leaf->offset - param->offset, width,
                    &out.value);
      KC_PUSH(machine->session->arena, launch->leaves, out);
    }
  }
}

/* The addresses in a launch's list, one a parameter: how many. */
static int listed_arguments(Machine *machine, Strand *strand, const IrInsn *insn,
                            HostLaunch *launch) {
  const IrKernel *kernel = find_kernel(machine->program, launch->kernel);
  int count = kernel ? MIN(kernel->params.count, HOST_ARGS) : 0;
  load_array(machine, strand, insn, IR_ROLE_arg_list, 8, count, launch->args);
  return count;
}

static HostLaunch *new_launch(Machine *machine, Strand *strand, const IrInsn *insn) {
  HostRun *run = core_run(machine)->host;
  HostLaunch *launch = KC_NEW(machine->session->arena, HostLaunch);
  launch->insn = insn;
  launch->kernel = kernel_name(machine, strand, insn);
  launch->smem = 0;
  for (int i = 0; i < 3; i++) {
    launch->grid[i] = launch->block[i] = 1;
    launch->cluster[i] = 0;
  }
  bool by_address = ir_arg(insn, IR_ROLE_arg_list) != NULL;
  launch->nargs = by_address
                      ? listed_arguments(machine, strand, insn, launch)
                      : role_numbers(machine, strand, insn, IR_ROLE_args, launch->args, HOST_ARGS);
  read_leaves(machine, strand, launch, by_address);
  KC_PUSH(machine->session->arena, run->launches, launch);
  return launch;
}

static void launch_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  HostLaunch *launch = new_launch(machine, strand, insn);
  role_numbers(machine, strand, insn, IR_ROLE_grid, launch->grid, 3);
  role_numbers(machine, strand, insn, IR_ROLE_block, launch->block, 3);
  if (ir_arg(insn, IR_ROLE_size)) launch->smem = role_number(machine, strand, insn, IR_ROLE_size);
  launch->cooperative = (insn->flags & IR_FLAG(cooperative)) != 0;
  launch->cooperative_known = true;
}

/* cudaLaunchConfig_t and cudaLaunchAttribute of CUDA 12 and 13 (driver_types.h): offsets in
 * bytes. */
enum {
  CONFIG_GRID = 0,
  CONFIG_BLOCK = 12,
  CONFIG_SMEM = 24,
  CONFIG_ATTRS = 40,
  CONFIG_COUNT = 48,
  ATTR_BYTES = 72,
  ATTR_VALUE = 8,
  ATTR_COOPERATIVE = 2,
  ATTR_CLUSTER = 4,
  ATTR_PDL = 6,
  MAX_ATTRS = 16
};

static void read_attributes(Machine *machine, Strand *strand, HostLaunch *launch, uint64_t config) {
  int64_t attrs, count, id, pdl, on;
  bool have = load_number(machine, strand, config + CONFIG_ATTRS, 8, &attrs);
  have = load_number(machine, strand, config + CONFIG_COUNT, 4, &count) && have;
  if (!have || count < 0 || count > MAX_ATTRS) {
    for (int i = 0; i < 3; i++)
      launch->cluster[i] = HOST_UNKNOWN;
    return;
  }
  launch->pdl_known = launch->cooperative_known = true;
  for (int64_t i = 0; i < count; i++) {
    uint64_t at = (uint64_t)attrs + (uint64_t)i * ATTR_BYTES;
    if (!load_number(machine, strand, at, 4, &id)) {
      launch->pdl_known = launch->cooperative_known = false;
      continue;
    }
    if (id == ATTR_COOPERATIVE) {
      if (load_number(machine, strand, at + ATTR_VALUE, 4, &on))
        launch->cooperative = on != 0;
      else
        launch->cooperative_known = false;
    }
    for (int axis = 0; id == ATTR_CLUSTER && axis < 3; axis++)
      load_number(machine, strand, at + ATTR_VALUE + 4 * (uint64_t)axis, 4, &launch->cluster[axis]);
    if (id == ATTR_PDL) {
      if (load_number(machine, strand, at + ATTR_VALUE, 4, &pdl))
        launch->pdl = pdl != 0;
      else
        launch->pdl_known = false;
    }
  }
}

static void launch_ex_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  HostLaunch *launch = new_launch(machine, strand, insn);
  launch->extended = true;
  int64_t config = role_number(machine, strand, insn, IR_ROLE_config);
  launch->smem = HOST_UNKNOWN;
  for (int i = 0; i < 3; i++) {
    launch->grid[i] = launch->block[i] = HOST_UNKNOWN;
    if (config == HOST_UNKNOWN) continue;
    uint64_t axis = 4 * (uint64_t)i;
    load_number(machine, strand, (uint64_t)config + CONFIG_GRID + axis, 4, &launch->grid[i]);
    load_number(machine, strand, (uint64_t)config + CONFIG_BLOCK + axis, 4, &launch->block[i]);
  }
  if (config == HOST_UNKNOWN) return;
  load_number(machine, strand, (uint64_t)config + CONFIG_SMEM, 8, &launch->smem);
  read_attributes(machine, strand, launch, (uint64_t)config);
}

static void attribute_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  HostRun *run = core_run(machine)->host;
  HostAttr attr = {.insn = insn,
                   .kernel = kernel_name(machine, strand, insn),
                   .attribute = role_number(machine, strand, insn, IR_ROLE_id),
                   .value = role_number(machine, strand, insn, IR_ROLE_value)};
  KC_PUSH(machine->session->arena, run->attrs, attr);
}

static void tensor_map_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  HostRun *run = core_run(machine)->host;
  HostMap *map = KC_NEW(machine->session->arena, HostMap);
  map->insn = insn;
  map->address = role_number(machine, strand, insn, IR_ROLE_map);
  map->type = role_number(machine, strand, insn, IR_ROLE_id);
  map->rank = role_number(machine, strand, insn, IR_ROLE_rank);
  map->base = role_number(machine, strand, insn, IR_ROLE_base);
  map->interleave = role_number(machine, strand, insn, IR_ROLE_interleave);
  map->swizzle = role_number(machine, strand, insn, IR_ROLE_swizzle);
  map->fill = role_number(machine, strand, insn, IR_ROLE_fill);
  int rank = map->rank >= 1 && map->rank <= 5 ? (int)map->rank : 5;
  for (int i = 0; i < 5; i++)
    map->dims[i] = map->strides[i] = map->box[i] = map->elem_strides[i] = HOST_UNKNOWN;
  load_array(machine, strand, insn, IR_ROLE_dims, 8, rank, map->dims);
  load_array(machine, strand, insn, IR_ROLE_strides, 8, rank - 1, map->strides);
  if (insn->flags & IR_FLAG(im2col)) {
    map->box[0] = role_number(machine, strand, insn, IR_ROLE_size);
    map->box[1] = role_number(machine, strand, insn, IR_ROLE_count);
    for (int i = 2; i < rank; i++)
      map->box[i] = 1;
  } else {
    load_array(machine, strand, insn, IR_ROLE_box, 4, rank, map->box);
  }
  load_array(machine, strand, insn, IR_ROLE_elem_strides, 4, rank, map->elem_strides);
  if (map->address != HOST_UNKNOWN)
    core_store_lane(machine, strand, 0,
                    machine_address(machine, (uint64_t)map->address, IR_SPACE_GENERIC), 8, true,
                    HOST_MAP_TAG + (uint64_t)run->maps.count);
  KC_PUSH(machine->session->arena, run->maps, map);
}

/* Writes the attribute if the run is of a device; false: it stays unknown. How many SMs a card has
 * is not the target's to say: each of two runs imagines another number. */
static bool device_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  const HostRun *run = core_run(machine)->host;
  int64_t id = role_number(machine, strand, insn, IR_ROLE_id);
  if (id == IR_DEVICE_PROCESSORS) {
    machine_write(machine, strand, ir_arg(insn, IR_ROLE_dst),
                  value_known((uint64_t)run->processors), strand->active);
    return true;
  }
  if (!run->capability || (id != IR_DEVICE_MAJOR && id != IR_DEVICE_MINOR)) return false;
  uint64_t value = (uint64_t)(id == IR_DEVICE_MAJOR ? run->capability / 10 : run->capability % 10);
  machine_write(machine, strand, ir_arg(insn, IR_ROLE_dst), value_known(value), strand->active);
  return true;
}

MachineStep core_host_event(Machine *machine, Strand *strand, const IrInsn *insn) {
  if (!core_run(machine)->host) return MACHINE_NEXT;
  switch (insn->event) {
  case IR_EV_host_device:
    if (device_event(machine, strand, insn)) return MACHINE_NEXT;
    break;
  case IR_EV_host_launch: launch_event(machine, strand, insn); break;
  case IR_EV_host_launch_ex: launch_ex_event(machine, strand, insn); break;
  case IR_EV_host_func_attr: attribute_event(machine, strand, insn); break;
  case IR_EV_host_tensor_map: tensor_map_event(machine, strand, insn); break;
  default: break;
  }
  core_havoc_insn(machine, strand, insn);
  return MACHINE_NEXT;
}

/* ---- which way when nobody knows ---- */

static int reachable_events(const IrKernel *kernel, int32_t from) {
  uint8_t *seen = g_new0(uint8_t, kernel->insns.count + 1);
  int32_t *todo = g_new(int32_t, kernel->insns.count + 1);
  int left = 0, events = 0;
  todo[left++] = from;
  while (left > 0) {
    int32_t at = todo[--left];
    if (at < 0 || at >= kernel->insns.count || seen[at]) continue;
    seen[at] = 1;
    const IrInsn *insn = &kernel->insns.items[at];
    events += insn->op == IR_event && insn->event >= IR_EV_host_launch;
    if (insn->op == IR_branch && !seen[insn->target]) todo[left++] = insn->target;
    bool ends =
        (insn->op == IR_branch || insn->op == IR_exit || insn->op == IR_trap) && insn->guard < 0;
    if (!ends && at + 1 < kernel->insns.count && !seen[at + 1]) todo[left++] = at + 1;
  }
  g_free(seen);
  g_free(todo);
  return events;
}

bool core_host_decide(const IrKernel *kernel, const IrInsn *insn) {
  if (insn->op != IR_branch) return insn->op == IR_event;
  int32_t pc = (int32_t)(insn - kernel->insns.items);
  return reachable_events(kernel, insn->target) > reachable_events(kernel, pc + 1);
}

/* ---- running ---- */

static MachineSample *host_sample(MachineSession *session, int64_t ints) {
  MachineSamples samples = {.stages = 1};
  MachineSample *sample = core_plain_sample(session, &samples, ints);
  for (int i = 0; i < 3; i++)
    sample->grid[i] = sample->block[i] = sample->cluster[i] = 1;
  sample->npattern = 0;
  return sample;
}

/* Two sizes that share only large powers of two: what both give is not the sample's doing. */
static const int64_t sizes[2] = {17 * 256, 19 * 256}, processors[2] = {132, 148};

static HostRun *run_host(MachineSession *session, int which, int capability) {
  HostRun *run = KC_NEW(session->arena, HostRun);
  run->processors = processors[which];
  run->capability = capability;
  Machine *machine =
      core_machine_new(session, host_sample(session, sizes[which]), MACHINE_EAGER, HOST_STEPS);
  core_run(machine)->host = run;
  machine->warps[0]->strands[0]->mask = machine->warps[0]->alive = machine->warps[0]->lanes = 1;
  CoreSession *core = session->core;
  core->decisions_used = core->decisions.count = 0;
  protocol_init(machine);
  core_schedule(machine);
  protocol_free(machine);
  core_machine_free(machine);
  return run;
}

HostRun *host_run_on(MachineSession *session, int capability) {
  return run_host(session, 0, capability);
}

MachineHostFacts *machine_run_hosts(const IrProgram *program, const MachineOptions *options,
                                    IrViolations *violations) {
  MachineHostFacts *facts = KC_NEW(program->arena, MachineHostFacts);
  assume_check_names(program, options, violations);
  for (int i = 0; i < program->hosts.count; i++) {
    const IrKernel *kernel = program->hosts.items[i];
    if (kernel->insns.count == 0) continue;
    MachineSession *session = KC_NEW(program->arena, MachineSession);
    core_session_init(session, program->arena, program, kernel, NULL, options);
    session->shared_bytes = CORE_SHARED_RESERVED;
    HostRun *runs[2];
    for (int j = 0; j < 2; j++)
      runs[j] = run_host(session, j, options->arch ? options->arch->number : 0);
    host_merge(program, kernel, runs[0], runs[1], facts, violations);
    host_check_devices(session, program, options->build, violations);
    core_session_free(session);
  }
  for (int i = 0; i < program->hosts.count; i++)
    host_add_launches(program, program->hosts.items[i], facts);
  return facts;
}
