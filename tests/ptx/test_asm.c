/* asm statements: parsing, scopes, operands, events, carets. */
#include <check.h>
#include <stdlib.h>

#include <glib.h>

#include "lowering.h"

Suite *test_suite(void);

#define ASM(...)                                                                                   \
  (const char *const[]) {                                                                          \
    __VA_ARGS__, NULL                                                                              \
  }

/* PTX ISA 9.7.13.15.16: a wait loop with labels that the braces make private */
START_TEST(wait_loop_has_private_labels) {
  const char *text = "{\n.reg .pred P1;\nLAB_WAIT:\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
                     "@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}\n"
                     "{ .reg .pred P1; LAB_WAIT: mbarrier.try_wait.parity.shared::cta.b64 P1, "
                     "[%0+8], %1; @!P1 bra LAB_WAIT; }";
  Lowered l = lower_asm("sm_90a", text, ASM("r", "r"));
  ck_assert(l.parsed);
  ck_assert_int_eq(l.violations.list.count, 0);
  ck_assert_int_eq(l.kernel->notes.count, 0);
  ck_assert_int_eq(l.kernel->lowered_asm, 1);
  ck_assert_int_eq(insn_at(&l, 0)->event, IR_EV_mbarrier_try_wait);
  ck_assert(insn_at(&l, 0)->flags & IR_FLAG(parity));
  ck_assert_int_eq(insn_at(&l, 1)->op, IR_branch);
  ck_assert_int_eq(insn_at(&l, 1)->target, 3);
  ck_assert_int_eq(insn_at(&l, 2)->target, 0);
  ck_assert_int_eq(insn_at(&l, 4)->target, 3);
  ck_assert(insn_at(&l, 4)->guard_negated);
  ck_assert_int_eq(ir_arg(insn_at(&l, 3), IR_ROLE_addr)->value, 8);
  /* the two P1 are different registers */
  ck_assert_int_ne(insn_at(&l, 1)->guard, insn_at(&l, 4)->guard);
  lowered_free(&l);
}
END_TEST

/* PTX ISA 9.7.9.25.5.2: coordinates, mask and cache policy find their roles in any order of
 * modifiers */
START_TEST(tensor_load_binds_roles) {
  const char *text = "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.mbarrier::"
                     "complete_tx::bytes.multicast::cluster.L2::cache_hint [%0], [%1, {%3, %4, 0}],"
                     " [%2], %5, %6;";
  Lowered l = lower_asm("sm_100a", text, ASM("r", "l", "r", "r", "r", "h", "l"));
  ck_assert_int_eq(l.violations.list.count, 0);
  const IrInsn *insn = insn_at(&l, 0);
  ck_assert_int_eq(insn->event, IR_EV_bulk_tensor_load);
  ck_assert_int_eq(insn->space, IR_SPACE_SHARED_CLUSTER);
  ck_assert_int_eq(insn->src_space, IR_SPACE_GLOBAL);
  ck_assert_int_eq(insn->shape.dim, 3);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_dst_addr)->id, 0);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_map)->id, 1);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_mbar)->id, 2);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_mask)->id, 5);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_coords)->count, 3);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_coords)->list[2].kind, IR_OPD_IMM);
  ck_assert(insn->flags & IR_FLAG(multicast));
  ck_assert(insn->flags & IR_FLAG(cta_group2));
  ck_assert_str_eq(insn->text, "operand2");
  lowered_free(&l);
}
END_TEST

/* PTX ISA 9.7.15.5.2: accumulators in flight are the registers written */
START_TEST(wgmma_keeps_its_accumulators) {
  const char *text = "{ .reg .pred p; setp.ne.b32 p, %6, 0;\n"
                     "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
                     "{%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 1; }";
  Lowered l = lower_asm("sm_90a", text, ASM("+f", "+f", "+f", "+f", "l", "l", "r"));
  ck_assert_int_eq(l.violations.list.count, 0);
  ck_assert_int_eq(insn_at(&l, 0)->op, IR_setp);
  const IrInsn *insn = insn_at(&l, 1);
  ck_assert_int_eq(insn->event, IR_EV_wgmma_mma);
  ck_assert_int_eq(insn->shape.m, 64);
  ck_assert_int_eq(insn->shape.n, 8);
  ck_assert_int_eq(insn->shape.k, 16);
  ck_assert_int_eq(insn->shape.d_type, IR_DATA_f32);
  ck_assert_int_eq(insn->shape.a_type, IR_DATA_bf16);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_acc)->count, 4);
  ck_assert_int_eq(ir_arg(insn, IR_ROLE_acc)->list[3].id, 3);
  ck_assert(insn->flags & IR_FLAG(trans_b));
  ck_assert(!(insn->flags & IR_FLAG(trans_a)));
  lowered_free(&l);
}
END_TEST

/* "n" operands are substituted before parsing, inside modifiers too */
START_TEST(immediates_stand_in_modifiers) {
  const char *text = "tcgen05.mma.cta_group::%4.kind::f16 [%0], %1, %2, %3, 1;";
  Lowered l = lower_asm("sm_100a", text, ASM("r", "l", "l", "r", "n=2"));
  ck_assert_int_eq(l.violations.list.count, 0);
  ck_assert(insn_at(&l, 0)->flags & IR_FLAG(cta_group2));
  ck_assert_int_eq(insn_at(&l, 0)->shape.kind, IR_KIND_f16);
  ck_assert_str_eq(l.kernel->asms.items[0].text,
                   "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, 1;");
  lowered_free(&l);
}
END_TEST

/* %%name and %name both mean a PTX name; the opcode may touch its brace */
START_TEST(spellings_of_names) {
  const char *text = "{.reg .b32 %%ra; mov.u32 %%ra, %%tid.x; add.u32 %0, %ra, %laneid; "
                     "tcgen05.ld.sync.aligned.32x32b.x2.b32{%0, _}, [%1]; }";
  Lowered l = lower_asm("sm_100a", text, ASM("=r", "r"));
  ck_assert(l.parsed);
  ck_assert_int_eq(insn_at(&l, 0)->args[1].kind, IR_OPD_SPECIAL);
  ck_assert_int_eq(insn_at(&l, 0)->args[1].id, IR_SREG_tid_x);
  ck_assert_int_eq(insn_at(&l, 1)->args[2].id, IR_SREG_laneid);
  ck_assert_int_eq(insn_at(&l, 1)->args[1].id, insn_at(&l, 0)->args[0].id);
  lowered_free(&l);
}
END_TEST

/* integers compute; floats only read and write */
START_TEST(plain_instructions) {
  const char *text =
      "{ .reg .b64 q; .reg .pred a, b; .reg .f32 x;\n"
      "mov.b64 q, {%1, %2}; mov.b64 {%0, %0}, q;\n"
      "mad.lo.u32 %0, %1, %2, 0x10; mul.wide.u32 q, %1, 0b11; shl.b32 %0, %1, 4;\n"
      "setp.lt.and.s32 a|b, %1, -3, a; selp.b32 %0, 1, 0, !a; lop3.b32 %0, %1, %2, 7, 0x96;\n"
      "cvt.u64.u32 q, %1; cvta.to.shared.u64 q, q; @!a add.s32 %0, %1, 1;\n"
      "fma.rn.f32 x, x, 0f3F800000, 1.5e-3; cvt.rn.f32.u32 x, %1; /* c */ // d\n"
      "ld.shared::cluster.v2.u32 {%0, %0}, [%1 + 4]; st.release.gpu.global.u32 [q], %1;\n"
      "atom.add.acquire.cta.shared.u32 %0, [%1], 1; red.global.max.s32 [q+8], %2; }";
  Lowered l = lower_asm("sm_90a", text, ASM("=r", "r", "r"));
  ck_assert_msg(l.parsed, "%s", l.violations.list.count ? l.violations.list.items[0]->message : "");
  ck_assert_int_eq(l.kernel->notes.count, 0);
  static const IrOp ops[] = {IR_pack, IR_unpack, IR_mad,  IR_mulwide, IR_shl,
                             IR_setp, IR_band,   IR_band, IR_select,  IR_lop3,
                             IR_cvt,  IR_cvta,   IR_add,  IR_opaque,  IR_opaque,
                             IR_load, IR_store,  IR_atom, IR_atom,    IR_exit};
  for (int i = 0; i < (int)(sizeof ops / sizeof *ops); i++)
    ck_assert_msg(insn_at(&l, i)->op == ops[i], "instruction %d is %s, not %s", i,
                  ir_op_name((IrOp)insn_at(&l, i)->op), ir_op_name(ops[i]));
  ck_assert_int_eq(insn_at(&l, 5)->sub, IR_CMP_lt);
  ck_assert_int_eq(insn_at(&l, 5)->args[3].value, -3);
  ck_assert(insn_at(&l, 8)->args[3].negated);
  ck_assert_int_ge(insn_at(&l, 12)->guard, 0);
  ck_assert(insn_at(&l, 12)->guard_negated);
  ck_assert_int_eq(insn_at(&l, 15)->sub, 2);
  ck_assert_int_eq(insn_at(&l, 15)->space, IR_SPACE_SHARED_CLUSTER);
  ck_assert(insn_at(&l, 16)->flags & IR_FLAG(release));
  ck_assert(insn_at(&l, 16)->flags & IR_FLAG(scope_gpu));
  ck_assert_int_eq(insn_at(&l, 17)->sub, IR_ATOM_add);
  ck_assert_int_eq(insn_at(&l, 18)->args[0].kind, IR_OPD_SINK);
  ck_assert_int_eq(insn_at(&l, 18)->args[1].value, 8);
  lowered_free(&l);
}
END_TEST

/* PTX ISA 9.7.14.8, 9.7.9.6, 9.7.13.9: pairs of destinations */
START_TEST(warp_operations) {
  const char *text = "{ .reg .pred p; elect.sync _|p, 0xffffffff; elect.sync %0|p, %1;\n"
                     "shfl.sync.down.b32 %0|p, %1, 4, 0x1f, -1; vote.sync.ballot.b32 %0, !p, %1; }";
  Lowered l = lower_asm("sm_90a", text, ASM("=r", "r"));
  ck_assert_int_eq(l.violations.list.count, 0);
  ck_assert_ptr_null(ir_arg(insn_at(&l, 0), IR_ROLE_dst));
  ck_assert_ptr_nonnull(ir_arg(insn_at(&l, 0), IR_ROLE_pred));
  ck_assert_int_eq(ir_arg(insn_at(&l, 1), IR_ROLE_dst)->id, 0);
  ck_assert_int_eq(insn_at(&l, 2)->sub, IR_SHFL_down);
  ck_assert_int_eq(ir_arg(insn_at(&l, 2), IR_ROLE_lane)->value, 4);
  ck_assert_int_eq(insn_at(&l, 3)->sub, IR_VOTE_ballot);
  ck_assert(ir_arg(insn_at(&l, 3), IR_ROLE_value)->negated);
  lowered_free(&l);
}
END_TEST

typedef struct Fault {
  const char *target, *text, *kind;
  const char *constraints[8];
} Fault;

static const Fault faults[] = {
    {"sm_90a", "mbarrier.arrive.shared::cta.b64 [%0];", "mbarrier-operand-form", {"r"}},
    {"sm_90a",
     "mbarrier.try_wait.parity.acquire.shared::cta.b64 p, [%0], 0;",
     "mbarrier-operand-form",
     {"r"}},
    {"sm_90a",
     "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;",
     "mbarrier-operand-form",
     {"r", "l"}},
    {"sm_90a",
     "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
     "[%1, {%2, %2}], [%0];",
     "tma-operand-form",
     {"r", "l", "r"}},
    {"sm_90a", "cp.async.cg.shared.global [%0], [%1], 8;", "async-copy-form", {"r", "l"}},
    {"sm_90a", "cp.async.wait_group -1;", "async-copy-wait-count-range", {NULL}},
    {"sm_90a", "setmaxnreg.dec.sync.aligned.u32 %0;", "register-setmaxnreg-value", {"n=20"}},
    {"sm_90a",
     "wgmma.mma_async.sync.aligned.m64n20k16.f32.f16.f16 {%0}, %1, %1, 1, 1, 1, 0, 0;",
     "wgmma-shape",
     {"+f", "l"}},
    {"sm_90a", "bar.sync 16;", "barrier-thread-count", {NULL}},
    {"sm_100a",
     "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %1, %1, 1;",
     "tcgen05-operand-types",
     {"r", "l"}},
    {"sm_100a",
     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%0], %1, %1, %0, [%0], [%0], "
     "1;",
     "tcgen05-scale-mode",
     {"r", "l"}},
    {"sm_90a", "clusterctl.try %0;", "arch-unknown-instruction", {"r"}},
    {"sm_90a", "newfamily.try %0;", "none", {"r"}},
    {"sm_90a",
     "mbarrier.wait.parity.shared::cta.b64 p, [%0], 0;",
     "arch-unknown-instruction",
     {"r"}},
    {"sm_90a", "fence.proxy.asnyc;", "arch-unknown-instruction", {NULL}},
    {"sm_90", "wgmma.fence.sync.aligned;", "arch-suffix-required", {NULL}},
    {"sm_100a", "wgmma.fence.sync.aligned;", "arch-feature-absent", {NULL}},
    {"sm_120a", "tcgen05.wait::ld.sync.aligned;", "arch-feature-absent", {NULL}},
    {"sm_100f",
     "tcgen05.mma.cta_group::1.kind::i8 [%0], %1, %1, %0, 1;",
     "arch-suffix-required",
     {"r", "l"}},
    {"sm_90a", "mov.u32 %0, ", "arch-unknown-instruction", {"=r"}},
    {"sm_90a", "ld.shared.u32 %0, [%1 + %1];", "arch-unknown-instruction", {"=r", "r"}},
};

START_TEST(faults_have_kinds) {
  const Fault *fault = &faults[_i];
  g_autofree char *text = g_strdup_printf("{ .reg .pred p; %s }", fault->text);
  Lowered l = lower_asm(fault->target, text, fault->constraints);
  ck_assert_msg(strcmp(kind_at(&l, 0), fault->kind) == 0, "%s: %s", fault->text, kind_at(&l, 0));
  lowered_free(&l);
}
END_TEST

/* a caret of an operand or modifier lies inside the string literal */
START_TEST(carets_point_into_the_string) {
  Lowered l = lower_asm("sm_90a", "bar.sync %0, %1;", ASM("r", "n=100"));
  ck_assert_str_eq(kind_at(&l, 0), "barrier-thread-count");
  SourceRange caret = l.violations.list.items[0]->caret;
  ck_assert_int_eq(caret.line, 7);
  ck_assert_int_eq(caret.column, 11 + 13); /* %1 of the template */
  lowered_free(&l);
  l = lower_asm("sm_90a", "fence.proxy.asnyc;", NULL);
  caret = l.violations.list.items[0]->caret;
  ck_assert_int_eq(caret.column, 11 + 11);
  ck_assert_int_eq(caret.end_column, 11 + 17);
  lowered_free(&l);
}
END_TEST

/* what is not in the table is said, never dropped */
START_TEST(targets_are_named) {
  Lowered l =
      lower_asm("sm_120", "{ .reg .b8 b; cvt.rn.satfinite.e2m1x2.f32 b, %0, %0; }", ASM("f"));
  ck_assert_str_eq(
      l.violations.list.items[0]->message,
      "cvt.rn.satfinite.e2m1x2.f32 does not exist on sm_120; it needs sm_120f or sm_120a");
  lowered_free(&l);
  l = lower_asm("sm_100f", "tcgen05.shift.cta_group::1.down [%0];", ASM("r"));
  ck_assert_str_eq(l.violations.list.items[0]->message,
                   "tcgen05.shift.cta_group::1.down does not exist on sm_100f; it needs sm_100a");
  lowered_free(&l);
  l = lower_asm("sm_100a", "wgmma.fence.sync.aligned;", NULL);
  ck_assert_str_eq(l.violations.list.items[0]->message,
                   "wgmma.fence.sync.aligned does not exist on sm_100a; it needs sm_90a");
  lowered_free(&l);
}
END_TEST

START_TEST(wrong_names_get_a_suggestion) {
  Lowered l = lower_asm("sm_90a", "mbarrier.arive.shared::cta.b64 _, [%0];", ASM("r"));
  ck_assert_str_eq(kind_at(&l, 0), "arch-unknown-instruction");
  ck_assert_str_eq(l.violations.list.items[0]->help, "did you mean `mbarrier.arrive`?");
  lowered_free(&l);
  l = lower_asm("sm_100a", "umma.mma [%0];", ASM("r"));
  ck_assert_str_eq(l.violations.list.items[0]->help, "what there is: `tcgen05.mma`");
  lowered_free(&l);
}
END_TEST

START_TEST(unknown_instructions_leave_a_note) {
  Lowered l = lower_asm("sm_90a", "newop.frob.u32 %0, %1;", ASM("=r", "r"));
  ck_assert_int_eq(l.violations.list.count, 0);
  ck_assert_int_eq(l.kernel->notes.count, 1);
  ck_assert(!l.kernel->notes.items[0].may_hide_event);
  ck_assert_int_eq(insn_at(&l, 0)->event, IR_EV_other);
  ck_assert_int_eq(insn_at(&l, 1)->op, IR_havoc);
  ck_assert_int_eq(l.kernel->lowered_asm, 0);
  lowered_free(&l);
  l = lower_asm("sm_90a", "mbarrier.frob.b64 [%0];", ASM("r"));
  ck_assert(l.kernel->notes.items[0].may_hide_event);
  lowered_free(&l);
  l = lower_asm("sm_90a", "mov.u32 %0, {", ASM("=r"));
  ck_assert(!l.parsed);
  ck_assert(l.kernel->notes.items[0].may_hide_event);
  ck_assert_ptr_null(l.kernel->asms.items[0].insns);
  lowered_free(&l);
}
END_TEST

/* PTX ISA 9.7.16.1: one granularity a kernel */
START_TEST(mixed_cta_groups) {
  Lowered l = lower_asm("sm_100a",
                        "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;"
                        "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 32;",
                        ASM("r"));
  ck_assert_str_eq(kind_at(&l, 0), "tcgen05-cta-group-mixed");
  lowered_free(&l);
}
END_TEST

START_TEST(suffix_that_a_kernel_needs) {
  Lowered l = lower_asm("sm_100a", "tcgen05.wait::ld.sync.aligned;", NULL);
  ck_assert_int_eq(l.kernel->needs_suffix, 'f');
  ptx_check_build(l.program, &l.violations);
  ck_assert_str_eq(kind_at(&l, 0), "arch-build-suffix");
  ck_assert(g_str_has_prefix(l.violations.list.items[0]->help,
                             "nvcc -gencode arch=compute_100f,code=sm_100f ("));
  lowered_free(&l);
  l = lower_asm("sm_90a", "wgmma.fence.sync.aligned;", NULL);
  ck_assert_int_eq(l.kernel->needs_suffix, 'a');
  lowered_free(&l);
  l = lower_asm("sm_90a", "fence.proxy.async;", NULL);
  ck_assert_int_eq(l.kernel->needs_suffix, 0);
  lowered_free(&l);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("ptx: asm statements");
  TCase *tcase = tcase_create("asm");
  tcase_add_test(tcase, wait_loop_has_private_labels);
  tcase_add_test(tcase, tensor_load_binds_roles);
  tcase_add_test(tcase, wgmma_keeps_its_accumulators);
  tcase_add_test(tcase, immediates_stand_in_modifiers);
  tcase_add_test(tcase, spellings_of_names);
  tcase_add_test(tcase, plain_instructions);
  tcase_add_test(tcase, warp_operations);
  tcase_add_loop_test(tcase, faults_have_kinds, 0, (int)(sizeof faults / sizeof *faults));
  tcase_add_test(tcase, carets_point_into_the_string);
  tcase_add_test(tcase, targets_are_named);
  tcase_add_test(tcase, wrong_names_get_a_suggestion);
  tcase_add_test(tcase, unknown_instructions_leave_a_note);
  tcase_add_test(tcase, mixed_cta_groups);
  tcase_add_test(tcase, suffix_that_a_kernel_needs);
  suite_add_tcase(suite, tcase);
  return suite;
}
