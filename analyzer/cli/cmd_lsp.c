/* kcheck lsp: the language server. The protocol is in lsp/; here texts are checked for it, each as
 * `kcheck -` would: settings of its project, a worker process, the project's baseline. */
#include <string.h>

#include "cli/baseline.h"
#include "cli/cli.h"
#include "cli/kept_worker.h"
#include "cli/lsp_settings.h"
#include "cli/names.h"
#include "cli/verdict.h"
#include "cli/workers.h"
#include "lsp/lsp.h"

/* Workers that are kept at a time: each has some 60 MB, with CUTLASS's headers some hundred. */
enum { MAX_WORKERS = 8 };

typedef struct {
  CliOptions given;    /* the command line */
  CliOptions *options; /* with the editor's settings on top; counted, never changed */
  GThreadPool *pool;
  GHashTable *workers; /* path -> KeptWorker* */
  GQueue recent;       /* char*: their paths (the table's), the last used first */
} Host;

struct LspCheck {
  char *path, *text;
  gsize length;
  CliOptions *options;
  KeptWorker *worker;
  gint cancelled;
  Report *report; /* when it has ended */
  LspDone *done;
  void *data;
};

/* ---- settings ---- */

static void options_drop(CliOptions *options) {
  g_atomic_rc_box_release_full(options, (GDestroyNotify)options_clear);
}

static bool configure(void *user, const json_t *settings, KcError *error) {
  Host *host = user;
  CliOptions *options = g_atomic_rc_box_new0(CliOptions);
  lsp_settings_copy(options, &host->given);
  bool good = lsp_settings_read(settings, options, error);
  if (host->options) options_drop(host->options);
  host->options = options;
  return good;
}

/* ---- one check, on a thread of the pool ---- */

static void fail_check(LspCheck *check, KcError *error) {
  ReportFile *file = report_file_new(check->path, "failed");
  verdict_failed(file, error);
  g_ptr_array_add(check->report->files, file);
  kc_error_clear(error);
}

static void use_baseline(LspCheck *check, const char *path) {
  KcError error = {0};
  Baseline *baseline = baseline_open(path, &error);
  if (baseline)
    baseline_filter(baseline, check->report->findings);
  else
    fail_check(check, &error);
  baseline_free(baseline);
}

static void run_job(LspCheck *check) {
  KcError error = {0};
  g_autoptr(Configs) configs = configs_new();
  g_autoptr(GHashTable) compdbs =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)compdb_free);
  g_autoptr(Job) job = job_new("check", check->path, check->options, configs, compdbs, &error);
  if (!job) {
    fail_check(check, &error);
    return;
  }
  job->text = g_steal_pointer(&check->text);
  job->length = check->length;
  JobResult *result = job->is_ptx ? workers_run_unless(job, &check->cancelled)
                                  : kept_worker_run(check->worker, job, &check->cancelled);
  report_free(check->report);
  check->report = g_steal_pointer(&result->report);
  job_result_free(result);
  if (job->settings.baseline && !g_atomic_int_get(&check->cancelled))
    use_baseline(check, job->settings.baseline);
}

static void check_free(LspCheck *check) {
  options_drop(check->options);
  kept_worker_unref(check->worker);
  if (check->report) report_free(check->report);
  g_free(check->path);
  g_free(check->text);
  g_free(check);
}

static gboolean deliver(gpointer data) {
  LspCheck *check = data;
  if (!g_atomic_int_get(&check->cancelled))
    check->done(g_steal_pointer(&check->report), check->data);
  check_free(check);
  return G_SOURCE_REMOVE;
}

static void run_check(gpointer data, gpointer user) {
  (void)user;
  LspCheck *check = data;
  if (!g_atomic_int_get(&check->cancelled)) run_job(check);
  g_idle_add(deliver, check);
}

/* ---- workers ---- */

static void forget(void *user, const char *path) {
  Host *host = user;
  if (path) {
    GList *link = g_queue_find_custom(&host->recent, path, (GCompareFunc)strcmp);
    if (link) g_queue_delete_link(&host->recent, link);
    g_hash_table_remove(host->workers, path);
  } else {
    g_queue_clear(&host->recent);
    g_hash_table_remove_all(host->workers);
  }
}

static KeptWorker *worker_of(Host *host, const char *path) {
  GList *link = g_queue_find_custom(&host->recent, path, (GCompareFunc)strcmp);
  if (link) {
    g_queue_unlink(&host->recent, link);
    g_queue_push_head_link(&host->recent, link);
    return g_hash_table_lookup(host->workers, path);
  }
  if (g_hash_table_size(host->workers) >= MAX_WORKERS)
    forget(host, g_queue_peek_tail(&host->recent));
  char *key = g_strdup(path);
  KeptWorker *worker = kept_worker_new();
  g_hash_table_insert(host->workers, key, worker);
  g_queue_push_head(&host->recent, key);
  return worker;
}

static LspCheck *start(void *user, const char *path, const char *text, gsize length, LspDone *done,
                       void *data) {
  Host *host = user;
  LspCheck *check = g_new0(LspCheck, 1);
  *check = (LspCheck){.path = g_strdup(path),
                      .text = g_malloc(length + 1),
                      .length = length,
                      .options = g_atomic_rc_box_acquire(host->options),
                      .worker = kept_worker_ref(worker_of(host, path)),
                      .report = report_new(),
                      .done = done,
                      .data = data};
  memcpy(check->text, text, length + 1);
  g_thread_pool_push(host->pool, check, NULL);
  return check;
}

static void cancel(void *user, LspCheck *check) {
  (void)user;
  g_atomic_int_set(&check->cancelled, 1);
}

int cmd_lsp(int argc, char **argv) {
  KcError error = {0};
  Host host = {0};
  if (!options_parse(&host.given, "lsp", argc, argv, &error) ||
      !names_check(&host.given.settings, NULL, 0, &error)) {
    options_clear(&host.given);
    return cli_fail(&error);
  }
  host.options = g_atomic_rc_box_new0(CliOptions);
  lsp_settings_copy(host.options, &host.given);
  int parallel = host.given.jobs > 0 ? host.given.jobs : (int)g_get_num_processors();
  host.workers =
      g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)kept_worker_unref);
  host.pool = g_thread_pool_new(run_check, NULL, parallel, FALSE, NULL);
  int status = lsp_serve(&(LspHost){&host, configure, start, cancel, forget});
  g_thread_pool_free(host.pool, FALSE, TRUE);
  while (g_main_context_iteration(NULL, FALSE)) {
  }
  forget(&host, NULL);
  g_hash_table_unref(host.workers);
  options_drop(host.options);
  options_clear(&host.given);
  return status;
}
