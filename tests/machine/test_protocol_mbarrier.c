/* mbarrier objects and waits (PTX ISA 9.7.13.15), bulk copies that complete on them (9.7.9.25). */
#include "protocol.h"

/* Thread 0 announces `bytes` and copies 1024 into the tile. */
#define LOAD(bytes)                                                                                \
  "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], " #bytes ";\n"                             \
  "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], 1024, "        \
  "[full];\n"

#define THREAD_0_LOADS(bytes) "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra LOADED;\n" LOAD(bytes) "LOADED:\n"

#define READ_TILE "mov.u32 %r4, tile;\nld.shared.u32 %r3, [%r4];\n"

START_TEST(s9_7_13_15_16_wait_orders_the_bytes_of_the_phase) {
  EXPECT_KINDS(64, INIT(1, 1) THREAD_0_LOADS(1024) WAIT("full", "0", "W") READ_TILE, "");
}
END_TEST

START_TEST(s9_7_13_15_16_reading_without_a_wait_is_a_race) {
  EXPECT_KINDS(64, INIT(1, 1) THREAD_0_LOADS(1024) READ_TILE, "pipeline-stage-race");
}
END_TEST

START_TEST(s9_7_13_15_16_fresh_barrier_passes_parity_1) {
  EXPECT_KINDS(64, INIT(1, 1) THREAD_0_LOADS(1024) WAIT("full", "1", "W") READ_TILE,
               "mbarrier-initial-parity");
}
END_TEST

START_TEST(s9_7_13_15_16_try_wait_may_return_false) {
  EXPECT_KINDS(64,
               INIT(1, 1) THREAD_0_LOADS(
                   1024) "mbarrier.try_wait.parity.shared::cta.b64 %p7, [full], 0;\n" READ_TILE,
               "mbarrier-wait-not-looped");
}
END_TEST

START_TEST(s9_7_13_15_6_phase_waits_for_bytes) {
  EXPECT_KINDS(64, INIT(1, 1) THREAD_0_LOADS(2048) WAIT("full", "0", "W") READ_TILE,
               "mbarrier-expect-tx-mismatch");
}
END_TEST

START_TEST(s9_7_13_15_6_tx_count_below_zero_does_not_complete) {
  EXPECT_KINDS(64, INIT(1, 1) THREAD_0_LOADS(512) WAIT("full", "0", "W") READ_TILE,
               "mbarrier-expect-tx-mismatch");
}
END_TEST

START_TEST(s9_7_13_15_5_bytes_without_expect) {
  EXPECT_KINDS(
      64,
      INIT(1, 1) "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra LOADED;\n"
                 "mbarrier.arrive.shared::cta.b64 _, [full];\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], "
                 "1024, [full];\nLOADED:\n" WAIT("full", "0", "W") READ_TILE,
      "mbarrier-expect-tx-missing");
}
END_TEST

START_TEST(s9_7_13_15_5_copy_may_precede_its_expect) {
  EXPECT_KINDS(
      64,
      INIT(1, 1) "setp.ne.u32 %p1, %r0, 0;\n@%p1 bra LOADED;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%d0], "
                 "1024, [full];\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1024;\n"
                 "LOADED:\n" WAIT("full", "0", "W") READ_TILE,
      "");
}
END_TEST

START_TEST(s9_7_13_15_9_count_0) {
  EXPECT_KINDS(32, INIT(0, 1), "mbarrier-count-range");
}
END_TEST

START_TEST(s9_7_13_15_9_use_without_init) {
  EXPECT_KINDS(32, "mbarrier.arrive.shared::cta.b64 _, [full];\n", "mbarrier-init-missing");
}
END_TEST

START_TEST(s9_7_13_15_9_init_not_ordered) {
  EXPECT_KINDS(64,
               "setp.ne.u32 %p0, %r0, 0;\n@%p0 bra NEXT;\n"
               "mbarrier.init.shared::cta.b64 [full], 64;\nNEXT:\n"
               "mbarrier.arrive.shared::cta.b64 _, [full];\n",
               "mbarrier-init-not-synchronized");
}
END_TEST

START_TEST(s9_7_13_15_9_init_of_a_used_barrier) {
  EXPECT_KINDS(
      32,
      INIT(32, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT(
          "full", "0", "W") "bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra DONE;\n"
                            "mbarrier.init.shared::cta.b64 [full], 32;\nDONE:\nbar.sync 0;\n",
      "mbarrier-reinit-live");
}
END_TEST

START_TEST(s9_7_13_15_11_inval_makes_init_legal) {
  EXPECT_KINDS(
      32,
      INIT(32, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT(
          "full", "0", "W") "bar.sync 0;\nsetp.ne.u32 %p1, %r0, 0;\n@%p1 bra DONE;\n"
                            "mbarrier.inval.shared::cta.b64 [full];\n"
                            "mbarrier.init.shared::cta.b64 [full], 32;\nDONE:\nbar.sync 0;\n",
      "");
}
END_TEST

START_TEST(s9_7_13_15_13_each_lane_arrives) {
  EXPECT_KINDS(
      32, INIT(32, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT("full", "0", "W"), "");
  EXPECT_KINDS(32, INIT(1, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\n",
               "mbarrier-over-arrival");
}
END_TEST

START_TEST(s9_7_13_15_13_count_too_high) {
  EXPECT_KINDS(32,
               INIT(33, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT("full", "0", "W"),
               "mbarrier-arrive-count-mismatch");
}
END_TEST

START_TEST(s9_7_13_15_14_arrive_drop_lowers_later_phases) {
  EXPECT_KINDS(
      64,
      INIT(64, 1) "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra STAYS;\n"
                  "mbarrier.arrive_drop.shared::cta.b64 _, [full];\nret;\n"
                  "STAYS:\nmbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT(
                      "full", "0",
                      "W0") "mbarrier.arrive.shared::cta.b64 _, [full];\n" WAIT("full", "1", "W1"),
      "");
}
END_TEST

START_TEST(s9_7_13_15_16_unreduced_parity) {
  EXPECT_KINDS(
      32,
      INIT(32, 1) "mbarrier.arrive.shared::cta.b64 _, [full];\nmov.u32 %r5, 2;\n"
                  "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p7, [full], %r5;\n@!%p7 bra W;\n",
      "mbarrier-parity-not-reduced");
}
END_TEST

START_TEST(s9_7_13_15_16_state_token) {
  EXPECT_KINDS(
      32,
      INIT(32, 1) "mbarrier.arrive.shared::cta.b64 %d1, [full];\n"
                  "W:\nmbarrier.try_wait.shared::cta.b64 %p7, [full], %d1;\n@!%p7 bra W;\n",
      "");
}
END_TEST

/* A ring of one stage: warp 1 loads, warp 0 reads. `start` is the producer's first parity. */
#define RING(start, flip, release)                                                                 \
  INIT(1, 32)                                                                                      \
  "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra CONSUMER;\n"               \
  "setp.ne.u32 %p2, %r1, 0;\n@%p2 ret;\nmov.u32 %r6, " start ";\n"                                 \
  "PRODUCE:\n" WAIT("empty", "%r6", "WP")                                                          \
      LOAD(1024) "xor.b32 %r6, %r6, 1;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 5;\n@%p3 bra " \
                 "PRODUCE;\nret;\n"                                                                \
                 "CONSUMER:\n" WAIT("full", "%r6", "WC") READ_TILE release flip                    \
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 5;\n@%p3 bra CONSUMER;\n"

#define FLIP "xor.b32 %r6, %r6, 1;\n"
#define UNFENCED "mbarrier.arrive.shared::cta.b64 _, [empty];\n"
#define RELEASE "fence.proxy.async.shared::cta;\n" UNFENCED

START_TEST(s9_7_13_15_4_ring) {
  EXPECT_KINDS(64, RING("1", FLIP, RELEASE), "");
}
END_TEST

/* By the letter of the memory model (8.6); the rule is off by default. */
START_TEST(s8_6_refill_of_what_was_read) {
  EXPECT_KINDS(64, RING("1", FLIP, UNFENCED), "tma-war-no-proxy-fence");
}
END_TEST

START_TEST(s9_7_13_15_4_consumer_does_not_flip) {
  EXPECT_KINDS(64, RING("1", "", RELEASE), "mbarrier-phase-not-flipped");
}
END_TEST

START_TEST(s9_7_13_15_4_producer_starts_with_parity_0) {
  EXPECT_KINDS(64, RING("0", FLIP, RELEASE), "mbarrier-initial-parity");
}
END_TEST

START_TEST(s9_7_13_15_4_lanes_that_lag) {
  /* All lanes of the producer wait, lane 0 loads: nothing tells the others' wait from the load. */
  EXPECT_KINDS(
      64,
      INIT(1, 32) "mov.u32 %r5, 0;\nmov.u32 %r6, 0;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra CONSUMER;\n"
                  "mov.u32 %r6, 1;\nsetp.ne.u32 %p2, %r1, 0;\n"
                  "PRODUCE:\n" WAIT("empty", "%r6", "WP") "@%p2 bra SKIP;\n" LOAD(
                      1024) "SKIP:\nxor.b32 %r6, %r6, 1;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, "
                            "%r5, 5;\n"
                            "@%p3 bra PRODUCE;\nret;\n"
                            "CONSUMER:\n" WAIT("full", "%r6", "WC") READ_TILE RELEASE FLIP
      "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 5;\n@%p3 bra CONSUMER;\n",
      "mbarrier-wait-not-converged");
}
END_TEST

START_TEST(s9_7_13_15_15_cp_async_arrive) {
  EXPECT_KINDS(32,
               INIT(32, 1) "mov.u32 %r4, tile;\nshl.b32 %r5, %r0, 4;\nadd.u32 %r4, %r4, %r5;\n"
                           "cp.async.cg.shared.global [%r4], [%d0], 16;\n"
                           "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full];\n" WAIT(
                               "full", "0", "W") READ_TILE,
               "");
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/mbarrier");
  TCase *tcase = tcase_create("mbarrier");
  tcase_add_test(tcase, s9_7_13_15_16_wait_orders_the_bytes_of_the_phase);
  tcase_add_test(tcase, s9_7_13_15_16_reading_without_a_wait_is_a_race);
  tcase_add_test(tcase, s9_7_13_15_16_fresh_barrier_passes_parity_1);
  tcase_add_test(tcase, s9_7_13_15_16_try_wait_may_return_false);
  tcase_add_test(tcase, s9_7_13_15_6_phase_waits_for_bytes);
  tcase_add_test(tcase, s9_7_13_15_6_tx_count_below_zero_does_not_complete);
  tcase_add_test(tcase, s9_7_13_15_5_bytes_without_expect);
  tcase_add_test(tcase, s9_7_13_15_5_copy_may_precede_its_expect);
  tcase_add_test(tcase, s9_7_13_15_9_count_0);
  tcase_add_test(tcase, s9_7_13_15_9_use_without_init);
  tcase_add_test(tcase, s9_7_13_15_9_init_not_ordered);
  tcase_add_test(tcase, s9_7_13_15_9_init_of_a_used_barrier);
  tcase_add_test(tcase, s9_7_13_15_11_inval_makes_init_legal);
  tcase_add_test(tcase, s9_7_13_15_13_each_lane_arrives);
  tcase_add_test(tcase, s9_7_13_15_13_count_too_high);
  tcase_add_test(tcase, s9_7_13_15_14_arrive_drop_lowers_later_phases);
  tcase_add_test(tcase, s9_7_13_15_16_unreduced_parity);
  tcase_add_test(tcase, s9_7_13_15_16_state_token);
  tcase_add_test(tcase, s9_7_13_15_4_ring);
  tcase_add_test(tcase, s8_6_refill_of_what_was_read);
  tcase_add_test(tcase, s9_7_13_15_4_consumer_does_not_flip);
  tcase_add_test(tcase, s9_7_13_15_4_producer_starts_with_parity_0);
  tcase_add_test(tcase, s9_7_13_15_4_lanes_that_lag);
  tcase_add_test(tcase, s9_7_13_15_15_cp_async_arrive);
  suite_add_tcase(suite, tcase);
  return suite;
}
