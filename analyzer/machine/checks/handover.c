/* What blocks hand over to each other through global memory: one stores data and then a flag,
 * another polls the flag and then loads the data. The memory model (PTX ISA 8.9, 8.10) asks for a
 * release of device scope between data and flag, and for an acquire between flag and data. The
 * machine runs the blocks of one cluster only, so that this is read off the code, in source order:
 * any fence that stands between the two counts, whoever executes it, and what can't be told (an
 * address from memory, a call without a body) keeps the check silent. */
#include "machine/checks/checks.h"

#include <glib.h>

#include "machine/execute/core.h"
#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"

#define LOOP_LENGTH 48
#define MOST_POLLS 8
#define UNTOLD INT64_MIN /* an address that may lie in several buffers, or anywhere */

typedef struct Poll {
  int32_t first, last; /* the loop */
  int32_t at;          /* the load, or atomic operation, that the loop waits for */
  int64_t buffer;
} Poll;

typedef struct Handover {
  Machine *machine;
  const IrKernel *kernel;
  int32_t *head, *writers; /* by register: which instructions write it */
  int64_t *buffers;        /* by instruction: where a global access goes; 0: nowhere of interest */
  Poll polls[MOST_POLLS];
  int npolls;
} Handover;

static const IrInsn *insn_at(const Handover *h, int32_t at) {
  return &h->kernel->insns.items[at];
}

static bool is_memory(const IrInsn *insn) {
  return insn->op == IR_load || insn->op == IR_atom;
}

static bool is_weak(const IrInsn *insn) {
  const uint64_t strong = IR_FLAG(volatile_) | IR_FLAG(relaxed) | IR_FLAG(acquire) |
                          IR_FLAG(release) | IR_FLAG(acq_rel) | IR_FLAG(sc);
  return (insn->flags & strong) == 0;
}

/* ---- what values are computed from ---- */

static void each_register(const IrOperand *operand, GArray *out) {
  if (operand->kind == IR_OPD_REG) g_array_append_val(out, operand->id);
  for (int i = 0; operand->kind == IR_OPD_VECTOR && i < operand->count; i++)
    each_register(&operand->list[i], out);
}

static void index_writers(Handover *h) {
  const IrKernel *kernel = h->kernel;
  g_autoptr(GArray) regs = g_array_new(FALSE, FALSE, sizeof(int32_t));
  h->head = KC_NEW_ARRAY(h->machine->arena, int32_t, kernel->regs.count + 2);
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t at = 0; at < kernel->insns.count; at++) {
      const IrInsn *insn = insn_at(h, at);
      g_array_set_size(regs, 0);
      for (int i = 0; i < insn->nargs; i++)
        if (core_operand_is_written(insn, i)) each_register(&insn->args[i], regs);
      for (guint i = 0; i < regs->len; i++) {
        int32_t reg = g_array_index(regs, int32_t, i);
        if (pass == 0)
          h->head[reg + 1]++;
        else
          h->writers[h->head[reg]++] = at;
      }
    }
    for (int i = 0; pass == 0 && i <= kernel->regs.count; i++)
      h->head[i + 1] += h->head[i];
    if (pass == 0)
      h->writers = KC_NEW_ARRAY(h->machine->arena, int32_t, h->head[kernel->regs.count + 1] + 1);
  }
  for (int i = kernel->regs.count; i > 0; i--) /* filling moved each start to the next */
    h->head[i] = h->head[i - 1];
  h->head[0] = 0;
}

typedef struct Walk { /* registers that something is computed from, by instructions first..last */
  int32_t first, last;
  uint8_t *seen;
  GArray *regs;
  bool memory;   /* one of them was loaded there; how its address came about is not followed */
  int32_t asked; /* a memory instruction ... */
  bool met;      /* ... that one of them comes from */
} Walk;

static void walk_operand(Walk *w, const IrOperand *operand) {
  guint from = w->regs->len, to;
  each_register(operand, w->regs);
  to = from;
  for (guint i = from; i < w->regs->len; i++) {
    int32_t reg = g_array_index(w->regs, int32_t, i);
    if (w->seen[reg]) continue;
    w->seen[reg] = 1;
    g_array_index(w->regs, int32_t, to++) = reg;
  }
  g_array_set_size(w->regs, to);
}

static void walk_sources(Walk *w, const IrInsn *insn) {
  for (int i = 0; i < insn->nargs; i++)
    if (!core_operand_is_written(insn, i)) walk_operand(w, &insn->args[i]);
}

static Walk walk_begin(const Handover *h, int32_t first, int32_t last, int32_t asked) {
  return (Walk){.first = first,
                .last = last,
                .asked = asked,
                .seen = g_new0(uint8_t, h->kernel->regs.count + 1),
                .regs = g_array_new(FALSE, FALSE, sizeof(int32_t))};
}

static void walk_end(Walk *w) {
  g_free(w->seen);
  g_array_unref(w->regs);
}

static void walk(const Handover *h, Walk *w) {
  for (guint i = 0; i < w->regs->len; i++) {
    int32_t reg = g_array_index(w->regs, int32_t, i);
    for (int32_t k = h->head[reg]; k < h->head[reg + 1]; k++) {
      int32_t at = h->writers[k];
      if (at < w->first || at > w->last) continue;
      const IrInsn *insn = insn_at(h, at);
      if (is_memory(insn) && insn->space != IR_SPACE_PARAM && insn->space != IR_SPACE_LOCAL) {
        w->memory = true;
        w->met |= at == w->asked;
      } else {
        walk_sources(w, insn);
      }
    }
  }
}

/* Whether a register is computed, in the loop, from its own value of the round before. */
static bool feeds_itself(const Handover *h, int32_t reg, int32_t first, int32_t last) {
  bool found = false;
  for (int32_t k = h->head[reg]; k < h->head[reg + 1] && !found; k++) {
    const IrInsn *insn = insn_at(h, h->writers[k]);
    if (h->writers[k] < first || h->writers[k] > last || is_memory(insn)) continue;
    Walk w = walk_begin(h, first, last, -1);
    walk_sources(&w, insn);
    walk(h, &w);
    found = w.seen[reg] != 0;
    walk_end(&w);
  }
  return found;
}

static bool any_feeds_itself(const Handover *h, const Walk *w) {
  for (guint i = 0; i < w->regs->len; i++)
    if (feeds_itself(h, g_array_index(w->regs, int32_t, i), w->first, w->last)) return true;
  return false;
}

/* ---- buffers ---- */

static int64_t join(int64_t a, int64_t b) {
  return a == 0 || a == b ? b : b == 0 ? a : UNTOLD;
}

/* The pointer parameter or variable that an operand of the address computation brings in. */
static int64_t buffer_of_operand(const Handover *h, const IrOperand *operand) {
  if (operand->kind != IR_OPD_OBJECT) return 0;
  int space = h->kernel->objects.items[operand->id].space;
  return space == IR_SPACE_GLOBAL  ? -1 - (int64_t)operand->id
         : space == IR_SPACE_PARAM ? 0
                                   : UNTOLD;
}

static bool is_pointer_leaf(const IrKernel *kernel, uint64_t offset) {
  for (int i = 0; i < kernel->params.count; i++)
    for (int j = 0; j < kernel->params.items[i].leaves.count; j++) {
      const IrLeaf *leaf = &kernel->params.items[i].leaves.items[j];
      if (leaf->offset == offset) return leaf->kind == IR_LEAF_POINTER;
    }
  return false;
}

static int64_t buffer_of_writer(const Handover *h, const IrInsn *insn) {
  int64_t buffer = 0;
  if (is_memory(insn)) {
    const IrOperand *address = slice_address(insn);
    if (insn->space != IR_SPACE_PARAM || !address || address->kind != IR_OPD_IMM)
      return insn->type.bytes == 8 && insn->type.cls != IR_CLASS_FLOAT ? UNTOLD : 0;
    uint64_t offset = (uint64_t)address->value;
    offset -= offset >= IR_PARAM_BASE ? IR_PARAM_BASE : 0;
    return is_pointer_leaf(h->kernel, offset) ? 1 + (int64_t)offset : 0;
  }
  if (insn->op == IR_event || insn->op == IR_havoc || insn->op == IR_mapa) return UNTOLD;
  for (int i = 0; i < insn->nargs; i++)
    buffer = join(buffer, buffer_of_operand(h, &insn->args[i]));
  return buffer;
}

static int64_t buffer_of(const Handover *h, const IrOperand *address) {
  Walk w = walk_begin(h, 0, h->kernel->insns.count, -1);
  int64_t buffer = buffer_of_operand(h, address);
  walk_operand(&w, address);
  walk(h, &w);
  for (guint i = 0; i < w.regs->len && buffer != UNTOLD; i++) {
    int32_t reg = g_array_index(w.regs, int32_t, i);
    for (int32_t k = h->head[reg]; k < h->head[reg + 1]; k++)
      buffer = join(buffer, buffer_of_writer(h, insn_at(h, h->writers[k])));
  }
  walk_end(&w);
  return buffer;
}

static bool is_global_access(const IrInsn *insn) {
  bool access = is_memory(insn) || insn->op == IR_store;
  return access && (insn->space == IR_SPACE_GENERIC || insn->space == IR_SPACE_GLOBAL ||
                    insn->space == IR_SPACE_NONE);
}

static void find_buffers(Handover *h) {
  h->buffers = KC_NEW_ARRAY(h->machine->arena, int64_t, h->kernel->insns.count + 1);
  for (int32_t at = 0; at < h->kernel->insns.count; at++)
    if (is_global_access(insn_at(h, at)))
      h->buffers[at] = buffer_of(h, slice_address(insn_at(h, at)));
}

static bool is_told(int64_t buffer) {
  return buffer != 0 && buffer != UNTOLD;
}

/* ---- loops that poll ---- */

/* Whether the loop does nothing but look at memory, and perhaps meet other threads. */
static bool only_looks(const Handover *h, int32_t first, int32_t last) {
  for (int32_t i = first; i <= last; i++) {
    const IrInsn *insn = insn_at(h, i);
    bool meets = insn->event == IR_EV_nanosleep || insn->event == IR_EV_fence ||
                 insn->event == IR_EV_bar_sync || insn->event == IR_EV_bar_red ||
                 insn->event == IR_EV_warp_sync || insn->event == IR_EV_vote;
    if (insn->op == IR_store || insn->op == IR_copy || insn->op == IR_fill ||
        insn->op == IR_havoc || insn->op == IR_exit || insn->op == IR_branch_index ||
        (insn->op == IR_event && !meets))
      return false;
  }
  return true;
}

static bool is_same_place_each_round(const Handover *h, const Poll *poll) {
  Walk w = walk_begin(h, poll->first, poll->last, -1);
  walk_operand(&w, slice_address(insn_at(h, poll->at)));
  walk(h, &w);
  bool same = !w.memory && !any_feeds_itself(h, &w);
  walk_end(&w);
  return same;
}

/* A value that is computed from what was there and put back: an update, no wait. */
static bool updates(const Handover *h, const Poll *poll) {
  const IrInsn *insn = insn_at(h, poll->at);
  if (insn->op != IR_atom) return false;
  Walk w = walk_begin(h, poll->first, poll->last, -1);
  for (int i = 2; i < insn->nargs; i++)
    walk_operand(&w, &insn->args[i]);
  walk(h, &w);
  bool changes = w.memory;
  walk_end(&w);
  return changes;
}

/* Whether this way out of the loop depends on nothing but what is loaded. */
static bool is_by_load(const Handover *h, const Poll *poll, const IrInsn *out) {
  Walk w = walk_begin(h, poll->first, poll->last, poll->at);
  IrOperand guard = ir_use(out->guard);
  walk_operand(&w, &guard);
  walk(h, &w);
  bool by_load = w.met && !any_feeds_itself(h, &w);
  walk_end(&w);
  return by_load;
}

/* Whether some way out of the loop does; of an ordinary load, which reads data as a rule, all. */
static bool leaves_by(const Handover *h, const Poll *poll) {
  const IrInsn *load = insn_at(h, poll->at);
  bool plain = load->op == IR_load && is_weak(load) && !(load->flags & IR_FLAG(from_asm));
  int outs = 0, by_load = 0;
  for (int32_t i = poll->first; i <= poll->last; i++) {
    const IrInsn *insn = insn_at(h, i);
    bool inside = insn->target >= poll->first && insn->target <= poll->last && i != poll->last;
    if (insn->op != IR_branch || insn->guard < 0 || inside) continue;
    outs++;
    by_load += is_by_load(h, poll, insn);
  }
  return plain ? by_load > 0 && by_load == outs : by_load > 0;
}

static bool loops_back(const Handover *h, int32_t at) {
  const IrInsn *insn = insn_at(h, at);
  return insn->op == IR_branch && insn->target <= at && at - insn->target <= LOOP_LENGTH &&
         only_looks(h, insn->target, at);
}

static void find_polls(Handover *h) {
  for (int32_t last = 0; last < h->kernel->insns.count && h->npolls < MOST_POLLS; last++) {
    if (!loops_back(h, last)) continue;
    for (int32_t at = insn_at(h, last)->target; at <= last && h->npolls < MOST_POLLS; at++) {
      Poll poll = {insn_at(h, last)->target, last, at, h->buffers[at]};
      if (is_memory(insn_at(h, at)) && is_told(poll.buffer) && leaves_by(h, &poll) &&
          is_same_place_each_round(h, &poll) && !updates(h, &poll))
        h->polls[h->npolls++] = poll;
    }
  }
}

static bool is_polled(const Handover *h, int64_t buffer) {
  for (int i = 0; i < h->npolls; i++)
    if (h->polls[i].buffer == buffer) return true;
  return false;
}

static const Poll *poll_at(const Handover *h, int32_t at) {
  for (int i = 0; i < h->npolls; i++)
    if (h->polls[i].at == at) return &h->polls[i];
  return NULL;
}

/* ---- what orders ---- */

static bool is_narrow(const IrInsn *insn) {
  return (insn->flags & (IR_FLAG(scope_cta) | IR_FLAG(scope_cluster))) != 0;
}

static bool is_unclear(const IrInsn *insn) {
  return insn->op == IR_havoc ||
         (insn->op == IR_event && (insn->event == IR_EV_extern_call || insn->event == IR_EV_other));
}

/* A fence of device scope, or an access with that effect on its `sem` side. */
static bool orders(const IrInsn *insn, uint64_t sem) {
  if (is_unclear(insn)) return true;
  if (is_narrow(insn)) return false;
  if (insn->op == IR_event) return insn->event == IR_EV_fence;
  return (is_memory(insn) || insn->op == IR_store) &&
         (insn->flags & (sem | IR_FLAG(acq_rel) | IR_FLAG(sc)));
}

static bool ordered_between(const Handover *h, int32_t first, int32_t last, uint64_t sem) {
  for (int32_t i = first; i <= last; i++)
    if (orders(insn_at(h, i), sem)) return true;
  return false;
}

static const IrInsn *narrow_fence(const Handover *h, int32_t first, int32_t last) {
  for (int32_t i = first; i <= last; i++) {
    const IrInsn *insn = insn_at(h, i);
    if (insn->op == IR_event && insn->event == IR_EV_fence && is_narrow(insn)) return insn;
  }
  return NULL;
}

/* ---- data ---- */

/* Whether some load behind a poll reads the buffer: it is handed over. */
static bool is_consumed(const Handover *h, int64_t buffer) {
  if (!is_told(buffer) || is_polled(h, buffer)) return false;
  for (int i = 0; i < h->npolls; i++)
    for (int32_t at = h->polls[i].last + 1; at < h->kernel->insns.count; at++)
      if (insn_at(h, at)->op == IR_load && h->buffers[at] == buffer) return true;
  return false;
}

static bool is_data_store(const Handover *h, int32_t at) {
  return insn_at(h, at)->op == IR_store && is_consumed(h, h->buffers[at]);
}

static bool is_stored(const Handover *h, int64_t buffer) {
  for (int32_t at = 0; at < h->kernel->insns.count; at++)
    if (insn_at(h, at)->op == IR_store && h->buffers[at] == buffer) return true;
  return false;
}

/* Puts a flag back to zero, for the next launch. A lock that is taken by an atomic operation is
 * given back by that. */
static bool resets(const Handover *h, int32_t at) {
  const IrInsn *insn = insn_at(h, at);
  const IrOperand *value = &insn->args[insn->op == IR_store ? 1 : 2];
  if (insn->nargs <= (insn->op == IR_store ? 1 : 2) || value->kind != IR_OPD_IMM || value->value)
    return false;
  for (int i = 0; i < h->npolls; i++)
    if (h->polls[i].buffer == h->buffers[at] && insn_at(h, h->polls[i].at)->op == IR_atom &&
        insn_at(h, h->polls[i].at)->sub != IR_ATOM_add)
      return false;
  return true;
}

static bool is_flag_store(const Handover *h, int32_t at) {
  const IrInsn *insn = insn_at(h, at);
  return (insn->op == IR_store || insn->op == IR_atom) && is_polled(h, h->buffers[at]) &&
         !poll_at(h, at) && !resets(h, at);
}

/* ---- reports ---- */

static IrViolation *report(const Handover *h, int32_t at, const char *kind, const char *message,
                           const char *what, int32_t other, const char *note) {
  IrViolation *v = machine_violation(h->machine, MACHINE_CHECK_RACE, insn_at(h, at), kind, message,
                                     what, machine_line(h->machine, insn_at(h, other)));
  if (!v) return NULL;
  v->confidence = IR_INFERRED;
  ir_violation_related(h->machine->violations, v, insn_at(h, other)->where, "%s", note);
  return v;
}

static void check_release(const Handover *h, int32_t flag) {
  int32_t data = flag - 1;
  while (data >= 0 && !is_data_store(h, data))
    data--;
  if (data < 0 || ordered_between(h, data + 1, flag, IR_FLAG(release))) return;
  const IrInsn *narrow = narrow_fence(h, data + 1, flag - 1);
  IrViolation *v =
      report(h, flag, "global-flag-release-missing",
             "the flag that other blocks poll is set with no %s between it and the data stored at "
             "%s: they may see the flag and the old data",
             narrow ? "fence of device scope" : "release", data, "data that it announces");
  if (v && narrow)
    ir_violation_related(h->machine->violations, v, narrow->where,
                         "this fence orders for the block (or cluster) only");
}

/* The flag first, then the data, in one straight piece of code. */
static void check_sequence(const Handover *h, int32_t flag) {
  int32_t data = -1;
  for (int32_t i = flag - 1; i >= 0 && !insn_at(h, i + 1)->leader; i--) {
    if (insn_at(h, i)->op == IR_branch) break;
    if (is_data_store(h, i)) return;
  }
  for (int32_t i = flag + 1; i < h->kernel->insns.count; i++) {
    const IrInsn *insn = insn_at(h, i);
    bool fence = insn->op == IR_event && insn->event == IR_EV_fence;
    if (insn->leader || insn->op == IR_branch || insn->op == IR_exit) break;
    if (insn->op == IR_event && !fence) break;
    if (data >= 0 && is_flag_store(h, i)) return;
    if (data < 0 && is_data_store(h, i)) data = i;
  }
  if (data < 0) return;
  report(h, flag, "global-flag-before-data",
         "the flag that other blocks poll is set before the %s is stored at %s: they may see the "
         "flag and the old data",
         "data", data, "data that it announces");
}

/* A plain load that the loop waits for: the compiler may load once and never leave. */
static bool check_plain(const Handover *h, const Poll *poll) {
  const IrInsn *insn = insn_at(h, poll->at);
  if (insn->op != IR_load || !is_weak(insn) || (insn->flags & IR_FLAG(from_asm))) return false;
  for (int32_t i = poll->first; i <= poll->last; i++)
    if (insn_at(h, i)->op == IR_event) return false;
  machine_violation(h->machine, MACHINE_CHECK_DEADLOCK, insn, "global-flag-plain-poll",
                    "the loop waits for a word of global memory to change, which is loaded by an "
                    "ordinary load: the compiler may load it once, before the loop");
  return true;
}

/* The first ordinary load behind the loop of a buffer that the kernel also stores to. One in asm,
 * or with a cache hint that passes the first-level cache by, is left to its author. */
static int32_t guarded_load(const Handover *h, const Poll *poll) {
  for (int32_t at = poll->last + 1; at < h->kernel->insns.count; at++) {
    const IrInsn *insn = insn_at(h, at);
    if (insn->op == IR_load && is_weak(insn) && !(insn->flags & IR_FLAG(from_asm)) &&
        is_consumed(h, h->buffers[at]) && is_stored(h, h->buffers[at]))
      return at;
  }
  return -1;
}

/* Whether something between keeps the compiler from moving ordinary accesses. */
static bool compiler_stops(const Handover *h, int32_t first, int32_t last) {
  for (int32_t i = first; i <= last; i++) {
    const IrInsn *insn = insn_at(h, i);
    bool own = insn->op == IR_event && !(insn->flags & IR_FLAG(from_asm));
    if (own || (insn->flags & IR_FLAG(memory_clobber)) || is_unclear(insn)) return true;
  }
  return false;
}

static void check_acquire(const Handover *h, const Poll *poll) {
  int32_t data = guarded_load(h, poll);
  if (data < 0) return;
  if (!ordered_between(h, poll->first, data - 1, IR_FLAG(acquire)))
    report(h, poll->at, "global-flag-acquire-missing",
           "the poll is no acquire, and no %s stands between it and the loads of what the flag "
           "announces (the first at %s): they may return old data",
           "fence of device scope", data, "data that the flag announces");
  else if ((insn_at(h, poll->at)->flags & IR_FLAG(from_asm)) &&
           !(insn_at(h, data)->flags & IR_FLAG(from_asm)) &&
           !compiler_stops(h, poll->first, data - 1))
    report(h, poll->at, "global-flag-memory-clobber",
           "the asm of the poll has no \"%s\" clobber: the compiler may move the load of what the "
           "flag announces (%s) above it",
           "memory", data, "data that the flag announces");
}

void handover_finish(Machine *machine) {
  const IrKernel *kernel = machine->kernel;
  if (machine->sample->rank != 0 || machine->schedule != MACHINE_EAGER) return;
  Handover h = {.machine = machine, .kernel = kernel};
  bool any = false;
  for (int32_t at = 0; at < kernel->insns.count && !any; at++)
    any = loops_back(&h, at);
  if (!any) return;
  index_writers(&h);
  find_buffers(&h);
  find_polls(&h);
  for (int i = 0; i < h.npolls; i++)
    if (!check_plain(&h, &h.polls[i])) check_acquire(&h, &h.polls[i]);
  for (int32_t at = 0; h.npolls && at < kernel->insns.count; at++) {
    if (!is_flag_store(&h, at)) continue;
    check_release(&h, at);
    check_sequence(&h, at);
  }
}
