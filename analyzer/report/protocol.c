#include "report/protocol.h"

#include <string.h>

#include "ir/site.h"

static gint by_value(gconstpointer a, gconstpointer b) {
  guint x = *(const guint *)a, y = *(const guint *)b;
  return (x > y) - (x < y);
}

/* The lines of `wheres`, ascending, each once. Free with g_array_unref. */
static GArray *lines_of(const IrProgram *program, const IrSites *sites, const uint32_t *wheres,
                        int count) {
  GArray *lines = g_array_new(FALSE, FALSE, sizeof(guint));
  for (int i = 0; i < count; i++) {
    guint line = program->sources.stacks.items[ir_event_site(sites, wheres[i])].range.line;
    bool known = line == 0;
    for (guint j = 0; j < lines->len; j++)
      known |= g_array_index(lines, guint, j) == line;
    if (!known) g_array_append_val(lines, line);
  }
  g_array_sort(lines, by_value);
  return lines;
}

/* "; " between texts; each after the first on a line of its own when they are long. */
static void append_texts(const char *label, const char *const *texts, int count, int column,
                         GString *out) {
  enum { FULL = 100 };
  int used = column + 2;
  for (int i = 0; i < count; i++) {
    int length = (int)strlen(texts[i]) + 2;
    if (i == 0) {
      g_string_append_printf(out, "\n%*s  %s: ", column, "", label);
      used += (int)strlen(label) + 2;
    } else if (used + length > FULL) {
      g_string_append_printf(out, ";\n%*s    ", column, "");
      used = column + 4;
    } else {
      g_string_append(out, "; ");
    }
    g_string_append(out, texts[i]);
    used += length;
  }
}

static void append_nobody(const char *label, int column, GString *out) {
  g_string_append_printf(out, "\n%*s  %s: nobody", column, "", label);
}

static void append_init(const IrProgram *program, const IrSites *sites,
                        const MachineBarrierUse *use, GString *out) {
  g_autoptr(GArray) lines = lines_of(program, sites, use->inits.items, use->inits.count);
  g_string_append_printf(out, "init %" G_GINT64_FORMAT, use->init_count);
  for (guint i = 0; i < lines->len; i++)
    g_string_append_printf(out, "%s%u", i ? ", " : " at ", g_array_index(lines, guint, i));
  if (use->arrivals >= 0)
    g_string_append_printf(out, ", %s%" G_GINT64_FORMAT " arrival%s a phase",
                           use->arrivals == use->init_count ? "" : "but ", use->arrivals,
                           use->arrivals == 1 ? "" : "s");
  if (use->arrivals < 0) g_string_append(out, ", no phase completed");
}

/* "bytes: 32768 a phase = s.a 16384 + s.b 16384 (2 copies)" */
static void append_bytes(const MachineBarrierUse *use, int column, GString *out) {
  if (use->expect_bytes < 0 && use->parts.count == 0) return;
  if (use->expect_bytes >= 0)
    g_string_append_printf(out, "\n%*s  bytes: %" G_GINT64_FORMAT " a phase", column, "",
                           use->expect_bytes);
  else
    g_string_append_printf(out, "\n%*s  bytes: none announced, or not constant", column, "");
  for (int i = 0; i < use->parts.count; i++) {
    const MachineBarrierPart *part = &use->parts.items[i];
    g_string_append_printf(out, "%s%s ", i ? " + " : " = ", part->object);
    if (part->bytes >= 0)
      g_string_append_printf(out, "%" G_GINT64_FORMAT, part->bytes);
    else
      g_string_append(out, "(size not known)");
    if (part->copies > 1) g_string_append_printf(out, " in %d copies", part->copies);
  }
}

static void mbarrier_text(const IrProgram *program, const IrSites *sites,
                          const MachineBarrierUse *use, int column, GString *out) {
  g_autofree char *name =
      use->slots > 1 ? g_strdup_printf("%s[%d]", use->name, use->slots) : g_strdup(use->name);
  g_string_append_printf(out, "%-*s  ", column, name);
  append_init(program, sites, use, out);
  if (use->arrive_text.count)
    append_texts("arrives", use->arrive_text.items, use->arrive_text.count, column, out);
  else
    append_nobody("arrives", column, out);
  append_bytes(use, column, out);
  if (use->wait_text.count)
    append_texts("waits", use->wait_text.items, use->wait_text.count, column, out);
  else
    append_nobody("waits", column, out);
  append_texts("protects", use->protects.items, use->protects.count, column, out);
  g_string_append_c(out, '\n');
}

static void barrier_text(const MachineBarrierUse *use, int column, GString *out) {
  g_string_append_printf(out, "%-*s  ", column, use->name);
  if (use->kind == MACHINE_NAMED_BARRIER && use->init_count >= 0)
    g_string_append_printf(out, "%" G_GINT64_FORMAT " threads", use->init_count);
  else
    g_string_append(out, use->kind == MACHINE_NAMED_BARRIER ? "counts differ" : "all its threads");
  append_texts(use->kind == MACHINE_CLUSTER_BARRIER ? "arrives" : "arrives without waiting",
               use->arrive_text.items, use->arrive_text.count, column, out);
  append_texts(use->kind == MACHINE_CLUSTER_BARRIER ? "waits" : "syncs", use->wait_text.items,
               use->wait_text.count, column, out);
  g_string_append_c(out, '\n');
}

void protocol_text(const IrProgram *program, const IrKernel *kernel, const MachineResult *result,
                   GString *out) {
  int column = 8;
  IrSites *sites = ir_sites_new(program);
  for (int i = 0; i < result->barriers.count; i++) {
    const MachineBarrierUse *use = &result->barriers.items[i];
    column = MAX(column, (int)strlen(use->name) + (use->slots > 1 ? 4 : 0));
  }
  g_string_append_printf(out, "%s\n", kernel->instantiation);
  if (result->barriers.count == 0) g_string_append(out, "no barrier was used in the run\n");
  for (int kind = MACHINE_MBARRIER; kind <= MACHINE_CLUSTER_BARRIER; kind++)
    for (int i = 0; i < result->barriers.count; i++) {
      const MachineBarrierUse *use = &result->barriers.items[i];
      if ((int)use->kind != kind) continue;
      if (kind == MACHINE_MBARRIER)
        mbarrier_text(program, sites, use, column, out);
      else
        barrier_text(use, column, out);
    }
  for (int i = 0; i < result->not_checked.count; i++)
    g_string_append_printf(out, "not checked: %s\n", result->not_checked.items[i]);
  ir_sites_free(sites);
}

static json_t *lines_json(const IrProgram *program, const IrSites *sites, const uint32_t *wheres,
                          int count) {
  g_autoptr(GArray) lines = lines_of(program, sites, wheres, count);
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

static json_t *number_or_null(int64_t value) {
  return value >= 0 ? json_integer(value) : json_null();
}

static json_t *parts_json(const MachineBarrierUse *use) {
  json_t *list = json_array();
  for (int i = 0; i < use->parts.count; i++) {
    const MachineBarrierPart *part = &use->parts.items[i];
    json_array_append_new(list, json_pack("{s:s, s:o, s:i}", "object", part->object, "bytes",
                                          number_or_null(part->bytes), "copies", part->copies));
  }
  return list;
}

json_t *protocol_json(const IrProgram *program, const IrKernel *kernel,
                      const MachineResult *result) {
  json_t *barriers = json_array();
  IrSites *sites = ir_sites_new(program);
  for (int i = 0; i < result->barriers.count; i++) {
    const MachineBarrierUse *use = &result->barriers.items[i];
    static const char *const kinds[] = {"mbarrier", "named", "block", "cluster"};
    json_t *barrier = json_pack("{s:s, s:s, s:i, s:o}", "name", use->name, "kind", kinds[use->kind],
                                "slots", use->slots, "init", number_or_null(use->init_count));
    json_object_set_new(barrier, "bytes", number_or_null(use->expect_bytes));
    json_object_set_new(barrier, "bytes_of", parts_json(use));
    json_object_set_new(barrier, "arrivals", number_or_null(use->arrivals));
    json_object_set_new(barrier, "first_parity", number_or_null(use->first_parity));
    json_object_set_new(barrier, "init_lines",
                        lines_json(program, sites, use->inits.items, use->inits.count));
    json_object_set_new(barrier, "arrive_lines",
                        lines_json(program, sites, use->arrives.items, use->arrives.count));
    json_object_set_new(barrier, "wait_lines",
                        lines_json(program, sites, use->waits.items, use->waits.count));
    json_object_set_new(barrier, "arrives",
                        texts_json(use->arrive_text.items, use->arrive_text.count));
    json_object_set_new(barrier, "waits", texts_json(use->wait_text.items, use->wait_text.count));
    json_object_set_new(barrier, "protects", texts_json(use->protects.items, use->protects.count));
    json_array_append_new(barriers, barrier);
  }
  ir_sites_free(sites);
  return json_pack("{s:s, s:o, s:o}", "kernel", kernel->instantiation, "barriers", barriers,
                   "not_checked", texts_json(result->not_checked.items, result->not_checked.count));
}
