/* Bulk stores and their groups, cp.async (PTX ISA 9.7.9.25), proxies (8.6). */
#include "protocol.h"

#define FENCE "fence.proxy.async.shared::cta;\n"
#define WRITE_TILE                                                                                 \
  "shl.b32 %r5, %r0, 2;\nmov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r5;\nst.shared.u32 [%r4], %r0;\n"
#define STORE(from) "cp.async.bulk.global.shared::cta.bulk_group [%d0], [" from "], 128;\n"
#define COMMIT "cp.async.bulk.commit_group;\n"
#define WAIT_READ(n) "cp.async.bulk.wait_group.read " #n ";\n"
#define THREAD_0(label, text) "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra " label ";\n" text label ":\n"

START_TEST(s9_7_9_25_4_store_after_fence_and_barrier) {
  EXPECT_KINDS(
      64, WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0("S", STORE("tile") COMMIT WAIT_READ(0)), "");
}
END_TEST

START_TEST(s8_6_fence_of_the_issuing_thread_counts) {
  EXPECT_KINDS(
      64, WRITE_TILE "bar.sync 0;\n" THREAD_0("S", FENCE STORE("tile") COMMIT WAIT_READ(0)), "");
}
END_TEST

START_TEST(s8_6_no_proxy_fence) {
  EXPECT_KINDS(64, WRITE_TILE "bar.sync 0;\n" THREAD_0("S", STORE("tile") COMMIT WAIT_READ(0)),
               "tma-store-missing-proxy-fence");
}
END_TEST

START_TEST(s8_6_fence_before_the_write_does_not_count) {
  EXPECT_KINDS(64,
               FENCE WRITE_TILE "bar.sync 0;\n" THREAD_0("S", STORE("tile") COMMIT WAIT_READ(0)),
               "tma-store-missing-proxy-fence");
}
END_TEST

START_TEST(s9_7_9_25_4_store_without_commit) {
  EXPECT_KINDS(64, WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0("S", STORE("tile") WAIT_READ(0)),
               "tma-store-not-committed");
}
END_TEST

START_TEST(s9_7_9_25_4_store_without_wait) {
  EXPECT_KINDS(64, WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0("S", STORE("tile") COMMIT),
               "tma-store-pending-at-exit");
}
END_TEST

START_TEST(s9_7_9_25_4_rewritten_before_the_wait) {
  EXPECT_KINDS(
      64,
      WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0(
          "S", STORE("tile") COMMIT) "bar.sync 0;\n" WRITE_TILE THREAD_0("E", WAIT_READ(0)),
      "tma-store-smem-reuse-without-wait");
}
END_TEST

START_TEST(s9_7_9_25_4_wait_then_barrier_then_rewrite) {
  EXPECT_KINDS(64,
               WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0(
                   "S", STORE("tile") COMMIT WAIT_READ(0)) "bar.sync 0;\n" WRITE_TILE,
               "");
}
END_TEST

START_TEST(s9_7_9_25_4_wait_leaves_the_group_pending) {
  EXPECT_KINDS(64,
               WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0(
                   "S", STORE("tile") COMMIT WAIT_READ(
                            1)) "bar.sync 0;\n" WRITE_TILE THREAD_0("E", WAIT_READ(0)),
               "tma-store-wait-too-lenient");
}
END_TEST

START_TEST(s9_7_9_25_4_wait_by_another_thread) {
  EXPECT_KINDS(64,
               WRITE_TILE FENCE "bar.sync 0;\n" THREAD_0(
                   "S", STORE("tile")) "setp.ne.u32 %p1, %r0, 1;\n@%p1 bra W;\n" COMMIT
                   WAIT_READ(0) "W:\nbar.sync 0;\n" WRITE_TILE,
               "tma-store-wait-wrong-thread");
}
END_TEST

START_TEST(s9_7_9_25_4_size_and_alignment) {
  EXPECT_KINDS(32,
               INIT(1, 1)
                   THREAD_0("L", "mov.u32 %r9, 24;\n"
                                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 24;\n"
                                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                                 "bytes [tile], [%d0], %r9, [full];\n") WAIT("full", "0", "W"),
               "tma-size-multiple-16");
  EXPECT_KINDS(32,
               INIT(1, 1)
                   THREAD_0("L", "add.u64 %d1, %d0, 4;\n"
                                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 32;\n"
                                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
                                 "bytes [tile], [%d1], 32, [full];\n") WAIT("full", "0", "W"),
               "tma-address-misaligned");
}
END_TEST

START_TEST(s9_7_9_25_4_issued_by_a_whole_warp) {
  PtxRun run = run_ptx("sm_90a", 32, 1, SHARED,
                       WRITE_TILE FENCE "bar.sync 0;\n" STORE("tile") COMMIT WAIT_READ(0));
  ck_assert_str_eq(run.kinds, "tma-issued-by-many-threads");
  kc_arena_free(run.arena);
}
END_TEST

/* ---- cp.async ---- */

#define CP                                                                                         \
  "shl.b32 %r5, %r0, 4;\nmov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r5;\ncp.async.cg.shared.global "   \
  "[%r4], [%d0], 16;\n"
#define OWN "ld.shared.u32 %r3, [%r4];\n"
#define ALL "mov.u32 %r6, tile;\nld.shared.u32 %r3, [%r6];\n"

START_TEST(s9_7_9_25_3_own_bytes_after_the_wait) {
  EXPECT_KINDS(64, CP "cp.async.commit_group;\ncp.async.wait_group 0;\n" OWN, "");
  EXPECT_KINDS(64, CP "cp.async.wait_all;\n" OWN, "");
}
END_TEST

START_TEST(s9_7_9_25_3_no_wait) {
  EXPECT_KINDS(64, CP "cp.async.commit_group;\n" OWN, "async-copy-wait-missing");
}
END_TEST

START_TEST(s9_7_9_25_3_others_need_a_barrier) {
  EXPECT_KINDS(64, CP "cp.async.commit_group;\ncp.async.wait_group 0;\n" ALL,
               "async-copy-wait-missing");
  EXPECT_KINDS(64, CP "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" ALL, "");
}
END_TEST

START_TEST(s9_7_9_25_3_wait_before_commit) {
  EXPECT_KINDS(64, CP "cp.async.wait_group 0;\ncp.async.commit_group;\nbar.sync 0;\n" ALL,
               "async-copy-wait-too-lenient");
}
END_TEST

START_TEST(s9_7_9_25_3_wait_of_the_wrong_kind) {
  EXPECT_KINDS(64, CP "cp.async.commit_group;\ncp.async.bulk.wait_group 0;\nbar.sync 0;\n" ALL,
               "async-copy-group-kind");
}
END_TEST

START_TEST(s9_7_9_25_3_refill_needs_a_barrier) {
  EXPECT_KINDS(64,
               CP "cp.async.commit_group;\ncp.async.wait_group 0;\nbar.sync 0;\n" ALL CP
                  "cp.async.commit_group;\ncp.async.wait_group 0;\n",
               "async-copy-refill-no-barrier");
}
END_TEST

START_TEST(ordinary_accesses_need_a_barrier) {
  EXPECT_KINDS(64, WRITE_TILE "bar.sync 0;\n" ALL, "");
  EXPECT_KINDS(64, WRITE_TILE ALL, "smem-race");
}
END_TEST

START_TEST(bytes_of_one_word_by_different_warps) {
  EXPECT_KINDS(64,
               "mov.u32 %r4, tile;\nadd.u32 %r4, %r4, %r2;\n"
               "st.shared.u8 [%r4], %r2;\n",
               "");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/copies");
  TCase *tcase = tcase_create("copies");
  tcase_add_test(tcase, s9_7_9_25_4_store_after_fence_and_barrier);
  tcase_add_test(tcase, s8_6_fence_of_the_issuing_thread_counts);
  tcase_add_test(tcase, s8_6_no_proxy_fence);
  tcase_add_test(tcase, s8_6_fence_before_the_write_does_not_count);
  tcase_add_test(tcase, s9_7_9_25_4_store_without_commit);
  tcase_add_test(tcase, s9_7_9_25_4_store_without_wait);
  tcase_add_test(tcase, s9_7_9_25_4_rewritten_before_the_wait);
  tcase_add_test(tcase, s9_7_9_25_4_wait_then_barrier_then_rewrite);
  tcase_add_test(tcase, s9_7_9_25_4_wait_leaves_the_group_pending);
  tcase_add_test(tcase, s9_7_9_25_4_wait_by_another_thread);
  tcase_add_test(tcase, s9_7_9_25_4_size_and_alignment);
  tcase_add_test(tcase, s9_7_9_25_4_issued_by_a_whole_warp);
  tcase_add_test(tcase, s9_7_9_25_3_own_bytes_after_the_wait);
  tcase_add_test(tcase, s9_7_9_25_3_no_wait);
  tcase_add_test(tcase, s9_7_9_25_3_others_need_a_barrier);
  tcase_add_test(tcase, s9_7_9_25_3_wait_before_commit);
  tcase_add_test(tcase, s9_7_9_25_3_wait_of_the_wrong_kind);
  tcase_add_test(tcase, s9_7_9_25_3_refill_needs_a_barrier);
  tcase_add_test(tcase, ordinary_accesses_need_a_barrier);
  tcase_add_test(tcase, bytes_of_one_word_by_different_warps);
  suite_add_tcase(suite, tcase);
  return suite;
}
