/* wgmma (PTX ISA 9.7.15) and tcgen05 (9.7.16). */
#include "protocol.h"

#define WGMMA_SHARED                                                                               \
  ".shared .align 8 .b64 full; .shared .align 8 .b64 empty;\n"                                     \
  ".shared .align 1024 .b8 a[8192]; .shared .align 1024 .b8 b[1024];\n"
#define WG(body, kinds) expect_kinds("sm_90a", 128, 1, WGMMA_SHARED, body, kinds)

/* 128-byte swizzle, K-major: descriptors of a and b in %d1 and %d2. */
#define DESCRIPTORS                                                                                \
  "mov.u32 %r10, a;\nshr.u32 %r10, %r10, 4;\ncvt.u64.u32 %d1, %r10;\nor.b64 %d1, %d1, "            \
  "0x4000004000010000;\n"                                                                          \
  "mov.u32 %r11, b;\nshr.u32 %r11, %r11, 4;\ncvt.u64.u32 %d2, %r11;\nor.b64 %d2, %d2, "            \
  "0x4000004000010000;\n"
#define ZERO                                                                                       \
  "mov.f32 %f0, 0f00000000;\nmov.f32 %f1, 0f00000000;\nmov.f32 %f2, 0f00000000;\nmov.f32 %f3, "    \
  "0f00000000;\n"
#define MMA                                                                                        \
  "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3}, %d1, %d2, 1, 1, 1, "  \
  "0, 0;\n"
#define WFENCE "wgmma.fence.sync.aligned;\n"
#define WCOMMIT "wgmma.commit_group.sync.aligned;\n"
#define WWAIT(n) "wgmma.wait_group.sync.aligned " #n ";\n"
#define USE "add.f32 %f4, %f0, %f1;\n"

START_TEST(s9_7_15_6_fence_mma_commit_wait) {
  WG(DESCRIPTORS ZERO WFENCE MMA WCOMMIT WWAIT(0) USE, "");
}
END_TEST

START_TEST(s9_7_15_7_1_no_fence) {
  WG(DESCRIPTORS ZERO MMA WCOMMIT WWAIT(0) USE, "wgmma-fence-missing");
  WG(DESCRIPTORS WFENCE ZERO MMA WCOMMIT WWAIT(0) USE, "wgmma-fence-missing");
}
END_TEST

START_TEST(s9_7_15_7_3_accumulator_read_too_early) {
  WG(DESCRIPTORS ZERO WFENCE MMA WCOMMIT USE WWAIT(0), "wgmma-pending-read");
  WG(DESCRIPTORS ZERO WFENCE MMA WCOMMIT WWAIT(1) USE WWAIT(0), "wgmma-pending-read");
}
END_TEST

START_TEST(s9_7_15_7_3_accumulator_written_too_early) {
  WG(DESCRIPTORS ZERO WFENCE MMA WCOMMIT ZERO WWAIT(0), "wgmma-pending-overwrite");
}
END_TEST

START_TEST(s9_7_15_7_2_no_commit) {
  WG(DESCRIPTORS ZERO WFENCE MMA WWAIT(0), "wgmma-group-protocol");
}
END_TEST

START_TEST(s9_7_15_7_3_no_wait) {
  WG(DESCRIPTORS ZERO WFENCE MMA WCOMMIT, "wgmma-group-protocol");
}
END_TEST

START_TEST(s9_7_15_5_accumulators_never_written) {
  WG(DESCRIPTORS WFENCE MMA WCOMMIT WWAIT(0), "fragment-accumulator-uninitialized");
}
END_TEST

START_TEST(s9_7_15_1_incomplete_warpgroup) {
  PtxRun run = run_ptx("sm_90a", 64, 1, WGMMA_SHARED, DESCRIPTORS ZERO WFENCE MMA WCOMMIT WWAIT(0));
  ck_assert_str_eq(run.kinds, "wgmma-incomplete-warpgroup");
  kc_arena_free(run.arena);
}
END_TEST

#define STORE_A                                                                                    \
  "mov.u32 %r4, a;\nshl.b32 %r5, %r0, 4;\nadd.u32 %r4, %r4, %r5;\nst.shared.u32 [%r4], %r0;\n"

START_TEST(s8_6_shared_operand_needs_a_proxy_fence) {
  WG(DESCRIPTORS ZERO STORE_A
     "fence.proxy.async.shared::cta;\nbar.sync 0;\n" WFENCE MMA WCOMMIT WWAIT(0),
     "");
  WG(DESCRIPTORS ZERO STORE_A "bar.sync 0;\n" WFENCE MMA WCOMMIT WWAIT(0),
     "wgmma-smem-no-proxy-fence");
}
END_TEST

START_TEST(s9_7_15_5_1_descriptor_past_its_array) {
  WG("mov.u32 %r10, a;\nshr.u32 %r10, %r10, 4;\ncvt.u64.u32 %d1, %r10;\n"
     "or.b64 %d1, %d1, 0x4000040000010000;\n" /* stride offset not divided by 16 */
     "mov.u32 %r11, b;\nshr.u32 %r11, %r11, 4;\ncvt.u64.u32 %d2, %r11;\n"
     "or.b64 %d2, %d2, 0x4000004000010000;\n" ZERO WFENCE MMA WCOMMIT WWAIT(0),
     "wgmma-operand-outside-tile");
}
END_TEST

START_TEST(s9_7_15_5_1_descriptor_does_not_advance) {
  WG(DESCRIPTORS ZERO WFENCE MMA MMA WCOMMIT WWAIT(0), "wgmma-descriptor-not-advanced");
  WG(DESCRIPTORS ZERO WFENCE MMA
     "add.u64 %d1, %d1, 2;\nadd.u64 %d2, %d2, 2;\n" MMA WCOMMIT WWAIT(0),
     "");
}
END_TEST

/* ---- tcgen05 ---- */

#define TC_SHARED                                                                                  \
  ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 4 .b32 slot;\n"         \
  ".shared .align 1024 .b8 a[16384]; .shared .align 1024 .b8 b[8192];\n"
#define TC(body, kinds) expect_kinds("sm_100a", 128, 1, TC_SHARED, body, kinds)

#define ALLOC(columns)                                                                             \
  "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra ALLOCATED;\nmov.u32 %r20, slot;\nmov.u32 %r21, " #columns    \
  ";\ntcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r20], %r21;\n"                     \
  "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nALLOCATED:\nbar.sync 0;\n"          \
  "ld.shared.b32 %r22, [slot];\n"
#define FREE(columns)                                                                              \
  "bar.sync 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra FREED;\nmov.u32 %r21, " #columns                \
  ";\ntcgen05.dealloc.cta_group::1.sync.aligned.b32 %r22, %r21;\nFREED:\n"
/* M = 128, N = 64, bf16 to f32; K-major, 128-byte swizzle. */
#define TC_DESCRIPTORS                                                                             \
  "mov.u32 %r10, a;\nshr.u32 %r10, %r10, 4;\ncvt.u64.u32 %d1, %r10;\nor.b64 %d1, %d1, "            \
  "0x4000404000010000;\n"                                                                          \
  "mov.u32 %r11, b;\nshr.u32 %r11, %r11, 4;\ncvt.u64.u32 %d2, %r11;\nor.b64 %d2, %d2, "            \
  "0x4000404000010000;\nmov.u32 %r23, 0x8100490;\nsetp.ne.u32 %p5, %r0, %r0;\n"
#define TC_MMA "tcgen05.mma.cta_group::1.kind::f16 [%r22], %d1, %d2, %r23, %p5;\n"
#define TC_COMMIT                                                                                  \
  "mov.u32 %r24, full;\ntcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "    \
  "[%r24];\n"
#define THREAD_0(label, text) "setp.ne.u32 %p2, %r0, 0;\n@%p2 bra " label ";\n" text label ":\n"
/* Address of the warp's own lanes. */
#define LANES "shl.b32 %r25, %r2, 21;\nadd.u32 %r26, %r22, %r25;\n"
#define LD "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r27}, [%r26];\n"
#define ST "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r26], {%r0};\n"
#define BEFORE "tcgen05.fence::before_thread_sync;\n"
#define AFTER "tcgen05.fence::after_thread_sync;\n"
#define WAIT_LD "tcgen05.wait::ld.sync.aligned;\n"
#define WAIT_ST "tcgen05.wait::st.sync.aligned;\n"

START_TEST(s9_7_16_6_4_mma_commit_wait_fence_ld) {
  TC(INIT(1, 1) ALLOC(64) TC_DESCRIPTORS THREAD_0("M", TC_MMA TC_COMMIT) WAIT("full", "0", "W")
         AFTER LANES LD WAIT_LD BEFORE FREE(64),
     "");
}
END_TEST

START_TEST(s9_7_16_6_4_no_fence_after) {
  TC(INIT(1, 1) ALLOC(64) TC_DESCRIPTORS THREAD_0("M", TC_MMA TC_COMMIT) WAIT("full", "0", "W")
         LANES LD WAIT_LD FREE(64),
     "tcgen05-thread-sync-fence");
}
END_TEST

START_TEST(s9_7_16_12_1_no_commit) {
  TC(INIT(1, 1) ALLOC(64)
         TC_DESCRIPTORS THREAD_0("M", TC_MMA "mbarrier.arrive.shared::cta.b64 _, [full];\n")
             WAIT("full", "0", "W") AFTER LANES LD WAIT_LD FREE(64),
     "tcgen05-commit-missing");
}
END_TEST

START_TEST(s9_7_16_12_1_commit_by_another_thread) {
  TC(INIT(1, 1) ALLOC(64)
         TC_DESCRIPTORS THREAD_0("M", TC_MMA) "setp.ne.u32 %p2, %r0, 32;\n@%p2 bra C;\n" TC_COMMIT
                                              "C:\n" FREE(64),
     "tcgen05-commit-wrong-thread");
}
END_TEST

START_TEST(s9_7_16_6_4_st_barrier_ld) {
  TC(ALLOC(64) LANES ST WAIT_ST BEFORE "bar.sync 0;\n" AFTER LD WAIT_LD FREE(64), "");
  TC(ALLOC(64) LANES ST LD WAIT_LD WAIT_ST FREE(64), "tcgen05-wait-ld-st-missing");
}
END_TEST

START_TEST(s9_7_16_7_1_columns) {
  TC(ALLOC(48) FREE(48), "tcgen05-alloc-columns");
  TC(ALLOC(1024) "", "tcgen05-tmem-exceeds-sm tcgen05-dealloc-missing");
}
END_TEST

START_TEST(s9_7_16_7_1_never_freed) {
  TC(ALLOC(64), "tcgen05-dealloc-missing");
}
END_TEST

START_TEST(s9_7_16_7_1_wrong_address) {
  TC(ALLOC(64) "mov.u32 %r22, slot;\n" FREE(64), "tcgen05-dealloc-address");
}
END_TEST

START_TEST(s9_7_16_7_1_column_outside) {
  TC(ALLOC(64) LANES "add.u32 %r26, %r26, 64;\n" LD WAIT_LD FREE(64), "tcgen05-tmem-unallocated");
}
END_TEST

START_TEST(s9_7_16_8_lanes_of_another_warp) {
  TC(ALLOC(64) "shl.b32 %r25, %r2, 20;\nadd.u32 %r26, %r22, %r25;\n" LD WAIT_LD FREE(64),
     "tcgen05-ld-lane-partition");
}
END_TEST

START_TEST(s9_7_16_10_issued_by_a_warp) {
  PtxRun run = run_ptx("sm_100a", 128, 1, TC_SHARED,
                       INIT(32, 1) ALLOC(64) TC_DESCRIPTORS
                       "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra M;\n" TC_MMA TC_COMMIT
                       "M:\n" WAIT("full", "0", "W") FREE(64));
  ck_assert_ptr_nonnull(strstr(run.kinds, "tcgen05-issue-not-single-thread"));
  kc_arena_free(run.arena);
}
END_TEST

START_TEST(s9_7_16_4_1_version_of_the_descriptor) {
  TC(INIT(1, 1) ALLOC(64) TC_DESCRIPTORS
     "and.b64 %d1, %d1, 0xffff3fffffffffff;\n" THREAD_0("M", TC_MMA TC_COMMIT)
         WAIT("full", "0", "W") FREE(64),
     "tcgen05-smem-descriptor");
}
END_TEST

START_TEST(s9_7_16_2_1_shape) {
  TC(INIT(1, 1) ALLOC(64) TC_DESCRIPTORS
     "mov.u32 %r23, 0x6100490;\n" THREAD_0("M", TC_MMA TC_COMMIT) WAIT("full", "0", "W") FREE(64),
     "tcgen05-mma-shape");
}
END_TEST

START_TEST(s9_7_16_10_accumulates_into_nothing) {
  TC(INIT(1, 1) ALLOC(64) TC_DESCRIPTORS
     "setp.eq.u32 %p5, %r0, %r0;\n" THREAD_0("M", TC_MMA TC_COMMIT) WAIT("full", "0", "W") FREE(64),
     "tcgen05-accumulate-uninitialized");
}
END_TEST

START_TEST(s9_7_16_8_collective_by_one_thread) {
  TC(ALLOC(64) LANES THREAD_0("T", LD WAIT_LD) FREE(64), "tcgen05-divergent-collective");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/tensor_core");
  TCase *tcase = tcase_create("tensor_core");
  tcase_set_timeout(tcase, 60);
  tcase_add_test(tcase, s9_7_15_6_fence_mma_commit_wait);
  tcase_add_test(tcase, s9_7_15_7_1_no_fence);
  tcase_add_test(tcase, s9_7_15_7_3_accumulator_read_too_early);
  tcase_add_test(tcase, s9_7_15_7_3_accumulator_written_too_early);
  tcase_add_test(tcase, s9_7_15_7_2_no_commit);
  tcase_add_test(tcase, s9_7_15_7_3_no_wait);
  tcase_add_test(tcase, s9_7_15_5_accumulators_never_written);
  tcase_add_test(tcase, s9_7_15_1_incomplete_warpgroup);
  tcase_add_test(tcase, s8_6_shared_operand_needs_a_proxy_fence);
  tcase_add_test(tcase, s9_7_15_5_1_descriptor_past_its_array);
  tcase_add_test(tcase, s9_7_15_5_1_descriptor_does_not_advance);
  tcase_add_test(tcase, s9_7_16_6_4_mma_commit_wait_fence_ld);
  tcase_add_test(tcase, s9_7_16_6_4_no_fence_after);
  tcase_add_test(tcase, s9_7_16_12_1_no_commit);
  tcase_add_test(tcase, s9_7_16_12_1_commit_by_another_thread);
  tcase_add_test(tcase, s9_7_16_6_4_st_barrier_ld);
  tcase_add_test(tcase, s9_7_16_7_1_columns);
  tcase_add_test(tcase, s9_7_16_7_1_never_freed);
  tcase_add_test(tcase, s9_7_16_7_1_wrong_address);
  tcase_add_test(tcase, s9_7_16_7_1_column_outside);
  tcase_add_test(tcase, s9_7_16_8_lanes_of_another_warp);
  tcase_add_test(tcase, s9_7_16_10_issued_by_a_warp);
  tcase_add_test(tcase, s9_7_16_4_1_version_of_the_descriptor);
  tcase_add_test(tcase, s9_7_16_2_1_shape);
  tcase_add_test(tcase, s9_7_16_10_accumulates_into_nothing);
  tcase_add_test(tcase, s9_7_16_8_collective_by_one_thread);
  suite_add_tcase(suite, tcase);
  return suite;
}
