/* isa: which PTX instruction forms exist, as data (knowledge/isa, one file an opcode).
 *
 * A file lists the forms of one opcode in a notation close to the syntax boxes of the PTX ISA
 * (knowledge/isa/README.md). A family that says `complete: true` is listed completely: an
 * instruction of that opcode that fits no form does not exist. Outside complete families the table
 * is open: what it does not list is not checked. Files are read when the first instruction of their
 * opcode is met.
 */
#ifndef KC_ISA_ISA_H
#define KC_ISA_ISA_H

#include <stdbool.h>
#include <stdint.h>

/* ---- an instruction to be judged, without PTX spelling ---- */

typedef enum IsaArgKind {
  ISA_ARG_UNKNOWN, /* could be anything: never a mismatch */
  ISA_ARG_REGISTER,
  ISA_ARG_PREDICATE,
  ISA_ARG_IMMEDIATE,
  ISA_ARG_FLOAT, /* float literal */
  ISA_ARG_SPECIAL,
  ISA_ARG_SYMBOL,
  ISA_ARG_SINK,
  ISA_ARG_ADDRESS, /* list[0]: base; then what follows the comma inside the brackets */
  ISA_ARG_VECTOR,
  ISA_ARG_PAIR
} IsaArgKind;

typedef struct IsaArg {
  IsaArgKind kind;
  int bits; /* register width; 0: unknown */
  char cls; /* 'b', 'u', 's', 'f', or 0: unknown */
  bool negated;
  int64_t value; /* immediates; offset of an address */
  double real;   /* float literals */
  const struct IsaArg *list;
  int count;
} IsaArg;

/* ---- the table ---- */

typedef struct IsaSlot { /* one position of a mnemonic behind its name */
  const char *const *choices;
  int nchoices;
  int group;  /* slots of one optional group are all present or all absent; 0: required */
  char order; /* 's' state spaces, 't' types, 'l' layouts keep their order; 0: anywhere */
} IsaSlot;

enum {
  ISA_ACCEPT_REGISTER = 1,
  ISA_ACCEPT_IMMEDIATE = 2,
  ISA_ACCEPT_PREDICATE = 4,
  ISA_ACCEPT_NEGATION = 8,
  ISA_ACCEPT_SINK = 16,
  ISA_ACCEPT_FLOAT = 32
};

typedef enum IsaOperandKind { ISA_PLAIN, ISA_ADDRESS, ISA_VECTOR, ISA_PAIR } IsaOperandKind;

typedef struct IsaOperand {
  IsaOperandKind kind;
  const char *role;  /* of the event; "-" when the event has no use for it */
  int accepts;       /* ISA_ACCEPT_... */
  int widths;        /* bit mask of register widths in bits (8 | 16 | 32 | 64 | 128); 0: any */
  bool any_class;    /* registers declared as float are welcome too */
  const char *range; /* of immediates: "0..15", "32..512/32", "4|8|16", "0..size", "size..9"; of
                        float literals "0..1" leaves out 0; NULL: any */
  const char *count; /* vectors: "4", "n/2", "num*2"; NULL: any */
  bool any;          /* written `role:*`: not judged */
  bool bare;         /* addresses: brackets may be missing */
  int bare_widths;   /* then the register has this width; 0: any */
  bool optional;
  const char *when;              /* present exactly when the modifier is; NULL: always */
  const struct IsaOperand *list; /* address: what follows; pair: both; vector: its elements, or NULL
                                    when all are like the operand */
  int nlist;
} IsaOperand;

typedef struct IsaForm {
  const char *text;        /* notation of the table */
  const char *const *name; /* "mbarrier", "arrive", "expect_tx" */
  int nname;
  const IsaSlot *slots;
  int nslots;
  const IsaOperand *operands;
  int noperands;
  const char *event;          /* IR event, or NULL: no event, or nothing but data */
  const char *const *flags;   /* IR flags of the form itself, NULL-terminated */
  const char *violation;      /* kind reported when an instruction nearly fits */
  const char *const *targets; /* "90+", "90a", "100f"; NULL-terminated; empty: all */
  int ptx;                    /* PTX version times 10 (80: 8.0); 0: any */
  bool complete;              /* an instruction of this name that fits no form does not exist */
  const char *const
      *claims; /* complete only when the call has one of these modifiers; empty: always */
  const char *advise_when; /* a modifier that is a poor choice outside `advise_targets` */
  const char *const *advise_targets;
  const char *advise_violation;
  int line; /* in the file of the table */
} IsaForm;

typedef struct IsaFamily {
  const char *opcode;
  bool complete;
  const char *section; /* of the PTX ISA */
  const char *violation;
  const char *instead; /* for an opcode that no PTX version has: what is meant by it; or NULL */
  const IsaForm *forms;
  int nforms;
} IsaFamily;

/* The forms of `opcode`, or NULL when the table has none. Thread-safe; valid until exit. */
const IsaFamily *isa_family(const char *opcode);
/* Whether `opcode` only computes on data (fma, ex2, mma): no effect on control or protocol. */
bool isa_is_data(const char *opcode);
/* Visits every family of the table (tests). */
void isa_each(void (*visit)(const IsaFamily *family, void *user), void *user);
/* The IR flag that a modifier stands for in events of its own accord ("noComplete" ->
 * "no_complete"), or NULL. */
const char *isa_modifier_flag(const char *modifier);

/* ---- judging ---- */

typedef enum IsaFault {
  ISA_FITS,
  ISA_NO_SUCH_NAME,     /* no form has this name */
  ISA_UNKNOWN_MODIFIER, /* no form of the family has this modifier (here) */
  ISA_MISSING_MODIFIER,
  ISA_OPERAND_COUNT,
  ISA_OPERAND_KIND,
  ISA_OPERAND_WIDTH,
  ISA_OPERAND_RANGE,
  ISA_VECTOR_LENGTH,
  ISA_TARGET_SUFFIX, /* needs an a or f target of this very GPU */
  ISA_TARGET         /* not on this GPU at all */
} IsaFault;

typedef struct IsaVerdict {
  IsaFault fault;
  const IsaForm *form; /* that fits, or the nearest one; NULL when the name is unknown */
  int modifier;        /* index at fault, else -1 */
  int operand;         /* index at fault, else -1 */
  char message[320];   /* what is wrong, as a sentence without full stop */
} IsaVerdict;

typedef struct IsaCall {
  const char *const *modifiers; /* a modifier with '%' in it is unknown and fits everywhere */
  int nmodifiers;
  const IsaArg *args;
  int nargs;
} IsaCall;

/* Whether the table has an opinion on `call` at all: cheap, for the many plain ld, st and cvt. */
bool isa_concerns(const IsaFamily *family, const IsaCall *call);
/* Judges `call` against the forms of its family, and the form that fits against the target
 * ("sm_90a"; NULL or unknown: not judged). */
IsaVerdict isa_judge(const IsaFamily *family, const IsaCall *call, const char *target);
/* The operand of a form that each argument of a fitting call stands for, into `operands` (as many
 * as call->nargs). */
bool isa_bind(const IsaForm *form, const IsaCall *call, const IsaOperand **operands);
/* Whether instructions restricted to `targets` exist on `target`. *suffix says that a target of the
 * same GPU with an a or f suffix would do. */
bool isa_target_allows(const char *const *targets, const char *target, bool *suffix);
/* Whether a call that comes nearest to `form` must be one of the family's forms. */
bool isa_claims(const IsaForm *form, const IsaCall *call);
/* The name in the family nearest to that of a call whose name it does not have, or NULL. The text
 * is in `out`. */
const char *isa_nearest_name(const IsaFamily *family, const IsaCall *call, char *out, int size);
/* A form as the PTX ISA would print it, into `out`. */
void isa_print_form(const IsaForm *form, char *out, int size);

#endif
