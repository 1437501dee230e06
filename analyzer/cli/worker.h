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

int worker_main(bool cuda);

#endif
