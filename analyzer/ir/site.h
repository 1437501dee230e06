/* Where a person would look for an instruction: not inside the small wrapper that holds it. */
#ifndef KC_IR_SITE_H
#define KC_IR_SITE_H

#include "ir/ir.h"

typedef struct IrSites IrSites;

/* Looks over all stacks and events of `program` once, to know which functions are small wrappers
 * (one event line, a few lines long). Free with ir_sites_free; NULL is allowed there. */
IrSites *ir_sites_new(const IrProgram *program);
void ir_sites_free(IrSites *sites);
/* The frame of a source stack that a person would look at: out of library code, then out of small
 * wrappers to where they are called. */
uint32_t ir_site(const IrSites *sites, uint32_t stack);
/* The same for a place in words about a run: ordinary accesses stay in the function that makes
 * them, so that two of them are told apart. */
uint32_t ir_event_site(const IrSites *sites, uint32_t stack);
/* The next frame of the user's outside `stack`, or 0. */
uint32_t ir_site_caller(const IrSites *sites, uint32_t stack);

#endif
