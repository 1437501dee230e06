/* The interpreter on small kernels built by hand: values, memory, divergence, warp operations. */
#include <check.h>

#include "machine/execute/core.h"

typedef struct {
  KcArena *arena;
  IrProgram *program;
  IrKernel *kernel;
  IrBuilder b;
  MachineSession session;
  MachineSample sample;
  MachineOptions options;
  Machine *machine;
} Kernel;

#define U32 IR_TYPE_U(4)
#define S32 IR_TYPE_S(4)
#define U64 IR_TYPE_U(8)

static void begin(Kernel *k) {
  *k = (Kernel){.arena = kc_arena_new()};
  k->program = ir_program_new(k->arena, "test.cu", "sm_90a");
  k->kernel = ir_kernel_new(k->program, "k", false);
  ir_builder_init(&k->b, k->program, k->kernel);
}

static IrInsn *emit(Kernel *k, IrOp op, IrType type, int nargs, ...) {
  IrOperand args[8];
  va_list list;
  va_start(list, nargs);
  for (int i = 0; i < nargs; i++)
    args[i] = va_arg(list, IrOperand);
  va_end(list);
  return ir_emit(&k->b, op, type, args, nargs);
}

static void run_schedule(Kernel *k, int threads, int cluster, MachineSchedule schedule) {
  ir_finish(&k->b);
  core_session_init(&k->session, k->arena, k->program, k->kernel, NULL, &k->options);
  k->session.shared_bytes = 4096 + CORE_SHARED_RESERVED;
  k->sample.param = kc_alloc(k->arena, 64);
  k->sample.param_known = kc_alloc(k->arena, 64);
  k->sample.grid[0] = k->sample.cluster[0] = cluster;
  k->sample.block[0] = threads;
  for (int i = 1; i < 3; i++)
    k->sample.grid[i] = k->sample.cluster[i] = k->sample.block[i] = 1;
  k->machine = core_machine_new(&k->session, &k->sample, schedule, 100000);
  protocol_init(k->machine);
  core_schedule(k->machine);
}

static void run(Kernel *k, int threads) {
  run_schedule(k, threads, 1, MACHINE_EAGER);
}

static void end(Kernel *k) {
  protocol_free(k->machine);
  core_machine_free(k->machine);
  core_session_free(&k->session);
  kc_arena_free(k->arena);
}

static bool lane_value(const Kernel *k, int warp, int32_t reg, int lane, uint64_t *out) {
  const MachineReg *r = &k->machine->warps[warp]->regs[reg];
  *out = r->lanes ? r->lanes[lane] : r->scalar;
  return r->known >> lane & 1;
}

static void expect(const Kernel *k, int warp, int32_t reg, int lane, uint64_t wanted) {
  uint64_t got;
  ck_assert_msg(lane_value(k, warp, reg, lane, &got), "register %d lane %d is unknown", reg, lane);
  ck_assert_msg(got == wanted, "register %d lane %d is %llu, not %llu", reg, lane,
                (unsigned long long)got, (unsigned long long)wanted);
}

static void expect_unknown(const Kernel *k, int warp, int32_t reg, int lane) {
  uint64_t got;
  ck_assert_msg(!lane_value(k, warp, reg, lane, &got), "register %d is known", reg);
}

static int32_t alu(Kernel *k, IrOp op, IrType type, int nargs, IrOperand a, IrOperand b,
                   IrOperand c) {
  int32_t dst = ir_reg(&k->b, type, NULL);
  emit(k, op, type, nargs + 1, ir_use(dst), a, b, c);
  return dst;
}

START_TEST(arithmetic_of_section_9_7_1) {
  Kernel k;
  begin(&k);
  IrOperand none = ir_imm(0);
  int32_t minus = alu(&k, IR_sub, S32, 2, ir_imm(3), ir_imm(10), none);
  int32_t quotient = alu(&k, IR_div, S32, 2, ir_use(minus), ir_imm(2), none);
  int32_t rest = alu(&k, IR_rem, S32, 2, ir_use(minus), ir_imm(2), none);
  int32_t high = alu(&k, IR_mulhi, U32, 2, ir_imm(0x80000000), ir_imm(6), none);
  int32_t shifted = alu(&k, IR_shl, U32, 2, ir_imm(1), ir_imm(40), none);
  int32_t arithmetic = alu(&k, IR_shr, S32, 2, ir_use(minus), ir_imm(1), none);
  int32_t field = alu(&k, IR_bfe, U32, 3, ir_imm(0xabcd), ir_imm(4), ir_imm(8));
  int32_t by_zero = alu(&k, IR_div, U32, 2, ir_imm(5), ir_imm(0), none);
  int32_t zeros = alu(&k, IR_clz, U32, 1, ir_imm(0x00ffffff), none, none);
  int32_t wide = ir_reg(&k.b, U64, NULL);
  emit(&k, IR_mulwide, IR_TYPE_S(8), 3, ir_use(wide), ir_use(minus), ir_imm(3))->type2 = S32;
  run(&k, 32);
  expect(&k, 0, minus, 0, 0xfffffff9);
  expect(&k, 0, quotient, 0, 0xfffffffd);
  expect(&k, 0, rest, 0, 0xffffffff);
  expect(&k, 0, high, 0, 3);
  expect(&k, 0, shifted, 0, 0);
  expect(&k, 0, arithmetic, 0, 0xfffffffc);
  expect(&k, 0, field, 0, 0xbc);
  expect(&k, 0, zeros, 0, 8);
  expect(&k, 0, wide, 0, (uint64_t)-21);
  expect_unknown(&k, 0, by_zero, 0);
  end(&k);
}
END_TEST

START_TEST(lop3_prmt_shf_of_section_9_7_8) {
  Kernel k;
  begin(&k);
  int32_t majority = ir_reg(&k.b, U32, NULL), bytes = ir_reg(&k.b, U32, NULL);
  int32_t funnel = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_lop3, U32, 5, ir_use(majority), ir_imm(0xc), ir_imm(0xa), ir_imm(0x6), ir_imm(0xe8));
  emit(&k, IR_prmt, U32, 4, ir_use(bytes), ir_imm(0x33221100), ir_imm(0x77665544), ir_imm(0x7531));
  emit(&k, IR_shf, U32, 4, ir_use(funnel), ir_imm(0x89abcdef), ir_imm(0x01234567), ir_imm(8))->sub =
      IR_SHF_left_wrap;
  run(&k, 32);
  expect(&k, 0, majority, 0, 0xe);
  expect(&k, 0, bytes, 0, 0x77553311);
  expect(&k, 0, funnel, 0, 0x23456789);
  end(&k);
}
END_TEST

START_TEST(unknown_data_flows_and_is_absorbed) {
  Kernel k;
  begin(&k);
  int32_t data = ir_reg(&k.b, U32, NULL), p = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  int32_t q = ir_reg(&k.b, IR_TYPE_PRED, NULL), never = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  emit(&k, IR_havoc, U32, 1, ir_use(data));
  int32_t zero = alu(&k, IR_band, U32, 2, ir_use(data), ir_imm(0), ir_imm(0));
  int32_t same = alu(&k, IR_sub, U32, 2, ir_use(data), ir_use(data), ir_imm(0));
  int32_t more = alu(&k, IR_add, U32, 2, ir_use(data), ir_imm(1), ir_imm(0));
  emit(&k, IR_setp, U32, 4, ir_use(p), ir_use(q), ir_use(data), ir_imm(7))->sub = IR_CMP_lt;
  emit(&k, IR_band, IR_TYPE_PRED, 3, ir_use(never), ir_use(p), ir_imm(0));
  run(&k, 32);
  expect(&k, 0, zero, 3, 0);
  expect(&k, 0, same, 3, 0);
  expect(&k, 0, never, 3, 0);
  expect_unknown(&k, 0, more, 3);
  expect_unknown(&k, 0, p, 3);
  uint64_t name, complement;
  lane_value(&k, 0, p, 0, &name);
  lane_value(&k, 0, q, 0, &complement);
  ck_assert_uint_eq(name ^ 1, complement);
  end(&k);
}
END_TEST

/* r = tid < 5 ? 1 : 2, by a branch */
START_TEST(lanes_diverge_and_meet_again) {
  Kernel k;
  begin(&k);
  int32_t r = ir_reg(&k.b, U32, NULL), p = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  int32_t after = ir_reg(&k.b, U32, NULL);
  int32_t less = ir_label(&k.b), join = ir_label(&k.b);
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_sreg(IR_SREG_tid_x), ir_imm(5))->sub = IR_CMP_lt;
  ir_branch(&k.b, less, p, false);
  emit(&k, IR_mov, U32, 2, ir_use(r), ir_imm(2));
  ir_branch(&k.b, join, -1, false);
  ir_place(&k.b, less);
  emit(&k, IR_mov, U32, 2, ir_use(r), ir_imm(1));
  ir_place(&k.b, join);
  IrOperand mask[] = {ir_as(ir_use(after), IR_ROLE_dst)};
  ir_emit_event(&k.b, IR_EV_activemask, mask, 1, 0);
  run(&k, 64);
  expect(&k, 0, r, 4, 1);
  expect(&k, 0, r, 5, 2);
  expect(&k, 1, r, 0, 2);
  expect(&k, 0, after, 0, 0xffffffff);
  ck_assert_uint_eq(k.machine->warps[0]->alive, 0);
  end(&k);
}
END_TEST

START_TEST(loop_of_lanes_with_different_counts) {
  Kernel k;
  begin(&k);
  int32_t i = ir_reg(&k.b, U32, NULL), p = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  int32_t head = ir_label(&k.b), done = ir_label(&k.b);
  emit(&k, IR_mov, U32, 2, ir_use(i), ir_imm(0));
  ir_place(&k.b, head);
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_use(i), ir_sreg(IR_SREG_laneid))->sub = IR_CMP_ge;
  ir_branch(&k.b, done, p, false);
  emit(&k, IR_add, U32, 3, ir_use(i), ir_use(i), ir_imm(1));
  ir_branch(&k.b, head, -1, false);
  ir_place(&k.b, done);
  run(&k, 32);
  for (int lane = 0; lane < 32; lane++)
    expect(&k, 0, i, lane, (uint64_t)lane);
  end(&k);
}
END_TEST

/* Nobody knows which way; what either way writes is unknown, the rest is not. */
START_TEST(unknown_branch_over_plain_code) {
  Kernel k;
  begin(&k);
  int32_t data = ir_reg(&k.b, U32, NULL), p = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  int32_t written = ir_reg(&k.b, U32, NULL), kept = ir_reg(&k.b, U32, NULL);
  int32_t join = ir_label(&k.b);
  emit(&k, IR_mov, U32, 2, ir_use(written), ir_imm(1));
  emit(&k, IR_mov, U32, 2, ir_use(kept), ir_imm(1));
  emit(&k, IR_havoc, U32, 1, ir_use(data));
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_use(data), ir_imm(0))->sub = IR_CMP_eq;
  ir_branch(&k.b, join, p, false);
  emit(&k, IR_mov, U32, 2, ir_use(written), ir_imm(2));
  ir_place(&k.b, join);
  emit(&k, IR_add, U32, 3, ir_use(kept), ir_use(kept), ir_imm(1));
  run(&k, 32);
  expect_unknown(&k, 0, written, 0);
  expect(&k, 0, kept, 0, 2);
  end(&k);
}
END_TEST

START_TEST(cells_of_different_width_share_bytes) {
  Kernel k;
  begin(&k);
  uint64_t at = ir_local(&k.b, 16, 8);
  int32_t whole = ir_cell(&k.b, at, U64), low = ir_cell(&k.b, at, U32);
  int32_t high = ir_cell(&k.b, at + 4, U32), loaded = ir_reg(&k.b, IR_TYPE_U(2), NULL);
  int32_t address = ir_reg(&k.b, U64, NULL), element = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_mov, U64, 2, ir_use(whole), ir_imm(0x1122334455667788));
  emit(&k, IR_mov, U32, 2, ir_use(low), ir_imm(0x99));
  emit(&k, IR_load, IR_TYPE_U(2), 2, ir_use(loaded), ir_imm((int64_t)at + 6))->space =
      IR_SPACE_GENERIC;
  /* An array element found at run time: local[8 + 4 * (lane & 1)] = lane */
  int32_t bit = alu(&k, IR_band, U64, 2, ir_sreg(IR_SREG_laneid), ir_imm(1), ir_imm(0));
  emit(&k, IR_mad, U64, 4, ir_use(address), ir_use(bit), ir_imm(4), ir_imm((int64_t)at + 8));
  emit(&k, IR_store, U32, 2, ir_use(address), ir_sreg(IR_SREG_laneid))->space = IR_SPACE_LOCAL;
  emit(&k, IR_load, U32, 2, ir_use(element), ir_use(address))->space = IR_SPACE_LOCAL;
  run(&k, 32);
  expect(&k, 0, high, 0, 0x11223344);
  expect(&k, 0, whole, 0, 0x1122334400000099);
  expect(&k, 0, loaded, 0, 0x1122);
  for (int lane = 0; lane < 32; lane++)
    expect(&k, 0, element, lane, (uint64_t)lane);
  end(&k);
}
END_TEST

static int32_t shared_object(Kernel *k, uint64_t bytes) {
  IrObject object = {.name = "s", .space = IR_SPACE_SHARED, .bytes = bytes, .align = 16};
  return ir_object(&k->b, object);
}

START_TEST(shared_memory_keeps_what_is_known) {
  Kernel k;
  begin(&k);
  int32_t s = shared_object(&k, 256), r = ir_reg(&k.b, U32, NULL), data = ir_reg(&k.b, U32, NULL);
  int32_t byte = ir_reg(&k.b, IR_TYPE_U(1), NULL), gone = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_store, U32, 2, ir_object_address(s, 8), ir_imm(0x01020304))->space = IR_SPACE_SHARED;
  emit(&k, IR_load, U32, 2, ir_use(r), ir_object_address(s, 8))->space = IR_SPACE_GENERIC;
  emit(&k, IR_load, IR_TYPE_U(1), 2, ir_use(byte), ir_object_address(s, 10))->space =
      IR_SPACE_SHARED;
  emit(&k, IR_havoc, U32, 1, ir_use(data));
  emit(&k, IR_store, U32, 2, ir_object_address(s, 8), ir_use(data))->space = IR_SPACE_SHARED;
  emit(&k, IR_load, U32, 2, ir_use(gone), ir_object_address(s, 8))->space = IR_SPACE_SHARED;
  run(&k, 32);
  expect(&k, 0, r, 0, 0x01020304);
  expect(&k, 0, byte, 0, 2);
  expect_unknown(&k, 0, gone, 0);
  end(&k);
}
END_TEST

START_TEST(atomics_count_from_zero) {
  Kernel k;
  begin(&k);
  int32_t old = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_atom, U32, 3, ir_use(old), ir_imm((int64_t)IR_GLOBAL_BASE), ir_imm(1))->sub =
      IR_ATOM_add;
  run(&k, 64);
  expect(&k, 0, old, 0, 0);
  expect(&k, 0, old, 31, 31);
  expect(&k, 1, old, 31, 63);
  end(&k);
}
END_TEST

static void shfl(Kernel *k, IrShuffle how, int32_t dst, IrOperand value, int64_t lane,
                 int64_t clamp) {
  IrOperand args[] = {ir_as(ir_use(dst), IR_ROLE_dst), ir_as(value, IR_ROLE_value),
                      ir_as(ir_imm(lane), IR_ROLE_lane), ir_as(ir_imm(clamp), IR_ROLE_clamp),
                      ir_as(ir_imm(0xffffffff), IR_ROLE_mask)};
  ir_emit_event(&k->b, IR_EV_shfl, args, 5, 0)->sub = (uint8_t)how;
}

START_TEST(shuffles_of_section_9_7_9_6) {
  Kernel k;
  begin(&k);
  IrOperand lane = ir_sreg(IR_SREG_laneid);
  int32_t idx = ir_reg(&k.b, U32, NULL), up = ir_reg(&k.b, U32, NULL);
  int32_t bfly = ir_reg(&k.b, U32, NULL), down8 = ir_reg(&k.b, U32, NULL);
  shfl(&k, IR_SHFL_idx, idx, lane, 3, 31);
  shfl(&k, IR_SHFL_up, up, lane, 2, 0);
  shfl(&k, IR_SHFL_bfly, bfly, lane, 16, 31);
  shfl(&k, IR_SHFL_down, down8, lane, 4, 24 << 8 | 31); /* width 8 */
  run(&k, 32);
  expect(&k, 0, idx, 17, 3);
  expect(&k, 0, up, 1, 1);
  expect(&k, 0, up, 9, 7);
  expect(&k, 0, bfly, 1, 17);
  expect(&k, 0, down8, 1, 5);
  expect(&k, 0, down8, 5, 5);
  end(&k);
}
END_TEST

START_TEST(votes_of_section_9_7_13) {
  Kernel k;
  begin(&k);
  int32_t p = ir_reg(&k.b, IR_TYPE_PRED, NULL), ballot = ir_reg(&k.b, U32, NULL);
  int32_t any = ir_reg(&k.b, IR_TYPE_PRED, NULL), all = ir_reg(&k.b, IR_TYPE_PRED, NULL);
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_sreg(IR_SREG_laneid), ir_imm(4))->sub = IR_CMP_lt;
  int32_t dst[] = {ballot, any, all};
  IrVote how[] = {IR_VOTE_ballot, IR_VOTE_any, IR_VOTE_all};
  for (int i = 0; i < 3; i++) {
    IrOperand args[] = {ir_as(ir_use(dst[i]), IR_ROLE_dst), ir_as(ir_use(p), IR_ROLE_value),
                        ir_as(ir_imm(0xffffffff), IR_ROLE_mask)};
    ir_emit_event(&k.b, IR_EV_vote, args, 3, 0)->sub = (uint8_t)how[i];
  }
  run(&k, 32);
  expect(&k, 0, ballot, 0, 0xf);
  expect(&k, 0, any, 0, 1);
  expect(&k, 0, all, 0, 0);
  end(&k);
}
END_TEST

START_TEST(elect_picks_one_lane_section_9_7_13_15) {
  Kernel k;
  begin(&k);
  int32_t p = ir_reg(&k.b, IR_TYPE_PRED, NULL), leader = ir_reg(&k.b, U32, NULL);
  IrOperand args[] = {ir_as(ir_use(leader), IR_ROLE_dst), ir_as(ir_use(p), IR_ROLE_pred),
                      ir_as(ir_imm(0xffffffff), IR_ROLE_mask)};
  ir_emit_event(&k.b, IR_EV_elect, args, 3, 0);
  run(&k, 32);
  expect(&k, 0, leader, 9, 0);
  expect(&k, 0, p, 0, 1);
  expect(&k, 0, p, 1, 0);
  end(&k);
}
END_TEST

/* Half of the warp runs a shuffle that names all lanes, the other half another one: they never
 * meet. */
START_TEST(converge_waits_for_the_missing_lanes) {
  Kernel k;
  begin(&k);
  int32_t p = ir_reg(&k.b, IR_TYPE_PRED, NULL), r = ir_reg(&k.b, U32, NULL);
  int32_t other = ir_label(&k.b), join = ir_label(&k.b);
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_sreg(IR_SREG_laneid), ir_imm(16))->sub = IR_CMP_lt;
  ir_branch(&k.b, other, p, false);
  shfl(&k, IR_SHFL_idx, r, ir_imm(1), 0, 31);
  ir_branch(&k.b, join, -1, false);
  ir_place(&k.b, other);
  shfl(&k, IR_SHFL_idx, r, ir_imm(2), 0, 31);
  ir_place(&k.b, join);
  run(&k, 32);
  ck_assert(k.machine->stuck);
  ck_assert_int_eq(k.machine->warps[0]->nstrands, 2);
  ck_assert_str_eq(k.machine->warps[0]->strands[0]->blocked, "converge");
  end(&k);
}
END_TEST

START_TEST(lagging_lanes_stay_apart_until_they_must_meet) {
  Kernel k;
  begin(&k);
  int32_t p = ir_reg(&k.b, IR_TYPE_PRED, NULL), mask = ir_reg(&k.b, U32, NULL);
  int32_t met = ir_reg(&k.b, U32, NULL), join = ir_label(&k.b), r = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_sreg(IR_SREG_laneid), ir_imm(0))->sub = IR_CMP_ne;
  ir_branch(&k.b, join, p, false);
  emit(&k, IR_mov, U32, 2, ir_use(r), ir_imm(2));
  ir_place(&k.b, join);
  IrOperand first[] = {ir_as(ir_use(mask), IR_ROLE_dst)},
            last[] = {ir_as(ir_use(met), IR_ROLE_dst)};
  ir_emit_event(&k.b, IR_EV_activemask, first, 1, 0);
  shfl(&k, IR_SHFL_idx, r, ir_imm(1), 0, 31);
  ir_emit_event(&k.b, IR_EV_activemask, last, 1, 0);
  run_schedule(&k, 32, 1, MACHINE_LAG);
  expect(&k, 0, mask, 0, 1);
  expect(&k, 0, mask, 1, 0xfffffffe);
  expect(&k, 0, met, 0, 0xffffffff);
  ck_assert(!k.machine->stuck);
  end(&k);
}
END_TEST

START_TEST(polling_a_word_that_nobody_writes_ends) {
  Kernel k;
  begin(&k);
  int32_t s = shared_object(&k, 16), v = ir_reg(&k.b, U32, NULL);
  int32_t p = ir_reg(&k.b, IR_TYPE_PRED, NULL), again = ir_label(&k.b);
  emit(&k, IR_store, U32, 2, ir_object_address(s, 0), ir_imm(0))->space = IR_SPACE_SHARED;
  ir_place(&k.b, again);
  emit(&k, IR_load, U32, 2, ir_use(v), ir_object_address(s, 0))->space = IR_SPACE_SHARED;
  emit(&k, IR_setp, U32, 3, ir_use(p), ir_use(v), ir_imm(0))->sub = IR_CMP_eq;
  ir_branch(&k.b, again, p, false);
  k.options.max_steps = 10000000;
  ir_finish(&k.b);
  core_session_init(&k.session, k.arena, k.program, k.kernel, NULL, &k.options);
  k.session.shared_bytes = 4096;
  k.sample = (MachineSample){.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
  k.machine = core_machine_new(&k.session, &k.sample, MACHINE_EAGER, 10000000);
  protocol_init(k.machine);
  core_schedule(k.machine);
  ck_assert(k.machine->stuck);
  ck_assert_str_eq(k.machine->warps[0]->strands[0]->blocked, "polling");
  ck_assert_uint_lt(k.machine->step, 1000000);
  end(&k);
}
END_TEST

/* for (i = start; i < bound; i += step) { body } ; `body` emits between compare and step. */
static void counted_loop(Kernel *k, int32_t i, IrOperand start, IrOperand bound, int64_t step,
                         void (*body)(Kernel *k, int32_t i, void *user), void *user) {
  int32_t p = ir_reg(&k->b, IR_TYPE_PRED, NULL);
  int32_t head = ir_label(&k->b), done = ir_label(&k->b);
  emit(k, IR_mov, S32, 2, ir_use(i), start);
  ir_place(&k->b, head);
  emit(k, IR_setp, S32, 3, ir_use(p), ir_use(i), bound)->sub = IR_CMP_lt;
  ir_branch(&k->b, done, p, true);
  body(k, i, user);
  emit(k, IR_add, S32, 3, ir_use(i), ir_use(i), ir_imm(step));
  ir_branch(&k->b, head, -1, false);
  ir_place(&k->b, done);
}

static void grow_pointer(Kernel *k, int32_t i, void *user) {
  const int32_t *reg = user; /* pointer, last index seen */
  emit(k, IR_add, U64, 3, ir_use(reg[0]), ir_use(reg[0]), ir_imm(16));
  emit(k, IR_mov, S32, 2, ir_use(reg[1]), ir_use(i));
}

START_TEST(rounds_that_show_nothing_are_computed) {
  Kernel k;
  begin(&k);
  int32_t i = ir_reg(&k.b, S32, NULL), reg[2] = {ir_reg(&k.b, U64, NULL), ir_reg(&k.b, S32, NULL)};
  emit(&k, IR_mov, U64, 2, ir_use(reg[0]), ir_sreg(IR_SREG_laneid));
  counted_loop(&k, i, ir_sreg(IR_SREG_tid_x), ir_imm(12800), 128, grow_pointer, reg);
  run(&k, 64);
  expect(&k, 1, i, 3, 12800 + 35);
  expect(&k, 1, reg[0], 3, 3 + 16 * 100);
  expect(&k, 1, reg[1], 3, 99 * 128 + 35);
  ck_assert_uint_lt(k.machine->step, 100);
  end(&k);
}
END_TEST

static void flip_phase(Kernel *k, int32_t i, void *user) {
  int32_t phase = *(const int32_t *)user;
  (void)i;
  emit(k, IR_bxor, U32, 3, ir_use(phase), ir_use(phase), ir_imm(1));
}

START_TEST(rounds_of_a_phase_are_not_guessed) {
  Kernel k;
  begin(&k);
  int32_t i = ir_reg(&k.b, S32, NULL), phase = ir_reg(&k.b, U32, NULL);
  emit(&k, IR_mov, U32, 2, ir_use(phase), ir_imm(0));
  counted_loop(&k, i, ir_imm(0), ir_imm(101), 1, flip_phase, &phase);
  run(&k, 32);
  expect(&k, 0, i, 0, 101);
  expect(&k, 0, phase, 0, 1);
  end(&k);
}
END_TEST

static void find_index(Kernel *k, int32_t i, void *user) {
  int32_t found = *(const int32_t *)user, p = ir_reg(&k->b, IR_TYPE_PRED, NULL);
  int32_t skip = ir_label(&k->b);
  emit(k, IR_setp, S32, 3, ir_use(p), ir_use(i), ir_imm(50))->sub = IR_CMP_ne;
  ir_branch(&k->b, skip, p, false);
  emit(k, IR_mov, S32, 2, ir_use(found), ir_use(i));
  ir_place(&k->b, skip);
}

START_TEST(a_rare_round_is_not_passed_over) {
  Kernel k;
  begin(&k);
  int32_t i = ir_reg(&k.b, S32, NULL), found = ir_reg(&k.b, S32, NULL);
  emit(&k, IR_mov, S32, 2, ir_use(found), ir_imm(-1));
  counted_loop(&k, i, ir_imm(0), ir_imm(100), 1, find_index, &found);
  int32_t copy = alu(&k, IR_add, S32, 2, ir_use(found), ir_imm(0), ir_imm(0));
  run(&k, 32);
  expect(&k, 0, copy, 0, 50);
  end(&k);
}
END_TEST

static void fill_array(Kernel *k, int32_t i, void *user) {
  const uint64_t *array = user;
  int32_t address = ir_reg(&k->b, U64, NULL);
  IrInsn *mad =
      emit(k, IR_madwide, U64, 4, ir_use(address), ir_use(i), ir_imm(4), ir_imm((int64_t)*array));
  mad->type2 = S32;
  emit(k, IR_store, S32, 2, ir_use(address), ir_use(i))->space = IR_SPACE_LOCAL;
}

START_TEST(every_element_of_a_local_array_is_stored) {
  Kernel k;
  begin(&k);
  uint64_t array = ir_local(&k.b, 64 * 4, 4);
  int32_t i = ir_reg(&k.b, S32, NULL), element = ir_reg(&k.b, S32, NULL);
  counted_loop(&k, i, ir_imm(0), ir_imm(64), 1, fill_array, &array);
  emit(&k, IR_load, S32, 2, ir_use(element), ir_imm((int64_t)array + 4 * 30))->space =
      IR_SPACE_LOCAL;
  run(&k, 32);
  expect(&k, 0, element, 0, 30);
  end(&k);
}
END_TEST

START_TEST(special_registers_of_a_cluster) {
  Kernel k;
  begin(&k);
  int32_t rank = ir_reg(&k.b, U32, NULL), ctaid = ir_reg(&k.b, U32, NULL);
  int32_t tid = ir_reg(&k.b, U32, NULL), address = ir_reg(&k.b, U32, NULL);
  int32_t s = shared_object(&k, 16);
  emit(&k, IR_mov, U32, 2, ir_use(rank), ir_sreg(IR_SREG_cluster_ctarank));
  emit(&k, IR_mov, U32, 2, ir_use(ctaid), ir_sreg(IR_SREG_ctaid_x));
  emit(&k, IR_mov, U32, 2, ir_use(tid), ir_sreg(IR_SREG_tid_x));
  IrInsn *cvta = emit(&k, IR_cvta, U32, 2, ir_use(address), ir_object_address(s, 4));
  cvta->space = IR_SPACE_SHARED;
  cvta->sub = 1;
  run_schedule(&k, 64, 2, MACHINE_EAGER);
  expect(&k, 3, rank, 0, 1);
  expect(&k, 3, ctaid, 0, 1);
  expect(&k, 3, tid, 31, 63);
  expect(&k, 3, address, 0, 1 << 24 | (CORE_SHARED_RESERVED + 4));
  end(&k);
}
END_TEST

static bool small_value(const char *name, void *user, int64_t *out) {
  (void)user;
  *out = name[0] == 'K' ? 576 : 7;
  return name[0] == 'K' || name[0] == 'm';
}

START_TEST(assumptions_are_c_expressions) {
  static const struct {
    const char *text;
    bool readable, holds;
  } cases[] = {
      {"K % 64 == 0 && K >= 64", true, true},
      {"K / 2 * 2 != 576 || m < 3", true, false},
      {"(K >> 6) == 9", true, true},
      {"!(m & 8)", true, true},
      {"1 + 2 * 3 == 7", true, true},
      {"-m < 0x10u", true, true},
      {"K %", false, false},
      {"unknown > 1", false, false},
      {"K / 0", false, false},
      {"", false, false},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    bool ok = false;
    bool readable = assume_evaluate(cases[i].text, small_value, NULL, &ok);
    ck_assert_msg(readable == cases[i].readable, "%s", cases[i].text);
    if (readable) ck_assert_msg(ok == cases[i].holds, "%s", cases[i].text);
  }
}
END_TEST

Suite *test_suite(void);

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/interp");
  TCase *tc = tcase_create("interp");
  tcase_add_test(tc, arithmetic_of_section_9_7_1);
  tcase_add_test(tc, lop3_prmt_shf_of_section_9_7_8);
  tcase_add_test(tc, unknown_data_flows_and_is_absorbed);
  tcase_add_test(tc, lanes_diverge_and_meet_again);
  tcase_add_test(tc, loop_of_lanes_with_different_counts);
  tcase_add_test(tc, unknown_branch_over_plain_code);
  tcase_add_test(tc, cells_of_different_width_share_bytes);
  tcase_add_test(tc, shared_memory_keeps_what_is_known);
  tcase_add_test(tc, atomics_count_from_zero);
  tcase_add_test(tc, shuffles_of_section_9_7_9_6);
  tcase_add_test(tc, votes_of_section_9_7_13);
  tcase_add_test(tc, elect_picks_one_lane_section_9_7_13_15);
  tcase_add_test(tc, converge_waits_for_the_missing_lanes);
  tcase_add_test(tc, lagging_lanes_stay_apart_until_they_must_meet);
  tcase_add_test(tc, polling_a_word_that_nobody_writes_ends);
  tcase_add_test(tc, rounds_that_show_nothing_are_computed);
  tcase_add_test(tc, rounds_of_a_phase_are_not_guessed);
  tcase_add_test(tc, a_rare_round_is_not_passed_over);
  tcase_add_test(tc, every_element_of_a_local_array_is_stored);
  tcase_add_test(tc, special_registers_of_a_cluster);
  tcase_add_test(tc, assumptions_are_c_expressions);
  suite_add_tcase(suite, tc);
  return suite;
}
