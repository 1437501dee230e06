/* mutate ARCH FILE... [--share K/N] [--equivalents FILE] [--verbose]
 *
 * Mutates every synchronisation instruction of every kernel of the files, in the IR, and asks the
 * machine and the budget for a finding that the unmutated kernel does not have. Prints a row a kind
 * of mutation, the survivors that are on no list of equivalents, and the score last. Exit status 1
 * when a kernel is not clean to begin with, or when the equivalents are more than 5 % of all.
 *
 * The list of equivalents has one line each: file<TAB>line<TAB>event<TAB>mutation<TAB>reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "budget/budget.h"
#include "cuda/cuda.h"
#include "machine/machine.h"
#include "mutant.h"
#include "ptx/ptx.h"
#include "rules/rules.h"

typedef struct {
  int total, killed, equivalent;
} Count;

typedef struct {
  GHashTable *by_kind;     /* kind -> Count* */
  GHashTable *equivalents; /* "file:line:event:kind" -> reason */
  Count all;
  int share, shares, seen;
  bool verbose, dirty;
} Score;

typedef struct {
  const IrProgram *program;
  const Arch *arch;
  const MachineHostFacts *host;
  GHashTable *baseline; /* "kind@where" */
  const char *file;
  const Rules *rules;
} Subject;

static MachineEffect effect_of_kind(const char *kind, void *rules) {
  return rules_effect(rules, kind);
}

static char *violation_key(const IrViolation *violation) {
  return g_strdup_printf("%s@%u", violation->kind, violation->where);
}

static void run(const Subject *subject, const IrKernel *kernel, IrViolations *violations) {
  MachineOptions options = {
      .arch = subject->arch, .effect = effect_of_kind, .effect_user = (void *)subject->rules};
  MachineResult *result =
      machine_run(violations->arena, subject->program, kernel, subject->host, &options, violations);
  budget_check(subject->program, kernel, subject->arch, subject->host, result, violations);
}

static bool is_killed(const Subject *subject, const IrKernel *mutant, KcArena *arena, char **why) {
  IrViolations violations = {.arena = arena};
  run(subject, mutant, &violations);
  for (int i = 0; i < violations.list.count; i++) {
    g_autofree char *key = violation_key(violations.list.items[i]);
    if (g_hash_table_contains(subject->baseline, key)) continue;
    *why = g_strdup(violations.list.items[i]->kind);
    return true;
  }
  return false;
}

static unsigned line_of(const IrProgram *program, uint32_t where) {
  return program->sources.stacks.items[source_user_frame(&program->sources, where)].range.line;
}

static Count *count_of(Score *score, const char *kind) {
  Count *count = g_hash_table_lookup(score->by_kind, kind);
  if (count) return count;
  count = g_new0(Count, 1);
  g_hash_table_insert(score->by_kind, g_strdup(kind), count);
  return count;
}

static void try_mutation(Score *score, const Subject *subject, const IrKernel *kernel,
                         const Mutation *mutation) {
  KcArena *arena = kc_arena_new();
  IrKernel *mutant = mutant_new(arena, kernel, mutation);
  if (mutant && score->seen++ % score->shares == score->share) {
    const IrInsn *insn = &kernel->insns.items[mutation->index];
    const char *event = ir_event_name((IrEvent)insn->event);
    g_autofree char *name = g_strdup_printf("%s %s", event, mutation->kind);
    unsigned line = line_of(subject->program, insn->where);
    g_autofree char *base = g_path_get_basename(subject->file);
    g_autofree char *key = g_strdup_printf("%s:%u:%s:%s", base, line, event, mutation->kind);
    g_autofree char *why = NULL;
    bool killed = is_killed(subject, mutant, arena, &why);
    bool equivalent = !killed && g_hash_table_contains(score->equivalents, key);
    Count *count = count_of(score, name);
    count->total++, score->all.total++;
    count->killed += killed, score->all.killed += killed;
    count->equivalent += equivalent, score->all.equivalent += equivalent;
    if (score->verbose || (!killed && !equivalent))
      printf("%-9s %s:%u %s%s%s\n",
             killed       ? "killed"
             : equivalent ? "equal"
                          : "survived",
             base, line, name, killed ? "  " : "", killed ? why : "");
  }
  kc_arena_free(arena);
}

static void mutate_kernel(Score *score, Subject *subject, const IrKernel *kernel) {
  KcArena *arena = kc_arena_new();
  IrViolations violations = {.arena = arena};
  run(subject, kernel, &violations);
  subject->baseline = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  for (int i = 0; i < violations.list.count; i++) {
    const IrViolation *violation = violations.list.items[i];
    g_hash_table_add(subject->baseline, violation_key(violation));
    printf("unmutated %s: %s at line %u: %s\n", kernel->instantiation, violation->kind,
           line_of(subject->program, violation->where), violation->message);
  }
  for (int i = 0; i < kernel->insns.count; i++) {
    Mutation mutations[16];
    int count = mutations_of(kernel, i, mutations, 16);
    for (int j = 0; j < count; j++)
      try_mutation(score, subject, kernel, &mutations[j]);
  }
  g_hash_table_destroy(subject->baseline);
  kc_arena_free(arena);
}

static bool mutate_file(Score *score, const char *arch_name, const char *file) {
  KcArena *arena = kc_arena_new();
  KcError error = {0};
  const Arch *arch = arch_find(arch_name, &error);
  CudaOptions options = {.arch = arch_name};
  IrViolations violations = {.arena = arena};
  CudaTiming timing = {0};
  IrProgram *program = arch ? cuda_load(arena, file, &options, &violations, &timing, &error) : NULL;
  Rules *rules = program ? rules_load(&error) : NULL;
  if (rules) {
    MachineOptions machine = {.arch = arch};
    Subject subject = {.program = program, .arch = arch, .file = file, .rules = rules};
    subject.host = machine_run_hosts(program, &machine, &violations);
    for (int i = 0; i < program->kernels.count; i++)
      mutate_kernel(score, &subject, program->kernels.items[i]);
  } else {
    g_autofree char *text = kc_error_text(&error);
    fprintf(stderr, "%s\n", text);
    kc_error_clear(&error);
  }
  bool good = rules != NULL;
  rules_free(rules);
  kc_arena_free(arena);
  return good;
}

static void load_equivalents(Score *score, const char *path) {
  g_autofree gchar *text = NULL;
  if (!g_file_get_contents(path, &text, NULL, NULL)) {
    fprintf(stderr, "%s: cannot be read\n", path);
    exit(2);
  }
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  for (int i = 0; lines[i]; i++) {
    g_auto(GStrv) cells = g_strsplit(lines[i], "\t", 5);
    if (g_strv_length(cells) < 5 || *cells[0] == '#') continue;
    char *key = g_strdup_printf("%s:%s:%s:%s", cells[0], cells[1], cells[2], cells[3]);
    g_hash_table_insert(score->equivalents, key, g_strdup(cells[4]));
  }
}

static gint by_text(gconstpointer a, gconstpointer b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void print_score(const Score *score) {
  guint length = 0;
  gpointer *kinds = g_hash_table_get_keys_as_array(score->by_kind, &length);
  qsort(kinds, length, sizeof *kinds, by_text);
  for (guint i = 0; i < length; i++) {
    const Count *count = g_hash_table_lookup(score->by_kind, kinds[i]);
    printf("%-36s %4d of %4d, %d equivalent\n", (const char *)kinds[i], count->killed, count->total,
           count->equivalent);
  }
  g_free(kinds);
  int counted = score->all.total - score->all.equivalent;
  printf("mutation score: %d of %d (%.1f %%), %d equivalent of %d\n", score->all.killed, counted,
         counted ? 100.0 * score->all.killed / counted : 0.0, score->all.equivalent,
         score->all.total);
}

int main(int argc, char **argv) {
  if (argc < 3) {
    fprintf(stderr, "usage: mutate ARCH FILE... [--share K/N] [--equivalents FILE] [--verbose]\n");
    return 2;
  }
  Score score = {.by_kind = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .equivalents = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                 .shares = 1};
  g_autoptr(GPtrArray) files = g_ptr_array_new(); /* after the options, wherever those stand */
  for (int i = 2; i < argc; i++) {
    if (strcmp(argv[i], "--share") == 0 && i + 1 < argc)
      sscanf(argv[++i], "%d/%d", &score.share, &score.shares);
    else if (strcmp(argv[i], "--equivalents") == 0 && i + 1 < argc)
      load_equivalents(&score, argv[++i]);
    else if (strcmp(argv[i], "--verbose") == 0)
      score.verbose = true;
    else
      g_ptr_array_add(files, argv[i]);
  }
  for (guint i = 0; i < files->len; i++)
    if (!mutate_file(&score, argv[1], files->pdata[i])) score.dirty = true;
  print_score(&score);
  bool too_many = score.all.equivalent * 20 > score.all.total;
  return score.dirty || too_many;
}
