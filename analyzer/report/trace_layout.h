/* Rows and time scale that the drawings of a trace share. */
#ifndef KC_REPORT_TRACE_LAYOUT_H
#define KC_REPORT_TRACE_LAYOUT_H

#include "report/trace.h"

typedef enum TraceRowKind { TRACE_ROW_STAGE, TRACE_ROW_BARRIER, TRACE_ROW_WARP } TraceRowKind;

typedef struct TraceRow {
  TraceRowKind kind;
  int cta, warp;      /* warp: rows of warps only */
  const char *object; /* other rows */
  int stage;
  char *label;
} TraceRow;

typedef struct TraceLayout {
  GArray *rows;  /* TraceRow, in drawing order */
  GArray *times; /* guint64: every begin and end, ascending, each once */
  double *at;    /* position of times[i], in units; the last is `width` */
  double width;
} TraceLayout;

/* Frees with trace_layout_free. Gaps in which nothing begins or ends are shortened. */
TraceLayout *trace_layout_new(const MachineResult *result);
void trace_layout_free(TraceLayout *layout);
/* Index of the row that shows `interval`, -1 when none does. */
int trace_row_of(const TraceLayout *layout, const MachineInterval *interval);
/* Position of a machine step, in units. */
double trace_position(const TraceLayout *layout, uint64_t step);

#endif
