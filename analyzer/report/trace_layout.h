/* Where things stand in a trace: rows, lanes within a row, and a time axis whose idle stretches are
 * short. */
#ifndef KC_REPORT_TRACE_LAYOUT_H
#define KC_REPORT_TRACE_LAYOUT_H

#include <glib.h>

#include "machine/machine.h"

typedef enum TraceGroup {                     /* in the order they are drawn */
                          TRACE_GROUP_STAGE,  /* what belongs to one stage of a ring: its data, then
                                                 its barriers */
                          TRACE_GROUP_SHARED, /* other places in shared memory */
                          TRACE_GROUP_WARP
} TraceGroup;

typedef struct TraceRow {
  TraceGroup group;
  int cta, stage, warp;
  bool barrier;
  const char *object;
  char *label;
  int last_warp; /* rows of warps that do the same are one */
  int lanes;     /* bars above each other, at least 1 */
} TraceRow;

typedef struct TraceLayout {
  GArray *rows;  /* TraceRow */
  int *row_of;   /* by interval: -1: not drawn */
  int *lane_of;  /* by interval */
  GArray *times; /* guint64: every time at which something begins or ends, ascending */
  double *at;    /* position of each, in units */
  double width;  /* units */
  bool many_ctas;
  int left_out; /* rows that there was no room for */
} TraceLayout;

TraceLayout *trace_layout_new(const MachineResult *result);
void trace_layout_free(TraceLayout *layout);
/* Position of a machine step on the time axis, in units. */
double trace_position(const TraceLayout *layout, uint64_t step);

#endif
