#include "cli/render.h"

#include <stdlib.h>
#include <string.h>

#include "report/protocol.h"

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

static void append_json(GString *out, json_t *json) {
  char *text = json_dumps(json, JSON_INDENT(1));
  if (text) g_string_append_printf(out, "%s\n", text);
  free(text);
  json_decref(json);
}

static bool protocols_as_json(const Analysis *a, const Job *job, GString *out, KcError *error) {
  (void)error;
  json_t *list = json_array();
  for (int k = 0; k < a->program->kernels.count; k++)
    if (a->selected[k] && a->machines[k])
      json_array_append_new(
          list, protocol_json(a->program, a->program->kernels.items[k], a->machines[k]));
  append_json(out, json_pack("{ss so}", "path", job->path, "kernels", list));
  return true;
}

static bool protocols(const Analysis *a, const Job *job, GString *out, KcError *error) {
  if (g_strcmp0(job->extra, "json") == 0) return protocols_as_json(a, job, out, error);
  for (int k = 0; k < a->program->kernels.count; k++)
    if (a->selected[k] && a->machines[k])
      protocol_text(a->program, a->program->kernels.items[k], a->machines[k], out);
  return true;
}

static const struct {
  const char *name; /* of the command, or of what --dump names */
  Render *render;
} renders[] = {
    {"--dump ir", dump_ir},
    {"--dump events", dump_events},
    {"--dump model", protocols_as_json},
    {"protocol", protocols},
};

bool render_output(const Analysis *analysis, const Job *job, GString *out, KcError *error) {
  g_autofree char *name =
      job->dump ? g_strdup_printf("--dump %s", job->dump) : g_strdup(job->command);
  for (size_t i = 0; i < G_N_ELEMENTS(renders); i++)
    if (strcmp(renders[i].name, name) == 0) return renders[i].render(analysis, job, out, error);
  return true;
}
