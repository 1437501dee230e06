/* The answer of a worker process, as its parent reads it, and every format that is made of it. */
#include <stdlib.h>

#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  json_t *json = json_loadb((const char *)data, size, 0, NULL);
  if (!json) return 0;
  KcError error = {0};
  Report *report = report_new();
  bool good = report_from_json(report, json, &error);
  json_decref(json);
  if (good == (error.message != NULL)) abort();
  ReportOptions options = {.verbose = true, .statistics = true, .timing = true};
  for (const char *const *name = report_formats(); good && *name; name++) {
    g_autoptr(GString) out = g_string_new(NULL);
    if (!report_write(report, *name, &options, out)) abort();
  }
  report_free(report);
  kc_error_clear(&error);
  return 0;
}
