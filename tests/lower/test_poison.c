/* What can't be lowered poisons, it never vanishes. */
#include "../cuda/load.h"

Suite *test_suite(void);

/* The first kernel; the file need not be free of errors. */
static const IrKernel *first(Loaded *l, const char *text) {
  *l = load(text);
  ck_assert_msg(l->program != NULL, "%s", l->error.message);
  ck_assert_int_ge(l->program->kernels.count, 1);
  KcError error = {0};
  ck_assert(ir_verify(l->program, &error));
  return l->program->kernels.items[0];
}

static const IrNote *note(const IrKernel *kernel, const char *part) {
  for (int i = 0; i < kernel->notes.count; i++)
    if (strstr(kernel->notes.items[i].text, part)) return &kernel->notes.items[i];
  ck_abort_msg("no note about %s", part);
}

static bool has_event(const IrKernel *kernel, IrEvent kind) {
  for (int i = 0; i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_event && kernel->insns.items[i].event == kind) return true;
  return false;
}

static bool has_bare_havoc(const IrKernel *kernel) {
  for (int i = 0; i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_havoc && kernel->insns.items[i].nargs == 0) return true;
  return false;
}

START_TEST(function_without_a_body) {
  Loaded l;
  const IrKernel *k =
      first(&l, "__device__ int produce(int *slot);\n"
                "__global__ void k(int *p) { int x = 1; p[0] = produce(&x) + x; }\n");
  ck_assert(note(k, "'produce' has no body")->may_hide_event);
  ck_assert(has_bare_havoc(k));
  ck_assert(has_event(k, IR_EV_extern_call));
  ck_assert_int_lt(k->lowered_calls, k->reachable_calls);
  unload(&l);
}
END_TEST

/* known to do nothing to the protocol: no note, but the call is there */
START_TEST(harmless_calls) {
  Loaded l;
  const IrKernel *k =
      first(&l, "#include <stdio.h>\n"
                "__global__ void k(float *p) { printf(\"%f\", p[0]); p[1] = expf(p[2]) "
                "+ sqrtf(p[3]) + copysignf(p[4], p[5]) + lgammaf(p[6]); }\n");
  ck_assert_int_eq(k->notes.count, 0);
  ck_assert(has_event(k, IR_EV_extern_call));
  unload(&l);
}
END_TEST

START_TEST(recursion) {
  Loaded l;
  const IrKernel *k =
      first(&l, "__device__ int f(int n) { return n < 2 ? 1 : n * f(n - 1); }\n"
                "__device__ void g(int n) { if (n) { __syncthreads(); g(n - 1); } }\n"
                "__global__ void k(int *p) { p[0] = f(p[1]); }\n"
                "__global__ void b(int n) { g(n); }\n");
  ck_assert(!note(k, "recursion")->may_hide_event);
  ck_assert(note(l.program->kernels.items[1], "recursion")->may_hide_event);
  unload(&l);
}
END_TEST

START_TEST(unresolved_names) {
  Loaded l;
  const IrKernel *k = first(&l, "__global__ void k(int *p) { int x = p[0];\n"
                                "  wait_for_peer(x); __syncthreads(); p[1] = x; }\n");
  ck_assert(note(k, "wait_for_peer")->may_hide_event);
  ck_assert(has_event(k, IR_EV_bar_sync)); /* what follows is still there */
  unload(&l);
}
END_TEST

/* a pattern's constants are unknown, its events are not */
START_TEST(uninstantiated_template) {
  Loaded l;
  const IrKernel *k = first(&l, "template <int N> __global__ void k(int *p) {\n"
                                "  for (int i = 0; i < N; i++) __syncthreads(); p[0] = N; }\n");
  ck_assert(k->is_pattern);
  note(k, "'N'");
  ck_assert(has_event(k, IR_EV_bar_sync));
  unload(&l);
}
END_TEST

/* a project's own event table is asked before giving up */
START_TEST(directive_names_an_event) {
  Loaded l;
  const IrKernel *k =
      first(&l, "#include <stdint.h>\n"
                "// kcheck: event(my_wait, mbarrier-wait, barrier = 1, parity = 2)\n"
                "__device__ void my_wait(uint64_t *bar, int phase);\n"
                "__global__ void k() { __shared__ uint64_t bar[2];\n"
                "  my_wait(&bar[1], 1); }\n");
  ck_assert_int_eq(k->notes.count, 0);
  ck_assert(has_event(k, IR_EV_mbarrier_wait));
  for (int i = 0; i < k->insns.count; i++) {
    const IrInsn *insn = &k->insns.items[i];
    if (insn->op != IR_event) continue;
    ck_assert_str_eq(insn->text, "&bar[1]");
    ck_assert_int_eq(ir_arg(insn, IR_ROLE_addr)->kind, IR_OPD_OBJECT);
    ck_assert_int_eq(ir_arg(insn, IR_ROLE_addr)->value, 8);
    ck_assert_int_eq(ir_arg(insn, IR_ROLE_parity)->value, 1);
  }
  unload(&l);
}
END_TEST

START_TEST(no_body_at_all) {
  Loaded l = load("__global__ void k(int *p);\nvoid run(int *p) { k<<<1, 1>>>(p); }\n");
  ck_assert_ptr_nonnull(l.program);
  for (int i = 0; i < l.program->kernels.count; i++)
    ck_assert(l.program->kernels.items[i]->body_lost ||
              l.program->kernels.items[i]->notes.count > 0);
  unload(&l);
}
END_TEST

/* no function fits: clang keeps the operands, and the call is its own initialiser */
START_TEST(call_that_fits_no_function) {
  Loaded l;
  first(&l, "struct Options { int a; };\n"
            "struct Shape { const long *dims; };\n"
            "struct Tensor { long size() const; Options options() const; };\n"
            "template <class T> Tensor full(Shape, T, Options);\n"
            "__global__ void k(float *p) { p[threadIdx.x] = 1; }\n"
            "void run(Tensor t, float *p) {\n"
            "  auto n = t.size();\n"
            "  auto filled = full(n, 0.5, t.options());\n"
            "  k<<<1, 32>>>(p);\n"
            "}\n");
  const IrKernel *run = NULL;
  for (int i = 0; i < l.program->hosts.count; i++)
    if (strcmp(l.program->hosts.items[i]->name, "run") == 0) run = l.program->hosts.items[i];
  ck_assert_ptr_nonnull(run);
  note(run, "an expression of Tensor could not be lowered");
  unload(&l);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/poison");
  TCase *tests = tcase_create("poison");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, function_without_a_body);
  tcase_add_test(tests, harmless_calls);
  tcase_add_test(tests, recursion);
  tcase_add_test(tests, unresolved_names);
  tcase_add_test(tests, uninstantiated_template);
  tcase_add_test(tests, directive_names_an_event);
  tcase_add_test(tests, no_body_at_all);
  tcase_add_test(tests, call_that_fits_no_function);
  suite_add_tcase(suite, tests);
  return suite;
}
