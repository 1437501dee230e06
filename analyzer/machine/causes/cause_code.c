/* What the code of the kernel says about waits, beyond what a run has shown: whether an operand
 * changes from trip to trip, and what a thread that is stuck would do if it went on. */
#include "machine/causes/symptom.h"
#include "machine/hardware/mbarrier.h"
#include "machine/inputs/slice.h"

#include <ctype.h>
#include <string.h>

/* ---- loops ---- */

typedef struct Range {
  int32_t first, last; /* instructions; empty when last < first */
} Range;

static bool waits_only(const IrInsn *insn) {
  return insn->event == IR_EV_mbarrier_try_wait || insn->event == IR_EV_mbarrier_test_wait ||
         insn->event == IR_EV_mbarrier_wait || insn->event == IR_EV_nanosleep ||
         insn->event == IR_EV_fence;
}

/* A loop that does nothing but poll. */
static bool spins(const IrKernel *kernel, Range r) {
  for (int32_t i = r.first; i <= r.last; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_store || insn->op == IR_atom) return false;
    if (insn->op == IR_event && !waits_only(insn)) return false;
  }
  return true;
}

/* The innermost loop around an instruction that does more than poll and has more than `smallest`
 * instructions. */
static Range larger_loop(const IrKernel *kernel, int32_t at, int32_t smallest) {
  Range best = {0, -1};
  for (int32_t j = at; j < kernel->insns.count; j++) {
    const IrInsn *insn = &kernel->insns.items[j];
    if (insn->op != IR_branch || insn->target > at) continue;
    Range r = {insn->target, j};
    if (r.last - r.first < smallest || spins(kernel, r)) continue;
    if (best.last < best.first || r.last - r.first < best.last - best.first) best = r;
  }
  return best;
}

static Range loop_around(const IrKernel *kernel, int32_t at) {
  return larger_loop(kernel, at, 0);
}

bool code_in_loop(const IrKernel *kernel, const IrInsn *insn) {
  Range r = loop_around(kernel, (int32_t)(insn - kernel->insns.items));
  return r.last >= r.first;
}

/* ---- what an operand is computed from ---- */

static int written_operands(const IrInsn *insn) {
  switch ((int)insn->op) {
  case IR_store:
  case IR_branch:
  case IR_branch_index:
  case IR_exit:
  case IR_trap:
  case IR_copy:
  case IR_fill:
  case IR_nop: return 0;
  case IR_load:
  case IR_unpack:
  case IR_opaque: return insn->sub ? insn->sub : 1;
  case IR_havoc: return insn->nargs;
  default: return 1;
  }
}

static bool is_written(const IrInsn *insn, int i) {
  if (insn->op != IR_event) return i < written_operands(insn);
  return insn->args[i].role == IR_ROLE_dst || insn->args[i].role == IR_ROLE_pred;
}

/* Who writes each register in a range, and what a register is computed from there. */
typedef struct Flow {
  const IrKernel *kernel;
  Range range;
  int32_t *head, *next; /* by register, by place in the list; 0: none */
  int32_t *writer;
  int32_t *todo;
  uint8_t *in; /* by register: part of the closure */
} Flow;

static Flow flow_of(const IrKernel *kernel, KcArena *arena, Range range) {
  int32_t nregs = kernel->regs.count, size = 1, n = 1;
  for (int32_t i = range.first; i <= range.last; i++)
    size += kernel->insns.items[i].nargs;
  Flow f = {.kernel = kernel,
            .range = range,
            .head = KC_NEW_ARRAY(arena, int32_t, nregs + 1),
            .next = KC_NEW_ARRAY(arena, int32_t, size),
            .writer = KC_NEW_ARRAY(arena, int32_t, size),
            .todo = KC_NEW_ARRAY(arena, int32_t, nregs + 1),
            .in = kc_alloc(arena, (size_t)nregs + 1)};
  for (int32_t i = range.first; i <= range.last; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    for (int a = 0; a < insn->nargs; a++) {
      const IrOperand *o = &insn->args[a];
      if (!is_written(insn, a) || o->kind != IR_OPD_REG) continue;
      f.writer[n] = i;
      f.next[n] = f.head[o->id];
      f.head[o->id] = n++;
    }
  }
  return f;
}

static void add(Flow *f, int *depth, int32_t reg) {
  if (reg < 0 || f->in[reg]) return;
  f->in[reg] = 1;
  f->todo[(*depth)++] = reg;
}

/* Marks what `reg` is computed from in the range (itself only when it is carried round). */
static void close_over(Flow *f, int32_t reg) {
  int depth = 0;
  memset(f->in, 0, (size_t)f->kernel->regs.count);
  for (int32_t w = f->head[reg];; w = f->head[f->todo[--depth]]) {
    for (; w; w = f->next[w]) {
      const IrInsn *insn = &f->kernel->insns.items[f->writer[w]];
      add(f, &depth, insn->guard);
      for (int a = 0; a < insn->nargs; a++)
        if (!is_written(insn, a) && insn->args[a].kind == IR_OPD_REG)
          add(f, &depth, insn->args[a].id);
    }
    if (depth == 0) return;
  }
}

bool code_varies(const IrKernel *kernel, KcArena *arena, const IrInsn *insn,
                 const IrOperand *operand) {
  if (!operand || operand->kind != IR_OPD_REG || operand->id >= kernel->regs.count) return false;
  Range range = loop_around(kernel, (int32_t)(insn - kernel->insns.items));
  if (range.last < range.first) return false;
  Flow f = flow_of(kernel, arena, range);
  close_over(&f, operand->id);
  if (f.in[operand->id]) return true;
  uint8_t *sources = kc_alloc(arena, (size_t)kernel->regs.count + 1);
  memcpy(sources, f.in, (size_t)kernel->regs.count);
  for (int32_t reg = 0; reg < kernel->regs.count; reg++) {
    if (!sources[reg]) continue;
    close_over(&f, reg);
    if (f.in[reg]) return true;
  }
  return false;
}

/* The last instruction before `at` that writes the register, or that stores where the load reads.
 */
static int32_t writer_before(const IrKernel *kernel, int32_t at, const IrOperand *value,
                             bool in_memory) {
  for (int32_t i = at - 1; i >= 0; i--) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (in_memory && (insn->op == IR_store || insn->op == IR_copy) &&
        insn->args[0].kind == value->kind && insn->args[0].id == value->id &&
        insn->args[0].value == value->value)
      return i;
    for (int a = 0; !in_memory && a < insn->nargs; a++)
      if (is_written(insn, a) && insn->args[a].kind == IR_OPD_REG && insn->args[a].id == value->id)
        return i;
  }
  return -1;
}

CodeLoop code_loop(const IrKernel *kernel, const IrInsn *insn, const CodeLoop *inner) {
  int32_t at = (int32_t)(insn - kernel->insns.items);
  Range r = larger_loop(kernel, at, inner ? inner->last - inner->first + 1 : 0);
  CodeLoop out = {r.first, r.last, NULL};
  for (int32_t i = r.first; i <= r.last && !out.bound; i++) {
    const IrInsn *leave = &kernel->insns.items[i];
    bool exits = leave->op == IR_branch && leave->guard >= 0 &&
                 (leave->target > r.last || (i == r.last && leave->target == r.first));
    if (!exits) continue;
    IrOperand guard = {.kind = IR_OPD_REG, .id = leave->guard};
    int32_t from = writer_before(kernel, i, &guard, false);
    out.bound = from >= r.first ? &kernel->insns.items[from] : leave;
  }
  return out;
}

/* Whether it computes a register from itself: phase ^= 1, ++round. */
static bool steps(const IrInsn *insn) {
  if (insn->op != IR_add && insn->op != IR_sub && insn->op != IR_bxor) return false;
  return insn->args[0].kind == IR_OPD_REG && insn->args[1].kind == IR_OPD_REG &&
         insn->args[0].id == insn->args[1].id;
}

const IrInsn *code_steps(const IrKernel *kernel, KcArena *arena, const IrInsn *insn,
                         const IrOperand *operand) {
  enum { LOOPS = 4 };
  if (!operand || operand->kind != IR_OPD_REG || operand->id >= kernel->regs.count) return NULL;
  int32_t at = (int32_t)(insn - kernel->insns.items), smallest = 0;
  for (int n = 0; n < LOOPS; n++) {
    Range range = larger_loop(kernel, at, smallest);
    if (range.last < range.first) return NULL;
    smallest = range.last - range.first + 1;
    Flow f = flow_of(kernel, arena, range);
    close_over(&f, operand->id);
    f.in[operand->id] = 1;
    for (int32_t i = range.last; i >= range.first; i--) {
      const IrInsn *step = &kernel->insns.items[i];
      if (steps(step) && f.in[step->args[0].id]) return step;
    }
  }
  return NULL;
}

static bool reads_block(const IrInsn *insn) {
  return insn->op == IR_mov && insn->args[1].kind == IR_OPD_SPECIAL &&
         insn->args[1].id >= (int32_t)IR_SREG_ctaid_x &&
         insn->args[1].id <= (int32_t)IR_SREG_ctaid_z;
}

const IrInsn *code_counts_from_block(const IrKernel *kernel, const IrInsn *insn) {
  enum { LOOPS = 4 };
  int32_t at = (int32_t)(insn - kernel->insns.items), smallest = 0;
  for (int n = 0; n < LOOPS; n++) {
    Range range = larger_loop(kernel, at, smallest);
    if (range.last < range.first) return NULL;
    smallest = range.last - range.first + 1;
    for (int32_t i = range.first; i <= range.last; i++) {
      const IrInsn *step = &kernel->insns.items[i];
      if (!steps(step)) continue;
      int32_t from = writer_before(kernel, range.first, &step->args[0], false);
      if (from >= 0 && reads_block(&kernel->insns.items[from])) return &kernel->insns.items[from];
    }
  }
  return NULL;
}

/* ---- where a descriptor is put together ---- */

enum { COMPOSE_DEPTH = 12 };

static const IrInsn *composed(const IrKernel *kernel, int32_t at, const IrOperand *value,
                              bool in_memory, int depth) {
  if (depth == 0 || (!in_memory && value->kind != IR_OPD_REG)) return NULL;
  int32_t i = writer_before(kernel, at, value, in_memory);
  if (i < 0) return NULL;
  const IrInsn *insn = &kernel->insns.items[i];
  const IrInsn *found = NULL;
  switch ((int)insn->op) {
  case IR_bor: return insn;
  case IR_copy: return composed(kernel, i, &insn->args[1], true, depth - 1);
  case IR_store: return composed(kernel, i, &insn->args[1], false, depth - 1);
  case IR_load:
    return insn->space == IR_SPACE_LOCAL && insn->sub <= 1 && insn->args[1].kind != IR_OPD_REG
               ? composed(kernel, i, &insn->args[1], true, depth - 1)
               : NULL;
  case IR_mov:
  case IR_add:
  case IR_cvt:
    for (int a = 1; a < insn->nargs && !found; a++)
      found = composed(kernel, i, &insn->args[a], false, depth - 1);
    return found;
  default: return NULL;
  }
}

const IrInsn *code_composes(const IrKernel *kernel, const IrInsn *insn, const IrOperand *operand) {
  if (!operand) return NULL;
  return composed(kernel, (int32_t)(insn - kernel->insns.items), operand, false, COMPOSE_DEPTH);
}

/* ---- what lies ahead ---- */

static void push(int32_t *stack, int *depth, uint8_t *seen, int32_t count, int32_t at) {
  if (at < 0 || at >= count || seen[at]) return;
  seen[at] = 1;
  stack[(*depth)++] = at;
}

/* Walks all paths behind `from` until `test` holds; where `blocks` is given, not through it. */
static const IrInsn *walk(const IrKernel *kernel, KcArena *arena, int32_t from, CodeTest test,
                          const void *user, const IrInsn *blocks) {
  int32_t count = kernel->insns.count;
  int32_t *stack = KC_NEW_ARRAY(arena, int32_t, count + 1);
  uint8_t *seen = kc_alloc(arena, (size_t)count + 1);
  int depth = 0;
  bool start = true;
  stack[depth++] = from;
  while (depth > 0) {
    int32_t at = stack[--depth];
    const IrInsn *insn = &kernel->insns.items[at];
    if (!start && test(insn, user)) return insn;
    start = false;
    if (insn == blocks) continue;
    bool goes_on =
        !((insn->op == IR_exit || insn->op == IR_trap || insn->op == IR_branch) && insn->guard < 0);
    if (insn->op == IR_branch) push(stack, &depth, seen, count, insn->target);
    for (int i = 1; insn->op == IR_branch_index && i < insn->nargs; i++)
      push(stack, &depth, seen, count, (int32_t)insn->args[i].value);
    if (goes_on) push(stack, &depth, seen, count, at + 1);
  }
  return NULL;
}

typedef struct Elsewhere {
  const IrInsn *from;
  CodeTest test;
  const void *user;
} Elsewhere;

static bool is_elsewhere(const IrInsn *insn, const void *user) {
  const Elsewhere *e = user;
  return insn != e->from && e->test(insn, e->user);
}

const IrInsn *code_ahead(const IrKernel *kernel, KcArena *arena, int32_t from, CodeTest test,
                         const void *user) {
  Elsewhere e = {.from = &kernel->insns.items[from], .test = test, .user = user};
  return walk(kernel, arena, from, is_elsewhere, &e, NULL);
}

static bool ends(const IrInsn *insn, const void *unused) {
  (void)unused;
  return insn->op == IR_exit;
}

bool code_must_pass(const IrKernel *kernel, KcArena *arena, int32_t from, const IrInsn *insn) {
  return code_ahead(kernel, arena, from, code_is_same, insn) &&
         !walk(kernel, arena, from, ends, NULL, insn);
}

bool code_is_barrier(const IrInsn *insn, const void *number) {
  if (insn->op != IR_event || (insn->event != IR_EV_bar_sync && insn->event != IR_EV_bar_arrive &&
                               insn->event != IR_EV_bar_red))
    return false;
  const IrOperand *id = ir_arg(insn, IR_ROLE_id);
  int64_t wanted = *(const int64_t *)number;
  if (!id) return wanted == 0;
  return id->kind != IR_OPD_IMM || id->value == wanted;
}

bool code_is_same(const IrInsn *insn, const void *other) {
  return insn == other;
}

bool code_is_cluster_arrive(const IrInsn *insn, const void *unused) {
  (void)unused;
  return insn->op == IR_event && insn->event == IR_EV_cluster_arrive;
}

/* Whether `name` stands as a whole word in `text`. */
static bool has_word(const char *text, const char *name, size_t length) {
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    bool starts = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    bool ends = !(isalnum((unsigned char)at[length]) || at[length] == '_');
    if (starts && ends) return true;
  }
  return false;
}

/* Whether `text` has the name of the barrier: "s.full[2] of CTA 1" -> "full". */
static bool names(const char *text, const char *barrier) {
  size_t end = strcspn(barrier, "[ +"), start = end;
  while (start > 0 && barrier[start - 1] != '.')
    start--;
  char word[64];
  if (end == start || end - start >= sizeof word) return false;
  memcpy(word, barrier + start, end - start);
  word[end - start] = 0;
  return has_word(text, word, end - start);
}

CodeBarrier code_barrier(Machine *machine, const Mbar *bar) {
  return (CodeBarrier){machine, bar, mbarrier_name(machine, bar, bar->rank)};
}

/* Whether the instruction is meant for the barrier. */
static bool means(const IrInsn *insn, const CodeBarrier *barrier) {
  if (insn->text) return names(insn->text, barrier->name);
  const IrOperand *address = ir_arg(insn, IR_ROLE_mbar);
  if (!address) address = ir_arg(insn, IR_ROLE_addr);
  if (!address) return false;
  uint64_t within = 0;
  int object = machine_shared_object(barrier->machine, barrier->bar->offset, &within);
  if (object < 0) return false;
  if (address->kind == IR_OPD_OBJECT)
    return address->id == object && (uint64_t)address->value == within;
  return slice_operand(barrier->machine->session, address).object == object;
}

bool code_is_arrive_on(const IrInsn *insn, const void *barrier) {
  return insn->op == IR_event &&
         (insn->event == IR_EV_mbarrier_arrive || insn->event == IR_EV_tcgen05_commit ||
          insn->event == IR_EV_cp_async_mbarrier_arrive) &&
         means(insn, barrier);
}

bool code_is_signal_on(const IrInsn *insn, const void *barrier) {
  if (code_is_arrive_on(insn, barrier)) return true;
  return insn->op == IR_event &&
         (insn->event == IR_EV_mbarrier_expect_tx || insn->event == IR_EV_bulk_copy ||
          insn->event == IR_EV_bulk_tensor_load || insn->event == IR_EV_st_async ||
          insn->event == IR_EV_red_async || insn->event == IR_EV_clc_try_cancel) &&
         means(insn, barrier);
}

bool code_has(const IrKernel *kernel, CodeTest test, const void *user) {
  for (int32_t i = 0; i < kernel->insns.count; i++)
    if (test(&kernel->insns.items[i], user)) return true;
  return false;
}
