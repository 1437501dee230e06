/* A worker process, its pipes, and what its end means. */
#ifndef KC_CLI_PROCESS_H
#define KC_CLI_PROCESS_H

#include <sys/types.h>

#include "cli/workers.h"

typedef struct Worker {
  pid_t pid;
  int to, from, log; /* pipes: its stdin, stdout, stderr; -1 once closed */
  const char *request, *text;
  gsize request_left, text_left;
  bool stays; /* its stdin stays open behind a request: others follow */
  GString *answer, *messages;
  int64_t deadline;
  size_t memory;
  bool timed_out, too_large;
  int status; /* as wait() gives it */
} Worker;

/* Starts this program again with `flag` (worker.h). False with `error` when it can't be. */
bool process_start(Worker *worker, const char *flag, KcError *error);
void process_close(int *fd);
/* Writes what the pipe takes of the request and the text; closes it behind them, unless it stays.
 */
void process_feed(Worker *worker);
/* Reads what is there of `fd`, which is closed at its end. */
void process_drain(int *fd, GString *into);
/* The same for the log, of which the last part is kept. */
void process_drain_log(Worker *worker);
/* Resident bytes of a process; 0 when the system does not say. */
size_t process_resident(pid_t pid);

/* Takes the result out of the answer of a worker that has ended with worker->status; a diagnostic
 * where there is none (outcome.c). */
void outcome_take(Worker *worker, const Job *job, JobResult *result);
/* A result that says only why there is none. Clears `error`. */
void outcome_fail(const Job *job, JobResult *result, KcError *error);

#endif
