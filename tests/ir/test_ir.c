/* The verifier, the printer and the names of places. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "ir/ir.h"
#include "support/error.h"

Suite *test_suite(void);

typedef struct Fixture {
  KcArena *arena;
  IrProgram *program;
  IrKernel *kernel;
  IrBuilder b;
} Fixture;

static Fixture fixture(void) {
  Fixture f = {.arena = kc_arena_new()};
  f.program = ir_program_new(f.arena, "a.cu", "sm_90a");
  f.kernel = ir_kernel_new(f.program, "k", false);
  ir_builder_init(&f.b, f.program, f.kernel);
  SourceRange range = {1, 12, 3, 12, 9};
  f.b.where = source_stack(&f.program->sources, range, 0, "k");
  return f;
}

/* a loop over a barrier, as a front end writes it */
static void emit_loop(Fixture *f) {
  int32_t object =
      ir_object(&f->b, (IrObject){.name = "full", .space = IR_SPACE_SHARED, .bytes = 32});
  int32_t i = ir_reg(&f->b, IR_TYPE_U(4), "i"), p = ir_reg(&f->b, IR_TYPE_PRED, NULL);
  int32_t top = ir_label(&f->b);
  IrOperand zero[2] = {ir_use(i), ir_imm(0)};
  ir_emit(&f->b, IR_mov, IR_TYPE_U(4), zero, 2);
  ir_place(&f->b, top);
  IrOperand arrive[2] = {ir_as(ir_object_address(object, 8), IR_ROLE_addr),
                         ir_as(ir_imm(16384), IR_ROLE_bytes)};
  IrInsn *event = ir_emit_event(&f->b, IR_EV_mbarrier_arrive, arrive, 2, IR_FLAG(expect_tx));
  event->space = IR_SPACE_SHARED;
  IrOperand add[3] = {ir_use(i), ir_use(i), ir_imm(1)};
  ir_emit(&f->b, IR_add, IR_TYPE_U(4), add, 3);
  IrOperand compare[3] = {ir_use(p), ir_use(i), ir_imm(4)};
  ir_emit(&f->b, IR_setp, IR_TYPE_S(4), compare, 3)->sub = IR_CMP_lt;
  ir_branch(&f->b, top, p, false);
  ir_finish(&f->b);
}

START_TEST(printing_a_kernel) {
  Fixture f = fixture();
  emit_loop(&f);
  g_autofree char *text = ir_print_kernel(f.program, f.kernel);
  ck_assert_ptr_nonnull(strstr(text, "kernel k\n"));
  ck_assert_ptr_nonnull(strstr(text, "     0  mov.u32 r0(i), 0  ; a.cu:12\n"));
  ck_assert_ptr_nonnull(
      strstr(text, ">    1  mbarrier_arrive shared addr=&full+8, bytes=16384 [expect_tx]"));
  ck_assert_ptr_nonnull(strstr(text, "@r1 branch -> 1 (joins at 5)"));
  ck_assert_ptr_nonnull(strstr(text, "setp.lt.s32 r1, r0(i), 4"));
  kc_arena_free(f.arena);
}
END_TEST

START_TEST(verifying_a_sound_kernel) {
  Fixture f = fixture();
  emit_loop(&f);
  KcError error = {0};
  ck_assert(ir_verify(f.program, &error));
  kc_arena_free(f.arena);
}
END_TEST

static void no_such_register(IrKernel *kernel) {
  ((IrOperand *)kernel->insns.items[2].args)[1].id = 99;
}
static void no_such_object(IrKernel *kernel) {
  ((IrOperand *)kernel->insns.items[1].args)[0].id = 7;
}
static void branch_into_the_blue(IrKernel *kernel) {
  kernel->insns.items[4].target = 3;
}
static void too_few_operands(IrKernel *kernel) {
  kernel->insns.items[2].nargs = 2;
}
static void event_without_name(IrKernel *kernel) {
  kernel->insns.items[1].event = IR_EV_none;
}
static void no_final_exit(IrKernel *kernel) {
  kernel->insns.count--;
}
static void no_such_place(IrKernel *kernel) {
  kernel->insns.items[0].where = 77;
}
static void no_such_guard(IrKernel *kernel) {
  kernel->insns.items[0].guard = 55;
}

static void (*const damages[])(IrKernel *) = {
    no_such_register,   no_such_object, branch_into_the_blue, too_few_operands,
    event_without_name, no_final_exit,  no_such_place,        no_such_guard};

/* a release build says what is wrong; a debug build stops there and then */
START_TEST(verifying_a_damaged_kernel) {
#ifdef NDEBUG
  Fixture f = fixture();
  emit_loop(&f);
  damages[_i](f.kernel);
  KcError error = {0};
  ck_assert(!ir_verify(f.program, &error));
  ck_assert_ptr_nonnull(error.message);
  kc_error_clear(&error);
  kc_arena_free(f.arena);
#else
  (void)damages;
#endif
}
END_TEST

START_TEST(places_in_objects) {
  Fixture f = fixture();
  IrObject object = {.name = "smem", .bytes = 4096};
  IrField a = {.offset = 0, .elem_bytes = 1024, .count = 2, .name = "s.a"};
  IrField bar = {.offset = 2048, .elem_bytes = 8, .count = 4, .name = "full"};
  IrField slot = {.offset = 2080, .elem_bytes = 4, .count = 1, .name = "slot"};
  KC_PUSH(f.arena, object.fields, a);
  KC_PUSH(f.arena, object.fields, bar);
  KC_PUSH(f.arena, object.fields, slot);
  ck_assert_str_eq(ir_object_place(f.arena, &object, 1024), "s.a[1]");
  ck_assert_str_eq(ir_object_place(f.arena, &object, 1040), "s.a[1]+0x10");
  ck_assert_str_eq(ir_object_place(f.arena, &object, 2064), "full[2]");
  ck_assert_str_eq(ir_object_place(f.arena, &object, 2080), "slot");
  ck_assert_str_eq(ir_object_place(f.arena, &object, 3000), "smem+0xbb8");
  kc_arena_free(f.arena);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("ir: print, verify, places");
  TCase *tcase = tcase_create("ir");
  tcase_add_test(tcase, printing_a_kernel);
  tcase_add_test(tcase, verifying_a_sound_kernel);
  tcase_add_loop_test(tcase, verifying_a_damaged_kernel, 0,
                      (int)(sizeof damages / sizeof *damages));
  tcase_add_test(tcase, places_in_objects);
  suite_add_tcase(suite, tcase);
  return suite;
}
