/* Everything that a project can hand over as YAML or JSON: rule files, .kcheck.yaml, launch
 * descriptions, event tables, compile commands and baselines. Each reader gets every input. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>

#include "cli/baseline.h"
#include "cli/compdb.h"
#include "cli/config.h"
#include "dialect/dialect.h"
#include "rules/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A reader that fails says why; one that succeeds says nothing. */
static void must_agree(bool good, KcError *error) {
  if (good == (error->message != NULL)) abort();
  kc_error_clear(error);
}

static void read_rule(const uint8_t *data, size_t size) {
  KcArena *arena = kc_arena_new();
  KcError error = {0};
  const Rule *rule =
      rule_parse(arena, "rules/smem/smem-race.yaml", (const char *)data, size, &error);
  must_agree(rule != NULL, &error);
  kc_arena_free(arena);
}

static void read_settings(const char *path) {
  KcError error = {0};
  g_autoptr(Configs) configs = configs_new();
  g_auto(Settings) configured = {0};
  must_agree(configs_apply(configs, "src/gemm.cu", path, &configured, &error), &error);
  g_auto(Settings) described = {0};
  must_agree(config_read_launches(path, &described, &error), &error);
}

/* Loading the built-in tables takes longer than all readers together: a set of them serves many
 * inputs. */
static void read_dialect(const char *path) {
  enum { INPUTS_A_SET = 512 };
  static Dialects *dialects;
  static int inputs;
  KcError error = {0};
  if (inputs++ % INPUTS_A_SET == 0) {
    if (dialects) dialects_free(dialects);
    dialects = dialects_load(&error);
  }
  if (!dialects) abort();
  must_agree(dialects_add_file(dialects, path, &error), &error);
  dialects_match(dialects, "ns::Barrier::wait", 2);
}

static void read_json(const char *path) {
  KcError error = {0};
  Compdb *compdb = compdb_open(path, &error);
  must_agree(compdb != NULL, &error);
  g_auto(Settings) settings = {0};
  if (compdb) {
    compdb_lookup(compdb, "src/gemm.cu", &settings);
    compdb_free(compdb);
  }
  Baseline *baseline = baseline_open(path, &error);
  must_agree(baseline != NULL, &error);
  if (baseline) baseline_free(baseline);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int file = memfd_create("input", 0);
  if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
  g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", file);
  read_rule(data, size);
  read_settings(path);
  read_dialect(path);
  read_json(path);
  close(file);
  return 0;
}
