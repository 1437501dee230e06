/* Builtins, asm operands, objects and host calls: which instructions they become. */
#include "../cuda/load.h"

Suite *test_suite(void);

/* The first kernel of `text`, fully lowered. */
static const IrKernel *lowered(Loaded *l, const char *text) {
  *l = load_clean(text);
  ck_assert_int_ge(l->program->kernels.count, 1);
  const IrKernel *kernel = l->program->kernels.items[0];
  for (int i = 0; i < kernel->notes.count; i++)
    ck_abort_msg("not lowered: %s", kernel->notes.items[i].text);
  ck_assert_int_eq(kernel->lowered_asm, kernel->reachable_asm);
  ck_assert_int_eq(kernel->lowered_calls, kernel->reachable_calls);
  KcError error = {0};
  ck_assert(ir_verify(l->program, &error));
  return kernel;
}

/* The `nth` event of a kind, counted from 0; fails when there is none. */
static const IrInsn *event(const IrKernel *kernel, IrEvent kind, int nth) {
  for (int i = 0; i < kernel->insns.count; i++)
    if (kernel->insns.items[i].op == IR_event && kernel->insns.items[i].event == kind && nth-- == 0)
      return &kernel->insns.items[i];
  ck_abort_msg("no %s", ir_event_name(kind));
}

static int count_op(const IrKernel *kernel, IrOp op) {
  int count = 0;
  for (int i = 0; i < kernel->insns.count; i++)
    count += kernel->insns.items[i].op == op;
  return count;
}

/* ---- builtins ---- */

START_TEST(barriers) {
  Loaded l;
  const IrKernel *k = lowered(&l, "__global__ void k(int *p) {\n"
                                  "  __syncthreads(); __syncwarp(); __syncwarp(0xff);\n"
                                  "  p[0] = __syncthreads_or(p[1]);\n"
                                  "  __threadfence_block(); __threadfence_system();\n"
                                  "}\n");
  const IrInsn *sync = event(k, IR_EV_bar_sync, 0);
  ck_assert_int_eq(ir_arg(sync, IR_ROLE_id)->value, 0);
  ck_assert(sync->flags & IR_FLAG(aligned));
  ck_assert_int_eq(ir_arg(event(k, IR_EV_warp_sync, 0), IR_ROLE_mask)->value, 0xffffffff);
  ck_assert_int_eq(ir_arg(event(k, IR_EV_warp_sync, 1), IR_ROLE_mask)->value, 0xff);
  const IrInsn *reduce = event(k, IR_EV_bar_red, 0);
  ck_assert_int_eq(reduce->sub, IR_VOTE_any);
  ck_assert_ptr_nonnull(ir_arg(reduce, IR_ROLE_dst));
  ck_assert(event(k, IR_EV_fence, 0)->flags & IR_FLAG(scope_cta));
  ck_assert(event(k, IR_EV_fence, 1)->flags & IR_FLAG(scope_sys));
  unload(&l);
}
END_TEST

START_TEST(warp_operations) {
  Loaded l;
  const IrKernel *k =
      lowered(&l, "__global__ void k(int *p, float *f) {\n"
                  "  p[0] = __shfl_xor_sync(0xffffffff, p[1], 4); f[0] = __shfl_down_sync(3, f[1], "
                  "1, 16);\n"
                  "  p[2] = __ballot_sync(7, p[3] > 0); p[4] = __any_sync(7, p[3]); p[5] = "
                  "__activemask();\n"
                  "  atomicAdd(p, 2); atomicCAS(p, 1, 5);\n"
                  "}\n");
  const IrInsn *shfl = event(k, IR_EV_shfl, 0);
  ck_assert_int_eq(shfl->sub, IR_SHFL_bfly);
  ck_assert_int_eq(ir_arg(shfl, IR_ROLE_lane)->value, 4);
  ck_assert_int_eq(ir_arg(shfl, IR_ROLE_clamp)->value, 31);
  const IrInsn *down = event(k, IR_EV_shfl, 1);
  ck_assert_int_eq(ir_arg(down, IR_ROLE_clamp)->value, 16 << 8 | 31); /* PTX ISA 9.7.9.6 */
  ck_assert_int_eq(down->type.cls, IR_CLASS_FLOAT);
  ck_assert_int_eq(event(k, IR_EV_vote, 0)->sub, IR_VOTE_ballot);
  ck_assert_int_eq(event(k, IR_EV_vote, 1)->sub, IR_VOTE_any);
  event(k, IR_EV_activemask, 0);
  ck_assert_int_eq(count_op(k, IR_atom), 2);
  unload(&l);
}
END_TEST

/* a method or a user's function that shares a builtin's name is not the builtin */
START_TEST(builtins_by_scope) {
  Loaded l;
  const IrKernel *k = lowered(&l, "struct Mma { __device__ void __syncwarp(int) { asm volatile("
                                  "\"bar.sync 3;\"); } };\n"
                                  "namespace mine { __device__ int min(int a, int b) {\n"
                                  "  asm volatile(\"bar.sync 4;\"); return a + b; } }\n"
                                  "__global__ void k(int *p) { Mma m; m.__syncwarp(1);\n"
                                  "  p[0] = mine::min(1, 2); }\n");
  ck_assert_int_eq(ir_arg(event(k, IR_EV_bar_sync, 0), IR_ROLE_id)->value, 3);
  ck_assert_int_eq(ir_arg(event(k, IR_EV_bar_sync, 1), IR_ROLE_id)->value, 4);
  ck_assert_int_eq(count_op(k, IR_min), 0);
  unload(&l);
}
END_TEST

/* ---- asm ---- */

#define WAIT                                                                                       \
  "#include <stdint.h>\n"                                                                          \
  "__device__ uint32_t su32(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }\n"    \
  "__device__ void mbar_wait(uint64_t *bar, uint32_t parity) {\n"                                  \
  "  uint32_t done = 0;\n"                                                                         \
  "  while (!done) asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], "   \
  "%2; selp.u32 %0, 1, 0, p; }\" : \"=r\"(done) : \"r\"(su32(bar)), \"r\"(parity) : "              \
  "\"memory\");\n"                                                                                 \
  "}\n"

/* the text is the argument of the outermost wrapper, through every layer */
START_TEST(text_of_the_barrier) {
  Loaded l;
  const IrKernel *k = lowered(
      &l, WAIT "struct Smem { uint64_t full[4]; };\n"
               "struct Bar { uint64_t v; __device__ void wait(int p) { mbar_wait(&v, p); } };\n"
               "struct Pipe { Smem &s; int stage; __device__ void acquire(int p) {\n"
               "  mbar_wait(&s.full[stage], p); } };\n"
               "__global__ void k(int n) {\n"
               "  __shared__ Smem s; __shared__ Bar bars[2];\n"
               "  for (int stage = 0; stage < n; stage++) mbar_wait(&s.full[stage], 1);\n"
               "  bars[n].wait(0); Pipe pipe{s, n}; pipe.acquire(0);\n"
               "  auto wait = [&](int i) { mbar_wait(s.full + i, 0); }; wait(2);\n"
               "}\n");
  ck_assert_str_eq(event(k, IR_EV_mbarrier_try_wait, 0)->text, "&s.full[stage]");
  ck_assert_str_eq(event(k, IR_EV_mbarrier_try_wait, 1)->text, "bars[n]");
  ck_assert_str_eq(event(k, IR_EV_mbarrier_try_wait, 2)->text, "pipe.s.full[pipe.stage]");
  ck_assert_str_eq(event(k, IR_EV_mbarrier_try_wait, 3)->text, "s.full + i");
  unload(&l);
}
END_TEST

/* innermost line first, then each call it was inlined from */
START_TEST(stack_of_calls) {
  Loaded l;
  const IrKernel *k = lowered(&l, WAIT "__device__ void outer(uint64_t *b) {\n"
                                       "  mbar_wait(b, 0);\n"
                                       "}\n"
                                       "__global__ void k() {\n"
                                       "  __shared__ uint64_t bar;\n"
                                       "  outer(&bar);\n"
                                       "}\n");
  const SourceStack *stacks = l.program->sources.stacks.items;
  const SourceStack *at = &stacks[event(k, IR_EV_mbarrier_try_wait, 0)->where];
  ck_assert_uint_eq(at->range.line, 5);
  ck_assert_str_eq(at->function, "mbar_wait");
  ck_assert_uint_eq(stacks[at->outer].range.line, 8);
  ck_assert_uint_eq(stacks[stacks[at->outer].outer].range.line, 12);
  ck_assert_uint_eq(stacks[stacks[at->outer].outer].range.column, 3);
  ck_assert_uint_eq(stacks[stacks[stacks[at->outer].outer].outer].range.line, 0);
  unload(&l);
}
END_TEST

/* an output that is a plain local writes its cell; one in memory is stored after */
START_TEST(outputs) {
  Loaded l;
  const IrKernel *k =
      lowered(&l, "__global__ void k(unsigned *p) { unsigned a, b[2]; float f = 1;\n"
                  "  asm(\"mov.u32 %0, 7; mov.u32 %1, 8;\" : \"=r\"(a), \"=r\"(b[1]));\n"
                  "  asm volatile(\"bar.sync %0;\" :: \"n\"(2 + 1));\n"
                  "  asm(\"mov.u32 %0, 9;\" : \"=r\"(p[2]));\n"
                  "  asm(\"add.f32 %0, %0, %0;\" : \"+f\"(f));\n"
                  "  p[0] = a + b[1]; }\n");
  const IrReg *regs = k->regs.items;
  int cells = 0, stores = 0;
  for (int i = 0; i < k->insns.count; i++) {
    const IrInsn *insn = &k->insns.items[i];
    if (insn->op == IR_mov && insn->args[1].kind == IR_OPD_IMM &&
        (insn->args[1].value == 7 || insn->args[1].value == 8))
      cells += regs[insn->args[0].id].cell != 0;
    stores += insn->op == IR_store;
  }
  ck_assert_int_eq(cells, 2);
  ck_assert_int_eq(stores, 2);
  ck_assert_int_eq(ir_arg(event(k, IR_EV_bar_sync, 0), IR_ROLE_id)->value, 3);
  ck_assert_int_eq(k->asms.count, 4);
  unload(&l);
}
END_TEST

/* accumulators are cells of the local array, the same ones that later code reads */
START_TEST(accumulators_are_cells) {
  Loaded l;
  const IrKernel *k = lowered(
      &l, "__global__ void k(float *out) { float d[2][2] = {};\n"
          "  asm volatile(\"{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned."
          "m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %5, p, 1, 1, 0, 0; }\"\n"
          "    : \"+f\"(d[0][0]), \"+f\"(d[0][1]), \"+f\"(d[1][0]), \"+f\"(d[1][1]) : \"l\"(0ull), "
          "\"l\"(0ull));\n"
          "  out[0] = d[1][0] * 2.0f; }\n");
  const IrOperand *acc = ir_arg(event(k, IR_EV_wgmma_mma, 0), IR_ROLE_acc);
  ck_assert_int_eq(acc->count, 4);
  uint64_t first = k->regs.items[acc->list[0].id].cell;
  ck_assert_uint_ne(first, 0);
  ck_assert_uint_eq(k->regs.items[acc->list[2].id].cell, first + 8);
  const IrInsn *multiply = NULL;
  for (int i = 0; i < k->insns.count; i++)
    if (k->insns.items[i].op == IR_opaque) multiply = &k->insns.items[i];
  ck_assert_ptr_nonnull(multiply);
  ck_assert_int_eq(multiply->args[1].id, acc->list[2].id);
  unload(&l);
}
END_TEST

#define FMA                                                                                        \
  "__device__ void fma(float &d0, float &d1, float &d2, float &d3, int s) {\n"                     \
  "  asm volatile(\"{ .reg .pred p; setp.ne.b32 p, %4, 0; wgmma.mma_async.sync.aligned.m64n8k16."  \
  "f32.bf16.bf16 {%0, %1, %2, %3}, %5, %5, p, 1, 1, 0, 0; }\"\n"                                   \
  "    : \"+f\"(d0), \"+f\"(d1), \"+f\"(d2), \"+f\"(d3) : \"r\"(s), \"l\"(0ull));\n"               \
  "}\n"

/* Every wgmma works on cells; `distinct` accumulators in all. */
static void accumulators(const IrKernel *k, int events, int distinct) {
  uint64_t seen[16];
  int count = 0, found = 0;
  for (int i = 0; i < k->insns.count; i++) {
    const IrInsn *insn = &k->insns.items[i];
    if (insn->op != IR_event || insn->event != IR_EV_wgmma_mma) continue;
    uint64_t cell = k->regs.items[ir_arg(insn, IR_ROLE_acc)->list[0].id].cell;
    bool known = false;
    for (int j = 0; j < count; j++)
      known |= seen[j] == cell;
    ck_assert_uint_ne(cell, 0);
    if (!known && count < 16) seen[count++] = cell;
    found++;
  }
  ck_assert_int_eq(found, events);
  ck_assert_int_eq(count, distinct);
}

/* a loop that numbers accumulators is unrolled, as nvcc must; other loops stay loops */
START_TEST(unrolled_for_registers) {
  Loaded l;
  const IrKernel *k = lowered(
      &l, FMA "__global__ void k(float *o, int n) { float d[3][4] = {};\n"
              "  for (int t = 0; t < n; t++) for (int m = 0; m < 3; m++) { float *p = d[m];\n"
              "    fma(p[0], p[1], p[2], p[3], t); }\n"
              "  for (int i = 0; i < 12; i++) o[i] = d[i / 4][i % 4]; }\n");
  accumulators(k, 3, 3);
  unload(&l);
}
END_TEST

/* accumulators behind an object's pointer and layout; what a loop changes is not taken for known */
START_TEST(accumulators_behind_objects) {
  Loaded l;
  const IrKernel *k = lowered(
      &l, FMA "struct Lay { int s; __device__ int at(int i, int j) const { return i * s + j; } };\n"
              "struct Tensor { float *p; Lay l; __device__ float &get(int i, int j) {\n"
              "  return p[l.at(i, j)]; } };\n"
              "__device__ void gemm(Tensor &t, int s) { for (int m = 0; m < 2; ++m)\n"
              "  fma(t.get(m, 0), t.get(m, 1), t.get(m, 2), t.get(m, 3), s); }\n"
              "__global__ void k(float *o, int n) { float d[8] = {}; Tensor t{d, {4}}; int s = 0;\n"
              "  for (int kk = 0; kk < n; kk++) { gemm(t, s); s = 1; } o[0] = d[n]; }\n");
  accumulators(k, 2, 2);
  const IrInsn *compare = NULL;
  for (int i = 0; i < k->insns.count && !compare; i++)
    if (k->insns.items[i].op == IR_setp) compare = &k->insns.items[i];
  ck_assert_ptr_nonnull(compare);
  ck_assert_int_eq(compare->args[1].kind, IR_OPD_REG); /* kk < n, not 0 < n */
  unload(&l);
}
END_TEST

/* ---- objects ---- */

START_TEST(shared_objects) {
  Loaded l;
  const IrKernel *k = lowered(
      &l, "#include <stdint.h>\n"
          "constexpr int STAGES = 3; struct Bar { uint64_t w; };\n"
          "struct S { uint64_t full[STAGES]; Bar empty[STAGES]; struct { float a[4][8]; } "
          "t[2]; };\n"
          "__global__ void k(int n) { __shared__ __align__(1024) S s; __shared__ int tail;\n"
          "  extern __shared__ __align__(128) unsigned char raw[];\n"
          "  s.full[n] = 0; s.t[1].a[n][0] = 0; tail = 1; raw[n] = 2; }\n");
  ck_assert_int_eq(k->objects.count, 3);
  const IrObject *s = &k->objects.items[0], *raw = &k->objects.items[2];
  ck_assert_str_eq(s->name, "s");
  ck_assert_uint_eq(s->align, 1024);
  ck_assert_uint_eq(s->bytes, 304);
  ck_assert(raw->dynamic);
  ck_assert_uint_eq(raw->align, 128);
  ck_assert_str_eq(ir_object_place(l.arena, s, 16), "s.full[2]");
  ck_assert_str_eq(ir_object_place(l.arena, s, 32), "s.empty[1]");
  ck_assert_str_eq(ir_object_place(l.arena, s, 48 + 128 + 32), "s.t[1].a[1]");
  ck_assert_int_eq(k->stage_constants.count, 1);
  ck_assert_str_eq(k->stage_constants.items[0], "STAGES");
  unload(&l);
}
END_TEST

/* a record laid over dynamic shared memory gives its fields their names */
START_TEST(named_dynamic_memory) {
  Loaded l;
  const IrKernel *k =
      lowered(&l, "#include <stdint.h>\n"
                  "struct S { uint64_t full[2]; float a[64]; };\n"
                  "__global__ void k() { extern __shared__ uint8_t raw[];\n"
                  "  S &s = *reinterpret_cast<S *>(raw + 1024); s.full[1] = 0; }\n");
  ck_assert_str_eq(ir_object_place(l.arena, &k->objects.items[0], 1032), "s.full[1]");
  unload(&l);
}
END_TEST

/* ---- host ---- */

static const IrKernel *host(Loaded *l, const char *name) {
  for (int i = 0; i < l->program->hosts.count; i++)
    if (strcmp(l->program->hosts.items[i]->name, name) == 0) return l->program->hosts.items[i];
  ck_abort_msg("no host function %s", name);
}

START_TEST(launches_and_attributes) {
  Loaded l = load_clean("#include <cuda_runtime.h>\n"
                        "template <int N> __global__ void k(float *p, int n) { p[n] = N; }\n"
                        "template <class F> void set(F *f, int bytes) { cudaFuncSetAttribute(f,\n"
                        "  cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); }\n"
                        "void run(float *p, int n) { set(k<3>, 1000); dim3 grid(n, 2);\n"
                        "  k<3><<<grid, 128, 512>>>(p, n + 1);\n"
                        "  auto *f = n > 1 ? &k<3> : &k<4>; f<<<1, 32>>>(p, 0); }\n");
  const IrKernel *run = host(&l, "run");
  const IrInsn *attribute = event(run, IR_EV_host_func_attr, 0);
  ck_assert_str_eq(attribute->text, "k<3>");
  ck_assert_int_eq(ir_arg(attribute, IR_ROLE_id)->value, 8);
  const IrInsn *launch = event(run, IR_EV_host_launch, 0);
  ck_assert_str_eq(launch->text, "k<3>");
  ck_assert_int_eq(ir_arg(launch, IR_ROLE_grid)->count, 3);
  ck_assert_int_eq(ir_arg(launch, IR_ROLE_block)->list[0].kind, IR_OPD_REG);
  ck_assert_int_eq(ir_arg(launch, IR_ROLE_size)->value, 512);
  ck_assert_int_eq(ir_arg(launch, IR_ROLE_args)->count, 2);
  const IrInsn *pointer = event(run, IR_EV_host_launch, 1);
  ck_assert_int_eq(ir_arg(pointer, IR_ROLE_kernel)->kind, IR_OPD_REG);
  ck_assert_int_eq(ir_arg(pointer, IR_ROLE_block)->list[0].kind, IR_OPD_REG);
  unload(&l);
}
END_TEST

START_TEST(tensor_maps) {
  Loaded l = load_clean(
      "#include <cuda.h>\n#include <cuda_runtime.h>\n"
      "__global__ void k(const __grid_constant__ CUtensorMap m) {}\n"
      "void run(void *p, unsigned long long n) { CUtensorMap m; cuuint64_t dims[2] = {n, 64};\n"
      "  cuuint64_t strides[1] = {n * 2}; cuuint32_t box[2] = {64, 128}, one[2] = {1, 1};\n"
      "  cuTensorMapEncodeTiled(&m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, p, dims, strides, box, "
      "one,\n"
      "    CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,\n"
      "    CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n"
      "  k<<<1, 128>>>(m); }\n");
  const IrInsn *map = event(host(&l, "run"), IR_EV_host_tensor_map, 0);
  ck_assert_str_eq(map->text, "&m");
  ck_assert_int_eq(ir_arg(map, IR_ROLE_rank)->value, 2);
  ck_assert_int_eq(ir_arg(map, IR_ROLE_id)->value, 9);
  ck_assert_int_eq(ir_arg(map, IR_ROLE_swizzle)->value, 3);
  ck_assert_int_eq(ir_arg(map, IR_ROLE_box)->kind, IR_OPD_IMM); /* a local array */
  const IrInsn *launch = event(host(&l, "run"), IR_EV_host_launch, 0);
  ck_assert_int_eq(ir_arg(launch, IR_ROLE_args)->list[0].value, ir_arg(map, IR_ROLE_map)->value);
  unload(&l);
}
END_TEST

Suite *test_suite(void) {
  need_libclang();
  Suite *suite = suite_create("lower/events");
  TCase *tests = tcase_create("events");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, barriers);
  tcase_add_test(tests, warp_operations);
  tcase_add_test(tests, builtins_by_scope);
  tcase_add_test(tests, text_of_the_barrier);
  tcase_add_test(tests, stack_of_calls);
  tcase_add_test(tests, outputs);
  tcase_add_test(tests, accumulators_are_cells);
  tcase_add_test(tests, unrolled_for_registers);
  tcase_add_test(tests, accumulators_behind_objects);
  tcase_add_test(tests, shared_objects);
  tcase_add_test(tests, named_dynamic_memory);
  tcase_add_test(tests, launches_and_attributes);
  tcase_add_test(tests, tensor_maps);
  suite_add_tcase(suite, tests);
  return suite;
}
