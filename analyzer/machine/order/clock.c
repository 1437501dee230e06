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

static void reserve(Clocks *clocks, Clock *clock, uint32_t count) {
  if (count <= clock->count) return;
  if (count > clock->capacity) {
    uint32_t capacity = clocks->agents > count ? clocks->agents : count;
    capacity += capacity / 4 + 4;
    ClockEntry *entries = KC_NEW_ARRAY(clocks->arena, ClockEntry, capacity);
    if (clock->count) memcpy(entries, clock->entries, sizeof(ClockEntry) * clock->count);
    clock->entries = entries;
    clock->capacity = capacity;
  }
  memset(clock->entries + clock->count, 0, sizeof(ClockEntry) * (count - clock->count));
  clock->count = count;
}

Clock *clock_copy(Clocks *clocks, const Clock *from) {
  Clock *clock = clock_new(clocks);
  if (from && from->count) {
    reserve(clocks, clock, from->count);
    memcpy(clock->entries, from->entries, sizeof(ClockEntry) * from->count);
  }
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
  if (e.lanes) return e.lanes >> lane & 1 ? e.hi : e.lo;
  return e.lo ? block(clocks, e.lo)->times[lane] : 0;
}

static void entry_times(const Clocks *clocks, ClockEntry e, uint32_t out[32]) {
  if (!e.lanes && e.lo) {
    memcpy(out, block(clocks, e.lo)->times, sizeof(ClockBlock));
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
  if (two) return (ClockEntry){hi, lo, lanes};
  uint32_t id = block_new(clocks);
  memcpy(block(clocks, id)->times, times, sizeof(ClockBlock));
  return (ClockEntry){hi, id, 0};
}

static bool entry_empty(ClockEntry e) {
  return e.hi == 0;
}

/* Whether a >= b for every lane, as far as that can be seen without looking into blocks. */
static bool entry_covers(ClockEntry a, ClockEntry b) {
  if (entry_empty(b)) return true;
  if (!a.lanes) return false;
  if (a.lo >= b.hi) return true;
  return b.lanes && a.hi >= b.hi && a.lo >= b.lo && (b.lanes & ~a.lanes) == 0;
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
  *out = (ClockEntry){hi, lo, lanes};
  return true;
}

static ClockEntry entry_join(Clocks *clocks, ClockEntry a, ClockEntry b) {
  if (entry_covers(a, b)) return a;
  if (entry_covers(b, a)) return b;
  ClockEntry joined;
  if (a.lanes && b.lanes && join_in_place(a, b, &joined)) return joined;
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

void clock_join(Clocks *clocks, Clock *into, const Clock *from) {
  if (!from || !from->count) return;
  reserve(clocks, into, from->count);
  /* Mostly one side covers the other, seen from the bounds alone. */
  for (uint32_t i = 0; i < from->count; i++) {
    const ClockEntry *b = &from->entries[i];
    ClockEntry *a = &into->entries[i];
    if (entry_empty(*b) || (a->lanes && a->lo >= b->hi)) continue;
    if (b->lanes && b->lo >= a->hi)
      *a = *b;
    else if (a->hi != b->hi || a->lo != b->lo || a->lanes != b->lanes)
      *a = entry_join(clocks, *a, *b);
  }
}

void clock_raise(Clocks *clocks, Clock *clock, uint32_t agent, uint32_t lanes, uint32_t time) {
  if (!lanes || !time) return;
  reserve(clocks, clock, agent + 1);
  ClockEntry *e = &clock->entries[agent];
  *e = entry_join(clocks, *e, (ClockEntry){time, lanes == CLOCK_ALL_LANES ? time : 0, lanes});
}

void clock_lift(Clocks *clocks, Clock *clock, uint32_t to, uint32_t from) {
  if (from >= clock->count || entry_empty(clock->entries[from])) return;
  reserve(clocks, clock, to + 1);
  clock->entries[to] = entry_join(clocks, clock->entries[to], clock->entries[from]);
}

uint32_t clock_time(const Clocks *clocks, const Clock *clock, uint32_t agent, int lane) {
  if (!clock || agent >= clock->count) return 0;
  return entry_time(clocks, clock->entries[agent], lane);
}

uint32_t clock_behind(const Clocks *clocks, const Clock *clock, uint32_t agent, uint32_t lanes,
                      uint32_t time) {
  if (!time) return 0;
  if (!clock || agent >= clock->count) return lanes;
  ClockEntry e = clock->entries[agent];
  if (e.hi < time) return lanes;
  if (e.lanes) return e.lo >= time ? 0 : lanes & ~e.lanes;
  uint32_t behind = 0;
  for (int i = 0; i < 32; i++)
    if ((lanes >> i & 1) && block(clocks, e.lo)->times[i] < time) behind |= UINT32_C(1) << i;
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
