#include "arch/arch.h"

#include <string.h>

#include <glib.h>

#include "arch/load.h"
#include "support/data.h"
#include "support/suggest.h"

typedef struct {
  ArchTable table;
  KcError error; /* of the file that could not be read, when there was one */
  bool ok;
} Known;

static gint by_number(gconstpointer a, gconstpointer b) {
  const Arch *x = a, *y = b;
  if (x->number != y->number) return x->number - y->number;
  static const char order[] = "fa"; /* the base target first, the full one last */
  int rank_x = x->suffix ? (int)(strchr(order, x->suffix) - order) + 1 : 0;
  int rank_y = y->suffix ? (int)(strchr(order, y->suffix) - order) + 1 : 0;
  return rank_x - rank_y;
}

static void load_one(const char *path, const char *text, size_t length, void *user) {
  Known *known = user;
  if (known->ok) known->ok = arch_load(&known->table, path, text, length, &known->error);
}

static const Known *all_known(void) {
  static const Known *known; /* immutable once made */
  if (g_once_init_enter(&known)) {
    Known *made = g_new0(Known, 1);
    made->table.archs = g_array_new(FALSE, TRUE, sizeof(Arch));
    made->table.former = g_array_new(FALSE, TRUE, sizeof(ArchFormer));
    made->ok = true;
    kc_data_each("knowledge/architectures/", load_one, made);
    g_array_sort(made->table.archs, by_number);
    g_once_init_leave(&known, made);
  }
  return known;
}

/* "100a", "compute_100a" and "sm_100a" all name sm_100a. */
static char *full_name(const char *name) {
  if (g_str_has_prefix(name, "sm_")) return g_strdup(name);
  if (g_str_has_prefix(name, "compute_")) name += strlen("compute_");
  return g_strdup_printf("sm_%s", name);
}

static const Arch *unknown(const Known *known, const char *given, const char *name,
                           KcError *error) {
  kc_fail(error, NULL, 0, 0, "unknown architecture `%s`", given);
  for (guint i = 0; i < known->table.former->len; i++) {
    const ArchFormer *former = &g_array_index(known->table.former, ArchFormer, i);
    if (strcmp(former->name, name) != 0) continue;
    kc_hint(error, "%s is called sm_%d%s now", name, former->number,
            g_ascii_isalpha(name[strlen(name) - 1]) ? name + strlen(name) - 1 : "");
    return NULL;
  }
  g_autofree const char **names = g_new0(const char *, known->table.archs->len + 1);
  for (guint i = 0; i < known->table.archs->len; i++)
    names[i] = g_array_index(known->table.archs, Arch, i).name;
  const char *nearest = kc_suggest(name, names);
  if (nearest)
    kc_hint(error, "did you mean %s?", nearest);
  else
    kc_hint(error, "give a target such as sm_90, sm_100 or sm_100a");
  return NULL;
}

static const Arch *exact(const Known *known, const char *name) {
  for (guint i = 0; i < known->table.archs->len; i++) {
    const Arch *arch = &g_array_index(known->table.archs, Arch, i);
    if (strcmp(arch->name, name) == 0) return arch;
  }
  return NULL;
}

const Arch *arch_find(const char *name, KcError *error) {
  const Known *known = all_known();
  if (!known->ok) {
    kc_fail(error, known->error.path, known->error.line, known->error.column, "%s",
            known->error.message);
    return NULL;
  }
  g_autofree char *full = full_name(name);
  const Arch *arch = exact(known, full);
  return arch ? arch : unknown(known, name, full, error);
}

const Arch *arch_full(const Arch *arch) {
  g_autofree char *name = g_strdup_printf("sm_%da", arch->number);
  const Arch *full = exact(all_known(), name);
  return full ? full : arch;
}

bool arch_covers(const Arch *arch, int capability) {
  if (arch->suffix == 'a') return capability == arch->number;
  if (arch->suffix == 'f' && capability / 10 != arch->number / 10) return false;
  return capability >= arch->number;
}

int arch_launch_bounds_registers(const Arch *arch, int threads, int min_blocks) {
  if (threads < 1 || threads > arch->max_threads_per_block) return arch->max_registers_per_thread;
  if (min_blocks < 1 || min_blocks > arch->max_blocks_per_sm ||
      (int64_t)threads * min_blocks > arch->max_threads_per_sm)
    min_blocks = 1;
  int warps = (threads + 31) / 32 * min_blocks;
  warps = (warps + 3) / 4 * 4; /* one warp slot for each of the 4 sub-partitions */
  int registers = arch->registers_per_sm / (32 * warps) / 8 * 8;
  return MIN(registers, arch->max_registers_per_thread);
}

void arch_each(void (*visit)(const Arch *arch, void *user), void *user) {
  const Known *known = all_known();
  for (guint i = 0; i < known->table.archs->len; i++)
    visit(&g_array_index(known->table.archs, Arch, i), user);
}
