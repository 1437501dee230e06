/* Devices that a host program lets through to a launch, against those that the build has code for.
 * A program that asks for the compute capability is run for each of them. */
#include "machine/inputs/host.h"

#include "machine/execute/core.h"

#define OLD_DEVICE 52 /* has nothing that a target with a suffix is chosen for */

static const int capabilities[] = {90, 100, 103, 110, 120, 121};

static bool asks_for_device(const IrKernel *host) {
  for (int i = 0; i < host->insns.count; i++)
    if (host->insns.items[i].op == IR_event && host->insns.items[i].event == IR_EV_host_device)
      return true;
  return false;
}

static bool has_launch(const HostRun *run, const IrInsn *insn) {
  for (int i = 0; i < run->launches.count; i++)
    if (run->launches.items[i]->insn == insn) return true;
  return false;
}

static bool is_covered(const Arch *const *build, int capability) {
  for (; *build; build++)
    if (arch_covers(*build, capability)) return true;
  return false;
}

/* Whether the launch is for a device of the build at all. */
static bool serves_build(HostRun *const *runs, const IrInsn *launch, const Arch *const *build) {
  for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
    if (is_covered(build, capabilities[i]) && has_launch(runs[i], launch)) return true;
  return false;
}

static bool only_suffixed(const Arch *const *build) {
  for (int i = 0; build[i]; i++)
    if (!build[i]->suffix) return false;
  return build[0] != NULL;
}

/* "10.0, 10.3 and 12.0": devices without code whose run comes to the launch. */
static char *devices_without_code(HostRun *const *runs, const IrInsn *launch,
                                  const Arch *const *build) {
  g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(g_free);
  for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
    if (!is_covered(build, capabilities[i]) && has_launch(runs[i], launch))
      g_ptr_array_add(list, g_strdup_printf("%d.%d", capabilities[i] / 10, capabilities[i] % 10));
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < list->len; i++)
    g_string_append_printf(text, "%s%s",
                           i == 0               ? ""
                           : i + 1 == list->len ? " and "
                                                : ", ",
                           (const char *)list->pdata[i]);
  return g_string_free(text, FALSE);
}

static void check_launch(const IrProgram *program, HostRun *const *runs, const HostLaunch *launch,
                         const Arch *const *build, IrViolations *violations) {
  if (!serves_build(runs, launch->insn, build)) return;
  g_autofree char *devices = devices_without_code(runs, launch->insn, build);
  if (!*devices || !launch->kernel) return;
  const IrKernel *kernel = NULL;
  for (int i = 0; i < program->kernels.count && !kernel; i++)
    if (ir_kernel_is_named(program->kernels.items[i], launch->kernel))
      kernel = program->kernels.items[i];
  GString *targets = g_string_new(NULL);
  for (int i = 0; build[i]; i++)
    g_string_append_printf(targets, "%s%s", i ? ", " : "", build[i]->name);
  ir_violation(violations, "arch-a-target-not-portable", kernel, launch->insn->where,
               "this launch is also reached on devices of compute capability %s, for which a build "
               "for %s has no code of %s",
               devices, targets->str, kernel ? kernel->name : launch->kernel);
  g_string_free(targets, TRUE);
}

void host_check_devices(MachineSession *session, const IrProgram *program, const Arch *const *build,
                        IrViolations *violations) {
  if (!build || !only_suffixed(build) || !asks_for_device(session->kernel)) return;
  const HostRun *old = host_run_on(session, OLD_DEVICE);
  HostRun *runs[G_N_ELEMENTS(capabilities)];
  for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
    runs[i] = host_run_on(session, capabilities[i]);
  g_autoptr(GPtrArray) done = g_ptr_array_new();
  for (size_t i = 0; i < G_N_ELEMENTS(capabilities); i++)
    for (int j = 0; j < runs[i]->launches.count; j++) {
      const HostLaunch *launch = runs[i]->launches.items[j];
      /* A launch on any device at all has no condition that means to choose one. */
      if (has_launch(old, launch->insn) || g_ptr_array_find(done, (gpointer)launch->insn, NULL))
        continue;
      g_ptr_array_add(done, (gpointer)launch->insn);
      check_launch(program, runs, launch, build, violations);
    }
}
