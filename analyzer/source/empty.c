/* What the guards leave of a kernel: nothing at all, or instructions on targets without them. */
#include <string.h>

#include "source/internal.h"

/* ---- kernels that are empty for the target ---- */

/* Whether the kernel does anything that can be seen from outside, or stops on purpose. */
static bool does_something(const IrKernel *kernel) {
  static const IrOp effects[] = {IR_event,  IR_atom,  IR_trap, IR_havoc,
                                 IR_opaque, IR_store, IR_copy, IR_fill};
  if (kernel->notes.count > 0 || kernel->asms.count > 0) return true;
  for (int i = 0; i < kernel->insns.count; i++)
    for (size_t e = 0; e < G_N_ELEMENTS(effects); e++)
      if (kernel->insns.items[i].op == effects[e]) return true;
  return false;
}

/* A launch that no run of the host code comes to stands behind a dispatcher: it may well ask for
 * the target first. */
static bool is_launched(const SourceCheck *check, const IrKernel *kernel) {
  const MachineHostFacts *host = check->host;
  for (int i = 0; host && i < host->launches.count; i++)
    if (!host->launches.items[i].unreached &&
        ir_kernel_is_named(kernel, host->launches.items[i].kernel))
      return true;
  return check->program->global_kernels_seen <= 1;
}

typedef struct {
  const SourceCheck *check;
  SourceText text;
  uint32_t file;
  const Guards *guards;
  int depth;
  const IrSkipped *found;
} SkippedSearch;

/* Text worth compiling that a guard on the target left out. */
static bool is_code(const SkippedSearch *search, const IrSkipped *skipped) {
  size_t begin = source_offset(search->text, skipped->range.line, skipped->range.column);
  size_t end = source_offset(search->text, skipped->range.end_line, skipped->range.end_column);
  int guard = guards_at(search->guards, skipped->range.line + 1);
  return source_contains(search->text, begin, end, ";") && guard >= 0 &&
         guards_depend_on_target(search->guards, guard);
}

static bool search_call(const char *name, void *user);

static void search_body(SkippedSearch *search, size_t open, size_t close) {
  const IrProgram *program = search->check->program;
  for (int i = 0; i < program->skipped.count && !search->found; i++) {
    const IrSkipped *skipped = &program->skipped.items[i];
    if (skipped->range.file != search->file) continue;
    size_t at = source_offset(search->text, skipped->range.line, skipped->range.column);
    if (at > open && at < close && is_code(search, skipped)) search->found = skipped;
  }
  if (search->found || search->depth >= 3) return;
  search->depth++;
  source_each_call(search->text, open, close, search_call, search);
  search->depth--;
}

static bool search_call(const char *name, void *user) {
  SkippedSearch *search = user;
  size_t open, close;
  if (source_find_body(search->text, name, &open, &close)) search_body(search, open, close);
  return !search->found;
}

static void check_empty(SourceCheck *check, const IrKernel *kernel) {
  if (does_something(kernel) || !is_launched(check, kernel)) return;
  const SourceMap *map = &check->program->sources;
  const SourceRange *name = &map->stacks.items[kernel->where].range;
  SourceText text = source_text(check->program, name->file);
  size_t open, close;
  if (!source_body(text, source_offset(text, name->line, name->column), &open, &close)) return;
  Guards guards = guards_read(check->violations->arena, text);
  SkippedSearch search = {check, text, name->file, &guards, 0, NULL};
  search_body(&search, open, close);
  if (!search.found) return;
  IrViolation *v = source_once(check, "arch-empty-body", kernel, kernel->where,
                               "%s is empty when it is compiled for %s: the guard leaves out all "
                               "that it does",
                               kernel->name, check->arch->name);
  if (!v) return;
  SourceRange guard = search.found->range;
  guard.end_line = guard.line;
  guard.end_column = guard.column + 1;
  ir_violation_related(check->violations, v, source_stack((SourceMap *)map, guard, 0, kernel->name),
                       "left out for %s from here on", check->arch->name);
}

/* ---- guards that admit targets without the feature ---- */

/* Instructions that exist on some architectures only, suffix a or f (probed with ptxas 13.0). */
typedef struct {
  const char *name;
  bool (*on)(const Arch *full);
  /* How source text spells its use: asm text, cuda::ptx, CUTLASS and CuTe. */
  const char *spellings[5];
} Feature;

static bool on_wgmma(const Arch *full) {
  return full->has_wgmma;
}

static bool on_tcgen05(const Arch *full) {
  return full->has_tcgen05;
}

static bool on_setmaxnreg(const Arch *full) {
  return full->has_setmaxnreg;
}

static const Feature features[] = {
    {"wgmma", on_wgmma, {"\"wgmma.", "cute::warpgroup_arrive(", "cute::SM90_64x"}},
    {"tcgen05", on_tcgen05, {"\"tcgen05.", "ptx::tcgen05_", "cute::TMEM::", "cute::SM100_"}},
    {"setmaxnreg",
     on_setmaxnreg,
     {"\"setmaxnreg.", "arch::warpgroup_reg_alloc<", "arch::warpgroup_reg_dealloc<"}}};

typedef struct {
  const Guards *guards;
  int guard;
  const Feature *feature;
  const Arch *wrong; /* newest family is not the point: the first that is admitted */
} Admitted;

/* Only architectures at all as new as the feature's first: older ones have guards of their own. */
static void find_admitted(const Arch *arch, void *user) {
  Admitted *admitted = user;
  if (admitted->wrong || arch->suffix || arch->number < 90) return;
  if (admitted->feature->on(arch_full(arch))) return;
  if (guards_admit(admitted->guards, admitted->guard, arch->number, 0) == TRUTH_TRUE)
    admitted->wrong = arch;
}

/* The guard to point at: the outermost around `guard` that depends on the target; where it does so
 * through a macro, the guard around the definition of that macro. -1: none. */
static int target_guard(const Guards *guards, int guard) {
  int found = -1;
  for (; guard >= 0; guard = guards->list.items[guard].parent)
    if (guards_depend_on_target(guards, guard)) found = guard;
  const char *condition = found >= 0 ? guards->list.items[found].condition : NULL;
  if (!condition || strstr(condition, "__CUDA_ARCH")) return found;
  for (int i = 0; i < guards->macros.count; i++) {
    const GuardMacro *macro = &guards->macros.items[i];
    if (macro->guard >= 0 && macro->guard != found && *macro->name &&
        strstr(condition, macro->name) && guards_depend_on_target(guards, macro->guard))
      return macro->guard;
  }
  return found;
}

static void report_guard(SourceCheck *check, uint32_t file, const Admitted *admitted,
                         uint32_t line) {
  SourceMap *map = (SourceMap *)&check->program->sources;
  const Guard *guard =
      &admitted->guards->list.items[target_guard(admitted->guards, admitted->guard)];
  SourceRange at = {file, guard->line, 1, guard->line, 2};
  SourceRange use = {file, line, 1, line, 2};
  const char *mnemonic = admitted->feature->name;
  IrViolation *v = source_once(check, "arch-guard-mismatch", NULL, source_stack(map, at, 0, NULL),
                               "this guard lets %s through to %s, which has no %s", mnemonic,
                               admitted->wrong->name, mnemonic);
  if (!v) return;
  ir_violation_related(check->violations, v, source_stack(map, use, 0, NULL), "%s stands here",
                       mnemonic);
  /* On the target at hand it is a fact; that others are ever built for is a guess. */
  const Arch *here = check->arch;
  bool wrong_here = !admitted->feature->on(here) &&
                    guards_admit(admitted->guards, admitted->guard, here->number, 0) == TRUTH_TRUE;
  if (!wrong_here) v->confidence = IR_FALLBACK;
}

static void check_spelling(SourceCheck *check, uint32_t file, SourceText text, const Guards *guards,
                           const Feature *feature, const char *spelling) {
  for (const char *at = text.text; (at = strstr(at, spelling)); at++) {
    uint32_t line = source_line_of(text, (size_t)(at - text.text));
    int guard = guards_at(guards, line);
    if (guard < 0 || target_guard(guards, guard) < 0 || guards_test_feature(guards, guard))
      continue;
    Admitted admitted = {guards, guard, feature, NULL};
    arch_each(find_admitted, &admitted);
    /* A base target lacks what needs a suffix, whatever number the guard tests. */
    if (!admitted.wrong && check->exact_target && !feature->on(check->arch) &&
        guards_admit(guards, guard, check->arch->number, 0) == TRUTH_TRUE)
      admitted.wrong = check->arch;
    if (admitted.wrong) report_guard(check, file, &admitted, line);
  }
}

static void check_file(SourceCheck *check, uint32_t file) {
  SourceText text = source_text(check->program, file);
  if (text.length == 0 || !source_contains(text, 0, text.length, "__CUDA_ARCH")) return;
  Guards guards = guards_read(check->violations->arena, text);
  for (size_t i = 0; i < G_N_ELEMENTS(features); i++)
    for (const char *const *spelling = features[i].spellings; *spelling; spelling++)
      check_spelling(check, file, text, &guards, &features[i], *spelling);
}

void source_check_guards(SourceCheck *check) {
  for (int i = 0; i < check->program->kernels.count; i++)
    check_empty(check, check->program->kernels.items[i]);
  for (int i = 1; i < check->program->sources.files.count; i++)
    if (check->program->sources.files.items[i].user) check_file(check, (uint32_t)i);
}
