/* report: a run's results in one format a file. Knows findings and files, not CUDA. */
#ifndef KC_REPORT_REPORT_H
#define KC_REPORT_REPORT_H

#include <glib.h>
#include <jansson.h>

#include "rules/rules.h"

typedef struct ReportKernel {
  char *name, *instantiation, *status; /* "checked" | "partial" | "skipped" */
  GPtrArray *not_checked;              /* char* */
} ReportKernel;

typedef struct ReportFile {
  char *path, *status; /* "checked" | "partial" | "failed" */
  GPtrArray *archs;    /* char* */
  GPtrArray *kernels;  /* ReportKernel* */
  GPtrArray *errors;   /* char*: "kernel.cu:3:1: error: ..." printed on stderr, exit status 2 */
  int exit_status;     /* 0, 1, 2 of this file alone */
  bool toolkit_headers;
  bool default_arch;  /* nobody named a target: `archs` is the default, and the summary says so */
  char *arch_because; /* the instruction that `archs` was guessed from, or NULL */
  int64_t time_us;
  json_t *timing; /* stage -> microseconds, or NULL */
} ReportFile;

typedef struct Report {
  GPtrArray *files;    /* ReportFile* */
  GPtrArray *findings; /* Finding*, sorted */
} Report;

typedef struct ReportOptions {
  bool color, quiet, verbose, statistics, timing;
  int columns; /* of the screen that text is for; 0: not known, long lines stay whole */
  const char *docs_base;
} ReportOptions;

/* An empty report; report_free frees its files (report_file_free) and findings with it. */
Report *report_new(void);
void report_free(Report *report);
ReportKernel *report_kernel_new(const char *name, const char *instantiation, const char *status);
void report_kernel_free(ReportKernel *kernel);
ReportFile *report_file_new(const char *path, const char *status);
void report_file_free(ReportFile *file);
/* The worker sends its file's part as JSON; the parent reads it back: report_from_json adds what
 * `json` holds to `into`, or fails at the first field that is missing or of the wrong type. */
json_t *report_to_json(const Report *report);
bool report_from_json(Report *into, const json_t *json, KcError *error);

/* Writes `report` in the format called `name` (text, gcc, json, sarif, lsp, github, gitlab, junit,
 * agent) to `out`; false when there is no such format. */
bool report_write(const Report *report, const char *name, const ReportOptions *options,
                  GString *out);
/* NULL-terminated names of all formats. */
const char *const *report_formats(void);

#endif
