/* What a run leaves for `kcheck trace` and `kcheck protocol`: what happened when in the run that
 * shows a chosen violation, and the contract of each barrier (PTX ISA 9.7.13.15, 9.7.13.1). */
#include "protocol.h"

typedef struct Loaded {
  KcArena *arena;
  IrProgram *program;
  IrViolations violations;
  MachineHostFacts host;
} Loaded;

static Loaded load(const char *body) {
  Loaded l = {.arena = kc_arena_new()};
  char *text = kc_printf(l.arena,
                         ".version 8.7\n.target sm_90a\n.address_size 64\n"
                         ".visible .entry k(.param .u64 data)\n.reqntid 64, 1, 1\n{\n"
                         ".reg .b32 %%r<32>; .reg .b64 %%d<16>; .reg .pred %%p<8>;\n"
                         ".shared .align 8 .b64 full[2];\n.shared .align 16 .b32 tile[64];\n"
                         "mov.u32 %%r0, %%tid.x;\nmov.u32 %%r3, full;\nmov.u32 %%r4, tile;\n"
                         "%s\nret;\n}\n",
                         body);
  KcError error = {0};
  l.program = ir_program_new(l.arena, "test.ptx", "sm_90a");
  l.violations.arena = l.arena;
  ck_assert_msg(ptx_load_module(l.program, text, strlen(text), &l.violations, &error), "%s",
                error.message);
  return l;
}

static MachineResult *run(Loaded *l, MachineOptions options, IrViolations *violations) {
  options.arch = arch_find("sm_90a", NULL);
  return machine_run(l->arena, l->program, l->program->kernels.items[0], &l->host, &options,
                     violations);
}

static const IrViolation *find(const IrViolations *violations, const char *kind) {
  for (int i = 0; i < violations->list.count; i++)
    if (strcmp(violations->list.items[i]->kind, kind) == 0) return violations->list.items[i];
  return NULL;
}

/* One thread initialises for two arrivals, only one comes. */
static const char HANG[] = "setp.ne.u32 %p0, %r0, 0;\n"
                           "@%p0 bra BEHIND;\n"
                           "mbarrier.init.shared::cta.b64 [%r3], 2;\n"
                           "BEHIND: bar.sync 0;\n"
                           "@%p0 bra WAIT;\n"
                           "mbarrier.arrive.shared::cta.b64 %d1, [%r3];\n"
                           "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;\n"
                           "@!%p1 bra WAIT;\n";

static const char RACE[] = "shl.b32 %r5, %r0, 2;\nadd.u32 %r6, %r4, %r5;\n"
                           "st.shared.u32 [%r6], %r0;\n"
                           "xor.b32 %r7, %r5, 128;\nadd.u32 %r8, %r4, %r7;\n"
                           "ld.shared.u32 %r9, [%r8];\n";

START_TEST(nothing_is_kept_unless_asked_for) {
  Loaded l = load(HANG);
  MachineResult *result = run(&l, (MachineOptions){0}, &l.violations);
  ck_assert_int_eq(result->intervals.count, 0);
  kc_arena_free(l.arena);
}
END_TEST

START_TEST(an_ordinary_run_is_kept_without_a_choice) {
  Loaded l = load("bar.sync 0;\n");
  MachineResult *result = run(&l, (MachineOptions){.picture = true}, &l.violations);
  ck_assert_int_gt(result->intervals.count, 0);
  for (int i = 0; i < result->intervals.count; i++) {
    ck_assert(!result->intervals.items[i].fault);
    ck_assert(!result->intervals.items[i].never);
  }
  kc_arena_free(l.arena);
}
END_TEST

START_TEST(a_hang_keeps_the_wait_that_never_ends_with_its_stage) {
  Loaded l = load(HANG);
  run(&l, (MachineOptions){0}, &l.violations);
  const IrViolation *v = find(&l.violations, "mbarrier-arrive-count-mismatch");
  ck_assert_ptr_nonnull(v);
  IrViolations again = {.arena = l.arena};
  MachineResult *result = run(&l, (MachineOptions){.picture = true, .pictured = v}, &again);
  int never = 0;
  for (int i = 0; i < result->intervals.count; i++) {
    const MachineInterval *in = &result->intervals.items[i];
    if (!in->never) continue;
    never++;
    ck_assert_int_eq(in->kind, MACHINE_WAIT);
    ck_assert_ptr_nonnull(in->deed);
  }
  ck_assert_int_eq(never, 2);
  kc_arena_free(l.arena);
}
END_TEST

START_TEST(a_race_keeps_both_accesses_in_their_order) {
  Loaded l = load(RACE);
  run(&l, (MachineOptions){0}, &l.violations);
  const IrViolation *v = find(&l.violations, "smem-race");
  ck_assert_ptr_nonnull(v);
  IrViolations again = {.arena = l.arena};
  MachineResult *result = run(&l, (MachineOptions){.picture = true, .pictured = v}, &again);
  const MachineInterval *first = NULL, *second = NULL;
  for (int i = 0; i < result->intervals.count; i++) {
    if (result->intervals.items[i].order == 1) first = &result->intervals.items[i];
    if (result->intervals.items[i].order == 2) second = &result->intervals.items[i];
  }
  ck_assert_ptr_nonnull(first);
  ck_assert_ptr_nonnull(second);
  ck_assert_uint_lt(first->begin, second->begin);
  ck_assert_int_ne(first->warp, second->warp);
  ck_assert_str_eq(first->object, second->object);
  kc_arena_free(l.arena);
}
END_TEST

START_TEST(a_violation_that_does_not_come_up_leaves_nothing) {
  Loaded l = load(RACE);
  const IrViolation other = {.kind = "pipeline-deadlock", .where = 1};
  MachineResult *result =
      run(&l, (MachineOptions){.picture = true, .pictured = &other}, &l.violations);
  ck_assert_int_eq(result->intervals.count, 0);
  kc_arena_free(l.arena);
}
END_TEST

static const MachineBarrierUse *barrier(const MachineResult *result, MachineBarrierKind kind) {
  for (int i = 0; i < result->barriers.count; i++)
    if (result->barriers.items[i].kind == kind) return &result->barriers.items[i];
  ck_abort_msg("no such barrier");
  return NULL;
}

START_TEST(s9_7_13_15_contract_of_an_mbarrier) {
  Loaded l = load("setp.ne.u32 %p0, %r0, 0;\n"
                  "@%p0 bra BEHIND;\n"
                  "mbarrier.init.shared::cta.b64 [%r3], 64;\n"
                  "BEHIND: bar.sync 0;\n"
                  "mbarrier.arrive.shared::cta.b64 %d1, [%r3];\n"
                  "WAIT: mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;\n"
                  "@!%p1 bra WAIT;\n");
  MachineResult *result = run(&l, (MachineOptions){.contracts = true}, &l.violations);
  const MachineBarrierUse *use = barrier(result, MACHINE_MBARRIER);
  ck_assert_int_eq(use->init_count, 64);
  ck_assert_int_eq(use->arrivals, 64);
  ck_assert_int_eq(use->first_parity, 0);
  ck_assert_int_eq(use->arrive_text.count, 1);
  ck_assert_ptr_nonnull(strstr(use->arrive_text.items[0], "all threads of warps 0-1"));
  ck_assert_ptr_nonnull(strstr(use->wait_text.items[0], "parity 0 first"));
  ck_assert_int_eq(barrier(result, MACHINE_BLOCK_BARRIER)->wait_text.count, 1);
  kc_arena_free(l.arena);
}
END_TEST

START_TEST(s9_7_13_1_contract_of_a_named_barrier) {
  Loaded l = load("setp.lt.u32 %p0, %r0, 32;\n@%p0 bra FIRST;\nbar.sync 1, 64;\nbra END;\n"
                  "FIRST: bar.arrive 1, 64;\nEND:\n");
  MachineResult *result = run(&l, (MachineOptions){.contracts = true}, &l.violations);
  const MachineBarrierUse *use = barrier(result, MACHINE_NAMED_BARRIER);
  ck_assert_int_eq(use->init_count, 64);
  ck_assert_int_eq(use->arrive_text.count, 1);
  ck_assert_int_eq(use->wait_text.count, 1);
  ck_assert_ptr_nonnull(strstr(use->arrive_text.items[0], "warp 0"));
  ck_assert_ptr_nonnull(strstr(use->wait_text.items[0], "warp 1"));
  kc_arena_free(l.arena);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/picture");
  TCase *tcase = tcase_create("picture");
  tcase_add_test(tcase, nothing_is_kept_unless_asked_for);
  tcase_add_test(tcase, an_ordinary_run_is_kept_without_a_choice);
  tcase_add_test(tcase, a_hang_keeps_the_wait_that_never_ends_with_its_stage);
  tcase_add_test(tcase, a_race_keeps_both_accesses_in_their_order);
  tcase_add_test(tcase, a_violation_that_does_not_come_up_leaves_nothing);
  tcase_add_test(tcase, s9_7_13_15_contract_of_an_mbarrier);
  tcase_add_test(tcase, s9_7_13_1_contract_of_a_named_barrier);
  suite_add_tcase(suite, tcase);
  return suite;
}
