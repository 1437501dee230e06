/* dialect: library calls whose bodies are not visible, matched by qualified name to IR events. The
 * tables are knowledge/dialects/<name>.yaml; a project can add its own (`dialects` in .kcheck.yaml,
 * `// kcheck: event(...)`). Used by cuda/ only where a call has no body to lower. */
#ifndef KC_DIALECT_DIALECT_H
#define KC_DIALECT_DIALECT_H

#include "ir/directive.h"
#include "ir/ir.h"
#include "support/error.h"

/* One event that a call stands for. `arguments[i].key` is the role name, `value` what it comes
 * from: "1" = first call argument, "this" = the object, "this.name" a member of it, "#128" a
 * constant, "T0" first template argument, "sizeof(2)" bytes that argument 2 points to. */
typedef struct DialectEvent {
  IrEvent event;
  uint64_t flags;
  IrShape shape;
  KC_VEC(IrPair) arguments;
} DialectEvent;

typedef struct DialectMatch {
  const char *dialect; /* "cutlass" */
  const char *pattern;
  KC_VEC(DialectEvent) events; /* in order; none: the call is known to be harmless */
  const char *result;          /* role whose value is the call's result, "unknown", or NULL */
} DialectMatch;

typedef struct Dialects Dialects;

/* Loads the built-in tables. NULL with `error` naming file and line when one is wrong. */
Dialects *dialects_load(KcError *error);
bool dialects_add_file(Dialects *dialects, const char *path, KcError *error);
bool dialects_add_directive(Dialects *dialects, const IrEventDirective *directive, KcError *error);
void dialects_free(Dialects *dialects);
/* The match for a call of `qualified_name` ("cutlass::arch::ClusterBarrier::wait") with `nargs`
 * arguments, or NULL. Falls back to the bare spelling when the name is unresolved. */
const DialectMatch *dialects_match(const Dialects *dialects, const char *qualified_name, int nargs);

#endif
