/* Whole modules: declarations, parameters, places, calls. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "ptx/ptx.h"

Suite *test_suite(void);

typedef struct Loaded {
  KcArena *arena;
  IrProgram *program;
  IrViolations violations;
  KcError error;
  bool good;
} Loaded;

static Loaded load(const char *text) {
  Loaded l = {.arena = kc_arena_new()};
  l.program = ir_program_new(l.arena, "module.ptx", "sm_90a");
  l.violations.arena = l.arena;
  l.good = ptx_load_module(l.program, text, strlen(text), &l.violations, &l.error);
  if (l.good) ck_assert(ir_verify(l.program, &l.error));
  return l;
}

static void unload(Loaded *l) {
  kc_error_clear(&l->error);
  kc_arena_free(l->arena);
}

static int count_events(const IrKernel *kernel, IrEvent event) {
  int count = 0;
  for (int i = 0; i < kernel->insns.count; i++)
    count += kernel->insns.items[i].op == IR_event && kernel->insns.items[i].event == event;
  return count;
}

static const char header[] = ".version 8.7\n.target sm_90a\n.address_size 64\n";

static const char kernel_text[] =
    "// comment\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".extern .shared .align 128 .b8 dyn[];\n"
    ".shared .align 8 .b64 _ZZ4gemmE4full[4];\n"
    ".visible .entry _Z4gemm14CUtensorMap_stPfi(\n"
    "  .param .align 128 .b8 gemm_param_0[128],\n"
    "  .param .u64 .ptr .align 1 gemm_param_1,\n"
    "  .param .u32 gemm_param_2\n)\n"
    ".maxntid 384, 1, 1\n.minnctapersm 1\n.reqnctapercluster 2\n.maxnreg 168\n{\n"
    "  .reg .pred %p<3>;\n  .reg .b32 %r<9>;\n  .reg .b64 %rd<9>;\n"
    "  .shared .align 4 .u32 slot;\n"
    "  mov.b64 %rd1, gemm_param_0;\n"
    "  ld.param.u64 %rd2, [gemm_param_1];\n"
    "  ld.param.u32 %r1, [gemm_param_2];\n"
    "  cvta.to.global.u64 %rd3, %rd2;\n"
    "  mov.u32 %r2, _ZZ4gemmE4full;\n"
    "  setp.lt.s32 %p1, %r1, 1;\n"
    "  @%p1 bra $L__BB0_2;\n"
    "  mbarrier.init.shared::cta.b64 [_ZZ4gemmE4full+8], 1;\n"
    "  st.shared.u32 [slot], %r1;\n"
    "$L__BB0_2:\n"
    "  atom.global.add.u32 %r3, [counter], 1;\n"
    "  mov.u32 %r4, dyn;\n"
    "  ret;\n}\n";

/* PTX ISA 5.4, 11.2, 11.4 */
START_TEST(kernel_with_parameters_and_bounds) {
  g_autofree char *text = g_strconcat(header, kernel_text, NULL);
  Loaded l = load(text);
  ck_assert_msg(l.good, "%s", l.error.message);
  ck_assert_int_eq(l.program->kernels.count, 1);
  const IrKernel *kernel = l.program->kernels.items[0];
  ck_assert_str_eq(kernel->name, "gemm");
  ck_assert(kernel->has_launch_bounds);
  ck_assert_int_eq(kernel->max_threads, 384);
  ck_assert_int_eq(kernel->min_blocks, 1);
  ck_assert_int_eq(kernel->maxnreg, 168);
  ck_assert_int_eq(kernel->cluster_dims[0], 2);
  ck_assert_int_eq(kernel->cluster_dims[1], 1);
  ck_assert_int_eq(kernel->params.count, 3);
  ck_assert_int_eq(kernel->params.items[0].leaves.items[0].kind, IR_LEAF_TENSOR_MAP);
  ck_assert_int_eq(kernel->params.items[1].leaves.items[0].kind, IR_LEAF_POINTER);
  ck_assert_int_eq(kernel->params.items[1].offset, 128);
  ck_assert_int_eq(kernel->params.items[2].leaves.items[0].kind, IR_LEAF_INT);
  ck_assert_int_eq(kernel->params.items[2].offset, 136);
  ck_assert_int_eq(kernel->notes.count, 0);
  ck_assert_int_eq(l.violations.list.count, 0);
  unload(&l);
}
END_TEST

START_TEST(objects_have_names_and_spaces) {
  g_autofree char *text = g_strconcat(header, kernel_text, NULL);
  Loaded l = load(text);
  const IrKernel *kernel = l.program->kernels.items[0];
  ck_assert_int_eq(kernel->objects.count, 4); /* slot, full, counter, dyn: as they are met */
  const IrObject *full = &kernel->objects.items[1];
  ck_assert_str_eq(full->name, "full");
  ck_assert_int_eq(full->space, IR_SPACE_SHARED);
  ck_assert_int_eq(full->bytes, 32);
  ck_assert_str_eq(ir_object_place(l.arena, full, 16), "full[2]");
  ck_assert_int_eq(kernel->objects.items[2].space, IR_SPACE_GLOBAL);
  ck_assert_uint_ge(kernel->objects.items[2].address, IR_GLOBAL_BASE);
  ck_assert(kernel->objects.items[3].dynamic);
  ck_assert_int_eq(kernel->objects.items[3].align, 128);
  unload(&l);
}
END_TEST

/* without .loc the place is the line of the module */
START_TEST(places_in_the_module_itself) {
  g_autofree char *text =
      g_strconcat(header, ".entry k()\n{\n  bar.sync 0;\n\n  bar.sync 17;\n  ret;\n}\n", NULL);
  Loaded l = load(text);
  ck_assert_int_eq(l.violations.list.count, 1);
  const IrViolation *v = l.violations.list.items[0];
  ck_assert_str_eq(v->kind, "barrier-thread-count");
  ck_assert_int_eq(l.program->sources.stacks.items[v->where].range.line, 8);
  ck_assert_int_eq(v->caret.line, 8);
  ck_assert_int_eq(v->caret.column, 12);
  ck_assert_int_eq(v->caret.end_column, 14);
  unload(&l);
}
END_TEST

/* PTX ISA 11.5.4: inlined_at chains, emitted outermost first */
START_TEST(places_follow_loc) {
  g_autofree char *text = g_strconcat(
      header, ".entry k()\n{\n.loc 1 10 3\n.loc 2 20 5, function_name $L__info_string0, ",
      "inlined_at 1 10 3\nbar.sync 0;\n.loc 1 11 3\nbar.sync 1;\nret;\n}\n",
      ".file 1 \"/src/a.cu\"\n.file 2 \"/usr/local/cuda/include/b.h\"\n",
      ".section .debug_str\n{\n$L__info_string0:\n.b8 95,90,51,102,111,111,118,0\n}\n", NULL);
  Loaded l = load(text);
  ck_assert_msg(l.good, "%s", l.error.message);
  const IrKernel *kernel = l.program->kernels.items[0];
  const SourceMap *sources = &l.program->sources;
  const SourceStack *inner = &sources->stacks.items[kernel->insns.items[0].where];
  ck_assert_int_eq(inner->range.line, 20);
  ck_assert_str_eq(inner->function, "foo");
  ck_assert(!sources->files.items[inner->range.file].user);
  ck_assert_int_eq(sources->stacks.items[inner->outer].range.line, 10);
  ck_assert_int_eq(sources->stacks.items[kernel->insns.items[1].where].range.line, 11);
  ck_assert_int_eq(sources->stacks.items[kernel->insns.items[1].where].outer, 0);
  unload(&l);
}
END_TEST

/* PTX ISA 7.1: functions with a body are inlined, arguments go through local memory */
START_TEST(calls_are_inlined) {
  g_autofree char *text = g_strconcat(
      header,
      ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
      ".extern .func mystery();\n"
      ".func (.param .b32 retval) wait(.param .b32 wait_param_0)\n{\n"
      " .reg .pred %p<2>; .reg .b32 %r<3>;\n ld.param.u32 %r1, [wait_param_0];\n"
      " setp.eq.s32 %p1, %r1, 0;\n @%p1 ret;\n bar.sync 1, 64;\n st.param.b32 [retval], %r1;\n"
      " ret;\n}\n"
      ".entry k(.param .u32 k_param_0)\n{\n .reg .b32 %r<4>; .reg .b64 %rd<3>;\n"
      " ld.param.u32 %r1, [k_param_0];\n"
      " { .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;\n"
      "   call.uni (retval0), wait, (param0); ld.param.b32 %r2, [retval0]; }\n"
      " { .param .b64 a; .param .b64 b; .param .b32 c; call.uni (c), vprintf, (a, b); }\n"
      " bar.sync 0;\n ret;\n}\n",
      ".entry lost()\n{\n call.uni mystery, ();\n ret;\n}\n", NULL);
  Loaded l = load(text);
  ck_assert_msg(l.good, "%s", l.error.message);
  const IrKernel *kernel = l.program->kernels.items[0];
  ck_assert_int_eq(count_events(kernel, IR_EV_bar_sync), 2);
  ck_assert_int_eq(count_events(kernel, IR_EV_extern_call), 1);
  ck_assert_int_eq(kernel->notes.count, 0);
  /* the return of the callee goes to the statement behind the call */
  int branch = 0;
  while (kernel->insns.items[branch].op != IR_branch)
    branch++;
  ck_assert_int_lt(kernel->insns.items[branch].target, kernel->insns.count - 3);
  ck_assert(l.program->kernels.items[1]->notes.items[0].may_hide_event);
  unload(&l);
}
END_TEST

START_TEST(indexed_branches) {
  g_autofree char *text = g_strconcat(
      header, ".entry k(.param .u32 p)\n{\n .reg .b32 %r<4>;\n ld.param.u32 %r1, [p];\n",
      " $L_list: .branchtargets $A, $B;\n brx.idx %r1, $L_list;\n$A: bar.sync 1;\n$B: bar.sync 2;\n"
      " ret;\n}\n",
      NULL);
  Loaded l = load(text);
  const IrKernel *kernel = l.program->kernels.items[0];
  ck_assert_int_eq(kernel->insns.items[1].op, IR_branch_index);
  ck_assert_int_eq(kernel->insns.items[1].args[1].value, 2);
  ck_assert_int_eq(kernel->insns.items[1].args[2].value, 3);
  unload(&l);
}
END_TEST

/* the module's own target and version are judged, not those of the command line */
START_TEST(target_and_version_of_the_module) {
  Loaded l = load(".version 8.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n"
                  "wgmma.fence.sync.aligned;\nfence.acquire.gpu;\nret;\n}\n");
  ck_assert_int_eq(l.violations.list.count, 2);
  ck_assert_str_eq(l.violations.list.items[0]->kind, "arch-suffix-required");
  ck_assert_str_eq(l.violations.list.items[1]->kind, "arch-ptx-version");
  unload(&l);
}
END_TEST

static const char *const broken[] = {
    ".version 8.0\n.entry k(\n",
    ".version 8.0\n.entry k()\n{\n mov.u32 %r1, [;\n}\n",
    ".version 8.0\n.entry k()\n{\n bra\n",
    "int main() {}\n",
    ".visible",
    ".entry k(){@",
    ".entry k(){.reg .b32 %r<",
};

/* text that is no program ends in an error, not in a full stack */
START_TEST(deep_nesting_is_refused) {
  static const char fill[] = "{[(-!";
  for (size_t i = 0; i < sizeof fill - 1; i++) {
    GString *text = g_string_new(".version 8.0\n.entry k()\n{\n");
    if (fill[i] != '{') g_string_append(text, "mov.u32 ");
    for (int j = 0; j < 100000; j++)
      g_string_append_c(text, fill[i]);
    Loaded l = load(text->str);
    ck_assert(!l.good);
    unload(&l);
    g_string_free(text, TRUE);
  }
}
END_TEST

START_TEST(broken_modules_say_where) {
  Loaded l = load(broken[_i]);
  ck_assert(!l.good);
  ck_assert_ptr_nonnull(l.error.message);
  ck_assert_int_ge(l.error.line, 1);
  unload(&l);
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("ptx: modules");
  TCase *tcase = tcase_create("module");
  tcase_add_test(tcase, kernel_with_parameters_and_bounds);
  tcase_add_test(tcase, objects_have_names_and_spaces);
  tcase_add_test(tcase, places_in_the_module_itself);
  tcase_add_test(tcase, places_follow_loc);
  tcase_add_test(tcase, calls_are_inlined);
  tcase_add_test(tcase, indexed_branches);
  tcase_add_test(tcase, target_and_version_of_the_module);
  tcase_add_test(tcase, deep_nesting_is_refused);
  tcase_add_loop_test(tcase, broken_modules_say_where, 0, (int)(sizeof broken / sizeof *broken));
  suite_add_tcase(suite, tcase);
  return suite;
}
