/* Where a finding stands: an instruction's stack of positions (wrapper, caller, kernel) becomes one
 * primary place and the related lines around it. */
#ifndef KC_RULES_PLACE_H
#define KC_RULES_PLACE_H

#include "ir/violation.h"
#include "rules/rules.h"

typedef struct Places Places;

/* Looks over all stacks and events of `program` once, to know which functions are small wrappers
 * (one event line, a few lines long): a use of one is reported at its call. */
Places *places_new(const IrProgram *program);
void places_free(Places *places);

/* Fills path, line, column, source and related of `finding` from `violation`: the caret when the
 * fault is an operand or modifier, else the call of a wrapper, else the innermost user line. */
void place_finding(const Places *places, const IrViolation *violation, Finding *finding);
/* The same for a range of one file. */
void place_finding_at(const Places *places, SourceRange range, Finding *finding);
/* Path and text of a range's first line; both owned by the caller. */
char *place_path(const Places *places, SourceRange range);
char *place_source(const Places *places, SourceRange range);

#endif
