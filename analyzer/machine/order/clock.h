/* clock: vector clocks over agents, precise to the lane.
 *
 * An agent is anything whose actions are counted: the ordinary accesses of a warp, its bulk groups,
 * its cp.async groups, the wgmma groups of a warpgroup, the tcgen05 queue of a thread, the phases
 * of an mbarrier. An asynchronous copy needs no agent of its own: it is complete for whoever knows
 * that the phase of the barrier in which its bytes landed is complete. A clock says, for each
 * agent, up to which time its actions are known to be over. Time 0 is "nothing known".
 *
 * Most entries are the same for all 32 lanes of the agent, or have two values (the elected lane is
 * ahead of the others); both are kept in place, anything finer in a block of 32 numbers.
 */
#ifndef KC_MACHINE_CLOCK_H
#define KC_MACHINE_CLOCK_H

#include "support/arena.h"

#define CLOCK_NEVER UINT32_MAX /* a time that no clock reaches: still in flight */
#define CLOCK_ALL_LANES UINT32_C(0xffffffff)

typedef struct Clock Clock;
struct Clock {
  uint32_t *hi, *lo;        /* by agent: the latest and the earliest time among the lanes */
  uint32_t *lanes;          /* that are at `hi`, the others at `lo`; 0: see `block` */
  uint32_t *block;          /* 1 + the index of a block of 32 times; 0: none */
  uint32_t count, capacity; /* agents beyond count are at 0 */
  Clock *next_free;
};

typedef struct ClockBlock {
  uint32_t times[32];
} ClockBlock;

/* Makes and recycles the clocks of one run. */
typedef struct Clocks {
  KcArena *arena;
  uint32_t agents;
  Clock *free;
  ClockBlock **chunks; /* of CLOCK_CHUNK blocks */
  uint32_t nchunks, nblocks;
} Clocks;

#define CLOCK_CHUNK 256

void clocks_init(Clocks *clocks, KcArena *arena);
/* A new agent; ids are dense from 0. `n` of them in a row, the first is returned. */
uint32_t clocks_agents(Clocks *clocks, uint32_t n);
Clock *clock_new(Clocks *clocks);
Clock *clock_copy(Clocks *clocks, const Clock *from);
/* NULL is allowed. */
void clock_free(Clocks *clocks, Clock *clock);
/* into = the later of both, for every agent and lane. `from` may be NULL. */
void clock_join(Clocks *clocks, Clock *into, const Clock *from);
/* `lanes` of `agent` are known up to `time` (never lowers). */
void clock_raise(Clocks *clocks, Clock *clock, uint32_t agent, uint32_t lanes, uint32_t time);
/* What is known of agent `to` becomes at least what is known of agent `from`. */
void clock_lift(Clocks *clocks, Clock *clock, uint32_t to, uint32_t from);
uint32_t clock_time(const Clocks *clocks, const Clock *clock, uint32_t agent, int lane);
/* Lanes of `lanes` that are known only up to a time before `time`; 0: all are known. */
uint32_t clock_behind(const Clocks *clocks, const Clock *clock, uint32_t agent, uint32_t lanes,
                      uint32_t time);

/* ---- the lanes of a warp ----
 * The lanes of a warp share a clock as long as they have waited for the same things. What a lane
 * did itself it always knows; what the other lanes did it knows only from the last operation that
 * synchronised them. `now` counts the releases of the warp: an access at time t is known to whoever
 * acquired a release at t or later. */
typedef struct LaneGroup {
  uint32_t lanes;
  Clock *clock;
  Clock *after; /* tcgen05: what was known at the last fence::after_thread_sync; or NULL */
} LaneGroup;

typedef struct LaneClocks {
  uint32_t agent; /* of the warp's ordinary accesses */
  uint32_t now;   /* from 1 */
  int ngroups;
  LaneGroup groups[32];
} LaneClocks;

void lanes_init(Clocks *clocks, LaneClocks *warp, uint32_t agent, uint32_t lanes);
/* Splits groups so that `lanes` is a union of groups; call before changing the clocks of `lanes`.
 */
void lanes_split(Clocks *clocks, LaneClocks *warp, uint32_t lanes);
/* The group that holds `lane`. */
const LaneGroup *lanes_group(const LaneClocks *warp, int lane);
/* `lanes` learn all that `from` says. */
void lanes_acquire(Clocks *clocks, LaneClocks *warp, uint32_t lanes, const Clock *from);
/* `into` learns all that `lanes` know and did; the warp's time goes on. */
void lanes_release(Clocks *clocks, LaneClocks *warp, uint32_t lanes, Clock *into);
/* As lanes_release, but the time does not go on: nothing was published yet. */
void lanes_collect(Clocks *clocks, const LaneClocks *warp, uint32_t lanes, Clock *into);
/* `lanes` meet (__syncwarp, an aligned operation): each learns what the others know and did. */
void lanes_meet(Clocks *clocks, LaneClocks *warp, uint32_t lanes);
/* For every lane of `lanes`: `agent_lanes` of `agent` are known up to `time`. */
void lanes_raise(Clocks *clocks, LaneClocks *warp, uint32_t lanes, uint32_t agent,
                 uint32_t agent_lanes, uint32_t time);
/* Whether every lane of `lanes` knows that `agent_lanes` of `agent` are past `time`. A lane knows
 * its own accesses (agent is the warp's own, agent_lanes that lane alone). */
bool lanes_know(const Clocks *clocks, const LaneClocks *warp, uint32_t lanes, uint32_t agent,
                uint32_t agent_lanes, uint32_t time);

#endif
