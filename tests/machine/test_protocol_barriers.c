/* Named barriers (PTX ISA 9.7.13.1), cluster barriers and remote memory (9.7.13.3, 5.1.7), warp
 * operations, setmaxnreg (9.7.19.5), programmatic launches (9.7.13.13). */
#include "protocol.h"

#define CLUSTER(body, kinds) expect_kinds("sm_90a", 32, 2, SHARED, body, kinds)
#define MEET "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n"
#define PEER                                                                                       \
  "mov.u32 %r10, %cluster_ctarank;\nxor.b32 %r11, %r10, 1;\nmov.u32 %r12, tile;\n"                 \
  "mapa.shared::cluster.u32 %r13, %r12, %r11;\n"

START_TEST(s9_7_13_1_identifier_range) {
  EXPECT_KINDS(64, "mov.u32 %r5, 16;\nbar.sync %r5, 64;\n", "barrier-id-range");
}
END_TEST

START_TEST(s9_7_13_1_count_multiple_of_32) {
  EXPECT_KINDS(64, "mov.u32 %r5, 48;\nbar.sync 1, %r5;\n", "barrier-thread-count");
}
END_TEST

START_TEST(s9_7_13_1_explicit_count_does_not_shrink) {
  EXPECT_KINDS(128, "setp.ge.u32 %p1, %r0, 96;\n@%p1 ret;\nbar.sync 1, 128;\n",
               "barrier-thread-count");
}
END_TEST

START_TEST(s9_7_13_1_block_barrier_without_those_who_left) {
  EXPECT_KINDS(64, "setp.ge.u32 %p1, %r0, 32;\n@%p1 ret;\nbar.sync 0;\n",
               "barrier-syncthreads-in-role-branch");
}
END_TEST

START_TEST(s9_7_13_1_producer_and_consumer) {
  EXPECT_KINDS(
      64,
      "mov.u32 %r5, 0;\nsetp.eq.u32 %p1, %r2, 0;\nLOOP:\n@%p1 bra C;\n"
      "bar.sync 2, 64;\nbar.arrive 1, 64;\nbra N;\nC:\nbar.arrive 2, 64;\nbar.sync 1, 64;\n"
      "N:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 4;\n@%p3 bra LOOP;\n",
      "");
}
END_TEST

START_TEST(s9_7_13_1_arrive_again_before_completion) {
  EXPECT_KINDS(64,
               "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra C;\nbar.arrive 1, 64;\nbar.arrive 1, 64;\nret;\n"
               "C:\nbar.sync 1, 64;\nbar.sync 1, 64;\n",
               "barrier-arrive-overrun");
}
END_TEST

START_TEST(s9_7_13_1_two_groups_on_one_barrier) {
  EXPECT_KINDS(128, "bar.sync 1, 64;\n", "barrier-id-reuse-conflict");
}
END_TEST

START_TEST(s9_7_13_1_reuse_after_a_block_barrier) {
  EXPECT_KINDS(128,
               "setp.ge.u32 %p1, %r0, 64;\n@%p1 bra A;\nbar.sync 1, 64;\nA:\nbar.sync 0;\n"
               "setp.lt.u32 %p1, %r0, 64;\n@%p1 bra B;\nbar.sync 1, 64;\nB:\n",
               "");
}
END_TEST

START_TEST(s9_7_13_1_counts_differ) {
  EXPECT_KINDS(64,
               "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra C;\nbar.arrive 1, 32;\nret;\n"
               "C:\nbar.sync 1, 64;\n",
               "barrier-count-mismatch");
}
END_TEST

START_TEST(s9_7_13_1_role_that_waits_elsewhere) {
  EXPECT_KINDS(
      64,
      INIT(1, 1) "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra C;\n" WAIT(
          "full", "0", "W") "ret;\n"
                            "C:\nbar.sync 0;\nmbarrier.arrive.shared::cta.b64 _, [full];\n",
      "barrier-syncthreads-in-role-branch");
}
END_TEST

/* ---- polling ---- */

#define TEN(text) text text text text text text text text text text

START_TEST(straight_code_does_not_poll) {
  EXPECT_KINDS(64, TEN(TEN(TEN(TEN("mov.u32 %r3, 7;\n")))) TEN(TEN(TEN("mov.u32 %r4, %r3;\n"))),
               "");
}
END_TEST

START_TEST(loop_that_polls) {
  EXPECT_KINDS(32,
               "mov.u64 %d1, full;\nmov.u32 %r3, 7;\nst.shared.u32 [%d1], %r3;\n"
               "P:\nld.volatile.shared.u32 %r4, [%d1];\nsetp.eq.u32 %p1, %r4, 7;\n@%p1 bra P;\n",
               "pipeline-deadlock");
}
END_TEST

/* ---- warps ---- */

START_TEST(s9_7_9_9_mask_without_the_executing_lane) {
  EXPECT_KINDS(32, "shfl.sync.idx.b32 %r3, %r0, 0, 31, 15;\n", "warp-sync-mask-mismatch");
}
END_TEST

START_TEST(s9_7_9_9_source_outside) {
  EXPECT_KINDS(32,
               "setp.ge.u32 %p1, %r0, 16;\n@%p1 bra E;\n"
               "shfl.sync.idx.b32 %r3, %r0, 20, 31, 0xffff;\nE:\n",
               "warp-shuffle-inactive-source");
}
END_TEST

START_TEST(s9_7_13_10_lanes_that_never_come) {
  EXPECT_KINDS(
      32,
      INIT(1, 1) "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra E;\nbar.warp.sync 0xffffffff;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [full];\nret;\nE:\n" WAIT("full", "0", "W"),
      "warp-sync-mask-absent-lane");
}
END_TEST

/* ---- clusters ---- */

START_TEST(s9_7_13_3_remote_access_between_barriers) {
  CLUSTER(PEER MEET "st.shared::cluster.u32 [%r13], %r0;\n" MEET, "");
}
END_TEST

START_TEST(s5_1_7_peer_not_started) {
  CLUSTER(PEER "st.shared::cluster.u32 [%r13], %r0;\n" MEET, "cluster-start-without-sync");
}
END_TEST

START_TEST(s5_1_7_peer_may_have_exited) {
  CLUSTER(PEER MEET "ld.shared::cluster.u32 %r3, [%r13];\n", "cluster-exit-without-sync");
}
END_TEST

START_TEST(s9_7_13_3_wait_without_arrive) {
  CLUSTER("barrier.cluster.wait.aligned;\n", "cluster-barrier-unpaired");
}
END_TEST

START_TEST(s9_7_13_3_arrive_twice) {
  CLUSTER("barrier.cluster.arrive.aligned;\nbarrier.cluster.arrive.aligned;\n"
          "barrier.cluster.wait.aligned;\n",
          "cluster-barrier-unpaired");
}
END_TEST

#define REMOTE_ARRIVE                                                                              \
  "mov.u32 %r10, %cluster_ctarank;\nxor.b32 %r11, %r10, 1;\nmov.u32 %r12, full;\n"                 \
  "mapa.shared::cluster.u32 %r13, %r12, %r11;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra A;\n"            \
  "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r13];\nA:\n"
#define INIT_FULL(fence)                                                                           \
  "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra I;\nmbarrier.init.shared::cta.b64 [full], 1;\n" fence "I:\n"
#define RELAXED "barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;\n"

START_TEST(s9_7_13_4_init_fence_and_relaxed_barrier) {
  CLUSTER(INIT_FULL("fence.mbarrier_init.release.cluster;\n")
              RELAXED REMOTE_ARRIVE WAIT("full", "0", "W"),
          "");
}
END_TEST

START_TEST(s9_7_13_4_relaxed_barrier_alone) {
  CLUSTER(INIT_FULL("") RELAXED REMOTE_ARRIVE WAIT("full", "0", "W"),
          "mbarrier-init-cluster-visibility");
}
END_TEST

START_TEST(s9_7_13_15_13_remote_arrive_on_a_cta_that_may_exit) {
  CLUSTER(INIT_FULL("") MEET REMOTE_ARRIVE, "cluster-remote-barrier-exited");
}
END_TEST

START_TEST(s9_7_13_15_16_wait_on_a_remote_barrier) {
  CLUSTER(INIT_FULL("") MEET
          "mov.u32 %r10, %cluster_ctarank;\nxor.b32 %r11, %r10, 1;\nmov.u32 %r12, full;\n"
          "mapa.shared::cluster.u32 %r13, %r12, %r11;\n"
          "mbarrier.test_wait.parity.shared::cta.b64 %p7, [%r13], 1;\n" MEET,
          "mbarrier-remote-wait");
}
END_TEST

/* ---- registers, grids ---- */

START_TEST(s9_7_19_5_not_uniform) {
  EXPECT_KINDS(128,
               "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\nsetmaxnreg.dec.sync.aligned.u32 40;\nret;\n"
               "A:\nsetmaxnreg.dec.sync.aligned.u32 48;\n",
               "register-setmaxnreg-not-uniform");
}
END_TEST

START_TEST(s9_7_13_13_read_by_a_warp_that_never_waits) {
  EXPECT_KINDS(64,
               "setp.eq.u32 %p1, %r2, 0;\n@!%p1 bra R;\ngriddepcontrol.wait;\nR:\n"
               "ld.global.u32 %r3, [%d0];\n",
               "pdl-read-before-wait");
  EXPECT_KINDS(64,
               "setp.eq.u32 %p1, %r2, 0;\n@!%p1 bra R;\ngriddepcontrol.wait;\nR:\nbar.sync 0;\n"
               "ld.global.u32 %r3, [%d0];\n",
               "");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/barriers");
  TCase *tcase = tcase_create("barriers");
  tcase_add_test(tcase, s9_7_13_1_identifier_range);
  tcase_add_test(tcase, s9_7_13_1_count_multiple_of_32);
  tcase_add_test(tcase, s9_7_13_1_explicit_count_does_not_shrink);
  tcase_add_test(tcase, s9_7_13_1_block_barrier_without_those_who_left);
  tcase_add_test(tcase, s9_7_13_1_producer_and_consumer);
  tcase_add_test(tcase, s9_7_13_1_arrive_again_before_completion);
  tcase_add_test(tcase, s9_7_13_1_two_groups_on_one_barrier);
  tcase_add_test(tcase, s9_7_13_1_reuse_after_a_block_barrier);
  tcase_add_test(tcase, s9_7_13_1_counts_differ);
  tcase_add_test(tcase, s9_7_13_1_role_that_waits_elsewhere);
  tcase_add_test(tcase, straight_code_does_not_poll);
  tcase_add_test(tcase, loop_that_polls);
  tcase_add_test(tcase, s9_7_9_9_mask_without_the_executing_lane);
  tcase_add_test(tcase, s9_7_9_9_source_outside);
  tcase_add_test(tcase, s9_7_13_10_lanes_that_never_come);
  tcase_add_test(tcase, s9_7_13_3_remote_access_between_barriers);
  tcase_add_test(tcase, s5_1_7_peer_not_started);
  tcase_add_test(tcase, s5_1_7_peer_may_have_exited);
  tcase_add_test(tcase, s9_7_13_3_wait_without_arrive);
  tcase_add_test(tcase, s9_7_13_3_arrive_twice);
  tcase_add_test(tcase, s9_7_13_4_init_fence_and_relaxed_barrier);
  tcase_add_test(tcase, s9_7_13_4_relaxed_barrier_alone);
  tcase_add_test(tcase, s9_7_13_15_13_remote_arrive_on_a_cta_that_may_exit);
  tcase_add_test(tcase, s9_7_13_15_16_wait_on_a_remote_barrier);
  tcase_add_test(tcase, s9_7_19_5_not_uniform);
  tcase_add_test(tcase, s9_7_13_13_read_by_a_warp_that_never_waits);
  suite_add_tcase(suite, tcase);
  return suite;
}
