#include "cli/render.h"

#include <string.h>

static void append_taken(GString *out, char *text) {
  if (text) g_string_append(out, text);
  g_free(text);
}

static bool dump_ir(const Analysis *a, const Job *job, GString *out, KcError *error) {
  (void)job;
  (void)error;
  for (int i = 0; i < a->program->hosts.count; i++)
    append_taken(out, ir_print_kernel(a->program, a->program->hosts.items[i]));
  for (int k = 0; k < a->program->kernels.count; k++)
    if (a->selected[k])
      append_taken(out, ir_print_kernel(a->program, a->program->kernels.items[k]));
  return true;
}

static bool dump_events(const Analysis *a, const Job *job, GString *out, KcError *error) {
  (void)job;
  (void)error;
  for (int k = 0; k < a->program->kernels.count; k++)
    if (a->selected[k] && a->machines[k] && a->machines[k]->event_dump)
      g_string_append(out, a->machines[k]->event_dump);
  return true;
}

static const struct {
  const char *name; /* of the command, or of what --dump names */
  Render *render;
} renders[] = {
    {"--dump ir", dump_ir},
    {"--dump events", dump_events},
};

bool render_output(const Analysis *analysis, const Job *job, GString *out, KcError *error) {
  g_autofree char *name =
      job->dump ? g_strdup_printf("--dump %s", job->dump) : g_strdup(job->command);
  for (size_t i = 0; i < G_N_ELEMENTS(renders); i++)
    if (strcmp(renders[i].name, name) == 0) return renders[i].render(analysis, job, out, error);
  return true;
}
