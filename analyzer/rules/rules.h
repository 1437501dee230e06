/* rules: the registry of rules (rules/<family>/<id>.yaml) and what turns violations into findings:
 * severity, words, page, suppression, baseline. */
#ifndef KC_RULES_RULES_H
#define KC_RULES_RULES_H

#include <glib.h>

#include "ir/directive.h"
#include "ir/violation.h"
#include "machine/machine.h"
#include "support/error.h"

typedef enum Severity { SEVERITY_OFF, SEVERITY_ADVICE, SEVERITY_WARNING, SEVERITY_ERROR } Severity;

typedef struct Rule {
  char *id, *family, *summary;
  Severity severity;
  MachineEffect effect; /* on a run: "data", "hang" or "none" */
  char **aliases;       /* NULL-terminated */
  char **detects;       /* violation kinds; the id itself when the file names none */
  char **archs;
  char *engine; /* instruction | budget | source | machine */
  char *trigger, *consequence, *message, *help, *page, *anchor, *fix, *fix_safety, *since;
  char **not_when;   /* what must not trigger it */
  char *one_dialect; /* why its bad fixtures are in one dialect, or NULL */
  char **evidence;   /* "PTX ISA 9.7.13.15.6", "H200, driver ..." */
  char **tools;      /* "ptxas: silent" */
  char *bad, *good;  /* examples, source text */
  char *path;        /* file it came from */
} Rule;

typedef struct Rules Rules;

/* Loads every rule; NULL with file and line of the first that is wrong. */
Rules *rules_load(KcError *error);
void rules_free(Rules *rules);
const GPtrArray *rules_all(const Rules *rules); /* of Rule*, by family then id */
/* By id or alias; NULL with a suggestion in `error`. */
const Rule *rules_find(const Rules *rules, const char *id, KcError *error);
const Rule *rules_detecting(const Rules *rules, const char *violation_kind);
/* The effect that the rule of a violation kind names; MACHINE_EFFECT_DATA when there is no rule. */
MachineEffect rules_effect(const Rules *rules, const char *violation_kind);
/* Whether a rule belongs to the family `name` ("mbarrier"). */
bool rules_is_family(const Rules *rules, const char *name);

typedef struct FindingRelated {
  char *path;
  int line, column, end_line, end_column;
  char *message;
  char *source; /* text of `line` as it was analysed, or NULL */
} FindingRelated;

/* A finding outlives the translation unit: everything is owned by it (finding_free). */
typedef struct Finding {
  char *rule;
  Severity severity;
  char *confidence; /* "proved" | "inferred" */
  char *file;       /* the file that was checked; `path` is another when it stands in a header */
  char *path;
  int line, column, end_line, end_column; /* 1-based; columns in UTF-8 bytes; end exclusive */
  char *kernel;                           /* instantiation, or NULL */
  GPtrArray *archs;                       /* char*; one or, when merged, several */
  char *source;                           /* text of `line` as it was analysed, or NULL */
  char *message, *help, *page, *anchor, *url;
  GPtrArray *related;       /* FindingRelated* */
  GPtrArray *witness_names; /* char*: inputs */
  GPtrArray *witness_values;
  char *witness_text; /* lines joined with \n, or NULL */
  char *fix_text;     /* replacement for [fix range), or NULL */
  int fix_line, fix_column, fix_end_line, fix_end_column;
  bool fix_safe;
} Finding;

void finding_free(Finding *finding);

typedef struct RulesOptions {
  const char *const *select; /* RULE or FAMILY; NULL-terminated; NULL: all but what is off */
  const char *const *ignore;
  const char *const *severity; /* "RULE=level" */
  const char *docs_base;       /* base of `url`, or NULL */
  const char *arch;
  bool incomplete; /* something was not checked: unused suppressions are not reported */
} RulesOptions;

/* Whether every name in select, ignore and severity is a rule, an alias or a family, and every
 * level one; else fails with a suggestion. For the option parser: rules_apply takes what it gets.
 */
bool rules_check_options(const Rules *rules, const RulesOptions *options, KcError *error);

/* Turns violations into findings (deduplicated by rule and place, suppressions applied, unused
 * suppressions and unreadable directives reported), sorted by path, line, column, rule. */
GPtrArray *rules_apply(const Rules *rules, const IrProgram *program, const IrViolations *violations,
                       const RulesOptions *options);
/* Merges the findings of several targets: the same finding (rule and line) on several is kept once,
 * as severe as the most severe, with the list of targets; sorted. Takes `findings` over. */
GPtrArray *rules_merge(GPtrArray *findings);
/* After rules_merge: a suppression is unused only when it is so on all `targets` targets; drops the
 * kcheck-unused-ignore findings that are not. */
void rules_drop_partly_unused(GPtrArray *findings, guint targets);

/* "error", "warning", "advice", "off". */
const char *severity_name(Severity severity);
bool severity_from_name(const char *name, Severity *severity);

#endif
