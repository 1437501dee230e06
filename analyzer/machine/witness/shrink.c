/* The smallest inputs that still show a finding: first all integers that nobody fixed are made as
 * small as one number of tiles allows, then each alone. A finding that a smaller run repeats (same
 * kind, same place) takes that run's violation: its inputs, barrier lines and accesses. */
#include "machine/execute/core.h"

#include <string.h>

#include "machine/session.h"

/* All runs together: as many as were spent before, within these bounds. */
#define SHRINK_STEPS UINT64_C(400000)
#define SHRINK_LEAST UINT64_C(40000)
#define SHRINK_RUNS 48
#define SHRINK_FINDINGS 8
#define MOST_TILES 15
#define LARGE 256 /* a number that counts elements, though no tile size shows */
#define COMMON_TILE 64

typedef struct {
  MachineSession *session;
  uint64_t steps_left;
  int runs_left;
  CoreFinding *pictured; /* the finding that MachineOptions.pictured asks for, or NULL */
} Shrink;

/* What `input` grows by; 0: it is left as it is. */
static int64_t unit_of(const MachineInput *input) {
  if (input->fixed || input->bytes < 2 || input->number < 2 || input->tile < 0) return 0;
  if (input->tile > 1) return input->tile;
  return input->number >= LARGE && input->number % COMMON_TILE == 0 ? COMMON_TILE : 1;
}

/* A loop of one trip is what `1` means when it counts trips, and an empty loop when it counts
 * elements: without a tile size two is the smallest that says something. */
static int64_t smallest(const MachineInput *input) {
  return input->tile > 1 || unit_of(input) > 1 ? 1 : 2;
}

/* A copy of `from` in which input `which` (-1: every one that may) is at most `tiles` of its
 * units. NULL when that changes nothing. */
static MachineSample *smaller(MachineSession *session, const MachineSample *from, int which,
                              int64_t tiles) {
  MachineSample *out = KC_NEW(session->arena, MachineSample);
  *out = *from;
  out->param = kc_alloc(session->arena, from->param_bytes + 1);
  memcpy(out->param, from->param, from->param_bytes);
  out->inputs.items = KC_NEW_ARRAY(session->arena, MachineInput, from->inputs.count + 1);
  out->inputs.count = from->inputs.count;
  bool changed = false;
  for (int i = 0; i < from->inputs.count; i++) {
    MachineInput *input = &out->inputs.items[i];
    *input = from->inputs.items[i];
    int64_t unit = unit_of(input), n = tiles < smallest(input) ? smallest(input) : tiles;
    if ((which >= 0 && which != i) || unit == 0 || n * unit >= input->number) continue;
    input->number = n * unit;
    input->value = kc_printf(session->arena, "%lld", (long long)input->number);
    memcpy(out->param + input->offset, &input->number, (size_t)input->bytes);
    changed = true;
  }
  return changed ? out : NULL;
}

static IrViolation *repeated(Machine *machine, const CoreFinding *f) {
  if (machine->trapped || machine->stopped) return NULL;
  if (f->check != MACHINE_CHECK_ALWAYS && machine_is_off(machine, f->check)) return NULL;
  for (int i = 0; i < machine->violations->list.count; i++) {
    IrViolation *v = machine->violations->list.items[i];
    if (v->where == f->where && strcmp(v->kind, f->kind) == 0) return v;
  }
  return NULL;
}

static void take(Machine *machine, CoreFinding *f, IrViolation *v) {
  if (f->violation->confidence > v->confidence) v->confidence = f->violation->confidence;
  core_add_inputs(machine, v);
  f->violation = v;
  f->shown_by = machine->sample;
}

/* Runs `sample`; every finding of `open` that shows again is taken and leaves the list. Nothing
 * else that the run says counts: what earlier runs accuse each other of stays as it was. */
static bool run_smaller(Shrink *shrink, const MachineSample *sample, MachineSchedule schedule,
                        GPtrArray *open) {
  MachineSession *session = shrink->session;
  CoreSession *core = session->core;
  ProtocolSession *protocol = session_protocol(session), before = *protocol;
  uint64_t spent = core->steps;
  memset(&protocol->accusations, 0, sizeof protocol->accusations);
  memset(&protocol->intervals, 0, sizeof protocol->intervals);
  core->decisions.count = 0;
  Machine *machine = core_machine_new(session, sample, schedule, shrink->steps_left);
  protocol->rehearsal = true;
  core_machine_rehearse(machine);
  protocol->rehearsal = false;
  bool pictured = false, any = false;
  for (guint i = 0; i < open->len;) {
    CoreFinding *f = open->pdata[i];
    IrViolation *v = repeated(machine, f);
    if (v) take(machine, f, v);
    any |= v != NULL;
    pictured |= v && f == shrink->pictured;
    if (v)
      g_ptr_array_remove_index(open, i);
    else
      i++;
  }
  core_machine_free(machine);
  protocol->accusations = before.accusations;
  if (!pictured) {
    protocol->intervals = before.intervals;
    protocol->intervals_degenerate = before.intervals_degenerate;
  }
  core->decisions.count = 0;
  spent = core->steps - spent;
  shrink->steps_left = spent < shrink->steps_left ? shrink->steps_left - spent : 0;
  shrink->runs_left--;
  return any;
}

static bool spent(const Shrink *shrink) {
  return shrink->runs_left <= 0 || shrink->steps_left == 0;
}

/* The findings of `left` that the same run shows as the first of them; they leave it. */
static GPtrArray *same_run(GPtrArray *left) {
  GPtrArray *open = g_ptr_array_new();
  const CoreFinding *first = left->pdata[0];
  for (guint i = 0; i < left->len;) {
    CoreFinding *f = left->pdata[i];
    if (f->shown_by == first->shown_by && f->schedule == first->schedule)
      g_ptr_array_add(open, g_ptr_array_remove_index(left, i));
    else
      i++;
  }
  return open;
}

/* All integers together: the findings of one run are tried at once. */
static void shrink_together(Shrink *shrink, const GPtrArray *findings) {
  g_autoptr(GPtrArray) left = g_ptr_array_new();
  for (guint i = 0; i < findings->len; i++)
    g_ptr_array_add(left, findings->pdata[i]);
  while (left->len > 0) {
    g_autoptr(GPtrArray) open = same_run(left);
    const MachineSample *sample = ((const CoreFinding *)open->pdata[0])->shown_by;
    MachineSchedule schedule = ((const CoreFinding *)open->pdata[0])->schedule;
    for (int64_t tiles = 1; tiles <= MOST_TILES && open->len > 0 && !spent(shrink); tiles++) {
      const MachineSample *candidate = smaller(shrink->session, sample, -1, tiles);
      if (!candidate) break;
      run_smaller(shrink, candidate, schedule, open);
    }
  }
}

static void shrink_alone(Shrink *shrink, CoreFinding *f) {
  for (int input = 0; input < f->shown_by->inputs.count; input++) {
    const MachineSample *sample = f->shown_by;
    for (int64_t tiles = 1; tiles <= MOST_TILES && !spent(shrink); tiles++) {
      const MachineSample *candidate = smaller(shrink->session, sample, input, tiles);
      if (!candidate) break;
      g_autoptr(GPtrArray) open = g_ptr_array_new();
      g_ptr_array_add(open, f);
      if (run_smaller(shrink, candidate, f->schedule, open)) break;
    }
  }
}

static bool is_pictured(const MachineSession *session, const CoreFinding *f) {
  const IrViolation *wanted = session->options->pictured;
  return wanted && f->where == wanted->where && strcmp(f->kind, wanted->kind) == 0;
}

/* What only the value of an operand shows is as plain with one number as with another: no smaller
 * run, unless a picture is to be drawn. */
static bool may_shrink(const MachineSession *session, const CoreFinding *f) {
  bool value = f->check == MACHINE_CHECK_ALWAYS && !is_pictured(session, f);
  return !value && !f->shown_by->exact && core_is_published(session, f);
}

void core_shrink(MachineSession *session) {
  CoreSession *core = session->core;
  Shrink shrink = {.session = session, .runs_left = SHRINK_RUNS};
  shrink.steps_left = CLAMP(core->steps, SHRINK_LEAST, SHRINK_STEPS);
  g_autoptr(GPtrArray) findings = g_ptr_array_new();
  for (int i = 0; i < core->findings.count; i++) {
    CoreFinding *f = &core->findings.items[i];
    if (!may_shrink(session, f)) continue;
    if (is_pictured(session, f)) {
      shrink.pictured = f;
      g_ptr_array_insert(findings, 0, f);
    } else if (findings->len < SHRINK_FINDINGS) {
      g_ptr_array_add(findings, f);
    }
  }
  shrink_together(&shrink, findings);
  for (guint i = 0; i < findings->len; i++)
    shrink_alone(&shrink, findings->pdata[i]);
}
