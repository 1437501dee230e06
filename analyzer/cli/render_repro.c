/* kcheck repro: what is written for which finding, and what nvcc is to be given. */
#include "cli/render_repro.h"

#include <stdlib.h>
#include <string.h>

#include "cli/shown.h"
#include "report/repro.h"

/* "-std=c++17 -Iinclude -DN=4": nvcc understands what clang was given, but for its own switches. */
static char *nvcc_flags(const Settings *settings) {
  GString *text = g_string_new(NULL);
  g_string_append_printf(text, "-std=%s -O2", settings->std ? settings->std : "c++17");
  for (char **flag = settings->flags; flag && *flag; flag++) {
    g_autofree char *quoted = g_shell_quote(*flag);
    bool plain = strpbrk(*flag, " \t'\"$&|;<>()*?") == NULL;
    g_string_append_printf(text, " %s", plain ? *flag : quoted);
  }
  return g_string_free(text, FALSE);
}

bool render_repro(const Analysis *a, const Job *job, LazyRules *rules, GString *out,
                  KcError *error) {
  if (job->is_ptx) return kc_fail(error, job->path, 0, 0, "a program can only be made around C++");
  int line = job->extra ? atoi(job->extra) : 0, k = 0;
  const Rules *all = lazy_rules_get(rules, error);
  if (!all) return false;
  const Finding *finding = shown_finding(a, all, line);
  /* Advice is no fault that a card could show: only where somebody asks for that line. */
  if (!finding || (line == 0 && finding->severity == SEVERITY_ADVICE))
    return shown_nothing(a, job, line, error);
  const Rule *rule = rules_find(all, finding->rule, error);
  const IrKernel *kernel = rule ? shown_kernel(a, finding, &k) : NULL;
  if (!kernel) return false;
  g_autofree char *include = g_canonicalize_filename(job->path, NULL);
  g_autofree char *flags = nvcc_flags(&job->settings);
  ReproInput input = {.program = a->program,
                      .kernel = kernel,
                      .result = a->machines[k],
                      .host = a->host,
                      .violation = shown_violation(a, rule, kernel, finding),
                      .finding = finding,
                      .engine = rule->engine,
                      .include = include,
                      .target = a->arch->name + strlen("sm_"),
                      .flags = flags};
  return repro_write(&input, out, error);
}
