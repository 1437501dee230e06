#include "machine/order/race.h"

#include <string.h>

#include "machine/causes/cause.h"
#include "machine/hardware/protocol.h"

#define PAGE_BYTES 1024u
#define PAGE_CELLS (PAGE_BYTES / 4)
#define LANE_ALL 63u
#define CHUNK 1024u
#define MAX_READERS 48
#define FEW_READERS 4
#define MEMO 4 /* histories that a touch remembers the successors of */

/* 1 + index of the access, and the lane whose part of it this is. 0: none. */
typedef uint32_t Ref;

/* Who touched some bytes, all alike. Many words and pages share one: what a copy filled or a matrix
 * instruction read has few histories, however large it is. */
typedef struct History {
  Ref write;
  uint32_t refs;        /* pages and runs that have it */
  uint8_t wmask, rmask; /* bytes of the word that write / the readers touched */
  uint8_t nreaders, room;
  Ref *readers; /* since the write; the first, then the others as they came */
  Ref few[FEW_READERS];
} History;

/* Index of a history; 0: nothing has touched it. */
typedef uint32_t Cell;

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
  History **histories; /* chunks, too */
  uint32_t nhistory_chunks, nhistories;
  Cell *free; /* histories that nothing has any more */
  uint32_t nfree, free_capacity;
  Cell **spare; /* cell arrays of pages that became whole again */
  int nspare, spare_capacity;
  Ref *recent;  /* instruction x warp (hashed) -> last access, to reuse it */
  bool inexact; /* see race_is_exact */
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

static Cell history_new(RaceHistory *races);

RaceHistory *race_new(Machine *machine, Clocks *clocks, int ctas, uint32_t bytes) {
  RaceHistory *races = KC_NEW(machine->arena, RaceHistory);
  races->machine = machine;
  races->clocks = clocks;
  races->ctas = ctas;
  races->npages = (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
  races->pages = KC_NEW_ARRAY(machine->arena, Page, (size_t)ctas * races->npages);
  races->recent = KC_NEW_ARRAY(machine->arena, Ref, RECENT);
  history_new(races); /* 0 stands for none */
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

/* ---- histories ---- */

static History *history(const RaceHistory *races, Cell cell) {
  return &races->histories[cell / CHUNK][cell % CHUNK];
}

static Cell history_new(RaceHistory *races) {
  if (races->nfree) {
    Cell cell = races->free[--races->nfree];
    History *h = history(races, cell);
    h->write = 0;
    h->wmask = h->rmask = h->nreaders = 0;
    return cell;
  }
  if (races->nhistories == races->nhistory_chunks * CHUNK) {
    KcArena *arena = races->machine->arena;
    races->histories = kc_grow(arena, races->histories, sizeof(void *) * races->nhistory_chunks,
                               sizeof(void *) * (races->nhistory_chunks + 1));
    races->histories[races->nhistory_chunks++] = KC_NEW_ARRAY(arena, History, CHUNK);
  }
  Cell cell = races->nhistories++;
  History *h = history(races, cell);
  h->readers = h->few;
  h->room = FEW_READERS;
  return cell;
}

static void release(RaceHistory *races, Cell cell) {
  if (!cell || --history(races, cell)->refs > 0) return;
  if (races->nfree == races->free_capacity) {
    uint32_t capacity = races->free_capacity ? races->free_capacity * 2 : 256;
    races->free = kc_grow(races->machine->arena, races->free, sizeof(Cell) * races->free_capacity,
                          sizeof(Cell) * capacity);
    races->free_capacity = capacity;
  }
  races->free[races->nfree++] = cell;
}

static Cell share(RaceHistory *races, Cell cell) {
  if (cell) history(races, cell)->refs++;
  return cell;
}

static inline void move(RaceHistory *races, Cell *cell, Cell to) {
  if (*cell == to) return;
  share(races, to);
  release(races, *cell);
  *cell = to;
}

static void push_reader(RaceHistory *races, History *h, Ref ref) {
  if (h->nreaders == h->room) {
    uint8_t room = h->room < 12 ? 12 : MAX_READERS;
    Ref *readers = KC_NEW_ARRAY(races->machine->arena, Ref, room);
    memcpy(readers, h->readers, sizeof(Ref) * h->nreaders);
    h->readers = readers;
    h->room = room;
  }
  h->readers[h->nreaders++] = ref;
}

static Cell history_copy(RaceHistory *races, Cell from) {
  Cell cell = history_new(races);
  const History *old = history(races, from);
  History *h = history(races, cell);
  h->write = old->write;
  h->wmask = old->wmask;
  h->rmask = old->rmask;
  for (uint8_t i = 0; i < old->nreaders; i++)
    push_reader(races, h, old->readers[i]);
  return cell;
}

/* ---- readers ---- */

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

/* What a read does to a history: the reader that it stands for, nreaders for a new one, or -1:
 * nothing. */
static int reader_place(const RaceHistory *races, const History *h, Ref ref) {
  for (int i = 0; i < h->nreaders; i++)
    if (h->readers[i] == ref) return -1;
  if (h->nreaders == 0 || supersedes(races, ref, h->readers[0])) return 0;
  for (int i = h->nreaders - 1; i > 0; i--)
    if (supersedes(races, ref, h->readers[i])) return i;
  return h->nreaders < MAX_READERS ? h->nreaders : -1;
}

/* The history of a cell, its own. */
static History *own(RaceHistory *races, Cell *cell) {
  if (!*cell || history(races, *cell)->refs > 1) {
    Cell mine = *cell ? history_copy(races, *cell) : history_new(races);
    move(races, cell, mine);
  }
  return history(races, *cell);
}

static void add_reader(RaceHistory *races, Cell *cell, Ref ref, uint8_t mask) {
  static const History none = {.write = 0};
  const History *old = *cell ? history(races, *cell) : &none;
  int place = reader_place(races, old, ref);
  if (place < 0 && old->nreaders == MAX_READERS) races->inexact = true;
  if (place < 0 && (old->rmask | mask) == old->rmask) return;
  History *h = own(races, cell);
  h->rmask |= mask;
  if (place < 0) return;
  if (place == h->nreaders)
    push_reader(races, h, ref);
  else
    h->readers[place] = ref;
}

/* ---- pages ---- */

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
  page->cells[word] = share(races, page->cells[run_start(page, word)]);
  page->heads[word / 64] |= UINT64_C(1) << word % 64;
}

static void page_split(RaceHistory *races, Page *page) {
  if (page->cells) return;
  page->cells = races->nspare ? races->spare[--races->nspare]
                              : KC_NEW_ARRAY(races->machine->arena, Cell, PAGE_CELLS);
  page->cells[0] = page->whole;
  page->whole = 0;
  memset(page->heads, 0, sizeof page->heads);
  page->heads[0] = 1;
}

static void page_unite(RaceHistory *races, Page *page) {
  if (!page->cells) return;
  for (uint32_t at = 0; at < PAGE_CELLS; at = run_end(page, at))
    release(races, page->cells[at]);
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
  Cell from[MEMO], to[MEMO];   /* what whole words became, the last first */
  uint32_t nmemo;
  Cell written; /* the history of whole words that it wrote; 0: none yet */
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
  touch->races->inexact = true;
  Race race = {.kind = kind,
               .before = ref_access(touch->races, before),
               .now = touch->access,
               .before_lane = ref_lane(before),
               .strand = touch->strand,
               .rank = rank,
               .offset = offset};
  cause_race(touch->races->machine, &race);
}

/* A write takes the place of one that it need not come after: other bytes of the word, or the same
 * value. What comes later is not held against the one that is gone. */
static void displace(Touch *touch, Ref before) {
  RaceHistory *races = touch->races;
  if (touch->access->write && !races->inexact && !is_over(touch, before)) races->inexact = true;
}

static void check_write(Touch *touch, const History *h, uint8_t mask, int rank, uint32_t offset) {
  Ref before = h->write;
  if (!before || before == touch->known_write) return;
  const Access *a = ref_access(touch->races, before), *now = touch->access;
  if (!(h->wmask & mask)) {
    displace(touch, before);
    return;
  }
  touch->known_write = before;
  if (a->atomic && now->atomic) return;
  if (a->value_known && now->value_known && now->write && a->value == now->value) {
    displace(touch, before);
    return;
  }
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

static void check(Touch *touch, Cell cell, uint8_t mask, int rank, uint32_t offset) {
  if (!touch->strand || !cell) return;
  const History *h = history(touch->races, cell);
  check_write(touch, h, mask, rank, offset);
  if (!touch->access->write || !(h->rmask & mask)) return;
  check_reader(touch, h->readers[0], rank, offset);
  for (int i = h->nreaders - 1; i > 0; i--)
    check_reader(touch, h->readers[i], rank, offset);
}

/* All bytes of the words are written. */
static void write_whole(Touch *touch, Cell *cell) {
  if (!touch->written) {
    touch->written = history_new(touch->races);
    History *h = history(touch->races, touch->written);
    h->write = touch->ref;
    h->wmask = 15;
    h->refs = 0;
  }
  move(touch->races, cell, touch->written);
}

static void write_part(Touch *touch, Cell *cell, uint8_t mask) {
  History *h = own(touch->races, cell);
  h->wmask = h->write == touch->ref ? h->wmask | mask : mask;
  h->write = touch->ref;
  if ((h->rmask & ~mask) == 0) h->rmask = h->nreaders = 0;
}

static void touch_cell(Touch *touch, Cell *cell, uint8_t mask, int rank, uint32_t offset) {
  Cell before = *cell;
  if (mask == 15) {
    for (uint32_t i = 0; i < touch->nmemo; i++)
      if (touch->from[i] == before) {
        move(touch->races, cell, touch->to[i]);
        return;
      }
  }
  check(touch, before, mask, rank, offset);
  if (!touch->access->write)
    add_reader(touch->races, cell, touch->ref, mask);
  else if (mask == 15)
    write_whole(touch, cell);
  else
    write_part(touch, cell, mask);
  if (mask != 15) return;
  for (uint32_t i = MEMO - 1; i > 0; i--) {
    touch->from[i] = touch->from[i - 1];
    touch->to[i] = touch->to[i - 1];
  }
  touch->from[0] = before;
  touch->to[0] = *cell;
  if (touch->nmemo < MEMO) touch->nmemo++;
}

/* The words from `first` to before `end` of a split page. Neighbours that come to have the same
 * history become one run. */
static void touch_words(Touch *touch, Page *page, uint32_t first, uint32_t end, int rank,
                        uint32_t page_start) {
  run_split(touch->races, page, first);
  run_split(touch->races, page, end);
  uint32_t last = first;
  for (uint32_t at = first; at < end; at = run_end(page, at)) {
    touch_cell(touch, &page->cells[at], 15, rank, page_start + 4 * at);
    if (at == last) continue;
    if (page->cells[at] == page->cells[last]) {
      release(touch->races, page->cells[at]);
      page->heads[at / 64] &= ~(UINT64_C(1) << at % 64);
    } else {
      last = at;
    }
  }
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
  page->whole = share(touch->races, touch->written);
  page_unite(touch->races, page);
}

static void touch_range(Touch *touch, int rank, uint32_t offset, uint32_t bytes) {
  RaceHistory *races = touch->races;
  uint32_t limit = races->npages * PAGE_BYTES;
  if (rank < 0 || rank >= races->ctas || offset >= limit) return;
  if (bytes > limit - offset) bytes = limit - offset;
  uint32_t end = offset + bytes;
  Page *page = &races->pages[(size_t)rank * races->npages + offset / PAGE_BYTES];
  for (; offset < end; page++) {
    uint32_t page_end = (offset / PAGE_BYTES + 1) * PAGE_BYTES;
    uint32_t stop = end < page_end ? end : page_end;
    /* Most pages are whole, and have the history of the one before. */
    bool whole = !page->cells && stop - offset == PAGE_BYTES;
    if (whole && touch->nmemo && page->whole == touch->from[0])
      move(races, &page->whole, touch->to[0]);
    else
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

/* Whether eight rows of 128 bytes are a page all of whose bytes have one history: most tiles are
 * filled and overwritten as a whole, and need not be taken apart for those who read them. */
static bool is_whole(const RaceHistory *races, int rank, const RaceRows *rows, uint32_t offset) {
  return rows->width == 128 && offset / PAGE_BYTES < races->npages && rank >= 0 &&
         rank < races->ctas && offset % PAGE_BYTES < 128 &&
         !races->pages[(size_t)rank * races->npages + offset / PAGE_BYTES].cells;
}

static void touch_row(Touch *touch, int rank, const RaceRows *rows, uint32_t first) {
  uint32_t pattern = rows->width / 16 - 1, chunks = 0;
  for (uint32_t at = first; at < first + rows->bytes; at += 16)
    chunks |= 1u << ((at / 16 % 8) ^ (at >> 7 & pattern));
  while (chunks) {
    uint32_t low = (uint32_t)__builtin_ctz(chunks);
    uint32_t run = (uint32_t)__builtin_ctz(~(chunks >> low));
    uint32_t offset = first / 128 * 128 + low * 16, bytes = run * 16;
    chunks &= ~(((1u << run) - 1) << low);
    if (offset >= rows->end) continue;
    touch_range(touch, rank, offset, bytes < rows->end - offset ? bytes : rows->end - offset);
  }
}

void race_touch_rows(RaceHistory *races, Strand *strand, const Access *access, int rank,
                     const RaceRows *rows) {
  Touch touch = {.races = races,
                 .strand = strand,
                 .access = access,
                 .ref = make_ref(access->id, -1),
                 .lane = -1,
                 .observers = access->issuers};
  for (uint32_t row = 0; row < rows->count; row++) {
    uint32_t group = rows->start + row / 8 * rows->stride, page = group / PAGE_BYTES * PAGE_BYTES;
    if (row % 8 == 0 && rows->count - row >= 8 && page + PAGE_BYTES <= rows->end &&
        is_whole(races, rank, rows, group)) {
      touch_range(&touch, rank, page, PAGE_BYTES);
      row += 7;
    } else {
      touch_row(&touch, rank, rows, group + row % 8 * rows->width);
    }
  }
}

void race_touch_lanes(RaceHistory *races, Strand *strand, const Access *access, uint32_t lanes,
                      const uint64_t places[32], uint32_t bytes) {
  Touch touch = {.races = races, .strand = strand, .access = access};
  FOR_LANES(lane, lanes) {
    touch.ref = make_ref(access->id, (int)lane);
    touch.lane = (int)lane;
    touch.observers = UINT32_C(1) << lane;
    touch.known_write = touch.known_read = 0;
    touch.nmemo = touch.written = 0;
    touch_range(&touch, (int)(places[lane] >> 24), (uint32_t)(places[lane] & 0xffffff), bytes);
  }
}

/* Whether the last write of the word is over for the lanes of `touch`. Their warp's own accesses
 * are left to it. */
static bool is_settled(Touch *touch, Cell cell) {
  const History *h = cell ? history(touch->races, cell) : NULL;
  if (!h || !h->write) return true;
  return is_over(touch, h->write);
}

static bool is_own_write(const Touch *touch, Cell cell) {
  const History *h = cell ? history(touch->races, cell) : NULL;
  return h && h->write &&
         ref_access(touch->races, h->write)->warp == (uint32_t)touch->strand->warp->index &&
         ref_access(touch->races, h->write)->actor == ACTOR_THREAD;
}

bool race_wherever(RaceHistory *races, Strand *strand, const Access *access, int rank,
                   uint32_t offset, uint32_t bytes, uint32_t *where) {
  Touch touch = {.races = races, .strand = strand, .access = access, .observers = access->issuers};
  bool found = false;
  if (rank < 0 || rank >= races->ctas || offset + bytes > races->npages * PAGE_BYTES) return false;
  for (uint32_t at = offset; at < offset + bytes;) {
    const Page *page = &races->pages[(size_t)rank * races->npages + at / PAGE_BYTES];
    uint32_t word = at % PAGE_BYTES / 4, page_start = at / PAGE_BYTES * PAGE_BYTES;
    Cell cell = page->cells ? page->cells[run_start(page, word)] : page->whole;
    if (!is_own_write(&touch, cell)) {
      if (is_settled(&touch, cell)) return false;
      if (!found) *where = at;
      found = true;
    }
    at = page_start + (page->cells ? 4 * run_end(page, word) : PAGE_BYTES);
  }
  return found;
}

bool race_is_exact(const RaceHistory *races) {
  return !races->inexact;
}

const Access *race_last_write(const RaceHistory *races, int rank, uint32_t offset) {
  if (rank < 0 || rank >= races->ctas || offset / PAGE_BYTES >= races->npages) return NULL;
  const Page *page = &races->pages[(size_t)rank * races->npages + offset / PAGE_BYTES];
  Cell cell = page->cells ? page->cells[run_start(page, offset % PAGE_BYTES / 4)] : page->whole;
  const History *h = cell ? history(races, cell) : NULL;
  return h && h->write ? ref_access(races, h->write) : NULL;
}
