/* Reads knowledge/isa/OPCODE.yaml when the opcode is first met. */
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "isa/internal.h"
#include "support/data.h"
#include "support/yaml.h"

/* A memo of immutable data, filled under the lock; nothing in it ever changes or goes. */
static struct {
  GMutex lock;
  KcArena *arena;
  GHashTable *families; /* opcode -> IsaFamily, or NULL for an opcode without a file */
  GHashTable *data;     /* opcodes that only compute on data */
  GHashTable *flags;    /* modifier -> IR flag */
} table;

/* The table is part of the program: a mistake in it is a defect, found by the unit test that loads
 * every file, and fatal where KCHECK_DATA points at an edited one. */
static void broken(const char *path, int line, const char *what) {
  g_error("%s:%d: %s", path, line, what);
}

static const char *path_of(const char *opcode, char *path, size_t size) {
  g_snprintf(path, (gulong)size, "knowledge/isa/%s.yaml", opcode);
  return path;
}

static const KcYaml *read_file(KcArena *arena, const char *path) {
  size_t length = 0;
  const char *text = kc_data_get(path, &length);
  if (!text) return NULL;
  KcError error = {0};
  const KcYaml *root = kc_yaml_parse(arena, path, text, length, &error);
  if (!root) broken(path, error.line, error.message);
  return root;
}

static const char *const *strings(KcArena *arena, const char *path, const KcYaml *node) {
  KcError error = {0};
  const char *const *list = kc_yaml_strings(arena, path, node, &error);
  if (!list) broken(path, error.line, error.message);
  return list;
}

/* "8.6" -> 86 */
static int version_of(const char *text) {
  if (!text) return 0;
  char *end;
  int major = (int)strtol(text, &end, 10);
  return major * 10 + (*end == '.' ? atoi(end + 1) : 0);
}

static void read_group(KcArena *arena, const char *path, const KcYaml *node, IsaFamily *family,
                       IsaForm **forms, int *capacity) {
  static const char *const known[] = {"event",    "flags",  "violation", "targets", "ptx",
                                      "complete", "claims", "advise",    "forms",   NULL};
  static const char *const advise_keys[] = {"when", "targets", "violation", NULL};
  KcError error = {0};
  if (!kc_yaml_check_keys(path, node, known, &error)) broken(path, error.line, error.message);
  IsaForm shared = {.event = kc_yaml_text(node, "event", NULL),
                    .flags = strings(arena, path, kc_yaml_get(node, "flags")),
                    .violation = kc_yaml_text(node, "violation", family->violation),
                    .targets = strings(arena, path, kc_yaml_get(node, "targets")),
                    .ptx = version_of(kc_yaml_text(node, "ptx", NULL)),
                    .complete = family->complete};
  const KcYaml *complete = kc_yaml_get(node, "complete");
  if (complete && !kc_yaml_bool(complete, &shared.complete))
    broken(path, complete->line, "complete: is true or false");
  const KcYaml *advise = kc_yaml_get(node, "advise");
  if (advise && !kc_yaml_check_keys(path, advise, advise_keys, &error))
    broken(path, error.line, error.message);
  shared.claims = strings(arena, path, kc_yaml_get(node, "claims"));
  shared.advise_when = kc_yaml_text(advise, "when", NULL);
  shared.advise_targets = strings(arena, path, kc_yaml_get(advise, "targets"));
  shared.advise_violation = kc_yaml_text(advise, "violation", NULL);
  const KcYaml *list = kc_yaml_get(node, "forms");
  if (!list || !list->text) broken(path, node->line, "a group needs `forms: |` and a form a line");
  int line = list->line;
  for (const char *at = list->text; *at; line++) {
    size_t length = strcspn(at, "\n");
    const char *text = kc_strndup(arena, at, length);
    at += length + (at[length] == '\n');
    IsaForm form = shared;
    form.line = line + 1;
    const char *problem = NULL;
    if (!isa_parse_form(arena, text, &form, &problem)) broken(path, form.line, problem);
    if (family->nforms == *capacity) {
      int larger = *capacity ? *capacity * 2 : 16;
      *forms = kc_grow(arena, *forms, sizeof **forms * (size_t)*capacity,
                       sizeof **forms * (size_t)larger);
      *capacity = larger;
    }
    (*forms)[family->nforms++] = form;
  }
}

static IsaFamily *read_family(KcArena *arena, const char *opcode) {
  char path[128];
  const KcYaml *root = read_file(arena, path_of(opcode, path, sizeof path));
  if (!root) return NULL;
  static const char *const known[] = {"complete", "section", "violation",
                                      "instead",  "groups",  NULL};
  KcError error = {0};
  if (!kc_yaml_check_keys(path, root, known, &error)) broken(path, error.line, error.message);
  IsaFamily *family = KC_NEW(arena, IsaFamily);
  family->opcode = kc_strdup(arena, opcode);
  family->section = kc_yaml_text(root, "section", "");
  family->violation = kc_yaml_text(root, "violation", "arch-unknown-instruction");
  family->instead = kc_yaml_text(root, "instead", NULL);
  const KcYaml *complete = kc_yaml_get(root, "complete");
  if (complete && !kc_yaml_bool(complete, &family->complete))
    broken(path, complete->line, "complete: is true or false");
  const KcYaml *groups = kc_yaml_get(root, "groups");
  IsaForm *forms = NULL;
  int capacity = 0;
  for (int i = 0; groups && i < groups->count; i++)
    read_group(arena, path, groups->items[i], family, &forms, &capacity);
  family->forms = forms;
  return family;
}

/* knowledge/isa/modifiers.yaml: `flags:` modifier -> IR flag, `data:` opcodes. Its name is that of
 * no opcode. */
static void open_table(void) {
  if (table.arena) return;
  table.arena = kc_arena_new();
  table.families = g_hash_table_new(g_str_hash, g_str_equal);
  table.data = g_hash_table_new(g_str_hash, g_str_equal);
  table.flags = g_hash_table_new(g_str_hash, g_str_equal);
  const char *path = "knowledge/isa/modifiers.yaml";
  const KcYaml *root = read_file(table.arena, path);
  const KcYaml *flags = kc_yaml_get(root, "flags");
  for (int i = 0; flags && i < flags->count; i++)
    g_hash_table_insert(table.flags, (gpointer)flags->keys[i]->text,
                        (gpointer)flags->items[i]->text);
  const char *const *data = strings(table.arena, path, kc_yaml_get(root, "data"));
  for (int i = 0; data[i]; i++)
    g_hash_table_add(table.data, (gpointer)data[i]);
}

const IsaFamily *isa_family(const char *opcode) {
  g_mutex_lock(&table.lock);
  open_table();
  gpointer found = NULL;
  if (!g_hash_table_lookup_extended(table.families, opcode, NULL, &found)) {
    found = read_family(table.arena, opcode);
    g_hash_table_insert(table.families, kc_strdup(table.arena, opcode), found);
  }
  g_mutex_unlock(&table.lock);
  return found;
}

bool isa_is_data(const char *opcode) {
  g_mutex_lock(&table.lock);
  open_table();
  bool found = g_hash_table_contains(table.data, opcode);
  g_mutex_unlock(&table.lock);
  return found;
}

const char *isa_modifier_flag(const char *modifier) {
  g_mutex_lock(&table.lock);
  open_table();
  const char *flag = g_hash_table_lookup(table.flags, modifier);
  g_mutex_unlock(&table.lock);
  return flag;
}

static void add_name(const char *path, const char *text, size_t length, void *user) {
  (void)text;
  (void)length;
  const char *name = strrchr(path, '/') + 1;
  const char *dot = strrchr(name, '.');
  if (!dot || strcmp(dot, ".yaml") != 0 || strcmp(name, "modifiers.yaml") == 0) return;
  g_ptr_array_add(user, g_strndup(name, (gsize)(dot - name)));
}

void isa_each(void (*visit)(const IsaFamily *family, void *user), void *user) {
  g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
  kc_data_each("knowledge/isa/", add_name, names);
  for (guint i = 0; i < names->len; i++)
    visit(isa_family(names->pdata[i]), user);
}
