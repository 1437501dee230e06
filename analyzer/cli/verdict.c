#include "cli/verdict.h"

#include <string.h>

#include "cli/cli.h"
#include "report/common.h"

enum { MAX_REASONS = 40 };

#define LIBRARY_ENTRY "(library headers)"

void verdict_failed(ReportFile *file, const KcError *error) {
  g_free(file->status);
  file->status = g_strdup("failed");
  g_autofree char *line = cli_error_line(error);
  g_ptr_array_add(file->errors, g_utf8_make_valid(line, -1));
}

static void add_reason(ReportKernel *kernel, const char *reason) {
  if (g_ptr_array_find_with_equal_func(kernel->not_checked, reason, g_str_equal, NULL)) return;
  if (kernel->not_checked->len == MAX_REASONS)
    g_ptr_array_add(kernel->not_checked, g_strdup("and more of the same"));
  if (kernel->not_checked->len < MAX_REASONS)
    g_ptr_array_add(kernel->not_checked, g_strdup(reason));
}

static void add_notes(ReportKernel *out, const Analysis *a, const IrKernel *kernel) {
  for (int i = 0; i < kernel->notes.count; i++) {
    const IrNote *note = &kernel->notes.items[i];
    if (!note->may_hide_event) continue;
    uint32_t user = source_user_frame(&a->program->sources, note->where);
    uint32_t line = a->program->sources.stacks.items[user].range.line;
    g_autofree char *reason =
        line ? g_strdup_printf("%s (line %u)", note->text, line) : g_strdup(note->text);
    add_reason(out, reason);
  }
}

/* What could not be read stands outside of every kernel (else a note of the kernel says it): the
 * kernel was checked as it is here, and the file is not what a compiler would have seen. */
static bool add_unread(ReportKernel *out, const IrProgram *program) {
  bool any = false;
  for (int i = 0; i < program->diagnostics.count; i++) {
    const IrDiagnostic *d = &program->diagnostics.items[i];
    if (!d->unread) continue;
    any = true;
    const char *path = program->sources.files.items[d->range.file].path;
    bool here = strcmp(path, program->path) == 0;
    g_autofree char *reason = g_strdup_printf("%s (%s%s%u)", d->text, here ? "line " : path,
                                              here ? "" : ":", d->range.line);
    add_reason(out, reason);
  }
  return any;
}

/* Fills the reasons and returns the status of kernel `k`. A kernel that never ran was skipped,
 * whatever the other engines saw; one that ran with something missing is partial. */
static const char *judge(ReportKernel *out, const Analysis *a, int k) {
  const IrKernel *kernel = a->program->kernels.items[k];
  const MachineResult *result = a->machines[k];
  add_notes(out, a, kernel);
  if (kernel->body_lost) add_reason(out, "its body could not be read");
  for (int i = 0; result && i < result->not_checked.count; i++)
    add_reason(out, result->not_checked.items[i]);
  if (kernel->body_lost || !result || !result->ran) {
    if (out->not_checked->len == 0) add_reason(out, "no run of it came to an end");
    return "skipped";
  }
  if (pipeline_kernel_complete(a, k)) return add_unread(out, a->program) ? "partial" : "checked";
  if (out->not_checked->len == 0)
    add_reason(out, "its run was cut before everything had been seen");
  return "partial";
}

static int badness(const char *status) {
  return strcmp(status, "skipped") == 0 ? 2 : strcmp(status, "partial") == 0 ? 1 : 0;
}

static ReportKernel *find_kernel(const ReportFile *file, const char *instantiation) {
  for (guint i = 0; i < file->kernels->len; i++) {
    ReportKernel *kernel = file->kernels->pdata[i];
    if (strcmp(kernel->instantiation, instantiation) == 0) return kernel;
  }
  return NULL;
}

static void add_kernel(ReportFile *file, const Analysis *a, int k) {
  const IrKernel *kernel = a->program->kernels.items[k];
  ReportKernel *out = find_kernel(file, kernel->instantiation);
  if (!out) {
    out = report_kernel_new(kernel->name, kernel->instantiation, "checked");
    g_ptr_array_add(file->kernels, out);
  }
  const char *status = judge(out, a, k);
  if (badness(status) > badness(out->status)) {
    g_free(out->status);
    out->status = g_strdup(status);
  }
}

/* A file whose kernels may stand in a header of the project that was not found was not read. */
static void check_headers(ReportFile *file, const Analysis *a) {
  IrProgram *program = a->program;
  if (program->kernels.count > 0 || program->global_kernels_seen > 0) return;
  for (int i = 0; i < program->diagnostics.count; i++) {
    const IrDiagnostic *d = &program->diagnostics.items[i];
    const char *text = NULL;
    size_t length = 0;
    if (!d->unread || !g_str_has_suffix(d->text, " was not found") ||
        !source_line(&program->sources, d->range.file, d->range.line, &text, &length) ||
        d->range.column > length || text[d->range.column - 1] != '"')
      continue;
    KcError error = {0};
    kc_fail(&error, program->sources.files.items[d->range.file].path, (int)d->range.line,
            (int)d->range.column, "not checked: no kernel here, and %s", d->text);
    kc_hint(&error, "name its folder with -I, or the compile database with -p");
    verdict_failed(file, &error);
    kc_error_clear(&error);
    return;
  }
}

/* __global__ functions of which nothing came through are said by number. */
static void add_lost(ReportFile *file, const Analysis *a) {
  if (a->program->kernels.count > 0 || a->program->global_kernels_seen == 0) return;
  if (find_kernel(file, "(unnamed)")) return;
  ReportKernel *out = report_kernel_new("(unnamed)", "(unnamed)", "skipped");
  g_ptr_array_add(out->not_checked,
                  g_strdup_printf("%d kernels are declared and none could be lowered",
                                  a->program->global_kernels_seen));
  g_ptr_array_add(file->kernels, out);
}

static bool chosen_by_name(const Analysis *a) {
  for (int k = 0; k < a->program->kernels.count; k++)
    if (!a->selected[k]) return true;
  return false;
}

/* "2 kernels of library headers are launched from here ..." Caller frees. */
static char *library_reason(const IrLibraryKernels *library) {
  bool one = library->count == 1;
  g_autofree char *count = report_counted(library->count, "kernel", NULL);
  g_autofree char *how = g_strdup_printf(
      "; name one with // kcheck: launch(%s<...>, ...) or --instantiate", library->first);
  return g_strdup_printf(
      "%s of library headers %s launched from here and %s not checked (line %u leads to %s)%s",
      count, one ? "is" : "are", one ? "was" : "were", library->launched.line, library->first,
      library->is_template ? how : "");
}

/* What the file runs by way of a library was not checked, whatever its own kernels are. */
static void add_library(ReportFile *file, const Analysis *a) {
  const IrLibraryKernels *library = &a->program->library;
  if ((library->count == 0 && !library->cut) || chosen_by_name(a)) return;
  ReportKernel *out = find_kernel(file, LIBRARY_ENTRY);
  if (!out) {
    out = report_kernel_new(LIBRARY_ENTRY, LIBRARY_ENTRY, "skipped");
    g_ptr_array_add(file->kernels, out);
  }
  g_autofree char *reason = library->count ? library_reason(library) : NULL;
  if (reason) add_reason(out, reason);
  if (library->cut)
    add_reason(out, "the functions of library headers that are called from here are too many to "
                    "follow: kernels that they launch may be unknown");
}

static void add_timing(ReportFile *file, const Analysis *a) {
  if (!file->timing) file->timing = json_object();
  const char *stage;
  json_t *value;
  json_object_foreach(a->timing, stage, value) {
    json_int_t before = json_integer_value(json_object_get(file->timing, stage));
    json_object_set_new(file->timing, stage, json_integer(before + json_integer_value(value)));
  }
}

void verdict_add(ReportFile *file, const Analysis *a) {
  add_timing(file, a);
  g_ptr_array_add(file->archs, g_strdup(a->arch->name));
  file->toolkit_headers |= a->program->toolkit_headers;
  for (int k = 0; k < a->program->kernels.count; k++)
    if (a->selected[k]) add_kernel(file, a, k);
  add_lost(file, a);
  add_library(file, a);
  check_headers(file, a);
}

static void fail_with(ReportFile *file, const char *what, const ReportKernel *example) {
  KcError error = {0};
  kc_fail(&error, file->path, 0, 0, "%s", what);
  if (example->not_checked->len > 0)
    kc_hint(&error, "%s: %s", example->instantiation, (char *)example->not_checked->pdata[0]);
  g_ptr_array_add(file->errors, cli_error_line(&error));
  kc_error_clear(&error);
}

void verdict_close(ReportFile *file, bool strict) {
  if (strcmp(file->status, "failed") == 0) return;
  const ReportKernel *skipped = NULL, *incomplete = NULL;
  guint nskipped = 0, own = 0; /* a library's kernels alone are no reason to fail */
  for (guint i = 0; i < file->kernels->len; i++) {
    const ReportKernel *kernel = file->kernels->pdata[i];
    int bad = badness(kernel->status);
    if (bad > 0) incomplete = kernel;
    if (strcmp(kernel->name, LIBRARY_ENTRY) == 0) continue;
    own++;
    if (bad > 1) {
      skipped = kernel;
      nskipped++;
    }
  }
  if (incomplete) {
    g_free(file->status);
    file->status = g_strdup("partial");
  }
  if (nskipped > 0 && nskipped == own)
    fail_with(file, "no kernel could be analysed", skipped);
  else if (strict && incomplete)
    fail_with(file, "a kernel was not fully checked (--strict)", incomplete);
}
