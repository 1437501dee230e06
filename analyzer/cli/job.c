#include "cli/job.h"

#include <string.h>
#include <sys/stat.h>

#include "arch/arch.h"
#include "cli/limits.h"

static void target_free(gpointer data) {
  JobTarget *target = data;
  g_free(target->arch);
  g_free(target);
}

GPtrArray *job_targets_new(void) {
  return g_ptr_array_new_with_free_func(target_free);
}

static Job *job_alloc(void) {
  Job *job = g_new0(Job, 1);
  job->targets = job_targets_new();
  return job;
}

void job_free(Job *job) {
  if (!job) return;
  g_free(job->command);
  g_free(job->path);
  g_free(job->text);
  g_free(job->dump);
  g_free(job->extra);
  settings_clear(&job->settings);
  g_ptr_array_unref(job->targets);
  g_free(job);
}

void job_add_target(Job *job, const char *arch, bool exact) {
  JobTarget *target = g_new0(JobTarget, 1);
  *target = (JobTarget){.arch = g_strdup(arch), .exact = exact};
  g_ptr_array_add(job->targets, target);
}

/* "--arch sm_100" means that GPU with all it has; "--arch sm_100a" is as exact as --target. */
static void resolve_targets(Job *job) {
  for (char **name = job->settings.archs; name && *name; name++) {
    const Arch *arch = arch_find(*name, NULL);
    if (arch)
      job_add_target(job, arch->suffix ? arch->name : arch_full(arch)->name, arch->suffix != 0);
  }
  for (char **name = job->settings.targets; name && *name; name++) {
    const Arch *arch = arch_find(*name, NULL);
    if (arch) job_add_target(job, arch->name, true);
  }
  /* A PTX module names its target itself, and of a source the worker guesses it. */
  job->default_arch = job->targets->len == 0 && !job->is_ptx;
}

static bool add_compile_command(Job *job, const char *database, GHashTable *compdbs,
                                KcError *error) {
  Compdb *compdb = g_hash_table_lookup(compdbs, database);
  if (!compdb) {
    compdb = compdb_open(database, error);
    if (!compdb) return false;
    g_hash_table_insert(compdbs, g_strdup(database), compdb);
  }
  compdb_lookup(compdb, job->path, &job->settings);
  return true;
}

static bool collect_settings(Job *job, const CliOptions *options, Configs *configs,
                             GHashTable *compdbs, KcError *error) {
  g_auto(Settings) own = {0};
  if (!configs_apply(configs, job->path, options->config, &own, error)) return false;
  for (char **file = options->launch_files; file && *file; file++)
    if (!config_read_launches(*file, &own, error)) return false;
  settings_overlay(&own, &options->settings);
  if (own.compile_commands && !add_compile_command(job, own.compile_commands, compdbs, error))
    return false;
  settings_overlay(&job->settings, &own);
  return true;
}

static void set_limits(Job *job, const CliOptions *options) {
  struct stat info;
  gsize bytes = job->text ? job->length : stat(job->path, &info) == 0 ? (gsize)info.st_size : 0;
  job->timeout_us = options->timeout_s > 0     ? (int64_t)(options->timeout_s * 1e6)
                    : bytes > LIMIT_LARGE_FILE ? LIMIT_LARGE_TIME_US
                                               : LIMIT_TIME_US;
  job->memory = options->memory_mb > 0 ? (size_t)options->memory_mb << 20 : LIMIT_MEMORY;
}

Job *job_new(const char *command, const char *path, const CliOptions *options, Configs *configs,
             GHashTable *compdbs, KcError *error) {
  g_autoptr(Job) job = job_alloc();
  job->command = g_strdup(command);
  job->path = g_strdup(path);
  job->is_ptx = g_str_has_suffix(path, ".ptx");
  job->dump = g_strdup(options->dump);
  job->strict = options->strict;
  if (!g_utf8_validate(path, -1, NULL)) {
    kc_fail(error, NULL, 0, 0, "a path that is not UTF-8 cannot be reported");
    return NULL;
  }
  if (!collect_settings(job, options, configs, compdbs, error)) return NULL;
  resolve_targets(job);
  set_limits(job, options);
  return g_steal_pointer(&job);
}

char *job_to_request(const Job *job) {
  json_t *targets = json_array();
  for (guint i = 0; i < job->targets->len; i++) {
    const JobTarget *target = job->targets->pdata[i];
    json_array_append_new(targets, json_pack("[sb]", target->arch, target->exact));
  }
  json_t *json = json_pack(
      "{ss ss so so ss* ss* sb sb sb sI sI sI}", "command", job->command, "path", job->path,
      "settings", settings_to_json(&job->settings), "targets", targets, "dump", job->dump, "extra",
      job->extra, "strict", job->strict, "default_arch", job->default_arch, "has_text",
      job->text != NULL, "timeout_us", (json_int_t)job->timeout_us, "memory",
      (json_int_t)job->memory, "length", (json_int_t)(job->text ? job->length : 0));
  char *dumped = json ? json_dumps(json, JSON_COMPACT) : NULL;
  char *request = dumped ? g_strconcat(dumped, "\n", NULL) : NULL;
  free(dumped);
  json_decref(json);
  return request;
}

Job *job_from_request(const char *request, gsize length) {
  const char *newline = memchr(request, '\n', length);
  json_t *json = newline ? json_loadb(request, (size_t)(newline - request), 0, NULL) : NULL;
  if (!json) return NULL;
  Job *job = job_alloc();
  job->command = g_strdup(json_string_value(json_object_get(json, "command")));
  job->path = g_strdup(json_string_value(json_object_get(json, "path")));
  job->is_ptx = g_str_has_suffix(job->path, ".ptx");
  job->dump = g_strdup(json_string_value(json_object_get(json, "dump")));
  job->extra = g_strdup(json_string_value(json_object_get(json, "extra")));
  job->strict = json_is_true(json_object_get(json, "strict"));
  job->default_arch = json_is_true(json_object_get(json, "default_arch"));
  job->timeout_us = json_integer_value(json_object_get(json, "timeout_us"));
  job->started_us = g_get_monotonic_time();
  job->memory = (size_t)json_integer_value(json_object_get(json, "memory"));
  settings_from_json(&job->settings, json_object_get(json, "settings"));
  size_t i;
  json_t *target;
  json_array_foreach(json_object_get(json, "targets"), i, target) job_add_target(
      job, json_string_value(json_array_get(target, 0)), json_is_true(json_array_get(target, 1)));
  if (json_is_true(json_object_get(json, "has_text"))) {
    job->length = length - (gsize)(newline + 1 - request);
    job->text = g_malloc(job->length + 1);
    memcpy(job->text, newline + 1, job->length);
    job->text[job->length] = 0;
  }
  json_decref(json);
  return job;
}
