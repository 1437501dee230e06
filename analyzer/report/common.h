/* What several formats share: counts, words, positions in other units, paths as URIs. */
#ifndef KC_REPORT_COMMON_H
#define KC_REPORT_COMMON_H

#include "report/report.h"

/* The formats; each appends its whole output. */
typedef void ReportWriter(const Report *report, const ReportOptions *options, GString *out);
ReportWriter report_text, report_gcc, report_json, report_sarif, report_lsp, report_github,
    report_gitlab, report_junit, report_agent;

typedef struct ReportCounts {
  int errors, warnings, advice;
  int checked, partial, skipped; /* kernels */
} ReportCounts;

/* Counts the findings and kernels of `file`, or of the whole report when it is NULL. */
ReportCounts report_count(const Report *report, const ReportFile *file);

/* "1 error", "2 errors". `plural` NULL: the word with an s. */
char *report_counted(int count, const char *word, const char *plural);
/* "sm_90a", "sm_90a and sm_100a", "a, b and c". */
char *report_listed(const GPtrArray *words);

/* The 0-based offset of a 1-based UTF-8 byte column in `source`, counted in UTF-16 code units or in
 * code points. Without a source (NULL) every byte counts as one. */
int report_utf16_offset(const char *source, int column);
int report_codepoint_offset(const char *source, int column);

/* file:///... for an absolute path; `base` NULL: the working folder. */
char *report_file_uri(const char *path);
/* The path as a relative URI reference when it is relative, else report_file_uri. */
char *report_relative_uri(const char *path);

/* A name for a finding that survives edits elsewhere in the file: SHA-256 over path, rule, kernel
 * and the source line without blanks; `nth` tells equal ones apart. */
char *report_fingerprint(const Finding *finding, int nth);
/* How many findings before `index` have the same fingerprint. */
int report_occurrence(const Report *report, guint index);

/* Dumps `json` with an indent of one blank, takes it over, and ends the line. */
void report_dump(json_t *json, GString *out);

#endif
