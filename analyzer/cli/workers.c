#include "cli/workers.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/limits.h"
#include "cli/process.h"
#include "cli/worker.h"

/* Moves bytes until the worker has closed its ends; kills it when it is over a limit. */
static void talk(Worker *w, const gint *cancelled) {
  while (w->from >= 0 || w->log >= 0) {
    struct pollfd fds[] = {{.fd = w->to, .events = POLLOUT},
                           {.fd = w->from, .events = POLLIN},
                           {.fd = w->log, .events = POLLIN}};
    int ready = poll(fds, 3, LIMIT_WATCH_MS);
    if (ready > 0 && fds[0].revents) process_feed(w);
    if (ready > 0 && fds[1].revents) process_drain(&w->from, w->answer);
    if (ready > 0 && fds[2].revents) process_drain_log(w);
    if (w->timed_out || w->too_large) continue;
    w->timed_out = g_get_monotonic_time() > w->deadline;
    w->too_large = process_resident(w->pid) > w->memory;
    bool given_up = cancelled && g_atomic_int_get(cancelled);
    if (w->timed_out || w->too_large || given_up) kill(w->pid, SIGKILL);
  }
}

JobResult *job_result_new(void) {
  JobResult *result = g_new0(JobResult, 1);
  result->report = report_new();
  return result;
}

void job_result_set_time(JobResult *result, int64_t started) {
  for (guint i = 0; i < result->report->files->len; i++)
    ((ReportFile *)result->report->files->pdata[i])->time_us = g_get_monotonic_time() - started;
}

JobResult *workers_run_one(const Job *job) {
  return workers_run_unless(job, NULL);
}

JobResult *workers_run_unless(const Job *job, const gint *cancelled) {
  JobResult *result = job_result_new();
  KcError error = {0};
  int64_t started = g_get_monotonic_time();
  g_autofree char *request = job_to_request(job);
  Worker w = {.request = request,
              .request_left = strlen(request),
              .text = job->text,
              .text_left = job->text ? job->length : 0,
              .deadline = started + job->timeout_us,
              .memory = job->memory,
              .answer = g_string_new(NULL),
              .messages = g_string_new(NULL)};
  if (process_start(&w, job->is_ptx ? WORKER_FLAG : WORKER_CUDA_FLAG, &error)) {
    talk(&w, cancelled);
    while (waitpid(w.pid, &w.status, 0) < 0 && errno == EINTR) {
    }
    outcome_take(&w, job, result);
  } else {
    outcome_fail(job, result, &error);
  }
  process_close(&w.to);
  job_result_set_time(result, started);
  g_string_free(w.answer, TRUE);
  g_string_free(w.messages, TRUE);
  return result;
}

void job_result_free(JobResult *result) {
  if (!result) return;
  report_free(result->report);
  g_free(result->output);
  g_free(result->log);
  g_free(result);
}

static void run_queued(gpointer data, gpointer user) {
  const GPtrArray *jobs = ((gpointer *)user)[0];
  GPtrArray *results = ((gpointer *)user)[1];
  guint index = GPOINTER_TO_UINT(data) - 1;
  results->pdata[index] = workers_run_one(jobs->pdata[index]);
}

GPtrArray *workers_run(const GPtrArray *jobs, int parallel) {
  GPtrArray *results = g_ptr_array_new_with_free_func((GDestroyNotify)job_result_free);
  g_ptr_array_set_size(results, (gint)jobs->len);
  if (parallel <= 0) parallel = (int)g_get_num_processors();
  if (parallel == 1 || jobs->len == 1) {
    for (guint i = 0; i < jobs->len; i++)
      results->pdata[i] = workers_run_one(jobs->pdata[i]);
    return results;
  }
  gpointer shared[] = {(gpointer)jobs, results};
  GThreadPool *pool = g_thread_pool_new(run_queued, shared, parallel, TRUE, NULL);
  for (guint i = 0; i < jobs->len; i++)
    g_thread_pool_push(pool, GUINT_TO_POINTER(i + 1), NULL);
  g_thread_pool_free(pool, FALSE, TRUE);
  return results;
}
