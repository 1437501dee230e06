/* What an engine (instruction table, budget, source, machine) observed. A rule (rules/) gives a
 * violation its severity, words and page; the engines know no rule and no file format. */
#ifndef KC_IR_VIOLATION_H
#define KC_IR_VIOLATION_H

#include "ir/ir.h"

typedef enum IrConfidence {
  IR_PROVED_FORCED, /* on inputs that a launch, an assume or the code itself forces, or no inputs */
  IR_PROVED_CHOSEN, /* on inputs the machine chose, where any size would do */
  IR_PROVED_DEGENERATE, /* seen only in a degenerate sample (0, 1, ragged): withheld unless guarded
                         */
  IR_INFERRED,          /* rests on something inferred (box bytes, pool size); at most warning */
  IR_FALLBACK           /* path-based, without a run: at most advice */
} IrConfidence;

typedef struct IrFact { /* a named value of a message template: {parity} */
  const char *name, *value;
} IrFact;

typedef struct IrRelated {
  uint32_t where;
  const char *message;
} IrRelated;

typedef struct IrViolation {
  const char
      *kind; /* kebab-case name; a rule's `detects` lists it (by default the rule's own id) */
  IrConfidence confidence;
  const IrKernel *kernel; /* or NULL: the file */
  uint32_t where;         /* source stack of the primary place */
  SourceRange caret;   /* narrower place inside it (the operand in the asm string); line 0: none */
  const char *message; /* factual sentence, used where the rule has no template of its own */
  const char *help;    /* what to do, specific to this place, or NULL: the rule's help */
  KC_VEC(IrFact) facts;
  KC_VEC(IrRelated) related;
  KC_VEC(IrFact) inputs;        /* inputs of the witness: K = 576, cluster = 2 */
  KC_VEC(const char *) witness; /* lines of the witness text */
  const char *assumed;          /* what it assumed, or NULL */
  SourceRange fix_range;        /* what `fix_text` replaces (empty: inserted there) */
  const char *fix_text;         /* or NULL: no mechanical fix */
  bool fix_safe;                /* keeps the meaning of every correct program */
} IrViolation;

typedef struct IrViolations {
  KcArena *arena;
  KC_VEC(IrViolation *) list;
} IrViolations;

/* Adds a violation; `message` is a printf format. Never returns NULL. */
IrViolation *ir_violation(IrViolations *violations, const char *kind, const IrKernel *kernel,
                          uint32_t where, const char *message, ...)
    __attribute__((format(printf, 5, 6)));
void ir_violation_fact(IrViolations *violations, IrViolation *v, const char *name,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));
void ir_violation_related(IrViolations *violations, IrViolation *v, uint32_t where,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));
void ir_violation_input(IrViolations *violations, IrViolation *v, const char *name,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
void ir_violation_witness(IrViolations *violations, IrViolation *v, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Replacing `range` by `text` mends it; `safe` when that can't change a correct program. */
void ir_violation_fix(IrViolations *violations, IrViolation *v, SourceRange range, const char *text,
                      bool safe);

#endif
