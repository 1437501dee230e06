/* Which events a trace shows: those that have part in the fault. */
#ifndef KC_REPORT_TRACE_SLICE_H
#define KC_REPORT_TRACE_SLICE_H

#include "report/trace.h"

typedef struct TraceSlice {
  int first, second; /* intervals of the two accesses of a race; -1: none */
  int here;          /* the interval to point at; -1: none */
  bool *shown;       /* by interval */
  char *note;        /* "shown: stage 2 of 4, up to the fault", or NULL: everything is */
} TraceSlice;

TraceSlice *trace_slice_new(const TraceInput *input);
void trace_slice_free(TraceSlice *slice);
/* Whether an interval is one of the three that are pointed at, or a wait that never ends. */
bool trace_slice_is_fault(const TraceSlice *slice, const TraceInput *input, int interval);

#endif
