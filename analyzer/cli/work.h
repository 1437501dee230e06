/* What a worker process does with one job, and the limits it sets itself. */
#ifndef KC_CLI_WORK_H
#define KC_CLI_WORK_H

#include "cli/job.h"
#include "cli/lazy.h"
#include "report/report.h"

#if defined(__SANITIZE_ADDRESS__)
#define WORK_UNDER_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WORK_UNDER_SANITIZER 1
#endif
#endif
#ifndef WORK_UNDER_SANITIZER
#define WORK_UNDER_SANITIZER 0
#endif

/* Bounds the processor time of what comes next, or lifts the bound. `share` is that of the job's
 * wall time, in microseconds; 0 lifts. The parent tells SIGXCPU from a crash. */
void work_limit_time(int64_t share);
/* Bounds memory, and ends the process some time after the job should have ended. */
void work_limit_self(const Job *job);
/* Prints the line of a stage (worker.h). */
void work_tell_stage(const char *stage, const char *detail);
/* Reads the text, if it did not come with the job, and settles its targets. */
bool work_prepare(Job *job, ReportFile *file, KcError *error);
/* Runs the job and prints the answer. `rules` NULL: they are read for it. */
void work_run(Job *job, LazyRules *rules);

#endif
