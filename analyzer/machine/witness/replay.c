/* What a run got from outside, kept so that `kcheck repro` can do the same on a card. */
#include "machine/execute/core.h"
#include "machine/session.h"

static MachineMapUse *use_of(MachineSession *session, uint64_t address) {
  MachineResult *result = session->result;
  for (int i = 0; i < result->maps.count; i++)
    if (result->maps.items[i].address == address) return &result->maps.items[i];
  CoreSession *core = session->core;
  MachineMapUse use = {.address = address,
                       .map = g_hash_table_lookup(core->maps, GSIZE_TO_POINTER(address))};
  KC_PUSH(session->arena, result->maps, use);
  return &result->maps.items[result->maps.count - 1];
}

/* Bytes of a copy: as its barrier was told, else those of the array element that it fills. */
static void measure(Machine *machine, MachineMapUse *use, const MapUse *seen) {
  const ProtocolSession *s = session_protocol(machine->session);
  for (int i = 0; i < s->copies.count; i++)
    if (s->copies.items[i].insn == seen->access->insn && s->copies.items[i].bytes > 0)
      use->bytes = s->copies.items[i].bytes;
  uint64_t start;
  const IrField *field = machine_shared_field(machine, seen->offset, &start);
  if (!field) return;
  bool flat = field->elem_bytes == field->scalar.bytes; /* float tile[1024]: not a ring */
  use->room = (int64_t)(flat ? field->elem_bytes * field->count : field->elem_bytes);
  use->scalar = field->scalar;
}

void core_note_maps(Machine *machine) {
  const Protocol *p = protocol_of(machine);
  for (int i = 0; i < p->maps.count; i++) {
    const MapUse *seen = &p->maps.items[i];
    MachineMapUse *use = use_of(machine->session, seen->map);
    use->rank = seen->access->insn->shape.dim;
    measure(machine, use, seen);
  }
}

static void add_replay(MachineSession *session, const MachineSample *sample,
                       const IrViolation *violation) {
  MachineReplay replay = {.violation = violation,
                          .dynamic_smem =
                              sample->dynamic_shared_known ? sample->dynamic_shared : -1,
                          .block_guessed = sample->block_guessed,
                          .cluster_guessed = sample->cluster_guessed,
                          .param = sample->param,
                          .param_known = sample->param_known,
                          .param_bytes = sample->param_bytes,
                          .pattern = sample->pattern,
                          .npattern = sample->npattern};
  for (int i = 0; i < 3; i++) {
    replay.grid[i] = sample->grid[i];
    replay.block[i] = sample->block[i];
    replay.cluster[i] = sample->cluster[i];
  }
  KC_PUSH(session->arena, session->result->replays, replay);
}

/* The sizes of the first run that shows a finding, not the smallest: on a card more rounds give a
 * race more chances. */
void core_replays(MachineSession *session, const MachineSamples *samples) {
  const CoreSession *core = session->core;
  if (samples->list.count > 0) add_replay(session, samples->list.items[0], NULL);
  for (int i = 0; i < core->findings.count; i++)
    add_replay(session, core->findings.items[i].found_in, core->findings.items[i].violation);
}
