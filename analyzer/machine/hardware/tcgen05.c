/* tcgen05: MMA, copies and commit (PTX ISA 9.7.16). What one thread issues completes in a queue
 * that only tcgen05.commit of the same thread reports. */
#include "machine/causes/cause.h"
#include "machine/checks/finish.h"
#include "machine/checks/fragment.h"
#include "machine/hardware/bulk.h"
#include "machine/hardware/desc.h"
#include "machine/hardware/tmem.h"
#include "machine/inputs/origin.h"
#include "machine/witness/contract.h"
#include "machine/witness/timeline.h"

static bool paired(const IrInsn *insn) {
  return (insn->flags & IR_FLAG(cta_group2)) != 0;
}

static void note_group(Machine *machine, const IrInsn *insn) {
  protocol_of(machine)->cta_groups_used |= paired(insn) ? 2 : 1;
}

static void need_queue(Machine *machine, WarpState *ws) {
  if (!ws->tcgen05_agent) ws->tcgen05_agent = clocks_agents(&protocol_of(machine)->clocks, 1);
}

static int peer_of(const Machine *machine, int rank) {
  int peer = rank ^ 1;
  return peer < machine->cluster_size ? peer : -1;
}

static void check_single(Machine *machine, const Strand *strand, const IrInsn *insn) {
  int n = lane_count(strand->active);
  if (n < 2) return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-issue-not-single-thread",
                        "%s is executed by %d lanes of %s; one thread has to issue it",
                        ir_event_mnemonic((IrEvent)insn->event), n, machine_who(machine, strand));
  if (v) ir_violation_fact(machine->violations, v, "lanes", "%d", n);
}

static Access *queued(Machine *machine, Strand *strand, const IrInsn *insn, AccessActor actor,
                      bool write) {
  WarpState *ws = warp_state(strand->warp);
  int lane = first_lane(strand->active);
  return race_access(protocol_of(machine)->races, &(Access){.agent = ws->tcgen05_agent,
                                                            .lanes = UINT32_C(1) << lane,
                                                            .time = ws->tcgen05_queue[lane],
                                                            .issued = ws->lanes.now,
                                                            .warp = (uint32_t)strand->warp->index,
                                                            .issuers = UINT32_C(1) << lane,
                                                            .actor = (uint8_t)actor,
                                                            .write = write,
                                                            .insn = insn,
                                                            .step = machine->step});
}

static bool number64(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                     uint64_t *out) {
  Value v;
  return machine_read_role(machine, strand, insn, role, &v) && value_same(v, strand->active, out);
}

/* ... that no number made up for this run has gone into. */
static bool fact64(Machine *machine, Strand *strand, const IrInsn *insn, IrRole role,
                   uint64_t *out) {
  return number64(machine, strand, insn, role, out) && !origin_made_up(machine, insn, role);
}

/* ---- shared operands ---- */

static void check_version(Machine *machine, const IrInsn *insn, char operand, const Descriptor *d) {
  IrViolation *v = NULL;
  if (d->version != 1)
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-smem-descriptor",
                          "bits 46..48 of the descriptor of operand %c are %d; tcgen05 needs 1 "
                          "there",
                          operand, d->version);
  else if (d->layout == 3 || d->layout == 5 || d->layout == 7)
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-smem-descriptor",
                          "the layout code of operand %c is %d; 0, 1, 2, 4 and 6 exist", operand,
                          d->layout);
  if (!v) return;
  desc_say_composed(machine, v, insn, operand);
  ir_violation_fact(machine->violations, v, "operand", "%c", operand);
}

static void read_operand(Machine *machine, Strand *strand, const IrInsn *insn, char operand,
                         uint64_t raw, const DescTile *tile, AccessActor actor) {
  Descriptor d = desc_tcgen05(raw);
  bool made_up = origin_made_up(machine, insn, operand == 'B' ? IR_ROLE_b_desc : IR_ROLE_a_desc);
  if (!made_up) check_version(machine, insn, operand, &d);
  Access *access = queued(machine, strand, insn, actor, false);
  int rank = strand->warp->cta->rank;
  DescRead read = {insn, "tcgen05", operand, rank, made_up};
  desc_read(machine, strand, &read, &d, tile, access);
  if (!paired(insn)) return;
  read.rank = peer_of(machine, rank);
  if (read.rank >= 0) desc_read(machine, strand, &read, &d, tile, access);
}

/* ---- mma ---- */

typedef struct InstructionDescriptor {
  bool known;
  int m, n, a_format, b_format, d_format;
  bool a_transposed, b_transposed, ue8m0_scales;
} InstructionDescriptor;

static InstructionDescriptor read_idesc(Machine *machine, Strand *strand, const IrInsn *insn) {
  uint64_t raw;
  InstructionDescriptor d = {.known = fact64(machine, strand, insn, IR_ROLE_idesc, &raw)};
  if (!d.known) return d;
  d.d_format = (int)(raw >> 4 & 3);
  d.a_format = (int)(raw >> 7 & 7);
  d.b_format = (int)(raw >> 10 & 7);
  d.a_transposed = raw >> 15 & 1;
  d.b_transposed = raw >> 16 & 1;
  d.n = (int)(raw >> 17 & 0x3f) * 8;
  d.ue8m0_scales = raw >> 23 & 1;
  d.m = (int)(raw >> 24 & 0x1f) * 16;
  return d;
}

static bool block_scaled(const IrInsn *insn) {
  return insn->shape.kind >= IR_KIND_mxf8f6f4;
}

static void check_shape(Machine *machine, const IrInsn *insn, const InstructionDescriptor *d) {
  bool pair = paired(insn), ws = (insn->flags & IR_FLAG(ws)) != 0;
  bool m_ok = ws     ? d->m == 32 || d->m == 64 || d->m == 128
              : pair ? d->m == 128 || d->m == 256
                     : d->m == 64 || d->m == 128;
  if (block_scaled(insn) && !pair && d->m != 128) m_ok = false;
  bool tall = !pair && !ws && d->m == 128 && insn->shape.kind != IR_KIND_i8;
  int step = pair || tall || (insn->shape.kind == IR_KIND_i8 && d->n > 32) ? 16 : 8;
  bool n_ok = d->n >= 8 && d->n <= 256 && d->n % step == 0;
  if (m_ok && n_ok) return;
  IrViolation *v =
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-mma-shape",
                        "the instruction descriptor asks for M = %d, N = %d; cta_group::%d %s %s",
                        d->m, d->n, pair ? 2 : 1, m_ok ? "takes N as a multiple of" : "takes M =",
                        m_ok                 ? (pair   ? "16 up to 256"
                                                : tall ? "16 up to 256 when M = 128"
                                                       : "8 up to 256")
                        : ws                 ? "32, 64 or 128"
                        : pair               ? "128 or 256"
                        : block_scaled(insn) ? "128"
                                             : "64 or 128");
  if (!v) return;
  ir_violation_fact(machine->violations, v, "m", "%d", d->m);
  ir_violation_fact(machine->violations, v, "n", "%d", d->n);
}

/* What the operand and result formats of a kind are coded as (PTX ISA 9.7.16.4.2); NULL: fits. */
static const char *wrong_format(int kind, int a, int b, int d) {
  switch (kind) {
  case IR_KIND_f16:
    if (a > 1 || b > 1) return "the operand format is neither F16 (0) nor BF16 (1)";
    if (d > 1) return "the result format is neither F16 (0) nor F32 (1)";
    return d == 0 && (a || b) ? "BF16 operands have F32 results (1), not F16 (0)" : NULL;
  case IR_KIND_tf32:
    if (a != 2 || b != 2) return "the operand format is not TF32 (2)";
    return d != 1 ? "the result format is not F32 (1)" : NULL;
  case IR_KIND_i8:
    if (a > 1 || b > 1) return "the operand format is neither U8 (0) nor S8 (1)";
    return d != 2 ? "the result format is not S32 (2)" : NULL;
  case IR_KIND_f8f6f4:
    if (d > 1) return "the result format is neither F16 (0) nor F32 (1)";
    return a == 2 || b == 2 || a > 5 || b > 5
               ? "the operand format is none of E4M3 (0), E5M2 (1), E2M3 (3), E3M2 (4), E2M1 (5)"
               : NULL;
  case IR_KIND_mxf8f6f4:
    return a == 2 || b == 2 || a > 5 || b > 5
               ? "the operand format is none of E4M3 (0), E5M2 (1), E2M3 (3), E3M2 (4), E2M1 (5)"
               : NULL;
  case IR_KIND_mxf4:
  case IR_KIND_mxf4nvf4:
    if (a == 5 || b == 5)
      return "E2M1 is coded 5, which is its code for the f8f6f4 kinds; mxf4 takes 1";
    return a != 1 || (b & 3) != 1 ? "the operand format is not E2M1 (1)" : NULL;
  default: return NULL;
  }
}

static void check_formats(Machine *machine, const IrInsn *insn, const InstructionDescriptor *d) {
  int kind = insn->shape.kind;
  const char *wrong = wrong_format(kind, d->a_format, d->b_format, d->d_format);
  if (!wrong && (kind == IR_KIND_mxf8f6f4 || kind == IR_KIND_mxf4) && !d->ue8m0_scales)
    wrong = "the scale format bit 23 is clear (UE4M3); this kind takes UE8M0";
  if (wrong)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-idesc-format-code",
                      "the instruction descriptor does not fit the kind: %s", wrong);
}

/* Columns that the accumulator takes in one CTA; at least 1. */
static uint32_t accumulator_columns(const IrInsn *insn, const InstructionDescriptor *d) {
  if (!d->known) return 1;
  int n = d->n;
  if (paired(insn) && d->m == 128) n /= 2;
  if (d->d_format == 0 && (insn->shape.kind == IR_KIND_f16 || insn->shape.kind == IR_KIND_f8f6f4))
    n /= 2; /* f16 results, two in a column; counted low where the layout leaves them unpacked */
  return n < 1 ? 1 : (uint32_t)n;
}

static uint32_t quadrants_of(const IrInsn *insn, const InstructionDescriptor *d) {
  (void)insn;
  (void)d;
  return TMEM_ALL_PARTS; /* M = 64 uses half of the lanes of each quadrant */
}

static void touch_accumulator(Machine *machine, Strand *strand, const IrInsn *insn,
                              const InstructionDescriptor *d, uint32_t address) {
  uint32_t column = address & 0xffff, count = accumulator_columns(insn, d);
  int rank = strand->warp->cta->rank;
  tmem_check_allocated(machine, strand, insn, rank, address, count, "tcgen05.mma");
  tmem_check_freed(machine, strand, insn, rank, column, count);
  int64_t enable;
  bool enable_known =
      protocol_operand(machine, strand, insn, IR_ROLE_enable, strand->active, &enable);
  if (enable_known && enable && !tmem_written(machine, rank, column, count) &&
      !cta_state(strand->warp->cta)->alloc_unknown)
    machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-accumulate-uninitialized",
                      "the first MMA into column %u accumulates (enable-input-d is true), but "
                      "nothing has written these columns",
                      column);
  Access *access = queued(machine, strand, insn, ACTOR_TCGEN05_MMA, true);
  access->base = column;
  access->accumulates = ir_arg(insn, IR_ROLE_enable) && !(enable_known && enable == 0);
  tmem_touch(machine, strand, access, rank, column, count, quadrants_of(insn, d));
  int peer = paired(insn) ? peer_of(machine, rank) : -1;
  if (peer < 0) return;
  tmem_check_freed(machine, strand, insn, peer, column, count);
  tmem_touch(machine, strand, access, peer, column, count, quadrants_of(insn, d));
}

/* Nobody knows where a product goes, or how many columns it takes. */
static void tmem_lost(Machine *machine, const Strand *strand, const IrInsn *insn) {
  int rank = strand->warp->cta->rank, peer = paired(insn) ? peer_of(machine, rank) : -1;
  cta_state(&machine->ctas[rank])->mma_unknown = true;
  if (peer >= 0) cta_state(&machine->ctas[peer])->mma_unknown = true;
}

/* A's fragment and scales come from a tcgen05.cp, .st or MMA; what nothing wrote is left over. */
static void check_input(Machine *machine, const Strand *strand, const IrInsn *insn,
                        const char *what, uint32_t column) {
  const CtaState *cta = cta_state(strand->warp->cta);
  if (cta->alloc_unknown || cta->tmem_unknown ||
      tmem_written(machine, strand->warp->cta->rank, column, 1))
    return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-accumulate-uninitialized",
                    "%s are read from column %u, but nothing has written it", what, column);
}

/* Inputs in tensor memory among the columns that the same instruction writes. With M = 64 half of
 * the lanes stay free, and so may hold them. */
static void check_written_inputs(Machine *machine, const IrInsn *insn,
                                 const InstructionDescriptor *d, uint32_t into, const char *what,
                                 uint32_t column) {
  if (!d->known || d->m < 128 || (insn->flags & IR_FLAG(ws)) || into == UINT32_MAX) return;
  bool halves = d->d_format == 0 && !block_scaled(insn);
  uint32_t width = (uint32_t)(halves ? d->n / 2 : d->n);
  if (column < into || column >= into + width) return;
  machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-tmem-region-overlap",
                    "this tcgen05.mma writes its result to columns %u to %u, and %s lie among "
                    "them, at column %u",
                    into, into + width - 1, what, column);
}

static void touch_inputs(Machine *machine, Strand *strand, const IrInsn *insn,
                         const InstructionDescriptor *d) {
  static const IrRole roles[] = {IR_ROLE_a_tmem, IR_ROLE_sf_a, IR_ROLE_sf_b};
  static const char *const names[] = {"operand A of tcgen05.mma", "the scales of A",
                                      "the scales of B"};
  int64_t to;
  bool has_d = !origin_made_up(machine, insn, IR_ROLE_tmem) &&
               protocol_operand(machine, strand, insn, IR_ROLE_tmem, strand->active, &to);
  uint32_t into = has_d ? (uint32_t)to & 0xffff : UINT32_MAX;
  static const char *const values[] = {"values of A", "scales of A", "scales of B"};
  for (int i = 0; i < 3; i++) {
    int64_t address;
    if (!ir_arg(insn, roles[i]) || origin_made_up(machine, insn, roles[i]) ||
        !protocol_operand(machine, strand, insn, roles[i], strand->active, &address))
      continue;
    uint32_t count = i == 0 ? 8 : 1;
    tmem_check_allocated(machine, strand, insn, strand->warp->cta->rank, (uint32_t)address, count,
                         names[i]);
    check_input(machine, strand, insn, values[i], (uint32_t)address & 0xffff);
    check_written_inputs(machine, insn, d, into, values[i], (uint32_t)address & 0xffff);
    tmem_touch(machine, strand, queued(machine, strand, insn, ACTOR_TCGEN05_MMA, false),
               strand->warp->cta->rank, (uint32_t)address & 0xffff, count, TMEM_ALL_PARTS);
  }
}

static void check_advance(Machine *machine, Strand *strand, const IrInsn *insn, uint64_t a,
                          uint64_t b, uint64_t d) {
  WarpState *ws = warp_state(strand->warp);
  int lane = first_lane(strand->active);
  TcLastMma *last = &ws->last_mma;
  bool chained = last->insn && last->d == d && last->queue == ws->tcgen05_queue[lane];
  char stays = chained ? desc_that_stays(last->a, last->b, a, b) : 0;
  if (stays) {
    IrViolation *v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-descriptor-not-advanced",
        "two tcgen05.mma in a row read the same %s (shared 0x%x and 0x%x): the K step does "
        "not advance %s",
        desc_operands(stays), (unsigned)(a & 0x3fff) << 4, (unsigned)(b & 0x3fff) << 4,
        stays == '*' ? "the descriptors" : "that descriptor");
    if (v && last->insn != insn)
      ir_violation_related(machine->violations, v, last->insn->where, "the MMA before");
  }
  *last = (TcLastMma){insn, a, b, d, ws->tcgen05_queue[lane]};
}

static void check_pair_issue(Machine *machine, Strand *strand, const IrInsn *insn, uint32_t d) {
  Protocol *p = protocol_of(machine);
  if (!paired(insn)) return;
  int rank = strand->warp->cta->rank;
  for (int i = 0; i < p->pair_issues.count; i++) {
    PairIssue *issue = &p->pair_issues.items[i];
    if (issue->rank / 2 != rank / 2 || issue->column != d) continue;
    if (issue->rank != rank)
      machine_violation(machine, MACHINE_CHECK_ALWAYS, insn, "tcgen05-pair-double-issue",
                        "tcgen05.mma.cta_group::2 into column %u is issued by both CTAs of the "
                        "pair (%d and %d); one of them has to",
                        d & 0xffff, rank & ~1, rank | 1);
    return;
  }
  KC_PUSH(machine->arena, p->pair_issues, ((PairIssue){rank, d}));
}

/* Bits of an operand format of the f8f6f4 kinds: E4M3, E5M2, E2M3, E3M2, E2M1. */
static int format_bits(int code) {
  return code == 5 ? 4 : code == 3 || code == 4 ? 6 : 8;
}

static void check_packing(Machine *machine, Strand *strand, const IrInsn *insn,
                          const InstructionDescriptor *d, const uint64_t *a, const uint64_t *b) {
  int rank = strand->warp->cta->rank;
  IrKind kind = (IrKind)insn->shape.kind;
  if (a)
    fragment_packing(machine, insn, 'A', rank, desc_tcgen05(*a).start, kind,
                     format_bits(d->a_format));
  if (b)
    fragment_packing(machine, insn, 'B', rank, desc_tcgen05(*b).start, kind,
                     format_bits(d->b_format));
}

MachineStep event_tcgen05_mma(Machine *machine, Strand *strand, const IrInsn *insn) {
  WarpState *ws = warp_state(strand->warp);
  need_queue(machine, ws);
  note_group(machine, insn);
  check_single(machine, strand, insn);
  InstructionDescriptor d = read_idesc(machine, strand, insn);
  if (d.known) {
    check_shape(machine, insn, &d);
    check_formats(machine, insn, &d);
  }
  int pair = paired(insn) ? 2 : 1;
  uint64_t a = 0, b = 0, tmem = 0;
  bool has_a = number64(machine, strand, insn, IR_ROLE_a_desc, &a);
  bool has_b = number64(machine, strand, insn, IR_ROLE_b_desc, &b);
  bool has_d = fact64(machine, strand, insn, IR_ROLE_tmem, &tmem);
  int bits = insn->shape.kind == IR_KIND_f16                                            ? 16
             : insn->shape.kind == IR_KIND_tf32                                         ? 32
             : insn->shape.kind == IR_KIND_mxf4 || insn->shape.kind == IR_KIND_mxf4nvf4 ? 4
                                                                                        : 8;
  if (has_a)
    read_operand(machine, strand, insn, 'A', a,
                 &(DescTile){d.known ? d.m / pair : 0, 32, d.a_transposed, bits},
                 ACTOR_TCGEN05_MMA);
  if (has_b)
    read_operand(machine, strand, insn, 'B', b,
                 &(DescTile){d.known ? d.n / pair : 0, 32, d.b_transposed, bits},
                 ACTOR_TCGEN05_MMA);
  if (d.known) check_packing(machine, strand, insn, &d, has_a ? &a : NULL, has_b ? &b : NULL);
  touch_inputs(machine, strand, insn, &d);
  if (has_d) {
    touch_accumulator(machine, strand, insn, &d, (uint32_t)tmem);
    check_pair_issue(machine, strand, insn, (uint32_t)tmem);
  }
  if (!has_d || !d.known || d.d_format == 0 || d.n < 8) tmem_lost(machine, strand, insn);
  if (!has_d && !origin_made_up(machine, insn, IR_ROLE_tmem))
    tmem_check_any_alloc(machine, strand, insn, "tcgen05.mma");
  bool facts = !origin_made_up(machine, insn, IR_ROLE_a_desc) &&
               !origin_made_up(machine, insn, IR_ROLE_b_desc);
  if (has_a && has_b && has_d && facts) check_advance(machine, strand, insn, a, b, tmem);
  ws->tcgen05_issue[first_lane(strand->active)] = insn;
  ws->tcgen05_issuers |= strand->active;
  timeline_mma(machine, strand, insn);
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_cp(Machine *machine, Strand *strand, const IrInsn *insn) {
  WarpState *ws = warp_state(strand->warp);
  need_queue(machine, ws);
  note_group(machine, insn);
  check_single(machine, strand, insn);
  uint64_t raw, tmem;
  int lanes = insn->shape.m ? insn->shape.m : 32, bits = insn->shape.n ? insn->shape.n : 128;
  if (number64(machine, strand, insn, IR_ROLE_a_desc, &raw))
    read_operand(machine, strand, insn, 'A', raw, &(DescTile){lanes, bits / 8, false, 8},
                 ACTOR_TCGEN05_CP);
  if (fact64(machine, strand, insn, IR_ROLE_tmem, &tmem)) {
    uint32_t count = (uint32_t)bits / 32;
    tmem_check_allocated(machine, strand, insn, strand->warp->cta->rank, (uint32_t)tmem, count,
                         "tcgen05.cp");
    Access *access = queued(machine, strand, insn, ACTOR_TCGEN05_CP, true);
    access->base = (uint32_t)tmem & 0xffff;
    tmem_touch(machine, strand, access, strand->warp->cta->rank, (uint32_t)tmem & 0xffff, count,
               TMEM_ALL_PARTS);
  } else {
    cta_state(strand->warp->cta)->tmem_unknown = true;
  }
  ws->tcgen05_issue[first_lane(strand->active)] = insn;
  ws->tcgen05_issuers |= strand->active;
  return MACHINE_NEXT;
}

MachineStep event_tcgen05_shift(Machine *machine, Strand *strand, const IrInsn *insn) {
  need_queue(machine, warp_state(strand->warp));
  note_group(machine, insn);
  check_single(machine, strand, insn);
  return MACHINE_NEXT;
}

/* ---- commit ---- */

typedef struct Commit {
  Mbar *bar;
  Clock *known;
  const IrInsn *insn;
  int count;
} Commit;

static void committed(Machine *machine, void *user) {
  Commit *c = user;
  if (c->bar->live)
    mbarrier_arrive(machine, c->bar, c->count, c->known, -1, 0, c->insn, MBAR_LOG_COMMIT);
  clock_free(&protocol_of(machine)->clocks, c->known);
}

/* Nothing was issued by the committing thread, but by another one that nobody commits for. */
static void check_commit_thread(Machine *machine, Strand *strand, const IrInsn *insn, int lane) {
  WarpState *ws = warp_state(strand->warp);
  if (ws->tcgen05_issue[lane] || ws->tcgen05_queue[lane] > 1) return;
  const Cta *cta = strand->warp->cta;
  for (int w = 0; w < cta->nwarps; w++) {
    const WarpState *other = warp_state(&cta->warps[w]);
    for (int l = 0; l < 32; l++) {
      if (!other->tcgen05_issue[l] || (other == ws && l == lane)) continue;
      IrViolation *v = machine_violation(
          machine, MACHINE_CHECK_PHASE, insn, "tcgen05-commit-wrong-thread",
          "tcgen05.commit by thread %d tracks nothing: the MMAs were issued by thread %d",
          strand->warp->id * 32 + lane, w * 32 + l);
      if (v)
        ir_violation_related(machine->violations, v, other->tcgen05_issue[l]->where, "issued here");
      return;
    }
  }
}

/* At the end: a lane that has only committed, in a warp of which another one issues. It need not
 * have come later than that one. */
void tcgen05_finish(Machine *machine) {
  for (int w = 0; w < machine->nwarps; w++) {
    const WarpState *ws = warp_state(machine->warps[w]);
    uint32_t vain = ws->tcgen05_vain & ~ws->tcgen05_issuers;
    if (!vain || !ws->tcgen05_issuers) continue;
    machine_violation(
        machine, MACHINE_CHECK_PHASE, ws->tcgen05_vain_insn, "tcgen05-commit-wrong-thread",
        "tcgen05.commit by lane %d of warp %d tracks nothing: the MMAs of the warp are "
        "issued by lane %d",
        first_lane(vain), machine->warps[w]->id, first_lane(ws->tcgen05_issuers));
  }
}

/* `targets`: CTAs of the multicast mask, a bit each; 0: no multicast. */
static void commit_to(Machine *machine, Strand *strand, const IrInsn *insn,
                      const SharedPlace *place, uint32_t targets) {
  Protocol *p = protocol_of(machine);
  WarpState *ws = warp_state(strand->warp);
  Mbar *bar = mbarrier_use(machine, strand, insn, place, "tcgen05.commit");
  if (!bar) return;
  bar->commit_targets = targets;
  bar->commit_warp = strand->warp->index;
  Commit *c = KC_NEW(machine->arena, Commit);
  *c = (Commit){bar, clock_new(&p->clocks), insn, lane_count(place->lanes)};
  lanes_collect(&p->clocks, &ws->lanes, place->lanes, c->known);
  FOR_LANES(lane, place->lanes)
  clock_raise(&p->clocks, c->known, ws->tcgen05_agent, UINT32_C(1) << lane,
              ws->tcgen05_queue[lane]);
  contract_site(machine, bar, CONTRACT_ARRIVE, insn, 1);
  machine_post(machine, committed, c);
}

MachineStep event_tcgen05_commit(Machine *machine, Strand *strand, const IrInsn *insn) {
  WarpState *ws = warp_state(strand->warp);
  need_queue(machine, ws);
  note_group(machine, insn);
  check_single(machine, strand, insn);
  FOR_LANES(lane, strand->active) check_commit_thread(machine, strand, insn, (int)lane);
  Value address;
  machine_read_role(machine, strand, insn, IR_ROLE_mbar, &address);
  uint32_t left = strand->active;
  SharedPlace at;
  while (protocol_next_place(machine, strand, &address, IR_SPACE_SHARED_CLUSTER, &left, &at)) {
    uint32_t targets =
        at.known && at.rank >= 0 ? copy_targets(machine, strand, insn, at.lanes, at.rank) : 0;
    uint32_t named = insn->flags & IR_FLAG(multicast) ? targets : 0;
    if (!at.known || at.rank < 0) commit_to(machine, strand, insn, &at, 0);
    for (int rank = 0; rank < machine->cluster_size; rank++) {
      if (!(targets >> rank & 1)) continue;
      SharedPlace there = at;
      there.rank = rank;
      commit_to(machine, strand, insn, &there, named);
    }
  }
  if (strand->active & ~ws->tcgen05_issuers) {
    ws->tcgen05_vain |= strand->active & ~ws->tcgen05_issuers;
    ws->tcgen05_vain_insn = insn;
  }
  FOR_LANES(lane, strand->active) {
    ws->tcgen05_queue[lane]++;
    ws->tcgen05_issue[lane] = NULL;
  }
  ws->lanes.now++;
  return MACHINE_NEXT;
}
