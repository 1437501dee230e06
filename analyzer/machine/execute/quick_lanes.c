/* The same instructions on known values that differ between lanes: all 32 lanes at once. Lanes
 * outside the strand compute garbage that nobody reads. */
#include "machine/execute/quick.h"

#include "machine/execute/special.h"

#include <string.h>

#define EACH_LANE for (int i = 0; i < 32; i++)

typedef uint64_t Lanes[32];

static void extend_all(uint64_t *restrict x, uint8_t how) {
  switch ((QuickExtend)how) {
  case EXTEND_NONE: break;
  case EXTEND_S4: EACH_LANE x[i] = (uint64_t)(int64_t)(int32_t)x[i]; break;
  case EXTEND_U4: EACH_LANE x[i] = (uint32_t)x[i]; break;
  case EXTEND_S2:
  case EXTEND_U2:
  case EXTEND_S1:
  case EXTEND_U1:
  case EXTEND_PRED: EACH_LANE x[i] = quick_extend(x[i], how);
  }
}

/* The 32 values of a source, in `room` unless they stand somewhere already; NULL: some that count
 * are not known, or the protocol half wants to hear of the read. */
static const uint64_t *all_of(Machine *machine, Strand *strand, const QuickSource *s, Lanes room) {
  if (s->special >= 0) {
    Value v = core_special(machine, strand, (IrSpecial)s->special);
    if (!v.known) return NULL;
    EACH_LANE room[i] = value_raw(v, i);
    extend_all(room, s->extend);
    return room;
  }
  if (s->reg < 0) {
    uint64_t x = s->value + (s->ranked ? (uint64_t)strand->warp->cta->rank << 24 : 0);
    EACH_LANE room[i] = x;
    return room;
  }
  const MachineReg *reg = &strand->warp->regs[s->reg];
  if (reg->watched || (reg->known & strand->mask) != strand->mask) return NULL;
  if (!reg->lanes) {
    uint64_t x = quick_extend(reg->scalar + s->value, s->extend);
    EACH_LANE room[i] = x;
    return room;
  }
  if (!s->value && s->extend == EXTEND_NONE) return reg->lanes;
  EACH_LANE room[i] = reg->lanes[i] + s->value;
  extend_all(room, s->extend);
  return room;
}

static void compare_all(const CoreQuick *q, const uint64_t *restrict a, const uint64_t *restrict b,
                        uint64_t *restrict out) {
  /* a > b is b < a, a >= b is not a < b */
  bool swapped = q->compare == IR_CMP_gt || q->compare == IR_CMP_le;
  uint64_t turned = q->compare == IR_CMP_ne || q->compare == IR_CMP_ge || q->compare == IR_CMP_le;
  const uint64_t *x = swapped ? b : a, *y = swapped ? a : b;
  if (q->compare == IR_CMP_eq || q->compare == IR_CMP_ne)
    EACH_LANE out[i] = (x[i] == y[i]) ^ turned;
  else if (q->is_signed)
    EACH_LANE out[i] = ((int64_t)x[i] < (int64_t)y[i]) ^ turned;
  else
    EACH_LANE out[i] = (x[i] < y[i]) ^ turned;
}

static void shift_all(const CoreQuick *q, const uint64_t *restrict a, const uint64_t *restrict b,
                      uint64_t *restrict out) {
  if (q->code == QUICK_SHL)
    EACH_LANE out[i] = (uint32_t)b[i] >= q->bits ? 0 : a[i] << (b[i] & 63);
  else if (q->code == QUICK_SHR)
    EACH_LANE out[i] = (uint32_t)b[i] >= q->bits ? 0 : a[i] >> (b[i] & 63);
  else
    EACH_LANE out[i] =
        (uint64_t)((int64_t)a[i] >> ((uint32_t)b[i] >= q->bits ? q->bits - 1u : (uint32_t)b[i]));
}

/* Division by 2^k towards zero, k the same for all lanes. */
static void divide_all(const CoreQuick *q, const uint64_t *restrict a, uint64_t k,
                       uint64_t *restrict out) {
  if (q->is_signed) {
    int64_t most = ((int64_t)1 << k) - 1;
    EACH_LANE out[i] = (uint64_t)(((int64_t)a[i] + ((int64_t)a[i] >> 63 & most)) >> k);
  } else {
    EACH_LANE out[i] = a[i] >> k;
  }
  if (q->code == QUICK_REM) EACH_LANE out[i] = a[i] - (out[i] << k);
}

static void compute_all(const CoreQuick *q, const uint64_t *restrict a, const uint64_t *restrict b,
                        const uint64_t *restrict c, uint64_t *restrict out) {
  switch ((int)q->code) {
  case QUICK_SETP: compare_all(q, a, b, out); break;
  case QUICK_ADD: EACH_LANE out[i] = a[i] + b[i]; break;
  case QUICK_SUB: EACH_LANE out[i] = a[i] - b[i]; break;
  case QUICK_MUL: EACH_LANE out[i] = a[i] * b[i]; break;
  case QUICK_MAD: EACH_LANE out[i] = a[i] * b[i] + c[i]; break;
  case QUICK_AND: EACH_LANE out[i] = a[i] & b[i]; break;
  case QUICK_OR: EACH_LANE out[i] = a[i] | b[i]; break;
  case QUICK_XOR: EACH_LANE out[i] = a[i] ^ b[i]; break;
  case QUICK_SHL:
  case QUICK_SHR:
  case QUICK_SAR: shift_all(q, a, b, out); break;
  case QUICK_DIV:
  case QUICK_REM: divide_all(q, a, b[0], out); break;
  case QUICK_SELECT: EACH_LANE out[i] = c[i] & 1 ? a[i] : b[i]; break;
  case QUICK_BOOL: EACH_LANE out[i] = a[i] != 0; break;
  case QUICK_WINDOW:
    if (q->is_signed)
      EACH_LANE out[i] =
          a[i] >= IR_SHARED_BASE && a[i] < IR_SHARED_END ? a[i] - IR_SHARED_BASE : a[i];
    else
      EACH_LANE out[i] = a[i] < IR_SHARED_BASE ? a[i] + IR_SHARED_BASE : a[i];
    break;
  default: memcpy(out, a, sizeof(Lanes));
  }
}

static int count_sources(const CoreQuick *q) {
  if (q->code == QUICK_MAD || q->code == QUICK_SELECT) return 3;
  return q->code >= QUICK_SETP ? 2 : 1;
}

bool quick_lanes(Machine *machine, Strand *strand, const CoreQuick *q) {
  Lanes room[3], out;
  const uint64_t *x[3] = {room[0], room[0], room[0]};
  for (int i = 0; i < count_sources(q); i++) {
    x[i] = all_of(machine, strand, &q->src[i], room[i]);
    if (!x[i]) return false;
  }
  compute_all(q, x[0], x[1], x[2], out);
  Value v = {.known = MACHINE_ALL_LANES, .lanes = out};
  core_write_reg(machine, strand, q->dst, v, strand->mask);
  return true;
}
