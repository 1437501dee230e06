/* A job: one file, with everything a worker process needs to know to read it. */
#ifndef KC_CLI_JOB_H
#define KC_CLI_JOB_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/compdb.h"
#include "cli/config.h"
#include "cli/options.h"
#include "cli/settings.h"

typedef struct JobTarget {
  char *arch; /* "sm_100a": what the file is parsed for */
  bool exact; /* --target, a compile command, .target of PTX: what the compiler is given */
} JobTarget;

typedef struct Job {
  char *command; /* "check", "budget", "protocol", "trace", "repro" */
  char *path;    /* as given on the command line */
  char *text;    /* contents when they came from standard input, or NULL */
  gsize length;
  bool is_ptx; /* the text is a PTX module: the file is one, or nvcc made it (--ptx) */
  Settings settings;
  GPtrArray *targets; /* JobTarget* */
  bool default_arch;  /* nobody named a target */
  char *dump;         /* --dump, or NULL */
  char *extra;        /* the command's own argument ("41" of repro FILE:LINE), or NULL */
  bool strict;
  int64_t timeout_us;          /* wall time of the worker */
  int64_t started_us;          /* monotonic time at which the worker got the job */
  size_t memory;               /* bytes */
  struct CudaOpening *opening; /* libclang, opened by the worker; or NULL */
  struct CudaKept *kept;       /* units that the worker keeps; or NULL */
  bool *newer; /* shared with the process that keeps them: set when GUESS_NEWER counted; or NULL */
} Job;

void job_free(Job *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Job, job_free)
/* An empty list of JobTarget* that frees them. */
GPtrArray *job_targets_new(void);
void job_add_target(Job *job, const char *arch, bool exact);

/* The job for one file: settings of its configuration, its compile command and the command line
 * laid over each other, targets resolved. `compdb` is opened on first use and kept. NULL with
 * `error` when one of them is wrong. */
Job *job_new(const char *command, const char *path, const CliOptions *options, Configs *configs,
             GHashTable *compdbs, KcError *error);

/* The request to a worker: one line of JSON; `text` follows it as it is, "length" bytes. */
char *job_to_request(const Job *job);
Job *job_from_request(const char *request, gsize length);

#endif
