#include "budget/budget.h"

#include <string.h>

#include "budget/internal.h"

int64_t budget_volume(const int64_t dims[3]) {
  return dims[0] > 0 ? dims[0] * dims[1] * dims[2] : 0;
}

int64_t budget_cluster(const Budget *b, const BudgetLaunch *launch) {
  const int *dims = b->kernel->cluster_dims;
  if (dims[0] > 0)
    return (int64_t)dims[0] * (dims[1] > 0 ? dims[1] : 1) * (dims[2] > 0 ? dims[2] : 1);
  return launch ? budget_volume(launch->cluster) : 0;
}

bool budget_reported(const Budget *b, const char *kind) {
  for (int i = 0; i < b->violations->list.count; i++) {
    const IrViolation *v = b->violations->list.items[i];
    if (v->kernel == b->kernel && strcmp(v->kind, kind) == 0) return true;
  }
  return false;
}

static void take_dims(int64_t to[3], const int64_t from[3]) {
  for (int i = 0; i < 3; i++)
    to[i] = from[0] > 0 && from[i] > 0 ? from[i] : from[0] > 0;
}

static void gather_launches(Budget *b) {
  KcArena *arena = b->violations->arena;
  const IrDirectives *directives = b->program->directives;
  for (int i = 0; b->host && i < b->host->launches.count; i++) {
    const MachineLaunch *l = &b->host->launches.items[i];
    if (!ir_kernel_is_named(b->kernel, l->kernel)) continue;
    BudgetLaunch launch = {.smem = l->smem, .extended = l->extended, .where = l->where};
    launch.fills_the_card = l->fills_the_card;
    launch.cooperative = l->cooperative;
    launch.cooperative_known = l->cooperative_known;
    take_dims(launch.grid, l->grid);
    take_dims(launch.block, l->block);
    take_dims(launch.cluster, l->cluster);
    KC_PUSH(arena, b->launches, launch);
  }
  for (int i = 0; directives && i < directives->launches.count; i++) {
    const IrLaunchDirective *d = &directives->launches.items[i];
    if (!ir_kernel_is_named(b->kernel, d->kernel)) continue;
    BudgetLaunch launch = {.smem = d->smem, .directive = true, .where = b->kernel->where};
    take_dims(launch.grid, d->grid);
    take_dims(launch.block, d->block);
    take_dims(launch.cluster, d->cluster);
    KC_PUSH(arena, b->launches, launch);
  }
}

static int64_t static_bytes(const IrKernel *kernel) {
  uint64_t bytes = 0;
  for (int i = 0; i < kernel->objects.count; i++) {
    const IrObject *object = &kernel->objects.items[i];
    if (object->space != IR_SPACE_SHARED || object->dynamic) continue;
    uint64_t align = object->align ? object->align : 1;
    bytes = (bytes + align - 1) / align * align + object->bytes;
  }
  return (int64_t)bytes;
}

static int64_t block_threads(const Budget *b) {
  for (int i = 0; i < b->launches.count; i++) {
    int64_t threads = budget_volume(b->launches.items[i].block);
    if (threads > 0) return threads;
  }
  const int *required = b->kernel->reqntid;
  if (required[0] > 0)
    return (int64_t)required[0] * (required[1] > 0 ? required[1] : 1) *
           (required[2] > 0 ? required[2] : 1);
  return b->kernel->max_threads;
}

static int count_event(const IrKernel *kernel, IrEvent event) {
  int count = 0;
  for (int i = 0; i < kernel->insns.count; i++)
    count += kernel->insns.items[i].op == IR_event && kernel->insns.items[i].event == event;
  return count;
}

/* Whether a host function has parts that could hold an attribute call nobody saw. */
static bool host_is_partial(const IrProgram *program) {
  for (int i = 0; i < program->hosts.count; i++)
    for (int n = 0; n < program->hosts.items[i]->notes.count; n++)
      if (program->hosts.items[i]->notes.items[n].may_hide_event) return true;
  return false;
}

BudgetKernel budget_check(const IrProgram *program, const IrKernel *kernel, const Arch *arch,
                          const MachineHostFacts *host, const MachineResult *machine,
                          IrViolations *violations) {
  Budget b = {.program = program,
              .kernel = kernel,
              .arch = arch,
              .host = host,
              .machine = machine,
              .violations = violations,
              .smem_static = static_bytes(kernel),
              .host_partial = host_is_partial(program),
              .setmaxnregs = count_event(kernel, IR_EV_setmaxnreg),
              .entry_registers = budget_entry_registers(kernel, arch)};
  gather_launches(&b);
  b.threads = block_threads(&b);
  BudgetKernel out = {
      .kernel = kernel, .threads = (int)b.threads, .min_blocks = kernel->min_blocks};
  if (kernel->body_lost) return out;
  budget_smem(&b, &out.row);
  budget_registers(&b, &out);
  budget_tmem(&b, &out);
  /* A kernel with setmaxnreg takes all that its launch bounds allow; else the count is unknown. */
  int64_t registers = b.setmaxnregs > 0 ? b.entry_registers : kernel->maxnreg;
  out.row.blocks_per_sm = budget_blocks_per_sm(arch, out.row.smem_total, b.threads, registers);
  budget_launches(&b, &out);
  budget_waves(&b, &out);
  return out;
}
