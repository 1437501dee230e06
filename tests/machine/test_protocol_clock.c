/* Vector clocks that are precise to the lane. */
#include <check.h>

#include "machine/order/clock.h"

Suite *test_suite(void);

static KcArena *arena;
static Clocks clocks;

static void setup(void) {
  arena = kc_arena_new();
  clocks_init(&clocks, arena);
  clocks_agents(&clocks, 4);
}

static void teardown(void) {
  kc_arena_free(arena);
}

START_TEST(raise_keeps_the_other_lanes) {
  Clock *c = clock_new(&clocks);
  clock_raise(&clocks, c, 1, CLOCK_ALL_LANES, 5);
  clock_raise(&clocks, c, 1, 1u << 3, 9);
  ck_assert_uint_eq(clock_time(&clocks, c, 1, 3), 9);
  ck_assert_uint_eq(clock_time(&clocks, c, 1, 4), 5);
  ck_assert_uint_eq(clock_time(&clocks, c, 2, 4), 0);
  ck_assert_uint_eq(clock_behind(&clocks, c, 1, CLOCK_ALL_LANES, 9), ~(1u << 3));
  ck_assert_uint_eq(clock_behind(&clocks, c, 1, CLOCK_ALL_LANES, 5), 0);
}
END_TEST

START_TEST(raise_never_lowers) {
  Clock *c = clock_new(&clocks);
  clock_raise(&clocks, c, 0, 3, 7);
  clock_raise(&clocks, c, 0, 1, 2);
  ck_assert_uint_eq(clock_time(&clocks, c, 0, 0), 7);
}
END_TEST

START_TEST(more_than_two_times_in_an_entry) {
  Clock *c = clock_new(&clocks);
  for (uint32_t lane = 0; lane < 32; lane++)
    clock_raise(&clocks, c, 2, 1u << lane, lane + 1);
  for (int lane = 0; lane < 32; lane++)
    ck_assert_uint_eq(clock_time(&clocks, c, 2, lane), (uint32_t)lane + 1);
  ck_assert_uint_eq(clock_behind(&clocks, c, 2, 0xff, 5), 0xf);
  clock_raise(&clocks, c, 2, CLOCK_ALL_LANES, 40);
  ck_assert_uint_eq(clock_time(&clocks, c, 2, 0), 40);
}
END_TEST

START_TEST(join_takes_the_later_of_each_lane) {
  Clock *a = clock_new(&clocks), *b = clock_new(&clocks);
  clock_raise(&clocks, a, 0, 0x0f, 3);
  clock_raise(&clocks, b, 0, 0xf0, 4);
  clock_raise(&clocks, b, 3, 1, 1);
  clock_join(&clocks, a, b);
  ck_assert_uint_eq(clock_time(&clocks, a, 0, 0), 3);
  ck_assert_uint_eq(clock_time(&clocks, a, 0, 7), 4);
  ck_assert_uint_eq(clock_time(&clocks, a, 0, 8), 0);
  ck_assert_uint_eq(clock_time(&clocks, a, 3, 0), 1);
  clock_join(&clocks, a, NULL);
  ck_assert_uint_eq(clock_time(&clocks, a, 0, 7), 4);
}
END_TEST

START_TEST(lift_copies_what_is_known_of_another_agent) {
  Clock *c = clock_new(&clocks);
  clock_raise(&clocks, c, 0, 2, 6);
  clock_lift(&clocks, c, 3, 0);
  ck_assert_uint_eq(clock_time(&clocks, c, 3, 1), 6);
  ck_assert_uint_eq(clock_time(&clocks, c, 3, 0), 0);
}
END_TEST

START_TEST(freed_clocks_come_back_empty) {
  Clock *c = clock_new(&clocks);
  clock_raise(&clocks, c, 1, 1, 9);
  clock_free(&clocks, c);
  Clock *again = clock_new(&clocks);
  ck_assert_uint_eq(clock_time(&clocks, again, 1, 0), 0);
  clock_free(&clocks, NULL);
}
END_TEST

START_TEST(an_elected_lane_releases_only_itself) {
  LaneClocks warp;
  lanes_init(&clocks, &warp, 0, CLOCK_ALL_LANES);
  Clock *published = clock_new(&clocks);
  uint32_t when = warp.now;
  lanes_release(&clocks, &warp, 1, published);
  ck_assert_uint_eq(clock_behind(&clocks, published, 0, CLOCK_ALL_LANES, when), ~1u);
  ck_assert_uint_gt(warp.now, when);
}
END_TEST

START_TEST(after_meeting_one_lane_speaks_for_all) {
  LaneClocks warp;
  lanes_init(&clocks, &warp, 0, CLOCK_ALL_LANES);
  uint32_t when = warp.now;
  lanes_meet(&clocks, &warp, CLOCK_ALL_LANES);
  Clock *published = clock_new(&clocks);
  lanes_release(&clocks, &warp, 1, published);
  ck_assert_uint_eq(clock_behind(&clocks, published, 0, CLOCK_ALL_LANES, when), 0);
}
END_TEST

START_TEST(lanes_that_wait_alone_know_alone) {
  LaneClocks warp;
  lanes_init(&clocks, &warp, 0, CLOCK_ALL_LANES);
  Clock *other = clock_new(&clocks);
  clock_raise(&clocks, other, 1, CLOCK_ALL_LANES, 3);
  lanes_acquire(&clocks, &warp, 1u << 5, other);
  ck_assert(lanes_know(&clocks, &warp, 1u << 5, 1, 1, 3));
  ck_assert(!lanes_know(&clocks, &warp, 1u << 6, 1, 1, 3));
  ck_assert(!lanes_know(&clocks, &warp, 3u << 5, 1, 1, 3));
  lanes_meet(&clocks, &warp, CLOCK_ALL_LANES);
  ck_assert(lanes_know(&clocks, &warp, CLOCK_ALL_LANES, 1, 1, 3));
  ck_assert_int_eq(warp.ngroups, 1);
}
END_TEST

START_TEST(a_lane_knows_what_it_did_itself) {
  LaneClocks warp;
  lanes_init(&clocks, &warp, 0, CLOCK_ALL_LANES);
  ck_assert(lanes_know(&clocks, &warp, 1u << 2, 0, 1u << 2, warp.now));
  ck_assert(!lanes_know(&clocks, &warp, 1u << 2, 0, 1u << 3, warp.now));
  ck_assert(!lanes_know(&clocks, &warp, 1u << 2, 0, 1u << 2, CLOCK_NEVER));
}
END_TEST

Suite *test_suite(void) {
  Suite *suite = suite_create("machine/clock");
  TCase *tcase = tcase_create("clock");
  tcase_add_checked_fixture(tcase, setup, teardown);
  tcase_add_test(tcase, raise_keeps_the_other_lanes);
  tcase_add_test(tcase, raise_never_lowers);
  tcase_add_test(tcase, more_than_two_times_in_an_entry);
  tcase_add_test(tcase, join_takes_the_later_of_each_lane);
  tcase_add_test(tcase, lift_copies_what_is_known_of_another_agent);
  tcase_add_test(tcase, freed_clocks_come_back_empty);
  tcase_add_test(tcase, an_elected_lane_releases_only_itself);
  tcase_add_test(tcase, after_meeting_one_lane_speaks_for_all);
  tcase_add_test(tcase, lanes_that_wait_alone_know_alone);
  tcase_add_test(tcase, a_lane_knows_what_it_did_itself);
  suite_add_tcase(suite, tcase);
  return suite;
}
