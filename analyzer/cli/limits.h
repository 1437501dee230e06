/* What one file may cost. A file that needs more is reported as not checked, with exit status 2. */
#ifndef KC_CLI_LIMITS_H
#define KC_CLI_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Wall time of a worker. A kernel on the whole of CUTLASS parses in 10 to 20 s on a slow machine;
 * a file that is itself large is generated or broken and must not hold up the run. */
#define LIMIT_TIME_US INT64_C(60000000)
#define LIMIT_LARGE_FILE ((size_t)1 << 20)
#define LIMIT_LARGE_TIME_US INT64_C(9000000)

/* Processor time of parsing with the embedded headers, which takes far below a second: what needs
 * more is a statement that clang can't cope with. A sixth of the wall time that --timeout gives. */
static inline int64_t limit_parse_us(int64_t timeout_us) {
  return timeout_us / 6 > 1000000 ? timeout_us / 6 : 1000000;
}

/* Resident memory of a worker, watched by its parent. Its address space is limited too, to what the
 * watch could miss between two looks: that much more, with libclang and the stack mapped but hardly
 * touched. */
#define LIMIT_MEMORY ((size_t)2 << 30)
#define LIMIT_UNTOUCHED ((size_t)1 << 30)
#define LIMIT_WATCH_MS 20

/* Stack of the thread that reads a file: libclang's visitor and the lowering recurse. */
#define LIMIT_STACK ((size_t)256 << 20)

/* Processor time that running the kernels of one file on the machine may take: this part of the
 * wall time of the worker (5 s of 60 s), and never so much that no time is left to report. A kernel
 * gets half of what is left, the last one all of it, and none less than the minimum. */
#define LIMIT_MACHINE_PART 12
#define LIMIT_REPORT_US INT64_C(3000000)
#define LIMIT_KERNEL_LEAST_US INT64_C(100000)

#endif
