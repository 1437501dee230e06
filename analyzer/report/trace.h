/* The pipeline as the machine saw it, for `kcheck trace`: rows are stages, barriers and warps, time
 * runs to the right. One self-contained SVG, or an HTML page around it; readable in grey. */
#ifndef KC_REPORT_TRACE_H
#define KC_REPORT_TRACE_H

#include <glib.h>

#include "ir/site.h"
#include "ir/violation.h"
#include "machine/machine.h"
#include "rules/rules.h"

typedef struct TraceInput {
  const IrProgram *program;
  const IrSites *sites; /* of the program */
  const IrKernel *kernel;
  const MachineResult *result;
  const IrViolation *fault; /* ringed; its witness is told; NULL: a clean run */
  const Finding *finding;   /* of a run, told; without `fault`, the run only suffers from it */
  const char *changed;      /* "STAGES = 2 (4 in the source)", or NULL: the source as it is */
  bool all;                 /* draw what has no part in the fault as well */
} TraceInput;

/* Appends an <svg> element (XML, UTF-8) with the sentence, the witness and the legend in it. */
void trace_svg(const TraceInput *input, GString *out);
/* Appends a whole HTML document: sentence and witness above, the drawing with names that stay
 * while it is panned, and the detail of the event under the mouse or the keyboard's focus. */
void trace_html(const TraceInput *input, GString *out);
/* Appends the sentence and the rows as text, `columns` wide, for a terminal. */
void trace_text(const TraceInput *input, int columns, GString *out);

#endif
