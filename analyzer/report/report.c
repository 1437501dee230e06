#include "report/common.h"

#include <string.h>

static const struct {
  const char *name;
  ReportWriter *write;
} FORMATS[] = {
    {"text", report_text},     {"gcc", report_gcc},     {"json", report_json},
    {"sarif", report_sarif},   {"lsp", report_lsp},     {"github", report_github},
    {"gitlab", report_gitlab}, {"junit", report_junit}, {"agent", report_agent},
};

const char *const *report_formats(void) {
  static const char *const names[] = {"text",   "gcc",    "json",  "sarif", "lsp",
                                      "github", "gitlab", "junit", "agent", NULL};
  return names;
}

bool report_write(const Report *report, const char *name, const ReportOptions *options,
                  GString *out) {
  for (size_t i = 0; i < G_N_ELEMENTS(FORMATS); i++) {
    if (strcmp(FORMATS[i].name, name) != 0) continue;
    FORMATS[i].write(report, options, out);
    return true;
  }
  return false;
}

ReportKernel *report_kernel_new(const char *name, const char *instantiation, const char *status) {
  ReportKernel *kernel = g_new0(ReportKernel, 1);
  kernel->name = g_strdup(name);
  kernel->instantiation = g_strdup(instantiation);
  kernel->status = g_strdup(status);
  kernel->not_checked = g_ptr_array_new_with_free_func(g_free);
  return kernel;
}

void report_kernel_free(ReportKernel *kernel) {
  if (!kernel) return;
  g_free(kernel->name);
  g_free(kernel->instantiation);
  g_free(kernel->status);
  g_ptr_array_unref(kernel->not_checked);
  g_free(kernel);
}

ReportFile *report_file_new(const char *path, const char *status) {
  ReportFile *file = g_new0(ReportFile, 1);
  file->path = g_strdup(path);
  file->status = g_strdup(status);
  file->archs = g_ptr_array_new_with_free_func(g_free);
  file->kernels = g_ptr_array_new_with_free_func((GDestroyNotify)report_kernel_free);
  file->errors = g_ptr_array_new_with_free_func(g_free);
  return file;
}

void report_file_free(ReportFile *file) {
  if (!file) return;
  g_free(file->path);
  g_free(file->status);
  g_free(file->arch_because);
  g_ptr_array_unref(file->archs);
  g_ptr_array_unref(file->kernels);
  g_ptr_array_unref(file->errors);
  json_decref(file->timing);
  g_free(file);
}

Report *report_new(void) {
  Report *report = g_new0(Report, 1);
  report->files = g_ptr_array_new_with_free_func((GDestroyNotify)report_file_free);
  report->findings = g_ptr_array_new_with_free_func((GDestroyNotify)finding_free);
  return report;
}

void report_free(Report *report) {
  if (!report) return;
  g_ptr_array_unref(report->files);
  g_ptr_array_unref(report->findings);
  g_free(report);
}
