/* quick: instructions decoded for running many of them in a row, where all lanes of a strand (or
 * its one lane) share the values, or all values are known. */
#ifndef KC_MACHINE_QUICK_H
#define KC_MACHINE_QUICK_H

#include "machine/execute/core.h"

typedef enum QuickCode {
  QUICK_UNSEEN, /* not decoded yet */
  QUICK_NONE,   /* left to core_execute */
  QUICK_NOP,
  QUICK_BRANCH,
  QUICK_FRESH, /* data: the results become unknown */
  QUICK_EVALUATE,
  QUICK_MOV,
  QUICK_WINDOW, /* cvta */
  QUICK_SELECT,
  QUICK_CVT,
  QUICK_BOOL, /* cvt to a predicate */
  QUICK_SETP,
  QUICK_ADD, /* from here on: integers, sources extended where that matters */
  QUICK_SUB,
  QUICK_MUL,
  QUICK_MAD,
  QUICK_AND,
  QUICK_OR,
  QUICK_XOR,
  QUICK_SHL,
  QUICK_SHR,
  QUICK_SAR,
  QUICK_DIV, /* by 2^k, the second source holds k */
  QUICK_REM
} QuickCode;

typedef enum QuickExtend {
  EXTEND_NONE,
  EXTEND_S4,
  EXTEND_U4,
  EXTEND_S2,
  EXTEND_U2,
  EXTEND_S1,
  EXTEND_U1,
  EXTEND_PRED
} QuickExtend;

typedef struct QuickSource {
  uint64_t value; /* a constant, or what is added to the register */
  int32_t reg;    /* -1: a constant, or `special` */
  uint8_t extend; /* QuickExtend */
  bool ranked;    /* a shared address: the rank of the CTA is added */
  int8_t special; /* IrSpecial, or -1 */
} QuickSource;

struct CoreQuick {
  uint8_t code;    /* QuickCode */
  uint8_t compare; /* IrCompare, of a setp */
  uint8_t bits;    /* of the type, for shifts */
  bool is_signed, guard_negated;
  uint8_t plain; /* sources, of an instruction without guard that run_plain does; else 0 */
  int32_t guard; /* -1: none */
  int32_t dst;
  int32_t target; /* of a branch */
  uint64_t mask;  /* bits that the destination holds */
  QuickSource src[3];
};

/* Decodes one instruction. */
void quick_decode(const MachineSession *session, const IrInsn *insn, CoreQuick *out);

static inline uint64_t quick_extend(uint64_t x, uint8_t how) {
  switch ((QuickExtend)how) {
  case EXTEND_NONE: return x;
  case EXTEND_S4: return (uint64_t)(int64_t)(int32_t)x;
  case EXTEND_U4: return (uint32_t)x;
  case EXTEND_S2: return (uint64_t)(int64_t)(int16_t)x;
  case EXTEND_U2: return (uint16_t)x;
  case EXTEND_S1: return (uint64_t)(int64_t)(int8_t)x;
  case EXTEND_U1: return (uint8_t)x;
  case EXTEND_PRED: return x & 1;
  }
  return x;
}

/* Does an instruction of QUICK_MOV and later whose known sources differ between lanes; false: it
 * is left to core_execute. */
bool quick_lanes(Machine *machine, Strand *strand, const CoreQuick *quick);

#endif
