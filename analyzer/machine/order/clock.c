#include "machine/order/clock.h"

#include <string.h>

void clocks_init(Clocks *clocks, KcArena *arena) {
  *clocks = (Clocks){.arena = arena};
}

uint32_t clocks_agents(Clocks *clocks, uint32_t n) {
  uint32_t first = clocks->agents;
  clocks->agents += n;
  return first;
}

Clock *clock_new(Clocks *clocks) {
  Clock *clock = clocks->free;
  if (!clock) return KC_NEW(clocks->arena, Clock);
  clocks->free = clock->next_free;
  clock->next_free = NULL;
  clock->count = 0;
  return clock;
}

void clock_free(Clocks *clocks, Clock *clock) {
  if (!clock) return;
  clock->next_free = clocks->free;
  clocks->free = clock;
}

/* What a clock says of one agent. */
typedef struct ClockEntry {
  uint32_t hi, lo, lanes, block;
} ClockEntry;

static ClockEntry get(const Clock *clock, uint32_t agent) {
  return (ClockEntry){clock->hi[agent], clock->lo[agent], clock->lanes[agent], clock->block[agent]};
}

static void set(Clock *clock, uint32_t agent, ClockEntry e) {
  clock->hi[agent] = e.hi;
  clock->lo[agent] = e.lo;
  clock->lanes[agent] = e.lanes;
  clock->block[agent] = e.block;
}

/* Copies (NULL: zeroes) the entries of the agents from `first` to before `end`. */
static void take(Clock *to, const Clock *from, uint32_t first, uint32_t end) {
  size_t bytes = sizeof(uint32_t) * (end - first);
  uint32_t *const into[] = {to->hi, to->lo, to->lanes, to->block};
  for (int i = 0; i < 4; i++) {
    if (!from) {
      memset(into[i] + first, 0, bytes);
      continue;
    }
    const uint32_t *const of[] = {from->hi, from->lo, from->lanes, from->block};
    memcpy(into[i] + first, of[i] + first, bytes);
  }
}

static void make_room(Clocks *clocks, Clock *clock, uint32_t count) {
  if (count <= clock->capacity) return;
  uint32_t capacity = clocks->agents > count ? clocks->agents : count;
  capacity = (capacity + capacity / 4 + 7) & ~3u;
  Clock old = *clock;
  clock->hi = kc_alloc_raw(clocks->arena, sizeof(uint32_t) * 4 * (size_t)capacity);
  clock->lo = clock->hi + capacity;
  clock->lanes = clock->lo + capacity;
  clock->block = clock->lanes + capacity;
  clock->capacity = capacity;
  if (old.count) take(clock, &old, 0, old.count);
}

static void reserve(Clocks *clocks, Clock *clock, uint32_t count) {
  if (count <= clock->count) return;
  make_room(clocks, clock, count);
  take(clock, NULL, clock->count, count);
  clock->count = count;
}

Clock *clock_copy(Clocks *clocks, const Clock *from) {
  Clock *clock = clock_new(clocks);
  clock_join(clocks, clock, from);
  return clock;
}

static ClockBlock *block(const Clocks *clocks, uint32_t id) {
  return &clocks->chunks[(id - 1) / CLOCK_CHUNK][(id - 1) % CLOCK_CHUNK];
}

static uint32_t block_new(Clocks *clocks) {
  if (clocks->nblocks == clocks->nchunks * CLOCK_CHUNK) {
    clocks->chunks = kc_grow(clocks->arena, clocks->chunks, sizeof(void *) * clocks->nchunks,
                             sizeof(void *) * (clocks->nchunks + 1));
    clocks->chunks[clocks->nchunks++] = KC_NEW_ARRAY(clocks->arena, ClockBlock, CLOCK_CHUNK);
  }
  return ++clocks->nblocks;
}

static uint32_t entry_time(const Clocks *clocks, ClockEntry e, int lane) {
  if (e.block) return block(clocks, e.block)->times[lane];
  return e.lanes >> lane & 1 ? e.hi : e.lo;
}

static void entry_times(const Clocks *clocks, ClockEntry e, uint32_t out[32]) {
  if (e.block) {
    memcpy(out, block(clocks, e.block)->times, sizeof(ClockBlock));
    return;
  }
  for (int i = 0; i < 32; i++)
    out[i] = e.lanes >> i & 1 ? e.hi : e.lo;
}

/* The smallest representation of 32 times; `old` is kept when it already says the same. */
static ClockEntry entry_from(Clocks *clocks, const uint32_t times[32]) {
  uint32_t lo = times[0], hi = times[0];
  for (int i = 1; i < 32; i++) {
    if (times[i] < lo) lo = times[i];
    if (times[i] > hi) hi = times[i];
  }
  uint32_t lanes = 0;
  bool two = true;
  for (int i = 0; i < 32; i++) {
    if (times[i] == hi)
      lanes |= UINT32_C(1) << i;
    else if (times[i] != lo)
      two = false;
  }
  if (two) return (ClockEntry){hi, lo, lanes, 0};
  uint32_t id = block_new(clocks);
  memcpy(block(clocks, id)->times, times, sizeof(ClockBlock));
  return (ClockEntry){hi, lo, 0, id};
}

/* Whether a >= b for every lane, as far as that can be seen without looking into blocks. */
static bool entry_covers(ClockEntry a, ClockEntry b) {
  if (a.lo >= b.hi) return true;
  if (a.block || b.block) return a.block == b.block;
  return a.hi >= b.hi && a.lo >= b.lo && (b.lanes & ~a.lanes) == 0;
}

/* The join of two entries without blocks, when it needs none either. */
static bool join_in_place(ClockEntry a, ClockEntry b, ClockEntry *out) {
  const uint32_t masks[4] = {a.lanes & b.lanes, a.lanes & ~b.lanes, ~a.lanes & b.lanes,
                             ~(a.lanes | b.lanes)};
  const uint32_t times[4] = {a.hi > b.hi ? a.hi : b.hi, a.hi > b.lo ? a.hi : b.lo,
                             a.lo > b.hi ? a.lo : b.hi, a.lo > b.lo ? a.lo : b.lo};
  uint32_t hi = 0, lo = UINT32_MAX, lanes = 0;
  for (int i = 0; i < 4; i++) {
    if (!masks[i]) continue;
    if (times[i] > hi) hi = times[i];
    if (times[i] < lo) lo = times[i];
  }
  for (int i = 0; i < 4; i++) {
    if (!masks[i]) continue;
    if (times[i] == hi)
      lanes |= masks[i];
    else if (times[i] != lo)
      return false;
  }
  *out = (ClockEntry){hi, lo, lanes, 0};
  return true;
}

static ClockEntry entry_join(Clocks *clocks, ClockEntry a, ClockEntry b) {
  if (entry_covers(a, b)) return a;
  if (entry_covers(b, a)) return b;
  ClockEntry joined;
  if (!a.block && !b.block && join_in_place(a, b, &joined)) return joined;
  uint32_t ta[32], tb[32], times[32], above_a = 0, above_b = 0;
  entry_times(clocks, a, ta);
  entry_times(clocks, b, tb);
  for (int i = 0; i < 32; i++) {
    times[i] = ta[i] > tb[i] ? ta[i] : tb[i];
    above_a |= times[i] ^ ta[i];
    above_b |= times[i] ^ tb[i];
  }
  if (!above_a) return a;
  if (!above_b) return b;
  return entry_from(clocks, times);
}

/* Times of four agents; they stay below 2^31. */
typedef int32_t Four __attribute__((vector_size(16)));

static inline Four four(const uint32_t *from) {
  Four x;
  memcpy(&x, from, sizeof x);
  return x;
}

static inline bool any_of(Four x) {
  uint64_t halves[2];
  memcpy(halves, &x, sizeof halves);
  return (halves[0] | halves[1]) != 0;
}

static inline void choose_four(uint32_t *into, const uint32_t *from, Four taken) {
  Four x = (four(from) & taken) | (four(into) & ~taken);
  memcpy(into, &x, sizeof x);
}

static void join_one(Clocks *clocks, Clock *into, const Clock *from, uint32_t agent) {
  if (into->lo[agent] >= from->hi[agent]) return;
  if (from->lo[agent] >= into->hi[agent])
    set(into, agent, get(from, agent));
  else
    set(into, agent, entry_join(clocks, get(into, agent), get(from, agent)));
}

/* Mostly each of the four is known in `into` at least up to where any lane of it is known in
 * `from`, or the other way round. */
static inline void join_four(Clocks *clocks, Clock *into, const Clock *from, uint32_t agent) {
  Four behind = four(from->hi + agent) > four(into->lo + agent);
  if (!any_of(behind)) return;
  Four taken = behind & (four(from->lo + agent) >= four(into->hi + agent));
  Four both = behind & ~taken;
  if (any_of(taken)) {
    choose_four(into->hi + agent, from->hi + agent, taken);
    choose_four(into->lo + agent, from->lo + agent, taken);
    choose_four(into->lanes + agent, from->lanes + agent, taken);
    choose_four(into->block + agent, from->block + agent, taken);
  }
  if (!any_of(both)) return;
  for (uint32_t i = 0; i < 4; i++)
    if (both[i])
      set(into, agent + i, entry_join(clocks, get(into, agent + i), get(from, agent + i)));
}

void clock_join(Clocks *clocks, Clock *into, const Clock *from) {
  if (!from || !from->count || from == into) return;
  uint32_t both = into->count < from->count ? into->count : from->count, i = 0;
  for (; i + 4 <= both; i += 4)
    join_four(clocks, into, from, i);
  for (; i < both; i++)
    join_one(clocks, into, from, i);
  if (from->count <= both) return;
  make_room(clocks, into, from->count);
  take(into, from, both, from->count);
  into->count = from->count;
}

void clock_raise(Clocks *clocks, Clock *clock, uint32_t agent, uint32_t lanes, uint32_t time) {
  if (!lanes || !time) return;
  reserve(clocks, clock, agent + 1);
  ClockEntry e = {time, lanes == CLOCK_ALL_LANES ? time : 0, lanes, 0};
  set(clock, agent, entry_join(clocks, get(clock, agent), e));
}

void clock_lift(Clocks *clocks, Clock *clock, uint32_t to, uint32_t from) {
  if (from >= clock->count || !clock->hi[from]) return;
  reserve(clocks, clock, to + 1);
  set(clock, to, entry_join(clocks, get(clock, to), get(clock, from)));
}

uint32_t clock_time(const Clocks *clocks, const Clock *clock, uint32_t agent, int lane) {
  if (!clock || agent >= clock->count) return 0;
  return entry_time(clocks, get(clock, agent), lane);
}

uint32_t clock_behind(const Clocks *clocks, const Clock *clock, uint32_t agent, uint32_t lanes,
                      uint32_t time) {
  if (!time) return 0;
  if (!clock || agent >= clock->count) return lanes;
  if (clock->hi[agent] < time) return lanes;
  if (clock->lo[agent] >= time) return 0;
  ClockEntry e = get(clock, agent);
  if (!e.block) return lanes & ~e.lanes;
  uint32_t behind = 0;
  for (int i = 0; i < 32; i++)
    if ((lanes >> i & 1) && block(clocks, e.block)->times[i] < time) behind |= UINT32_C(1) << i;
  return behind;
}

/* ---- lanes ---- */

void lanes_init(Clocks *clocks, LaneClocks *warp, uint32_t agent, uint32_t lanes) {
  *warp = (LaneClocks){.agent = agent, .now = 1, .ngroups = 1};
  warp->groups[0] = (LaneGroup){.lanes = lanes, .clock = clock_new(clocks)};
}

void lanes_split(Clocks *clocks, LaneClocks *warp, uint32_t lanes) {
  int n = warp->ngroups;
  for (int i = 0; i < n; i++) {
    LaneGroup *g = &warp->groups[i];
    uint32_t in = g->lanes & lanes;
    if (!in || in == g->lanes) continue;
    warp->groups[warp->ngroups++] =
        (LaneGroup){.lanes = g->lanes & ~lanes,
                    .clock = clock_copy(clocks, g->clock),
                    .after = g->after ? clock_copy(clocks, g->after) : NULL};
    g->lanes = in;
  }
}

const LaneGroup *lanes_group(const LaneClocks *warp, int lane) {
  for (int i = 0; i < warp->ngroups; i++)
    if (warp->groups[i].lanes >> lane & 1) return &warp->groups[i];
  return &warp->groups[0];
}

void lanes_acquire(Clocks *clocks, LaneClocks *warp, uint32_t lanes, const Clock *from) {
  if (!from) return;
  lanes_split(clocks, warp, lanes);
  for (int i = 0; i < warp->ngroups; i++)
    if (warp->groups[i].lanes & lanes) clock_join(clocks, warp->groups[i].clock, from);
}

void lanes_collect(Clocks *clocks, const LaneClocks *warp, uint32_t lanes, Clock *into) {
  uint32_t mine = 0;
  for (int i = 0; i < warp->ngroups; i++)
    if (warp->groups[i].lanes & lanes) {
      clock_join(clocks, into, warp->groups[i].clock);
      mine |= warp->groups[i].lanes & lanes;
    }
  clock_raise(clocks, into, warp->agent, mine, warp->now);
}

void lanes_release(Clocks *clocks, LaneClocks *warp, uint32_t lanes, Clock *into) {
  lanes_collect(clocks, warp, lanes, into);
  warp->now++;
}

void lanes_meet(Clocks *clocks, LaneClocks *warp, uint32_t lanes) {
  lanes_split(clocks, warp, lanes);
  LaneGroup *first = NULL;
  for (int i = 0; i < warp->ngroups; i++) {
    LaneGroup *g = &warp->groups[i];
    if (!(g->lanes & lanes)) continue;
    if (!first) {
      first = g;
      continue;
    }
    clock_join(clocks, first->clock, g->clock);
    if (!first->after) {
      first->after = g->after;
    } else if (g->after) {
      clock_join(clocks, first->after, g->after);
      clock_free(clocks, g->after);
    }
    first->lanes |= g->lanes;
    clock_free(clocks, g->clock);
    warp->groups[i--] = warp->groups[--warp->ngroups];
  }
  if (first) clock_raise(clocks, first->clock, warp->agent, lanes, warp->now);
  warp->now++;
}

void lanes_raise(Clocks *clocks, LaneClocks *warp, uint32_t lanes, uint32_t agent,
                 uint32_t agent_lanes, uint32_t time) {
  lanes_split(clocks, warp, lanes);
  for (int i = 0; i < warp->ngroups; i++)
    if (warp->groups[i].lanes & lanes)
      clock_raise(clocks, warp->groups[i].clock, agent, agent_lanes, time);
}

bool lanes_know(const Clocks *clocks, const LaneClocks *warp, uint32_t lanes, uint32_t agent,
                uint32_t agent_lanes, uint32_t time) {
  if (time == CLOCK_NEVER) return false;
  for (int i = 0; i < warp->ngroups; i++) {
    const LaneGroup *g = &warp->groups[i];
    uint32_t in = g->lanes & lanes;
    if (!in) continue;
    uint32_t behind = clock_behind(clocks, g->clock, agent, agent_lanes, time);
    if (!behind) continue;
    /* Program order: a single lane knows what it did itself. */
    if (agent == warp->agent && behind == in && (in & (in - 1)) == 0) continue;
    return false;
  }
  return true;
}
