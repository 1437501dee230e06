/* What local cells are known to hold, where the code is lowered a second time because an
 * asynchronous instruction names registers through pointers and indices kept in objects (CuTe
 * tensors). Flow-sensitive: each change is logged, so that at a label the facts are those that all
 * ways there agree on. */
#include "cuda/lower_internal.h"

struct Fact {
  IrOperand value;
  uint8_t bytes;
};

static gpointer key_of(uint64_t address) {
  return (gpointer)(uintptr_t)address;
}

/* Sets or (fact NULL) forgets what is known of a cell, and logs it. */
static void change(Lower *l, uint64_t address, uint64_t bytes, Fact *fact) {
  FactChange entry = {address, bytes, g_hash_table_lookup(l->facts, key_of(address))};
  if (fact)
    g_hash_table_insert(l->facts, key_of(address), fact);
  else
    g_hash_table_remove(l->facts, key_of(address));
  KC_PUSH(l->scratch, l->fact_log, entry);
}

/* ---- objects whose address is a value somewhere ---- */

void facts_allocated(Lower *l, uint64_t address, uint64_t bytes) {
  if (!l->facts) return;
  Allocation entry = {address, address + MAX(bytes, 1), false};
  KC_PUSH(l->scratch, l->allocations, entry);
}

static Allocation *allocation_of(Lower *l, uint64_t address) {
  int low = 0, high = l->allocations.count;
  while (low < high) {
    int middle = (low + high) / 2;
    Allocation *a = &l->allocations.items[middle];
    if (address < a->start)
      high = middle;
    else if (address >= a->end)
      low = middle + 1;
    else
      return a;
  }
  return NULL;
}

void facts_escape(Lower *l, IrOperand address) {
  if (!l->facts || !address_is_local(address)) return;
  Allocation *a = allocation_of(l, (uint64_t)address.value);
  if (a) a->escaped = true;
}

static bool is_escaped(Lower *l, uint64_t address) {
  const Allocation *a = allocation_of(l, address);
  return !a || a->escaped;
}

/* ---- reads and writes ---- */

bool facts_read(Lower *l, IrOperand address, const CppType *type, IrOperand *value) {
  if (!l->facts || !cpp_is_number(type) || !address_is_local(address)) return false;
  const Fact *fact = g_hash_table_lookup(l->facts, key_of((uint64_t)address.value));
  if (!fact || fact->bytes != type->ir.bytes) return false;
  *value = fact->value;
  value->type = type->ir;
  return true;
}

void facts_stored(Lower *l, IrOperand address, const CppType *type, IrOperand value) {
  if (!l->facts) return;
  if (!address_is_local(address)) {
    facts_clobber(l, address, 0);
    return;
  }
  Fact *fact = NULL;
  if (cpp_is_number(type) && value.kind != IR_OPD_SPECIAL && !ir_is_unknown(value) &&
      lower_is_stable(l, value)) {
    fact = KC_NEW(l->scratch, Fact);
    fact->value = value;
    fact->bytes = type->ir.bytes;
  }
  change(l, (uint64_t)address.value, type->ir.bytes, fact);
}

typedef struct {
  Lower *l;
  uint64_t start, end;
  bool escaped_only;
  KC_VEC(uint64_t) found;
} Sweep;

static void sweep_one(gpointer key, gpointer value, gpointer user) {
  (void)value;
  Sweep *sweep = user;
  uint64_t address = (uint64_t)(uintptr_t)key;
  if (address < sweep->start || address >= sweep->end) return;
  if (!sweep->escaped_only || is_escaped(sweep->l, address))
    KC_PUSH(sweep->l->scratch, sweep->found, address);
}

static void forget(Lower *l, Sweep sweep) {
  sweep.l = l;
  g_hash_table_foreach(l->facts, sweep_one, &sweep);
  for (int i = 0; i < sweep.found.count; i++)
    change(l, sweep.found.items[i], 1, NULL);
}

void facts_clobber(Lower *l, IrOperand address, uint64_t bytes) {
  if (!l->facts || address.kind == IR_OPD_OBJECT) return;
  if (address_is_local(address) && bytes > 0) {
    uint64_t start = (uint64_t)address.value;
    forget(l, (Sweep){.start = start, .end = start + bytes});
    change(l, start, bytes, NULL); /* the range counts as written, known or not */
    return;
  }
  if (ir_is_imm(address) && !address_is_local(address)) return;
  l->escaped_written++;
  forget(l, (Sweep){.end = UINT64_MAX, .escaped_only = true});
}

/* ---- control flow ---- */

void facts_jump(Lower *l, int32_t label) {
  if (!l->facts) return;
  while (l->label_marks.count <= label)
    KC_PUSH(l->scratch, l->label_marks, -1);
  int *mark = &l->label_marks.items[label];
  if (*mark < 0 || *mark > l->fact_log.count) *mark = l->fact_log.count;
}

static void undo_to(Lower *l, int mark, bool keep_log) {
  for (int i = l->fact_log.count - 1; i >= mark; i--) {
    FactChange entry = l->fact_log.items[i];
    if (keep_log)
      change(l, entry.address, entry.bytes, entry.old);
    else if (entry.old)
      g_hash_table_insert(l->facts, key_of(entry.address), entry.old);
    else
      g_hash_table_remove(l->facts, key_of(entry.address));
  }
  if (!keep_log) l->fact_log.count = mark;
}

void facts_rollback(Lower *l, int mark) {
  if (l->facts) undo_to(l, mark, false);
}

void facts_join(Lower *l, int32_t label, bool falls_through) {
  if (!l->facts || l->label_uses.items[label] == 0) return;
  int mark = label < l->label_marks.count ? l->label_marks.items[label] : 0;
  if (mark < 0) mark = 0;
  if (!falls_through && l->label_uses.items[label] == 1) {
    undo_to(l, mark, true); /* one way there: what held at the jump */
    return;
  }
  for (int i = mark, end = l->fact_log.count; i < end; i++) {
    FactChange entry = l->fact_log.items[i];
    if (g_hash_table_contains(l->facts, key_of(entry.address)))
      change(l, entry.address, entry.bytes, NULL);
  }
}

void facts_forget_all(Lower *l) {
  if (l->facts) forget(l, (Sweep){.end = UINT64_MAX});
}

/* ---- loops ---- */

/* What the log holds from some place on, ready to be asked: each range once, and the ranges in
 * ascending order without overlaps. */
typedef struct {
  KC_VEC(FactChange) once;
  GArray *ranges; /* FactChange; `old` is not used */
} Written;

static gint by_place(gconstpointer a, gconstpointer b) {
  const FactChange *x = a, *y = b;
  if (x->address != y->address) return x->address < y->address ? -1 : 1;
  return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static Written written_since(Lower *l, int from) {
  int count = l->fact_log.count - from;
  Written out = {.ranges = g_array_sized_new(FALSE, FALSE, sizeof(FactChange), (guint)count)};
  g_autoptr(GArray) sorted = g_array_sized_new(FALSE, FALSE, sizeof(FactChange), (guint)count);
  if (count > 0) g_array_append_vals(sorted, l->fact_log.items + from, (guint)count);
  g_array_sort(sorted, by_place);
  for (int i = 0; i < count; i++) {
    FactChange entry = g_array_index(sorted, FactChange, i);
    if (i > 0 && by_place(&entry, &g_array_index(sorted, FactChange, i - 1)) == 0) continue;
    KC_PUSH(l->scratch, out.once, entry);
    FactChange *last =
        out.ranges->len ? &g_array_index(out.ranges, FactChange, out.ranges->len - 1) : NULL;
    if (last && entry.address <= last->address + last->bytes)
      last->bytes = MAX(last->bytes, entry.address + entry.bytes - last->address);
    else
      g_array_append_val(out.ranges, entry);
  }
  return out;
}

static bool is_written(const Written *written, uint64_t address) {
  guint low = 0, high = written->ranges->len;
  while (low < high) {
    guint middle = (low + high) / 2;
    const FactChange *range = &g_array_index(written->ranges, FactChange, middle);
    if (address < range->address)
      high = middle;
    else if (address >= range->address + range->bytes)
      low = middle + 1;
    else
      return true;
  }
  return false;
}

LoopFacts facts_loop_head(Lower *l, const LoopFacts *earlier) {
  LoopFacts loop = {.before = l->fact_log.count, .escapes = l->escaped_written};
  if (!l->facts) return loop;
  if (!earlier) {
    facts_forget_all(l);
  } else {
    for (int i = 0; i < earlier->written.count; i++) {
      const FactChange *w = &earlier->written.items[i];
      if (w->bytes > 16)
        forget(l, (Sweep){.start = w->address, .end = w->address + w->bytes});
      else if (g_hash_table_contains(l->facts, key_of(w->address)))
        change(l, w->address, w->bytes, NULL);
    }
    forget(l, (Sweep){.start = earlier->fresh, .end = UINT64_MAX});
    if (earlier->writes_escaped) forget(l, (Sweep){.end = UINT64_MAX, .escaped_only = true});
  }
  loop.head = l->fact_log.count;
  return loop;
}

void facts_loop_end(Lower *l, LoopFacts *loop) {
  if (!l->facts) return;
  loop->writes_escaped = l->escaped_written != loop->escapes;
  Written written = written_since(l, loop->head);
  loop->written.items = written.once.items;
  loop->written.count = written.once.count;
  loop->written.capacity = written.once.capacity;
  for (int i = loop->before; i < loop->head; i++) { /* what the head had to forget */
    FactChange entry = l->fact_log.items[i];
    if (!entry.old || g_hash_table_contains(l->facts, key_of(entry.address)) ||
        is_written(&written, entry.address) ||
        (loop->writes_escaped && is_escaped(l, entry.address)))
      continue;
    change(l, entry.address, entry.bytes, entry.old);
  }
  g_array_free(written.ranges, TRUE);
}
