/* What a run observed becomes what a kernel is told: one violation a kind and place over all
 * samples and schedules, its confidence, and what could not be checked. */
#include "ir/site.h"
#include "machine/execute/core.h"

#include <string.h>

static const char *const check_names[MACHINE_CHECK_COUNT] = {
    [MACHINE_CHECK_ALWAYS] = "operands",
    [MACHINE_CHECK_DEADLOCK] = "deadlock",
    [MACHINE_CHECK_PHASE] = "phases and arrival counts",
    [MACHINE_CHECK_BYTES] = "byte counts",
    [MACHINE_CHECK_RACE] = "races and ordering",
    [MACHINE_CHECK_FINISH] = "what is left at the end",
};

/* ---- during a run ---- */

static guint reported_hash(gconstpointer key) {
  const CoreReported *r = key;
  return (guint)core_hash((uint64_t)(uintptr_t)r->insn, (uint64_t)g_str_hash(r->kind));
}

static gboolean reported_equal(gconstpointer a, gconstpointer b) {
  const CoreReported *x = a, *y = b;
  return x->insn == y->insn && strcmp(x->kind, y->kind) == 0;
}

IrViolation *machine_violation(Machine *machine, MachineCheck check, const IrInsn *insn,
                               const char *kind, const char *message, ...) {
  CoreRun *run = core_run(machine);
  if (!run->reported) run->reported = g_hash_table_new(reported_hash, reported_equal);
  CoreReported *key = KC_NEW(machine->arena, CoreReported);
  *key = (CoreReported){kind, insn};
  if (!g_hash_table_add(run->reported, key)) return NULL;
  va_list args;
  va_start(args, message);
  char *text = kc_vprintf(machine->violations->arena, message, args);
  va_end(args);
  uint32_t where = insn ? insn->where : machine->kernel->where;
  IrViolation *v = ir_violation(machine->violations, kind, machine->kernel, where, "%s", text);
  KC_PUSH(machine->arena, run->violation_check, check);
  protocol_violation(machine, insn);
  return v;
}

void machine_switch_off(Machine *machine, MachineCheck check, const IrInsn *insn,
                        const char *reason, ...) {
  CoreRun *run = core_run(machine);
  KcArena *arena = machine->session->arena;
  va_list args;
  va_start(args, reason);
  char *text = kc_vprintf(arena, reason, args);
  va_end(args);
  if (insn) text = kc_printf(arena, "%s (%s)", text, machine_line(machine, insn));
  for (int i = 0; i < run->off[check].count; i++)
    if (strcmp(run->off[check].items[i], text) == 0) return;
  KC_PUSH(machine->arena, run->off[check], text);
}

bool machine_is_off(const Machine *machine, MachineCheck check) {
  return core_run(machine)->off[check].count > 0;
}

const char *machine_line(Machine *machine, const IrInsn *insn) {
  KcArena *arena = machine->session->arena;
  MachineSession *session = machine->session;
  const SourceMap *map = &machine->program->sources;
  if (!session->sites) session->sites = ir_sites_new(session->program);
  uint32_t id = ir_event_site(session->sites, insn->where);
  if (id == 0 || (int)id >= map->stacks.count) return "an unknown line";
  const SourceRange *range = &map->stacks.items[id].range;
  if ((int)range->file >= map->files.count || range->file == 1)
    return kc_printf(arena, "line %u", range->line);
  const char *path = map->files.items[range->file].path;
  const char *slash = strrchr(path, '/');
  return kc_printf(arena, "%s:%u", slash ? slash + 1 : path, range->line);
}

const char *machine_who(Machine *machine, const Strand *strand) {
  KcArena *arena = machine->session->arena;
  const Warp *warp = strand->warp;
  bool single = (strand->mask & (strand->mask - 1)) == 0 && strand->mask;
  const char *name =
      single ? kc_printf(arena, "thread %d", warp->id * 32 + __builtin_ctz(strand->mask))
             : kc_printf(arena, "warp %d", warp->id);
  if (machine->cluster_size == 1) return name;
  return kc_printf(arena, "%s of CTA %d", name, warp->cta->rank);
}

/* ---- after a run ---- */

void core_not_checked(MachineSession *session, const char *format, ...) {
  CoreSession *core = session->core;
  va_list args;
  va_start(args, format);
  char *text = kc_vprintf(session->arena, format, args);
  va_end(args);
  if (!g_hash_table_add(core->not_checked, text)) return;
  KC_PUSH(session->arena, session->result->not_checked, text);
}

static CoreFinding *find_finding(CoreSession *core, const char *kind, uint32_t where) {
  for (int i = 0; i < core->findings.count; i++) {
    CoreFinding *f = &core->findings.items[i];
    if (f->where == where && strcmp(f->kind, kind) == 0) return f;
  }
  return NULL;
}

/* Names the parameters that the run read, and what the machine chose besides. */
void core_add_inputs(Machine *machine, IrViolation *v) {
  const MachineSample *sample = machine->sample;
  const uint8_t *read = core_run(machine)->param_read;
  for (int i = 0; i < sample->inputs.count; i++) {
    const MachineInput *input = &sample->inputs.items[i];
    if (input->name && read[input->offset])
      ir_violation_input(machine->violations, v, input->name, "%s", input->value);
  }
  if (machine->cluster_size > 1)
    ir_violation_input(machine->violations, v, "cluster", "%d", machine->cluster_size);
  for (int i = 1; sample->other_plane && i < 3; i++)
    if (machine->cluster_id[i] > 0)
      ir_violation_input(machine->violations, v, i == 1 ? "blockIdx.y" : "blockIdx.z", "%lld",
                         (long long)(machine->cluster_id[i] * machine->cluster[i]));
  if (sample->cluster_index > 0 && !sample->other_plane)
    ir_violation_input(machine->violations, v, "cluster index", "%lld",
                       (long long)sample->cluster_index);
  if (sample->block_guessed)
    ir_violation_input(machine->violations, v, "threads", "%d", machine->threads);
}

static const char by_block[] = "the number of threads of the block";
static const char by_cluster[] = "the size of the cluster";
static const char by_pattern[] = "the elements of integer arrays";
static const char by_patterns[] = "that the elements of several integer arrays go together";
static const char by_decision[] = "which way conditions on data go";

/* What decides about who runs or which way, and was made up for this run; NULL: nothing. */
static const char *made_up(const Machine *machine) {
  if (machine->sample->block_guessed) return by_block;
  if (machine->sample->cluster_guessed) return by_cluster;
  /* each side is possible, but perhaps not with what the rest of the run assumes of the data */
  if (core_session(machine)->decisions.count > 0) return by_decision;
  if (!core_run(machine)->pattern_read) return NULL;
  return __builtin_popcountll(core_run(machine)->pattern_of) > 2 ? by_patterns : by_pattern;
}

/* An ordinary run that could not go on. Waits for registers are left to the budget engine. */
static bool halted(const Machine *machine) {
  if (!machine->stuck || machine->stopped || machine->trapped || machine->sample->degenerate)
    return false;
  for (int w = 0; w < machine->nwarps; w++)
    for (int i = 0; i < machine->warps[w]->nstrands; i++) {
      const char *blocked = machine->warps[w]->strands[i]->blocked;
      if (blocked && strcmp(blocked, "register pool") == 0) return false;
    }
  return true;
}

/* Whether a violation is about which threads run, and depends on the shape of the block with it. */
static bool is_about_threads(const IrViolation *v, MachineCheck check) {
  return check != MACHINE_CHECK_ALWAYS || g_str_has_prefix(v->kind, "warp-") ||
         g_str_has_prefix(v->kind, "barrier-");
}

/* Says which shape of the block was assumed. What goes wrong with that shape may be right with the
 * one that is launched: nobody is alarmed, but the kernel is not called checked either. */
static void note_shape(Machine *machine) {
  const MachineSample *sample = machine->sample;
  MachineSession *session = machine->session;
  g_autoptr(GString) shape = g_string_new(NULL);
  g_string_printf(shape, "%lldx%lld", (long long)sample->block[0], (long long)sample->block[1]);
  if (sample->block[2] > 1) g_string_append_printf(shape, "x%lld", (long long)sample->block[2]);
  core_not_checked(session,
                   "who runs: no launch tells the shape of the block; %s threads were assumed "
                   "(add // kcheck: launch(%s, block = %s))",
                   shape->str, session->kernel->name, shape->str);
  bool seen = machine->stuck && !machine->stopped;
  for (int i = 0; i < machine->violations->list.count && !seen; i++)
    seen = is_about_threads(machine->violations->list.items[i],
                            core_run(machine)->violation_check.items[i]);
  if (!seen || machine->trapped) return;
  core_not_checked(session, "who runs: with the shape of the block that was assumed the kernel "
                            "goes wrong; what was found is not shown");
  session->result->complete = false;
}

void core_all_sides(CoreSession *core, int runs) {
  for (int i = 0; i < core->findings.count; i++) {
    CoreFinding *f = &core->findings.items[i];
    f->any_side |= runs > 0 && f->sides == runs;
    f->sides = 0;
  }
}

void core_collect(Machine *machine) {
  CoreSession *core = core_session(machine);
  core->halted |= halted(machine);
  CoreRun *run = core_run(machine);
  const MachineSample *sample = machine->sample;
  for (int check = 0; check < MACHINE_CHECK_COUNT && !machine->trapped; check++) {
    for (int i = 0; i < run->off[check].count; i++) {
      core_not_checked(machine->session, "%s: %s", check_names[check], run->off[check].items[i]);
      /* Unknown byte counts hide no event. */
      if (check != MACHINE_CHECK_BYTES) machine->session->result->complete = false;
    }
  }
  if (sample->shape_guessed) note_shape(machine);
  for (int i = 0; i < machine->violations->list.count && !machine->trapped; i++) {
    IrViolation *v = machine->violations->list.items[i];
    MachineCheck check = run->violation_check.items[i];
    if (check != MACHINE_CHECK_ALWAYS && (core->partial || machine_is_off(machine, check)))
      continue;
    if (sample->shape_guessed && is_about_threads(v, check)) continue;
    CoreFinding *f = find_finding(core, v->kind, v->where);
    if (!f) {
      CoreFinding fresh = {.kind = v->kind,
                           .where = v->where,
                           .violation = v,
                           .check = check,
                           .sample = sample->rank,
                           .found_in = sample,
                           .shown_by = sample,
                           .schedule = machine->schedule,
                           .degenerate = true,
                           .ragged = true};
      KC_PUSH(machine->session->arena, core->findings, fresh);
      f = &core->findings.items[core->findings.count - 1];
      core_add_inputs(machine, v);
    } else if (f->degenerate && !sample->degenerate) {
      /* An ordinary size tells more than a degenerate one. */
      f->violation = v;
      f->found_in = f->shown_by = sample;
      f->schedule = machine->schedule;
      core_add_inputs(machine, v);
    }
    f->degenerate &= sample->degenerate;
    f->ragged &= sample->ragged;
    const char *assumed = check == MACHINE_CHECK_ALWAYS ? NULL : made_up(machine);
    f->sides += assumed == by_decision;
    if (assumed)
      f->assumed = assumed;
    else
      f->firm = true;
    f->small |= sample->free_ints == 0 || sample->ints <= 1;
    f->forced |= sample->free_ints == 0 && !sample->block_guessed && !sample->cluster_guessed;
  }
}

/* Kinds about the value of an address or size: an odd integer that the machine chose may be what
 * made it odd. */
static bool depends_on_divisibility(const char *kind) {
  static const char *const kinds[] = {
      "tma-address-misaligned",  "tma-size-multiple-16",        "vector-access-misaligned",
      "fragment-row-misaligned", "tma-swizzle-base-misaligned", "async-copy-form",
  };
  for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (strcmp(kind, kinds[i]) == 0) return true;
  return false;
}

bool core_wants_divisible(const CoreSession *core) {
  for (int i = 0; i < core->findings.count; i++) {
    const CoreFinding *f = &core->findings.items[i];
    if (f->ragged && depends_on_divisibility(f->kind)) return true;
  }
  return false;
}

/* An index may only be too large because the machine chose a size that no caller passes: such a
 * finding has to show with the smallest sizes as well. */
static bool depends_on_size(const char *kind) {
  return strcmp(kind, "smem-array-overrun") == 0 || strcmp(kind, "smem-swizzle-escapes-row") == 0;
}

static bool withheld(const CoreFinding *f) {
  if (f->degenerate || (!f->small && depends_on_size(f->kind))) return true;
  return f->ragged && depends_on_divisibility(f->kind);
}

bool core_stands(const MachineSession *session, const CoreFinding *f) {
  return !withheld(f) && !protocol_withdrawn(session, f->violation);
}

bool core_is_published(const MachineSession *session, const CoreFinding *f) {
  return core_stands(session, f) && !core_follows_from_another(session, f);
}

#define CONVENTION 4 /* places in one kernel */

/* Something that the ISA asks for and that much code which runs goes without: one place is a slip,
 * many are the way the kernel is written. */
static bool is_convention(const MachineSession *session, const CoreFinding *f) {
  const CoreSession *core = session->core;
  int places = 0;
  if (strcmp(f->kind, "tcgen05-thread-sync-fence") != 0 || f->violation->confidence != IR_INFERRED)
    return false;
  for (int i = 0; i < core->findings.count; i++) {
    const CoreFinding *other = &core->findings.items[i];
    places += strcmp(other->kind, f->kind) == 0 && other->violation->confidence >= IR_INFERRED;
  }
  return places >= CONVENTION;
}

#define MORE_PLACES 3 /* that are shown besides the first */

/* An advice is given once a kernel, however many places it is true of. */
static bool repeats(IrViolations *violations, int from, const IrViolation *v) {
  for (int i = from; i < violations->list.count; i++) {
    IrViolation *first = violations->list.items[i];
    if (v->confidence != IR_FALLBACK || first->confidence != IR_FALLBACK ||
        strcmp(first->kind, v->kind) != 0)
      continue;
    if (first->related.count < MORE_PLACES)
      ir_violation_related(violations, first, v->where, "here as well");
    return true;
  }
  return false;
}

/* Whether what a finding assumes may well never be: who runs and which way. Elements of integer
 * arrays may be any, but those of several arrays are seldom independent of each other: a list of
 * work that contradicts another lets roles disagree about the rounds, or two blocks meet in one
 * place. */
static bool speculative(const CoreFinding *f) {
  return f->assumed && f->assumed != by_pattern;
}

void core_publish(MachineSession *session, IrViolations *violations) {
  CoreSession *core = session->core;
  int before = violations->list.count;
  for (int i = 0; i < core->findings.count; i++) {
    CoreFinding *f = &core->findings.items[i];
    if (!core_is_published(session, f)) continue;
    if (is_convention(session, f) || session->kernel->lacks_arguments)
      f->violation->confidence = IR_FALLBACK;
    IrConfidence seen = f->forced ? IR_PROVED_FORCED : IR_PROVED_CHOSEN;
    if (f->violation->confidence < seen) f->violation->confidence = seen;
    IrConfidence most = speculative(f) && !f->any_side ? IR_FALLBACK : IR_INFERRED;
    if (!f->firm && f->violation->confidence < most) {
      f->violation->confidence = most;
      f->violation->assumed = f->assumed;
    }
    if (!repeats(violations, before, f->violation))
      KC_PUSH(violations->arena, violations->list, f->violation);
  }
  if (!core->halted || violations->list.count > before) return;
  session->result->complete = false;
  core_not_checked(session, "a run came to a halt, and no cause could be named");
}
