/* One report with everything in it that a format can show. */
#ifndef KC_TESTS_REPORT_SAMPLE_H
#define KC_TESTS_REPORT_SAMPLE_H

#include "report/report.h"
#include "rules/finding.h"

static inline void sample_related(Finding *f, const char *path, int line, int column, int end,
                                  const char *message, const char *source) {
  FindingRelated *r = g_new0(FindingRelated, 1);
  *r = (FindingRelated){g_strdup(path),  line, column, line, end, g_strdup(message),
                        g_strdup(source)};
  g_ptr_array_add(f->related, r);
}

static inline Finding *sample_finding(const char *rule, Severity severity, int line, int column,
                                      int end, const char *message, const char *source) {
  Finding *f = finding_new();
  f->rule = g_strdup(rule);
  f->severity = severity;
  f->confidence = g_strdup("proved");
  f->file = g_strdup("gemm.cu");
  f->path = g_strdup("gemm.cu");
  f->line = f->end_line = line;
  f->column = column;
  f->end_column = end;
  f->message = g_strdup(message);
  f->source = g_strdup(source);
  f->url = g_strdup_printf("https://kcheck.example/rules/%s.html", rule);
  g_ptr_array_add(f->archs, g_strdup("sm_90a"));
  return f;
}

static inline Finding *sample_phase(void) {
  Finding *f = sample_finding(
      "sample-phase", SEVERITY_ERROR, 131, 9, 41,
      "the wait on `full[stage]` passes on an older phase: parity 0 again after phase 0 has "
      "completed",
      "        mbar_wait(&s.full[stage], phase);");
  f->kernel = g_strdup("gemm<128, 4>");
  f->help = g_strdup("flip the phase when the stage wraps");
  f->page = g_strdup("technique-pipeline-stages");
  f->anchor = g_strdup("phase");
  sample_related(f, "gemm.cu", 131, 9, 41, "second trip round the ring waits for parity 0",
                 f->source);
  sample_related(f, "gemm.cu", 114, 27, 32, "set once, never changed in the consumer",
                 "  int stage = 0; uint32_t phase = 0;");
  sample_related(f, "ptx.cuh", 12, 3, 15, "in `mbar_wait`, which is called there",
                 "  asm volatile(\"mbarrier.try_wait...\");");
  g_ptr_array_add(f->witness_names, g_strdup("K"));
  g_ptr_array_add(f->witness_values, g_strdup("576"));
  g_ptr_array_add(f->witness_names, g_strdup("cluster"));
  g_ptr_array_add(f->witness_values, g_strdup("2x1"));
  f->witness_text = g_strdup("full[0]  trip 1: filled by TMA (32768 bytes), read at k=0\n"
                             "full[0]  trip 2: k=4 passes at once, reads while TMA writes");
  return f;
}

/* Tabs, wide and astral characters before the caret, markup in the words, an inferred finding. */
static inline Finding *sample_unicode(void) {
  Finding *f = sample_finding("sample-race", SEVERITY_WARNING, 140, 19, 26,
                              "a<b> & \"c\" races, 100% of the time: x,y",
                              "\t/* \xe6\xbc\xa2\xf0\x9f\x9a\x80 \xc3\xa4 */ tile[i] = 0;");
  g_free(f->confidence);
  f->confidence = g_strdup("inferred");
  f->help = g_strdup("put a barrier between");
  f->page = g_strdup("hw-shared-memory");
  f->anchor = g_strdup("reuse-of-a-buffer");
  g_ptr_array_add(f->archs, g_strdup("sm_100a"));
  f->fix_text = g_strdup("__syncthreads();\n");
  f->fix_line = f->fix_end_line = 140;
  f->fix_column = f->fix_end_column = 2;
  f->fix_safe = true;
  return f;
}

static inline Finding *sample_header(void) {
  Finding *f = sample_finding("sample-spin", SEVERITY_ADVICE, 12, 3, 40, "spins hot", NULL);
  g_free(f->path);
  f->path = g_strdup("ptx.cuh");
  f->help = g_strdup("use try_wait");
  f->page = g_strdup("hw-mbarrier");
  return f;
}

static inline Report *sample_report(void) {
  Report *report = report_new();
  ReportFile *file = report_file_new("gemm.cu", "partial");
  g_ptr_array_add(file->archs, g_strdup("sm_90a"));
  g_ptr_array_add(file->archs, g_strdup("sm_100a"));
  file->exit_status = 1;
  file->time_us = 41200;
  file->timing = json_pack("{si si}", "parse", 12000, "machine", 25000);
  ReportKernel *kernel = report_kernel_new("gemm", "gemm<128, 4>", "partial");
  g_ptr_array_add(kernel->not_checked, g_strdup("byte counts of full[] (no box known)"));
  g_ptr_array_add(file->kernels, kernel);
  g_ptr_array_add(file->kernels, report_kernel_new("zero", "zero", "checked"));
  g_ptr_array_add(report->files, file);
  ReportFile *clean = report_file_new("clean.cu", "checked");
  g_ptr_array_add(clean->archs, g_strdup("sm_90a"));
  g_ptr_array_add(clean->kernels, report_kernel_new("copy", "copy", "checked"));
  clean->time_us = 9000;
  clean->default_arch = true;
  g_ptr_array_add(report->files, clean);
  ReportFile *failed = report_file_new("broken.cu", "failed");
  g_ptr_array_add(failed->errors, g_strdup("broken.cu:3:1: error: expected '}'"));
  failed->exit_status = 2;
  g_ptr_array_add(report->files, failed);
  g_ptr_array_add(report->findings, sample_phase());
  g_ptr_array_add(report->findings, sample_unicode());
  g_ptr_array_add(report->findings, sample_header());
  return report;
}

#endif
