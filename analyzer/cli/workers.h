/* The parent's side of the worker processes: each file is read in a process of its own, under time
 * and memory limits, several at a time. A worker that crashes, hangs or needs too much becomes a
 * diagnostic of its file, and the others go on. */
#ifndef KC_CLI_WORKERS_H
#define KC_CLI_WORKERS_H

#include "cli/job.h"
#include "report/report.h"

typedef struct JobResult {
  Report *report; /* this file's part; never NULL */
  char *output;   /* text of a command or of --dump; may be empty */
  char *log;      /* what the worker wrote on stderr (its last part), or NULL */
} JobResult;

JobResult *job_result_new(void);
void job_result_free(JobResult *result);
/* Sets the time of its files, which began at `started` (monotonic). */
void job_result_set_time(JobResult *result, int64_t started);

/* Runs one job in a worker process and waits for it. Never NULL. */
JobResult *workers_run_one(const Job *job);
/* The same, given up (the worker is killed) once *cancelled is not 0; what comes back then says
 * nothing. */
JobResult *workers_run_unless(const Job *job, const gint *cancelled);
/* Runs `jobs` (Job*), `parallel` at a time (0: one a processor); result i belongs to job i. */
GPtrArray *workers_run(const GPtrArray *jobs, int parallel);

#endif
