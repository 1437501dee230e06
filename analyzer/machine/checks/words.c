/* Words of global memory. ld.global.nc may only read what nobody writes while the kernel runs (PTX
 * ISA 9.7.9.9); CTAs of one launch run in any order, so that one may not read what another stores
 * unless something orders the two: such code is left alone whatever it uses for that. */
#include "machine/checks/checks.h"

#include <glib.h>

#include "machine/inputs/sample.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"

#define WORDS_KEPT 65536
#define SECTOR 8 /* words */

typedef struct Sector { /* who touched each word first */
  uint64_t number;
  const IrInsn *insns[SECTOR];
} Sector;

/* Word address -> instruction. Neighbouring words mostly come one after the other. */
typedef struct WordTable {
  GHashTable *sectors;
  Sector *last; /* that was asked for and there */
  uint32_t count;
} WordTable;

typedef struct Words {
  bool read_only;          /* the kernel has loads through the read-only path */
  bool independent;        /* nothing in it could order CTAs, and each has its own tiles */
  bool misaligned;         /* a vector access of the sample is: no caller gives its sizes */
  WordTable stores, loads; /* of the first cluster */
} Words;

static bool may_order(const IrInsn *insn) {
  uint64_t strong = IR_FLAG(volatile_) | IR_FLAG(acquire) | IR_FLAG(release) | IR_FLAG(acq_rel) |
                    IR_FLAG(relaxed);
  bool memory = insn->op == IR_load || insn->op == IR_store;
  bool local = insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_SHARED_CLUSTER;
  if (insn->op == IR_atom) return !local;
  if (memory && (insn->flags & strong) && !local) return true;
  return insn->op == IR_event &&
         (insn->event == IR_EV_extern_call || insn->event == IR_EV_other ||
          insn->event == IR_EV_fence || insn->event == IR_EV_clc_try_cancel);
}

static bool reads_grid_size(const IrInsn *insn) {
  for (int i = 0; i < insn->nargs; i++)
    if (insn->args[i].kind == IR_OPD_SPECIAL &&
        ((insn->args[i].id >= IR_SREG_nctaid_x && insn->args[i].id <= IR_SREG_nctaid_z) ||
         (insn->args[i].id >= IR_SREG_nclusterid_x && insn->args[i].id <= IR_SREG_nclusterid_z)))
      return true;
  return false;
}

/* Whether it may read global memory: without such code nothing here can be wrong. */
static bool may_read(const IrInsn *insn) {
  if (insn->op == IR_copy) return true;
  if (insn->op != IR_load && insn->op != IR_event) return false;
  if (insn->op == IR_event && insn->event != IR_EV_ldmatrix) return false;
  return insn->space != IR_SPACE_SHARED && insn->space != IR_SPACE_SHARED_CLUSTER &&
         insn->space != IR_SPACE_LOCAL && insn->space != IR_SPACE_PARAM;
}

static Words *words_of(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  if (session->words) return session->words;
  Words *w = KC_NEW(machine->session->arena, Words);
  const IrKernel *kernel = machine->kernel;
  w->independent = true;
  bool reads = false;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op == IR_load && (insn->flags & IR_FLAG(nc))) w->read_only = true;
    if (may_order(insn) || reads_grid_size(insn)) w->independent = false;
    reads |= may_read(insn);
  }
  w->independent &= reads;
  session->words = w;
  return w;
}

/* ---- tables ---- */

/* Where a word's instruction stands; NULL when nothing of its sector does and `make` is not set. */
static const IrInsn **word_slot(WordTable *table, uint64_t word, bool make) {
  uint64_t number = word / SECTOR;
  Sector *sector = table->last;
  if (!sector || sector->number != number) {
    if (!table->sectors) {
      if (!make) return NULL;
      table->sectors = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    }
    sector = g_hash_table_lookup(table->sectors, GSIZE_TO_POINTER(number));
    if (!sector && !make) return NULL;
    if (!sector) {
      sector = g_new0(Sector, 1);
      sector->number = number;
      g_hash_table_insert(table->sectors, GSIZE_TO_POINTER(number), sector);
    }
    table->last = sector;
  }
  return &sector->insns[word % SECTOR];
}

static const IrInsn *word_find(WordTable *table, uint64_t word) {
  const IrInsn **slot = word_slot(table, word, false);
  return slot ? *slot : NULL;
}

static void remember(WordTable *table, uint64_t word, const IrInsn *insn) {
  if (table->count >= WORDS_KEPT) return;
  const IrInsn **slot = word_slot(table, word, true);
  if (*slot) return;
  *slot = insn;
  table->count++;
}

static void table_free(WordTable *table) {
  if (table->sectors) g_hash_table_destroy(table->sectors);
  *table = (WordTable){.sectors = NULL};
}

/* ---- one run ---- */

static WordTable *stored_of(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (!p->words_stored) p->words_stored = KC_NEW(machine->arena, WordTable);
  return p->words_stored;
}

/* Samples whose CTAs are compared: the same sizes, the first cluster and the second. */
static bool is_first(const Machine *machine) {
  return machine->sample->rank == 0 && machine->schedule == MACHINE_EAGER;
}

static bool is_second(const Machine *machine) {
  return machine->sample->rank == 1 && machine->sample->cluster_index == 1 &&
         machine->schedule == MACHINE_EAGER;
}

/* Blocks that own different parts: the kernel is meant for more than one. Where the part is looked
 * up in an array, only the array says whether two blocks have the same; where it is made with
 * several strides, only their values do. */
static bool is_by_block(Machine *machine, const IrInsn *insn) {
  const IrOperand *address = slice_address(insn);
  uint64_t block = UINT64_C(7) << IR_SREG_ctaid_x | UINT64_C(7) << IR_SREG_clusterid_x;
  if (!address) return false;
  Slice slice = slice_operand(machine->session, address);
  bool strides = slice.scaled && (slice.integers & (slice.integers - 1)) != 0;
  return (slice.special & block) && !slice.loads && !strides;
}

static void report_crossing(Machine *machine, const IrInsn *load, const IrInsn *store,
                            uint64_t word) {
  if (!is_by_block(machine, load) || !is_by_block(machine, store)) return;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, load, "grid-cross-cta-dependency",
      "one block reads %s, which another block of the same launch stores at %s: nothing orders the "
      "two blocks",
      machine_place(machine, (MachineAddress){IR_SPACE_GLOBAL, 0, word << 2}, 0),
      machine_line(machine, store));
  if (v) ir_violation_related(machine->violations, v, store->where, "stored here");
}

static void cross(Machine *machine, Words *w, const IrInsn *insn, bool write, uint64_t word,
                  bool own) {
  if (is_first(machine)) {
    if (write)
      remember(&w->stores, word, insn);
    else if (!own)
      remember(&w->loads, word, insn);
  } else if (is_second(machine)) {
    const IrInsn *other = word_find(write ? &w->loads : &w->stores, word);
    if (other && write) report_crossing(machine, other, insn, word);
    if (other && !write && !own) report_crossing(machine, insn, other, word);
  }
}

static void read_only(Machine *machine, const IrInsn *load, const IrInsn *store, uint64_t word) {
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_RACE, load, "cache-nc-load-of-written-data",
      "%s is loaded through the read-only path, but the kernel has stored to it at %s",
      machine_place(machine, (MachineAddress){IR_SPACE_GLOBAL, 0, word << 2}, 0),
      machine_line(machine, store));
  if (v) ir_violation_related(machine->violations, v, store->where, "stored here");
}

void words_access(Machine *machine, Strand *strand, const IrInsn *insn,
                  const MachineAccess *access) {
  (void)strand;
  Words *w = words_of(machine);
  bool crossing = w->independent && (is_first(machine) || is_second(machine));
  if (!access->lanes || (!w->read_only && !crossing)) return;
  WordTable *stored = stored_of(machine);
  bool write = access->kind != MACHINE_READ, nc = (insn->flags & IR_FLAG(nc)) != 0;
  FOR_LANES(lane, access->lanes) {
    uint64_t at = value_raw(access->address, (int)lane);
    if (at < IR_POINTER_BASE || at >= IR_GLOBAL_BASE) continue;
    w->misaligned |= insn->vector > 1 && at % insn->vector;
    for (uint64_t word = at >> 2; word << 2 < at + access->bytes; word++) {
      const IrInsn *own = word_find(stored, word);
      if (write) remember(stored, word, insn);
      if (nc && own) read_only(machine, insn, own, word);
      if (crossing && !w->misaligned) cross(machine, w, insn, write, word, own != NULL);
    }
    if (access->address.uniform) break;
  }
}

void words_finish(Machine *machine) {
  Protocol *p = protocol_of(machine);
  if (p->words_stored) table_free(p->words_stored);
}

void words_report(MachineSession *session) {
  Words *w = session_protocol(session)->words;
  if (!w) return;
  table_free(&w->stores);
  table_free(&w->loads);
}
