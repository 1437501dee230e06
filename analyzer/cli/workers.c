#include "cli/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/files.h"
#include "cli/limits.h"
#include "cli/longest.h"
#include "cli/verdict.h"
#include "cli/worker.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

extern char **environ;

enum { MAX_LOG = 4096 };

/* One worker while it runs. */
typedef struct {
  pid_t pid;
  int to, from, log; /* pipes: its stdin, stdout, stderr; -1 once closed */
  const char *request, *text;
  gsize request_left, text_left;
  GString *answer, *messages;
  int64_t deadline;
  size_t memory;
  bool cuda; /* needs libclang */
  bool timed_out, too_large;
  const gint *cancelled; /* set by another thread; or NULL */
  int status;
  struct rusage usage;
} Worker;

static char *own_path(void) {
#ifdef __APPLE__
  char path[4096];
  uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? g_strdup(path) : NULL;
#else
  return g_file_read_link("/proc/self/exe", NULL);
#endif
}

static bool make_pipe(int ends[2]) {
  if (pipe(ends) != 0) return false;
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  return true;
}

static int spawn(const char *program, bool cuda, int in, int out, int err, pid_t *pid) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  char *argv[] = {(char *)"kcheck", (char *)(cuda ? WORKER_CUDA_FLAG : WORKER_FLAG), NULL};
  int failed = posix_spawn(pid, program, &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

static void close_end(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

static bool start(Worker *w, KcError *error) {
  /* Pipes and spawn are one step: a descriptor that another thread's worker inherits in between
   * would keep this one's stdin open. */
  static GMutex one_at_a_time;
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  g_autofree char *program = own_path();
  g_mutex_lock(&one_at_a_time);
  int failed = !program || !make_pipe(in) || !make_pipe(out) || !make_pipe(err)
                   ? errno
                   : spawn(program, w->cuda, in[0], out[1], err[1], &w->pid);
  g_mutex_unlock(&one_at_a_time);
  close_end(&in[0]);
  close_end(&out[1]);
  close_end(&err[1]);
  w->to = in[1];
  w->from = out[0];
  w->log = err[0];
  if (!failed) {
    fcntl(w->to, F_SETFL, O_NONBLOCK);
    return true;
  }
  close_end(&w->to);
  close_end(&w->from);
  close_end(&w->log);
  return kc_fail(error, NULL, 0, 0, "cannot start a worker process: %s", g_strerror(failed));
}

/* Resident bytes of the worker; 0 when the system does not say. */
static size_t resident(pid_t pid) {
  char path[64];
  unsigned long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void feed(Worker *w) {
  while (w->request_left + w->text_left > 0) {
    bool head = w->request_left > 0;
    const char **from = head ? &w->request : &w->text;
    gsize *left = head ? &w->request_left : &w->text_left;
    ssize_t count = write(w->to, *from, *left);
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) break;
    *from += count;
    *left -= (gsize)count;
  }
  close_end(&w->to);
}

static void drain(int *fd, GString *into) {
  char buffer[65536];
  ssize_t count = read(*fd, buffer, sizeof buffer);
  if (count > 0)
    g_string_append_len(into, buffer, count);
  else if (count == 0 || errno != EINTR)
    close_end(fd);
}

/* Moves bytes until the worker has closed its ends; kills it when it is over a limit. */
static void talk(Worker *w) {
  while (w->from >= 0 || w->log >= 0) {
    struct pollfd fds[] = {{.fd = w->to, .events = POLLOUT},
                           {.fd = w->from, .events = POLLIN},
                           {.fd = w->log, .events = POLLIN}};
    int ready = poll(fds, 3, LIMIT_WATCH_MS);
    if (ready > 0 && fds[0].revents) feed(w);
    if (ready > 0 && fds[1].revents) drain(&w->from, w->answer);
    if (ready > 0 && fds[2].revents) drain(&w->log, w->messages);
    if (w->messages->len > MAX_LOG)
      g_string_erase(w->messages, 0, (gssize)(w->messages->len - MAX_LOG));
    if (w->timed_out || w->too_large) continue;
    w->timed_out = g_get_monotonic_time() > w->deadline;
    w->too_large = resident(w->pid) > w->memory;
    bool cancelled = w->cancelled && g_atomic_int_get(w->cancelled);
    if (w->timed_out || w->too_large || cancelled) kill(w->pid, SIGKILL);
  }
}

static bool ran_out_of_memory(const Worker *w) {
  static const char *const signs[] = {"out of memory", "bad_alloc", "failed to allocate",
                                      "Cannot allocate memory"};
  if (w->too_large) return true;
  for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
    if (strstr(w->messages->str, signs[i])) return true;
  return false;
}

/* The last stage that the worker announced. */
static char *last_stage(const Worker *w) {
  gsize length = w->answer->len;
  while (length > 0 && w->answer->str[length - 1] == '\n')
    length--;
  gsize start = length;
  while (start > 0 && w->answer->str[start - 1] != '\n')
    start--;
  return length > start ? g_strndup(w->answer->str + start, length - start) : g_strdup("start");
}

/* The place that a file most likely failed at while clang or the lowering read it: its longest
 * statement, when that is longer than anything written by hand. Line 0: none. */
static LongestStatement likely_place(const Job *job, const char *stage) {
  enum { SUSPICIOUS = 2000 };
  LongestStatement none = {0};
  g_autofree char *read = NULL;
  gsize length = job->length;
  if (job->is_ptx || !(g_str_has_prefix(stage, "parse") || g_str_has_prefix(stage, "lower")))
    return none;
  if (!job->text && !files_read(job->path, &read, &length, NULL)) return none;
  LongestStatement longest = longest_statement(job->text ? job->text : read, length);
  return longest.tokens >= SUSPICIOUS ? longest : none;
}

/* Says in one line why there is no answer. */
static void diagnose(const Worker *w, const Job *job, KcError *error) {
  g_autofree char *stage = last_stage(w);
  LongestStatement place = likely_place(job, stage);
  g_autofree char *where =
      place.line
          ? g_strdup_printf("%s; the statement that begins here has %u tokens", stage, place.tokens)
          : g_strdup(stage);
  int line = (int)place.line;
  bool slow = WIFSIGNALED(w->status) && WTERMSIG(w->status) == SIGXCPU;
  if (w->timed_out || slow) {
    double limit = (double)(slow ? limit_parse_us(job->timeout_us) : job->timeout_us) / 1e6;
    kc_fail(error, job->path, line, 0, "not checked: took longer than %.3g s (in stage: %s)", limit,
            where);
    kc_hint(error, "--timeout gives it more");
  } else if (ran_out_of_memory(w)) {
    kc_fail(error, job->path, line, 0,
            "not checked: needs more than %zu MB of memory (in stage: %s)", job->memory >> 20,
            where);
    kc_hint(error, "--memory-limit gives it more");
  } else if (WIFSIGNALED(w->status)) {
    kc_fail(error, job->path, line, 0, "not checked: the checker crashed on it (%s, in stage: %s)",
            g_strsignal(WTERMSIG(w->status)), where);
    kc_hint(error, "%s", place.line ? "break the statement up" : "please report it with the file");
  } else {
    kc_fail(error, job->path, line, 0, "not checked: the checker stopped on it (in stage: %s)",
            where);
    kc_hint(error, "--verbose shows what it said");
  }
}

/* Reads the last line of the answer; false when it is not there. */
static bool read_answer(const Worker *w, JobResult *result, KcError *error) {
  const char *brace = w->answer->str;
  if (*brace != '{') {
    brace = strstr(w->answer->str, "\n{");
    if (!brace) return false;
    brace++;
  }
  json_t *json = json_loads(brace, 0, NULL);
  if (!json) return false;
  result->output = g_strdup(json_string_value(json_object_get(json, "output")));
  bool read = report_from_json(result->report, json_object_get(json, "report"), error);
  json_decref(json);
  return read;
}

static void finish(Worker *w, const Job *job, JobResult *result) {
  KcError error = {0};
  while (wait4(w->pid, &w->status, 0, &w->usage) < 0 && errno == EINTR) {
  }
  bool ended =
      !w->timed_out && !w->too_large && WIFEXITED(w->status) && WEXITSTATUS(w->status) == 0;
  if (!ended || !read_answer(w, result, &error)) {
    kc_error_clear(&error);
    diagnose(w, job, &error);
    ReportFile *file = report_file_new(job->path, "checked");
    verdict_failed(file, &error);
    for (guint i = 0; i < job->targets->len; i++)
      g_ptr_array_add(file->archs, g_strdup(((JobTarget *)job->targets->pdata[i])->arch));
    g_ptr_array_add(result->report->files, file);
  }
  if (w->messages->len > 0)
    result->log = g_utf8_make_valid(w->messages->str, (gssize)w->messages->len);
  kc_error_clear(&error);
}

JobResult *workers_run_one(const Job *job) {
  return workers_run_unless(job, NULL);
}

JobResult *workers_run_unless(const Job *job, const gint *cancelled) {
  JobResult *result = g_new0(JobResult, 1);
  result->report = report_new();
  KcError error = {0};
  int64_t started = g_get_monotonic_time();
  g_autofree char *request = job_to_request(job);
  Worker w = {.request = request,
              .request_left = strlen(request),
              .text = job->text,
              .text_left = job->text ? job->length : 0,
              .deadline = started + job->timeout_us,
              .memory = job->memory,
              .cuda = !job->is_ptx,
              .cancelled = cancelled,
              .answer = g_string_new(NULL),
              .messages = g_string_new(NULL)};
  if (start(&w, &error)) {
    talk(&w);
    finish(&w, job, result);
  } else {
    ReportFile *file = report_file_new(job->path, "checked");
    verdict_failed(file, &error);
    g_ptr_array_add(result->report->files, file);
    kc_error_clear(&error);
  }
  close_end(&w.to);
  for (guint i = 0; i < result->report->files->len; i++)
    ((ReportFile *)result->report->files->pdata[i])->time_us = g_get_monotonic_time() - started;
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
