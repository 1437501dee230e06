#include "machine/order/race.h"

#include <string.h>

#include "machine/causes/cause.h"
#include "machine/hardware/protocol.h"

#define PAGE_BYTES 1024u
#define PAGE_CELLS (PAGE_BYTES / 4)
#define LANE_ALL 63u
#define CHUNK 1024u
#define MAX_READERS 48

/* 1 + index of the access, and the lane whose part of it this is. 0: none. */
typedef uint32_t Ref;

typedef struct Cell {
  Ref write, read;      /* read: the first reader since the write */
  uint32_t more;        /* 1 + index of the node with the next reader */
  uint8_t wmask, rmask; /* bytes of the word that write / the readers touched */
  uint8_t readers;
} Cell;

typedef struct Node {
  Ref read;
  uint32_t next;
} Node;

/* Neighbouring words with one history form a run; its cell stands at its first word. The words of
 * `heads` start a run, the cells of the others mean nothing. */
typedef struct Page {
  Cell whole;
  Cell *cells; /* NULL: `whole` holds for every word */
  uint64_t heads[PAGE_CELLS / 64];
} Page;

struct RaceHistory {
  Machine *machine;
  Clocks *clocks;
  int ctas;
  uint32_t npages;
  Page *pages; /* ctas x npages */
  Access **chunks;
  uint32_t nchunks, count;
  Node *nodes;
  uint32_t nnodes, capacity, free_node;
  Cell **spare; /* cell arrays of pages that became whole again */
  int nspare, spare_capacity;
  Ref *recent; /* instruction x warp (hashed) -> last access, to reuse it */
};

#define RECENT 4096u

static Ref make_ref(uint32_t id, int lane) {
  return (id + 1) << 6 | (lane < 0 ? LANE_ALL : (uint32_t)lane);
}

static Access *ref_access(const RaceHistory *races, Ref ref) {
  uint32_t id = (ref >> 6) - 1;
  return &races->chunks[id / CHUNK][id % CHUNK];
}

static int ref_lane(Ref ref) {
  uint32_t lane = ref & 63;
  return lane == LANE_ALL ? -1 : (int)lane;
}

RaceHistory *race_new(Machine *machine, Clocks *clocks, int ctas, uint32_t bytes) {
  RaceHistory *races = KC_NEW(machine->arena, RaceHistory);
  races->machine = machine;
  races->clocks = clocks;
  races->ctas = ctas;
  races->npages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  races->pages = KC_NEW_ARRAY(machine->arena, Page, (size_t)ctas * races->npages);
  races->recent = KC_NEW_ARRAY(machine->arena, Ref, RECENT);
  return races;
}

static uint32_t access_new(RaceHistory *races, const Access *access) {
  if (races->count == races->nchunks * CHUNK) {
    KcArena *arena = races->machine->arena;
    races->chunks = kc_grow(arena, races->chunks, sizeof(void *) * races->nchunks,
                            sizeof(void *) * (races->nchunks + 1));
    races->chunks[races->nchunks++] = KC_NEW_ARRAY(arena, Access, CHUNK);
  }
  uint32_t id = races->count++;
  Access *stored = &races->chunks[id / CHUNK][id % CHUNK];
  *stored = *access;
  stored->id = id;
  return id;
}

Access *race_access(RaceHistory *races, const Access *access) {
  uintptr_t hash = (uintptr_t)access->insn / sizeof(IrInsn) * 131 + access->warp;
  Ref *slot = &races->recent[hash % RECENT];
  if (*slot) {
    Access *old = ref_access(races, *slot);
    if (old->insn == access->insn && old->warp == access->warp && old->agent == access->agent &&
        old->time == access->time && old->lanes == access->lanes &&
        old->issuers == access->issuers && old->actor == access->actor &&
        old->write == access->write && access->time != CLOCK_NEVER)
      return old;
  }
  uint32_t id = access_new(races, access);
  *slot = make_ref(id, -1);
  return ref_access(races, *slot);
}

/* ---- readers ---- */

static uint32_t node_new(RaceHistory *races, Ref read, uint32_t next) {
  uint32_t id = races->free_node;
  if (id) {
    races->free_node = races->nodes[id - 1].next;
  } else {
    if (races->nnodes == races->capacity) {
      uint32_t capacity = races->capacity ? races->capacity * 2 : 1024;
      races->nodes = kc_grow(races->machine->arena, races->nodes, sizeof(Node) * races->capacity,
                             sizeof(Node) * capacity);
      races->capacity = capacity;
    }
    id = ++races->nnodes;
  }
  races->nodes[id - 1] = (Node){read, next};
  return id;
}

static void forget_readers(RaceHistory *races, Cell *cell) {
  uint32_t id = cell->more;
  while (id) {
    uint32_t next = races->nodes[id - 1].next;
    races->nodes[id - 1].next = races->free_node;
    races->free_node = id;
    id = next;
  }
  cell->read = 0;
  cell->more = 0;
  cell->rmask = 0;
  cell->readers = 0;
}

/* A later read by the same agent and lanes stands for the earlier one. */
static bool supersedes(const RaceHistory *races, Ref now, Ref before) {
  if (now == before) return true;
  const Access *a = ref_access(races, now), *b = ref_access(races, before);
  if (a->agent != b->agent || a->warp != b->warp || a->actor != b->actor) return false;
  if (a->time == CLOCK_NEVER || b->time == CLOCK_NEVER || a->time < b->time) return false;
  int la = ref_lane(now), lb = ref_lane(before);
  uint32_t ma = la < 0 ? a->lanes : UINT32_C(1) << la, mb = lb < 0 ? b->lanes : UINT32_C(1) << lb;
  return (mb & ~ma) == 0;
}

static void add_reader(RaceHistory *races, Cell *cell, Ref ref, uint8_t mask) {
  cell->rmask |= mask;
  if (cell->read == ref) return;
  for (uint32_t id = cell->more; id; id = races->nodes[id - 1].next)
    if (races->nodes[id - 1].read == ref) return;
  if (!cell->read || supersedes(races, ref, cell->read)) {
    cell->read = ref;
    if (!cell->readers) cell->readers = 1;
    return;
  }
  for (uint32_t id = cell->more; id; id = races->nodes[id - 1].next)
    if (supersedes(races, ref, races->nodes[id - 1].read)) {
      races->nodes[id - 1].read = ref;
      return;
    }
  if (cell->readers >= MAX_READERS) return;
  cell->more = node_new(races, ref, cell->more);
  cell->readers++;
}

/* ---- pages ---- */

static void copy_cell(RaceHistory *races, Cell *to, const Cell *from) {
  *to = *from;
  to->more = 0;
  to->readers = from->read ? 1 : 0;
  for (uint32_t id = from->more; id; id = races->nodes[id - 1].next) {
    to->more = node_new(races, races->nodes[id - 1].read, to->more);
    to->readers++;
  }
}

static bool is_head(const Page *page, uint32_t word) {
  return page->heads[word / 64] >> (word % 64) & 1;
}

/* First word of the run that holds `word`. */
static uint32_t run_start(const Page *page, uint32_t word) {
  uint32_t i = word / 64;
  uint64_t below = page->heads[i] & (UINT64_MAX >> (63 - word % 64));
  while (!below)
    below = page->heads[--i];
  return i * 64 + 63 - (uint32_t)__builtin_clzll(below);
}

/* First word behind the run that holds `word`. */
static uint32_t run_end(const Page *page, uint32_t word) {
  if (++word >= PAGE_CELLS) return PAGE_CELLS;
  uint32_t i = word / 64;
  uint64_t above = page->heads[i] & (UINT64_MAX << word % 64);
  while (!above) {
    if (++i == PAGE_CELLS / 64) return PAGE_CELLS;
    above = page->heads[i];
  }
  return i * 64 + (uint32_t)__builtin_ctzll(above);
}

/* Lets a run start at `word`. */
static void run_split(RaceHistory *races, Page *page, uint32_t word) {
  if (word >= PAGE_CELLS || is_head(page, word)) return;
  copy_cell(races, &page->cells[word], &page->cells[run_start(page, word)]);
  page->heads[word / 64] |= UINT64_C(1) << word % 64;
}

static void page_split(RaceHistory *races, Page *page) {
  if (page->cells) return;
  page->cells = races->nspare ? races->spare[--races->nspare]
                              : KC_NEW_ARRAY(races->machine->arena, Cell, PAGE_CELLS);
  page->cells[0] = page->whole;
  page->whole = (Cell){.write = 0};
  memset(page->heads, 0, sizeof page->heads);
  page->heads[0] = 1;
}

static void page_unite(RaceHistory *races, Page *page) {
  if (!page->cells) return;
  for (uint32_t at = 0; at < PAGE_CELLS; at = run_end(page, at))
    forget_readers(races, &page->cells[at]);
  if (races->nspare == races->spare_capacity) {
    int capacity = races->spare_capacity ? races->spare_capacity * 2 : 64;
    races->spare =
        kc_grow(races->machine->arena, races->spare, sizeof(Cell *) * (size_t)races->spare_capacity,
                sizeof(Cell *) * (size_t)capacity);
    races->spare_capacity = capacity;
  }
  races->spare[races->nspare++] = page->cells;
  page->cells = NULL;
}

/* ---- checks ---- */

typedef struct Touch {
  RaceHistory *races;
  Strand *strand; /* may be NULL: nothing is checked */
  const Access *access;
  Ref ref;
  int lane;
  uint32_t observers;          /* lanes of the strand that execute it */
  Ref known_write, known_read; /* last references found to be in order */
  uint32_t over[2];            /* 1 + accesses that all who execute this one know to be over */
} Touch;

static bool is_async_reader(AccessActor actor) {
  return actor == ACTOR_BULK_STORE || actor == ACTOR_WGMMA || actor == ACTOR_TCGEN05_MMA ||
         actor == ACTOR_TCGEN05_CP;
}

static bool is_generic(AccessActor actor) {
  return actor == ACTOR_THREAD || actor == ACTOR_CP_ASYNC;
}

/* Whether the observers know that `before` is over. */
static bool is_over(Touch *touch, Ref before) {
  uint32_t id = before >> 6;
  if (id == touch->over[0] || id == touch->over[1]) return true;
  const Access *a = ref_access(touch->races, before);
  int lane = ref_lane(before);
  uint32_t lanes = lane < 0 ? a->lanes : UINT32_C(1) << lane;
  Warp *warp = touch->strand->warp;
  const LaneClocks *clocks = &warp_state(warp)->lanes;
  /* Lanes of one warp: left to the warp's own synchronisation, see protocol.h. */
  if (a->warp == (uint32_t)warp->index && a->actor == ACTOR_THREAD &&
      touch->access->actor == ACTOR_THREAD)
    return true;
  if (a->actor == touch->access->actor && a->agent == touch->access->agent &&
      a->agent != clocks->agent && a->actor == ACTOR_CP_ASYNC && lanes == touch->observers)
    return true; /* a thread's own copies to the same place */
  /* Mostly all of one is over for all of the other: that need not be asked again lane by lane. */
  if (lanes_know(touch->races->clocks, clocks, touch->access->issuers | touch->observers, a->agent,
                 a->lanes | lanes, a->time)) {
    touch->over[1] = touch->over[0];
    touch->over[0] = id;
    return true;
  }
  return lanes_know(touch->races->clocks, clocks, touch->observers, a->agent, lanes, a->time);
}

/* Whether generic writes of `before` were fenced towards the async proxy, on either side. */
static bool is_fenced(const Touch *touch, Ref before) {
  const Access *a = ref_access(touch->races, before);
  int lane = ref_lane(before);
  uint32_t lanes = lane < 0 ? a->lanes : UINT32_C(1) << lane;
  const Protocol *p = protocol_of(touch->races->machine);
  uint32_t time = a->actor == ACTOR_THREAD ? a->time : a->issued;
  return lanes_know(touch->races->clocks, &warp_state(touch->strand->warp)->lanes, touch->observers,
                    p->fenced_agent + a->warp, lanes, time);
}

static void report(const Touch *touch, RaceKind kind, Ref before, int rank, uint32_t offset) {
  Race race = {.kind = kind,
               .before = ref_access(touch->races, before),
               .now = touch->access,
               .before_lane = ref_lane(before),
               .strand = touch->strand,
               .rank = rank,
               .offset = offset};
  cause_race(touch->races->machine, &race);
}

static void check_write(Touch *touch, const Cell *cell, uint8_t mask, int rank, uint32_t offset) {
  Ref before = cell->write;
  if (!before || before == touch->known_write || !(cell->wmask & mask)) return;
  const Access *a = ref_access(touch->races, before), *now = touch->access;
  touch->known_write = before;
  if (a->atomic && now->atomic) return;
  if (a->value_known && now->value_known && now->write && a->value == now->value) return;
  if (!is_over(touch, before))
    report(touch, now->write ? RACE_WRITE_AFTER_WRITE : RACE_READ_AFTER_WRITE, before, rank,
           offset);
  else if (!now->write && is_async_reader(now->actor) && is_generic(a->actor) &&
           !is_fenced(touch, before))
    report(touch, RACE_NO_PROXY_FENCE, before, rank, offset);
}

static void check_reader(Touch *touch, Ref before, int rank, uint32_t offset) {
  if (!before || before == touch->known_read) return;
  const Access *a = ref_access(touch->races, before);
  touch->known_read = before;
  if (a->atomic && touch->access->atomic) return;
  if (!is_over(touch, before))
    report(touch, RACE_WRITE_AFTER_READ, before, rank, offset);
  else if (touch->access->actor == ACTOR_TMA_LOAD && a->actor == ACTOR_THREAD &&
           !is_fenced(touch, before))
    cause_unfenced_refill(touch->races->machine, touch->access, a);
  else if (touch->access->actor == ACTOR_CLC && a->actor == ACTOR_THREAD &&
           !is_fenced(touch, before))
    report(touch, RACE_NO_PROXY_FENCE, before, rank, offset);
}

static void touch_cell(Touch *touch, Cell *cell, uint8_t mask, int rank, uint32_t offset) {
  RaceHistory *races = touch->races;
  if (touch->strand) check_write(touch, cell, mask, rank, offset);
  if (!touch->access->write) {
    add_reader(races, cell, touch->ref, mask);
    return;
  }
  if (touch->strand && (cell->rmask & mask)) {
    check_reader(touch, cell->read, rank, offset);
    for (uint32_t id = cell->more; id; id = races->nodes[id - 1].next)
      check_reader(touch, races->nodes[id - 1].read, rank, offset);
  }
  if (cell->write != touch->ref)
    cell->wmask = mask;
  else
    cell->wmask |= mask;
  cell->write = touch->ref;
  if ((cell->rmask & ~mask) == 0) forget_readers(races, cell);
}

/* The words from `first` to before `end` of a split page. What is written becomes one run. */
static void touch_words(Touch *touch, Page *page, uint32_t first, uint32_t end, int rank,
                        uint32_t page_start) {
  run_split(touch->races, page, first);
  run_split(touch->races, page, end);
  for (uint32_t at = first; at < end; at = run_end(page, at))
    touch_cell(touch, &page->cells[at], 15, rank, page_start + 4 * at);
  if (!touch->access->write) return;
  for (uint32_t at = run_end(page, first); at < end; at = run_end(page, first))
    page->heads[at / 64] &= ~(UINT64_C(1) << at % 64);
}

static void touch_page(Touch *touch, Page *page, int rank, uint32_t offset, uint32_t stop) {
  uint32_t page_start = offset / PAGE_BYTES * PAGE_BYTES;
  bool all = offset == page_start && stop == page_start + PAGE_BYTES;
  if (all && !page->cells) {
    touch_cell(touch, &page->whole, 15, rank, offset);
    return;
  }
  page_split(touch->races, page);
  while (offset < stop) {
    uint32_t word = (offset - page_start) / 4, within = offset % 4;
    if (within || stop - offset < 4) {
      uint32_t bytes = 4 - within < stop - offset ? 4 - within : stop - offset;
      run_split(touch->races, page, word);
      run_split(touch->races, page, word + 1);
      touch_cell(touch, &page->cells[word], (uint8_t)(((1u << bytes) - 1) << within), rank, offset);
      offset += bytes;
    } else {
      uint32_t words = (stop - offset) / 4;
      touch_words(touch, page, word, word + words, rank, page_start);
      offset += words * 4;
    }
  }
  if (!all || !touch->access->write) return;
  page_unite(touch->races, page);
  page->whole = (Cell){.write = touch->ref, .wmask = 15};
}

static void touch_range(Touch *touch, int rank, uint32_t offset, uint32_t bytes) {
  RaceHistory *races = touch->races;
  uint32_t limit = races->npages * PAGE_BYTES;
  if (rank < 0 || rank >= races->ctas || offset >= limit) return;
  if (bytes > limit - offset) bytes = limit - offset;
  uint32_t end = offset + bytes;
  while (offset < end) {
    Page *page = &races->pages[(size_t)rank * races->npages + offset / PAGE_BYTES];
    uint32_t page_end = (offset / PAGE_BYTES + 1) * PAGE_BYTES;
    uint32_t stop = end < page_end ? end : page_end;
    touch_page(touch, page, rank, offset, stop);
    offset = stop;
  }
}

void race_touch(RaceHistory *races, Strand *strand, const Access *access, int lane, int rank,
                uint32_t offset, uint32_t bytes) {
  Touch touch = {.races = races,
                 .strand = strand,
                 .access = access,
                 .ref = make_ref(access->id, lane),
                 .lane = lane,
                 .observers = lane >= 0 ? UINT32_C(1) << lane : access->issuers};
  touch_range(&touch, rank, offset, bytes);
}

void race_touch_lanes(RaceHistory *races, Strand *strand, const Access *access, uint32_t lanes,
                      const uint64_t places[32], uint32_t bytes) {
  Touch touch = {.races = races, .strand = strand, .access = access};
  FOR_LANES(lane, lanes) {
    touch.ref = make_ref(access->id, (int)lane);
    touch.lane = (int)lane;
    touch.observers = UINT32_C(1) << lane;
    touch.known_write = touch.known_read = 0;
    touch_range(&touch, (int)(places[lane] >> 24), (uint32_t)(places[lane] & 0xffffff), bytes);
  }
}

const Access *race_last_write(const RaceHistory *races, int rank, uint32_t offset) {
  if (rank < 0 || rank >= races->ctas || offset / PAGE_BYTES >= races->npages) return NULL;
  const Page *page = &races->pages[(size_t)rank * races->npages + offset / PAGE_BYTES];
  const Cell *cell =
      page->cells ? &page->cells[run_start(page, offset % PAGE_BYTES / 4)] : &page->whole;
  return cell->write ? ref_access(races, cell->write) : NULL;
}
