/* Diagnostics of the Language Server Protocol 3.17, for --format lsp and for the server. */
#ifndef KC_REPORT_LSP_H
#define KC_REPORT_LSP_H

#include "report/report.h"

/* How columns are counted (positionEncoding of the client). */
typedef enum LspEncoding { LSP_UTF16, LSP_UTF8, LSP_UTF32 } LspEncoding;

/* The Diagnostic of one finding; new reference. `data` holds the rule, the page and the fix (with a
 * range in the same encoding) or null. */
json_t *report_lsp_diagnostic(const Finding *finding, LspEncoding encoding);
/* The Diagnostic[] of the findings that stand in `path`; new reference. */
json_t *report_lsp_diagnostics(const Report *report, const char *path, LspEncoding encoding);
/* Appends `message` (taken over) with its Content-Length header. */
void report_lsp_frame(json_t *message, GString *out);

#endif
