/* Where things stand in a trace: rows, lanes within a row, and a time axis whose idle stretches are
 * short. */
#ifndef KC_REPORT_TRACE_LAYOUT_H
#define KC_REPORT_TRACE_LAYOUT_H

#include <glib.h>

#include "report/trace_slice.h"

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
  int remarks;   /* lines above the bars for what is said of the fault */
  bool fault;    /* holds something that is pointed at */
} TraceRow;

typedef struct TraceLayout {
  GArray *rows;  /* TraceRow */
  int *row_of;   /* by interval: -1: not drawn */
  int *lane_of;  /* by interval */
  GArray *times; /* guint64: every time at which something begins or ends, ascending */
  double *at;    /* position of each, in units */
  double width;  /* units */
  bool many_ctas;
  int remark_of[3]; /* line in its row of what is said of first, second, here */
  int left_out;     /* rows that there was no room for */
} TraceLayout;

/* `slice` must live as long as the layout. */
TraceLayout *trace_layout_new(const TraceInput *input, const TraceSlice *slice);
void trace_layout_free(TraceLayout *layout);
/* Position of a machine step on the time axis, in units. */
double trace_position(const TraceLayout *layout, uint64_t step);

#endif
