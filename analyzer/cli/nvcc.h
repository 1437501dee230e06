/* --ptx: what nvcc makes of a file. The only place where another program is started, and only when
 * it was asked for. */
#ifndef KC_CLI_NVCC_H
#define KC_CLI_NVCC_H

#include "cli/job.h"
#include "support/error.h"

/* Compiles the file of `job` for `arch` to PTX with source lines. The nvcc of --cuda-path is used,
 * else the one on the PATH. NULL with `error` when there is none or it refuses the file (its first
 * message is the reason). Caller frees. */
char *nvcc_ptx(const Job *job, const char *arch, KcError *error);

#endif
