#include "report/protocol.h"

#include <string.h>

/* The place of `where` that a reader looks for: in the main file when it is reached from there, not
 * inside the wrapper that holds the instruction. */
static const SourceRange *place_of(const IrProgram *program, uint32_t where) {
  const SourceMap *map = &program->sources;
  for (uint32_t at = where; at; at = map->stacks.items[at].outer)
    if (strcmp(map->files.items[map->stacks.items[at].range.file].path, program->path) == 0)
      return &map->stacks.items[at].range;
  return &map->stacks.items[source_user_frame(map, where)].range;
}

static gint by_value(gconstpointer a, gconstpointer b) {
  guint x = *(const guint *)a, y = *(const guint *)b;
  return (x > y) - (x < y);
}

/* The lines of `wheres`, ascending, each once. Free with g_array_unref. */
static GArray *lines_of(const IrProgram *program, const uint32_t *wheres, int count) {
  GArray *lines = g_array_new(FALSE, FALSE, sizeof(guint));
  for (int i = 0; i < count; i++) {
    guint line = place_of(program, wheres[i])->line;
    bool known = line == 0;
    for (guint j = 0; j < lines->len; j++)
      known |= g_array_index(lines, guint, j) == line;
    if (!known) g_array_append_val(lines, line);
  }
  g_array_sort(lines, by_value);
  return lines;
}

static void append_lines(const IrProgram *program, const uint32_t *wheres, int count,
                         GString *out) {
  g_autoptr(GArray) lines = lines_of(program, wheres, count);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf(out, "%s%u", i ? ", " : " at ", g_array_index(lines, guint, i));
}

static void append_texts(const char *const *texts, int count, const char *separator, GString *out) {
  for (int i = 0; i < count; i++)
    g_string_append_printf(out, "%s%s", i ? separator : "", texts[i]);
}

static void barrier_text(const IrProgram *program, const MachineBarrierUse *use, int column,
                         GString *out) {
  g_autofree char *name =
      use->slots > 1 ? g_strdup_printf("%s[%d]", use->name, use->slots) : g_strdup(use->name);
  g_string_append_printf(out, "%-*s  init %" G_GINT64_FORMAT, column, name, use->init_count);
  append_lines(program, use->inits.items, use->inits.count, out);
  g_string_append_printf(out, "\n%*s  arrives: ", column, "");
  if (use->arrive_text.count)
    append_texts(use->arrive_text.items, use->arrive_text.count, "; ", out);
  else
    g_string_append(out, "nobody");
  append_lines(program, use->arrives.items, use->arrives.count, out);
  if (use->expect_bytes >= 0)
    g_string_append_printf(out, "\n%*s  bytes: %" G_GINT64_FORMAT " a phase", column, "",
                           use->expect_bytes);
  if (use->completions.count) {
    g_string_append(out, use->expect_bytes >= 0 ? ", copies" : "");
    if (use->expect_bytes < 0) g_string_append_printf(out, "\n%*s  copies", column, "");
    append_lines(program, use->completions.items, use->completions.count, out);
  }
  g_string_append_printf(out, "\n%*s  waits: ", column, "");
  if (use->wait_text.count)
    append_texts(use->wait_text.items, use->wait_text.count, "; ", out);
  else
    g_string_append(out, "nobody");
  append_lines(program, use->waits.items, use->waits.count, out);
  if (use->protects.count) {
    g_string_append_printf(out, "\n%*s  protects: ", column, "");
    append_texts(use->protects.items, use->protects.count, ", ", out);
  }
  g_string_append_c(out, '\n');
}

void protocol_text(const IrProgram *program, const IrKernel *kernel, const MachineResult *result,
                   GString *out) {
  int column = 8;
  for (int i = 0; i < result->barriers.count; i++)
    column = MAX(column, (int)strlen(result->barriers.items[i].name) + 5);
  g_string_append_printf(out, "%s\n", kernel->instantiation);
  if (result->barriers.count == 0) g_string_append(out, "no mbarrier was used in the run\n");
  for (int i = 0; i < result->barriers.count; i++)
    barrier_text(program, &result->barriers.items[i], column, out);
  for (int i = 0; i < result->not_checked.count; i++)
    g_string_append_printf(out, "not checked: %s\n", result->not_checked.items[i]);
}

static json_t *lines_json(const IrProgram *program, const uint32_t *wheres, int count) {
  g_autoptr(GArray) lines = lines_of(program, wheres, count);
  json_t *list = json_array();
  for (guint i = 0; i < lines->len; i++)
    json_array_append_new(list, json_integer(g_array_index(lines, guint, i)));
  return list;
}

static json_t *texts_json(const char *const *texts, int count) {
  json_t *list = json_array();
  for (int i = 0; i < count; i++)
    json_array_append_new(list, json_string(texts[i]));
  return list;
}

json_t *protocol_json(const IrProgram *program, const IrKernel *kernel,
                      const MachineResult *result) {
  json_t *barriers = json_array();
  for (int i = 0; i < result->barriers.count; i++) {
    const MachineBarrierUse *use = &result->barriers.items[i];
    json_t *barrier = json_pack("{s:s, s:i, s:I}", "name", use->name, "slots", use->slots, "init",
                                (json_int_t)use->init_count);
    json_object_set_new(barrier, "bytes",
                        use->expect_bytes >= 0 ? json_integer(use->expect_bytes) : json_null());
    json_object_set_new(barrier, "init_lines",
                        lines_json(program, use->inits.items, use->inits.count));
    json_object_set_new(barrier, "arrive_lines",
                        lines_json(program, use->arrives.items, use->arrives.count));
    json_object_set_new(barrier, "wait_lines",
                        lines_json(program, use->waits.items, use->waits.count));
    json_object_set_new(barrier, "arrives",
                        texts_json(use->arrive_text.items, use->arrive_text.count));
    json_object_set_new(barrier, "waits", texts_json(use->wait_text.items, use->wait_text.count));
    json_object_set_new(barrier, "protects", texts_json(use->protects.items, use->protects.count));
    json_array_append_new(barriers, barrier);
  }
  return json_pack("{s:s, s:o, s:o}", "kernel", kernel->instantiation, "barriers", barriers,
                   "not_checked", texts_json(result->not_checked.items, result->not_checked.count));
}
