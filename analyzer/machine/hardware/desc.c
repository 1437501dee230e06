#include "machine/hardware/desc.h"

#include "machine/causes/symptom.h"
#include "machine/checks/finish.h"
#include "machine/checks/swizzle.h"
#include "machine/inputs/slice.h"
#include "machine/session.h"
#include "machine/witness/timeline.h"

static uint32_t field14(uint64_t raw, int at) {
  return (uint32_t)(raw >> at & 0x3fff) << 4;
}

Descriptor desc_wgmma(uint64_t raw) {
  static const int swizzles[] = {0, 128, 64, 32};
  return (Descriptor){.raw = raw,
                      .start = field14(raw, 0),
                      .leading = field14(raw, 16),
                      .stride = field14(raw, 32),
                      .layout = (int)(raw >> 62 & 3),
                      .swizzle = swizzles[raw >> 62 & 3],
                      .version = 1,
                      .base_offset = (int)(raw >> 49 & 7)};
}

Descriptor desc_tcgen05(uint64_t raw) {
  static const int swizzles[] = {0, 128, 128, 0, 64, 0, 32, 0};
  return (Descriptor){.raw = raw,
                      .start = field14(raw, 0),
                      .leading = field14(raw, 16),
                      .stride = field14(raw, 32),
                      .layout = (int)(raw >> 61 & 7),
                      .swizzle = swizzles[raw >> 61 & 7],
                      .version = (int)(raw >> 46 & 7),
                      .base_offset = (int)(raw >> 49 & 7),
                      .wide_chunks = (raw >> 61 & 7) == 1,
                      .absolute_leading = (raw >> 52 & 1) != 0};
}

int desc_bits(uint8_t data) {
  switch (data) {
  case IR_DATA_tf32:
  case IR_DATA_f32:
  case IR_DATA_s32: return 32;
  case IR_DATA_f16:
  case IR_DATA_bf16: return 16;
  case IR_DATA_s4:
  case IR_DATA_u4: return 4;
  case IR_DATA_b1: return 1;
  default: return 8; /* narrower floats are padded to a byte, except in the mxf4 kinds */
  }
}

uint32_t desc_extent(const Descriptor *desc, const DescTile *tile) {
  if (tile->rows <= 0 || tile->k_bytes <= 0) return 0;
  uint32_t groups = (uint32_t)(tile->rows + 7) / 8;
  if (tile->transposed) {
    /* MN-major: repeating atoms of swizzle bytes along M or N by 8 elements of K. */
    uint32_t width = desc->swizzle ? (uint32_t)desc->swizzle : 16;
    uint32_t row_bytes = (uint32_t)tile->rows * (uint32_t)tile->element_bits / 8;
    uint32_t atoms = (row_bytes + width - 1) / width;
    uint32_t k = (uint32_t)tile->k_bytes * 8 / (uint32_t)tile->element_bits;
    uint32_t k_groups = (k + 7) / 8;
    uint32_t last = width * 8;
    uint32_t by_atom = desc->swizzle ? desc->leading : desc->stride;
    uint32_t by_k = desc->swizzle ? desc->stride : desc->leading;
    return (atoms - 1) * by_atom + (k_groups - 1) * by_k + last;
  }
  if (!desc->swizzle) /* core matrices of 8 rows by 16 bytes */
    return (groups - 1) * desc->stride +
           (uint32_t)(tile->k_bytes / 16 > 1 ? tile->k_bytes / 16 - 1 : 0) * desc->leading + 128;
  return (groups - 1) * desc->stride + 7 * (uint32_t)desc->swizzle + (uint32_t)tile->k_bytes;
}

/* Where the shared memory ends that the launch gives. */
static uint32_t given_bytes(const Machine *machine) {
  return machine->session->shared_bytes - machine->session->shared_slack;
}

/* The end of what may be meant by a pointer into [.., offset): the array, else the object. */
static uint32_t room_end(Machine *machine, uint32_t offset, const char **name) {
  uint64_t start;
  const IrField *field = machine_shared_field(machine, offset, &start);
  /* Members of records in an array are no bound: only the array as a whole is. */
  if (field && field->elem_bytes * field->count >= 256) {
    *name = field->name;
    return (uint32_t)(start + field->elem_bytes * field->count);
  }
  uint64_t within;
  int id = machine_shared_object(machine, offset, &within);
  if (id < 0) return 0;
  const IrObject *object = &machine->kernel->objects.items[id];
  *name = object->name;
  return object->dynamic || !object->bytes ? given_bytes(machine)
                                           : (uint32_t)(offset - within + object->bytes);
}

static const char *kind_of(const DescRead *read, const char *wgmma, const char *tcgen05) {
  return read->family[0] == 'w' ? wgmma : tcgen05;
}

void desc_say_composed(Machine *machine, IrViolation *v, const IrInsn *insn, char operand) {
  if (!v) return;
  const IrOperand *descriptor = ir_arg(insn, operand == 'B' ? IR_ROLE_b_desc : IR_ROLE_a_desc);
  const IrInsn *from = code_composes(machine->kernel, insn, descriptor);
  if (from)
    ir_violation_related(machine->violations, v, from->where, "the descriptor is made here");
}

/* A tile that ends past its array: the strides are not what the layout has. */
static void check_room(Machine *machine, Strand *strand, const DescRead *read,
                       const Descriptor *desc, const DescTile *tile, uint32_t extent) {
  const char *name = NULL;
  uint32_t end = room_end(machine, desc->start, &name);
  IrViolation *v;
  if (!end) {
    if (desc->start < given_bytes(machine)) return;
    v = machine_violation(
        machine, MACHINE_CHECK_ALWAYS, read->insn,
        kind_of(read, "wgmma-descriptor", "tcgen05-smem-descriptor"),
        "the descriptor of operand %c starts at shared address 0x%x, past the %u "
        "bytes of the block: its address is not a shared address shifted right by 4",
        read->operand, desc->start, given_bytes(machine));
    desc_say_composed(machine, v, read->insn, read->operand);
    return;
  }
  if (tile->transposed || desc->start + extent <= end) return;
  if ((desc->raw << 4 & IR_SHARED_BASE) == IR_SHARED_BASE) {
    v = machine_violation(machine, MACHINE_CHECK_ALWAYS, read->insn,
                          kind_of(read, "wgmma-descriptor", "tcgen05-smem-descriptor"),
                          "the descriptor of operand %c is made of a generic address: bits of its "
                          "window lie in the fields above the start address "
                          "(__cvta_generic_to_shared, then & 0x3ffff)",
                          read->operand);
    desc_say_composed(machine, v, read->insn, read->operand);
    return;
  }
  v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, read->insn,
      kind_of(read, "wgmma-operand-outside-tile", "tcgen05-operand-outside-tile"),
      "operand %c (%d rows of %d bytes, leading offset %u, stride offset %u) starts at %s and "
      "reaches %u bytes past the end of %s",
      read->operand, tile->rows, tile->k_bytes, desc->leading, desc->stride,
      protocol_place(machine, strand, read->rank, desc->start), desc->start + extent - end,
      name ? name : "shared memory");
  if (!v) return;
  desc_say_composed(machine, v, read->insn, read->operand);
  ir_violation_fact(machine->violations, v, "stride", "%u", desc->stride);
  ir_violation_fact(machine->violations, v, "leading", "%u", desc->leading);
}

/* ---- the start address by the code ---- */

enum {
  PLAIN = 1,
  SHIFTED = 2
}; /* a register holds a shared address as it is; moved to the right */

static uint8_t held(const IrKernel *kernel, const uint8_t *holds, const IrOperand *operand) {
  if (operand->kind == IR_OPD_REG) return holds[operand->id];
  return operand->kind == IR_OPD_OBJECT &&
                 kernel->objects.items[operand->id].space == IR_SPACE_SHARED
             ? PLAIN
             : 0;
}

/* What an instruction makes of a shared address; 0: something else. */
static uint8_t hands_on(const IrKernel *kernel, const uint8_t *holds, const IrInsn *insn,
                        int from) {
  uint8_t first = from < insn->nargs ? held(kernel, holds, &insn->args[from]) : 0, all = first;
  for (int i = from + 1; i < insn->nargs; i++)
    all |= held(kernel, holds, &insn->args[i]);
  switch (insn->op) {
  case IR_shr:
  case IR_div:
  case IR_mulhi:
  case IR_bfe:
  case IR_prmt:
  case IR_shf: return all ? SHIFTED : 0;
  case IR_load:
  case IR_store:
  case IR_atom:
  case IR_setp:
  case IR_branch:
  case IR_event:
  case IR_havoc: return 0;
  case IR_opaque: return all ? PLAIN | SHIFTED : 0;
  default: return all;
  }
}

static const uint8_t *holders(Machine *machine) {
  ProtocolSession *session = session_protocol(machine->session);
  const IrKernel *kernel = machine->kernel;
  if (session->holds) return session->holds;
  uint8_t *holds = kc_alloc(machine->session->arena, (size_t)machine->session->nregs + 1);
  session->holds = holds;
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      int dsts = slice_destinations(insn);
      uint8_t bits = dsts ? hands_on(kernel, holds, insn, dsts) : 0;
      for (int d = 0; d < dsts && bits; d++) {
        if (insn->args[d].kind != IR_OPD_REG ||
            (holds[insn->args[d].id] | bits) == holds[insn->args[d].id])
          continue;
        holds[insn->args[d].id] |= bits;
        changed = true;
      }
    }
  }
  return holds;
}

/* A descriptor into which a shared address went as it is: its field counts 16-byte units. */
static bool check_shifted(Machine *machine, const DescRead *read) {
  const IrOperand *operand =
      ir_arg(read->insn, read->operand == 'B' ? IR_ROLE_b_desc : IR_ROLE_a_desc);
  if (!operand || operand->kind != IR_OPD_REG || operand->id >= machine->kernel->regs.count ||
      holders(machine)[operand->id] != PLAIN)
    return true;
  IrViolation *v = machine_violation(
      machine, MACHINE_CHECK_ALWAYS, read->insn,
      kind_of(read, "wgmma-descriptor", "tcgen05-smem-descriptor"),
      "the address of operand %c goes into its descriptor in bytes, not shifted right by 4",
      read->operand);
  desc_say_composed(machine, v, read->insn, read->operand);
  return false;
}

static void remember(Machine *machine, int rank, uint32_t start, uint32_t end) {
  Protocol *p = protocol_of(machine);
  int *at = &p->operand_at[protocol_slot(start, (uint32_t)rank)];
  for (int i = *at ? *at - 1 : 0, n = 0; n < p->operands.count; n++) {
    OperandRead *o = &p->operands.items[i];
    if (o->rank == rank && o->start == start) {
      if (end > o->end) o->end = end;
      *at = i + 1;
      return;
    }
    i = i + 1 < p->operands.count ? i + 1 : 0;
  }
  if (p->operands.count < 1024)
    KC_PUSH(machine->arena, p->operands, ((OperandRead){rank, start, end}));
}

/* Whether the tile is a part of swizzled rows whose exact bytes are known: the start lies in the
 * first row of an atom, so that the pattern goes by the address whatever the base offset means. */
static bool is_part_of_rows(const Descriptor *desc, const DescTile *tile) {
  uint32_t width = (uint32_t)desc->swizzle, bytes = (uint32_t)tile->k_bytes;
  if (!width || tile->transposed || desc->base_offset || tile->rows <= 0 || tile->k_bytes <= 0 ||
      desc->wide_chunks)
    return false;
  return bytes < width && bytes % 16 == 0 && desc->start % (8 * width) + bytes <= width;
}

void desc_read(Machine *machine, Strand *strand, const DescRead *read, const Descriptor *desc,
               const DescTile *tile, const Access *access) {
  uint32_t extent = desc_extent(desc, tile);
  if (!read->made_up && !check_shifted(machine, read)) return;
  if (!read->made_up) {
    check_room(machine, strand, read, desc, tile, extent);
    swizzle_operand(machine, read, desc, tile);
  }
  if (!read->made_up && !tile->transposed && extent && extent <= 65536)
    remember(machine, read->rank, desc->start, desc->start + extent);
  const char *name = NULL;
  uint32_t end = room_end(machine, desc->start, &name);
  if (!extent || extent > 65536) extent = 16;
  if (end && desc->start + extent > end) extent = end > desc->start ? end - desc->start : 16;
  if (extent > 16 && is_part_of_rows(desc, tile))
    race_touch_rows(protocol_of(machine)->races, strand, access, read->rank,
                    &(RaceRows){.start = desc->start,
                                .count = (uint32_t)tile->rows,
                                .width = (uint32_t)desc->swizzle,
                                .stride = desc->stride,
                                .bytes = (uint32_t)tile->k_bytes,
                                .end = end ? end : UINT32_MAX});
  else
    race_touch(protocol_of(machine)->races, strand, access, -1, read->rank, desc->start, extent);
  timeline_operand(machine, strand, access, read->rank, desc->start);
}

/* ---- K steps ---- */

static bool is_step(uint64_t from, uint64_t to) {
  enum { ROW = 128 >> 4 };
  int64_t away = (int64_t)(to & 0x3fff) - (int64_t)(from & 0x3fff);
  return from >> 14 == to >> 14 && away != 0 && away > -ROW && away < ROW;
}

char desc_that_stays(uint64_t last_a, uint64_t last_b, uint64_t a, uint64_t b) {
  if (last_a == a && last_b == b) return '*';
  if (last_a == a && is_step(last_b, b)) return 'A';
  if (last_b == b && is_step(last_a, a)) return 'B';
  return 0;
}

const char *desc_operands(char stays) {
  return stays == '*' ? "A and B" : stays == 'A' ? "A" : "B";
}
