/* The drawing of a trace: names of rows, and what happened in them. */
#ifndef KC_REPORT_TRACE_DRAW_H
#define KC_REPORT_TRACE_DRAW_H

#include "report/trace_layout.h"

enum { TRACE_NAMES = 124, TRACE_CHARACTER = 7 }; /* pixels: width of the names, of a character */

typedef struct TracePicture {
  const TraceInput *input;
  TraceSlice *slice;
  TraceLayout *layout;
  double unit;   /* pixels */
  int left, top; /* of the plot */
  int *row_top;  /* by row: y of its upper edge; one more for the end */
  double width;  /* of the plot, from `left` */
  bool keyboard; /* events can get the focus */
} TracePicture;

/* Lays everything out with the plot's corner at (left, top). */
TracePicture *trace_picture_new(const TraceInput *input, int left, int top, bool keyboard);
void trace_picture_free(TracePicture *picture);
/* Y of the lower edge. */
int trace_picture_bottom(const TracePicture *picture);
/* Appends the names of rows and groups, which take TRACE_NAMES pixels from x = 0; with `from` and
 * `to`, the lines that part groups reach from x to x. */
void trace_draw_names(const TracePicture *picture, GString *out);
void trace_draw_lines(const TracePicture *picture, double from, double to, GString *out);
void trace_draw_events(const TracePicture *picture, GString *out);
/* Rings, numbers, the missing edge, and a few words beside each. */
void trace_draw_fault(const TracePicture *picture, GString *out);
/* What is drawn, in a line at `y`; returns its width. */
double trace_draw_legend(const TracePicture *picture, int y, GString *out);
/* "asynchronous load of s.a[0], phase 1, warp 0 (gemm.cu:35), step 440" */
char *trace_detail(const TraceInput *input, const MachineInterval *interval);
void trace_append_escaped(GString *out, const char *text);
/* Calls `say` with the words of each place that the finding names besides its own: "line 47: the
 * loop of those who arrive". Where something is called, or expanded, is left out. */
void trace_each_place(const TraceInput *input, void (*say)(const char *words, void *user),
                      void *user);
/* " (gemm.cu:35)", or nothing. */
void trace_append_place(const TraceInput *input, uint32_t where, GString *out);

#endif
