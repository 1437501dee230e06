#include "ir/violation.h"

IrViolation *ir_violation(IrViolations *violations, const char *kind, const IrKernel *kernel,
                          uint32_t where, const char *message, ...) {
  IrViolation *v = KC_NEW(violations->arena, IrViolation);
  v->kind = kind;
  v->kernel = kernel;
  v->where = where;
  va_list args;
  va_start(args, message);
  v->message = kc_vprintf(violations->arena, message, args);
  va_end(args);
  KC_PUSH(violations->arena, violations->list, v);
  return v;
}

void ir_violation_fact(IrViolations *violations, IrViolation *v, const char *name,
                       const char *format, ...) {
  va_list args;
  va_start(args, format);
  IrFact fact = {name, kc_vprintf(violations->arena, format, args)};
  va_end(args);
  KC_PUSH(violations->arena, v->facts, fact);
}

void ir_violation_related(IrViolations *violations, IrViolation *v, uint32_t where,
                          const char *format, ...) {
  va_list args;
  va_start(args, format);
  IrRelated related = {where, kc_vprintf(violations->arena, format, args)};
  va_end(args);
  KC_PUSH(violations->arena, v->related, related);
}

void ir_violation_input(IrViolations *violations, IrViolation *v, const char *name,
                        const char *format, ...) {
  va_list args;
  va_start(args, format);
  IrFact fact = {name, kc_vprintf(violations->arena, format, args)};
  va_end(args);
  KC_PUSH(violations->arena, v->inputs, fact);
}

void ir_violation_witness(IrViolations *violations, IrViolation *v, const char *format, ...) {
  va_list args;
  va_start(args, format);
  const char *line = kc_vprintf(violations->arena, format, args);
  va_end(args);
  KC_PUSH(violations->arena, v->witness, line);
}

void ir_violation_fix(IrViolations *violations, IrViolation *v, SourceRange range, const char *text,
                      bool safe) {
  v->fix_range = range;
  v->fix_text = kc_strdup(violations->arena, text);
  v->fix_safe = safe;
}
