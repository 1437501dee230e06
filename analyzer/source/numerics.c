/* A block scale that is rounded to a power of two (UE8M0) when it is stored, while the values were
 * divided by the exact one: everything that is multiplied with the stored scale comes out too large
 * by up to a factor of two (OCP Microscaling Formats 1.0, 5.3: the elements are quantised with the
 * scale that is stored).
 *
 * By the data flow of the code alone. The exact scale is a floating-point value whose exponent is
 * taken out of its bits (shifted right by 23), or converted by cvt to ue8m0, on the way to a store;
 * it divides or multiplies values that are converted to a narrow type. What is built again from the
 * exponent is another value, so that code which divides by that one is not meant. */
#include <string.h>

#include "ptx/ptx.h"
#include "source/internal.h"

enum { MANTISSA = 23 };

typedef struct Flow { /* registers computed from one value */
  const IrKernel *kernel;
  uint8_t *regs;
  bool changed;
} Flow;

static bool reads(const Flow *f, const IrInsn *insn, int from) {
  for (int a = from; a < insn->nargs; a++)
    if (insn->args[a].kind == IR_OPD_REG && f->regs[insn->args[a].id]) return true;
  return false;
}

static void add(Flow *f, const IrOperand *dst) {
  if (dst->kind != IR_OPD_REG || f->regs[dst->id]) return;
  f->regs[dst->id] = 1;
  f->changed = true;
}

static int results(const IrInsn *insn) {
  if (insn->op == IR_opaque) return insn->sub ? insn->sub : 1;
  return insn->op == IR_store || insn->op == IR_event || insn->op == IR_branch ? 0 : 1;
}

static bool is_float(const IrInsn *insn) {
  return insn->type.cls == IR_CLASS_FLOAT && insn->type.bytes == 4;
}

/* Arithmetic and moves of 32-bit floating point; what goes through its bits is another value. */
static bool stays_float(const IrInsn *insn) {
  if (!is_float(insn) || insn->op == IR_load || insn->op == IR_event) return false;
  return insn->op != IR_opaque || !insn->text || strcmp(insn->text, "cvt") != 0;
}

static bool stays_integer(const IrInsn *insn) {
  return insn->type.cls != IR_CLASS_FLOAT && insn->op != IR_load && insn->op != IR_event &&
         insn->op != IR_opaque;
}

static void follow(Flow *f, bool (*passes)(const IrInsn *insn)) {
  do {
    f->changed = false;
    for (int i = 0; i < f->kernel->insns.count; i++) {
      const IrInsn *insn = &f->kernel->insns.items[i];
      int dsts = results(insn);
      if (!dsts || !passes(insn) || !reads(f, insn, dsts)) continue;
      for (int d = 0; d < dsts && d < insn->nargs; d++)
        add(f, &insn->args[d]);
    }
  } while (f->changed);
}

/* ---- conversions ---- */

static bool asm_converts(const IrKernel *kernel, const IrInsn *insn, const char *const *types) {
  if (insn->op != IR_opaque || !insn->text || strcmp(insn->text, "cvt") != 0) return false;
  for (int i = 0; i < kernel->asms.count; i++) {
    const IrAsm *text = &kernel->asms.items[i];
    for (int n = 0; text->where == insn->where && n < text->ninsns; n++)
      for (int m = 0; m < text->insns[n].nmodifiers; m++)
        for (const char *const *type = types; *type; type++)
          if (strcmp(text->insns[n].modifiers[m], *type) == 0) return true;
  }
  return false;
}

static bool to_ue8m0(const IrKernel *kernel, const IrInsn *insn) {
  static const char *const types[] = {"ue8m0x2", NULL};
  return asm_converts(kernel, insn, types);
}

/* By asm, or by a constructor or intrinsic of the library, whose result of one or two bytes nobody
 * knows: it stands where its argument was computed. */
static bool to_narrow(const IrKernel *kernel, const Flow *values, int at) {
  static const char *const types[] = {"e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2", NULL};
  const IrInsn *insn = &kernel->insns.items[at];
  if (asm_converts(kernel, insn, types)) return reads(values, insn, results(insn));
  if (insn->op != IR_havoc || insn->type.bytes > 2 || insn->nargs != 1 || at == 0) return false;
  const IrInsn *before = insn - 1;
  return results(before) && before->args[0].kind == IR_OPD_REG && values->regs[before->args[0].id];
}

/* ---- the scale ---- */

static bool stores(const Flow *f) {
  for (int i = 0; i < f->kernel->insns.count; i++) {
    const IrInsn *insn = &f->kernel->insns.items[i];
    if (insn->op == IR_store && insn->space != IR_SPACE_LOCAL && reads(f, insn, 1)) return true;
  }
  return false;
}

static bool takes_exponent(const IrKernel *kernel, const IrInsn *insn) {
  bool shifts = insn->op == IR_shr && insn->nargs == 3 && insn->args[2].kind == IR_OPD_IMM &&
                insn->args[2].value == MANTISSA;
  return shifts || to_ue8m0(kernel, insn);
}

/* The instruction that rounds `scale` to its exponent on the way to a store; NULL: none. */
static const IrInsn *rounded_by(const IrKernel *kernel, int32_t scale) {
  g_autofree uint8_t *bits = g_new0(uint8_t, (gsize)kernel->regs.count + 1);
  Flow same = {.kernel = kernel, .regs = bits};
  bits[scale] = 1;
  do { /* moves only: the value itself, as a number and as bits */
    same.changed = false;
    for (int i = 0; i < kernel->insns.count; i++) {
      const IrInsn *insn = &kernel->insns.items[i];
      if (insn->op == IR_mov && insn->nargs == 2 && reads(&same, insn, 1))
        add(&same, &insn->args[0]);
    }
  } while (same.changed);
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (!takes_exponent(kernel, insn) || !reads(&same, insn, results(insn)) ||
        insn->args[0].kind != IR_OPD_REG)
      continue;
    g_autofree uint8_t *codes = g_new0(uint8_t, (gsize)kernel->regs.count + 1);
    Flow code = {.kernel = kernel, .regs = codes};
    codes[insn->args[0].id] = 1;
    follow(&code, stays_integer);
    if (stores(&code)) return insn;
  }
  return NULL;
}

/* The first arithmetic on the exact scale whose result goes into values of a narrow type. */
static const IrInsn *used_exactly(const IrKernel *kernel, int32_t scale) {
  g_autofree uint8_t *regs = g_new0(uint8_t, (gsize)kernel->regs.count + 1);
  Flow values = {.kernel = kernel, .regs = regs};
  regs[scale] = 1;
  const IrInsn *first = NULL;
  for (int i = 0; i < kernel->insns.count && !first; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    if (insn->op != IR_mov && stays_float(insn) && reads(&values, insn, results(insn)))
      first = insn;
  }
  if (!first) return NULL;
  follow(&values, stays_float);
  regs[scale] = 0; /* the scale itself may be converted: that is how it is stored */
  for (int i = 0; i < kernel->insns.count; i++)
    if (to_narrow(kernel, &values, i)) return first;
  return NULL;
}

void source_check_numerics(SourceCheck *check, const IrKernel *kernel) {
  bool rounds_any = false;
  for (int i = 0; i < kernel->insns.count && !rounds_any; i++)
    rounds_any = takes_exponent(kernel, &kernel->insns.items[i]);
  if (!rounds_any) return;
  for (int i = 0; i < kernel->insns.count; i++) {
    const IrInsn *insn = &kernel->insns.items[i];
    bool copy = insn->op == IR_mov && insn->args[1].kind != IR_OPD_UNKNOWN;
    if (copy || insn->nargs < 2 || !stays_float(insn) || insn->args[0].kind != IR_OPD_REG) continue;
    int32_t scale = insn->args[0].id;
    const IrInsn *rounds = rounded_by(kernel, scale);
    const IrInsn *uses = rounds ? used_exactly(kernel, scale) : NULL;
    if (!uses) continue;
    const char *name = kernel->regs.items[scale].name;
    IrViolation *v = source_once(check, "numerics-scale-rounded-late", kernel, uses->where,
                                 "values are quantised with %s as it is, but stored beside them is "
                                 "its exponent alone, rounded "
                                 "to a power of two",
                                 name ? name : "a scale");
    if (!v) return;
    v->confidence = IR_INFERRED;
    ir_violation_related(check->violations, v, rounds->where, "the stored scale is rounded here");
    return;
  }
}
