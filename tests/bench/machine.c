/* machine_bench [--repeat N] [ARCH FILE]...
 *
 * What the machine alone costs: each file is parsed and lowered once, then every kernel of it is
 * run N times (5). A line a kernel: the median and the best time over all inputs and schedules, the
 * steps, the steps a second and the memory that the machine reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cuda/cuda.h"
#include "machine/machine.h"
#include "ptx/ptx.h"

#define MAX_REPEAT 101

static int by_time(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void measure(const IrProgram *program, const IrKernel *kernel, const MachineHostFacts *host,
                    const MachineOptions *options, const char *file, int repeat) {
  int64_t times[MAX_REPEAT];
  uint64_t steps = 0;
  size_t memory = 0;
  bool complete = true;
  for (int i = 0; i < repeat; i++) {
    KcArena *arena = kc_arena_new();
    IrViolations violations = {.arena = arena};
    MachineResult *result = machine_run(arena, program, kernel, host, options, &violations);
    times[i] = result->time_us;
    steps = result->steps;
    memory = result->memory;
    complete = result->complete;
    kc_arena_free(arena);
  }
  qsort(times, (size_t)repeat, sizeof *times, by_time);
  int64_t median = times[repeat / 2];
  g_autofree char *base = g_path_get_basename(file);
  printf("%-26s %-24.24s %8.1f ms (best %.1f)  %8llu steps  %6.2f million/s  %6.1f MB%s\n", base,
         kernel->instantiation, (double)median / 1e3, (double)times[0] / 1e3,
         (unsigned long long)steps, median > 0 ? (double)steps / (double)median : 0.0,
         (double)memory / 1048576.0, complete ? "" : "  (not complete)");
}

static bool measure_file(const char *arch_name, const char *file, int repeat) {
  KcArena *arena = kc_arena_new();
  KcError error = {0};
  const Arch *arch = arch_find(arch_name, &error);
  CudaOptions options = {.arch = arch_name};
  IrViolations violations = {.arena = arena};
  CudaTiming timing = {0};
  IrProgram *program = arch ? cuda_load(arena, file, &options, &violations, &timing, &error) : NULL;
  if (program) {
    /* No limit of time: under a profiler all runs shall take place, too. */
    MachineOptions machine = {.arch = arch, .max_time_us = INT64_C(600000000)};
    const MachineHostFacts *host = machine_run_hosts(program, &machine, &violations);
    for (int i = 0; i < program->kernels.count; i++)
      measure(program, program->kernels.items[i], host, &machine, file, repeat);
  } else {
    g_autofree char *text = kc_error_text(&error);
    fprintf(stderr, "%s\n", text);
    kc_error_clear(&error);
  }
  kc_arena_free(arena);
  return program != NULL;
}

int main(int argc, char **argv) {
  int repeat = 5, status = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--repeat") == 0) {
      int n = atoi(argv[i + 1]);
      repeat = n < 1 ? 1 : n > MAX_REPEAT ? MAX_REPEAT : n;
    } else if (!measure_file(argv[i], argv[i + 1], repeat)) {
      status = 2;
    }
  }
  return status;
}
