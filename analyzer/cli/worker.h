/* The worker side of the processes: this program started again with WORKER_FLAG or
 * WORKER_CUDA_FLAG reads one job from standard input, runs the pipeline on it, and answers on
 * standard output.
 *
 * The answer is lines: "stage DETAIL" before each stage begins, and last one JSON object:
 * {"report": <report_to_json of this file alone>, "output": "text of a command or of --dump"}. */
#ifndef KC_CLI_WORKER_H
#define KC_CLI_WORKER_H

#include <stdbool.h>

#define WORKER_FLAG "--worker"
#define WORKER_CUDA_FLAG "--worker-cuda" /* the job will need libclang */
#define WORKER_KEEP_FLAG "--worker-keep" /* jobs of one document, one after the other */

/* One job, read up to the end of standard input. */
int worker_main(bool cuda);

/* Jobs until standard input ends (worker_keep.c). This process parses and keeps the translation
 * units; each job then runs in a fork of it, which begins with them: the job may be killed or crash
 * without their loss. Around the lines above stand "pid N", of the fork, before them, and
 * "end exit N" or "end signal N" behind them, once the fork has ended; it is waited for at the next
 * request, so that its number stays its own until then. */
int worker_keep_main(void);

/* Calls `run` on a thread with the stack that a file needs (limits.h) and waits for it. */
bool worker_on_large_stack(void *run(void *), void *data);

#endif
