/* Launches: programmatic dependent launch against the waits of the device code, and launches whose
 * failure nobody would see. */
#include <string.h>

#include "source/internal.h"

/* ---- programmatic dependent launch (PTX ISA 9.7.13.13) ---- */

typedef struct {
  SourceCheck *check;
  SourceText text;
  uint32_t file;
  int depth;
  const char *name;    /* function whose wait the guards leave out */
  SourceRange skipped; /* where, or line 0 */
} WaitSearch;

static bool is_wait_text(SourceText text, size_t begin, size_t end) {
  return source_contains(text, begin, end, "griddepcontrol.wait") ||
         source_contains(text, begin, end, "cudaGridDependencySynchronize");
}

/* Text with a wait that the preprocessor left out between two offsets. */
static bool skipped_wait(WaitSearch *search, size_t open, size_t close) {
  const IrProgram *program = search->check->program;
  for (int i = 0; i < program->skipped.count; i++) {
    SourceRange range = program->skipped.items[i].range;
    if (range.file != search->file) continue;
    size_t begin = source_offset(search->text, range.line, range.column);
    size_t end = source_offset(search->text, range.end_line, range.end_column);
    if (begin <= open || end >= close || !is_wait_text(search->text, begin, end)) continue;
    search->skipped = range;
    return true;
  }
  return false;
}

static bool find_lost_wait(const char *name, void *user) {
  WaitSearch *search = user;
  size_t open, close;
  if (source_find_body(search->text, name, &open, &close)) {
    if (skipped_wait(search, open, close)) {
      search->name = kc_strdup(search->check->violations->arena, name);
    } else if (search->depth < 3) {
      search->depth++;
      source_each_call(search->text, open, close, find_lost_wait, search);
      search->depth--;
    }
  } else if (strcmp(name, "wait_on_dependent_grids") == 0) {
    search->name = "cutlass::arch::wait_on_dependent_grids"; /* its body is in a header */
  }
  return !search->name;
}

static const MachineLaunch *find_pdl_launch(const SourceCheck *check, const IrKernel *kernel) {
  for (int i = 0; check->host && i < check->host->launches.count; i++) {
    const MachineLaunch *launch = &check->host->launches.items[i];
    if (launch->pdl_known && launch->pdl_attribute && ir_kernel_is_named(kernel, launch->kernel))
      return launch;
  }
  return NULL;
}

/* The wait is missing because it is compiled out: this is the cause, the other the symptom. */
static void drop_symptom(SourceCheck *check, const IrKernel *kernel) {
  IrViolations *all = check->violations;
  int kept = 0;
  for (int i = 0; i < all->list.count; i++) {
    IrViolation *v = all->list.items[i];
    if (v->kernel != kernel || strcmp(v->kind, "pdl-wait-missing") != 0)
      all->list.items[kept++] = v;
  }
  all->list.count = kept;
}

static void check_lost_wait(SourceCheck *check, const IrKernel *kernel) {
  const MachineLaunch *launch = find_pdl_launch(check, kernel);
  if (!launch || source_find_event(kernel, IR_EV_griddep_wait)) return;
  const SourceMap *map = &check->program->sources;
  const SourceRange *name = &map->stacks.items[kernel->where].range;
  WaitSearch search = {
      .check = check, .text = source_text(check->program, name->file), .file = name->file};
  size_t open, close;
  if (!source_body(search.text, source_offset(search.text, name->line, name->column), &open,
                   &close))
    return;
  if (skipped_wait(&search, open, close))
    search.name = kernel->name;
  else
    source_each_call(search.text, open, close, find_lost_wait, &search);
  if (!search.name) return;
  drop_symptom(check, kernel);
  IrViolation *v = source_once(check, "pdl-gdc-wrapper-disabled", kernel, launch->where,
                               "%s is launched with programmatic stream serialization, and its "
                               "griddepcontrol.wait (in %s) is compiled out",
                               kernel->name, search.name);
  if (v && search.skipped.line) {
    SourceRange at = search.skipped;
    at.end_line = at.line;
    at.end_column = at.column + 1;
    ir_violation_related(check->violations, v, source_stack((SourceMap *)map, at, 0, search.name),
                         "left out by this guard");
  }
}

/* The device code waits for a grid that the launch never lets run ahead. */
static void check_attribute_missing(SourceCheck *check, const IrKernel *kernel) {
  const IrInsn *wait = source_find_event(kernel, IR_EV_griddep_wait);
  const MachineLaunch *plain = NULL;
  if (!wait || !check->host) return;
  for (int i = 0; i < check->host->launches.count; i++) {
    const MachineLaunch *launch = &check->host->launches.items[i];
    if (!ir_kernel_is_named(kernel, launch->kernel)) continue;
    if (launch->pdl_attribute || (launch->extended && !launch->pdl_known)) return;
    plain = launch;
  }
  if (!plain) return;
  IrViolation *v = source_once(check, "perf-pdl-attribute-missing", kernel, plain->where,
                               "%s executes griddepcontrol.wait, but this launch has no "
                               "programmatic stream serialization attribute",
                               kernel->name);
  if (v) ir_violation_related(check->violations, v, wait->where, "the wait");
}

/* ---- results of launches ---- */

static bool needs_care(const SourceCheck *check, const MachineLaunch *launch) {
  if (launch->cluster[0] > 0 && launch->cluster[0] * launch->cluster[1] * launch->cluster[2] > 1)
    return true;
  return launch->smem > check->arch->smem_static_default || launch->pdl_attribute;
}

/* Whether the call at an offset stands alone in its statement, its result unused. */
static bool result_dropped(SourceText text, size_t at) {
  while (at > 0 && strchr(" \t\r\n", text.text[at - 1]))
    at--;
  return at == 0 || strchr(";{}", text.text[at - 1]);
}

/* Whether any file of the user asks for the last error: then launches are taken to be covered. */
static bool asks_for_errors(const IrProgram *program) {
  static const char *const words[] = {"cudaGetLastError", "cudaPeekAtLastError",
                                      "KERNEL_LAUNCH_CHECK"};
  for (int i = 1; i < program->sources.files.count; i++) {
    if (!program->sources.files.items[i].user) continue;
    SourceText text = source_text(program, (uint32_t)i);
    for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
      if (source_contains(text, 0, text.length, words[w])) return true;
  }
  return false;
}

static void check_result(SourceCheck *check, const IrKernel *kernel, const MachineLaunch *launch) {
  const SourceMap *map = &check->program->sources;
  uint32_t frame = source_user_frame(map, launch->where);
  const SourceRange *range = &map->stacks.items[frame].range;
  SourceText text = source_text(check->program, range->file);
  if (text.length == 0 || asks_for_errors(check->program)) return;
  if (launch->extended && !result_dropped(text, source_offset(text, range->line, range->column)))
    return;
  source_once(check, "launch-error-unchecked", kernel, launch->where,
              "nobody would notice that this launch of %s failed: neither its result nor "
              "cudaGetLastError is examined",
              kernel->name);
}

void source_check_launches(SourceCheck *check, const IrKernel *kernel) {
  check_lost_wait(check, kernel);
  check_attribute_missing(check, kernel);
  for (int i = 0; check->host && i < check->host->launches.count; i++) {
    const MachineLaunch *launch = &check->host->launches.items[i];
    if (ir_kernel_is_named(kernel, launch->kernel) && needs_care(check, launch))
      check_result(check, kernel, launch);
  }
}
