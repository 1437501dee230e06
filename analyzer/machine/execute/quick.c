/* Runs of the commonest instructions on values that all lanes of a strand share, with no look at
 * any other lane. Whatever else comes up ends the run and is left to core_execute; the results are
 * the same. */
#include "machine/execute/quick.h"

#include "machine/execute/evaluate.h"
#include "machine/execute/special.h"

typedef struct Runner {
  Machine *machine;
  Strand *strand;
  MachineReg *regs;
  const uint8_t *overlaps;
  uint64_t rank; /* of the CTA, as it stands in shared addresses */
  uint32_t lanes;
  int lane;  /* the only one, or -1 */
  bool full; /* no living lane of the warp is elsewhere */
} Runner;

typedef enum Had { HAD_NOT, HAD_UNKNOWN, HAD_KNOWN } Had;

/* HAD_NOT when the lanes differ, or the protocol half wants to hear of the read. */
static inline Had shared_value(const Runner *r, int32_t id, uint64_t *out) {
  const MachineReg *reg = &r->regs[id];
  *out = reg->scalar;
  if (reg->watched) return HAD_NOT;
  uint32_t here = reg->known & r->lanes;
  if (here && here != r->lanes) return HAD_NOT;
  if (reg->lanes) {
    if (r->lane < 0) return HAD_NOT;
    *out = reg->lanes[r->lane];
  }
  return here ? HAD_KNOWN : HAD_UNKNOWN;
}

static Had special_value(const Runner *r, const QuickSource *s, uint64_t *out) {
  Value v = core_special(r->machine, r->strand, (IrSpecial)s->special);
  if (!v.uniform && r->lane < 0) return HAD_NOT;
  *out = quick_extend(value_raw(v, r->lane < 0 ? 0 : r->lane), s->extend);
  return v.known ? HAD_KNOWN : HAD_NOT;
}

static inline Had value_of(const Runner *r, const QuickSource *s, uint64_t *out) {
  if (s->reg < 0) {
    *out = s->value + (s->ranked ? r->rank : 0);
    return s->special < 0 ? HAD_KNOWN : special_value(r, s, out);
  }
  Had had = shared_value(r, s->reg, out);
  *out += s->value;
  if (had == HAD_KNOWN && s->extend != EXTEND_NONE) *out = quick_extend(*out, s->extend);
  return had;
}

static void put_slowly(const Runner *r, int32_t dst, bool known, uint64_t x) {
  Value v = {.known = known ? MACHINE_ALL_LANES : 0, .uniform = true, .scalar = x};
  core_write_reg(r->machine, r->strand, dst, v, r->lanes);
}

static inline void put(const Runner *r, int32_t dst, bool known, uint64_t x, uint64_t mask) {
  MachineReg *reg = &r->regs[dst];
  if (reg->watched || r->overlaps[dst]) {
    put_slowly(r, dst, known, x);
    return;
  }
  if (known) x &= mask;
  uint64_t *to = &reg->scalar;
  if (reg->lanes && r->lane >= 0 && !r->full)
    to = &reg->lanes[r->lane];
  else if (reg->lanes || (!r->full && reg->scalar != x)) {
    put_slowly(r, dst, known, x);
    return;
  }
  if (*to != x) r->strand->unchanged = 0;
  *to = x;
  reg->known = known ? reg->known | r->lanes : reg->known & ~r->lanes;
  reg->written = (uint32_t)r->machine->step;
}

/* ---- what is known of unknown operands ---- */

static bool operand_value(const Runner *r, const IrOperand *operand, uint64_t *x, Had *had) {
  if (operand->kind == IR_OPD_IMM) {
    *x = (uint64_t)operand->value;
    *had = HAD_KNOWN;
    return true;
  }
  if (operand->kind != IR_OPD_REG) return false;
  *had = shared_value(r, operand->id, x);
  *x += (uint64_t)operand->value;
  if (operand->negated) {
    bool predicate = core_session(r->machine)->reg_type[operand->id].cls == IR_CLASS_PRED;
    *x = predicate ? *x ^ 1 : (uint64_t)0 - *x;
  }
  return *had != HAD_NOT;
}

static bool evaluate(const Runner *r, const CoreQuick *q, const IrInsn *insn) {
  int count = insn->nargs - 1;
  AluOperands o;
  IrType types[ALU_OPERANDS];
  uint32_t known = 0;
  for (int i = 0; i < count; i++) {
    Had had;
    if (!operand_value(r, &insn->args[i + 1], &o.x[i], &had)) return false;
    types[i] = alu_operand_type(insn, i);
    known |= (uint32_t)(had == HAD_KNOWN) << i;
  }
  uint64_t out;
  bool ok = alu_lane(insn, &o, count, known, types, &out);
  put(r, q->dst, ok, out, q->mask);
  return true;
}

static bool compare_unknown(const Runner *r, const CoreQuick *q, const IrInsn *insn) {
  uint64_t a, b, out;
  Had had_a, had_b;
  if (!operand_value(r, &insn->args[1], &a, &had_a) ||
      !operand_value(r, &insn->args[2], &b, &had_b))
    return false;
  bool known = alu_predicate(insn, a, had_a == HAD_KNOWN, b, had_b == HAD_KNOWN, &out);
  put(r, q->dst, known, out, q->mask);
  return true;
}

/* Nobody looks at floating-point data: the result is a new unknown. */
static bool make_fresh(const Runner *r, const IrInsn *insn) {
  int results = insn->op == IR_opaque ? insn->sub : 1;
  for (int i = 0; i < insn->nargs; i++) {
    const IrOperand *operand = &insn->args[i];
    if (operand->kind == IR_OPD_IMM && i >= results) continue;
    if (operand->kind != IR_OPD_REG || (i >= results && r->regs[operand->id].watched)) return false;
  }
  for (int i = 0; i < results; i++)
    put(r, insn->args[i].id, false, value_fresh(r->machine).scalar, 0);
  return true;
}

/* ---- one instruction ---- */

static inline bool compare(const CoreQuick *q, uint64_t a, uint64_t b) {
  bool less = q->is_signed ? (int64_t)a < (int64_t)b : a < b;
  switch ((IrCompare)q->compare) {
  case IR_CMP_eq: return a == b;
  case IR_CMP_ne: return a != b;
  case IR_CMP_lt: return less;
  case IR_CMP_le: return less || a == b;
  case IR_CMP_gt: return !less && a != b;
  case IR_CMP_ge: return !less;
  }
  return false;
}

static inline uint64_t divide(const CoreQuick *q, uint64_t a, uint64_t k) {
  if (!q->is_signed) return a >> k;
  int64_t x = (int64_t)a;
  return (uint64_t)((x + (x < 0 ? ((int64_t)1 << k) - 1 : 0)) >> k);
}

static inline uint64_t to_window(const CoreQuick *q, uint64_t x) {
  if (q->is_signed) return x >= IR_SHARED_BASE && x < IR_SHARED_END ? x - IR_SHARED_BASE : x;
  return x < IR_SHARED_BASE ? x + IR_SHARED_BASE : x;
}

static inline __attribute__((always_inline)) uint64_t compute(const CoreQuick *q, uint64_t a,
                                                              uint64_t b, uint64_t c) {
  switch ((int)q->code) {
  case QUICK_SETP: return compare(q, a, b);
  case QUICK_ADD: return a + b;
  case QUICK_SUB: return a - b;
  case QUICK_MUL: return a * b;
  case QUICK_MAD: return a * b + c;
  case QUICK_AND: return a & b;
  case QUICK_OR: return a | b;
  case QUICK_XOR: return a ^ b;
  case QUICK_SHL: return (uint32_t)b >= q->bits ? 0 : a << (b & 63);
  case QUICK_SHR: return (uint32_t)b >= q->bits ? 0 : a >> (b & 63);
  case QUICK_SAR:
    return (uint64_t)((int64_t)a >> ((uint32_t)b >= q->bits ? q->bits - 1u : (uint32_t)b));
  case QUICK_DIV: return divide(q, a, b);
  case QUICK_REM: return a - (divide(q, a, b) << b);
  case QUICK_WINDOW: return to_window(q, a);
  case QUICK_BOOL: return a != 0;
  default: return a;
  }
}

static bool choose(const Runner *r, const CoreQuick *q) {
  uint64_t p, x;
  Had had = value_of(r, &q->src[2], &p);
  if (had == HAD_NOT) return quick_lanes(r->machine, r->strand, q);
  if (had == HAD_UNKNOWN) return false;
  had = value_of(r, &q->src[p & 1 ? 0 : 1], &x);
  if (had == HAD_NOT) return quick_lanes(r->machine, r->strand, q);
  put(r, q->dst, had == HAD_KNOWN, x, q->mask);
  return true;
}

static bool convert(const Runner *r, const CoreQuick *q) {
  uint64_t x;
  Had had = value_of(r, &q->src[0], &x);
  if (had == HAD_NOT) return quick_lanes(r->machine, r->strand, q);
  bool known = had == HAD_KNOWN;
  bool keeps = q->code == QUICK_MOV || q->code == QUICK_WINDOW; /* the name of an unknown */
  if (!known && !keeps) return false;
  put(r, q->dst, known, known ? compute(q, x, 0, 0) : x, q->mask);
  return true;
}

static bool arithmetic(const Runner *r, const CoreQuick *q, const IrInsn *insn) {
  uint64_t a, b, c = 0;
  Had had_a = value_of(r, &q->src[0], &a), had_b = value_of(r, &q->src[1], &b);
  Had had_c = q->code == QUICK_MAD ? value_of(r, &q->src[2], &c) : HAD_KNOWN;
  if (had_a == HAD_KNOWN && had_b == HAD_KNOWN && had_c == HAD_KNOWN) {
    put(r, q->dst, true, compute(q, a, b, c), q->mask);
    return true;
  }
  if (had_a == HAD_NOT || had_b == HAD_NOT || had_c == HAD_NOT)
    return quick_lanes(r->machine, r->strand, q);
  return q->code == QUICK_SETP ? compare_unknown(r, q, insn) : evaluate(r, q, insn);
}

/* Any instruction but a branch. */
static __attribute__((noinline)) bool do_one(const Runner *r, const CoreQuick *q,
                                             const IrInsn *insn) {
  switch ((int)q->code) {
  case QUICK_NOP: return true;
  case QUICK_FRESH: return make_fresh(r, insn);
  case QUICK_EVALUATE: return evaluate(r, q, insn);
  case QUICK_SELECT: return choose(r, q);
  case QUICK_MOV:
  case QUICK_WINDOW:
  case QUICK_CVT:
  case QUICK_BOOL: return convert(r, q);
  default: return arithmetic(r, q, insn);
  }
}

/* ---- the usual case: known values, the same in all lanes, of a warp that is together ---- */

static inline __attribute__((always_inline)) bool plain_source(const Runner *r,
                                                               const QuickSource *s, uint64_t *x) {
  if (s->reg < 0) {
    *x = s->value + (s->ranked ? r->rank : 0);
    return true;
  }
  const MachineReg *reg = &r->regs[s->reg];
  *x = reg->scalar + s->value;
  if (s->extend == EXTEND_S4)
    *x = (uint64_t)(int64_t)(int32_t)*x;
  else if (s->extend != EXTEND_NONE)
    *x = quick_extend(*x, s->extend);
  return !((uintptr_t)reg->lanes | reg->watched | (r->lanes & ~reg->known));
}

/* False, and nothing done, where the case is another one; *unchanged counts on. */
static inline __attribute__((always_inline)) bool do_plain(const Runner *r, const CoreQuick *q,
                                                           uint32_t step, uint32_t *unchanged) {
  uint64_t a, b = 0, c = 0;
  MachineReg *dst = &r->regs[q->dst];
  if (!plain_source(r, &q->src[0], &a)) return false;
  if (q->plain > 1 && !plain_source(r, &q->src[1], &b)) return false;
  if (q->plain > 2 && !plain_source(r, &q->src[2], &c)) return false;
  if ((uintptr_t)dst->lanes | dst->watched | r->overlaps[q->dst]) return false;
  uint64_t x = compute(q, a, b, c) & q->mask;
  *unchanged = dst->scalar != x ? 0 : *unchanged + 1;
  dst->scalar = x;
  dst->known |= r->lanes;
  dst->written = step;
  return true;
}

/* Whether a branch of all lanes that leads forward is taken; false: it is another one. */
static inline bool plain_branch(const Runner *r, const CoreQuick *q, int32_t at, bool *taken) {
  *taken = true;
  if (q->guard >= 0) {
    const MachineReg *guard = &r->regs[q->guard];
    if ((uintptr_t)guard->lanes | guard->watched | (r->lanes & ~guard->known)) return false;
    *taken = ((guard->scalar & 1) != 0) != q->guard_negated;
  }
  return !*taken || q->target > at;
}

/* As many such instructions in a row as there are, up to `most`; their number. Ends, too, where the
 * strand might be found to poll. */
static uint64_t run_plain(const Runner *r, const CoreQuick *quick, bool host, uint64_t most) {
  Machine *machine = r->machine;
  Strand *strand = r->strand;
  int32_t at = strand->pc;
  uint32_t step = (uint32_t)machine->step, unchanged = strand->unchanged;
  uint64_t done = 0;
  bool changed = false;
  for (; done < most && unchanged <= CORE_POLL_STEPS; done++) {
    const CoreQuick *q = &quick[at];
    if (q->plain) {
      if (!do_plain(r, q, step + (uint32_t)done + 1, &unchanged)) break;
      changed |= unchanged == 0;
      machine->executed[at++] = 1;
    } else {
      bool taken;
      if (q->code != QUICK_BRANCH || host || !plain_branch(r, q, at, &taken)) break;
      machine->executed[at] = 1;
      unchanged++;
      at = taken ? q->target : at + 1;
    }
  }
  machine->step += done;
  strand->pc = at;
  strand->unchanged = unchanged;
  if (changed) strand->rounds = 0;
  return done;
}

/* ---- many ---- */

/* Whether the guard is the same for all lanes; *yes says which way. */
static inline bool guard_of(const Runner *r, const CoreQuick *q, bool *yes) {
  uint64_t x;
  *yes = true;
  if (q->guard < 0) return true;
  if (shared_value(r, q->guard, &x) != HAD_KNOWN) return false;
  *yes = ((x & 1) != 0) != q->guard_negated;
  return true;
}

static void jump(const Runner *r, const IrInsn *insn, bool taken) {
  Strand *strand = r->strand;
  int32_t at = strand->pc;
  if (taken && insn->target <= at) {
    core_run(r->machine)->scratch_used = 0;
    core_loop_back(r->machine, strand);
  }
  strand->pc = taken ? insn->target : at + 1;
  if (strand->pc <= at && strand->unchanged) strand->rounds++;
}

/* One instruction; false, and nothing done: it is left to core_execute. */
static inline bool step(const Runner *r, const CoreQuick *q, const IrInsn *insn) {
  Machine *machine = r->machine;
  Strand *strand = r->strand;
  int32_t at = strand->pc;
  bool yes;
  if (q->code == QUICK_NONE || !guard_of(r, q, &yes)) return false;
  uint32_t unchanged = strand->unchanged++;
  machine->step++;
  if (q->code == QUICK_BRANCH) {
    jump(r, insn, yes);
    machine->executed[at] = 1;
  } else {
    if (yes && !do_one(r, q, insn)) {
      strand->unchanged = unchanged;
      machine->step--;
      return false;
    }
    if (yes) machine->executed[at] = 1;
    strand->pc = at + 1;
  }
  if (strand->unchanged == 0) strand->rounds = 0;
  return true;
}

static Runner make_runner(Machine *machine, Strand *strand) {
  const Warp *warp = strand->warp;
  uint32_t lanes = strand->mask;
  return (Runner){.machine = machine,
                  .strand = strand,
                  .regs = warp->regs,
                  .overlaps = core_session(machine)->reg_overlaps,
                  .rank = (uint64_t)warp->cta->rank << 24,
                  .lanes = lanes,
                  .lane = lanes & (lanes - 1) ? -1 : __builtin_ctz(lanes),
                  .full = (warp->alive & ~lanes) == 0};
}

bool core_quick(Machine *machine, Strand *strand, uint64_t *slice, bool stop_at_leaders) {
  const IrKernel *kernel = machine->kernel;
  CoreQuick *quick = core_session(machine)->quick;
  if (strand->pc < kernel->insns.count && quick[strand->pc].code == QUICK_NONE) return true;
  Runner r = make_runner(machine, strand);
  bool host = core_run(machine)->host != NULL, stop = stop_at_leaders && strand->warp->nstrands > 1;
  uint64_t most = core_until_check(machine);
  if (most > *slice) most = *slice;
  strand->active = strand->mask;
  while (most > 0) {
    if (r.full && !stop) {
      uint64_t done = run_plain(&r, quick, host, most);
      most -= done;
      *slice -= done;
      if (done && core_polls(strand)) *slice = 0;
      if (most == 0 || *slice == 0) return true;
    }
    int32_t at = strand->pc;
    if (at >= kernel->insns.count) return true;
    const IrInsn *insn = &kernel->insns.items[at];
    CoreQuick *q = &quick[at];
    if (q->code == QUICK_UNSEEN) quick_decode(machine->session, insn, q);
    if ((host && q->code == QUICK_BRANCH) || !step(&r, q, insn)) return true;
    most--;
    --*slice;
    if (core_polls(strand)) *slice = 0;
    if (*slice == 0) return true;
    if (stop && (q->code == QUICK_BRANCH || kernel->insns.items[strand->pc].leader)) return false;
  }
  return true;
}
