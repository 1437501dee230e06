/* A kernel in PTX, run by the machine: which kinds of violation does it bring? */
#ifndef TESTS_MACHINE_PROTOCOL_H
#define TESTS_MACHINE_PROTOCOL_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/arch.h"
#include "machine/machine.h"
#include "ptx/ptx.h"
#include "rules/rules.h"

Suite *test_suite(void);

typedef struct PtxRun {
  KcArena *arena;
  IrViolations violations;
  MachineResult *result;
  char kinds[1024]; /* distinct, sorted by first appearance, joined by a space */
} PtxRun;

static inline MachineEffect effect_of_kind(const char *kind, void *user) {
  (void)user;
  static Rules *rules; /* as long as the process of the test */
  KcError error = {0};
  if (!rules) rules = rules_load(&error);
  ck_assert_msg(rules != NULL, "%s", error.message);
  return rules_effect(rules, kind);
}

/* Runs a kernel of `threads` threads in clusters of `cluster` CTAs. `declarations` stand before
 * `body` inside the kernel. Common registers: %r0..31 .b32, %d0..15 .b64, %p0..7 .pred, %f0..31
 * .f32; %tid.x is in %r0, %laneid in %r1, the warp number in %r2. */
static inline PtxRun run_ptx(const char *target, int threads, int cluster, const char *declarations,
                             const char *body) {
  PtxRun run = {.arena = kc_arena_new()};
  char *text = kc_printf(
      run.arena,
      ".version 8.7\n.target %s\n.address_size 64\n"
      ".visible .entry k(.param .u64 data, .param .align 64 .b8 map[128])\n"
      ".reqntid %d, 1, 1\n%s{\n"
      ".reg .b32 %%r<32>; .reg .b64 %%d<16>; .reg .pred %%p<8>; .reg .f32 %%f<32>;\n"
      "%s\n"
      "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r1, %%laneid;\nshr.u32 %%r2, %%r0, 5;\n"
      "ld.param.u64 %%d0, [data];\n"
      "%s\nret;\n}\n",
      target, threads,
      cluster > 1 ? kc_printf(run.arena, ".explicitcluster\n.reqnctapercluster %d, 1, 1\n", cluster)
                  : "",
      declarations, body);
  IrProgram *program = ir_program_new(run.arena, "test.ptx", target);
  run.violations.arena = run.arena;
  KcError error = {0};
  bool loaded = ptx_load_module(program, text, strlen(text), &run.violations, &error);
  ck_assert_msg(loaded, "%s at line %d of\n%s", error.message, error.line, text);
  ck_assert_msg(run.violations.list.count == 0, "the instruction table says: %s",
                run.violations.list.count ? run.violations.list.items[0]->message : "");
  MachineHostFacts host = {0};
  MachineOptions options = {.arch = arch_find(target, &error), .effect = effect_of_kind};
  ck_assert_ptr_nonnull(options.arch);
  run.result =
      machine_run(run.arena, program, program->kernels.items[0], &host, &options, &run.violations);
  for (int i = 0; i < run.violations.list.count; i++) {
    const char *kind = run.violations.list.items[i]->kind;
    if (strstr(run.kinds, kind)) continue;
    if (run.kinds[0]) strcat(run.kinds, " ");
    strcat(run.kinds, kind);
  }
  return run;
}

static inline void expect_kinds(const char *target, int threads, int cluster,
                                const char *declarations, const char *body, const char *kinds) {
  PtxRun run = run_ptx(target, threads, cluster, declarations, body);
  for (int i = 0; i < run.violations.list.count; i++)
    if (strcmp(run.kinds, kinds) != 0)
      printf("%s: %s\n", run.violations.list.items[i]->kind, run.violations.list.items[i]->message);
  ck_assert_str_eq(run.kinds, kinds);
  ck_assert(run.result->ran);
  kc_arena_free(run.arena);
}

#define EXPECT_KINDS(threads, body, kinds) expect_kinds("sm_90a", threads, 1, SHARED, body, kinds)

/* Shared memory of most tests: two barriers, a tile, a second tile. */
#define SHARED                                                                                     \
  ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;\n"                                     \
  ".shared .align 1024 .b8 tile[4096]; .shared .align 1024 .b8 other[4096];\n"

/* The thread 0 of the block initialises both barriers, then everybody meets. */
#define INIT(full_count, empty_count)                                                              \
  "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra INITIALISED;\n"                                              \
  "mbarrier.init.shared::cta.b64 [full], " #full_count ";\n"                                       \
  "mbarrier.init.shared::cta.b64 [empty], " #empty_count ";\n"                                     \
  "fence.mbarrier_init.release.cluster;\n"                                                         \
  "INITIALISED:\nbar.sync 0;\n"

/* Spins until the phase of that parity is complete. `label` has to be new. */
#define WAIT(bar, parity, label)                                                                   \
  label ":\nmbarrier.try_wait.parity.shared::cta.b64 %p7, [" bar "], " parity                      \
        ";\n@!%p7 bra " label ";\n"

#endif
