#include "cli/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <unistd.h>

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

extern char **environ;

enum { MAX_LOG = 4096 };

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

static int spawn(const char *program, const char *flag, int in, int out, int err, pid_t *pid) {
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
  char *argv[] = {(char *)"kcheck", (char *)flag, NULL};
  int failed = posix_spawn(pid, program, &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

void process_close(int *fd) {
  if (*fd >= 0) close(*fd);
  *fd = -1;
}

bool process_start(Worker *w, const char *flag, KcError *error) {
  /* Pipes and spawn are one step: a descriptor that another thread's worker inherits in between
   * would keep this one's stdin open. */
  static GMutex one_at_a_time;
  int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  g_autofree char *program = own_path();
  g_mutex_lock(&one_at_a_time);
  int failed = !program || !make_pipe(in) || !make_pipe(out) || !make_pipe(err)
                   ? errno
                   : spawn(program, flag, in[0], out[1], err[1], &w->pid);
  g_mutex_unlock(&one_at_a_time);
  process_close(&in[0]);
  process_close(&out[1]);
  process_close(&err[1]);
  w->to = in[1];
  w->from = out[0];
  w->log = err[0];
  if (!failed) {
    fcntl(w->to, F_SETFL, O_NONBLOCK);
    return true;
  }
  process_close(&w->to);
  process_close(&w->from);
  process_close(&w->log);
  return kc_fail(error, NULL, 0, 0, "cannot start a worker process: %s", g_strerror(failed));
}

size_t process_resident(pid_t pid) {
  char path[64];
  unsigned long pages = 0;
  snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%*u %lu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

void process_feed(Worker *w) {
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
  if (!w->stays) process_close(&w->to);
}

void process_drain(int *fd, GString *into) {
  char buffer[65536];
  ssize_t count = read(*fd, buffer, sizeof buffer);
  if (count > 0)
    g_string_append_len(into, buffer, count);
  else if (count == 0 || errno != EINTR)
    process_close(fd);
}

void process_drain_log(Worker *w) {
  process_drain(&w->log, w->messages);
  if (w->messages->len > MAX_LOG)
    g_string_erase(w->messages, 0, (gssize)(w->messages->len - MAX_LOG));
}
