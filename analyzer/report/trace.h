/* The pipeline as the machine saw it, for `kcheck trace`: rows are stages, barriers and warps, time
 * runs to the right. One self-contained SVG, or HTML around it; readable in grey. */
#ifndef KC_REPORT_TRACE_H
#define KC_REPORT_TRACE_H

#include <glib.h>

#include "ir/violation.h"
#include "machine/machine.h"

typedef struct TraceInput {
  const IrProgram *program;
  const IrKernel *kernel;
  const MachineResult *result;
  const IrViolation *fault; /* ringed, its sentence beside it; NULL: a clean run */
} TraceInput;

/* Appends an <svg> element (XML, UTF-8). */
void trace_svg(const TraceInput *input, GString *out);
/* Appends a whole HTML document with the drawing, the fault and the witness. */
void trace_html(const TraceInput *input, GString *out);
/* Appends the rows as text, `columns` wide, for a terminal. */
void trace_text(const TraceInput *input, int columns, GString *out);

#endif
