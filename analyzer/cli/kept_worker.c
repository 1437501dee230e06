#include "cli/kept_worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/limits.h"
#include "cli/process.h"
#include "cli/worker.h"

#define CHEAP_US 300000

struct KeptWorker {
  gint refs;
  GMutex busy; /* held while a job runs */
  bool alive;
  bool answering; /* a job that was given up has not ended */
  Worker process;
  pid_t child;               /* the fork that runs the job; 0: not yet, or no longer */
  int64_t started, first_us; /* of its first job: when, and how long it parsed; 0: not known */
};

KeptWorker *kept_worker_new(void) {
  KeptWorker *worker = g_new0(KeptWorker, 1);
  worker->refs = 1;
  g_mutex_init(&worker->busy);
  worker->process.answer = g_string_new(NULL);
  worker->process.messages = g_string_new(NULL);
  worker->process.stays = true;
  return worker;
}

KeptWorker *kept_worker_ref(KeptWorker *worker) {
  g_atomic_int_inc(&worker->refs);
  return worker;
}

/* Waits for the process, which has ended or is made to. */
static void bury(KeptWorker *worker, bool end_it) {
  Worker *w = &worker->process;
  if (!worker->alive) return;
  if (worker->child > 0) kill(worker->child, SIGKILL);
  if (end_it) kill(w->pid, SIGKILL);
  while (waitpid(w->pid, &w->status, 0) < 0 && errno == EINTR) {
  }
  process_close(&w->to);
  process_close(&w->from);
  process_close(&w->log);
  worker->alive = worker->answering = false;
  worker->child = 0;
}

void kept_worker_unref(KeptWorker *worker) {
  if (!g_atomic_int_dec_and_test(&worker->refs)) return;
  bury(worker, true);
  g_string_free(worker->process.answer, TRUE);
  g_string_free(worker->process.messages, TRUE);
  g_mutex_clear(&worker->busy);
  g_free(worker);
}

/* What follows `word` on a whole line of the answer, or NULL. */
static const char *line_after(const GString *answer, const char *word) {
  gsize size = strlen(word);
  const char *at = answer->str;
  for (const char *newline; (newline = strchr(at, '\n')) != NULL; at = newline + 1)
    if (strncmp(at, word, size) == 0) return at + size;
  return NULL;
}

/* Whether the job has ended; its status is then that of the fork. */
static bool has_ended(KeptWorker *worker) {
  Worker *w = &worker->process;
  const char *pid = line_after(w->answer, "pid ");
  if (pid && !worker->child) worker->child = (pid_t)atol(pid);
  if (pid && !worker->first_us) worker->first_us = g_get_monotonic_time() - worker->started;
  const char *end = line_after(w->answer, "end ");
  if (!end) return false;
  int number = atoi(end + strcspn(end, " "));
  w->status = g_str_has_prefix(end, "exit") ? number << 8 : number;
  worker->answering = false;
  worker->child = 0;
  return true;
}

/* The fork can be ended without the loss of what is kept; before there is one, the worker itself.
 */
static void end_job(KeptWorker *worker) {
  kill(worker->child > 0 ? worker->child : worker->process.pid, SIGKILL);
}

static void watch(KeptWorker *worker, const gint *cancelled) {
  Worker *w = &worker->process;
  if (w->timed_out || w->too_large) return;
  w->timed_out = g_get_monotonic_time() > w->deadline;
  w->too_large = process_resident(worker->child > 0 ? worker->child : w->pid) > w->memory;
  bool given_up = worker->child > 0 && g_atomic_int_get(cancelled);
  if (w->timed_out || w->too_large || given_up) end_job(worker);
}

/* Whether a new process has parsed sooner than one would wait for this one to come to an end. */
static bool is_cheap(const KeptWorker *worker) {
  return worker->first_us > 0 && worker->first_us < CHEAP_US;
}

/* Moves bytes until the job has ended (true), the process has (false), or the job is given up while
 * the worker parses for it (false, worker->answering): the next one will wait for that. */
static bool talk(KeptWorker *worker, const gint *cancelled) {
  Worker *w = &worker->process;
  while (w->from >= 0) {
    struct pollfd fds[] = {{.fd = w->request_left + w->text_left ? w->to : -1, .events = POLLOUT},
                           {.fd = w->from, .events = POLLIN},
                           {.fd = w->log, .events = POLLIN}};
    int ready = poll(fds, 3, LIMIT_WATCH_MS);
    if (ready > 0 && fds[0].revents) process_feed(w);
    if (ready > 0 && fds[2].revents) process_drain_log(w);
    if (ready > 0 && fds[1].revents) {
      process_drain(&w->from, w->answer);
      if (has_ended(worker)) return true;
    }
    bool fed = w->request_left + w->text_left == 0;
    if (fed && worker->child == 0 && g_atomic_int_get(cancelled)) {
      if (is_cheap(worker)) bury(worker, true);
      return false;
    }
    watch(worker, cancelled);
  }
  return false;
}

/* Lets the job that was given up come to its end, which is near: it is killed once it runs. */
static void clear_the_way(KeptWorker *worker, const gint *cancelled) {
  static const gint given_up = 1;
  Worker *w = &worker->process;
  while (worker->answering && w->from >= 0 && !g_atomic_int_get(cancelled)) {
    struct pollfd fds[] = {{.fd = w->from, .events = POLLIN}, {.fd = w->log, .events = POLLIN}};
    int ready = poll(fds, 2, LIMIT_WATCH_MS);
    if (ready > 0 && fds[1].revents) process_drain_log(w);
    if (ready > 0 && fds[0].revents) process_drain(&w->from, w->answer);
    if (!has_ended(worker)) watch(worker, &given_up);
  }
  if (worker->alive && w->from < 0) bury(worker, true);
}

static void set_job(KeptWorker *worker, const Job *job, const char *request) {
  Worker *w = &worker->process;
  g_string_truncate(w->answer, 0);
  g_string_truncate(w->messages, 0);
  w->request = request;
  w->request_left = strlen(request);
  w->text = job->text;
  w->text_left = job->text ? job->length : 0;
  w->deadline = g_get_monotonic_time() + job->timeout_us;
  w->memory = job->memory;
  w->timed_out = w->too_large = false;
  worker->child = 0;
}

/* A worker that was killed while it had nothing to do is no failure of this job. */
static bool is_there(const KeptWorker *worker) {
  struct pollfd from = {.fd = worker->process.from, .events = POLLIN};
  return worker->alive && poll(&from, 1, 0) == 0;
}

static void run(KeptWorker *worker, const Job *job, const gint *cancelled, JobResult *result) {
  KcError error = {0};
  g_autofree char *request = job_to_request(job);
  clear_the_way(worker, cancelled);
  if (g_atomic_int_get(cancelled)) return;
  if (!is_there(worker)) bury(worker, true);
  if (!worker->alive) {
    worker->alive = process_start(&worker->process, WORKER_KEEP_FLAG, &error);
    worker->started = g_get_monotonic_time();
    worker->first_us = 0;
  }
  if (!worker->alive) {
    outcome_fail(job, result, &error);
    return;
  }
  set_job(worker, job, request);
  worker->answering = true;
  bool ended = talk(worker, cancelled);
  if (!ended && g_atomic_int_get(cancelled)) return;
  if (!ended) bury(worker, false);
  outcome_take(&worker->process, job, result);
}

JobResult *kept_worker_run(KeptWorker *worker, const Job *job, const gint *cancelled) {
  JobResult *result = job_result_new();
  int64_t started = g_get_monotonic_time();
  g_mutex_lock(&worker->busy);
  run(worker, job, cancelled, result);
  g_mutex_unlock(&worker->busy);
  job_result_set_time(result, started);
  return result;
}
