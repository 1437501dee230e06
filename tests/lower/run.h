/* Runs a lowered kernel for one thread, so that a test can compare what C++ code computes with what
 * its IR computes. Local memory is bytes; a register that stands for a cell is those bytes. */
#ifndef KC_TESTS_LOWER_RUN_H
#define KC_TESTS_LOWER_RUN_H

#include <check.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "cuda/cuda.h"
#include "ir/ir.h"
#include "support/error.h"

#define RUN_WORDS 64     /* ints that the kernel's first parameter points to */
#define RUN_STEPS 100000 /* a kernel that runs longer hangs */
#define RUN_LOCAL 65536
#define RUN_PARAM 4096
#define RUN_SHARED 65536
#define RUN_GLOBAL 65536

typedef struct Run {
  KcArena *arena;
  IrViolations violations;
  IrProgram *program;
  const IrKernel *kernel;
  KcError error;
  uint64_t *regs;
  bool *unknown; /* by register that is no cell */
  uint8_t local[RUN_LOCAL], local_unknown[RUN_LOCAL];
  uint8_t param[RUN_PARAM];
  uint8_t shared[RUN_SHARED];
  uint8_t global[RUN_GLOBAL];
  int32_t out[RUN_WORDS];
  bool trapped;
  int events;
} Run;

static inline uint64_t run_mask(int bytes) {
  return bytes >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * bytes)) - 1;
}

static inline int64_t run_extend(uint64_t value, IrType type) {
  value &= run_mask(type.bytes);
  if (type.cls == IR_CLASS_SINT && type.bytes < 8 && value >> (8 * type.bytes - 1))
    value |= ~run_mask(type.bytes);
  return (int64_t)value;
}

/* Bytes behind a generic address; NULL when there is nothing. */
static inline uint8_t *run_memory(Run *r, uint64_t address, uint8_t **unknown) {
  *unknown = NULL;
  if (address >= IR_LOCAL_BASE && address < IR_LOCAL_BASE + RUN_LOCAL) {
    *unknown = r->local_unknown + (address - IR_LOCAL_BASE);
    return r->local + (address - IR_LOCAL_BASE);
  }
  if (address >= IR_PARAM_BASE && address < IR_PARAM_BASE + RUN_PARAM)
    return r->param + (address - IR_PARAM_BASE);
  if (address >= IR_POINTER_BASE && address < IR_POINTER_BASE + sizeof r->out)
    return (uint8_t *)r->out + (address - IR_POINTER_BASE);
  if (address >= IR_SHARED_BASE && address < IR_SHARED_BASE + RUN_SHARED)
    return r->shared + (address - IR_SHARED_BASE);
  if (address >= IR_GLOBAL_BASE && address < IR_GLOBAL_BASE + RUN_GLOBAL)
    return r->global + (address - IR_GLOBAL_BASE);
  return NULL;
}

static inline uint64_t run_load(Run *r, uint64_t address, int bytes, bool *unknown) {
  uint8_t *flags, *at = run_memory(r, address, &flags);
  uint64_t value = 0;
  ck_assert_msg(at != NULL, "read at 0x%" G_GINT64_MODIFIER "x", address);
  memcpy(&value, at, (size_t)bytes);
  for (int i = 0; flags && i < bytes; i++)
    if (flags[i]) *unknown = true;
  return value;
}

static inline void run_store(Run *r, uint64_t address, int bytes, uint64_t value, bool unknown) {
  uint8_t *flags, *at = run_memory(r, address, &flags);
  ck_assert_msg(at != NULL, "write at 0x%" G_GINT64_MODIFIER "x", address);
  memcpy(at, &value, (size_t)bytes);
  if (flags) memset(flags, unknown, (size_t)bytes);
}

static inline uint64_t run_object(const Run *r, int32_t id) {
  const IrObject *object = &r->kernel->objects.items[id];
  if (object->space != IR_SPACE_SHARED) return object->address;
  uint64_t at = IR_SHARED_BASE;
  for (int i = 0; i < id; i++)
    if (r->kernel->objects.items[i].space == IR_SPACE_SHARED)
      at += (r->kernel->objects.items[i].bytes + 127) / 128 * 128;
  return at;
}

static inline uint64_t run_read(Run *r, const IrOperand *o, bool *unknown) {
  switch ((IrOperandKind)o->kind) {
  case IR_OPD_REG: {
    const IrReg *reg = &r->kernel->regs.items[o->id];
    uint64_t value;
    if (reg->cell) {
      value = run_load(r, reg->cell, reg->type.bytes, unknown);
    } else {
      value = r->regs[o->id];
      *unknown |= r->unknown[o->id];
    }
    return value + (uint64_t)o->value;
  }
  case IR_OPD_IMM: return (uint64_t)o->value;
  case IR_OPD_OBJECT: return run_object(r, o->id) + (uint64_t)o->value;
  case IR_OPD_SPECIAL: return 0;
  case IR_OPD_NONE:
  case IR_OPD_UNKNOWN:
  case IR_OPD_VECTOR:
  case IR_OPD_SINK: break;
  }
  *unknown = true;
  return 0;
}

static inline void run_write(Run *r, const IrOperand *o, uint64_t value, bool unknown) {
  if (o->kind != IR_OPD_REG) return;
  const IrReg *reg = &r->kernel->regs.items[o->id];
  if (reg->type.cls == IR_CLASS_PRED) value = value != 0;
  if (reg->cell) {
    run_store(r, reg->cell, reg->type.bytes, value, unknown);
  } else {
    r->regs[o->id] = value & run_mask(reg->type.bytes);
    r->unknown[o->id] = unknown;
  }
}

static inline bool run_compare(const IrInsn *insn, uint64_t a, uint64_t b) {
  int64_t sa = run_extend(a, insn->type), sb = run_extend(b, insn->type);
  bool less = insn->type.cls == IR_CLASS_SINT ? sa < sb : (uint64_t)sa < (uint64_t)sb;
  switch ((IrCompare)insn->sub) {
  case IR_CMP_eq: return sa == sb;
  case IR_CMP_ne: return sa != sb;
  case IR_CMP_lt: return less;
  case IR_CMP_le: return less || sa == sb;
  case IR_CMP_gt: return !less && sa != sb;
  case IR_CMP_ge: return !less;
  }
  return false;
}

/* Result of an op on values that are known. */
static inline uint64_t run_compute(const IrInsn *insn, const uint64_t *v) {
  IrType type = insn->type;
  bool is_signed = type.cls == IR_CLASS_SINT;
  int64_t a = run_extend(v[1], type), b = run_extend(v[2], type);
  switch ((int)insn->op) {
  case IR_mov:
  case IR_cvta: return v[1];
  case IR_cvt: return (uint64_t)run_extend(v[1], insn->type2);
  case IR_neg: return (uint64_t)-a;
  case IR_bnot: return type.cls == IR_CLASS_PRED ? !v[1] : ~v[1];
  case IR_abs: return (uint64_t)(a < 0 ? -a : a);
  case IR_popc: return (uint64_t)__builtin_popcountll((uint64_t)a & run_mask(type.bytes));
  case IR_ffs: return (uint64_t)__builtin_ffsll(a);
  case IR_clz:
    return (uint64_t)(__builtin_clzll((uint64_t)a & run_mask(type.bytes)) - (64 - 8 * type.bytes));
  case IR_add: return v[1] + v[2];
  case IR_sub: return v[1] - v[2];
  case IR_mul: return v[1] * v[2];
  case IR_mad: return v[1] * v[2] + v[3];
  case IR_div:
    ck_assert_msg(b != 0, "division by zero");
    return is_signed ? (uint64_t)(a / b) : (uint64_t)a / (uint64_t)b;
  case IR_rem:
    ck_assert_msg(b != 0, "division by zero");
    return is_signed ? (uint64_t)(a % b) : (uint64_t)a % (uint64_t)b;
  case IR_band: return v[1] & v[2];
  case IR_bor: return v[1] | v[2];
  case IR_bxor: return v[1] ^ v[2];
  case IR_shl: return v[2] >= 64 ? 0 : v[1] << v[2];
  case IR_shr:
    return is_signed ? (uint64_t)(a >> MIN(v[2], 63)) : v[2] >= 64 ? 0 : (uint64_t)a >> v[2];
  case IR_min: return is_signed ? (uint64_t)MIN(a, b) : MIN((uint64_t)a, (uint64_t)b);
  case IR_max: return is_signed ? (uint64_t)MAX(a, b) : MAX((uint64_t)a, (uint64_t)b);
  case IR_setp: return run_compare(insn, v[1], v[2]);
  case IR_select: return v[3] ? v[1] : v[2];
  case IR_isspacep:
    return (v[1] >= IR_SHARED_BASE && v[1] < IR_SHARED_END) == (insn->space == IR_SPACE_SHARED);
  default: ck_abort_msg("op %s is not run", ir_op_name((IrOp)insn->op));
  }
}

static inline void run_copy(Run *r, const IrInsn *insn) {
  bool unknown = false;
  uint64_t to = run_read(r, &insn->args[0], &unknown);
  uint64_t from = insn->op == IR_copy ? run_read(r, &insn->args[1], &unknown) : 0;
  uint64_t bytes = run_read(r, &insn->args[insn->op == IR_copy ? 2 : 1], &unknown);
  uint64_t fill = insn->op == IR_fill ? run_read(r, &insn->args[2], &unknown) : 0;
  ck_assert(!unknown);
  for (uint64_t i = 0; i < bytes; i++) {
    bool lost = false;
    uint64_t byte = insn->op == IR_copy ? run_load(r, from + i, 1, &lost) : fill;
    run_store(r, to + i, 1, byte, lost);
  }
}

static inline void run_insn(Run *r, const IrInsn *insn) {
  bool unknown = false;
  uint64_t values[8] = {0};
  if (insn->op == IR_event) {
    r->events++;
    return;
  }
  if (insn->op == IR_havoc || insn->op == IR_opaque) {
    for (int i = 0; i < (insn->op == IR_havoc ? insn->nargs : insn->sub); i++)
      run_write(r, &insn->args[i], 0, true);
    return;
  }
  if (insn->op == IR_copy || insn->op == IR_fill) {
    run_copy(r, insn);
    return;
  }
  for (int i = insn->op == IR_store || insn->op == IR_atom ? 0 : 1; i < insn->nargs && i < 8; i++)
    values[i] = run_read(r, &insn->args[i], &unknown);
  if (insn->op == IR_load) {
    ck_assert_msg(!unknown, "read through an unknown address");
    uint64_t value = run_load(r, values[1], insn->type.bytes, &unknown);
    run_write(r, &insn->args[0], value, unknown);
  } else if (insn->op == IR_store) {
    bool lost = false;
    run_read(r, &insn->args[1], &lost);
    run_store(r, values[0], insn->type.bytes, values[1], lost);
  } else if (insn->op != IR_nop) {
    run_write(r, &insn->args[0], unknown ? 0 : run_compute(insn, values), unknown);
  }
}

static inline void run_all(Run *r) {
  int at = 0;
  for (int steps = 0; at < r->kernel->insns.count; steps++) {
    ck_assert_msg(steps < RUN_STEPS, "the kernel does not end");
    const IrInsn *insn = &r->kernel->insns.items[at++];
    if (insn->guard >= 0) {
      bool unknown = false;
      IrOperand guard = ir_use(insn->guard);
      bool set = run_read(r, &guard, &unknown) != 0;
      ck_assert_msg(!unknown, "unknown guard at %d", at - 1);
      if (set == insn->guard_negated) continue;
    }
    if (insn->op == IR_exit) return;
    if (insn->op == IR_trap) {
      r->trapped = true;
      return;
    }
    if (insn->op == IR_branch)
      at = insn->target;
    else
      run_insn(r, insn);
  }
}

/* Lowers `text`, which defines `__global__ void k(int *out, int n)`, and runs it. Fails the test
 * when something was not lowered. */
static inline Run *run_kernel(const char *text, int n) {
  Run *r = g_new0(Run, 1);
  r->arena = kc_arena_new();
  r->violations.arena = r->arena;
  CudaOptions options = {.arch = "sm_90a", .text = text, .text_length = strlen(text)};
  r->program = cuda_load(r->arena, "kernel.cu", &options, &r->violations, NULL, &r->error);
  ck_assert_msg(r->program != NULL, "%s", r->error.message);
  ck_assert_int_ge(r->program->kernels.count, 1);
  r->kernel = r->program->kernels.items[0];
  for (int i = 0; i < r->kernel->notes.count; i++)
    ck_abort_msg("not lowered: %s", r->kernel->notes.items[i].text);
  ck_assert(ir_verify(r->program, &r->error));
  r->regs = g_new0(uint64_t, r->kernel->regs.count);
  r->unknown = g_new0(bool, r->kernel->regs.count);
  memset(r->local_unknown, 1, sizeof r->local_unknown);
  uint64_t pointer = IR_POINTER_BASE;
  memcpy(r->param + r->kernel->params.items[0].offset, &pointer, sizeof pointer);
  memcpy(r->param + r->kernel->params.items[1].offset, &n, sizeof n);
  run_all(r);
  return r;
}

static inline void run_free(Run *r) {
  kc_error_clear(&r->error);
  kc_arena_free(r->arena);
  g_free(r->regs);
  g_free(r->unknown);
  g_free(r);
}

/* What the kernel writes to out[0], out[1], ... when `body` is its body; `before` stands in front
 * of it. */
static inline void expect_out(const char *before, const char *body, int n, const int *expected,
                              int count) {
  g_autofree char *text =
      g_strdup_printf("%s\n__global__ void k(int *out, int n) {\n%s\n}\n", before, body);
  Run *r = run_kernel(text, n);
  for (int i = 0; i < count; i++)
    ck_assert_msg(r->out[i] == expected[i], "out[%d] is %d, expected %d in\n%s", i, r->out[i],
                  expected[i], text);
  run_free(r);
}

#define EXPECT(before, body, n, ...)                                                               \
  expect_out(before, body, n, (const int[]){__VA_ARGS__},                                          \
             (int)(sizeof((const int[]){__VA_ARGS__}) / sizeof(int)))

#endif
